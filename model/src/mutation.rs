//! Faults built into the model on purpose. Each must be noticed by a verdict or by a pinned count; a mutant that
//! survives is a rule nobody checks.

use serde::{Deserialize, Serialize};

macro_rules! mutations {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// One fault in the model.
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Mutation { $($(#[doc = $doc])* $name,)* }

        impl Mutation {
            /// Every mutant, in the order of declaration.
            pub const ALL: &'static [Mutation] = &[$(Mutation::$name,)*];
        }
    };
}

impl Mutation {
    /// Whether only logs of requests and answers can show it: no recipe looks at what it changes.
    pub fn is_at_the_edge(self) -> bool {
        use Mutation::{
            CheckRemovalSparesSessions, DeletesForeign, QueriesSurvive, SpellingIgnored, TreeBuriesEachKey,
        };
        matches!(
            self,
            SpellingIgnored | TreeBuriesEachKey | QueriesSurvive | CheckRemovalSparesSessions | DeletesForeign
        )
    }

    /// Whether it can make a difference in a system: one about RabbitMQ makes none elsewhere, and the other way round.
    pub fn concerns(self, system: &str) -> bool {
        match self >= Mutation::ChannelTakesQueues {
            true => system.starts_with("rabbitmq"),
            false => system.starts_with("consul") || system == "lease",
        }
    }
}

mutations! {
    /// The server forgets the lock-delay when somebody acquires (C-LD-2).
    LockDelayIgnored,
    /// The lock-delay is one tick too short (C-LD-3).
    LockDelayTooShort,
    /// A plain release starts a lock-delay, too (C-LD-6).
    LockDelayAfterRelease,
    /// The server ends a session after TTL instead of its multiple (C-TTL-2).
    TtlNotMultiplied,
    /// The server ends a session one tick before its TTL.
    TtlTooShort,
    /// Renewals are acknowledged and forgotten (C-SES-18).
    RenewalForgotten,
    /// Acquiring takes the lock away from whoever has it (C-KV-10).
    AcquireSteals,
    /// Acquiring works with a session that is gone (C-KV-10).
    AcquireWithoutSession,
    /// The holder's re-acquire raises LockIndex (C-KV-11).
    ReacquireCounts,
    /// Anybody's release frees the lock (C-KV-12).
    ReleaseByAnybody,
    /// A plain put leaves LockIndex alone (C-KV-8).
    PutKeepsLockIndex,
    /// Deleting a key only frees it, so that its LockIndex goes on (C-KV-18).
    DeleteOnlyFrees,
    /// A write that changes nothing still raises ModifyIndex (C-KV-7).
    EqualWriteCounts,
    /// The end of a session leaves its keys as they are (C-INV-1).
    InvalidationLeavesKeys,
    /// Behavior delete releases instead (C-INV-1).
    DeleteBehaviorReleases,
    /// The resource accepts every token.
    ResourceIgnoresTokens,
    /// The resource refuses the token it has seen last.
    ResourceRefusesEqualTokens,
    /// A self-limiting client counts its lease from the answer instead of the request.
    LeaseFromAnswer,
    /// A self-limiting client stays one tick longer than its lease.
    LeaseOverstayed,
    /// A client releases before its writes are acknowledged, whatever its setting says.
    ReleaseWithoutWaiting,
    /// A compare-and-set does not compare (C-KV-9).
    CasIgnoresIndex,
    /// The log looks at the lock-delay, too, when it applies an acquire (C-LD-9).
    ApplyLooksAtLockDelay,
    /// A transaction that fails leaves behind what it had done so far (C-TXN-3).
    TransactionKeepsHalf,
    /// The check of a session in a transaction always passes (C-TXN-6).
    CheckSessionPasses,
    /// A blocking query is never answered once it waits (C-BLK-1).
    WatchForgotten,
    /// A new leader goes on with the timers of the old one (C-TTL-6).
    ElectionKeepsTimers,
    /// A renewal saves a session whose end is decided (C-TTL-5).
    RenewalSavesDoomed,
    /// A session can be bound to a check that is critical (C-SES-4).
    CriticalCheckAccepted,
    /// A critical check ends no session (C-INV-5).
    CriticalCheckIgnored,
    /// A warning ends sessions, too (C-INV-5).
    WarningEndsSessions,
    /// The removal of a node ends only sessions that are bound to a check (C-INV-6).
    NodeRemovalSparesUnbound,
    /// A job that is killed is gone at once.
    KillWithoutGrace,
    /// A contender for a semaphore does not look at the limit.
    LimitIgnored,
    /// A contender that leaves a semaphore stays on record.
    SlotKept,
    /// A contender for a semaphore takes every holder for dead (C-SEM-4).
    PrunesTheLiving,
    /// It becomes a holder by a plain put instead of a compare-and-set (C-SEM-3).
    TakesByPut,
    /// It takes a compare-and-set that was refused for one that was not (C-SEM-4).
    EntersOnFalse,
    /// A holder of a slot does not read what its monitor is told (C-SEM-6).
    MonitorIgnored,
    /// A holder that leaves takes everybody off the list (C-SEM-7).
    LeavesForAll,
    /// A contender that has found a holder dead does not wait before it prunes.
    DoubtForgotten,
    /// A client in a queue does not wait for those before it.
    QueueJumped,
    /// Requests that are held while there is no leader are forgotten (C-CON-6).
    HeldRequestsForgotten,
    /// A deletion starts a lock-delay, too (C-LD-6).
    LockDelayAfterDelete,
    /// A transaction that fails takes the lock-delays back that it has set (C-LD-8).
    RollbackForgetsDelays,
    /// A session's id in another letter case is the same holder (C-SES-20).
    SpellingIgnored,
    /// Deletions are not remembered (C-KV-22).
    TombstonesForgotten,
    /// A recursive deletion is remembered key by key, and not by its prefix (C-KV-17).
    TreeBuriesEachKey,
    /// Prepared queries outlive their session (C-PQ-4).
    QueriesSurvive,
    /// A check that is deregistered takes no session along (C-INV-7).
    CheckRemovalSparesSessions,
    /// The end of a channel takes exclusive queues along (R-Q-35).
    ChannelTakesQueues,
    /// So does a refusal that closes the channel (R-Q-29).
    RefusalTakesQueues,
    /// The broker says close-ok before the exclusive queues are gone (R-Q-37).
    CloseOkFirst,
    /// Exclusive queues outlive their connection (R-Q-39).
    OwnerlessQueuesStay,
    /// The exclusive queues of a connection go all at once (R-Q-40).
    QueuesGoTogether,
    /// An exclusive queue is anybody's who declares it (R-Q-51).
    OwnerIgnored,
    /// A passive declare of another one's exclusive queue is answered with success (R-Q-9).
    LooksAtForeign,
    /// Anybody may delete an exclusive queue (R-Q-12).
    DeletesForeign,
    /// A mandatory publish that finds no queue does not come back (R-Q-17).
    UnroutableIsAcked,
    /// A probe keeps a queue from expiring (R-Q-25).
    ProbesRenew,
    /// Exclusive and transient queues survive a restart of the broker (R-Q-56).
    RestartKeepsAll,
    /// A client that finds the holder's queue locked takes it for its own (R-Q-51).
    EntersWhenLocked,
    /// A client enters before it has verified (R-Q-87).
    EntersUnverified,
    /// A client that finds its slot removed keeps the holder's queue (R-Q-87).
    KeepsUnverified,
    /// A client takes 405 from a passive declare for *mine* (R-Q-89).
    LockedCountsAsMine,
    /// A client forgets to give its slot back (R-Q-88).
    ReleaseForgotten,
    /// A client goes on after its connection was lost (R-Q-89).
    LossIgnored,
    /// An administrator does not take the mutex (R-Q-83).
    MutexForgotten,
    /// An administrator that stops half-way keeps the mutex (R-Q-83).
    MutexKept,
    /// An administrator uses a number again that is still held (R-Q-85).
    AddsWithoutLooking,
    /// An administrator does not wait for the holders of removed slots (R-Q-86).
    RemovesWithoutWaiting,
    /// An administrator removes the lowest slot first (R-Q-86).
    AscendingRemoval,
}
