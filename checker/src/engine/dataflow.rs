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
use super::worker::{Batch, Worker};
use super::{Plan, Searched, Space};

/// Searches a space until it is exhausted, a promise breaks or the search is cut. A level in which a promise breaks is
/// searched to its end, so that the counts do not depend on the number of workers.
///
/// # Errors
/// The model panicked; a sentence says where.
pub fn search<M: Space>(space: &Arc<M>, plan: &Plan) -> Result<Searched, String> {
    let (searched, is_violated, path) = run(space, plan)?;
    let violation = match path {
        Some(path) => Some(path),
        None if is_violated => {
            let (again, _, path) = run(space, &Plan { workers: 1, ..plan.clone() })?;
            if path.is_none() {
                return Ok(again);
            }
            path
        }
        None => None,
    };
    // A run that breaks a promise is one, whatever was not searched besides.
    let is_hidden = space.mutation() == Some(CheckerMutation::CutHidesViolation.into()) && searched.cut.is_some();
    let violation = violation.filter(|_| !is_hidden);
    let cut = searched.cut.filter(|_| violation.is_none());
    Ok(Searched { violation, cut, ..searched })
}

fn run<M: Space>(space: &Arc<M>, plan: &Plan) -> Result<(Searched, bool, Option<Vec<u16>>), String> {
    let board = Arc::new(Counters::new(space.mutation()));
    let config = if plan.workers == 1 { timely::Config::thread() } else { timely::Config::process(plan.workers) };
    let (shared, posted, chosen) = (Arc::clone(space), Arc::clone(&board), plan.clone());
    let guards = timely::execute(config, move |timely| {
        let part = Worker::new(Arc::clone(&shared), Arc::clone(&posted), chosen.clone(), timely.index());
        let part = Rc::new(RefCell::new(part));
        flow(timely, &shared, &part);
        while timely.step_or_park(None) {}
        part.borrow().path()
    })?;
    let paths: Vec<Option<Vec<u16>>> = guards.join().into_iter().collect::<Result<_, String>>()?;
    Ok((board.result(plan.limits)?, board.is_violated(), paths.into_iter().flatten().next()))
}

/// Builds the dataflow of one worker. Its timestamps are levels, from 0.
fn flow<M: Space>(timely: &mut timely::worker::Worker, space: &Arc<M>, part: &Rc<RefCell<Worker<M>>>) {
    let starts: Vec<Batch<M::State>> = match timely.index() {
        0 => Worker::starts(&**space, timely.peers()).collect(),
        _ => Vec::new(),
    };
    let part = Rc::clone(part);
    timely.dataflow::<u64, _, _>(|scope| {
        let (handle, found) = scope.feedback(1);
        let to_owner = Exchange::new(|parcel: &Batch<M::State>| parcel.to);
        found
            .concat(starts.to_stream(scope))
            .unary_frontier(to_owner, "search", |_, info| {
                let again = scope.activator_for(info.address);
                let mut working: Option<Capability<u64>> = None;
                // Levels of which something has come; of the first one, more may be under way.
                let mut waiting: BTreeMap<u64, Capability<u64>> = BTreeMap::new();
                move |(input, frontier), output| {
                    let mut part = part.borrow_mut();
                    input.for_each(|capability, parcels| {
                        let Some(capability) = capability.retain_least(0) else { return };
                        for parcel in parcels.drain(..) {
                            part.unpack(parcel, *capability.time());
                        }
                        waiting.entry(*capability.time()).or_insert(capability);
                    });
                    if let Some(capability) = &working {
                        let level = *capability.time();
                        let mut session = output.session(capability);
                        if part.work(level, |parcel| session.give(parcel)) {
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
