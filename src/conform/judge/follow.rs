//! Whether an order of all requests explains a log: each is carried out at an instant of its own, none before the one that stands
//! before it, and the model gives just the answer that was given.

use super::search::{Explained, Search};
use super::steps::attempt;

impl Search<'_> {
    /// Carries the requests out in this order, each as early as it may be. None: that does not explain every answer.
    pub(super) fn follow(&self, order: &[usize]) -> Option<Explained> {
        let mut state = self.start();
        let mut classes = vec![None; self.lines.len()];
        let mut now = i64::MIN;
        for place in order {
            let line = &self.lines[*place];
            now = now.max(line.sent);
            if now > line.received || classes[*place].is_some() || self.is_overdue(&state, now) {
                return None;
            }
            classes[*place] = Some(attempt(&mut state, line, now, false).ok()?);
        }
        let is_missing = |place: usize| self.lines[place].reply.is_some() && classes[place].is_none();
        (!(0..self.lines.len()).any(is_missing)).then_some(Explained { classes, states: 0, state })
    }
}
