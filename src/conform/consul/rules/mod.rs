//! A test for each rule about the HTTP API, named after it. The rules stand in `model/services/consul/rules.md`; that the same answers
//! come from a real agent is what `fencepost conform` is for.

mod catalog;
mod errors;
mod indexes;
mod items;
mod kv;
mod queries;
mod recipes;
mod seeds;
mod sessions;
mod transactions;
mod watches;

use fencepost_model::ids::RawId;
use fencepost_model::time::Instant;
use serde_json::{Value, json};

use super::{Agent, BodyShape, Class, Contact, Expected, Hint, HttpRequest, Options, Reply, SECOND, Waking};

/// A conversation with the model's agent.
struct Talk {
    agent: Agent,
    /// In nanoseconds.
    now: i64,
    sessions: u16,
}

impl Talk {
    fn new() -> Self {
        Talk { agent: Agent::new("here", Options::default()), now: 0, sessions: 0 }
    }

    fn ask(&mut self, method: &str, url: &str, body: impl ToString) -> Expected {
        let question =
            HttpRequest { method: method.to_owned(), url: url.to_owned(), body: body.to_string().into_bytes() };
        self.agent.ask(&question, Instant::at(self.now), Hint::default()).expect("not too much")
    }

    fn get(&mut self, url: &str) -> Expected {
        self.ask("GET", url, "")
    }

    fn put(&mut self, url: &str, body: impl ToString) -> Expected {
        self.ask("PUT", url, body)
    }

    fn pass(&mut self, seconds: i64) {
        self.now += seconds * SECOND;
    }

    /// Lets the server give this answer.
    fn told(&mut self, expected: &Expected, body: &Value) {
        let reply = Reply {
            status: expected.status,
            index: None,
            has_headers: false,
            contact: None,
            body: body.to_string().into_bytes(),
        };
        self.agent.accept(expected, &reply).expect("as expected");
    }

    /// A session without checks and without lock-delay, but for what is asked for; its id.
    fn session(&mut self, requested: &Value) -> String {
        let mut body = json!({"NodeChecks": [], "LockDelay": "0s"});
        body.as_object_mut().expect("an object").extend(requested.as_object().cloned().unwrap_or_default());
        let expected = self.put("/v1/session/create", body);
        assert_eq!(expected.class, Class::SessionCreated);
        self.sessions += 1;
        let id = format!("aaaaaaaa-0000-0000-0000-{:012}", self.sessions);
        self.told(&expected, &json!({"ID": id}));
        id
    }

    /// What a session is asked for becomes of its lists of checks. C-SES-16.
    fn shown(&mut self, requested: &Value) -> Value {
        let expected = self.put("/v1/session/create", requested);
        if expected.class != Class::SessionCreated {
            return json!(format!("{expected:?}"));
        }
        self.sessions += 1;
        let id = format!("bbbbbbbb-0000-0000-0000-{:012}", self.sessions);
        self.told(&expected, &json!({"ID": id}));
        let info = self.get(&format!("/v1/session/info/{id}"));
        plain(&info.body)[0].clone()
    }

    fn acquire(&mut self, key: &str, session: &str) -> Expected {
        self.put(&format!("/v1/kv/{key}?acquire={session}"), "x")
    }

    fn entry(&mut self, key: &str) -> Value {
        plain(&self.get(&format!("/v1/kv/{key}")).body)[0].clone()
    }

    /// Registers an external node with checks that pass.
    fn node(&mut self, name: &str, checks: &[&str]) {
        self.put("/v1/catalog/register", json!({"Node": name, "Address": "127.0.0.1"}));
        checks.iter().for_each(|check| self.check(name, check, "passing"));
    }

    fn check(&mut self, node: &str, check: &str, status: &str) {
        let check = json!({"CheckID": check, "Name": check, "Status": status});
        self.put("/v1/catalog/register", json!({"Node": node, "Address": "127.0.0.1", "Check": check}));
    }

    fn destroy(&mut self, session: &str) -> Expected {
        self.put(&format!("/v1/session/destroy/{session}"), "")
    }

    fn txn(&mut self, operations: &Value) -> Expected {
        self.put("/v1/txn", operations)
    }
}

/// A shape as JSON, with the model's own log positions.
fn plain(shape: &BodyShape) -> Value {
    match shape {
        BodyShape::Json(value) => value.clone(),
        BodyShape::Index(index) => json!(index.raw()),
        BodyShape::Text(text) => json!(text),
        BodyShape::List(items) => items.iter().map(plain).collect(),
        BodyShape::Object(fields) | BodyShape::Some(fields) => {
            Value::Object(fields.iter().map(|(name, shape)| ((*name).to_owned(), plain(shape))).collect())
        }
        BodyShape::Map(fields) => {
            Value::Object(fields.iter().map(|(name, shape)| (name.clone(), plain(shape))).collect())
        }
        BodyShape::Nothing | BodyShape::Any | BodyShape::Raw(_) | BodyShape::NewSession(_) | BodyShape::NewQuery(_) => {
            Value::Null
        }
    }
}

const NOBODY: &str = "99999999-0000-0000-0000-000000000000";
