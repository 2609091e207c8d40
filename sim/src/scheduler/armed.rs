//! Deadlines that are planned, and when each was due: plans for another instant are void.

use fencepost_model::ids::ProcessId;
use fencepost_model::service::Service;
use fencepost_model::time::Instant;

/// For each deadline of each process, when it was due. Clients have a handful each; the service may have one for each client.
#[derive(Clone)]
pub(super) struct DueTimes<P: Service> {
    clients: Vec<Vec<(P::Timer, Instant)>>,
    /// Those of the service, sorted.
    others: Vec<((ProcessId, P::Timer), Instant)>,
    /// Where the next one is likely to stand: a service reports its deadlines in one order.
    next: usize,
}

/// How many deadlines are looked at before the right one is searched for: some of those in between are over.
const AHEAD: usize = 4;

impl<P: Service> DueTimes<P> {
    pub(super) fn new(clients: usize) -> Self {
        DueTimes { clients: vec![Vec::new(); clients], others: Vec::new(), next: 0 }
    }

    /// Notes that the deadline is planned; false if it is planned for that instant already.
    pub(super) fn set(&mut self, process: ProcessId, timer: P::Timer, due: Instant) -> bool {
        let Some(client) = process.client() else { return self.set_other((process, timer), due) };
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

    fn set_other(&mut self, name: (ProcessId, P::Timer), due: Instant) -> bool {
        let ahead = self.others.iter().skip(self.next).take(AHEAD);
        let found = match ahead.zip(self.next..).find(|((other, _), _)| *other == name) {
            Some((_, place)) => Ok(place),
            None => self.other(&name),
        };
        self.next = found.unwrap_or_else(|place| place) + 1;
        match found {
            Ok(place) => std::mem::replace(&mut self.others[place].1, due) != due,
            Err(place) => {
                self.others.insert(place, (name, due));
                true
            }
        }
    }

    /// The place of a deadline of the service, or else where it belongs.
    fn other(&self, name: &(ProcessId, P::Timer)) -> Result<usize, usize> {
        self.others.binary_search_by(|(other, _)| other.cmp(name))
    }

    /// Whether the deadline is planned for this instant.
    pub(super) fn is_set(&self, process: ProcessId, timer: P::Timer, due: Instant) -> bool {
        match process.client() {
            Some(client) => self.clients[client.place()].contains(&(timer, due)),
            None => self.other(&(process, timer)).is_ok_and(|place| self.others[place].1 == due),
        }
    }

    /// The deadline fires, and is planned no more.
    pub(super) fn fire(&mut self, process: ProcessId, timer: P::Timer) {
        match process.client() {
            Some(client) => self.clients[client.place()].retain(|(other, _)| *other != timer),
            None => drop(self.other(&(process, timer)).map(|place| self.others.remove(place))),
        }
    }
}
