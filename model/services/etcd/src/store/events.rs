//! What has happened to the keys below the prefix, for programs that watch puts, too: each event from a revision on, in order, none missing
//! (E-W-2). It is kept with `service.history` only: the watches of the recipes need no more than the keys that are there (see `watches`).

use serde::{Deserialize, Serialize};

use super::{Asker, Cluster, Ctx, Entry, Index, Out, Response};
use crate::EtcdMutation as Mutant;
use crate::messages::{EventCursor, KeyEvent, KeyRange, Shown};
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::normal::Normal;

/// The history since the compaction, and who watches it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub(super) struct EventLog {
    /// In the order of revisions; those of one revision in the order of keys (E-LS-8).
    events: InlineVec<KeyEvent, 2>,
    #[normal(sorted)]
    waiting: InlineVec<EventWatch, 1>,
    /// Streams between two events, whose next event may be in their clients' hands already: no compaction ends them (E-W-5). Of each client
    /// the newest one is kept.
    open: InlineVec<OpenStream, 1>,
}

/// A watch that waits for its next event.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
struct EventWatch {
    client: ClientId,
    #[normal(of = client)]
    call: Call,
    range: KeyRange,
    cursor: EventCursor,
}

/// A watch between two events.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
struct OpenStream {
    client: ClientId,
    range: KeyRange,
    cursor: EventCursor,
}

impl EventLog {
    /// The next event of these keys, without deletions at exactly one revision, if they are lost (E-W-5).
    fn next(&self, range: KeyRange, cursor: EventCursor, lost: Option<Index>) -> Option<KeyEvent> {
        let is_lost = |event: &&KeyEvent| event.is_delete && lost == Some(event.revision);
        let mut last = (Index::NONE, 0);
        let in_range = self.events.iter().filter(|event| range.has(event.shown.key));
        let numbered = in_range.filter(|event| !is_lost(event)).map(|event| {
            let place = if event.revision == last.0 { last.1 + 1 } else { 1 };
            last = (event.revision, place);
            KeyEvent { place, ..*event }
        });
        { numbered }.find(|event| cursor.is_before(event))
    }

    /// The clients whose watches wait.
    pub(super) fn watchers(&self) -> impl Iterator<Item = ClientId> {
        self.waiting.iter().map(|watch| watch.client)
    }

    /// A client's connection breaks: which of its calls waited.
    pub(super) fn disconnect(&mut self, client: ClientId) -> Vec<Call> {
        let calls = self.waiting.iter().filter(|watch| watch.client == client).map(|watch| watch.call).collect();
        self.waiting.retain(|watch| watch.client != client);
        self.open.retain(|stream| stream.client != client);
        calls
    }

    /// Drops what no watch can be shown any more.
    fn compact(&mut self, to: Index) {
        let open = self.open.clone();
        let is_due = |event: &KeyEvent| {
            let numbered = KeyEvent { place: u8::MAX, ..*event };
            open.iter().any(|stream| stream.range.has(event.shown.key) && stream.cursor.is_before(&numbered))
        };
        self.events.retain(|event| event.revision >= to || is_due(event));
    }
}

impl Cluster {
    /// A watch of events. One before the compaction is cancelled, unless its stream is open (E-W-5).
    pub(super) fn follow(
        &mut self,
        (client, call): Asker,
        range: KeyRange,
        cursor: EventCursor,
        context: &Ctx<'_>,
        out: Out<'_>,
    ) {
        let compacted = self.compacted;
        let log = self.log.get_or_insert_default();
        let is_open = log.open.contains(&OpenStream { client, range, cursor });
        log.open.retain(|stream| stream.client != client);
        if !is_open && cursor.start() < compacted && !context.is_mutated(Mutant::CompactionIgnored) {
            return super::answer(out, (client, call), Response::Compacted);
        }
        // E-W-5: until 3.4.35.
        let lost = (!is_open && !context.scenario.service.shows_compacted_deletes).then_some(compacted);
        match log.next(range, cursor, lost).filter(|_| !context.is_mutated(Mutant::EventsFromNow)) {
            Some(event) => {
                log.open.insert_sorted(OpenStream { client, range, cursor: event.cursor() });
                super::answer(out, (client, call), Response::Event(event));
            }
            // What is there already is not for it.
            None => {
                let cursor = cursor.max(EventCursor::after(self.revision));
                log.waiting.insert_sorted(EventWatch { client, call, range, cursor });
            }
        }
    }

    /// A put of a key below the prefix.
    pub(super) fn note_put(&mut self, entry: Entry, context: &Ctx<'_>, out: Out<'_>) {
        if context.scenario.service.history {
            let (shown, revision) = (entry.shown(), self.revision);
            let log = self.log.get_or_insert_default();
            log.events.push(KeyEvent { shown, revision, place: 1, is_delete: false });
            self.tell_followers(out);
        }
    }

    /// Deletions at one revision, in the order of keys: a lock's before those of locks below it (E-LS-8).
    pub(super) fn note_deletes(&mut self, mut deleted: InlineVec<Entry, 3>, context: &Ctx<'_>, out: Out<'_>) {
        if context.scenario.service.history {
            deleted.sort_by_key(|entry| (matches!(entry.key, crate::Key::Below(_)), entry.created));
            let revision = self.revision;
            let log = self.log.get_or_insert_default();
            for entry in &*deleted {
                let shown = Shown { key: entry.key, created: Index::NONE, value: Default::default() };
                log.events.push(KeyEvent { shown, revision, place: 1, is_delete: true });
            }
            self.tell_followers(out);
        }
    }

    /// Answers the watches whose next event has come.
    fn tell_followers(&mut self, out: Out<'_>) {
        let Some(log) = &mut *self.log else { return };
        for watch in std::mem::take(&mut log.waiting).iter().copied() {
            let EventWatch { client, call, range, cursor } = watch;
            match log.next(range, cursor, None) {
                Some(event) => {
                    log.open.retain(|stream| stream.client != client);
                    log.open.insert_sorted(OpenStream { client, range, cursor: event.cursor() });
                    super::answer(out, (client, call), Response::Event(event));
                }
                None => log.waiting.insert_sorted(watch),
            }
        }
    }

    /// What is before the compaction is not shown to a new watch.
    pub(super) fn compact_log(&mut self) {
        let compacted = self.compacted;
        if let Some(log) = &mut *self.log {
            log.compact(compacted);
        }
    }
}
