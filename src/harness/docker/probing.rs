//! Knows what to set up around live containers so that the isolation table can be asked.
//! Must not know which answers pass; that is the table's.
//! Start at `Docker::probe_table`.

use std::net::IpAddr;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use super::running::Container;
use super::{Docker, network};
use crate::harness::probes::{HostListener, Questions, host_addresses, row};
use crate::harness::{
    Command, Limits, Network, Owner, Probe, Role, Running, Sandbox, Spec, State, User,
};
use crate::vocab::{FaultKind, HarnessFault, Opaque};

const PORT: u16 = 7777;
/// Long enough for any probe of this process's life; a decoy that is gone is made anew.
const DECOY_LIFE: Duration = Duration::from_secs(6 * 3600);
const PEER_LIFE: Duration = Duration::from_secs(120);
const LISTEN: &str = "import socket
listener = socket.create_server(('0.0.0.0', 7777))
print('ready', flush=True)
while True:
    listener.accept()[0].close()";

/// Stands for the agent of another live session: its own network, kept for the life of this process.
pub(super) struct Decoy {
    container: Container,
}

impl Docker {
    /// Asks every row of the table; positive controls included.
    ///
    /// # Errors
    /// The probing itself failed. A failed row is no error here.
    pub async fn probe_table(
        &self,
        workspace: &dyn Running,
        scorer: &dyn Running,
    ) -> Result<Vec<Probe>, HarnessFault> {
        let (network, owner) = self.joined(&scorer.host())?;
        let host = HostListener::open().await?;
        let gateway = network::gateway(&scorer.host());
        let mut addresses = host_addresses()?;
        let mut control = !addresses.is_empty();
        for address in &addresses {
            control &= host.answers(*address).await || address.is_ipv6();
        }
        addresses.extend(gateway.iter().flat_map(|text| text.parse::<IpAddr>()));

        // The positive control needs a peer, which takes as long to make as the silent attempts take to give up.
        let control_inside = async {
            let peer = self.listening(&owner, network, PEER_LIFE).await?;
            let control = Questions {
                connect: vec![("peer".to_owned(), peer.host(), PORT)],
                resolve: Vec::new(),
            };
            let seen = control.ask(scorer).await;
            peer.remove().await?;
            seen
        };
        let ways_out = async {
            let decoy = self.decoy_address(&owner).await?;
            let questions = self.questions(&host, &addresses, &decoy);
            tokio::try_join!(questions.ask(workspace), questions.ask(scorer))
        };
        let (beside_peer, ways_out) = tokio::join!(control_inside, ways_out);
        let (beside_peer, (inside, beside)) = (beside_peer?, ways_out?);
        let mut rows = vec![
            row(
                "control: the listener answers the host",
                control,
                if control { "reached" } else { "no answer" },
            ),
            beside_peer.reached("control: the scorer reaches an agent's port", "peer"),
        ];
        for (name, answers) in [("workspace", &inside), ("scorer", &beside)] {
            for (what, prefix) in [
                ("the host", "host"),
                ("a public address", "public"),
                ("the metadata address", "metadata"),
                ("the agent of another session", "other"),
            ] {
                rows.push(answers.none_reached(&format!("{name}: {what} is out of reach"), prefix));
            }
            rows.push(answers.none_resolved(&format!("{name}: public names do not resolve")));
            rows.extend(answers.granted(name));
        }
        Ok(rows)
    }

    fn questions(&self, host: &HostListener, addresses: &[IpAddr], decoy: &str) -> Questions {
        let mut connect = host.questions(addresses);
        connect.push(("other".to_owned(), decoy.to_owned(), PORT));
        connect.push(("metadata".to_owned(), "169.254.169.254".to_owned(), 80));
        if let Some((address, port)) = self.sealing.public_address.rsplit_once(':')
            && let Ok(port) = port.parse()
        {
            connect.push(("public".to_owned(), address.to_owned(), port));
        }
        Questions {
            connect,
            resolve: vec![self.sealing.public_name.clone()],
        }
    }

    /// The network and owner behind an address of one of our containers.
    fn joined(&self, address: &str) -> Result<(Network, Owner), HarnessFault> {
        self.addresses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(address)
            .cloned()
            .ok_or_else(|| {
                HarnessFault::new(
                    FaultKind::Internal,
                    "the probed scorer is in no network of this process",
                )
            })
    }

    /// The address of the decoy, which is made on first use and remade when it is gone.
    async fn decoy_address(&self, owner: &Owner) -> Result<String, HarnessFault> {
        let mut held = self.decoy.lock().await;
        if let Some(decoy) = held.as_ref()
            && decoy.container.state().await? == State::Running
        {
            return Ok(decoy.container.host());
        }
        let owner = Owner {
            run: owner.run.clone(),
            session: Opaque::new(super::super::owner::random_name()?)
                .map_err(|error| HarnessFault::new(FaultKind::Internal, error.to_string()))?,
        };
        let network = self.network(&owner).await?;
        let container = self.listening(&owner, network, DECOY_LIFE).await?;
        let address = container.host();
        *held = Some(Decoy { container });
        Ok(address)
    }

    /// A container that answers on the agent's port.
    async fn listening(
        &self,
        owner: &Owner,
        network: Network,
        life: Duration,
    ) -> Result<Container, HarnessFault> {
        let container = self
            .start(Spec {
                role: Role::Agent,
                network: Some(network),
                limits: small(),
                life,
                environment: std::collections::BTreeMap::new(),
                owner: owner.clone(),
            })
            .await?;
        let command = Command::new(User::Coder, &["python3", "-I", "-S", "-c", LISTEN]);
        let mut streams = container.attach(command).await?;
        let mut line = String::new();
        let mut lines = BufReader::new(&mut streams.stdout);
        let read = tokio::time::timeout(Duration::from_secs(20), lines.read_line(&mut line)).await;
        if !matches!(read, Ok(Ok(_))) || line.trim() != "ready" {
            container.remove().await?;
            return Err(HarnessFault::new(
                FaultKind::Deadline,
                "the peer of a probe did not start to listen",
            ));
        }
        // The process ends with its input; the task holds it until the container goes.
        tokio::spawn(async move {
            let mut buffer = [0; 1024];
            while let Ok(1..) = streams.stdout.read(&mut buffer).await {}
            drop(streams);
        });
        Ok(container)
    }
}

/// Limits of a container that only listens.
fn small() -> Limits {
    Limits {
        memory: 128 * 1024 * 1024,
        cpus: 1.0,
        cpuset: None,
        pids: 32,
        home: 1024 * 1024,
        temporary: 1024 * 1024,
    }
}
