//! Laps that run, and a cache of them. A run is no part of any state: without one, the lap is run again on what it was told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Once;
use std::task::{Context as Polling, Poll, Waker};

use super::by_type::ByType;
use super::desk::{Desk, Outcome, Output};
use super::error::ProgramErrorKind;
use super::execute::TaskName;
use super::handle::{AnyKind, Handle};
use super::in_place;
use super::kind::{Finished, LapValue, Running};
use super::script::{Point, Script, ScriptName};
use super::{Gone, Lap, Programmable};
use crate::ids::ClientId;

/// A lap that runs.
pub(super) struct LapRun<S: Programmable> {
    desk: Rc<RefCell<Desk<S>>>,
    state: RunState,
}

enum RunState {
    Running(Running),
    /// The lap is over, and the next one begins with this value.
    Between(LapValue),
    /// The lap is over, and this was encoded.
    Encoded(LapValue),
    Over,
}

/// What becomes of the value at the end of a lap.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum AtEnd {
    /// It is encoded, and the next lap begins with what that text says.
    Encode,
    /// The next lap begins with it.
    Pass,
    /// Both.
    EncodeAndPass,
}

/// The maximum number of runs that a thread keeps.
const RUNS_MAX: usize = 1_024;

/// The runs of a client's tasks, by the names of the tasks.
pub(super) type TaskRuns<S> = Vec<(TaskName, LapRun<S>)>;

/// The runs of a thread, by the script that they have followed and the client.
type Runs<S> = BTreeMap<(u32, ClientId), LapRun<S>>;

thread_local! {
    static RUNS: RefCell<ByType> = const { RefCell::new(ByType::new()) };
    /// Whether a recipe is being polled, whose panic is a finding and no message for the terminal.
    static IS_POLLING: Cell<bool> = const { Cell::new(false) };
    static PANICKED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Drops every run of this thread. That changes nothing but how long the next step takes.
pub fn forget_all() {
    // What a run drops may open operations or panic: it must not find the cache borrowed.
    drop(RUNS.take());
    in_place::forget_runs();
}

fn with<S: Programmable, R>(act: impl FnOnce(&mut Runs<S>) -> R) -> R {
    RUNS.with_borrow_mut(|caches| act(caches.get::<S, _>(Runs::<S>::new)))
}

impl<S: Programmable> LapRun<S> {
    /// Begins a lap.
    pub(super) fn begin(kind: AnyKind<S>, value: LapValue, me: ClientId) -> Self {
        let desk = Rc::new(RefCell::new(Desk::new(me)));
        let state = RunState::Running(kind.begin(value, Handle::new(Rc::clone(&desk))));
        LapRun { desk, state }
    }

    /// The next lap, with the value of this one.
    ///
    /// # Panics
    /// It did not [pass](AtEnd::Pass) its value on.
    pub(super) fn next_lap(self, kind: AnyKind<S>, me: ClientId) -> Self {
        let desk = Rc::clone(&self.desk);
        let value = self.value();
        desk.borrow_mut().clear(me);
        let state = RunState::Running(kind.begin(value, Handle::new(Rc::clone(&desk))));
        LapRun { desk, state }
    }

    /// Takes back an empty list of outputs, for the next ones.
    pub(super) fn recycle(&mut self, outputs: Vec<Output<S>>) {
        self.desk.borrow_mut().outputs = outputs;
    }

    /// The value after the lap.
    ///
    /// # Panics
    /// It did not [pass](AtEnd::Pass) its value on.
    pub(super) fn value(self) -> LapValue {
        match self.state {
            RunState::Between(value) => value,
            RunState::Running(_) | RunState::Encoded(_) | RunState::Over => {
                panic!("a lap whose value is asked for has passed it on")
            }
        }
    }

    /// Tells it what it was told before, from its beginning on; its value is passed on.
    pub(super) fn replay(&mut self, kind: AnyKind<S>, told: &[(u16, Outcome<S>)]) {
        self.poll(kind, None, AtEnd::Pass);
        told.iter().for_each(|told| drop(self.poll(kind, Some(*told), AtEnd::Pass)));
    }

    /// The value after the lap, if it was encoded and is not passed on.
    pub(super) fn encoded(self) -> Option<LapValue> {
        match self.state {
            RunState::Encoded(value) => Some(value),
            RunState::Running(_) | RunState::Between(_) | RunState::Over => None,
        }
    }

    /// Whether the next lap begins with its value.
    pub(super) fn is_between(&self) -> bool {
        matches!(self.state, RunState::Between(_))
    }

    /// Runs it until it waits, and says what it did. A run that is over must not be polled again.
    pub(super) fn poll(&mut self, kind: AnyKind<S>, told: Option<(u16, Outcome<S>)>, at_end: AtEnd) -> Vec<Output<S>> {
        let RunState::Running(running) = &mut self.state else { panic!("a lap that is over is not polled") };
        quiet();
        self.desk.borrow_mut().told.extend(told);
        IS_POLLING.set(true);
        let mut polling = Polling::from_waker(Waker::noop());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            running.as_mut().poll(&mut polling).map(|Finished { value, end }| {
                // A round that is over is waited for at the head of the next one.
                let is_encoded = at_end != AtEnd::Pass || end == Ok(Lap::Done);
                (if is_encoded { kind.encode(&value) } else { String::new() }, value, end)
            })
        }));
        IS_POLLING.set(false);
        let mut outputs = std::mem::take(&mut self.desk.borrow_mut().outputs);
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready((head, value, end))) => {
                self.state = match end {
                    Err(Gone) => RunState::Over,
                    Ok(Lap::Again) if at_end != AtEnd::Encode => RunState::Between(value),
                    Ok(_) => RunState::Encoded(value),
                };
                outputs.push(Output::End(head, end));
            }
            Err(panic) => {
                self.state = RunState::Over;
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                let text = text.unwrap_or_else(|| "without a message".to_owned());
                outputs.push(Output::Panic(format!("{text} ({})", PANICKED_AT.take())));
            }
        }
        outputs
    }

    /// A run that has come as far as this script: from the cache, or run again.
    pub(super) fn restored(script: ScriptName<S>, me: ClientId) -> Self {
        if let Some(run) = with(|runs: &mut Runs<S>| runs.remove(&(script.id(), me))) {
            return run;
        }
        let points = script.get().points();
        let head = &points[0];
        let value = head.kind.decode(&head.value()).unwrap_or_else(|error| head.fail(ProgramErrorKind::Head(error)));
        let mut run = LapRun::begin(head.kind, value, me);
        for point in &points {
            let outputs = run.poll(head.kind, point.last(), AtEnd::Encode);
            point.compare(&outputs);
        }
        run
    }

    /// Keeps a run that waits, for the next step of this client from here.
    pub(super) fn keep(self, script: ScriptName<S>, me: ClientId) {
        let dropped = with(|runs: &mut Runs<S>| {
            let all = if runs.len() >= RUNS_MAX { std::mem::take(runs) } else { Runs::new() };
            (all, runs.insert((script.id(), me), self))
        });
        drop(dropped);
    }
}

impl<S: Programmable> Script<S> {
    /// What it was told last.
    pub(super) fn last(&self) -> Option<(u16, Outcome<S>)> {
        match self.point {
            Point::Head(_) => None,
            Point::Told { operation, outcome, .. } => Some((operation, outcome)),
        }
    }
}

/// Sees to it that a recipe's panic is not written to the terminal, and remembers where it was.
fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_POLLING.get() {
                return before(panic);
            }
            let place = panic.location().map_or_else(|| "somewhere".to_owned(), ToString::to_string);
            PANICKED_AT.set(place);
        }));
    });
}
