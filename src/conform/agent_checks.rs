//! Checks that the agent itself keeps: it tells the catalogue of them by and by, so that a sequence waits until it has. Then
//! they are what a registration in the catalogue makes them: sessions that depend on them end (C-INV-5, C-INV-7).

use std::thread;
use std::time::{Duration, Instant};

use fencepost_model::time::Instant as Moment;
use serde_json::{Value, json};

use super::commands::AgentAct;
use super::consul::{Class, Expected, Hint, HttpRequest};
use super::error::ConformError;
use super::sequence::{Sequence, Stop};
use super::wire::{Consul, get, put};

/// The check. Its TTL is so long that it never runs out.
pub(super) const CHECK: &str = "fencepost-agent";

/// How long the catalogue may not know yet.
const PATIENCE: Duration = Duration::from_secs(20);

impl Consul {
    /// The status of a check of the agent's node in the catalogue; none: it is not there.
    fn catalogue_says(&self, id: &str) -> Result<Option<String>, ConformError> {
        let reply = self.ask(&get(&format!("/v1/health/node/{}", self.node)))?;
        let checks: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
        let mut checks = checks.as_array().into_iter().flatten();
        let check = checks.find(|check| check["CheckID"] == id);
        Ok(check.and_then(|check| check["Status"].as_str()).map(str::to_owned))
    }

    /// Waits until the catalogue shows a check as it is at the agent: with a status, or not at all.
    fn until_catalogue_says(&self, id: &str, status: Option<&str>) -> Result<(), ConformError> {
        let end = Instant::now() + PATIENCE;
        while self.catalogue_says(id)?.as_deref() != status {
            if Instant::now() >= end {
                let wanted = status.unwrap_or("absent");
                return Err(ConformError(format!(
                    "the catalogue does not show within {PATIENCE:?} that {id} is {wanted}"
                )));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Waits until the catalogue has no such check any more.
    pub(super) fn until_catalogue_lacks(&self, id: &str) -> Result<(), ConformError> {
        self.until_catalogue_says(id, None)
    }
}

impl Sequence<'_> {
    /// Does something with the agent's check, on both sides. A check that is not there is registered first.
    pub(super) fn act_on_check(&mut self, act: AgentAct) -> Result<(), Stop> {
        let before = self.consul.catalogue_says(CHECK)?;
        // One that is there is not registered again: it would keep its status, and nothing would show when the catalogue has heard.
        let act = match (act, &before) {
            (_, None) => AgentAct::Register,
            (AgentAct::Register, Some(_)) => AgentAct::Pass,
            (act, Some(_)) => act,
        };
        let (question, status) = match act {
            AgentAct::Register => {
                let body = json!({"ID": CHECK, "Name": CHECK, "TTL": "24h", "Status": "passing"});
                (put("/v1/agent/check/register", body.to_string()), Some("passing"))
            }
            AgentAct::Pass => (put(&format!("/v1/agent/check/pass/{CHECK}"), ""), Some("passing")),
            AgentAct::Warn => (put(&format!("/v1/agent/check/warn/{CHECK}"), ""), Some("warning")),
            AgentAct::Fail => (put(&format!("/v1/agent/check/fail/{CHECK}"), ""), Some("critical")),
            AgentAct::Deregister => (put(&format!("/v1/agent/check/deregister/{CHECK}"), ""), None),
        };
        let node = self.own_node().to_owned();
        let told = match status {
            Some(status) => {
                let check = json!({"Node": node, "CheckID": CHECK, "Name": CHECK, "Status": status});
                put("/v1/catalog/register", json!({"Node": node, "SkipNodeUpdate": true, "Check": check}).to_string())
            }
            None => put("/v1/catalog/deregister", json!({"Node": node, "CheckID": CHECK}).to_string()),
        };
        // The agent tells the catalogue nothing that it knows already.
        let told = Some(told).filter(|_| before.as_deref() != status);
        self.tell_agent(&question, told.as_ref())?;
        Ok(self.consul.until_catalogue_says(CHECK, status)?)
    }

    /// Removes the agent's check before a restart. An agent that was killed has it again, and calls it critical at some time: then
    /// the sessions that depend on it end, and nothing says when. Seen on Consul 1.8.7.
    pub(super) fn drop_check(&mut self) -> Result<(), Stop> {
        match self.consul.catalogue_says(CHECK)? {
            Some(_) => self.act_on_check(AgentAct::Deregister),
            None => Ok(()),
        }
    }

    /// Asks the agent, and lets the model's server hear what the agent will tell the catalogue.
    fn tell_agent(&mut self, question: &HttpRequest, told: Option<&HttpRequest>) -> Result<(), Stop> {
        let now = self.next_instant();
        if let Some(told) = told {
            let applied = self.agent.ask(told, Moment::at(now), Hint::default());
            applied.map_err(|overflow| ConformError(overflow.to_string()))?;
        }
        self.exchange_as(question.clone(), Expected::done_silently(Class::AgentCheck))?;
        Ok(())
    }
}
