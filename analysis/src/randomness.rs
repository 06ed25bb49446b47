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

/// Products of bounds up to this share one 64-bit word, so that fewer than one word in 256 is drawn again.
const ROOM: u64 = 1 << 56;

/// How one word is turned into integers below several bounds: multiplied by one bound after the other, the upper half
/// is the integer and the lower half goes on (Brackett-Rozinsky and Lemire, "Batched ranged random integer
/// generation", 2024). A word whose last lower half is below 2^64 mod Π bounds is drawn again; then nothing is biased.
#[derive(Debug, Clone, Copy)]
struct Word {
    /// 2^64 mod Π bounds.
    threshold: u64,
}

impl Word {
    fn new(product: u64) -> Self {
        Self {
            threshold: product.wrapping_neg() % product,
        }
    }

    /// Fills `out` from one accepted word; `bounds` has one bound for each entry.
    #[inline]
    fn split(
        self,
        rng: &mut impl RngCore,
        bounds: impl Iterator<Item = u32> + Clone,
        out: &mut [u32],
    ) {
        loop {
            let mut rest = rng.next_u64();
            for (slot, bound) in out.iter_mut().zip(bounds.clone()) {
                let wide = u128::from(rest) * u128::from(bound);
                *slot = (wide >> 64) as u32;
                rest = wide as u64;
            }
            if rest >= self.threshold {
                return;
            }
        }
    }

    /// Fills `out` from this word up to `middle` and from another one beyond.
    #[inline]
    fn split_beside(
        self,
        other: Self,
        middle: usize,
        rng: &mut impl RngCore,
        bounds: &[u32],
        out: &mut [u32],
    ) {
        let (first_bounds, second_bounds) = bounds.split_at(middle);
        let (first_out, second_out) = out.split_at_mut(middle);
        let common = first_bounds.len().min(second_bounds.len());
        let step = |rest: &mut u64, slot: &mut u32, bound: &u32| {
            let wide = u128::from(*rest) * u128::from(*bound);
            *slot = (wide >> 64) as u32;
            *rest = wide as u64;
        };
        loop {
            let (mut first, mut second) = (rng.next_u64(), rng.next_u64());
            let (first_start, first_end) = first_out.split_at_mut(common);
            let (second_start, second_end) = second_out.split_at_mut(common);
            let firsts = first_start.iter_mut().zip(first_bounds);
            let seconds = second_start.iter_mut().zip(second_bounds);
            for ((slot, bound), (other_slot, other_bound)) in firsts.zip(seconds) {
                step(&mut first, slot, bound);
                step(&mut second, other_slot, other_bound);
            }
            for (slot, bound) in first_end.iter_mut().zip(&first_bounds[common..]) {
                step(&mut first, slot, bound);
            }
            for (slot, bound) in second_end.iter_mut().zip(&second_bounds[common..]) {
                step(&mut second, slot, bound);
            }
            if first >= self.threshold && second >= other.threshold {
                return;
            }
        }
    }
}

/// Integers in 0..bound, as many from each 64-bit word as fit.
#[derive(Debug, Clone)]
pub struct EvenDraws {
    bound: u32,
    per_word: usize,
    word: Word,
}

impl EvenDraws {
    /// Prepares draws below one bound, which must be at least 1.
    pub fn new(bound: u32) -> Self {
        let (mut per_word, mut product) = (1, u64::from(bound.max(1)));
        while bound > 1 && product <= ROOM / u64::from(bound) {
            product *= u64::from(bound);
            per_word += 1;
        }
        Self {
            bound: bound.max(1),
            per_word,
            word: Word::new(product),
        }
    }

    /// Fills a slice with independent integers; what is left of the last word is not used again.
    pub fn fill(&self, rng: &mut impl RngCore, out: &mut [u32]) {
        if self.bound == 1 {
            out.fill(0);
            return;
        }
        let bounds = std::iter::repeat(self.bound);
        let mut whole = out.chunks_exact_mut(self.per_word);
        for group in &mut whole {
            self.word.split(rng, bounds.clone(), group);
        }
        let rest = whole.into_remainder();
        if !rest.is_empty() {
            // A word is split into all its integers whatever is kept, since acceptance depends on all of them.
            let mut all = [0; 64];
            self.word.split(rng, bounds, &mut all[..self.per_word]);
            rest.copy_from_slice(&all[..rest.len()]);
        }
    }
}

/// Integers below bounds that differ, such as n, n − 1, … of a shuffle, several from each 64-bit word.
#[derive(Debug, Clone)]
pub struct BoundedDraws {
    bounds: Vec<u32>,
    /// Where each word's share of the bounds ends.
    words: Vec<(usize, Word)>,
}

impl BoundedDraws {
    /// Prepares draws below these bounds, each of which must be at least 1.
    pub fn new(bounds: &[u32]) -> Self {
        let bounds: Vec<u32> = bounds.iter().map(|bound| (*bound).max(1)).collect();
        let mut words = Vec::new();
        let mut product = 1;
        for (place, &bound) in bounds.iter().enumerate() {
            if product > ROOM / u64::from(bound) {
                words.push((place, Word::new(product)));
                product = 1;
            }
            product *= u64::from(bound);
        }
        if !bounds.is_empty() {
            words.push((bounds.len(), Word::new(product)));
        }
        Self { bounds, words }
    }

    /// Prepares the draws of the first `places` places of a shuffle of `count` values (Fisher and Yates): below count,
    /// count − 1, …; entry i says how far beyond place i the value lies that is swapped into it.
    pub fn of_shuffle(count: usize, places: usize) -> Self {
        let bounds: Vec<u32> = (0..places.min(count))
            .map(|place| u32::try_from(count - place).expect("what is shuffled fits into memory"))
            .collect();
        Self::new(&bounds)
    }

    /// Prepares the draws of a stratified resample, cell after cell: as many below a cell's size as it has sessions.
    pub fn of_cells(sizes: &[usize]) -> Self {
        let bounds: Vec<u32> = sizes
            .iter()
            .flat_map(|size| {
                let bound = u32::try_from(*size).expect("what is resampled fits into memory");
                std::iter::repeat_n(bound, *size)
            })
            .collect();
        Self::new(&bounds)
    }

    /// The number of bounds.
    pub fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Says whether there is no bound.
    pub fn is_empty(&self) -> bool {
        self.bounds.is_empty()
    }

    /// Fills the first `len` entries of a slice with independent integers, entry i below bound i. Words are taken two at a
    /// time, since the multiplications of one wait for each other; where either is refused, both are drawn again.
    pub fn fill(&self, rng: &mut impl RngCore, out: &mut [u32]) {
        let (mut bounds, mut out) = (self.bounds.as_slice(), &mut out[..self.bounds.len()]);
        let mut start = 0;
        let mut pairs = self.words.chunks_exact(2);
        for pair in &mut pairs {
            let [(middle, first), (end, second)] = [pair[0], pair[1]];
            let (own_bounds, later_bounds) = bounds.split_at(end - start);
            let (own_out, later_out) = out.split_at_mut(end - start);
            first.split_beside(second, middle - start, rng, own_bounds, own_out);
            (bounds, out, start) = (later_bounds, later_out, end);
        }
        for (_, word) in pairs.remainder() {
            word.split(rng, bounds.iter().copied(), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out the same few words in turn.
    struct Words(Vec<u64>);

    impl RngCore for Words {
        fn next_u32(&mut self) -> u32 {
            self.next_u64() as u32
        }
        fn next_u64(&mut self) -> u64 {
            self.0.remove(0)
        }
        fn fill_bytes(&mut self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    #[test]
    fn one_word_splits_into_the_digits_of_its_share_of_the_range() {
        // Three quarters of the range: 0.75 · 5 = 3.75 gives 3, and 0.75 · 6 = 4.5 gives 4.
        let word = 3 << 62;
        let mut out = [9; 2];
        BoundedDraws::new(&[5, 6]).fill(&mut Words(vec![word]), &mut out);
        assert_eq!(out, [3, 4]);
    }

    #[test]
    fn a_word_in_the_short_last_share_is_drawn_again() {
        // 2^64 mod 6 = 4: the words whose lower half ends below 4 are one too many of their integer.
        let mut out = [9];
        BoundedDraws::new(&[6]).fill(&mut Words(vec![0, u64::MAX]), &mut out);
        assert_eq!(out, [5]);
    }

    #[test]
    fn integers_of_one_word_are_uniform_and_independent() {
        let streams = Streams { key: [5; 32] };
        let mut rng = streams.chunk(0);
        let draws = BoundedDraws::new(&[3, 4, 5]);
        let mut counts = [0_u32; 60];
        let mut out = [0; 3];
        for _ in 0..60_000 {
            draws.fill(&mut rng, &mut out);
            counts[(out[0] * 20 + out[1] * 5 + out[2]) as usize] += 1;
        }
        // 59 degrees of freedom: the upper 0.1 % point is 98.3.
        let chi: f64 = counts
            .iter()
            .map(|count| (f64::from(*count) - 1_000.0).powi(2) / 1_000.0)
            .sum();
        assert!(chi < 98.3, "{chi}");
    }

    #[test]
    fn even_draws_stay_below_their_bound_and_reach_every_value() {
        let mut rng = Streams { key: [6; 32] }.chunk(3);
        for bound in [1, 2, 3, 6, 7, 100, 65_537, u32::MAX] {
            let mut out = vec![u32::MAX; 1_001];
            EvenDraws::new(bound).fill(&mut rng, &mut out);
            assert!(out.iter().all(|draw| *draw < bound), "{bound}");
            if bound <= 7 {
                assert!((0..bound).all(|value| out.contains(&value)), "{bound}");
            }
        }
        let mut nothing: [u32; 0] = [];
        BoundedDraws::new(&[]).fill(&mut rng, &mut nothing);
    }
}
