//! What a read waits for, and what wakes it: half of the commands beside it are about the same.

use proptest::prelude::*;

use super::odds::{command, content, good_command, how, key, node, who};
use super::{Command, POOL, PREFIXES, Target, Who};

/// What a read waits for.
fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        3 => key().prop_map(Target::Key),
        3 => (0..PREFIXES.len()).prop_map(Target::Entries),
        3 => (0..PREFIXES.len()).prop_map(Target::Keys),
        3 => (0..POOL).prop_map(Target::Session),
        2 => prop::option::of(node()).prop_map(Target::Sessions),
        2 => node().prop_map(Target::Checks),
        2 => node().prop_map(Target::Node),
        1 => Just(Target::Queries),
        2 => (0..POOL).prop_map(Target::Query),
    ]
}

/// What a read waits for, with a command that is about the same, or any other.
pub fn disturbance() -> impl Strategy<Value = (Target, Command)> {
    target().prop_flat_map(|target| (Just(target), prop_oneof![about(target), command().boxed()]))
}

/// A command that mostly changes what is read.
fn about(target: Target) -> BoxedStrategy<Command> {
    let put = |key: BoxedStrategy<usize>| {
        (key, how(), content()).prop_map(|(key, how, value)| Command::Put { key, how, flags: None, value }).boxed()
    };
    match target {
        Target::Key(key) => put(Just(key).boxed()),
        Target::Entries(_) | Target::Keys(_) => put(key().boxed()),
        Target::Session(place) => Just(Command::Session("destroy", Who::Pool(place))).boxed(),
        Target::Sessions(_) => {
            (0..POOL, good_command()).prop_map(|(place, requested)| Command::Create { place, requested }).boxed()
        }
        Target::Checks(node) => prop::sample::select(&["passing", "warning", "critical"][..])
            .prop_map(move |status| Command::Register {
                node,
                service: false,
                check: Some(("c1", Some(status), false)),
            })
            .boxed(),
        Target::Node(node) => prop::sample::select(&[false, true][..])
            .prop_map(move |service| Command::Register { node, service, check: None })
            .boxed(),
        Target::Queries | Target::Query(_) => {
            let place = if let Target::Query(place) = target { place } else { 0 };
            (who()).prop_map(move |who| Command::Requery { place, name: "", session: Some(who) }).boxed()
        }
    }
}
