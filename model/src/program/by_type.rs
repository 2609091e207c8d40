//! A map from a type to one value of that type. The map itself is compiled once, and not for each type anew.

use std::any::{Any, TypeId};

/// For each key type, one value.
#[derive(Default)]
pub(super) struct ByType(Vec<(TypeId, Box<dyn Any>)>);

impl ByType {
    pub(super) const fn new() -> Self {
        ByType(Vec::new())
    }

    /// The value of a key type, made if there is none yet.
    ///
    /// # Panics
    /// The value of this key has another type.
    pub(super) fn get<K: 'static, V: 'static>(&mut self, make: fn() -> V) -> &mut V {
        let value = self.find_or_insert(TypeId::of::<K>(), &|| Box::new(make()));
        value.downcast_mut().expect("a key stands for one type of values")
    }

    fn find_or_insert(&mut self, key: TypeId, make: &dyn Fn() -> Box<dyn Any>) -> &mut Box<dyn Any> {
        // They are a handful.
        let place = self.0.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            self.0.push((key, make()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}
