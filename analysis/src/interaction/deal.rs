//! Knows how to deal scores anew to hands of given sizes, group by group, at random; and to visit every way to do so.
//! Must not know what a group or a hand stands for, nor any statistic.
//! Start at `Dealer::new`.

use rand_chacha::ChaCha8Rng;

use crate::randomness::BoundedDraws;

/// Groups of scores, each dealt to as many hands, which may be empty.
#[derive(Debug, Clone)]
pub(crate) struct Dealer {
    /// All scores, group after group.
    scores: Vec<f64>,
    groups: Vec<Group>,
    draws: BoundedDraws,
}

#[derive(Debug, Clone)]
struct Group {
    size: usize,
    total: f64,
    /// Sizes of the hands.
    hands: Vec<usize>,
    /// The last hand that is not empty: it takes what is left.
    last: usize,
}

/// What one dealing works on; kept from one to the next, because a permutation of a permutation is as good as one.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    scores: Vec<f64>,
    draws: Vec<u32>,
    /// Sum of each hand, group after group.
    pub(crate) sums: Vec<f64>,
}

impl Dealer {
    /// Takes the scores and the sizes of hands of each group; sizes of a group add up to its scores.
    pub(crate) fn new(groups: impl IntoIterator<Item = (Vec<f64>, Vec<usize>)>) -> Self {
        let (mut scores, mut described, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for (group, hands) in groups {
            let last = hands.iter().rposition(|size| *size > 0).unwrap_or(0);
            let dealt = group.len() - hands.get(last).copied().unwrap_or(0);
            bounds.extend((0..dealt).map(|place| {
                u32::try_from(group.len() - place).expect("a malfunction has few sessions")
            }));
            described.push(Group {
                size: group.len(),
                total: group.iter().sum(),
                hands,
                last,
            });
            scores.extend(group);
        }
        Self {
            scores,
            groups: described,
            draws: BoundedDraws::new(&bounds),
        }
    }

    /// Makes a table that still lies as observed.
    pub(crate) fn table(&self) -> Table {
        Table {
            scores: self.scores.clone(),
            draws: vec![0; self.draws.len()],
            sums: vec![0.0; self.groups.iter().map(|group| group.hands.len()).sum()],
        }
    }

    /// Deals every group at random and sums up each hand (Fisher–Yates, without the last hand).
    pub(crate) fn deal(&self, table: &mut Table, rng: &mut ChaCha8Rng) {
        self.draws.fill(rng, &mut table.draws);
        let mut scores = table.scores.as_mut_slice();
        let mut draws = table.draws.as_slice();
        let mut sums = table.sums.as_mut_slice();
        for group in &self.groups {
            let (own_scores, later_scores) = scores.split_at_mut(group.size);
            let (own_sums, later_sums) = sums.split_at_mut(group.hands.len());
            let mut left = group.total;
            let mut lying = own_scores;
            for (hand, size) in own_sums[..group.last].iter_mut().zip(&group.hands) {
                let (own_draws, later_draws) = draws.split_at(*size);
                let mut sum = 0.0;
                for draw in own_draws {
                    let here = lying[0];
                    let score = std::mem::replace(&mut lying[*draw as usize], here);
                    lying[0] = score;
                    sum += score;
                    lying = &mut lying[1..];
                }
                *hand = sum;
                left -= sum;
                draws = later_draws;
            }
            own_sums[group.last] = left;
            (scores, sums) = (later_scores, later_sums);
        }
    }
}

/// Π n!/Π sizes! over groups, as a float: the number of dealings.
pub(crate) fn dealings<'a>(groups: impl IntoIterator<Item = &'a [usize]>) -> f64 {
    groups
        .into_iter()
        .flat_map(|hands| {
            hands.iter().scan(0_u64, |placed, size| {
                let before = *placed;
                *placed += *size as u64;
                Some(crate::two_sample::assignments(before, *size as u64))
            })
        })
        .product()
}

/// Lists the sums of hands for every way to deal one group to hands of these sizes.
pub(crate) fn every_dealing(group: &[f64], hands: &[usize]) -> Vec<Vec<f64>> {
    let mut found = Vec::new();
    let mut sums = vec![0.0; hands.len()];
    visit(group, &mut hands.to_vec(), &mut sums, &mut found);
    found
}

fn visit(group: &[f64], left: &mut [usize], sums: &mut [f64], found: &mut Vec<Vec<f64>>) {
    let Some((score, rest)) = group.split_first() else {
        found.push(sums.to_vec());
        return;
    };
    for hand in 0..left.len() {
        if left[hand] > 0 {
            let before = sums[hand];
            left[hand] -= 1;
            sums[hand] += score;
            visit(rest, left, sums, found);
            sums[hand] = before;
            left[hand] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::{Dealer, dealings, every_dealing};

    #[test]
    fn every_dealing_is_drawn_equally_often() {
        let (group, hands) = (vec![1.0, 2.0, 4.0, 8.0, 16.0], vec![2, 0, 1, 2]);
        let mut expected: BTreeMap<String, u32> = every_dealing(&group, &hands)
            .into_iter()
            .map(|sums| (format!("{sums:?}"), 0))
            .collect();
        assert_eq!(expected.len(), 30);
        assert_eq!(dealings([hands.as_slice()]), 30.0);
        let dealer = Dealer::new([(vec![0.5], vec![1, 0, 0, 0]), (group, hands)]);
        let mut table = dealer.table();
        let mut rng = ChaCha8Rng::from_seed([8; 32]);
        for _ in 0..60_000 {
            dealer.deal(&mut table, &mut rng);
            assert_eq!(table.sums[..4], [0.5, 0.0, 0.0, 0.0]);
            *expected
                .get_mut(&format!("{:?}", &table.sums[4..]))
                .unwrap() += 1;
        }
        let chi_square: f64 = expected
            .values()
            .map(|count| (f64::from(*count) - 2_000.0).powi(2) / 2_000.0)
            .sum();
        // The .9999 quantile of χ² with 29 degrees of freedom.
        assert!(chi_square < 66.2, "{chi_square}");
    }
}
