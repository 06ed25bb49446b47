//! Knows the connection to the container engine, its deadlines, and what its errors mean.
//! Must not know containers of ours.
//! Start at `Engine::connect`.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use bollard::errors::Error;

use crate::vocab::{FaultKind, HarnessFault};

/// Deadline of short calls: inspect, list, negotiate.
pub(super) const CALL: Duration = Duration::from_secs(20);
/// Deadline of creating, starting and removing one thing.
pub(super) const CREATE: Duration = Duration::from_secs(60);

/// A connection to the container engine of this machine; cloning shares it.
#[derive(Debug, Clone)]
pub struct Engine {
    client: bollard::Docker,
}

impl Engine {
    /// Connects to the engine's socket, by default where the engine puts it, and agrees on a version.
    ///
    /// # Errors
    /// `docker_unavailable` when no engine answers in time.
    pub async fn connect(socket: Option<&Path>) -> Result<Self, HarnessFault> {
        let client = match socket {
            None => bollard::Docker::connect_with_local_defaults(),
            Some(path) => bollard::Docker::connect_with_unix(
                &path.to_string_lossy(),
                120,
                bollard::API_DEFAULT_VERSION,
            ),
        }
        .map_err(unavailable)?;
        match tokio::time::timeout(CALL, client.negotiate_version()).await {
            Ok(Ok(client)) => Ok(Self { client }),
            Ok(Err(error)) => Err(unavailable(error)),
            Err(_) => Err(HarnessFault::new(
                FaultKind::DockerUnavailable,
                format!(
                    "the container engine did not answer in {} s",
                    CALL.as_secs()
                ),
            )),
        }
    }

    /// The raw client; every use goes through `within`.
    pub(in crate::harness) fn client(&self) -> &bollard::Docker {
        &self.client
    }

    /// What the engine says of its version, for records.
    ///
    /// # Errors
    /// The engine does not answer.
    pub async fn version(&self) -> Result<String, HarnessFault> {
        let version = within(CALL, "asking for the version", self.client.version()).await?;
        Ok(version.version.unwrap_or_default())
    }
}

fn unavailable(error: impl std::fmt::Display) -> HarnessFault {
    HarnessFault::new(
        FaultKind::DockerUnavailable,
        format!("no container engine answers: {error}"),
    )
}

/// Waits for a call of the engine, at most this long.
pub(in crate::harness) async fn within<T>(
    limit: Duration,
    doing: &str,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, HarnessFault> {
    match tokio::time::timeout(limit, call).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(fault(doing, &error)),
        Err(_) => Err(HarnessFault::new(
            FaultKind::Deadline,
            format!("{doing} outlasted {} s", limit.as_secs()),
        )),
    }
}

/// The status code of an answer of the engine, if it is one.
pub(super) fn status(error: &Error) -> Option<u16> {
    match error {
        Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// Sorts an error of the engine into the kinds of harness failure.
pub(super) fn fault(doing: &str, error: &Error) -> HarnessFault {
    let text = error.to_string();
    let kind = if text.contains("no space left on device") {
        FaultKind::DiskFull
    } else {
        match error {
            Error::DockerResponseServerError {
                status_code,
                message,
            } => match status_code {
                404 if message.contains("image") => FaultKind::ImageMissing,
                404 => FaultKind::ContainerLost,
                409 if message.contains("not running") || message.contains("is being removed") => {
                    FaultKind::ContainerLost
                }
                500 if message.contains("is not running")
                    || message.contains("no such process") =>
                {
                    FaultKind::ContainerLost
                }
                _ => FaultKind::Internal,
            },
            Error::RequestTimeoutError => FaultKind::Deadline,
            Error::SocketNotFoundError(_)
            | Error::HyperResponseError { .. }
            | Error::HyperLegacyError { .. }
            | Error::HttpClientError { .. }
            | Error::IOError { .. } => FaultKind::DockerUnavailable,
            _ => FaultKind::Internal,
        }
    };
    HarnessFault::new(kind, format!("{doing}: {text}"))
}
