//! Knows the verb `list`: what the catalogue holds.
//! Must not know how it is read.
//! Start at `run`.

use clap::{Args as ClapArgs, ValueEnum};
use serde_json::{Value, json};

use crate::catalog::{Catalog, Malfunction, ReferenceState};
use crate::vocab::EnvironmentId;

use super::root::CatalogFolder;
use super::{Code, Failure, out};

/// A kind of catalogue entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Environments,
    Malfunctions,
    Dossiers,
    /// Measured strengths that no malfunction uses, as a table in Markdown
    Candidates,
}

/// Lists environments, malfunctions, dossiers, or rejected candidates.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The kind to list [default: all but candidates]
    kind: Option<Kind>,
    /// Lists malfunctions and candidates of this environment only
    #[arg(long, value_name = "ID")]
    environment: Option<String>,
    /// Prints one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    folder: CatalogFolder,
}

/// Runs the verb.
///
/// # Errors
/// The catalogue has defects.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let catalog = args.folder.load()?;
    let usage = |problem: String| Failure::new(Code::Usage, problem);
    let only = match &args.environment {
        None => None,
        Some(text) => {
            let id = EnvironmentId::new(text.as_str()).map_err(|error| usage(error.to_string()))?;
            let known = catalog.environment(&id);
            Some(&known.map_err(|unknown| usage(unknown.to_string()))?.id)
        }
    };
    let wanted = |kind: Kind| match args.kind {
        None => kind != Kind::Candidates,
        Some(only) => only == kind,
    };
    let mut document = json!({ "format": "evalxrl.list/1" });
    let mut text = Vec::new();
    for kind in Kind::value_variants() {
        if !wanted(*kind) {
            continue;
        }
        let (name, list, shown) = match kind {
            Kind::Environments => {
                let list = environments(&catalog);
                let shown = columns("environments", &list);
                ("environments", list, shown)
            }
            Kind::Malfunctions => (
                "malfunctions",
                malfunctions(&catalog, only),
                malfunctions_by_environment(&catalog, only),
            ),
            Kind::Dossiers => {
                let list = dossiers(&catalog);
                let shown = columns("dossiers", &list);
                ("dossiers", list, shown)
            }
            Kind::Candidates => (
                "candidates",
                candidates(&catalog, only),
                catalog.candidate_table(only),
            ),
        };
        text.push(shown);
        document[name] = Value::Array(list);
    }
    if args.json {
        out::data(&format!("{document:#}\n"))
    } else {
        out::data(&text.join("\n"))
    }
}

pub(super) fn environments(catalog: &Catalog) -> Vec<Value> {
    catalog
        .environments()
        .map(|one| {
            json!({
                "id": one.id,
                "title": one.title,
                "horizon": one.horizon,
                "action": one.action,
                "return_floor": one.return_floor,
            })
        })
        .collect()
}

fn malfunctions(catalog: &Catalog, only: Option<&EnvironmentId>) -> Vec<Value> {
    let row = |one: &Malfunction| {
        let mut row = json!({
            "id": one.id,
            "environment": one.environment,
            "version": one.version,
            "class": one.class,
            "target": one.target,
            "held_out": one.held_out,
        });
        match catalog.reference(one) {
            ReferenceState::Fresh(reference) => {
                row["references"] = json!("fresh");
                row["gap"] = json!(two_decimals(reference.gap()));
                row["gap_over_span"] = json!(two_decimals(reference.gap_over_span));
                row["floor"] = json!(reference.floor);
            }
            ReferenceState::Stale(_) => row["references"] = json!("stale"),
            ReferenceState::Missing => row["references"] = json!("missing"),
        }
        row
    };
    of(catalog, only).map(row).collect()
}

/// Malfunctions in one block of columns per environment, narrow enough for a terminal.
fn malfunctions_by_environment(catalog: &Catalog, only: Option<&EnvironmentId>) -> String {
    let head = ["id", "class", "target", "references", "gap", "gap/span", ""];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut last = None;
    for one in of(catalog, only) {
        if last.is_some_and(|environment| environment != &one.environment) {
            rows.push(Vec::new());
        }
        last = Some(&one.environment);
        let (state, row) = match catalog.reference(one) {
            ReferenceState::Fresh(row) => ("fresh", Some(row)),
            ReferenceState::Stale(_) => ("stale", None),
            ReferenceState::Missing => ("missing", None),
        };
        let figure = |value: Option<f64>| value.map_or(String::new(), |it| format!("{it:.2}"));
        let mut flags = Vec::new();
        if row.is_some_and(|row| row.floor) {
            flags.push("floor");
        }
        if one.held_out {
            flags.push("held out");
        }
        rows.push(vec![
            one.id.to_string(),
            one.class.to_string(),
            format!("{:?}", one.target).to_lowercase(),
            state.to_owned(),
            figure(row.map(|row| row.gap())),
            figure(row.map(|row| row.gap_over_span)),
            flags.join(", "),
        ]);
    }
    if rows.len() == 1 {
        return "malfunctions: none\n".to_owned();
    }
    format!("malfunctions\n{}", out::table(&rows))
}

fn of<'a>(
    catalog: &'a Catalog,
    only: Option<&EnvironmentId>,
) -> impl Iterator<Item = &'a Malfunction> {
    catalog
        .malfunctions()
        .filter(move |one| only.is_none_or(|id| one.environment == *id))
}

fn candidates(catalog: &Catalog, only: Option<&EnvironmentId>) -> Vec<Value> {
    let rows = catalog.rejected(only).into_iter();
    rows.map(|(rung, environment, what, reason)| {
        json!({
            "entry": rung.entry,
            "environment": environment,
            "class": rung.class,
            "strength": rung.strength,
            "what": what,
            "n": rung.n,
            "p_clean": rung.p_clean,
            "p_broken": rung.p_broken,
            "p_random": rung.p_random,
            "gap_over_span": rung.gap_over_span,
            "clean_beats_broken": rung.clean_beats_broken,
            "gap_over_error": rung.gap_over_error,
            "tuned": rung.tuned,
            "floor": rung.is_floor(),
            "reason": reason,
        })
    })
    .collect()
}
fn dossiers(catalog: &Catalog) -> Vec<Value> {
    catalog
        .dossiers()
        .map(|one| {
            let tools: Vec<&str> = one.tools.iter().map(|tool| tool.name.as_str()).collect();
            json!({
                "id": one.id,
                "title": one.title,
                "packaging": one.packaging,
                "version": one.version,
                "environments": one.environments,
                "tools": tools,
            })
        })
        .collect()
}

fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Lays out objects as columns under the keys of all of them, the id first.
pub(super) fn columns(name: &str, list: &[Value]) -> String {
    let mut keys: Vec<&String> = Vec::new();
    for row in list.iter().filter_map(Value::as_object) {
        for key in row.keys() {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    keys.sort_by_key(|key| (key.as_str() != "id", key.as_str()));
    let mut rows = vec![
        keys.iter()
            .map(|key| key.replace('_', " "))
            .collect::<Vec<_>>(),
    ];
    for row in list {
        rows.push(keys.iter().map(|key| cell(&row[key.as_str()])).collect());
    }
    if list.is_empty() {
        return format!("{name}: none\n");
    }
    format!("{name}\n{}", out::table(&rows))
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(list) => list.iter().map(cell).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
