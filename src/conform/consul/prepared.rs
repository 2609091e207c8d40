//! `/v1/query`: prepared queries, as far as they hang on sessions.

use fencepost_consul::{Query, QueryRefusal};
use serde_json::Value;

use super::catalog::object;
use super::names::{Named, is_uuid};
use super::{Agent, Answered, BodyShape, Class, Expected, Parts, field};

impl Agent {
    pub(super) fn serve_queries(&mut self, parts: &Parts<'_>) -> Answered {
        if parts.method == "POST" {
            let query = self.names.fresh_query()?;
            return self.prepare(query, parts.body, true);
        }
        let mut queries: Vec<&Query> = self.server.prepared().iter().collect();
        queries.sort_unstable_by_key(|query| self.names.query_id(query.id));
        let shapes = queries.into_iter().map(|query| self.query_shape(query)).collect();
        Ok(Expected::new(Class::QueryList, 200, BodyShape::List(shapes)).at(self.server.queries_index()))
    }

    pub(super) fn serve_query(&mut self, parts: &Parts<'_>) -> Answered {
        if let Some(name) = ["/execute", "/explain"].iter().find_map(|end| parts.path.strip_suffix(end)) {
            return Ok(self.execute(name, parts));
        }
        if parts.method == "PUT" && object(parts.body).is_none() {
            return Ok(Expected::text(Class::QueryBody, 400, "Request decode failed"));
        }
        if !is_uuid(&parts.path) {
            return Ok(Expected::text(Class::QueryNoId, 500, "UUID must be 36 characters"));
        }
        let query =
            self.names.query(&parts.path).filter(|id| self.server.prepared().iter().any(|query| query.id == *id));
        let Some(id) = query else {
            return Ok(match parts.method {
                "GET" => Expected::text(Class::QueryUnknown, 404, "Query not found"),
                _ => Expected::text(Class::QueryNotThere, 500, "Cannot modify non-existent prepared query"),
            });
        };
        Ok(match parts.method {
            "GET" => {
                let query = self.server.prepared().iter().find(|query| query.id == id).expect("looked up above");
                let shape = BodyShape::List(vec![self.query_shape(query)]);
                Expected::new(Class::QueryFound, 200, shape).at(self.server.queries_index())
            }
            "PUT" => return self.prepare(id, parts.body, false),
            _ => {
                self.server.forget_query(id);
                Expected::new(Class::QueryDeleted, 200, BodyShape::Any)
            }
        })
    }

    /// C-PQ-1 to C-PQ-4.
    fn prepare(&mut self, query: u16, body: &[u8], is_new: bool) -> Answered {
        let Some(object) = object(body) else {
            return Ok(Expected::text(Class::QueryBody, 400, "Request decode failed"));
        };
        let text = |name: &str| field(&object, name).and_then(Value::as_str).unwrap_or("");
        let (name, session) = (text("Name"), text("Session"));
        if name.is_empty() && session.is_empty() {
            return Ok(Expected::text(Class::QueryUnbound, 500, "Must be bound to a session"));
        }
        let bound = match self.names.session(session)? {
            Named::Missing => None,
            Named::Id(session, spelling) => Some((session, spelling)),
            // An unused id: client 0 creates no sessions.
            Named::Malformed => Some(Default::default()),
        };
        let written = self.names.query_name(name)?;
        Ok(match self.act(|server, context, _| server.prepare(query, written, bound, context)) {
            Err(QueryRefusal::NoSession) if bound == Some(Default::default()) => {
                Expected::text(Class::QueryMalformed, 500, "invalid session")
            }
            Err(QueryRefusal::NoSession) => {
                Expected::text(Class::QueryNoSession, 500, format!("invalid session {session:?}"))
            }
            Err(QueryRefusal::NameTaken) => {
                Expected::text(Class::QueryNameTaken, 500, format!("name '{name}' aliases an existing query name"))
            }
            Ok(()) if is_new => {
                self.names.note_query(query, name);
                Expected::new(Class::QueryCreated, 200, BodyShape::Object(vec![("ID", BodyShape::NewQuery(query))]))
            }
            Ok(()) => {
                self.names.note_query(query, name);
                Expected::new(Class::QueryUpdated, 200, BodyShape::Any)
            }
        })
    }

    /// C-PQ-9: by name or id, in any letters.
    fn execute(&self, name: &str, parts: &Parts<'_>) -> Expected {
        if parts.method != "GET" {
            return Expected::text(Class::WrongMethod, 405, format!("method {} not allowed", parts.method));
        }
        let is_wanted = |query: &Query| {
            [self.names.query_id(query.id), self.names.query_text(query.id)]
                .into_iter()
                .any(|text| !text.is_empty() && text.eq_ignore_ascii_case(name))
        };
        match self.server.prepared().iter().any(is_wanted) {
            true => Expected::new(Class::QueryExecuted, 200, BodyShape::Any),
            false => Expected::text(Class::QueryUnknown, 404, "Query not found"),
        }
    }

    fn query_shape(&self, query: &Query) -> BodyShape {
        let session = query.session.map_or("", |(session, spelling)| self.names.session_text(session, spelling));
        BodyShape::Some(vec![
            ("ID", BodyShape::text(self.names.query_id(query.id))),
            ("Name", BodyShape::text(self.names.query_text(query.id))),
            ("Session", BodyShape::text(session)),
            ("CreateIndex", BodyShape::Index(query.create)),
            ("ModifyIndex", BodyShape::Index(query.modify)),
        ])
    }
}
