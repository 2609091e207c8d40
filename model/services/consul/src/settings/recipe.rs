//! The settings of a contender for the lock. The first variant of each enum is the default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::normal::Normal;
use fencepost_model::time::Ticks;

/// The session that a client uses.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionUse {
    /// Its own session, created when it is first needed, and again after its end.
    #[default]
    Own,
    /// One session for all clients. It exists from the start and is never created again.
    Shared,
    /// Any session with the common name; a new one if there is none.
    ByName,
}

/// The effect of the end of a session on its keys (C-INV-1).
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Behavior {
    /// They are free again.
    #[default]
    Release,
    /// They are deleted.
    Delete,
}

/// The consistency mode of a read.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// From the leader's state, without a round trip (C-CON-2).
    #[default]
    Default,
    /// After the leader has confirmed its leadership (C-CON-3).
    Consistent,
}

/// The letter case of a session's id (C-SES-20).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Letters {
    /// The server's spelling.
    #[default]
    Small,
    /// In capitals.
    Capitals,
}

/// A client's reaction to the end of its session.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadSession {
    /// It creates a new one.
    #[default]
    Recreate,
    /// It tries again with the same session.
    Reuse,
}

/// How long a client believes that it has the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BeliefRule {
    /// Until it is notified of the loss: a renewal fails, or the resource refuses a write.
    #[default]
    UntilTold,
    /// The same, and never longer than TTL after it *sent* the last acknowledged renewal, by its own clock.
    SelfLimiting,
    /// Until its user has finished, in spite of any notification.
    None,
    /// Until its monitor reports a loss; responses to renewals have no effect (C-LCK-7).
    ByMonitor,
    /// Like self-limiting, but it only suspends its work, and resumes when a renewal is acknowledged again.
    Suspending,
}

/// A client's reaction to an error response to a renewal, for example while servers have no leader.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RenewalErrors {
    /// It renews again when the next renewal is due, without limit.
    #[default]
    GoOn,
    /// It never renews again.
    GiveUp,
    /// It renews until its TTL has passed since it sent the last acknowledged renewal (C-API-2).
    RetryForTtl,
}

/// The number that a client sends with a write.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sequencer {
    /// No number.
    #[default]
    None,
    /// The key's LockIndex, read back after the acquire: the recommendation of the sessions document.
    LockIndex,
    /// The key's ModifyIndex, read back while the session has it (C-KV-19).
    ModifyIndex,
    /// The key's CreateIndex, read back.
    CreateIndex,
    /// A unique number without order, drawn by the client.
    Random,
    /// The version of the resource, read before the request for the lock.
    Version,
}

impl Sequencer {
    /// Whether it is read back from the key.
    pub fn is_read_back(self) -> bool {
        matches!(self, Sequencer::LockIndex | Sequencer::ModifyIndex | Sequencer::CreateIndex)
    }
}

/// Whether a client waits for its writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// It releases only after every write of the tenure is answered.
    #[default]
    Acknowledged,
    /// It does not wait for responses.
    Async,
}

/// Whether a client checks that it has the lock before each write.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// It does not.
    #[default]
    None,
    /// It reads the key, then writes.
    Look,
    /// The protected resource is in the same store, and the check and the write are one transaction (C-TXN-6).
    Transaction,
}

/// How a client ends its tenure.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// It stops acting, then releases.
    #[default]
    StopFirst,
    /// It releases, and stops acting after the successful response.
    ReleaseFirst,
    /// It does not end by itself: it works until it is stopped.
    Never,
}

/// The request that gives the lock up.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unlock {
    /// A release, which only succeeds for the holder's session (C-KV-12).
    #[default]
    Release,
    /// It deletes the key, whosever it is.
    Delete,
    /// It reads the key, and deletes it if it is its own.
    LookThenDelete,
}

/// How a client waits while another client has the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// It asks again after `retry_every`.
    #[default]
    Retry,
    /// It watches the key, or the prefix, by a blocking query (C-LCK-3, C-SEM-4).
    Watch,
    /// It watches, and then waits `retry_every` before it asks for a free key (C-LE-1).
    WatchThenRest,
    /// It reads the key before it asks for it at all, and watches while a client has it, as the Go client does (C-LCK-3).
    ReadThenWatch,
}

impl Waiting {
    /// Whether it watches.
    pub fn is_watching(self) -> bool {
        self != Waiting::Retry
    }
}

/// How a holder monitors its key, by consecutive blocking queries (C-LCK-6).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Monitor {
    /// How long it waits for a response, in ticks; none: without limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// The maximum wait of the query at the server, in ticks; none: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Ticks>,
    /// The reaction to a reported loss, or to a missing response.
    pub on_loss: OnLoss,
    /// How many consecutive errors are tolerated (C-LCK-6).
    #[serde(skip_serializing_if = "is_default")]
    pub retries: u8,
    /// The time between an error and the next query, in ticks.
    #[serde(skip_serializing_if = "is_default")]
    pub retry_every: Ticks,
    /// The consistency mode of the queries: the Go client's are consistent (C-LCK-6, C-SEM-6).
    #[serde(skip_serializing_if = "is_default")]
    pub reads: Reads,
}

/// The lock as a queue of contender keys: the oldest key has the lock, as in the recipes of etcd and ZooKeeper. A
/// client waits for the end of the key before its own.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Whether a client whose turn has come checks that its own key still exists.
    pub rechecks: bool,
}

/// A client's reaction to a loss reported by its monitor. It always stops acting.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnLoss {
    /// It forgets its session, which ends by its TTL.
    #[default]
    Forget,
    /// Its renewer continues (C-LCK-8).
    Keep,
    /// It destroys its session.
    Destroy,
    /// It asks for the lock again, with the same session.
    Reassert,
}

/// The protected work as a separate process, started by the holder.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The processes that are killed when the lock is lost.
    pub killed: Killed,
    /// The duration from the first signal to the last, in ticks (C-CLI-2: 5 s).
    #[serde(default)]
    pub grace: Ticks,
}

/// The processes that are killed when the lock is lost.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Killed {
    /// The whole process group; the client releases the lock afterwards.
    Group,
    /// Only the shell that started the work, which continues; the client releases the lock at once.
    Shell,
}
