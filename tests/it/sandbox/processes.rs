//! Processes: sweeping, freezing, floods.

use std::sync::Arc;
use std::time::Duration;

use evalxrl::harness::{Command, Exit, Running, State, User};

use super::kit::{Kit, run, shell, told, until};

/// How many processes have this word on their command line, as the coder sees it.
async fn seen(sandbox: &dyn Running, word: &str) -> usize {
    let (head, tail) = word.split_at(2);
    let text = format!(
        "word={head}''{tail}; n=0; for p in /proc/[0-9]*; do \
         if tr '\\0' ' ' 2>/dev/null <$p/cmdline | grep -q \"sleep $word\"; then n=$((n+1)); fi; done; echo $n"
    );
    told(sandbox, &text).await.parse().unwrap()
}

/// A number that no other sleeping process bears.
fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("9{}{next:03}", std::process::id())
}

pub(super) async fn a_child_in_its_own_session_is_swept_and_counted(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let word = unique();
    let command = shell(&format!("setsid sleep {word} & sleep 30")).limit(Duration::from_secs(2));
    let done = workspace.exec(command).await.unwrap();
    assert_eq!(done.exit, Exit::TimedOut);
    assert_eq!(seen(workspace.as_ref(), &word).await, 1);
    assert!(workspace.sweep(User::Coder).await.unwrap() >= 1);
    assert_eq!(seen(workspace.as_ref(), &word).await, 0);
    workspace.remove().await.unwrap();
}

pub(super) async fn a_child_that_shed_its_environment_is_swept(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let word = unique();
    let text = format!("env -i setsid sleep {word} >/dev/null 2>&1 & exit 0");
    run(workspace.as_ref(), &text).await;
    assert_eq!(seen(workspace.as_ref(), &word).await, 1);
    assert!(workspace.sweep(User::Coder).await.unwrap() >= 1);
    assert_eq!(seen(workspace.as_ref(), &word).await, 0);
    workspace.remove().await.unwrap();
}

pub(super) async fn sweeping_nothing_counts_nothing(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    run(workspace.as_ref(), "true").await;
    for user in [User::Coder, User::Method] {
        assert_eq!(workspace.sweep(user).await.unwrap(), 0);
    }
    assert_eq!(workspace.state().await.unwrap(), State::Running);
    workspace.remove().await.unwrap();
}

pub(super) async fn sweeping_one_user_spares_another(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let (coders, methods) = (unique(), unique());
    let tool = Command::new(User::Method, &["/bin/sleep", &methods]);
    let _tool = workspace.attach(tool).await.unwrap();
    run(
        workspace.as_ref(),
        &format!("sleep {coders} >/dev/null 2>&1 &"),
    )
    .await;
    until("the tool runs", async || {
        seen(workspace.as_ref(), &methods).await == 1
    })
    .await;
    assert!(workspace.sweep(User::Coder).await.unwrap() >= 1);
    assert_eq!(seen(workspace.as_ref(), &coders).await, 0);
    assert_eq!(seen(workspace.as_ref(), &methods).await, 1);
    workspace.remove().await.unwrap();
}

pub(super) async fn frozen_processes_stand_still_and_go_on_when_thawed(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let counter = "while :; do echo x >> count; sleep 0.01; done";
    let _counter = workspace.attach(shell(counter)).await.unwrap();
    // Frozen processes are of the coder; the reader must not be, or it would be thawed with them.
    let count = async || {
        let stream = workspace.take(&["count"], 1 << 20).await.unwrap();
        super::kit::files_of(&stream)
            .get("count")
            .map_or(0, Vec::len)
    };
    until("it counts", async || count().await > 0).await;
    workspace.freeze(User::Coder).await.unwrap();
    let frozen = count().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(count().await, frozen);
    workspace.thaw(User::Coder).await.unwrap();
    until("it counts again", async || count().await > frozen).await;
    workspace.remove().await.unwrap();
}

pub(super) async fn frozen_processes_can_be_killed(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let word = unique();
    run(
        workspace.as_ref(),
        &format!("setsid sleep {word} >/dev/null 2>&1 &"),
    )
    .await;
    workspace.freeze(User::Coder).await.unwrap();
    assert!(workspace.sweep(User::Coder).await.unwrap() >= 1);
    assert_eq!(seen(workspace.as_ref(), &word).await, 0);
    workspace.remove().await.unwrap();
}

pub(super) async fn a_fork_bomb_ends_and_the_next_command_works(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let bomb = "bomb() { bomb | bomb & }; bomb; sleep 60";
    workspace
        .exec(shell(bomb).limit(Duration::from_secs(3)))
        .await
        .unwrap();
    workspace.sweep(User::Coder).await.unwrap();
    assert_eq!(told(workspace.as_ref(), "echo alive").await, "alive");
    workspace.remove().await.unwrap();
}

pub(super) async fn orphans_leave_no_zombies(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let text = "for i in $(seq 30); do (sleep 0.1 & ) ; done; sleep 1";
    run(workspace.as_ref(), text).await;
    let zombies = "grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l";
    until("no zombies", async || {
        told(workspace.as_ref(), zombies).await == "0"
    })
    .await;
    workspace.remove().await.unwrap();
}

pub(super) async fn a_coder_cannot_signal_the_relay(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let relay = Command::new(User::Relay, &["/bin/sleep", "777"]);
    let _relay = workspace.attach(relay).await.unwrap();
    let text = "for p in /proc/[0-9]*; do if tr '\\0' ' ' 2>/dev/null <$p/cmdline | grep -q '^/bin/sleep 777 '; \
                then kill -9 ${p#/proc/} && echo killed || echo refused; fi; done";
    until("the relay runs", async || {
        told(workspace.as_ref(), text).await == "refused"
    })
    .await;
    workspace.remove().await.unwrap();
}

pub(super) async fn a_process_beyond_the_memory_is_killed(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let hog = "python3 -c \"x = bytearray(600 << 20); print(len(x))\"";
    let done = workspace.exec(shell(hog)).await;
    let state = workspace.state().await.unwrap();
    match done {
        Ok(done) => assert_eq!((done.exit, done.stdout.len()), (Exit::Code(137), 0)),
        Err(_) => assert_eq!(state, State::OutOfMemory),
    }
    workspace.remove().await.unwrap();
}
