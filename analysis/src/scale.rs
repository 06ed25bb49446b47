//! Knows the scales on which a repair score is analysed.
//! Must not know how a score came about.
//! Start at `Scale`.

use serde::{Deserialize, Serialize};

/// A scale of the repair score; all are unit-free, 0 = as broken, 1 = as clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Each session limited to [0, 1].
    Clipped,
    /// Each session raised to at least the plan's `winsor_floor`.
    Raw,
    /// As stored, without limit.
    RawUnwinsorised,
}

impl Scale {
    /// Places one stored raw score on this scale.
    pub fn place(self, raw: f64, winsor_floor: f64) -> f64 {
        match self {
            Self::Clipped => raw.clamp(0.0, 1.0),
            Self::Raw => raw.max(winsor_floor),
            Self::RawUnwinsorised => raw,
        }
    }

    /// The name used in seeds and findings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clipped => "clipped",
            Self::Raw => "raw",
            Self::RawUnwinsorised => "raw_unwinsorised",
        }
    }
}
