//! Knows the verb `list`: what the catalogue holds.
//! Must not know how it is read.
//! Start at `run`.

use clap::{Args as ClapArgs, ValueEnum};
use serde_json::{Value, json};

use crate::catalog::{Catalog, Malfunction, ReferenceState};

use super::root::CatalogFolder;
use super::{Failure, out};

/// A kind of catalogue entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Environments,
    Malfunctions,
    Dossiers,
}

/// Lists environments, malfunctions and dossiers.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The kind to list [default: all]
    kind: Option<Kind>,
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
    let wanted = |kind: Kind| args.kind.is_none_or(|only| only == kind);
    let mut document = json!({ "format": "evalxrl.list/1" });
    let mut text = Vec::new();
    for (kind, name, list) in [
        (Kind::Environments, "environments", environments(&catalog)),
        (Kind::Malfunctions, "malfunctions", malfunctions(&catalog)),
        (Kind::Dossiers, "dossiers", dossiers(&catalog)),
    ] {
        if wanted(kind) {
            text.push(columns(name, &list));
            document[name] = Value::Array(list);
        }
    }
    if args.json {
        out::data(&format!("{document:#}\n"))
    } else {
        out::data(&text.join("\n"))
    }
}

fn environments(catalog: &Catalog) -> Vec<Value> {
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

fn malfunctions(catalog: &Catalog) -> Vec<Value> {
    let row = |one: &Malfunction| {
        let mut row = json!({
            "id": one.id,
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
    catalog.malfunctions().map(row).collect()
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
fn columns(name: &str, list: &[Value]) -> String {
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
