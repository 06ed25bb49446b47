//! Knows how much disk a run directory must have free before a session starts.
//! Must not know what fills it.
//! Start at `RunDirectory::has_room`.

use crate::vocab::{FaultKind, HarnessFault};

use super::RunDirectory;

/// Free disk below which no session starts: a share and a number of bytes, whichever is more.
const FREE_SHARE: f64 = 0.1;
const FREE_BYTES: u64 = 5 << 30;

impl RunDirectory {
    /// Refuses to start on a disk that is nearly full; such a run pauses, and nothing of it becomes a score.
    ///
    /// # Errors
    /// `disk_full`, with what is free and what is needed.
    pub fn has_room(&self) -> Result<(), HarnessFault> {
        let path = self.root();
        let facts = nix::sys::statvfs::statvfs(path).map_err(|error| {
            HarnessFault::new(FaultKind::Internal, format!("{}: {error}", path.display()))
        })?;
        let unit = facts.fragment_size();
        room(facts.blocks_available() * unit, facts.blocks() * unit).map_err(|needed| {
            HarnessFault::new(
                FaultKind::DiskFull,
                format!(
                    "the disk of {} has {} MiB free, and a session needs {} MiB",
                    path.display(),
                    (facts.blocks_available() * unit) >> 20,
                    needed >> 20
                ),
            )
        })
    }
}

/// Whether so many free bytes of so many are enough; else how many would be.
fn room(free: u64, all: u64) -> Result<(), u64> {
    let needed = FREE_BYTES.max((FREE_SHARE * all as f64) as u64);
    if free < needed { Err(needed) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_of_five_gibibytes_and_a_tenth_must_be_free() {
        const GIB: u64 = 1 << 30;
        assert_eq!(room(6 * GIB, 20 * GIB), Ok(()));
        assert_eq!(room(4 * GIB, 20 * GIB), Err(5 * GIB));
        assert_eq!(room(20 * GIB, 100 * GIB), Ok(()));
        assert!(room(9 * GIB, 100 * GIB).is_err());
    }
}
