//! Knows what the halves of a composite must leave to each other: rules K1 to K3.
//! Must not know how gaps are measured.
//! Start at `refusals`.

use super::Refusal;

/// The gap of one half on its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Half {
    /// Its id.
    pub id: String,
    /// Its gap in return units; absent while it is not admitted.
    pub gap: Option<f64>,
}

/// The rules K1 to K3 that a composite of this gap and span does not meet, each with its figures.
#[must_use]
pub fn refusals(halves: &[Half], gap: f64, span: f64) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for half in halves {
        let id = &half.id;
        let Some(alone) = half.gap else {
            let why = format!("half {id} is not admitted on its own");
            refusals.push(Refusal::new("K1", why));
            continue;
        };
        if alone > 0.5 * span {
            let why = format!("the gap {alone:.3} of {id} is above half of the span {span:.3}");
            refusals.push(Refusal::new("K1", why));
        }
        if alone < 0.3 * gap {
            let why = format!("the gap {alone:.3} of {id} is below 0.3 of both together, {gap:.3}");
            refusals.push(Refusal::new("K2", why));
        }
        if gap - alone < 0.15 * gap {
            let why = format!(
                "with {id} alone {alone:.3} of the gap {gap:.3} is left: repairing the other half gains less than 0.15 of it"
            );
            refusals.push(Refusal::new("K3", why));
        }
    }
    refusals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(first: Option<f64>, second: Option<f64>, gap: f64) -> Vec<&'static str> {
        let half = |id: &str, gap| Half {
            id: id.to_owned(),
            gap,
        };
        let halves = [half("a", first), half("b", second)];
        refusals(&halves, gap, 10.0)
            .iter()
            .map(|one| one.rule)
            .collect()
    }

    #[test]
    fn each_rule_refuses_what_only_it_forbids() {
        assert!(rules(Some(4.0), Some(4.5), 6.0).is_empty());
        assert_eq!(rules(Some(5.1), Some(4.5), 7.0), ["K1"]);
        assert_eq!(rules(None, Some(4.5), 6.0), ["K1"]);
        assert_eq!(rules(Some(2.6), Some(4.5), 9.0), ["K2"]);
        assert_eq!(rules(Some(4.0), Some(4.5), 5.0), ["K3"]);
    }
}
