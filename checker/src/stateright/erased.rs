//! A scenario's worlds and actions without the type of its service: stateright is compiled once, and not for each service.

use std::any::Any;
use std::fmt::{self, Debug, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fencepost_model::ids::ClientId;
use fencepost_model::monitor::Observed;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use crate::engine::Marks;
use crate::reduction::{Form, Formed};
use crate::worlds::panicked;

/// A world in normal form.
pub(super) trait ErasedWorld: Any + Debug + Send + Sync {
    /// 64 bits that tell it from other worlds; the same on every machine.
    fn fingerprint(&self) -> u64;

    fn is_same(&self, other: &dyn ErasedWorld) -> bool;

    fn copy(&self) -> Box<dyn ErasedWorld>;
}

impl<P: Service> ErasedWorld for Formed<P> {
    fn fingerprint(&self) -> u64 {
        Formed::fingerprint(self)
    }

    fn is_same(&self, other: &dyn ErasedWorld) -> bool {
        **self == **typed::<P>(other)
    }

    fn copy(&self) -> Box<dyn ErasedWorld> {
        Box::new(self.clone())
    }
}

fn typed<P: Service>(world: &dyn ErasedWorld) -> &Formed<P> {
    (world as &dyn Any).downcast_ref().expect("all worlds of a search are of one service")
}

/// The world of a search for which this service stands.
pub(super) fn into_typed<P: Service>(world: Box<dyn ErasedWorld>) -> Formed<P> {
    *(world as Box<dyn Any>).downcast().expect("all worlds of a search are of one service")
}

/// What may happen in a world.
trait ErasedActions: Any + Send + Sync {
    fn label(&self, place: usize) -> String;

    /// Whether the action at a place is the other one.
    fn is_same(&self, place: usize, other: &Choice) -> bool;
}

impl<P: Service> ErasedActions for Vec<Action<P>> {
    fn label(&self, place: usize) -> String {
        self[place].to_string()
    }

    fn is_same(&self, place: usize, other: &Choice) -> bool {
        self[place] == *other.action::<P>()
    }
}

/// One of the actions that may happen in a world.
#[derive(Clone)]
pub(super) struct Choice {
    place: usize,
    of: Arc<dyn ErasedActions>,
}

impl Choice {
    /// The action as a sentence.
    pub(super) fn label(&self) -> String {
        self.of.label(self.place)
    }

    fn action<P: Service>(&self) -> &Action<P> {
        let actions: Option<&Vec<Action<P>>> = (&*self.of as &dyn Any).downcast_ref();
        &actions.expect("all actions of a search are of one service")[self.place]
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.of.is_same(self.place, other)
    }
}

impl Debug for Choice {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.label())
    }
}

/// Where a step leads.
pub(super) struct TakenStep {
    pub(super) world: Box<dyn ErasedWorld>,
    /// Whether that is the world from which it was taken.
    pub(super) is_same: bool,
    pub(super) is_violation: bool,
    pub(super) marks: Marks,
}

/// The transitions of a scenario.
pub(super) trait Transitions: Send + Sync {
    fn start(&self) -> Box<dyn ErasedWorld>;

    /// Lists the actions of a world that are explored. Returns the kinds of faults that are possible, and not explored, as bits.
    fn list(&self, world: &dyn ErasedWorld, choices: &mut Vec<Choice>) -> u64;

    /// Takes a step.
    ///
    /// # Errors
    /// The model panicked; a sentence says where.
    fn take(&self, world: &dyn ErasedWorld, choice: &Choice) -> Result<TakenStep, String>;

    /// What a step makes true, who has the lock and who believes so.
    fn tell(&self, world: &dyn ErasedWorld, choice: &Choice) -> String;

    /// Counts how many worlds a new one stands for, of some.
    fn sample(&self, world: &dyn ErasedWorld);
}

/// Those of a scenario, in normal form.
pub(super) struct FormedTransitions<P: Service> {
    pub(super) scenario: Scenario<P>,
    pub(super) form: Form,
}

impl<P: Service> Transitions for FormedTransitions<P> {
    fn start(&self) -> Box<dyn ErasedWorld> {
        Box::new(self.form.start(&self.scenario))
    }

    fn list(&self, world: &dyn ErasedWorld, choices: &mut Vec<Choice>) -> u64 {
        let world = typed::<P>(world);
        let mut actions = Vec::new();
        self.scenario.enabled(world, &mut actions);
        let left_out = self.form.leave_out_faults(&self.scenario, world, &mut actions);
        let chosen = self.form.chosen(&self.scenario, world, &actions);
        let count = actions.len();
        let of: Arc<dyn ErasedActions> = Arc::new(actions);
        let choice = |place| Choice { place, of: Arc::clone(&of) };
        match chosen {
            Some(chosen) => choices.extend(chosen.iter().map(|place| choice(usize::from(*place)))),
            None => choices.extend((0..count).map(choice)),
        }
        left_out
    }

    fn take(&self, world: &dyn ErasedWorld, choice: &Choice) -> Result<TakenStep, String> {
        let (last, action) = (typed::<P>(world), choice.action::<P>());
        let take = || {
            // All of the next world is looked at, whatever the step changed: our own search keeps what it knows of the rest,
            // and the two must agree.
            let mut world = Observed::clone(last);
            let step = world.step(&self.scenario, action);
            (Box::new(self.form.of(world)), step)
        };
        let (world, step) =
            catch_unwind(AssertUnwindSafe(take)).map_err(|panic| panicked(&action.to_string(), &*panic))?;
        let marks = Marks { reached: self.scenario.reached(&step.facts).0, kinds: action.kind().bit() };
        Ok(TakenStep { is_same: **world == **last, is_violation: !step.violations.is_empty(), marks, world })
    }

    fn tell(&self, world: &dyn ErasedWorld, choice: &Choice) -> String {
        let mut world = Observed::clone(typed::<P>(world));
        let step = world.step(&self.scenario, choice.action::<P>());
        let names = |clients: &mut dyn Iterator<Item = ClientId>| {
            let names: Vec<String> = clients.map(|client| client.0.to_string()).collect();
            if names.is_empty() { "-".to_owned() } else { names.join(" ") }
        };
        let owners = P::record(&world.server.process, &self.scenario).owners;
        let mut lines: Vec<String> = step.facts.iter().map(ToString::to_string).collect();
        lines.push(format!("record: {}   inside: {}", names(&mut owners.iter().copied()), names(&mut world.inside())));
        let violations = step.violations.iter();
        lines.extend(violations.map(|violation| format!("✗ {}: {}", violation.property, violation.message)));
        lines.join("\n")
    }

    fn sample(&self, world: &dyn ErasedWorld) {
        self.form.sample(world.fingerprint(), || &**typed::<P>(world));
    }
}
