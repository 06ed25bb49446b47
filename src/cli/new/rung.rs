//! Knows how a rung of a candidate begins the folder of a malfunction.
//! Must not know what a complete folder needs.
//! Start at `of`.

use crate::catalog::{CANDIDATES, Catalog, Environment, FaultDiff, SERVING};

use super::super::Failure;
use super::usage;

/// What a rung says of a malfunction made from it.
pub(super) struct Rung {
    pub(super) class: &'static str,
    pub(super) target: &'static str,
    pub(super) diff: String,
    entry: String,
    strength: String,
    what: String,
}

impl Rung {
    /// The first sentence of the summary; the second is for people to write.
    pub(super) fn summary(&self) -> String {
        let mut letters = self.what.chars();
        let first = letters
            .next()
            .map(|letter| letter.to_uppercase().to_string());
        format!("{}{}.", first.unwrap_or_default(), letters.as_str())
    }

    /// Where the fault comes from, for the README.
    pub(super) fn origin(&self) -> String {
        let Self {
            entry,
            strength,
            what,
            ..
        } = self;
        let strength = if strength.is_empty() {
            String::new()
        } else {
            format!(" at strength {strength}")
        };
        format!("Candidate {entry}{strength}: {what}.\n\n")
    }
}

/// The rung that `ENVIRONMENT/ENTRY/STRENGTH` names; the strength is left away when there is nothing to vary.
pub(super) fn of(
    catalog: &Catalog,
    environment: &Environment,
    named: &str,
) -> Result<Rung, Failure> {
    let mut parts = named.splitn(3, '/');
    let (id, entry) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let strength = parts.next().unwrap_or_default();
    if id != environment.id.as_str() {
        return Err(
            usage(format!("`{named}` is no candidate of {}", environment.id))
                .remedy("name ENVIRONMENT/ENTRY/STRENGTH, and begin the id with that environment"),
        );
    }
    let list = catalog
        .candidates()
        .find(|one| one.environment == environment.id);
    let candidate = list.and_then(|list| list.entry(entry)).ok_or_else(|| {
        usage(format!("no candidate of {id} is called `{entry}`"))
            .remedy(format!("{CANDIDATES}/{id}.toml holds them"))
    })?;
    if !candidate.ladder.iter().any(|one| one == strength) {
        return Err(usage(format!("`{strength}` is no strength of {entry}"))
            .remedy(format!("name one of {}", candidate.ladder.join(", "))));
    }
    let diff = candidate
        .diff(strength, &environment.source)
        .map_err(|error| usage(format!("{entry} {error}")))?
        .ok_or_else(|| usage(format!("{entry} {strength} changes nothing")))?;
    Ok(Rung {
        class: candidate.class.as_str(),
        target: target(environment, &diff),
        diff: diff.to_string(),
        entry: entry.to_owned(),
        strength: strength.to_owned(),
        what: candidate.told(strength),
    })
}

/// Where the repair probably belongs, by the files that are changed.
fn target(environment: &Environment, diff: &FaultDiff) -> &'static str {
    let world = format!("evalxrl_envs/{}/", environment.id);
    let changes = |wanted: &dyn Fn(&str) -> bool| diff.files.iter().any(|file| wanted(&file.path));
    if changes(&|path| path.starts_with(SERVING)) {
        "serving"
    } else if changes(&|path| path.starts_with(&world) && path.ends_with(".py")) {
        "environment"
    } else {
        "training"
    }
}
