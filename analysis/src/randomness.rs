//! Knows how random numbers reach a computation so that the same seed gives the same bytes at any number of threads.
//! Must not know what the numbers are used for, nor any global source.
//! Start at `Streams`.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// The draw order in use; any change of it raises the number.
pub const GENERATOR: &str = "chacha8/2";

/// Replicates per chunk; part of the draw order.
pub const CHUNK: usize = 256;

/// Derives a 32-byte key by name from the root seed of a run, such as `h1/session/clipped`.
pub trait NamedSeeds {
    /// Gives the key of a name; the same name always gives the same key.
    fn key(&self, name: &str) -> [u8; 32];
}

impl<F: Fn(&str) -> [u8; 32]> NamedSeeds for F {
    fn key(&self, name: &str) -> [u8; 32] {
        self(name)
    }
}

/// Starts the generator of a name.
pub(crate) fn generator(seeds: &impl NamedSeeds, name: &str) -> ChaCha8Rng {
    ChaCha8Rng::from_seed(seeds.key(name))
}

/// One key, drawn once, from which every chunk of replicates has a stream of its own.
#[derive(Debug, Clone)]
pub struct Streams {
    key: [u8; 32],
}

impl Streams {
    /// Draws the key: 32 bytes, the only draw from `rng`.
    pub fn draw(rng: &mut impl RngCore) -> Self {
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        Self { key }
    }

    /// Gives the generator of chunk i.
    pub fn chunk(&self, index: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.key);
        rng.set_stream(index as u64);
        rng
    }

    /// Computes `count` replicates in chunks of 256 in parallel, each chunk with its own scratch space; replicate i lands in slot i.
    pub fn replicates<S, T: Send>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        replicate: impl Fn(&mut S, &mut ChaCha8Rng) -> T + Sync,
    ) -> Vec<T> {
        let chunks: Vec<Vec<T>> = (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|index| {
                let mut rng = self.chunk(index);
                let mut space = scratch();
                let size = CHUNK.min(count - index * CHUNK);
                (0..size).map(|_| replicate(&mut space, &mut rng)).collect()
            })
            .collect();
        chunks.into_iter().flatten().collect()
    }

    /// As `replicates`, for counts: adds up what every replicate counts, without a slot for each.
    pub(crate) fn tally<S, const N: usize>(
        &self,
        count: usize,
        scratch: impl Fn() -> S + Sync,
        replicate: impl Fn(&mut S, &mut ChaCha8Rng) -> [u64; N] + Sync,
    ) -> [u64; N] {
        let add = |first: [u64; N], second: [u64; N]| -> [u64; N] {
            std::array::from_fn(|index| first[index] + second[index])
        };
        (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|index| {
                let mut rng = self.chunk(index);
                let mut space = scratch();
                let size = CHUNK.min(count - index * CHUNK);
                (0..size).fold([0; N], |counts, _| {
                    add(counts, replicate(&mut space, &mut rng))
                })
            })
            .reduce(|| [0; N], add)
    }
}

/// Draws an integer in 0..bound without bias (Lemire's multiplication with rejection).
///
/// `bound` must be at least 1.
pub fn below(rng: &mut impl RngCore, bound: u32) -> u32 {
    let mut product = u64::from(rng.next_u32()) * u64::from(bound);
    if (product as u32) < bound {
        let threshold = bound.wrapping_neg() % bound;
        while (product as u32) < threshold {
            product = u64::from(rng.next_u32()) * u64::from(bound);
        }
    }
    (product >> 32) as u32
}
