//! Executions of one form of a client that another form can take too, step by step: of the recipes with settings and of the published
//! clients as programs. If one form could not follow the other, the step would be named.
//!
//! ```text
//! consul  the Go client, `consul lock`, the guides
//! others  the persistent semaphore, Redlock, etcd, the lease, the recipes of the stores
//! ```
//!
//! What happens inside a client is not compared: its timers, its choices, the numbers of its calls. Compared are the requests that arrive,
//! the answers, everything that befalls the two (time, faults, operators), who is inside whenever time passes, and which messages are under
//! way then.

mod consul;
mod others;

use std::fmt::Write;

use fencepost::Scenario;
use fencepost::model::fact::Fact;
use fencepost::model::ids::{ClientId, ProcessId};
use fencepost::model::service::Service;
use fencepost::model::world::{Action, World};

/// A world, and which clients are inside.
#[derive(Clone, PartialEq)]
struct Place<S: Service> {
    world: World<S>,
    inside: Vec<ClientId>,
}

impl<S: Service> Place<S> {
    fn start(scenario: &Scenario<S>) -> Self {
        Place { world: scenario.observed().world, inside: Vec::new() }
    }

    fn after(&self, scenario: &Scenario<S>, action: &Action<S>) -> Self {
        let mut place = self.clone();
        for fact in &scenario.step(&mut place.world, action).facts {
            match fact {
                Fact::Entered { client, .. } => place.inside.push(*client),
                Fact::Left { client, .. } => place.inside.retain(|other| other != client),
                _ => {}
            }
        }
        place.inside.sort_unstable();
        place
    }

    /// What can be seen of it between two instants.
    fn seen(&self, look: Look<S>) -> String {
        let mut messages: Vec<String> = self
            .world
            .network
            .places()
            .iter()
            .map(|envelope| format!("{}", look(Action::Deliver(*envelope)).shape()))
            .collect();
        messages.sort_unstable();
        format!("inside {:?}, under way {messages:?}", self.inside)
    }
}

/// Whether an action happens inside a client.
fn is_inside_a_client<S: Service>(action: &Action<S>) -> bool {
    match action {
        Action::Wake { process, .. } | Action::Choose { process, .. } => matches!(process, ProcessId::Client(_)),
        _ => false,
    }
}

/// The same action as every form of a client would take it.
type Look<S> = fn(Action<S>) -> Action<S>;

/// More worlds than this are not followed at once.
const WORLDS_MAX: usize = 400;

/// All places that another form may be in.
struct Follower<'a, S: Service> {
    scenario: &'a Scenario<S>,
    look: Look<S>,
    places: Vec<Place<S>>,
}

impl<'a, S: Service> Follower<'a, S> {
    fn new(scenario: &'a Scenario<S>, look: Look<S>) -> Self {
        Follower { scenario, look, places: vec![Place::start(scenario)] }
    }

    /// Adds the places that differ by what happens inside clients.
    fn settle(&mut self) {
        let (mut next, mut enabled) = (0, Vec::new());
        while next < self.places.len() {
            assert!(self.places.len() < WORLDS_MAX, "too many worlds to be followed at once");
            self.scenario.enabled(&self.places[next].world, &mut enabled);
            for action in enabled.iter().filter(|action| is_inside_a_client(action)) {
                let place = self.places[next].after(self.scenario, action);
                if !self.places.contains(&place) {
                    self.places.push(place);
                }
            }
            next += 1;
        }
    }

    /// Takes an action that the other form has taken, if it can; otherwise says what it can see instead.
    fn follow(&mut self, action: &Action<S>, before: &Place<S>) -> Result<(), String> {
        if is_inside_a_client(action) {
            return Ok(());
        }
        self.settle();
        if matches!(action, Action::Advance(_)) {
            let seen = before.seen(self.look);
            let others: Vec<String> = self.places.iter().map(|place| place.seen(self.look)).collect();
            self.places.retain(|place| place.seen(self.look) == seen);
            if self.places.is_empty() {
                return Err(format!("{seen}, where the other form has {}", others[0]));
            }
        }
        let shape = (self.look)(*action).shape();
        let mut next: Vec<Place<S>> = Vec::new();
        let mut enabled = Vec::new();
        for place in &self.places {
            self.scenario.enabled(&place.world, &mut enabled);
            let is_same = |other: &&Action<S>| match (action, other) {
                (Action::Advance(ticks), Action::Advance(others)) => ticks == others,
                _ => (self.look)(**other).shape() == shape,
            };
            for other in enabled.iter().filter(is_same) {
                let place = place.after(self.scenario, other);
                if !next.contains(&place) {
                    next.push(place);
                }
            }
        }
        if next.is_empty() {
            return Err(format!("“{action}” is not possible there"));
        }
        self.places = next;
        Ok(())
    }
}

/// One of the actions. Faults and operators are chosen one time in eight, so that clients come far before their budget is used up.
fn chosen<S: Service>(enabled: &[Action<S>], word: u64) -> Action<S> {
    let is_calm = |action: &&Action<S>| {
        !matches!(action, Action::Fault(_) | Action::Operator(_) | Action::Lose(_) | Action::Duplicate(_))
    };
    let calm: Vec<&Action<S>> = enabled.iter().filter(is_calm).collect();
    let number = usize::try_from(word >> 36).expect("28 bits");
    match !(word >> 33).is_multiple_of(8) && !calm.is_empty() {
        true => *calm[number % calm.len()],
        false => enabled[number % enabled.len()],
    }
}

/// Takes random executions of one form, and follows them: the first step that the other one cannot follow, with what led to it.
fn refused<S: Service>(
    one: &Scenario<S>,
    other: &Scenario<S>,
    look: Look<S>,
    (executions, steps): (u64, u64),
) -> Option<String> {
    let mut enabled = Vec::new();
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    for execution in 0..executions {
        let (mut place, mut follower, mut told) = (Place::start(one), Follower::new(other, look), String::new());
        for step in 0..steps {
            one.enabled(&place.world, &mut enabled);
            if enabled.is_empty() {
                break;
            }
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let action = chosen(&enabled, word);
            let _ = writeln!(told, "{}  {action}", place.world.now);
            if let Err(why) = follower.follow(&action, &place) {
                return Some(format!("execution {execution}, step {step}: {why}\n{told}"));
            }
            place = place.after(one, &action);
        }
    }
    None
}

/// Each execution of the state machine is one of the program, and the other way round: no execution parts the two.
fn do_the_same<S: Service>(machine: &Scenario<S>, program: &Scenario<S>, look: Look<S>, executions: u64) {
    for (what, one, other) in [("state machine", machine, program), ("program", program, machine)] {
        if let Some(told) = refused(one, other, look, (executions, 100)) {
            panic!("{}: the other form cannot do what the {what} does: {told}", machine.name);
        }
    }
}
