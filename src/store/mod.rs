//! Knows the run directory: the only room that knows its file names, and how files are published without loss.
//! Must not know how a session is run or what its numbers mean.
//! Start at `RunDirectory`, then `SessionRecord`.

mod atomic;
mod block;
mod directory;
mod disk;
mod lease;
mod localisation;
mod record;
mod transcript;

pub use atomic::{publish, publish_once};
pub use block::BlockRecord;
pub use directory::{Attempt, RunDirectory, StoreError};
pub use lease::Lease;
pub use localisation::{FaultyLine, LocalisationFolder, LocalisationRecord, ToolText};
pub use record::{
    AgentChanges, BudgetRecord, BundleRecord, Calls, IsolationRecord, PerformanceRecord,
    ReferenceRecord, RepairScoreRecord, RestoringRank, Seconds, SessionRecord, Usage,
};
pub use transcript::{Event, Transcript, TranscriptLine, read_transcript};
