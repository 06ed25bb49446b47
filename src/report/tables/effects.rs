//! Knows the tables that describe the interaction of H1: effect sizes, axes and clusters.
//! Must not know its tests.
//! Start at `effect_sizes`.

use evalxrl_analysis::axes::{AxesSummary, Tukey};
use evalxrl_analysis::clusters::Clustering;
use evalxrl_analysis::computed::Computed;
use evalxrl_analysis::effect_size::EffectSize;

use super::interaction::Scales;
use crate::report::answers::structure_words;
use crate::report::numerals;
use crate::report::table::{Cell, Column, Kind, Row, Table};

/// How large the interaction is.
pub(super) fn effect_sizes(scales: &Scales<'_>) -> Table {
    let mut rows = Vec::new();
    for (scale, result) in scales {
        let Some(result) = result.value() else {
            continue;
        };
        let effect = &result.effect_size;
        let part = |shown: fn(&EffectSize) -> Cell| Cell::of(effect, shown);
        rows.push(Row {
            strong: *scale == "clipped",
            cells: vec![
                Cell::text(*scale),
                part(|effect| Cell::Interval {
                    estimate: effect.partial_omega_squared,
                    ends: effect
                        .bootstrap
                        .value()
                        .map(|found| [found.low, found.high]),
                }),
                part(|effect| Cell::range(&effect.noncentral_f)),
                part(|effect| Cell::Fine(effect.omega_squared)),
                part(|effect| Cell::Fine(effect.partial_eta_squared)),
                Cell::fine(&result.decomposition.interaction_share),
            ],
        });
    }
    Table {
        name: "h1_effect_sizes".to_owned(),
        title: "H1: size of the interaction".to_owned(),
        note: "Partial ω² is not truncated at 0; its interval is an adjusted stratified bootstrap, which is cautious, with \
               the noncentral F interval beside it. Partial η² is larger than 0 under pure noise. Share: what interaction \
               makes of all that methods do."
            .to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("partial_omega_squared", "partial ω²", Kind::Interval),
            Column::new("noncentral_f", "noncentral F interval", Kind::Range),
            Column::new("omega_squared", "ω²", Kind::Number),
            Column::new("partial_eta_squared", "partial η²", Kind::Number),
            Column::new("interaction_share", "share of interaction", Kind::Number),
        ],
        rows,
    }
}

/// The steps that lead to the verdict.
pub(super) fn steps(scales: &Scales<'_>) -> Table {
    let mut rows = Vec::new();
    for (scale, result) in scales {
        let Some(Computed::Value(found)) = result.value().map(|result| &result.structure) else {
            continue;
        };
        let beyond = &found.beyond_first_axis;
        rows.push(Row {
            strong: *scale == "clipped",
            cells: vec![
                Cell::text(*scale),
                Cell::PValue(found.any_effect.value),
                Cell::p(&found.additivity),
                Cell::of(beyond, |beyond| Cell::Fine(beyond.f)),
                Cell::of(beyond, |beyond| Cell::PValue(beyond.p.value)),
                Cell::text(structure_words(found.word)),
            ],
        });
    }
    Table {
        name: "h1_steps".to_owned(),
        title: "H1: steps of the verdict".to_owned(),
        note: "Does the method matter at all; is its effect the same everywhere; is there more than one axis. The first step \
               that does not reject ends the verdict."
            .to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("p_any", "p any effect", Kind::PValue),
            Column::new("p_additivity", "p additivity", Kind::PValue),
            Column::new("f_beyond", "F beyond first axis", Kind::Number),
            Column::new("p_beyond", "p", Kind::PValue),
            Column::new("word", "verdict on this scale", Kind::Text),
        ],
        rows,
    }
}

/// Where the first axis points; empty where no step needed it.
pub(super) fn first_axis(scales: &Scales<'_>) -> Table {
    let mut rows = Vec::new();
    for (scale, result) in scales {
        let Some(Computed::Value(found)) = result.value().map(|result| &result.structure) else {
            continue;
        };
        rows.extend(found.first_axis.value().into_iter().flatten().map(|entry| {
            Row::of(vec![
                Cell::text(*scale),
                Cell::text(&entry.malfunction),
                Cell::Interval {
                    estimate: entry.value,
                    ends: Some([entry.low, entry.high]),
                },
            ])
        }));
    }
    Table {
        name: "h1_first_axis".to_owned(),
        title: "H1: first axis".to_owned(),
        note: "Malfunctions on both sides of 0, each interval without 0, mean that the order of methods reverses.".to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("malfunction", "malfunction", Kind::Text),
            Column::new("value", "entry", Kind::Interval),
        ],
        rows,
    }
}

/// Along how many axes methods differ.
pub(super) fn axes(scales: &Scales<'_>) -> Table {
    let mut rows = Vec::new();
    for (scale, result) in scales {
        let Some(result) = result.value() else {
            continue;
        };
        let axes = &result.axes;
        let part = |shown: fn(&AxesSummary) -> Cell| Cell::of(axes, shown);
        rows.push(Row::of(vec![
            Cell::text(*scale),
            part(|axes| Cell::text(listed(&axes.singular_values))),
            part(|axes| Cell::number(&axes.first_share)),
            part(|axes| Cell::number(&axes.first_share_under_noise)),
            part(|axes| Cell::text(listed(&axes.interaction_singular_values))),
            part(|axes| Cell::number(&axes.interaction_first_share)),
            part(|axes| tukey(axes, |tukey| Cell::of(&tukey.p_error, |p| Cell::PValue(*p)))),
            part(|axes| {
                tukey(axes, |tukey| {
                    Cell::of(&tukey.p_remainder, |p| Cell::PValue(*p))
                })
            }),
        ]));
    }
    Table {
        name: "h1_axes".to_owned(),
        title: "H1: axes of the matrix".to_owned(),
        note: "Singular values of the scores centred within malfunctions, and of the interaction alone. A first share means \
               something only above what noise gives. Tukey's degree of freedom tests whether the interaction is the \
               product of both main effects, against error and against the remaining interaction."
            .to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("singular_values", "singular values", Kind::Text),
            Column::new("first_share", "first share", Kind::Number),
            Column::new("first_share_under_noise", "under noise", Kind::Number),
            Column::new(
                "interaction_singular_values",
                "of the interaction",
                Kind::Text,
            ),
            Column::new("interaction_first_share", "first share", Kind::Number),
            Column::new("tukey_p_error", "p Tukey, error", Kind::PValue),
            Column::new("tukey_p_remainder", "p Tukey, remainder", Kind::PValue),
        ],
        rows,
    }
}

fn tukey(axes: &AxesSummary, shown: impl FnOnce(&Tukey) -> Cell) -> Cell {
    Cell::of(&axes.tukey, shown)
}

fn listed(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|value| numerals::score(*value)).collect();
    values.join(", ")
}

/// Groups of methods and of malfunctions that behave alike, as far as noise lets them be told.
pub(super) fn clusters(scales: &Scales<'_>) -> Table {
    let mut rows = Vec::new();
    for (scale, result) in scales {
        let Some(Computed::Value(found)) = result.value().map(|result| &result.clusters) else {
            continue;
        };
        for (what, side) in [
            ("methods", &found.methods),
            ("malfunctions", &found.malfunctions),
        ] {
            let part = |shown: fn(&Clustering) -> Cell| Cell::of(side, shown);
            rows.push(Row::of(vec![
                Cell::text(*scale),
                Cell::text(what),
                part(|side| Cell::Count(side.count)),
                part(|side| Cell::Number(side.silhouette)),
                part(|side| Cell::Number(side.stability)),
                part(|side| Cell::PValue(side.p.value)),
                match side {
                    Computed::Value(side) => Cell::text(statement(side)),
                    Computed::NotComputed(reason) => Cell::text(format!("not computed: {reason}")),
                },
            ]));
        }
    }
    Table {
        name: "h1_clusters".to_owned(),
        title: "H1: clusters".to_owned(),
        note: "Average linkage on 1 − Pearson correlation of interactions; stability is the mean adjusted Rand index over \
               resamples, compared with that of additive data. Clusters decide nothing."
            .to_owned(),
        columns: vec![
            Column::new("scale", "scale", Kind::Text),
            Column::new("what", "clusters of", Kind::Text),
            Column::new("count", "clusters", Kind::Count),
            Column::new("silhouette", "silhouette", Kind::Number),
            Column::new("stability", "stability", Kind::Number),
            Column::new("p", "p", Kind::PValue),
            Column::new("found", "found", Kind::Text),
        ],
        rows,
    }
}

fn statement(side: &Clustering) -> String {
    if !side.distinguishable {
        return "not distinguishable from noise".to_owned();
    }
    let groups: Vec<String> = (0..side.count)
        .map(|group| {
            let members = side.items.iter().zip(&side.assignment);
            let members: Vec<&str> = members
                .filter(|(_, assigned)| **assigned == group)
                .map(|(item, _)| item.as_str())
                .collect();
            members.join(", ")
        })
        .collect();
    groups.join(" | ")
}
