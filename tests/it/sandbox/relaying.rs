//! The tool relay: calls out, answers in, and what a caller may do to it.

use std::sync::Arc;

use evalxrl::harness::relay::{Relay, Stream, tool_links};
use evalxrl::harness::{Command, Exit, Place, Running, User};
use evalxrl::vocab::FaultKind;

use super::kit::{Kit, kind, run, told};

async fn started(kit: &Kit) -> (Arc<dyn Running>, Relay) {
    let workspace = kit.workspace().await;
    let relay = Relay::start(Arc::clone(&workspace), kit.sandbox.isolation())
        .await
        .unwrap();
    (workspace, relay)
}

/// Answers one call with its own arguments.
async fn echo(relay: &mut Relay) -> String {
    let request = relay.next().await.unwrap();
    let text = format!("{} {}", request.tool, request.argv.join(","));
    relay
        .output(request.id, Stream::Stdout, text.as_bytes())
        .await
        .unwrap();
    relay.exit(request.id, 5).await.unwrap();
    request.directory
}

pub(super) async fn a_call_reaches_the_session_and_its_answer_the_caller(kit: Arc<Kit>) {
    let (workspace, mut relay) = started(&kit).await;
    let call = run(
        workspace.as_ref(),
        "mkdir -p d; cd d; score 'a b' --c; echo code $?",
    );
    let (done, directory) = tokio::join!(call, echo(&mut relay));
    assert_eq!(done.stdout, b"score a b,--ccode 5\n");
    assert_eq!(directory, format!("{}/d", workspace.path(Place::Home)));
    workspace.remove().await.unwrap();
}

pub(super) async fn a_linked_tool_is_called_by_its_own_name(kit: Arc<Kit>) {
    let (workspace, mut relay) = started(&kit).await;
    let links = tool_links(&["why-action", "saliency"]).unwrap();
    workspace
        .put(User::Method, Place::Method, &links)
        .await
        .unwrap();
    let (done, _) = tokio::join!(run(workspace.as_ref(), "why-action 1"), echo(&mut relay));
    assert_eq!(
        (done.exit, done.stdout),
        (Exit::Code(5), b"why-action 1".to_vec())
    );
    workspace.remove().await.unwrap();
}

pub(super) async fn a_megabyte_of_output_passes(kit: Arc<Kit>) {
    let (workspace, mut relay) = started(&kit).await;
    let large: Vec<u8> = (0..1_000_000u32).map(|index| (index % 251) as u8).collect();
    let answer = async {
        let request = relay.next().await.unwrap();
        relay
            .output(request.id, Stream::Stderr, b"talk")
            .await
            .unwrap();
        relay
            .output(request.id, Stream::Stdout, &large)
            .await
            .unwrap();
        relay.exit(request.id, 0).await.unwrap();
    };
    let (done, ()) = tokio::join!(run(workspace.as_ref(), "submit --note x"), answer);
    assert_eq!((done.exit, done.stderr), (Exit::Code(0), b"talk".to_vec()));
    assert!(done.stdout == large);
    workspace.remove().await.unwrap();
}

pub(super) async fn the_tenth_call_at_once_is_refused(kit: Arc<Kit>) {
    let (workspace, mut relay) = started(&kit).await;
    let calls = "for i in $(seq 11); do (score $i; echo $? > code.$i) & done; \
                 until [ $(cat code.* 2>/dev/null | grep -c 75) = 2 ]; do sleep 0.05; done; \
                 touch refused; wait; cat code.* | sort | uniq -c | tr -s ' '";
    let answer = async {
        let first = relay.next().await.unwrap();
        super::kit::until("two are refused", async || {
            !super::kit::files_of(&workspace.take(&["refused"], 4096).await.unwrap()).is_empty()
        })
        .await;
        relay.exit(first.id, 0).await.unwrap();
        for _ in 0..8 {
            let next = relay.next().await.unwrap();
            relay.exit(next.id, 0).await.unwrap();
        }
    };
    let (done, ()) = tokio::join!(told(workspace.as_ref(), calls), answer);
    assert_eq!(
        done.split_whitespace().collect::<Vec<_>>(),
        ["9", "0", "2", "75"]
    );
    workspace.remove().await.unwrap();
}

pub(super) async fn a_malformed_request_harms_nobody(kit: Arc<Kit>) {
    let (workspace, mut relay) = started(&kit).await;
    let send = format!(
        "import socket\nfor text in (b'no json\\n', b'{{\"tool\": 1}}\\n', b'[]\\n', b'x' * 70000 + b'\\n', \
         b'{{\"tool\": \"score\", \"argv\": [], \"directory\": \"/\", \"more\": 1}}\\n'):\n \
         s = socket.socket(socket.AF_UNIX); s.connect('{}/socket')\n \
         try:\n  s.sendall(text); print(s.recv(100))\n \
         except OSError: print(b'\"exit\": 64')\n",
        workspace.path(Place::Relay)
    );
    let text = format!(
        "python3 -c '{}' | grep -c '\"exit\": 64'",
        send.replace('\'', "'\\''")
    );
    assert_eq!(told(workspace.as_ref(), &text).await, "5");
    let (done, _) = tokio::join!(run(workspace.as_ref(), "score after"), echo(&mut relay));
    assert_eq!(done.stdout, b"score after");
    workspace.remove().await.unwrap();
}

pub(super) async fn a_dropped_wait_loses_no_request(kit: Arc<Kit>) {
    let (workspace, mut relay) = started(&kit).await;
    let call = run(workspace.as_ref(), "score kept");
    let answer = async {
        for _ in 0..50 {
            let wait = tokio::time::timeout(std::time::Duration::from_millis(5), relay.next());
            if let Ok(request) = wait.await {
                return relay.exit(request.unwrap().id, 0).await.unwrap();
            }
        }
        let request = relay.next().await.unwrap();
        relay.exit(request.id, 0).await.unwrap();
    };
    let (done, ()) = tokio::join!(call, answer);
    assert_eq!(done.exit, Exit::Code(0));
    workspace.remove().await.unwrap();
}

pub(super) async fn a_relay_that_dies_is_restarted_three_times_and_then_lost(kit: Arc<Kit>) {
    let (workspace, mut relay) = started(&kit).await;
    let kill = format!(
        "kill -9 $(grep -l '{}/[s]ocket' /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3)",
        workspace.path(Place::Relay)
    );
    for life in 0..4 {
        let text = format!("until score {life}; [ $? = 5 ]; do sleep 0.05; done");
        let (done, _) = tokio::join!(run(workspace.as_ref(), &text), echo(&mut relay));
        assert_eq!(done.exit, Exit::Code(0), "life {life}");
        let kill = Command::new(User::Relay, &["/bin/bash", "-c", &kill]);
        // Its own code says nothing: the restart sweeps every process of that user.
        workspace.exec(kill).await.unwrap();
    }
    assert_eq!(kind(relay.next().await), FaultKind::RelayLost);
    workspace.remove().await.unwrap();
}

pub(super) async fn without_a_relay_a_tool_has_no_answer(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let done = run(workspace.as_ref(), "submit").await;
    assert_eq!(
        (done.exit, done.stderr),
        (Exit::Code(69), b"submit: no answer\n".to_vec())
    );
    workspace.remove().await.unwrap();
}
