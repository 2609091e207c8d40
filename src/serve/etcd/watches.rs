//! Watches (E-W-1 to E-W-6). All messages of a body are read, then the history of each watch is told, and from then on each revision when it is
//! written: a real server gets to the history after a tenth of a second at most.

use std::collections::BTreeMap;

use fencepost_conform::SECOND;
use fencepost_conform::etcd::{EtcdExchange, EtcdReply};
use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall, WatchEvent, WatchRange, WatchRefusal, WatchSaid};
use serde_json::{Value, json};

use super::EtcdBackend;
use super::watch_body::WatchMessage;
use crate::stand_in::{Answer, Journey, StandIn, Ticket};

/// E-W-3: the most revisions in one message.
const REVISIONS_MAX: usize = 1_000;

/// E-W-6: how often a watch is told of progress, in nanoseconds, and how much later that may be.
const PROGRESS: i64 = 600 * SECOND;
const PROGRESS_LATER: u64 = 60 * SECOND.unsigned_abs();

/// A stream of watches.
#[derive(Clone, Debug)]
pub(super) struct ServedStream {
    watches: BTreeMap<i64, ServedWatch>,
    /// The first id that may be free for a watch that names none (E-W-1).
    next_id: i64,
    /// How often progress is told.
    period: i64,
    /// When it is told next.
    pub(super) progress: i64,
}

/// A watch of a stream.
#[derive(Clone, Debug)]
struct ServedWatch {
    /// What it is about; its first revision is the next one that is looked at.
    range: WatchRange,
    /// Whether its history has been told.
    is_live: bool,
    /// Whether progress is told next time; none: it never is.
    notified: Option<bool>,
}

impl ServedStream {
    /// Whether one of its watches is told of progress.
    pub(super) fn notifies(&self) -> bool {
        self.watches.values().any(|watch| watch.notified.is_some())
    }
}

impl StandIn<EtcdBackend> {
    /// A stream begins, with all that is asked of it.
    pub(super) fn serve_watches(&mut self, journey: Journey, messages: Vec<WatchMessage>) {
        let Some(ticket) = self.begin_stream(journey) else { return };
        self.backend.drawn += 1;
        let later = self.draw(&[u64::from_be_bytes(*b"progress"), self.backend.drawn]) % PROGRESS_LATER;
        let period = PROGRESS + i64::try_from(later).unwrap_or(0);
        let progress = self.now.saturating_add(period);
        let stream = ServedStream { watches: BTreeMap::new(), next_id: 0, period, progress };
        self.backend.streams.insert(ticket, stream);
        for message in messages {
            match message {
                WatchMessage::Create { range, notifies } => self.create_watch(ticket, range, notifies),
                WatchMessage::Cancel(id) => self.cancel_watch(ticket, id),
                WatchMessage::Progress => self.tell_progress(ticket),
                WatchMessage::Nothing => {}
            }
        }
    }

    fn create_watch(&mut self, ticket: Ticket, mut range: WatchRange, notifies: bool) {
        let Some(stream) = self.backend.streams.get_mut(&ticket) else { return };
        let mut said = of_one(self.backend.store.ask(&EtcdCall::Watch(range.clone())));
        if !matches!(said, WatchSaid::Refused(_)) {
            if range.id == 0 {
                while stream.watches.contains_key(&stream.next_id) {
                    stream.next_id += 1;
                }
                range.id = stream.next_id;
                stream.next_id += 1;
            } else if stream.watches.contains_key(&range.id) {
                said = WatchSaid::Refused(WatchRefusal::DuplicateId);
            }
        }
        if !matches!(said, WatchSaid::Refused(_)) {
            said = WatchSaid::Events { id: range.id, events: Vec::new() };
            let (next, is_now) = (self.backend.store.revision() + 1, range.start == 0);
            range.start = if is_now { next } else { range.start };
            let is_live = is_now || range.start >= next && !self.backend.store.version().future_watch_is_behind();
            stream.watches.insert(range.id, ServedWatch { range, is_live, notified: notifies.then_some(true) });
        }
        let [created, ..] = &mut self.written(said)[..] else { return };
        created["header"] = self.present();
        let created = created.take();
        self.say(ticket, created);
    }

    /// What is asked for; since 3.4.25 and 3.5.8 only if there are watches, and all of them have been told all (E-W-6).
    fn tell_progress(&mut self, ticket: Ticket) {
        let Some(ServedStream { watches, .. }) = self.backend.streams.get(&ticket) else { return };
        let have_all = !watches.is_empty() && watches.values().all(|watch| watch.is_live);
        if have_all || !self.backend.store.version().progress_waits() {
            self.say(ticket, json!({ "header": self.present(), "watch_id": "-1" }));
        }
    }

    /// An id that no watch has is passed over.
    fn cancel_watch(&mut self, ticket: Ticket, id: i64) {
        let stream = self.backend.streams.get_mut(&ticket);
        if stream.and_then(|stream| stream.watches.remove(&id)).is_some() {
            self.say(ticket, json!({ "header": self.present(), "watch_id": id.to_string(), "canceled": true }));
        }
    }

    /// Each watch hears what it has not heard yet.
    pub(super) fn tell_watches(&mut self) {
        let now = self.backend.store.revision();
        let mut told = Vec::new();
        for (ticket, stream) in &mut self.backend.streams {
            for watch in stream.watches.values_mut().filter(|watch| watch.range.start <= now) {
                let said = of_one(self.backend.store.ask(&EtcdCall::Watch(watch.range.clone())));
                let revisions = if watch.is_live { 1 } else { REVISIONS_MAX };
                (watch.is_live, watch.range.start) = (true, now + 1);
                if let (WatchSaid::Events { events, .. }, Some(is_due)) = (&said, &mut watch.notified) {
                    *is_due &= events.is_empty();
                }
                told.push((*ticket, said, revisions));
            }
        }
        for (ticket, said, revisions) in told {
            match said {
                WatchSaid::Events { id, events } => self.tell_events(ticket, id, events, revisions),
                WatchSaid::Compacted { id, .. } => {
                    if let Some(stream) = self.backend.streams.get_mut(&ticket) {
                        stream.watches.remove(&id);
                    }
                    // Its header has no revision.
                    self.tell_last(ticket, said, json!({}));
                }
                WatchSaid::Refused(_) => {}
            }
        }
    }

    /// Messages of at most this number of revisions each. The header of one that is not live has the present revision (E-W-3).
    fn tell_events(&mut self, ticket: Ticket, id: i64, events: Vec<WatchEvent>, revisions: usize) {
        let mut rest = events.into_iter().peekable();
        while rest.peek().is_some() {
            let (mut events, mut seen): (Vec<WatchEvent>, Vec<i64>) = (Vec::new(), Vec::new());
            while let Some(event) = rest.next_if(|event| seen.last() == Some(&event.revision) || seen.len() < revisions)
            {
                if seen.last() != Some(&event.revision) {
                    seen.push(event.revision);
                }
                events.push(event);
            }
            let header = match (revisions, seen.last()) {
                (1, Some(revision)) => json!({ "revision": revision.to_string() }),
                _ => self.present(),
            };
            self.tell_last(ticket, WatchSaid::Events { id, events }, header);
        }
    }

    /// Says what comes after the word that a watch was created.
    fn tell_last(&mut self, ticket: Ticket, said: WatchSaid, mut header: Value) {
        let Some(mut message) = self.written(said).pop() else { return };
        self.sign(&mut header);
        message["header"] = header;
        self.say(ticket, message);
    }

    /// Progress is told to the watches that ask for it and had no event since the last time (E-W-6).
    pub(super) fn notify_progress(&mut self, ticket: Ticket) {
        let Some(stream) = self.backend.streams.get_mut(&ticket) else { return };
        stream.progress = self.now.saturating_add(stream.period);
        let mut idle = Vec::new();
        for (id, watch) in &mut stream.watches {
            if let Some(is_due) = &mut watch.notified {
                idle.extend(is_due.then_some(*id));
                *is_due = true;
            }
        }
        for id in idle {
            self.say(ticket, json!({ "header": self.present(), "watch_id": id.to_string() }));
        }
    }

    /// The messages about a watch as the gateway writes them, without their headers: that it was created, and what it tells if there is something.
    fn written(&self, said: WatchSaid) -> Vec<Value> {
        let (version, revision) = (self.backend.store.version(), self.backend.store.revision());
        let answer = EtcdAnswer::Watched { revision, unsure: None, progress: true, watches: vec![said] };
        let reply = EtcdReply { status: 0, body: Value::Null };
        let exchange = EtcdExchange { version, call: EtcdCall::Watch(WatchRange::default()), reply, answer };
        exchange.expected().body["messages"].as_array_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A header with the present revision.
    fn present(&self) -> Value {
        let mut header = json!({ "revision": self.backend.store.revision().to_string() });
        self.sign(&mut header);
        header
    }

    /// A line on a stream (E-GEN-6); an id of 0 is left out (E-GEN-4).
    pub(super) fn say(&mut self, ticket: Ticket, mut message: Value) {
        if let Some(fields) = message.as_object_mut().filter(|fields| fields.get("watch_id") == Some(&json!("0"))) {
            fields.remove("watch_id");
        }
        let mut answer = Answer::json(&json!({ "result": message }));
        answer.body.push(b'\n');
        self.send_message(ticket, answer);
    }
}

/// What the store says of a single watch.
pub(super) fn of_one(answer: EtcdAnswer) -> WatchSaid {
    match answer {
        EtcdAnswer::Watched { mut watches, .. } if watches.len() == 1 => watches.remove(0),
        _ => WatchSaid::Refused(WatchRefusal::EmptyRange),
    }
}
