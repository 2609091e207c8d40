//! Classes of answers: what a broker's answer says by which rule. A run counts them, so that no reader takes a rule for tested that never
//! came up; and what a run cannot meet, with the reason.

use fencepost_rabbitmq::{Answer, Difference, Problem, Request};

use super::pair::{Command, Exchange};
use crate::tally::{Histogram, classes};

classes! {
    page "model/services/rabbitmq/rules.md", also also;

    ChannelOpened = "R-Q-32" "open a channel: open-ok",
    ChannelOpenTwice = "R-Q-30" "open a channel: 504, it is open",
    ChannelNotOpen = "R-Q-30" "any method: 504, the channel is not open",
    ChannelClosed = "R-Q-35" "close a channel: close-ok",
    Discarded = "R-Q-31" "a method on a channel that the broker has closed: nothing",
    Closed = "R-Q-37" "close the connection: close-ok",
    HungUp = "R-Q-39" "the socket is closed without a method",
    Connected = "R-Q-42" "connect with a heartbeat value: open-ok",
    ConnectedWithout = "R-Q-46" "connect with heartbeat value 0: open-ok",
    Beat = "R-Q-44" "a heartbeat frame",
    LostReset = "R-Q-45" "the end of the socket, without a method",
    LostForced = "R-Q-58" "connection.close by the broker: 320",
    Restarted = "R-Q-56" "the broker is restarted",
    Survived = "R-Q-111" "get or deliver: a message from before a restart",

    Declared = "R-Q-4" "declare: declare-ok",
    DeclaredReserved = "R-Q-2" "declare: 403, the name is reserved",
    DeclaredRefused = "R-Q-2" "declare: 403, no permission",
    DeclaredLocked = "R-Q-3" "declare: 405",
    DeclaredDurable = "R-Q-2" "declare: 406, durable differs",
    DeclaredAutoDelete = "R-Q-2" "declare: 406, auto_delete differs",
    DeclaredExpires = "R-Q-2" "declare: 406, x-expires differs",
    DeclaredMaxLength = "R-Q-2" "declare: 406, x-max-length differs",
    DeclaredOverflow = "R-Q-2" "declare: 406, x-overflow differs",
    DeclaredSilently = "R-Q-6" "declare with nowait: nothing",
    DeclaredSilentlyRefused = "R-Q-6" "declare with nowait: an error",
    Looked = "R-Q-7" "declare passively: declare-ok",
    LookedAbsent = "R-Q-8" "declare passively: 404",
    LookedLocked = "R-Q-9" "declare passively: 405",
    Deleted = "R-Q-11" "delete: delete-ok",
    DeletedLocked = "R-Q-12" "delete: 405",
    DeletedNotEmpty = "R-Q-13" "delete: 406, not empty",
    DeletedRefused = "R-Q-13" "delete: 403, no permission",
    Purged = "R-Q-106" "purge: purge-ok, some messages",
    PurgedEmpty = "R-Q-106" "purge: purge-ok, no message",
    PurgedAbsent = "R-Q-106" "purge: 404",
    PurgedLocked = "R-Q-106" "purge: 405",
    PurgedRefused = "R-Q-107" "purge: 403, no permission",

    Published = "R-Q-17" "publish: ack",
    PublishedPersistent = "R-Q-111" "publish a persistent message: ack",
    PublishedReturned = "R-Q-17" "publish: return, then ack",
    PublishedReturnedOnly = "R-Q-19" "publish without confirms: return",
    PublishedSilently = "R-Q-19" "publish without confirms: nothing",
    PublishedNacked = "R-Q-20" "publish: nack, the queue is full",
    PublishedUnseen = "R-Q-31" "publish: no confirm, the channel was closed",
    PublishedRefused = "R-Q-23" "publish: 403, no permission",
    PublishedImmediate = "R-Q-26" "publish with immediate: 540",
    PublishedNowhere = "R-Q-27" "publish: 404, no exchange",

    Got = "R-Q-97" "get: a message",
    GotAgain = "R-Q-98" "get: a message that was delivered before",
    GotUnacked = "R-Q-97" "get without acknowledgement: a message",
    GotEmpty = "R-Q-97" "get: empty",
    GotAbsent = "R-Q-107" "get: 404",
    GotLocked = "R-Q-107" "get: 405",
    GotRefused = "R-Q-107" "get: 403, no permission",

    Consuming = "R-Q-97" "consume: consume-ok",
    ConsumingLimited = "R-Q-100" "consume with a prefetch: consume-ok",
    ConsumingUnacked = "R-Q-97" "consume without acknowledgements: consume-ok",
    ConsumingAlone = "R-Q-101" "consume exclusively: consume-ok",
    ConsumingInUse = "R-Q-101" "consume: 403, an exclusive consumer",
    ConsumingTagReused = "R-Q-102" "consume: 530, the channel has the tag",
    ConsumingAbsent = "R-Q-107" "consume: 404",
    ConsumingLocked = "R-Q-107" "consume: 405",
    ConsumingRefused = "R-Q-107" "consume: 403, no permission",
    Delivered = "R-Q-97" "deliver: a message",
    DeliveredAgain = "R-Q-98" "deliver: a message that was delivered before",
    Cancelled = "R-Q-105" "cancel: cancel-ok",
    CancelledByBroker = "R-Q-105" "cancel by the broker: the queue is gone",
    Prefetch = "R-Q-100" "qos: qos-ok",

    Acked = "R-Q-99" "ack of one delivery",
    AckedAll = "R-Q-99" "ack of all up to a delivery",
    Nacked = "R-Q-99" "nack of one delivery",
    NackedRequeued = "R-Q-98" "nack of one delivery, back to the queue",
    NackedAll = "R-Q-99" "nack of all up to a delivery",
    NackedAllRequeued = "R-Q-98" "nack of all up to a delivery, back to the queue",
    Rejected = "R-Q-99" "reject",
    RejectedRequeued = "R-Q-98" "reject, back to the queue",
    SettledUnknown = "R-Q-99" "ack, nack or reject: 406, unknown delivery tag",
    Recovered = "R-Q-98" "recover: recover-ok",

    Expired = "R-Q-104" "unseen: a message expires",
    QueueExpired = "R-Q-25" "unseen: a queue expires",
    AutoDeleted = "R-Q-28" "unseen: a queue goes with its last consumer",
    TakenOver = "R-Q-105" "unseen: a consumer is one of a later queue of the name",
    EndedInSteps = "R-Q-108" "unseen: a channel that ends tells its queues",
    SettledLater = "R-Q-109" "unseen: what an earlier queue delivered settles what a later one did",
    NackedLater = "R-Q-112" "unseen: a publish whose queue is gone is nacked, if there are confirms",
    NackedUnwatched = "R-Q-113" "unseen: a publish whose queue is gone is nacked by a channel that did not see it end",
    SettledApart = "R-Q-110" "unseen: several deliveries are settled one after the other",
}

/// Further rules that no answer of a class comes without.
fn also(class: Class) -> &'static [&'static str] {
    match class {
        // Errors that close the channel, and nothing else.
        Class::DeclaredReserved
        | Class::DeclaredRefused
        | Class::DeclaredLocked
        | Class::DeclaredDurable
        | Class::DeclaredAutoDelete
        | Class::DeclaredExpires
        | Class::DeclaredMaxLength
        | Class::DeclaredOverflow
        | Class::LookedAbsent
        | Class::LookedLocked
        | Class::DeletedLocked
        | Class::DeletedNotEmpty
        | Class::DeletedRefused
        | Class::PublishedNowhere
        | Class::SettledUnknown => &["R-Q-29"],
        // The judge holds the instant against the bounds.
        Class::LostReset => &["R-Q-43", "R-Q-44"],
        Class::Survived => &["R-Q-56"],
        _ => &[],
    }
}

/// What a run does not meet, with the reason.
pub const LEFT_OUT: &[(&str, &str)] = &[
    (
        "prefetch of a whole channel (qos with `global`)",
        "the broker counts it in a process of its own, later than the queue",
    ),
    (
        "ack and nack of everything (tag 0)",
        "which deliveries are meant depends on what the channel has written, which no client sees",
    ),
    ("requests in flight on a connection that ends", "R-Q-41: a prefix takes effect, and no client learns which"),
    ("exclusive queues that are auto-delete", "the model's broker removes a queue only for its own connection"),
    ("alarms, and connections that are blocked", "R-Q-47, R-Q-48: they concern every user of the broker"),
    ("clusters: crashes of nodes and partitions", "R-Q-61 to R-Q-71: the command talks to one node"),
    ("queues of other kinds, exchanges, dead letters, transactions", "neither the model nor the semaphore has them"),
    (
        "brokers that are killed",
        "R-Q-57, R-Q-58: acknowledgements that are not on disk may be lost; --restart stops the broker",
    ),
];

/// The histogram of a broker's answers.
pub type Tally = Histogram<Class>;

/// What kind of answer to what kind of method.
pub fn class(exchange: &Exchange) -> Class {
    let Command::Ask { request, .. } = exchange.command else { return Class::HungUp };
    let answer = exchange.expected;
    if answer == Some(Answer::Error(Problem::NotOpen)) {
        return Class::ChannelNotOpen;
    }
    let problem = if let Some(Answer::Error(problem)) = answer { Some(problem) } else { None };
    let may_be_silent = matches!(
        request,
        Request::DeclareSilently { .. } | Request::Publish { .. } | Request::Ack(_) | Request::Requeue(_)
    );
    match (request, answer) {
        (_, None) if !may_be_silent => Class::Discarded,
        (Request::OpenChannel { .. }, Some(Answer::Opened)) => Class::ChannelOpened,
        (Request::OpenChannel { .. }, _) => Class::ChannelOpenTwice,
        (Request::CloseChannel, _) => Class::ChannelClosed,
        (Request::Close, _) => Class::Closed,
        (Request::DeclareSilently { .. }, None) => Class::DeclaredSilently,
        (Request::DeclareSilently { .. }, _) => Class::DeclaredSilentlyRefused,
        (Request::Declare { .. }, _) => declared(problem),
        (Request::Look(_), _) => by_problem(problem, Class::Looked, Class::LookedAbsent, Class::LookedLocked),
        (Request::Delete { .. }, _) if problem == Some(Problem::NotEmpty) => Class::DeletedNotEmpty,
        (Request::Delete { .. }, _) => by_problem(problem, Class::Deleted, Class::Deleted, Class::DeletedLocked),
        (Request::Publish { .. }, Some(answer)) => published(answer),
        (Request::Publish { .. }, None) => Class::PublishedSilently,
        (Request::PublishImmediate(_), _) => Class::PublishedImmediate,
        (Request::PublishNowhere, _) => Class::PublishedNowhere,
        (Request::Get(_), Some(Answer::Empty)) => Class::GotEmpty,
        (Request::Get(_), _) => by_problem(problem, Class::Got, Class::GotAbsent, Class::GotLocked),
        (Request::Ack(_) | Request::Requeue(_), Some(_)) => Class::SettledUnknown,
        (Request::Ack(_), None) => Class::Acked,
        (Request::Requeue(_), None) => Class::RejectedRequeued,
    }
}

/// The class of an answer to a declaration.
pub(super) fn declared(problem: Option<Problem>) -> Class {
    match problem {
        Some(Problem::Reserved) => Class::DeclaredReserved,
        Some(Problem::Locked) => Class::DeclaredLocked,
        Some(Problem::NotAlike(Difference::Durable)) => Class::DeclaredDurable,
        Some(Problem::NotAlike(Difference::AutoDelete)) => Class::DeclaredAutoDelete,
        Some(Problem::NotAlike(Difference::Expires)) => Class::DeclaredExpires,
        Some(Problem::NotAlike(Difference::MaxLength)) => Class::DeclaredMaxLength,
        Some(Problem::NotAlike(Difference::Overflow)) => Class::DeclaredOverflow,
        _ => Class::Declared,
    }
}

/// The class of an answer to a publish.
pub(super) fn published(answer: Answer) -> Class {
    match answer {
        Answer::Returned { confirmed: true } => Class::PublishedReturned,
        Answer::Returned { confirmed: false } => Class::PublishedReturnedOnly,
        Answer::Nacked => Class::PublishedNacked,
        _ => Class::Published,
    }
}

/// The class of a success, of 404, or of 405.
pub(super) fn by_problem(problem: Option<Problem>, done: Class, absent: Class, locked: Class) -> Class {
    match problem {
        Some(Problem::NoQueue) => absent,
        Some(Problem::Locked) => locked,
        _ => done,
    }
}
