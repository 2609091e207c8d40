//! The Go client's lock and semaphore, `consul lock` and the guides: the recipes do what the programs do.

use fencepost::consul::{Command, Consul, ConsulMessage, Request, Settings, Target, Waiting, Watch};
use fencepost::model::ids::Index;
use fencepost::model::process::Message;
use fencepost::model::time::Ticks;
use fencepost::model::world::Action;

use super::super::guides::as_programs;
use super::super::shipped;
use super::{do_the_same, refused};

/// A blocking query from index 0 does not wait, so it is the read that it blocks on (C-BLK-1); a wait of 0 is none (C-BLK-2). The
/// user of a program whose job lives on gives the lock up, where the recipe has a command of its own.
fn plain(mut action: Action<Consul>) -> Action<Consul> {
    match &mut action {
        Action::Command { command: command @ Command::Finish, .. } => *command = Command::Release,
        Action::Deliver(envelope) | Action::Lose(envelope) | Action::Duplicate(envelope) => {
            if let Message::Service(ConsulMessage::Request(_, request)) = &mut envelope.message
                && let Request::Watch(watch) = request
            {
                match watch {
                    Watch { target: Target::Key(key), index: Index::NONE, .. } => *request = Request::Get(*key),
                    Watch { target: Target::Prefix, index: Index::NONE, .. } => *request = Request::List,
                    Watch { wait, .. } => *wait = wait.filter(|wait| *wait > Ticks::ZERO),
                }
            }
        }
        _ => {}
    }
    action
}

fn compare(names: &[&str]) {
    for name in names {
        do_the_same(&shipped::<Consul>(name), &as_programs(name), plain, 150);
    }
}

#[test]
fn the_lock_of_the_go_client_and_its_recipe_do_the_same() {
    compare(&["consul-go-lock-cut-off"]);
}

#[test]
fn the_semaphore_of_the_go_client_and_its_recipe_do_the_same() {
    compare(&["consul-go-semaphore"]);
}

#[test]
fn consul_lock_and_its_recipe_do_the_same() {
    compare(&[
        "consul-lock-command",
        "consul-lock-command-short-delay",
        "b12-kill-group",
        "b12-kill-group-equal",
        "b12-kill-group-semaphore",
        "b12-kill-shell",
    ]);
}

#[test]
fn the_guides_and_their_recipes_do_the_same() {
    compare(&["consul-leader-election", "consul-leader-election-sooner", "consul-semaphore-guide"]);
}

/// A recipe that does something else.
type RecipeMistake = fn(&mut Settings);

/// What was wrong in the recipes once: the step at which the program does something else.
#[test]
fn a_recipe_that_does_something_else_is_told_by_the_step() {
    let (lock, semaphore) = ("consul-lock-command", "consul-go-semaphore");
    let mistakes: [(&str, RecipeMistake, &str); 4] = [
        // C-LCK-3: the Go client reads first.
        (lock, |recipe| recipe.waiting = Waiting::Watch, "watch the key from index 0"),
        // C-LCK-9.
        (lock, |recipe| recipe.ends_session = false, "destroy session"),
        // C-LCK-10.
        (lock, |recipe| recipe.cleanup = false, "get the key"),
        // C-SEM-3.
        (semaphore, |recipe| recipe.flags = 0, "acquire the contender key"),
    ];
    for (name, change, step) in mistakes {
        let (mut recipe, program) = (shipped::<Consul>(name), as_programs(name));
        change(&mut recipe.service);
        let told = refused(&program, &recipe, plain, (150, 100)).unwrap_or_default();
        assert!(told.lines().next().is_some_and(|first| first.contains(step)), "{name}: {told}, and not `{step}`");
    }
}
