//! Executions of one form of a client that another form can take too, step by step: of the recipes with settings and of the published
//! clients as programs. Where one form cannot follow the other, the step is named.
//!
//! What happens inside a client is not compared: its timers, its choices, the numbers of its calls. Compared are the requests that arrive,
//! the answers, everything that befalls the two (time, faults, operators), who is inside whenever time passes, and which messages are under
//! way then.

use std::fmt::Write;

use fencepost::Scenario;
use fencepost::consul::Consul;
use fencepost::model::fact::Fact;
use fencepost::model::ids::{ClientId, ProcessId};
use fencepost::model::service::Service;
use fencepost::model::world::{Action, World};

use super::guides::as_programs;
use super::shipped;

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
    fn seen(&self) -> String {
        let mut messages: Vec<String> = self
            .world
            .network
            .places()
            .iter()
            .map(|envelope| format!("{}", Action::<S>::Deliver(*envelope).shape()))
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

/// More worlds than this are not followed at once.
const WORLDS_MAX: usize = 400;

/// All places that another form may be in.
struct Follower<'a, S: Service> {
    scenario: &'a Scenario<S>,
    places: Vec<Place<S>>,
}

impl<'a, S: Service> Follower<'a, S> {
    fn new(scenario: &'a Scenario<S>) -> Self {
        Follower { scenario, places: vec![Place::start(scenario)] }
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
            let seen = before.seen();
            let others: Vec<String> = self.places.iter().map(Place::seen).collect();
            self.places.retain(|place| place.seen() == seen);
            if self.places.is_empty() {
                return Err(format!("{seen}, where the other form has {}", others[0]));
            }
        }
        let shape = action.shape();
        let mut next: Vec<Place<S>> = Vec::new();
        let mut enabled = Vec::new();
        for place in &self.places {
            self.scenario.enabled(&place.world, &mut enabled);
            let is_same = |other: &&Action<S>| match (action, other) {
                (Action::Advance(ticks), Action::Advance(others)) => ticks == others,
                _ => other.shape() == shape,
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

/// Takes random executions of one form; the first step that the other one cannot follow, with what led to it.
fn refused<S: Service>(one: &Scenario<S>, other: &Scenario<S>, executions: u64, steps: u64) -> Option<String> {
    let mut enabled = Vec::new();
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    for execution in 0..executions {
        let (mut place, mut follower, mut told) = (Place::start(one), Follower::new(other), String::new());
        for step in 0..steps {
            one.enabled(&place.world, &mut enabled);
            if enabled.is_empty() {
                break;
            }
            word = word.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let action = enabled[usize::try_from(word >> 33).expect("31 bits") % enabled.len()];
            let _ = writeln!(told, "{}  {action}", place.world.now);
            if let Err(why) = follower.follow(&action, &place) {
                return Some(format!("execution {execution}, step {step}: {why}\n{told}"));
            }
            place = place.after(one, &action);
        }
    }
    None
}

/// Where the two part first: what of the recipe the program cannot follow, what of the program the recipe cannot, and why.
const PARTINGS: [(&str, &str, &str, &str); 6] = [
    ("consul-leader-election", "", "", "they do the same"),
    ("consul-go-lock-cut-off", "get the key [2]", "watch the key from index 0 [2]", READ),
    ("consul-semaphore-guide", "list the prefix [3]", "watch the prefix from index 0 [3]", READ),
    ("consul-lock-command", "acquire the key for session 1.1 [2]", "watch the key from index 0 [2]", ACQUIRES_FIRST),
    ("b12-kill-group", "acquire the key for session 1.1 [2]", "watch the key from index 0 [2]", ACQUIRES_FIRST),
    (
        "consul-go-semaphore",
        SLOT,
        SLOT,
        "C-SEM-3: the program writes the flags of the Go client, the recipe writes none",
    ),
];

const READ: &str = "C-BLK-1: the same read, with or without `?index=0`, which does not wait";
const ACQUIRES_FIRST: &str =
    "C-LCK-3: the Go client reads before it acquires; the recipe of these scenarios does not, and is the wrong one";
const SLOT: &str = "acquire the contender key of session 1.1 for session 1.1 [2]";

#[test]
fn where_a_program_and_its_recipe_part_the_step_is_named() {
    for (name, by_recipe, by_program, why) in PARTINGS {
        let (recipe, program) = (shipped::<Consul>(name), as_programs(name));
        for (one, other, step) in [(&recipe, &program, by_recipe), (&program, &recipe, by_program)] {
            let refused = refused(one, other, 40, 60);
            let is_as_told = match &refused {
                None => step.is_empty(),
                Some(told) => !step.is_empty() && told.lines().next().is_some_and(|first| first.contains(step)),
            };
            assert!(is_as_told, "{name}: {}, and not `{step}` ({why})", refused.unwrap_or_default());
        }
    }
}

#[test]
fn each_form_follows_its_own_executions() {
    for (name, ..) in PARTINGS {
        let (recipe, program) = (shipped::<Consul>(name), as_programs(name));
        assert_eq!(refused(&recipe, &recipe, 10, 40), None, "{name}");
        assert_eq!(refused(&program, &program, 10, 40), None, "{name}");
    }
}
