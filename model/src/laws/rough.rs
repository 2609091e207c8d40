//! Variants of a scenario with more faults and more promises. Laws hold in them, too.

use crate::properties::{Bound, Property};
use crate::scenario::{Expect, Promise, Replies, Scenario};
use crate::service::Service;
use crate::time::Ticks;

/// The length of every bound that a variant adds.
const BOUND: Ticks = Ticks::new(2);

/// The scenario with three clients, each kind of fault, a bound on the message delay, and every property promised, as
/// far as the scenario allows them; on request, responses take no time.
pub fn rough<P: Service>(scenario: &Scenario<P>, replies: Replies) -> Scenario<P> {
    let mut rough = scenario.clone();
    let mut keep = |change: &dyn Fn(&mut Scenario<P>)| keep(&mut rough, change);
    keep(&|next| next.clients = next.clients.max(3));
    keep(&|next| next.synchrony.message_delay = next.synchrony.message_delay.or(Some(Ticks::new(1))));
    keep(&|next| next.budget.losses = next.budget.losses.max(1));
    keep(&|next| next.budget.duplicates = next.budget.duplicates.max(1));
    keep(&|next| next.budget.crashes = next.budget.crashes.max(1));
    keep(&|next| next.budget.restarts = next.budget.restarts.max(1));
    keep(&|next| next.budget.pauses = next.budget.pauses.max(1));
    keep(&|next| next.budget.cuts = next.budget.cuts.max(1));
    keep(&|next| {
        (next.budget.slips, next.clocks.skew) = (next.budget.slips.max(2), next.clocks.skew.max(Ticks::new(1)));
    });
    keep(&|next| next.budget.resource_restarts = next.budget.resource_restarts.max(1));
    keep(&|next| next.network.replies = replies);
    for property in Property::ALL.iter().copied() {
        let bound = Some(BOUND).filter(|_| property.bound() != Bound::Never);
        keep(&|next| next.promises.push(Promise { property, bound, expect: Expect::Proven }));
    }
    rough
}

/// The scenario with a loss, a pause, a cut and a message that arrives twice, and with bounds on the delays of messages and of wake-ups, as far as it
/// allows them; its promises are its own.
pub fn struck<P: Service>(scenario: &Scenario<P>) -> Scenario<P> {
    let mut struck = scenario.clone();
    let mut keep = |change: &dyn Fn(&mut Scenario<P>)| keep(&mut struck, change);
    keep(&|next| next.synchrony.message_delay = next.synchrony.message_delay.or(Some(Ticks::new(1))));
    keep(&|next| next.synchrony.wake_delay = next.synchrony.wake_delay.or(Some(Ticks::ZERO)));
    keep(&|next| next.budget.losses = next.budget.losses.max(1));
    keep(&|next| next.budget.pauses = next.budget.pauses.max(1));
    keep(&|next| next.budget.cuts = next.budget.cuts.max(1));
    keep(&|next| next.budget.duplicates = next.budget.duplicates.max(1));
    keep(&|next| next.network.replies = Replies::Travel);
    struck
}

/// Changes a scenario, if it is possible afterwards.
fn keep<P: Service>(scenario: &mut Scenario<P>, change: &dyn Fn(&mut Scenario<P>)) {
    let mut next = scenario.clone();
    change(&mut next);
    if next.validate().is_ok() {
        *scenario = next;
    }
}
