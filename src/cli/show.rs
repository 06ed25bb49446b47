//! Knows the verb `show`: where a run stands, and what happened in one session.
//! Must not know how sessions are played.
//! Start at `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::plan::Plan;
use crate::store::{RunDirectory, read_transcript};
use crate::vocab::SessionKey;

use super::exit::{Code, Failure};
use super::{context, out};

/// Shows where a run stands, or one session.
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// The run directory
    run: PathBuf,
    /// A session as the table names it: MALFUNCTION/METHOD/CODER/iINVOCATIONS/rNN
    session: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for a folder that is no run, or a session that is not planned.
pub fn run(args: &Args) -> Result<(), Failure> {
    let run = RunDirectory::open(&args.run).map_err(context::store_failure)?;
    let plan = context::plan_of(&run)?;
    match &args.session {
        None => sessions(&run, &plan, args.json),
        Some(name) => {
            let planned = plan
                .sessions
                .iter()
                .find(|session| session.key.to_string() == *name);
            let planned = planned.ok_or_else(|| {
                Failure::new(Code::Usage, format!("the plan has no session `{name}`"))
                    .remedy(format!("`evalxrl show {}` lists all", args.run.display()))
            })?;
            session(&run, &planned.key, args.json)
        }
    }
}

fn sessions(run: &RunDirectory, plan: &Plan, as_json: bool) -> Result<(), Failure> {
    let header = [
        "session",
        "state",
        "outcome",
        "raw",
        "rank",
        "score calls",
        "seconds",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let mut documents = Vec::new();
    let mut finished = 0;
    for planned in &plan.sessions {
        let key = &planned.key;
        let record = run.record(key).map_err(context::store_failure)?;
        let attempts = run.attempts(key).map_err(context::store_failure)?;
        let state = match (&record, run.is_held(key), attempts.last()) {
            (Some(_), ..) => "finished".to_owned(),
            (None, true, _) => "running".to_owned(),
            (None, false, Some(last)) => format!("failed: {}", last.fault.kind),
            (None, false, None) => "waiting".to_owned(),
        };
        finished += usize::from(record.is_some());
        let rank = record.as_ref().and_then(|record| record.restoring_rank);
        rows.push(match &record {
            Some(record) => vec![
                key.to_string(),
                state.clone(),
                record.outcome.kind().as_str().to_owned(),
                format!("{:+.3}", record.repair_score.raw),
                rank.map_or_else(String::new, |rank| {
                    let place = rank
                        .rank
                        .map_or_else(|| "-".to_owned(), |rank| rank.to_string());
                    format!("{place}/{}", rank.candidates)
                }),
                record.calls.score.to_string(),
                format!("{:.0}", record.seconds.wall),
            ],
            None => {
                let mut row = vec![key.to_string(), state.clone()];
                row.resize(header.len(), String::new());
                row
            }
        });
        documents.push(json!({
            "session": key.to_string(), "state": state, "record": record, "failures": attempts,
        }));
    }
    if as_json {
        return out::data(&pretty(&json!({
            "format": "evalxrl.show/1", "finished": finished, "planned": plan.sessions.len(),
            "sessions": documents,
        })));
    }
    out::data(&format!(
        "{}: {finished} of {} sessions finished, sandbox {:?}\n\n{}",
        plan.name,
        plan.sessions.len(),
        plan.sandbox,
        out::table(&rows)
    ))
}

fn session(run: &RunDirectory, key: &SessionKey, as_json: bool) -> Result<(), Failure> {
    let path = run.transcript(key);
    let lines = read_transcript(&path).map_err(|error| {
        Failure::new(Code::Usage, format!("{}: {error}", path.display())).remedy(
            "the session has not begun, or its last attempt failed; see its attempts folder",
        )
    })?;
    if as_json {
        return out::data(&pretty(
            &json!({ "format": "evalxrl.transcript/1", "lines": lines }),
        ));
    }
    let mut text = String::new();
    for line in &lines {
        let kind = serde_json::to_value(line.kind).unwrap_or_default();
        text.push_str(&format!(
            "{:>8.1} s  {}\n",
            line.at,
            kind.as_str().unwrap_or_default()
        ));
        let told = match line.data.get("text").and_then(serde_json::Value::as_str) {
            Some(words) => words.to_owned(),
            None => line.data.to_string(),
        };
        for part in told.lines() {
            text.push_str(&format!("    {}\n", inert(part)));
        }
    }
    out::data(&text)
}

/// Text of a session without anything that a terminal would obey.
fn inert(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_inert() {
        assert_eq!(
            inert("\x1b]0;title\x07 a\tb"),
            "\u{fffd}]0;title\u{fffd} a\tb"
        );
    }
}
