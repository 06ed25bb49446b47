//! Knows how rooms without async wait for the harness.
//! Must not know what they wait for.
//! Start at `Front`.

use std::future::Future;

use crate::vocab::{FaultKind, HarnessFault};

/// A runtime of its own to wait in.
pub struct Front {
    runtime: tokio::runtime::Runtime,
}

impl Front {
    /// Starts the runtime. One is enough for a process; never inside another runtime.
    ///
    /// # Errors
    /// The system grants no threads.
    pub fn new() -> Result<Self, HarnessFault> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| HarnessFault::new(FaultKind::Internal, error.to_string()))?;
        Ok(Self { runtime })
    }

    /// Waits for one thing.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }
}
