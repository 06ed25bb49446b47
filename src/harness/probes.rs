//! Knows the table of isolation: what is asked from inside sandboxes, and which answers a sealed one must give.
//! Must not know how a kind of sandbox makes listeners and peers.
//! Start at `verdict`, then `Questions`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use tokio::net::TcpListener;

use super::{Command, Exit, Limits, Owner, Probe, Role, Running, Sandbox, Spec, User};
use crate::vocab::{FaultKind, HarnessFault};

const SCRIPT: &str = include_str!("probe.py");
/// Time for one attempt from inside.
const SECONDS: f64 = 2.0;
const REACHED: &str = "reached";

/// What is asked from inside one sandbox.
#[derive(Debug, Default, Clone)]
pub(super) struct Questions {
    /// Name of the row, host, port.
    pub(super) connect: Vec<(String, String, u16)>,
    /// Names to look up.
    pub(super) resolve: Vec<String>,
}

/// What was seen from inside one sandbox.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answers {
    connect: BTreeMap<String, String>,
    resolve: BTreeMap<String, String>,
    facts: Facts,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    status: BTreeMap<String, String>,
    devices: Vec<String>,
    engine_sockets: Vec<String>,
    writable: Vec<String>,
}

impl Questions {
    /// Asks from inside a sandbox.
    pub(super) async fn ask(&self, sandbox: &dyn Running) -> Result<Answers, HarnessFault> {
        let questions = serde_json::json!({
            "connect": self.connect,
            "resolve": self.resolve,
            "seconds": SECONDS,
        })
        .to_string();
        let command = Command::new(User::Coder, &["python3", "-I", "-c", SCRIPT, &questions])
            .limit(Duration::from_secs(20));
        let done = sandbox.exec(command).await?;
        match (done.exit, serde_json::from_slice(&done.stdout)) {
            (Exit::Code(0), Ok(answers)) => Ok(answers),
            (exit, parsed) => Err(HarnessFault::new(
                FaultKind::Internal,
                format!(
                    "the probe did not answer: {exit:?}, {:?}, {}",
                    parsed.err().map(|error| error.to_string()),
                    String::from_utf8_lossy(&done.stderr)
                ),
            )),
        }
    }
}

impl Answers {
    /// A row that passes when every attempt whose name begins with `prefix` failed.
    pub(super) fn none_reached(&self, name: &str, prefix: &str) -> Probe {
        let tried: Vec<_> = self
            .connect
            .iter()
            .filter(|(row, _)| row.starts_with(prefix))
            .collect();
        let reached: Vec<_> = tried
            .iter()
            .filter(|(_, seen)| seen.as_str() == REACHED)
            .map(|(row, _)| row.as_str())
            .collect();
        let passed = !tried.is_empty() && reached.is_empty();
        let seen = if reached.is_empty() {
            "out of reach".to_owned()
        } else {
            format!("reached: {}", reached.join(", "))
        };
        row(name, passed, seen)
    }

    /// A row that passes when this attempt succeeded: without it, failures elsewhere prove nothing.
    pub(super) fn reached(&self, name: &str, attempt: &str) -> Probe {
        let seen = self
            .connect
            .get(attempt)
            .map_or("not tried", String::as_str);
        row(name, seen == REACHED, seen)
    }

    /// A row that passes when no public name was found.
    pub(super) fn none_resolved(&self, name: &str) -> Probe {
        let found = self.resolve.values().any(|seen| seen == REACHED);
        let passed = !self.resolve.is_empty() && !found;
        row(name, passed, if found { "resolved" } else { "no answer" })
    }

    /// Rows on what the kernel grants.
    pub(super) fn granted(&self, sandbox: &str) -> Vec<Probe> {
        let facts = &self.facts;
        let status = |key: &str| facts.status.get(key).map_or("unknown", String::as_str);
        let no_capabilities = ["CapEff", "CapBnd"]
            .iter()
            .all(|key| !status(key).is_empty() && status(key).bytes().all(|digit| digit == b'0'));
        let list = |paths: &[String]| {
            if paths.is_empty() {
                "none".to_owned()
            } else {
                paths.join(", ")
            }
        };
        vec![
            row(
                format!("{sandbox}: no capabilities"),
                no_capabilities,
                format!(
                    "effective {}, bounding {}",
                    status("CapEff"),
                    status("CapBnd")
                ),
            ),
            row(
                format!("{sandbox}: no new privileges"),
                status("NoNewPrivs") == "1",
                status("NoNewPrivs"),
            ),
            row(
                format!("{sandbox}: system calls filtered"),
                status("Seccomp") == "2",
                status("Seccomp"),
            ),
            row(
                format!("{sandbox}: not root"),
                !matches!(status("Uid"), "0" | "unknown"),
                status("Uid"),
            ),
            row(
                format!("{sandbox}: root and /proc/sys read-only"),
                facts.writable.is_empty(),
                list(&facts.writable),
            ),
            row(
                format!("{sandbox}: no engine socket, no host device"),
                facts.devices.is_empty() && facts.engine_sockets.is_empty(),
                list(&[facts.devices.clone(), facts.engine_sockets.clone()].concat()),
            ),
        ]
    }
}

/// One row.
pub(super) fn row(name: impl Into<String>, passed: bool, seen: impl Into<String>) -> Probe {
    Probe {
        name: name.into(),
        passed,
        seen: seen.into(),
    }
}

/// The table of a sealed sandbox, or the fault when a row failed.
///
/// # Errors
/// `isolation_broken`, naming every failed row.
pub fn verdict(rows: Vec<Probe>) -> Result<Vec<Probe>, HarnessFault> {
    let failed: Vec<_> = rows
        .iter()
        .filter(|row| !row.passed)
        .map(|row| format!("{} ({})", row.name, row.seen))
        .collect();
    if failed.is_empty() && !rows.is_empty() {
        return Ok(rows);
    }
    Err(HarnessFault::new(
        FaultKind::IsolationBroken,
        failed.join("; "),
    ))
}

/// Makes a workspace and a scorer for nothing but the table, and removes them whatever it says.
///
/// # Errors
/// As `Sandbox::probe`; or the sandboxes cannot be made or removed.
pub async fn rehearse(sandboxes: &dyn Sandbox, owner: &Owner) -> Result<Vec<Probe>, HarnessFault> {
    let network = sandboxes.network(owner).await?;
    let spec = |role, network| Spec {
        role,
        network,
        limits: Limits {
            memory: 256 << 20,
            cpus: 1.0,
            cpuset: None,
            pids: 64,
            home: 16 << 20,
            temporary: 16 << 20,
        },
        life: Duration::from_secs(300),
        environment: BTreeMap::new(),
        owner: owner.clone(),
    };
    let (workspace, scorer) = tokio::join!(
        sandboxes.create(spec(Role::Workspace, None)),
        sandboxes.create(spec(Role::Scorer, Some(network.clone()))),
    );
    let table = match (&workspace, &scorer) {
        (Ok(workspace), Ok(scorer)) => sandboxes.probe(workspace.as_ref(), scorer.as_ref()).await,
        (Err(fault), _) | (_, Err(fault)) => Err(fault.clone()),
    };
    for made in [workspace, scorer].into_iter().flatten() {
        made.remove().await?;
    }
    sandboxes.remove_network(&network).await?;
    table
}

/// A service of the host that no sandbox may reach: it answers on every address of the machine while it is held.
pub(super) struct HostListener {
    /// Port on IPv4, and on IPv6 where the host has it.
    pub(super) ports: Vec<(bool, u16)>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl HostListener {
    /// Opens it.
    pub(super) async fn open() -> Result<Self, HarnessFault> {
        let mut listener = Self {
            ports: Vec::new(),
            tasks: Vec::new(),
        };
        for address in ["0.0.0.0:0", "[::]:0"] {
            let socket = match TcpListener::bind(address).await {
                Ok(socket) => socket,
                Err(_) if address.starts_with('[') => continue,
                Err(error) => return Err(no_listener(&error)),
            };
            let port = socket
                .local_addr()
                .map_err(|error| no_listener(&error))?
                .port();
            listener.ports.push((address.starts_with('['), port));
            listener.tasks.push(tokio::spawn(async move {
                // Accepting and dropping is an answer; a failed accept is the peer's affair.
                loop {
                    let _connection = socket.accept().await;
                }
            }));
        }
        Ok(listener)
    }

    /// Whether it answers the host itself at this address: the positive control.
    pub(super) async fn answers(&self, address: IpAddr) -> bool {
        let Some((_, port)) = self.ports.iter().find(|(v6, _)| *v6 == address.is_ipv6()) else {
            return false;
        };
        let limit = Duration::from_secs_f64(SECONDS);
        let connect = tokio::net::TcpStream::connect((address, *port));
        matches!(tokio::time::timeout(limit, connect).await, Ok(Ok(_)))
    }

    /// Questions that try it at these addresses; names begin with `host`.
    pub(super) fn questions(&self, addresses: &[IpAddr]) -> Vec<(String, String, u16)> {
        addresses
            .iter()
            .flat_map(|address| {
                self.ports
                    .iter()
                    // A listener on `::` takes IPv4 too.
                    .filter(move |(v6, _)| *v6 || address.is_ipv4())
                    .map(move |(_, port)| {
                        (
                            format!("host {address} port {port}"),
                            address.to_string(),
                            *port,
                        )
                    })
            })
            .collect()
    }
}

impl Drop for HostListener {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

fn no_listener(error: &std::io::Error) -> HarnessFault {
    HarnessFault::new(
        FaultKind::Internal,
        format!("no listener on the host: {error}"),
    )
}

/// Every address of this machine that is not loopback and not bound to a link.
pub(super) fn host_addresses() -> Result<Vec<IpAddr>, HarnessFault> {
    let interfaces = nix::ifaddrs::getifaddrs().map_err(|error| {
        HarnessFault::new(FaultKind::Internal, format!("no interface list: {error}"))
    })?;
    let mut addresses: Vec<IpAddr> = interfaces
        .filter_map(|interface| interface.address)
        .filter_map(|address| {
            let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
            v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
        })
        .filter(|address| match address {
            IpAddr::V4(v4) => !v4.is_loopback(),
            IpAddr::V6(v6) => !v6.is_loopback() && !v6.is_unicast_link_local(),
        })
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(host: &str, control: &str) -> Answers {
        serde_json::from_value(serde_json::json!({
            "connect": {"host 10.0.0.1 port 5": host, "peer": control},
            "resolve": {"example.org": "silent"},
            "facts": {
                "status": {"CapEff": "0000", "CapBnd": "0000", "NoNewPrivs": "1", "Seccomp": "2", "Uid": "1000"},
                "devices": [], "engine_sockets": [], "writable": [],
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_reached_host_breaks_the_isolation() {
        let sealed = answers("TimeoutError", "reached");
        assert!(verdict(vec![sealed.none_reached("host", "host")]).is_ok());
        let open = answers("reached", "reached");
        let fault = verdict(vec![open.none_reached("host", "host")]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::IsolationBroken);
        assert!(fault.message.contains("10.0.0.1"), "{fault}");
    }

    #[test]
    fn a_failed_positive_control_or_an_empty_table_proves_nothing() {
        let dead = answers("silent", "ConnectionRefusedError");
        assert!(verdict(vec![dead.reached("peer", "peer")]).is_err());
        assert!(verdict(vec![dead.none_reached("other", "other")]).is_err());
        assert!(verdict(Vec::new()).is_err());
    }

    #[test]
    fn granted_rights_are_rows_of_their_own() {
        let mut seen = answers("silent", "reached");
        assert!(verdict(seen.granted("scorer")).is_ok());
        seen.facts
            .status
            .insert("CapEff".to_owned(), "0001".to_owned());
        seen.facts.writable.push("/written".to_owned());
        let fault = verdict(seen.granted("scorer")).unwrap_err();
        assert!(fault.message.contains("no capabilities"), "{fault}");
        assert!(fault.message.contains("/written"), "{fault}");
    }
}
