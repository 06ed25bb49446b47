//! Knows the roles that methods play, and the reserved ids behind them.
//! Must not know a score.
//! Start at `Roles::of`.

use serde::{Deserialize, Serialize};

/// The role a method plays in the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// An explanation method (or a coalition of them).
    Xrl,
    /// The baseline of lift: no dossier.
    NoMethod,
    /// A dossier that tells the fault.
    CheatOracle,
    /// The scripted repair that reverts the fault and retrains.
    OptimalRepair,
    /// A dossier of the same bulk without information.
    Placebo,
}

/// The method ids that play a reserved role; every other id is an explanation method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Roles {
    /// Default `no-method`.
    pub no_method: String,
    /// Default `cheat-oracle`.
    pub cheat_oracle: String,
    /// Default `optimal-repair`.
    pub optimal_repair: String,
    /// Default `placebo`.
    pub placebo: String,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            no_method: "no-method".to_owned(),
            cheat_oracle: "cheat-oracle".to_owned(),
            optimal_repair: "optimal-repair".to_owned(),
            placebo: "placebo".to_owned(),
        }
    }
}

impl Roles {
    /// Gives the role of a method id.
    pub fn of(&self, method: &str) -> Role {
        match method {
            id if id == self.no_method => Role::NoMethod,
            id if id == self.cheat_oracle => Role::CheatOracle,
            id if id == self.optimal_repair => Role::OptimalRepair,
            id if id == self.placebo => Role::Placebo,
            _ => Role::Xrl,
        }
    }

    /// Says whether a method enters H1 and H3: a simple explanation method in default packaging.
    pub fn enters_hypotheses(&self, method: &str) -> bool {
        self.of(method) == Role::Xrl
            && !method.contains('+')
            && !method.ends_with("-minimal")
            && !method.ends_with("-rich")
    }
}

/// Orders the ids of a coalition, so that `b+a` and `a+b` are one arm.
pub fn canonical_method(method: &str) -> String {
    let mut parts: Vec<&str> = method.split('+').collect();
    parts.sort_unstable();
    parts.join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coalitions_have_no_order_and_stay_out_of_the_hypotheses() {
        assert_eq!(canonical_method("b+a"), "a+b");
        let roles = Roles::default();
        assert_eq!(roles.of("a+b"), Role::Xrl);
        assert!(!roles.enters_hypotheses("a+b"));
        assert!(!roles.enters_hypotheses("saliency-rich"));
        assert!(!roles.enters_hypotheses("no-method"));
        assert!(roles.enters_hypotheses("saliency"));
    }
}
