//! Knows how a Python seed becomes named keys, as the command line derives them from a root seed.
//! Must not know what they are used for.
//! Start at `Seed`.

use pyo3::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use crate::refusal::refuse;

/// A root seed: 32 bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed([u8; 32]);

impl Seed {
    /// The key of a name: the BLAKE3 keyed hash of the name under the root.
    pub(crate) fn named(self) -> impl Fn(&str) -> [u8; 32] + Sync {
        move |name: &str| *blake3::keyed_hash(&self.0, name.as_bytes()).as_bytes()
    }

    /// The generator of a name.
    pub(crate) fn generator(self, name: &str) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.named()(name))
    }
}

impl<'py> FromPyObject<'_, 'py> for Seed {
    type Error = PyErr;

    /// Takes 64 hexadecimal digits as they are, and spreads a whole number over 32 bytes as `--seed` does.
    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = value.extract::<String>() {
            return blake3::Hash::from_hex(&text)
                .map(|hash| Self(*hash.as_bytes()))
                .map_err(|_| refuse("seed is not 64 hexadecimal digits"));
        }
        let number: u64 = value.extract()?;
        let root = blake3::hash(format!("evalxrl weak root seed {number}").as_bytes());
        Ok(Self(*root.as_bytes()))
    }
}
