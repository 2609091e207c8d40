//! Random rounds of methods: one method alone, or several channels with methods in flight at the same time.

use fencepost_model::time::Ticks;
use fencepost_rabbitmq::{Keeps, Name, QueueProperties};
use proptest::prelude::*;
use proptest::sample::subsequence;

use super::log::CHANNELS;
use crate::amqp::pair::LINES;

/// What is wanted on a channel; deliveries and consumers are chosen among those that the client knows when it is sent.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    Declare(Name, QueueProperties),
    Look(Name),
    Delete(Name, bool),
    Publish {
        name: Name,
        mandatory: bool,
        expiration: Option<u32>,
        persistent: bool,
    },
    Get {
        name: Name,
        no_ack: bool,
    },
    Settle {
        which: usize,
        how: How,
        multiple: bool,
    },
    /// An unknown delivery tag.
    SettleUnknown(How),
    Recover,
    Qos(u16),
    Consume {
        name: Name,
        no_ack: bool,
        exclusive: bool,
    },
    /// A consumer tag that the channel has.
    ConsumeAgain(Name),
    Cancel(usize),
    Purge(Name),
    CloseChannel,
    OpenUnconfirmed,
    Close,
    HangUp,
}

/// How a delivery is settled.
#[derive(Copy, Clone, Debug)]
pub(super) enum How {
    Ack,
    Nack { requeue: bool },
    Reject { requeue: bool },
}

/// What happens before every answer is awaited.
#[derive(Clone, Debug)]
pub(super) enum Round {
    Alone((u16, u8), Wanted),
    Crowd(Vec<((u16, u8), Vec<Wanted>)>),
    /// Nothing, for some milliseconds.
    Pause(u64),
    /// Nothing, for a number of milliseconds in which connections with heartbeats may be dropped.
    Silence(u64),
    /// Heartbeat frames on every connection that has to send them, a number of times.
    Beats(u8),
    /// The broker is restarted.
    Restart,
}

/// What a sequence is about, besides methods.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Plain,
    /// Connections with heartbeats, and long silences.
    Silences,
    /// A restart of the broker.
    Restart,
}

/// The most rounds in one sequence.
const LENGTH: usize = 40;

/// Random sequences: how the first queue is declared, whether the third connection's user has few permissions, and rounds.
pub(super) fn sequence(kind: Kind) -> BoxedStrategy<(QueueProperties, bool, Vec<Round>)> {
    let several = |most: usize| proptest::collection::vec(round(kind), 1..most);
    let rounds = match kind {
        Kind::Plain => several(LENGTH).boxed(),
        Kind::Silences => {
            let parts = proptest::collection::vec((several(6), silence()), 2..=3);
            (parts, several(6)).prop_map(|(parts, last)| joined(parts, last)).boxed()
        }
        Kind::Restart => {
            // Messages that survive, some of them with a client; and a look at what has survived.
            let kept = proptest::collection::vec((place(), kept()).prop_map(alone), 2..6);
            let seen = proptest::collection::vec((place(), seen()).prop_map(alone), 1..5);
            let parts = (several(12), kept, seen, several(8));
            parts
                .prop_map(|(first, kept, seen, last)| {
                    joined(vec![([first, kept].concat(), Round::Restart)], [seen, last].concat())
                })
                .boxed()
        }
    };
    (opening(kind), proptest::bool::weighted(0.2), rounds).boxed()
}

fn alone((place, wanted): ((u16, u8), Wanted)) -> Round {
    Round::Alone(place, wanted)
}

fn kept() -> impl Strategy<Value = Wanted> {
    let publish = Wanted::Publish { name: Name::Slot(1), mandatory: false, expiration: None, persistent: true };
    prop_oneof![3 => Just(publish), 1 => Just(Wanted::Get { name: Name::Slot(1), no_ack: false })]
}

fn seen() -> impl Strategy<Value = Wanted> {
    prop_oneof![
        3 => Just(Wanted::Get { name: Name::Slot(1), no_ack: false }),
        1 => name().prop_map(Wanted::Look),
        1 => Just(Wanted::Consume { name: Name::Slot(1), no_ack: false, exclusive: false }),
    ]
}

fn joined(parts: Vec<(Vec<Round>, Round)>, last: Vec<Round>) -> Vec<Round> {
    let parts = parts.into_iter().flat_map(|(mut rounds, end)| {
        rounds.push(end);
        rounds
    });
    parts.chain(last).collect()
}

/// With an interval of one second: silences below two intervals, above three, and between; and a connection that is kept alive.
fn silence() -> impl Strategy<Value = Round> {
    const LENGTHS: [u64; 7] = [700, 1_500, 1_900, 2_300, 2_700, 3_200, 4_300];
    prop_oneof![
        5 => proptest::sample::select(&LENGTHS[..]).prop_map(Round::Silence),
        1 => (2..=4_u8).prop_map(Round::Beats),
    ]
}

/// The names of slots are all that a limited user may use.
fn name() -> impl Strategy<Value = Name> {
    prop_oneof![14 => Just(Name::Slot(1)), 7 => Just(Name::Holder(1)), 1 => Just(Name::Mutex)]
}

fn shape(kind: Kind) -> impl Strategy<Value = QueueProperties> {
    let keeps = prop_oneof![12 => Just(Keeps::All), 2 => Just(Keeps::Nothing), 2 => Just(Keeps::One)];
    let owner = prop_oneof![6 => Just((false, false)), 2 => Just((true, false)), 1 => Just((false, true))];
    let expires = prop_oneof![20 => Just(None), 1 => Just(Some(Ticks::new(40)))];
    let durable = proptest::bool::weighted(if kind == Kind::Restart { 0.6 } else { 0.06 });
    (keeps, owner, expires, durable).prop_map(|(keeps, (exclusive, auto_delete), expires, durable)| QueueProperties {
        exclusive,
        durable,
        auto_delete,
        keeps,
        expires,
    })
}

/// How a sequence's first queue is declared, so that most methods have one to work on.
fn opening(kind: Kind) -> impl Strategy<Value = QueueProperties> {
    let durable = kind == Kind::Restart;
    prop_oneof![
        8 => Just(QueueProperties { durable, ..QueueProperties::default() }),
        4 => shape(kind).prop_map(|shape| QueueProperties { exclusive: false, ..shape }),
    ]
}

fn how() -> impl Strategy<Value = How> {
    let requeue = proptest::bool::weighted(0.7);
    prop_oneof![
        5 => Just(How::Ack),
        3 => requeue.prop_map(|requeue| How::Nack { requeue }),
        2 => requeue.prop_map(|requeue| How::Reject { requeue }),
    ]
}

/// What does not end a channel or a connection if all is well.
fn mild(kind: Kind) -> impl Strategy<Value = Wanted> {
    let persistent = proptest::bool::weighted(if kind == Kind::Restart { 0.7 } else { 0.06 });
    let expiration = prop_oneof![12 => Just(None), 1 => Just(Some(0)), 1 => Just(Some(15))];
    prop_oneof![
        3 => (name(), shape(kind)).prop_map(|(name, shape)| Wanted::Declare(name, shape)),
        4 => name().prop_map(Wanted::Look),
        2 => (name(), any::<bool>()).prop_map(|(name, if_empty)| Wanted::Delete(name, if_empty)),
        22 => (name(), any::<bool>(), expiration, persistent).prop_map(|(name, mandatory, expiration, persistent)| {
            Wanted::Publish { name, mandatory, expiration, persistent }
        }),
        7 => (name(), proptest::bool::weighted(0.25)).prop_map(|(name, no_ack)| Wanted::Get { name, no_ack }),
        16 => (0..6_usize, how(), proptest::bool::weighted(0.35))
            .prop_map(|(which, how, multiple)| Wanted::Settle { which, how, multiple }),
        1 => Just(Wanted::Recover),
        4 => prop_oneof![Just(0), Just(1), Just(2), Just(3)].prop_map(Wanted::Qos),
        7 => (name(), proptest::bool::weighted(0.2), proptest::bool::weighted(0.12))
            .prop_map(|(name, no_ack, exclusive)| Wanted::Consume { name, no_ack, exclusive }),
        3 => (0..4_usize).prop_map(Wanted::Cancel),
        2 => name().prop_map(Wanted::Purge),
    ]
}

/// Anything.
fn any_method(kind: Kind) -> impl Strategy<Value = Wanted> {
    prop_oneof![
        60 => mild(kind),
        1 => how().prop_map(Wanted::SettleUnknown),
        1 => name().prop_map(Wanted::ConsumeAgain),
        2 => Just(Wanted::CloseChannel),
        1 => Just(Wanted::OpenUnconfirmed),
        1 => Just(Wanted::Close),
        1 => Just(Wanted::HangUp),
    ]
}

/// Every connection with every channel.
fn places() -> Vec<(u16, u8)> {
    (1..=u16::try_from(LINES).expect("few"))
        .flat_map(|connection| (1..=u8::try_from(CHANNELS).expect("few")).map(move |channel| (connection, channel)))
        .collect()
}

fn place() -> impl Strategy<Value = (u16, u8)> {
    proptest::sample::select(places())
}

/// Rounds, of which more than half of the methods are in crowds.
fn round(kind: Kind) -> impl Strategy<Value = Round> {
    let crowd = subsequence(places(), 2..=4).prop_flat_map(move |places| {
        places
            .into_iter()
            .map(move |place| proptest::collection::vec(mild(kind), 1..=3).prop_map(move |wanted| (place, wanted)))
            .collect::<Vec<_>>()
    });
    prop_oneof![
        40 => (place(), any_method(kind)).prop_map(alone),
        12 => crowd.prop_map(Round::Crowd),
        1 => (10..60_u64).prop_map(Round::Pause),
    ]
}
