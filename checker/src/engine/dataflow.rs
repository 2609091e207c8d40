//! The dataflow round the workers: it carries states to their owners and knows when a level is complete.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use fencepost_model::mutation::CheckerMutation;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::ToStream;
use timely::dataflow::operators::{Capability, Concat, ConnectLoop, Feedback};

use super::counters::Counters;
use super::work_item::WorkItem;
use super::worker::Worker;
use super::{Paths, SearchPlan, SearchResult, Space};

/// Searches a space until it is exhausted, a promise breaks or the search is cut. A level in which a promise breaks is
/// searched to its end, so that the counts do not depend on the number of workers.
///
/// # Errors
/// The model panicked; a sentence says where.
pub fn search<M: Space>(space: &Arc<M>, plan: &SearchPlan) -> Result<SearchResult, String> {
    let (searched, is_violated, path) = run(space, plan)?;
    let violation = match path {
        None if is_violated && plan.paths != Paths::Unwanted => {
            let noting = SearchPlan { workers: 1, paths: Paths::Noted, ..plan.clone() };
            let (again, _, path) = run(space, &noting)?;
            if path.is_none() {
                return Ok(again);
            }
            path
        }
        path => path,
    };
    // A run that breaks a promise is one, whatever was not searched besides.
    let is_hidden = space.mutation() == Some(CheckerMutation::CutHidesViolation.into()) && searched.cut.is_some();
    let is_violated = is_violated && !is_hidden;
    let violation = violation.filter(|_| is_violated);
    let cut = searched.cut.filter(|_| !is_violated);
    Ok(SearchResult { is_violated, violation, cut, ..searched })
}

fn run<M: Space>(space: &Arc<M>, plan: &SearchPlan) -> Result<(SearchResult, bool, Option<Vec<u16>>), String> {
    let board = Arc::new(Counters::new(space.mutation()));
    let (shared, posted, chosen) = (Arc::clone(space), Arc::clone(&board), plan.clone());
    let part: Parts =
        Box::new(move |index| Box::new(Worker::new(Arc::clone(&shared), Arc::clone(&posted), chosen.clone(), index)));
    let paths = execute(plan.workers, part)?;
    Ok((board.result(plan.limits)?, board.is_violated(), paths.into_iter().flatten().next()))
}

/// One worker's part of a search, whatever its states are: timely is compiled once, and not for each service.
pub(super) trait Part {
    /// The initial states, as if another worker had sent them.
    fn starts(&self) -> Vec<WorkItem>;

    /// Takes in what another worker has found.
    fn unpack(&mut self, item: WorkItem, level: u64);

    /// Makes the states of a level those to expand; false if there are none, or the search is over.
    fn begin(&mut self, level: u64) -> bool;

    /// Expands a chunk of states of this level, and sends successors of other workers to them; false if the level is
    /// done.
    fn work(&mut self, level: u64, send: &mut dyn FnMut(WorkItem)) -> bool;

    /// The action indices of the run to the first violation, if this worker remembers how it found each state.
    fn path(&self) -> Option<Vec<u16>>;
}

/// What makes the part of a worker, by its index.
type Parts = Box<dyn Fn(usize) -> Box<dyn Part> + Send + Sync>;

/// Runs the dataflow with this number of workers, and returns the path that each of them kept.
fn execute(workers: usize, part: Parts) -> Result<Vec<Option<Vec<u16>>>, String> {
    let config = if workers == 1 { timely::Config::thread() } else { timely::Config::process(workers) };
    let guards = timely::execute(config, move |timely| {
        let part = Rc::new(RefCell::new(part(timely.index())));
        flow(timely, &part);
        while timely.step_or_park(None) {}
        part.borrow().path()
    })?;
    guards.join().into_iter().collect()
}

/// Builds the dataflow of one worker. Its timestamps are levels, from 0.
fn flow(timely: &mut timely::worker::Worker, part: &Rc<RefCell<Box<dyn Part>>>) {
    let starts = if timely.index() == 0 { part.borrow().starts() } else { Vec::new() };
    let part = Rc::clone(part);
    timely.dataflow::<u64, _, _>(|scope| {
        let (handle, found) = scope.feedback(1);
        let to_owner = Exchange::new(|item: &WorkItem| item.to);
        found
            .concat(starts.to_stream(scope))
            .unary_frontier(to_owner, "search", |_, info| {
                let again = scope.activator_for(info.address);
                let mut working: Option<Capability<u64>> = None;
                // Levels of which something has come; of the first one, more may be under way.
                let mut waiting: BTreeMap<u64, Capability<u64>> = BTreeMap::new();
                move |(input, frontier), output| {
                    let mut part = part.borrow_mut();
                    input.for_each(|capability, items| {
                        let Some(capability) = capability.retain_least(0) else { return };
                        for item in items.drain(..) {
                            part.unpack(item, *capability.time());
                        }
                        waiting.entry(*capability.time()).or_insert(capability);
                    });
                    if let Some(capability) = &working {
                        let level = *capability.time();
                        let mut session = output.session(capability);
                        if part.work(level, &mut |item| session.give(item)) {
                            again.activate();
                            return;
                        }
                        drop(session);
                        waiting.insert(level + 1, capability.delayed(&(level + 1)));
                        working = None;
                    }
                    while working.is_none()
                        && let Some(first) = waiting.first_entry()
                        && !frontier.frontier().less_equal(first.key())
                    {
                        let (level, capability) = first.remove_entry();
                        if part.begin(level) {
                            working = Some(capability);
                            again.activate();
                        }
                    }
                }
            })
            .connect_loop(handle);
    });
}
