//! The catalogue's part of the HTTP API, for those that watch over nodes: health checkers, operators, and clients that look for a leader.

use std::future::Future;

use super::ApiError;
use crate::{Answer, CheckKind, Consul, NodeHealth, NodeList, Request, Status};
use fencepost_model::ids::ClientId;
use fencepost_model::program::Handle;

type Result<T> = std::result::Result<T, ApiError>;

/// The requests about nodes and checks. A node is named by the client that runs on it. In a scenario that does not use the catalogue every
/// client has its node with three checks that pass.
pub trait CatalogApi {
    /// `GET /v1/status/leader`: whether there is one, as far as the server that is asked knows. C-CON-6.
    fn has_leader(&self) -> impl Future<Output = Result<bool>>;

    /// `GET /v1/catalog/nodes`.
    fn nodes(&self) -> impl Future<Output = Result<NodeList>>;

    /// `GET /v1/health/node/:node`.
    fn node_health(&self, node: ClientId) -> impl Future<Output = Result<NodeHealth>>;

    /// `PUT /v1/catalog/register` with one check: it registers the node as well, and a status of critical ends the sessions that are bound to
    /// the check. C-INV-5, C-INV-9.
    fn set_check(&self, node: ClientId, check: CheckKind, status: Status) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/catalog/deregister` of a check: it ends the sessions that are bound to it. C-INV-7.
    fn deregister_check(&self, node: ClientId, check: CheckKind) -> impl Future<Output = Result<bool>>;

    /// `PUT /v1/catalog/deregister` of a node: it ends all sessions of the node. C-INV-6.
    fn deregister_node(&self, node: ClientId) -> impl Future<Output = Result<bool>>;
}

impl CatalogApi for Handle<Consul> {
    async fn has_leader(&self) -> Result<bool> {
        match self.request(Request::Leader).await {
            Answer::Leader(has_leader) => Ok(has_leader),
            other => Err(ApiError(other)),
        }
    }

    async fn nodes(&self) -> Result<NodeList> {
        match self.request(Request::Nodes).await {
            Answer::Nodes(nodes) => Ok(nodes),
            other => Err(ApiError(other)),
        }
    }

    async fn node_health(&self, node: ClientId) -> Result<NodeHealth> {
        match self.request(Request::NodeHealth(node)).await {
            Answer::Health(health) => Ok(health),
            other => Err(ApiError(other)),
        }
    }

    async fn set_check(&self, node: ClientId, check: CheckKind, status: Status) -> Result<bool> {
        changed(self.request(Request::SetCheck(node, check, status)).await)
    }

    async fn deregister_check(&self, node: ClientId, check: CheckKind) -> Result<bool> {
        changed(self.request(Request::DeregisterCheck(node, check)).await)
    }

    async fn deregister_node(&self, node: ClientId) -> Result<bool> {
        changed(self.request(Request::DeregisterNode(node)).await)
    }
}

fn changed(answer: Answer) -> Result<bool> {
    match answer {
        Answer::Done(done) => Ok(done),
        other => Err(ApiError(other)),
    }
}
