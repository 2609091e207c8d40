//! The time inside: verification, the lease, and the ways out.

use super::super::connection::Pending;
use super::search::{check_request, first_check, is_passed};
use super::{Check, Phase, Taker, Tenure, settings};
use crate::RabbitMq;
use crate::RabbitmqMutation;
use crate::messages::{Answer, Command, Name, RabbitmqEvent, Request};
use crate::settings::{LostConnection, Release};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::{Deadline, LeaseEnd};

impl Taker {
    pub(super) fn enter(
        &mut self,
        slot: u8,
        until: Option<LeaseEnd>,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        if until.is_some_and(|until| !until.covers(context.now))
            && !context.is_mutated(RabbitmqMutation::TakerEntersAfterLease)
        {
            self.connection.hang_up(out);
            return self.wait(context);
        }
        let next = settings(context).verify_every.map(|every| Deadline(context.now + every));
        let writes = context.scenario.writes;
        self.phase = Phase::Inside(Tenure { slot, writes, check: None, is_asked: false, next, until });
        out.record(Fact::Entered { client: context.client(), token: Default::default() });
    }

    pub(super) fn command(
        &mut self,
        tenure: Tenure,
        command: Command,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        match command {
            Command::Verify => self.verify(tenure, true, context, out),
            Command::Write => {
                self.phase = Phase::Inside(Tenure { writes: tenure.writes - 1, ..tenure });
                out.write(Default::default(), None);
            }
            Command::Release => {
                out.record(Fact::Left { client: context.client(), why: Leaving::Done });
                let request = match settings(context).release {
                    Release::Delete | Release::Never => {
                        Request::Delete { name: Name::Holder(tenure.slot), if_empty: false }
                    }
                    Release::CloseChannel => Request::CloseChannel,
                    Release::CloseConnection => Request::Close,
                };
                if context.is_mutated(RabbitmqMutation::ReleaseForgotten) {
                    self.phase = Phase::Idle;
                    return;
                }
                self.leave(request, context, out);
            }
            Command::Acquire | Command::Administer => {}
        }
    }

    /// Releases the slot by such a request.
    pub(super) fn leave(&mut self, by: Request, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        self.phase = Phase::Leaving(self.connection.ask(by, by, context, out));
    }

    pub(super) fn verify(
        &mut self,
        tenure: Tenure,
        is_asked: bool,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let check = first_check(settings(context).verify);
        self.check(Tenure { is_asked, ..tenure }, check, context, out);
    }

    pub(super) fn check(
        &mut self,
        tenure: Tenure,
        check: Check,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let pending = self.connection.ask(check, check_request(check, tenure.slot, context), context, out);
        self.phase = Phase::Inside(Tenure { check: Some(pending), ..tenure });
    }

    pub(super) fn checked(
        &mut self,
        tenure: Tenure,
        pending: Pending<Check>,
        answer: Answer,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        let tenure = Tenure { until: pending.until().or(tenure.until), ..tenure };
        let every = settings(context).verify_every;
        let passed = |tenure: Tenure| Tenure {
            check: None,
            is_asked: false,
            next: every.map(|every| Deadline(context.now + every)),
            ..tenure
        };
        match (pending.what, is_passed(pending.what, answer, context)) {
            (Check::Recover, _) => self.phase = Phase::Inside(passed(tenure)),
            (Check::Slot, true) => {
                self.note_verification(tenure, true, context, out);
                self.phase = Phase::Inside(passed(tenure));
            }
            (_, true) if !context.is_mutated(RabbitmqMutation::SlotNotVerified) => {
                self.check(tenure, Check::Slot, context, out);
            }
            (_, true) => {
                self.note_verification(tenure, true, context, out);
                self.phase = Phase::Inside(passed(tenure));
            }
            (what, false) => {
                self.note_verification(tenure, false, context, out);
                out.record(Fact::Left { client: context.client(), why: Leaving::Notified });
                // R-Q-89: a removed slot is released; a lost slot is not.
                let request = Request::Delete { name: Name::Holder(tenure.slot), if_empty: false };
                match what {
                    Check::Slot => self.leave(request, context, out),
                    _ => self.phase = Phase::Idle,
                }
            }
        }
    }

    fn note_verification(
        &mut self,
        tenure: Tenure,
        is_held: bool,
        context: &Context<'_, RabbitMq>,
        out: &mut Outbox<RabbitMq>,
    ) {
        if tenure.is_asked {
            out.record(Fact::Service(RabbitmqEvent::Verified(context.client(), is_held)));
        }
    }

    /// The connection was lost, and the holder's queue with it.
    pub(super) fn lost_inside(&mut self, tenure: Tenure, context: &Context<'_, RabbitMq>, out: &mut Outbox<RabbitMq>) {
        match settings(context).lost_connection {
            LostConnection::Lost if !context.is_mutated(RabbitmqMutation::LossIgnored) => {
                self.note_verification(tenure, false, context, out);
                out.record(Fact::Left { client: context.client(), why: Leaving::Notified });
                self.phase = Phase::Idle;
            }
            LostConnection::Recovered => self.check(tenure, Check::Recover, context, out),
            LostConnection::Lost | LostConnection::Replaced => match tenure.check {
                Some(pending) => self.check(tenure, pending.what, context, out),
                None => self.phase = Phase::Inside(tenure),
            },
        }
    }
}
