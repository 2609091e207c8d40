//! Gossip as a real protocol: SWIM (Das, Gupta, Motivala 2002) with Lifeguard (Dadgar, Phillips, Currey 2017), as memberlist and
//! serf have it in Consul 1.8. Each member probes the others, one after another; who does not answer, not even to others, is
//! suspected, notified, and declared failed if it does not refute the suspicion in time.
//!
//! ```text
//! settings   what a member does when, and what its network is like
//! member     one member: what it thinks of the others; probing: how it finds out
//! suspicion  how long a suspicion lasts
//! rumours    the rumours that a member passes on
//! pool       members, their network and their clock
//! trial      how soon the dead are noticed, and how often the living are taken for dead
//! ```
//!
//! The checker knows an abstract detector only: a node that has been silent for long enough may be given up at any time after
//! that, and a budget says how often it may be wrong (C-INV-4). What gossip does here must be something that one may do.

mod member;
mod pool;
mod rumours;
mod settings;
mod suspicion;
mod trial;

pub(crate) use pool::Pool;
pub use settings::{Cuts, DetectorSettings};
pub use trial::{Trial, TrialOutcome, trial};

/// A member, by its place in the pool.
type Node = u16;

/// What a member thinks of another one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Standing {
    Alive,
    Suspect,
    Dead,
    Left,
    /// It was dead for so long that it no longer counts.
    Forgotten,
}

/// What one member says of another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Rumour {
    about: Node,
    standing: Standing,
    /// Of which of its lives: each refutation begins a new one.
    incarnation: u32,
    from: Node,
}

/// What members say to each other, beside rumours.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Payload {
    Ping(u32),
    Ack(u32),
    /// Asks another member for an indirect ping.
    PingFor(u32, Node),
    /// That ping was not answered.
    Nack(u32),
    /// A ping on a connection, which no lost packet stops.
    Hello(u32),
    HelloBack(u32),
    /// All that a member knows.
    Exchange {
        is_answer: bool,
    },
    /// Nothing but rumours.
    Gossip,
}

impl Payload {
    fn is_stream(&self) -> bool {
        matches!(self, Payload::Hello(_) | Payload::HelloBack(_) | Payload::Exchange { .. })
    }
}

#[derive(Clone, Debug)]
struct Packet {
    from: Node,
    to: Node,
    payload: Payload,
    rumours: Vec<Rumour>,
}

/// A member's deadlines.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Alarm {
    Probe,
    Unanswered(u32),
    ProbeEnds(u32),
    RelayEnds(u32),
    Suspicion(Node),
    /// Time to gossip.
    Gossip,
    PushPull,
    Reconnect,
}

/// What a member does.
enum Effect {
    Send(Packet),
    Set(i64, Alarm),
    /// It has declared a member failed, or found it alive again.
    Turn(Node, Standing),
}

/// What a member needs to act.
struct Tools<'a> {
    settings: &'a DetectorSettings,
    stream: &'a mut crate::random::Stream,
    now: i64,
    effects: Vec<Effect>,
}

impl Tools<'_> {
    fn set(&mut self, after: i64, alarm: Alarm) {
        self.effects.push(Effect::Set(self.now + after, alarm));
    }

    /// Some of these, all different.
    fn some_of(&mut self, mut nodes: Vec<Node>, count: u16) -> Vec<Node> {
        let count = usize::from(count).min(nodes.len());
        for place in 0..count {
            let other = place + self.stream.below_length(nodes.len() - place).expect("not past the end");
            nodes.swap(place, other);
        }
        nodes.truncate(count);
        nodes
    }
}
