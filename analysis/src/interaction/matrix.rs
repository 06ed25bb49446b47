//! Knows the scores of H1 as a matrix of cells with named methods and malfunctions; ragged and empty cells are normal.
//! Must not know sums of squares.
//! Start at `Matrix::new`.

use std::collections::BTreeMap;

use crate::computed::NotComputed;
use crate::plan::AnalysisPlan;
use crate::scale::Scale;
use crate::score_table::Stratum;

/// The cells of H1: methods × malfunctions, each with its sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    methods: Vec<String>,
    malfunctions: Vec<String>,
    /// `cells[k][m]`: the sessions of malfunction k with method m.
    cells: Vec<Vec<Vec<f64>>>,
    /// In the shape of `cells`: which block of its malfunction a session belongs to, if any.
    blocks: Option<Vec<Vec<Vec<Option<u64>>>>>,
}

impl Matrix {
    /// Takes `cells[m][k]`, the sessions of method m on malfunction k. Methods and malfunctions without any session are left out.
    ///
    /// # Errors
    /// A shape that does not fit the names, or a score that is not finite.
    pub fn new(
        methods: &[String],
        malfunctions: &[String],
        cells: &[Vec<Vec<f64>>],
    ) -> Result<Self, NotComputed> {
        let fits =
            cells.len() == methods.len() && cells.iter().all(|row| row.len() == malfunctions.len());
        if !fits {
            return Err(NotComputed::because("the cells do not fit the names"));
        }
        if cells
            .iter()
            .flatten()
            .flatten()
            .any(|score| !score.is_finite())
        {
            return Err(NotComputed::because("a score is not finite"));
        }
        let used_methods: Vec<usize> = (0..methods.len())
            .filter(|&method| cells[method].iter().any(|cell| !cell.is_empty()))
            .collect();
        let used_malfunctions: Vec<usize> = (0..malfunctions.len())
            .filter(|&malfunction| cells.iter().any(|row| !row[malfunction].is_empty()))
            .collect();
        Ok(Self {
            methods: used_methods
                .iter()
                .map(|&method| methods[method].clone())
                .collect(),
            malfunctions: used_malfunctions
                .iter()
                .map(|&k| malfunctions[k].clone())
                .collect(),
            cells: used_malfunctions
                .iter()
                .map(|&k| used_methods.iter().map(|&m| cells[m][k].clone()).collect())
                .collect(),
            blocks: None,
        })
    }

    /// As `new`, with block labels in the shape of `cells`: sessions of one malfunction with the same number share a block.
    /// Where no session has a label, there are no blocks.
    ///
    /// # Errors
    /// Those of `new`, or labels that do not fit the cells.
    pub fn with_blocks(
        methods: &[String],
        malfunctions: &[String],
        cells: &[Vec<Vec<f64>>],
        blocks: &[Vec<Vec<Option<u64>>>],
    ) -> Result<Self, NotComputed> {
        let fits = cells.len() == blocks.len()
            && cells.iter().zip(blocks).all(|(cells, blocks)| {
                cells.len() == blocks.len()
                    && cells
                        .iter()
                        .zip(blocks)
                        .all(|(cell, labels)| cell.len() == labels.len())
            });
        if !fits {
            return Err(NotComputed::because("the blocks do not fit the cells"));
        }
        let mut matrix = Self::new(methods, malfunctions, cells)?;
        if blocks.iter().flatten().flatten().any(Option::is_some) {
            let filled = |row: &&Vec<Vec<Option<u64>>>| row.iter().any(|cell| !cell.is_empty());
            let rows: Vec<&Vec<Vec<Option<u64>>>> = blocks.iter().filter(filled).collect();
            let used = |k: &usize| rows.iter().any(|row| !row[*k].is_empty());
            matrix.blocks = Some(
                (0..malfunctions.len())
                    .filter(used)
                    .map(|k| rows.iter().map(|row| row[k].clone()).collect())
                    .collect(),
            );
        }
        Ok(matrix)
    }

    /// Takes the simple explanation methods of a stratum on one scale; with `missing_as_zero`, each planned session
    /// without a score counts as 0.
    ///
    /// # Errors
    /// None beyond those of `new`, which a score table excludes.
    pub fn of_stratum(
        stratum: &Stratum,
        scale: Scale,
        plan: &AnalysisPlan,
        missing_as_zero: bool,
    ) -> Result<Self, NotComputed> {
        let methods: Vec<String> = stratum
            .methods()
            .into_iter()
            .filter(|method| stratum.roles().enters_hypotheses(method))
            .map(str::to_owned)
            .collect();
        let malfunctions: Vec<String> = stratum
            .malfunctions()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut cells = vec![vec![Vec::new(); malfunctions.len()]; methods.len()];
        let mut blocks: Vec<Vec<Vec<Option<u64>>>> =
            vec![vec![Vec::new(); malfunctions.len()]; methods.len()];
        for (k, malfunction) in malfunctions.iter().enumerate() {
            let mut numbers: BTreeMap<&str, u64> = BTreeMap::new();
            for (m, method) in methods.iter().enumerate() {
                let Some(cell) = stratum.cell(malfunction, method) else {
                    continue;
                };
                let (scores, labels) = (&mut cells[m][k], &mut blocks[m][k]);
                *scores = cell.scores(scale, plan.winsor_floor);
                for row in &cell.rows {
                    let next = numbers.len() as u64;
                    labels.push(
                        row.block
                            .as_deref()
                            .map(|block| *numbers.entry(block).or_insert(next)),
                    );
                }
                if missing_as_zero && (scores.len() as u64) < cell.planned {
                    scores.resize(cell.planned as usize, 0.0);
                    labels.resize(cell.planned as usize, None);
                }
            }
        }
        Self::with_blocks(&methods, &malfunctions, &cells, &blocks)
    }

    /// Names of the methods, in order of the columns of `cells`.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// Names of the malfunctions, in order of `cells`.
    pub fn malfunctions(&self) -> &[String] {
        &self.malfunctions
    }

    /// `cells()[k][m]`: the sessions of malfunction k with method m.
    pub fn cells(&self) -> &[Vec<Vec<f64>>] {
        &self.cells
    }

    /// `blocks()[k][m]`: the block of each session of a cell, if the matrix has blocks.
    pub fn blocks(&self) -> Option<&[Vec<Vec<Option<u64>>>]> {
        self.blocks.as_deref()
    }

    /// Every session, by malfunction, then method.
    pub fn scores(&self) -> impl Iterator<Item = f64> {
        self.cells.iter().flatten().flatten().copied()
    }

    /// The number of sessions.
    pub fn sessions(&self) -> usize {
        self.cells.iter().flatten().map(Vec::len).sum()
    }

    /// The sessions per cell, if every cell has the same number.
    pub fn balanced(&self) -> Option<usize> {
        let first = self.cells.first()?.first()?.len();
        self.cells
            .iter()
            .flatten()
            .all(|cell| cell.len() == first)
            .then_some(first)
    }

    /// Names of the cells with exactly so many sessions, as (method, malfunction).
    pub fn cells_of_size(&self, size: usize) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (malfunction, cells) in self.malfunctions.iter().zip(&self.cells) {
            for (method, cell) in self.methods.iter().zip(cells) {
                if cell.len() == size {
                    found.push((method.clone(), malfunction.clone()));
                }
            }
        }
        found.sort();
        found
    }

    /// The same matrix with the sessions of each cell replaced; used for residuals and for parts of the matrix.
    pub(crate) fn map_cells(&self, mut change: impl FnMut(&[f64]) -> Vec<f64>) -> Self {
        let cells = self
            .cells
            .iter()
            .map(|cells| cells.iter().map(|cell| change(cell)).collect())
            .collect();
        self.with_cells(cells)
    }

    /// The same names with other cells, without blocks.
    pub(crate) fn with_cells(&self, cells: Vec<Vec<Vec<f64>>>) -> Self {
        Self {
            methods: self.methods.clone(),
            malfunctions: self.malfunctions.clone(),
            cells,
            blocks: None,
        }
    }

    /// Splits off the malfunctions that lack a cell: the complete matrix, without blocks, and the names left out.
    pub(crate) fn complete_part(&self) -> (Self, Vec<String>) {
        let mut complete = Self {
            methods: self.methods.clone(),
            malfunctions: Vec::new(),
            cells: Vec::new(),
            blocks: None,
        };
        let mut left_out = Vec::new();
        for (malfunction, cells) in self.malfunctions.iter().zip(&self.cells) {
            if cells.iter().all(|cell| !cell.is_empty()) {
                complete.malfunctions.push(malfunction.clone());
                complete.cells.push(cells.clone());
            } else {
                left_out.push(malfunction.clone());
            }
        }
        (complete, left_out)
    }
}
