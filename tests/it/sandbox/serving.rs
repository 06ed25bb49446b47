//! Agent servers and scorers, both as stubs: the agent tells the scorer what to answer.

use std::sync::Arc;

use evalxrl::harness::agent_server::{AgentServer, Serving};
use evalxrl::harness::scorer::{Deadlines, Question, Scorer, Scoring};
use evalxrl::harness::{Network, Role, Running};
use evalxrl::vocab::{EnvironmentId, FaultKind, HarnessFault, RootSeed, SeedName};

use super::kit::{Kit, kind, tar_of};

/// A bundle whose server answers every connection with a text.
fn bundle(answer: &str, announce: bool) -> Vec<u8> {
    let server = format!(
        "import socket, sys\n\
         port = int(sys.argv[sys.argv.index('--port') + 1])\n\
         assert sys.argv[1] == 'serve' and open('agent/parameters.safetensors').read() == 'parameters'\n\
         listener = socket.create_server(('127.0.0.1' if '--host' in sys.argv else '0.0.0.0', port))\n\
         if {}: print('listening on', listener.getsockname()[1], file=sys.stderr, flush=True)\n\
         while True:\n \
             connection = listener.accept()[0]\n \
             connection.sendall({answer:?}.encode())\n \
             connection.close()\n",
        if announce { "True" } else { "False" },
    );
    tar_of(&[
        ("agent/parameters.safetensors", b"parameters"),
        ("evalxrl_envs/__init__.py", b""),
        ("evalxrl_envs/__main__.py", server.as_bytes()),
    ])
}

fn measurement(returns: &str) -> String {
    format!(
        "{{\"status\":\"scored\",\"returns\":{returns},\"unfloored_returns\":[1,2],\"lengths\":[3,4],\
         \"terminated\":[true,false],\"components\":{{}},\"invalid\":0,\"clipped\":0,\"floored\":0,\
         \"consistency\":1,\"seconds\":0.1,\"cpu_seconds\":0.1,\"source_hash\":\"x\",\"versions\":{{}}}}"
    )
}

fn question(address: &str, environment: &str) -> Question {
    let root = RootSeed::weak(3);
    Question {
        environment: EnvironmentId::new(environment).unwrap(),
        seed: root.derive(&SeedName::new("a")),
        permutation_seed: root.derive(&SeedName::new("b")),
        episodes: 2,
        address: address.to_owned(),
        deadlines: Deadlines::default(),
    }
}

struct Pair {
    network: Network,
    sandbox: Arc<dyn Running>,
    scorer: Scorer,
}

impl Pair {
    async fn of(kit: &Kit) -> Self {
        let network = kit.sandbox.network(&kit.owner()).await.unwrap();
        let sandbox = kit
            .made(kit.spec(Role::Scorer, Some(network.clone())))
            .await;
        let scorer = Scorer::start(sandbox.as_ref()).await.unwrap();
        Self {
            network,
            sandbox,
            scorer,
        }
    }

    async fn measure(
        &mut self,
        kit: &Kit,
        answer: &str,
        announce: bool,
    ) -> Result<Scoring, HarnessFault> {
        let spec = kit.spec(Role::Agent, Some(self.network.clone()));
        let serving =
            AgentServer::start(kit.sandbox.as_ref(), spec, &bundle(answer, announce)).await;
        let Serving::Ready(server) = serving.unwrap() else {
            panic!("the bundle serves")
        };
        let scoring = self
            .scorer
            .score(&question(server.address(), "healthy"))
            .await;
        server.stop().await.unwrap();
        scoring
    }

    async fn end(self, kit: &Kit) {
        self.sandbox.remove().await.unwrap();
        kit.sandbox.remove_network(&self.network).await.unwrap();
    }
}

pub(super) async fn a_served_bundle_is_measured(kit: Arc<Kit>) {
    let mut pair = Pair::of(&kit).await;
    pair.scorer
        .warm(&EnvironmentId::new("healthy").unwrap(), 2)
        .await
        .unwrap();
    let Ok(Scoring::Scored(scores)) = pair.measure(&kit, &measurement("[1.5,-2]"), true).await
    else {
        panic!("a measurement was expected")
    };
    assert_eq!(scores.performance.returns(), [1.5, -2.0]);
    assert_eq!(pair.scorer.versions()["stub"], "1");
    pair.end(&kit).await;
}

pub(super) async fn a_silent_server_is_found_by_its_port(kit: Arc<Kit>) {
    let mut pair = Pair::of(&kit).await;
    let scoring = pair.measure(&kit, &measurement("[1,2]"), false).await;
    assert!(matches!(scoring, Ok(Scoring::Scored(_))));
    pair.end(&kit).await;
}

pub(super) async fn a_bundle_that_does_not_start_is_unserved_with_its_errors(kit: Arc<Kit>) {
    let network = kit.sandbox.network(&kit.owner()).await.unwrap();
    let spec = kit.spec(Role::Agent, Some(network.clone()));
    let empty = tar_of(&[("evalxrl_envs/__init__.py", b"raise ValueError('planted')")]);
    let serving = AgentServer::start(kit.sandbox.as_ref(), spec, &empty)
        .await
        .unwrap();
    let Serving::Unserved { reason, errors } = serving else {
        panic!("nothing is served")
    };
    assert!(reason.contains("ended"), "{reason}");
    assert!(errors.contains("planted"), "{errors}");
    kit.sandbox.remove_network(&network).await.unwrap();
}

pub(super) async fn an_answer_that_is_no_measurement_is_a_failed_scorer(kit: Arc<Kit>) {
    for answer in [
        measurement("[NaN,1]"),
        measurement("[1e400,1]"),
        "[]".to_owned(),
    ] {
        let mut pair = Pair::of(&kit).await;
        let scoring = pair.measure(&kit, &answer, true).await;
        assert_eq!(kind(scoring), FaultKind::ScorerFailed, "{answer}");
        pair.end(&kit).await;
    }
}

pub(super) async fn an_unserved_agent_is_believed_after_the_health_check(kit: Arc<Kit>) {
    let mut pair = Pair::of(&kit).await;
    let scoring = pair.scorer.score(&question("127.0.0.1:9", "healthy")).await;
    assert!(matches!(scoring, Ok(Scoring::AgentUnserved { .. })));
    pair.end(&kit).await;
}

pub(super) async fn a_scorer_that_fails_its_health_check_has_failed(kit: Arc<Kit>) {
    let mut pair = Pair::of(&kit).await;
    let scoring = pair
        .scorer
        .score(&question("127.0.0.1:9", "unhealthy"))
        .await;
    assert_eq!(kind(scoring), FaultKind::ScorerFailed);
    pair.end(&kit).await;
}

pub(super) async fn a_scorer_that_ends_has_failed(kit: Arc<Kit>) {
    let mut pair = Pair::of(&kit).await;
    assert_eq!(
        kind(pair.measure(&kit, "end", true).await),
        FaultKind::ScorerFailed
    );
    pair.end(&kit).await;
}
