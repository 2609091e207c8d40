//! The mutants of RabbitMQ: faults built into its sources on purpose.

fencepost_model::mutations! {
    /// A fault built into the sources of RabbitMQ.
    RabbitmqMutation:
    "rabbitmq broker", Server {
        /// The end of a channel removes exclusive queues (R-Q-35).
        ChannelTakesQueues,
        /// A refusal that closes the channel removes exclusive queues (R-Q-29).
        RefusalTakesQueues,
        /// The broker sends close-ok before it has removed the exclusive queues (R-Q-37).
        CloseOkFirst,
        /// Exclusive queues outlive their connection (R-Q-39).
        OwnerlessQueuesStay,
        /// The exclusive queues of a connection are removed all at once (R-Q-40).
        QueuesGoTogether survives "executions are missing, and none of them is needed for a violation",
        /// Every connection that declares an exclusive queue owns it (R-Q-51).
        OwnerIgnored,
        /// A passive declare of an exclusive queue of another connection succeeds (R-Q-9).
        LooksAtForeign,
        /// Any connection may delete an exclusive queue (R-Q-12).
        DeletesForeign answers,
        /// A mandatory publish that finds no queue is not returned (R-Q-17).
        UnroutableIsAcked,
        /// A probe keeps a queue from expiring (R-Q-25).
        ProbesRenew survives "a slot expires before the first probe, too, so that the verdict is the same",
        /// Exclusive and transient queues survive a restart of the broker (R-Q-56).
        RestartKeepsAll,
        /// Unacknowledged messages of a channel that is closed are not put back (R-Q-70).
        UnackedStayAway answers,
        /// Unacknowledged messages of a connection that ends are lost (R-Q-70).
        UnackedGoWithConnection,
        /// A rejected message is not put back (R-Q-70).
        RejectLosesMessage,
        /// A publish that the queue refuses is confirmed (R-Q-20).
        NackToldAsConfirm answers,
        /// Methods before close-ok are carried out on a channel that the broker has closed (R-Q-31).
        ClosingChannelServes answers,
        /// A method on an ended connection opens it again (R-Q-39).
        LateRequestReopens,
        /// A connection is dropped after one missed heartbeat instead of two (R-Q-43).
        DropsAfterOneMiss,
        /// A declaration with other arguments succeeds (R-Q-2).
        InequivalentAccepted answers,
        /// A queue with messages is deleted by a request for an empty queue (R-Q-13).
        IfEmptyIgnored answers,
        /// Any connection may get messages from an exclusive queue (R-Q-9).
        GetsForeign answers,
        /// The deletion of a queue that does not exist is refused (R-Q-11).
        DeletionOfAbsentRefused,
        /// A minority declares queues although a majority has to agree (R-Q-69).
        MinorityDeclares,
        /// A minority goes on instead of pausing (R-Q-66).
        MinorityGoesOn,
        /// The losing side does not restart after a partition (R-Q-65).
        AutohealSparesLoser,
        /// A node that goes down loses its durable queues (R-Q-14).
        NodeLosesDurable,
        /// Durable queues do not survive a restart of the broker (R-Q-56).
        RestartLosesDurable,
        /// The broker does not notice that a socket was closed (R-Q-39).
        ClosedSocketUnnoticed,
    }
    "rabbitmq clients", Service {
        /// A client that finds the holder's queue locked treats it as its own (R-Q-51).
        EntersWhenLocked,
        /// A client enters before it has verified (R-Q-87).
        EntersUnverified,
        /// A client that finds its slot removed keeps the holder's queue (R-Q-87).
        KeepsUnverified,
        /// A client takes 405 from a passive declare as a confirmation (R-Q-89).
        LockedCountsAsMine,
        /// A client does not release its slot (R-Q-88).
        ReleaseForgotten,
        /// A client continues after the loss of its connection (R-Q-89).
        LossIgnored,
        /// An administrator does not take the mutex (R-Q-83).
        MutexForgotten,
        /// An administrator that stops early keeps the mutex (R-Q-83).
        MutexKept survives "no promise says that an administrator finishes",
        /// An administrator reuses a number that is still held (R-Q-85).
        AddsWithoutLooking survives "the holder keeps its queue under that number, and no promise breaks",
        /// An administrator does not wait for the holders of removed slots (R-Q-86).
        RemovesWithoutWaiting,
        /// An administrator removes the lowest slot first (R-Q-86).
        AscendingRemoval,
        /// A client releases a message that is a lock with ack instead of reject (R-Q-70).
        ReleasesByAck,
        /// A client with a message that is a lock continues after the loss of its connection (R-Q-70).
        GetterIgnoresLoss survives "another client has the message before the holder can be notified (B-36)",
        /// A client opens a channel again without close-ok (R-Q-31).
        CloseOkForgotten,
        /// A client takes the confirm after a return as a success (R-Q-81).
        ReturnTakenForAck,
        /// A client takes a nack as an absent queue (R-Q-81).
        NackTakenForAbsent,
        /// A client enters after the end of its lease (R-Q-90).
        TakerEntersAfterLease,
        /// A client whose lease is over keeps its connection (R-Q-90).
        LapseKeepsSlot,
        /// A client verifies without the slot queue (R-Q-89).
        SlotNotVerified,
        /// An administrator continues although another administrator has the mutex (R-Q-83).
        BusyIgnored,
        /// An administrator does not delete slots beyond the first gap (R-Q-84).
        StraysLeft,
        /// An administrator does not confirm that a slot is absent (R-Q-82).
        AbsenceUnconfirmed,
        /// An administrator that tries again computes its target again (R-Q-83).
        RetryForgetsTarget,
    }
}
