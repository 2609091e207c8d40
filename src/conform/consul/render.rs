//! What an agent answers: the other half of [`Agent::accept`]. Both read the same [`Expected`]; one judges an answer by it, and
//! the other writes one. An agent that answers numbers log positions itself, and gives ids that a caller has drawn.

use std::collections::BTreeSet;
use std::fmt::Write;

use fencepost_consul::{Prefix, Spelling, Status};
use fencepost_model::ids::{Index, RawId, SessionId};
use fencepost_model::time::Instant;
use serde_json::Value;

use super::duration::text;
use super::{Agent, BodyShape, Class, Expected, Hint, HttpRequest, Reply};

impl Agent {
    /// The same agent, as one that answers: its log positions are the ones that clients see, and its node is registered as this request
    /// says. C-GEN-4: a new cluster has used up some for entries of its own, and clients take an index of 1 for a server that has not
    /// started yet.
    pub fn that_answers(mut self, own: &HttpRequest) -> Self {
        self.names.number_positions();
        (0..8).for_each(|_| self.server.begin_entry());
        // This agent is the one that keeps its node up to date.
        self.agents.clear();
        let registered = self.ask(own, Instant::at(0), Hint::default());
        debug_assert!(
            registered.is_ok_and(|expected| expected.status == 200),
            "the node of an agent can be registered"
        );
        self.server.date_items();
        self
    }

    /// Writes the answer down. `fresh_id` draws an unused UUID, for a new session or query.
    pub fn answer(&mut self, expected: &Expected, fresh_id: &mut dyn FnMut() -> String) -> Reply {
        let body = match &expected.body {
            BodyShape::Nothing | BodyShape::Any => Vec::new(),
            BodyShape::Raw(bytes) => bytes.clone(),
            BodyShape::Text(text) => self.whole_text(expected.class, text).into_bytes(),
            shape => {
                let mut json = String::new();
                self.write(shape, &mut json, fresh_id);
                json.into_bytes()
            }
        };
        // An index is never 0: clients would ask again at once.
        let index =
            (expected.has_index == Some(true)).then(|| u64::from(expected.index.unwrap_or(Index::numbered(1)).raw()));
        Reply { status: expected.status, index, has_headers: true, contact: None, body }
    }

    /// An error text from its first to its last word, where the judge looks at a part of it only. C-GEN-5.
    fn whole_text(&self, class: Class, part: &str) -> String {
        match class {
            Class::SessionTtlRange => format!("{part} [{}=24h0m0s]", text(self.options.session_ttl_min)),
            Class::AcquireMalformed => format!("{part}: index error: UUID must be 36 characters"),
            Class::TooLarge => format!("Request body {part}, max size: {} bytes", super::kv::VALUE_MAX),
            Class::BadNumber => format!("{part}: invalid syntax"),
            Class::SessionMalformed => format!("failed session lookup: index error: {part}"),
            Class::QueryNoId => format!("index error: {part}"),
            _ => part.to_owned(),
        }
    }

    fn write(&mut self, shape: &BodyShape, json: &mut String, fresh_id: &mut dyn FnMut() -> String) {
        match shape {
            BodyShape::Nothing | BodyShape::Any => json.push_str("null"),
            BodyShape::Raw(bytes) => quote(&String::from_utf8_lossy(bytes), json),
            BodyShape::Text(text) => quote(text, json),
            BodyShape::Json(value) => json.push_str(&value.to_string()),
            BodyShape::Index(index) => drop(write!(json, "{}", index.raw())),
            BodyShape::NewSession(id) => {
                let text = fresh_id();
                quote(&text, json);
                self.names.name_session(*id, &text).expect("the caller draws unused ids");
            }
            BodyShape::NewQuery(query) => {
                let text = fresh_id();
                quote(&text, json);
                self.names.name_query(*query, &text).expect("the caller draws unused ids");
            }
            BodyShape::List(items) => {
                json.push('[');
                for (place, item) in items.iter().enumerate() {
                    json.push_str(if place == 0 { "" } else { "," });
                    self.write(item, json, fresh_id);
                }
                json.push(']');
            }
            BodyShape::Object(fields) | BodyShape::Some(fields) => {
                self.write_fields(fields.iter().map(|(name, item)| (*name, item)), json, fresh_id);
            }
            BodyShape::Map(fields) => {
                self.write_fields(fields.iter().map(|(name, item)| (name.as_str(), item)), json, fresh_id);
            }
        }
    }

    fn write_fields<'a>(
        &mut self,
        fields: impl Iterator<Item = (&'a str, &'a BodyShape)>,
        json: &mut String,
        fresh_id: &mut dyn FnMut() -> String,
    ) {
        json.push('{');
        for (place, (name, item)) in fields.enumerate() {
            json.push_str(if place == 0 { "" } else { "," });
            quote(name, json);
            json.push(':');
            self.write(item, json, fresh_id);
        }
        json.push('}');
    }

    /// Forgets what only matters for as long as it is stored, so that an agent can answer for long: lock-delays that are over at an
    /// instant, sessions that have ended, checks that are not registered, and ids in letters of a client's own.
    pub fn tidy_all(&mut self, now: Instant) {
        self.tidy(now);
        if self.names.has_many_spellings() {
            let entries = self.server.below(Prefix::All).map(|(_, entry)| entry.spelling);
            let queries = self.server.prepared().iter().filter_map(|query| Some(query.session?.1));
            let stored: BTreeSet<Spelling> = entries.chain(queries).collect();
            self.names.forget_spellings(|spelling| stored.contains(&spelling));
        }
    }

    /// How a session's id is written.
    pub fn session_text(&self, session: SessionId) -> &str {
        self.names.session_text(session, Spelling::default())
    }

    /// The id of the session that holds a key, as the store has it.
    pub fn holder(&mut self, key: &str) -> Option<String> {
        let key = self.key(key).ok()?;
        let (session, spelling) = self.server.entry(key)?.holder()?;
        Some(self.names.session_text(session, spelling).to_owned())
    }

    /// Whether the catalogue has a node.
    pub fn has_node(&mut self, node: &str) -> bool {
        self.names.node(node).is_ok_and(|node| self.server.is_listed(node))
    }

    /// Whether a node of the catalogue has a service.
    pub fn has_service(&mut self, node: &str, service: &str) -> bool {
        let (Ok(node), Ok(service)) = (self.names.node(node), self.names.service(service)) else { return false };
        self.server.is_listed(node) && self.server.has_service(node, service)
    }

    /// The status of a check of a node, if it has it.
    pub fn check_status(&mut self, node: &str, check: &str) -> Option<Status> {
        let node = self.names.node(node).ok()?;
        let kind = self.names.known_check(node, check)?;
        self.server.check(node, kind)
    }

    /// C-GEN-10: what `Allow` says of the endpoint that a request is for.
    pub fn methods(&self, url: &str) -> String {
        let path = url.split('?').next().unwrap_or(url);
        let endpoint = super::ENDPOINTS.iter().find(|(start, ..)| path.starts_with(start));
        let methods = endpoint.map_or(&[][..], |(_, methods, _)| methods);
        ["OPTIONS"].iter().chain(methods).copied().collect::<Vec<_>>().join(",")
    }

    /// The position of the last log entry, as clients see it.
    pub fn position(&self) -> u64 {
        u64::from(self.server.position().raw())
    }
}

impl BodyShape {
    /// Whether a body like this is JSON.
    pub fn is_json(&self) -> bool {
        !matches!(self, BodyShape::Nothing | BodyShape::Any | BodyShape::Raw(_) | BodyShape::Text(_))
    }
}

fn quote(text: &str, json: &mut String) {
    json.push_str(&Value::from(text).to_string());
}
