//! Knows how items fall into groups: average linkage on correlation, the silhouette of a partition, agreement of two.
//! Must not know where the profiles of items come from.
//! Start at `Grouping`.

use kodama::{Dendrogram, LinkageState, Method, linkage_with};

/// The most clusters that are looked for.
const MOST: usize = 8;

/// Groups items by 1 − Pearson's r of their profiles; keeps its space from one set of profiles to the next.
pub(super) struct Grouping {
    items: usize,
    /// Dissimilarities of pairs (i, j) with i < j, row after row.
    pub(super) distances: Vec<f64>,
    scratch: Vec<f64>,
    state: LinkageState<f64>,
    tree: Dendrogram<f64>,
    parents: Vec<usize>,
}

impl Grouping {
    pub(super) fn new(items: usize) -> Self {
        Self {
            items,
            distances: Vec::new(),
            scratch: Vec::new(),
            state: LinkageState::new(),
            tree: Dendrogram::new(items),
            parents: Vec::new(),
        }
    }

    /// Builds the tree of `items` profiles of equal length, one after the other, which become standardised. A profile
    /// without variation correlates with nothing.
    pub(super) fn grow(&mut self, profiles: &mut [f64]) {
        let length = profiles.len() / self.items;
        for profile in profiles.chunks_mut(length) {
            standardise(profile);
        }
        self.distances.clear();
        for (place, one) in profiles.chunks(length).enumerate() {
            for other in profiles[(place + 1) * length..].chunks(length) {
                let correlation: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
                self.distances.push((1.0 - correlation).max(0.0));
            }
        }
        self.scratch.clone_from(&self.distances);
        linkage_with(
            &mut self.state,
            &mut self.scratch,
            self.items,
            Method::Average,
            &mut self.tree,
        );
    }

    /// Cuts the tree into so many clusters, numbered in order of their first item.
    pub(super) fn cut(&mut self, clusters: usize, assignment: &mut Vec<usize>) {
        let joined = self.items - clusters;
        self.parents.clear();
        self.parents.extend(0..self.items + joined);
        for (step, merge) in self.tree.steps().iter().take(joined).enumerate() {
            self.parents[merge.cluster1] = self.items + step;
            self.parents[merge.cluster2] = self.items + step;
        }
        assignment.clear();
        for item in 0..self.items {
            let root = self.root(item);
            let earlier = (0..item).find(|other| self.root(*other) == root);
            let next = assignment.iter().max().map_or(0, |largest| largest + 1);
            assignment.push(earlier.map_or(next, |other| assignment[other]));
        }
    }

    fn root(&self, item: usize) -> usize {
        let mut node = item;
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// The number of clusters, from 2 to 8 but fewer than items, with the largest mean silhouette; fewer where equal.
    pub(super) fn best(&mut self) -> (usize, f64) {
        let mut assignment = Vec::new();
        let mut best = (2, f64::NEG_INFINITY);
        for clusters in 2..=MOST.min(self.items - 1) {
            self.cut(clusters, &mut assignment);
            let silhouette = self.silhouette(clusters, &assignment);
            if silhouette > best.1 + 1e-12 {
                best = (clusters, silhouette);
            }
        }
        best
    }

    fn distance(&self, one: usize, other: usize) -> f64 {
        let (first, second) = (one.min(other), one.max(other));
        if first == second {
            return 0.0;
        }
        let before = first * (2 * self.items - first - 1) / 2;
        self.distances[before + second - first - 1]
    }

    /// Mean of (b − a)/max(a, b) over items: a = mean distance to its own cluster, b = to the nearest other; 0 for an item
    /// alone (Rousseeuw 1987).
    fn silhouette(&self, clusters: usize, assignment: &[usize]) -> f64 {
        let mut total = 0.0;
        for item in 0..self.items {
            let mut sums = vec![0.0; clusters];
            let mut sizes = vec![0_usize; clusters];
            for (other, cluster) in assignment.iter().enumerate() {
                if other != item {
                    sums[*cluster] += self.distance(item, other);
                    sizes[*cluster] += 1;
                }
            }
            let own = assignment[item];
            if sizes[own] == 0 {
                continue;
            }
            let within = sums[own] / sizes[own] as f64;
            let beyond = (0..clusters)
                .filter(|cluster| *cluster != own)
                .map(|cluster| sums[cluster] / sizes[cluster] as f64)
                .fold(f64::INFINITY, f64::min);
            let larger = within.max(beyond);
            if larger > 0.0 {
                total += (beyond - within) / larger;
            }
        }
        total / self.items as f64
    }
}

fn standardise(profile: &mut [f64]) {
    let mean = profile.iter().sum::<f64>() / profile.len() as f64;
    let largest = profile.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let norm = profile
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        .sqrt();
    if norm <= 1e-12 * largest || norm == 0.0 {
        profile.fill(0.0);
    } else {
        for value in profile {
            *value = (*value - mean) / norm;
        }
    }
}

/// Adjusted Rand index of two partitions into so many clusters at most: 1 = the same, 0 = as chance gives (Hubert and
/// Arabie 1985).
pub(super) fn adjusted_rand(one: &[usize], other: &[usize], clusters: usize) -> f64 {
    let pairs = |count: usize| (count * count.saturating_sub(1) / 2) as f64;
    let mut table = [[0_usize; MOST]; MOST];
    for (first, second) in one.iter().zip(other) {
        table[*first][*second] += 1;
    }
    let (mut both, mut rows, mut columns) = (0.0, 0.0, 0.0);
    for index in 0..clusters {
        both += table[index].iter().map(|count| pairs(*count)).sum::<f64>();
        rows += pairs(table[index].iter().sum());
        columns += pairs(table.iter().map(|row| row[index]).sum());
    }
    let expected = rows * columns / pairs(one.len());
    let most = f64::midpoint(rows, columns);
    if most == expected {
        1.0
    } else {
        (both - expected) / (most - expected)
    }
}

#[cfg(test)]
mod tests {
    use super::{Grouping, adjusted_rand};

    #[test]
    fn profiles_of_two_shapes_form_two_clusters() {
        let (up, down) = ([1.0, 2.0, 3.0, 4.0], [4.0, 3.1, 2.0, 1.0]);
        let mut profiles: Vec<f64> = [up, down, up, down, up]
            .iter()
            .enumerate()
            .flat_map(|(item, shape)| shape.map(|value| value * (1.0 + item as f64)))
            .collect();
        let mut grouping = Grouping::new(5);
        grouping.grow(&mut profiles);
        let (clusters, silhouette) = grouping.best();
        let mut assignment = Vec::new();
        grouping.cut(clusters, &mut assignment);
        assert_eq!(assignment, [0, 1, 0, 1, 0]);
        assert!(silhouette > 0.99);
    }

    #[test]
    fn the_adjusted_rand_index_has_its_published_values() {
        let (one, other) = ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]);
        // Pairs together in both: 2; in the first: 6; in the second: 3; of 15.
        let expected = 6.0 * 3.0 / 15.0;
        let value = (2.0 - expected) / (4.5 - expected);
        assert!((adjusted_rand(&one, &other, 3) - value).abs() < 1e-15);
        assert_eq!(adjusted_rand(&one, &one, 2), 1.0);
        assert_eq!(adjusted_rand(&one, &[1, 1, 1, 0, 0, 0], 2), 1.0);
    }

    #[test]
    fn items_without_variation_do_not_disturb_the_tree() {
        let mut grouping = Grouping::new(4);
        grouping.grow(&mut [0.0; 12]);
        assert_eq!(grouping.distances, [1.0; 6]);
        assert!(grouping.best().1.is_finite());
    }
}
