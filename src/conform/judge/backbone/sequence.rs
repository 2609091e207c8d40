//! Events in the order of the log, as far as it is known: each comes between two instants, so that what stands before an event was
//! sent before what stands after it was answered. Zero-length jobs with release times and deadlines, in a chain: an event may be
//! inserted at a place if none before it was sent after it was answered, and it was sent before all after it were answered.

use std::ops::RangeInclusive;

/// Something in the log, or a read of it.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// By whom; none: that is not known.
    pub(super) request: Option<usize>,
    pub(super) sent: i64,
    pub(super) received: i64,
    /// The log position, if it is known.
    pub(super) label: Option<u64>,
    /// Between the event before and this one, nothing of these scopes is changed.
    pub(super) glue: Vec<usize>,
    /// Between which instants it was besides, by what answers show.
    pub(super) bounds: (i64, i64),
}

impl Event {
    /// A request is carried out, at a log position or not.
    pub(super) fn new(request: Option<usize>, (sent, received): (i64, i64), label: Option<u64>) -> Event {
        Event { request, sent, received, label, glue: Vec::new(), bounds: (i64::MIN, i64::MAX) }
    }
}

/// Where an event may be inserted.
#[derive(Copy, Clone, Debug)]
pub(super) struct Fit {
    pub(super) place: usize,
    /// How much time it takes from what stands before.
    pub(super) cut: i64,
    /// How much time it takes from what comes after.
    pub(super) raise: i64,
}

impl Fit {
    pub(super) fn cost(self) -> i64 {
        self.cut.saturating_add(self.raise)
    }
}

/// Events, in an order.
#[derive(Clone, Default)]
pub(super) struct Sequence {
    pub(super) events: Vec<Event>,
    pub(super) order: Vec<usize>,
    /// By event: its place in the order.
    pub(super) place: Vec<usize>,
    /// By place: when the last of the events up to there was sent.
    since: Vec<i64>,
    /// By place: when the first of the events from there on was answered.
    until: Vec<i64>,
}

impl Sequence {
    /// When the event at a place comes at the earliest.
    pub(super) fn since(&self, place: usize) -> i64 {
        self.since.get(place).copied().unwrap_or(i64::MAX)
    }

    /// When an event that is inserted at a place comes at the earliest.
    pub(super) fn floor(&self, place: usize) -> i64 {
        place.checked_sub(1).map_or(i64::MIN, |before| self.since[before])
    }

    /// When an event that is inserted at a place comes at the latest.
    pub(super) fn ceiling(&self, place: usize) -> i64 {
        self.until.get(place).copied().unwrap_or(i64::MAX)
    }

    /// Where an event may be inserted between two places, with the time that this takes from others: where it takes none from what
    /// stands before, as late as possible, else as early as possible. Answers come soon after what they tell of.
    pub(super) fn best(
        &self,
        places: RangeInclusive<usize>,
        (sent, received): (i64, i64),
        scopes: &[usize],
    ) -> Option<Fit> {
        let mut best: Option<Fit> = None;
        for place in places.rev() {
            let (floor, ceiling) = (self.floor(place), self.ceiling(place));
            if sent > ceiling {
                break;
            }
            if floor > received || !self.is_free(place, scopes) {
                continue;
            }
            let (cut, raise) = (ceiling.saturating_sub(received).max(0), sent.saturating_sub(floor).max(0));
            if best.is_none_or(|best| cut < best.cut) {
                best = Some(Fit { place, cut, raise });
            }
            if cut == 0 {
                break;
            }
        }
        best
    }

    /// Inserts an event at a place, and says its number.
    pub(super) fn insert(&mut self, place: usize, mut event: Event) -> usize {
        let number = self.events.len();
        if let Some(after) = self.order.get(place) {
            event.glue.clone_from(&self.events[*after].glue);
        }
        self.events.push(event);
        self.order.insert(place, number);
        self.place.push(place);
        self.tidy(place);
        number
    }

    /// Takes back the event that was added last.
    pub(super) fn take_back(&mut self) {
        self.events.pop();
        if let Some(place) = self.place.pop() {
            self.order.remove(place);
            self.tidy(place);
        }
    }

    /// Takes an event out of the order. Its number is not used again.
    pub(super) fn remove(&mut self, event: usize) {
        let place = std::mem::replace(&mut self.place[event], usize::MAX);
        self.events[event].request = None;
        self.order.remove(place);
        self.tidy(place);
    }

    /// The event is that of a request, or not any more.
    pub(super) fn assign(&mut self, event: usize, request: Option<usize>, sent: i64, received: i64) {
        let known = &mut self.events[event];
        let (since, until) = known.bounds;
        (known.request, known.sent, known.received) = (request, sent.max(since), received.min(until));
        self.tidy(self.place[event]);
    }

    /// The event was between these instants.
    pub(super) fn bound(&mut self, event: usize, since: i64, until: i64) {
        let known = &mut self.events[event];
        known.bounds = (known.bounds.0.max(since), known.bounds.1.min(until));
        (known.sent, known.received) = (known.sent.max(since), known.received.min(until));
        self.tidy(self.place[event]);
    }

    /// Whether an event of these instants may stand where this one does.
    pub(super) fn fits(&self, event: usize, sent: i64, received: i64) -> bool {
        let place = self.place[event];
        self.floor(place) <= received && sent <= self.ceiling(place + 1)
    }

    /// Whether something of one of these scopes may be inserted at a place.
    pub(super) fn is_free(&self, place: usize, scopes: &[usize]) -> bool {
        let after = self.order.get(place);
        after.is_none_or(|after| self.events[*after].glue.iter().all(|scope| !scopes.contains(scope)))
    }

    /// Between an event and a read of a scope, nothing of that is changed.
    pub(super) fn glue(&mut self, after: usize, read: usize, scope: usize) {
        for place in self.place[after] + 1..=self.place[read] {
            let glue = &mut self.events[self.order[place]].glue;
            if !glue.contains(&scope) {
                glue.push(scope);
            }
        }
    }

    /// Whether all events have an instant.
    pub(super) fn is_possible(&self) -> bool {
        let ends = |place: usize| self.until[place] >= self.since[place];
        (0..self.order.len()).all(ends)
    }

    fn tidy(&mut self, changed: usize) {
        let count = self.order.len();
        for place in changed..count {
            self.place[self.order[place]] = place;
        }
        self.since.resize(count, i64::MIN);
        self.until.resize(count, i64::MAX);
        let mut since = self.floor(changed);
        for place in changed..count {
            since = since.max(self.events[self.order[place]].sent);
            self.since[place] = since;
        }
        if count > changed {
            // The answers from the changed place on may be others by one place.
            let mut until = i64::MAX;
            for place in (changed..count).rev() {
                until = until.min(self.events[self.order[place]].received);
                self.until[place] = until;
            }
        }
        let mut until = self.until.get(changed).copied().unwrap_or(i64::MAX);
        for place in (0..changed.min(count)).rev() {
            until = until.min(self.events[self.order[place]].received);
            self.until[place] = until;
        }
    }
}
