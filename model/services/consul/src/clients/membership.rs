//! A client's view of its session: the id, the lease that it grants, and the renewals.

use serde::{Deserialize, Serialize};

use super::ask;
use crate::ConsulMutation;
use crate::{Answer, Consul, RenewalErrors, Request, Settings, Timer};
use fencepost_model::ids::{Call, SessionId};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Deadline, Instant, LeaseEnd};

/// A session that the client knows. It may have ended without the client's knowledge.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
pub(super) struct Membership {
    pub(super) id: SessionId,
    /// TTL after the last acknowledged renewal was sent; kept only if a setting or a property needs it.
    pub(super) until: Option<LeaseEnd>,
    renewal: Renewal,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Renewal {
    /// It does not renew.
    Off,
    /// The next renewal is sent at this instant.
    Due(Deadline),
    /// A renewal is in flight; the next one is due at this instant.
    Sent { call: Call, until_if_renewed: Option<LeaseEnd>, next: Deadline },
}

/// What a response says about the session.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum SessionNews {
    /// The session is alive.
    Alive,
    /// The session has ended.
    Gone,
    /// Unknown: the servers could not answer.
    Unclear,
}

/// The end of the lease that a request sent now would grant.
pub(super) fn lease_from(context: &Context<'_, Consul>) -> Option<LeaseEnd> {
    let settings = &context.scenario.service;
    settings.ttl.filter(|_| settings.remembers_lease()).map(|ttl| LeaseEnd(context.now + ttl))
}

impl Membership {
    /// A new session; the first renewal is due one period from now.
    pub(super) fn new(id: SessionId, until: Option<LeaseEnd>, context: &Context<'_, Consul>) -> Self {
        let renewal = match context.scenario.service.renew_every {
            Some(period) => Renewal::Due(Deadline(context.now + period)),
            None => Renewal::Off,
        };
        Membership { id, until: granted(until, context), renewal }
    }

    /// The session that exists from the start. It has neither TTL nor renewals.
    pub(super) fn shared(id: SessionId) -> Self {
        Membership { id, until: None, renewal: Renewal::Off }
    }

    /// Sends a renewal; an earlier renewal without a response is given up.
    pub(super) fn renew(
        &mut self,
        last: &mut Call,
        retries: &mut u8,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let Settings { renew_every: Some(period), .. } = context.scenario.service else { return };
        if matches!(self.renewal, Renewal::Sent { .. }) {
            *retries -= 1;
        }
        let call = ask(last, Request::RenewSession(self.id), out);
        self.renewal =
            Renewal::Sent { call, until_if_renewed: lease_from(context), next: Deadline(context.now + period) };
    }

    /// Takes the response to a renewal; `None` if it does not belong to the renewal in flight.
    pub(super) fn hear(&mut self, to: Call, answer: Answer, context: &Context<'_, Consul>) -> Option<SessionNews> {
        let Renewal::Sent { call, until_if_renewed, next } = self.renewal else { return None };
        if to != call {
            return None;
        }
        self.renewal = Renewal::Due(next);
        match answer {
            Answer::Renewed => {
                self.until = granted(until_if_renewed, context);
                if context.is_mutated(ConsulMutation::RenewsOnce) {
                    self.renewal = Renewal::Off;
                }
                Some(SessionNews::Alive)
            }
            Answer::UnknownSession if context.is_mutated(ConsulMutation::GoneTakenForError) => {
                Some(SessionNews::Unclear)
            }
            error if error.is_outage() => {
                if context.is_mutated(ConsulMutation::ErrorExtendsLease) {
                    self.until = granted(until_if_renewed, context);
                }
                if self.gives_up(context) {
                    self.renewal = Renewal::Off;
                }
                Some(SessionNews::Unclear)
            }
            // C-API-2: the renewer has stopped.
            _ => {
                self.renewal = Renewal::Off;
                Some(SessionNews::Gone)
            }
        }
    }

    /// Whether an error ends the renewals.
    fn gives_up(&self, context: &Context<'_, Consul>) -> bool {
        match context.scenario.service.renewal_errors {
            RenewalErrors::GoOn => false,
            RenewalErrors::GiveUp => true,
            RenewalErrors::RetryForTtl => self.until.is_none_or(|until| !until.covers(context.now)),
        }
    }

    pub(super) fn wakes(&self, retries: u8, due: &mut dyn FnMut(Timer, Instant)) {
        match self.renewal {
            Renewal::Due(at) => due(Timer::Renew, at.0),
            Renewal::Sent { next, .. } if retries > 0 => due(Timer::Renew, next.0),
            Renewal::Sent { .. } | Renewal::Off => {}
        }
    }

    /// Whether the client's own clock is past the lease.
    pub(super) fn is_over(&self, context: &Context<'_, Consul>) -> bool {
        context.scenario.service.counts_lease() && self.until.is_some_and(|until| !until.covers(context.now))
    }
}

/// The lease by the client's own count. C-TTL-3: the server counts from its processing of the request, which is later.
fn granted(until: Option<LeaseEnd>, context: &Context<'_, Consul>) -> Option<LeaseEnd> {
    if context.is_mutated(ConsulMutation::LeaseFromAnswer) { until.and(lease_from(context)) } else { until }
}

/// How late a self-limiting client notices the end, in addition to the scenario's bounds.
pub(super) fn overstay(scenario: &Scenario<Consul>) -> fencepost_model::time::Ticks {
    fencepost_model::time::Ticks::new(i64::from(scenario.is_mutated(ConsulMutation::LeaseOverstayed)))
}
