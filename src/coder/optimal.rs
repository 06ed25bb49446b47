//! Knows the scaffold `optimal`: it takes the fault back, trains, and submits.
//! Must not know where the reverse diff came from; no other scaffold is handed one.
//! Start at `Optimal`.

use async_trait::async_trait;

use super::{Bench, Brief, Ending, Observation, Scaffold, Stop};

/// Plays the arm `optimal-repair`.
pub(super) struct Optimal;

#[async_trait]
impl Scaffold for Optimal {
    fn name(&self) -> &'static str {
        "optimal"
    }

    async fn repair(&self, brief: &Brief, bench: &mut dyn Bench) -> Result<Ending, Stop> {
        let Some(diff) = &brief.reverse_diff else {
            return Ok(Ending::GaveUp("no reverse diff was handed over".into()));
        };
        let patch = bench.run(&patch_command(diff)).await?;
        if patch.code != 0 {
            return Ok(failed("patch", &patch));
        }
        let training = bench.run(&brief.train).await?;
        if training.code != 0 {
            return Ok(failed("the train command", &training));
        }
        Ok(match bench.submit("the fault was taken back").await? {
            Ok(()) => Ending::Submitted,
            Err(reason) => Ending::GaveUp(format!("the repaired bundle was refused: {reason}")),
        })
    }
}

/// `patch -p1` without fuzz, questions or left-over files, fed by a here-document whose end occurs in no line.
fn patch_command(diff: &str) -> String {
    let mut end = String::from("END_OF_DIFF");
    while diff.lines().any(|line| line == end) {
        end.push('_');
    }
    let newline = if diff.ends_with('\n') { "" } else { "\n" };
    format!(
        "patch -p1 --batch --forward --fuzz=0 --no-backup-if-mismatch <<'{end}'\n{diff}{newline}{end}\n"
    )
}

fn failed(what: &str, seen: &Observation) -> Ending {
    let tail: String = {
        let mut last: Vec<char> = seen.output.chars().rev().take(300).collect();
        last.reverse();
        last.into_iter().collect()
    };
    Ending::GaveUp(format!(
        "{what} ended with code {}: {}",
        seen.code,
        tail.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coder::scripted::{Call, Scripted, brief};

    const DIFF: &str = "--- a/p/a.py\n+++ b/p/a.py\n@@ -1 +1 @@\n-x = 2\n+x = 1\n";

    #[tokio::test]
    async fn optimal_patches_trains_and_submits_in_that_order() {
        let mut bench = Scripted::new([]);
        let mut brief = brief();
        brief.reverse_diff = Some(DIFF.into());
        assert_eq!(
            Optimal.repair(&brief, &mut bench).await,
            Ok(Ending::Submitted)
        );
        assert!(
            matches!(&bench.calls[0], Call::Run(text) if text.starts_with("patch -p1") && text.contains(DIFF))
        );
        assert_eq!(bench.calls[1], Call::Run(brief.train.clone()));
        assert!(matches!(bench.calls[2], Call::Submit(_)));
        assert_eq!(bench.calls.len(), 3);
    }

    #[tokio::test]
    async fn optimal_stops_at_the_first_command_that_fails() {
        let mut bench = Scripted::new([]);
        bench.failing = Some("patch".into());
        let mut brief = brief();
        brief.reverse_diff = Some(DIFF.into());
        let ending = Optimal.repair(&brief, &mut bench).await;
        assert!(
            matches!(ending, Ok(Ending::GaveUp(reason)) if reason.starts_with("patch ended with code 1"))
        );
        assert_eq!(bench.calls.len(), 1);
    }

    #[tokio::test]
    async fn optimal_without_a_diff_gives_up() {
        let ending = Optimal.repair(&brief(), &mut Scripted::new([])).await;
        assert!(matches!(ending, Ok(Ending::GaveUp(_))));
    }

    #[test]
    fn a_diff_that_holds_the_end_mark_is_still_carried_whole() {
        let command = patch_command("+x\nEND_OF_DIFF\n");
        assert!(command.ends_with("<<'END_OF_DIFF_'\n+x\nEND_OF_DIFF\nEND_OF_DIFF_\n"));
    }

    #[test]
    fn the_command_really_patches_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p/a.py");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "x = 2\n").unwrap();
        let patched = std::process::Command::new("bash")
            .args(["-c", &patch_command(DIFF)])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(
            patched.status.success(),
            "{}",
            String::from_utf8_lossy(&patched.stdout)
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x = 1\n");
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1
        );
    }
}
