//! Knows the labels of what is ours, and how to clear away what its owner left behind.
//! Must not touch anything that lacks our labels.
//! Start at `sweep`.

use std::collections::HashMap;
use std::time::Duration;

use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListNetworksOptionsBuilder, RemoveContainerOptionsBuilder,
};

use super::engine::{CALL, CREATE, Engine, status, within};
use super::{Identity, Owner, Swept, network};
use crate::harness::owner::{deadline, now};
use crate::vocab::HarnessFault;

const RUN: &str = "evalxrl.run";
const SESSION: &str = "evalxrl.session";
const OWNER: &str = "evalxrl.owner";
const DEADLINE: &str = "evalxrl.deadline";

/// The labels of a thing made now.
pub(super) fn labels(
    identity: &Identity,
    owner: &Owner,
    life: Duration,
) -> HashMap<String, String> {
    HashMap::from([
        (RUN.to_owned(), owner.run.clone()),
        (SESSION.to_owned(), owner.session.to_string()),
        (OWNER.to_owned(), identity.to_string()),
        (DEADLINE.to_owned(), deadline(life).to_string()),
    ])
}

/// Whether a thing with these labels may be removed by `identity`.
fn is_left_over(
    labels: &HashMap<String, String>,
    identity: &Identity,
    run: Option<&str>,
    now: u64,
) -> bool {
    let Some(owner) = labels.get(OWNER).and_then(|text| Identity::parse(text)) else {
        return false;
    };
    let overdue = labels
        .get(DEADLINE)
        .is_some_and(|text| text.parse().is_ok_and(|deadline: u64| deadline < now));
    let own = owner == *identity && run.is_some() && labels.get(RUN).map(String::as_str) == run;
    owner.is_dead(identity) || overdue || own
}

/// Removes left-over containers, then left-over networks.
pub(super) async fn sweep(
    engine: &Engine,
    identity: &Identity,
    run: Option<&str>,
) -> Result<Swept, HarnessFault> {
    let mut swept = Swept::default();
    let filters = HashMap::from([("label", vec![OWNER])]);
    let containers = within(
        CALL,
        "listing containers",
        engine.client().list_containers(Some(
            ListContainersOptionsBuilder::new()
                .all(true)
                .filters(&filters)
                .build(),
        )),
    )
    .await?;
    for container in containers {
        let labels = container.labels.unwrap_or_default();
        if let (true, Some(id)) = (is_left_over(&labels, identity, run, now()), container.id) {
            remove_container(engine, &id).await?;
            swept.sandboxes += 1;
        }
    }
    let networks = within(
        CALL,
        "listing networks",
        engine.client().list_networks(Some(
            ListNetworksOptionsBuilder::new().filters(&filters).build(),
        )),
    )
    .await?;
    for found in networks {
        let labels = found.labels.unwrap_or_default();
        if let (true, Some(id)) = (is_left_over(&labels, identity, run, now()), found.id) {
            network::remove(engine, &id).await?;
            swept.networks += 1;
        }
    }
    Ok(swept)
}

/// Removes a container with all its processes; a missing one is fine, as is one that is being removed.
pub(super) async fn remove_container(engine: &Engine, name: &str) -> Result<(), HarnessFault> {
    let options = RemoveContainerOptionsBuilder::new()
        .force(true)
        .v(true)
        .build();
    let call = async {
        match engine.client().remove_container(name, Some(options)).await {
            Err(error) if matches!(status(&error), Some(404 | 409)) => Ok(()),
            other => other,
        }
    };
    within(CREATE, "removing a container", call).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::Opaque;

    fn made(identity: &Identity, life: u64) -> HashMap<String, String> {
        let owner = Owner {
            run: "run".to_owned(),
            session: Opaque::new("0123456789ab").unwrap(),
        };
        labels(identity, &owner, Duration::from_secs(life))
    }

    #[test]
    fn only_dead_owners_passed_deadlines_and_the_own_run_are_left_over() {
        let here = Identity::current().unwrap();
        let living = made(&here, 100);
        assert!(!is_left_over(&living, &here, None, now()));
        assert!(!is_left_over(&living, &here, Some("another"), now()));
        assert!(is_left_over(&living, &here, Some("run"), now()));
        assert!(is_left_over(&living, &here, None, now() + 1000));
        let text = here.to_string();
        let (stem, ticks) = text.rsplit_once('/').unwrap();
        let dead = format!("{stem}/{}", ticks.parse::<u64>().unwrap() + 1);
        let dead = made(&Identity::parse(&dead).unwrap(), 100);
        assert!(is_left_over(&dead, &here, None, now()));
    }

    #[test]
    fn a_thing_without_our_labels_is_never_left_over() {
        let here = Identity::current().unwrap();
        assert!(!is_left_over(&HashMap::new(), &here, Some("run"), u64::MAX));
    }
}
