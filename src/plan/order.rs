//! Knows the order of sessions: by replication, then malfunction, then arms and coders in a seeded shuffle.
//! Must not know what a session costs.
//! Start at `shuffled`.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use crate::vocab::{MalfunctionId, RootSeed, SeedName};

/// Shuffles what meets one malfunction in one replication, so that an interrupted run is balanced.
pub(super) fn shuffled<T>(
    mut items: Vec<T>,
    root: &RootSeed,
    malfunction: &MalfunctionId,
    replication: u32,
) -> Vec<T> {
    let name = SeedName::new(format!("order/{replication}/{malfunction}"));
    let mut generator = ChaCha8Rng::from_seed(root.derive(&name).bytes());
    for last in (1..items.len()).rev() {
        items.swap(last, below(&mut generator, last as u64 + 1) as usize);
    }
    items
}

/// A number below `bound`, each equally likely.
fn below(generator: &mut ChaCha8Rng, bound: u64) -> u64 {
    let usable = u64::MAX - u64::MAX % bound;
    loop {
        let drawn = generator.next_u64();
        if drawn < usable {
            return drawn % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_arms_occurs_about_equally_often() {
        let malfunction = MalfunctionId::new("treasure-grid-x").unwrap();
        let mut seen = std::collections::BTreeMap::new();
        for replication in 0..600 {
            let order = shuffled(vec![0, 1, 2], &RootSeed::weak(3), &malfunction, replication);
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|count| (60..=140).contains(count)),
            "{seen:?}"
        );
    }
}
