//! Knows how sessions are drawn again within their cells, many resamples at a time.
//! Must not know intervals.
//! Start at `replicates`, or at `Resamples` where speed matters.

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use rayon::prelude::*;

use crate::randomness::{CHUNK, EvenDraws, Streams, below};

/// Resamples every cell with replacement, independently, and applies a statistic to each resample.
/// `cells[c]` are the scores of cell c; the statistic sees cells of the same sizes.
pub fn replicates<T: Send>(
    cells: &[Vec<f64>],
    resamples: u64,
    statistic: impl Fn(&[Vec<f64>]) -> T + Sync,
    rng: &mut impl RngCore,
) -> Vec<T> {
    let chunks = Resamples::of_one_key(cells, resamples, rng).chunks(
        || cells.to_vec(),
        |space, drawn| {
            (0..drawn.replicates())
                .map(|replicate| {
                    for (index, (cell, slots)) in cells.iter().zip(space.iter_mut()).enumerate() {
                        for (slot, session) in slots.iter_mut().zip(drawn.row(index, replicate)) {
                            *slot = cell[*session as usize];
                        }
                    }
                    statistic(space)
                })
                .collect::<Vec<T>>()
        },
    );
    chunks.into_iter().flatten().collect()
}

/// As `replicates`, with the resamples given: `index_sets[b][c]` are the sessions of cell c to take.
pub fn replicates_from<T>(
    cells: &[Vec<f64>],
    index_sets: impl IntoIterator<Item = Vec<Vec<usize>>>,
    statistic: impl Fn(&[Vec<f64>]) -> T,
) -> Vec<T> {
    index_sets
        .into_iter()
        .map(|sets| {
            let drawn: Vec<Vec<f64>> = cells
                .iter()
                .zip(sets)
                .map(|(cell, set)| set.into_iter().map(|index| cell[index]).collect())
                .collect();
            statistic(&drawn)
        })
        .collect()
}

/// Where the draws of cells come from.
enum Source {
    /// One key: a chunk has one generator, which fills its cells one after the other.
    OneKey(Streams),
    /// One key per cell, so that a cell's resamples do not depend on which other cells there are.
    KeyPerCell(Vec<Streams>),
}

/// The resamples of some cells, made 256 at a time.
pub(crate) struct Resamples {
    /// Sessions of each cell, and their draws.
    cells: Vec<(usize, EvenDraws)>,
    source: Source,
    count: usize,
}

impl Resamples {
    /// Takes one key from `rng` for all cells; with one cell the resamples are those of `of_keys` with that key.
    pub(crate) fn of_one_key<C: AsRef<[f64]>>(
        cells: &[C],
        resamples: u64,
        rng: &mut impl RngCore,
    ) -> Self {
        Self::new(cells, resamples, Source::OneKey(Streams::draw(rng)))
    }

    /// Takes one key per cell.
    pub(crate) fn of_keys<C: AsRef<[f64]>>(
        cells: &[C],
        resamples: u64,
        keys: Vec<Streams>,
    ) -> Self {
        Self::new(cells, resamples, Source::KeyPerCell(keys))
    }

    fn new<C: AsRef<[f64]>>(cells: &[C], resamples: u64, source: Source) -> Self {
        let cells = cells
            .iter()
            .map(|cell| {
                let size = cell.as_ref().len();
                let bound = u32::try_from(size).expect("a cell fits into memory");
                (size, EvenDraws::new(bound))
            })
            .collect();
        Self {
            cells,
            source,
            count: usize::try_from(resamples).expect("the number of resamples fits into memory"),
        }
    }

    /// Hands each chunk of resamples, in parallel, to a function with scratch space of its own; the results come in order.
    /// What a chunk leaves in the scratch space must not change what the next one computes.
    pub(crate) fn chunks<S: Send, T: Send>(
        &self,
        scratch: impl Fn() -> S + Sync + Send,
        of_chunk: impl Fn(&mut S, &Drawn) -> T + Sync + Send,
    ) -> Vec<T> {
        (0..self.count.div_ceil(CHUNK))
            .into_par_iter()
            .map_init(
                || (Drawn::new(self), scratch()),
                |(drawn, scratch), chunk| {
                    drawn.draw(self, chunk);
                    of_chunk(scratch, drawn)
                },
            )
            .collect()
    }

    /// Gives `width` numbers per resample: `[statistic][resample]`, from chunks `[statistic][resample of the chunk]`.
    pub(crate) fn columns<S: Send>(
        &self,
        width: usize,
        scratch: impl Fn() -> S + Sync + Send,
        of_chunk: impl Fn(&mut S, &Drawn, &mut [Vec<f64>]) + Sync + Send,
    ) -> Vec<Vec<f64>> {
        let chunks = self.chunks(scratch, |scratch, drawn| {
            let mut columns = vec![vec![0.0; drawn.replicates()]; width];
            of_chunk(scratch, drawn, &mut columns);
            columns
        });
        let mut columns = vec![Vec::with_capacity(self.count); width];
        for chunk in chunks {
            for (whole, part) in columns.iter_mut().zip(chunk) {
                whole.extend(part);
            }
        }
        columns
    }
}

/// The resamples of one chunk: for each cell the sessions to take.
pub(crate) struct Drawn {
    replicates: usize,
    /// Sessions of each cell, and `[replicate · sessions + i]`.
    cells: Vec<(usize, Vec<u32>)>,
}

impl Drawn {
    fn new(resamples: &Resamples) -> Self {
        Self {
            replicates: 0,
            cells: resamples
                .cells
                .iter()
                .map(|(size, _)| (*size, vec![0; size * CHUNK]))
                .collect(),
        }
    }

    fn draw(&mut self, resamples: &Resamples, chunk: usize) {
        self.replicates = CHUNK.min(resamples.count - chunk * CHUNK);
        let mut shared: Option<ChaCha8Rng> = match &resamples.source {
            Source::OneKey(streams) => Some(streams.chunk(chunk)),
            Source::KeyPerCell(_) => None,
        };
        for (index, ((size, draws), (_, sessions))) in
            resamples.cells.iter().zip(&mut self.cells).enumerate()
        {
            let sessions = &mut sessions[..size * self.replicates];
            match (&mut shared, &resamples.source) {
                (Some(rng), _) => draws.fill(rng, sessions),
                (None, Source::KeyPerCell(keys)) => {
                    draws.fill(&mut keys[index].chunk(chunk), sessions);
                }
                (None, Source::OneKey(streams)) => draws.fill(&mut streams.chunk(chunk), sessions),
            }
        }
    }

    /// The number of resamples.
    pub(crate) fn replicates(&self) -> usize {
        self.replicates
    }

    /// The sessions that one resample takes of one cell.
    pub(crate) fn row(&self, cell: usize, replicate: usize) -> &[u32] {
        let (size, sessions) = &self.cells[cell];
        &sessions[replicate * size..(replicate + 1) * size]
    }

    /// The mean of one cell in each resample; `scores` are the cell's sessions.
    pub(crate) fn means(&self, cell: usize, scores: &[f64], out: &mut [f64]) {
        let (size, sessions) = &self.cells[cell];
        let size = (*size).max(1);
        for (slot, row) in out.iter_mut().zip(sessions.chunks_exact(size)) {
            let sum: f64 = row.iter().map(|session| scores[*session as usize]).sum();
            *slot = sum / size as f64;
        }
    }
}

/// Resamples malfunctions with replacement, then sessions within each cell of each: `malfunctions[k][a]` are the scores of
/// malfunction k in arm a, and the statistic sees as many malfunctions. No malfunction, and no cell, may be empty.
pub(crate) fn over_malfunctions(
    malfunctions: &[Vec<&[f64]>],
    resamples: u64,
    statistic: impl Fn(&[Vec<Vec<f64>>]) -> f64 + Sync,
    rng: &mut impl RngCore,
) -> Vec<f64> {
    let count = u32::try_from(malfunctions.len()).expect("malfunctions are few");
    let arms = malfunctions.first().map_or(0, Vec::len);
    let resamples = usize::try_from(resamples).expect("the number of resamples fits into memory");
    Streams::draw(rng).replicates(
        resamples,
        || vec![vec![Vec::new(); arms]; malfunctions.len()],
        |space, rng| {
            for slots in space.iter_mut() {
                let taken = &malfunctions[below(rng, count) as usize];
                for (slot, cell) in slots.iter_mut().zip(taken) {
                    let bound = u32::try_from(cell.len()).expect("a cell fits into memory");
                    slot.clear();
                    slot.extend(cell.iter().map(|_| cell[below(rng, bound) as usize]));
                }
            }
            statistic(space)
        },
    )
}
