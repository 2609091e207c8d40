//! The operations of a transaction, as they are written: verbs for keys, nodes, services and checks.

use base64::Engine;
use fencepost_consul::{Claim, Item, Key, Operation, Plain, Registration};
use fencepost_model::ids::Index;
use serde_json::{Map, Value};

use super::catalog::id_of;
use super::kv::VALUE_MAX;
use super::names::{NameLimitError, Named, is_uuid};
use super::registrations::{node_form, service_form};
use super::{Agent, field};

/// An operation with what its error texts repeat.
pub(super) struct Written {
    pub(super) operation: Operation,
    /// What it is about: a key, a node, a service or a check, in the words of an error text.
    pub(super) subject: Subject,
    pub(super) session: Named,
    pub(super) session_text: String,
    pub(super) theirs: u64,
    pub(super) verb: String,
    /// The id of a node that it is about.
    pub(super) node_id: String,
}

/// What an operation is about, with its name.
pub(super) enum Subject {
    Nothing,
    Key(String),
    Node(String),
    Service(String, String),
    Check(String, String),
}

impl Written {
    /// Whether another operation gives the same id to another node.
    pub(super) fn is_of_same_id(&self, other: &Written) -> bool {
        self.node_id.eq_ignore_ascii_case(&other.node_id) && self.operation.item() != other.operation.item()
    }

    fn about(subject: Subject, verb: String, operation: Operation) -> Self {
        let (session, session_text) = (Named::Missing, String::new());
        Written { operation, subject, session, session_text, theirs: 0, verb, node_id: String::new() }
    }

    /// C-TXN-7: whether it goes through the log. An unknown verb does, unless it is about a key.
    pub(super) fn writes(&self) -> bool {
        let is_of_key = matches!(self.subject, Subject::Nothing | Subject::Key(_));
        self.operation.writes() || self.operation == Operation::Unknown && !is_of_key
    }

    pub(super) fn key(&self) -> &str {
        if let Subject::Key(key) = &self.subject { key } else { "" }
    }
}

/// Why an operation cannot be carried out at all.
pub(super) enum Refused {
    /// Consul says so, before the log (C-TXN-8).
    Says(String),
    /// The model has no room for it.
    NameLimitError(NameLimitError),
    /// The body is not what it should be.
    Body,
}

impl From<NameLimitError> for Refused {
    fn from(overflow: NameLimitError) -> Self {
        Refused::NameLimitError(overflow)
    }
}

impl Agent {
    /// C-TXN-1, C-TXN-2, C-TXN-9.
    pub(super) fn read_operation(&mut self, item: &Value) -> Result<Written, Refused> {
        if item.is_null() {
            return Err(Refused::NameLimitError(NameLimitError("an operation that is null ends the connection")));
        }
        let object = item.as_object().ok_or(Refused::Body)?;
        only(object, &["KV", "Node", "Service", "Check"])?;
        let part = |name: &str| field(object, name).map(|part| part.as_object().ok_or(Refused::Body)).transpose();
        if let Some(kv) = part("KV")? {
            return self.read_kv(kv);
        }
        if let Some(node) = part("Node")? {
            return self.read_node(node);
        }
        if let Some(service) = part("Service")? {
            return self.read_service(service);
        }
        if let Some(check) = part("Check")? {
            return self.read_check(check);
        }
        Ok(Written::about(Subject::Nothing, String::new(), Operation::Nothing))
    }

    fn read_kv(&mut self, kv: &Map<String, Value>) -> Result<Written, Refused> {
        only(kv, &["Verb", "Key", "Value", "Flags", "Index", "Session", "Namespace"])?;
        let text = |name: &str| text_of(kv, name);
        let number = |name: &str| number_of(kv, name);
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
            // An unused id: client 0 creates no sessions.
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
        Ok(Written { session: named, session_text, theirs, ..Written::about(Subject::Key(key), verb, operation) })
    }

    fn read_node(&mut self, item: &Map<String, Value>) -> Result<Written, Refused> {
        let (verb, node) = (text_of(item, "Verb")?, part_of(item, "Node")?);
        let name = text_of(&node, "Node")?;
        if name.is_empty() && verb != "get" {
            return Err(Refused::Says("Must provide node".to_owned()));
        }
        let node_id = text_of(&node, "ID")?;
        if !node_id.is_empty() && !is_uuid(&node_id) && verb != "get" {
            return Err(Refused::Says("Bad node ID".to_owned()));
        }
        // A read that names an id does not look at the name; no node has the empty one.
        let id = match self.node_of_id(&node_id) {
            Some(known) if verb == "get" => known,
            None if verb == "get" && !node_id.is_empty() => self.names.node("")?,
            _ => self.names.node(&name)?,
        };
        if matches!(verb.as_str(), "set" | "cas") && self.former(&node_id, &name, id).is_some() {
            return Err(Refused::NameLimitError(NameLimitError(
                "a transaction that gives a node the id of another one",
            )));
        }
        let form = node_form(&node, "Meta", &self.datacenter);
        let registration = Registration::Node(id, self.text(id, &form));
        let theirs = number_of(&node, "ModifyIndex")?;
        let operation = self.by_verb(&verb, registration, theirs);
        Ok(Written { theirs, node_id, ..Written::about(Subject::Node(name), verb, operation) })
    }

    fn read_service(&mut self, item: &Map<String, Value>) -> Result<Written, Refused> {
        let (verb, node) = (text_of(item, "Verb")?, text_of(item, "Node")?);
        let service = part_of(item, "Service")?;
        let (id, name) = (text_of(&service, "ID")?, text_of(&service, "Service")?);
        if name.is_empty() && !id.is_empty() && verb != "get" {
            return Err(Refused::Says("Must provide service name with ID".to_owned()));
        }
        // A read does not take the name for the id.
        let id = if verb == "get" { id } else { id_of(&service).to_owned() };
        let (on, number) = (self.names.node(&node)?, self.names.service(&id)?);
        let form = service_form(&node, &service);
        let (text, face) = (self.text(on, &form), self.face(&form));
        let registration = Registration::Service { node: on, service: number, text, face };
        let theirs = number_of(&service, "ModifyIndex")?;
        let operation = self.by_verb(&verb, registration, theirs);
        Ok(Written { theirs, ..Written::about(Subject::Service(id, node), verb, operation) })
    }

    fn read_check(&mut self, item: &Map<String, Value>) -> Result<Written, Refused> {
        let (verb, check) = (text_of(item, "Verb")?, part_of(item, "Check")?);
        let (name, id) = (text_of(&check, "Node")?, text_of(&check, "CheckID")?);
        let node = self.names.node(&name)?;
        let wanted = self.wanted(node, &name, &check)?;
        // A read does not take the name for the id.
        let (kind, id) = match verb.as_str() {
            "get" => (self.names.check(node, &id)?, id),
            _ => (wanted.kind, wanted.id().to_owned()),
        };
        let text = self.text(node, &wanted.form);
        let registration = Registration::Check { node, kind, status: wanted.status(), service: wanted.service, text };
        let theirs = number_of(&check, "ModifyIndex")?;
        let operation = self.by_verb(&verb, registration, theirs);
        Ok(Written { theirs, ..Written::about(Subject::Check(id, name), verb, operation) })
    }

    /// C-TXN-9, C-TXN-10.
    fn by_verb(&mut self, verb: &str, registration: Registration, theirs: u64) -> Operation {
        let item = registration.item();
        match verb {
            "set" => Operation::Register(registration),
            "cas" => Operation::RegisterAt(registration, self.item_position(item, theirs)),
            "get" => Operation::Show(item),
            "delete" => Operation::Deregister(item),
            "delete-cas" => Operation::DeregisterAt(item, self.item_position(item, theirs)),
            _ => Operation::Unknown,
        }
    }

    fn item_position(&mut self, item: Item, theirs: u64) -> Index {
        let present = self.server.record(item).map(|record| record.modify);
        self.index(theirs, present.filter(|modify| *modify != Index::NONE))
    }
}

/// The key, or the prefix, of an operation on keys.
pub(super) fn key_of(item: &Value) -> Option<&str> {
    let kv = field(item.as_object()?, "KV")?.as_object()?;
    field(kv, "Key")?.as_str().filter(|key| !key.is_empty())
}

/// C-TXN-1: a field that is not known makes the body wrong.
fn only(object: &Map<String, Value>, names: &[&str]) -> Result<(), Refused> {
    let is_known = |key: &String| names.iter().any(|name| name.eq_ignore_ascii_case(key));
    if object.keys().all(is_known) { Ok(()) } else { Err(Refused::Body) }
}

fn text_of(object: &Map<String, Value>, name: &str) -> Result<String, Refused> {
    field(object, name).map_or(Some(""), Value::as_str).ok_or(Refused::Body).map(str::to_owned)
}

fn number_of(object: &Map<String, Value>, name: &str) -> Result<u64, Refused> {
    field(object, name).map_or(Some(0), Value::as_u64).ok_or(Refused::Body)
}

/// A part of an operation; nothing is an empty one.
fn part_of(object: &Map<String, Value>, name: &str) -> Result<Map<String, Value>, Refused> {
    field(object, name).map_or_else(|| Ok(Map::new()), |part| part.as_object().cloned().ok_or(Refused::Body))
}
