//! Between which instants log positions come whose writer is not known: one of those that may have written it has.

use super::draft::{Draft, Mark, SESSIONS, STORE};
use super::requests::{Request, Verb, What};
use super::sequence::Event;

impl Draft<'_> {
    /// Bounds each by the requests that may have written it. What comes before all that is written was there before the log.
    pub(super) fn bound_by_writers(&mut self) {
        let Some(first) = self.labels.iter().flatten().chain(self.marks.keys()).min().copied() else { return };
        for event in self.sequence.order.clone() {
            let Event { label, request, sent, received, .. } = self.sequence.events[event];
            let Some(label) = label.filter(|label| request.is_none() && *label > first) else { continue };
            let may = |(place, request): &(usize, &Request)| {
                let is_in_time = request.sent <= received && request.received >= sent;
                is_in_time
                    && self.labels[*place].is_none()
                    && self.may_stand_at(*place, label)
                    && self.may_write(request, label)
            };
            let writers: Vec<&Request> = self.answered().filter(may).map(|(_, request)| request).collect();
            let since = writers.iter().map(|request| request.sent).min();
            let until = writers.iter().map(|request| request.received).max();
            if let (Some(since), Some(until)) = (since, until) {
                self.sequence.bound(event, since, until);
            }
        }
    }

    /// Whether a request may have changed what is known to have been changed at a log position. The end of a session may change keys, too.
    fn may_write(&self, request: &Request, label: u64) -> bool {
        let marks: &[Mark] = self.marks.get(&label).map_or(&[], Vec::as_slice);
        let is_about = |key: usize| marks.is_empty() || marks.iter().any(|mark| mark.key == key);
        match &request.what {
            What::Create(_) => self.positions[SESSIONS].contains(&label),
            What::Destroy(_) => true,
            What::Operations(operations) => {
                let mut writes = operations.iter().filter(|operation| operation.verb != Verb::Get);
                let is_stored = request.is_done && self.positions[STORE].contains(&label);
                is_stored && writes.any(|operation| is_about(operation.key))
            }
            What::List(_) | What::Sessions => false,
        }
    }
}
