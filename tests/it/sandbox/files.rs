//! Files: in, out, whose they are, where they end.

use std::sync::Arc;

use evalxrl::harness::{Command, Exit, Place, User};
use evalxrl::vocab::FaultKind;

use super::kit::{Kit, files_of, kind, run, tar_of, told};

pub(super) async fn what_is_put_is_taken_again_byte_for_byte(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let large: Vec<u8> = (0..3_000_000u32).map(|index| (index % 253) as u8).collect();
    let stream = tar_of(&[
        ("agent/large", &large),
        ("agent/empty", b""),
        ("other/x", b"x"),
    ]);
    workspace
        .put(User::Coder, Place::Home, &stream)
        .await
        .unwrap();
    let taken = files_of(&workspace.take(&["agent"], 8 << 20).await.unwrap());
    assert_eq!(
        taken.keys().collect::<Vec<_>>(),
        ["agent/empty", "agent/large"]
    );
    assert_eq!(taken["agent/large"], large);
    workspace.remove().await.unwrap();
}

pub(super) async fn what_is_put_belongs_to_its_user(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let stream = tar_of(&[("source/file.py", b"one\n")]);
    workspace
        .put(User::Coder, Place::Home, &stream)
        .await
        .unwrap();
    let text =
        "echo two >> source/file.py && mv source/file.py source/moved.py && cat source/moved.py";
    assert_eq!(told(workspace.as_ref(), text).await, "one\ntwo");
    workspace
        .put(User::Method, Place::Method, &stream)
        .await
        .unwrap();
    let path = format!("{}/source/file.py", workspace.path(Place::Method));
    let tool = Command::new(
        User::Method,
        &["/bin/bash", "-c", "echo 2 >> \"$0\" && cat \"$0\"", &path],
    );
    assert_eq!(workspace.exec(tool).await.unwrap().stdout, b"one\n2\n");
    workspace.remove().await.unwrap();
}

pub(super) async fn paths_that_are_not_there_are_left_out(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    run(workspace.as_ref(), "echo x > here").await;
    let taken = files_of(&workspace.take(&["gone", "here"], 1 << 20).await.unwrap());
    assert_eq!(taken.keys().collect::<Vec<_>>(), ["here"]);
    assert!(files_of(&workspace.take(&["gone"], 1 << 20).await.unwrap()).is_empty());
    workspace.remove().await.unwrap();
}

pub(super) async fn a_stream_beyond_the_cap_is_cut_one_byte_after_it(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    run(workspace.as_ref(), "head -c 1000000 /dev/zero > large").await;
    assert_eq!(workspace.take(&["large"], 5000).await.unwrap().len(), 5001);
    workspace.remove().await.unwrap();
}

pub(super) async fn odd_names_are_taken(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    run(
        workspace.as_ref(),
        "echo 1 > ./-x; echo 2 > 'a b'; echo 3 > $'new\\nline'",
    )
    .await;
    let taken = files_of(
        &workspace
            .take(&["-x", "a b", "new\nline"], 1 << 20)
            .await
            .unwrap(),
    );
    assert_eq!(taken.keys().collect::<Vec<_>>(), ["-x", "a b", "new\nline"]);
    workspace.remove().await.unwrap();
}

pub(super) async fn a_broken_stream_is_a_fault(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let put = workspace.put(User::Coder, Place::Home, &[b'x'; 4096]).await;
    assert_eq!(kind(put), FaultKind::Internal);
    workspace.remove().await.unwrap();
}

pub(super) async fn every_place_is_writable_by_its_user(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    for (place, user) in [
        (Place::Home, User::Coder),
        (Place::Temporary, User::Coder),
        (Place::Method, User::Method),
        (Place::Relay, User::Relay),
    ] {
        let path = format!("{}/made", workspace.path(place));
        let touch = Command::new(
            user,
            &[
                "/bin/bash",
                "-c",
                "echo '#!/bin/sh' > $0; chmod +x $0; $0",
                &path,
            ],
        );
        assert_eq!(
            workspace.exec(touch).await.unwrap().exit,
            Exit::Code(0),
            "{place:?}"
        );
    }
    workspace.remove().await.unwrap();
}

pub(super) async fn times_of_the_archive_do_not_arrive(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let stream = tar_of(&[("file", b"x")]);
    workspace
        .put(User::Coder, Place::Home, &stream)
        .await
        .unwrap();
    let changed: u64 = told(workspace.as_ref(), "stat -c %Y file")
        .await
        .parse()
        .unwrap();
    assert!(changed > 1_000_000_000, "{changed}");
    workspace.remove().await.unwrap();
}

pub(super) async fn an_unreadable_file_is_left_out(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    run(
        workspace.as_ref(),
        "mkdir d; echo 1 > d/a; echo 2 > d/b; chmod 0 d/a",
    )
    .await;
    let taken = files_of(&workspace.take(&["d"], 1 << 20).await.unwrap());
    assert_eq!(taken.keys().collect::<Vec<_>>(), ["d/b"]);
    workspace.remove().await.unwrap();
}

pub(super) async fn the_folder_of_the_method_is_closed_to_the_coder(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    for place in [Place::Method, Place::Relay] {
        let text = format!("echo x > {}/planted", workspace.path(place));
        assert_ne!(
            run(workspace.as_ref(), &text).await.exit,
            Exit::Code(0),
            "{place:?}"
        );
    }
    workspace.remove().await.unwrap();
}

pub(super) async fn the_home_folder_has_an_end(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let done = run(workspace.as_ref(), "head -c 64M /dev/zero > large").await;
    assert_ne!(done.exit, Exit::Code(0));
    let size: u64 = told(workspace.as_ref(), "stat -c %s large")
        .await
        .parse()
        .unwrap();
    assert!(size <= 32 << 20, "{size}");
    workspace.remove().await.unwrap();
}
