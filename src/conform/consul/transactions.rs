//! `/v1/txn`: several operations, all or none.

use fencepost_consul::{Failure, Item, Operation, OperationResult, Registration, Status};
use fencepost_model::ids::ClientId;
use serde_json::{Value, json};

use super::names::{NameLimitError, Named};
use super::operations::{Refused, Subject, Written, key_of};
use super::{Agent, Answered, BodyShape, Class, Expected, Parts};

/// C-TXN-1: the most operations.
const OPERATIONS_MAX: usize = 64;

/// No log gets so far: a million entries a second for 285 years.
const NO_POSITION: u64 = 1 << 53;

impl Agent {
    pub(super) fn serve_transaction(&mut self, parts: &Parts<'_>) -> Answered {
        let body = || Ok(Expected::text(Class::TxnBody, 400, "Failed to parse body"));
        let first = serde_json::Deserializer::from_slice(parts.body).into_iter::<Value>().next();
        let items = match first {
            Some(Ok(Value::Array(items))) => items,
            Some(Ok(Value::Null)) => Vec::new(),
            _ => return body(),
        };
        if items.len() > OPERATIONS_MAX {
            let text = format!("Transaction contains too many operations ({} > 64)", items.len());
            return Ok(Expected::text(Class::TxnTooMany, 413, text));
        }
        // A new name moves those behind it: all have to be known before one of them is used.
        for name in items.iter().filter_map(key_of) {
            self.key(name)?;
        }
        let mut written = Vec::new();
        let mut refused = Vec::new();
        for (place, item) in items.iter().enumerate() {
            match self.read_operation(item) {
                Ok(operation) => written.push(operation),
                Err(Refused::Says(what)) => refused.push((place, what)),
                Err(Refused::NameLimitError(overflow)) => return Err(overflow),
                Err(Refused::Body) => return body(),
            }
        }
        if !refused.is_empty() {
            return Ok(Expected::new(Class::TxnPrecheck, 409, failure_shape(&refused, false)));
        }
        let changes_nodes = written.iter().any(|at| at.writes() && matches!(at.operation.item(), Some(Item::Node(_))));
        let ids = || written.iter().filter(|at| !at.node_id.is_empty());
        if changes_nodes && ids().any(|at| !at.writes() || ids().any(|other| at.is_of_same_id(other))) {
            return Err(NameLimitError("a transaction that names a node by an id which it has just given"));
        }
        let operations: Vec<Operation> = written.iter().map(|written| written.operation).collect();
        let is_read = !written.iter().any(Written::writes);
        let delays = self.server.delay_count();
        let mut outcomes = Vec::new();
        if !self.hint.has_passed {
            let delayed: Vec<usize> = self.act(|server, context, _| server.delayed(&operations, context).collect());
            if !delayed.is_empty() {
                let text = |place: usize| format!("failed to lock key {:?} due to lock delay", written[place].key());
                let texts: Vec<(usize, String)> = delayed.into_iter().map(|place| (place, text(place))).collect();
                return Ok(Expected::new(Class::TxnDelayed, 409, failure_shape(&texts, false)));
            }
        }
        let is_stale = |place: usize| self.hint.stale >> place & 1 == 1;
        let is_open = |(place, at): (usize, &Written)| !is_stale(place) && self.may_be_at(at);
        if self.hint.success == Some(false) && written.len() > 1 && written.iter().enumerate().any(is_open) {
            return Err(NameLimitError("a failed transaction that compares an index which no answer has shown"));
        }
        let is_malformed = |at: &Written| matches!(at.operation, Operation::Lock(_)) && at.session == Named::Malformed;
        self.act(|server, context, out| {
            server.transact(ClientId(0), &operations, context, out, &mut |place, outcome| {
                outcomes.push((place, outcome))
            });
        });
        let failures: Vec<(usize, Failure)> =
            outcomes.iter().filter_map(|(place, outcome)| Some((*place, *outcome.as_ref().err()?))).collect();
        if failures.iter().any(|(_, failure)| *failure == Failure::Untold) {
            return Err(NameLimitError(
                "a transaction that compares an index which an agent, or how it was written, leaves open",
            ));
        }
        if failures.is_empty() {
            written.iter().for_each(|at| self.note_id_of(at));
            let shape = self.results_shape(&outcomes, is_read);
            let class = if is_read { Class::TxnRead } else { self.class_of_success(&operations, &outcomes, delays) };
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
            1 if failures
                .iter()
                .any(|(place, failure)| *failure == Failure::Stale && written[*place].key().is_empty()) =>
            {
                Class::TxnItemStale
            }
            1 => Class::TxnFailed,
            _ => Class::TxnFailedTwice,
        };
        Ok(Expected::new(class, 409, failure_shape(&texts, is_read)))
    }

    /// Whether an operation names an index of a node, a service or a check that has not been told, and may be its index: a client can
    /// have seen it where the model does not look.
    fn may_be_at(&self, at: &Written) -> bool {
        let (Operation::RegisterAt(..) | Operation::DeregisterAt(..)) = at.operation else { return false };
        let item = at.operation.item().and_then(|item| self.server.record(item));
        let may_be = |ours| self.names.theirs(ours).is_none() && self.names.may_bind(ours, at.theirs).is_ok();
        (1..NO_POSITION).contains(&at.theirs) && item.is_some_and(|record| may_be(record.modify))
    }

    /// C-INV-4: a registration gives a node its id, or takes it away; the end of the node takes it away, too.
    fn note_id_of(&mut self, at: &Written) {
        let Some(Item::Node(node)) = at.operation.item() else { return };
        match at.operation {
            Operation::Show(_) => {}
            Operation::Register(_) | Operation::RegisterAt(..) => self.note_node_id(&at.node_id, node),
            _ => self.note_node_id("", node),
        }
    }

    /// C-LD-10: whether a key was freed and locked at once; C-TXN-10, C-TXN-11: whether something was set at its index.
    fn class_of_success(
        &self,
        operations: &[Operation],
        outcomes: &[(usize, Result<OperationResult, Failure>)],
        delays_before: usize,
    ) -> Class {
        let locks = operations.iter().any(|operation| matches!(operation, Operation::Lock(_)));
        let is_new = self.server.delay_count() > delays_before;
        let by_index =
            |operation: &Operation| matches!(operation, Operation::RegisterAt(..) | Operation::DeregisterAt(..));
        if locks && is_new {
            Class::TxnFreesAndLocks
        } else if outcomes.iter().any(|(place, outcome)| is_untold(operations[*place], outcome)) {
            Class::TxnCheckUntold
        } else if operations.iter().any(by_index) {
            Class::TxnItemAtIndex
        } else {
            Class::TxnDone
        }
    }

    /// C-TXN-4, C-TXN-7.
    fn results_shape(&self, outcomes: &[(usize, Result<OperationResult, Failure>)], is_read: bool) -> BodyShape {
        let mut results = Vec::new();
        let mut show = |name, shape| results.push(BodyShape::Object(vec![(name, shape)]));
        for outcome in outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok()) {
            match outcome {
                OperationResult::Silent => {}
                OperationResult::Entry(key, entry) => show("KV", self.entry_shape(*key, *entry, false)),
                OperationResult::Whole(key, entry) => show("KV", self.entry_shape(*key, *entry, true)),
                OperationResult::Tree(entries) => {
                    entries.iter().for_each(|(key, entry)| show("KV", self.entry_shape(*key, *entry, true)));
                }
                OperationResult::Item(item, record) => {
                    let name = match item {
                        Item::Node(_) => "Node",
                        Item::Service(..) => "Service",
                        Item::Check(..) => "Check",
                    };
                    show(name, self.item_shape(*item, record));
                }
            }
        }
        // An empty list is null where it was written, and a list where it was read.
        let results = if results.is_empty() && !is_read { BodyShape::Any } else { BodyShape::List(results) };
        answer_shape(results, BodyShape::Json(Value::Null), is_read)
    }

    /// C-TXN-5.
    fn failure_text(&self, at: &Written, failure: Failure) -> String {
        let key = at.key();
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
            Failure::Stale => match &at.subject {
                Subject::Nothing | Subject::Key(_) => format!("failed to {set} key {key:?}, index is stale"),
                Subject::Node(node) => format!("failed to {set} node {node:?}, index is stale"),
                Subject::Service(id, node) => {
                    format!("failed to {set} service {id:?} on node {node:?}, index is stale")
                }
                Subject::Check(id, node) => format!("failed to {set} check {id:?} on node {node:?}, index is stale"),
            },
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
            Failure::UnknownVerb => {
                let kind = match at.subject {
                    Subject::Nothing | Subject::Key(_) => "KV",
                    Subject::Node(_) => "Node",
                    Subject::Service(..) => "Service",
                    Subject::Check(..) => "Check",
                };
                format!("unknown {kind} verb {:?}", at.verb)
            }
            Failure::NoNode => "Missing node registration".to_owned(),
            Failure::NoService => "Missing service registration".to_owned(),
            Failure::NoId => {
                let kind = if matches!(at.subject, Subject::Service(..)) { "service" } else { "check" };
                format!("failed inserting {kind}: object missing primary index")
            }
            Failure::Untold => "index is not known".to_owned(),
            Failure::Unregistered => match &at.subject {
                Subject::Node(name) => format!("node {name:?} doesn't exist"),
                Subject::Service(id, node) => format!("service {id:?} on node {node:?} doesn't exist"),
                Subject::Check(id, node) => format!("check {id:?} on node {node:?} doesn't exist"),
                Subject::Nothing | Subject::Key(_) => "doesn't exist".to_owned(),
            },
        }
    }
}

/// C-TXN-11: whether a check was not registered, and the answer does not say it.
fn is_untold(operation: Operation, outcome: &Result<OperationResult, Failure>) -> bool {
    let Operation::RegisterAt(registration @ Registration::Check { .. }, _) = operation else { return false };
    match outcome {
        Ok(OperationResult::Item(_, record)) => record.text != registration.text(),
        outcome => outcome.is_ok(),
    }
}

fn failure_shape(failures: &[(usize, String)], is_read: bool) -> BodyShape {
    let error = |(place, what): &(usize, String)| {
        BodyShape::Object(vec![("OpIndex", BodyShape::Json(json!(place))), ("What", BodyShape::Text(what.clone()))])
    };
    answer_shape(BodyShape::Json(Value::Null), BodyShape::List(failures.iter().map(error).collect()), is_read)
}

/// C-TXN-7: one that only reads has more fields.
fn answer_shape(results: BodyShape, errors: BodyShape, is_read: bool) -> BodyShape {
    let fields = vec![("Results", results), ("Errors", errors)];
    if is_read { BodyShape::Some(fields) } else { BodyShape::Object(fields) }
}

/// C-SES-11: without a status a check is critical. C-INV-14: any other text is no more than a warning.
pub(super) fn status(text: &str) -> Status {
    match text {
        "passing" => Status::Passing,
        "critical" | "" => Status::Critical,
        _ => Status::Warning,
    }
}
