//! What each step means at an etcd server.

use std::thread::sleep;
use std::time::{Duration, Instant};

use fencepost_etcd::{Etcd, Settings, Timer};
use fencepost_model::ids::SessionId;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use serde_json::json;

use super::answers::{is_same, number};
use super::calls::Calls;
use super::causes::Cause;
use super::requests::question;
use super::revisions::Revisions;
use super::server::DrivenEtcd;
use super::stage::Stage;
use crate::drive::{Driver, Ended, Moments, drive, milliseconds, refused};
use crate::error::ServerError;
use crate::outcome::ReenactmentOutcome;
use crate::plan::{AtServer, Expected, PlannedStep, ReenactmentPlan};

/// How long to wait for an answer that the model has given, after the time by which it should be there.
const PATIENCE: Duration = Duration::from_secs(2);

/// How much earlier than planned an answer may come: what begins it takes no time in the model.
const EARLY: Duration = Duration::from_millis(30);

/// Drives the server through the steps.
///
/// # Errors
/// The server cannot be talked to.
pub(super) fn perform(
    plan: &ReenactmentPlan<Etcd>,
    scenario: &Scenario<Etcd>,
    stage: &Stage<'_>,
) -> Result<Ended, ServerError> {
    let moments = Moments { begin: Instant::now() + Duration::from_millis(20), schedule: &plan.schedule };
    let (revisions, calls) = (Revisions::default(), Calls::default());
    let settings = &scenario.service;
    let mut driver = EtcdDriver { moments, stage, settings, revisions, calls, stopped: None };
    let ended = drive(plan, moments, &mut driver);
    let gone_on = driver.let_go_on();
    ended.and_then(|ended| gone_on.map(|()| ended))
}

struct EtcdDriver<'a> {
    moments: Moments<'a>,
    stage: &'a Stage<'a>,
    settings: &'a Settings,
    revisions: Revisions,
    calls: Calls,
    /// Its process is stopped; whether it will be restarted.
    stopped: Option<Stopped>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Stopped {
    Paused,
    Down,
}

impl Driver<Etcd> for EtcdDriver<'_> {
    fn carry_out(&mut self, step: &PlannedStep<Etcd>) -> Result<Option<Ended>, ServerError> {
        let cause = match step.event {
            AtServer::Fires(Timer::Revoke(lease)) => return self.await_end(step, lease),
            AtServer::Caused(cause) => cause,
            AtServer::Fires(_) | AtServer::Itself | AtServer::Restart | AtServer::Nothing => return Ok(None),
        };
        match cause {
            Cause::Request(client, call, request) => {
                let tick = self.moments.schedule.tick;
                let question = question(&request, self.stage, &self.revisions, tick).map_err(ServerError)?;
                let down = self.stopped == Some(Stopped::Down);
                self.calls.ask(&self.stage.server.base, (client, call), request, question, down);
            }
            Cause::Operator(action) => self.stage.operate(action)?,
            Cause::Disconnect(client) => self.calls.break_off(client),
            Cause::Stop { is_restart } => {
                let commands = &self.stage.server.commands;
                DrivenEtcd::run(commands.pause.as_ref().map_or("false", |(pause, _)| pause))?;
                self.stopped = Some(if is_restart { Stopped::Down } else { Stopped::Paused });
            }
            Cause::Return => self.let_go_on()?,
        }
        Ok(None)
    }

    fn compare(&mut self, step: &PlannedStep<Etcd>, expected: &Expected<Etcd>) -> Option<Ended> {
        let Expected { client, call, answer: model } = *expected;
        let Some(pending) = self.calls.take(client, call) else {
            let why = format!("step {}: the model answers a request that was never sent", step.number);
            return Some(Ended::With(ReenactmentOutcome::Undecided { why }));
        };
        let (start, due) = (self.moments.of(step.start), self.moments.of(step.end));
        let tolerance = self.moments.tolerance(step);
        let Some((heard, at)) = pending.heard(due + tolerance + PATIENCE) else {
            let answer = format!("{}: no answer", pending.path());
            return Some(Ended::With(refused(step, answer, model.to_string())));
        };
        // E-LS-5: the scan may find a lease at once, where the scenario gives it some time.
        let may_be_early = self.settings.scan_delay > Ticks::ZERO;
        if at + EARLY < start && !may_be_early {
            let early = start.saturating_duration_since(at).as_millis();
            let answer = format!("{}, {early} ms earlier", pending.said(&heard));
            return Some(Ended::With(refused(step, answer, format!("{model}, and no sooner"))));
        }
        if at > due + tolerance {
            let late = at.saturating_duration_since(due).as_millis();
            return Some(Ended::Late(format!("the answer of step {} came {late} ms later", step.number)));
        }
        match is_same(&pending.request, &heard, model, self.stage, &mut self.revisions) {
            true => None,
            false => Some(Ended::With(refused(step, pending.said(&heard), model.to_string()))),
        }
    }
}

impl EtcdDriver<'_> {
    /// E-LS-5: the lease is gone by now.
    fn await_end(&self, step: &PlannedStep<Etcd>, lease: SessionId) -> Result<Option<Ended>, ServerError> {
        let due = self.moments.of(step.start);
        let latest = due + self.moments.timer_lateness();
        let path = "/v3/lease/timetolive";
        loop {
            let found = self.stage.server.json(path, &json!({"ID": self.stage.lease(lease)}))?;
            let now = Instant::now();
            // E-LS-6: a lease that is gone has no granted TTL.
            let is_gone = number(&found["grantedTTL"]).is_none();
            if is_gone && now <= latest {
                return Ok(None);
            }
            let gone = "the lease is gone".to_owned();
            if is_gone {
                let late = now.saturating_duration_since(due).as_millis();
                let answer = format!("{path}: not before {late} ms later: {found}");
                return Ok(Some(Ended::LateServer(refused(step, answer, gone))));
            }
            if now > latest + PATIENCE {
                return Ok(Some(Ended::With(refused(step, format!("{path}: {found}"), gone))));
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// The server goes on, or is restarted on its data; if it is stopped.
    fn let_go_on(&mut self) -> Result<(), ServerError> {
        let commands = &self.stage.server.commands;
        match self.stopped.take() {
            None => Ok(()),
            Some(Stopped::Paused) => DrivenEtcd::run(commands.pause.as_ref().map_or("false", |(_, resume)| resume)),
            Some(Stopped::Down) => {
                DrivenEtcd::run(commands.restart.as_deref().unwrap_or("false"))?;
                let end = Instant::now() + milliseconds(super::driven::RESTART);
                while let Err(error) = self.stage.server.leases() {
                    if Instant::now() > end {
                        return Err(error);
                    }
                    sleep(Duration::from_millis(20));
                }
                self.calls.repeat(&self.stage.server.base);
                Ok(())
            }
        }
    }
}
