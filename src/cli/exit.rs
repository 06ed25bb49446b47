//! Knows the exit codes and how a failure is told to a person.
//! Must not know which verb failed.
//! Start at `Failure`.

use std::process::ExitCode;

use crate::report::inert;

/// The documented exit codes (`docs/formats.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// 0: done.
    Done,
    /// 1: a defect of ours.
    Internal,
    /// 2: wrong usage.
    Usage,
    /// 3: invalid plan, catalog or dossier.
    Invalid,
    /// 4: harness unavailable (Docker, image).
    Harness,
    /// 5: finished with missing sessions.
    Missing,
    /// 6: run directory belongs to another plan, or is held.
    OtherPlan,
    /// 8: an isolation probe failed.
    Isolation,
    /// 10: a requested check failed.
    CheckFailed,
    /// 130: interrupted.
    Interrupted,
    /// 143: terminated.
    Terminated,
}

impl Code {
    /// The number handed to the shell.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Invalid => 3,
            Self::Harness => 4,
            Self::Missing => 5,
            Self::OtherPlan => 6,
            Self::Isolation => 8,
            Self::CheckFailed => 10,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code.number())
    }
}

/// Why a verb failed, in the words of a person who has to mend it.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: Code,
    /// What is wrong and where; one entry per problem.
    pub problems: Vec<String>,
    /// What to do next.
    pub remedy: Option<String>,
}

impl Failure {
    /// A failure with one problem.
    #[must_use]
    pub fn new(code: Code, problem: impl Into<String>) -> Self {
        Self {
            code,
            problems: vec![problem.into()],
            remedy: None,
        }
    }

    /// The same failure with the next thing to do.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Prints to standard error and gives the exit code.
    #[expect(
        clippy::print_stderr,
        reason = "the command line is the one room that prints"
    )]
    #[must_use]
    pub fn report(&self) -> ExitCode {
        for problem in &self.problems {
            eprintln!("error: {}", inert(problem));
        }
        if let Some(remedy) = &self.remedy {
            eprintln!("next: {remedy}");
        }
        self.code.into()
    }
}
