//! The dataflow round the workers: it carries states to their owners and knows when a level is complete.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use fencepost_model::mutation::CheckerMutation;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, Hooks};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::ToStream;
use timely::dataflow::operators::{Capability, Concat, ConnectLoop, Feedback};

use super::cluster::{Checkpoint, ClusterSearchError, StateLog, Together, Wire};
use super::counters::Counters;
use super::queues::Queues;
use super::work_item::WorkItem;
use super::worker::Worker;
use super::{Paths, SearchPlan, SearchResult, Space};

/// Searches a space until it is exhausted, a promise breaks or the search is cut. A level in which a promise breaks is
/// searched to its end, so that the counts do not depend on the number of workers.
///
/// # Errors
/// The model panicked; a sentence says where.
pub fn search<M: Space>(space: &Arc<M>, plan: &SearchPlan) -> Result<SearchResult, String> {
    let (searched, path) = run(space, plan, None).map_err(ClusterSearchError::sentence)?;
    finish(space, plan, searched, path)
}

/// The same with other processes, which come to the same result: each of them looks for the path to a violation by itself.
pub(crate) fn search_together<M: Space>(
    space: &Arc<M>,
    plan: &SearchPlan,
    together: &Together<M::State>,
) -> Result<SearchResult, ClusterSearchError> {
    let (searched, path) = run(space, plan, Some(together))?;
    finish(space, plan, searched, path).map_err(ClusterSearchError::Model)
}

fn finish<M: Space>(
    space: &Arc<M>,
    plan: &SearchPlan,
    searched: SearchResult,
    path: Option<Vec<u16>>,
) -> Result<SearchResult, String> {
    let is_violated = searched.is_violated;
    let violation = match path {
        None if is_violated && plan.paths != Paths::Unwanted => {
            let noting = SearchPlan { workers: 1, paths: Paths::Noted, ..plan.clone() };
            let (again, path) = run(space, &noting, None).map_err(ClusterSearchError::sentence)?;
            if path.is_none() {
                return Ok(SearchResult { is_violated: false, ..again });
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

/// One search, with whether a promise breaks; and the path to where, if it was noted.
fn run<M: Space>(
    space: &Arc<M>,
    plan: &SearchPlan,
    together: Option<&Together<M::State>>,
) -> Result<(SearchResult, Option<Vec<u16>>), ClusterSearchError> {
    let board = Arc::new(Counters::new(space.mutation()));
    let processes = together.map_or((1, 0), |together| (together.peers.processes(), together.peers.process()));
    let mut checkpoints = together.map_or(Ok(None), |together| together.checkpoints(plan.workers))?;
    let connect = |together: &Together<M::State>| {
        let search = [&together.identity[..], &together.limits].concat();
        together.peers.connect(&search)
    };
    let mut connected = together.map(connect).transpose().map_err(ClusterSearchError::Peers)?;
    if let (Some(checkpoints), Some(sockets)) = (&mut checkpoints, &mut connected) {
        let before = checkpoints.agree(sockets)?;
        if before.depth > 0 {
            plan.supervisor.resumes(&before);
        }
    }
    let connected = connected.map(|sockets| Connected { process: processes.1, sockets });
    let (shared, posted, chosen) = (Arc::clone(space), Arc::clone(&board), plan.clone());
    let portable = together.map(|together| Arc::clone(&together.portable));
    let queues = Arc::new(Queues::of(plan.workers));
    let of_workers = checkpoints.iter_mut().flat_map(|checkpoints| checkpoints.workers.drain(..));
    let kept: Mutex<Vec<Option<Checkpoint>>> = Mutex::new(of_workers.map(Some).collect());
    let part: Parts = Box::new(move |index| {
        let wire = portable.as_ref().map(|portable| Wire::new(Arc::clone(portable), processes, chosen.workers));
        let checkpoint = kept
            .lock()
            .expect("no worker panics while it holds this")
            .get_mut(index % chosen.workers)
            .and_then(Option::take);
        let log = portable.as_ref().zip(checkpoint).map(|(portable, own)| StateLog::new(Arc::clone(portable), own));
        let place = (index, processes.0 * chosen.workers);
        let (space, board, queues) = (Arc::clone(&shared), Arc::clone(&posted), Arc::clone(&queues));
        Box::new(Worker::new(space, board, chosen.clone(), place, queues, wire, log))
    });
    let paths = execute(plan.workers, connected, part).map_err(|error| match (&checkpoints, error) {
        (Some(checkpoints), ClusterSearchError::Peers(why)) => {
            let levels = checkpoints.levels();
            ClusterSearchError::Peers(format!(
                "{why}; the first {levels} levels are kept here: run the same commands again"
            ))
        }
        (_, error) => error,
    })?;
    let searched = board.result(plan.limits).map_err(ClusterSearchError::Model)?;
    Ok((SearchResult { is_violated: board.is_violated(), ..searched }, paths.into_iter().flatten().next()))
}

impl ClusterSearchError {
    pub(super) fn sentence(self) -> String {
        match self {
            ClusterSearchError::Peers(sentence) | ClusterSearchError::Model(sentence) => sentence,
            ClusterSearchError::Store(error) => error.to_string(),
        }
    }
}

/// One worker's part of a search, whatever its states are: timely is compiled once, and not for each service.
pub(super) trait Part {
    /// The initial states, as if another worker had sent them.
    fn starts(&mut self) -> Vec<WorkItem>;

    /// Takes in what another worker has found, or another process has counted.
    fn unpack(&mut self, item: WorkItem, level: u64);

    /// What other processes must know before a level begins, when all of its states have arrived.
    fn totals(&mut self) -> Vec<WorkItem>;

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

/// The connections of one process to the others.
struct Connected {
    process: usize,
    sockets: Vec<Option<TcpStream>>,
}

/// Runs the dataflow with this number of workers, and returns the path that each of them kept.
fn execute(
    workers: usize,
    connected: Option<Connected>,
    part: Parts,
) -> Result<Vec<Option<Vec<u16>>>, ClusterSearchError> {
    let is_alone = connected.is_none();
    let phases = if is_alone { 1 } else { 2 };
    let (builders, others) = match connected {
        Some(connected) => join(workers, connected).map_err(|error| ClusterSearchError::Peers(error.to_string()))?,
        None if workers == 1 => timely::CommunicationConfig::Thread.try_build().map_err(ClusterSearchError::Model)?,
        None => timely::CommunicationConfig::Process(workers).try_build().map_err(ClusterSearchError::Model)?,
    };
    let run = || -> Result<Vec<_>, String> {
        let guards = timely::execute::execute_from(builders, others, timely::WorkerConfig::default(), move |timely| {
            let part = Rc::new(RefCell::new(part(timely.index())));
            flow(timely, &part, phases);
            while timely.step_or_park(None) {}
            part.borrow().path()
        })?;
        guards.join().into_iter().collect()
    };
    if is_alone {
        return run().map_err(ClusterSearchError::Model);
    }
    // Where a connection breaks, the threads that use it panic, and so do the workers.
    let ended = || ClusterSearchError::Peers("another process ended, or the connection to it broke".to_owned());
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(String::new())).map_err(|_: String| ended())
}

/// What makes the channels between the workers of all processes, and what waits for their threads.
fn join(
    workers: usize,
    Connected { process, sockets }: Connected,
) -> std::io::Result<(Vec<AllocatorBuilder>, Box<dyn Any + Send>)> {
    // What ends a level is small, and everything waits for it.
    sockets.iter().flatten().try_for_each(|socket| socket.set_nodelay(true))?;
    let hooks = Hooks::default();
    let own = ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), hooks.spill.clone());
    let (builders, guard) = initialize_networking_from_sockets(own, sockets, process, workers, hooks)?;
    Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard)))
}

/// Builds the dataflow of one worker. Its timestamps are levels, from 0; with several processes a level has two phases: first its states
/// arrive, then the processes tell each other how many there are.
fn flow(timely: &mut timely::worker::Worker, part: &Rc<RefCell<Box<dyn Part>>>, phases: u64) {
    let starts = if timely.index() == 0 { part.borrow_mut().starts() } else { Vec::new() };
    let part = Rc::clone(part);
    timely.dataflow::<u64, _, _>(|scope| {
        let (handle, found) = scope.feedback(1);
        let to_owner = Exchange::new(|item: &WorkItem| item.to);
        found
            .concat(starts.to_stream(scope))
            .unary_frontier(to_owner, "search", |_, info| {
                let again = scope.activator_for(info.address);
                let mut working: Option<Capability<u64>> = None;
                // Phases of which something has come; of the first one, more may be under way.
                let mut waiting: BTreeMap<u64, Capability<u64>> = BTreeMap::new();
                move |(input, frontier), output| {
                    let mut part = part.borrow_mut();
                    input.for_each(|capability, items| {
                        let Some(capability) = capability.retain_least(0) else { return };
                        for item in items.drain(..) {
                            part.unpack(item, *capability.time() / phases);
                        }
                        waiting.entry(*capability.time()).or_insert(capability);
                    });
                    if let Some(capability) = &working {
                        let level = *capability.time() / phases;
                        let mut session = output.session(capability);
                        if part.work(level, &mut |item| session.give(item)) {
                            again.activate();
                            return;
                        }
                        drop(session);
                        let next = *capability.time() + 1;
                        waiting.insert(next, capability.delayed(&next));
                        working = None;
                    }
                    while working.is_none()
                        && let Some(first) = waiting.first_entry()
                        && !frontier.frontier().less_equal(first.key())
                    {
                        let (time, capability) = first.remove_entry();
                        if time % phases + 1 < phases {
                            let mut session = output.session(&capability);
                            part.totals().into_iter().for_each(|item| session.give(item));
                            drop(session);
                            waiting.entry(time + 1).or_insert(capability.delayed(&(time + 1)));
                        } else if part.begin(time / phases) {
                            working = Some(capability);
                            again.activate();
                        }
                    }
                }
            })
            .connect_loop(handle);
    });
}
