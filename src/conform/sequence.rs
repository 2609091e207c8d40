//! One sequence of commands, on the model and on an agent.

use std::time::{Duration, Instant};

use super::consul::{Agent, Class, Expected, Hint, HttpRequest, Reply};
use fencepost_model::time::Instant as Moment;
use serde_json::Value;

use super::commands::{At, Command, KEYS, POOL, PutCondition, Verb};
use super::error::ConformError;
use super::gossip::{Second, opinion};
use super::guard::MARK;
use super::log::LogRecord;
use super::wire::{Consul, get, put};

/// A request with both answers.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What was asked and answered.
    pub line: LogRecord,
    /// What the model says must be answered.
    pub expected: Expected,
    /// How they differ, if they do.
    pub difference: Option<String>,
}

/// Both sides, and the pools that commands draw from.
pub(super) struct Sequence<'a> {
    pub(super) consul: &'a Consul,
    pub(super) agent: Agent,
    pub(super) tree: String,
    pub(super) sessions: [String; POOL],
    pub(super) queries: [String; POOL],
    /// Every exchange, in order.
    pub(super) exchanges: Vec<Exchange>,
    /// In milliseconds: a command takes less than a real second, and more than a microsecond.
    now: i64,
    began: Instant,
    is_second_down: bool,
}

/// An unused id.
const NOBODY: &str = "00000000-aaaa-bbbb-cccc-000000000000";

/// What is registered at the start: so that most sessions can be created.
const PRELUDE: &[(&str, &str, bool)] = &[
    ("fencepost-n1", "c1", false),
    ("fencepost-n1", "c2", false),
    ("fencepost-n1", "c3", true),
    ("fencepost-n2", "c1", false),
];

/// For how long a sequence may have run when a node fails.
const FAILURES_UNTIL: Duration = Duration::from_secs(3);

/// Why a sequence ended early.
pub(super) enum Stop {
    /// The answers to the last of these differ.
    Differs(Vec<Exchange>),
    /// The agent cannot be talked to.
    ConformError(ConformError),
}

impl From<ConformError> for Stop {
    fn from(failure: ConformError) -> Self {
        Stop::ConformError(failure)
    }
}

impl<'a> Sequence<'a> {
    /// A sequence whose keys are below `tree`, where no key has been before: what happened to old names does not matter.
    pub(super) fn new(consul: &'a Consul, tree: String) -> Result<Self, ConformError> {
        consul.clean()?;
        Ok(Sequence {
            consul,
            agent: Agent::new(&consul.node, consul.options)
                .in_datacenter(&consul.datacenter)
                .with_agents(consul.second.iter().map(|second| &second.node)),
            is_second_down: false,
            tree,
            sessions: [NOBODY; POOL].map(str::to_owned),
            queries: [NOBODY; POOL].map(str::to_owned),
            exchanges: Vec::new(),
            now: 0,
            began: Instant::now(),
        })
    }

    /// Carries the commands out, and then looks at everything.
    pub(super) fn run(&mut self, commands: &[Command]) -> Result<(), Stop> {
        for (node, check, of_service) in PRELUDE {
            let check = Some((*check, Some("passing"), *of_service));
            self.carry_out(&Command::Register { node, service: *of_service, check })?;
        }
        for command in commands {
            self.carry_out(command)?;
        }
        let own = format!("/v1/health/node/{}", self.own_node());
        for url in [
            own.as_str(),
            "/v1/session/list",
            "/v1/query",
            "/v1/health/node/fencepost-n1",
            "/v1/health/node/fencepost-n2",
            "/v1/catalog/node/fencepost-n1",
            "/v1/catalog/node/fencepost-n2",
            "/v1/kv/?recurse",
        ] {
            self.exchange(get(url))?;
        }
        self.exchange(get(&format!("/v1/kv/{}?recurse", self.tree)))?;
        Ok(())
    }

    pub(super) fn carry_out(&mut self, command: &Command) -> Result<(), Stop> {
        if let Command::Restart = command {
            let Some(restart) = &self.consul.restart else { return Ok(()) };
            self.drop_check()?;
            return Ok(self.consul.restart(restart)?);
        }
        match command {
            Command::AgentCheck(act) => return self.act_on_check(*act),
            Command::NodeFails => return self.fail_second(),
            Command::NodeReturns => return self.revive_second(),
            _ => {}
        }
        self.look_first(command)?;
        let question = self.question(command);
        let reply = match (command, &self.consul.second) {
            (Command::CreateThere { .. }, Some(second)) if !self.is_second_down => {
                self.exchange_there(question, second)?
            }
            _ => self.exchange(question)?,
        };
        let id = |reply: &Reply| serde_json::from_slice::<Value>(&reply.body).ok()?["ID"].as_str().map(str::to_owned);
        match command {
            Command::Create { place, .. } | Command::CreateThere { place, .. } => {
                self.sessions[*place] = id(&reply).unwrap_or_else(|| NOBODY.to_owned());
            }
            Command::Query { place, .. } => self.queries[*place] = id(&reply).unwrap_or_else(|| NOBODY.to_owned()),
            // It has no name by which a later run would know it.
            Command::CreateRaw(body) if !body.contains(MARK) => {
                if let Some(id) = id(&reply) {
                    self.exchange(put(&format!("/v1/session/destroy/{id}"), ""))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads what a command names the present index of, where no read has returned it yet; nothing else is read first.
    fn look_first(&mut self, command: &Command) -> Result<(), Stop> {
        let keys: Vec<usize> = match command {
            Command::Put { key, how: PutCondition::Cas(At::Present), .. } | Command::Delete(key, Some(At::Present)) => {
                vec![*key]
            }
            Command::Transaction(verbs) => {
                for verb in verbs.iter().filter(|verb| matches!(verb.at, At::Present)) {
                    self.look_at_item(verb)?;
                }
                let names_index =
                    |verb: &&Verb| matches!((verb.verb, verb.at), ("cas" | "check-index" | "delete-cas", At::Present));
                verbs.iter().filter(names_index).map(|verb| verb.key).collect()
            }
            _ => return Ok(()),
        };
        for key in keys {
            if self.present(key).is_none() {
                self.exchange(get(&self.key_url(key, "")))?;
            }
        }
        Ok(())
    }

    /// The same for a node, a service or a check.
    fn look_at_item(&mut self, verb: &Verb) -> Result<(), Stop> {
        let names_index = verb.verb.ends_with(" cas") || verb.verb.ends_with(" delete-cas");
        if !names_index || self.item_index(verb).is_some() {
            return Ok(());
        }
        let table = if verb.verb.starts_with("check") { "health" } else { "catalog" };
        self.exchange(get(&format!("/v1/{table}/node/{}", verb.check.0)))?;
        Ok(())
    }

    /// The index that a key has, if a response has shown it.
    pub(super) fn present(&mut self, key: usize) -> Option<u64> {
        self.agent.modify_index(&format!("{}{}", self.tree, KEYS[key]))
    }

    fn exchange(&mut self, question: HttpRequest) -> Result<Reply, Stop> {
        let now = self.next_instant();
        let expected = self
            .agent
            .ask(&question, Moment::at(now), Hint::default())
            .map_err(|overflow| ConformError(format!("{}: {overflow}", question.url)))?;
        self.exchange_as(question, expected)
    }

    /// When the next command is carried out, for the model.
    pub(super) fn next_instant(&mut self) -> i64 {
        self.now += 1_000_000;
        self.now
    }

    /// The node of the agent.
    pub(super) fn own_node(&self) -> &str {
        &self.consul.node
    }

    /// Asks the agent, and holds the answer against what is expected.
    pub(super) fn exchange_as(&mut self, question: HttpRequest, expected: Expected) -> Result<Reply, Stop> {
        let sent = self.elapsed();
        let reply = self.consul.ask(&question)?;
        self.compare(question, expected, reply, sent)
    }

    /// The same with the second agent: a request that names no node is about its node.
    fn exchange_there(&mut self, question: HttpRequest, second: &Second) -> Result<Reply, Stop> {
        let now = self.next_instant();
        self.agent.turn_to(Some(&second.node));
        let expected = self.agent.ask(&question, Moment::at(now), Hint::default());
        self.agent.turn_to(None);
        let expected = expected.map_err(|overflow| ConformError(format!("{}: {overflow}", question.url)))?;
        let sent = self.elapsed();
        let reply = self.consul.ask_second(second, &question)?;
        self.compare(question, expected, reply, sent)
    }

    fn compare(&mut self, question: HttpRequest, expected: Expected, reply: Reply, sent: i64) -> Result<Reply, Stop> {
        let received = self.elapsed();
        let number = self.exchanges.len() + 1;
        let line = LogRecord::new(number, question, reply.clone(), (sent, received));
        let difference = self.agent.accept(&expected, &reply).err();
        let differs = difference.is_some();
        self.exchanges.push(Exchange { line, expected, difference });
        if differs { Err(Stop::Differs(std::mem::take(&mut self.exchanges))) } else { Ok(reply) }
    }

    /// The second agent is killed. A sequence waits until gossip has noticed: then it is as if the check had been registered. Lock-delays of
    /// 15 s must not end before the sequence does, so that there is time for one failure.
    fn fail_second(&mut self) -> Result<(), Stop> {
        let Some(second) = self.consul.second.as_ref().filter(|_| !self.is_second_down) else { return Ok(()) };
        if self.began.elapsed() > FAILURES_UNTIL {
            return Ok(());
        }
        self.is_second_down = true;
        self.consul.kill(second)?;
        self.consul.until_node_is(&second.node, "critical")?;
        self.hear(&second.node, "critical", Class::NodeFailed)
    }

    /// The second agent is started again, if it was killed.
    pub(super) fn revive_second(&mut self) -> Result<(), Stop> {
        let Some(second) = self.consul.second.as_ref().filter(|_| self.is_second_down) else { return Ok(()) };
        self.consul.revive(second)?;
        self.is_second_down = false;
        self.hear(&second.node, "passing", Class::NodeReturned)
    }

    /// The model hears of gossip's opinion of a node, and both sides show the checks of that.
    fn hear(&mut self, node: &str, status: &str, class: Class) -> Result<(), Stop> {
        let now = self.next_instant();
        let heard = self.agent.ask(&opinion(node, status), Moment::at(now), Hint::default());
        heard.map_err(|overflow| ConformError(overflow.to_string()))?;
        let question = get(&format!("/v1/health/node/{node}"));
        let now = self.next_instant();
        let expected = self.agent.ask(&question, Moment::at(now), Hint::default());
        let expected = expected.map_err(|overflow| ConformError(overflow.to_string()))?;
        self.exchange_as(question, Expected { class, ..expected })?;
        Ok(())
    }

    fn elapsed(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).expect("no sequence takes centuries")
    }
}
