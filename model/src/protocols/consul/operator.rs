//! What somebody with access to the HTTP API may do from outside: an operator, or a bystander who uses the same key.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Consul, LOCK, Opaque, OperatorAct, Request, Server};
use crate::ids::SessionId;
use crate::process::{Context, Outbox};
use crate::scenario::Scenario;
use crate::world::{Condition, World};

/// One act.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Destroys a session. C-SES-19: anyone may.
    Destroy(SessionId),
    /// Puts another value into the lock's key. C-KV-8.
    Put,
    /// Deletes the lock's key. C-KV-14.
    Delete,
}

pub(super) fn offers(world: &World<Consul>, scenario: &Scenario<Consul>, offer: &mut dyn FnMut(Act)) {
    let server = &world.server.process;
    for act in &scenario.service.operator {
        match act {
            OperatorAct::DestroySession => server.sessions().for_each(|session| offer(Act::Destroy(session))),
            OperatorAct::DestroyCrashed => {
                let is_down = |client: crate::ids::ClientId| world.clients[client.place()].condition == Condition::Down;
                server
                    .sessions()
                    .filter(|session| is_down(session.creator))
                    .for_each(|session| offer(Act::Destroy(session)));
            }
            OperatorAct::Put => offer(Act::Put),
            OperatorAct::Delete if server.entry(LOCK).is_some() => offer(Act::Delete),
            OperatorAct::Delete => {}
        }
    }
}

pub(super) fn perform(server: &mut Server, act: Act, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
    let request = match act {
        Act::Destroy(session) => Request::DestroySession(session),
        Act::Put => Request::Put { key: LOCK, value: Opaque::Foreign, flags: 0 },
        Act::Delete => Request::Delete(LOCK),
    };
    server.serve(None, request, context, out);
}

impl crate::world::normal::Normal for Act {
    fn visit(&mut self, visitor: &mut impl crate::world::normal::Visitor) {
        if let Act::Destroy(session) = self {
            visitor.session(session);
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Destroy(session) => write!(f, "destroys {session}"),
            Act::Put => f.write_str("puts another value into the key"),
            Act::Delete => f.write_str("deletes the key"),
        }
    }
}
