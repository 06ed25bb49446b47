//! Knows how to find, stop and kill the processes of a local sandbox, wherever they have crept.
//! Must not know what they are for.
//! Start at `Wanted`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness::User;

/// The variable that marks a process and all its children.
pub(super) const MARK: &str = "EVALXRL_SANDBOX";

/// The value of the mark.
pub(super) fn mark(sandbox: &str, user: User) -> String {
    format!("{sandbox}/{}", user.uid())
}

/// Which processes are meant.
pub(super) struct Wanted {
    /// Marks that name one of them.
    marks: Vec<String>,
    /// A process without a mark that works below this folder is one of them too.
    below: Option<PathBuf>,
}

impl Wanted {
    /// The processes of one user. What has shed its mark counts as the coder's.
    pub(super) fn user(sandbox: &str, user: User, root: &Path) -> Self {
        Self {
            marks: vec![format!("{MARK}={}", mark(sandbox, user))],
            below: (user == User::Coder).then(|| root.to_owned()),
        }
    }

    /// The processes of every user of one sandbox.
    pub(super) fn sandbox(sandbox: &str, root: &Path) -> Self {
        let users = [User::Coder, User::Method, User::Holder, User::Relay];
        Self {
            marks: users
                .iter()
                .map(|user| format!("{MARK}={}", mark(sandbox, *user)))
                .collect(),
            below: Some(root.to_owned()),
        }
    }

    fn is_meant(&self, process: &Path) -> bool {
        // A process of another user, or one that just ended, is not readable and not meant.
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        let own_mark = environment
            .split(|byte| *byte == 0)
            .find(|variable| variable.starts_with(MARK.as_bytes()));
        match (own_mark, &self.below) {
            (Some(own), _) => self.marks.iter().any(|mark| mark.as_bytes() == own),
            (None, Some(root)) => {
                let folder = fs::read_link(process.join("cwd"));
                folder.is_ok_and(|folder| folder.starts_with(root)) && !has_terminal(process)
            }
            (None, None) => false,
        }
    }

    /// All living ones: the marked, and the descendants of the marked that bear no other mark.
    fn living(&self) -> Vec<Pid> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let mut meant = Vec::new();
        let mut unmarked: BTreeMap<i32, i32> = BTreeMap::new();
        for entry in entries.flatten() {
            let Some(Ok(process)) = entry.file_name().to_str().map(str::parse::<i32>) else {
                continue;
            };
            let Some((state, parent)) = state_and_parent(&entry.path()) else {
                continue;
            };
            if state == 'Z' || state == 'X' {
                continue;
            }
            if self.is_meant(&entry.path()) {
                meant.push(process);
            } else if !is_marked(&entry.path()) {
                unmarked.insert(process, parent);
            }
        }
        let mut grown = true;
        while grown {
            let children: Vec<i32> = unmarked
                .iter()
                .filter(|(_, parent)| meant.contains(parent))
                .map(|(process, _)| *process)
                .collect();
            grown = !children.is_empty();
            for child in children {
                unmarked.remove(&child);
                meant.push(child);
            }
        }
        meant.into_iter().map(Pid::from_raw).collect()
    }
}

fn is_marked(process: &Path) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable.starts_with(MARK.as_bytes()))
}

/// Somebody who looks into the folder from a terminal is not of the sandbox.
fn has_terminal(process: &Path) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    let fields = stat.rfind(')').map_or("", |end| &stat[end + 1..]);
    fields
        .split_whitespace()
        .nth(4)
        .is_some_and(|tty| tty != "0")
}

fn state_and_parent(process: &Path) -> Option<(char, i32)> {
    let Ok(stat) = fs::read_to_string(process.join("stat")) else {
        return None;
    };
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?.chars().next()?;
    match fields.next()?.parse() {
        Ok(parent) => Some((state, parent)),
        Err(_) => None,
    }
}

/// Kills until none is left, at most for 5 s; how many there were at first and how many are left.
pub(super) fn kill_all(wanted: &Wanted) -> (u32, u32) {
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut living = wanted.living();
    let before = living.len();
    while !living.is_empty() && Instant::now() < deadline {
        signal_each(&living, Signal::SIGKILL);
        std::thread::sleep(Duration::from_millis(5));
        living = wanted.living();
    }
    (before as u32, living.len() as u32)
}

/// Sends a signal to all, twice, so that a child born during the first round is reached.
pub(super) fn signal_all(wanted: &Wanted, signal: Signal) {
    for _round in 0..2 {
        signal_each(&wanted.living(), signal);
    }
}

fn signal_each(processes: &[Pid], signal: Signal) {
    for process in processes {
        // A process that ended meanwhile needs no signal.
        let _ended = kill(*process, signal);
    }
}
