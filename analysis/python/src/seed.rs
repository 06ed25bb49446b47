//! Knows how a Python integer becomes generators, by name.
//! Must not know what they are used for.
//! Start at `generator`.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// The generator of a function with one random part.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The key of a named part: the first 32 bytes of the stream that the name selects (64-bit FNV-1a of the name).
pub(crate) fn named(seed: u64) -> impl Fn(&str) -> [u8; 32] + Sync {
    move |name: &str| {
        let stream = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut rng = generator(seed);
        rng.set_stream(stream);
        let mut key = [0; 32];
        rng.fill_bytes(&mut key);
        key
    }
}
