//! Knows the words of the benchmark as types: identifiers, arms, sessions, seeds, budgets, outcomes, performance.
//! Must not know files, processes, networks or any other room.
//! Start at `SessionKey`, which names one replication of one cell.

mod budget;
mod fault;
mod identifiers;
mod isolation;
mod outcome;
mod performance;
mod seed;
mod session_key;

pub use budget::{Budget, BundleMode, Invocations, Limit, ScoreBudget};
pub use fault::{FaultKind, HarnessFault};
pub use identifiers::{
    CoderLabel, DossierId, EnvironmentId, IdError, MalfunctionId, MethodId, Opaque,
};
pub use isolation::{ImageFacts, Isolation, Probe};
pub use outcome::{Outcome, OutcomeKind};
pub use performance::{Performance, PerformanceError};
pub use seed::{RootSeed, Seed, SeedError, SeedName};
pub use session_key::{Arm, Cell, SessionKey};
