//! Knows the sealed network of a session: internal, without an address of the host, eight addresses wide.
//! Must not know who joins it.
//! Start at `create`.

use std::collections::HashMap;

use bollard::models::{Ipam, IpamConfig, NetworkCreateRequest};

use super::engine::{CREATE, Engine, fault, status, within};
use super::sweeping::labels;
use super::{Identity, Network, Owner, Sealing};
use crate::harness::owner::random_name;
use crate::vocab::{FaultKind, HarnessFault};

/// /29 networks in a /16 pool.
const NETWORKS: u32 = 8192;
/// A network outlives any session; only a dead owner or this deadline frees it.
const LIFE: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

/// The `index`-th piece of the pool.
fn subnet(pool: [u8; 2], index: u32) -> String {
    let offset = index * 8;
    format!(
        "{}.{}.{}.{}/29",
        pool[0],
        pool[1],
        offset / 256,
        offset % 256
    )
}

/// Where the engine would put the gateway of the network an address lies in.
pub(super) fn gateway(address: &str) -> Option<String> {
    let Ok(address) = address.parse::<std::net::Ipv4Addr>() else {
        return None;
    };
    let [a, b, c, d] = address.octets();
    Some(format!("{a}.{b}.{c}.{}", (d & !7) + 1))
}

/// Makes a network; a piece of the pool that is taken gives way to the next.
pub(super) async fn create(
    engine: &Engine,
    sealing: &Sealing,
    identity: &Identity,
    owner: &Owner,
) -> Result<Network, HarnessFault> {
    let mut draw = [0; 4];
    getrandom::fill(&mut draw).map_err(|error| {
        HarnessFault::new(FaultKind::Internal, format!("no random bytes: {error}"))
    })?;
    let start = u32::from_le_bytes(draw) % NETWORKS;
    let name = format!("x{}", random_name()?);
    let deadline = tokio::time::Instant::now() + CREATE;
    for step in 0..NETWORKS {
        let request = request(
            &name,
            subnet(sealing.pool, (start + step) % NETWORKS),
            sealing,
            labels(identity, owner, LIFE),
        );
        let call = engine.client().create_network(request);
        match tokio::time::timeout_at(deadline, call).await {
            Ok(Ok(made)) => return Ok(Network { id: made.id }),
            Ok(Err(error)) if overlaps(&error) => {}
            Ok(Err(error)) => return Err(fault("creating a network", &error)),
            Err(_) => break,
        }
    }
    Err(HarnessFault::new(
        FaultKind::Deadline,
        format!(
            "no free network in the pool {}.{}.0.0/16",
            sealing.pool[0], sealing.pool[1]
        ),
    ))
}

fn overlaps(error: &bollard::errors::Error) -> bool {
    let text = error.to_string();
    text.contains("overlaps") || text.contains("Pool overlaps") || text.contains("conflicts with")
}

fn request(
    name: &str,
    subnet: String,
    sealing: &Sealing,
    labels: HashMap<String, String>,
) -> NetworkCreateRequest {
    let mut options = HashMap::new();
    if sealing.without_host_address {
        options.insert(
            "com.docker.network.bridge.inhibit_ipv4".to_owned(),
            "true".to_owned(),
        );
    }
    NetworkCreateRequest {
        name: name.to_owned(),
        driver: Some("bridge".to_owned()),
        internal: Some(true),
        attachable: Some(false),
        enable_ipv6: Some(false),
        ipam: Some(Ipam {
            driver: Some("default".to_owned()),
            config: Some(vec![IpamConfig {
                subnet: Some(subnet),
                ..IpamConfig::default()
            }]),
            options: None,
        }),
        options: Some(options),
        labels: Some(labels),
        ..NetworkCreateRequest::default()
    }
}

/// Removes a network; a missing one is fine. A container that is still leaving it delays the removal.
pub(super) async fn remove(engine: &Engine, id: &str) -> Result<(), HarnessFault> {
    let deadline = tokio::time::Instant::now() + CREATE;
    loop {
        let call = async {
            match engine.client().remove_network(id).await {
                Err(error) if status(&error) == Some(404) => Ok(true),
                Err(error)
                    if error.to_string().contains("active endpoints")
                        && tokio::time::Instant::now() < deadline =>
                {
                    Ok(false)
                }
                other => other.map(|()| true),
            }
        };
        if within(CREATE, "removing a network", call).await? {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_is_cut_into_pieces_that_do_not_overlap() {
        assert_eq!(subnet([10, 213], 0), "10.213.0.0/29");
        assert_eq!(subnet([10, 213], 33), "10.213.1.8/29");
        assert_eq!(subnet([10, 213], NETWORKS - 1), "10.213.255.248/29");
    }

    #[test]
    fn the_gateway_is_the_first_address_of_the_piece() {
        assert_eq!(gateway("10.213.1.11").as_deref(), Some("10.213.1.9"));
        assert_eq!(gateway("127.0.0.1x"), None);
    }
}
