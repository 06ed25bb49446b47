//! Knows how a container is created: what it may use and all it must not have.
//! Must not know what is run in it later.
//! Start at `Docker::start`.

use std::collections::{BTreeMap, HashMap};

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigCgroupnsModeEnum, HostConfigLogConfig,
    ResourcesUlimits, RestartPolicy, RestartPolicyNameEnum,
};
use bollard::query_parameters::{
    CreateContainerOptions, InspectContainerOptions, StartContainerOptions,
};

use super::engine::{CALL, CREATE, within};
use super::running::Container;
use super::sweeping::labels;
use super::{Docker, Role, Spec};
use crate::harness::owner::random_name;
use crate::harness::{Limits, User};
use crate::vocab::{FaultKind, HarnessFault};

const MEBIBYTE: u64 = 1024 * 1024;
/// Size of the folder of dossier code and tool state.
const METHOD_SIZE: u64 = 512 * MEBIBYTE;
const RELAY_SIZE: u64 = MEBIBYTE;

impl Docker {
    /// Creates and starts a container; one that does not start is removed again.
    pub(super) async fn start(&self, spec: Spec) -> Result<Container, HarnessFault> {
        let name = format!("x{}", random_name()?);
        let body = self.body(&spec)?;
        let options = CreateContainerOptions {
            name: Some(name.clone()),
            ..CreateContainerOptions::default()
        };
        let client = self.engine.client();
        within(
            CREATE,
            "creating a container",
            client.create_container(Some(options), body),
        )
        .await?;
        let mut container = Container::new(self, name.clone(), spec.limits.pids);
        let started = within(
            CREATE,
            "starting a container",
            client.start_container(&name, None::<StartContainerOptions>),
        )
        .await;
        let address = match (started, &spec.network) {
            (Err(fault), _) => Err(fault),
            (Ok(()), None) => Ok(String::new()),
            (Ok(()), Some(network)) => self.address(&name, &network.id).await,
        };
        match address {
            Ok(address) => {
                if let Some(network) = spec.network {
                    container.join(address, network, spec.owner);
                }
                Ok(container)
            }
            Err(fault) => {
                crate::harness::Running::remove(&container).await?;
                Err(fault)
            }
        }
    }

    /// The address of a container in a network.
    async fn address(&self, name: &str, network: &str) -> Result<String, HarnessFault> {
        let seen = within(
            CALL,
            "inspecting a container",
            self.engine
                .client()
                .inspect_container(name, None::<InspectContainerOptions>),
        )
        .await?;
        seen.network_settings
            .and_then(|settings| settings.networks)
            .into_iter()
            .flatten()
            .find(|(_, endpoint)| endpoint.network_id.as_deref() == Some(network))
            .and_then(|(_, endpoint)| endpoint.ip_address)
            .filter(|address| !address.is_empty())
            .ok_or_else(|| {
                HarnessFault::new(
                    FaultKind::ContainerLost,
                    format!("container {name} has no address in its network"),
                )
            })
    }

    fn body(&self, spec: &Spec) -> Result<ContainerCreateBody, HarnessFault> {
        let environment: BTreeMap<String, String> = default_environment()
            .into_iter()
            .chain(spec.environment.clone())
            .collect();
        Ok(ContainerCreateBody {
            hostname: Some("sandbox".to_owned()),
            image: Some(self.image(spec.role)?.id.clone()),
            user: Some(user(User::Holder)),
            entrypoint: Some(vec!["/bin/sleep".to_owned()]),
            cmd: Some(vec![spec.life.as_secs().max(1).to_string()]),
            working_dir: Some("/".to_owned()),
            env: Some(pairs(&environment)),
            labels: Some(labels(&self.identity, &spec.owner, spec.life)),
            host_config: Some(host_config(spec)),
            ..ContainerCreateBody::default()
        })
    }
}

/// Variables of every command; those of the plan come on top.
fn default_environment() -> BTreeMap<String, String> {
    [
        (
            "PATH",
            "/usr/local/bin:/opt/method/bin:/opt/python/bin:/usr/bin:/bin",
        ),
        ("HOME", "/home/coder"),
        ("TMPDIR", "/tmp"),
        ("LANG", "C.UTF-8"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect()
}

/// `uid:gid` of a user.
pub(super) fn user(user: User) -> String {
    format!("{0}:{0}", user.uid())
}

/// `NAME=value` for each variable.
pub(super) fn pairs(environment: &BTreeMap<String, String>) -> Vec<String> {
    environment
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

fn host_config(spec: &Spec) -> HostConfig {
    let limits = &spec.limits;
    let memory = Some(signed(limits.memory));
    HostConfig {
        memory,
        memory_swap: memory,
        nano_cpus: Some((limits.cpus * 1e9) as i64),
        cpuset_cpus: limits.cpuset.clone(),
        pids_limit: Some(limits.pids),
        init: Some(true),
        network_mode: Some(
            spec.network
                .as_ref()
                .map_or_else(|| "none".to_owned(), |network| network.id.clone()),
        ),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        readonly_rootfs: Some(true),
        privileged: Some(false),
        ipc_mode: Some("private".to_owned()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        tmpfs: Some(folders(spec.role, limits)),
        ulimits: Some(vec![ulimit("nofile", 1024), ulimit("core", 0)]),
        sysctls: Some(HashMap::from([(
            "net.ipv6.conf.all.disable_ipv6".to_owned(),
            "1".to_owned(),
        )])),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: None,
        }),
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        ..HostConfig::default()
    }
}

fn folders(role: Role, limits: &Limits) -> HashMap<String, String> {
    let folder = |size: u64, user: User, mode: &str| {
        let uid = user.uid();
        format!("rw,exec,nosuid,nodev,size={size},uid={uid},gid={uid},mode={mode}")
    };
    let mut folders = HashMap::from([
        (
            "/home/coder".to_owned(),
            folder(limits.home, User::Coder, "0755"),
        ),
        (
            "/tmp".to_owned(),
            folder(limits.temporary, User::Coder, "1777"),
        ),
    ]);
    if role == Role::Workspace {
        folders.insert(
            "/opt/method".to_owned(),
            folder(METHOD_SIZE, User::Method, "0755"),
        );
        folders.insert(
            "/run/relay".to_owned(),
            folder(RELAY_SIZE, User::Relay, "0755"),
        );
    }
    folders
}

fn ulimit(name: &str, value: i64) -> ResourcesUlimits {
    ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(value),
        hard: Some(value),
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
