//! What a user writes: `src/outside/src/our_lock.rs` with its bug and without, and the page that shows it.

#[path = "../../outside/src/our_lock.rs"]
mod outside;

use fencepost::checker::Options;
use fencepost::consul::{self, Consul, Terms};
use fencepost::{Check, Property, Ticks};
use outside::OurLock;

use super::verdicts;

fn our_lock(counts_from_answer: bool) -> Check<Consul> {
    let (behavior, checks) = Default::default();
    let terms = Terms { ttl: Some(Ticks::new(1)), lock_delay: Ticks::ZERO, behavior, checks };
    let recipe = OurLock { terms, retry_every: Ticks::new(1), counts_from_answer };
    consul::lock("our-lock").message_delay(2).wake_delay(0).programs(recipe)
}

#[test]
fn the_bug_is_found_and_the_mended_lock_is_proven() {
    let wrong = our_lock(true).promise(Property::LeaseExclusion).scenario();
    let scenario = consul::SERVICE.any(&wrong);
    let outcomes = scenario.check(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let found = outcomes.iter().find(|outcome| outcome.finding.property == Property::LeaseExclusion).expect("promised");
    let story = found.finding.verdict.story().unwrap_or_else(|| panic!("{:?}", found.finding.verdict));
    let last = story.steps.last().expect("it has steps");
    assert_eq!(last.violations[0].message, "client 1 and client 2 are both inside, each within its lease");
    assert_eq!(story.steps.len(), 13, "the shortest");
    let mended = our_lock(false).promise(Property::LeaseExclusion).scenario();
    let all = verdicts(consul::SERVICE.any(&mended), &Options::default());
    assert!(all.iter().all(|(_, word, ..)| *word == "proven"), "{all:?}");
}

/// Each listing of the page is compiled: it stands in the crate outside or in a test, word for word.
#[test]
fn the_listings_of_the_page_are_those_of_the_crate() {
    let page = include_str!("../../../reports/docs/programs.md");
    let sources = [
        include_str!("../../outside/src/our_lock.rs"),
        include_str!("../../outside/tests/our_lock.rs"),
        include_str!("../../outside/tests/live.rs"),
        include_str!("../../outside/tests/permits.rs"),
        include_str!("../../cli/examples/own_recipe.rs"),
        include_str!("third_parties.rs"),
        include_str!("shared.rs"),
        include_str!("versions.rs"),
        include_str!("../../../model/services/observed-lease/src/programs/kube_leader_election.rs"),
        include_str!("work_queue.rs"),
    ];
    let listings: Vec<&str> = page.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(listings.len() >= 6, "{}", listings.len());
    for listing in listings {
        assert!(sources.iter().any(|source| source.contains(listing)), "not in the crate:\n{listing}");
    }
}
