//! Reads a TOML document for serde.
//!
//! The library's own deserializer is four types, with three ways to each field, so every setting of every service was compiled that
//! often: TOML was a third of what the compiler saw of a service. This is one type over the library's parsed document. It refuses what
//! the library reads and no scenario has: numbers with a fraction, dates, tables written as arrays and the other way round, and arrays
//! with more items than a tuple.

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};
use serde::{de, forward_to_deserialize_any};
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeString, DeTable, DeValue};

/// What cannot be read, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the document that it is about.
    pub span: Option<Range<usize>>,
}

impl ReadError {
    /// The same, about this part of the document, unless it is about a smaller one already.
    fn within(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ReadError { message: message.to_string(), span: None }
    }
}

impl From<toml::de::Error> for ReadError {
    fn from(error: toml::de::Error) -> Self {
        ReadError { message: error.message().to_owned(), span: error.span() }
    }
}

/// A value of a document, to be read.
pub(crate) struct TomlReader<'i> {
    value: DeValue<'i>,
    span: Range<usize>,
}

impl<'i> From<Spanned<DeValue<'i>>> for TomlReader<'i> {
    fn from(value: Spanned<DeValue<'i>>) -> Self {
        TomlReader { span: value.span(), value: value.into_inner() }
    }
}

impl<'i> From<Spanned<DeTable<'i>>> for TomlReader<'i> {
    fn from(table: Spanned<DeTable<'i>>) -> Self {
        TomlReader { span: table.span(), value: DeValue::Table(table.into_inner()) }
    }
}

impl<'i> TomlReader<'i> {
    fn of_key(key: Spanned<DeString<'i>>) -> Self {
        TomlReader { span: key.span(), value: DeValue::String(key.into_inner()) }
    }

    /// Reads it in this way. An error is about this value or a part of it.
    ///
    /// # Errors
    /// What cannot be read.
    pub(crate) fn read<T>(self, read: impl FnOnce(Self) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let span = self.span.clone();
        read(self).map_err(|error| error.within(&span))
    }

    /// That it is something else than expected.
    fn refused(&self, expected: &dyn Expected) -> ReadError {
        let unexpected = match &self.value {
            DeValue::String(text) => Unexpected::Str(text),
            DeValue::Integer(digits) => match integer(digits) {
                Some(Integer::Signed(number)) => Unexpected::Signed(number),
                Some(Integer::Unsigned(number)) => Unexpected::Unsigned(number),
                None => return too_large(),
            },
            DeValue::Float(digits) => {
                let number = format!("floating point `{}`", digits.as_str());
                return ReadError::invalid_type(Unexpected::Other(&number), expected);
            }
            DeValue::Boolean(is) => Unexpected::Bool(*is),
            DeValue::Datetime(_) => Unexpected::Other("date"),
            DeValue::Array(_) => Unexpected::Seq,
            DeValue::Table(_) => Unexpected::Map,
        };
        ReadError::invalid_type(unexpected, expected)
    }
}

enum Integer {
    Signed(i64),
    Unsigned(u64),
}

fn integer(digits: &DeInteger<'_>) -> Option<Integer> {
    let (text, radix) = (digits.as_str(), digits.radix());
    let unsigned = || u64::from_str_radix(text, radix).ok().map(Integer::Unsigned);
    i64::from_str_radix(text, radix).ok().map(Integer::Signed).or_else(unsigned)
}

fn too_large() -> ReadError {
    ReadError::custom("integer number overflowed")
}

fn too_long(count: usize, read: usize) -> ReadError {
    ReadError::invalid_length(count, &format!("an array of {read}").as_str())
}

/// Where a type asks for one kind of value, the reader offers no other.
macro_rules! of_one_kind {
    ($($deserialize:ident as $read:ident)*) => {
        $(fn $deserialize<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
            self.$read(visitor)
        })*
    };
}

impl<'i> TomlReader<'i> {
    fn text<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            DeValue::String(DeString::Owned(text)) => visitor.visit_string(text),
            DeValue::String(DeString::Borrowed(text)) => visitor.visit_borrowed_str(text),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn number<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let DeValue::Integer(digits) = &self.value else { return Err(self.refused(&visitor)) };
        match integer(digits).ok_or_else(too_large)? {
            Integer::Signed(number) => visitor.visit_i64(number),
            Integer::Unsigned(number) => visitor.visit_u64(number),
        }
    }

    fn truth<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            DeValue::Boolean(is) => visitor.visit_bool(is),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn list<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            DeValue::Array(items) => {
                let (count, mut items) = (items.len(), Items(items.into_iter()));
                let value = visitor.visit_seq(&mut items)?;
                let read = count - items.0.len();
                if read == count { Ok(value) } else { Err(too_long(count, read)) }
            }
            _ => Err(self.refused(&visitor)),
        }
    }

    fn table<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            DeValue::Table(entries) => visitor.visit_map(Entries { rest: entries.into_iter(), value: None }),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn nothing<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    /// The variant of an enumeration: its name, or a table whose only entry has its name.
    fn variant(self) -> Result<Variant<'i>, ReadError> {
        match self.value {
            DeValue::String(_) => Ok(Variant { name: self, content: None }),
            DeValue::Table(entries) => {
                let count = entries.len();
                let mut entries = entries.into_iter();
                match (entries.next(), count) {
                    (None, _) => Err(ReadError::custom("wanted exactly 1 element, found 0 elements")),
                    (Some((name, content)), 1) => {
                        Ok(Variant { name: TomlReader::of_key(name), content: Some(content.into()) })
                    }
                    _ => Err(ReadError::custom("wanted exactly 1 element, more than 1 element")),
                }
            }
            _ => Err(ReadError::custom("wanted string or table")),
        }
    }
}

impl<'i> Deserializer<'i> for TomlReader<'i> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            DeValue::String(_) => self.text(visitor),
            DeValue::Integer(_) => self.number(visitor),
            DeValue::Boolean(_) => self.truth(visitor),
            DeValue::Float(_) | DeValue::Datetime(_) => Err(self.refused(&visitor)),
            DeValue::Array(_) => self.list(visitor),
            DeValue::Table(_) => self.table(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'i>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'i>>(self, _: &'static str, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'i>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'i>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.list(visitor)
    }

    fn deserialize_struct<V: Visitor<'i>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.table(visitor)
    }

    fn deserialize_enum<V: Visitor<'i>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_enum(self.variant()?)
    }

    of_one_kind! {
        deserialize_bool as truth
        deserialize_u8 as number deserialize_u16 as number deserialize_u32 as number deserialize_u64 as number
        deserialize_i8 as number deserialize_i16 as number deserialize_i32 as number deserialize_i64 as number
        deserialize_char as text deserialize_str as text deserialize_string as text deserialize_identifier as text
        deserialize_seq as list
        deserialize_map as table
        deserialize_ignored_any as nothing
    }

    forward_to_deserialize_any! { <V: Visitor<'i>> bytes byte_buf f32 f64 unit unit_struct }
}

/// The items of an array.
struct Items<'i>(<DeArray<'i> as IntoIterator>::IntoIter);

impl<'i> SeqAccess<'i> for Items<'i> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'i>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        self.0.next().map(|item| TomlReader::from(item).read(|item| seed.deserialize(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The entries of a table.
struct Entries<'i> {
    rest: <DeTable<'i> as IntoIterator>::IntoIter,
    /// That of the last key.
    value: Option<TomlReader<'i>>,
}

impl<'i> Entries<'i> {
    fn next_key(&mut self) -> Option<TomlReader<'i>> {
        let (key, value) = self.rest.next()?;
        self.value = Some(value.into());
        Some(TomlReader::of_key(key))
    }
}

impl<'i> MapAccess<'i> for Entries<'i> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'i>>(&mut self, seed: S) -> Result<Option<S::Value>, ReadError> {
        self.next_key().map(|key| key.read(|key| seed.deserialize(key))).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'i>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let value = self.value.take().expect("a value is asked for after its key");
        value.read(|value| seed.deserialize(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A variant of an enumeration, and what it contains.
struct Variant<'i> {
    name: TomlReader<'i>,
    content: Option<TomlReader<'i>>,
}

impl<'i> EnumAccess<'i> for Variant<'i> {
    type Error = ReadError;
    type Variant = Content<'i>;

    fn variant_seed<S: DeserializeSeed<'i>>(self, seed: S) -> Result<(S::Value, Content<'i>), ReadError> {
        Ok((self.name.read(|name| seed.deserialize(name))?, Content(self.content)))
    }
}

/// What a variant contains.
struct Content<'i>(Option<TomlReader<'i>>);

impl<'i> Content<'i> {
    fn of(self, kind: &'static str) -> Result<TomlReader<'i>, ReadError> {
        self.0.ok_or_else(|| ReadError::invalid_type(Unexpected::UnitVariant, &kind))
    }
}

impl<'i> VariantAccess<'i> for Content<'i> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        let Some(TomlReader { value, span }) = self.0 else { return Ok(()) };
        let is_empty = match &value {
            DeValue::Array(items) => items.is_empty(),
            DeValue::Table(entries) => entries.is_empty(),
            _ => false,
        };
        if is_empty { Ok(()) } else { Err(ReadError::custom("expected an empty table").within(&span)) }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'i>>(self, seed: S) -> Result<S::Value, ReadError> {
        self.of("newtype variant")?.read(|content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'i>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.of("tuple variant")?.read(|content| content.list(visitor))
    }

    fn struct_variant<V: Visitor<'i>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.of("struct variant")?.read(|content| only(fields, &content.value).and_then(|()| content.table(visitor)))
    }
}

/// Refuses a table with other keys.
fn only(fields: &[&str], value: &DeValue<'_>) -> Result<(), ReadError> {
    let DeValue::Table(entries) = value else { return Ok(()) };
    let others: Vec<_> = entries.keys().filter(|key| !fields.contains(&key.get_ref().as_ref())).collect();
    let Some(first) = others.first() else { return Ok(()) };
    let names: Vec<&str> = others.iter().map(|key| key.get_ref().as_ref()).collect();
    let message = format!("unexpected keys in table: {}, available keys: {}", names.join(", "), fields.join(", "));
    Err(ReadError { message, span: Some(first.span()) })
}
