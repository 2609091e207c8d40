//! What happens to the server, or is done by its operator, at a request.

use fencepost_etcd::mvcc::{DeleteRange, EtcdCall, RangeRead};

use super::EtcdBackend;
use super::decode::{Decoded, decode};
use crate::faults::ServerEvent;
use crate::stand_in::{Journey, RequestOutcome, StandIn, Ticket, Waiting};

impl StandIn<EtcdBackend> {
    /// An event happens just before a request is carried out.
    pub(super) fn happen(&mut self, event: ServerEvent, journey: &Journey) {
        let call = match decode(&journey.question.url, &journey.question.body) {
            Ok(Decoded::Call(call)) => Some(call),
            _ => None,
        };
        match event {
            ServerEvent::Promotion => self.promote_leases(),
            ServerEvent::ServerRestart => {
                self.close_connections();
                self.promote_leases();
            }
            ServerEvent::LeaseRevoked => {
                if let Some(lease) = call.as_ref().and_then(lease) {
                    self.end_lease(lease);
                }
            }
            ServerEvent::KeyDeleted => {
                if let Some(key) = call.as_ref().and_then(key) {
                    self.backend.store.ask(&EtcdCall::Delete(DeleteRange { key, ..DeleteRange::default() }));
                    self.serve_queue();
                }
            }
            ServerEvent::Compaction => {
                let revision = self.backend.store.revision();
                // The store may be compacted up to there already.
                self.backend.store.ask(&EtcdCall::Compact(revision));
            }
            // Plans for etcd do not have them.
            _ => {}
        }
    }

    /// E-CC-31 does not hold for a server that dies: the keys of its waiting callers stay.
    fn close_connections(&mut self) {
        self.backend.parked.clear();
        self.backend.streams.clear();
        self.backend.observers.clear();
        let is_open = |waiting: &Waiting| {
            let is_waiting = matches!(waiting, Waiting::Held { .. } | Waiting::OnItsWayBack { .. });
            is_waiting || matches!(waiting, Waiting::Streams { .. } | Waiting::Silent { .. })
        };
        let open: Vec<Ticket> =
            self.waiting.iter().filter(|(_, waiting)| is_open(waiting)).map(|(ticket, _)| *ticket).collect();
        for ticket in open {
            match self.waiting.remove(&ticket) {
                Some(
                    Waiting::Held { journey }
                    | Waiting::OnItsWayBack { journey, .. }
                    | Waiting::Streams { journey, .. },
                ) => {
                    self.lose(&journey, RequestOutcome::Close);
                }
                Some(Waiting::Silent { client }) => {
                    self.clients.is_told(&client);
                    self.ready.push((ticket, RequestOutcome::Close));
                }
                _ => {}
            }
        }
    }
}

/// The lease that a call is about.
fn lease(call: &EtcdCall) -> Option<i64> {
    let lease = match call {
        EtcdCall::Renew(id) | EtcdCall::Revoke(id) | EtcdCall::TimeToLive { id, .. } => *id,
        EtcdCall::Lock { lease, .. } | EtcdCall::Campaign { lease, .. } => *lease,
        EtcdCall::Put(put) => put.lease,
        EtcdCall::Resign(leader) | EtcdCall::Proclaim { leader, .. } => leader.lease,
        EtcdCall::Txn(txn) => txn.success.iter().find_map(lease)?,
        _ => 0,
    };
    Some(lease).filter(|lease| *lease != 0)
}

/// The key that a call is about.
fn key(call: &EtcdCall) -> Option<String> {
    match call {
        EtcdCall::Range(RangeRead { key, .. }) | EtcdCall::Unlock { key } => Some(key.clone()),
        EtcdCall::Put(put) => Some(put.key.clone()),
        EtcdCall::Delete(delete) => Some(delete.key.clone()),
        EtcdCall::Resign(leader) | EtcdCall::Proclaim { leader, .. } => Some(leader.key.clone()),
        EtcdCall::Txn(txn) => txn.compare.first().map(|compare| compare.key.clone()),
        _ => None,
    }
}
