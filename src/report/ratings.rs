//! Knows two raters' verdicts as a file, and their agreement as text and JSON.
//! Must not know how agreement is computed, nor where the file lies.
//! Start at `Ratings::read`.

use std::collections::BTreeMap;

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::estimate::IntervalFlag;
use evalxrl_analysis::kappa::{Agreement, Kappa, Weights, agreement};
use evalxrl_analysis::plan::AnalysisPlan;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde::Serialize;

use super::ReportError;
use super::csv_lines::{Columns, CsvError, Line, problem, read_lines};
use super::plain::folded;
use super::table::{Cell, Column, Kind, Row, Table};
use crate::vocab::{RootSeed, SeedName};

const COLUMNS: Columns = Columns {
    known: &["item", "first", "second", "cluster"],
    required: &["item", "first", "second"],
};

/// Columns of a terminal.
const WIDTH: usize = 100;

/// Two raters' verdicts on the same items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ratings {
    categories: Vec<String>,
    items: Vec<(usize, usize)>,
    clusters: Option<Vec<usize>>,
}

/// One line: item, both verdicts, and the cluster where the file has that column.
struct Verdicts {
    item: String,
    first: String,
    second: String,
    cluster: Option<String>,
}

impl Ratings {
    /// Reads a file of verdicts; `name` is its name in messages. Categories are in the order given, else by number where
    /// all are numbers, else by text.
    ///
    /// # Errors
    /// Every bad line at once: what is empty, an item that stands twice, a verdict that is none of the given categories.
    pub fn read(bytes: &[u8], name: &str, given: Option<&[String]>) -> Result<Self, CsvError> {
        let (rows, mut problems) = read_lines(bytes, COLUMNS, verdicts);
        if rows.is_empty() && problems.is_empty() {
            problems.push(problem(1, "header", "alone", "there is no verdict"));
        }
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for (line, row) in &rows {
            if let Some(first) = seen.get(row.item.as_str()) {
                let wrong = format!("stands on line {first} already");
                problems.push(problem(*line, "item", &row.item, wrong));
            } else {
                seen.insert(&row.item, *line);
            }
        }
        let categories = match given {
            Some(given) => Categories::given(given),
            None => Categories::found(rows.iter().flat_map(|(_, row)| [&row.first, &row.second])),
        };
        let mut items = Vec::with_capacity(rows.len());
        for (line, row) in &rows {
            let mut place = |column, verdict: &str| {
                let found = categories.place(verdict);
                if found.is_none() {
                    let known = format!("none of the categories {}", categories.names.join(", "));
                    problems.push(problem(*line, column, verdict, known));
                }
                found
            };
            let both = (place("first", &row.first), place("second", &row.second));
            if let (Some(first), Some(second)) = both {
                items.push((first, second));
            }
        }
        if !problems.is_empty() {
            return Err(CsvError::new(name, problems));
        }
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let clusters: Option<Vec<usize>> = rows
            .iter()
            .map(|(_, row)| {
                let next = numbers.len();
                let cluster = row.cluster.as_deref()?;
                Some(*numbers.entry(cluster).or_insert(next))
            })
            .collect();
        Ok(Self {
            categories: categories.names,
            items,
            clusters,
        })
    }

    /// Computes the agreement under each weighting, with intervals of 95 % from 50,000 resamples; each takes its key from
    /// `agreement/{weights}`.
    #[must_use]
    pub fn agreements(&self, weights: &[Weights], root_seed: &RootSeed) -> Agreements {
        let plan = AnalysisPlan::default();
        let of = |weights: Weights| {
            let name = format!("agreement/{}", word(weights));
            let key = root_seed.derive(&SeedName::new(name)).bytes();
            let found = agreement(
                &self.items,
                self.clusters.as_deref(),
                weights,
                plan.confidence,
                plan.resamples,
                &mut ChaCha8Rng::from_seed(key),
            );
            WeightedAgreement {
                weights,
                agreement: found.into(),
            }
        };
        Agreements {
            format: "evalxrl.agreement/1",
            root_seed: root_seed.clone().into(),
            verdicts: self.items.len(),
            categories: self.categories.clone(),
            agreements: weights.iter().copied().map(of).collect(),
        }
    }
}

fn verdicts(line: &mut Line<'_>) -> Option<Verdicts> {
    let before = line.problems();
    let item = line.present::<String>("item", "empty");
    let first = line.present::<String>("first", "empty");
    let second = line.present::<String>("second", "empty");
    let cluster = line.present::<String>("cluster", "empty");
    if line.problems() > before {
        return None;
    }
    Some(Verdicts {
        item: item?,
        first: first?,
        second: second?,
        cluster,
    })
}

/// The categories in order.
struct Categories {
    names: Vec<String>,
    /// Their numbers, where all are numbers: `1` and `1.0` are one category.
    numbers: Option<Vec<f64>>,
}

impl Categories {
    fn given(names: &[String]) -> Self {
        let mut kept: Vec<String> = Vec::new();
        for name in names {
            if !kept.contains(name) {
                kept.push(name.clone());
            }
        }
        Self {
            names: kept,
            numbers: None,
        }
    }

    fn found<'a>(verdicts: impl Iterator<Item = &'a String>) -> Self {
        let mut names: Vec<&String> = verdicts.collect();
        names.sort();
        names.dedup();
        let numbers: Option<Vec<(f64, &String)>> = names
            .iter()
            .map(|name| number(name).map(|number| (number, *name)))
            .collect();
        match numbers {
            Some(mut numbers) => {
                numbers.sort_by(|one, two| one.0.total_cmp(&two.0));
                numbers.dedup_by(|one, two| one.0 == two.0);
                Self {
                    names: numbers.iter().map(|(_, name)| (*name).clone()).collect(),
                    numbers: Some(numbers.into_iter().map(|(number, _)| number).collect()),
                }
            }
            None => Self {
                names: names.into_iter().cloned().collect(),
                numbers: None,
            },
        }
    }

    fn place(&self, verdict: &str) -> Option<usize> {
        match (&self.numbers, number(verdict)) {
            (Some(numbers), Some(number)) => numbers.iter().position(|known| *known == number),
            _ => self.names.iter().position(|known| known == verdict),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    match text.parse::<f64>() {
        // Adding zero makes −0 and 0 one number.
        Ok(number) if number.is_finite() => Some(number + 0.0),
        _ => None,
    }
}

/// The agreement of two raters under every weighting asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreements {
    format: &'static str,
    root_seed: String,
    verdicts: usize,
    /// In the order of the tables' rows and columns.
    categories: Vec<String>,
    agreements: Vec<WeightedAgreement>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct WeightedAgreement {
    weights: Weights,
    agreement: Computed<Agreement>,
}

impl Agreements {
    /// As JSON.
    ///
    /// # Errors
    /// None is known.
    pub fn json(&self) -> Result<String, ReportError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// As plain text of at most 100 columns.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![self.kappas().plain(WIDTH)];
        let found = self.agreements.iter();
        if let Some(known) = found.filter_map(|each| each.agreement.value()).next() {
            lines.push(self.verdict_table(known).plain(WIDTH));
        }
        for each in &self.agreements {
            let told = match &each.agreement {
                Computed::Value(found) => warnings(found),
                Computed::NotComputed(reason) => vec![format!("not computed: {reason}")],
            };
            for warning in told {
                let text = format!("{}: {warning}.", word(each.weights));
                lines.extend(folded(&text, WIDTH, "! "));
            }
        }
        let mut text = lines.join("\n");
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    fn kappas(&self) -> Table {
        let rows = self.agreements.iter().map(|each| {
            let found = &each.agreement;
            let part = |shown: fn(&Kappa) -> Cell| Cell::of(found, |found| shown(&found.kappa));
            Row::of(vec![
                Cell::text(word(each.weights)),
                Cell::of(found, |found| Cell::Interval {
                    estimate: found.kappa.kappa,
                    ends: found.interval.value().map(|ends| [ends.low, ends.high]),
                }),
                part(|kappa| Cell::range(&kappa.normal)),
                part(|kappa| Cell::fine(&kappa.standard_error)),
                part(|kappa| Cell::fine(&kappa.null_standard_error)),
                part(|kappa| Cell::number(&kappa.kappa_max)),
                part(|kappa| Cell::Number(kappa.observed_agreement)),
                part(|kappa| Cell::Number(kappa.chance_agreement)),
                part(|kappa| Cell::Count(kappa.verdicts)),
            ])
        });
        Table {
            name: "kappa".to_owned(),
            title: "Agreement of two raters".to_owned(),
            note: "Kappa: agreement beyond chance, 1 at most, with a bootstrap interval over items (over clusters where the \
                   file has them) and beside it kappa ± 1.96 standard errors. Null SE: if the raters were independent. \
                   Largest: the unweighted kappa that the raters' own shares of each category allow."
                .to_owned(),
            columns: vec![
                Column::new("weights", "weights", Kind::Text),
                Column::new("kappa", "kappa", Kind::Interval),
                Column::new("normal", "normal interval", Kind::Range),
                Column::new("standard_error", "SE", Kind::Number),
                Column::new("null_standard_error", "null SE", Kind::Number),
                Column::new("kappa_max", "largest", Kind::Number),
                Column::new("observed", "observed", Kind::Number),
                Column::new("chance", "by chance", Kind::Number),
                Column::new("verdicts", "verdicts", Kind::Count),
            ],
            rows: rows.collect(),
        }
    }

    /// How often each pair of categories was given.
    fn verdict_table(&self, found: &Agreement) -> Table {
        let mut rows = Vec::new();
        for (first, counts) in self.categories.iter().zip(&found.table) {
            for (second, count) in self.categories.iter().zip(counts) {
                if *count > 0 {
                    rows.push(Row::of(vec![
                        Cell::text(first),
                        Cell::text(second),
                        Cell::Count(*count),
                    ]));
                }
            }
        }
        Table {
            name: "verdicts".to_owned(),
            title: "Verdicts".to_owned(),
            note: String::new(),
            columns: vec![
                Column::new("first", "first rater", Kind::Text),
                Column::new("second", "second rater", Kind::Text),
                Column::new("items", "items", Kind::Count),
            ],
            rows,
        }
    }
}

fn warnings(found: &Agreement) -> Vec<String> {
    let mut list = Vec::new();
    let ends = found.interval.value().map_or(&[][..], |ends| &ends.flags);
    let has = |flag| found.kappa.flags.contains(&flag) || ends.contains(&flag);
    if has(IntervalFlag::TooFewToInform) {
        list.push(format!(
            "{} verdicts are too few to inform",
            found.kappa.verdicts
        ));
    }
    if has(IntervalFlag::ManyUndefinedResamples) {
        list.push(format!(
            "kappa is undefined in {} of {} resamples, which the interval leaves out",
            found.undefined_resamples, found.resamples
        ));
    }
    if has(IntervalFlag::Degenerate) {
        list.push("every resample gives the same kappa".to_owned());
    }
    for (what, reason) in [
        ("no interval", found.interval.reason()),
        ("no standard error", found.kappa.standard_error.reason()),
    ] {
        list.extend(reason.map(|reason| format!("{what}: {reason}")));
    }
    list
}

fn word(weights: Weights) -> &'static str {
    match weights {
        Weights::Unweighted => "unweighted",
        Weights::Linear => "linear",
        Weights::Quadratic => "quadratic",
    }
}
