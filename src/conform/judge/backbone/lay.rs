//! Lays a way along a key down in the sequence: each change where nothing before it is later, so that it takes no time from what comes after;
//! what changes nothing, between the changes.

use super::beam::TrailStep;
use super::draft::{Draft, SESSIONS};
use super::requests::What;
use super::walk::Walk;
use super::ways::is_read;

impl Draft<'_> {
    /// Gives all steps of a way their places. False: one has none, and nothing has been done.
    pub(super) fn lay(&mut self, walk: &Walk, steps: &[TrailStep]) -> bool {
        let journal = self.journal.len();
        [true, false].into_iter().any(|is_late| {
            let is_laid = self.lay_all(walk, steps, is_late).is_some() && self.sequence.is_possible();
            if !is_laid {
                self.unwind(journal);
            }
            is_laid
        })
    }

    /// The same. None: a step has no place.
    fn lay_all(&mut self, walk: &Walk, steps: &[TrailStep], is_late: bool) -> Option<()> {
        let mut stops = walk.stops.iter().copied().peekable();
        // The last change, and the last event.
        let (mut since, mut last): (Option<usize>, Option<usize>) = (None, None);
        let mut idle: Vec<usize> = Vec::new();
        for step in steps {
            let event = match step {
                TrailStep::Idle(item) => {
                    idle.push(*item);
                    continue;
                }
                TrailStep::Stop(item) => {
                    let stop = stops.next()?;
                    if let Some(item) = item {
                        self.fill(stop, *item);
                    }
                    stop
                }
                TrailStep::Hidden(item, at) => {
                    let place = self.hidden_place(walk, last, stops.peek().copied(), *item, *at, is_late)?;
                    self.insert(*item, place)
                }
            };
            let is_change = self.mark(event, walk.key).is_some()
                || self.sequence.events[event].request.is_some_and(|place| !self.is_reading(place));
            self.lay_idle(since, Some(event), &std::mem::take(&mut idle))?;
            last = Some(event);
            if is_change {
                since = Some(event);
            }
        }
        self.lay_idle(since, None, &idle)
    }

    /// Whether a request changes nothing, by what it is.
    fn is_reading(&self, place: usize) -> bool {
        let request = self.request(place);
        !request.is_done || !matches!(request.what, What::Destroy(_)) && is_read(request)
    }

    /// Places what changes nothing after a change, up to an event.
    fn lay_idle(&mut self, since: Option<usize>, until: Option<usize>, items: &[usize]) -> Option<()> {
        for item in items {
            let (from, to) = self.within_lifetimes(*item);
            let from = since.map_or(from, |since| from.max(self.sequence.place[since] + 1));
            let to = until.map_or(to, |until| to.min(self.sequence.place[until]));
            let request = self.request(*item);
            let fit = self.sequence.best(from..=to, (request.sent, request.received), &[])?;
            self.insert(*item, fit.place);
        }
        Some(())
    }

    /// The place of a change at an instant: late, so that it takes no time from what comes after, or as early as possible.
    fn hidden_place(
        &self,
        walk: &Walk,
        last: Option<usize>,
        next: Option<usize>,
        item: usize,
        at: i64,
        is_late: bool,
    ) -> Option<usize> {
        let (from, to) = self.within_lifetimes(item);
        let from = last.map_or(from, |last| from.max(self.sequence.place[last] + 1));
        let to = next.map_or(to, |next| to.min(self.sequence.place[next]));
        let request = self.request(item);
        let held = self.held(item, Some(walk.key));
        let is_end = self.is_end(item);
        let fits = |place: &usize| {
            request.sent.max(at) <= self.sequence.ceiling(*place)
                && self.sequence.floor(*place) <= request.received
                && self.sequence.is_free(*place, &self.scopes[walk.key])
                && !held.iter().any(|held| held.contains(place))
                && (!is_end || self.may_change_sessions(*place) && self.sequence.is_free(*place, &[SESSIONS]))
        };
        let on_time = (from..=to).rev().filter(|place| is_late && self.sequence.floor(*place) <= at).find(fits);
        on_time.or_else(|| (from..=to).find(fits))
    }
}
