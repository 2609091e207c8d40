//! Kinds of recipes, by their names: states and files name a recipe, and its code is found here.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Mutex;

use super::handle::Handle;
use super::names;
use super::{Gone, Lap, Programmable, Recipe};
use crate::normal::Visitor;

/// A recipe of which only the name is known.
pub(super) struct Kind<S: Programmable> {
    pub(super) name: &'static str,
    /// The crate that it comes from.
    pub(super) package: &'static str,
    of: TypeId,
    begin: Begin<S>,
    decode: fn(&str) -> Result<LapValue, String>,
    encode: fn(&LapValue) -> String,
    debug: fn(&LapValue) -> String,
    visit: fn(&str, &mut dyn Visitor) -> Result<String, String>,
}

type Begin<S> = fn(LapValue, Handle<S>) -> Running;

/// The value of a recipe between two laps. Only its kind knows the type.
pub(super) type LapValue = Box<dyn Any>;

/// A lap that runs.
pub(super) type Running = Pin<Box<dyn Future<Output = Finished>>>;

/// A lap that is over.
pub(super) struct Finished {
    /// The value after it.
    pub(super) value: LapValue,
    pub(super) end: Result<Lap, Gone>,
}

/// Recipes by the type of their service and their name.
static KNOWN: Mutex<BTreeMap<(TypeId, &'static str), &'static (dyn Any + Send + Sync)>> = Mutex::new(BTreeMap::new());

/// Makes a recipe known by its name, so that scenarios and traces can name it.
///
/// # Panics
/// Another recipe has this name.
pub fn register<S: Programmable, R: Recipe<S>>() {
    of::<S, R>();
}

/// The kind of a recipe, which is known from now on.
pub(super) fn of<S: Programmable, R: Recipe<S>>() -> &'static Kind<S> {
    if let Some(kind) = find_static::<S>(R::NAME) {
        assert!(kind.of == TypeId::of::<R>(), "two recipes are called `{}`: rename one", R::NAME);
        return kind;
    }
    let package = type_name::<R>().split("::").next().unwrap_or_default();
    let kind = Box::leak(Box::new(Kind {
        name: R::NAME,
        package,
        of: TypeId::of::<R>(),
        begin: begin::<S, R>,
        decode: |head| Ok(Box::new(decode::<R>(head)?)),
        encode: |value| encode(of_type::<R>(value)),
        debug: |value| format!("{:?}", of_type::<R>(value)),
        visit: visit::<S, R>,
    }));
    KNOWN.lock().expect("no thread panics while it holds the lock").entry((TypeId::of::<S>(), R::NAME)).or_insert(kind);
    find(R::NAME).expect("it has just been added")
}

/// The same as [`find`], where the name is the recipe's own: it need not be searched for.
fn find_static<S: Programmable>(name: &'static str) -> Option<&'static Kind<S>> {
    let known = KNOWN.lock().expect("no thread panics while it holds the lock");
    known.get(&(TypeId::of::<S>(), name))?.downcast_ref()
}

/// The recipe of a service with this name.
pub(super) fn find<S: Programmable>(name: &str) -> Option<&'static Kind<S>> {
    let known = KNOWN.lock().expect("no thread panics while it holds the lock");
    let kind = known.iter().find(|((service, other), _)| *service == TypeId::of::<S>() && *other == name)?.1;
    kind.downcast_ref()
}

/// The names of the recipes of a service, in order.
pub(super) fn names<S: Programmable>() -> Vec<&'static str> {
    let known = KNOWN.lock().expect("no thread panics while it holds the lock");
    known.keys().filter(|(service, _)| *service == TypeId::of::<S>()).map(|(_, name)| *name).collect()
}

/// What a kind says about a value whose type is another's.
const FOREIGN: &str = "a kind is given values of its own type";

fn of_type<R: 'static>(value: &LapValue) -> &R {
    value.downcast_ref().expect(FOREIGN)
}

fn begin<S: Programmable, R: Recipe<S>>(value: LapValue, handle: Handle<S>) -> Running {
    let mut recipe: Box<R> = value.downcast().expect(FOREIGN);
    Box::pin(async move {
        let end = recipe.lap(&handle).await;
        Finished { value: recipe, end }
    })
}

fn visit<S: Programmable, R: Recipe<S>>(head: &str, visitor: &mut dyn Visitor) -> Result<String, String> {
    let mut recipe: R = decode(head)?;
    recipe.visit(&mut names::Any(visitor));
    recipe.sort();
    Ok(encode(&recipe))
}

fn decode<R: serde::de::DeserializeOwned>(head: &str) -> Result<R, String> {
    serde_json::from_str(head).map_err(|error| error.to_string())
}

/// The value at the head of a lap, as it is kept.
///
/// # Panics
/// It cannot be written.
pub(super) fn encode<R: serde::Serialize>(recipe: &R) -> String {
    serde_json::to_string(recipe).unwrap_or_else(|error| panic!("a recipe that cannot be encoded: {error}"))
}

impl<S: Programmable> Kind<S> {
    /// Begins a lap.
    pub(super) fn begin(&self, value: LapValue, handle: Handle<S>) -> Running {
        (self.begin)(value, handle)
    }

    /// The value that is kept as this text.
    pub(super) fn decode(&self, head: &str) -> Result<LapValue, String> {
        (self.decode)(head)
    }

    /// A value as it is kept.
    ///
    /// # Panics
    /// It cannot be written.
    pub(super) fn encode(&self, value: &LapValue) -> String {
        (self.encode)(value)
    }

    /// What a value says of itself.
    pub(super) fn debug(&self, value: &LapValue) -> String {
        (self.debug)(value)
    }

    /// The value with the names that a visitor gives.
    pub(super) fn visited(&self, head: &str, visitor: &mut dyn Visitor) -> Result<String, String> {
        (self.visit)(head, visitor)
    }
}

impl<S: Programmable> PartialEq for Kind<S> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<S: Programmable> Eq for Kind<S> {}

impl<S: Programmable> Hash for Kind<S> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.name.hash(to);
    }
}

impl<S: Programmable> fmt::Debug for Kind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
