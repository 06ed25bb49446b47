//! Ends: removal, sweeping by owner, apartness.

use std::sync::Arc;
use std::time::Duration;

use evalxrl::harness::{Role, State};
use evalxrl::vocab::FaultKind;

use super::kit::{Kit, kind, run, shell, told, until};

pub(super) async fn a_removed_sandbox_is_gone_and_can_be_removed_again(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    let _left = workspace.attach(shell("sleep 600")).await.unwrap();
    assert_eq!(workspace.state().await.unwrap(), State::Running);
    workspace.remove().await.unwrap();
    workspace.remove().await.unwrap();
    assert_eq!(workspace.state().await.unwrap(), State::Gone);
    assert_eq!(
        kind(workspace.exec(shell("true")).await),
        FaultKind::ContainerLost
    );
    assert_eq!(
        kind(workspace.attach(shell("true")).await),
        FaultKind::ContainerLost
    );
}

pub(super) async fn the_living_are_not_swept(kit: Arc<Kit>) {
    let workspace = kit.workspace().await;
    kit.sandbox.sweep_owned(None).await.unwrap();
    kit.sandbox.sweep_owned(Some("another run")).await.unwrap();
    assert_eq!(told(workspace.as_ref(), "echo alive").await, "alive");
    workspace.remove().await.unwrap();
}

pub(super) async fn what_this_process_made_for_a_run_is_swept_with_it(kit: Arc<Kit>) {
    let mut spec = kit.spec(Role::Agent, None);
    spec.owner.run = format!("{}-swept", kit.run);
    let owner = spec.owner.clone();
    let network = kit.sandbox.network(&owner).await.unwrap();
    let sandbox = kit.made(spec).await;
    let swept = kit.sandbox.sweep_owned(Some(&owner.run)).await.unwrap();
    assert_eq!(swept.sandboxes, 1);
    assert_eq!(swept.networks, usize::from(!network.id.is_empty()));
    assert_eq!(sandbox.state().await.unwrap(), State::Gone);
}

pub(super) async fn a_network_can_be_removed_twice(kit: Arc<Kit>) {
    let network = kit.sandbox.network(&kit.owner()).await.unwrap();
    kit.sandbox.remove_network(&network).await.unwrap();
    kit.sandbox.remove_network(&network).await.unwrap();
}

pub(super) async fn one_sandbox_does_not_see_the_files_of_another(kit: Arc<Kit>) {
    let (one, other) = tokio::join!(kit.workspace(), kit.workspace());
    run(
        one.as_ref(),
        "echo secret > file; echo secret > $TMPDIR/file",
    )
    .await;
    assert_eq!(
        told(other.as_ref(), "ls . $TMPDIR | grep -c file").await,
        "0"
    );
    one.remove().await.unwrap();
    assert_eq!(told(other.as_ref(), "echo alive").await, "alive");
    other.remove().await.unwrap();
}

pub(super) async fn a_sandbox_whose_life_is_over_ends(kit: Arc<Kit>) {
    let mut spec = kit.spec(Role::Agent, None);
    spec.life = Duration::from_secs(1);
    let sandbox = kit.made(spec).await;
    until("it ends", async || {
        sandbox.state().await.unwrap() == State::Gone
    })
    .await;
    sandbox.remove().await.unwrap();
}
