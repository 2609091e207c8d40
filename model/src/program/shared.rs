//! What the tasks of a client share: cells and mailboxes, one of each for a type. Values are kept encoded, as heads of laps are.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Mutex;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::intern::Interned;
use super::names::Any;
use crate::normal::{Normal, Visitor};

/// A mailbox with more messages of a type would make the states of the program infinitely many.
pub(super) const MESSAGES_MAX: usize = 64;

/// A value that tasks of a client hand to each other through [cells](super::Handle::set) and [mailboxes](super::Handle::post).
pub trait Shared: Serialize + DeserializeOwned + Normal + Debug + Send + Sync + 'static {
    /// The name of the cell and of the mailbox, in kebab-case; no other type of the program has it.
    const NAME: &'static str;
}

/// A type of which only the name is known.
pub(super) struct SharedKind {
    name: &'static str,
    of: TypeId,
    visit: fn(&str, &mut dyn Visitor) -> Result<String, String>,
}

static KNOWN: Mutex<BTreeMap<&'static str, &'static SharedKind>> = Mutex::new(BTreeMap::new());

/// Makes a type known by its name. A program does so when it first uses it; a state that is read from a file needs it before.
///
/// # Panics
/// Another type has this name.
pub fn register_shared<T: Shared>() {
    kind::<T>();
}

fn kind<T: Shared>() -> &'static SharedKind {
    let mut known = KNOWN.lock().expect("no thread panics while it holds the lock");
    let new = || -> &'static SharedKind {
        Box::leak(Box::new(SharedKind { name: T::NAME, of: TypeId::of::<T>(), visit: visit::<T> }))
    };
    let kind = *known.entry(T::NAME).or_insert_with(new);
    drop(known);
    assert!(kind.of == TypeId::of::<T>(), "two shared types are called `{}`: rename one", T::NAME);
    kind
}

fn visit<T: Shared>(text: &str, visitor: &mut dyn Visitor) -> Result<String, String> {
    let mut value: T = serde_json::from_str(text).map_err(|error| error.to_string())?;
    value.visit(&mut Any(visitor));
    value.sort();
    Ok(super::kind::encode(&value))
}

/// A value of a shared type.
#[derive(Copy, Clone)]
pub(super) struct SharedValue {
    kind: &'static SharedKind,
    text: Interned<String>,
}

impl SharedValue {
    pub(super) fn new<T: Shared>(value: &T) -> Self {
        SharedValue { kind: kind::<T>(), text: Interned::new(super::kind::encode(value)) }
    }

    /// The name of its type.
    pub(super) fn name(&self) -> &'static str {
        self.kind.name
    }

    /// What was encoded.
    ///
    /// # Panics
    /// It is of another type, or its text cannot be read back.
    pub(super) fn value<T: Shared>(&self) -> T {
        assert!(self.kind.of == TypeId::of::<T>(), "`{}` is shared, and not `{}`", self.kind.name, T::NAME);
        serde_json::from_str(&self.text.get())
            .unwrap_or_else(|error| panic!("a shared value `{}` that cannot be read back: {error}", T::NAME))
    }
}

/// By hand: a text has names in it that only its type knows.
impl Normal for SharedValue {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let before = self.text.get();
        let visited = (self.kind.visit)(&before, visitor);
        let visited = visited.unwrap_or_else(|error| panic!("a shared value `{}`: {error}", self.kind.name));
        if visited != *before {
            self.text = Interned::new(visited);
        }
    }
}

impl PartialEq for SharedValue {
    fn eq(&self, other: &Self) -> bool {
        self.kind.name == other.kind.name && self.text == other.text
    }
}

impl Eq for SharedValue {}

impl Hash for SharedValue {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.kind.name.hash(to);
        self.text.hash(to);
    }
}

impl Debug for SharedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name, self.text.get())
    }
}

impl fmt::Display for SharedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name, self.text.get())
    }
}

impl Serialize for SharedValue {
    fn serialize<T: Serializer>(&self, to: T) -> Result<T::Ok, T::Error> {
        (self.kind.name, &*self.text.get()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for SharedValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (name, text) = <(String, String)>::deserialize(from)?;
        let known = KNOWN.lock().expect("no thread panics while it holds the lock");
        let kind = known.get(name.as_str()).copied();
        drop(known);
        let kind = kind.ok_or_else(|| {
            de::Error::custom(format!("there is no shared type `{name}` here: `register_shared` makes it known"))
        })?;
        Ok(SharedValue { kind, text: Interned::new(text) })
    }
}

/// What the tasks of a client share at an instant.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub(super) struct SharedState {
    /// The cells that are set, by name.
    cells: Vec<SharedValue>,
    /// Messages that no task has received, of all types in the order in which they were posted.
    messages: Vec<SharedValue>,
}

impl SharedState {
    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.messages.is_empty()
    }

    pub(super) fn set(&mut self, value: SharedValue) {
        match self.cells.binary_search_by_key(&value.name(), SharedValue::name) {
            Ok(place) => self.cells[place] = value,
            Err(place) => self.cells.insert(place, value),
        }
    }

    pub(super) fn cell(&self, name: &str) -> Option<SharedValue> {
        self.cells.iter().find(|value| value.name() == name).copied()
    }

    /// Adds a message, unless the mailbox of its type is full.
    ///
    /// # Errors
    /// It is: the name of the type.
    pub(super) fn post(&mut self, message: SharedValue) -> Result<(), &'static str> {
        let unread = self.messages.iter().filter(|other| other.name() == message.name()).count();
        if unread >= MESSAGES_MAX {
            return Err(message.name());
        }
        self.messages.push(message);
        Ok(())
    }

    /// Takes the oldest message of a type.
    pub(super) fn receive(&mut self, name: &str) -> Option<SharedValue> {
        let place = self.messages.iter().position(|message| message.name() == name)?;
        Some(self.messages.remove(place))
    }

    pub(super) fn has_message(&self, name: &str) -> bool {
        self.messages.iter().any(|message| message.name() == name)
    }

    pub(super) fn visit(&mut self, visitor: &mut dyn Visitor) {
        let all = self.cells.iter_mut().chain(&mut self.messages);
        all.for_each(|value| value.visit(&mut Any(visitor)));
    }
}
