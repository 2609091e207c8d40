//! The loss of the lock: the lease lapses, the session ends, or the monitor reports the loss.

use super::super::membership::SessionNews;
use super::{Contender, Phase, What};
use crate::ConsulMutation;
use crate::messages::ConsulEvent;
use crate::settings::{BeliefRule, Job, Killed, OnLoss, SessionUse};
use crate::{Answer, Consul, LOCK, Request, Target};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::Call;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::Deadline;

impl Contender {
    pub(super) fn renew(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Contender { session: Some(session), last, retries, .. } = self else { return };
        session.renew(last, retries, context, out);
    }

    pub(super) fn hear_renewal(
        &mut self,
        to: Call,
        answer: Answer,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let Some(session) = &mut self.session else { return };
        match (session.hear(to, answer, context), self.phase) {
            (Some(SessionNews::Gone), Phase::Suspended { .. }) => {
                self.session = None;
                self.rest();
            }
            (Some(SessionNews::Gone), _) => {
                match context.scenario.service.belief {
                    // C-LCK-7: the renewer notifies no other part of the client.
                    BeliefRule::ByMonitor if self.is_acting() => return,
                    // It learns of the end from the answer to its next request.
                    _ if context.scenario.service.ends_session => return,
                    BeliefRule::None => {}
                    _ => self.leave(Leaving::Notified, context, out),
                }
                self.session = None;
            }
            // End of jeopardy: a live session still has its key.
            (Some(SessionNews::Alive), Phase::Suspended { token, writes }) if !session.is_over(context) => {
                self.phase = Phase::Inside { token, writes, pending: None };
                out.record(Fact::Entered { client: context.client(), token });
                out.record(Fact::Service(ConsulEvent::Resumed(context.client())));
            }
            _ => {}
        }
    }

    /// The lease is over by its own clock.
    pub(super) fn lapse(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match self.phase {
            Phase::Inside { token, writes, .. } if context.scenario.service.belief == BeliefRule::Suspending => {
                out.record(Fact::Left { client: context.client(), why: Leaving::Lapsed });
                self.phase = Phase::Suspended { token, writes };
            }
            _ => self.leave(Leaving::Lapsed, context, out),
        }
    }

    /// Stops acting without a release; the session is left to its TTL. A separate job has to be killed first.
    pub(super) fn leave(&mut self, why: Leaving, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if !self.is_acting() {
            return;
        }
        match context.scenario.service.job {
            Some(Job { killed: Killed::Group, grace }) if !context.is_mutated(ConsulMutation::KillWithoutGrace) => {
                self.monitor = None;
                self.phase = Phase::Killing { at: Deadline(context.now + grace) };
            }
            Some(Job { killed: Killed::Shell, .. }) => {
                self.has_orphan = true;
                self.send_release(false, context, out);
            }
            _ => {
                out.record(Fact::Left { client: context.client(), why });
                self.forget_session(context);
                self.rest();
            }
        }
    }

    fn forget_session(&mut self, context: &Context<'_, Consul>) {
        if context.scenario.service.session != SessionUse::Shared {
            self.session = None;
        }
    }

    /// C-CLI-2: the job is killed first, and only then the lock is released.
    pub(super) fn job_is_killed(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        out.record(Fact::Left { client: context.client(), why: Leaving::Notified });
        self.send_release(false, context, out);
    }

    pub(super) fn orphan_ends(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.has_orphan = false;
        out.record(Fact::Left { client: context.client(), why: Leaving::Done });
    }

    /// C-LCK-6: if the key still belongs to its session, the monitor continues; any other answer, including an error,
    /// means that the lock is lost.
    pub(super) fn hear_monitor(&mut self, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let is_careless = context.is_mutated(ConsulMutation::MonitorAcceptsFreeKey);
        match answer {
            Answer::Found(entry) if self.is_mine(&entry) || is_careless && entry.session.is_none() => {
                self.monitor = None;
                if !context.is_mutated(ConsulMutation::MonitorStopsAfterAnswer) {
                    self.watch(entry.modify, context, out);
                }
            }
            error
                if error.is_outage()
                    && self.monitor.as_mut().is_some_and(|watching| watching.rests_after_error(context)) => {}
            _ => self.lose_by_monitor(context, out),
        }
    }

    pub(super) fn watch_again(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.monitor = self.monitor.and_then(|old| old.again(Target::Key(LOCK), &mut self.last, context, out));
    }

    pub(super) fn lose_by_monitor(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        self.monitor = None;
        if let Phase::Suspended { .. } = self.phase {
            self.forget_session(context);
            return self.rest();
        }
        if !self.is_acting() || settings.belief == BeliefRule::None {
            return;
        }
        let on_loss = settings.monitor.map(|monitor| monitor.on_loss).unwrap_or_default();
        if on_loss == OnLoss::Forget || settings.job.is_some() {
            return self.leave(Leaving::Notified, context, out);
        }
        out.record(Fact::Left { client: context.client(), why: Leaving::Notified });
        match (on_loss, self.session) {
            (OnLoss::Destroy, Some(session)) => {
                self.session = None;
                self.call(What::Destroy, Request::DestroySession(session.id), context, out);
            }
            (OnLoss::Reassert, Some(_)) => self.acquire_for(What::Reassert, context, out),
            _ => self.phase = Phase::Idle,
        }
    }
}
