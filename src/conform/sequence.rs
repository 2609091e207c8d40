//! One sequence of commands, on the model and on an agent.

use std::time::Instant;

use super::consul::{Agent, Expected, Hint, HttpRequest, Reply};
use base64::Engine;
use fencepost_model::time::Instant as Moment;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::commands::{At, Command, Content, KEYS, POOL, PREFIXES, PutCondition, Target, Verb, Who};
use super::error::ConformError;
use super::guard::MARK;
use super::log::LogRecord;
use super::wire::{Consul, get, put, question};

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
    tree: String,
    sessions: [String; POOL],
    queries: [String; POOL],
    /// Every exchange, in order.
    pub(super) exchanges: Vec<Exchange>,
    /// In milliseconds: a command takes less than a real second, and more than a microsecond.
    now: i64,
    began: Instant,
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
            agent: Agent::new(&consul.node, consul.options).in_datacenter(&consul.datacenter),
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
        if let Command::AgentCheck(act) = command {
            return self.act_on_check(*act);
        }
        self.look_first(command)?;
        let question = self.question(command);
        let reply = self.exchange(question)?;
        let id = |reply: &Reply| serde_json::from_slice::<Value>(&reply.body).ok()?["ID"].as_str().map(str::to_owned);
        match command {
            Command::Create { place, .. } => self.sessions[*place] = id(&reply).unwrap_or_else(|| NOBODY.to_owned()),
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

    /// Reads the keys whose present index a command names, where no read has returned it yet; no other key is read first.
    fn look_first(&mut self, command: &Command) -> Result<(), Stop> {
        let keys: Vec<usize> = match command {
            Command::Put { key, how: PutCondition::Cas(At::Present), .. } | Command::Delete(key, Some(At::Present)) => {
                vec![*key]
            }
            Command::Transaction(verbs) => {
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

    /// The index that a key has, if a response has shown it.
    fn present(&mut self, key: usize) -> Option<u64> {
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
        let received = self.elapsed();
        let number = self.exchanges.len() + 1;
        let line = LogRecord::new(number, question, reply.clone(), (sent, received));
        let difference = self.agent.accept(&expected, &reply).err();
        let differs = difference.is_some();
        self.exchanges.push(Exchange { line, expected, difference });
        if differs { Err(Stop::Differs(std::mem::take(&mut self.exchanges))) } else { Ok(reply) }
    }

    fn elapsed(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_nanos()).expect("no sequence takes centuries")
    }

    fn key_url(&self, key: usize, query: &str) -> String {
        let name = format!("{}{}", self.tree, KEYS[key]);
        let mark = if query.is_empty() { "" } else { "?" };
        format!("/v1/kv/{}{mark}{query}", utf8_percent_encode(&name, NON_ALPHANUMERIC))
    }

    fn prefix_url(&self, prefix: usize, query: &str) -> String {
        let name = PREFIXES[prefix].map_or(String::new(), |below| format!("{}{below}", self.tree));
        format!("/v1/kv/{name}?{query}")
    }

    /// A read that may wait.
    pub(super) fn target(&self, target: Target) -> String {
        match target {
            Target::Key(key) => self.key_url(key, ""),
            Target::Entries(prefix) => self.prefix_url(prefix, "recurse"),
            Target::Keys(prefix) => self.prefix_url(prefix, "keys"),
            Target::Session(place) => format!("/v1/session/info/{}", self.sessions[place]),
            Target::Sessions(None) => "/v1/session/list".to_owned(),
            Target::Sessions(Some(node)) => format!("/v1/session/node/{node}"),
            Target::Checks(node) => format!("/v1/health/node/{node}"),
            Target::Queries => "/v1/query".to_owned(),
            Target::Query(place) => format!("/v1/query/{}", self.queries[place]),
        }
    }

    fn who(&self, who: Who) -> String {
        match who {
            Who::Pool(place) => self.sessions[place].clone(),
            Who::Capitals(place) => self.sessions[place].to_uppercase(),
            Who::Nobody => "99999999-aaaa-bbbb-cccc-000000000000".to_owned(),
            Who::Malformed => "zzz".to_owned(),
            Who::Empty => String::new(),
        }
    }

    fn at(&mut self, at: At, key: usize) -> u64 {
        match at {
            At::Present => self.present(key).unwrap_or(0),
            At::Zero => 0,
            At::Past => 2,
            At::Future => 1 << 60,
        }
    }

    fn question(&mut self, command: &Command) -> HttpRequest {
        match command {
            Command::Create { requested, .. } => put("/v1/session/create", requested.to_string()),
            Command::CreateRaw(body) => put("/v1/session/create", *body),
            Command::Session("info", who) => get(&format!("/v1/session/info/{}", self.who(*who))),
            Command::Session(what, who) => put(&format!("/v1/session/{what}/{}", self.who(*who)), ""),
            Command::Sessions(None) => get("/v1/session/list"),
            Command::Sessions(Some(node)) => get(&format!("/v1/session/node/{node}")),
            Command::Put { key, how, flags, value } => {
                let mut query = match how {
                    PutCondition::Plain => String::new(),
                    PutCondition::Cas(at) => format!("cas={}", self.at(*at, *key)),
                    PutCondition::Acquire(who) => format!("acquire={}", self.who(*who)),
                    PutCondition::Release(who) => format!("release={}", self.who(*who)),
                    PutCondition::Both => "cas=1&acquire=x".to_owned(),
                    PutCondition::NotANumber => "cas=".to_owned(),
                };
                if let Some(flags) = flags {
                    query += &format!("{}flags={flags}", if query.is_empty() { "" } else { "&" });
                }
                put(&self.key_url(*key, &query), bytes(*value))
            }
            Command::Get(key, query) => get(&self.key_url(*key, query)),
            Command::List(prefix, query) => get(&self.prefix_url(*prefix, query)),
            Command::Delete(key, None) => question("DELETE", &self.key_url(*key, ""), ""),
            Command::Delete(key, Some(at)) => {
                let query = format!("cas={}", self.at(*at, *key));
                question("DELETE", &self.key_url(*key, &query), "")
            }
            Command::DeleteTree(prefix) => question("DELETE", &self.prefix_url(*prefix, "recurse"), ""),
            Command::Transaction(verbs) => {
                let operations: Vec<Value> = verbs.iter().map(|verb| self.operation(verb)).collect();
                put("/v1/txn", Value::Array(operations).to_string())
            }
            Command::Register { node, service, check } => {
                let mut body = json!({"Node": node, "Address": "127.0.0.1"});
                if *service {
                    body["Service"] = json!({"Service": "svc"});
                }
                if let Some((id, status, of_service)) = check {
                    body["Check"] = json!({"CheckID": id, "Name": id});
                    status.iter().for_each(|status| body["Check"]["Status"] = json!(status));
                    if *of_service {
                        body["Check"]["ServiceID"] = json!("svc");
                    }
                }
                put("/v1/catalog/register", body.to_string())
            }
            Command::Identify { node, id } => {
                put("/v1/catalog/register", json!({"Node": node, "Address": "127.0.0.1", "ID": id}).to_string())
            }
            Command::Deregister { node, service, check } => {
                let mut body = json!({"Node": node});
                service.iter().for_each(|service| body["ServiceID"] = json!(service));
                check.iter().for_each(|check| body["CheckID"] = json!(check));
                put("/v1/catalog/deregister", body.to_string())
            }
            Command::Health(node) => get(&format!("/v1/health/node/{node}")),
            Command::Query { name, session, .. } => question("POST", "/v1/query", self.query_body(name, *session)),
            Command::Requery { place, name, session } => {
                put(&format!("/v1/query/{}", self.queries[*place]), self.query_body(name, *session))
            }
            Command::OneQuery(method, place) => question(method, &format!("/v1/query/{}", self.queries[*place]), ""),
            Command::Queries => get("/v1/query"),
            Command::Raw(method, url, body) => question(method, url, *body),
            Command::Restart | Command::AgentCheck(_) => unreachable!("they are carried out in their own ways"),
            Command::Large(key, size) => put(&self.key_url(*key, ""), vec![b'x'; *size]),
            Command::Many(key, count) => {
                let read = json!({"KV": {"Verb": "get", "Key": format!("{}{}", self.tree, KEYS[*key])}});
                put("/v1/txn", Value::Array(vec![read; *count]).to_string())
            }
        }
    }

    fn query_body(&self, name: &str, session: Option<Who>) -> String {
        let session = session.map_or(String::new(), |who| self.who(who));
        json!({"Name": name, "Session": session, "Service": {"Service": "svc"}}).to_string()
    }

    fn operation(&mut self, verb: &Verb) -> Value {
        let (node, check, status) = verb.check;
        match verb.verb {
            "check set" => json!({"Check": {"Verb": "set",
                "Check": {"Node": node, "CheckID": check, "Name": check, "Status": status}}}),
            "check delete" => json!({"Check": {"Verb": "delete", "Check": {"Node": node, "CheckID": check}}}),
            "check get" => json!({"Check": {"Verb": "get", "Check": {"Node": node, "CheckID": check}}}),
            "node set" => json!({"Node": {"Verb": "set", "Node": {"Node": node, "Address": "127.0.0.1"}}}),
            "node get" => json!({"Node": {"Verb": "get", "Node": {"Node": node}}}),
            "node delete" => json!({"Node": {"Verb": "delete", "Node": {"Node": node}}}),
            "service set" => json!({"Service": {"Verb": "set", "Node": node, "Service": {"Service": "svc"}}}),
            "service get" => json!({"Service": {"Verb": "get", "Node": node, "Service": {"ID": "svc"}}}),
            "service delete" => json!({"Service": {"Verb": "delete", "Node": node, "Service": {"Service": "svc"}}}),
            name => {
                let value = base64::engine::general_purpose::STANDARD.encode(bytes(verb.value));
                let mut kv = json!({"Verb": name, "Key": format!("{}{}", self.tree, KEYS[verb.key])});
                if matches!(name, "set" | "cas" | "lock" | "unlock") {
                    (kv["Value"], kv["Flags"]) = (json!(value), json!(verb.flags));
                }
                if matches!(name, "cas" | "check-index" | "delete-cas") {
                    kv["Index"] = json!(self.at(verb.at, verb.key));
                }
                if matches!(name, "lock" | "unlock" | "check-session") {
                    kv["Session"] = json!(self.who(verb.who));
                }
                json!({"KV": kv})
            }
        }
    }
}

fn bytes(content: Content) -> Vec<u8> {
    match content {
        Content::Empty => Vec::new(),
        Content::Text(text) => text.as_bytes().to_owned(),
        Content::Bytes => vec![0, 255, 10, 0xc3],
    }
}
