//! Deadlines that are planned, and when each was due: plans for another instant are void.

use std::collections::BTreeMap;

use fencepost_model::ids::ProcessId;
use fencepost_model::service::Service;
use fencepost_model::time::Instant;

/// For each deadline of each process, when it was due. Clients have a handful each; the service may have one for each client.
#[derive(Clone)]
pub(super) struct DueTimes<P: Service> {
    clients: Vec<Vec<(P::Timer, Instant)>>,
    others: BTreeMap<(ProcessId, P::Timer), Instant>,
}

impl<P: Service> DueTimes<P> {
    pub(super) fn new(clients: usize) -> Self {
        DueTimes { clients: vec![Vec::new(); clients], others: BTreeMap::new() }
    }

    /// Notes that the deadline is planned; false if it is planned for that instant already.
    pub(super) fn set(&mut self, process: ProcessId, timer: P::Timer, due: Instant) -> bool {
        let Some(client) = process.client() else { return self.others.insert((process, timer), due) != Some(due) };
        let list = &mut self.clients[client.place()];
        match list.iter_mut().find(|(other, _)| *other == timer) {
            Some((_, at)) if *at == due => false,
            Some((_, at)) => {
                *at = due;
                true
            }
            None => {
                list.push((timer, due));
                true
            }
        }
    }

    /// Whether the deadline is planned for this instant.
    pub(super) fn is_set(&self, process: ProcessId, timer: P::Timer, due: Instant) -> bool {
        match process.client() {
            Some(client) => self.clients[client.place()].contains(&(timer, due)),
            None => self.others.get(&(process, timer)) == Some(&due),
        }
    }

    /// The deadline fires, and is planned no more.
    pub(super) fn fire(&mut self, process: ProcessId, timer: P::Timer) {
        match process.client() {
            Some(client) => self.clients[client.place()].retain(|(other, _)| *other != timer),
            None => drop(self.others.remove(&(process, timer))),
        }
    }
}
