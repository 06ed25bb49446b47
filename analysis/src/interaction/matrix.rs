//! Knows the scores of H1 as a matrix of cells with named methods and malfunctions; ragged and empty cells are normal.
//! Must not know sums of squares.
//! Start at `Matrix::new`.

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
        })
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
        let cells: Vec<Vec<Vec<f64>>> = methods
            .iter()
            .map(|method| {
                malfunctions
                    .iter()
                    .map(|malfunction| {
                        let mut scores =
                            stratum.scores(malfunction, method, scale, plan.winsor_floor);
                        let planned = stratum
                            .cell(malfunction, method)
                            .map_or(0, |cell| cell.planned);
                        if missing_as_zero && (scores.len() as u64) < planned {
                            scores.resize(planned as usize, 0.0);
                        }
                        scores
                    })
                    .collect()
            })
            .collect();
        Self::new(&methods, &malfunctions, &cells)
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
    pub(crate) fn map_cells(&self, change: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let cells = self
            .cells
            .iter()
            .map(|cells| cells.iter().map(|cell| change(cell)).collect())
            .collect();
        self.with_cells(cells)
    }

    /// The same names with other cells of the same shape.
    pub(crate) fn with_cells(&self, cells: Vec<Vec<Vec<f64>>>) -> Self {
        Self {
            methods: self.methods.clone(),
            malfunctions: self.malfunctions.clone(),
            cells,
        }
    }

    /// Splits off the malfunctions that lack a cell: the complete matrix, and the names left out.
    pub(crate) fn complete_part(&self) -> (Self, Vec<String>) {
        let mut complete = Self {
            malfunctions: Vec::new(),
            cells: Vec::new(),
            ..self.clone()
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
