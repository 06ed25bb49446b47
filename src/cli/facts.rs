//! Knows how to gather what a plan takes from outside: the clock, the generator of the system, git, what is offered.
//! Must not know what a plan does with it.
//! Start at `gather`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::plan::{Facts, Git};
use crate::vocab::RootSeed;

use super::{Code, Failure};

/// Gathers the facts of a plan made now in this repository.
///
/// # Errors
/// The system's generator gives no bytes.
pub(super) fn gather(root: &Path) -> Result<Facts, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("the generator of the system fails: {error}"),
        )
    })?;
    Ok(Facts {
        created: jiff::Timestamp::now()
            .round(jiff::Unit::Second)
            .map_or_else(
                |_| jiff::Timestamp::now().to_string(),
                |now| now.to_string(),
            ),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git: git(root),
        root_seed: RootSeed::from_bytes(bytes),
        images: BTreeMap::new(),
        scaffolds: ["null", "optimal", "search"]
            .map(|name| (name.to_owned(), String::new()))
            .into(),
    })
}

/// The commit and whether files differ from it; nothing outside a git repository.
fn git(root: &Path) -> Git {
    let ask = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(arguments)
            .output();
        match output {
            Ok(output) if output.status.success() => {
                Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
            }
            _ => None,
        }
    };
    Git {
        commit: ask(&["rev-parse", "HEAD"]),
        dirty: ask(&["status", "--porcelain"]).is_some_and(|text| !text.is_empty()),
    }
}
