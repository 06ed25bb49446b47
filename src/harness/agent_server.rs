//! Knows how a frozen bundle is served: a fresh sandbox, the bundle and nothing else, one long-lived process.
//! Must not know who made the bundle nor what it scores.
//! Start at `AgentServer::start`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::sync::watch;

use super::lines::Tail;
use super::{Command, Exit, Isolation, Place, Running, Sandbox, Spec, User, scripts};
use crate::vocab::HarnessFault;

const PORT: u16 = 7777;
const READY: Duration = Duration::from_secs(60);
const ERRORS: usize = 64 * 1024;
/// The server says so once it accepts.
const LISTENING: &str = "listening on ";
/// How long the line is waited for before the port itself is watched.
const QUIET: Duration = Duration::from_secs(5);

/// A live agent server in a sandbox of its own.
pub struct AgentServer {
    sandbox: Box<dyn Running>,
    address: String,
    errors: Tail,
}

/// What became of a bundle that was to be served.
pub enum Serving {
    /// It listens.
    Ready(AgentServer),
    /// It does not; that is the bundle's fault, and its sandbox is gone.
    Unserved {
        /// What was seen.
        reason: String,
        /// The last of what it wrote to standard error.
        errors: String,
    },
}

/// How waiting for a server ended.
enum Awaited {
    Port(u16),
    Ended,
    Late,
}

impl AgentServer {
    /// Makes the sandbox, unpacks the bundle, starts the server, and waits until it listens.
    ///
    /// # Errors
    /// The harness failed. A bundle that does not serve is no fault.
    pub async fn start(
        sandboxes: &dyn Sandbox,
        spec: Spec,
        bundle: &[u8],
    ) -> Result<Serving, HarnessFault> {
        let isolation = sandboxes.isolation();
        let sandbox = sandboxes.create(spec).await?;
        match Self::serve(isolation, sandbox.as_ref(), bundle).await {
            Ok((Awaited::Port(port), errors)) => Ok(Serving::Ready(Self {
                address: format!("{}:{port}", sandbox.host()),
                sandbox,
                errors,
            })),
            Ok((awaited, errors)) => {
                sandbox.remove().await?;
                Ok(Serving::Unserved {
                    reason: match awaited {
                        Awaited::Late => format!("not listening after {} s", READY.as_secs()),
                        _ => "the agent server has ended".to_owned(),
                    },
                    errors: errors.text(),
                })
            }
            Err(fault) => {
                sandbox.remove().await?;
                Err(fault)
            }
        }
    }

    async fn serve(
        isolation: Isolation,
        sandbox: &dyn Running,
        bundle: &[u8],
    ) -> Result<(Awaited, Tail), HarnessFault> {
        sandbox.put(User::Coder, Place::Home, bundle).await?;
        let port = PORT.to_string();
        let mut argv = vec!["python3", "-E", "-m", "evalxrl_envs", "serve"];
        argv.extend(["--agent", "agent/parameters.safetensors", "--device", "cpu"]);
        match isolation {
            Isolation::Docker => argv.extend(["--port", &port]),
            Isolation::None => argv.extend(["--host", "127.0.0.1", "--port", "0"]),
        }
        let duplex = sandbox.attach(Command::new(User::Coder, &argv)).await?;
        let (say, mut heard) = watch::channel(None);
        let errors = Tail::drain(duplex.stderr, ERRORS, listen_for_port(say));
        let mut stdout = duplex.stdout;
        let ended = async {
            let mut buffer = [0; 4096];
            while let Ok(1..) = stdout.read(&mut buffer).await {}
        };
        let said = async {
            let heard = heard.wait_for(Option::is_some).await.map(|port| *port);
            match heard {
                Ok(port) => port.unwrap_or(PORT),
                Err(_) => std::future::pending().await,
            }
        };
        let port_opened = async {
            if isolation == Isolation::None {
                return std::future::pending().await;
            }
            tokio::time::sleep(QUIET).await;
            let mut wait = Command::new(User::Holder, &[]).limit(READY);
            wait.argv = scripts::await_port(PORT);
            wait.directory = Some("/".to_owned());
            match sandbox.exec(wait).await {
                Ok(done) if done.exit == Exit::Code(0) => Ok(PORT),
                Ok(_) => std::future::pending().await,
                Err(fault) => Err(fault),
            }
        };
        let awaited = tokio::select! {
            biased;
            port = said => Awaited::Port(port),
            port = port_opened => Awaited::Port(port?),
            () = ended => Awaited::Ended,
            () = tokio::time::sleep(READY) => Awaited::Late,
        };
        // In a container the scorer is told the agreed port whatever the server says of itself.
        let awaited = match (awaited, isolation) {
            (Awaited::Port(_), Isolation::Docker) => Awaited::Port(PORT),
            (other, _) => other,
        };
        if matches!(awaited, Awaited::Port(_)) {
            // Its input stays open and its output is drained for as long as it lives.
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                while let Ok(1..) = stdout.read(&mut buffer).await {}
                drop(duplex.stdin);
            });
        }
        Ok((awaited, errors))
    }

    /// `host:port` for the scorer.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The last 64 KiB of its standard error.
    #[must_use]
    pub fn errors(&self) -> String {
        self.errors.text()
    }

    /// The sandbox it runs in.
    #[must_use]
    pub fn sandbox(&self) -> &dyn Running {
        self.sandbox.as_ref()
    }

    /// Removes it with its sandbox.
    ///
    /// # Errors
    /// The sandbox cannot be removed.
    pub async fn stop(self) -> Result<(), HarnessFault> {
        self.sandbox.remove().await
    }
}

/// Looks for the line that names the port; only the first 64 KiB can hold it.
fn listen_for_port(say: watch::Sender<Option<u16>>) -> impl FnMut(&[u8]) + Send + 'static {
    let seen = Arc::new(Mutex::new(Vec::new()));
    move |bytes: &[u8]| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if say.borrow().is_some() || seen.len() > ERRORS {
            return;
        }
        seen.extend_from_slice(bytes);
        let text = String::from_utf8_lossy(&seen);
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let port = whole
            .lines()
            .filter_map(|line| line.strip_prefix(LISTENING))
            .flat_map(|port| port.trim().parse())
            .next();
        if port.is_some() {
            say.send_replace(port);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_heard_across_pieces_and_among_other_lines() {
        let (say, heard) = watch::channel(None);
        let mut listen = listen_for_port(say);
        listen(b"warning: slow\nlisten");
        listen(b"ing on 40");
        assert_eq!(*heard.borrow(), None);
        listen(b"12\n");
        assert_eq!(*heard.borrow(), Some(4012));
    }
}
