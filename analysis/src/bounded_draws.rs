//! Knows how to draw many bounded integers from few random words, without bias.
//! Must not know what the integers are used for.
//! Start at `BoundedDraws::new` and `BoundedDraws::fill`.

use rand_core::RngCore;

/// A batch closes before the product of its bounds passes this, so that fewer than one word in sixteen is drawn again.
const LARGEST_PRODUCT: u128 = 1 << 60;

/// A fixed sequence of bounds, cut into batches of which each takes one 64-bit word.
///
/// A word x and bounds b_1, b_2, … give the digits of ⌊x·Πb/2⁶⁴⌋ in the mixed radix b_1, b_2, …: the high half of x·b_1 is
/// the first digit, its low half takes the place of x for the next bound. The word is drawn again where the last low half
/// is below 2⁶⁴ mod Πb, which leaves equally many words for every combination (Lemire's multiplication with rejection,
/// applied to the product of all bounds of a batch).
#[derive(Debug, Clone)]
pub(crate) struct BoundedDraws {
    bounds: Vec<u64>,
    batches: Vec<Batch>,
}

#[derive(Debug, Clone, Copy)]
struct Batch {
    size: usize,
    /// 2⁶⁴ mod Πb.
    threshold: u64,
}

impl BoundedDraws {
    /// Cuts a sequence of bounds, each at least 1, into batches.
    pub(crate) fn new(bounds: impl IntoIterator<Item = u32>) -> Self {
        let bounds: Vec<u64> = bounds
            .into_iter()
            .map(|bound| u64::from(bound.max(1)))
            .collect();
        let mut batches = Vec::new();
        let (mut size, mut product) = (0, 1_u128);
        for bound in &bounds {
            let larger = product * u128::from(*bound);
            if larger > LARGEST_PRODUCT {
                batches.push(Batch::new(size, product));
                (size, product) = (1, u128::from(*bound));
            } else {
                (size, product) = (size + 1, larger);
            }
        }
        if size > 0 {
            batches.push(Batch::new(size, product));
        }
        Self { bounds, batches }
    }

    /// The number of draws in the sequence.
    pub(crate) fn len(&self) -> usize {
        self.bounds.len()
    }

    /// Draws the whole sequence; `draws` has `len` slots.
    pub(crate) fn fill(&self, rng: &mut impl RngCore, draws: &mut [u32]) {
        let (mut bounds, mut slots) = (self.bounds.as_slice(), &mut draws[..self.bounds.len()]);
        for batch in &self.batches {
            let (own_bounds, later_bounds) = bounds.split_at(batch.size);
            let (own_slots, later_slots) = slots.split_at_mut(batch.size);
            loop {
                let mut word = rng.next_u64();
                for (slot, bound) in own_slots.iter_mut().zip(own_bounds) {
                    let product = u128::from(word) * u128::from(*bound);
                    *slot = (product >> 64) as u32;
                    word = product as u64;
                }
                if word >= batch.threshold {
                    break;
                }
            }
            (bounds, slots) = (later_bounds, later_slots);
        }
    }
}

impl Batch {
    fn new(size: usize, product: u128) -> Self {
        let threshold = ((1_u128 << 64) % product) as u64;
        Self { size, threshold }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::BoundedDraws;

    #[test]
    fn every_combination_of_a_batch_comes_equally_often() {
        let draws = BoundedDraws::new([3, 2, 4]);
        let mut rng = ChaCha8Rng::from_seed([5; 32]);
        let mut counts = [0_u32; 24];
        let mut slots = [0; 3];
        for _ in 0..240_000 {
            draws.fill(&mut rng, &mut slots);
            counts[(slots[0] * 8 + slots[1] * 4 + slots[2]) as usize] += 1;
        }
        let chi_square: f64 = counts
            .iter()
            .map(|count| (f64::from(*count) - 10_000.0).powi(2) / 10_000.0)
            .sum();
        // The .9999 quantile of χ² with 23 degrees of freedom.
        assert!(chi_square < 58.6, "{chi_square}");
    }

    #[test]
    fn long_sequences_stay_below_their_bounds_and_reach_them() {
        let bounds: Vec<u32> = (1..300).rev().chain([u32::MAX, u32::MAX, 1]).collect();
        let draws = BoundedDraws::new(bounds.iter().copied());
        assert_eq!(draws.len(), bounds.len());
        let mut rng = ChaCha8Rng::from_seed([6; 32]);
        let mut slots = vec![0; bounds.len()];
        let mut most = vec![0; bounds.len()];
        for _ in 0..2_000 {
            draws.fill(&mut rng, &mut slots);
            for ((slot, bound), most) in slots.iter().zip(&bounds).zip(&mut most) {
                assert!(slot < bound);
                *most = (*most).max(*slot);
            }
        }
        for (most, bound) in most.iter().zip(&bounds).filter(|(_, bound)| **bound < 100) {
            assert_eq!(*most, bound - 1);
        }
    }
}
