//! Knows returns of several agents on the same episodes, and their means either way.
//! Must not know who played.
//! Start at `Played::of`.

use evalxrl_analysis::repair_score::ReferencePerformance;

/// Returns of several agents on the same episodes, averaged either way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Played {
    /// Mean over episodes, one per agent.
    pub(super) by_agent: Vec<f64>,
    /// Mean over agents, one per episode.
    by_episode: Vec<f64>,
}

impl Played {
    pub(super) fn of(returns: &[Vec<f64>]) -> Self {
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let episodes = returns.first().map_or(0, Vec::len);
        let column = |episode: usize| -> Vec<f64> {
            returns
                .iter()
                .filter_map(|list| list.get(episode).copied())
                .collect()
        };
        Self {
            by_agent: returns.iter().map(|list| mean(list)).collect(),
            by_episode: (0..episodes).map(|one| mean(&column(one))).collect(),
        }
    }

    /// Mean over agents and episodes.
    pub(super) fn mean(&self) -> f64 {
        self.by_agent.iter().sum::<f64>() / self.by_agent.len() as f64
    }

    /// Standard error that the draw of episodes gives the difference of two means over them.
    pub(super) fn episode_error(&self, other: &Self) -> f64 {
        let differences: Vec<f64> = self
            .by_episode
            .iter()
            .zip(&other.by_episode)
            .map(|(one, two)| one - two)
            .collect();
        ReferencePerformance::over_seeds(&differences).map_or(0.0, |over| over.standard_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_episodes_is_that_of_paired_differences() {
        let one = Played::of(&[vec![1.0, 2.0, 3.0, 4.0], vec![3.0, 4.0, 5.0, 6.0]]);
        assert_eq!(one.by_agent, [2.5, 4.5]);
        assert_eq!(one.by_episode, [2.0, 3.0, 4.0, 5.0]);
        assert!((one.mean() - 3.5).abs() < 1e-12);
        let shifted = Played::of(&[vec![1.0, 2.0, 3.0, 4.0]]);
        assert!(one.episode_error(&shifted).abs() < 1e-12);
        let uneven = Played::of(&[vec![2.0, 3.0, 4.0, 1.0]]);
        // Differences 0, 0, 0, 4: sd 2, over the root of four.
        assert!((one.episode_error(&uneven) - 1.0).abs() < 1e-12);
    }
}
