//! Knows the resource limits of the three sandbox roles, their defaults, and how an experiment changes them.
//! Must not know sandboxes.
//! Start at `RunLimits`.

use serde::{Deserialize, Serialize};

use crate::catalog::{Fields, Problems};

use super::quantity::Size;

/// Resource limits of one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleLimits {
    /// Memory without swap, bytes.
    pub memory: u64,
    /// Processor share, in processors.
    pub cpus: f64,
    /// Processor set, e.g. `0-1`; all when absent.
    pub cpuset: Option<String>,
    /// Processes and threads.
    pub pids: i64,
    /// Size of the home folder, bytes.
    pub home: u64,
    /// Size of the temporary folder, bytes.
    pub temporary: u64,
}

/// Limits of all roles of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunLimits {
    /// Where the coder works.
    pub workspace: RoleLimits,
    /// Serves a frozen bundle.
    pub agent: RoleLimits,
    /// Measures.
    pub scorer: RoleLimits,
}

const MIB: u64 = 1 << 20;

fn role(memory: u64, pids: i64, home: u64) -> RoleLimits {
    RoleLimits {
        memory: memory * MIB,
        cpus: 2.0,
        cpuset: None,
        pids,
        home: home * MIB,
        temporary: 512 * MIB,
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            workspace: role(4096, 256, 2048),
            agent: role(2048, 128, 256),
            scorer: role(4096, 128, 256),
        }
    }
}

impl RunLimits {
    /// Takes `[limits]`, what is not written keeping its default.
    pub(super) fn read(fields: Option<Fields>, problems: &mut Problems) -> Self {
        let mut limits = Self::default();
        let Some(mut fields) = fields else {
            return limits;
        };
        let roles = [
            ("workspace", &mut limits.workspace),
            ("agent", &mut limits.agent),
            ("scorer", &mut limits.scorer),
        ];
        for (name, role) in roles {
            if let Some(table) = fields.table(name, problems) {
                role.read(table, problems);
            }
        }
        fields.finish(problems);
        limits
    }
}

impl RoleLimits {
    fn read(&mut self, mut fields: Fields, problems: &mut Problems) {
        let size = "a size such as \"4GiB\"";
        if let Some(Size(memory)) = fields.optional("memory", size, problems) {
            self.memory = memory;
        }
        if let Some(cpus) = fields.optional::<f64>("cpus", "a number of processors", problems) {
            if cpus.is_finite() && cpus > 0.0 {
                self.cpus = cpus;
            } else {
                let wrong = format!("{cpus} is no number of processors");
                problems.push(fields.problem("cpus", wrong, "write a number above 0"));
            }
        }
        if let Some(cpuset) = fields.optional::<String>("cpuset", "a set such as \"0-1\"", problems)
        {
            self.cpuset = Some(cpuset);
        }
        if let Some(pids) = fields.optional::<i64>("pids", "a whole number", problems) {
            if pids >= 16 {
                self.pids = pids;
            } else {
                let wrong = format!("{pids} processes are too few");
                problems.push(fields.problem("pids", wrong, "write at least 16"));
            }
        }
        if let Some(mut folders) = fields.table("tmpfs", problems) {
            if let Some(Size(home)) = folders.optional("home", size, problems) {
                self.home = home;
            }
            if let Some(Size(temporary)) = folders.optional("temporary", size, problems) {
                self.temporary = temporary;
            }
            folders.finish(problems);
        }
        fields.finish(problems);
    }
}
