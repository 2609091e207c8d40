//! Shrinking: a violation of the same promise with fewer steps, fewer faults, fewer clients and less time. The result
//! is an ordinary trace.
//!
//! A shorter plan is tried as far as it is possible: an action that is no longer enabled is left out, and an action
//! whose numbers have changed is recognised by its shape. Time is passed earlier, before the attempts that come too
//! soon. When no step can be left out, detours are cut: the search looks for fewer steps from a state of the execution
//! to the representative of a later state, or to the violation itself.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

use super::{Recorder, Trace};
use crate::finding::Property;
use crate::hash::Fingerprinter;
use crate::ids::ClientId;
use crate::monitor::Observed;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::time::Ticks;
use crate::world::{Action, World};

/// Longer executions are not tried pair by pair.
const PAIRS: usize = 150;
/// The number of worlds that the search for a detour visits from each state: few at first, more if that finds nothing.
const WORLDS: [usize; 2] = [4_000, 40_000];

/// The reason why a trace cannot be shrunk.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ShrinkError {
    /// The trace does not violate the promise.
    NotBroken(Property),
    /// The trace is endless. Leaving out a step could make its cycle unfair.
    Endless,
}

impl std::fmt::Display for ShrinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ShrinkError::NotBroken(property) => write!(f, "the trace does not violate `{property}`"),
            ShrinkError::Endless => {
                f.write_str("endless executions cannot be shrunk; `fencepost check` finds a shortest one")
            }
        }
    }
}

/// Shrinks an execution that violates a promise.
///
/// # Errors
/// It does not violate the promise, or it is endless.
pub fn shrink<P: Service>(trace: &Trace<P>, property: Property) -> Result<Trace<P>, ShrinkError> {
    if trace.header.is_about_the_end(property) {
        return Err(ShrinkError::Endless);
    }
    let judged = trace.header.scenario.judging(|promise| promise.property == property);
    let plan: Vec<Action<P>> = trace.steps.iter().map(|line| line.action).collect();
    let mut best = follow(&judged, &plan).ok_or(ShrinkError::NotBroken(property))?;
    let mut effort = 0;
    while effort < WORLDS.len() {
        let before = cost(&best);
        leave_out(&judged, &mut best);
        wait_first(&judged, &mut best);
        best = shorten_time(&judged, best);
        best = cut_detours(&judged, best, WORLDS[effort]);
        effort = if cost(&best) < before { 0 } else { effort + 1 };
    }
    let small = fit(&judged, &mut best);
    Ok(record(trace, &small, &best))
}

/// Leaves out every step, and every two steps, that the violation does not need. The scenario stays as it is, and time passes tick by tick.
///
/// # Errors
/// It does not violate the promise, or it is endless.
pub fn leave_out_steps<P: Service>(trace: &Trace<P>, property: Property) -> Result<Trace<P>, ShrinkError> {
    if trace.header.is_about_the_end(property) {
        return Err(ShrinkError::Endless);
    }
    let judged = trace.header.scenario.judging(|promise| promise.property == property);
    let plan: Vec<Action<P>> = trace.steps.iter().map(|line| line.action).collect();
    let mut best = follow(&judged, &plan).ok_or(ShrinkError::NotBroken(property))?;
    leave_out(&judged, &mut best);
    let ticks = best.iter().flat_map(|action| match action {
        Action::Advance(ticks) => vec![Action::Advance(Ticks::new(1)); usize::try_from(ticks.count()).unwrap_or(0)],
        _ => vec![*action],
    });
    let plan: Vec<Action<P>> = ticks.collect();
    let scenario = Scenario { promises: trace.header.scenario.promises.clone(), ..judged };
    let mut world = scenario.observed();
    let mut recorder = Recorder::default();
    for wanted in &plan {
        let action = if scenario.is_enabled(&world, wanted) { Some(*wanted) } else { scenario.like(&world, wanted) };
        recorder.step(&scenario, &mut world, &action.ok_or(ShrinkError::NotBroken(property))?);
    }
    Ok(recorder.finish(&scenario, &trace.header.origin, trace.header.seed))
}

/// Compares steps other than passages of time first, then passages of time, then their length.
fn cost<P: Service>(plan: &[Action<P>]) -> (usize, usize, i64) {
    let passages = plan.iter().filter_map(|action| match action {
        Action::Advance(ticks) => Some(ticks.count()),
        _ => None,
    });
    let (count, sum) = passages.fold((0, 0), |(count, sum), ticks| (count + 1, sum + ticks));
    (plan.len() - count, count, sum)
}

/// Follows a plan until the promise is violated; returns the steps taken, or `None` if the promise holds.
fn follow<P: Service>(scenario: &Scenario<P>, plan: &[Action<P>]) -> Option<Vec<Action<P>>> {
    let mut world = scenario.observed();
    let mut done = Vec::new();
    for wanted in plan {
        let Some(action) = scenario.like(&world, wanted) else { continue };
        let step = world.step(scenario, &action);
        match (done.last_mut(), action) {
            (Some(Action::Advance(sum)), Action::Advance(more)) => *sum = Ticks::new(sum.count() + more.count()),
            _ => done.push(action),
        }
        if !step.violations.is_empty() {
            return Some(done);
        }
    }
    None
}

/// Takes the shorter plan if it still violates the promise.
fn take<P: Service>(scenario: &Scenario<P>, best: &mut Vec<Action<P>>, plan: &[Action<P>]) -> bool {
    match follow(scenario, plan) {
        Some(done) if cost(&done) < cost(best) => {
            *best = done;
            true
        }
        _ => false,
    }
}

/// Leaves out steps that the violation does not need: large parts first, then single steps, then pairs.
fn leave_out<P: Service>(scenario: &Scenario<P>, best: &mut Vec<Action<P>>) {
    let mut size = best.len() / 2;
    while size > 0 {
        let mut from = best.len().saturating_sub(size);
        loop {
            let to = (from + size).min(best.len());
            take(scenario, best, &[&best[..from], &best[to..]].concat());
            if from == 0 {
                break;
            }
            from = from.saturating_sub(size).min(best.len());
        }
        size /= 2;
    }
    while best.len() <= PAIRS && leave_out_a_pair(scenario, best) {}
}

fn leave_out_a_pair<P: Service>(scenario: &Scenario<P>, best: &mut Vec<Action<P>>) -> bool {
    for second in (1..best.len()).rev() {
        for first in (0..second).rev() {
            let plan = [&best[..first], &best[first + 1..second], &best[second + 1..]].concat();
            if take(scenario, best, &plan) {
                return true;
            }
        }
    }
    false
}

/// Passes time earlier: what is tried after a wait (for a lock-delay, say) is not tried before it in vain. For each step, the time
/// that passes up to each later step is passed at once before it.
fn wait_first<P: Service>(scenario: &Scenario<P>, best: &mut Vec<Action<P>>) {
    if best.len() > PAIRS {
        return;
    }
    let mut from = 0;
    while from < best.len() {
        let is_shorter = (from + 1..best.len()).rev().any(|to| {
            let plan = with_time_first(best, from, to);
            matches!(best[to], Action::Advance(_)) && take(scenario, best, &plan)
        });
        from += usize::from(!is_shorter);
    }
}

/// The plan in which all time that passes between two steps, the last included, passes before the first.
fn with_time_first<P: Service>(plan: &[Action<P>], from: usize, to: usize) -> Vec<Action<P>> {
    let (mut sum, mut steps) = (0, Vec::new());
    for action in &plan[from..=to] {
        match action {
            Action::Advance(ticks) => sum += ticks.count(),
            _ => steps.push(*action),
        }
    }
    [&plan[..from], &[Action::Advance(Ticks::new(sum))], &steps, &plan[to + 1..]].concat()
}

/// Shortens passages of time as far as the violation allows.
fn shorten_time<P: Service>(scenario: &Scenario<P>, mut best: Vec<Action<P>>) -> Vec<Action<P>> {
    let mut place = 0;
    while place < best.len() {
        if let Action::Advance(ticks) = best[place] {
            let (mut low, mut high) = (0, ticks.count());
            // The shortest time that works, if shorter is monotonically harder; otherwise some shorter time.
            while low < high {
                let middle = low + (high - low) / 2;
                let mut plan = best.clone();
                plan[place] = Action::Advance(Ticks::new(middle));
                if take(scenario, &mut best, &plan) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
                if !matches!(best.get(place), Some(Action::Advance(_))) {
                    break;
                }
            }
        }
        place += 1;
    }
    best
}

fn fingerprint<P: Service>(scenario: &Scenario<P>, world: &Observed<P>) -> u64 {
    let mut hash = Fingerprinter::default();
    scenario.representative(world).hash(&mut hash);
    hash.finish()
}

/// Searches from each state of the execution for a shorter way to a later state, or to the violation.
fn cut_detours<P: Service>(scenario: &Scenario<P>, mut best: Vec<Action<P>>, worlds: usize) -> Vec<Action<P>> {
    let mut from = 0;
    while from < best.len() {
        let (world, later) = moments(scenario, &best, from);
        let rest = best[from..].iter().filter(|action| !matches!(action, Action::Advance(_))).count();
        let plan = way_round(scenario, &world, &later, (best.len(), rest), worlds)
            .map(|(way, to)| [&best[..from], &way, &best[to..]].concat())
            .filter(|plan| cost(plan) < cost(&best));
        let is_shorter = plan.is_some_and(|plan| take(scenario, &mut best, &plan));
        from += usize::from(!is_shorter);
    }
    best
}

/// The world before a step, and the later states: for each representative, the last index at which the execution has
/// it.
fn moments<P: Service>(
    scenario: &Scenario<P>,
    plan: &[Action<P>],
    from: usize,
) -> (Observed<P>, BTreeMap<u64, (usize, usize)>) {
    let mut world = scenario.observed();
    let mut there = world.clone();
    let mut later = BTreeMap::new();
    let mut steps = 0;
    // The last step violates the promise; later steps do not matter.
    for (place, action) in plan[..plan.len() - 1].iter().enumerate() {
        if place == from {
            there = world.clone();
        }
        world.step(scenario, action);
        if place >= from {
            steps += usize::from(!matches!(action, Action::Advance(_)));
            later.insert(fingerprint(scenario, &world), (place + 1, steps));
        }
    }
    (there, later)
}

/// The shortcut that saves the most steps, and the index at which it rejoins the execution.
fn way_round<P: Service>(
    scenario: &Scenario<P>,
    start: &Observed<P>,
    later: &BTreeMap<u64, (usize, usize)>,
    the_end: (usize, usize),
    worlds: usize,
) -> Option<(Vec<Action<P>>, usize)> {
    let mut seen = BTreeSet::from([fingerprint(scenario, start)]);
    let mut open = VecDeque::from([(start.clone(), Vec::new(), 0usize)]);
    let mut best: Option<(usize, Vec<Action<P>>, usize)> = None;
    let mut enabled = Vec::new();
    while let Some((world, way, steps)) = open.pop_front() {
        // A way as long as the execution itself is useless, and there is no time to try all ways.
        if seen.len() >= worlds || steps + 1 >= the_end.1 {
            continue;
        }
        scenario.enabled(&world, &mut enabled);
        enabled.retain(|action| !matches!(action, Action::Advance(_)));
        enabled.extend(passages(scenario, &world));
        for action in &enabled {
            let mut next = world.clone();
            let is_violation = !next.step(scenario, action).violations.is_empty();
            let form = fingerprint(scenario, &next);
            if !(is_violation || seen.insert(form)) {
                continue;
            }
            let way: Vec<Action<P>> = way.iter().copied().chain([*action]).collect();
            let steps = steps + usize::from(!matches!(action, Action::Advance(_)));
            let arrival = if is_violation { Some(&the_end) } else { later.get(&form) };
            if let Some(&(to, taken)) = arrival
                && taken > steps
                && best.as_ref().is_none_or(|(saved, ..)| taken - steps > *saved)
            {
                best = Some((taken - steps, way.clone(), to));
            }
            if !is_violation {
                open.push_back((next, way, steps));
            }
        }
    }
    best.map(|(_, way, to)| (way, to))
}

/// The passages of time worth a try: a tick, and up to each deadline.
fn passages<P: Service>(scenario: &Scenario<P>, world: &World<P>) -> Vec<Action<P>> {
    let mut ticks = vec![Ticks::new(1)];
    for process in world.processes() {
        world.wakes(scenario, process, &mut |_, due| ticks.push(due - world.now));
    }
    ticks.sort_unstable();
    ticks.dedup();
    ticks.into_iter().map(Action::Advance).filter(|passage| scenario.is_enabled(world, passage)).collect()
}

/// The scenario with no more clients and no larger budgets than the execution needs.
fn fit<P: Service>(scenario: &Scenario<P>, best: &mut Vec<Action<P>>) -> Scenario<P> {
    let mut small = scenario.clone();
    let all = (1..=small.clients).map(ClientId);
    let needed: Vec<ClientId> = all.filter(|client| best.iter().any(|action| action.concerns(*client))).collect();
    let count = u16::try_from(needed.len()).expect("no more than there are").max(1);
    let fewer = Scenario { clients: count, ..small.clone() };
    // Needed clients move up; observers and other participants follow.
    let rename = |client: ClientId| match needed.iter().position(|other| *other == client) {
        Some(place) => ClientId::of(place),
        None => ClientId(client.0.saturating_sub(small.clients - count)),
    };
    let renamed: Vec<Action<P>> = best.iter().map(|action| action.renamed(&rename)).collect();
    if let (true, Some(done)) = (fewer.validate().is_ok(), follow(&fewer, &renamed)) {
        (small, *best) = (fewer, done);
    }
    let mut world = small.observed();
    best.iter().for_each(|action| drop(world.step(&small, action)));
    let used = small.budget.used(&world.left);
    let frugal = Scenario { budget: used, ..small.clone() };
    match (frugal.validate(), follow(&frugal, best)) {
        (Ok(()), Some(done)) if done == *best => frugal,
        _ => small,
    }
}

/// The shrunk execution with everything that it violates.
fn record<P: Service>(trace: &Trace<P>, scenario: &Scenario<P>, actions: &[Action<P>]) -> Trace<P> {
    let scenario = Scenario { promises: trace.header.scenario.promises.clone(), ..scenario.clone() };
    let mut world = scenario.observed();
    let mut recorder = Recorder::default();
    for wanted in actions {
        // Only one promise was judged so far. Now all are judged, and their ghosts show in the stamps of writes.
        let action = scenario.like(&world, wanted).expect("what is remembered changes nothing else");
        recorder.step(&scenario, &mut world, &action);
    }
    let origin = match trace.header.origin.as_str() {
        origin if origin.ends_with("shrunk") => origin.to_owned(),
        origin => format!("{origin}, shrunk"),
    };
    recorder.finish(&scenario, &origin, trace.header.seed)
}
