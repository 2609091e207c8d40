//! What a program asks that observes keys: the oldest one, and the events of a range.

use std::future::Future;

use super::api::{EtcdError, EtcdQuery, found};
use crate::Etcd;
use crate::messages::{EventCursor, KeyEvent, KeyRange, Request, Response, Shown};
use fencepost_model::ids::Index;
use fencepost_model::program::Handle;

type Result<T> = std::result::Result<T, EtcdError>;

/// Reads and watches of the prefix. The scenario of a program that watches events needs `service.history`.
pub trait WatchApi {
    /// `Get(prefix, WithFirstCreate())`, with the revision of the store; `WithSerializable()`: those of a member's copy. E-KV-10, E-CC-23.
    fn first_create(&self, is_serializable: bool) -> impl Future<Output = Result<(Option<Shown>, Index)>>;

    /// `Watch(range, WithRev(…))`: the next event. A client that goes on from its [`cursor`](KeyEvent::cursor) has the same stream, as long as
    /// it watches nothing else in between, and its connection does not break. E-W-2, E-W-5, E-W-7.
    fn next_event(&self, range: KeyRange, cursor: EventCursor) -> impl Future<Output = Result<KeyEvent>>;
}

impl WatchApi for Handle<Etcd> {
    async fn first_create(&self, is_serializable: bool) -> Result<(Option<Shown>, Index)> {
        found(self.request(EtcdQuery::Ask(Request::First { serializable: is_serializable })).await)
    }

    async fn next_event(&self, range: KeyRange, cursor: EventCursor) -> Result<KeyEvent> {
        match self.request(EtcdQuery::Ask(Request::Follow(range, cursor))).await {
            Response::Event(event) => Ok(event),
            other => Err(EtcdError(other)),
        }
    }
}
