//! A safeguard against deleting other programs' data. An agent is used if it says clearly that it is empty; anything else is
//! refused, with what was seen. What a run puts into an agent bears its mark, so that the leftovers of a killed run are
//! recognised by name; between sequences nothing else is removed.

use std::fmt;

use serde_json::{Value, json};

use super::consul::{HttpRequest, Reply};
use super::error::ConformError;
use super::wire::{Consul, get, put, question};

/// The name of a run's sessions; its nodes and queries are called `fencepost-…`, its keys `fencepost/…`.
pub(super) const MARK: &str = "fencepost";

/// What may be removed from an agent before a run.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Removal {
    /// Nothing: it must be empty.
    #[default]
    Nothing,
    /// What a killed run has left behind, by its names.
    Leftovers,
    /// Everything.
    Everything,
}

/// What is in an agent, besides its own node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    keys: Vec<Item>,
    sessions: Vec<Item>,
    queries: Vec<Item>,
    nodes: Vec<Item>,
    /// Checks that the agent keeps.
    checks: Vec<Item>,
}

/// One thing in it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Item {
    /// Its name, or its id.
    id: String,
    /// Whether it bears the mark of a run.
    is_marked: bool,
}

impl Contents {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.items().next().is_none()
    }

    /// Whether everything bears the mark of a run.
    pub fn is_marked(&self) -> bool {
        self.items().all(|item| item.is_marked)
    }

    fn items(&self) -> impl Iterator<Item = &Item> {
        [&self.keys, &self.sessions, &self.queries, &self.nodes, &self.checks].into_iter().flatten()
    }
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contents { keys, sessions, queries, nodes, checks } = self;
        let counts = [keys, sessions, queries, nodes, checks].map(Vec::len);
        let [keys, sessions, queries, nodes, checks] = counts;
        write!(
            f,
            "{keys} keys, {sessions} sessions, {queries} prepared queries, {nodes} other nodes and {checks} checks of the agent"
        )
    }
}

impl Consul {
    /// Makes sure that the agent is empty, and removes before that what may be removed.
    ///
    /// # Errors
    /// It is not empty, or does not say so clearly. Then nothing has been removed, unless `Removal::Everything` or
    /// `Removal::Leftovers` allowed it.
    pub fn make_room(&self, removal: Removal) -> Result<(), ConformError> {
        let contents = self.contents()?;
        match removal {
            Removal::Nothing => {}
            Removal::Leftovers => self.remove(&contents, false)?,
            Removal::Everything => self.remove(&contents, true)?,
        }
        let contents = if removal == Removal::Nothing { contents } else { self.contents()? };
        if contents.is_empty() {
            return Ok(());
        }
        let way_out = match contents.is_marked() {
            true => "All of it has the names that a run of `fencepost conform` gives; --clean removes it",
            false => "A run would remove everything in it; --wipe says that it may",
        };
        Err(ConformError(format!("the agent is in use: it has {contents}. {way_out}")))
    }

    /// What is in the agent.
    ///
    /// # Errors
    /// It does not say so clearly.
    pub fn contents(&self) -> Result<Contents, ConformError> {
        if self.has_acls {
            return Err(self.unclear("/v1/agent/self", "access control is on, and cuts lists short"));
        }
        let starts = |text: &str, mark: &str| text.to_lowercase().starts_with(mark);
        let mut contents = Contents::default();
        for key in self.list("/v1/kv/?keys")? {
            let id = key.as_str().ok_or_else(|| self.unclear("/v1/kv/?keys", &format!("the key {key}")))?.to_owned();
            contents.keys.push(Item { is_marked: id.starts_with("fencepost/"), id });
        }
        let list = "/v1/session/list";
        for session in self.list(list)? {
            let [id, name, node] = self.fields(list, &session, ["ID", "Name", "Node"])?;
            contents.sessions.push(Item { is_marked: name == MARK || starts(&node, "fencepost-"), id });
        }
        let list = "/v1/query";
        for query in self.list(list)? {
            let [id, name, session] = self.fields(list, &query, ["ID", "Name", "Session"])?;
            let is_bound = |item: &Item| item.is_marked && item.id.eq_ignore_ascii_case(&session);
            let is_marked = starts(&name, "fencepost-") || contents.sessions.iter().any(is_bound);
            contents.queries.push(Item { is_marked, id });
        }
        let url = "/v1/agent/checks";
        let reply = self.ask(&get(url))?;
        match serde_json::from_slice(&reply.body) {
            Ok(Value::Object(checks)) if reply.status == 200 => {
                contents.checks =
                    checks.into_iter().map(|(id, _)| Item { is_marked: starts(&id, "fencepost-"), id }).collect();
            }
            _ => return Err(self.unclear(url, &seen(&reply))),
        }
        let list = "/v1/catalog/nodes";
        for node in self.list(list)? {
            let [id] = self.fields(list, &node, ["Node"])?;
            contents.nodes.push(Item { is_marked: starts(&id, "fencepost-"), id });
        }
        let all = contents.nodes.len();
        contents.nodes.retain(|node| node.id != self.node);
        let is_second = |node: &Item| self.second.as_ref().is_some_and(|second| second.node == node.id);
        let own = all - contents.nodes.len();
        contents.nodes.retain(|node| !is_second(node));
        if own != 1 {
            return Err(self.unclear(list, &format!("the agent's own node {} is not in it", self.node)));
        }
        Ok(contents)
    }

    /// Removes what a run has put into the agent, and nothing else.
    pub(super) fn clean(&self) -> Result<(), ConformError> {
        self.remove(&self.contents()?, false)
    }

    fn remove(&self, contents: &Contents, with_all: bool) -> Result<(), ConformError> {
        let is_wanted = |item: &&Item| with_all || item.is_marked;
        for Item { id, .. } in contents.sessions.iter().filter(is_wanted) {
            self.must(&put(&format!("/v1/session/destroy/{id}"), ""))?;
        }
        for Item { id, .. } in contents.queries.iter().filter(is_wanted) {
            // The end of its session may have taken it along.
            self.ask(&question("DELETE", &format!("/v1/query/{id}"), ""))?;
        }
        for Item { id, .. } in contents.checks.iter().filter(is_wanted) {
            self.must(&put(&format!("/v1/agent/check/deregister/{id}"), ""))?;
            self.until_catalogue_lacks(id)?;
        }
        for Item { id, .. } in contents.nodes.iter().filter(is_wanted) {
            self.must(&put("/v1/catalog/deregister", json!({"Node": id}).to_string()))?;
        }
        if contents.keys.iter().any(|key| with_all || key.is_marked) {
            let below = if with_all { "" } else { "fencepost/" };
            self.must(&question("DELETE", &format!("/v1/kv/{below}?recurse"), ""))?;
        }
        Ok(())
    }

    fn must(&self, question: &HttpRequest) -> Result<(), ConformError> {
        let reply = self.ask(question)?;
        if reply.status == 200 {
            return Ok(());
        }
        Err(ConformError(format!("{} {}: {}", question.method, question.url, seen(&reply))))
    }

    /// A list, if the agent says clearly what is in it. C-KV-5: that of all keys is not absent when it is empty.
    fn list(&self, url: &str) -> Result<Vec<Value>, ConformError> {
        let reply = self.ask(&get(url))?;
        match serde_json::from_slice(&reply.body) {
            Ok(Value::Array(items)) if reply.status == 200 => Ok(items),
            _ => Err(self.unclear(url, &seen(&reply))),
        }
    }

    fn fields<const N: usize>(&self, url: &str, item: &Value, names: [&str; N]) -> Result<[String; N], ConformError> {
        let missing = names.into_iter().find(|name| !item[*name].is_string());
        if let Some(name) = missing {
            return Err(self.unclear(url, &format!("an item without {name}")));
        }
        Ok(names.map(|name| item[name].as_str().unwrap_or_default().to_owned()))
    }

    fn unclear(&self, url: &str, seen: &str) -> ConformError {
        ConformError(format!("{url} does not say clearly what is in the agent: {seen}. Nothing was removed"))
    }
}

/// The beginning of an answer.
fn seen(reply: &Reply) -> String {
    let body = String::from_utf8_lossy(&reply.body);
    let begin: String = body.trim().chars().take(80).collect();
    format!("status {}, “{begin}”", reply.status)
}
