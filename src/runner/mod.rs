//! Knows how many sessions become records: order, leases, attempts, faults that wait, and orderly ends.
//! Must not know how a session is played; it is handed a `Player`.
//! Start at `run`.

mod player;
mod pool;

pub use player::JobPlayer;
pub use pool::{Observer, Player, Progress, Stop, Summary, run};
