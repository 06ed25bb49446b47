//! Knows the data behind clusters: cell centres with scaled residuals, their resamples, and null data without interaction.
//! Must not know how items are grouped.
//! Start at `Frame` and `Sample`.

use rand_core::RngCore;

use crate::randomness::BoundedDraws;

/// What does not change between data sets: which cells there are, and how many sessions each has.
pub(super) struct Frame {
    pub(super) methods: usize,
    /// Sessions per cell (k·M + m), at least two.
    pub(super) sizes: Vec<usize>,
    draws: BoundedDraws,
}

/// One data set: a centre per cell, and residuals scaled by sqrt(N/(N − 1)), cell after cell.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) centres: Vec<f64>,
    pub(super) residuals: Vec<f64>,
}

impl Frame {
    pub(super) fn new(methods: usize, sizes: Vec<usize>) -> Self {
        Self {
            methods,
            draws: BoundedDraws::of_cells(&sizes),
            sizes,
        }
    }

    /// The number of sessions.
    pub(super) fn sessions(&self) -> usize {
        self.draws.len()
    }

    /// Means of cells of one resample: sessions drawn with replacement within each cell.
    pub(super) fn resampled_means(
        &self,
        sample: &Sample,
        drawn: &mut [u32],
        means: &mut [f64],
        rng: &mut impl RngCore,
    ) {
        self.draws.fill(rng, drawn);
        let mut first = 0;
        for ((mean, centre), size) in means.iter_mut().zip(&sample.centres).zip(&self.sizes) {
            let own = &sample.residuals[first..first + size];
            let sum: f64 = drawn[first..first + size]
                .iter()
                .map(|draw| own[*draw as usize])
                .sum();
            *mean = centre + sum / *size as f64;
            first += size;
        }
    }

    /// A data set of the given fit (k·M + m) and the residuals of a sample, each with a random sign.
    pub(super) fn wild(&self, fit: &[f64], sample: &Sample, rng: &mut impl RngCore) -> Sample {
        let mut null = Sample {
            centres: fit.to_vec(),
            residuals: sample.residuals.clone(),
        };
        let mut rest = null.residuals.as_mut_slice();
        for (centre, size) in null.centres.iter_mut().zip(&self.sizes) {
            let (own, later) = rest.split_at_mut(*size);
            for chunk in own.chunks_mut(64) {
                let mut word = rng.next_u64();
                for residual in chunk {
                    if word & 1 == 1 {
                        *residual = -*residual;
                    }
                    word >>= 1;
                }
            }
            let n = *size as f64;
            let mean = own.iter().sum::<f64>() / n;
            *centre += mean;
            for residual in own {
                *residual = (*residual - mean) * (n / (n - 1.0)).sqrt();
            }
            rest = later;
        }
        null
    }
}

/// Turns means of cells (k·M + m) into g_mk = c_mk − c_m. − c_.k + c_...
pub(super) fn double_centre(methods: usize, means: &mut [f64]) {
    let malfunctions = (means.len() / methods) as f64;
    let mut by_method = vec![0.0; methods];
    for group in means.chunks_mut(methods) {
        let level = group.iter().sum::<f64>() / methods as f64;
        for (cell, sum) in group.iter_mut().zip(&mut by_method) {
            *cell -= level;
            *sum += *cell;
        }
    }
    for group in means.chunks_mut(methods) {
        for (cell, sum) in group.iter_mut().zip(&by_method) {
            *cell -= sum / malfunctions;
        }
    }
}
