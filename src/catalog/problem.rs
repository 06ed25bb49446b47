//! Knows how one defect of a written file is told: where, which field, what is wrong, what to do.
//! Must not know any file format.
//! Start at `Problem`.

/// One defect, as its author needs it to mend it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file or folder, relative to the repository root.
    pub place: String,
    /// The field, line or file part; empty when the whole file is meant.
    pub field: String,
    /// What is wrong.
    pub wrong: String,
    /// What to do.
    pub remedy: String,
}

impl Problem {
    /// A defect of one field.
    #[must_use]
    pub fn new(
        place: impl Into<String>,
        field: impl Into<String>,
        wrong: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            place: place.into(),
            field: field.into(),
            wrong: wrong.into(),
            remedy: remedy.into(),
        }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: ", self.place)?;
        if !self.field.is_empty() {
            write!(formatter, "{}: ", self.field)?;
        }
        write!(formatter, "{}; {}", self.wrong, self.remedy)
    }
}

/// Every defect found in one reading, in order of place and field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    /// No defect so far.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a defect.
    pub fn push(&mut self, problem: Problem) {
        self.list.push(problem);
    }

    /// Adds the defects of another reading.
    pub fn extend(&mut self, others: Problems) {
        self.list.extend(others.list);
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The defects in order of finding.
    #[must_use]
    pub fn list(&self) -> &[Problem] {
        &self.list
    }

    /// Keeps the defects whose place passes.
    #[must_use]
    pub fn about(self, matches: impl Fn(&str) -> bool) -> Self {
        Self {
            list: self
                .list
                .into_iter()
                .filter(|problem| matches(&problem.place))
                .collect(),
        }
    }

    /// Sorts by place and drops repetitions.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.list.sort();
        self.list.dedup();
        self
    }

    /// `Ok` when nothing was found.
    ///
    /// # Errors
    /// All defects.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl std::fmt::Display for Problems {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self {
            list: vec![problem],
        }
    }
}
