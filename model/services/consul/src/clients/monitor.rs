//! The blocking query by which a holder watches its key, or the prefix of its semaphore (C-LCK-6, C-SEM-6).

use serde::{Deserialize, Serialize};

use super::ask;
use crate::ConsulMutation;
use crate::{Consul, Reads, Request, Target, Timer, Watch};
use fencepost_model::ids::{Call, Index};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::{Deadline, Instant};

/// A query in flight, or the rest after a failed query.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Watching {
    call: Call,
    /// The deadline of the query; at rest, the instant of the next query.
    at: Option<Deadline>,
    is_resting: bool,
    /// Whether it is the last query, for a client that watches one change only.
    is_last: bool,
    /// How many more errors are tolerated.
    retries: u8,
}

impl Watching {
    /// Sends a query, if the scenario has monitors. A response resets the number of retries.
    pub(super) fn start(
        target: Target,
        index: Index,
        last: &mut Call,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Option<Watching> {
        let settings = context.scenario.service.monitor?;
        let watch = Watch { target, index, wait: settings.wait };
        let request = match settings.reads {
            Reads::Default => Request::Watch(watch),
            Reads::Consistent => Request::WatchConsistent(watch),
        };
        let call = ask(last, request, out);
        let at = settings.patience.map(|patience| Deadline(context.now + patience));
        let once = context.scenario.service.semaphore.as_ref().is_some_and(|semaphore| semaphore.watches_once);
        let is_last = once && index != Index::NONE;
        Some(Watching { call, at, is_resting: false, is_last, retries: settings.retries })
    }

    /// Sends a query after a rest: from index 0, so that the response comes at once, and with the remaining retries.
    pub(super) fn again(
        self,
        target: Target,
        last: &mut Call,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Option<Watching> {
        let watching = Watching::start(target, Index::NONE, last, context, out)?;
        Some(Watching { retries: self.retries, ..watching })
    }

    /// Whether an answer on this call is for it.
    pub(super) fn hears(&self, to: Call) -> bool {
        self.call == to && !self.is_resting
    }

    /// Whether no other query follows it.
    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    /// C-LCK-6: with retries left, an error does not mean a loss.
    pub(super) fn rests_after_error(&mut self, context: &Context<'_, Consul>) -> bool {
        let Some(settings) = context.scenario.service.monitor.filter(|_| self.retries > 0) else { return false };
        if context.is_mutated(ConsulMutation::MonitorErrorIsLoss) {
            return false;
        }
        if !context.is_mutated(ConsulMutation::MonitorErrorsUncounted) {
            self.retries -= 1;
        }
        (self.at, self.is_resting) = (Some(Deadline(context.now + settings.retry_every)), true);
        true
    }

    pub(super) fn wakes(&self, due: &mut dyn FnMut(Timer, Instant)) {
        if let Some(at) = self.at {
            due(if self.is_resting { Timer::Rewatch } else { Timer::Unwatch }, at.0);
        }
    }
}
