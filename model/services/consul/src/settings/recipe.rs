//! The choices of a client that wants the lock. The first one of each list is what a scenario gets that does not choose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_default;
use fencepost_model::normal::Normal;
use fencepost_model::time::Ticks;

/// Whose session a client uses.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionUse {
    /// One of its own, created when it is first needed, and anew when it is gone.
    #[default]
    Own,
    /// One for all, there from the start and never created anew.
    Shared,
    /// Whichever has the right name, which all clients use; a new one if there is none.
    ByName,
}

/// What the end of a session does to its keys (C-INV-1).
#[derive(
    Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Behavior {
    /// They are free again.
    #[default]
    Release,
    /// They are gone.
    Delete,
}

/// How somebody reads the key.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// From the leader's state, without a round trip (C-CON-2).
    #[default]
    Default,
    /// After the leader has made sure that it leads (C-CON-3).
    Consistent,
}

/// In which letters a session's id is written (C-SES-20).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Letters {
    /// As the server does.
    #[default]
    Small,
    /// In capitals.
    Capitals,
}

/// What a client does when it hears that its session is gone.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadSession {
    /// It creates a new one.
    #[default]
    Recreate,
    /// It tries again with the same one.
    Reuse,
}

/// Until when a client believes that it has the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Belief {
    /// Until it is told otherwise: a renewal fails, or the resource refuses a write.
    #[default]
    UntilTold,
    /// The same, and never longer than TTL after it *sent* the last acknowledged renewal, by its own clock.
    SelfLimiting,
    /// Until its user is done, whatever it hears.
    None,
    /// Until its monitor says otherwise; what renewals are answered does not matter (C-LCK-7).
    ByMonitor,
    /// As self-limiting, but it only suspends its work, and goes on when a renewal is acknowledged again.
    Suspending,
}

/// What a client does when a renewal is answered with an error, as while servers have no leader.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RenewalErrors {
    /// It renews again when the next renewal is due, for ever.
    #[default]
    GoOn,
    /// It never renews again.
    GiveUp,
    /// It goes on until its TTL has passed since it sent the last acknowledged renewal (C-API-2).
    RetryForTtl,
}

/// What a client sends with a write.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sequencer {
    /// Nothing.
    #[default]
    None,
    /// The key's LockIndex, read back after acquiring: what the sessions document recommends.
    LockIndex,
    /// The key's ModifyIndex, read back while the session has it (C-KV-19).
    ModifyIndex,
    /// The key's CreateIndex, read back.
    CreateIndex,
    /// A unique number without order, drawn by the client.
    Random,
    /// The version of the resource, read before asking for the lock.
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
    /// It releases only when every write of the tenure is answered.
    #[default]
    Acknowledged,
    /// It sends them and goes on.
    Async,
}

/// Whether a client makes sure that it has the lock before each write.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// It does not.
    #[default]
    None,
    /// It reads the key, then writes.
    Look,
    /// What it protects lives in the same store, and the check travels with the write, in one transaction (C-TXN-6).
    Transaction,
}

/// How a client gives up the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// It stops acting, then releases.
    #[default]
    StopFirst,
    /// It releases, and stops acting when it hears that this worked.
    ReleaseFirst,
    /// Never: it works until it is stopped.
    Never,
}

/// By which request a client gives the lock up.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unlock {
    /// A release, which only the holder's session can (C-KV-12).
    #[default]
    Release,
    /// It deletes the key, whosever it is.
    Delete,
    /// It reads the key, and deletes it if it is its own.
    LookThenDelete,
}

/// How a client waits while somebody else has the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// It asks again after `retry_every`.
    #[default]
    Retry,
    /// It watches the key, or the prefix, by a blocking query (C-LCK-3, C-SEM-4).
    Watch,
    /// The same, and it waits `retry_every` before it asks for a key that has become free (C-LE-1).
    WatchThenRest,
    /// It reads the key before it asks for it at all, and watches while somebody has it, as the Go client does (C-LCK-3).
    ReadThenWatch,
}

impl Waiting {
    /// Whether it watches.
    pub fn is_watching(self) -> bool {
        self != Waiting::Retry
    }
}

/// How a holder watches its key, by blocking queries one after the other (C-LCK-6).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Monitor {
    /// How long it waits for an answer; none: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Ticks>,
    /// How long the server may hold the query; none: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Ticks>,
    /// What a client does that is told of a loss, or loses patience.
    pub on_loss: OnLoss,
    /// How often in a row an error is no loss yet (C-LCK-6).
    #[serde(skip_serializing_if = "is_default")]
    pub retries: u8,
    /// How long after an error it asks again.
    #[serde(skip_serializing_if = "is_default")]
    pub retry_every: Ticks,
}

/// The lock as a queue of contender keys, of which the oldest has it, as in the recipes of etcd and ZooKeeper. A client
/// waits for the end of the one before it.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Whether a client whose turn has come makes sure that its own key is still there.
    pub rechecks: bool,
}

/// What a client does when its monitor says that the lock is lost. It always stops acting.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnLoss {
    /// It forgets its session, which is left to its TTL.
    #[default]
    Forget,
    /// Its renewer goes on (C-LCK-8).
    Keep,
    /// It destroys its session.
    Destroy,
    /// It asks for the lock again, with the same session.
    Reassert,
}

/// The protected work as a process of its own, started by the client that has the lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What is killed when the lock is lost.
    pub killed: Killed,
    /// How long that takes: from the first signal to the last (C-CLI-2: 5 s).
    #[serde(default)]
    pub grace: Ticks,
}

/// What is killed when the lock is lost.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Killed {
    /// The whole process group; the client releases after that.
    Group,
    /// Only the shell that started the work, which goes on; the client releases at once.
    Shell,
}
