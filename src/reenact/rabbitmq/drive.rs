//! What each step means at a RabbitMQ broker.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fencepost_model::ids::{Call, ClientId, RawId, SessionId};
use fencepost_model::scenario::Scenario;
use fencepost_rabbitmq::{Answer, Ask, Name, RabbitMq, Request, Timer};

use super::broker::Running;
use super::causes::Cause;
use super::connections::Connections;
use super::driven::refined;
use super::silence::openings;
use super::stage::{Stage, said};
use crate::drive::{Driver, Ended, Moments, drive, milliseconds, refused};
use crate::error::ServerError;
use crate::plan::{AtServer, BEGIN, Expected, PlannedStep, ReenactmentPlan};

/// How long to wait for what should have happened at the broker by now.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long to wait for a frame before looking again.
const GLANCE: Duration = Duration::from_millis(5);

/// Drives the broker through the steps.
///
/// # Errors
/// The broker cannot be talked to.
pub(super) fn perform(
    plan: &ReenactmentPlan<RabbitMq>,
    scenario: &Scenario<RabbitMq>,
    stage: Stage<'_>,
) -> Result<Ended, ServerError> {
    let openings = openings(plan, scenario);
    let lead = openings.values().map(|opening| -opening.at).max().unwrap_or(0).max(0);
    let begin = Instant::now() + milliseconds(lead + 20);
    let moments = Moments { begin, schedule: &plan.schedule };
    let moment = |at: i64| begin + milliseconds(at) - milliseconds(-at);
    let planned = openings.iter().map(|(id, opening)| (*id, (moment(opening.at), opening.quiet_from.map(moment))));
    let seconds = scenario.service.heartbeat.map_or(0, |beat| beat.count() * plan.schedule.tick / 1_000);
    let heartbeat = u16::try_from(seconds).map_err(|_| ServerError(format!("a heartbeat of {seconds} s")))?;
    let connections = Connections::new(stage.broker, &stage.prefix, heartbeat, planned.collect());
    let mut driver = BrokerDriver { moments, stage, connections, heard: BTreeMap::new() };
    let ended = driver.begin().and_then(|()| drive(plan, moments, &mut driver));
    let BrokerDriver { stage, connections, .. } = driver;
    drop(connections);
    stage.strike()?;
    ended
}

pub(super) struct BrokerDriver<'a> {
    moments: Moments<'a>,
    pub(super) stage: Stage<'a>,
    pub(super) connections: Connections<'a>,
    /// Answers that the model has not given yet.
    heard: BTreeMap<(ClientId, Call), (Request, Option<Answer>)>,
}

impl Driver<RabbitMq> for BrokerDriver<'_> {
    fn wait(&mut self, until: Instant) -> Result<(), ServerError> {
        loop {
            let next = self.connections.keep_alive()?.map_or(until, |next| next.min(until));
            let now = Instant::now();
            if now >= until {
                return Ok(());
            }
            sleep(next.saturating_duration_since(now));
        }
    }

    fn carry_out(&mut self, step: &PlannedStep<RabbitMq>) -> Result<Option<Ended>, ServerError> {
        match step.event {
            AtServer::Caused(Cause::Ask(client, ask)) => return self.ask(step, client, ask),
            AtServer::Caused(Cause::Close(id)) => self.connections.close(id),
            AtServer::Caused(Cause::Silence(client)) => self.connections.set_silent(client, true)?,
            AtServer::Caused(Cause::Speech(client)) => self.connections.set_silent(client, false)?,
            AtServer::Caused(Cause::Operator(action)) => self.operate(action)?,
            AtServer::Fires(Timer::Miss(id)) => return self.await_drop(step, id),
            AtServer::Fires(Timer::Expire(name)) => return self.await_expiry(step, name),
            AtServer::Restart => return self.restart(step),
            AtServer::Fires(_) | AtServer::Itself | AtServer::Nothing => {}
        }
        Ok(None)
    }

    fn compare(&mut self, step: &PlannedStep<RabbitMq>, expected: &Expected<RabbitMq>) -> Option<Ended> {
        let Expected { client, call, answer: model } = *expected;
        match self.heard.remove(&(client, call)) {
            Some((_, Some(answer))) if answer == model => None,
            Some((request, answer)) => {
                let answer = format!("{request}: {}", said(answer));
                Some(Ended::With(refused(step, answer, model.to_string())))
            }
            None => Some(Ended::With(refused(step, "no answer".to_owned(), model.to_string()))),
        }
    }
}

impl BrokerDriver<'_> {
    /// The queues of the start are declared when the execution begins: they may expire (R-Q-25).
    fn begin(&mut self) -> Result<(), ServerError> {
        self.wait(self.moments.of(BEGIN))?;
        self.stage.declare()
    }

    fn ask(&mut self, step: &PlannedStep<RabbitMq>, client: ClientId, ask: Ask) -> Result<Option<Ended>, ServerError> {
        let Ask { connection, channel, close_ok, call, request } = ask;
        let tick = self.stage.tick;
        let answer = match self.connections.end(connection)? {
            Some(end) => match end.ask(channel.into(), close_ok, &refined(request, tick)) {
                Ok(answer) => answer,
                Err(error) => {
                    let model = step.answers.first().map(|expected| expected.answer);
                    return Ok(Some(Ended::With(refused(step, format!("{request}: {error}"), said(model)))));
                }
            },
            None => Some(Answer::Reset),
        };
        let is_over = match answer {
            Some(Answer::Closed | Answer::Reset) => true,
            Some(Answer::Error(problem)) => problem.is_fatal(),
            _ => false,
        };
        if is_over {
            self.connections.close(connection);
        }
        // The response to a close may come later: when every queue is gone (R-Q-37).
        if step.answers.is_empty() && request != Request::Close && answer.is_some() {
            return Ok(Some(Ended::With(refused(step, format!("{request}: {}", said(answer)), said(None)))));
        }
        self.heard.insert((client, call), (request, answer));
        Ok(None)
    }

    /// R-Q-45: heartbeats are missed, and the socket is reset at its time.
    fn await_drop(&mut self, step: &PlannedStep<RabbitMq>, id: SessionId) -> Result<Option<Ended>, ServerError> {
        let (due, gone) = (self.moments.of(step.start), "the connection is dropped".to_owned());
        let latest = due + self.moments.timer_lateness();
        loop {
            let is_over = match self.connections.end(id)? {
                Some(end) => end.is_over(GLANCE)?,
                None => true,
            };
            let now = Instant::now();
            let late = now.saturating_duration_since(due).as_millis();
            if is_over {
                self.connections.close(id);
                let answer = format!("not before {late} ms later");
                return Ok((now > latest).then(|| Ended::LateServer(refused(step, answer, gone))));
            }
            if now > latest + PATIENCE {
                let answer = format!("it is still open {late} ms later");
                return Ok(Some(Ended::With(refused(step, answer, gone))));
            }
            self.connections.keep_alive()?;
        }
    }

    /// R-Q-25: a queue expires. To publish to it does not keep it.
    fn await_expiry(&mut self, step: &PlannedStep<RabbitMq>, name: Name) -> Result<Option<Ended>, ServerError> {
        let (due, gone) = (self.moments.of(step.start), "the queue is gone".to_owned());
        let latest = due + self.moments.timer_lateness();
        loop {
            let answer = self.stage.ask(Request::Publish { name, mandatory: true })?;
            let now = Instant::now();
            if let Some(Answer::Returned { .. }) = answer {
                let late = now.saturating_duration_since(due).as_millis();
                let answer = format!("not before {late} ms later");
                return Ok((now > latest).then(|| Ended::LateServer(refused(step, answer, gone))));
            }
            if now > latest + PATIENCE {
                return Ok(Some(Ended::With(refused(step, format!("publish to {name}: {}", said(answer)), gone))));
            }
            sleep(GLANCE);
            self.connections.keep_alive()?;
        }
    }

    /// R-Q-58: every connection is closed by force. The broker is there again at the end of the step.
    fn restart(&mut self, step: &PlannedStep<RabbitMq>) -> Result<Option<Ended>, ServerError> {
        let restart = self.stage.broker.begin_restart()?;
        self.run(restart)?;
        for id in self.connections.open_ones() {
            self.await_close(id)?;
        }
        let end = self.moments.of(step.end);
        while let Err(error) = self.stage.reconnect() {
            if Instant::now() > end + PATIENCE {
                return Err(error);
            }
            sleep(GLANCE);
        }
        Ok(self.moments.lateness(step, end, Instant::now()))
    }

    /// Waits for a command of the user. Heartbeats go on.
    pub(super) fn run(&mut self, mut command: Running) -> Result<(), ServerError> {
        while !command.has_ended()? {
            self.connections.keep_alive()?;
            sleep(GLANCE);
        }
        Ok(())
    }

    /// A connection is closed by the broker.
    pub(super) fn await_close(&mut self, id: SessionId) -> Result<(), ServerError> {
        let end = Instant::now() + PATIENCE;
        while let Some(line) = self.connections.end(id)? {
            if line.is_over(GLANCE)? {
                self.connections.close(id);
                return Ok(());
            }
            if Instant::now() > end {
                return Err(ServerError(format!(
                    "connection {}.{} is still open",
                    id.raw().creator.0,
                    id.raw().number
                )));
            }
        }
        Ok(())
    }
}
