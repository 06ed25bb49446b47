//! Knows how measurements are told to a person.
//! Must not know how they were made.
//! Start at `measured` and `rung`.

use crate::catalog::{Malfunction, Rung};
use crate::reference::Measured;

/// The figures of a malfunction, the rules it does not meet, and the verdict.
pub(super) fn measured(malfunction: &Malfunction, measured: &Measured) -> String {
    let figures = &measured.figures;
    let further = &measured.further;
    let mut text = format!(
        "{}\n  P_clean {:.3} ({:.3})  P_broken {:.3} ({:.3})  P_random {:.3}{}\n  \
         A1 gap/span {:.3}   A2 clean beats broken {:.3}   A3 gap/SE {:.1}\n",
        malfunction.id,
        figures.clean.mean,
        figures.clean.standard_error,
        figures.broken.mean,
        figures.broken.standard_error,
        figures.p_random,
        if figures.is_floor() { "  floor" } else { "" },
        figures.gap_over_span,
        figures.clean_beats_broken,
        figures.gap_over_error,
    );
    let more: Vec<String> = [
        ("A5 repaired", further.repaired),
        ("A7 tuned", further.tuned),
        ("training time", further.training_time),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| format!("{name} {value:.3}")))
    .collect();
    if !more.is_empty() {
        text.push_str(&format!("  {}\n", more.join("   ")));
    }
    for half in &measured.halves {
        let gap = half
            .gap
            .map_or("unknown".to_owned(), |gap| format!("{gap:.3}"));
        text.push_str(&format!("  half {}: gap {gap}\n", half.id));
    }
    if !measured.halves.is_empty() {
        text.push_str(&format!("  both: gap {:.3}\n", figures.gap()));
    }
    for refusal in &measured.refusals {
        text.push_str(&format!("  {refusal}\n"));
    }
    match &measured.reference {
        Some(reference) if (reference.min_gap() - malfunction.min_gap).abs() > 1e-9 => {
            text.push_str(&format!(
                "  admitted; write min_gap = {:?} in its manifest\n",
                reference.min_gap()
            ));
        }
        Some(_) => text.push_str("  admitted\n"),
        None => text.push_str("  not admitted\n"),
    }
    text
}

/// One line on a rung.
pub(super) fn rung(rung: &Rung, at: usize, of: usize, new: bool) -> String {
    let figure = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let mut line = format!(
        "{} {} (rung {at} of {of})  n {}  P_clean {:.2}  P_broken {}  P_random {:.2}  gap/span {}  A2 {}  gap/SE {}",
        rung.entry,
        rung.strength,
        rung.n,
        rung.p_clean,
        figure(rung.p_broken, 2),
        rung.p_random,
        figure(rung.gap_over_span, 2),
        figure(rung.clean_beats_broken, 2),
        figure(rung.gap_over_error, 1),
    );
    for (name, value) in [
        ("A5", rung.repaired),
        ("A7", rung.tuned),
        ("time", rung.training_time),
    ] {
        if let Some(value) = value {
            line.push_str(&format!("  {name} {value:.2}"));
        }
    }
    if rung.is_floor() {
        line.push_str("  floor");
    }
    let verdict = if rung.reason.is_empty() {
        "passes"
    } else {
        rung.reason.as_str()
    };
    let kept = if new { "" } else { "  (measured before)" };
    format!("{line}  {verdict}{kept}\n")
}
