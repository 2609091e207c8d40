//! Scenarios of any protocol behind one type, and the catalogue that ships with fencepost.

use crate::scenario::{Promise, Unreadable, from_toml, system_of};
use crate::trace::{BadScript, perform};

macro_rules! any {
    ($($variant:ident => $protocol:ty,)*) => {
        /// A scenario of some protocol.
        #[derive(Clone, PartialEq, Debug)]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, and they stay where they are")]
        pub enum AnyScenario {
            $(#[allow(missing_docs, reason = "named like the protocol")] $variant($crate::scenario::Scenario<$protocol>),)*
        }

        impl AnyScenario {
            /// Reads a scenario of whichever system the text names. `file` is only used in messages.
            ///
            /// # Errors
            /// Anything a person can get wrong, with line and column.
            pub fn from_toml(text: &str, file: &str) -> Result<Self, Unreadable> {
                let system = system_of(text, file)?;
                $(if <$protocol as $crate::protocol::Protocol>::SYSTEMS.contains(&system.as_str()) {
                    return from_toml(text, file).map(AnyScenario::$variant);
                })*
                let known = [$(<$protocol as $crate::protocol::Protocol>::SYSTEMS),*].concat().join("`, `");
                Err(Unreadable::system(text, file, format!("there is no system `{system}`; there are `{known}`")))
            }

            /// The same scenario with only some of its promises judged.
            #[must_use]
            pub fn judging(&self, wanted: impl Fn(&Promise) -> bool) -> Self {
                match self { $(AnyScenario::$variant(scenario) => AnyScenario::$variant(scenario.judging(wanted)),)* }
            }
        }

        $(impl From<$crate::scenario::Scenario<$protocol>> for AnyScenario {
            fn from(scenario: $crate::scenario::Scenario<$protocol>) -> Self {
                AnyScenario::$variant(scenario)
            }
        })*

        /// Runs an expression with the scenario inside an [`AnyScenario`], whatever its protocol.
        #[macro_export]
        macro_rules! with_scenario {
            ($any:expr, $name:ident => $body:expr) => {
                match $any { $($crate::catalogue::AnyScenario::$variant($name) => $body,)* }
            };
        }
    };
}

crate::for_each_protocol!(any);

impl AnyScenario {
    /// The scenario as TOML.
    pub fn to_toml(&self) -> String {
        with_scenario!(self, scenario => toml::to_string(scenario).expect("a scenario is plain data"))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        with_scenario!(self, scenario => &scenario.name)
    }

    /// Performs a script; see [`crate::trace::perform`].
    ///
    /// # Errors
    /// The first line that names nothing that may happen there.
    pub fn perform(&self, script: &str) -> Result<String, BadScript> {
        with_scenario!(self, scenario => perform(script, scenario))
    }

    /// What it promises.
    pub fn promises(&self) -> &[Promise] {
        with_scenario!(self, scenario => &scenario.promises)
    }
}

macro_rules! files {
    ($($file:literal,)*) => {
        /// Name and text of each scenario file, in the order of the catalogue.
        pub const FILES: &[(&str, &str)] = &[$(($file, include_str!(concat!("../scenarios/", $file, ".toml"))),)*];
    };
}

files! {
    "lease-just-enough",
    "lease-one-tick-less",
    "lease-duplicates",
    "b01-fencing",
    "b01-no-fencing",
    "b01-one-pause",
    "b01-packet-equal",
    "b01-pause-bounded",
    "b01-pause-bounded-renewing",
    "b01-pause-equal",
    "b02-delay-long-enough",
    "b02-delay-too-short",
    "b02-fencing",
    "b03-ack-before-release",
    "b03-async-write",
    "b03-async-write-long-delay",
    "b03-fencing",
    "b04-check-then-write",
    "b04-transaction",
    "b05-ignore-jeopardy",
    "b05-suspend-in-jeopardy",
    "b05-suspended-not-stuck",
    "b06-lock-index-cleanup",
    "b06-lock-index-kept",
    "b06-modify-index-cleanup",
    "b07-create-index",
    "b07-create-index-released",
    "b07-lock-index",
    "b07-lock-index-strict",
    "b08-compare-and-set",
    "b08-random-token",
    "b09-much-slower",
    "b09-much-slower-delayed",
    "b09-much-slower-delayed-fine",
    "b09-much-slower-fine",
    "b09-offset",
    "b09-plain-lease",
    "b09-plain-lease-fine",
    "b09-slower-by-half",
    "b09-slower-by-half-fine",
    "b10-own-session",
    "b10-session-by-name",
    "b10-shared-session",
    "b11-impatient",
    "b11-patient",
    "b11-self-limiting",
    "b12-kill-group",
    "b12-kill-group-equal",
    "b12-kill-group-semaphore",
    "b12-kill-shell",
    "b13-give-up",
    "b13-retry",
    "b13-retry-then-stop",
    "b14-destroy-on-loss",
    "b14-reassert",
    "b14-renew-after-loss",
    "b15-recreate-session",
    "b15-reuse-session",
    "b16-delete-held-key",
    "b16-delete-held-key-long-delay",
    "b16-no-delete",
    "b16-put-resets-lock-index",
    "b17-release-then-stop",
    "b17-stop-then-release",
    "b18-delay-too-short",
    "b18-false-alarm",
    "b18-false-alarm-equal",
    "b18-long-delay",
    "b18-no-checks",
    "b18-one-way",
    "b18-serf-health",
    "b19-no-reap",
    "b19-reap",
    "b19-reap-delayed",
    "b19-reap-equal",
    "b19-silent-node-reaped",
    "b20-no-ttl",
    "b20-ttl",
    "b20-ttl-equal",
    "b20-ttl-pauses",
    "b21-checkpointed",
    "b21-elections-stop",
    "b21-reset-on-election",
    "b22-five-seconds",
    "b22-go-default",
    "b22-go-default-sooner",
    "b22-ninety-is-sixty",
    "b22-ninety-seconds",
    "b22-no-delay",
    "b22-raw-5000",
    "b23-consistent-read",
    "b23-default-read",
    "b24-no-term-check",
    "b24-term-check",
    "b25-quorum",
    "b25-unbounded",
    "b25-window",
    "b25-window-equal",
    "b26-no-recheck",
    "b26-recheck-delayed",
    "b26-recheck-fencing",
    "b26-recheck-instant",
    "b27-hand-made-delay",
    "b27-long-delay",
    "b27-no-delay",
    "b27-no-hand-made-delay",
    "b27-self-limiting",
    "b28-ignore-conflict",
    "b28-refuse-conflict",
    "b29-destroy",
    "b29-plain-delete",
    "b30-contender-deleted",
    "b30-neighbour",
    "b30-no-retry",
    "b30-retry",
    "b31-blind-retry",
    "b31-no-reread",
    "b31-private-session",
    "b31-reread",
    "b32-compare-and-set",
    "b32-count-then-register",
    "b33-check-then-push",
    "b33-conditional-return",
    "b33-unconditional-return",
    "b34-atomic",
    "b34-step-by-step",
    "b34-timestamps-late",
    "b34-timestamps-skewed",
    "b35-expiry",
    "b35-new-record",
    "b35-no-expiry",
    "b35-non-reentrant",
    "b35-recorded-ttl",
    "b35-same-record",
    "b36-doubled",
    "b36-lost",
    "b36-message-as-mutex",
    "b36-no-fault",
    "b37-autoheal",
    "b37-ignore",
    "b37-khepri-drops",
    "b37-khepri-keeps",
    "b37-pause-minority",
    "b38-gives-up",
    "b38-retries",
    "b39-client-local",
    "b39-verify-holder",
    "b39-verify-slot-only",
    "b40-no-verify",
    "b40-verify",
    "b42-ascending",
    "b42-ascending-random-start",
    "b42-ascending-start-at-1",
    "b42-descending",
    "b43-from-0-and-0",
    "b43-from-0-and-1",
    "b43-from-1-and-0",
    "b43-from-1-and-1",
    "b44-amnesia",
    "b44-clock-jump",
    "b44-delayed-restart",
    "b44-fsync",
    "b44-late-answers",
    "b44-validity-unchecked",
    "b45-async-copy",
    "b45-quorum",
    "b45-split",
    "b46-compare-and-delete",
    "b46-look-then-delete",
    "b46-plain-delete",
    "b47-anonymous-node",
    "b47-named-by-session",
    "f01-mandatory",
    "f01-not-mandatory",
    "f02-errors-are-absence",
    "f02-errors-are-unknown",
    "f03-first-gap",
    "f03-strays-repaired",
    "f04-absence-confirmed",
    "f04-temporary-gap",
    "f05-length-limit",
    "f05-probes-are-kept",
    "f06-add-declares-each",
    "f06-add-declares-one",
    "f07-removal-exact",
    "f07-removal-too-far",
    "f09-removal-awaited",
    "f09-removal-unawaited",
    "f10-numbers-wait",
    "f10-removed-and-added",
    "f12-wait-bounded",
    "f13-frozen-holder",
    "f13-lease",
    "f14-mutex",
    "f14-no-mutex",
    "f15-no-reconnect",
    "f15-reconnecting-administrator",
    "f16-overshoot-first",
    "f16-overshoot-inclusive",
    "f16-overshoot-old-count",
    "f17-no-reconnect",
    "f17-overshoot-races-addition",
    "f18-overshoot-far-enough",
    "f18-overshoot-too-short",
    "f20-create-converges",
    "f20-create-over-existing",
    "f21-goes-on-after-error",
    "f21-stops-at-error",
    "f22-relative-retry",
    "f22-retry-to-target",
    "f23-slots-expire",
    "f25-durable",
    "f25-not-durable",
    "f27-channel-not-reopened",
    "f29-starvation",
    "f30-false-full",
    "f31-own-connections",
    "f31-shared-and-closed",
    "f31-shared-connection",
    "f32-passive-declare",
    "f32-probe-holder",
    "f32-verify-slot-only",
    "f33-deleted-under-holder",
    "f33-passive-declare",
    "f34-redeclare",
    "f35-topology-recovery",
    "f36-lease",
    "f36-lease-without-margin",
    "f36-middle-box",
    "f37-hangs-up",
    "f37-own-ghost",
    "f38-closes-channel",
    "f38-closes-connection",
    "f40-one-heartbeat",
    "f40-three-heartbeats",
    "f43-not-exclusive",
    "f43-slot-deleted",
    "consul-capitals",
    "consul-open-query",
    "consul-open-query-given-up",
    "consul-small-letters",
    "consul-snapshot",
    "consul-take-over",
    "consul-take-over-in-steps",
    "dial-unbounded",
    "dial-bounded",
    "consul-election",
    "consul-record",
    "consul-record-duplicates",
    "consul-lock-delay-too-short",
    "consul-skew-covered",
    "consul-skew-too-large",
    "consul-cut-off-until-told",
    "consul-cut-off-self-limiting",
    "consul-retries",
    "consul-told-in-time",
    "consul-told-too-late",
    "consul-never-listens",
    "certain-nobody-interferes",
    "certain-node-removed",
    "certain-node-reaped",
    "consul-third-party",
    "consul-third-party-waits",
    "consul-bystander-writes",
    "consul-bystander-deletes",
    "consul-operator-releases",
    "consul-operator-acts",
    "consul-check-of-the-process",
    "consul-check-and-ttl",
    "consul-node-crash",
    "consul-delayed-log",
    "consul-delayed-log-record",
    "consul-renewed-in-vain",
    "consul-renewed-in-time",
    "consul-failover",
    "consul-failover-late",
    "consul-failover-self-limiting",
    "consul-restart",
    "consul-ephemeral",
    "consul-ephemeral-restarts-tokens",
    "consul-waiting-by-watch",
    "consul-loss-destroys",
    "consul-loss-destroys-equal",
    "consul-loss-reasserts",
    "consul-loss-keeps-session",
    "consul-dead-session",
    "consul-turns",
    "consul-turns-never-lets-go",
    "consul-missed-deletion",
    "consul-heard-deletion",
    "consul-watch-once",
    "consul-no-prune",
    "consul-prune-by-name",
    "consul-prune-by-session",
    "consul-limit-literal",
    "consul-semaphore-2",
    "consul-go-lock-cut-off",
    "consul-lock-command",
    "consul-lock-command-short-delay",
    "consul-leader-election",
    "consul-leader-election-sooner",
    "consul-go-semaphore",
    "consul-semaphore-guide",
    "consul-lock-3",
    "consul-lock-3-pause",
    "consul-lock-3-cut",
    "consul-semaphore-3",
    "consul-semaphore-4",
    "rabbitmq-semaphore-2",
    "rabbitmq-semaphore-literal",
    "rabbitmq-semaphore-3",
}

/// Every scenario that ships with fencepost, in order.
pub fn all() -> Vec<AnyScenario> {
    FILES
        .iter()
        .map(|(name, text)| AnyScenario::from_toml(text, name).expect("the catalogue's files are tested"))
        .collect()
}
