//! The request that a command of a sequence stands for.

use base64::Engine;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::commands::{At, Command, Content, KEYS, PREFIXES, PutCondition, SECOND_NODE, Target, Verb, Who};
use super::consul::{HttpRequest, Part};
use super::sequence::Sequence;
use super::wire::{get, put, question};

impl Sequence<'_> {
    pub(super) fn key_url(&self, key: usize, query: &str) -> String {
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
            Target::Node(node) => format!("/v1/catalog/node/{node}"),
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
        let present = self.present(key);
        Self::index(at, present)
    }

    fn index(at: At, present: Option<u64>) -> u64 {
        match at {
            At::Present => present.unwrap_or(0),
            At::Zero => 0,
            At::Past => 2,
            At::Future => 1 << 60,
        }
    }

    pub(super) fn question(&mut self, command: &Command) -> HttpRequest {
        match command {
            Command::Create { requested, .. } | Command::CreateThere { requested, .. } => {
                let mut requested = requested.clone();
                if requested["Node"] == SECOND_NODE {
                    requested["Node"] = json!(self.second_node());
                }
                put("/v1/session/create", requested.to_string())
            }
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
            Command::Node(node) => get(&format!("/v1/catalog/node/{node}")),
            Command::Query { name, session, .. } => question("POST", "/v1/query", self.query_body(name, *session)),
            Command::Requery { place, name, session } => {
                put(&format!("/v1/query/{}", self.queries[*place]), self.query_body(name, *session))
            }
            Command::OneQuery(method, place) => question(method, &format!("/v1/query/{}", self.queries[*place]), ""),
            Command::Queries => get("/v1/query"),
            Command::Raw(method, url, body) => question(method, url, *body),
            Command::Restart | Command::AgentCheck(_) | Command::NodeFails | Command::NodeReturns => {
                unreachable!("they are carried out in their own ways")
            }
            Command::Large(key, size) => put(&self.key_url(*key, ""), vec![b'x'; *size]),
            Command::Many(key, count) => {
                let read = json!({"KV": {"Verb": "get", "Key": format!("{}{}", self.tree, KEYS[*key])}});
                put("/v1/txn", Value::Array(vec![read; *count]).to_string())
            }
        }
    }

    fn second_node(&self) -> &str {
        self.consul.second.as_ref().map_or(self.own_node(), |second| &second.node)
    }

    fn query_body(&self, name: &str, session: Option<Who>) -> String {
        let session = session.map_or(String::new(), |who| self.who(who));
        json!({"Name": name, "Session": session, "Service": {"Service": "svc"}}).to_string()
    }

    fn operation(&mut self, verb: &Verb) -> Value {
        if let Some((subject, name)) = verb.verb.split_once(' ') {
            return self.operation_on_item(verb, subject, name);
        }
        let name = verb.verb;
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

    /// The index that a node, a service or a check has, if a response has shown it.
    pub(super) fn item_index(&mut self, verb: &Verb) -> Option<u64> {
        let (node, check, _) = verb.check;
        let part = match verb.verb.split(' ').next() {
            Some("service") => Some(Part::Service("svc")),
            Some("check") => Some(Part::Check(check)),
            _ => None,
        };
        self.agent.item_index(node, part)
    }

    /// An operation on a node, a service or a check.
    fn operation_on_item(&mut self, verb: &Verb, subject: &str, name: &str) -> Value {
        let (node, check, status) = verb.check;
        let is_written = matches!(name, "set" | "cas");
        let mut item = match subject {
            "node" if is_written => {
                json!({"Node": node, "Address": if verb.is_other { "127.0.0.2" } else { "127.0.0.1" }})
            }
            "node" => json!({"Node": node}),
            "service" if name == "get" => json!({"ID": "svc"}),
            "service" if is_written && verb.is_other => json!({"Service": "svc", "Port": 80, "Tags": ["t"]}),
            "service" => json!({"Service": "svc"}),
            _ if is_written => json!({"Node": node, "CheckID": check, "Name": check, "Status": status}),
            _ => json!({"Node": node, "CheckID": check}),
        };
        if subject == "check" && is_written && verb.is_other {
            item["ServiceID"] = json!("svc");
        }
        if name.ends_with("cas") {
            let present = self.item_index(verb);
            item["ModifyIndex"] = json!(Self::index(verb.at, present));
        }
        match subject {
            "node" => json!({"Node": {"Verb": name, "Node": item}}),
            "service" => json!({"Service": {"Verb": name, "Node": node, "Service": item}}),
            _ => json!({"Check": {"Verb": name, "Check": item}}),
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
