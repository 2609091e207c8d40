//! `/v1/kv/`: the store.

use fencepost_consul::{Answer, Claim, Entry, Key, Opaque, Spelling};
use fencepost_model::ids::{Index, SessionId};
use serde_json::json;

use super::exchange::unsigned;
use super::names::Named;
use super::{Agent, Answered, BodyShape, Class, Expected, Parts};

/// C-KV-2: the most bytes that a value may have.
pub(super) const VALUE_MAX: usize = 524_288;

impl Agent {
    pub(super) fn serve_kv(&mut self, parts: &Parts<'_>) -> Answered {
        match parts.method {
            "GET" if parts.has("keys") => self.list_keys(parts),
            "GET" if parts.has("recurse") => self.list_entries(parts),
            "GET" => self.get_entry(parts),
            "PUT" => self.put_entry(parts),
            _ => self.delete_entry(parts),
        }
    }

    /// C-KV-5, C-KV-6, C-KV-20.
    fn get_entry(&mut self, parts: &Parts<'_>) -> Answered {
        if parts.path.is_empty() {
            return Ok(no_key());
        }
        let key = self.key(&parts.path)?;
        let Some(entry) = self.server.entry(key) else {
            return Ok(Expected::new(Class::Absent, 404, BodyShape::Nothing).at(self.server.store_index()));
        };
        if parts.has("raw") {
            let value = self.names.bytes(entry.value).to_owned();
            return Ok(Expected::new(Class::FoundRaw, 200, BodyShape::Raw(value)).at(entry.modify));
        }
        let class = if entry.session.is_some() { Class::FoundHeld } else { Class::Found };
        let shape = BodyShape::List(vec![self.entry_shape(key, entry, true)]);
        Ok(Expected::new(class, 200, shape).at(entry.modify))
    }

    /// C-KV-5, C-KV-21, C-GEN-8.
    fn list_entries(&mut self, parts: &Parts<'_>) -> Answered {
        let prefix = self.prefix(&parts.path)?;
        let entries: Vec<(Key, Entry)> = self.server.below(prefix).collect();
        let index = self.server.prefix_index(prefix);
        if entries.is_empty() {
            let class = if index == self.server.store_index() { Class::ListedNone } else { Class::ListedOldGrave };
            return Ok(Expected::new(class, 404, BodyShape::Nothing).at(index));
        }
        let shapes = entries.into_iter().map(|(key, entry)| self.entry_shape(key, entry, true)).collect();
        Ok(Expected::new(Class::Listed, 200, BodyShape::List(shapes)).at(index))
    }

    /// C-KV-5: names, cut behind the first separator after the prefix.
    fn list_keys(&mut self, parts: &Parts<'_>) -> Answered {
        let prefix = self.prefix(&parts.path)?;
        let index = self.server.prefix_index(prefix);
        let separator = parts.get("separator").or(parts.get("seperator")).unwrap_or("");
        let mut names: Vec<String> = Vec::new();
        for (key, _) in self.server.below(prefix) {
            let name = self.key_name(key);
            let behind = &name[parts.path.len()..];
            let cut = behind.find(separator).filter(|_| !separator.is_empty());
            let end = cut.map_or(name.len(), |place| parts.path.len() + place + separator.len());
            if names.last().is_none_or(|last| *last != name[..end]) {
                names.push(name[..end].to_owned());
            }
        }
        if names.is_empty() && !parts.path.is_empty() {
            return Ok(Expected::new(Class::KeysNone, 404, BodyShape::Nothing).at(index));
        }
        let class = if names.is_empty() { Class::KeysEmptyPrefix } else { Class::Keys };
        Ok(Expected::new(class, 200, BodyShape::Json(json!(names))).at(index))
    }

    /// C-KV-1: put, cas, acquire and release.
    fn put_entry(&mut self, parts: &Parts<'_>) -> Answered {
        if parts.path.is_empty() {
            return Ok(no_key());
        }
        if ["cas", "acquire", "release"].iter().filter(|flag| parts.has(flag)).count() > 1 {
            return Ok(Expected::text(Class::FlagsConflict, 400, "Conflicting flags"));
        }
        let number = |name| parts.get(name).map(|text| unsigned(text).ok_or(())).transpose();
        let (Ok(flags), Ok(cas)) = (number("flags"), number("cas")) else {
            return Ok(Expected::text(Class::BadNumber, 500, "strconv.ParseUint: parsing"));
        };
        if parts.body.len() > VALUE_MAX {
            return Ok(Expected::text(Class::TooLarge, 413, "too large"));
        }
        let key = self.key(&parts.path)?;
        let content = (Opaque::from(self.names.value(parts.body)), self.names.flags(flags.unwrap_or(0))?);
        let before = self.server.entry(key);
        if let Some(theirs) = cas {
            let index = self.index(theirs, before.map(|entry| entry.modify));
            return Ok(self.cas(key, index, content));
        }
        if let Some(text) = parts.get("acquire") {
            let named = self.names.session(text)?;
            return Ok(self.acquire(key, named, content));
        }
        if let Some(text) = parts.get("release") {
            if text.is_empty() {
                self.server.begin_entry();
                return Ok(Expected::text(Class::ReleaseNoSession, 500, "missing session"));
            }
            let Named::Id(session, spelling) = self.names.any_session(text)? else { unreachable!("it is not empty") };
            return Ok(self.release(key, session, spelling, content));
        }
        self.server.begin_entry();
        let is_delayed = self.act(|server, context, _| server.is_delayed(key, context));
        self.act(|server, context, out| server.put(key, content, context, out));
        let class = match before {
            _ if is_delayed => Class::PutDelayed,
            Some(before) if before.session.is_some() => Class::PutHeld,
            Some(before) if self.is_same(key, before) => Class::PutEqual,
            _ => Class::Put,
        };
        Ok(Expected::done(class, true))
    }

    fn is_same(&self, key: Key, before: Entry) -> bool {
        self.server.entry(key) == Some(before)
    }

    /// C-KV-9.
    fn cas(&mut self, key: Key, index: Index, content: (Opaque, u8)) -> Expected {
        let before = self.server.entry(key);
        self.server.begin_entry();
        let answer = self.act(|server, context, out| server.cas(key, index, content, context, out));
        let class = match before {
            _ if answer == Answer::Done(true) => match before {
                Some(before) if self.is_same(key, before) => Class::CasEqual,
                _ => Class::CasDone,
            },
            None => Class::CasAbsent,
            Some(_) if index == Index::NONE => Class::CasPresent,
            Some(_) => Class::CasStale,
        };
        Expected::done(class, answer == Answer::Done(true))
    }

    /// C-KV-10, C-KV-11, C-LD-2, C-LD-4.
    fn acquire(&mut self, key: Key, named: Named, (value, flags): (Opaque, u8)) -> Expected {
        let before = self.server.entry(key);
        if !self.hint.has_passed && self.act(|server, context, _| server.is_delayed(key, context)) {
            let class = match named {
                Named::Id(session, spelling) if before.is_some_and(|e| e.holder() == Some((session, spelling))) => {
                    Class::AcquireDelayedHolder
                }
                Named::Id(session, _) if self.server.sessions().any(|id| id == session) => Class::AcquireDelayed,
                _ => Class::AcquireDelayedUnknown,
            };
            return Expected::done(class, false);
        }
        self.server.begin_entry();
        let (session, spelling) = match named {
            Named::Missing => return Expected::text(Class::AcquireNoSession, 500, "missing session"),
            Named::Malformed => return Expected::text(Class::AcquireMalformed, 500, "failed session lookup"),
            Named::Id(session, spelling) => (session, spelling),
        };
        let claim = Claim { key, session, spelling, value, flags };
        match self.act(|server, context, out| server.lock_late(None, claim, context, out)) {
            Answer::InvalidSession => {
                let text = format!("invalid session {:?}", self.names.session_text(session, spelling));
                Expected::text(Class::AcquireUnknown, 500, text)
            }
            Answer::Done(true) => {
                let class = match before {
                    Some(before) if self.is_same(key, before) => Class::AcquiredEqual,
                    Some(before) if before.session.is_some() => Class::AcquiredAgain,
                    _ => Class::Acquired,
                };
                Expected::done(class, true)
            }
            _ if before.is_some_and(|before| before.session == Some(session)) => {
                Expected::done(Class::AcquireSpelling, false)
            }
            _ => Expected::done(Class::AcquireHeld, false),
        }
    }

    /// C-KV-12, C-KV-16.
    fn release(&mut self, key: Key, session: SessionId, spelling: Spelling, (value, flags): (Opaque, u8)) -> Expected {
        let before = self.server.entry(key);
        let claim = Claim { key, session, spelling, value, flags };
        self.server.begin_entry();
        let answer = self.act(|server, context, out| server.release(None, claim, context, out));
        let class = match before {
            _ if answer == Answer::Done(true) => Class::Released,
            None => Class::ReleaseAbsent,
            Some(before) if before.session.is_none() => Class::ReleaseFree,
            Some(_) => Class::ReleaseOther,
        };
        Expected::done(class, answer == Answer::Done(true))
    }

    /// C-KV-4, C-KV-14, C-KV-15, C-KV-17.
    fn delete_entry(&mut self, parts: &Parts<'_>) -> Answered {
        if parts.has("recurse") && parts.has("cas") {
            return Ok(Expected::text(Class::FlagsConflict, 400, "Conflicting flags"));
        }
        if parts.has("recurse") {
            let prefix = self.prefix(&parts.path)?;
            let is_empty = self.server.below(prefix).next().is_none();
            self.server.begin_entry();
            self.act(|server, context, out| server.delete_tree(prefix, context, out));
            let class = if is_empty { Class::TreeDeletedEmpty } else { Class::TreeDeleted };
            return Ok(Expected::done(class, true));
        }
        if parts.path.is_empty() {
            return Ok(no_key());
        }
        let key = self.key(&parts.path)?;
        let before = self.server.entry(key);
        let Some(cas) = parts.get("cas") else {
            self.server.begin_entry();
            self.act(|server, context, out| server.delete(key, context, out));
            let class = match before {
                Some(before) if before.session.is_some() => Class::DeletedHeld,
                Some(_) => Class::Deleted,
                None => Class::DeletedAbsent,
            };
            return Ok(Expected::done(class, true));
        };
        let Some(theirs) = unsigned(cas) else {
            return Ok(Expected::text(Class::BadNumber, 500, "strconv.ParseUint: parsing"));
        };
        let index = self.index(theirs, before.map(|entry| entry.modify));
        self.server.begin_entry();
        let answer = self.act(|server, context, out| server.delete_cas(key, index, context, out));
        let class = match before {
            None => Class::DeleteCasAbsent,
            Some(_) if answer == Answer::Done(true) => Class::DeleteCasDone,
            Some(_) => Class::DeleteCasStale,
        };
        Ok(Expected::done(class, answer == Answer::Done(true)))
    }

    /// C-KV-6: the fields of an entry, base64 and nulls included.
    pub(super) fn entry_shape(&self, key: Key, entry: Entry, has_value: bool) -> BodyShape {
        use base64::Engine;
        let bytes = self.names.bytes(entry.value);
        let value = if bytes.is_empty() || !has_value {
            BodyShape::Json(serde_json::Value::Null)
        } else {
            BodyShape::text(base64::engine::general_purpose::STANDARD.encode(bytes))
        };
        let mut fields = vec![
            ("LockIndex", BodyShape::Json(entry.lock_index.into())),
            ("Key", BodyShape::text(self.key_name(key))),
            ("Flags", BodyShape::Json(self.names.flags_of(entry.flags).into())),
            ("Value", value),
            ("CreateIndex", BodyShape::Index(entry.create)),
            ("ModifyIndex", BodyShape::Index(entry.modify)),
        ];
        if let Some(session) = entry.session {
            fields.push(("Session", BodyShape::text(self.names.session_text(session, entry.spelling))));
        }
        BodyShape::Object(fields)
    }
}

fn no_key() -> Expected {
    Expected::text(Class::KeyMissing, 400, "Missing key name")
}
