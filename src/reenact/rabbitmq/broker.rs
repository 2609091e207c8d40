//! Where the broker is, and the commands that the user gives for it.

use std::process::{Child, Command, Stdio};

use fencepost_amqp::{BrokerAddress, ConnectionEnd};
use fencepost_model::scenario::Scenario;
use fencepost_rabbitmq::RabbitMq;

use super::drive::perform;
use super::stage::Stage;
use crate::drive::Ended;
use crate::driven::Means;
use crate::error::ServerError;
use crate::plan::ReenactmentPlan;
use crate::run::RealServer;

/// A RabbitMQ broker that is driven.
#[derive(Debug)]
pub struct RabbitmqBroker {
    address: BrokerAddress,
    version: String,
    /// A shell command that restarts it on the same data, and returns when it is ready.
    pub restart: Option<String>,
    /// A shell command that is `rabbitmqctl` for it: what an operator does is appended.
    pub tool: Option<String>,
}

impl RabbitmqBroker {
    /// The broker at an address like `amqp://127.0.0.1:5672`, as guest unless it names another user.
    ///
    /// # Errors
    /// No broker answers there.
    pub fn connect(address: &str, restart: Option<String>, tool: Option<String>) -> Result<Self, ServerError> {
        let address = BrokerAddress::parse(address)?;
        let version = address.open("", 0)?.version;
        Ok(RabbitmqBroker { address, version, restart, tool })
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Opens a connection with a heartbeat value in seconds; 0: no heartbeats.
    pub(super) fn line(&self, prefix: &str, heartbeat: u16) -> Result<ConnectionEnd, ServerError> {
        Ok(self.address.open(prefix, heartbeat)?.end)
    }

    /// What every queue of one execution begins with. A broker has no position that no earlier program has seen, so this is random.
    pub(super) fn fresh_prefix(&self) -> Result<String, ServerError> {
        let number = getrandom::u64().map_err(|error| ServerError(format!("no random number: {error}")))?;
        Ok(format!("fencepost-reenact-{number:016x}"))
    }

    /// Begins to restart it.
    pub(super) fn begin_restart(&self) -> Result<Running, ServerError> {
        Running::begin(self.restart.as_deref().unwrap_or_default(), &[])
    }

    /// Begins to use the operator's tool.
    pub(super) fn begin_tool(&self, arguments: &[&str]) -> Result<Running, ServerError> {
        Running::begin(self.tool.as_deref().unwrap_or_default(), arguments)
    }
}

impl RealServer for RabbitmqBroker {
    type Service = RabbitMq;

    fn name(&self) -> String {
        format!("RabbitMQ {}", self.version)
    }

    fn means(&self) -> Means {
        Means { restart: self.restart.is_some(), tool: self.tool.is_some(), ..Means::default() }
    }

    fn perform(&self, scenario: &Scenario<RabbitMq>, plan: &ReenactmentPlan<RabbitMq>) -> Result<Ended, ServerError> {
        let stage = Stage::set(self, scenario, plan.schedule.tick)?;
        perform(plan, scenario, stage)
    }
}

/// A command of the user that runs.
pub(super) struct Running {
    command: String,
    child: Child,
}

impl Running {
    /// Begins a shell command with some arguments more. What it starts may keep its output open, so errors go to ours.
    fn begin(command: &str, arguments: &[&str]) -> Result<Running, ServerError> {
        let command = [&[command], arguments].concat().join(" ");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).stdin(Stdio::null()).stdout(Stdio::null());
        let child = shell.spawn().map_err(|error| ServerError(format!("`{command}`: {error}")))?;
        Ok(Running { command, child })
    }

    /// Whether it has ended.
    ///
    /// # Errors
    /// It has failed.
    pub(super) fn has_ended(&mut self) -> Result<bool, ServerError> {
        let failure = |why: String| ServerError(format!("`{}`: {why}", self.command));
        match self.child.try_wait() {
            Ok(None) => Ok(false),
            Ok(Some(status)) if status.success() => Ok(true),
            Ok(Some(status)) => Err(failure(status.to_string())),
            Err(error) => Err(failure(error.to_string())),
        }
    }
}
