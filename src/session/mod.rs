//! Knows one replication, start to record: the block it belongs to, the bench, the bundle, the score.
//! Must not know plans, the order of sessions, or who watches.
//! Start at `SessionPlayer`.

mod bench;
mod block;
mod bundle;
mod changes;
mod furnishing;
mod job;
mod live;
mod place;
mod player;
mod rank;
mod rehearsal;
mod serving;
mod tools;
mod training;
mod visit;

pub use bench::MARKER;
pub use bundle::{Bundle, CAPS, Caps, Rejection, pack};
pub use job::{BlockJob, Job};
pub use place::{run_label, untar};
pub use player::{SessionPlayer, WorkerProcessors};
pub use visit::{Visit, Visitor};
