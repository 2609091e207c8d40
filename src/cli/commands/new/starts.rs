//! Where a new scenario begins, for each system: settings that keep its promises with small numbers, recipes, promises, and the
//! settings that are worth a question.

use fencepost::Property;
use fencepost::catalogue::CATALOGUE;

/// The beginning of a scenario of one system.
#[derive(Copy, Clone, Debug)]
pub struct Start {
    pub system: &'static str,
    /// What is shared, in the words of a question.
    pub about: &'static str,
    /// The clients as they are in the field.
    pub recipes: &'static [&'static str],
    /// Settings of `[service]` with their values in TOML. A recipe stands for them, but for those in `always`.
    pub settings: &'static [(&'static str, &'static str)],
    /// Settings that a recipe leaves open.
    pub always: &'static [(&'static str, &'static str)],
    /// The settings that are asked for.
    pub questions: &'static [&'static str],
    pub promises: &'static [Property],
    /// The length of a tick in its recipes; none: they have no durations.
    pub recipe_tick: Option<&'static str>,
    /// Whether the system has an answer to a crash of a client.
    pub has_crashes: bool,
}

/// The beginning for a system without a row.
const PLAIN: Start = Start {
    system: "",
    about: "a shared resource",
    recipes: &[],
    settings: &[],
    always: &[],
    questions: &[],
    promises: &[Property::MutualExclusion, Property::SingleOwner],
    recipe_tick: None,
    has_crashes: true,
};

const SLOTS: &[Property] = &[Property::SlotLimitBelief, Property::SlotLimit];

/// The systems that need more than the plain beginning, in the order of the catalogue.
const STARTS: &[Start] = &[
    Start {
        system: "lease",
        about: "a minimal lease",
        settings: &[("lease", "2"), ("grace", "2")],
        questions: &["lease", "grace"],
        promises: &[Property::MutualExclusion, Property::SingleOwner, Property::TokenOrder],
        ..PLAIN
    },
    Start {
        system: "consul-lock",
        about: "a lock on a key of Consul",
        recipes: &["go-lock", "lock-command", "leader-election"],
        recipe_tick: Some("500ms"),
        settings: &[("ttl", "2"), ("renew_every", "1"), ("lock_delay", "2"), ("belief", "\"self-limiting\"")],
        questions: &["ttl", "renew_every", "lock_delay", "belief"],
        ..PLAIN
    },
    Start {
        system: "consul-semaphore",
        about: "a semaphore on keys of Consul",
        recipes: &["go-semaphore", "semaphore-guide"],
        recipe_tick: Some("500ms"),
        settings: &[("ttl", "2"), ("renew_every", "1")],
        always: &[("semaphore.limits", "[1]")],
        questions: &["semaphore.limits", "ttl", "renew_every"],
        promises: SLOTS,
        ..PLAIN
    },
    Start {
        system: "rabbitmq-semaphore",
        about: "a semaphore made of RabbitMQ's queues",
        recipes: &["persistent-semaphore"],
        always: &[("slots", "[1]")],
        questions: &["slots"],
        promises: &[Property::SlotLimitBelief, Property::SlotLimit, Property::SlotExclusion],
        ..PLAIN
    },
    Start {
        system: "rabbitmq-mutex",
        about: "one message of RabbitMQ as a mutex",
        promises: &[Property::MutualExclusion, Property::SingleOwner, Property::SlotConservation],
        ..PLAIN
    },
    Start {
        system: "token-pool",
        about: "a list of tokens in a store",
        settings: &[("stale_after", "2")],
        questions: &["limit", "stale_after", "give_back"],
        promises: &[Property::SlotLimitBelief, Property::SlotLimit, Property::SlotConservation],
        ..PLAIN
    },
    Start {
        system: "ranked-semaphore",
        about: "a semaphore by ranks in a sorted set",
        settings: &[("limit", "1")],
        questions: &["limit", "sequence", "joins"],
        promises: SLOTS,
        ..PLAIN
    },
    Start {
        system: "holder-records",
        about: "records of holders with a TTL",
        settings: &[("ttls", "[2, 2]"), ("without_ttl", "3")],
        questions: &["limit", "ttls", "reentry"],
        promises: SLOTS,
        ..PLAIN
    },
    Start {
        system: "sequence-queue",
        about: "a queue of numbered nodes",
        questions: &["nodes"],
        promises: &[Property::SlotLimitBelief, Property::EventuallyAcquired],
        has_crashes: false,
        ..PLAIN
    },
    Start {
        system: "redlock",
        about: "a lock on a majority of independent nodes",
        settings: &[("lease", "2"), ("drift", "1")],
        questions: &["nodes", "lease", "drift"],
        promises: &[Property::MutualExclusion, Property::LeaseExclusion],
        ..PLAIN
    },
    Start { system: "copied-lock", about: "a lock on a leader with copies", questions: &["nodes", "grants"], ..PLAIN },
    Start {
        system: "observed-lease",
        about: "a lease that contenders observe, as in Kubernetes",
        recipes: &[
            "client-go",
            "client-go-v0-33",
            "client-go-v0-26",
            "controller-runtime",
            "fabric8",
            "python",
            "kubert",
            "kube-leader-election",
            "dynamodb-lock-client",
            "litestream",
            "terraform",
        ],
        recipe_tick: Some("1s"),
        settings: &[("lease", "4"), ("renew_deadline", "2"), ("retry_period", "1")],
        questions: &["lease", "renew_deadline", "retry_period"],
        ..PLAIN
    },
    Start {
        system: "lease-row",
        about: "a row of an SQL table as a lease",
        recipes: &["shedlock", "shedlock-client-time"],
        recipe_tick: Some("1s"),
        settings: &[("lease", "4"), ("task", "2")],
        questions: &["lease", "task"],
        ..PLAIN
    },
    Start {
        system: "etcd-mutex",
        about: "a mutex of etcd's Go client",
        settings: &[("ttl", "3"), ("stop", "\"before-expiry\""), ("margin", "1"), ("final_get", "true")],
        questions: &["ttl", "stop", "margin", "final_get"],
        ..PLAIN
    },
    Start {
        system: "etcd-election",
        about: "an election of etcd's Go client",
        settings: &[("ttl", "3"), ("stop", "\"before-expiry\""), ("margin", "1")],
        questions: &["ttl", "stop", "margin", "done_cancels"],
        ..PLAIN
    },
];

/// The beginning for a system of the catalogue; none: there is no such system.
pub fn start(system: &str) -> Option<Start> {
    let system = CATALOGUE.systems().find(|known| *known == system)?;
    let row = STARTS.iter().find(|start| start.system == system).copied();
    Some(row.unwrap_or(Start { system, ..PLAIN }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fields::{fields, find};

    #[test]
    fn every_recipe_and_every_setting_with_which_a_scenario_begins_exists() {
        for service in CATALOGUE.services() {
            let root = service.schema("/definitions");
            let settings = fields(&root, &root["properties"]["service"]);
            let known = find(&settings, "recipe").map(|field| field.values.iter().map(|(name, _)| name.as_str()));
            let known: BTreeSet<&str> = known.into_iter().flatten().collect();
            let starts: Vec<Start> = service.systems().iter().filter_map(|system| start(system)).collect();
            let offered: BTreeSet<&str> = starts.iter().flat_map(|start| start.recipes).copied().collect();
            assert_eq!(offered, known, "{:?}", service.systems());
            for start in starts {
                let named = start.settings.iter().chain(start.always).map(|(name, _)| name).chain(start.questions);
                for name in named {
                    assert!(find(&settings, name).is_some(), "{}: {name}", start.system);
                }
            }
        }
        let is_known = |start: &Start| CATALOGUE.systems().any(|system| system == start.system);
        assert!(STARTS.iter().all(is_known) && start("nothing").is_none());
    }
}
