//! One member: what it thinks of the others, and how rumours change that.

mod probing;

use self::probing::Probing;
use super::rumours::Rumours;
use super::suspicion::Suspicion;
use super::{Alarm, Effect, Node, Packet, Payload, Rumour, Standing, Tools};

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) me: Node,
    incarnation: u32,
    has_left: bool,
    /// How unhealthy it thinks that it is itself, from 0.
    score: i64,
    peers: Vec<Peer>,
    probing: Probing,
    rumours: Rumours,
    /// Whether it has planned to pass on rumours.
    gossips: bool,
}

/// What it thinks of another one.
#[derive(Clone, Debug)]
struct Peer {
    standing: Standing,
    incarnation: u32,
    since: i64,
    suspicion: Option<Suspicion>,
}

impl Member {
    /// A member that knows all others, and plans when to look at them.
    pub(super) fn new(me: Node, members: usize, tools: &mut Tools<'_>) -> Self {
        let peer = Peer { standing: Standing::Alive, incarnation: 1, since: tools.now, suspicion: None };
        let new = Member {
            me,
            incarnation: 1,
            has_left: false,
            score: 0,
            peers: vec![peer; members],
            probing: Probing::default(),
            rumours: Rumours::default(),
            gossips: false,
        };
        let settings = tools.settings;
        for (period, alarm) in [
            (settings.probe_interval, Alarm::Probe),
            (new.push_pull_interval(tools), Alarm::PushPull),
            (settings.reconnect_interval, Alarm::Reconnect),
        ] {
            let phase = tools.stream.below(period.unsigned_abs());
            tools.set(phase.cast_signed(), alarm);
        }
        new
    }

    pub(super) fn standing(&self, node: Node) -> Standing {
        self.peers[usize::from(node)].standing
    }

    pub(super) fn incarnation_of(&self, node: Node) -> u32 {
        self.peers[usize::from(node)].incarnation
    }

    /// The others of whom this is true.
    pub(super) fn others(&self, is_wanted: impl Fn(Node, Standing) -> bool) -> Vec<Node> {
        let nodes = self.peers.iter().zip(0..).map(|(peer, node)| (node, peer.standing));
        nodes.filter(|(node, standing)| *node != self.me && is_wanted(*node, *standing)).map(|(node, _)| node).collect()
    }

    /// How large it thinks that the pool is.
    fn size(&self) -> usize {
        self.peers.iter().filter(|peer| peer.standing != Standing::Forgotten).count()
    }

    /// How often it compares notes; less often from 33 members on.
    fn push_pull_interval(&self, tools: &Tools<'_>) -> i64 {
        let doublings = i64::from(self.size().next_power_of_two().ilog2()) - 5;
        tools.settings.push_pull_interval * (doublings.max(0) + 1)
    }

    /// How much longer than usual it waits for an answer, as a factor (Lifeguard's local health multiplier).
    pub(super) fn patience(&self) -> i64 {
        self.score + 1
    }

    /// Changes its opinion of its own health.
    pub(super) fn feel(&mut self, delta: i64, tools: &Tools<'_>) {
        if tools.settings.lifeguard {
            self.score = (self.score + delta).clamp(0, tools.settings.awareness_max - 1);
        }
    }

    pub(super) fn alarm(&mut self, alarm: Alarm, tools: &mut Tools<'_>) {
        match alarm {
            Alarm::Probe => self.probe(tools),
            Alarm::Unanswered(number) => self.ask_others(number, tools),
            Alarm::ProbeEnds(number) => self.conclude(number, tools),
            Alarm::RelayEnds(number) => self.nack(number, tools),
            Alarm::Suspicion(node) => self.give_up(node, tools),
            Alarm::Gossip => self.gossip(tools),
            Alarm::PushPull => {
                if let Some(peer) = tools.stream.pick(&self.others(|_, standing| standing == Standing::Alive)) {
                    self.exchange(peer, false, tools);
                }
                tools.set(self.push_pull_interval(tools), Alarm::PushPull);
            }
            Alarm::Reconnect => self.reconnect(tools),
        }
    }

    pub(super) fn receive(&mut self, packet: &Packet, tools: &mut Tools<'_>) {
        if let Payload::Exchange { is_answer: false } = packet.payload {
            self.exchange(packet.from, true, tools);
        }
        for rumour in &packet.rumours {
            // Who is suspicious to the other side in an exchange becomes so to this one by its own word.
            let is_taken_over = packet.payload.is_stream() && rumour.standing == Standing::Suspect;
            let from = if is_taken_over { self.me } else { rumour.from };
            self.hear(Rumour { from, ..*rumour }, tools);
        }
        self.answer(packet, tools);
    }

    /// A packet, with as many rumours as fit.
    pub(super) fn send(&mut self, to: Node, payload: Payload, tools: &mut Tools<'_>) {
        let rumours = if payload.is_stream() || self.rumours.is_empty() {
            Vec::new()
        } else {
            self.rumours.tell(tools.settings.retransmit_mult, self.size())
        };
        tools.effects.push(Effect::Send(Packet { from: self.me, to, payload, rumours }));
    }

    /// Tells another one all that it knows. What is dead to it is suspicious to others.
    pub(super) fn exchange(&mut self, to: Node, is_answer: bool, tools: &mut Tools<'_>) {
        let known = self.peers.iter().zip(0..).filter(|(peer, _)| peer.standing != Standing::Forgotten);
        let rumours = known.map(|(peer, about)| match about == self.me {
            true if self.has_left => {
                Rumour { about, standing: Standing::Dead, incarnation: self.incarnation, from: about }
            }
            true => Rumour { about, standing: Standing::Alive, incarnation: self.incarnation, from: about },
            false => match peer.standing {
                Standing::Dead => {
                    Rumour { about, standing: Standing::Suspect, incarnation: peer.incarnation, from: self.me }
                }
                Standing::Left => {
                    Rumour { about, standing: Standing::Dead, incarnation: peer.incarnation, from: about }
                }
                standing => Rumour { about, standing, incarnation: peer.incarnation, from: self.me },
            },
        });
        let packet = Packet { from: self.me, to, payload: Payload::Exchange { is_answer }, rumours: rumours.collect() };
        tools.effects.push(Effect::Send(packet));
    }

    fn gossip(&mut self, tools: &mut Tools<'_>) {
        let (now, to_dead) = (tools.now, tools.settings.gossip_to_dead);
        let is_listening = |node: Node, standing| match standing {
            Standing::Alive | Standing::Suspect => true,
            Standing::Dead | Standing::Left => now - self.peers[usize::from(node)].since <= to_dead,
            Standing::Forgotten => false,
        };
        for node in tools.some_of(self.others(is_listening), tools.settings.gossip_nodes) {
            if !self.rumours.is_empty() {
                self.send(node, Payload::Gossip, tools);
            }
        }
        self.gossips = !self.rumours.is_empty();
        if self.gossips {
            tools.set(tools.settings.gossip_interval, Alarm::Gossip);
        }
    }

    fn reconnect(&mut self, tools: &mut Tools<'_>) {
        let failed = self.others(|_, standing| standing == Standing::Dead);
        let others = self.others(|_, standing| matches!(standing, Standing::Alive | Standing::Suspect)).len() + 1;
        for node in &failed {
            let peer = &mut self.peers[usize::from(*node)];
            if tools.now - peer.since >= tools.settings.reap_after {
                peer.standing = Standing::Forgotten;
                tools.effects.push(Effect::Turn(*node, Standing::Forgotten));
            }
        }
        let odds = tools.stream.below_length(others).is_some_and(|draw| draw < failed.len());
        if let Some(node) = tools.stream.pick(&failed).filter(|_| odds) {
            self.exchange(node, false, tools);
        }
        tools.set(tools.settings.reconnect_interval, Alarm::Reconnect);
    }

    fn spread(&mut self, rumour: Rumour, tools: &mut Tools<'_>) {
        self.rumours.add(rumour);
        if !self.gossips {
            self.gossips = true;
            let period = tools.settings.gossip_interval;
            tools.set(period - (tools.now + i64::from(self.me) * 37) % period, Alarm::Gossip);
        }
    }

    /// Goes, and says so.
    pub(super) fn leave(&mut self, tools: &mut Tools<'_>) {
        self.has_left = true;
        let (about, incarnation) = (self.me, self.incarnation);
        self.spread(Rumour { about, standing: Standing::Dead, incarnation, from: about }, tools);
    }

    pub(super) fn hear(&mut self, rumour: Rumour, tools: &mut Tools<'_>) {
        if rumour.about == self.me {
            let is_newer = rumour.incarnation > self.incarnation;
            if !self.has_left
                && (is_newer || rumour.standing != Standing::Alive && rumour.incarnation == self.incarnation)
            {
                self.refute(rumour, tools);
            }
            return;
        }
        match rumour.standing {
            Standing::Alive => self.hear_alive(rumour, tools),
            Standing::Suspect => self.suspect(rumour, tools),
            Standing::Dead => self.declare_dead(rumour, tools),
            Standing::Left | Standing::Forgotten => {}
        }
    }

    /// A peer reports that this member is suspected or dead: the member refutes it with a higher incarnation, and
    /// becomes less sensitive.
    fn refute(&mut self, rumour: Rumour, tools: &mut Tools<'_>) {
        self.incarnation = rumour.incarnation + 1;
        self.feel(1, tools);
        let (about, incarnation) = (self.me, self.incarnation);
        self.spread(Rumour { about, standing: Standing::Alive, incarnation, from: about }, tools);
    }

    fn hear_alive(&mut self, rumour: Rumour, tools: &mut Tools<'_>) {
        let peer = &mut self.peers[usize::from(rumour.about)];
        if rumour.incarnation <= peer.incarnation && peer.standing != Standing::Forgotten {
            return;
        }
        let was_given_up = !matches!(peer.standing, Standing::Alive | Standing::Suspect);
        *peer = Peer { standing: Standing::Alive, incarnation: rumour.incarnation, since: tools.now, suspicion: None };
        if was_given_up {
            tools.effects.push(Effect::Turn(rumour.about, Standing::Alive));
        }
        self.spread(rumour, tools);
    }

    pub(super) fn suspect(&mut self, rumour: Rumour, tools: &mut Tools<'_>) {
        let size = self.size();
        let peer = &mut self.peers[usize::from(rumour.about)];
        if rumour.incarnation < peer.incarnation {
            return;
        }
        match (&mut peer.suspicion, peer.standing) {
            (Some(suspicion), _) => {
                if !suspicion.confirm(rumour.from) {
                    return;
                }
            }
            (None, Standing::Alive) => {
                let suspicion = Suspicion::new(tools.settings, size, rumour.from, tools.now);
                peer.standing = Standing::Suspect;
                peer.incarnation = rumour.incarnation;
                peer.since = tools.now;
                peer.suspicion = Some(suspicion);
            }
            _ => return,
        }
        let due = peer.suspicion.as_ref().map_or(tools.now, Suspicion::due);
        tools.set((due - tools.now).max(0), Alarm::Suspicion(rumour.about));
        self.spread(rumour, tools);
    }

    /// A suspicion has lasted for long enough, if it is still there.
    fn give_up(&mut self, about: Node, tools: &mut Tools<'_>) {
        let peer = &self.peers[usize::from(about)];
        if peer.suspicion.as_ref().is_some_and(|suspicion| suspicion.due() <= tools.now) {
            let incarnation = peer.incarnation;
            self.declare_dead(Rumour { about, standing: Standing::Dead, incarnation, from: self.me }, tools);
        }
    }

    fn declare_dead(&mut self, rumour: Rumour, tools: &mut Tools<'_>) {
        let peer = &mut self.peers[usize::from(rumour.about)];
        if rumour.incarnation < peer.incarnation || !matches!(peer.standing, Standing::Alive | Standing::Suspect) {
            return;
        }
        let standing = if rumour.from == rumour.about { Standing::Left } else { Standing::Dead };
        *peer = Peer { standing, incarnation: rumour.incarnation, since: tools.now, suspicion: None };
        tools.effects.push(Effect::Turn(rumour.about, standing));
        self.spread(rumour, tools);
    }
}
