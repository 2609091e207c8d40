//! `Observe` and `Leader` of the Go client's `Election` (clientv3/concurrency/election.go of 3.4.23), and of the server's
//! (etcdserver/api/v3election/election.go 73-106), which are the same code.

use serde::{Deserialize, Serialize};

use super::{EtcdError, WatchApi};
use crate::Etcd;
use crate::events::Observation;
use crate::messages::{EventCursor, Key, KeyRange, Response, Shown};
use fencepost_model::normal::Normal;
use fencepost_model::program::Handle;

/// `Leader` (148-158): none for `ErrElectionNoLeader`. E-CC-23.
///
/// # Errors
/// `if err != nil { return nil, err }` (151-152).
pub async fn leader(client: &Handle<Etcd>) -> Result<Option<Shown>, EtcdError> {
    Ok(client.first_create(false).await?.0)
}

/// Where the goroutine of `Observe` is (173-245). It may miss a leader, and values of one that did not lead yet, for it reads the oldest key
/// anew after a deletion; of the key that it watches it misses nothing. E-CC-23, E-W-2.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdObserve {
    /// `client.Get(ctx, e.keyPrefix, v3.WithFirstCreate()...)` (178).
    #[default]
    Get,
    /// `wr, ok := <-wch` of the watch of the prefix (190-192).
    FirstPut(EventCursor),
    /// The same of the watch of the leader's key (220-223).
    Follow(Key, EventCursor),
    /// `close(ch)` (176).
    Closed,
}

impl EtcdObserve {
    /// Goes on to the next step: what is sent on the channel by it, if anything is. The goroutine waits until that is received, and so does
    /// this one until it is asked again. A watch whose connection breaks is resumed where it was (clientv3/watch.go). E-W-7.
    pub async fn step(&mut self, client: &Handle<Etcd>) -> Option<Observation> {
        self.go_on(client, true).await
    }

    /// The same of the server's `Observe`, which its caller hears on a stream. The watches are the server's; a connection that breaks is the
    /// caller's, and cancels the call (`stream.Context()`, 79). E-CC-30.
    pub async fn step_of_call(&mut self, client: &Handle<Etcd>) -> Option<Observation> {
        self.go_on(client, false).await
    }

    async fn go_on(&mut self, client: &Handle<Etcd>, resumes: bool) -> Option<Observation> {
        let (next, told) = match *self {
            EtcdObserve::Get => match client.first_create(false).await {
                // `opts := []v3.OpOption{v3.WithRev(resp.Header.Revision), v3.WithPrefix()}` (189).
                Ok((None, revision)) => (EtcdObserve::FirstPut(EventCursor::at(revision)), None),
                // `hdr, kv = resp.Header, resp.Kvs[0]`, `v3.WithRev(hdr.Revision+1)` (210, 220).
                Ok((Some(shown), revision)) => {
                    let next = EtcdObserve::Follow(shown.key, EventCursor::after(revision));
                    (next, Some(Observation { shown, revision }))
                }
                Err(_) => (EtcdObserve::Closed, None),
            },
            EtcdObserve::FirstPut(cursor) => match client.next_event(KeyRange::Prefix, cursor).await {
                // "only accept puts; a delete will make observe() spin" (197-207).
                Ok(event) if event.is_delete => (EtcdObserve::FirstPut(event.cursor()), None),
                // `hdr.Revision = kv.ModRevision` (203).
                Ok(event) => {
                    let told = Observation { shown: event.shown, revision: event.revision };
                    (EtcdObserve::Follow(told.shown.key, EventCursor::after(told.revision)), Some(told))
                }
                Err(EtcdError(Response::Disconnected)) if resumes => (*self, None),
                // `if !ok || wr.Err() != nil { cancel(); return }` (193-196).
                Err(_) => (EtcdObserve::Closed, None),
            },
            EtcdObserve::Follow(key, cursor) => match client.next_event(KeyRange::One(key), cursor).await {
                // `keyDeleted = true` (229-232).
                Ok(event) if event.is_delete => (EtcdObserve::Get, None),
                // `resp.Kvs = []*mvccpb.KeyValue{ev.Kv}`, `ch <- *resp` (233-236).
                Ok(event) => {
                    let told = Observation { shown: event.shown, revision: event.revision };
                    (EtcdObserve::Follow(key, event.cursor()), Some(told))
                }
                Err(EtcdError(Response::Disconnected)) if resumes => (*self, None),
                // A response without events, and then the channel of the watch is closed (223-227).
                Err(_) => (EtcdObserve::Closed, None),
            },
            EtcdObserve::Closed => (EtcdObserve::Closed, None),
        };
        *self = next;
        told
    }
}
