//! What an answer must look like: JSON with names for what only the server can know, as fresh ids and log positions.

use fencepost_model::ids::{Index, SessionId};
use serde_json::Value;

use super::names::NameTable;

/// The shape of a body, or of a part of it.
#[derive(Clone, PartialEq, Debug)]
pub enum BodyShape {
    /// Nothing at all.
    Nothing,
    /// Whatever it is.
    Any,
    /// A text that contains this (C-GEN-6).
    Text(String),
    /// These bytes.
    Raw(Vec<u8>),
    /// Exactly this.
    Json(Value),
    /// A log position.
    Index(Index),
    /// The id of a new session.
    NewSession(SessionId),
    /// The id of a new prepared query.
    NewQuery(u16),
    /// A list, in this order.
    List(Vec<BodyShape>),
    /// An object with exactly these fields.
    Object(Vec<(&'static str, BodyShape)>),
    /// An object with exactly these fields, whose names are the server's.
    Map(Vec<(String, BodyShape)>),
    /// An object with these fields, and others.
    Some(Vec<(&'static str, BodyShape)>),
}

impl BodyShape {
    /// A text in JSON.
    pub(super) fn text(text: impl Into<String>) -> BodyShape {
        BodyShape::Json(Value::String(text.into()))
    }

    /// Says how a body is another one than this. What only the server knew is written down.
    pub(super) fn fit(&self, body: &[u8], names: &mut NameTable) -> Result<(), String> {
        let text = || String::from_utf8_lossy(body);
        match self {
            BodyShape::Any => Ok(()),
            BodyShape::Nothing if body.is_empty() => Ok(()),
            BodyShape::Nothing => Err(format!("`{}` instead of an empty body", text().trim())),
            BodyShape::Text(part) if text().contains(part) => Ok(()),
            BodyShape::Text(part) => Err(format!("`{}` instead of `{part}`", text().trim())),
            BodyShape::Raw(bytes) if body == bytes => Ok(()),
            BodyShape::Raw(bytes) => Err(format!("`{}` instead of `{}`", text(), String::from_utf8_lossy(bytes))),
            _ if self.is_plainly(body, names) => Ok(()),
            _ => match serde_json::from_slice(body) {
                Ok(value) => self.fit_value(&value, names).map_err(|why| why.trim_start_matches(": ").to_owned()),
                Err(_) => Err(format!("`{}` instead of JSON", text().trim())),
            },
        }
    }

    pub(super) fn fit_value(&self, value: &Value, names: &mut NameTable) -> Result<(), String> {
        let string = || value.as_str().ok_or_else(|| format!(": {value} instead of a string"));
        match self {
            BodyShape::Json(expected) if expected == value => Ok(()),
            BodyShape::Json(expected) => Err(format!(": {value} instead of {expected}")),
            BodyShape::Index(index) => {
                let theirs = value.as_u64().ok_or_else(|| format!(": {value} instead of an index"))?;
                names.bind(*index, theirs).map_err(|why| format!(": {why}"))
            }
            BodyShape::NewSession(id) => names.name_session(*id, string()?).map_err(|why| format!(": {why}")),
            BodyShape::NewQuery(query) => names.name_query(*query, string()?).map_err(|why| format!(": {why}")),
            BodyShape::List(shapes) => {
                let items = value.as_array().ok_or_else(|| format!(": {value} instead of a list"))?;
                if items.len() != shapes.len() {
                    return Err(format!(": {} items instead of {}: {value}", items.len(), shapes.len()));
                }
                shapes.iter().zip(items).enumerate().try_for_each(|(place, (shape, item))| {
                    shape.fit_value(item, names).map_err(|why| format!("[{place}]{why}"))
                })
            }
            BodyShape::Object(fields) | BodyShape::Some(fields) => {
                let object = value.as_object().ok_or_else(|| format!(": {value} instead of an object"))?;
                if let (BodyShape::Object(_), Some(extra)) =
                    (self, object.keys().find(|name| !fields.iter().any(|(field, _)| field == name)))
                {
                    return Err(format!(".{extra} is there: {value}"));
                }
                fields.iter().try_for_each(|(field, shape)| {
                    let item = object.get(*field).ok_or_else(|| format!(".{field} is missing in {value}"))?;
                    shape.fit_value(item, names).map_err(|why| format!(".{field}{why}"))
                })
            }
            BodyShape::Map(fields) => {
                let object = value.as_object().ok_or_else(|| format!(": {value} instead of an object"))?;
                if object.len() != fields.len() {
                    return Err(format!(": {} fields instead of {}: {value}", object.len(), fields.len()));
                }
                fields.iter().try_for_each(|(field, shape)| {
                    let item = object.get(field).ok_or_else(|| format!(".{field} is missing in {value}"))?;
                    shape.fit_value(item, names).map_err(|why| format!(".{field}{why}"))
                })
            }
            BodyShape::Any => Ok(()),
            BodyShape::Text(part) => match value.as_str() {
                Some(text) if text.contains(part) => Ok(()),
                _ => Err(format!(": {value} instead of \"{part}\"")),
            },
            BodyShape::Nothing | BodyShape::Raw(_) => Err(format!(": {value} instead of nothing")),
        }
    }
}
