//! Passes over a log: the planned order, the likely ones, all.

use super::super::log::Episode;
use super::super::verdict::{Objection, Possible};
use super::Limits;
use super::ahead::Ahead;
use super::arrivals::Answer;
use super::backbone;
use super::in_time::must_be_in_time;
use super::path::{PathStep, Paths};
use super::plan::{MANY, Plan};
use super::search::{Explained, Search};

/// Which orders are looked at.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Breadth {
    /// The planned one.
    Planned,
    /// The likely ones, with the likely writes at positions without a known writer.
    Guessing,
    /// The likely ones.
    Likely,
    /// All.
    All,
}

impl Breadth {
    fn wider(self) -> Breadth {
        if self == Breadth::Guessing { Breadth::Likely } else { Breadth::All }
    }
}

impl Search<'_> {
    /// Looks for an order that explains every answer: the planned one, then among the likely ones, then among all.
    pub(super) fn run(self, episode: &Episode, possible: &mut Possible) -> Result<(), Objection> {
        let answered = self.answers.iter().map(|answer| answer.place);
        must_be_in_time(&self.lines, answered, &self.certain, self.lateness)?;
        if let Some(explained) = self.line_up() {
            return self.count(&explained, possible);
        }
        let few = self.few();
        if let Some(plan) = self.make_plan(episode, few) {
            let first = self.breadth.replace(Breadth::Planned);
            let _ = self.plan.set(plan);
            match self.search(few) {
                Ok(explained) => return self.count(&explained, possible),
                Err(objection) if (self.is_over)() => return Err(objection),
                Err(_) => self.breadth.set(first),
            }
        }
        let explained = self.widening()?;
        self.count(&explained, possible)
    }

    /// An order that is laid along the log positions of a log with many open requests, if it explains every answer.
    fn line_up(&self) -> Option<Explained> {
        if self.answers.iter().all(|answer| answer.others.len() < MANY) {
            return None;
        }
        backbone::line_up(&self.lines, self.is_over, |order| self.follow(order))
    }

    /// The requests, in an order that explains every answer. None: there is none of requests alone, or it was not found.
    pub(super) fn order(mut self) -> Option<Vec<PathStep>> {
        self.paths = Some(Paths::default());
        let explained = self.widening().ok()?;
        self.paths.as_ref()?.to(&explained.state)
    }

    /// Looks among the likely orders, then among all.
    pub(super) fn widening(&self) -> Result<Explained, Objection> {
        let few = if self.paths.is_some() { self.limits } else { self.few() };
        while self.breadth.get() != Breadth::All {
            match self.search(few) {
                Ok(explained) => return Ok(explained),
                // Who says that it is enough is no matter of order.
                Err(objection) if (self.is_over)() => return Err(objection),
                Err(_) => self.breadth.set(self.breadth.get().wider()),
            }
        }
        self.search(self.limits)
    }

    fn few(&self) -> Limits {
        Limits { states: self.limits.states / 50, ..self.limits }
    }

    /// What later answers tell.
    pub(super) fn ahead(&self) -> &Ahead {
        match self.breadth.get() {
            Breadth::Planned => self.plan.get().map_or(&self.certain, |plan| &plan.ahead),
            Breadth::Guessing => &self.likely,
            Breadth::Likely | Breadth::All => &self.certain,
        }
    }

    /// Takes these writes for those at their positions.
    pub(super) fn assume(&mut self, writers: Vec<(u64, usize)>) {
        self.likely = self.certain.with_writers(writers);
        self.breadth.set(Breadth::Guessing);
    }

    /// Whether only the likely orders are looked at.
    pub(super) fn is_narrow(&self) -> bool {
        self.breadth.get() != Breadth::All
    }

    /// Whether what is likely is taken for certain.
    pub(super) fn is_likely(&self) -> bool {
        matches!(self.breadth.get(), Breadth::Guessing | Breadth::Likely)
    }

    /// The plan that is followed, if one is.
    pub(super) fn plan(&self) -> Option<&Plan> {
        self.plan.get().filter(|_| self.breadth.get() == Breadth::Planned)
    }

    fn count(&self, explained: &Explained, possible: &mut Possible) -> Result<(), Objection> {
        for Answer { place, .. } in &self.answers {
            explained.classes[*place].into_iter().for_each(|class| possible.tally.count(class));
        }
        possible.lines += self.answers.len();
        possible.states += explained.states;
        Ok(())
    }
}
