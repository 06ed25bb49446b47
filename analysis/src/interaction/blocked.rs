//! Knows H1 within blocks: labels permuted inside each block of a malfunction, and an error term without block effects.
//! Must not know how blocks came about.
//! Start at `Blocked::new`.

use std::collections::BTreeMap;

use super::cross::cross;
use super::deal::{Dealer, dealings, every_dealing};
use super::decomposition::Observed;
use super::matrix::Matrix;
use super::result::BlockedDecomposition;
use super::session_labels::TIE;
use crate::computed::NotComputed;
use crate::estimate::PValue;
use crate::moments::mean;
use crate::plan::AnalysisPlan;
use crate::randomness::Streams;

/// The complete blocks of a matrix: those with exactly one session of every method on their malfunction.
#[derive(Debug, Clone)]
pub(crate) struct Blocked {
    /// The sessions of complete blocks, as a matrix.
    observed: Observed,
    /// `blocks[k]`: each block's scores by method, minus their mean.
    blocks: Vec<Vec<Vec<f64>>>,
    /// Σ of squares within blocks, which no permutation within blocks changes.
    squares: f64,
    dropped: usize,
    sse: f64,
    df_error: usize,
}

impl Blocked {
    /// Gathers the complete blocks.
    ///
    /// # Errors
    /// No block labels, or complete blocks that have no interaction to test.
    pub(crate) fn new(matrix: &Matrix) -> Result<Self, NotComputed> {
        let labels = matrix
            .blocks()
            .ok_or_else(|| NotComputed::because("the table has no column block"))?;
        let methods = matrix.methods().len();
        let mut found: Vec<Vec<Vec<f64>>> = Vec::new();
        for (cells, labels) in matrix.cells().iter().zip(labels) {
            let mut blocks: BTreeMap<u64, Vec<Vec<f64>>> = BTreeMap::new();
            for (method, (cell, labels)) in cells.iter().zip(labels).enumerate() {
                for (score, label) in cell.iter().zip(labels) {
                    if let Some(label) = label {
                        let block = blocks
                            .entry(*label)
                            .or_insert_with(|| vec![Vec::new(); methods]);
                        block[method].push(*score);
                    }
                }
            }
            blocks.retain(|_, scores| scores.iter().all(|scores| scores.len() == 1));
            let complete = blocks.into_values().map(|block| block.concat());
            found.push(complete.collect());
        }
        let sessions = found.iter().flatten().flatten().count();
        let cells: Vec<Vec<Vec<f64>>> = (0..methods)
            .map(|method| {
                let of_method = |blocks: &Vec<Vec<f64>>| -> Vec<f64> {
                    blocks.iter().map(|block| block[method]).collect()
                };
                found.iter().map(of_method).collect()
            })
            .collect();
        let complete = Matrix::new(matrix.methods(), matrix.malfunctions(), &cells)?;
        let observed = Observed::new(&complete)
            .map_err(|reason| NotComputed::because(format!("complete blocks only: {reason}")))?;
        found.retain(|blocks| !blocks.is_empty());
        let sse = observed.zeroed(error(&found));
        let df_error = found.iter().map(|blocks| blocks.len() - 1).sum::<usize>() * (methods - 1);
        for block in found.iter_mut().flatten() {
            let first = block[0];
            let centre = mean(
                &block
                    .iter()
                    .map(|score| score - first)
                    .collect::<Vec<f64>>(),
            );
            for score in block.iter_mut() {
                *score = *score - first - centre;
            }
        }
        Ok(Self {
            observed,
            squares: found
                .iter()
                .flatten()
                .flatten()
                .map(|score| score * score)
                .sum(),
            blocks: found,
            dropped: matrix.sessions() - sessions,
            sse,
            df_error,
        })
    }

    /// Writes the sums of squares down.
    pub(crate) fn describe(&self) -> BlockedDecomposition {
        BlockedDecomposition {
            blocks: self.blocks.iter().map(Vec::len).sum::<usize>() as u64,
            dropped_sessions: self.dropped as u64,
            ss_interaction: self.observed.sums.interaction,
            df_interaction: self.observed.design.df_interaction as u64,
            sse: self.sse,
            df_error: self.df_error as u64,
            f: self.f().into(),
        }
    }

    fn f(&self) -> Result<f64, NotComputed> {
        if self.df_error == 0 {
            return Err(NotComputed::because(
                "one complete block of every malfunction leaves no error term",
            ));
        }
        if self.sse == 0.0 {
            return Err(NotComputed::because(
                "sessions do not vary within cells beyond their blocks",
            ));
        }
        let mean_square =
            self.observed.sums.interaction / self.observed.design.df_interaction as f64;
        Ok(mean_square / (self.sse / self.df_error as f64))
    }

    /// Says how many sessions do not take part.
    pub(crate) fn note(&self) -> Option<String> {
        (self.dropped > 0).then(|| {
            format!(
                "sessions outside complete blocks, left out: {}",
                self.dropped
            )
        })
    }

    /// p of SS_I and of F under labels permuted within each block; the second is meaningful where F exists.
    pub(crate) fn tests(&self, plan: &AnalysisPlan, streams: &Streams) -> [PValue; 2] {
        let design = &self.observed.design;
        let hands = vec![1; design.methods];
        let all = dealings(self.blocks.iter().flatten().map(|_| hands.as_slice()));
        let extreme = |interaction: f64, any: f64| {
            let interaction = self.observed.zeroed(interaction);
            let sse = self.observed.zeroed(self.squares - any);
            let observed = self.observed.sums.interaction;
            [
                u64::from(interaction >= observed * TIE),
                u64::from(interaction * self.sse >= observed * sse * TIE),
            ]
        };
        if all <= plan.exact_limit_h1 as f64 {
            let arrangements: Vec<Vec<Vec<f64>>> = self
                .blocks
                .iter()
                .map(|blocks| {
                    blocks
                        .iter()
                        .fold(vec![vec![0.0; design.methods]], |sums, block| {
                            let dealings = every_dealing(block, &hands);
                            let with = |sums: &Vec<f64>| -> Vec<Vec<f64>> {
                                let one = |dealing: &Vec<f64>| {
                                    sums.iter()
                                        .zip(dealing)
                                        .map(|(sum, own)| sum + own)
                                        .collect()
                                };
                                dealings.iter().map(one).collect()
                            };
                            sums.iter().flat_map(with).collect()
                        })
                })
                .collect();
            let counts = cross(design, &arrangements, |sums| {
                extreme(sums.interaction, sums.any)
            });
            return counts.map(|count| PValue::exact(count, all as u64));
        }
        let blocks = self.blocks.iter().flatten();
        let dealer = Dealer::new(blocks.map(|block| (block.clone(), hands.clone())));
        let draws =
            usize::try_from(plan.permutations).expect("the number of draws fits into memory");
        let counts = streams.tally(
            draws,
            || {
                let sums = vec![0.0; design.methods * design.malfunctions];
                (dealer.table(), sums, vec![0.0; 2 * design.methods])
            },
            |(table, sums, residuals), rng| {
                dealer.deal(table, rng);
                self.gather(&table.sums, sums);
                let null = design.centred_sums(sums, residuals);
                extreme(null.interaction, null.any)
            },
        );
        counts.map(|count| PValue::monte_carlo(count, plan.permutations))
    }

    /// Adds the hands of the blocks of each malfunction up to sums of cells.
    fn gather(&self, hands: &[f64], sums: &mut [f64]) {
        let methods = self.observed.design.methods;
        sums.fill(0.0);
        let mut hands = hands.chunks(methods);
        for (blocks, sums) in self.blocks.iter().zip(sums.chunks_mut(methods)) {
            for hand in hands.by_ref().take(blocks.len()) {
                for (sum, score) in sums.iter_mut().zip(hand) {
                    *sum += score;
                }
            }
        }
    }
}

/// SSE_b = Σ(Y − c_mk − b_kn + c_.k)².
fn error(malfunctions: &[Vec<Vec<f64>>]) -> f64 {
    let mut squares = 0.0;
    for blocks in malfunctions {
        let methods = blocks[0].len();
        let cells: Vec<f64> = (0..methods)
            .map(|method| {
                blocks.iter().map(|block| block[method]).sum::<f64>() / blocks.len() as f64
            })
            .collect();
        let centre = mean(&cells);
        for block in blocks {
            let own = mean(block);
            for (score, cell) in block.iter().zip(&cells) {
                squares += (score - cell - own + centre).powi(2);
            }
        }
    }
    squares
}
