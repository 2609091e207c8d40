//! Everything that the broker may do next.

use super::log::CHANNELS;
use super::losses::{Cut, CutKind};
use super::state::{Judging, State, Told};
use crate::amqp::pair::LINES;

impl State {
    /// Whether what was sent at a place has not arrived, or its channel or its connection is not over.
    pub(super) fn is_open_at(&self, place: usize) -> bool {
        self.rest.casts.iter().any(|cast| cast.what == Told::Publish(place))
            || self.rest.leaving.iter().any(|leaving| leaving.place == place)
            || self.rest.ending.iter().any(|ending| ending.place == Some(place))
    }

    /// Whether a channel is telling its queues that it ends, and does nothing else.
    fn is_leaving(&self, connection: u16, channel: u8) -> bool {
        self.rest.leaving.iter().any(|leaving| {
            let id = leaving.channel;
            (id.connection, id.channel) == (connection, channel)
        })
    }

    /// Everything that the broker may do next, what is likely last.
    pub(super) fn successors(&self, before: usize, judging: &Judging<'_>) -> Vec<State> {
        let mut next = Vec::new();
        let changed = |apply: &dyn Fn(&mut State)| {
            let mut state = self.clone();
            apply(&mut state);
            state
        };
        for at in 0..self.rest.queues.len() {
            if self.rest.queues[at].first_may_expire(judging.now) {
                let name = self.rest.queues[at].name;
                next.push(changed(&|state| state.drop_expired(name)));
            }
        }
        let mut restarts = Vec::new();
        for line in 0..LINES {
            match judging.script.cut(self, line, judging.now) {
                Some(cut) if cut.kind == CutKind::Restart => restarts.push(cut),
                Some(cut) => next.push(changed(&|state| state.cut_off(line, cut.place, judging))),
                None => {}
            }
        }
        // Until then, the end of some connection may come first.
        if let [Cut { place, earliest, .. }, ..] = restarts[..]
            && restarts.len() == LINES
            && place == before
        {
            next.push(self.clone().restart(place, earliest, judging));
        }
        let awaited = judging.target.map(|place| &judging.script.log.events[place]);
        let mut last = Vec::new();
        for line in 0..LINES {
            for side in 0..CHANNELS {
                let Some(place) = judging.script.next(self, line, side, before) else { continue };
                let event = &judging.script.log.events[place];
                if self.is_leaving(event.connection, event.channel) {
                    continue;
                }
                let is_awaited =
                    awaited.is_some_and(|other| (other.connection, other.channel) == (event.connection, event.channel));
                let states = self.clone().perform(place, judging);
                if is_awaited { last.extend(states) } else { next.extend(states) }
            }
        }
        next.extend(last);
        next.extend((0..self.rest.unnoticed.len()).map(|at| changed(&|state| state.notice(at))));
        let removed = (0..self.rest.ending.len()).filter(|at| self.may_remove(*at));
        next.extend(removed.map(|at| changed(&|state| state.begin_removal(at))));
        next.extend((0..self.rest.dying.len()).map(|at| changed(&|state| state.die(at))));
        for (at, (_, consumer)) in self.rest.cancelled.iter().enumerate() {
            if !self.is_leaving(consumer.channel.connection, consumer.channel.channel) {
                next.extend(self.clone().notice_cancelled(at, judging));
            }
        }
        next.extend(self.removals(judging.now).into_iter().map(|action| changed(&|state| state.remove(action))));
        for (at, (id, name)) in self.rest.downs.iter().enumerate() {
            let mut state = self.clone();
            state.rest.downs.remove(at);
            next.extend(state.end_at(*id, *name, judging));
        }
        for (at, leaving) in self.rest.leaving.iter().enumerate() {
            for queue in 0..leaving.untold.len() {
                next.extend(self.clone().tell_end(at, queue, judging));
            }
        }
        for (at, cast) in self.rest.casts.iter().enumerate() {
            if self.rest.casts[..at].iter().all(|earlier| cast.overtakes(earlier)) {
                next.extend(self.clone().hear(at, judging));
            }
        }
        next
    }
}
