//! Interning: equal values are stored once, and stand in a state as a small `Copy` name. What a program was told has no fixed
//! size, and the state of a client has to have one.
//!
//! Names differ from run to run and are never shown: equality compares them, a hash is that of the value. A value stays for the
//! rest of the process, for a search keeps states on all its threads; but inside [`scoped`] it goes when the scope ends, for a
//! simulation has no use for its states afterwards.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::by_type::ByType;
use crate::hash::Fingerprinter;

/// What can be interned.
pub(super) trait Content: Eq + Hash + Send + Sync + 'static {}

impl<T: Eq + Hash + Send + Sync + 'static> Content for T {}

/// The name of a value that is stored once.
pub(super) struct Interned<T> {
    id: u32,
    /// That of the value.
    hash: u64,
    of: PhantomData<fn() -> T>,
}

/// Names that belong to a scope have this bit.
const SCOPED: u32 = 1 << 31;

/// Values by their names, and names by the hash of the value.
struct Table<T> {
    values: Vec<Arc<T>>,
    by_hash: BTreeMap<u64, Vec<u32>>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { values: Vec::new(), by_hash: BTreeMap::new() }
    }
}

impl<T: Content> Table<T> {
    fn intern(&mut self, value: T, hash: u64) -> u32 {
        let names = self.by_hash.entry(hash).or_default();
        if let Some(id) = names.iter().find(|id| *self.values[**id as usize] == value) {
            return *id;
        }
        let id = u32::try_from(self.values.len()).ok().filter(|id| *id < SCOPED).expect("fewer than 2^31 states");
        names.push(id);
        self.values.push(Arc::new(value));
        id
    }
}

/// The tables of all threads, by the type of their values.
static SHARED: Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>> = Mutex::new(BTreeMap::new());

/// What a thread has seen of the shared table of a type.
struct Mirror<T> {
    shared: Arc<Mutex<Table<T>>>,
    seen: Vec<Option<Arc<T>>>,
}

thread_local! {
    static MIRRORS: RefCell<ByType> = const { RefCell::new(ByType::new()) };
    static SCOPE: RefCell<ByType> = const { RefCell::new(ByType::new()) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

fn shared(of: TypeId, make: &dyn Fn() -> Arc<dyn Any + Send + Sync>) -> Arc<dyn Any + Send + Sync> {
    let mut tables = SHARED.lock().expect("no thread panics while it holds the lock");
    Arc::clone(tables.entry(of).or_insert_with(make))
}

impl<T: Content> Mirror<T> {
    fn new() -> Self {
        let shared = shared(TypeId::of::<T>(), &|| Arc::new(Mutex::new(Table::<T>::default())));
        Mirror { shared: shared.downcast().expect("the table of this type"), seen: Vec::new() }
    }

    fn with<R>(act: impl FnOnce(&mut Mirror<T>) -> R) -> R {
        MIRRORS.with_borrow_mut(|mirrors| act(mirrors.get::<T, _>(Mirror::<T>::new)))
    }

    fn get(&mut self, id: u32) -> Arc<T> {
        let place = id as usize;
        if let Some(Some(value)) = self.seen.get(place) {
            return Arc::clone(value);
        }
        let value = Arc::clone(&self.shared.lock().expect("no thread panics while it holds the lock").values[place]);
        if self.seen.len() <= place {
            self.seen.resize(place + 1, None);
        }
        self.seen[place] = Some(Arc::clone(&value));
        value
    }
}

fn in_scope<T: Content, R>(act: impl FnOnce(&mut Table<T>) -> R) -> R {
    SCOPE.with_borrow_mut(|tables| act(tables.get::<T, _>(Table::<T>::default)))
}

/// Whether what is interned now is forgotten at the end of a scope.
pub(super) fn is_scoped() -> bool {
    DEPTH.get() > 0
}

/// Runs a function whose states are not kept: what programs were told in it is forgotten afterwards. Scopes may be nested; the
/// outermost one counts.
///
/// A state of a client that runs a program must neither come into the scope nor leave it.
pub fn scoped<R>(act: impl FnOnce() -> R) -> R {
    /// Ends the scope, also when `act` panics.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
            if !is_scoped() {
                SCOPE.take();
                super::run::forget_all();
            }
        }
    }
    if !is_scoped() {
        super::run::forget_all();
    }
    DEPTH.set(DEPTH.get() + 1);
    let _end = End;
    act()
}

/// The hash of a value that is stored.
pub(super) fn hash_of(value: &impl Hash) -> u64 {
    let mut hash = Fingerprinter::default();
    value.hash(&mut hash);
    hash.finish()
}

impl<T: Content> Interned<T> {
    /// Stores the value, unless an equal one is stored already.
    pub(super) fn new(value: T) -> Self {
        let hash = hash_of(&value);
        let id = if is_scoped() {
            in_scope(|table| table.intern(value, hash)) | SCOPED
        } else {
            Mirror::with(|mirror| {
                mirror.shared.lock().expect("no thread panics while it holds the lock").intern(value, hash)
            })
        };
        Interned { id, hash, of: PhantomData }
    }

    /// The value.
    pub(super) fn get(self) -> Arc<T> {
        if self.id & SCOPED == 0 {
            return Mirror::with(|mirror| mirror.get(self.id));
        }
        in_scope(|table| Arc::clone(&table.values[(self.id ^ SCOPED) as usize]))
    }

    /// The name, for caches of this thread.
    pub(super) fn id(self) -> u32 {
        self.id
    }
}

impl<T> Copy for Interned<T> {}

impl<T> Clone for Interned<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> PartialEq for Interned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Interned<T> {}

impl<T> Hash for Interned<T> {
    fn hash<H: Hasher>(&self, to: &mut H) {
        to.write_u64(self.hash);
    }
}

impl<T: Content + fmt::Debug> fmt::Debug for Interned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl<T: Content + Serialize> Serialize for Interned<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(to)
    }
}

impl<'de, T: Content + Deserialize<'de>> Deserialize<'de> for Interned<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Interned::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_name_on_every_thread() {
        let here = Interned::new("a".to_owned());
        let there = std::thread::spawn(|| Interned::new("a".to_owned())).join().expect("it ends");
        assert!(here == there && here != Interned::new("b".to_owned()));
        assert_eq!(*there.get(), "a");
    }

    #[test]
    fn a_scope_forgets_its_values_and_no_others() {
        let outside = Interned::new(7_u64);
        let count = || in_scope(|table: &mut Table<u64>| table.values.len());
        scoped(|| {
            assert_eq!(*Interned::new(8_u64).get(), 8);
            scoped(|| assert_eq!(*Interned::new(9_u64).get(), 9));
            assert_eq!(count(), 2, "the outermost scope counts");
        });
        assert_eq!((count(), *outside.get()), (0, 7));
    }
}
