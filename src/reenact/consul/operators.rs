//! What operators and the catalogue do, as HTTP.

use fencepost_consul::{CheckKind, Claim, Key, LOCK, Opaque, OperatorAction, Request, Status};
use fencepost_live::{HttpRequest, Reply, SessionIds, question, send};
use fencepost_model::ids::ClientId;
use serde_json::json;

use super::positions::Positions;
use super::stage::{SERVICE, Stage};
use crate::error::ServerError;

impl Stage<'_> {
    /// Carries out what an operator does.
    pub(super) fn operate(
        &self,
        action: OperatorAction,
        sessions: &SessionIds,
        positions: &Positions,
    ) -> Result<(), ServerError> {
        match action {
            OperatorAction::DeleteTree => {
                self.agent.json("DELETE", &format!("/v1/kv/{}?recurse", self.keys()), "").map(drop)
            }
            OperatorAction::SetCheck(node, kind, status) => self.set_check(node, kind, status),
            OperatorAction::DropCheck(node, kind) => {
                let check = self.client(node).check(kind).unwrap_or_default();
                self.deregister(&json!({"Node": self.node(node), "CheckID": check}))
            }
            OperatorAction::DropService(node) => {
                self.deregister(&json!({"Node": self.node(node), "ServiceID": SERVICE}))
            }
            OperatorAction::DropNode(node) => self.deregister(&json!({"Node": self.node(node)})),
            OperatorAction::TakeOver(node, kind, session) => {
                let key = sessions.key(self.client(node), LOCK).map_err(|error| ServerError(error.to_string()))?;
                let operations = json!([
                    {"Check": {"Verb": "set", "Check": self.check(node, kind, Status::Critical)}},
                    {"KV": {"Verb": "lock", "Key": key, "Value": "", "Session": sessions.text(session)}},
                ]);
                self.agent.json("PUT", "/v1/txn", &operations.to_string()).map(drop)
            }
            other => self.ask_for(request(other), sessions, positions),
        }
    }

    /// A check of a client's node has this status from now on.
    pub(super) fn set_check(&self, node: ClientId, kind: CheckKind, status: Status) -> Result<(), ServerError> {
        let body = json!({
            "Node": self.node(node), "Address": "127.0.0.1", "SkipNodeUpdate": true, "Check": self.check(node, kind, status),
        });
        self.agent.json("PUT", "/v1/catalog/register", &body.to_string()).map(drop)
    }

    pub(super) fn reap(&self, node: ClientId) -> Result<(), ServerError> {
        self.deregister(&json!({"Node": self.node(node)}))
    }

    fn deregister(&self, what: &serde_json::Value) -> Result<(), ServerError> {
        self.agent.json("PUT", "/v1/catalog/deregister", &what.to_string()).map(drop)
    }

    /// Sends a request that an operator makes as clients do.
    fn ask_for(&self, request: Request, sessions: &SessionIds, positions: &Positions) -> Result<(), ServerError> {
        let request = positions.translated(request).map_err(ServerError)?;
        let question = self.question(&request, ClientId(1), sessions)?;
        match send(&self.agent.base, &question) {
            Reply::Answered { .. } => Ok(()),
            Reply::Refused(why) | Reply::Closed(why) => Err(ServerError(why)),
            Reply::Lost => Err(ServerError(format!("{} {}: no answer", question.method, question.path))),
        }
    }

    /// A request of a client as HTTP.
    pub(super) fn question(
        &self,
        request: &Request,
        client: ClientId,
        sessions: &SessionIds,
    ) -> Result<HttpRequest, ServerError> {
        question(request, self.client(client), sessions).map_err(|error| ServerError(error.to_string()))
    }
}

/// What an operator sends.
fn request(action: OperatorAction) -> Request {
    let (value, flags) = (Opaque::Foreign, 0);
    let claim = |session| Claim::new(LOCK, session, value, flags);
    match action {
        OperatorAction::Destroy(session) => Request::DestroySession(session),
        OperatorAction::Put => Request::Put { key: LOCK, value, flags },
        OperatorAction::Delete => Request::Delete(LOCK),
        OperatorAction::Cas(index) => Request::Cas { key: LOCK, index, value, flags },
        OperatorAction::DeleteCas(index) => Request::DeleteCas { key: LOCK, index },
        OperatorAction::DeleteSlots(None) => Request::Delete(Key::Slots),
        OperatorAction::DeleteSlots(Some(index)) => Request::DeleteCas { key: Key::Slots, index },
        OperatorAction::Release(session) => Request::Release(claim(session)),
        OperatorAction::Acquire(session) => Request::Acquire(claim(session)),
        OperatorAction::Renew(session) => Request::RenewSession(session),
        OperatorAction::DeleteTree
        | OperatorAction::SetCheck(..)
        | OperatorAction::DropCheck(..)
        | OperatorAction::DropService(_)
        | OperatorAction::DropNode(_)
        | OperatorAction::TakeOver(..) => unreachable!("no client sends it"),
    }
}
