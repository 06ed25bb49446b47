//! Knows how a run shows itself on standard error: a live line on a terminal, plain lines elsewhere.
//! Must not know how sessions are played.
//! Start at `Screen`, an `Observer`.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::runner::{Observer, Progress};
use crate::vocab::{OutcomeKind, SessionKey};

/// Shows a run while it runs.
pub(super) struct Screen {
    bar: ProgressBar,
    live: bool,
    tally: Mutex<Tally>,
}

struct Tally {
    total: usize,
    done: usize,
    before: usize,
    running: BTreeMap<SessionKey, Instant>,
    outcomes: BTreeMap<OutcomeKind, usize>,
    failures: usize,
    began: Instant,
}

impl Tally {
    /// Time left at the pace so far; unknown before the first session ends.
    fn left(&self) -> Option<Duration> {
        let played = self
            .done
            .checked_sub(self.before)
            .filter(|played| *played > 0)?;
        let per_session = self.began.elapsed().as_secs_f64() / played as f64;
        Some(Duration::from_secs_f64(
            per_session * (self.total - self.done) as f64,
        ))
    }

    fn line(&self) -> String {
        let outcomes: Vec<String> = self
            .outcomes
            .iter()
            .map(|(kind, count)| format!("{} {count}", kind.as_str()))
            .collect();
        let left = self.left().map_or_else(
            || "time left unknown".to_owned(),
            |left| format!("about {} left", minutes(left)),
        );
        let failures = if self.failures == 0 {
            String::new()
        } else {
            format!(", {} faults", self.failures)
        };
        let outcomes = if outcomes.is_empty() {
            String::new()
        } else {
            format!(" ({})", outcomes.join(", "))
        };
        format!(
            "{}/{} sessions{outcomes}, {} running{failures}, {left}",
            self.done,
            self.total,
            self.running.len()
        )
    }
}

impl Screen {
    /// A screen for so many sessions, some of which were finished before.
    pub(super) fn new(total: usize, before: usize) -> Self {
        let live = std::io::stderr().is_terminal();
        let target = if live {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        if let Ok(style) = ProgressStyle::with_template("[{elapsed}] {bar:24} {msg}") {
            bar.set_style(style);
        }
        bar.set_position(before as u64);
        if live {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        let tally = Tally {
            total,
            done: before,
            before,
            running: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            failures: 0,
            began: Instant::now(),
        };
        bar.set_message(tally.line());
        Self {
            bar,
            live,
            tally: Mutex::new(tally),
        }
    }

    /// Says one line that stays.
    #[expect(
        clippy::print_stderr,
        reason = "the command line is the one room that prints"
    )]
    pub(super) fn say(&self, text: &str) {
        if self.live {
            self.bar.println(text);
        } else {
            eprintln!("{text}");
        }
    }

    /// Takes the live line away.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Screen {
    fn tell(&self, progress: &Progress) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let said = match progress {
            Progress::Started(key) => {
                tally.running.insert(key.clone(), Instant::now());
                (!self.live).then(|| format!("started   {key}"))
            }
            Progress::Finished {
                key,
                outcome,
                raw,
                seconds,
            } => {
                tally.running.remove(key);
                tally.done += 1;
                *tally.outcomes.entry(*outcome).or_default() += 1;
                Some(format!(
                    "finished  {key}  {} raw {raw:+.2}  {}  [{}]",
                    outcome.as_str(),
                    minutes(Duration::from_secs_f64(*seconds)),
                    tally.line()
                ))
            }
            Progress::Failed { key, fault } => {
                tally.running.remove(key);
                tally.failures += 1;
                Some(format!("failed    {key}  {fault}"))
            }
            Progress::Waiting(fault) => Some(format!(
                "waiting   {fault}; the run goes on when the machine recovers"
            )),
        };
        self.bar.set_position(tally.done as u64);
        self.bar.set_message(tally.line());
        drop(tally);
        if let Some(text) = said {
            self.say(&text);
        }
    }
}

/// A duration as a person reads it: `42 s`, `3 min 5 s`, `2 h 4 min`.
pub(super) fn minutes(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_a_person_says_them() {
        let of = |seconds| minutes(Duration::from_secs(seconds));
        assert_eq!(
            (of(42), of(185), of(7440)),
            ("42 s".into(), "3 min 5 s".into(), "2 h 4 min".into())
        );
    }
}
