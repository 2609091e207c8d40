//! What things are called outside, and the small numbers that stand for them in the state. Keys are numbered in the order
//! of their names, so that whatever begins with a prefix is a range; a new name makes room among the old ones.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use fencepost_consul::CheckKind;
use fencepost_consul::{Opaque, Plain, Prefix, Spelling};
use fencepost_model::ids::{ClientId, Index, RawId, SessionId};
use serde_json::{Map, Value};

/// Names, each with the number that stands for it. Copies share unchanged parts, because judging a log makes many copies.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct NameTable {
    keys: Arc<Vec<String>>,
    values: Arc<Values>,
    flags: Vec<u64>,
    sessions: Arc<Sessions>,
    spellings: Arc<Vec<String>>,
    nodes: Arc<Vec<String>>,
    checks: Arc<Vec<CheckName>>,
    services: Arc<Vec<String>>,
    queries: Arc<Vec<String>>,
    query_ids: Arc<BTreeMap<u16, String>>,
    query_texts: Arc<BTreeMap<u16, String>>,
    indexes: BTreeMap<Index, u64>,
    /// Whether log positions are called what they are: this agent answers, and no other gives them numbers.
    is_numbered: bool,
}

/// Values, by number and the other way round.
#[derive(Clone, PartialEq, Debug, Default)]
struct Values {
    list: Vec<Vec<u8>>,
    numbers: BTreeMap<Vec<u8>, u32>,
}

/// Ids of sessions in small letters, and what stands for them; of two for one, the first counts.
#[derive(Clone, PartialEq, Debug, Default)]
struct Sessions {
    by_text: BTreeMap<String, SessionId>,
    by_id: BTreeMap<SessionId, String>,
    strangers: usize,
}

impl Sessions {
    fn add(&mut self, text: &str, id: SessionId) {
        self.by_text.insert(text.to_owned(), id);
        self.by_id.entry(id).or_insert_with(|| text.to_owned());
    }
}

/// A check of a node.
#[derive(Clone, PartialEq, Hash, Debug)]
struct CheckName {
    node: ClientId,
    kind: CheckKind,
    /// Its id in small letters. C-SES-12.
    key: String,
}

/// Too many of a kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameLimitError(pub(super) &'static str);

impl std::fmt::Display for NameLimitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// What a text is when it should be a session's id.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Named {
    /// The empty text.
    Missing,
    /// No id (C-SES-20).
    Malformed,
    /// An id, known or not, in the way it is written.
    Id(SessionId, Spelling),
}

impl NameTable {
    /// The place of a key or prefix, and whether it is new: then every place from it on has moved by one.
    pub(super) fn place(&mut self, name: &str) -> Result<(u16, bool), NameLimitError> {
        let place = self.keys.partition_point(|key| key.as_str() < name);
        let is_new = self.keys.get(place).is_none_or(|key| key != name);
        if is_new {
            if self.keys.len() > 60_000 {
                return Err(NameLimitError("more than 60,000 keys"));
            }
            Arc::make_mut(&mut self.keys).insert(place, name.to_owned());
        }
        Ok((u16::try_from(place).expect("few enough"), is_new))
    }

    /// The range of what begins with the name at this place.
    pub(super) fn range(&self, place: u16) -> Prefix {
        let from = usize::from(place);
        let name = &self.keys[from];
        let count = self.keys[from..].iter().take_while(|key| key.starts_with(name.as_str())).count();
        Prefix::Named { first: place, last: u16::try_from(from + count - 1).expect("few enough") }
    }

    pub(super) fn key(&self, place: u16) -> &str {
        &self.keys[usize::from(place)]
    }

    /// What stands for a value.
    pub(super) fn value(&mut self, bytes: &[u8]) -> Plain {
        if bytes.is_empty() {
            return Plain::Empty;
        }
        if let Some(number) = self.values.numbers.get(bytes) {
            return Plain::Bytes(*number);
        }
        let number = u32::try_from(self.values.list.len()).expect("few enough");
        let values = Arc::make_mut(&mut self.values);
        values.list.push(bytes.to_owned());
        values.numbers.insert(bytes.to_owned(), number);
        Plain::Bytes(number)
    }

    pub(super) fn bytes(&self, value: Opaque) -> &[u8] {
        match value {
            Opaque::Bytes(place) => &self.values.list[place as usize],
            _ => &[],
        }
    }

    /// What stands for the text of a registration.
    pub(super) fn text(&mut self, json: &Value) -> u32 {
        match self.value(json.to_string().as_bytes()) {
            Plain::Bytes(number) => number,
            _ => unreachable!("no text is empty"),
        }
    }

    /// The text of a registration.
    pub(super) fn json(&self, number: u32) -> Map<String, Value> {
        serde_json::from_slice(&self.values.list[number as usize]).expect("a text that was written")
    }

    /// What stands for flags; 0 stands for 0.
    pub(super) fn flags(&mut self, flags: u64) -> Result<u8, NameLimitError> {
        if flags == 0 {
            return Ok(0);
        }
        let place = self.flags.iter().position(|known| *known == flags).unwrap_or_else(|| {
            self.flags.push(flags);
            self.flags.len() - 1
        });
        u8::try_from(place + 1).map_err(|_| NameLimitError("more than 255 different flags"))
    }

    pub(super) fn flags_of(&self, flags: u8) -> u64 {
        if flags == 0 { 0 } else { self.flags[usize::from(flags) - 1] }
    }

    /// C-SES-20: ids are looked up as 16 bytes, whatever their letter case, and compared as strings.
    pub(super) fn session(&mut self, text: &str) -> Result<Named, NameLimitError> {
        if text.is_empty() {
            return Ok(Named::Missing);
        }
        if digits_of_id(text).is_none() {
            return Ok(Named::Malformed);
        }
        self.any_session(text)
    }

    /// The same for a text that need not be an id.
    pub(super) fn any_session(&mut self, text: &str) -> Result<Named, NameLimitError> {
        let plain = digits_of_id(text).as_deref().and_then(dashed).unwrap_or_else(|| text.to_ascii_lowercase());
        let id = match self.sessions.by_text.get(&plain).copied() {
            Some(id) => id,
            None => {
                // Client 0 creates no sessions.
                let strangers = self.sessions.strangers + 1;
                let number = few(strangers, "more than 65,535 sessions without a creator")?;
                let id = SessionId::numbered(ClientId(0), number);
                let sessions = Arc::make_mut(&mut self.sessions);
                sessions.strangers = strangers;
                sessions.add(&plain, id);
                id
            }
        };
        if text == plain {
            return Ok(Named::Id(id, Spelling::default()));
        }
        let place_of = |spellings: &[String], text: &str| spellings.iter().position(|known| known == text);
        let place = match place_of(&self.spellings, text) {
            Some(place) => place,
            None => match place_of(&self.spellings, "") {
                Some(free) => {
                    text.clone_into(&mut Arc::make_mut(&mut self.spellings)[free]);
                    free
                }
                None => usize::from(number(&mut self.spellings, text, TOO_MANY_SPELLINGS)?),
            },
        };
        Ok(Named::Id(id, Spelling(u8::try_from(place + 1).map_err(|_| NameLimitError(TOO_MANY_SPELLINGS))?)))
    }

    /// Spellings are forgotten that nothing is stored with, so that their numbers are free.
    pub(super) fn forget_spellings(&mut self, is_stored: impl Fn(Spelling) -> bool) {
        for (place, text) in Arc::make_mut(&mut self.spellings).iter_mut().enumerate() {
            if !u8::try_from(place + 1).is_ok_and(|number| is_stored(Spelling(number))) {
                text.clear();
            }
        }
    }

    pub(super) fn has_many_spellings(&self) -> bool {
        self.spellings.len() > 100 && !self.spellings.iter().any(String::is_empty)
    }

    /// Writes down the id that the server has given to a session.
    pub(super) fn name_session(&mut self, id: SessionId, text: &str) -> Result<(), String> {
        let is_fresh = is_uuid(text) && !self.sessions.by_text.contains_key(text);
        if !is_fresh {
            return Err(format!("{text} is no fresh id of a session"));
        }
        Arc::make_mut(&mut self.sessions).add(text, id);
        Ok(())
    }

    /// How a session's id is written.
    pub(super) fn session_text(&self, id: SessionId, spelling: Spelling) -> &str {
        if !spelling.is_plain() {
            return &self.spellings[usize::from(spelling.0) - 1];
        }
        self.sessions.by_id.get(&id).map_or("", String::as_str)
    }

    /// C-SES-12: nodes and checks are looked up whatever their letter case.
    pub(super) fn node(&mut self, name: &str) -> Result<ClientId, NameLimitError> {
        let place = number(&mut self.nodes, &name.to_lowercase(), "more than 65,000 nodes")?;
        Ok(ClientId::of(usize::from(place)))
    }

    /// What stands for a check of a node that has been named.
    pub(super) fn known_check(&self, node: ClientId, name: &str) -> Option<CheckKind> {
        let key = name.to_lowercase();
        self.checks.iter().find(|check| check.node == node && check.key == key).map(|check| check.kind)
    }

    /// What stands for a check of a node.
    pub(super) fn check(&mut self, node: ClientId, name: &str) -> Result<CheckKind, NameLimitError> {
        if let Some(known) = self.known_check(node, name) {
            return Ok(known);
        }
        let key = name.to_lowercase();
        let is_free = |kind: &CheckKind| !self.checks.iter().any(|check| (check.node, check.kind) == (node, *kind));
        let kind = CheckKind::all().find(is_free).ok_or(NameLimitError("more than 32 checks of one node"))?;
        Arc::make_mut(&mut self.checks).push(CheckName { node, kind, key });
        Ok(kind)
    }

    /// The id of a check in small letters.
    pub(super) fn check_key(&self, node: ClientId, kind: CheckKind) -> &str {
        let check = self.checks.iter().find(|check| (check.node, check.kind) == (node, kind));
        check.map_or("", |check| check.key.as_str())
    }

    /// Checks are forgotten that are not registered, so that their numbers are free.
    pub(super) fn forget_checks(&mut self, is_registered: impl Fn(ClientId, CheckKind) -> bool) {
        if self.checks.iter().any(|check| !is_registered(check.node, check.kind)) {
            Arc::make_mut(&mut self.checks).retain(|check| is_registered(check.node, check.kind));
        }
    }

    pub(super) fn service(&mut self, name: &str) -> Result<u16, NameLimitError> {
        number(&mut self.services, &name.to_lowercase(), "more than 65,000 services")
    }

    /// C-PQ-8: names are alike whatever their letter case.
    pub(super) fn query_name(&mut self, name: &str) -> Result<Option<u16>, NameLimitError> {
        if name.is_empty() {
            return Ok(None);
        }
        number(&mut self.queries, &name.to_lowercase(), "more than 65,000 names of queries").map(Some)
    }

    /// Writes down how the name of a query was written. C-PQ-8.
    pub(super) fn note_query(&mut self, query: u16, name: &str) {
        Arc::make_mut(&mut self.query_texts).insert(query, name.to_owned());
    }

    pub(super) fn query_text(&self, query: u16) -> &str {
        self.query_texts.get(&query).map_or("", String::as_str)
    }

    /// The next number of a prepared query.
    pub(super) fn fresh_query(&self) -> Result<u16, NameLimitError> {
        let last = self.query_ids.last_key_value().map_or(0, |(last, _)| *last);
        few(usize::from(last) + 1, "more than 65,535 queries")
    }

    pub(super) fn query(&self, id: &str) -> Option<u16> {
        self.query_ids.iter().find(|(_, text)| text.eq_ignore_ascii_case(id)).map(|(number, _)| *number)
    }

    pub(super) fn query_id(&self, query: u16) -> &str {
        self.query_ids.get(&query).map_or("", String::as_str)
    }

    pub(super) fn name_query(&mut self, query: u16, text: &str) -> Result<(), String> {
        if !is_uuid(text) || self.query_ids.values().any(|known| known == text) {
            return Err(format!("{text} is no fresh id of a query"));
        }
        Arc::make_mut(&mut self.query_ids).insert(query, text.to_owned());
        Ok(())
    }

    /// From now on log positions are called what they are.
    pub(super) fn number_positions(&mut self) {
        self.is_numbered = true;
    }

    /// C-GEN-4: the server's log positions grow as ours do, with gaps. Says why this cannot be so.
    pub(super) fn bind(&mut self, ours: Index, theirs: u64) -> Result<(), String> {
        self.may_bind(ours, theirs)?;
        self.indexes.insert(ours, theirs);
        Ok(())
    }

    /// Whether one of our log positions may be one of the server's, as [`Self::bind`] says.
    pub(super) fn may_bind(&self, ours: Index, theirs: u64) -> Result<(), String> {
        if let Some(known) = self.indexes.get(&ours) {
            return if *known == theirs { Ok(()) } else { Err(format!("index {theirs}, which was {known} before")) };
        }
        let below = self.indexes.range(..ours).next_back();
        let above = self.indexes.range(ours..).next();
        if let Some((_, known)) = below.filter(|(_, known)| **known >= theirs) {
            return Err(format!("index {theirs}, which should be above {known}"));
        }
        if let Some((_, known)) = above.filter(|(_, known)| **known <= theirs) {
            return Err(format!("index {theirs}, which should be below {known}"));
        }
        Ok(())
    }

    /// Log positions are forgotten that are gone from the state; but for those next to one that has not been told, for what
    /// that may be lies between them, and the last. All are given in order.
    pub(super) fn forget_but(&mut self, present: &[Index]) {
        let is_told = |index: &Index| self.indexes.contains_key(index);
        let untold: Vec<Index> = present.iter().copied().filter(|index| !is_told(index)).collect();
        let last = self.indexes.last_key_value().map(|(index, _)| *index);
        let below = untold.iter().filter_map(|index| self.indexes.range(..index).next_back());
        let above = untold.iter().filter_map(|index| self.indexes.range(index..).next());
        let mut kept: Vec<Index> = below.chain(above).map(|(index, _)| *index).chain(last).collect();
        kept.extend(present);
        kept.sort_unstable();
        self.indexes.retain(|index, _| kept.binary_search(index).is_ok());
    }

    /// Log positions get other numbers, in the same order.
    pub(super) fn renumber(&mut self, mut rank: impl FnMut(&mut Index)) {
        let told = std::mem::take(&mut self.indexes);
        for (mut ours, theirs) in told {
            rank(&mut ours);
            self.indexes.insert(ours, theirs);
        }
    }

    pub(super) fn told_count(&self) -> usize {
        self.indexes.len()
    }

    /// The place of a key that has been met.
    pub(super) fn known_place(&self, name: &str) -> Option<u16> {
        let place = self.keys.binary_search_by(|key| key.as_str().cmp(name)).ok()?;
        u16::try_from(place).ok()
    }

    pub(super) fn last_told(&self) -> u64 {
        self.indexes.last_key_value().map_or(0, |(_, theirs)| *theirs)
    }

    pub(super) fn indexes(&self) -> &BTreeMap<Index, u64> {
        &self.indexes
    }

    pub(super) fn set_indexes(&mut self, indexes: BTreeMap<Index, u64>) {
        self.indexes = indexes;
    }

    /// Names of keys, before they are used.
    pub(super) fn meet_keys(&mut self, keys: BTreeSet<String>) {
        let all: BTreeSet<String> = keys.into_iter().chain(self.keys.iter().cloned()).collect();
        self.keys = Arc::new(all.into_iter().collect());
    }

    /// What tells names apart whose keys and values have been met: ids of sessions only as far as these live.
    pub(super) fn hash_with<H: Hasher>(&self, live: impl Iterator<Item = SessionId>, state: &mut H) {
        (self.keys.len(), self.values.list.len()).hash(state);
        (&self.flags, &self.spellings, &self.nodes, &self.checks, &self.services).hash(state);
        (&self.queries, &self.query_ids, &self.query_texts, &self.indexes).hash(state);
        live.for_each(|id| self.session_text(id, Spelling::default()).hash(state));
    }

    /// The told log positions.
    pub(super) fn told(&self) -> impl Iterator<Item = Index> + '_ {
        self.indexes.keys().copied()
    }

    /// Our log position for one of theirs, if it has been seen.
    pub(super) fn ours(&self, theirs: u64) -> Option<Index> {
        if theirs == 0 {
            return Some(Index::NONE);
        }
        if self.is_numbered {
            return Some(Index::numbered(u32::try_from(theirs).unwrap_or(u32::MAX)));
        }
        self.indexes.iter().find(|(_, known)| **known == theirs).map(|(ours, _)| *ours)
    }

    /// Theirs for one of ours, if it has been seen.
    pub(super) fn theirs(&self, ours: Index) -> Option<u64> {
        if self.is_numbered {
            return Some(ours.raw().into());
        }
        self.indexes.get(&ours).copied()
    }
}

const TOO_MANY_SPELLINGS: &str = "more than 255 ids of sessions in other letters than the server's";

/// The place of a name in a list in the order of first mention.
fn number(list: &mut Arc<Vec<String>>, name: &str, too_many: &'static str) -> Result<u16, NameLimitError> {
    let known = list.iter().position(|known| known == name);
    let place = known.unwrap_or_else(|| {
        Arc::make_mut(list).push(name.to_owned());
        list.len() - 1
    });
    // The last number is free for counts from 1.
    few(place + 1, too_many).map(|next| next - 1)
}

fn few(count: usize, too_many: &'static str) -> Result<u16, NameLimitError> {
    u16::try_from(count).map_err(|_| NameLimitError(too_many))
}

/// C-SES-20: the small digits of an id, wherever its dashes are: 36 characters, at most 4 dashes, and whole bytes.
fn digits_of_id(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect();
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_id = text.len() == 36 && is_hexadecimal && digits.len() >= 32 && digits.len().is_multiple_of(2);
    is_id.then_some(digits)
}

/// 16 bytes as the server writes them; more are the id of no session.
fn dashed(digits: &str) -> Option<String> {
    let groups = [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| digits.get(group));
    let groups: Vec<&str> = groups.into_iter().collect::<Option<_>>()?;
    (digits.len() == 32).then(|| groups.join("-"))
}

/// An id as the server writes it: 36 characters, hexadecimal digits in groups of 8, 4, 4, 4 and 12.
pub(super) fn is_uuid(text: &str) -> bool {
    let is_digit = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.bytes().enumerate().all(is_digit)
}
