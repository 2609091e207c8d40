//! Scenarios made in Rust, and scenarios made from scenarios.

use super::{
    Budget, Clocks, Cutting, Drift, Expect, FairKind, Fairness, Goal, Links, Promise, Replies, Scenario, Suite,
    Synchrony, Ways,
};
use crate::properties::{Property, Watched};
use crate::protocol::Protocol;
use crate::resource::Accepts;
use crate::time::Ticks;

impl<P: Protocol> Scenario<P> {
    /// Two clients, one round, no faults, no promises.
    pub fn new(name: &str) -> Self {
        Scenario {
            name: name.to_owned(),
            system: P::SYSTEMS[0].to_owned(),
            hazard: None,
            also: Vec::new(),
            variant: String::new(),
            about: String::new(),
            suite: Suite::Standard,
            clients: 2,
            rounds: 1,
            writes: 0,
            resource: Accepts::All,
            service: P::Config::default(),
            synchrony: Synchrony::default(),
            fairness: Fairness::default(),
            network: Links::default(),
            clocks: Clocks::default(),
            budget: Budget::default(),
            promises: Vec::new(),
            goals: Vec::new(),
            mutation: None,
        }
    }

    /// Sets the number of clients that want the lock.
    pub fn clients(mut self, clients: u16) -> Self {
        self.clients = clients;
        self
    }

    /// Sets how often each client's user asks for the lock, and how often it may write per tenure.
    pub fn rounds(mut self, rounds: u8, writes: u8) -> Self {
        (self.rounds, self.writes) = (rounds, writes);
        self
    }

    /// Changes the settings of the service and of the client recipe.
    pub fn service(mut self, change: impl FnOnce(&mut P::Config)) -> Self {
        change(&mut self.service);
        self
    }

    /// Says which writes the resource accepts.
    pub fn resource(mut self, accepts: Accepts) -> Self {
        self.resource = accepts;
        self
    }

    /// Bounds the lateness of messages and of wake-ups.
    pub fn synchrony(mut self, message_delay: Option<Ticks>, wake_delay: Option<Ticks>) -> Self {
        (self.synchrony.message_delay, self.synchrony.wake_delay) = (message_delay, wake_delay);
        self
    }

    /// Allows for misfortune.
    pub fn budget(mut self, change: impl FnOnce(&mut Budget)) -> Self {
        change(&mut self.budget);
        self
    }

    /// Adds a promise that is expected to hold.
    pub fn promise(self, property: Property) -> Self {
        self.promised(Promise { property, bound: None, expect: Expect::Proven })
    }

    /// Adds a promise, whole.
    pub fn promised(mut self, promise: Promise) -> Self {
        self.promises.push(promise);
        self
    }

    /// Adds something that must be possible.
    pub fn goal(mut self, goal: Goal) -> Self {
        self.goals.push(goal);
        self
    }

    /// The same scenario on a finer clock: every duration multiplied.
    pub fn refined(&self, factor: i64) -> Self {
        let mut fine = self.clone();
        let scale = |ticks: Option<Ticks>| ticks.map(|ticks| ticks.times(factor));
        fine.service = P::scaled(&self.service, factor);
        fine.synchrony.message_delay = scale(self.synchrony.message_delay);
        fine.synchrony.wake_delay = scale(self.synchrony.wake_delay);
        fine.synchrony.server_delay = scale(self.synchrony.server_delay);
        fine.clocks = Clocks {
            skew: self.clocks.skew.times(factor),
            step: self.clocks.step.times(factor),
            drift: self.clocks.drift,
            offsets: self.clocks.offsets.iter().map(|offset| offset.times(factor)).collect(),
        };
        for promise in &mut fine.promises {
            promise.bound = scale(promise.bound);
        }
        fine
    }

    /// The same scenario with more of the same: more clients, more rounds.
    pub fn widened(&self, clients: u16, rounds: u8) -> Self {
        Scenario { clients, rounds, ..self.clone() }
    }

    /// The same scenario with only some of its promises judged.
    pub fn judging(&self, wanted: impl Fn(&Promise) -> bool) -> Self {
        let promises = self.promises.iter().copied().filter(wanted).collect();
        Scenario { promises, ..self.clone() }
    }

    /// Whether some promise of this run is about the property.
    pub fn watches(&self, property: Property) -> bool {
        self.watched().has_any(Watched::of(&[property]))
    }

    /// What the promises of this run are about.
    #[inline]
    pub(crate) fn watched(&self) -> Watched {
        self.promises.iter().fold(Watched::default(), |all, promise| all.and(promise.property))
    }

    /// What the verdicts rest on, as sentences.
    pub fn assumptions(&self) -> Vec<String> {
        let mut list = Vec::new();
        let mut say = |sentence: String| list.push(sentence);
        match self.synchrony.message_delay {
            Some(bound) => say(format!("a message is under way for at most {bound}")),
            None => say("messages may be late for ever".to_owned()),
        }
        if self.network.replies == Replies::Instant {
            say("an answer takes no time".to_owned());
        }
        match self.synchrony.wake_delay {
            Some(bound) => say(format!("a client's wake-up is late by at most {bound}")),
            None => say("wake-ups may be late for ever".to_owned()),
        }
        if let Some(bound) = self.synchrony.server_delay {
            say(format!("a deadline of the servers is late by at most {bound}"));
        }
        if self.promises.iter().any(|promise| promise.property.is_about_endless_runs(promise.bound)) {
            self.fairness.describe().into_iter().for_each(&mut say);
        }
        match self.clocks.skew {
            Ticks::ZERO => say("clocks run at the same rate".to_owned()),
            skew if self.clocks.drift == Drift::SlowClients => say(format!(
                "clients' clocks are slower: each falls behind by at most {skew}, {} at a time; rates are explored at this resolution",
                self.clocks.step
            )),
            skew if self.clocks.offsets.is_empty() => say(format!("clocks are apart by at most {skew}")),
            skew => say(format!("clocks move by at most {skew} from where they start")),
        }
        if self.budget.cuts > 0 {
            let ways = if self.network.ways == Ways::Both { "in both directions" } else { "in one direction" };
            let fate = if self.network.cuts == Cutting::Drop { "loses" } else { "holds back" };
            say(format!("a cut link {fate} what is on it, {ways}"));
        }
        for sentence in P::assumptions(&self.service) {
            say(sentence);
        }
        say(self.budget.describe());
        list
    }
}

impl Fairness {
    /// The assumptions as sentences.
    fn describe(&self) -> Vec<String> {
        let names = |kinds: &[FairKind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        let mut list = Vec::new();
        if !self.weak.is_empty() {
            list.push(format!("what is possible all the time happens in the end: {}", names(&self.weak)));
        }
        if !self.strong.is_empty() {
            list.push(format!("what is possible again and again happens in the end: {}", names(&self.strong)));
        }
        list
    }
}

impl Budget {
    /// The budget as a sentence.
    pub fn describe(&self) -> String {
        let Budget { losses, duplicates, crashes, restarts, pauses, cuts, slips, operator, retries, .. } = *self;
        let parts: Vec<String> = [
            (losses, "lost message"),
            (duplicates, "duplicated message"),
            (crashes, "crash"),
            (restarts, "restart"),
            (pauses, "pause"),
            (cuts, "cut link"),
            (slips, "clock slip"),
            (operator, "operator's act"),
            (self.outages, "outage of the service"),
            (self.server_restarts, "restart of the servers"),
            (self.false_alarms, "false alarm"),
            (retries, "repeated request per client"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} × {what}"))
        .collect();
        match (parts.is_empty(), self.endless_outages) {
            (true, false) => "nothing goes wrong".to_owned(),
            (true, true) => "outages of the service without end".to_owned(),
            (false, false) => format!("at most {}", parts.join(", ")),
            (false, true) => format!("outages of the service without end, and at most {}", parts.join(", ")),
        }
    }
}
