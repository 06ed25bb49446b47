//! Knows how one worker claims a session on a file system that many workers share.
//! Must not know what a session is: it is given a folder.
//! Start at `Lease::claim`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// After this long without a touch a lease is stale.
pub(super) const STALE: Duration = Duration::from_secs(120);

/// How often the owner touches its lease.
pub(super) const TOUCH: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    format: String,
    host: String,
    boot_id: String,
    pid: u32,
    start_ticks: u64,
    nonce: String,
}

/// A claimed session; given back when dropped.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
    nonce: String,
    stop: Option<std::sync::mpsc::Sender<()>>,
    keeper: Option<std::thread::JoinHandle<()>>,
}

impl Lease {
    /// Claims the folder; `None` when another living worker holds it.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn claim(folder: &Path) -> std::io::Result<Option<Self>> {
        std::fs::create_dir_all(folder)?;
        let path = folder.join("lease.json");
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(std::io::Error::other)?;
        let nonce = hex::encode(random);
        for _ in 0..2 {
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let claim = Claim::of_this_process(&nonce)?;
                    file.write_all(&serde_json::to_vec(&claim).map_err(std::io::Error::other)?)?;
                    file.sync_all()?;
                    return Ok(Some(Self::keep(path, nonce)));
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    if !is_stale(&path)? {
                        return Ok(None);
                    }
                    let aside = folder.join(format!("lease.stale.{nonce}"));
                    match std::fs::rename(&path, &aside) {
                        Ok(()) => std::fs::remove_file(&aside)?,
                        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                        Err(error) => return Err(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    fn keep(path: PathBuf, nonce: String) -> Self {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let touched = path.clone();
        let keeper = std::thread::spawn(move || {
            while stopped.recv_timeout(TOUCH) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let touch = File::options()
                    .write(true)
                    .open(&touched)
                    .and_then(|file| file.set_modified(SystemTime::now()));
                if touch.is_err() {
                    // The lease was taken over; `still_held` tells the owner before it publishes.
                    break;
                }
            }
        });
        Self {
            path,
            nonce,
            stop: Some(stop),
            keeper: Some(keeper),
        }
    }

    /// Whether the claim on disk is still ours; asked before publishing.
    #[must_use]
    pub fn still_held(&self) -> bool {
        read(&self.path).is_some_and(|claim| claim.nonce == self.nonce)
    }
}

/// Whether a living worker holds the folder.
pub(super) fn is_held(folder: &Path) -> bool {
    let path = folder.join("lease.json");
    path.is_file() && is_stale(&path).is_ok_and(|stale| !stale)
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(keeper) = self.keeper.take()
            && keeper.join().is_err()
        {
            // The keeper only touches a file; were it to panic, the lease would go stale by itself.
            return;
        }
        if self.still_held() && std::fs::remove_file(&self.path).is_err() {
            // A lease that cannot be removed goes stale after two minutes.
        }
    }
}

impl Claim {
    fn of_this_process(nonce: &str) -> std::io::Result<Self> {
        let pid = std::process::id();
        Ok(Self {
            format: "evalxrl.lease/1".to_owned(),
            host: nix::unistd::gethostname()?.to_string_lossy().into_owned(),
            boot_id: boot_id()?,
            pid,
            start_ticks: start_ticks(pid).unwrap_or(0),
            nonce: nonce.to_owned(),
        })
    }

    /// On this very boot a dead owner is known at once, without waiting for the lease to go stale.
    fn owner_is_dead_here(&self) -> bool {
        boot_id().is_ok_and(|boot| boot == self.boot_id)
            && start_ticks(self.pid) != Some(self.start_ticks)
    }
}

fn read(path: &Path) -> Option<Claim> {
    std::fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

fn boot_id() -> std::io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?
        .trim()
        .to_owned())
}

/// Start time of a live process in clock ticks since boot; zombies count as dead.
fn start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if fields.first() == Some(&"Z") {
        return None;
    }
    fields.get(19)?.parse().ok()
}

/// Judged against a file touched now on the same file system, so that no clocks are compared.
fn is_stale(path: &Path) -> std::io::Result<bool> {
    if read(path).is_some_and(|claim| claim.owner_is_dead_here()) {
        return Ok(true);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let now = tempfile::Builder::new()
        .prefix(".partial-")
        .tempfile_in(folder)?;
    let now = now.as_file().metadata()?.modified()?;
    match std::fs::metadata(path).and_then(|metadata| metadata.modified()) {
        Ok(touched) => Ok(now.duration_since(touched).is_ok_and(|age| age > STALE)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_session_cannot_be_claimed_and_a_given_back_one_can() {
        let folder = tempfile::tempdir().unwrap();
        let lease = Lease::claim(folder.path()).unwrap().unwrap();
        assert!(Lease::claim(folder.path()).unwrap().is_none());
        assert!(lease.still_held());
        drop(lease);
        assert!(Lease::claim(folder.path()).unwrap().is_some());
    }

    #[test]
    fn the_lease_of_a_killed_process_is_taken_over_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        let mut claim = Claim::of_this_process("old").unwrap();
        claim.pid = pid;
        std::fs::write(
            folder.path().join("lease.json"),
            serde_json::to_vec(&claim).unwrap(),
        )
        .unwrap();
        assert!(Lease::claim(folder.path()).unwrap().is_some());
    }

    #[test]
    fn a_lease_of_another_machine_is_taken_over_only_when_untouched_for_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lease.json");
        let mut claim = Claim::of_this_process("old").unwrap();
        claim.boot_id = "another machine".to_owned();
        std::fs::write(&path, serde_json::to_vec(&claim).unwrap()).unwrap();
        assert!(Lease::claim(folder.path()).unwrap().is_none());
        let long_ago = SystemTime::now() - STALE - Duration::from_secs(5);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        let lease = Lease::claim(folder.path()).unwrap().unwrap();
        assert!(lease.still_held());
    }

    #[test]
    fn of_many_claimants_exactly_one_wins_a_stale_lease() {
        let folder = tempfile::tempdir().unwrap();
        let mut claim = Claim::of_this_process("old").unwrap();
        claim.start_ticks += 1;
        std::fs::write(
            folder.path().join("lease.json"),
            serde_json::to_vec(&claim).unwrap(),
        )
        .unwrap();
        let leases: Vec<Option<Lease>> = std::thread::scope(|scope| {
            let claimants: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| Lease::claim(folder.path()).unwrap()))
                .collect();
            claimants
                .into_iter()
                .map(|claimant| claimant.join().unwrap())
                .collect()
        });
        assert_eq!(
            leases
                .iter()
                .flatten()
                .filter(|lease| lease.still_held())
                .count(),
            1
        );
    }
}
