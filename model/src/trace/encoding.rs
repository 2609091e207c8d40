//! A stable binary form of values, for digests: numbers, the positions of enum variants and lengths; no names, so that
//! renaming a type, a field or a variant changes nothing. A variant's code is its position in the declaration: new
//! variants go to the end.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize, Serializer};

/// Appends values to a buffer of bytes, in serde's data model.
#[derive(Clone, Debug, Default)]
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
}

/// The error type that serde requires; encoding itself does not fail.
#[derive(Debug)]
pub(super) struct EncodingError(String);

impl Display for EncodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EncodingError {}

impl ser::Error for EncodingError {
    fn custom<T: Display>(message: T) -> Self {
        EncodingError(message.to_string())
    }
}

impl Encoder {
    /// Seven bits a byte, the lowest first; the high bit says that more follow (LEB128).
    #[inline]
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    /// Numbers near zero are short in either sign (zigzag).
    #[inline]
    pub(super) fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    /// Any value.
    ///
    /// # Panics
    /// The value cannot be serialised. Values in actions and facts can be.
    #[inline]
    pub(super) fn value(&mut self, value: &impl Serialize) {
        value.serialize(self).expect("values in actions and facts can be serialised");
    }
}

type Encoded = Result<(), EncodingError>;

macro_rules! numbers {
    ($($method:ident($type:ty) as $way:ident;)*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Encoded {
                self.$way(value.into());
                Ok(())
            }
        )*
    };
}

/// Actions and facts contain no floats.
macro_rules! floats {
    ($($method:ident($type:ty);)*) => {
        $(
            fn $method(self, value: $type) -> Encoded {
                Err(EncodingError(format!("{value} is not a whole number")))
            }
        )*
    };
}

impl Serializer for &mut Encoder {
    type Ok = ();
    type Error = EncodingError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    numbers! {
        serialize_bool(bool) as number;
        serialize_i8(i8) as signed;
        serialize_i16(i16) as signed;
        serialize_i32(i32) as signed;
        serialize_i64(i64) as signed;
        serialize_u8(u8) as number;
        serialize_u16(u16) as number;
        serialize_u32(u32) as number;
        serialize_u64(u64) as number;
        serialize_char(char) as number;
    }

    floats! {
        serialize_f32(f32);
        serialize_f64(f64);
    }

    fn serialize_str(self, value: &str) -> Encoded {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Encoded {
        self.number(value.len() as u64);
        self.bytes.extend_from_slice(value);
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Encoded {
        self.serialize_u8(0)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Encoded {
        self.number(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Encoded {
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Encoded {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(self, _name: &'static str, code: u32, _variant: &'static str) -> Encoded {
        self.serialize_u32(code)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Encoded {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        code: u32,
        _variant: &'static str,
        value: &T,
    ) -> Encoded {
        self.number(code.into());
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, EncodingError> {
        let length = length.ok_or_else(|| EncodingError("a sequence of unknown length".to_owned()))?;
        self.number(length as u64);
        Ok(self)
    }

    #[inline]
    fn serialize_tuple(self, _length: usize) -> Result<Self, EncodingError> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Self, EncodingError> {
        Ok(self)
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        code: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self, EncodingError> {
        self.number(code.into());
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, EncodingError> {
        self.serialize_seq(length)
    }

    #[inline]
    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Self, EncodingError> {
        Ok(self)
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _name: &'static str,
        code: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self, EncodingError> {
        self.number(code.into());
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident),*) => {
        $(
            impl ser::$trait for &mut Encoder {
                type Ok = ();
                type Error = EncodingError;

                #[inline]
                fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Encoded {
                    value.serialize(&mut **self)
                }

                #[inline]
                fn end(self) -> Encoded {
                    Ok(())
                }
            }
        )*
    };
}

elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

impl ser::SerializeMap for &mut Encoder {
    type Ok = ();
    type Error = EncodingError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Encoded {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Encoded {
        value.serialize(&mut **self)
    }

    fn end(self) -> Encoded {
        Ok(())
    }
}

macro_rules! fields {
    ($($trait:ident),*) => {
        $(
            impl ser::$trait for &mut Encoder {
                type Ok = ();
                type Error = EncodingError;

                #[inline]
                fn serialize_field<T: Serialize + ?Sized>(&mut self, _name: &'static str, value: &T) -> Encoded {
                    value.serialize(&mut **self)
                }

                /// A skipped field has its default: none, false or empty. All of them are encoded as 0.
                #[inline]
                fn skip_field(&mut self, _name: &'static str) -> Encoded {
                    self.number(0);
                    Ok(())
                }

                #[inline]
                fn end(self) -> Encoded {
                    Ok(())
                }
            }
        )*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn encoded(value: &impl Serialize) -> Vec<u8> {
        let mut encoder = Encoder::default();
        encoder.value(value);
        encoder.bytes
    }

    #[derive(serde::Serialize)]
    enum Old {
        First,
        Second(u8),
        Third { many: Vec<u16>, none: Option<u8> },
    }

    #[derive(serde::Serialize)]
    #[serde(rename_all = "kebab-case")]
    enum Renamed {
        Eins,
        Zwei(u8),
        Drei {
            viele: Vec<u16>,
            #[serde(skip_serializing_if = "Option::is_none")]
            keins: Option<u8>,
        },
    }

    #[test]
    fn names_are_not_part_of_the_encoding() {
        assert_eq!(encoded(&Old::First), encoded(&Renamed::Eins));
        assert_eq!(encoded(&Old::Second(7)), encoded(&Renamed::Zwei(7)));
        let old = Old::Third { many: vec![1, 300], none: None };
        let renamed = Renamed::Drei { viele: vec![1, 300], keins: None };
        assert_eq!(encoded(&old), [2, 2, 1, 0xac, 2, 0]);
        assert_eq!(encoded(&old), encoded(&renamed));
    }

    #[test]
    fn each_kind_of_value_has_its_bytes() {
        assert_eq!(encoded(&(true, 'a', "b", -1_i8, 300_u16)), [1, 97, 1, 98, 1, 0xac, 2]);
        assert_eq!(encoded(&(Some(Some(3_u64)), None::<u8>, ())), [1, 1, 3, 0]);
        assert_eq!(encoded(&BTreeMap::from([(1_u8, i64::MIN)])).len(), 2 + 10);
        assert_eq!(encoded(&u64::MAX).len(), 10);
    }
}
