//! Knows what a submission changed against the files that were handed out.
//! Must not know whether a change is good.
//! Start at `changed`.

use std::collections::{BTreeMap, BTreeSet};

use crate::store::AgentChanges;

use super::bundle::PARAMETERS;

/// A set of files by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// Modules that decide how an agent answers, beside `serving/` itself.
const SERVING: [&str; 3] = [
    "agents/networks.py",
    "agents/normalise.py",
    "agents/checkpoint.py",
];

/// Sorts the differing files into groups; `environment` is the folder of the environment's package.
#[must_use]
pub fn changed(handed_out: &Tree, submitted: &Tree, environment: &str) -> AgentChanges {
    let mut changes = AgentChanges::default();
    let paths: BTreeSet<&String> = handed_out.keys().chain(submitted.keys()).collect();
    for path in paths {
        if handed_out.get(path) == submitted.get(path) {
            continue;
        }
        let inner = path.strip_prefix("evalxrl_envs/").unwrap_or(path);
        let group = if path == PARAMETERS {
            changes.parameters = true;
            continue;
        } else if inner.starts_with("serving/") || SERVING.contains(&inner) {
            &mut changes.serving
        } else if inner == format!("{environment}/config.toml") {
            &mut changes.training
        } else if inner.starts_with(&format!("{environment}/")) || inner.starts_with("core/") {
            &mut changes.environment
        } else {
            &mut changes.training
        };
        group.push(path.clone());
    }
    changes
}

/// Whether the submission changes a line that lies where the fault lies: a faulty line itself, or, where
/// the fault only took lines away, the gap they left.
#[must_use]
pub fn touches_fault(clean: &Tree, broken: &Tree, submitted: &Tree) -> bool {
    broken.iter().any(|(path, faulty)| {
        let Some(original) = clean.get(path).filter(|original| *original != faulty) else {
            return false;
        };
        let Some(now) = submitted.get(path) else {
            return true;
        };
        let lines = |bytes: &[u8]| -> Vec<String> {
            String::from_utf8_lossy(bytes)
                .lines()
                .map(str::to_owned)
                .collect()
        };
        let faulty = lines(faulty);
        let fault = edited(&faulty, &lines(original));
        let repair = edited(&faulty, &lines(now));
        !fault.is_disjoint(&repair)
    })
}

/// Places of `from` that differ in `to`: twice the line number for a changed line, and the odd number
/// after it for the gap below.
fn edited(from: &[String], to: &[String]) -> BTreeSet<usize> {
    let common = common_lines(from, to);
    let mut places = BTreeSet::new();
    let (mut before, mut after) = (0, 0);
    for (left, right) in common.into_iter().chain([(from.len(), to.len())]) {
        places.extend((before..left).map(|line| 2 * line));
        if right > after {
            places.insert((2 * left).wrapping_sub(1));
            if left > before {
                places.insert((2 * before).wrapping_sub(1));
            }
        }
        (before, after) = (left + 1, right + 1);
    }
    places
}

/// Longest common subsequence of lines, as pairs of indices.
fn common_lines(from: &[String], to: &[String]) -> Vec<(usize, usize)> {
    let width = to.len() + 1;
    let mut longest = vec![0u32; (from.len() + 1) * width];
    for left in (0..from.len()).rev() {
        for right in (0..to.len()).rev() {
            longest[left * width + right] = if from[left] == to[right] {
                longest[(left + 1) * width + right + 1] + 1
            } else {
                longest[(left + 1) * width + right].max(longest[left * width + right + 1])
            };
        }
    }
    let (mut left, mut right, mut pairs) = (0, 0, Vec::new());
    while left < from.len() && right < to.len() {
        if from[left] == to[right] {
            pairs.push((left, right));
            left += 1;
            right += 1;
        } else if longest[(left + 1) * width + right] >= longest[left * width + right + 1] {
            left += 1;
        } else {
            right += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn files_are_grouped_by_what_they_decide() {
        let before = tree(&[(PARAMETERS, "1"), ("evalxrl_envs/agents/ppo.py", "a")]);
        let after = tree(&[
            (PARAMETERS, "2"),
            ("evalxrl_envs/agents/ppo.py", "b"),
            ("evalxrl_envs/agents/networks.py", "b"),
            ("evalxrl_envs/serving/server.py", "b"),
            ("evalxrl_envs/treasure_grid/environment.py", "b"),
            ("evalxrl_envs/treasure_grid/config.toml", "b"),
        ]);
        let changes = changed(&before, &after, "treasure_grid");
        assert!(changes.parameters);
        assert_eq!(
            changes.training,
            [
                "evalxrl_envs/agents/ppo.py",
                "evalxrl_envs/treasure_grid/config.toml"
            ]
        );
        assert_eq!(
            changes.environment,
            ["evalxrl_envs/treasure_grid/environment.py"]
        );
        assert_eq!(
            changes.serving,
            [
                "evalxrl_envs/agents/networks.py",
                "evalxrl_envs/serving/server.py"
            ]
        );
        assert_eq!(
            changed(&before, &before, "treasure_grid"),
            AgentChanges::default()
        );
    }

    #[test]
    fn a_repair_of_the_faulty_line_touches_the_fault_and_one_elsewhere_does_not() {
        let clean = tree(&[("a.py", "one\ntwo\nthree\nfour\n")]);
        let broken = tree(&[("a.py", "one\nTWO\nthree\nfour\n")]);
        for (submitted, touched) in [
            ("one\ntwo\nthree\nfour\n", true),
            ("one\nthree\nfour\n", true),
            ("one\nTWO\nthree\nFOUR\n", false),
            ("one\nTWO\nthree\nfour\n", false),
            ("one\nTWO\nthree\nfour\nfive\n", false),
        ] {
            let submitted = tree(&[("a.py", submitted)]);
            assert_eq!(
                touches_fault(&clean, &broken, &submitted),
                touched,
                "{submitted:?}"
            );
        }
    }

    #[test]
    fn a_line_put_back_where_the_fault_took_one_away_touches_the_fault() {
        let clean = tree(&[("a.py", "one\ntwo\nthree\n")]);
        let broken = tree(&[("a.py", "one\nthree\n")]);
        assert!(touches_fault(
            &clean,
            &broken,
            &tree(&[("a.py", "one\nTWO\nthree\n")])
        ));
        assert!(!touches_fault(
            &clean,
            &broken,
            &tree(&[("a.py", "one\nthree\nfour\n")])
        ));
    }
}
