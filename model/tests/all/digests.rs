//! The encoding that a digest hashes.

use std::collections::BTreeSet;

use fencepost::catalogue;
use fencepost::consul::Consul;
use fencepost_model::fact::{Ending, Leaving, Refusal};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::trace::Digest;
use fencepost_model::world::Step;

#[test]
fn codes_of_fields_are_pinned() {
    assert_eq!([Ending::Released, Ending::Invalidated, Ending::Deleted].map(|it| it as u8), [0, 1, 2]);
    let refusals = [Refusal::Held, Refusal::LockDelay, Refusal::NoSession, Refusal::NotHeld];
    assert_eq!(refusals.map(|it| it as u8), [0, 1, 2, 3]);
    let leavings = [Leaving::Done, Leaving::Lapsed, Leaving::Notified, Leaving::Crashed];
    assert_eq!(leavings.map(|it| it as u8), [0, 1, 2, 3]);
}

/// Labels are unique among the enabled actions; digests must be, too.
#[test]
fn enabled_actions_have_different_digests() {
    let found = catalogue::named("b01-no-fencing").expect("it is in the catalogue");
    let scenario = found.of::<Consul>().expect("it is a scenario of Consul");
    let mut world = scenario.start();
    let mut enabled = Vec::new();
    for step in 0..600 {
        scenario.enabled(&world, &mut enabled);
        let mut digests = BTreeSet::new();
        for action in &enabled {
            let nothing = Step {
                facts: InlineVec::new(),
                sent: InlineVec::new(),
                dropped: InlineVec::new(),
                touched: InlineVec::new(),
            };
            let mut digest = Digest::default();
            digest.add(world.now, action, &nothing);
            assert!(digests.insert(digest.hex()), "{action}");
        }
        let Some(action) = enabled.get(step * 7 % enabled.len().max(1)).copied() else { break };
        scenario.step(&mut world, &action);
    }
}
