//! Knows the rank-sum test of Mann and Whitney, exact under ties.
//! Must not know the sizes of differences.
//! Start at `rank_sum`.

use super::{Alternative, assignments, pool};
use crate::computed::NotComputed;
use crate::estimate::PValue;

/// Most additions of the count that are made.
const MOST_STEPS: f64 = 2e9;

/// Mann–Whitney, exact by counting subset sums over doubled midranks. Infinite values are the largest of all, and tie.
///
/// # Errors
/// An empty sample, or more assignments than can be counted (above 10^38, or samples of many thousands).
pub fn rank_sum(
    first: &[f64],
    second: &[f64],
    alternative: Alternative,
) -> Result<PValue, NotComputed> {
    let infinite = first.iter().chain(second).any(|value| value.is_infinite());
    // Ranks need no scaling, which would turn infinities into NaN.
    let pooled = if infinite {
        [first, second].concat()
    } else {
        pool(first, second)?
    };
    if first.is_empty() || second.is_empty() {
        return Err(NotComputed::because("an arm without sessions"));
    }
    let ranks = doubled_midranks(&pooled);
    // With the total fixed, a small sum of one arm is a large sum of the other: the smaller arm is counted.
    let swapped = second.len() < first.len();
    let size = first.len().min(second.len());
    let observed: usize = if swapped {
        ranks[first.len()..].iter().sum()
    } else {
        ranks[..size].iter().sum()
    };
    let mut sorted = ranks.clone();
    sorted.sort_unstable();
    let most: usize = sorted[sorted.len() - size..].iter().sum();
    let steps = ranks.len() as f64 * size as f64 * most as f64;
    if assignments(first.len() as u64, second.len() as u64) > 1e38 || steps > MOST_STEPS {
        return Err(NotComputed::because("more assignments than can be counted"));
    }
    let counts = subsets_by_sum(&ranks, size, most);
    let total: u128 = counts.iter().sum();
    let at_most = || share(counts[..=observed].iter().sum(), total);
    let at_least = || share(counts[observed..].iter().sum(), total);
    Ok(if swapped {
        alternative.choose(at_least, at_most)
    } else {
        alternative.choose(at_most, at_least)
    })
}

/// Counts the subsets of `size` ranks by their sum, up to `most`.
fn subsets_by_sum(ranks: &[usize], size: usize, most: usize) -> Vec<u128> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    // lowest[j]: sum of the j smallest ranks.
    let lowest: Vec<usize> = std::iter::once(0)
        .chain(sorted.iter().scan(0, |sum, rank| {
            *sum += rank;
            Some(*sum)
        }))
        .collect();
    // ways[j][s]: subsets of size j with sum s, of the ranks so far.
    let mut ways = vec![vec![0_u128; most + 1]; size + 1];
    ways[0][0] = 1;
    for (place, &rank) in sorted.iter().enumerate() {
        // Smaller subsets than these are not completed by the ranks to come.
        let fewest = (size + place + 1).saturating_sub(sorted.len()).max(1);
        for members in (fewest..=size.min(place + 1)).rev() {
            let (smaller, larger) = ways.split_at_mut(members);
            // Sums that members − 1 of the ranks so far can have.
            let least = lowest[members - 1];
            let greatest = (lowest[place] - lowest[place + 1 - members]).min(most - rank);
            if least <= greatest {
                let from = &smaller[members - 1][least..=greatest];
                let to = &mut larger[0][least + rank..=greatest + rank];
                to.iter_mut().zip(from).for_each(|(sum, ways)| *sum += ways);
            }
        }
    }
    ways.pop().unwrap_or_default()
}

/// An exact p-value, with its integers where they fit.
fn share(count: u128, total: u128) -> PValue {
    match (u64::try_from(count), u64::try_from(total)) {
        (Ok(count), Ok(total)) => PValue::exact(count, total),
        _ => PValue {
            exact: true,
            ..PValue::from_distribution(count as f64 / total as f64)
        },
    }
}

/// Twice the midrank of each value, so that ties stay whole numbers.
fn doubled_midranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&first, &second| values[first].total_cmp(&values[second]));
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let tied = order[start..]
            .iter()
            .take_while(|&&index| values[index] == value)
            .count()
            .max(1);
        for &index in &order[start..start + tied] {
            ranks[index] = 2 * start + tied + 1;
        }
        start += tied;
    }
    ranks
}
