//! What each step means at a Consul agent.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fencepost_consul::{Answer, Consul, Key, Status, Timer};
use fencepost_live::{Reply, SessionIds, answer};
use fencepost_model::ids::{ClientId, Index, SessionId};
use serde_json::Value;

use super::calls::{Calls, Pending};
use super::causes::{Cause, looks};
use super::positions::Positions;
use super::stage::Stage;
use crate::drive::{Driver, Ended, Moments, drive, milliseconds, refused};
use crate::error::ServerError;
use crate::outcome::ReenactmentOutcome;
use crate::plan::{AtServer, Expected, PlannedStep, ReenactmentPlan};

/// How long to wait for an answer that the model has given, after the time by which it should be there.
const PATIENCE: Duration = Duration::from_secs(2);

/// Drives the agent through the steps.
///
/// # Errors
/// The agent cannot be talked to.
pub(super) fn perform(plan: &ReenactmentPlan<Consul>, stage: &Stage<'_>) -> Result<Ended, ServerError> {
    let moments = Moments { begin: Instant::now() + Duration::from_millis(20), schedule: &plan.schedule };
    let sessions = stage.sessions();
    let mut driver = AgentDriver { moments, stage, sessions, positions: Positions::default(), calls: Calls::default() };
    drive(plan, moments, &mut driver)
}

struct AgentDriver<'a> {
    moments: Moments<'a>,
    stage: &'a Stage<'a>,
    sessions: SessionIds,
    positions: Positions,
    calls: Calls,
}

impl Driver<Consul> for AgentDriver<'_> {
    fn carry_out(&mut self, step: &PlannedStep<Consul>) -> Result<Option<Ended>, ServerError> {
        let cause = match step.event {
            AtServer::Fires(Timer::Expire(session)) => return self.await_end(step, session),
            AtServer::Restart => return self.restart(step),
            AtServer::Caused(cause) => cause,
            AtServer::Fires(_) | AtServer::Itself | AtServer::Nothing => return Ok(None),
        };
        match cause {
            Cause::Request(client, call, request) => {
                let request = self.positions.translated(request).map_err(ServerError)?;
                let mut question = self.stage.question(&request, client, &self.sessions)?;
                if request.watch().is_some() {
                    let rest = self.moments.schedule.at.iter().max().copied().unwrap_or(0);
                    question.timeout = milliseconds(rest) + 5 * PATIENCE;
                }
                self.calls.ask(&self.stage.agent.base, (client, call), request, question);
            }
            Cause::Operator(action) => {
                if let Some((index, key)) = looks(action) {
                    self.look(index, key)?;
                }
                self.stage.operate(action, &self.sessions, &self.positions)?;
            }
            Cause::Critical(node, kind) => self.stage.set_check(node, kind, Status::Critical)?,
            Cause::Reap(node) => self.stage.reap(node)?,
            Cause::Sync(node) => self.stage.register(node)?,
        }
        Ok(None)
    }

    fn compare(&mut self, step: &PlannedStep<Consul>, expected: &Expected<Consul>) -> Option<Ended> {
        let Expected { client, call, answer: model } = *expected;
        let Some(mut pending) = self.calls.take(client, call) else {
            let why = format!("step {}: the model answers a request that was never sent", step.number);
            return Some(Ended::With(ReenactmentOutcome::Undecided { why }));
        };
        let start = self.moments.of(step.start);
        let is_watch = pending.request.watch().is_some();
        let mut early = None;
        if is_watch {
            early = pending.early_reply();
            if early.as_ref().is_some_and(|(_, at)| *at + milliseconds(20) < start) {
                // C-BLK-4: a query may be answered without a change. Its client asks again.
                pending = pending.repeated(&self.stage.agent.base);
                early = None;
            }
        }
        let tolerance = self.moments.tolerance(step);
        let due = self.moments.of(step.end);
        let Some((reply, at)) = early.or_else(|| pending.reply(due + tolerance + PATIENCE)) else {
            let answer = format!("{}: no answer", pending.line());
            return Some(Ended::With(refused(step, answer, model.to_string())));
        };
        if at > due + tolerance && !matches!(step.event, AtServer::Itself) {
            let late = at.saturating_duration_since(due).as_millis();
            return Some(Ended::Late(format!("the answer of step {} came {late} ms later", step.number)));
        }
        match self.hear(client, &pending, &reply, model) {
            Ok(true) => None,
            Ok(false) => Some(Ended::With(refused(step, said(&pending, &reply), model.to_string()))),
            Err(why) => Some(Ended::With(refused(step, why, model.to_string()))),
        }
    }
}

impl AgentDriver<'_> {
    /// An operator reads the log position of an entry.
    fn look(&mut self, index: Index, key: Key) -> Result<(), ServerError> {
        if self.positions.knows(index) {
            return Ok(());
        }
        let name = self.sessions.key(&self.stage.clients[0], key).map_err(|error| ServerError(error.to_string()))?;
        let found = self.stage.agent.json("GET", &format!("/v1/kv/{name}"), "")?;
        let there = found.pointer("/0/ModifyIndex").and_then(Value::as_u64).and_then(|index| u32::try_from(index).ok());
        self.positions.meet(index, Index::numbered(there.unwrap_or(0)));
        Ok(())
    }

    /// C-TTL-2: the session is gone by now.
    fn await_end(&self, step: &PlannedStep<Consul>, session: SessionId) -> Result<Option<Ended>, ServerError> {
        let due = self.moments.of(step.start);
        let latest = due + self.moments.timer_lateness();
        let path = format!("/v1/session/info/{}", self.sessions.text(session));
        loop {
            let found = self.stage.agent.json("GET", &path, "")?;
            let now = Instant::now();
            let is_gone = found.as_array().is_none_or(Vec::is_empty);
            if is_gone && now <= latest {
                return Ok(None);
            }
            let gone = "the session is gone".to_owned();
            if is_gone {
                let late = now.saturating_duration_since(due).as_millis();
                let answer = format!("GET {path}: not before {late} ms later: {found}");
                return Ok(Some(Ended::LateServer(refused(step, answer, gone))));
            }
            if now > latest + PATIENCE {
                return Ok(Some(Ended::With(refused(step, format!("GET {path}: {found}"), gone))));
            }
            sleep(Duration::from_millis(5));
        }
    }

    fn restart(&self, step: &PlannedStep<Consul>) -> Result<Option<Ended>, ServerError> {
        let command = self.stage.agent.restart.as_deref().unwrap_or_default();
        let failure = |why: String| ServerError(format!("`{command}`: {why}"));
        let output = Command::new("sh").args(["-c", command]).output().map_err(|error| failure(error.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(failure(format!("{}: {said}", output.status)));
        }
        let end = self.moments.of(step.end);
        let path = format!("/v1/kv/{}?keys&consistent", self.stage.keys());
        while let Err(error) = self.stage.agent.json("GET", &path, "") {
            if Instant::now() > end + PATIENCE {
                return Err(error);
            }
            sleep(Duration::from_millis(20));
        }
        Ok(self.moments.lateness(step, end, Instant::now()))
    }

    /// Whether a reply is the answer of the model.
    fn hear(&mut self, client: ClientId, pending: &Pending, reply: &Reply, model: Answer) -> Result<bool, String> {
        if let (Answer::Created(session), Reply::Answered { status: 200, body, .. }) = (model, reply) {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let Some(id) = body["ID"].as_str() else { return Ok(false) };
            self.sessions.name(id, session);
            return Ok(true);
        }
        let client = self.stage.client(client);
        let heard = answer(&pending.request, reply, client, &mut self.sessions).map_err(|error| error.to_string())?;
        Ok(match heard {
            // The client hears of an error, and does not know more.
            Some(Answer::Disconnected) | None => model.is_outage(),
            Some(agent) => self.positions.are_same(model, agent),
        })
    }
}

/// What the agent said, on one line.
fn said(pending: &Pending, reply: &Reply) -> String {
    let line = pending.line();
    match reply {
        Reply::Answered { status, body, .. } => {
            let body: String = String::from_utf8_lossy(body).trim().chars().take(300).collect();
            format!("{line}: {status} {body}")
        }
        Reply::Refused(why) | Reply::Closed(why) => why.clone(),
        Reply::Lost => format!("{line}: no answer"),
    }
}
