//! Session ids and values as the agent has them.

use std::collections::BTreeMap;

use fencepost_consul::{Key, LOCK_FLAGS, Opaque, Plain, Prefix, SEMAPHORE_FLAGS, Slots, Spelling};
use fencepost_model::ids::{ClientId, RawId, SessionId, Token};
use fencepost_model::inline_array::InlineArray;
use serde_json::{Value, json};

use super::agent::Agent;
use crate::LiveError;

/// The most holders that the entry of a semaphore has room for in the model.
const HOLDERS_MAX: usize = 4;

/// What an operator's value is written as.
const FOREIGN: &str = "another application's";

/// `LockFlagValue` of the Go client. C-LCK-3.
const LOCK_FLAG_VALUE: u64 = 0x2ddc_cbc0_58a5_0c18;

/// `SemaphoreFlagValue` of the Go client. C-SEM-4.
const SEMAPHORE_FLAG_VALUE: u64 = 0xe0f6_9a2b_aa41_4de0;

/// What a program reads in place of any flags that it has no number for.
const OTHER_FLAGS: u8 = u8::MAX;

/// A prefix as the agent has it.
///
/// # Errors
/// It has no name here.
pub(crate) fn prefix(agent: &Agent, prefix: Prefix) -> Result<String, LiveError> {
    match prefix {
        Prefix::Semaphore => Ok(agent.prefix.clone()),
        Prefix::NAMED => Ok(format!("{}.named/", agent.key)),
        // An agent that others use, too, is not emptied.
        Prefix::All | Prefix::Named { .. } => Err(LiveError::Unsupported(prefix.to_string())),
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// The ids of sessions, as the agent has them and as a program has them.
#[derive(Debug)]
pub struct SessionIds {
    own: ClientId,
    ids: BTreeMap<String, SessionId>,
    texts: BTreeMap<SessionId, String>,
    created: u16,
    met: u32,
}

impl SessionIds {
    /// None yet; those that `created` names are this client's.
    pub fn new(own: ClientId) -> Self {
        SessionIds { own, ids: BTreeMap::new(), texts: BTreeMap::new(), created: 0, met: 0 }
    }

    /// A session that this client has just created.
    pub(crate) fn created(&mut self, text: &str) -> SessionId {
        self.created = self.created.wrapping_add(1);
        self.name(text, SessionId::numbered(self.own, self.created))
    }

    /// A session with this id, of any creator.
    pub(crate) fn session(&mut self, text: &str) -> SessionId {
        if let Some(known) = self.ids.get(text) {
            return *known;
        }
        // Those of others have creators that no client of a scenario is.
        let creator = 0x8000 | u16::try_from(self.met >> 16).unwrap_or(0x7fff);
        let number = u16::try_from(self.met & 0xffff).expect("sixteen bits");
        self.met = self.met.wrapping_add(1);
        self.name(text, SessionId::numbered(ClientId(creator), number))
    }

    /// Gives an id of the agent's the name that it has in a run of the model.
    pub fn name(&mut self, text: &str, id: SessionId) -> SessionId {
        self.ids.insert(text.to_owned(), id);
        self.texts.insert(id, text.to_owned());
        id
    }

    /// The id as the agent has it.
    pub fn text(&self, session: SessionId) -> &str {
        // A program has no other ids than those it was told.
        self.texts.get(&session).map_or("", String::as_str)
    }

    /// The id in a spelling; there are two. C-SES-20.
    pub(crate) fn spelled(&self, session: SessionId, spelling: Spelling) -> String {
        let text = self.text(session);
        if spelling.is_plain() { text.to_owned() } else { text.to_uppercase() }
    }

    /// The holder of an entry, with its spelling.
    pub(crate) fn holder(&mut self, text: &str) -> (SessionId, Spelling) {
        let plain = text.to_lowercase();
        let spelling = if plain == text { Spelling::default() } else { Spelling(1) };
        (self.session(&plain), spelling)
    }

    /// The name of a key.
    ///
    /// # Errors
    /// The key belongs to the HTTP edge, and has no name here.
    pub fn key(&self, agent: &Agent, key: Key) -> Result<String, LiveError> {
        let base = &agent.key;
        Ok(match key {
            Key::Lock => base.clone(),
            Key::Data => format!("{base}.data"),
            Key::Slots => format!("{base}/.lock"),
            Key::Contender(session) => format!("{base}/{}", self.text(session)),
            Key::Neighbour(session) => format!("{base}2/{}", self.text(session)),
            Key::Other => format!("{base}.other"),
            Key::Named(place) => format!("{}{place:05}", prefix(agent, Prefix::NAMED)?),
        })
    }

    /// The key with this name; none: a program has no name for it.
    pub(crate) fn key_named(&mut self, agent: &Agent, name: &str) -> Option<Key> {
        let base = &agent.key;
        let plain = [Key::Lock, Key::Data, Key::Slots, Key::Other];
        if let Some(key) = plain.into_iter().find(|key| self.key(agent, *key).is_ok_and(|other| other == name)) {
            return Some(key);
        }
        if let Some(place) =
            prefix(agent, Prefix::NAMED).ok().and_then(|prefix| name.strip_prefix(&prefix)?.parse().ok())
        {
            return Some(Key::Named(place));
        }
        let of = |before: &str| name.strip_prefix(before).filter(|id| is_uuid(id));
        if let Some(id) = of(&format!("{base}/")) {
            return Some(Key::Contender(self.session(id)));
        }
        of(&format!("{base}2/")).map(|id| Key::Neighbour(self.session(id)))
    }

    /// Flags as the agent has them.
    ///
    /// # Errors
    /// The number stands for flags of others.
    pub(crate) fn flags(flags: u8) -> Result<u64, LiveError> {
        match flags {
            LOCK_FLAGS => Ok(LOCK_FLAG_VALUE),
            SEMAPHORE_FLAGS => Ok(SEMAPHORE_FLAG_VALUE),
            OTHER_FLAGS => Err(LiveError::Unsupported("a write with the flags of another application".to_owned())),
            flags => Ok(flags.into()),
        }
    }

    /// Flags of the agent's as a program has them.
    pub(crate) fn flags_of(value: u64) -> u8 {
        match value {
            LOCK_FLAG_VALUE => LOCK_FLAGS,
            SEMAPHORE_FLAG_VALUE => SEMAPHORE_FLAGS,
            value => match u8::try_from(value) {
                Ok(LOCK_FLAGS | SEMAPHORE_FLAGS) | Err(_) => OTHER_FLAGS,
                Ok(flags) => flags,
            },
        }
    }

    /// A value as bytes.
    pub(crate) fn bytes(&self, value: Opaque) -> Result<Vec<u8>, LiveError> {
        Ok(match value {
            Opaque::Empty => Vec::new(),
            Opaque::Name(client) => format!("client-{}", client.0).into_bytes(),
            Opaque::Foreign => FOREIGN.as_bytes().to_vec(),
            Opaque::Number(token) => token.raw().to_string().into_bytes(),
            Opaque::Bytes(_) => return Err(LiveError::Unsupported("a value without contents".to_owned())),
            Opaque::Slots(slots) => {
                let holders: BTreeMap<&str, bool> =
                    slots.holders.iter().map(|session| (self.text(*session), true)).collect();
                json!({"Limit": slots.limit, "Holders": holders}).to_string().into_bytes()
            }
        })
    }

    /// The same of a value in a transaction.
    pub(crate) fn plain(&self, value: Plain) -> Result<Vec<u8>, LiveError> {
        self.bytes(value.into())
    }

    /// Bytes as a value: what a program can tell apart.
    pub(crate) fn value(&mut self, bytes: &[u8]) -> Result<Opaque, LiveError> {
        if bytes.is_empty() {
            return Ok(Opaque::Empty);
        }
        let text = String::from_utf8_lossy(bytes);
        if let Some(client) = text.strip_prefix("client-").and_then(|number| number.parse().ok()) {
            return Ok(Opaque::Name(ClientId(client)));
        }
        if let Ok(number) = text.parse() {
            return Ok(Opaque::Number(Token::numbered(number)));
        }
        let Ok(Value::Object(object)) = serde_json::from_str::<Value>(&text) else { return Ok(Opaque::Foreign) };
        let Some(limit) = object.get("Limit").and_then(Value::as_u64) else { return Ok(Opaque::Foreign) };
        let limit = fit("a semaphore's limit", limit, u64::from(u8::MAX))?;
        let mut ids: Vec<SessionId> = match object.get("Holders") {
            Some(Value::Object(holders)) => holders.keys().map(|holder| self.session(holder)).collect(),
            _ => Vec::new(),
        };
        ids.sort_unstable();
        fit::<u64>("the number of holders", ids.len() as u64, HOLDERS_MAX as u64)?;
        let mut holders = InlineArray::default();
        ids.into_iter().for_each(|id| holders.push(id));
        Ok(Opaque::Slots(Slots { limit, holders }))
    }
}

/// A number that has to fit.
pub(crate) fn fit<T: TryFrom<u64>>(what: &'static str, value: u64, most: u64) -> Result<T, LiveError> {
    let fitting = T::try_from(value).ok().filter(|_| value <= most);
    fitting.ok_or(LiveError::TooLarge { what, value, most })
}
