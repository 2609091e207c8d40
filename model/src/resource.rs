//! The protected resource: it takes writes, and may compare a write's token with the highest token it has seen. A write is to all of it,
//! to one of its keys, or to its [work queue](crate::work_queue).

use std::fmt;
use std::hash::{Hash, Hasher};

use schemars::JsonSchema;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::fact::Fact;
use crate::ids::{Call, ClientId, RawId, Tenure, Token};
use crate::keys::ByKey;
use crate::mutation::{KernelMutation, Mutation};
use crate::normal::{Normal, Visitor};
use crate::service::Service;
use crate::work_queue::{QueueItem, WorkQueue};

/// The check that the resource applies to writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accepts {
    /// None: every write is accepted. There is no fencing.
    #[default]
    All,
    /// Fencing: a token lower than the highest token seen is refused.
    NotLower,
    /// Strict fencing: a token must be higher than every token seen, so a token serves for one write.
    Greater,
    /// Compare-and-set: a write names the version that its client read before it asked for the lock. It is accepted if
    /// there was no write since.
    Unchanged,
}

/// What the resource remembers, to compare it: the highest token that it has seen; or, for [`Accepts::Unchanged`], how many writes it has
/// accepted.
///
/// A token may be a log position, of which only the order counts. A count is none: the next one is one more, so it keeps its number where
/// tokens are renamed: fewer worlds are taken for equivalent. A scenario has an end of writes, and so of counts.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(Token);

impl Version {
    /// The version with this number: what a real resource has said.
    pub fn new(number: u32) -> Self {
        Version(Token::numbered(number))
    }

    /// As a write carries it, for clients that are no programs: those write with the version itself.
    pub fn to_token(self) -> Token {
        self.0
    }
}

impl Normal for Version {
    #[inline]
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.version(&mut self.0);
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version {}", self.0.raw())
    }
}

/// What a write changes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteTarget {
    /// The resource as one thing.
    #[default]
    Whole,
    /// One key, from 0, whose tokens are compared with no other key's.
    Key(u8),
    /// The world outside: the work on an item is done.
    Work(QueueItem),
    /// The work queue: the item is removed.
    Entry(QueueItem),
    /// Both at once, in one database: refused if the item is not in the queue any more.
    WorkAndEntry(QueueItem),
}

impl WriteTarget {
    fn is_whole(&self) -> bool {
        *self == WriteTarget::Whole
    }

    /// The key, if it is one.
    pub(crate) fn key(self) -> Option<u8> {
        if let WriteTarget::Key(key) = self { Some(key) } else { None }
    }
}

/// A write to the resource.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub struct Write {
    /// What the resource compares with its [`Version`]: a token, or a version that was read before.
    pub token: Token,
    /// Ghost: the tenure in which it was sent. The world stamps it, and only properties read it.
    pub tenure: Tenure,
    /// The call of the response, if the client waits for one.
    pub call: Option<Call>,
    /// What it changes.
    #[serde(default)]
    pub target: WriteTarget,
}

/// By hand: what is compared with a version is renamed as versions are. Keys and items are not interchangeable.
impl Normal for Write {
    #[inline]
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let Write { token, tenure, call, target: _ } = self;
        visitor.version(token);
        tenure.visit(visitor);
        call.visit(visitor);
    }
}

/// By hand: a field that is only left out would still count in a digest.
impl Serialize for Write {
    fn serialize<T: Serializer>(&self, to: T) -> Result<T::Ok, T::Error> {
        let Write { token, tenure, call, target } = self;
        let mut fields = to.serialize_struct("Write", if target.is_whole() { 3 } else { 4 })?;
        fields.serialize_field("token", token)?;
        fields.serialize_field("tenure", tenure)?;
        fields.serialize_field("call", call)?;
        if !target.is_whole() {
            fields.serialize_field("target", target)?;
        }
        fields.end()
    }
}

impl fmt::Display for WriteTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteTarget::Whole => f.write_str("write"),
            WriteTarget::Key(key) => write!(f, "write to key {key}"),
            WriteTarget::Work(item) => write!(f, "handle {item}"),
            WriteTarget::Entry(item) => write!(f, "finish {item}"),
            WriteTarget::WorkAndEntry(item) => write!(f, "handle and finish {item}"),
        }
    }
}

impl Hash for WriteTarget {
    /// Hashes nothing for the whole.
    fn hash<H: Hasher>(&self, to: &mut H) {
        match *self {
            WriteTarget::Whole => {}
            WriteTarget::Key(key) => to.write_u16(0x100 | u16::from(key)),
            WriteTarget::Work(item) => to.write_u16(0x200 | u16::from(item.number())),
            WriteTarget::Entry(item) => to.write_u16(0x300 | u16::from(item.number())),
            WriteTarget::WorkAndEntry(item) => to.write_u16(0x400 | u16::from(item.number())),
        }
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.target.fmt(f)?;
        match (self.token, self.tenure) {
            (Token::NONE, Tenure(0)) => Ok(()),
            (Token::NONE, tenure) => write!(f, " ({tenure})"),
            (token, Tenure(0)) => write!(f, " ({token})"),
            (token, tenure) => write!(f, " ({token}, {tenure})"),
        }?;
        self.call.map_or(Ok(()), |call| write!(f, " [{}]", call.0))
    }
}

/// The resource's memory.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Resource {
    /// The highest token seen, or the number of writes; not kept if nothing is compared.
    pub highest: Version,
    /// The same for each key.
    #[serde(default, skip_serializing_if = "ByKey::is_empty")]
    pub keys: ByKey<Version>,
    /// The work queue.
    #[normal(skip = "items are not interchangeable")]
    #[serde(default, skip_serializing_if = "WorkQueue::is_untouched")]
    pub queue: WorkQueue,
}

impl Resource {
    /// Judges a write and remembers its token; returns the fact.
    pub fn judge<P: Service>(
        &mut self,
        from: ClientId,
        write: Write,
        accepts: Accepts,
        mutation: Option<Mutation>,
    ) -> Fact<P> {
        let Write { token, tenure, target, .. } = write;
        let is_mutated = |fault: KernelMutation| mutation == Some(fault.into());
        let key = target.key().filter(|_| !is_mutated(KernelMutation::KeysShareTokens));
        let Version(highest) = key.map_or(&mut self.highest, |key| self.keys.of_mut(key));
        let is_accepted = match accepts {
            Accepts::All => true,
            Accepts::NotLower if is_mutated(KernelMutation::ResourceRefusesEqualTokens) => token > *highest,
            Accepts::NotLower if is_mutated(KernelMutation::ResourceIgnoresTokens) => true,
            Accepts::NotLower => token >= *highest,
            Accepts::Greater => token > *highest,
            Accepts::Unchanged => token == *highest,
        };
        let is_gone =
            |item: QueueItem| self.queue.removed.contains(item) && !is_mutated(KernelMutation::AbsentItemCompleted);
        let is_accepted = is_accepted && !matches!(target, WriteTarget::WorkAndEntry(item) if is_gone(item));
        if !is_accepted {
            if is_mutated(KernelMutation::ResourceForgets) {
                *highest = Token::default();
            }
            return Fact::WriteRefused { client: from, token, tenure };
        }
        *highest = match accepts {
            Accepts::All => *highest,
            Accepts::NotLower | Accepts::Greater => token.max(*highest),
            Accepts::Unchanged => highest.next(),
        };
        Fact::Written { client: from, token, tenure, key: target.key() }
    }

    /// Changes the work queue, or the world outside, by a write that was accepted; returns the fact, if there is one.
    pub fn carry_out<P: Service>(
        &mut self,
        from: ClientId,
        target: WriteTarget,
        mutation: Option<Mutation>,
    ) -> Option<Fact<P>> {
        let (works, finishes) = match target {
            WriteTarget::Whole | WriteTarget::Key(_) => (None, None),
            WriteTarget::Work(item) => (Some(item), None),
            WriteTarget::Entry(item) => (None, Some(item)),
            WriteTarget::WorkAndEntry(item) => (Some(item), Some(item)),
        };
        if let Some(item) = finishes
            && mutation != Some(KernelMutation::FinishedItemStays.into())
        {
            self.queue.removed.insert(item);
        }
        let item = works?;
        let again = self.queue.handled.contains(item);
        self.queue.handled.insert(item);
        Some(Fact::Handled { client: from, item, again })
    }

    /// The first item of the work queue, of this number from the start; it is removed if the client takes it.
    pub fn next_item(&mut self, items: u8, takes: bool, mutation: Option<Mutation>) -> Option<QueueItem> {
        let first = self.queue.next(items)?;
        if takes && mutation != Some(KernelMutation::TakenItemStays.into()) {
            self.queue.removed.insert(first);
        }
        Some(first)
    }

    /// What it is after a restart: it has forgotten tokens, and what was removed from the work queue is there again. Work that was done
    /// remains done.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Resource { queue: self.queue.restarted(), ..Resource::default() }
    }
}
