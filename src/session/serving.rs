//! Knows the tools of a workspace as the orchestrator serves them: dossier tools, `score`, `submit`.
//! Must not know how a command runs beside them.
//! Start at `SessionBench::serve`.

use serde_json::json;
use tokio::time::Instant;

use crate::coder::{Score, Stop};
use crate::harness::relay::{Request, Stream};
use crate::harness::{Exit, User};
use crate::store::Event;

use super::bench::{SessionBench, text_of};

/// Refused bundles after which the session ends.
pub(super) const REJECTIONS: u32 = 3;

/// Longest claimed cause, characters.
const NOTE_CHARACTERS: usize = 2000;

/// Bytes of one relay line's data.
const CHUNK: usize = 32 << 10;

/// What a tool answers: both streams and an exit code.
pub(super) struct Answer {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) code: i32,
}

impl Answer {
    fn error(code: i32, text: &str) -> Self {
        Self {
            stdout: Vec::new(),
            stderr: format!("{text}\n").into_bytes(),
            code,
        }
    }

    fn line(code: i32, text: &str) -> Self {
        Self {
            stdout: format!("{text}\n").into_bytes(),
            stderr: Vec::new(),
            code,
        }
    }
}

impl SessionBench {
    pub(super) async fn serve(&mut self, request: Request) -> Result<(), Stop> {
        let answer = match request.tool.as_str() {
            "score" => match self.score_now().await? {
                Ok(score) => Answer::line(0, &serde_json::to_string(&score).unwrap_or_default()),
                Err(text) => Answer::line(1, &text),
            },
            "submit" => match note_of(&request.argv) {
                Ok(note) => match self.submit_now(&note).await? {
                    Ok(()) => return Ok(()),
                    Err(reason) => Answer::error(1, &format!("rejected: {reason}")),
                },
                Err(usage) => Answer::error(2, &usage),
            },
            name => {
                self.call_tool(name, &request.argv, Some(request.directory.clone()))
                    .await?
            }
        };
        for (stream, bytes) in [
            (Stream::Stdout, &answer.stdout),
            (Stream::Stderr, &answer.stderr),
        ] {
            for chunk in bytes.chunks(CHUNK) {
                self.relay.output(request.id, stream, chunk).await?;
            }
        }
        self.relay.exit(request.id, answer.code).await?;
        Ok(())
    }

    pub(super) async fn call_tool(
        &mut self,
        name: &str,
        argv: &[String],
        directory: Option<String>,
    ) -> Result<Answer, Stop> {
        let Some(tool) = self.tools.get(name).cloned() else {
            self.calls.refused += 1;
            return Ok(Answer::error(127, &format!("{name}: no such tool")));
        };
        *self.calls.tools.entry(name.to_owned()).or_default() += 1;
        self.write_line(Event::ToolCall, json!({ "tool": name, "argv": argv }))?;
        let command = tool.command(argv, directory);
        let began = Instant::now();
        let execution = self.workspace.exec(command).await?;
        self.workspace.sweep(User::Method).await?;
        self.seconds.tools += began.elapsed().as_secs_f64();
        let (code, late) = match execution.exit {
            Exit::Code(code) => (code, None),
            Exit::TimedOut | Exit::Lost => (
                124,
                Some(format!(
                    "{name}: killed after {} seconds\n",
                    tool.limit.as_secs()
                )),
            ),
        };
        let mut stderr = execution.stderr;
        stderr.extend(late.unwrap_or_default().into_bytes());
        self.write_line(
            Event::ToolResult,
            json!({ "tool": name, "code": code, "stdout": text_of(&execution.stdout), "stderr": text_of(&stderr) }),
        )?;
        Ok(Answer {
            stdout: execution.stdout,
            stderr,
            code,
        })
    }

    pub(super) async fn score_now(&mut self) -> Result<Result<Score, String>, Stop> {
        if self.calls.score >= self.budget.score.calls {
            self.calls.refused += 1;
            return Ok(Err(
                json!({ "error": "no score calls left", "calls_left": 0 }).to_string(),
            ));
        }
        self.calls.score += 1;
        let left = self.budget.score.calls - self.calls.score;
        let began = Instant::now();
        let taken = self.rehearsal.take(self.workspace.as_ref()).await?;
        let result = match taken {
            Ok(bundle) => {
                self.rehearsal
                    .score(&bundle, self.budget.score.episodes)
                    .await?
            }
            Err(rejection) => Err(rejection.to_string()),
        };
        self.seconds.scoring += began.elapsed().as_secs_f64();
        let answer = match result {
            Ok(measured) => Ok(Score {
                episodes: self.budget.score.episodes,
                mean_return: measured.performance.mean(),
                standard_error: measured.performance.standard_error(),
                invalid_actions: measured.invalid,
                calls_left: left,
            }),
            Err(text) => Err(json!({ "error": text, "calls_left": left }).to_string()),
        };
        let line = match &answer {
            Ok(score) => json!({ "result": score }),
            Err(text) => json!({ "refused": text }),
        };
        self.write_line(Event::Score, line)?;
        Ok(answer)
    }

    pub(super) async fn submit_now(&mut self, note: &str) -> Result<Result<(), String>, Stop> {
        self.workspace.freeze(User::Coder).await?;
        match self.rehearsal.take(self.workspace.as_ref()).await? {
            Ok(bundle) => {
                self.workspace.sweep(User::Coder).await?;
                let note: String = note.chars().take(NOTE_CHARACTERS).collect();
                self.write_line(
                    Event::Submit,
                    json!({ "bundle": bundle.hash(), "note": note }),
                )?;
                self.submission = Some(bundle);
                self.note = (!note.is_empty()).then_some(note);
                Ok(Ok(()))
            }
            Err(rejection) => {
                self.rejections += 1;
                self.last_rejection = rejection.to_string();
                self.write_line(Event::Rejected, json!({ "reason": self.last_rejection }))?;
                if self.rejections >= REJECTIONS {
                    self.workspace.sweep(User::Coder).await?;
                    return Err(Stop::Ended);
                }
                self.workspace.thaw(User::Coder).await?;
                Ok(Err(self.last_rejection.clone()))
            }
        }
    }
}

/// Reads the arguments of `submit [--note TEXT]`.
fn note_of(argv: &[String]) -> Result<String, String> {
    let usage = || "usage: submit [--note TEXT]".to_owned();
    match argv {
        [] => Ok(String::new()),
        [flag, text] if flag == "--note" => Ok(text.clone()),
        [joined] => joined
            .strip_prefix("--note=")
            .map(str::to_owned)
            .ok_or_else(usage),
        _ => Err(usage()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submit_takes_a_note_and_nothing_else() {
        let words =
            |words: &[&str]| note_of(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(words(&[]), Ok(String::new()));
        assert_eq!(words(&["--note", "the clip"]), Ok("the clip".to_owned()));
        assert_eq!(words(&["--note=the clip"]), Ok("the clip".to_owned()));
        assert!(words(&["--force"]).is_err());
        assert!(words(&["--note", "a", "b"]).is_err());
    }
}
