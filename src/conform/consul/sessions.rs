//! `/v1/session/`: how sessions are asked for, and what is shown of them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use fencepost_consul::CheckKind;
use fencepost_consul::{Answer, Behavior, Terms};
use fencepost_model::ids::{ClientId, Index, RawId, SessionId};
use fencepost_model::time::Ticks;
use serde_json::{Map, Value, json};

use super::duration::nanoseconds;
use super::names::{NameLimitError, Named};
use super::{Agent, Answered, BodyShape, Class, Expected, Parts, SECOND};

/// A session as it was asked for: what is shown of it and has no other effect.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Card {
    pub(super) id: SessionId,
    pub(super) create: Index,
    requested: Arc<Wanted>,
}

impl Hash for Card {
    /// What was wished for is told by the id.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.id, self.create).hash(state);
    }
}

/// What a body asks for. C-SES-1.
#[derive(Clone, PartialEq, Debug)]
struct Wanted {
    name: String,
    node: String,
    behavior: String,
    ttl: String,
    lock_delay: i64,
    checks: Vec<String>,
    node_checks: Option<Vec<String>>,
    service_checks: Option<Vec<String>>,
}

/// C-SES-1: the check that a session is bound to by default.
pub(super) const SERF_HEALTH: &str = "serfHealth";

/// C-SES-7: the longest TTL.
const TTL_MAX: i64 = 24 * 3600 * SECOND;

impl Agent {
    /// C-SES-4: the order in which a request is validated.
    pub(super) fn create_session(&mut self, parts: &Parts<'_>) -> Answered {
        let requested = match self.read_command(parts.body) {
            Ok(requested) => requested,
            Err(refusal) => return Ok(refusal),
        };
        let behavior = match requested.behavior.as_str() {
            "" | "release" => Behavior::Release,
            "delete" => Behavior::Delete,
            other => {
                let text = format!("Invalid Behavior setting '{other}'");
                return Ok(Expected::text(Class::SessionBehavior, 500, text));
            }
        };
        let ttl = match requested.ttl.as_str() {
            "" => 0,
            text => match nanoseconds(text) {
                Ok(ttl) => ttl,
                Err(_) => {
                    return Ok(Expected::text(Class::SessionTtl, 500, format!("Session TTL '{text}' invalid")));
                }
            },
        };
        if ttl != 0 && !(self.options.session_ttl_min..=TTL_MAX).contains(&ttl) {
            return Ok(Expected::text(
                Class::SessionTtlRange,
                500,
                format!("Invalid Session TTL '{ttl}', must be between"),
            ));
        }
        let node = self.names.node(&requested.node)?;
        let listed = requested.service_checks.iter().flatten().map(String::as_str);
        let all: Vec<String> = requested
            .checks
            .iter()
            .chain(requested.node_checks.iter().flatten())
            .map(String::as_str)
            .chain(listed)
            .map(str::to_owned)
            .collect();
        let checks = all.iter().map(|name| self.names.check(node, name)).collect::<Result<Vec<CheckKind>, _>>()?;
        let terms = Terms {
            ttl: (ttl > 0).then(|| Ticks::new(ttl)),
            lock_delay: Ticks::new(requested.lock_delay),
            behavior,
            checks: checks.iter().copied().collect(),
        };
        self.server.begin_entry();
        if let Some(refusal) = self.act(|server, context, _| server.refusal(node, checks.iter().copied(), context)) {
            let written = |kind| {
                let place = checks.iter().position(|check| *check == kind).expect("one of them");
                &all[place]
            };
            return Ok(match refusal {
                Answer::Missing(Some(kind)) => {
                    Expected::text(Class::SessionCheck, 500, format!("Missing check '{}' registration", written(kind)))
                }
                Answer::Critical(kind) => {
                    let text = format!("Check '{}' is in critical state", written(kind));
                    Expected::text(Class::SessionCritical, 500, text)
                }
                _ => Expected::text(Class::SessionNode, 500, "Missing node registration"),
            });
        }
        let id = self.act(|server, context, out| server.add_session(node, terms, context, out));
        self.cards.push(Card { id, create: self.server.position(), requested: Arc::new(requested) });
        Ok(Expected::new(Class::SessionCreated, 200, BodyShape::Object(vec![("ID", BodyShape::NewSession(id))])))
    }

    /// C-SES-3: field names in any letter case, unknown fields, and whatever follows the object, are ignored.
    fn read_command(&self, body: &[u8]) -> Result<Wanted, Expected> {
        let refused = || Expected::text(Class::SessionBody, 400, "Request decode failed");
        let default = vec![SERF_HEALTH.to_owned()];
        let mut requested = Wanted {
            name: String::new(),
            node: self.own_node().to_owned(),
            behavior: "release".to_owned(),
            ttl: String::new(),
            lock_delay: 15 * SECOND,
            checks: default.clone(),
            node_checks: Some(default.clone()),
            service_checks: None,
        };
        let first = serde_json::Deserializer::from_slice(body).into_iter::<Value>().next();
        let object = match first {
            None | Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(Value::Object(object))) => object,
            Some(_) => return Err(refused()),
        };
        let mut bad_delay = None;
        for (name, value) in &object {
            if value.is_null() {
                match name.to_lowercase().as_str() {
                    "checks" => requested.checks.clear(),
                    "nodechecks" => requested.node_checks = None,
                    _ => {}
                }
                continue;
            }
            let text = || value.as_str().map(str::to_owned).ok_or_else(refused);
            match name.to_lowercase().as_str() {
                "id" => drop(text()?),
                "name" => requested.name = text()?,
                "node" => requested.node = text()?,
                "behavior" => requested.behavior = text()?,
                "ttl" => requested.ttl = text()?,
                "checks" => requested.checks = texts(value, &default).ok_or_else(refused)?,
                "nodechecks" => requested.node_checks = Some(texts(value, &default).ok_or_else(refused)?),
                "servicechecks" => requested.service_checks = Some(service_checks(value).ok_or_else(refused)?),
                "lockdelay" => match lock_delay(value) {
                    Ok(delay) => requested.lock_delay = delay,
                    Err(why) => bad_delay = Some(why),
                },
                _ => {}
            }
        }
        // It is looked at after everything else has been read.
        if let Some(why) = bad_delay {
            return Err(Expected::text(Class::SessionDelay, 400, why));
        }
        requested.choose_checks();
        if requested.node.is_empty() {
            return Err(Expected::text(Class::SessionNoNode, 500, "Must provide Node"));
        }
        Ok(requested)
    }

    /// C-SES-19.
    pub(super) fn destroy_session(&mut self, parts: &Parts<'_>) -> Answered {
        let session = match self.named_session(parts)? {
            Ok(session) => session,
            Err(refusal) => return Ok(refusal),
        };
        let was_there = self.server.sessions().any(|id| id == session);
        self.server.begin_entry();
        self.act(|server, context, out| server.destroy_session(session, context, out));
        let class = if was_there { Class::SessionDestroyed } else { Class::SessionDestroyedTwice };
        Ok(Expected::done(class, true))
    }

    /// C-SES-18: no log entry.
    pub(super) fn renew_session(&mut self, parts: &Parts<'_>) -> Answered {
        let session = match self.named_session(parts)? {
            Ok(session) => session,
            Err(refusal) => return Ok(refusal),
        };
        if self.act(|server, context, out| server.renew_session(session, context, out)) == Answer::UnknownSession {
            let text = format!("Session id '{}' not found", parts.path);
            return Ok(Expected::text(Class::SessionNotRenewed, 404, text));
        }
        Ok(Expected::new(Class::SessionRenewed, 200, self.session_list(|id| id == session)))
    }

    /// C-SES-15 to C-SES-17.
    pub(super) fn session_info(&mut self, parts: &Parts<'_>) -> Answered {
        let session = match self.named_session(parts)? {
            Ok(session) => session,
            Err(refusal) => return Ok(refusal),
        };
        let is_there = self.server.sessions().any(|id| id == session);
        let class = if is_there { Class::SessionFound } else { Class::SessionUnknown };
        let shape = self.session_list(|id| id == session);
        Ok(Expected::new(class, 200, shape).at(self.server.sessions_index()))
    }

    pub(super) fn sessions_of_node(&mut self, parts: &Parts<'_>) -> Answered {
        if parts.path.is_empty() {
            return Ok(Expected::text(Class::SessionMissing, 400, "Missing node name"));
        }
        let node = self.names.node(&parts.path)?;
        let shape = self.session_list(|id| id.raw().creator == node);
        Ok(Expected::new(Class::SessionList, 200, shape).at(self.server.sessions_index()))
    }

    pub(super) fn all_sessions(&mut self, _: &Parts<'_>) -> Answered {
        let shape = self.session_list(|id| id.raw().creator != ClientId(0));
        Ok(Expected::new(Class::SessionList, 200, shape).at(self.server.sessions_index()))
    }

    fn named_session(&mut self, parts: &Parts<'_>) -> Result<Result<SessionId, Expected>, NameLimitError> {
        Ok(match self.names.session(&parts.path)? {
            Named::Id(session, _) => Ok(session),
            Named::Missing => Err(Expected::text(Class::SessionMissing, 400, "Missing session")),
            Named::Malformed => Err(Expected::text(Class::SessionMalformed, 500, "UUID must be 36 characters")),
        })
    }

    /// C-GEN-8: by id.
    fn session_list(&self, is_wanted: impl Fn(SessionId) -> bool) -> BodyShape {
        let mut cards: Vec<(&str, &Card)> = self
            .server
            .sessions()
            .filter(|id| is_wanted(*id))
            .filter_map(|id| self.cards.iter().find(|card| card.id == id))
            .map(|card| (self.names.session_text(card.id, Default::default()), card))
            .collect();
        cards.sort_unstable_by_key(|(name, _)| *name);
        BodyShape::List(cards.into_iter().map(|(name, card)| card.shape(name)).collect())
    }
}

impl Wanted {
    /// C-SES-10: which of the lists count; the first row that fits.
    fn choose_checks(&mut self) {
        if self.checks.is_empty() {
            self.node_checks = Some(Vec::new());
        } else if self.checks == [SERF_HEALTH] || self.node_checks.iter().flatten().next().is_none() {
            self.checks.clear();
        }
    }
}

impl Card {
    /// C-SES-16.
    fn shape(&self, name: &str) -> BodyShape {
        let requested = &self.requested;
        let service_checks = match &requested.service_checks {
            None => BodyShape::Json(Value::Null),
            Some(checks) => BodyShape::List(
                checks.iter().map(|check| BodyShape::Some(vec![("ID", BodyShape::text(check))])).collect(),
            ),
        };
        let mut fields = vec![
            ("ID", BodyShape::text(name)),
            ("Name", BodyShape::text(&requested.name)),
            ("Node", BodyShape::text(&requested.node)),
            ("LockDelay", BodyShape::Json(requested.lock_delay.into())),
            ("Behavior", BodyShape::text(if requested.behavior.is_empty() { "release" } else { &requested.behavior })),
            ("TTL", BodyShape::text(&requested.ttl)),
            ("NodeChecks", BodyShape::Json(json!(requested.node_checks))),
            ("ServiceChecks", service_checks),
            ("CreateIndex", BodyShape::Index(self.create)),
            ("ModifyIndex", BodyShape::Index(self.create)),
        ];
        if !requested.checks.is_empty() {
            fields.push(("Checks", BodyShape::Json(json!(requested.checks))));
        }
        BodyShape::Object(fields)
    }
}

/// C-SES-22: null in a list leaves what the default has in that place.
fn texts(value: &Value, default: &[String]) -> Option<Vec<String>> {
    let text = |(place, item): (usize, &Value)| match item {
        Value::Null => Some(default.get(place).cloned().unwrap_or_default()),
        _ => item.as_str().map(str::to_owned),
    };
    value.as_array()?.iter().enumerate().map(text).collect()
}

/// C-SES-21: the ids of a list of service checks; one without an id has an empty one.
fn service_checks(value: &Value) -> Option<Vec<String>> {
    let id = |item: &Value| match item {
        Value::Null => Some(String::new()),
        Value::Object(fields) => match fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("id")) {
            None | Some((_, Value::Null)) => Some(String::new()),
            Some((_, id)) => id.as_str().map(str::to_owned),
        },
        _ => None,
    };
    value.as_array()?.iter().map(id).collect()
}

/// C-SES-8: nanoseconds; what is below 1000 of them is taken for seconds, whatever its spelling; types that make no sense
/// are 0.
fn lock_delay(value: &Value) -> Result<i64, String> {
    let refused = |why: String| {
        // Whether Go quotes the text depends on its version.
        let kind = ["missing unit", "unknown unit"].into_iter().find(|kind| why.starts_with(kind));
        format!("Request decode failed: time: {} ", kind.unwrap_or("invalid duration"))
    };
    let nanoseconds = match value {
        Value::String(text) => nanoseconds(text).map_err(refused)?,
        Value::Number(number) => number.as_i64().unwrap_or_else(|| whole(&number.to_string())),
        _ => 0,
    };
    Ok(if nanoseconds < 1000 { nanoseconds.wrapping_mul(SECOND) } else { nanoseconds })
}

/// The whole part of a decimal number, as Go's conversion from floats has it.
fn whole(number: &str) -> i64 {
    number.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0)
}
