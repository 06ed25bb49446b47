//! Knows the three sentences that a reader meets first.
//! Must not compute anything: every word follows from a verdict, every number from findings.
//! Start at `Answers::of`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::detection::DetectionPower;
use evalxrl_analysis::estimate::PValue;
use evalxrl_analysis::findings::StratumFindings;
use evalxrl_analysis::harm::{Harm, HarmVerdict};
use evalxrl_analysis::interaction::H1;
use evalxrl_analysis::oracle_gap::{GapVerdict, H2};
use evalxrl_analysis::structure::StructureWord;
use serde::Serialize;

use super::numerals::{difference, p_value, score};

/// The answers to the three hypotheses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Answers {
    pub(super) h1: String,
    pub(super) h2: String,
    pub(super) h3: String,
}

impl Answers {
    pub(super) fn of(stratum: Option<&StratumFindings>) -> Self {
        match stratum {
            Some(stratum) => Self {
                h1: h1(&stratum.h1, &stratum.h1_power),
                h2: h2(&stratum.h2),
                h3: h3(&stratum.h3),
            },
            None => Self {
                h1: "H1 (structure): no session has ended yet.".to_owned(),
                h2: "H2 (oracle gap): no session has ended yet.".to_owned(),
                h3: "H3 (harm): no session has ended yet.".to_owned(),
            },
        }
    }
}

fn h1(h1: &H1, power: &Computed<DetectionPower>) -> String {
    let verdict = match &h1.verdict {
        Computed::Value(verdict) => verdict,
        Computed::NotComputed(reason) => return format!("H1 (structure): not computed: {reason}."),
    };
    format!(
        "H1 (structure): {} ({}, {}).{}",
        structure_words(verdict.word),
        named_p("literal", &verdict.literal_p),
        named_p("wild", &verdict.wild_p),
        what_could_be_found(verdict.supported, power)
    )
}

/// Where H1 is not supported: how probable it was to find an interaction.
fn what_could_be_found(supported: bool, power: &Computed<DetectionPower>) -> String {
    match power {
        _ if supported => String::new(),
        Computed::Value(power) => format!(
            " An interaction of rms {} is found here with probability {} (by wild; {} by the whole verdict).",
            score(power.interaction_rms),
            score(power.wild.value),
            score(power.structured.value)
        ),
        Computed::NotComputed(_) => String::new(),
    }
}

fn named_p(name: &str, p: &Computed<PValue>) -> String {
    match p {
        Computed::Value(p) => format!("{name} p = {}", p_value(p.value)),
        Computed::NotComputed(reason) => format!("{name} p not computed: {reason}"),
    }
}

/// What a verdict of H1 says, in words.
pub(super) fn structure_words(word: StructureWord) -> &'static str {
    match word {
        StructureWord::Uniform => "uniform: no effect of the method was detected at this power",
        StructureWord::SingleAxisParallel => {
            "single axis, parallel: methods differ by the same amount everywhere, as far as detected at this power"
        }
        StructureWord::SingleAxisStrength => {
            "single axis, strength: methods differ in strength only"
        }
        StructureWord::Structured => "structured: which method helps depends on the malfunction",
        StructureWord::StructuredCrossover => {
            "structured, crossover: the order of methods reverses between malfunctions"
        }
        StructureWord::Undecided => "undecided: clipped and raw scores disagree",
    }
}

fn h2(h2: &H2) -> String {
    let gap = match &h2.clipped {
        Computed::Value(gap) => gap,
        Computed::NotComputed(reason) => {
            return format!("H2 (oracle gap): not computed: {reason}.");
        }
    };
    let against = if gap.optimal_repair_assumed {
        "an optimal repair, assumed to score 1,"
    } else {
        "an optimal repair"
    };
    let verdict = match gap.verdict {
        GapVerdict::AtCeiling => "at the ceiling",
        GapVerdict::Gap => "a gap",
        GapVerdict::Undecided => "undecided",
    };
    format!(
        "H2 (oracle gap): the cheat oracle stays {} below {against} on the clipped score: {verdict}, \
         against a margin of {}.",
        difference(&gap.gap),
        score(gap.margin)
    )
}

fn h3(h3: &Computed<Harm>) -> String {
    let harm = match h3 {
        Computed::Value(harm) => harm,
        Computed::NotComputed(reason) => return format!("H3 (harm): not computed: {reason}."),
    };
    let reach = match &harm.cells_needed {
        Computed::Value(1) => "this design could have found one alone".to_owned(),
        Computed::Value(needed) => {
            format!("this design could not have found fewer than {needed}")
        }
        Computed::NotComputed(reason) => {
            format!("what could have been found is not known: {reason}")
        }
    };
    match harm.verdict {
        HarmVerdict::HarmFound => {
            let cells: Vec<String> = harm
                .harmed
                .iter()
                .take(3)
                .map(|cell| format!("{} on {}", cell.method, cell.malfunction))
                .collect();
            let more = if harm.harmed.len() > cells.len() {
                ", …"
            } else {
                ""
            };
            format!(
                "H3 (harm): {} of {} cells harmed after Benjamini–Hochberg: {}{more}.",
                harm.harmed.len(),
                harm.planned_cells,
                cells.join(", ")
            )
        }
        HarmVerdict::NoHarmFound => format!(
            "H3 (harm): none of {} cells harmed after Benjamini–Hochberg, and {reach}.",
            harm.planned_cells
        ),
        HarmVerdict::NotTestable => format!(
            "H3 (harm): not testable: no outcome of this design could have shown any of {} cells to be harmed.",
            harm.planned_cells
        ),
    }
}
