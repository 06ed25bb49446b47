//! What sealed means, and how its loss is noticed.

use std::sync::Arc;

use evalxrl::harness::{Engine, Isolation};
use evalxrl::vocab::FaultKind;

use super::kit::{Kit, kind};

async fn probed(kit: &Kit) -> Result<Vec<evalxrl::harness::Probe>, evalxrl::vocab::HarnessFault> {
    evalxrl::harness::probes::rehearse(kit.sandbox.as_ref(), &kit.owner()).await
}

pub(super) async fn the_isolation_table_passes(kit: Arc<Kit>) {
    let table = probed(&kit).await.unwrap();
    assert!(table.iter().all(|row| row.passed), "{table:#?}");
    for wanted in [
        "control: the listener answers the host",
        "control: the scorer reaches an agent's port",
        "workspace: the host is out of reach",
        "scorer: the host is out of reach",
        "scorer: the agent of another session is out of reach",
        "scorer: no capabilities",
    ] {
        assert!(table.iter().any(|row| row.name == wanted), "{wanted}");
    }
}

pub(super) async fn an_open_network_is_found_out(kit: &Kit) {
    let Err(fault) = probed(kit).await else {
        panic!("a network with an address of the host is not sealed")
    };
    assert_eq!(fault.kind, FaultKind::IsolationBroken);
    assert!(
        fault.message.contains("scorer: the host is out of reach"),
        "{fault}"
    );
    assert!(!fault.message.contains("control"), "{fault}");
}

pub(super) async fn an_unsealed_kind_says_so(kit: &Kit) {
    assert_eq!(kit.sandbox.isolation(), Isolation::None);
    let table = probed(kit).await.unwrap();
    assert!(
        table.iter().any(|row| row.name == "sealed" && !row.passed),
        "{table:?}"
    );
    assert!(
        table
            .iter()
            .any(|row| row.name == "environment cleared" && row.passed),
        "{table:?}"
    );
}

pub(super) async fn a_silent_engine_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engine.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let accepting = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((connection, _)) = listener.accept().await {
            held.push(connection);
        }
    });
    assert_eq!(
        kind(Engine::connect(Some(&path)).await),
        FaultKind::DockerUnavailable
    );
    assert_eq!(
        kind(Engine::connect(Some(&folder.path().join("none.sock"))).await),
        FaultKind::DockerUnavailable
    );
    accepting.abort();
}
