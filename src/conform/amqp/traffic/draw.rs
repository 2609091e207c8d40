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
}

/// The names of slots are all that a limited user may use.
fn name() -> impl Strategy<Value = Name> {
    prop_oneof![14 => Just(Name::Slot(1)), 7 => Just(Name::Holder(1)), 1 => Just(Name::Mutex)]
}

fn shape() -> impl Strategy<Value = QueueProperties> {
    let keeps = prop_oneof![12 => Just(Keeps::All), 2 => Just(Keeps::Nothing), 2 => Just(Keeps::One)];
    let kind = prop_oneof![6 => Just((false, false)), 2 => Just((true, false)), 1 => Just((false, true))];
    let expires = prop_oneof![20 => Just(None), 1 => Just(Some(Ticks::new(40)))];
    (keeps, kind, expires).prop_map(|(keeps, (exclusive, auto_delete), expires)| QueueProperties {
        exclusive,
        durable: false,
        auto_delete,
        keeps,
        expires,
    })
}

/// How a sequence's first queue is declared, so that most methods have one to work on.
pub(super) fn opening() -> impl Strategy<Value = QueueProperties> {
    prop_oneof![
        8 => Just(QueueProperties::default()),
        4 => shape().prop_map(|shape| QueueProperties { exclusive: false, ..shape }),
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
fn mild() -> impl Strategy<Value = Wanted> {
    let expiration = prop_oneof![12 => Just(None), 1 => Just(Some(0)), 1 => Just(Some(15))];
    prop_oneof![
        3 => (name(), shape()).prop_map(|(name, shape)| Wanted::Declare(name, shape)),
        4 => name().prop_map(Wanted::Look),
        2 => (name(), any::<bool>()).prop_map(|(name, if_empty)| Wanted::Delete(name, if_empty)),
        22 => (name(), any::<bool>(), expiration)
            .prop_map(|(name, mandatory, expiration)| Wanted::Publish { name, mandatory, expiration }),
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
fn any_method() -> impl Strategy<Value = Wanted> {
    prop_oneof![
        60 => mild(),
        1 => how().prop_map(Wanted::SettleUnknown),
        1 => name().prop_map(Wanted::ConsumeAgain),
        2 => Just(Wanted::CloseChannel),
        1 => Just(Wanted::OpenUnconfirmed),
        1 => Just(Wanted::Close),
        1 => Just(Wanted::HangUp),
    ]
}

/// Rounds, of which more than half of the methods are in crowds.
pub(super) fn round() -> impl Strategy<Value = Round> {
    let places: Vec<(u16, u8)> = (1..=u16::try_from(LINES).expect("few"))
        .flat_map(|connection| (1..=u8::try_from(CHANNELS).expect("few")).map(move |channel| (connection, channel)))
        .collect();
    let alone = proptest::sample::select(places.clone());
    let crowd = subsequence(places, 2..=4).prop_flat_map(|places| {
        places
            .into_iter()
            .map(|place| proptest::collection::vec(mild(), 1..=3).prop_map(move |wanted| (place, wanted)))
            .collect::<Vec<_>>()
    });
    prop_oneof![
        40 => (alone, any_method()).prop_map(|(place, wanted)| Round::Alone(place, wanted)),
        12 => crowd.prop_map(Round::Crowd),
        1 => (10..60_u64).prop_map(Round::Pause),
    ]
}
