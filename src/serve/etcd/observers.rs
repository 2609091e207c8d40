//! Callers of `observe`, who are told which key leads an election and with which value (E-CC-23). What they do is `Observe` of the Go client
//! (clientv3/concurrency/election.go 160-245 of 3.4.23), which the server runs for them: read, watch, read again. The store answers both.

use std::collections::VecDeque;

use fencepost_conform::etcd::{EtcdExchange, EtcdReply};
use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall, KeyValue, Mvcc, WatchEvent, WatchRange, WatchSaid};
use serde_json::Value;

use super::EtcdBackend;
use super::watches::of_one;
use crate::stand_in::{Fate, Journey, StandIn, Ticket};

/// A caller of `observe`.
#[derive(Clone, Debug)]
pub(super) struct ServedObserver {
    /// The election.
    name: String,
    stage: ObserverStage,
    /// How long each of its steps takes: nothing, unless the answers to it are delayed.
    pace: i64,
    /// When it goes on.
    goes_on: i64,
}

/// Where an observer is.
#[derive(Clone, Debug)]
enum ObserverStage {
    /// It reads the oldest key below the prefix.
    Reads,
    /// It begins to watch the prefix, or that key.
    BeginsWatch(WatchRange),
    /// It watches. The server goes on with that, whatever the observer does meanwhile.
    Watches(ObserverWatch),
}

/// The watch of an observer.
#[derive(Clone, Debug)]
struct ObserverWatch {
    /// The prefix, in which it waits for the first put, or the key that leads. Its first revision is the next one that is looked at.
    range: WatchRange,
    /// What it has not looked at yet, with the revisions of the headers.
    events: VecDeque<(i64, WatchEvent)>,
}

/// What an observer does in a step.
enum ObserverStep {
    /// It tells which key leads, with the revision of the header.
    Tells(i64, KeyValue),
    /// It tells nothing.
    GoesOn,
    /// It waits for an event.
    Waits,
    /// What it wants to watch is compacted.
    Ends,
}

impl ServedObserver {
    /// When it goes on, if it does so by itself.
    pub(super) fn due(&self, now: i64) -> Option<i64> {
        (self.goes_on > now).then_some(self.goes_on)
    }

    /// Its watch hears what was written.
    fn hears(&mut self, store: &mut Mvcc) {
        let now = store.revision();
        let ObserverStage::Watches(ObserverWatch { range, events }) = &mut self.stage else { return };
        if range.start <= now
            && let WatchSaid::Events { events: new, .. } = of_one(store.ask(&EtcdCall::Watch(range.clone())))
        {
            // E-W-3: live, a message is about one revision.
            events.extend(new.into_iter().map(|event| (event.revision, event)));
            range.start = now + 1;
        }
    }

    /// The next step.
    fn step(&mut self, store: &mut Mvcc) -> ObserverStep {
        match &mut self.stage {
            ObserverStage::Reads => match store.ask(&EtcdCall::Leader { name: self.name.clone() }) {
                EtcdAnswer::Leads { revision, entry } => self.tells(revision, entry),
                // `v3.WithRev(resp.Header.Revision), v3.WithPrefix()` (189).
                _ => {
                    let (key, end) = (format!("{}/", self.name), format!("{}0", self.name));
                    let range = WatchRange { key, end, start: store.revision(), ..WatchRange::default() };
                    self.stage = ObserverStage::BeginsWatch(range);
                    ObserverStep::GoesOn
                }
            },
            ObserverStage::BeginsWatch(range) => {
                let now = store.revision();
                let mut range = std::mem::take(range);
                // E-W-5: what is compacted ends it, and a deletion at exactly the compacted revision is lost.
                let WatchSaid::Events { events, .. } = of_one(store.ask(&EtcdCall::Watch(range.clone()))) else {
                    return ObserverStep::Ends;
                };
                // E-W-3: the header of history has the present revision.
                let events = events.into_iter().map(|event| (now, event)).collect();
                range.start = now + 1;
                self.stage = ObserverStage::Watches(ObserverWatch { range, events });
                ObserverStep::GoesOn
            }
            ObserverStage::Watches(ObserverWatch { range, events }) => {
                let is_first = !range.end.is_empty();
                match events.pop_front() {
                    None => ObserverStep::Waits,
                    // "only accept puts; a delete will make observe() spin" (198).
                    Some((_, WatchEvent { entry: None, .. })) if is_first => ObserverStep::GoesOn,
                    // `hdr.Revision = kv.ModRevision` (204).
                    Some((_, WatchEvent { entry: Some(entry), .. })) if is_first => self.tells(entry.modified, entry),
                    // `keyDeleted = true` (229).
                    Some((_, WatchEvent { entry: None, .. })) => {
                        self.stage = ObserverStage::Reads;
                        ObserverStep::GoesOn
                    }
                    Some((revision, WatchEvent { entry: Some(entry), .. })) => ObserverStep::Tells(revision, entry),
                }
            }
        }
    }

    /// It tells which key leads, and watches that from the next revision on (217).
    fn tells(&mut self, revision: i64, entry: KeyValue) -> ObserverStep {
        let range = WatchRange { key: entry.key.clone(), start: revision + 1, ..WatchRange::default() };
        self.stage = ObserverStage::BeginsWatch(range);
        ObserverStep::Tells(revision, entry)
    }
}

impl StandIn<EtcdBackend> {
    /// A caller observes an election from now on.
    pub(super) fn serve_observer(&mut self, journey: Journey, name: String) {
        let pace = if let Fate::Delayed(by) = journey.fate { by } else { 0 };
        let Some(ticket) = self.begin_stream(journey) else { return };
        let observer = ServedObserver { name, stage: ObserverStage::Reads, pace, goes_on: self.now };
        self.backend.observers.insert(ticket, observer);
    }

    /// Each observer goes on as far as it can.
    pub(super) fn tell_observers(&mut self) {
        let tickets: Vec<Ticket> = self.backend.observers.keys().copied().collect();
        for ticket in tickets {
            self.tell_observer(ticket);
        }
    }

    /// An observer goes on as far as it can.
    pub(super) fn tell_observer(&mut self, ticket: Ticket) {
        loop {
            let EtcdBackend { observers, store, .. } = &mut self.backend;
            let Some(observer) = observers.get_mut(&ticket) else { return };
            observer.hears(store);
            if observer.due(self.now).is_some() {
                return;
            }
            let is_reading = matches!(observer.stage, ObserverStage::Reads);
            let step = observer.step(store);
            if is_reading || matches!(step, ObserverStep::Tells(..)) {
                // An answer is on its way: to a read of the observer, or to its caller, who has to receive it before the observer goes on.
                observer.goes_on = self.now.saturating_add(observer.pace);
            }
            match step {
                ObserverStep::Tells(revision, entry) => self.tell_leader(ticket, revision, entry),
                ObserverStep::GoesOn => {}
                ObserverStep::Waits => return,
                ObserverStep::Ends => {
                    observers.remove(&ticket);
                    self.end_stream(ticket);
                }
            }
        }
    }

    /// A line about the leader, as an answer about it is written.
    fn tell_leader(&mut self, ticket: Ticket, revision: i64, entry: KeyValue) {
        let version = self.backend.store.version();
        let (call, answer) = (EtcdCall::Leader { name: String::new() }, EtcdAnswer::Leads { revision, entry });
        let exchange = EtcdExchange { version, call, reply: EtcdReply { status: 0, body: Value::Null }, answer };
        let mut message = exchange.expected().body;
        self.sign(&mut message["header"]);
        self.say(ticket, message);
    }
}
