//! Knows the layout of the repository on disk and reads all of the catalogue from it.
//! Must not know what a rule says; it hands each file to the module whose rules it keeps.
//! Start at `survey`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::vocab::{DossierId, EnvironmentId};

use super::dossier::{self, Dossier};
use super::environment::{Environment, PACKAGE};
use super::fault_diff::FaultDiff;
use super::folder::{Files, Folder};
use super::malfunction::{Class, Malfunction, Manifest};
use super::references::{REFERENCES, References};
use super::{Catalog, Problem, Problems, candidates, fault_rules};

/// Reads everything that can be read and every defect beside it, sorted by place; a dossier handed in stands for its folder.
pub(super) fn survey(root: &Path, guest: Option<(&DossierId, &Folder)>) -> (Catalog, Problems) {
    let mut problems = Problems::none();
    let environments = read_environments(root, &mut problems);
    let malfunctions: BTreeMap<_, _> = subfolders(root, "malfunctions", &mut problems)
        .into_iter()
        .filter(|name| name != "candidates")
        .filter_map(|name| read_malfunction(root, &name, &environments, &mut problems))
        .map(|malfunction| (malfunction.id.clone(), malfunction))
        .collect();
    let dossiers = read_dossiers(root, guest, &environments, &mut problems);
    let shared = match root.join("dossiers/_shared/xrl_common") {
        path if path.is_dir() => read_folder(&path, "dossiers/_shared/xrl_common", &mut problems)
            .map(|folder| below("xrl_common", folder.files))
            .unwrap_or_default(),
        _ => Files::new(),
    };
    let references = match std::fs::read_to_string(root.join(REFERENCES)) {
        Ok(text) => References::read(&text, &mut problems),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => References::default(),
        Err(error) => {
            let wrong = format!("cannot be read: {error}");
            problems.push(Problem::new(REFERENCES, "", wrong, "make it readable"));
            References::default()
        }
    };
    let (candidates, figures) = candidates::survey(root, &mut problems);
    let catalog = Catalog {
        root: root.to_owned(),
        environments,
        malfunctions,
        dossiers,
        shared,
        references,
        candidates,
        figures,
    };
    check_across(&catalog, &mut problems);
    (catalog, problems.sorted())
}

fn read_environments(root: &Path, problems: &mut Problems) -> BTreeMap<EnvironmentId, Environment> {
    let place = format!("envs/{PACKAGE}");
    let Some(package) = read_folder(&root.join(&place), &place, problems) else {
        return BTreeMap::new();
    };
    let package = below(PACKAGE, package.files);
    let mut environments = BTreeMap::new();
    for (path, bytes) in &package {
        let parts: Vec<&str> = path.split('/').collect();
        let [_, folder, "environment.toml"] = parts[..] else {
            continue;
        };
        let text = String::from_utf8_lossy(bytes);
        let place = format!("envs/{path}");
        if let Some(environment) = Environment::read(folder, &place, &text, &package, problems) {
            environments.insert(environment.id.clone(), environment);
        }
    }
    if environments.is_empty() && problems.is_empty() {
        problems.push(Problem::new(
            place,
            "",
            "holds no environment",
            "add a folder with an environment.toml",
        ));
    }
    environments
}

fn read_malfunction(
    root: &Path,
    name: &str,
    environments: &BTreeMap<EnvironmentId, Environment>,
    problems: &mut Problems,
) -> Option<Malfunction> {
    let place = format!("malfunctions/{name}");
    let folder = read_folder(&root.join(&place), &place, problems)?;
    let wanted = ["malfunction.toml", "fault.diff", "README.md"];
    for file in folder
        .files
        .keys()
        .filter(|file| !wanted.contains(&file.as_str()))
    {
        problems.push(Problem::new(
            &place,
            file,
            "does not belong here",
            "remove it",
        ));
    }
    let mut text_of = |file: &str| {
        let (wrong, remedy) = match folder.files.get(file).map(|bytes| str::from_utf8(bytes)) {
            Some(Ok(text)) => return Some(text.to_owned()),
            Some(Err(_)) => ("is not UTF-8 text", "save it as UTF-8"),
            None => (
                "is missing",
                "write it, or move the folder aside and run `evalxrl new malfunction NAME`",
            ),
        };
        problems.push(Problem::new(format!("{place}/{file}"), "", wrong, remedy));
        None
    };
    let manifest = text_of("malfunction.toml");
    let diff = text_of("fault.diff");
    let readme = text_of("README.md");
    let manifest_place = format!("{place}/malfunction.toml");
    let manifest = Manifest::read(name, &manifest_place, &manifest?, problems);
    let diff_place = format!("{place}/fault.diff");
    let diff = diff.and_then(|text| match FaultDiff::parse(&text) {
        Ok(diff) => Some(diff),
        Err(error) => {
            let remedy = "make it with `diff -u` from the folder envs/, prefixes a/ and b/";
            problems.push(Problem::new(&diff_place, "", error.to_string(), remedy));
            None
        }
    });
    let manifest = manifest?;
    if let Some(readme) = readme {
        check_readme(&place, &manifest, &readme, problems);
    }
    let Some(environment) = environments.get(&manifest.environment) else {
        let known: Vec<&str> = environments.keys().map(EnvironmentId::as_str).collect();
        problems.push(Problem::new(
            &manifest_place,
            "environment",
            format!("`{}` is not known", manifest.environment),
            format!("write one of {}", known.join(", ")),
        ));
        return None;
    };
    let diff = diff?;
    fault_rules::check(
        &diff_place,
        &manifest.environment,
        manifest.class,
        &diff,
        &environment.source,
        problems,
    );
    fault_rules::check_oracle(&manifest_place, &manifest.oracle, &diff, problems);
    let fault = format!("{} {} {diff}", manifest.environment, manifest.version);
    Some(Malfunction {
        id: manifest.id,
        environment: manifest.environment,
        version: manifest.version,
        class: manifest.class,
        held_out: manifest.held_out,
        target: manifest.target,
        taxonomy: manifest.taxonomy,
        summary: manifest.summary,
        oracle: manifest.oracle,
        causal: manifest.causal,
        not_causal: manifest.not_causal,
        min_gap: manifest.min_gap,
        expected_to_reveal: manifest.expected_to_reveal,
        expected_to_mislead: manifest.expected_to_mislead,
        halves: manifest.halves,
        diff,
        hash: folder.hash(),
        fault_hash: blake3::hash(fault.as_bytes()).to_hex().to_string(),
    })
}

fn check_readme(place: &str, manifest: &Manifest, readme: &str, problems: &mut Problems) {
    for (field, methods) in [
        ("expected_to_reveal", &manifest.expected_to_reveal),
        ("expected_to_mislead", &manifest.expected_to_mislead),
    ] {
        for method in methods {
            if !readme.contains(method.as_str()) {
                problems.push(Problem::new(
                    format!("{place}/README.md"),
                    field,
                    format!("does not name {method}"),
                    "state why this method is expected to reveal or to mislead",
                ));
            }
        }
    }
}

fn read_dossiers(
    root: &Path,
    guest: Option<(&DossierId, &Folder)>,
    environments: &BTreeMap<EnvironmentId, Environment>,
    problems: &mut Problems,
) -> BTreeMap<DossierId, Dossier> {
    let mut dossiers: Vec<Dossier> = Vec::new();
    let mut names: BTreeSet<String> = subfolders(root, "dossiers", problems).into_iter().collect();
    names.extend(guest.map(|(name, _)| name.to_string()));
    for name in names {
        let place = format!("dossiers/{name}");
        let folder = match guest {
            Some((id, folder)) if id.as_str() == name => Some(folder.clone()),
            _ => read_folder(&root.join(&place), &place, problems),
        };
        dossiers.extend(folder.and_then(|folder| dossier::read(&name, &place, folder, problems)));
    }
    dossier::inherit_source(&mut dossiers);
    let known: Vec<&EnvironmentId> = environments.keys().collect();
    dossier::check_all(&dossiers, &known, problems);
    dossiers
        .into_iter()
        .map(|dossier| (dossier.id.clone(), dossier))
        .collect()
}

/// Rules between entries: halves, candidates, words that betray.
fn check_across(catalog: &Catalog, problems: &mut Problems) {
    let known: Vec<&EnvironmentId> = catalog.candidates.keys().collect();
    for id in known.into_iter().chain(catalog.figures.keys()) {
        if !catalog.environments.contains_key(id) {
            let place = format!("{}/{id}.toml", candidates::CANDIDATES);
            let wrong = format!("there is no environment `{id}`");
            problems.push(Problem::new(place, "environment", wrong, "remove the file"));
        }
    }
    for malfunction in catalog.malfunctions.values() {
        let place = format!("malfunctions/{}/malfunction.toml", malfunction.id);
        for half in &malfunction.halves {
            let fits = catalog.malfunctions.get(half).is_some_and(|half| {
                half.environment == malfunction.environment && half.class != Class::Composite
            });
            if !fits {
                problems.push(Problem::new(
                    &place,
                    "halves",
                    format!(
                        "`{half}` is no single malfunction of {}",
                        malfunction.environment
                    ),
                    "name two malfunctions of the same environment",
                ));
            }
        }
    }
    let secrets = catalog.secrets();
    let mut search = |place: &str, files: &Files| {
        for (path, bytes) in files {
            let text = format!("{path}\n{}", String::from_utf8_lossy(bytes));
            for secret in secrets.found_in(&text) {
                problems.push(Problem::new(
                    place,
                    path,
                    format!("a coder would read `{secret}` there"),
                    "use other words: no id, class or oracle text may be seen",
                ));
            }
        }
    };
    for environment in catalog.environments.values() {
        search("envs", &environment.source);
    }
    for malfunction in catalog.malfunctions.values() {
        if let Some(environment) = catalog.environments.get(&malfunction.environment)
            && let Ok(faulty) = malfunction.apply(&environment.source)
        {
            let changed = faulty
                .into_iter()
                .filter(|(path, bytes)| environment.source.get(path) != Some(bytes))
                .collect();
            search(
                &format!("malfunctions/{}/fault.diff", malfunction.id),
                &changed,
            );
        }
    }
    for dossier in catalog.dossiers.values() {
        let mut seen = dossier.visible();
        seen.extend(dossier.code());
        seen.extend(dossier.golden());
        seen.insert("title".into(), dossier.title.clone().into_bytes());
        for tool in &dossier.tools {
            let line = format!("{} {}", tool.name, tool.help);
            seen.insert(format!("tool `{}`", tool.name), line.into_bytes());
        }
        search(&format!("dossiers/{}", dossier.id), &seen);
    }
    search("dossiers/_shared", &catalog.shared);
}

fn read_folder(path: &Path, place: &str, problems: &mut Problems) -> Option<Folder> {
    if !path.is_dir() {
        let remedy = "run from the repository, or name it with --catalog DIR";
        problems.push(Problem::new(place, "", "is missing", remedy));
        return None;
    }
    match Folder::read(path, place) {
        Ok(folder) => Some(folder),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}

/// Names of the folders below a folder, sorted, without those that begin with `_` or `.`.
fn subfolders(root: &Path, place: &str, problems: &mut Problems) -> Vec<String> {
    let entries = match std::fs::read_dir(root.join(place)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            problems.push(Problem::new(
                place,
                "",
                error.to_string(),
                "make it readable",
            ));
            return Vec::new();
        }
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with(['_', '.']))
        .collect();
    names.sort();
    names
}

fn below(name: &str, files: Files) -> Files {
    files
        .into_iter()
        .map(|(path, bytes)| (format!("{name}/{path}"), bytes))
        .collect()
}
