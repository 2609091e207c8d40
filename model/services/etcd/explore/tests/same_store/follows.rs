//! Watches of events: what they show, by the history of the API's store. A stream that is open misses nothing, whatever is compacted.

use std::collections::BTreeMap;

use fencepost_etcd::mvcc::{EtcdAnswer, EtcdCall, KeyValue, Mvcc, WatchEvent, WatchRange, WatchSaid};
use fencepost_etcd::{EtcdValue, EventCursor, KeyEvent, KeyRange, Response, Shown};
use fencepost_model::ids::{Call, ClientId, Index};

use super::names::{index, keys, path, queue, shifted, shown};
use super::pair::Told;

/// A watch: by which client, of which keys, from where on.
type Stream = (KeyRange, EventCursor);

/// All events, and the watches of them.
#[derive(Default)]
pub(super) struct Follows {
    /// What has happened, in order.
    events: Vec<KeyEvent>,
    waiting: BTreeMap<(ClientId, Call), Stream>,
    /// The stream of each client that is between two events.
    open: BTreeMap<ClientId, Stream>,
    /// Where each client would go on after the last event that it was shown.
    pub(super) last: BTreeMap<ClientId, Stream>,
}

impl Follows {
    /// A watch begins. What the API's store says of it must be what was noted of its history.
    pub(super) fn ask(
        &mut self,
        mvcc: &mut Mvcc,
        (client, call): (ClientId, Call),
        range: KeyRange,
        cursor: EventCursor,
    ) -> Result<Option<Told>, String> {
        let is_open = self.open.remove(&client) == Some((range, cursor));
        let (compacted, is_fresh) = (mvcc.compacted(), cursor.shown().1 == 0);
        if !is_open && shifted(cursor.start()) < compacted {
            return Ok(Some((client, call, Response::Compacted)));
        }
        let lost = |event: &KeyEvent| !is_open && event.is_delete && shifted(event.revision) == compacted;
        if !is_open && is_fresh {
            let count = self.shown(range, cursor, lost).len();
            let said = said(mvcc, range, shifted(cursor.start())).map(|events| events.len());
            if said != Some(count) {
                return Err(format!(
                    "{said:?} events of {range:?} from {cursor:?} in the API's store, and {count} noted"
                ));
            }
        }
        match self.shown(range, cursor, lost).first().copied() {
            Some(event) => {
                self.note(client, range, event);
                Ok(Some((client, call, Response::Event(event))))
            }
            None => {
                let cursor = cursor.max(EventCursor::after(index(mvcc.revision())));
                self.waiting.insert((client, call), (range, cursor));
                Ok(None)
            }
        }
    }

    /// The events after a cursor, each with its place among those of its revision.
    fn shown(&self, range: KeyRange, cursor: EventCursor, lost: impl Fn(&KeyEvent) -> bool) -> Vec<KeyEvent> {
        let mut places: BTreeMap<Index, u8> = BTreeMap::new();
        let in_range = self.events.iter().filter(|event| range.has(event.shown.key) && !lost(event));
        let numbered = in_range.map(|event| {
            let place = places.entry(event.revision).or_default();
            *place += 1;
            KeyEvent { place: *place, ..*event }
        });
        { numbered }.filter(|event| cursor.is_before(event)).collect()
    }

    fn note(&mut self, client: ClientId, range: KeyRange, event: KeyEvent) {
        self.open.insert(client, (range, event.cursor()));
        self.last.insert(client, (range, event.cursor()));
    }

    /// A step was taken: what it has done is noted, and told to those that wait. The keys are those before it.
    pub(super) fn happen(&mut self, mvcc: &mut Mvcc, before: i64, keys: &[KeyValue]) -> Vec<Told> {
        let mut happened: Vec<KeyEvent> =
            said(mvcc, KeyRange::Prefix, before + 1).unwrap_or_default().iter().map(event).collect();
        let created = |event: &KeyEvent| {
            let old = keys.iter().find(|entry| entry.key == path(event.shown.key));
            (event.revision, path(event.shown.key).contains("/sub/"), old.map(|entry| entry.created))
        };
        happened.sort_by_key(created);
        self.events.extend(happened);
        let mut told = Vec::new();
        for ((client, call), (range, cursor)) in std::mem::take(&mut self.waiting) {
            match self.shown(range, cursor, |_| false).first().copied() {
                Some(event) => {
                    self.note(client, range, event);
                    told.push((client, call, Response::Event(event)));
                }
                None => drop(self.waiting.insert((client, call), (range, cursor))),
            }
        }
        told
    }
}

/// What the API's store says of a range from a revision on; none: it is compacted.
fn said(mvcc: &mut Mvcc, range: KeyRange, start: i64) -> Option<Vec<WatchEvent>> {
    let (key, end) = match range {
        KeyRange::One(key) => (path(key), String::new()),
        KeyRange::Prefix => (queue().key, queue().end),
    };
    let watch = EtcdCall::Watch(WatchRange { key, end, start, ..WatchRange::default() });
    match mvcc.ask(&watch) {
        EtcdAnswer::Watched { watches, .. } => match watches.into_iter().next() {
            Some(WatchSaid::Events { events, .. }) => Some(events),
            _ => None,
        },
        other => panic!("not a watch: {other:?}"),
    }
}

fn event(event: &WatchEvent) -> KeyEvent {
    let key = keys().find(|key| path(*key) == event.key).expect("it is one of ours");
    let deleted = Shown { key, created: Index::NONE, value: EtcdValue::Empty };
    KeyEvent {
        shown: event.entry.as_ref().map_or(deleted, shown),
        revision: index(event.revision),
        place: 1,
        is_delete: event.entry.is_none(),
    }
}
