//! States that are changed in place: a simulation never goes back, so the state of a client before a step is of no use after it,
//! and neither has to be told from others. Its runs stay beside it and go on where they are.
//!
//! A state that was copied before a step and is looked at after it is a mistake of the caller, and is found.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::Programmable;
use super::by_type::ByType;
use super::intern::scoped;
use super::run::TaskRuns;
use super::state::Node;

/// The name of a state that is changed in place.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) struct StateName {
    place: u32,
    /// How many steps the client at this place has taken.
    steps: u64,
}

/// The state of a client, and its runs, which are a cache.
struct Resident<S: Programmable> {
    steps: u64,
    node: Arc<Node<S>>,
    runs: TaskRuns<S>,
    /// How often all runs had been dropped when these were kept.
    forgotten: u64,
}

/// By place; borrowed while a client takes a step.
type Residents<S> = Vec<Rc<RefCell<Resident<S>>>>;

/// What a state is that was copied before a step, and used after it.
const GONE: &str = "a state that has taken a step in place is gone";

thread_local! {
    static RESIDENTS: RefCell<ByType> = const { RefCell::new(ByType::new()) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static FORGOTTEN: Cell<u64> = const { Cell::new(0) };
}

/// Runs a function in which clients that run programs take steps in place. It is a [scope](scoped), too. A step is much cheaper
/// then; but a lap is not compared with others that were told the same, so that a program that is not deterministic is not found.
///
/// # Panics
/// A state is used that has taken a step since it was copied.
pub fn in_place<R>(act: impl FnOnce() -> R) -> R {
    /// Ends it, also when `act` panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
            if !is_in_place() {
                // What a run drops may open operations or panic: it must not find the states borrowed.
                drop(RESIDENTS.take());
            }
        }
    }
    scoped(|| {
        DEPTH.set(DEPTH.get() + 1);
        let _end = End;
        act()
    })
}

/// Whether states are changed in place.
pub(super) fn is_in_place() -> bool {
    DEPTH.get() > 0
}

/// Has every client drop its runs before its next step.
pub(super) fn forget_runs() {
    FORGOTTEN.set(FORGOTTEN.get() + 1);
}

fn with<S: Programmable, R>(act: impl FnOnce(&mut Residents<S>) -> R) -> R {
    RESIDENTS.with_borrow_mut(|residents| act(residents.get::<S, _>(Residents::<S>::new)))
}

impl StateName {
    /// A new place with this state.
    pub(super) fn of<S: Programmable>(node: Node<S>) -> Self {
        with(|residents: &mut Residents<S>| {
            let place = u32::try_from(residents.len()).expect("fewer than 2^32 states");
            let resident = Resident { steps: 0, node: Arc::new(node), runs: Vec::new(), forgotten: 0 };
            residents.push(Rc::new(RefCell::new(resident)));
            StateName { place, steps: 0 }
        })
    }

    /// The state.
    pub(super) fn get<S: Programmable>(self) -> Arc<Node<S>> {
        with(|residents: &mut Residents<S>| {
            let resident = residents.get(self.place as usize).expect(GONE).borrow();
            self.check(&resident);
            Arc::clone(&resident.node)
        })
    }

    /// Takes a step, which may change the state and its runs, and says whether it did so. A step that does nothing changes neither.
    pub(super) fn step<S: Programmable>(self, take: impl FnOnce(&mut Node<S>, &mut TaskRuns<S>) -> bool) -> Self {
        let resident = with(|residents: &mut Residents<S>| residents.get(self.place as usize).map(Rc::clone));
        let resident = resident.expect(GONE);
        let mut resident = resident.borrow_mut();
        self.check(&resident);
        if resident.forgotten != FORGOTTEN.get() {
            resident.runs.clear();
            resident.forgotten = FORGOTTEN.get();
        }
        let Resident { steps, node, runs, .. } = &mut *resident;
        *steps += u64::from(take(Arc::make_mut(node), runs));
        StateName { steps: *steps, ..self }
    }

    fn check<S: Programmable>(self, resident: &Resident<S>) {
        assert!(resident.steps == self.steps, "{GONE}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_its_outermost_scope_also_by_a_panic() {
        in_place(|| in_place(|| assert!(is_in_place())));
        assert!(!is_in_place());
        assert!(std::panic::catch_unwind(|| in_place(|| panic!("it ends"))).is_err());
        assert!(!is_in_place());
    }
}
