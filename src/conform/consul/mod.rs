//! The HTTP API at the edge of the model: a request as text goes in, and what a Consul agent must answer comes out. Consul's
//! own JSON shapes, names, durations and error texts live here and nowhere else; the state behind it is the [`Server`] that
//! is explored.
//!
//! ```text
//! exchange      what is asked and answered              class     what an answer says, by which rule
//! names         what small numbers are called outside   shape     what a body must look like
//! duration      Go's durations                          settle    forgetting
//! kv  sessions  transactions  catalog  prepared         the endpoints
//! operations    what a transaction is made of           registrations  how nodes and checks are written
//! watch         blocking queries                        meet      names before they are used
//! look          what a state tells without being asked
//! render        the answer of an agent that is no more than this
//! plain         answers that are compared without being read
//! ```

mod catalog;
mod class;
mod duration;
mod exchange;
mod kv;
mod look;
mod meet;
mod names;
mod operations;
mod plain;
mod prepared;
mod registrations;
mod render;
mod sessions;
mod settle;
mod shape;
mod transactions;
mod watch;

#[cfg(test)]
mod rules;

pub use class::Class;
pub use duration::nanoseconds;
pub(super) use exchange::unsigned;
pub use exchange::{Contact, Expected, Hint, HttpRequest, Options, Reply};
pub use look::{Shown, Told, part};
pub use names::NameLimitError;
pub use registrations::Part;
pub use shape::BodyShape;
pub use watch::{Sleep, Waking, Watch};

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use fencepost_consul::{Consul, Key, Prefix, Server};
use fencepost_model::ids::{ClientId, Index, ProcessId, SessionId};
use fencepost_model::process::{Context, Outbox};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};
use serde_json::{Map, Value};

use self::exchange::{Answered, Parts, refused_options};
use self::names::NameTable;
use self::sessions::Card;
use super::log::EventKind;

/// A second, in the unit of an agent's time.
pub const SECOND: i64 = 1_000_000_000;

/// An agent of the model, with an empty store: one server that leads. Its time is in nanoseconds.
#[derive(Clone, Debug)]
pub struct Agent {
    scenario: Arc<Scenario<Consul>>,
    server: Server,
    names: NameTable,
    cards: Vec<Card>,
    /// The ids of nodes in small letters, by node.
    node_ids: Vec<(String, ClientId)>,
    /// The nodes of agents, which keep them up to date.
    agents: Vec<ClientId>,
    options: Options,
    /// The name of its datacenter. C-GEN-12.
    datacenter: String,
    now: Instant,
    hint: Hint,
    /// The node of the first agent, as it is written.
    own: Arc<str>,
    /// The node of the agent that is asked; none: the first.
    asked: Option<Arc<str>>,
}

impl PartialEq for Agent {
    /// What may differ between agents of one scenario.
    fn eq(&self, other: &Self) -> bool {
        (&self.server, &self.names, &self.cards, &self.node_ids)
            == (&other.server, &other.names, &other.cards, &other.node_ids)
    }
}

impl Hash for Agent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.server.hash(state);
        self.names.hash_with(self.server.sessions(), state);
        (&self.cards, &self.node_ids).hash(state);
    }
}

impl Agent {
    /// An agent with an empty store. `node` is its own, which has the check `serfHealth`.
    pub fn new(node: &str, options: Options) -> Self {
        let mut scenario: Scenario<Consul> = Scenario::new("agent");
        scenario.service.lock_delay_max = Some(Ticks::new(60 * SECOND));
        scenario.service.lock_delay = Ticks::new(15 * SECOND);
        scenario.mutation = options.mutation;
        let mut agent = Agent {
            scenario: Arc::new(scenario),
            server: Server::with_id_table(),
            names: NameTable::default(),
            cards: Vec::new(),
            node_ids: Vec::new(),
            agents: Vec::new(),
            options,
            datacenter: "dc1".to_owned(),
            now: Instant::at(0),
            hint: Hint::default(),
            own: Arc::from(node),
            asked: None,
        };
        agent.add_own_node(node);
        agent
    }

    /// The same agent with the nodes of other agents beside its own.
    pub fn with_agents<'a>(mut self, nodes: impl IntoIterator<Item = &'a String>) -> Self {
        nodes.into_iter().for_each(|node| self.add_own_node(node));
        self
    }

    /// Requests go to the agent of this node from now on; none: to the first.
    pub fn turn_to(&mut self, node: Option<&str>) {
        if self.asked.as_deref() != node {
            self.asked = node.map(Arc::from);
        }
    }

    /// The same agent in another datacenter than `dc1`.
    pub fn in_datacenter(mut self, name: &str) -> Self {
        name.clone_into(&mut self.datacenter);
        self
    }

    /// Carries a request out at an instant, and says what must be answered.
    ///
    /// # Errors
    /// The request is beyond the model: too many keys, checks or flags.
    pub fn ask(&mut self, question: &HttpRequest, now: Instant, hint: Hint) -> Answered {
        (self.now, self.hint) = (now, hint);
        let (path, query) = question.url.split_once('?').unwrap_or((&question.url, ""));
        if path.contains("//") {
            // C-GEN-9: Go's multiplexer sends the client elsewhere; the request itself is lost.
            return Ok(Expected::new(Class::PathCleaned, 301, BodyShape::Any));
        }
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let is_about_keys = path.starts_with("/v1/kv/");
        let is_about_catalog = path.starts_with("/v1/catalog/") && question.method != "GET";
        let mut parts =
            Parts { method: &question.method, path, query, body: &question.body, is_about_keys, is_about_catalog };
        for (start, methods, serve) in ENDPOINTS {
            let Some(rest) = parts.path.strip_prefix(start) else { continue };
            if !start.ends_with('/') && !rest.is_empty() {
                continue;
            }
            parts.path = rest.to_owned();
            if parts.method == "OPTIONS" {
                return Ok(Expected::new(Class::Options, 200, BodyShape::Any));
            }
            if !methods.contains(&parts.method) {
                return Ok(Expected::text(Class::WrongMethod, 405, format!("method {} not allowed", parts.method)));
            }
            if let Some(refusal) = refused_options(&parts) {
                return Ok(refusal);
            }
            return self.serve(*serve, &parts, knows_namespaces(start));
        }
        Ok(Expected::new(Class::NoSuchPath, 404, BodyShape::Any))
    }

    fn serve(&mut self, serve: Serve, parts: &Parts<'_>, knows_namespaces: bool) -> Answered {
        let names_space = parts.get("ns").is_some_and(|space| !space.is_empty());
        // C-GEN-11: but for a read of no key.
        if names_space && knows_namespaces && !(is_plain_get(parts) && parts.path.is_empty()) {
            return Ok(Expected::text(Class::Namespace, 400, "Invalid query parameter: \"ns\""));
        }
        let elsewhere = parts.get("dc").is_some_and(|name| !name.is_empty() && name != self.datacenter);
        let mut expected =
            if elsewhere && !parts.is_about_catalog { self.elsewhere(serve, parts)? } else { serve(self, parts)? };
        if parts.method != "GET" {
            // C-GEN-7.
            expected.has_index = Some(false);
        }
        Ok(expected)
    }

    /// C-GEN-12: there is no path to another datacenter; but the request is checked first.
    fn elsewhere(&self, serve: Serve, parts: &Parts<'_>) -> Answered {
        let expected = serve(&mut self.clone(), parts)?;
        let is_refused = matches!(expected.status, 400 | 405 | 413) || expected.class == Class::BadNumber;
        Ok(if is_refused { expected } else { Expected::text(Class::NoDatacenter, 500, "No path to datacenter") })
    }

    /// Holds an answer against what must be answered, and writes down what only the server knew.
    ///
    /// # Errors
    /// Says what is different.
    pub fn accept(&mut self, expected: &Expected, reply: &Reply) -> Result<(), String> {
        if expected.status != reply.status {
            let body = String::from_utf8_lossy(&reply.body);
            return Err(format!("status {} instead of {}: {}", reply.status, expected.status, body.trim()));
        }
        expected.body.fit(&reply.body, &mut self.names)?;
        match (expected.has_index, reply.index) {
            (Some(false), Some(index)) => return Err(format!("X-Consul-Index: {index}, which no write has")),
            (Some(true), None) if reply.has_headers => return Err("X-Consul-Index is missing".to_owned()),
            _ => {}
        }
        if let Some(contact) = &reply.contact {
            Self::fits_contact(expected, contact)?;
        }
        if let (Some(ours), Some(theirs)) = (expected.index, reply.index) {
            self.names.bind(ours, theirs).map_err(|why| format!("X-Consul-Index: {why}"))?;
        }
        Ok(())
    }

    /// C-GEN-7: the headers about the leader come with reads only, and with transactions that only read. C-CON-4: the leader
    /// has heard from itself just now.
    fn fits_contact(expected: &Expected, contact: &Contact) -> Result<(), String> {
        let is_read = match expected.class {
            Class::TxnRead | Class::TxnReadFailed => Some(true),
            _ => expected.has_index,
        };
        let wanted = match is_read {
            Some(true) => Contact { known_leader: Some("true".to_owned()), last_contact: Some("0".to_owned()) },
            Some(false) => Contact::default(),
            None => return Ok(()),
        };
        if *contact == wanted { Ok(()) } else { Err(format!("{contact} instead of {wanted}")) }
    }

    /// The server's ModifyIndex of a key, if the key exists and a response has shown the index.
    pub fn modify_index(&mut self, key: &str) -> Option<u64> {
        let key = self.key(key).ok()?;
        self.names.theirs(self.server.entry(key)?.modify)
    }

    /// Sessions that may end by themselves by now, and since when their timer may have fired; without an instant, it has
    /// fired, and what it sent is not applied. C-TTL-2, C-TTL-4.
    pub fn expirable(&self, now: Instant) -> Vec<(SessionId, Option<i64>)> {
        self.server.expirable(now).map(|(session, since)| (session, since.map(|since| since.0.ticks()))).collect()
    }

    /// How long the end of each session delays its keys, in nanoseconds. C-LD-3.
    pub fn lock_delays(&self) -> Vec<i64> {
        self.server.lock_delays().map(|asked| self.scenario.service.capped(asked).count()).collect()
    }

    /// How many lock-delays there are, over or not.
    pub fn delay_count(&self) -> usize {
        self.server.delay_count()
    }

    /// The last log entry is at this position of the server's; false: it cannot be.
    pub fn tell(&mut self, theirs: u64) -> bool {
        self.names.bind(self.server.position(), theirs).is_ok()
    }

    /// How many log positions have been told.
    pub fn told_count(&self) -> usize {
        self.names.told_count()
    }

    /// The timer of a session fires, and what it sends into the log is not applied yet: a renewal is in vain. C-TTL-5.
    pub fn decide_expiry(&mut self, session: SessionId) {
        self.server.decide_expiry(session);
    }

    /// Whether the leader lets a request for locks pass at an instant: no key that it would lock has a lock-delay.
    pub fn lets_pass(&self, question: &HttpRequest, now: Instant) -> bool {
        let mut copy = self.clone();
        let expected = copy.ask(question, now, Hint::default());
        expected.is_ok_and(|expected| !expected.class.is_delay())
    }

    /// Ends a session because its timer has fired. C-TTL-4.
    pub fn expire(&mut self, session: SessionId, now: Instant) {
        self.now = now;
        self.act(|server, context, out| server.expire(session, context, out));
    }

    /// Something happens to the servers at an instant.
    pub fn suffer(&mut self, event: &EventKind, now: Instant) {
        self.now = now;
        self.act(|server, context, _| match event {
            EventKind::Failover => server.fail_over(context),
            EventKind::Restart => server.restart(context),
            EventKind::Restore => server.restore(context),
            // That reaches the catalogue by requests of the leader.
            EventKind::NodeFailed(_) | EventKind::NotPassedOn(_) => {}
        });
    }

    /// C-KV-25: the leader forgets tombstones that are no younger than a log position.
    #[cfg(test)]
    pub fn reap_tombstones(&mut self, up_to: Index) {
        self.server.reap_tombstones(up_to);
    }

    /// The state behind the API.
    #[cfg(test)]
    pub fn server(&self) -> &Server {
        &self.server
    }

    fn act<T>(&mut self, act: impl FnOnce(&mut Server, &Context<'_, Consul>, &mut Outbox<Consul>) -> T) -> T {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        act(&mut self.server, &context, &mut Outbox::new())
    }

    /// All that may differ between agents of one scenario: they are equal if this is written in the same way.
    pub fn state(&self) -> impl fmt::Debug + '_ {
        (&self.server, &self.names, &self.cards, &self.node_ids)
    }

    /// What stands for a key. C-KV-3: any text, and letter case counts.
    fn key(&mut self, name: &str) -> Result<Key, NameLimitError> {
        let (place, is_new) = self.names.place(name)?;
        if is_new {
            self.server.make_room(place);
        }
        Ok(Key::Named(place))
    }

    /// What stands for a prefix.
    fn prefix(&mut self, name: &str) -> Result<Prefix, NameLimitError> {
        if name.is_empty() {
            return Ok(Prefix::All);
        }
        match self.key(name)? {
            Key::Named(place) => Ok(self.names.range(place)),
            _ => unreachable!("names stand for places"),
        }
    }

    fn key_name(&self, key: Key) -> &str {
        match key {
            Key::Named(place) => self.names.key(place),
            _ => unreachable!("an agent's keys have names"),
        }
    }

    /// Our log position for one that a client names, to be compared with a present one. C-KV-9.
    fn index(&mut self, theirs: u64, present: Option<Index>) -> Index {
        if let Some(ours) = self.names.ours(theirs) {
            return ours;
        }
        match present.filter(|_| self.hint.success == Some(true)) {
            Some(present) if self.names.theirs(present).is_none() && self.names.bind(present, theirs).is_ok() => {
                present
            }
            _ => Index::numbered(u32::MAX),
        }
    }
}

/// A field of a body, whatever the letter case of its name; null is none.
fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.iter().find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null()).map(|(_, value)| value)
}

type Serve = fn(&mut Agent, &Parts<'_>) -> Answered;
type Endpoint = (&'static str, &'static [&'static str], Serve);

/// C-GEN-11: whether an endpoint looks at `ns`.
fn knows_namespaces(endpoint: &str) -> bool {
    !endpoint.starts_with("/v1/txn") && !endpoint.starts_with("/v1/query")
}

fn is_plain_get(parts: &Parts<'_>) -> bool {
    parts.is_about_keys && parts.method == "GET" && !parts.has("keys") && !parts.has("recurse")
}

/// Where requests go; the longer path first.
const ENDPOINTS: &[Endpoint] = &[
    ("/v1/kv/", &["GET", "PUT", "DELETE"], Agent::serve_kv),
    ("/v1/txn", &["PUT"], Agent::serve_transaction),
    ("/v1/session/create", &["PUT"], Agent::create_session),
    ("/v1/session/destroy/", &["PUT"], Agent::destroy_session),
    ("/v1/session/renew/", &["PUT"], Agent::renew_session),
    ("/v1/session/info/", &["GET"], Agent::session_info),
    ("/v1/session/node/", &["GET"], Agent::sessions_of_node),
    ("/v1/session/list", &["GET"], Agent::all_sessions),
    ("/v1/catalog/register", &["PUT"], Agent::register),
    ("/v1/catalog/deregister", &["PUT"], Agent::deregister),
    ("/v1/catalog/node/", &["GET"], Agent::node_with_services),
    ("/v1/health/node/", &["GET"], Agent::health_of_node),
    ("/v1/query/", &["GET", "PUT", "DELETE"], Agent::serve_query),
    ("/v1/query", &["GET", "POST"], Agent::serve_queries),
];
