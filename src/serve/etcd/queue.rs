//! Callers that wait: in the queue of a lock or an election (E-CC-11), or for the revoke of an overdue lease (E-LS-6).

use fencepost_etcd::mvcc::{Contender, ContenderStep, EtcdAnswer, EtcdCall, RangeRead, SortBy, Sorted};

use super::EtcdBackend;
use crate::stand_in::{Journey, StandIn, Ticket, Waiting};

/// A request that waits.
#[derive(Clone, Debug)]
pub(super) enum Parked {
    /// A lock or a campaign, and where it is on its way.
    Contender(EtcdCall, Contender),
    /// A renewal of an overdue lease.
    Renewal(i64),
}

impl StandIn<EtcdBackend> {
    /// A request waits from now on.
    pub(super) fn park(&mut self, mut journey: Journey, parked: Parked) {
        if journey.ticket == Ticket(0) {
            // The first copy of a repeated request: no client hears its answer, and the server does not know that.
            self.last_ticket += 1;
            journey.ticket = Ticket(self.last_ticket);
        }
        self.backend.parked.insert(journey.ticket, parked);
        self.waiting.insert(journey.ticket, Waiting::Held { journey });
    }

    /// A request that has waited is answered.
    pub(super) fn answer_parked(&mut self, ticket: Ticket, answer: &EtcdAnswer) {
        let Some(parked) = self.backend.parked.remove(&ticket) else { return };
        let call = match parked {
            Parked::Contender(call, _) => call,
            Parked::Renewal(id) => EtcdCall::Renew(id),
        };
        if let Some(Waiting::Held { journey }) = self.waiting.remove(&ticket) {
            let answer = self.rendered(&call, answer);
            self.finish(journey, answer);
        }
    }

    /// Every waiting contender goes on as far as it can, the one that arrived first before the others; then watches and observers hear what was written.
    pub(super) fn serve_queue(&mut self) {
        while let Some((ticket, step)) = self.next_step() {
            match step {
                ContenderStep::Answered(answer) => self.answer_parked(ticket, &answer),
                ContenderStep::GoesOn(next) => {
                    if let Some(Parked::Contender(_, contender)) = self.backend.parked.get_mut(&ticket) {
                        *contender = next;
                    }
                }
            }
        }
        self.tell_watches();
        self.tell_observers();
    }

    /// The first contender that can go on, and what it does.
    fn next_step(&mut self) -> Option<(Ticket, ContenderStep)> {
        let EtcdBackend { parked, store, .. } = &mut self.backend;
        parked.iter().find_map(|(ticket, parked)| match parked {
            Parked::Contender(call, contender) => store.go_on(call, *contender).map(|step| (*ticket, step)),
            Parked::Renewal(_) => None,
        })
    }

    /// A caller goes away; the key of one that waits for a lock or an election is removed (E-CC-31).
    pub(super) fn caller_leaves(&mut self, ticket: Ticket) {
        if let Some(Parked::Contender(call, contender)) = self.backend.parked.remove(&ticket) {
            self.backend.store.withdraw(&call, contender);
            self.serve_queue();
        }
    }

    /// The holder of a lock by record: the client that has created the key of its name, or the oldest one below it (E-CC-10).
    pub(super) fn holder_of(&mut self, name: &str) -> Option<String> {
        let own = RangeRead { key: name.to_owned(), ..RangeRead::default() };
        let queue = RangeRead {
            key: format!("{name}/"),
            end: format!("{name}0"),
            limit: 1,
            sorted: Sorted::Ascending,
            by: SortBy::Created,
            ..RangeRead::default()
        };
        let first = |read| match self.backend.store.ask(&EtcdCall::Range(read)) {
            EtcdAnswer::Range { entries, .. } => entries.into_iter().next(),
            _ => None,
        };
        let oldest = [own, queue].into_iter().find_map(first)?;
        Some(
            self.backend.makers.get(&(oldest.key, oldest.created)).cloned().unwrap_or_else(|| "an operator".to_owned()),
        )
    }
}
