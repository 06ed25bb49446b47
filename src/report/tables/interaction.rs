//! Knows the tables of H1 and what each of its tests assumes.
//! Must not know how they are computed.
//! Start at `hypothesis`.

use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::interaction::{H1, Interaction, InteractionTest, TestName, TestRole};

use super::{Part, effects};
use crate::report::answers::structure_words;
use crate::report::numerals::{p_origin, sentence};
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// H1 on every scale.
pub(super) fn hypothesis(h1: &H1) -> Part {
    let scales = [
        ("clipped", &h1.clipped),
        ("raw", &h1.raw),
        ("raw, unwinsorised", &h1.raw_unwinsorised),
        ("clipped, missing as 0", &h1.missing_as_zero),
    ];
    let mut warnings = Vec::new();
    match &h1.verdict {
        Computed::Value(verdict) => warnings.extend(verdict.disagreement.clone()),
        Computed::NotComputed(reason) => warnings.push(format!("No verdict: {reason}.")),
    }
    // The row of missing sessions is absent where none is missing: no reader needs to be told.
    for (scale, result) in &scales[..3] {
        if let Computed::NotComputed(reason) = result
            && h1.verdict.value().is_some()
        {
            warnings.push(format!("Not computed on {scale}: {reason}."));
        }
    }
    Part {
        anchor: "h1",
        title: "H1: does the method × malfunction matrix have structure?",
        remarks: Vec::new(),
        open: 3,
        tables: vec![
            tests(&scales[..2], "h1_tests", "H1: tests"),
            effects::steps(&scales),
            effects::effect_sizes(&scales),
            tests(&scales[2..], "h1_sensitivity", "H1: tests on other scales"),
            sums(&scales),
            effects::axes(&scales),
            effects::first_axis(&scales),
            effects::clusters(&scales[..2]),
        ],
        warnings,
    }
}

pub(super) type Scales<'a> = [(&'static str, &'a Computed<Interaction>)];

/// The clipped scale leads and the raw one must agree; other scales decide nothing.
fn tests(scales: &Scales<'_>, name: &str, title: &str) -> Table {
    let decides = name == "h1_tests";
    let mut rows = Vec::new();
    for (scale, result) in scales {
        for test in result.value().iter().flat_map(|result| &result.tests) {
            rows.push(Row {
                strong: decides && test.role == TestRole::Decides,
                cells: vec![
                    Cell::text(*scale),
                    Cell::text(word(test.name)),
                    Cell::text(role(test.role)),
                    Cell::fine(&test.statistic),
                    Cell::p(&test.p),
                    Cell::text(origin(test)),
                    Cell::text(told(test)),
                ],
            });
        }
    }
    Table {
        name: name.to_owned(),
        title: title.to_owned(),
        note: if decides {
            "Bold rows decide whether additivity is rejected; a claim needs the same verdict on clipped and raw scores."
        } else {
            "Sensitivity only: nothing here decides."
        }
        .to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("test", "test", Kind::Text),
            Column::new("role", "role", Kind::Text),
            Column::new("statistic", "statistic", Kind::Number),
            Column::new("p", "p", Kind::PValue),
            Column::new("origin", "how obtained", Kind::Text),
            Column::new("assumes", "what it assumes", Kind::Prose),
        ],
        rows,
    }
}

fn sums(scales: &Scales<'_>) -> Table {
    let rows = scales.iter().filter_map(|(scale, result)| {
        let result = result.value()?;
        let sums = &result.decomposition;
        let word = match &result.structure {
            Computed::Value(structure) => Cell::text(structure_words(structure.word)),
            Computed::NotComputed(reason) => Cell::Absent(reason.to_string()),
        };
        Some(Row::of(vec![
            Cell::text(*scale),
            Cell::Count(result.sessions),
            Cell::Fine(sums.ss_interaction),
            Cell::Count(sums.df_interaction),
            Cell::Fine(sums.sse),
            Cell::Count(sums.df_error),
            Cell::fine(&sums.f_interaction),
            Cell::fine(&sums.f_any),
            Cell::fine(&sums.partial_omega_squared),
            word,
        ]))
    });
    Table {
        name: "h1_decomposition".to_owned(),
        title: "H1: sums of squares".to_owned(),
        note: "SS of interaction against SS within cells, in squared score units; partial ω² is not truncated at 0."
            .to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("sessions", "N", Kind::Count),
            Column::new("ss_interaction", "SS interaction", Kind::Number),
            Column::new("df_interaction", "df", Kind::Count),
            Column::new("sse", "SS within cells", Kind::Number),
            Column::new("df_error", "df", Kind::Count),
            Column::new("f_interaction", "F interaction", Kind::Number),
            Column::new("f_any", "F any effect", Kind::Number),
            Column::new("partial_omega_squared", "partial ω²", Kind::Number),
            Column::new("word", "verdict on this scale", Kind::Text),
        ],
        rows: rows.collect(),
    }
}

fn origin(test: &InteractionTest) -> String {
    match &test.p {
        Computed::Value(p) => p_origin(p),
        Computed::NotComputed(reason) => format!("not computed: {reason}"),
    }
}

/// What the test assumes, and what else there is to know.
fn told(test: &InteractionTest) -> String {
    let assumes = assumes(test.name);
    match &test.note {
        Some(note) => format!("{assumes} {}", sentence(note)),
        None => assumes.to_owned(),
    }
}

fn word(name: TestName) -> &'static str {
    match name {
        TestName::Literal => "literal",
        TestName::Wild => "wild",
        TestName::SessionF => "session F",
        TestName::SessionAny => "session F, any effect",
        TestName::FreedmanLane => "Freedman–Lane",
        TestName::Parametric => "parametric",
        TestName::AtsBox => "ANOVA type with Box's correction",
        TestName::BlockedLiteral => "literal, within blocks",
        TestName::BlockedF => "F, within blocks",
        TestName::CellLabelPermutation => "cell labels",
    }
}

fn role(role: TestRole) -> &'static str {
    match role {
        TestRole::Primary => "pre-registered primary",
        TestRole::Decides => "decides on additivity",
        TestRole::AnyEffect => "decides on any effect",
        TestRole::Sensitivity => "sensitivity",
        TestRole::Diagnostic => "diagnostic only",
    }
}

fn assumes(name: TestName) -> &'static str {
    match name {
        TestName::Literal => {
            "Its null is that the method never matters in any malfunction, so it loses power beside a main effect."
        }
        TestName::Wild => {
            "Residuals are symmetric about their cell mean; variances may differ between cells."
        }
        TestName::SessionF => {
            "Sessions of a malfunction are exchangeable between methods under the null, equal variances included."
        }
        TestName::SessionAny => {
            "Sessions of a malfunction are exchangeable between methods when the method has no effect."
        }
        TestName::FreedmanLane => {
            "Residuals of the additive fit are exchangeable between the sessions of a malfunction."
        }
        TestName::AtsBox => {
            "Residuals are near normal; variances may differ between cells. Cautious, and for equal numbers of sessions only."
        }
        TestName::BlockedLiteral => {
            "Sessions of one block are exchangeable between methods when the method never matters."
        }
        TestName::BlockedF => {
            "Sessions of one block are exchangeable between methods under the null; block effects are taken out."
        }
        TestName::CellLabelPermutation => "Whole cells of a malfunction are exchangeable.",
        TestName::Parametric => "Residuals are normal with equal variance in all cells.",
    }
}
