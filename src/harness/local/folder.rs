//! Knows the folder of a local sandbox: where places lie, whose it is, how it is cleared away.
//! Must not know commands.
//! Start at `Folder::make`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::processes;
use super::{Identity, Owner, Swept};
use crate::harness::owner::{deadline, now, random_name};
use crate::harness::relay::{RELAY, SHIM};
use crate::harness::{Place, images};
use crate::vocab::{FaultKind, HarnessFault};

const PREFIX: &str = "evalxrl-";
const LABEL: &str = "owner.json";
/// Unix sockets have at most 108 bytes of path.
const LONGEST: usize = 80;

/// What is ours, and until when.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    run: String,
    session: String,
    owner: String,
    deadline: u64,
}

/// The folder of one sandbox, laid out like the containers are.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    root: PathBuf,
    /// Marks the processes of this sandbox.
    pub(super) mark: String,
}

fn failed(doing: &str, path: &Path, error: &std::io::Error) -> HarnessFault {
    let kind = if error.kind() == std::io::ErrorKind::StorageFull {
        FaultKind::DiskFull
    } else {
        FaultKind::Internal
    };
    HarnessFault::new(kind, format!("{doing} {}: {error}", path.display()))
}

impl Folder {
    /// Makes an empty folder with all its places.
    pub(super) fn make(
        temporary: &Path,
        identity: &Identity,
        owner: &Owner,
        life: Duration,
    ) -> Result<Self, HarnessFault> {
        let mark = random_name()?;
        let root = temporary.join(format!("{PREFIX}{mark}"));
        if root.as_os_str().len() > LONGEST {
            return Err(HarnessFault::new(
                FaultKind::Internal,
                format!(
                    "the temporary folder {} has too long a path for sockets; set TMPDIR to a shorter one",
                    temporary.display()
                ),
            ));
        }
        let folder = Self { root, mark };
        fs::create_dir(&folder.root).map_err(|error| failed("making", &folder.root, &error))?;
        fs::set_permissions(&folder.root, fs::Permissions::from_mode(0o700))
            .map_err(|error| failed("closing", &folder.root, &error))?;
        let label = Label {
            run: owner.run.clone(),
            session: owner.session.to_string(),
            owner: identity.to_string(),
            deadline: deadline(life),
        };
        let label = serde_json::to_vec(&label)
            .map_err(|error| HarnessFault::new(FaultKind::Internal, error.to_string()))?;
        folder.write(LABEL, &label, 0o600)?;
        for place in [Place::Home, Place::Temporary, Place::Method, Place::Relay] {
            let path = folder.place(place);
            fs::create_dir_all(&path).map_err(|error| failed("making", &path, &error))?;
        }
        Ok(folder)
    }

    /// Puts the relay and the shims in, to be run by this interpreter.
    pub(super) fn furnish(&self, python: &Path) -> Result<(), HarnessFault> {
        for (name, text) in [("opt/evalxrl/relay.py", RELAY), ("opt/evalxrl/shim", SHIM)] {
            let text = images::with_interpreter(text, python);
            self.write(name, text.as_bytes(), 0o755)?;
        }
        let bin = self.root.join("usr/local/bin");
        fs::create_dir_all(&bin).map_err(|error| failed("making", &bin, &error))?;
        for tool in ["score", "submit"] {
            let link = bin.join(tool);
            std::os::unix::fs::symlink("../../../opt/evalxrl/shim", &link)
                .map_err(|error| failed("linking", &link, &error))?;
        }
        Ok(())
    }

    fn write(&self, name: &str, bytes: &[u8], mode: u32) -> Result<(), HarnessFault> {
        let path = self.root.join(name);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes))
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)))
            .map_err(|error| failed("writing", &path, &error))
    }

    /// Where a place lies.
    pub(super) fn place(&self, place: Place) -> PathBuf {
        self.root.join(match place {
            Place::Home => "home/coder",
            Place::Temporary => "tmp",
            Place::Method => "opt/method",
            Place::Relay => "run/relay",
        })
    }

    /// A path of the container layout, seen in this folder.
    pub(super) fn inside(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The folder itself.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Kills what runs in it and deletes it; twice is fine.
    pub(super) fn clear(&self) -> Result<(), HarnessFault> {
        let left = processes::kill_all(&processes::Wanted::sandbox(&self.mark, &self.root));
        if left.1 > 0 {
            return Err(HarnessFault::new(
                FaultKind::ContainerLost,
                format!("{} processes survive in {}", left.1, self.root.display()),
            ));
        }
        delete(&self.root)
    }
}

/// Deletes a tree even if folders in it were closed to their owner.
fn delete(root: &Path) -> Result<(), HarnessFault> {
    match fs::remove_dir_all(root) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(_) => {}
    }
    for entry in walkdir::WalkDir::new(root).into_iter().flatten() {
        if entry.file_type().is_dir() {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o700))
                .map_err(|error| failed("opening", entry.path(), &error))?;
        }
    }
    match fs::remove_dir_all(root) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failed("removing", root, &error))
        }
        _ => Ok(()),
    }
}

/// Clears folders whose owner is dead, whose deadline has passed, or that this process made for `run`.
pub(super) fn sweep(
    temporary: &Path,
    identity: &Identity,
    run: Option<&str>,
) -> Result<Swept, HarnessFault> {
    let mut swept = Swept::default();
    let entries = fs::read_dir(temporary).map_err(|error| failed("reading", temporary, &error))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(mark) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
            continue;
        };
        let folder = Folder {
            root: entry.path(),
            mark: mark.to_owned(),
        };
        // Folders of other users and half-made ones are not readable as ours and stay.
        let Ok(text) = fs::read(folder.root.join(LABEL)) else {
            continue;
        };
        let Ok(label) = serde_json::from_slice::<Label>(&text) else {
            continue;
        };
        let Some(owner) = Identity::parse(&label.owner) else {
            continue;
        };
        let own = owner == *identity && run == Some(label.run.as_str());
        if owner.is_dead(identity) || label.deadline < now() || own {
            folder.clear()?;
            swept.sandboxes += 1;
        }
    }
    Ok(swept)
}
