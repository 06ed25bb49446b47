//! Knows who this process is, so that what it makes can be told from what a dead process left.
//! Must not know what is made.
//! Start at `Identity`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::vocab::{FaultKind, HarnessFault};

/// One process on one boot of one machine; survives the reuse of process ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    boot: String,
    process: u32,
    started: u64,
}

impl Identity {
    /// This very process.
    ///
    /// # Errors
    /// `/proc` is not readable.
    pub fn current() -> Result<Self, HarnessFault> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map_err(|error| {
            HarnessFault::new(
                FaultKind::Internal,
                format!("boot id not readable: {error}"),
            )
        })?;
        let process = std::process::id();
        let started = start_ticks(process).ok_or_else(|| {
            HarnessFault::new(FaultKind::Internal, "own start time not readable in /proc")
        })?;
        Ok(Self {
            boot: boot.trim().to_owned(),
            process,
            started,
        })
    }

    /// Reads `<boot id>/<process id>/<start ticks>`; `None` when it is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('/');
        let (boot, process, started) = (parts.next()?, parts.next()?, parts.next()?);
        let (Ok(process), Ok(started), None) = (process.parse(), started.parse(), parts.next())
        else {
            return None;
        };
        Some(Self {
            boot: boot.to_owned(),
            process,
            started,
        })
    }

    /// Whether the process is known to have ended, as seen from `here`. On another boot or machine nothing is known.
    #[must_use]
    pub fn is_dead(&self, here: &Self) -> bool {
        self.boot == here.boot && start_ticks(self.process) != Some(self.started)
    }
}

impl std::fmt::Display for Identity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}/{}", self.boot, self.process, self.started)
    }
}

/// Field 22 of `/proc/<process>/stat`; `None` when there is no such process.
fn start_ticks(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The command name may hold blanks and brackets; fields are counted after the last one.
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    // A killed process that nobody has waited for is dead, too.
    if fields.next() == Some("Z") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

/// Seconds since 1970 at which something made now, with this much life, is over.
pub(super) fn deadline(life: Duration) -> u64 {
    now() + life.as_secs()
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs())
}

/// Twelve random hexadecimal digits for names that say nothing.
pub(super) fn random_name() -> Result<String, HarnessFault> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).map_err(|error| {
        HarnessFault::new(FaultKind::Internal, format!("no random bytes: {error}"))
    })?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_living_process_is_not_dead_and_a_reused_process_id_is() {
        let here = Identity::current().unwrap();
        assert_eq!(Identity::parse(&here.to_string()).as_ref(), Some(&here));
        assert!(!here.is_dead(&here));
        let earlier = Identity {
            started: here.started + 1,
            ..here.clone()
        };
        assert!(earlier.is_dead(&here));
    }

    #[test]
    fn nothing_is_known_of_a_process_on_another_boot() {
        let here = Identity::current().unwrap();
        let elsewhere = Identity {
            boot: "other".to_owned(),
            process: here.process,
            started: 0,
        };
        assert!(!elsewhere.is_dead(&here));
    }

    #[test]
    fn a_torn_owner_is_no_owner() {
        for text in ["", "boot", "boot/1", "boot/x/1", "boot/1/2/3"] {
            assert_eq!(Identity::parse(text), None, "{text:?}");
        }
    }
}
