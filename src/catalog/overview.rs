//! Knows the tables of `malfunctions/README.md`: what is admitted, and every strength that was measured and is not.
//! Must not know who writes the file.
//! Start at `Catalog::readme`.

use std::collections::{BTreeMap, BTreeSet};

use crate::vocab::EnvironmentId;

use super::candidates::{Rung, edit_hash};
use super::malfunction::{Malfunction, Target};
use super::references::ReferenceState;
use super::{Catalog, Problem};

/// The file that holds the tables, relative to the repository root.
pub const OVERVIEW: &str = "malfunctions/README.md";

/// Entry and strength of a rung.
type Name = (String, String);

impl Catalog {
    /// The text of `malfunctions/README.md` with its two tables made anew between their markers.
    ///
    /// # Errors
    /// A marker is missing.
    pub fn readme(&self, text: &str) -> Result<String, Problem> {
        let text = between(text, "admitted", &self.admitted_table())?;
        between(&text, "candidates", &self.candidate_table(None))
    }

    /// The malfunctions of the catalogue with their figures, as a table in Markdown.
    #[must_use]
    pub fn admitted_table(&self) -> String {
        let mut table = String::from(
            "| folder | class | target | rung | P_clean | P_broken | P_random | gap/span | A2 | gap/SE | A5 | A7 | |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for malfunction in self.malfunctions() {
            let target = match malfunction.target {
                Target::Training => "training",
                Target::Environment => "environment",
                Target::Serving => "serving",
            };
            let head = format!(
                "| `{}` | {} | {target} | {} |",
                malfunction.id,
                malfunction.class,
                self.origin(malfunction)
            );
            let ReferenceState::Fresh(row) = self.reference(malfunction) else {
                table.push_str(&format!("{head} | | | | | | | | not measured |\n"));
                continue;
            };
            let mut flags = Vec::new();
            if row.floor {
                flags.push("floor");
            }
            if malfunction.held_out {
                flags.push("held out");
            }
            table.push_str(&format!(
                "{head} {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {:.2} | {} | {} |\n",
                row.p_clean,
                row.p_broken,
                row.p_random,
                row.gap_over_span,
                row.clean_beats_broken,
                row.gap_over_error,
                row.repaired,
                figure(row.tuned, 2),
                flags.join(", "),
            ));
        }
        table
    }

    /// Every measured rung that no folder uses, as a table in Markdown.
    #[must_use]
    pub fn candidate_table(&self, only: Option<&EnvironmentId>) -> String {
        let mut table = String::from(
            "| candidate | environment | strength | n | P_clean | P_broken | P_random | gap/span | A2 | gap/SE | A7 | reason |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for (rung, environment, strength, reason) in self.rejected(only) {
            table.push_str(&format!(
                "| {} | {environment} | {} | {} | {:.2} | {} | {:.2} | {} | {} | {} | {} | {} |\n",
                rung.entry,
                strength.replace('|', "\\|"),
                rung.n,
                rung.p_clean,
                figure(rung.p_broken, 2),
                rung.p_random,
                figure(rung.gap_over_span, 2),
                figure(rung.clean_beats_broken, 2),
                figure(rung.gap_over_error, 1),
                figure(rung.tuned, 2),
                reason.replace('|', "\\|"),
            ));
        }
        table
    }

    /// Every measured rung of a ladder that no folder uses, with its environment, its strength in words, and why it is not used.
    #[must_use]
    pub fn rejected(
        &self,
        only: Option<&EnvironmentId>,
    ) -> Vec<(&Rung, &EnvironmentId, String, String)> {
        let mut list = Vec::new();
        for (id, figures) in &self.figures {
            if only.is_some_and(|only| only != id) {
                continue;
            }
            let used = self.used(id);
            for rung in &figures.rungs {
                let name = (rung.entry.clone(), rung.strength.clone());
                if used.contains(&name) {
                    continue;
                }
                // A rung that no ladder has any more says nothing of a candidate.
                let candidates = self.candidates.get(id);
                let Some(candidate) = candidates
                    .and_then(|list| list.entry(&rung.entry))
                    .filter(|one| one.ladder.contains(&rung.strength))
                else {
                    continue;
                };
                let told = candidate.told(&rung.strength);
                let weaker = candidate
                    .ladder
                    .iter()
                    .take_while(|one| **one != rung.strength);
                let mut names = weaker.map(|one| (rung.entry.clone(), one.clone()));
                let why = match names.any(|name| used.contains(&name)) {
                    true => "passes; a weaker one is taken",
                    false => candidate.declined.as_str(),
                };
                list.push((rung, id, told, reason(rung, why)));
            }
        }
        list
    }

    /// The rung that a malfunction is, or nothing when no ladder has it.
    fn origin(&self, malfunction: &Malfunction) -> String {
        let rungs = self.rungs(&malfunction.environment);
        match self.edit(malfunction).and_then(|edit| rungs.get(&edit)) {
            Some((entry, strength)) => format!("{entry} {strength}").trim_end().to_owned(),
            None if malfunction.halves.is_empty() => String::new(),
            None => {
                let halves: Vec<String> = malfunction
                    .halves
                    .iter()
                    .map(|half| format!("`{half}`"))
                    .collect();
                halves.join(" + ")
            }
        }
    }

    /// The rungs of an environment that folders use.
    fn used(&self, environment: &EnvironmentId) -> BTreeSet<Name> {
        let rungs = self.rungs(environment);
        self.malfunctions()
            .filter(|one| one.environment == *environment)
            .filter_map(|one| rungs.get(&self.edit(one)?).cloned())
            .collect()
    }

    /// Every rung of an environment by the hash of its edit.
    fn rungs(&self, id: &EnvironmentId) -> BTreeMap<String, Name> {
        let mut rungs = BTreeMap::new();
        if let (Some(list), Some(environment)) =
            (self.candidates.get(id), self.environments.get(id))
        {
            for candidate in &list.list {
                for strength in &candidate.ladder {
                    if let Ok(broken) = candidate.apply(strength, &environment.source) {
                        let edit = edit_hash(&environment.source, &broken);
                        rungs.insert(edit, (candidate.entry.clone(), strength.clone()));
                    }
                }
            }
        }
        rungs
    }

    fn edit(&self, malfunction: &Malfunction) -> Option<String> {
        let environment = self.environments.get(&malfunction.environment)?;
        match malfunction.apply(&environment.source) {
            Ok(broken) => Some(edit_hash(&environment.source, &broken)),
            Err(_told_by_check) => None,
        }
    }
}

fn reason(rung: &Rung, declined: &str) -> String {
    let mut text = match (rung.reason.as_str(), declined) {
        ("", "") => "passes; not taken",
        ("", declined) => declined,
        (reason, _) => reason,
    }
    .to_owned();
    if rung.is_floor() {
        text.push_str("; floor");
    }
    text
}

fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.digits$}"))
}

/// Puts a table between the markers of a name.
fn between(text: &str, name: &str, table: &str) -> Result<String, Problem> {
    let (begin, end) = (
        format!("<!-- {name}: begin -->"),
        format!("<!-- {name}: end -->"),
    );
    let parts = text
        .split_once(&begin)
        .and_then(|(head, rest)| rest.split_once(&end).map(|(_, tail)| (head, tail)));
    let (head, tail) = parts.ok_or_else(|| {
        let wrong = format!("has no `{begin}` followed by `{end}`");
        Problem::new(
            OVERVIEW,
            name,
            wrong,
            "write both, each on a line of its own",
        )
    })?;
    Ok(format!("{head}{begin}\n{table}{end}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_between_its_markers_and_nowhere_else() {
        let text = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let new = between(text, "x", "| t |\n").unwrap();
        assert_eq!(new, "a\n<!-- x: begin -->\n| t |\n<!-- x: end -->\nb\n");
        assert_eq!(between(&new, "x", "| t |\n").unwrap(), new);
        let missing = between(text, "y", "").unwrap_err();
        assert!(missing.wrong.contains("<!-- y: begin -->"), "{missing}");
    }
}
