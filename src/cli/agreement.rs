//! Knows the verb `agreement`: how well two raters agree.
//! Must not know how agreement is computed.
//! Start at `run`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use evalxrl_analysis::kappa::Weights;

use crate::report::Ratings;
use crate::vocab::RootSeed;

use super::exit::Failure;
use super::scores::{self, Seed};
use super::{out, report};

/// Measures how well two raters agree beyond chance (Cohen's kappa).
#[derive(Debug, ClapArgs)]
pub struct Args {
    /// Both raters' verdicts (CSV: item, first, second, and cluster where a rater gives several verdicts together), or -
    ratings: PathBuf,
    /// How a disagreement counts; several are printed side by side
    #[arg(long, value_enum, value_delimiter = ',', default_value = "unweighted")]
    weights: Vec<Weighting>,
    /// The categories in order, parted by commas [default: by number where all are numbers, else by text]
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    categories: Option<Vec<String>>,
    /// Root seed: a whole number or 64 hexadecimal digits [default: 0]
    #[arg(long, value_name = "N")]
    seed: Option<Seed>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// How a disagreement counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Weighting {
    /// All alike
    Unweighted,
    /// By the distance of the categories
    Linear,
    /// By its square
    Quadratic,
}

impl From<Weighting> for Weights {
    fn from(weighting: Weighting) -> Self {
        match weighting {
            Weighting::Unweighted => Self::Unweighted,
            Weighting::Linear => Self::Linear,
            Weighting::Quadratic => Self::Quadratic,
        }
    }
}

/// Runs the verb.
///
/// # Errors
/// Exit 2 for a file that cannot be opened, 3 for every bad line of it.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (name, bytes) = scores::read(&args.ratings)?;
    let ratings = Ratings::read(&bytes, &name, args.categories.as_deref())
        .map_err(|error| scores::bad_lines(&error))?;
    let seed = match &args.seed {
        Some(Seed(seed)) => seed.clone(),
        None => {
            out::talk("seed: 0, as none was given; --seed N takes another");
            RootSeed::weak(0)
        }
    };
    let mut weights: Vec<Weights> = Vec::new();
    for weighting in &args.weights {
        let one = Weights::from(*weighting);
        if !weights.contains(&one) {
            weights.push(one);
        }
    }
    let agreements = ratings.agreements(&weights, &seed);
    if args.json {
        out::data(&agreements.json().map_err(report::failure)?)
    } else {
        out::data(&agreements.text())
    }
}
