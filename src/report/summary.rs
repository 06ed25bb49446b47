//! Knows the summary for a terminal: at most 20 lines of at most 100 columns, without colour.
//! Must not print: the command line does.
//! Start at `summary`.

use evalxrl_analysis::findings::StratumFindings;
use evalxrl_analysis::lift::Difference;
use evalxrl_analysis::scale::Scale;
use evalxrl_analysis::score_table::Role;

use super::document::Document;
use super::inert::inert_line;
use super::numerals::{score, signed};
use super::view::label;

const WIDTH: usize = 100;
const LINES: usize = 20;
const LABEL: usize = 26;
/// `+0.31 [−0.10,−0.52]` and a space.
const WITH_INTERVAL: usize = 21;
const VALUE_ONLY: usize = 9;
const BASELINE: usize = 11;

/// The three sentences, the lifts as numbers and where the page is.
pub(super) fn summary(document: &Document<'_>, page: &str) -> String {
    let mut lines = Vec::new();
    let missing = document.progress.missing.len();
    if missing > 0 {
        lines.push(format!(
            "INCOMPLETE: {missing} of {} planned sessions are missing.",
            document.progress.planned
        ));
    }
    if document.progress.isolation == "none" {
        lines.push("isolation: none (local processes; nothing was sealed)".to_owned());
    }
    if let Some(leading) = document
        .leading()
        .filter(|_| document.others().next().is_some())
    {
        let line = format!("this is {}; the page has the others", label(leading));
        lines.push(clipped(&inert_line(&line), WIDTH));
    }
    let answers = &document.answers;
    for sentence in [&answers.h1, &answers.h2, &answers.h3] {
        lines.extend(folded(&inert_line(sentence)));
    }
    let path = format!("report: {}", inert_line(page));
    if let Some(stratum) = document.leading() {
        let room = LINES - lines.len() - 1;
        lines.extend(grid(stratum, room));
    }
    lines.push(path);
    lines.join("\n")
}

/// Breaks a sentence at spaces, two lines at most.
fn folded(sentence: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in sentence.split(' ') {
        let last = lines.last_mut().expect("there is always a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("  {word}"));
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    if lines.len() > 2 {
        lines.truncate(2);
        let last = lines.last_mut().expect("two lines are left");
        *last = clipped(last, WIDTH - 2) + " …";
    }
    lines.iter().map(|line| clipped(line, WIDTH)).collect()
}

struct Arm<'a> {
    method: &'a str,
    role: Role,
}

fn grid(stratum: &StratumFindings, room: usize) -> Vec<String> {
    let mut arms: Vec<(u8, Arm<'_>)> = Vec::new();
    for cell in &stratum.cells {
        if !arms.iter().any(|(_, arm)| arm.method == cell.method) {
            let order = match cell.role {
                Role::NoMethod => 0,
                Role::CheatOracle => 1,
                Role::OptimalRepair => 2,
                Role::Xrl => 3,
                Role::Placebo => 4,
            };
            let method = cell.method.as_str();
            arms.push((
                order,
                Arm {
                    method,
                    role: cell.role,
                },
            ));
        }
    }
    arms.sort_by(|(a, left), (b, right)| (a, left.method).cmp(&(b, right.method)));
    let arms: Vec<Arm<'_>> = arms.into_iter().map(|(_, arm)| arm).collect();
    let mut malfunctions: Vec<&str> = stratum
        .cells
        .iter()
        .map(|cell| cell.malfunction.as_str())
        .collect();
    malfunctions.dedup();

    // no-method has a mean, not a lift, and needs no interval here.
    let lifts = arms.iter().filter(|arm| arm.role != Role::NoMethod).count();
    let fits = LABEL + BASELINE + lifts * WITH_INTERVAL <= WIDTH;
    let width = if fits {
        WITH_INTERVAL
    } else {
        // As wide as the number of arms allows, so that their names can be told apart.
        ((WIDTH - LABEL - BASELINE) / lifts.max(1)).clamp(VALUE_ONLY, WITH_INTERVAL)
    };
    let shown = ((WIDTH - LABEL - BASELINE) / width + 1).min(arms.len());
    let hidden = arms.len() - shown;
    let arms = &arms[..shown];

    let mut lines = vec![row("lift over no-method, raw", arms, width, |arm| {
        shortened(arm.method, width_of(arm, width) - 1)
    })];
    let after = 1 + usize::from(hidden > 0);
    let for_rows = room.saturating_sub(lines.len() + after);
    let fold = malfunctions.len() > for_rows;
    let listed = if fold {
        for_rows.saturating_sub(1)
    } else {
        malfunctions.len()
    };
    for malfunction in &malfunctions[..listed] {
        lines.push(row(malfunction, arms, width, |arm| {
            cell(stratum, malfunction, arm, fits)
        }));
    }
    if fold {
        lines.push(format!(
            "… {} more malfunctions on the page",
            malfunctions.len() - listed
        ));
    }
    lines.push(row("all malfunctions", arms, width, |arm| {
        overall(stratum, arm, fits)
    }));
    if hidden > 0 {
        lines.push(format!("… {hidden} more arms on the page"));
    }
    lines
}

fn row(label: &str, arms: &[Arm<'_>], width: usize, text: impl Fn(&Arm<'_>) -> String) -> String {
    let mut line = format!("{:<LABEL$}", shortened(label, LABEL - 1));
    for arm in arms {
        let width = width_of(arm, width);
        line.push_str(&format!("{:>width$}", text(arm)));
    }
    line.trim_end().to_owned()
}

fn width_of(arm: &Arm<'_>, width: usize) -> usize {
    if arm.role == Role::NoMethod {
        BASELINE
    } else {
        width
    }
}

fn cell(stratum: &StratumFindings, malfunction: &str, arm: &Arm<'_>, interval: bool) -> String {
    if arm.role == Role::NoMethod {
        let mut cells = stratum.cells.iter();
        let found = cells.find(|cell| cell.malfunction == malfunction && cell.method == arm.method);
        let mean = found.and_then(|cell| cell.raw.value());
        return mean.map_or_else(|| "–".to_owned(), |scores| score(scores.mean));
    }
    let lift = of(stratum, arm.method)
        .and_then(|lift| {
            let mut cells = lift.malfunctions.iter();
            cells.find(|cell| cell.malfunction == malfunction)
        })
        .and_then(|cell| cell.lift.value());
    difference(lift, interval)
}

fn overall(stratum: &StratumFindings, arm: &Arm<'_>, interval: bool) -> String {
    if arm.role == Role::NoMethod {
        return "(mean)".to_owned();
    }
    difference(
        of(stratum, arm.method).and_then(|lift| lift.mean.value()),
        interval,
    )
}

fn of<'a>(
    stratum: &'a StratumFindings,
    method: &str,
) -> Option<&'a evalxrl_analysis::lift::MethodLift> {
    let mut lifts = stratum.lifts.methods.iter();
    lifts.find(|lift| lift.method == method && lift.scale == Scale::Raw)
}

fn difference(value: Option<&Difference>, interval: bool) -> String {
    match value {
        None => "–".to_owned(),
        Some(found) => match found.percentile.value().filter(|_| interval) {
            Some(ends) => {
                let (low, high) = (score(ends.low), score(ends.high));
                format!("{} [{low},{high}]", signed(found.estimate))
            }
            None => signed(found.estimate),
        },
    }
}

fn shortened(text: &str, width: usize) -> String {
    let text = inert_line(text);
    if text.chars().count() <= width {
        text
    } else {
        clipped(&text, width - 1) + "…"
    }
}

fn clipped(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}
