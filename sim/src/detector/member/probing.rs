//! How a member finds out who is there: one probe after another, with the help of others where there is no answer.

use super::Member;
use crate::detector::{Alarm, Effect, Node, Packet, Payload, Rumour, Standing, Tools};

/// Where a member is in its round, and what it waits for.
#[derive(Clone, Debug, Default)]
pub(super) struct Probing {
    /// Whom it looks at, in which order, and who is next; another order each round.
    round: Vec<Node>,
    next: usize,
    numbers: u32,
    probe: Option<Probe>,
    /// Pings for others: their number here, who asked, and its number there.
    relays: Vec<(u32, Node, u32)>,
}

/// A probe that is not over.
#[derive(Clone, Debug)]
struct Probe {
    number: u32,
    target: Node,
    /// How many were asked to help, and how many have said that they had no answer either.
    asked: i64,
    nacks: i64,
    /// Whether the target has answered on a connection.
    is_connected: bool,
}

impl Member {
    fn number(&mut self) -> u32 {
        self.probing.numbers += 1;
        self.probing.numbers
    }

    /// Looks at the next one, if the last look is over: those take longer while the member mistrusts itself.
    pub(super) fn probe(&mut self, tools: &mut Tools<'_>) {
        let interval = tools.settings.probe_interval;
        if self.probing.probe.is_none()
            && let Some(target) = self.next_target(tools)
        {
            let number = self.number();
            self.probing.probe = Some(Probe { number, target, asked: 0, nacks: 0, is_connected: false });
            if self.standing(target) == Standing::Suspect && tools.settings.lifeguard {
                // Lifeguard's buddy system: who is suspected hears of it first.
                let (standing, incarnation) = (Standing::Suspect, self.incarnation_of(target));
                let rumours = vec![Rumour { about: target, standing, incarnation, from: self.me }];
                tools.effects.push(Effect::Send(Packet {
                    from: self.me,
                    to: target,
                    payload: Payload::Ping(number),
                    rumours,
                }));
            } else {
                self.send(target, Payload::Ping(number), tools);
            }
            tools.set(tools.settings.probe_timeout, Alarm::Unanswered(number));
            tools.set(interval * self.patience(), Alarm::ProbeEnds(number));
        }
        tools.set(interval, Alarm::Probe);
    }

    fn next_target(&mut self, tools: &mut Tools<'_>) -> Option<Node> {
        let is_there = |standing| matches!(standing, Standing::Alive | Standing::Suspect);
        for _ in 0..2 {
            while let Some(node) = self.probing.round.get(self.probing.next).copied() {
                self.probing.next += 1;
                if is_there(self.standing(node)) {
                    return Some(node);
                }
            }
            self.probing.next = 0;
            self.probing.round = tools.some_of(self.others(|_, standing| is_there(standing)), u16::MAX);
        }
        None
    }

    /// There is no answer yet: others are asked to try, and a connection is tried, too.
    pub(super) fn ask_others(&mut self, number: u32, tools: &mut Tools<'_>) {
        let Some(target) = self.probing.probe.as_ref().filter(|probe| probe.number == number).map(|probe| probe.target)
        else {
            return;
        };
        let able = self.others(|node, standing| node != target && standing == Standing::Alive);
        let helpers = tools.some_of(able, tools.settings.indirect_checks);
        for helper in &helpers {
            self.send(*helper, Payload::PingFor(number, target), tools);
        }
        self.send(target, Payload::Hello(number), tools);
        if let Some(probe) = &mut self.probing.probe {
            probe.asked = i64::try_from(helpers.len()).expect("a small number");
        }
    }

    /// The time for answers is over. Where helpers are silent as well, the fault may be here (Lifeguard's local health).
    pub(super) fn conclude(&mut self, number: u32, tools: &mut Tools<'_>) {
        let Some(probe) = self.probing.probe.take_if(|probe| probe.number == number) else { return };
        if probe.is_connected {
            self.feel(-1, tools);
            return;
        }
        self.feel(if probe.asked > 0 { probe.asked - probe.nacks } else { 1 }, tools);
        let incarnation = self.incarnation_of(probe.target);
        self.suspect(Rumour { about: probe.target, standing: Standing::Suspect, incarnation, from: self.me }, tools);
    }

    pub(super) fn answer(&mut self, packet: &Packet, tools: &mut Tools<'_>) {
        let probe = &mut self.probing.probe;
        match packet.payload {
            Payload::Ping(number) => self.send(packet.from, Payload::Ack(number), tools),
            Payload::Hello(number) => self.send(packet.from, Payload::HelloBack(number), tools),
            Payload::PingFor(theirs, target) => {
                let number = self.number();
                self.probing.relays.push((number, packet.from, theirs));
                self.send(target, Payload::Ping(number), tools);
                tools.set(tools.settings.probe_timeout, Alarm::RelayEnds(number));
            }
            Payload::Ack(number) => {
                if probe.take_if(|probe| probe.number == number).is_some() {
                    self.feel(-1, tools);
                } else if let Some((asker, theirs)) = self.relayed(number) {
                    self.send(asker, Payload::Ack(theirs), tools);
                }
            }
            Payload::Nack(number) => {
                if let Some(probe) = probe.as_mut().filter(|probe| probe.number == number) {
                    probe.nacks += 1;
                }
            }
            Payload::HelloBack(number) => {
                if let Some(probe) = probe.as_mut().filter(|probe| probe.number == number) {
                    probe.is_connected = true;
                }
            }
            Payload::Exchange { .. } | Payload::Gossip => {}
        }
    }

    /// Says that a ping for another one was not answered.
    pub(super) fn nack(&mut self, number: u32, tools: &mut Tools<'_>) {
        if let Some((asker, theirs)) = self.relayed(number) {
            self.send(asker, Payload::Nack(theirs), tools);
        }
    }

    fn relayed(&mut self, number: u32) -> Option<(Node, u32)> {
        let place = self.probing.relays.iter().position(|(own, _, _)| *own == number)?;
        let (_, asker, theirs) = self.probing.relays.remove(place);
        Some((asker, theirs))
    }
}
