//! What has no place yet when all keys have been walked along: sessions, and transactions that were refused.

use std::collections::BTreeSet;

use super::blanks::Entries;
use super::draft::{Draft, SESSIONS};
use super::entry::{Effect, effect};
use super::requests::{Request, Verb, What};

impl Draft<'_> {
    /// The order. None: something has no place.
    pub(super) fn finish(mut self) -> Option<Vec<usize>> {
        self.fill_blanks()?;
        self.place_session_reads()?;
        self.fill_session_blanks()?;
        self.place_sessions()?;
        self.place_refused()?;
        let placed = self.sequence.order.iter().filter_map(|event| self.sequence.events[*event].request);
        self.sequence.is_possible().then(|| placed.collect())
    }

    /// Reads about sessions, between the position that they show and the next change: as early as possible, since until then no session
    /// comes or goes.
    fn place_session_reads(&mut self) -> Option<()> {
        let mut reads = self.session_reads();
        reads.sort_by_key(|(index, place)| (*index, self.request(*place).received));
        for (index, read) in reads {
            let label = self.place_of_label(index)?;
            let is_change = |event: &usize| {
                let event = &self.sequence.events[*event];
                event.label.is_some_and(|label| self.positions[SESSIONS].contains(&label))
                    || event.request.is_some_and(|place| self.is_about_session(place))
            };
            let from = label + 1;
            let to = from + self.sequence.order[from..].iter().take_while(|event| !is_change(event)).count();
            let Request { sent, received, .. } = *self.request(read);
            let fits = |at: &usize| sent <= self.sequence.ceiling(*at) && self.sequence.floor(*at) <= received;
            let at = (from..=to).find(fits)?;
            let shown = self.sequence.order[label];
            let event = self.insert(read, at);
            self.sequence.glue(shown, event, SESSIONS);
        }
        Some(())
    }

    /// Whether a request creates or ends a session.
    pub(super) fn is_about_session(&self, place: usize) -> bool {
        match self.request(place).what {
            What::Create(_) => true,
            What::Destroy(session) => self.lifetimes[session].end == Some(place),
            _ => false,
        }
    }

    /// Creations and ends of sessions without a place, by when they were answered.
    fn open_sessions(&self) -> Vec<usize> {
        let places = self.answered().map(|(place, _)| place);
        let mut open: Vec<usize> =
            places.filter(|place| self.placed[*place].is_none() && self.is_about_session(*place)).collect();
        open.sort_by_key(|place| (self.request(*place).received, *place));
        open
    }

    /// Log positions at which the index of the sessions tells that one came or went: of the requests that fit, the one that takes the least
    /// time from what stands before, but those first that have no place elsewhere. Before the first one, the log may not have begun.
    fn fill_session_blanks(&mut self) -> Option<()> {
        let whole = 0..=self.sequence.order.len();
        let mut open = self.open_sessions();
        let times = |request: &Request| (request.sent, request.received);
        let has_place =
            |place: &usize| self.sequence.best(whole.clone(), times(self.request(*place)), &[SESSIONS]).is_some();
        let free: BTreeSet<usize> = open.iter().copied().filter(has_place).collect();
        for label in self.positions[SESSIONS].clone() {
            let at = self.place_of_label(label)?;
            let event = self.sequence.order[at];
            if self.sequence.events[event].request.is_some() {
                continue;
            }
            let ceiling = self.sequence.ceiling(at);
            let fit = open.iter().copied().filter(|place| {
                let (sent, received) = times(self.request(*place));
                self.sequence.fits(event, sent, received)
                    && self.lives_at(*place, event)
                    && !self.held(*place, None).iter().any(|held| held.contains(&at))
            });
            let best = fit.min_by_key(|place| {
                let received = self.request(*place).received;
                (free.contains(place), ceiling.saturating_sub(received).max(0), received)
            });
            match best {
                Some(best) => {
                    open.retain(|place| *place != best);
                    self.fill(event, best);
                }
                None if at == 0 => {}
                // The end of one that held keys may as well have come there.
                None => self.move_end(event)?,
            }
        }
        Some(())
    }

    /// Lets the nearest end of a session that has changed keys come at a log position.
    fn move_end(&mut self, blank: usize) -> Option<()> {
        let at = self.sequence.place[blank];
        let mut changes = self.hidden_changes();
        changes.retain(|event| self.sequence.events[*event].request.is_some_and(|place| self.is_about_session(place)));
        changes.sort_by_key(|event| at.abs_diff(self.sequence.place[*event]));
        changes.into_iter().find(|event| self.moves(*event, blank))?;
        Some(())
    }

    fn place_sessions(&mut self) -> Option<()> {
        for place in self.open_sessions() {
            if !self.place_session(place) {
                self.exchange(place)?;
            }
        }
        Some(())
    }

    /// Places the creation or the end of a session where it takes the least time from what stands before. False: it has no place.
    fn place_session(&mut self, place: usize) -> bool {
        let Request { sent, received, .. } = *self.request(place);
        let (from, to) = self.within_lifetimes(place);
        let held = self.held(place, None);
        let fits = (from..=to).rev().filter(|at| !held.iter().any(|held| held.contains(at)));
        let fits = fits.filter_map(|at| self.sequence.best(at..=at, (sent, received), &[SESSIONS]));
        let best = fits.min_by_key(|fit| fit.cut);
        best.map(|fit| self.insert(place, fit.place)).is_some()
    }

    /// Lets the creation or the end of a session come at a log position that the creation of another one was taken to have, which then comes
    /// elsewhere.
    fn exchange(&mut self, place: usize) -> Option<()> {
        if !self.held(place, None).is_empty() {
            return None;
        }
        let Request { sent, received, .. } = *self.request(place);
        for label in self.positions[SESSIONS].clone().into_iter().rev() {
            let event = self.sequence.order[self.place_of_label(label)?];
            let Some(other) = self.sequence.events[event].request else { continue };
            let is_guess = !self.fixed[other] && matches!(self.request(other).what, What::Create(_));
            if !is_guess {
                continue;
            }
            self.take_away(other, event);
            if self.sequence.fits(event, sent, received) && self.lives_at(place, event) {
                self.fill(event, place);
                if self.sequence.is_possible() && self.place_session(other) {
                    return Some(());
                }
                self.take_away(place, event);
            }
            self.fill(event, other);
        }
        None
    }

    /// What is left: refused transactions, where they are refused.
    fn place_refused(&mut self) -> Option<()> {
        let places = self.answered().map(|(place, _)| place);
        for place in places.filter(|place| self.placed[*place].is_none()).collect::<Vec<_>>() {
            let Request { sent, received, .. } = *self.request(place);
            let mut entries = Entries::new();
            let mut best: Option<(i64, usize)> = None;
            let (from, to) = self.within_lifetimes(place);
            for at in 0..=self.sequence.order.len() {
                let cost = self.sequence.best(at..=at, (sent, received), &[]).map(|fit| fit.cost());
                let is_better = |cost: &i64| {
                    (from..=to).contains(&at)
                        && best.is_none_or(|(least, _)| *cost < least)
                        && self.is_refused(place, &entries)
                };
                best = cost.filter(is_better).map(|cost| (cost, at)).or(best);
                let other = self.sequence.order.get(at).and_then(|event| self.sequence.events[*event].request);
                if let Some(other) = other {
                    self.carry_out(other, &mut entries);
                }
            }
            self.insert(place, best?.1);
        }
        Some(())
    }

    /// Whether a transaction would be refused. C-TXN-7: a read of what is not there fails.
    fn is_refused(&self, place: usize, entries: &Entries) -> bool {
        let request = self.request(place);
        let accepted = Request { is_done: true, shown: Vec::new(), ..request.clone() };
        let mut operations = request.operations().iter();
        operations.len() == 0
            || request.ended.is_some()
            || operations.any(|operation| {
                let (key, entry) = (operation.key, entries.get(&operation.key));
                let effect = effect(place, &accepted, key, entry, &self.labels, &self.requests.deletes);
                effect == Effect::Never || operation.verb == Verb::Get && entry.is_none()
            })
    }
}
