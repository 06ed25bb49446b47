//! Knows that a dossier travels as one file: packed alike everywhere, and taken in whole or refused without a trace.
//! Must not know the rules of a dossier.
//! Start at `a_dossier_travels_and_is_packed_alike_at_both_ends`.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be made ends the test"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;
use tar::{Builder, EntryType, Header};

use crate::repository::Repository;
use crate::verbs::call;

/// Everything below `dossiers/`, with modes: what a refusal must not change.
fn shelf(repository: &Repository) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let walk = walkdir::WalkDir::new(repository.path("dossiers")).into_iter();
    walk.map(|entry| {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        let bytes = match entry.file_type().is_file() {
            true => std::fs::read(entry.path()).unwrap(),
            false => Vec::new(),
        };
        (entry.into_path(), (mode, bytes))
    })
    .collect()
}

/// A repository with the sound dossier `guest`, an executable in it, and its archive with the hash.
fn packed() -> (Repository, String, String) {
    let repository = Repository::sound();
    repository.dossier("guest", |text| text);
    repository.write("dossiers/guest/tests/test_look.py", "x = 1\n");
    let script = "dossiers/guest/tools/run.sh";
    repository.write(script, "#!/bin/sh\n");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(repository.path(script), mode).unwrap();
    let (code, printed, told) = call(&repository, &["pack", "guest"]);
    assert_eq!(code, 0, "{told}");
    let (hash, file) = printed.trim_end().split_once("  ").unwrap();
    assert_eq!(file, "guest-1.0.0.tar.zst");
    let path = repository.path(file).to_str().unwrap().to_owned();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(hash, blake3::hash(&bytes).to_hex().as_str());
    let hash = hash.to_owned();
    (repository, path, hash)
}

#[test]
fn a_dossier_travels_and_is_packed_alike_at_both_ends() {
    let (there, archive, hash) = packed();
    for (residue, text) in [
        ("__pycache__/x.cpython-311.pyc", "x"),
        ("tools/small/__pycache__/y.pyc", "x"),
        (".notes", "x"),
        ("tools/.small.py.swp", "x"),
    ] {
        there.write(&format!("dossiers/guest/{residue}"), text);
    }
    let named = there.path("dossiers/guest");
    let again = [
        "pack",
        named.to_str().unwrap(),
        "--out",
        "again/g.tar.zst",
        "--json",
    ];
    let (code, printed, told) = call(&there, &again);
    assert_eq!(code, 0, "{told}");
    let document: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["format"], "evalxrl.pack/1");
    assert_eq!(document["hash"], hash.as_str());
    assert_eq!(document["archive"], "again/g.tar.zst");

    let here = Repository::sound();
    let (code, printed, told) = call(&here, &["add", &archive, "--hash", &hash.to_uppercase()]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(printed, format!("guest  1.0.0  {hash}\n"));
    assert!(told.contains("`evalxrl check guest`"), "{told}");
    assert!(
        told.contains("`evalxrl try guest --environment toy_grid`"),
        "{told}"
    );
    let mode = |path: &str| {
        let path = here.path(&format!("dossiers/guest/{path}"));
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(
        (mode("tools/run.sh"), mode("tests/test_look.py")),
        (0o755, 0o644)
    );
    assert!(!here.path("dossiers/guest/.notes").exists());
    assert_eq!(call(&here, &["check", "guest", "--static"]).0, 0);
    let (_, printed, _) = call(&here, &["pack", "guest"]);
    assert_eq!(printed, format!("{hash}  guest-1.0.0.tar.zst\n"));

    let before = shelf(&here);
    let (code, printed, _) = call(&here, &["add", &archive, "--json"]);
    let document: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, document["state"].as_str()), (0, Some("unchanged")));
    assert_eq!(document["format"], "evalxrl.add/1");
    assert_eq!(document["folder"], "dossiers/guest");
    assert_eq!(shelf(&here), before);
}

#[test]
fn a_dossier_that_is_there_is_replaced_only_when_asked() {
    let (_there, archive, _) = packed();
    let here = Repository::sound();
    here.dossier("guest", |text| text.replace("1.0.0", "0.9.0"));
    here.write("dossiers/guest/src/old.py", "old = 1\n");
    let before = shelf(&here);
    let (code, _, told) = call(&here, &["add", &archive]);
    assert_eq!(code, 2);
    assert!(
        told.contains("is there already") && told.contains("--replace"),
        "{told}"
    );
    assert_eq!(shelf(&here), before);
    let (code, _, told) = call(&here, &["add", &archive, "--replace"]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("dossiers/guest replaced"), "{told}");
    assert!(!here.path("dossiers/guest/src/old.py").exists());
    assert!(here.path("dossiers/guest/tools/run.sh").exists());
    let left = std::fs::read_dir(here.path("dossiers")).unwrap();
    assert_eq!(left.count(), 2, "the two dossiers alone");
}

#[test]
fn another_hash_is_refused_and_text_that_is_none_is_wrong_usage() {
    let (_there, archive, hash) = packed();
    let here = Repository::sound();
    let before = shelf(&here);
    let other = blake3::hash(b"other").to_hex().to_string();
    let (code, _, told) = call(&here, &["add", &archive, "--hash", &other]);
    assert_eq!(code, 3);
    assert!(told.contains(&format!("has the hash {hash}")), "{told}");
    for (arguments, fragment) in [
        (
            &["add", &archive, "--hash", "12ab"][..],
            "64 hexadecimal digits",
        ),
        (&["add", "nowhere.tar.zst"], "nowhere.tar.zst: "),
        (&["pack", "toy_grid"], "is no dossier"),
        (&["pack", "guest"], "is no id and no path"),
        (
            &["pack", "small-method", "--out", "dossiers"],
            "is a folder",
        ),
    ] {
        let (code, _, told) = call(&here, arguments);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains(fragment) && told.contains("next: "), "{told}");
    }
    assert_eq!(shelf(&here), before);
}

/// A tar written by hand, because the library refuses to write what must be refused.
fn tar(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, kind, bytes) in entries {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zstd(tar: &[u8]) -> Vec<u8> {
    zstd::encode_all(tar, 1).unwrap()
}

/// Name, bytes, and a fragment of what is told.
type Hostile = (String, Vec<u8>, &'static str);

fn hostile(sound: &[u8]) -> Vec<Hostile> {
    const FILE: EntryType = EntryType::Regular;
    const FOLDER: EntryType = EntryType::Directory;
    let whole = zstd::decode_all(sound).unwrap();
    let plus = |entries: &[(&str, EntryType, &[u8])]| {
        let own = whole.len() - 1024;
        zstd(&[&whole[..own], &tar(entries)].concat())
    };
    let mut all: Vec<Hostile> = Vec::new();
    for path in [
        "guest/../x",
        "/etc/x",
        "../x",
        "guest//x",
        "./guest/x",
        "guest/a b",
    ] {
        all.push((
            path.into(),
            plus(&[(path, FILE, b"x")]),
            "paths are relative",
        ));
    }
    for (kind, told) in [
        (EntryType::Symlink, "symbolic link"),
        (EntryType::Link, "hard link"),
        (EntryType::Char, "device"),
        (EntryType::Block, "device"),
        (EntryType::Fifo, "named pipe"),
        (EntryType::XHeader, "extended header"),
        (EntryType::GNULongName, "extended header"),
    ] {
        all.push((told.into(), plus(&[("guest/x", kind, b"")]), told));
    }
    for (name, entries, told) in [
        (
            "duplicate",
            &[("guest/README.md", FILE, &b"x"[..])][..],
            "the name occurs twice",
        ),
        (
            "case of a file",
            &[("guest/ReadMe.md", FILE, b"x")],
            "the name occurs twice",
        ),
        (
            "case of a folder",
            &[("guest/Papers/x.md", FILE, b"x")],
            "the name occurs twice",
        ),
        (
            "file and folder",
            &[("guest/README.md/x", FILE, b"x")],
            "the name occurs twice",
        ),
        (
            "two top folders",
            &[("other/x", FILE, b"x")],
            "has 2 top folders",
        ),
        (
            "empty second top",
            &[("other/", FOLDER, b"")],
            "has 2 top folders",
        ),
        ("beside", &[("x", FILE, b"x")], "lies beside the folder"),
        ("hidden", &[("guest/.x", FILE, b"x")], "is hidden"),
        (
            "compiled",
            &[("guest/__pycache__/x.py", FILE, b"x")],
            "is hidden",
        ),
        (
            "deep",
            &[("guest/a/b/c/d/e/f/g/h/i/j", FILE, b"x")],
            "levels in a path",
        ),
    ] {
        all.push((name.into(), plus(entries), told));
    }
    let many: Vec<String> = (0..1100).map(|number| format!("guest/{number}")).collect();
    let many: Vec<_> = many
        .iter()
        .map(|path| (path.as_str(), FILE, &b""[..]))
        .collect();
    all.push((
        "many".into(),
        plus(&many),
        "more than 1000 files and folders",
    ));
    let zeros = vec![0; 33 << 20];
    all.push((
        "bomb".into(),
        plus(&[("guest/x", FILE, &zeros)]),
        "more than 33554432 bytes",
    ));
    let bomb = zstd(&vec![0; 300 << 20]);
    assert!(bomb.len() < 1 << 20);
    all.push(("bomb of zeros".into(), bomb, "more than 33554432 bytes"));
    let large = vec![0; (16 << 20) + 1];
    all.push(("large".into(), large, "more than 16777216 bytes"));
    let renamed = zstd(&rename_top(&whole));
    all.push((
        "another top".into(),
        renamed,
        "is not the name of its folder",
    ));
    let wrong = tar(&[("Guest_1/dossier.toml", FILE, b"")]);
    all.push(("no id".into(), zstd(&wrong), "Guest_1: "));
    all.push((
        "no manifest".into(),
        zstd(&tar(&[("guest/x", FILE, b"")])),
        "is missing",
    ));
    all.push(("empty".into(), Vec::new(), "guest"));
    all.push(("empty tar".into(), zstd(&tar(&[])), "holds nothing"));
    all.push(("no zstd".into(), whole.clone(), "is no whole zstd archive"));
    all.push((
        "tar without end".into(),
        zstd(&whole[..whole.len() - 1024]),
        "cut short",
    ));
    all.push((
        "tar cut in a file".into(),
        zstd(&whole[..700]),
        "cannot be read",
    ));
    let half = sound[..sound.len() / 2].to_vec();
    all.push(("truncated".into(), half, "is no whole zstd archive"));
    let last = sound[..sound.len() - 1].to_vec();
    all.push(("truncated by one".into(), last, "is no whole zstd archive"));
    let mut flipped = sound.to_vec();
    flipped[sound.len() / 2] ^= 1;
    all.push(("corrupt".into(), flipped, "guest.tar.zst: "));
    all.push((
        "more after it".into(),
        [sound, b"x"].concat(),
        "after its end",
    ));
    let twice = [sound, sound].concat();
    all.push(("another frame".into(), twice, "after its end"));
    all
}

/// The same tar under the top folder `other`.
fn rename_top(whole: &[u8]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for entry in tar::Archive::new(whole).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        let path = path.replacen("guest", "other", 1);
        let mut header = entry.header().clone();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        builder
            .append_data(&mut header, path, bytes.as_slice())
            .unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn no_hostile_or_broken_archive_is_taken_in_and_none_leaves_a_trace() {
    let (_there, archive, _) = packed();
    let sound = std::fs::read(&archive).unwrap();
    let here = Repository::sound();
    let before = shelf(&here);
    for (name, bytes, fragment) in hostile(&sound) {
        here.write("guest.tar.zst", bytes);
        let (code, printed, told) = call(&here, &["add", "guest.tar.zst"]);
        assert_eq!((code, printed.as_str()), (3, ""), "{name}: {told}");
        assert!(told.contains(fragment), "{name}: {told}");
        assert_eq!(shelf(&here), before, "{name}");
    }
    here.write("guest.tar.zst", sound);
    assert_eq!(call(&here, &["add", "guest.tar.zst"]).0, 0);
}

#[test]
fn an_unsound_dossier_is_neither_packed_nor_added_and_every_defect_is_told() {
    let (there, archive, _) = packed();
    let here = Repository::sound();
    // Its tool bears the name of one that is here, and its environment is not known here.
    here.dossier("zebra", |text| text.replace("zebra-look", "guest-look"));
    here.remove("envs/evalxrl_envs/toy_grid");
    here.environment("other_grid");
    let before = shelf(&here);
    let (code, _, told) = call(&here, &["add", &archive]);
    assert_eq!(code, 3);
    for fragment in [
        "dossiers/guest/dossier.toml: environments: `toy_grid` is not known",
        "dossiers/guest/dossier.toml: tool `guest-look`: bears the name of a tool of zebra",
    ] {
        assert!(told.contains(fragment), "{told}");
    }
    assert!(
        !told.contains("malfunctions/"),
        "what is not its own: {told}"
    );
    assert_eq!(shelf(&here), before);

    there.dossier("guest", |text| {
        text.replace("1.0.0", "1.0.0-/../x").replace("60", "0")
    });
    there.remove("dossiers/guest/papers");
    std::fs::remove_file(&archive).unwrap();
    let (code, printed, told) = call(&there, &["pack", "guest"]);
    assert_eq!((code, printed.as_str()), (3, ""), "{told}");
    for fragment in [
        "no semantic version",
        "0 is out of range",
        "is not a file below papers/",
    ] {
        assert!(told.contains(fragment), "{told}");
    }
    assert!(!PathBuf::from(&archive).exists());
    there.dossier("guest", |text| text);
    std::os::unix::fs::symlink("README.md", there.path("dossiers/guest/src.md")).unwrap();
    let (code, _, told) = call(&there, &["pack", "guest"]);
    assert_eq!(code, 3);
    assert!(told.contains("src.md: is a link"), "{told}");
}

#[test]
fn what_a_killed_add_had_put_aside_is_back_with_the_next() {
    let (_there, archive, _) = packed();
    let here = Repository::sound();
    let (killed, place) = (
        here.path("dossiers/.add-killed/aside"),
        "dossiers/small-method",
    );
    std::fs::create_dir_all(&killed).unwrap();
    std::fs::rename(here.path(place), killed.join("small-method")).unwrap();
    let (code, _, told) = call(&here, &["add", &archive]);
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("dossiers/small-method is back"), "{told}");
    assert_eq!(call(&here, &["check", "small-method", "--static"]).0, 0);
    assert!(!here.path("dossiers/.add-killed").exists());
}

#[test]
fn an_archive_takes_no_place_at_which_something_else_is() {
    let there = Repository::sound();
    let notes = there.path("notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    std::os::unix::fs::symlink("notes.txt", there.path("link.tar.zst")).unwrap();
    for (place, fragment) in [
        ("/dev/null", "is no regular file"),
        ("link.tar.zst", "is no regular file"),
        ("notes.txt", "is there already and is no archive"),
        ("envs", "is a folder"),
        ("dossiers/small-method/README.md", "lies among the dossiers"),
        ("dossiers/new.tar.zst", "lies among the dossiers"),
    ] {
        let (code, printed, told) = call(&there, &["pack", "small-method", "--out", place]);
        assert_eq!((code, printed.as_str()), (2, ""), "{place} {told}");
        assert!(told.contains(fragment), "{place} {told}");
    }
    assert_eq!(std::fs::read(&notes).unwrap(), b"mine");
    for _ in 0..2 {
        let again = ["pack", "small-method", "--out", "out.tar.zst"];
        assert_eq!(call(&there, &again).0, 0, "an archive may be replaced");
    }
}
