//! Members, their network and their clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::member::Member;
use super::{Alarm, DetectorSettings, Effect, Node, Packet, Payload, Standing, Tools};
use crate::random::Stream;

/// What some member has come to think of another one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct StandingChange {
    pub(crate) by: Node,
    pub(crate) about: Node,
    standing: Standing,
}

impl StandingChange {
    pub(crate) fn is_failed(&self) -> bool {
        self.standing == Standing::Dead
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.standing, Standing::Dead | Standing::Left)
    }
}

/// All of it at one instant. Nothing happens but by [`Pool::step`].
#[derive(Clone)]
pub(crate) struct Pool {
    settings: DetectorSettings,
    members: Vec<Member>,
    machines: Vec<Machine>,
    /// Pairs that do not hear each other, in this direction, although each hears others.
    apart: BTreeSet<(Node, Node)>,
    stream: Stream,
    now: i64,
    /// What is to come, in order; deadlines go before packets: a member that wakes up finds both.
    agenda: BTreeMap<(i64, bool, u64), Event>,
    planned: u64,
    changes: VecDeque<StandingChange>,
}

/// The machine of a member.
#[derive(Clone, Debug)]
struct Machine {
    is_up: bool,
    is_deaf: bool,
    is_mute: bool,
    asleep_until: i64,
    /// What has come meanwhile.
    held: Vec<(bool, Event)>,
    /// How often it has started; deadlines of earlier starts are void.
    starts: u32,
}

#[derive(Clone, Debug)]
enum Event {
    Alarm(Node, u32, Alarm),
    Arrive(Packet),
    Awake(Node),
}

impl Pool {
    pub(crate) fn new(settings: &DetectorSettings, members: usize, stream: Stream) -> Self {
        let machine =
            Machine { is_up: true, is_deaf: false, is_mute: false, asleep_until: 0, held: Vec::new(), starts: 0 };
        let mut new = Pool {
            settings: settings.clone(),
            members: Vec::new(),
            machines: vec![machine; members],
            apart: BTreeSet::new(),
            stream,
            now: 0,
            agenda: BTreeMap::new(),
            planned: 0,
            changes: VecDeque::new(),
        };
        for node in 0..Node::try_from(members).expect("a pool is small") {
            let mut tools = new.tools();
            let member = Member::new(node, members, &mut tools);
            let effects = tools.effects;
            new.members.push(member);
            new.carry_out(node, effects);
        }
        new
    }

    /// What is left to chance from now on is another seed's.
    pub(crate) fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
    }

    fn tools(&mut self) -> Tools<'_> {
        Tools { settings: &self.settings, stream: &mut self.stream, now: self.now, effects: Vec::new() }
    }

    pub(crate) fn now(&self) -> i64 {
        self.now
    }

    /// When the next thing happens. Members never stop to look after each other.
    pub(crate) fn next_at(&self) -> i64 {
        self.agenda.first_key_value().map_or(i64::MAX, |((at, _, _), _)| *at)
    }

    /// The next thing happens.
    pub(crate) fn step(&mut self) {
        let Some(((at, is_packet, _), event)) = self.agenda.pop_first() else { return };
        self.now = self.now.max(at);
        let node = match &event {
            Event::Alarm(node, starts, _) if *starts != self.machines[usize::from(*node)].starts => return,
            Event::Alarm(node, _, _) | Event::Awake(node) => *node,
            Event::Arrive(packet) => packet.to,
        };
        let machine = &mut self.machines[usize::from(node)];
        if !machine.is_up {
            return;
        }
        if machine.asleep_until > self.now {
            if !matches!(event, Event::Awake(_)) {
                machine.held.push((is_packet, event));
            }
            return;
        }
        match event {
            Event::Alarm(_, _, alarm) => self.act(node, |member, tools| member.alarm(alarm, tools)),
            Event::Arrive(packet) => self.act(node, |member, tools| member.receive(&packet, tools)),
            Event::Awake(_) => {
                for (is_packet, event) in std::mem::take(&mut machine.held) {
                    self.plan(self.now, is_packet, event);
                }
            }
        }
    }

    /// Time goes by up to this instant, with all that happens before it or then.
    pub(crate) fn advance(&mut self, to: i64) {
        while self.next_at() <= to {
            self.step();
        }
        self.now = self.now.max(to);
    }

    pub(crate) fn next_change(&mut self) -> Option<StandingChange> {
        self.changes.pop_front()
    }

    /// Whether the member takes the other one for dead.
    pub(crate) fn has_given_up(&self, by: Node, about: Node) -> bool {
        !matches!(self.members[usize::from(by)].standing(about), Standing::Alive | Standing::Suspect)
    }

    /// Whether the member no longer counts the other one.
    pub(crate) fn has_forgotten(&self, by: Node, about: Node) -> bool {
        self.members[usize::from(by)].standing(about) == Standing::Forgotten
    }

    fn act(&mut self, node: Node, turn: impl FnOnce(&mut Member, &mut Tools<'_>)) {
        let mut tools =
            Tools { settings: &self.settings, stream: &mut self.stream, now: self.now, effects: Vec::new() };
        turn(&mut self.members[usize::from(node)], &mut tools);
        let effects = tools.effects;
        self.carry_out(node, effects);
    }

    fn carry_out(&mut self, node: Node, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(packet) => self.send(packet),
                Effect::Set(at, alarm) => {
                    let starts = self.machines[usize::from(node)].starts;
                    self.plan(at, false, Event::Alarm(node, starts, alarm));
                }
                Effect::Turn(about, standing) => self.changes.push_back(StandingChange { by: node, about, standing }),
            }
        }
    }

    fn plan(&mut self, at: i64, is_packet: bool, event: Event) {
        self.planned += 1;
        self.agenda.insert((at, is_packet, self.planned), event);
    }

    fn hears(&self, from: Node, to: Node) -> bool {
        let (sender, receiver) = (&self.machines[usize::from(from)], &self.machines[usize::from(to)]);
        !sender.is_mute && !receiver.is_deaf && !self.apart.contains(&(from, to))
    }

    fn send(&mut self, packet: Packet) {
        let (from, to) = (packet.from, packet.to);
        let is_stream = packet.payload.is_stream();
        // A connection needs both directions.
        if !self.hears(from, to) || is_stream && !self.hears(to, from) {
            return;
        }
        let delay = match packet.payload {
            Payload::Hello(_) | Payload::Exchange { is_answer: false } => self.connection(),
            _ if is_stream => self.segment(200),
            _ if self.is_lost() => None,
            _ => Some(self.latency()),
        };
        if let Some(delay) = delay {
            self.plan(self.now + delay, true, Event::Arrive(packet));
        }
    }

    fn latency(&mut self) -> i64 {
        self.settings.latency.draw(1000, &mut self.stream).count()
    }

    fn is_lost(&mut self) -> bool {
        self.settings.loss > 0 && self.stream.below(1000) < self.settings.loss
    }

    /// How long until the first word on a new connection is there: a lost segment of the handshake costs a second.
    fn connection(&mut self) -> Option<i64> {
        Some(self.segment(1000)? + self.segment(1000)? + self.segment(200)?)
    }

    /// How long a segment takes that is sent again after this time, then after twice as long … up to six times.
    fn segment(&mut self, first: i64) -> Option<i64> {
        let waits = (0..6).take_while(|_| self.is_lost()).count();
        (waits < 6).then(|| first * ((1 << waits) - 1) + self.latency())
    }

    /// The machine stops, and all that it knew is gone.
    pub(crate) fn crash(&mut self, node: Node) {
        let machine = &mut self.machines[usize::from(node)];
        machine.is_up = false;
        machine.held.clear();
    }

    /// It starts again, and asks the first server for its place; that one itself never restarts.
    pub(crate) fn restart(&mut self, node: Node, now: i64) {
        self.now = self.now.max(now);
        let machine = &mut self.machines[usize::from(node)];
        machine.is_up = true;
        machine.starts += 1;
        machine.asleep_until = 0;
        let members = self.members.len();
        let mut tools = self.tools();
        let mut member = Member::new(node, members, &mut tools);
        member.exchange(0, false, &mut tools);
        let effects = tools.effects;
        self.members[usize::from(node)] = member;
        self.carry_out(node, effects);
    }

    /// It says good-bye.
    pub(super) fn leave(&mut self, node: Node) {
        self.act(node, Member::leave);
    }

    /// From now on it stands still until then, and finds everything waiting.
    pub(crate) fn sleep(&mut self, node: Node, until: i64, now: i64) {
        self.now = self.now.max(now);
        self.machines[usize::from(node)].asleep_until = until;
        self.plan(until.max(self.now), false, Event::Awake(node));
    }

    /// What others say no longer reaches it, or does again.
    pub(crate) fn set_deaf(&mut self, node: Node, is_deaf: bool) {
        self.machines[usize::from(node)].is_deaf = is_deaf;
    }

    /// What it says no longer reaches others, or does again.
    pub(crate) fn set_mute(&mut self, node: Node, is_mute: bool) {
        self.machines[usize::from(node)].is_mute = is_mute;
    }

    /// The one no longer hears the other, or does again.
    pub(crate) fn set_apart(&mut self, from: Node, to: Node, is_apart: bool) {
        if is_apart {
            self.apart.insert((from, to));
        } else {
            self.apart.remove(&(from, to));
        }
    }

    /// No packet gets lost any more.
    pub(crate) fn calm(&mut self) {
        self.settings.loss = 0;
    }

    /// Whether this member is right about all others: no reachable live member is taken for dead, and the other way
    /// round.
    pub(crate) fn is_right(&self, by: Node) -> bool {
        let machines = self.machines.iter().zip(0..).filter(|(_, node)| *node != by);
        machines.into_iter().all(|(machine, node)| {
            let is_there = machine.is_up && self.hears(by, node) && self.hears(node, by);
            is_there != self.has_given_up(by, node)
        })
    }
}
