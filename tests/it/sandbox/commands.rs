//! Commands: codes, streams, limits, caps.

use std::sync::Arc;
use std::time::Duration;

use evalxrl::harness::{Command, Exit, Place, User};

use super::kit::{Kit, run, shell, told};

pub(super) async fn a_command_gives_its_code_and_both_streams(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let done = run(workspace.as_ref(), "echo out; echo err >&2; exit 7").await;
    assert_eq!(done.exit, Exit::Code(7));
    assert_eq!(
        (done.stdout.as_slice(), done.stderr.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert_eq!((done.bytes_total, done.bytes_elided), (8, 0));
    let done = run(workspace.as_ref(), "kill -TERM $$").await;
    assert_eq!(done.exit, Exit::Code(143));
    workspace.remove().await.unwrap();
}

pub(super) async fn a_command_works_in_the_home_folder_unless_told_otherwise(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    assert_eq!(
        told(workspace.as_ref(), "pwd; mkdir below").await,
        workspace.path(Place::Home)
    );
    let mut command = shell("pwd");
    let below = format!("{}/below", workspace.path(Place::Home));
    command.directory = Some(below.clone());
    let done = workspace.exec(command).await.unwrap();
    assert_eq!(done.stdout, format!("{below}\n").into_bytes());
    workspace.remove().await.unwrap();
}

pub(super) async fn variables_of_the_spec_and_the_command_arrive_and_those_of_the_host_do_not(
    kit: Arc<Kit>,
) {
    let workspace = kit.workspace().await;
    let mut command = shell("env");
    command
        .environment
        .insert("FROM_COMMAND".to_owned(), "2".to_owned());
    let done = workspace.exec(command).await.unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let has = |line: &str| text.lines().any(|seen| seen == line);
    assert!(has("FROM_SPEC=1") && has("FROM_COMMAND=2"), "{text}");
    assert!(
        has(&format!("HOME={}", workspace.path(Place::Home))),
        "{text}"
    );
    for name in ["CARGO", "XDG_", "USER=", "SSH_", "RUST"] {
        assert!(
            !text.lines().any(|line| line.starts_with(name)),
            "{name} in {text}"
        );
    }
    let done = workspace
        .exec(Command::new(
            User::Method,
            &["/bin/bash", "-c", "echo $HOME"],
        ))
        .await
        .unwrap();
    assert_eq!(
        done.stdout,
        format!("{}\n", workspace.path(Place::Method)).into_bytes()
    );
    workspace.remove().await.unwrap();
}

pub(super) async fn input_is_fed_whole(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let mut command = shell("sha256sum | cut -c1-16; wc -c </dev/null");
    command.stdin = (0..1_500_000u32).map(|index| (index % 251) as u8).collect();
    let expected = told(
        workspace.as_ref(),
        "python3 -c \"import hashlib; print(hashlib.sha256(bytes(i % 251 for i in range(1500000))).hexdigest()[:16])\"",
    )
    .await;
    let done = workspace.exec(command).await.unwrap();
    assert_eq!(done.stdout, format!("{expected}\n0\n").into_bytes());
    workspace.remove().await.unwrap();
}

pub(super) async fn a_command_without_input_meets_the_end_of_it(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    assert_eq!(run(workspace.as_ref(), "cat").await.exit, Exit::Code(0));
    workspace.remove().await.unwrap();
}

pub(super) async fn input_that_nobody_reads_is_no_fault(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let mut command = shell("exit 3");
    command.stdin = vec![b'x'; 2_000_000];
    assert_eq!(workspace.exec(command).await.unwrap().exit, Exit::Code(3));
    workspace.remove().await.unwrap();
}

pub(super) async fn a_command_at_its_limit_is_stopped(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let command = shell("echo begun; sleep 600").limit(Duration::from_secs(2));
    let done = workspace.exec(command).await.unwrap();
    assert_eq!(
        (done.exit, done.stdout),
        (Exit::TimedOut, b"begun\n".to_vec())
    );
    workspace.remove().await.unwrap();
}

pub(super) async fn a_command_that_ignores_the_polite_signal_is_killed(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let command = shell("trap '' TERM; while :; do sleep 1; done").limit(Duration::from_secs(1));
    assert_eq!(workspace.exec(command).await.unwrap().exit, Exit::TimedOut);
    workspace.remove().await.unwrap();
}

pub(super) async fn an_early_code_of_124_is_no_time_out(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    for code in [124, 137] {
        let done = run(workspace.as_ref(), &format!("exit {code}")).await;
        assert_eq!(done.exit, Exit::Code(code));
    }
    workspace.remove().await.unwrap();
}

pub(super) async fn output_beyond_the_cap_keeps_both_ends_and_counts_the_rest(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let mut command = shell("printf first; head -c 1000000 /dev/zero; printf last");
    command.output_cap = 1000;
    let done = workspace.exec(command).await.unwrap();
    assert_eq!((done.bytes_total, done.bytes_elided), (1_000_009, 999_009));
    assert_eq!(
        (&done.stdout[..5], &done.stdout[996..]),
        (&b"first"[..], &b"last"[..])
    );
    assert_eq!((done.stdout.len(), done.merged.len()), (1000, 1000));
    workspace.remove().await.unwrap();
}

pub(super) async fn a_flood_of_output_is_counted_to_the_byte(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let command = shell("yes | head -c 64M").limit(Duration::from_secs(200));
    let done = workspace.exec(command).await.unwrap();
    assert_eq!(done.bytes_total, 64 << 20);
    assert_eq!(done.bytes_elided, (64 << 20) - 10_000_000);
    workspace.remove().await.unwrap();
}

pub(super) async fn bytes_that_are_no_text_arrive_as_they_are(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let done = run(
        workspace.as_ref(),
        r"printf '\377\376'; printf '\342\202'; sleep 0.2; printf '\254'",
    )
    .await;
    assert_eq!(done.stdout, b"\xff\xfe\xe2\x82\xac");
    workspace.remove().await.unwrap();
}

pub(super) async fn streams_are_merged_in_the_order_of_arrival(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let text = "echo 1; sleep 0.3; echo 2 >&2; sleep 0.3; echo 3";
    let done = run(workspace.as_ref(), text).await;
    assert_eq!(done.merged, b"1\n2\n3\n");
    workspace.remove().await.unwrap();
}

pub(super) async fn a_missing_program_is_a_code_and_no_fault(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let done = workspace
        .exec(Command::new(User::Coder, &["no-such-program"]))
        .await
        .unwrap();
    assert_eq!(done.exit, Exit::Code(127));
    workspace.remove().await.unwrap();
}

pub(super) async fn a_missing_folder_is_a_code_and_no_fault(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let mut command = shell("true");
    command.directory = Some(format!("{}/gone", workspace.path(Place::Home)));
    assert_eq!(workspace.exec(command).await.unwrap().exit, Exit::Code(125));
    workspace.remove().await.unwrap();
}

pub(super) async fn a_bare_python_is_the_image_s(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let ask = "import sys; print(sys.version_info[:2], sys.prefix != sys.base_prefix)";
    for name in ["python3", "python"] {
        let done = workspace
            .exec(Command::new(User::Coder, &[name, "-c", ask]))
            .await
            .unwrap();
        assert_eq!(done.stdout, b"(3, 11) True\n", "{name}");
    }
    workspace.remove().await.unwrap();
}
