//! Schedulers from outside: their executions are recorded like any other, and what they must not pick is an error.

use fencepost::lease::{Command, Lease};
use fencepost::model::ids::ClientId;
use fencepost::model::world::{Action, World};
use fencepost::sim::{Scheduler, SchedulerError, Settings, offers, simulate_with};
use fencepost::{Property, Scenario, lease};

/// Picks the first enabled action that it likes, or the last one.
struct Picky {
    likes: fn(&Action<Lease>) -> bool,
    offers: Vec<Action<Lease>>,
}

impl Picky {
    fn new(likes: fn(&Action<Lease>) -> bool) -> Self {
        Picky { likes, offers: Vec::new() }
    }
}

impl Scheduler<Lease> for Picky {
    fn name(&self) -> &str {
        "picky"
    }

    fn pick(&mut self, scenario: &Scenario<Lease>, world: &World<Lease>) -> Option<Action<Lease>> {
        offers(scenario, world, false, &mut self.offers);
        self.offers.iter().find(|action| (self.likes)(action)).or(self.offers.last()).copied()
    }
}

fn printer() -> Scenario<Lease> {
    lease::lock("our-printer").budget(|budget| budget.losses = 1).promise(Property::MutualExclusion).scenario()
}

fn ticks() -> Settings {
    Settings { refinement: 1, ..Settings::default() }
}

#[test]
fn its_execution_is_recorded_and_can_be_repeated() {
    let likes: fn(&Action<Lease>) -> bool = |action| matches!(action, Action::Deliver(_) | Action::Command { .. });
    let run = || simulate_with(&printer(), &ticks(), Picky::new(likes)).expect("it picks what is enabled");
    let taken = run();
    assert_eq!(taken, run());
    assert_eq!(taken.trace.header.origin, "simulator, picky");
    assert!(taken.is_at_rest && taken.actions > 5, "{taken:?}");
    fencepost::model::trace::replay(&taken.trace).expect("the same actions do the same");
}

#[test]
fn an_action_that_is_not_enabled_is_an_error_that_names_it() {
    struct Stubborn;

    impl Scheduler<Lease> for Stubborn {
        fn name(&self) -> &str {
            "stubborn"
        }

        fn pick(&mut self, _: &Scenario<Lease>, _: &World<Lease>) -> Option<Action<Lease>> {
            Some(Action::Command { client: ClientId(1), command: Command::Borrow })
        }
    }

    let error = simulate_with(&printer(), &ticks(), Stubborn).expect_err("a client asks once");
    assert_eq!(
        error.to_string(),
        "the scheduler `stubborn` picked “client 1 is asked to take the lock” at step 2, and that is not enabled: pick one of `offers`"
    );
}

#[test]
fn a_fault_in_the_calm_is_an_error() {
    let likes: fn(&Action<Lease>) -> bool = |action| matches!(action, Action::Lose(_) | Action::Command { .. });
    let settings = Settings { storm: 0, ..ticks() };
    let error = simulate_with(&printer(), &settings, Picky::new(likes)).expect_err("the calm begins at once");
    assert!(
        matches!(&error, SchedulerError::FaultInCalm(pick) if pick.action.starts_with("lost on the way")),
        "{error}"
    );
}
