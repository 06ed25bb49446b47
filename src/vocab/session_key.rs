//! Knows what names a cell and a session.
//! Must not know the order of a plan or the folder of a record.
//! Start at `SessionKey`.

use serde::{Deserialize, Serialize};

use super::{CoderLabel, DossierId, Invocations, MalfunctionId, MethodId};

/// What an arm puts into the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arm {
    /// No explanation at all: the baseline.
    NoMethod,
    /// The oracle text of the malfunction.
    CheatOracle,
    /// Played by the scaffold `optimal`: reverts the fault and retrains.
    OptimalRepair,
    /// One or more dossiers, sorted.
    Dossiers(Vec<DossierId>),
}

impl Arm {
    /// Reads an arm from its method id.
    #[must_use]
    pub fn of(method: &MethodId) -> Self {
        match method.as_str() {
            "no-method" => Self::NoMethod,
            "cheat-oracle" => Self::CheatOracle,
            "optimal-repair" => Self::OptimalRepair,
            text => Self::Dossiers(
                text.split('+')
                    .map(|part| {
                        DossierId::new(part).expect("a method id is dossier ids joined by +")
                    })
                    .collect(),
            ),
        }
    }
}

/// A malfunction met by a method.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// What is broken.
    pub malfunction: MalfunctionId,
    /// What is at hand.
    pub method: MethodId,
}

/// One replication of one cell by one coder under one invocation budget.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionKey {
    /// What is broken.
    pub malfunction: MalfunctionId,
    /// What is at hand.
    pub method: MethodId,
    /// Who repairs.
    pub coder: CoderLabel,
    /// How often dossier tools may be called.
    pub invocations: Invocations,
    /// Which block, from 0.
    pub replication: u32,
}

impl SessionKey {
    /// The cell of this session.
    #[must_use]
    pub fn cell(&self) -> Cell {
        Cell {
            malfunction: self.malfunction.clone(),
            method: self.method.clone(),
        }
    }
}

impl std::fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{}/{}/{}/i{}/r{:02}",
            self.malfunction, self.method, self.coder, self.invocations, self.replication
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coalition_arm_holds_its_dossiers_in_order() {
        let arm = Arm::of(&MethodId::new("counterfactual+saliency").unwrap());
        let Arm::Dossiers(ids) = arm else {
            unreachable!("a coalition is made of dossiers")
        };
        assert_eq!(
            ids.iter().map(DossierId::as_str).collect::<Vec<_>>(),
            ["counterfactual", "saliency"]
        );
    }

    #[test]
    fn a_session_prints_as_its_folder() {
        let key = SessionKey {
            malfunction: MalfunctionId::new("treasure-grid-x").unwrap(),
            method: MethodId::new("no-method").unwrap(),
            coder: CoderLabel::new("search").unwrap(),
            invocations: Invocations::Unlimited,
            replication: 3,
        };
        assert_eq!(
            key.to_string(),
            "treasure-grid-x/no-method/search/iunlimited/r03"
        );
    }
}
