//! Knows groups of methods with like interaction, and of malfunctions, and whether noise alone would give groups as stable.
//! Must not know the verdict of H1: no group enters it.
//! Start at `clusters`.

mod partition;
mod resample;

use std::iter::StepBy;
use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::computed::{Computed, NotComputed};
use crate::estimate::PValue;
use crate::interaction::{Matrix, Observed, cell_sums, scaled_residuals};
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;
use partition::{Grouping, adjusted_rand};
use resample::{Frame, Sample, double_centre};

/// Items that must vary before they are grouped.
const FEWEST: usize = 4;
/// Resamples behind the stability of the observed groups.
const RESAMPLES: usize = 999;
/// Data sets without interaction.
const NULL_SETS: usize = 199;
/// Resamples behind the stability of each of them.
const NULL_RESAMPLES: usize = 99;

/// Groups by the interaction g_mk = c_mk − c_m. − c_.k + c_.. of malfunctions without an empty cell; they decide nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clusters {
    /// Malfunctions left out, because a cell is empty.
    pub left_out: Vec<String>,
    /// Groups of methods: rows of g.
    pub methods: Computed<Clustering>,
    /// Groups of malfunctions: columns of g.
    pub malfunctions: Computed<Clustering>,
}

/// Groups of items by average linkage on 1 − Pearson's r.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clustering {
    /// Ids of the items that vary.
    pub items: Vec<String>,
    /// Ids of items without interaction, left out.
    pub constant: Vec<String>,
    /// The number of clusters, by mean silhouette.
    pub count: u64,
    /// The cluster of each item, from 0 in order of first items.
    pub assignment: Vec<u64>,
    /// Mean silhouette, in [−1, 1].
    pub silhouette: f64,
    /// Mean adjusted Rand index between these clusters and those of resamples; 1 = always the same.
    pub stability: f64,
    /// `consensus[i][j]`: the share of resamples in which items i and j are in one cluster.
    pub consensus: Vec<Vec<f64>>,
    /// The share of data sets without interaction whose clusters are at least as stable.
    pub p: PValue,
    /// Whether p is at most α.
    pub distinguishable: bool,
    /// What may be said about the clusters.
    pub statement: String,
}

/// Groups methods and malfunctions; the streams are those of resamples and of null data.
///
/// # Errors
/// A matrix without interaction, without error term, or with a cell of one session.
pub(crate) fn clusters(
    whole: &Matrix,
    plan: &AnalysisPlan,
    [resamples, nulls]: [&Streams; 2],
) -> Result<Clusters, NotComputed> {
    let (matrix, left_out) = whole.complete_part();
    let observed = Observed::new(&matrix)?;
    observed.design.mse(observed.sse)?;
    let sizes: Vec<usize> = matrix.cells().iter().flatten().map(Vec::len).collect();
    if sizes.contains(&1) {
        return Err(NotComputed::because("a cell has one session"));
    }
    let sums = cell_sums(&observed.centred);
    let sample = Sample {
        centres: sums
            .iter()
            .zip(&sizes)
            .map(|(sum, n)| sum / *n as f64)
            .collect(),
        residuals: scaled_residuals(&observed.centred).scores().collect(),
    };
    let fit = observed.design.additive_fit(&sums);
    let frame = Frame::new(matrix.methods().len(), sizes);
    let cells = frame.sizes.len();
    let mut interaction = sample.centres.clone();
    double_centre(frame.methods, &mut interaction);
    let varies = |profile: &StepBy<Range<usize>>| {
        let squares = profile
            .clone()
            .map(|cell| frame.sizes[cell] as f64 * interaction[cell].powi(2));
        observed.zeroed(squares.sum()) > 0.0
    };
    let of_methods = (0..frame.methods).map(|m| (m..cells).step_by(frame.methods));
    let of_malfunctions = (0..cells)
        .step_by(frame.methods)
        .map(|first| (first..first + frame.methods).step_by(1));
    let (methods, constant_methods) = Side::new(of_methods, matrix.methods(), varies);
    let (malfunctions, constant_malfunctions) =
        Side::new(of_malfunctions, matrix.malfunctions(), varies);
    let sides: Vec<&Side> = [&methods, &malfunctions]
        .into_iter()
        .filter(|side| side.names.len() >= FEWEST)
        .collect();
    let stable = stabilities(&frame, &sample, &sides, resamples);
    let chance = under_noise(&frame, &sample, &fit, &sides, nulls);
    let mut found = stable.into_iter().enumerate().map(|(side, stable)| {
        let as_stable = |null: &&Vec<f64>| null[side] >= stable.stability - 1e-9;
        let at_least = chance.iter().filter(as_stable).count() as u64;
        (stable, at_least)
    });
    let mut clustering = |side: &Side, constant: Vec<String>, kind: &str| {
        if side.names.len() < FEWEST {
            return Computed::absent(format!(
                "{kind} with interaction: {}; clusters need {FEWEST}",
                side.names.len()
            ));
        }
        match found.next() {
            Some((stable, at_least)) => {
                Computed::Value(stable.describe(side, constant, at_least, plan.alpha))
            }
            None => Computed::absent("no clusters were formed"),
        }
    };
    let methods = clustering(&methods, constant_methods, "methods");
    let malfunctions = clustering(&malfunctions, constant_malfunctions, "malfunctions");
    Ok(Clusters {
        left_out,
        methods,
        malfunctions,
    })
}

/// The items of one kind that vary, each with the places of its profile among the cells.
struct Side {
    names: Vec<String>,
    profiles: Vec<StepBy<Range<usize>>>,
}

impl Side {
    /// Splits items into those that vary and the names of those that do not.
    fn new(
        profiles: impl Iterator<Item = StepBy<Range<usize>>>,
        names: &[String],
        varies: impl Fn(&StepBy<Range<usize>>) -> bool,
    ) -> (Self, Vec<String>) {
        let (mut side, mut constant) = (
            Self {
                names: Vec::new(),
                profiles: Vec::new(),
            },
            Vec::new(),
        );
        for (profile, name) in profiles.zip(names) {
            if varies(&profile) {
                side.names.push(name.clone());
                side.profiles.push(profile);
            } else {
                constant.push(name.clone());
            }
        }
        (side, constant)
    }
}

/// The clusters of one side of a data set.
#[derive(Debug, Clone)]
struct Partition {
    count: usize,
    silhouette: f64,
    assignment: Vec<usize>,
}

/// The space in which one thread groups one data set after the other.
struct Space<'a> {
    sides: &'a [&'a Side],
    methods: usize,
    drawn: Vec<u32>,
    means: Vec<f64>,
    profiles: Vec<f64>,
    assignment: Vec<usize>,
    groupings: Vec<Grouping>,
}

impl<'a> Space<'a> {
    fn new(frame: &Frame, sides: &'a [&'a Side]) -> Self {
        Self {
            sides,
            methods: frame.methods,
            drawn: vec![0; frame.sessions()],
            means: vec![0.0; frame.sizes.len()],
            profiles: Vec::new(),
            assignment: Vec::new(),
            groupings: sides
                .iter()
                .map(|side| Grouping::new(side.names.len()))
                .collect(),
        }
    }

    /// Grows the trees of all sides from `means`, which become g.
    fn grow(&mut self) {
        double_centre(self.methods, &mut self.means);
        for (side, grouping) in self.sides.iter().zip(&mut self.groupings) {
            self.profiles.clear();
            for profile in &side.profiles {
                self.profiles
                    .extend(profile.clone().map(|cell| self.means[cell]));
            }
            grouping.grow(&mut self.profiles);
        }
    }

    /// Groups a data set as it is, with the best number of clusters.
    fn partitions(&mut self, sample: &Sample) -> Vec<Partition> {
        self.means.copy_from_slice(&sample.centres);
        self.grow();
        self.groupings
            .iter_mut()
            .map(|grouping| {
                let (count, silhouette) = grouping.best();
                let mut assignment = Vec::new();
                grouping.cut(count, &mut assignment);
                Partition {
                    count,
                    silhouette,
                    assignment,
                }
            })
            .collect()
    }

    /// Groups one resample of a data set into as many clusters as it has, and hands each side's assignment over.
    fn resample(
        &mut self,
        frame: &Frame,
        sample: &Sample,
        partitions: &[Partition],
        rng: &mut ChaCha8Rng,
        mut see: impl FnMut(usize, &[usize]),
    ) {
        frame.resampled_means(sample, &mut self.drawn, &mut self.means, rng);
        self.grow();
        for (side, (grouping, partition)) in self.groupings.iter_mut().zip(partitions).enumerate() {
            grouping.cut(partition.count, &mut self.assignment);
            see(side, &self.assignment);
        }
    }
}

/// The clusters of the observed data, with what resamples make of them.
struct Stable {
    partition: Partition,
    stability: f64,
    consensus: Vec<Vec<f64>>,
}

fn stabilities(frame: &Frame, sample: &Sample, sides: &[&Side], streams: &Streams) -> Vec<Stable> {
    let partitions = Space::new(frame, sides).partitions(sample);
    let resampled: Vec<Vec<Vec<usize>>> = streams.replicates(
        RESAMPLES,
        || Space::new(frame, sides),
        |space, rng| {
            let mut assignments = Vec::new();
            space.resample(frame, sample, &partitions, rng, |_, assignment| {
                assignments.push(assignment.to_vec());
            });
            assignments
        },
    );
    partitions
        .into_iter()
        .enumerate()
        .map(|(side, partition)| {
            let items = partition.assignment.len();
            let mut consensus = vec![vec![0.0; items]; items];
            let mut stability = 0.0;
            for assignments in &resampled {
                let assignment = &assignments[side];
                stability += adjusted_rand(&partition.assignment, assignment, partition.count);
                for (row, own) in consensus.iter_mut().zip(assignment) {
                    for (share, other) in row.iter_mut().zip(assignment) {
                        *share += f64::from(u8::from(own == other));
                    }
                }
            }
            for share in consensus.iter_mut().flatten() {
                *share /= RESAMPLES as f64;
            }
            Stable {
                partition,
                stability: stability / RESAMPLES as f64,
                consensus,
            }
        })
        .collect()
}

/// The stability of each side in data sets of the additive fit with `wild` residuals, each with its own best number of
/// clusters.
fn under_noise(
    frame: &Frame,
    sample: &Sample,
    fit: &[f64],
    sides: &[&Side],
    streams: &Streams,
) -> Vec<Vec<f64>> {
    let mut rng = streams.chunk(0);
    let keys: Vec<Streams> = (0..NULL_SETS).map(|_| Streams::draw(&mut rng)).collect();
    keys.par_iter()
        .map_init(
            || Space::new(frame, sides),
            |space, key| {
                let mut rng = key.chunk(0);
                let null = frame.wild(fit, sample, &mut rng);
                let partitions = space.partitions(&null);
                let mut stability = vec![0.0; sides.len()];
                for _ in 0..NULL_RESAMPLES {
                    space.resample(frame, &null, &partitions, &mut rng, |side, assignment| {
                        let Partition {
                            assignment: own,
                            count,
                            ..
                        } = &partitions[side];
                        stability[side] += adjusted_rand(own, assignment, *count);
                    });
                }
                stability
                    .iter()
                    .map(|sum| sum / NULL_RESAMPLES as f64)
                    .collect()
            },
        )
        .collect()
}

impl Stable {
    fn describe(self, side: &Side, constant: Vec<String>, at_least: u64, alpha: f64) -> Clustering {
        let p = PValue::monte_carlo(at_least, NULL_SETS as u64);
        let distinguishable = p.value <= alpha;
        let statement = if distinguishable {
            "more stable than clusters of noise; descriptive, the verdict does not use them"
        } else {
            "not distinguishable from noise"
        };
        Clustering {
            items: side.names.clone(),
            constant,
            count: self.partition.count as u64,
            assignment: self
                .partition
                .assignment
                .iter()
                .map(|cluster| *cluster as u64)
                .collect(),
            silhouette: self.partition.silhouette,
            stability: self.stability,
            consensus: self.consensus,
            p,
            distinguishable,
            statement: statement.to_owned(),
        }
    }
}
