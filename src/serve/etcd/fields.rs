//! The fields of a body (E-GEN-4). Numbers are numbers or strings, bytes are padded base64, names are in snake or camel case; what is not given
//! is 0, false or empty; unknown fields, and text after the object, are ignored.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::decode::NoCall;

/// The fields of an object.
pub(super) enum Fields<'a> {
    Read(Map<String, Value>),
    Of(&'a Map<String, Value>),
}

impl<'a> Fields<'a> {
    pub(super) fn read(body: &[u8]) -> Result<Fields<'static>, NoCall> {
        match serde_json::Deserializer::from_slice(body).into_iter::<Value>().next() {
            None | Some(Ok(Value::Null)) => Ok(Fields::Read(Map::new())),
            Some(Ok(Value::Object(fields))) => Ok(Fields::Read(fields)),
            Some(Ok(other)) => Err(NoCall::Bad(format!("json: cannot unmarshal {other} into an object"))),
            Some(Err(error)) => Err(NoCall::Bad(error.to_string())),
        }
    }

    pub(super) fn of(value: &'a Value) -> Result<Fields<'a>, NoCall> {
        value.as_object().map(Fields::Of).ok_or_else(|| NoCall::Bad(format!("json: {value} is no object")))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let fields = match self {
            Fields::Read(fields) => fields,
            Fields::Of(fields) => fields,
        };
        fields.get(name).or_else(|| fields.get(&camel(name))).filter(|value| !value.is_null())
    }

    pub(super) fn number(&self, name: &str) -> Result<i64, NoCall> {
        let Some(value) = self.get(name) else { return Ok(0) };
        let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
        number.ok_or_else(|| NoCall::Bad(format!("{name}: {value} is no number of 64 bits")))
    }

    pub(super) fn is(&self, name: &str) -> Result<bool, NoCall> {
        let Some(value) = self.get(name) else { return Ok(false) };
        value.as_bool().ok_or_else(|| NoCall::Bad(format!("{name}: {value} is neither true nor false")))
    }

    pub(super) fn text(&self, name: &str) -> Result<String, NoCall> {
        let Some(value) = self.get(name) else { return Ok(String::new()) };
        let bytes = value.as_str().and_then(|text| STANDARD.decode(text).ok());
        let bytes = bytes.ok_or_else(|| NoCall::Bad(format!("{name}: {value}: illegal base64 data")))?;
        String::from_utf8(bytes)
            .map_err(|_| NoCall::Beyond(format!("{name}: bytes that are no UTF-8 are no part of the stand-in")))
    }

    pub(super) fn list(&self, name: &str) -> Result<&[Value], NoCall> {
        let Some(value) = self.get(name) else { return Ok(&[]) };
        value.as_array().map(Vec::as_slice).ok_or_else(|| NoCall::Bad(format!("{name}: {value} is no list")))
    }

    /// One of some values, by its name or number; the first one if it is not said. E-GEN-5: a number that no value has kills a real server.
    pub(super) fn one_of<T: Copy>(&self, name: &str, values: &[(&str, T)]) -> Result<T, NoCall> {
        let Some(value) = self.get(name) else { return Ok(values[0].1) };
        let place = match value {
            Value::String(text) => values.iter().position(|(known, _)| known == text),
            other => {
                other.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|place| *place < values.len())
            }
        };
        match (place, value) {
            (Some(place), _) => Ok(values[place].1),
            (None, Value::String(_)) => Err(NoCall::Bad(format!("unknown value {value} for enum {name}"))),
            (None, _) => {
                Err(NoCall::Beyond(format!("{name}: {value} is an unknown number, which can end a real server")))
            }
        }
    }
}

/// `range_end` as `rangeEnd`.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut camel, part| {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
        camel
    })
}
