//! What comes before the end of a session, and what after: who takes a lock with a session has one that lives, whether the lock is free or
//! not; who is told that it is unknown has one that has ended (C-KV-10); a read shows it or does not.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::draft::{Draft, SESSIONS, STORE};
use super::entry::{Effect, Entry};
use super::requests::{Request, Requests, Verb, What};

/// The requests that tell whether a session had ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Lifetime {
    /// The request that destroys it: of several, the one that is sent first. Where another one was carried out before it, it may as well
    /// have been carried out then, and the other one right after it.
    pub(super) end: Option<usize>,
    /// Requests that come before that.
    pub(super) before: Vec<usize>,
    /// Requests that come after it.
    pub(super) after: Vec<usize>,
}

impl Requests {
    /// By session: what tells of its end.
    pub(super) fn lifetimes(&self) -> Vec<Lifetime> {
        let mut lifetimes = vec![Lifetime::default(); self.deletes.len()];
        for (place, request) in self.all.iter().enumerate() {
            let Some(request) = request else { continue };
            if let What::Destroy(session) = request.what {
                lifetimes[session].after.push(place);
            }
            request.living().into_iter().for_each(|session| lifetimes[session].before.push(place));
            if let Some(session) = request.ended {
                lifetimes[session].after.push(place);
            }
        }
        for lifetime in &mut lifetimes {
            let sent = |place: &usize| {
                let end = self.all[*place].as_ref().filter(|request| matches!(request.what, What::Destroy(_)));
                end.map(|end| (end.sent, *place))
            };
            lifetime.end = lifetime.after.iter().filter_map(sent).min().map(|(_, place)| place);
            lifetime.after.retain(|place| Some(*place) != lifetime.end);
        }
        lifetimes
    }

    /// The instants between which a session ends, by who has seen it and who has not, and the other way round.
    pub(super) fn bound_lifetimes(&mut self) {
        for Lifetime { end, before, after } in self.lifetimes() {
            let Some(Request { mut sent, mut received, .. }) = end.and_then(|end| self.all[end].clone()) else {
                continue;
            };
            for earlier in before.iter().filter_map(|place| self.all[*place].as_ref()) {
                sent = sent.max(earlier.sent);
            }
            for later in after.iter().filter_map(|place| self.all[*place].as_ref()) {
                received = received.min(later.received);
            }
            for (places, since, until) in
                [(end.as_slice(), sent, received), (&before, i64::MIN, received), (&after, sent, i64::MAX)]
            {
                for place in places {
                    if let Some(request) = &mut self.all[*place] {
                        (request.sent, request.received) = (request.sent.max(since), request.received.min(until));
                    }
                }
            }
        }
    }
}

impl Request {
    /// Sessions that live when it is carried out.
    pub(super) fn living(&self) -> Vec<usize> {
        if let What::Sessions = self.what {
            return self.shown_sessions.clone();
        }
        if self.ended.is_some() || !self.is_done && self.operations().len() > 1 {
            return Vec::new();
        }
        let taken = |verb: Verb| if let Verb::Acquire(session) = verb { Some(session) } else { None };
        self.operations().iter().filter_map(|operation| taken(operation.verb)).collect()
    }
}

impl Draft<'_> {
    /// Where an event of a request may be inserted, by the ends of sessions: from which place on, and up to which. What has no place yet
    /// does not count.
    pub(super) fn within_lifetimes(&self, item: usize) -> (usize, usize) {
        let (mut from, mut to) = (0, self.sequence.order.len());
        let place = |item: usize| self.placed[item].map(|event| self.sequence.place[event]);
        let request = self.request(item);
        if let Some(by) = self.by_reads(item) {
            to = by;
        }
        if let What::Destroy(session) = request.what {
            let Lifetime { end, before, after } = &self.lifetimes[session];
            if *end != Some(item) {
                return (end.and_then(place).map_or(from, |end| end + 1), to);
            }
            from = before.iter().filter_map(|item| self.stands_after(*item)).fold(from, usize::max);
            return (from, after.iter().filter_map(|item| self.stands_by(*item)).fold(to, usize::min));
        }
        for session in request.living() {
            let end = self.lifetimes[session].end;
            to = end.and_then(place).into_iter().chain(end.and_then(|end| self.by_reads(end))).fold(to, usize::min);
        }
        let ended = request.ended.and_then(|session| self.lifetimes[session].end).and_then(place);
        (ended.map_or(from, |end| end + 1), to)
    }

    /// Whether a request comes before the end of a session that has no place yet.
    pub(super) fn is_before_an_end(&self, item: usize) -> bool {
        let is_open = |session: usize| self.lifetimes[session].end.is_some_and(|end| self.placed[end].is_none());
        self.request(item).living().into_iter().any(is_open)
    }

    /// Whether the session that holds an entry may end later than an event: one that is still to end does so after that.
    pub(super) fn may_hold_until(&self, entry: Option<&Entry>, event: usize) -> bool {
        let session = entry.and_then(|entry| entry.session);
        let end = session.and_then(|session| self.lifetimes[session].end).filter(|end| self.placed[*end].is_none());
        end.is_none_or(|end| {
            let at = self.sequence.place[event];
            at < self.within_lifetimes(end).1 && self.sequence.since(at) <= self.request(end).received
        })
    }

    /// Whether a request may be carried out at an event that has its place, by the ends of sessions.
    pub(super) fn lives_at(&self, item: usize, event: usize) -> bool {
        let at = self.sequence.place[event];
        let (from, to) = self.within_lifetimes(item);
        // What a read of the sessions shows may be that end itself.
        from <= at && at <= to && self.sequence.events[event].label.is_none_or(|label| self.may_stand_at(item, label))
    }

    /// Whether a request may be carried out at a log position, by the indexes that show it: where sessions come or go, one does, and where
    /// keys change with that, one ends.
    pub(super) fn may_stand_at(&self, item: usize, label: u64) -> bool {
        let (is_stored, is_of_sessions) =
            (self.positions[STORE].contains(&label), self.positions[SESSIONS].contains(&label));
        match self.request(item).what {
            What::Create(_) => !is_stored,
            What::Destroy(_) => self.is_about_session(item),
            _ => !is_of_sessions,
        }
    }

    /// Where the end of a session would change a key that was walked along already: each from the place after the lock is taken up to the
    /// place of what frees it. One key may be left out.
    pub(super) fn held(&self, end: usize, except: Option<usize>) -> Vec<RangeInclusive<usize>> {
        let What::Destroy(session) = self.request(end).what else { return Vec::new() };
        let mut held = Vec::new();
        let keys = self.lifetimes[session].before.iter().flat_map(|place| self.request(*place).operations());
        let keys: BTreeSet<usize> = keys.filter(|one| one.verb == Verb::Acquire(session)).map(|one| one.key).collect();
        for key in keys.into_iter().filter(|key| Some(*key) != except && self.is_walked[*key]) {
            let ends = self.holders(key).into_iter().filter_map(|holder| self.ends.get(&holder).copied());
            let about = self.about[key].iter().copied().chain(ends).filter(|place| *place != end);
            let events = about.filter_map(|place| Some((self.sequence.place[self.placed[place]?], place)));
            let events: BTreeSet<(usize, usize)> = events.collect();
            let (mut entry, mut since): (Option<Entry>, Option<usize>) = (None, None);
            for (at, place) in events {
                let Effect::Change(new) = self.effect(place, key, entry.as_ref()) else { continue };
                entry = new;
                let is_held = entry.as_ref().is_some_and(|entry| entry.session == Some(session));
                match since {
                    None if is_held => since = Some(at + 1),
                    Some(from) if !is_held => {
                        held.push(from..=at);
                        since = None;
                    }
                    _ => {}
                }
            }
            held.extend(since.map(|from| from..=self.sequence.order.len()));
        }
        held
    }

    /// By request that creates or ends a session: the log position up to which it was carried out, since a read of the sessions that was sent
    /// later shows that.
    pub(super) fn session_positions(&self) -> Vec<Option<u64>> {
        let mut reads: Vec<(i64, u64)> =
            self.session_reads().into_iter().map(|(index, read)| (self.request(read).sent, index)).collect();
        reads.sort_unstable();
        let by = |request: &Request| {
            let later = reads.partition_point(|(sent, _)| *sent <= request.received);
            reads[later..].iter().map(|(_, index)| *index).min()
        };
        let all = self.requests.all.iter().enumerate();
        all.map(|(place, request)| request.as_ref().filter(|_| self.is_about_session(place)).and_then(by)).collect()
    }

    /// Up to which place a session is created or ends, by the reads that are sent later.
    fn by_reads(&self, item: usize) -> Option<usize> {
        self.place_of_label(self.by_position[item]?)
    }

    /// From which place on what follows a request may stand: after its event, or the log position that it shows of the sessions.
    fn stands_after(&self, item: usize) -> Option<usize> {
        let shown = self.shown_label(item).map(|place| place + 1);
        shown.max(self.placed[item].map(|event| self.sequence.place[event] + 1))
    }

    /// Up to which place what a request follows may stand.
    fn stands_by(&self, item: usize) -> Option<usize> {
        let placed = self.placed[item].map(|event| self.sequence.place[event]);
        self.shown_label(item).into_iter().chain(placed).min()
    }

    /// The place of the log position that a read of the sessions shows.
    fn shown_label(&self, item: usize) -> Option<usize> {
        let request = self.request(item);
        let index = request.index.filter(|_| request.what == What::Sessions)?;
        self.place_of_label(index)
    }
}
