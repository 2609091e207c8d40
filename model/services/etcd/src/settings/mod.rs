//! The `[service]` table of a scenario: the durations of leases and sessions, the versions of server and client, and what their
//! user does. Broken and fixed variants are settings of one recipe, not copies.
//!
//! `choices` has the choices of a client, `kernel` answers the kernel's questions, `validate` has the checks.

mod choices;
mod kernel;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use choices::{Guard, Jump, Leave, Nested, OnError, OperatorKind, Reads, Stop};
use fencepost_model::ids::{ClientId, RawId, SessionId};
use fencepost_model::time::Ticks;

/// The `[service]` table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The granted TTL of a lease, in ticks: T (E-LS-1).
    pub ttl: Ticks,
    /// The TTLs of single clients' leases, in order; the others have `ttl`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ttls: Vec<Ticks>,
    /// Whether sessions are renewed. The server-side lock and election never do (E-CC-30).
    pub renews: bool,
    /// When the next renewal is due after an answer, in ticks: T/3 (E-CC-2).
    pub renew_after: Ticks,
    /// When an unanswered renewal is sent again, in ticks (E-CC-2).
    pub resend_after: Ticks,
    /// The period of the loop that drops sessions, in ticks: `Done` closes this much after the deadline (E-CC-3).
    pub done_loop: Ticks,
    /// The deadline of a session until its first renewal is answered, in ticks: DialTimeout and one second (E-CC-4). None: T.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_deadline: Option<Ticks>,
    /// When a holder stops.
    pub stop: Stop,
    /// `stop = "before-expiry"`: how long before, in ticks.
    pub margin: Ticks,
    /// Whether a client that stops by itself looks at `Done`, or at its time, before it begins, too.
    pub looks_before_entry: bool,
    /// Whether the end of a session cancels a call that waits.
    pub done_cancels: bool,
    /// Whether `Lock` reads its own key after the wait: since 3.5 (E-CC-12).
    pub final_get: bool,
    /// Whether a holder watches its own key.
    pub watches_own_key: bool,
    /// Whether a session is closed after each tenure. Otherwise the client keeps it for its next one.
    pub closes_session: bool,
    /// Whether `Close` waits no longer than T for its revoke, as the Go client does; otherwise for as long as it takes (E-CC-6).
    pub limits_close: bool,
    /// Whether all clients use one lease (E-CC-15).
    pub shared_lease: bool,
    /// What a candidate does whose campaign has failed.
    pub on_error: OnError,
    /// How a user leaves.
    pub leave: Leave,
    /// Whether `Unlock` compares the create revision: no released version (E-CC-14).
    pub unlock_compares: bool,
    /// Whether a client takes a second lock below the first.
    pub nested: Nested,
    /// What the protected resource is.
    pub guard: Guard,
    /// How clients read the holder.
    pub reads: Reads,
    /// Whether the store keeps its history: programs need it that watch puts (E-W-2).
    pub history: bool,
    /// Whether a watch is shown a deletion at exactly the compacted revision: since 3.4.36 (E-W-5).
    pub shows_compacted_deletes: bool,
    /// What the operator does; see `budget.operator`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operator: Vec<OperatorKind>,
    /// The election timeout, in ticks: E. A new leader adds it to every lease (E-LD-1).
    pub election_timeout: Ticks,
    /// How long the members are without a leader, or down, in ticks.
    pub outage: Ticks,
    /// The least time between two promotions, in ticks.
    pub elections_apart: Ticks,
    /// The longest stall of a leader, in ticks: Z (E-LD-8, E-LD-9).
    pub stall: Ticks,
    /// Whether a client may be connected to the stalled leader (E-LD-8).
    pub stalled_client: bool,
    /// Whether a new leader takes proposals of its predecessor: until 3.4.30 (E-LD-9).
    pub forwards_revokes: bool,
    /// Whether a leader confirms its leadership before each renewal: since 3.4.31 (E-LD-8).
    pub confirms_leadership: bool,
    /// How long the single server pauses, in ticks: Z (E-LS-11).
    pub freeze: Ticks,
    /// When the leader logs the rest of a lease, in ticks after its last renewal; none: never (E-LS-13).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Ticks>,
    /// Whether a checkpoint survives a restart of the members (E-LS-13).
    pub checkpoint_persists: bool,
    /// How long after the end of its TTL the scan finds a lease, in ticks; `synchrony.server_delay` bounds how much later (E-LS-5).
    pub scan_delay: Ticks,
    /// How far the wall clock of the leader jumps, in ticks: J (E-LS-10).
    pub clock_jump: Ticks,
    /// Which way it jumps.
    pub jumps: Jump,
    /// How long the leader waits before it looks again at a lease that it found too early, in ticks: 5 s + 2E (E-LS-10).
    pub scan_retry: Ticks,
    /// Whether the scan of leases reads the monotonic clock: since 3.5 (E-LS-10).
    pub scans_monotonic: bool,
    /// Whether a renewal waits until the leader has applied what is committed: since 3.4.20 (E-LS-3).
    pub waits_for_apply: bool,
    /// How far the leader's apply lags behind, in ticks (E-LS-3).
    pub apply_lag: Ticks,
    /// How long a renewal waits for that, in ticks (E-LS-3).
    pub apply_patience: Ticks,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            ttl: Ticks::new(3),
            ttls: Vec::new(),
            renews: true,
            renew_after: Ticks::new(1),
            resend_after: Ticks::new(1),
            done_loop: Ticks::new(1),
            first_deadline: None,
            stop: Stop::default(),
            margin: Ticks::ZERO,
            looks_before_entry: true,
            done_cancels: false,
            final_get: false,
            watches_own_key: false,
            closes_session: true,
            limits_close: false,
            shared_lease: false,
            on_error: OnError::default(),
            leave: Leave::default(),
            unlock_compares: false,
            nested: Nested::default(),
            guard: Guard::default(),
            reads: Reads::default(),
            history: false,
            shows_compacted_deletes: false,
            operator: Vec::new(),
            election_timeout: Ticks::new(1),
            outage: Ticks::ZERO,
            elections_apart: Ticks::ZERO,
            stall: Ticks::ZERO,
            stalled_client: false,
            forwards_revokes: true,
            confirms_leadership: false,
            freeze: Ticks::ZERO,
            checkpoint: None,
            checkpoint_persists: false,
            scan_delay: Ticks::ZERO,
            clock_jump: Ticks::ZERO,
            jumps: Jump::default(),
            scan_retry: Ticks::new(7),
            scans_monotonic: false,
            waits_for_apply: true,
            apply_lag: Ticks::ZERO,
            apply_patience: Ticks::new(1),
        }
    }
}

impl Settings {
    /// The TTL of a client's leases.
    pub(crate) fn ttl_of_client(&self, client: ClientId) -> Ticks {
        self.ttls.get(client.place()).copied().unwrap_or(self.ttl)
    }

    /// The TTL of a lease: that of the client that asked for it.
    pub(crate) fn ttl_of(&self, lease: SessionId) -> Ticks {
        self.ttl_of_client(lease.raw().creator)
    }
}
