//! Requests of a program as HTTP, and the agent's answers as the program hears them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fencepost_consul::{
    Answer, Behavior, CheckKind, Claim, Entry, Key, Listing, Operation, Plain, Request, Target, Terms, Watch,
};
use fencepost_model::ids::{Index, RawId, SessionId};
use fencepost_model::inline_array::InlineArray;
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use serde_json::{Value, json};

use super::agent::{Agent, Evidence, registered_check};
use super::lists::{key_list, node_health, node_list, session_info, session_list, tree};
use super::names::{SessionIds, fit, prefix};
use crate::LiveError;

/// The most contenders of a semaphore that a listing has room for in the model.
const CONTENDERS_MAX: usize = 6;

/// How long the agent may take over a request that does not block.
const PATIENCE: Duration = Duration::from_secs(60);

/// C-BLK-2: how long a query blocks at most, and what the agent may add to it.
const BLOCKING_MAX: Duration = Duration::from_secs(11 * 60);

/// What has to be written otherwise in the name of a key.
const RESERVED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

/// A request over HTTP.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// `GET`, `PUT` or `DELETE`.
    pub method: &'static str,
    /// With its query.
    pub path: String,
    /// The body.
    pub body: Vec<u8>,
    /// How long to wait for the response.
    pub timeout: Duration,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Reply {
    /// An answer.
    Answered {
        /// HTTP's status.
        status: u16,
        /// `X-Consul-Index`.
        index: Option<u64>,
        /// The body.
        body: Vec<u8>,
    },
    /// No connection was made: nothing has happened.
    Refused(String),
    /// The connection was closed before the answer: it may have been carried out, or not.
    Closed(String),
    /// No answer came in time: it may have been carried out, or not.
    Lost,
}

/// Writes a request for the agent.
///
/// # Errors
/// The request has no form over HTTP here.
pub fn question(request: &Request, agent: &Agent, names: &SessionIds) -> Result<HttpRequest, LiveError> {
    let key = |key: Key| Ok::<String, LiveError>(encode(&names.key(agent, key)?));
    let mut timeout = PATIENCE;
    let (method, path, body) = match request {
        Request::CreateSession(terms) => {
            ("PUT", "/v1/session/create".to_owned(), session(terms, agent)?.to_string().into_bytes())
        }
        Request::RenewSession(session) => ("PUT", format!("/v1/session/renew/{}", names.text(*session)), Vec::new()),
        Request::DestroySession(session) => {
            ("PUT", format!("/v1/session/destroy/{}", names.text(*session)), Vec::new())
        }
        Request::FindSession => ("GET", "/v1/session/list".to_owned(), Vec::new()),
        Request::Get(of) => ("GET", format!("/v1/kv/{}", key(*of)?), Vec::new()),
        Request::GetConsistent(of) => ("GET", format!("/v1/kv/{}?consistent", key(*of)?), Vec::new()),
        Request::List | Request::Before(_) => ("GET", format!("/v1/kv/{}?recurse", encode(&agent.prefix)), Vec::new()),
        Request::Watch(watch) | Request::WatchConsistent(watch) => {
            timeout = BLOCKING_MAX;
            let Watch { target, index, wait } = watch;
            let wait = wait.map_or_else(|| "600s".to_owned(), |wait| agent.duration(wait));
            let place = match target {
                Target::Key(of) => format!("{}?", key(*of)?),
                Target::Prefix => format!("{}?recurse&", encode(&agent.prefix)),
                Target::Keys(below) => format!("{}?keys&", encode(&prefix(agent, *below)?)),
            };
            let mode = if matches!(request, Request::WatchConsistent(_)) { "&consistent" } else { "" };
            ("GET", format!("/v1/kv/{place}index={}&wait={wait}{mode}", index.raw()), Vec::new())
        }
        Request::Put { key: of, value, flags } => {
            ("PUT", format!("/v1/kv/{}?flags={}", key(*of)?, SessionIds::flags(*flags)?), names.bytes(*value)?)
        }
        Request::Cas { key: of, index, value, flags } => {
            let flags = SessionIds::flags(*flags)?;
            ("PUT", format!("/v1/kv/{}?cas={}&flags={flags}", key(*of)?, index.raw()), names.bytes(*value)?)
        }
        Request::Acquire(claim) => {
            let Claim { key: of, session, spelling, value, flags } = claim;
            let (session, flags) = (names.spelled(*session, *spelling), SessionIds::flags(*flags)?);
            ("PUT", format!("/v1/kv/{}?acquire={session}&flags={flags}", key(*of)?), names.bytes(*value)?)
        }
        Request::Release(claim) => {
            let Claim { key: of, session, spelling, value, flags } = claim;
            let (session, flags) = (names.spelled(*session, *spelling), SessionIds::flags(*flags)?);
            ("PUT", format!("/v1/kv/{}?release={session}&flags={flags}", key(*of)?), names.bytes(*value)?)
        }
        Request::Delete(of) => ("DELETE", format!("/v1/kv/{}", key(*of)?), Vec::new()),
        Request::DeleteCas { key: of, index } => {
            ("DELETE", format!("/v1/kv/{}?cas={}", key(*of)?, index.raw()), Vec::new())
        }
        Request::Commit(transaction) => {
            let all = transaction.operations.iter().map(|operation| operation_text(operation, agent, names));
            let all = all.collect::<Result<Vec<Value>, LiveError>>()?;
            ("PUT", "/v1/txn".to_owned(), Value::Array(all).to_string().into_bytes())
        }
        Request::SessionInfo(session) => ("GET", format!("/v1/session/info/{}", names.text(*session)), Vec::new()),
        Request::Sessions(None) => ("GET", "/v1/session/list".to_owned(), Vec::new()),
        Request::Sessions(Some(node)) => {
            ("GET", format!("/v1/session/node/{}", encode(agent.node_name(*node)?)), Vec::new())
        }
        Request::Keys(of) => ("GET", format!("/v1/kv/{}?keys", encode(&prefix(agent, *of)?)), Vec::new()),
        Request::Tree(of) => ("GET", format!("/v1/kv/{}?recurse", encode(&prefix(agent, *of)?)), Vec::new()),
        Request::DeleteTree(of) => ("DELETE", format!("/v1/kv/{}?recurse", encode(&prefix(agent, *of)?)), Vec::new()),
        Request::Leader => ("GET", "/v1/status/leader".to_owned(), Vec::new()),
        Request::Nodes => ("GET", "/v1/catalog/nodes".to_owned(), Vec::new()),
        Request::NodeHealth(node) => {
            ("GET", format!("/v1/health/node/{}", encode(agent.node_name(*node)?)), Vec::new())
        }
        Request::SetCheck(node, kind, status) => {
            let id = check_id(*kind)?;
            let check = json!({"CheckID": id, "Name": id, "Status": status.to_string()});
            let body = json!({"Node": agent.node_name(*node)?, "Address": "127.0.0.1", "Check": check});
            ("PUT", "/v1/catalog/register".to_owned(), body.to_string().into_bytes())
        }
        Request::DeregisterCheck(node, kind) => {
            let body = json!({"Node": agent.node_name(*node)?, "CheckID": check_id(*kind)?});
            ("PUT", "/v1/catalog/deregister".to_owned(), body.to_string().into_bytes())
        }
        Request::DeregisterNode(node) => {
            let body = json!({"Node": agent.node_name(*node)?});
            ("PUT", "/v1/catalog/deregister".to_owned(), body.to_string().into_bytes())
        }
    };
    Ok(HttpRequest { method, path, body, timeout })
}

/// The id of a check of a node that is merely registered.
fn check_id(kind: CheckKind) -> Result<&'static str, LiveError> {
    registered_check(kind).ok_or_else(|| LiveError::Unsupported(kind.to_string()))
}

fn encode(name: &str) -> String {
    percent_encode(name.as_bytes(), RESERVED).to_string()
}

/// C-SES-1: the body of a session's creation. A session that is bound to nothing says so, for the default is the gossip check.
fn session(terms: &Terms, agent: &Agent) -> Result<Value, LiveError> {
    let Terms { ttl, lock_delay, behavior, checks } = terms;
    let mut bound = Vec::new();
    for check in checks.iter() {
        let unsupported = || LiveError::Unsupported(format!("a session that is bound to {check:?}"));
        bound.push(agent.check(check).ok_or_else(unsupported)?);
    }
    let mut body = json!({
        "Name": agent.session_name,
        "LockDelay": agent.duration(*lock_delay),
        "Behavior": match behavior { Behavior::Release => "release", Behavior::Delete => "delete" },
        "NodeChecks": bound,
    });
    if let Some(node) = &agent.node {
        body["Node"] = Value::String(node.clone());
    }
    if let Some(ttl) = ttl {
        body["TTL"] = Value::String(agent.duration(*ttl));
    }
    Ok(body)
}

/// C-TXN-2: one operation of a transaction.
fn operation_text(operation: &Operation, agent: &Agent, names: &SessionIds) -> Result<Value, LiveError> {
    let key = |key: Key| names.key(agent, key);
    let claim = |verb: &str, claim: &Claim<Plain>| {
        let Claim { key: of, session, spelling, value, flags } = claim;
        let value = base64(&names.plain(*value)?);
        let session = names.spelled(*session, *spelling);
        Ok::<Value, LiveError>(
            json!({"Verb": verb, "Key": key(*of)?, "Value": value, "Flags": SessionIds::flags(*flags)?, "Session": session}),
        )
    };
    let inner = match operation {
        Operation::CheckSession { key: of, session, spelling } => {
            let session = session.map(|session| names.spelled(session, *spelling)).unwrap_or_default();
            json!({"Verb": "check-session", "Key": key(*of)?, "Session": session})
        }
        Operation::CheckIndex { key: of, index } => {
            json!({"Verb": "check-index", "Key": key(*of)?, "Index": index.raw()})
        }
        Operation::Set { key: of, value, flags } => {
            json!({"Verb": "set", "Key": key(*of)?, "Value": base64(&names.plain(*value)?), "Flags": SessionIds::flags(*flags)?})
        }
        Operation::Cas { key: of, index, value, flags } => {
            let value = base64(&names.plain(*value)?);
            let flags = SessionIds::flags(*flags)?;
            json!({"Verb": "cas", "Key": key(*of)?, "Value": value, "Flags": flags, "Index": index.raw()})
        }
        Operation::Lock(at) => claim("lock", at)?,
        Operation::Unlock(at) => claim("unlock", at)?,
        Operation::Get(of) => json!({"Verb": "get", "Key": key(*of)?}),
        Operation::GetTree(of) => json!({"Verb": "get-tree", "Key": prefix(agent, *of)?}),
        Operation::CheckNotExists(of) => json!({"Verb": "check-not-exists", "Key": key(*of)?}),
        Operation::Delete(of) => json!({"Verb": "delete", "Key": key(*of)?}),
        Operation::DeleteCas { key: of, index } => {
            json!({"Verb": "delete-cas", "Key": key(*of)?, "Index": index.raw()})
        }
        Operation::DeleteTree(of) => json!({"Verb": "delete-tree", "Key": prefix(agent, *of)?}),
        other => return Err(LiveError::Unsupported(other.to_string())),
    };
    Ok(json!({ "KV": inner }))
}

/// What a program hears of a reply; none: nothing, as of a message that is lost.
///
/// # Errors
/// The agent says something for which the model has no answer.
pub fn answer(
    request: &Request,
    reply: &Reply,
    agent: &Agent,
    names: &mut SessionIds,
) -> Result<Option<Answer>, LiveError> {
    let (status, index, body) = match reply {
        Reply::Answered { status, index, body } => (*status, *index, body.as_slice()),
        Reply::Refused(_) | Reply::Closed(_) => return Ok(Some(Answer::Disconnected)),
        Reply::Lost => return Ok(None),
    };
    let text = String::from_utf8_lossy(body);
    let value = || serde_json::from_slice::<Value>(body).unwrap_or_default();
    let unknown =
        || LiveError::Answer { request: request.to_string(), status, body: text.trim().chars().take(200).collect() };
    if status == 500 && (text.contains("No cluster leader") || text.contains("rpc error")) {
        return Ok(Some(Answer::NoLeader));
    }
    let answer = match (request, status) {
        (Request::CreateSession(_), 200) => Answer::Created(names.created(value()["ID"].as_str().ok_or_else(unknown)?)),
        (Request::CreateSession(_), 500) if text.contains("is in critical state") => {
            Answer::Critical(agent.check_in(&text).ok_or_else(unknown)?)
        }
        (Request::CreateSession(_), 500) if text.contains("Missing check") => {
            Answer::Missing(Some(agent.check_in(&text).ok_or_else(unknown)?))
        }
        (Request::CreateSession(_), 500) if text.contains("Missing node registration") => Answer::Missing(None),
        (Request::RenewSession(_), 200) => Answer::Renewed,
        (Request::RenewSession(_), 404) => Answer::UnknownSession,
        (Request::FindSession, 200) => {
            let sessions = value();
            let found = sessions.as_array().into_iter().flatten();
            let mut found = found.filter(|session| session["Name"] == agent.session_name.as_str());
            Answer::Named(found.find_map(|session| session["ID"].as_str()).map(|id| names.session(id)))
        }
        (Request::Get(_) | Request::GetConsistent(_), 404) => Answer::Absent,
        (Request::Watch(watch) | Request::WatchConsistent(watch), 200 | 404) => match watch.target {
            Target::Key(_) if status == 404 => Answer::Absent,
            Target::Key(_) => Answer::Found(entry(value().get(0).ok_or_else(unknown)?, names)?),
            Target::Prefix => Answer::Listed(listing(&value(), index.unwrap_or(0), agent, names)?),
            Target::Keys(_) => Answer::Keys(key_list(&value(), index.unwrap_or(0), agent, names)?),
        },
        (Request::Get(_) | Request::GetConsistent(_), 200) => {
            Answer::Found(entry(value().get(0).ok_or_else(unknown)?, names)?)
        }
        (Request::Keys(_), 200 | 404) => Answer::Keys(key_list(&value(), index.unwrap_or(0), agent, names)?),
        (Request::Tree(_), 200 | 404) => Answer::Tree(tree(&value(), index.unwrap_or(0), agent, names)?),
        (Request::SessionInfo(_), 200) => {
            let found = value().get(0).map(|session| session_info(session, agent, names)).transpose()?;
            Answer::Session(found)
        }
        (Request::Sessions(_), 200) => Answer::Sessions(session_list(&value(), names)),
        (Request::Leader, 200) => Answer::Leader(value().as_str().is_some_and(|leader| !leader.is_empty())),
        (Request::Nodes, 200) => Answer::Nodes(node_list(&value(), agent)),
        (Request::NodeHealth(_), 200) => Answer::Health(node_health(&value())),
        (Request::List, 200 | 404) => {
            let all = if status == 404 { Value::Null } else { value() };
            Answer::Listed(listing(&all, index.unwrap_or(0), agent, names)?)
        }
        (Request::Before(_), 404) => Answer::Before(None),
        (Request::Before(own), 200) => Answer::Before(before(&value(), *own, agent, names)?),
        (Request::Acquire(_), 500) if text.contains("invalid session") => Answer::InvalidSession,
        (
            Request::Put { .. }
            | Request::Cas { .. }
            | Request::Acquire(_)
            | Request::Release(_)
            | Request::Delete(_)
            | Request::DeleteCas { .. }
            | Request::DeleteTree(_)
            | Request::SetCheck(..)
            | Request::DeregisterCheck(..)
            | Request::DeregisterNode(_)
            | Request::DestroySession(_),
            200,
        ) => Answer::Done(text.trim() == "true"),
        (Request::Commit(_), 200) => Answer::Committed,
        (Request::Commit(_), 409) => {
            let place = value().pointer("/Errors/0/OpIndex").and_then(Value::as_u64).ok_or_else(unknown)?;
            Answer::RolledBack(fit("the place of an operation", place, u64::from(u8::MAX))?)
        }
        _ => return Err(unknown()),
    };
    Ok(Some(answer))
}

/// C-KV-6.
pub(super) fn entry(value: &Value, names: &mut SessionIds) -> Result<Entry, LiveError> {
    let number = |name: &str| value[name].as_u64().unwrap_or(0);
    let index = |name: &str| fit("a log position", number(name), u64::from(u32::MAX)).map(Index::numbered);
    let bytes = value["Value"].as_str().and_then(|text| STANDARD.decode(text).ok()).unwrap_or_default();
    let holder = value["Session"].as_str().filter(|id| !id.is_empty()).map(|id| names.holder(id));
    let (session, spelling) = holder.unzip();
    Ok(Entry {
        value: names.value(&bytes)?,
        flags: SessionIds::flags_of(number("Flags")),
        lock_index: fit("a LockIndex", number("LockIndex"), u64::from(u32::MAX))?,
        session,
        spelling: spelling.unwrap_or_default(),
        create: index("CreateIndex")?,
        modify: index("ModifyIndex")?,
    })
}

/// C-SEM-4, C-KV-21.
fn listing(all: &Value, index: u64, agent: &Agent, names: &mut SessionIds) -> Result<Listing, LiveError> {
    let index = Index::numbered(fit("a log position", index, u64::from(u32::MAX))?);
    let coordination = names.key(agent, Key::Slots)?;
    let (mut slots, mut sessions) = (None, Vec::new());
    for one in all.as_array().into_iter().flatten() {
        let found = entry(one, names)?;
        let key = one["Key"].as_str().unwrap_or_default();
        if key == coordination {
            slots = Some(found);
        }
        sessions.extend(match agent.evidence {
            Evidence::Held => found.session,
            Evidence::Named if key == coordination => None,
            Evidence::Named => key.strip_prefix(&format!("{}/", agent.key)).map(|id| names.session(id)),
        });
    }
    sessions.sort_unstable();
    sessions.dedup();
    fit::<u64>("the number of contenders", sessions.len() as u64, CONTENDERS_MAX as u64)?;
    let mut alive = InlineArray::default();
    sessions.into_iter().for_each(|session| alive.push(session));
    Ok(Listing { index, slots, alive })
}

/// The newest of the contenders' keys that are older than the own one.
fn before(
    all: &Value,
    own: Index,
    agent: &Agent,
    names: &mut SessionIds,
) -> Result<Option<(SessionId, Index)>, LiveError> {
    let coordination = names.key(agent, Key::Slots)?;
    let mut newest: Option<(Index, SessionId, Index)> = None;
    for one in all.as_array().into_iter().flatten().filter(|one| one["Key"] != coordination.as_str()) {
        let Entry { session: Some(session), create, modify, .. } = entry(one, names)? else { continue };
        if create < own && newest.is_none_or(|(other, ..)| create > other) {
            newest = Some((create, session, modify));
        }
    }
    Ok(newest.map(|(_, session, modify)| (session, modify)))
}

/// C-KV-6: values stand in JSON so.
fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
