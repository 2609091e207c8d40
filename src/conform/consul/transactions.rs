//! `/v1/txn`: several operations, all or none.

use base64::Engine;
use serde_json::{Map, Value, json};

use super::kv::VALUE_MAX;
use super::names::{Named, Overflow};
use super::{Agent, Answered, Class, Expected, Parts, Shape};
use fencepost_consul::{Claim, Key, Operation, Plain};
use fencepost_consul::{Failure, Outcome, Status};
use fencepost_model::ids::ClientId;

/// C-TXN-1: the most operations.
const OPERATIONS_MAX: usize = 64;

/// An operation with what its error texts repeat.
struct Written {
    operation: Operation,
    key: String,
    session: Named,
    session_text: String,
    theirs: u64,
    verb: String,
}

/// Why an operation cannot be carried out at all.
enum Refused {
    /// Consul says so, before the log (C-TXN-8).
    Says(String),
    /// The model has no room for it.
    Overflow(Overflow),
    /// The body is not what it should be.
    Body,
}

impl From<Overflow> for Refused {
    fn from(overflow: Overflow) -> Self {
        Refused::Overflow(overflow)
    }
}

impl Agent {
    pub(super) fn serve_transaction(&mut self, parts: &Parts<'_>) -> Answered {
        let body = || Ok(Expected::text(Class::TxnBody, 400, "Failed to parse body"));
        let Ok(Value::Array(items)) = serde_json::from_slice(parts.body) else { return body() };
        if items.len() > OPERATIONS_MAX {
            let text = format!("Transaction contains too many operations ({} > 64)", items.len());
            return Ok(Expected::text(Class::TxnTooMany, 413, text));
        }
        let mut written = Vec::new();
        let mut refused = Vec::new();
        for (place, item) in items.iter().enumerate() {
            match self.read_operation(item) {
                Ok(operation) => written.push(operation),
                Err(Refused::Says(what)) => refused.push((place, what)),
                Err(Refused::Overflow(overflow)) => return Err(overflow),
                Err(Refused::Body) => return body(),
            }
        }
        if !refused.is_empty() {
            return Ok(Expected::new(Class::TxnPrecheck, 409, failure_shape(&refused, false)));
        }
        let operations: Vec<Operation> = written.iter().map(|written| written.operation).collect();
        let is_read = !operations.iter().any(Operation::writes);
        let delays = self.server.delay_count();
        let mut outcomes = Vec::new();
        if !self.hint.has_passed {
            let delayed: Vec<usize> = self.act(|server, context, _| server.delayed(&operations, context).collect());
            if !delayed.is_empty() {
                let text = |place: usize| format!("failed to lock key {:?} due to lock delay", written[place].key);
                let texts: Vec<(usize, String)> = delayed.into_iter().map(|place| (place, text(place))).collect();
                return Ok(Expected::new(Class::TxnDelayed, 409, failure_shape(&texts, false)));
            }
        }
        let is_malformed = |at: &Written| matches!(at.operation, Operation::Lock(_)) && at.session == Named::Malformed;
        self.act(|server, context, out| {
            server.transact(ClientId(0), &operations, context, out, &mut |place, outcome| {
                outcomes.push((place, outcome))
            });
        });
        let failures: Vec<(usize, Failure)> =
            outcomes.iter().filter_map(|(place, outcome)| Some((*place, *outcome.as_ref().err()?))).collect();
        if failures.is_empty() {
            let shape = self.results_shape(&outcomes, is_read);
            let class = if is_read { Class::TxnRead } else { self.class_of_success(&operations, delays) };
            return Ok(Expected::new(class, 200, shape));
        }
        let texts: Vec<(usize, String)> = failures
            .iter()
            .map(|(place, failure)| {
                let at = &written[*place];
                let text = if is_malformed(at) && *failure == Failure::NoSession {
                    "failed session lookup: index error: UUID must be 36 characters".to_owned()
                } else {
                    self.failure_text(at, *failure)
                };
                (*place, text)
            })
            .collect();
        let class = match texts.len() {
            _ if self.server.delay_count() > delays => Class::TxnKeepsDelay,
            _ if is_read => Class::TxnReadFailed,
            1 => Class::TxnFailed,
            _ => Class::TxnFailedTwice,
        };
        Ok(Expected::new(class, 409, failure_shape(&texts, is_read)))
    }

    /// C-LD-10: whether a key was freed and locked at once.
    fn class_of_success(&self, operations: &[Operation], delays_before: usize) -> Class {
        let locks = operations.iter().any(|operation| matches!(operation, Operation::Lock(_)));
        let is_new = self.server.delay_count() > delays_before;
        if locks && is_new { Class::TxnFreesAndLocks } else { Class::TxnDone }
    }

    /// C-TXN-1, C-TXN-2.
    fn read_operation(&mut self, item: &Value) -> Result<Written, Refused> {
        let object = item.as_object().ok_or(Refused::Body)?;
        if let Some(kv) = object.get("KV") {
            return self.read_kv(kv.as_object().ok_or(Refused::Body)?);
        }
        if let Some(check) = object.get("Check") {
            return self.read_check(check.as_object().ok_or(Refused::Body)?);
        }
        Err(Refused::Body)
    }

    fn read_kv(&mut self, kv: &Map<String, Value>) -> Result<Written, Refused> {
        const FIELDS: [&str; 6] = ["Verb", "Key", "Value", "Flags", "Index", "Session"];
        if kv.keys().any(|name| !FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name))) {
            return Err(Refused::Body);
        }
        let field = |name: &str| {
            kv.iter().find(|(key, value)| key.eq_ignore_ascii_case(name) && !value.is_null()).map(|(_, value)| value)
        };
        let text = |name: &str| field(name).map_or(Some(""), Value::as_str).ok_or(Refused::Body).map(str::to_owned);
        let number = |name: &str| field(name).map_or(Some(0), Value::as_u64).ok_or(Refused::Body);
        let (verb, key, session_text) = (text("Verb")?, text("Key")?, text("Session")?);
        let bytes = base64::engine::general_purpose::STANDARD.decode(text("Value")?).map_err(|_| Refused::Body)?;
        let (flags, theirs) = (number("Flags")?, number("Index")?);
        if key.is_empty() && verb != "get-tree" && verb != "delete-tree" {
            return Err(Refused::Says("Must provide key".to_owned()));
        }
        if bytes.len() > VALUE_MAX {
            return Err(Refused::Says("Value".to_owned()));
        }
        let value: Plain = self.names.value(&bytes);
        let flags = self.names.flags(flags)?;
        let name = if key.is_empty() { Key::Other } else { self.key(&key)? };
        let present = self.server.entry(name).map(|entry| entry.modify);
        let index = self.index(theirs, present);
        let named = match verb.as_str() {
            "unlock" | "check-session" if !session_text.is_empty() => self.names.any_session(&session_text)?,
            _ => self.names.session(&session_text)?,
        };
        let claim = match named {
            Named::Id(session, spelling) => Claim { key: name, session, spelling, value, flags },
            // Nobody has it: client 0 creates no sessions.
            Named::Missing | Named::Malformed => Claim::new(name, Default::default(), value, flags),
        };
        let operation = match verb.as_str() {
            "set" => Operation::Set { key: name, value, flags },
            "cas" => Operation::Cas { key: name, index, value, flags },
            "lock" => Operation::Lock(claim),
            "unlock" => Operation::Unlock(claim),
            "get" => Operation::Get(name),
            "get-tree" => Operation::GetTree(self.prefix(&key)?),
            "check-index" => Operation::CheckIndex { key: name, index },
            "check-session" => {
                let session = (named != Named::Missing).then_some(claim.session);
                Operation::CheckSession { key: name, session, spelling: claim.spelling }
            }
            "check-not-exists" => Operation::CheckNotExists(name),
            "delete" => Operation::Delete(name),
            "delete-tree" => Operation::DeleteTree(self.prefix(&key)?),
            "delete-cas" => Operation::DeleteCas { key: name, index },
            _ => Operation::Unknown,
        };
        Ok(Written { operation, key, session: named, session_text, theirs, verb })
    }

    /// Of the verbs for checks: those that matter to locks.
    fn read_check(&mut self, item: &Map<String, Value>) -> Result<Written, Refused> {
        let verb = item.get("Verb").and_then(Value::as_str).ok_or(Refused::Body)?.to_owned();
        let check = item.get("Check").and_then(Value::as_object).ok_or(Refused::Body)?;
        let text = |name: &str| check.get(name).and_then(Value::as_str).unwrap_or("");
        let node = self.names.node(text("Node"))?;
        let kind = self.names.check(text("CheckID"))?;
        let operation = match verb.as_str() {
            "set" => Operation::SetCheck(node, kind, status(text("Status"))),
            "delete" => Operation::DropCheck(node, kind),
            _ => return Err(Refused::Overflow(Overflow("only the verbs set and delete of checks are known"))),
        };
        let key = String::new();
        Ok(Written { operation, key, session: Named::Missing, session_text: String::new(), theirs: 0, verb })
    }

    /// C-TXN-4, C-TXN-7.
    fn results_shape(&self, outcomes: &[(usize, Result<Outcome, Failure>)], is_read: bool) -> Shape {
        let mut results = Vec::new();
        let mut show = |name, shape| results.push(Shape::Object(vec![(name, shape)]));
        for outcome in outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()) {
            match outcome {
                Outcome::Silent => {}
                Outcome::Entry(key, entry) => show("KV", self.entry_shape(*key, *entry, false)),
                Outcome::Whole(key, entry) => show("KV", self.entry_shape(*key, *entry, true)),
                Outcome::Tree(entries) => {
                    entries.iter().for_each(|(key, entry)| show("KV", self.entry_shape(*key, *entry, true)));
                }
                Outcome::Check => show("Check", Shape::Any),
            }
        }
        // An empty list is null where it was written, and a list where it was read.
        let results = if results.is_empty() && !is_read { Shape::Any } else { Shape::List(results) };
        answer_shape(results, Shape::Json(Value::Null), is_read)
    }

    /// C-TXN-5.
    fn failure_text(&self, at: &Written, failure: Failure) -> String {
        let key = &at.key;
        let (lock, set) = match at.verb.as_str() {
            "delete-cas" => ("lock", "delete"),
            _ => ("lock", "set"),
        };
        match failure {
            Failure::Held => format!("failed to {lock} key {key:?}, lock is already held"),
            Failure::NoSession if at.session == Named::Missing => "missing session".to_owned(),
            Failure::NoSession => format!("invalid session {:?}", at.session_text),
            Failure::NotHeld if at.session == Named::Missing => "missing session".to_owned(),
            Failure::NotHeld => {
                format!("failed to unlock key {key:?}, lock isn't held, or is held by another session")
            }
            Failure::Stale => format!("failed to {set} key {key:?}, index is stale"),
            Failure::AtIndex(index) => {
                // Only what has been seen can be said; the beginning is certain.
                match self.names.theirs(index) {
                    Some(theirs) => {
                        format!("failed index check for key {key:?}, current modify index {theirs} != {}", at.theirs)
                    }
                    None => format!("failed index check for key {key:?}, current modify index"),
                }
            }
            Failure::OfSession(holder) => {
                let holder = holder.map_or("", |(session, spelling)| self.names.session_text(session, spelling));
                format!("failed session check for key {key:?}, current session {holder:?} != {:?}", at.session_text)
            }
            Failure::Absent if at.verb == "check-session" => {
                format!("failed to check session, key {key:?} doesn't exist")
            }
            Failure::Absent if at.verb == "check-index" => format!("failed to check index, key {key:?} doesn't exist"),
            Failure::Absent => format!("key {key:?} doesn't exist"),
            Failure::Present => format!("key {key:?} exists"),
            Failure::UnknownVerb => format!("unknown KV verb {:?}", at.verb),
            Failure::NoNode => "Missing node registration".to_owned(),
        }
    }
}

fn failure_shape(failures: &[(usize, String)], is_read: bool) -> Shape {
    let error = |(place, what): &(usize, String)| {
        Shape::Object(vec![("OpIndex", Shape::Json(json!(place))), ("What", Shape::Text(what.clone()))])
    };
    answer_shape(Shape::Json(Value::Null), Shape::List(failures.iter().map(error).collect()), is_read)
}

/// C-TXN-7: one that only reads has more fields.
fn answer_shape(results: Shape, errors: Shape, is_read: bool) -> Shape {
    let fields = vec![("Results", results), ("Errors", errors)];
    if is_read { Shape::Some(fields) } else { Shape::Object(fields) }
}

/// C-SES-11: without a status a check is critical.
pub(super) fn status(text: &str) -> Status {
    match text {
        "passing" => Status::Passing,
        "warning" => Status::Warning,
        _ => Status::Critical,
    }
}
