//! Which faults were planned where. Two plans come to the same if the last fault of both strikes the same request, and before it the state of
//! the server, the rest of the plan and everything that each client was told are equal: one of them is enough.

use std::collections::BTreeSet;

use crate::faults::Fault;
use crate::stand_in::{Fingerprint, Seen};

/// Faults at requests, with what decided before how the run would go on.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    known: BTreeSet<(Fingerprint, String, String, String, String)>,
    pruned: usize,
}

impl Reached {
    /// What single faults reach, at the requests of a run without any.
    pub fn by_singles(requests: &[Seen], faults: &[Fault]) -> Reached {
        let mut reached = Reached::default();
        for request in requests {
            for fault in faults {
                reached.insert(request, *fault);
            }
        }
        Reached { pruned: 0, ..reached }
    }

    /// Plans a fault at a request; no, if that is planned already.
    pub(super) fn insert(&mut self, request: &Seen, fault: Fault) -> bool {
        let Seen { client, method, url, before, .. } = request;
        let is_new = self.known.insert((*before, client.clone(), method.clone(), url.clone(), fault.to_string()));
        self.pruned += usize::from(!is_new);
        is_new
    }

    /// How many plans come to the same as others.
    pub fn pruned(&self) -> usize {
        self.pruned
    }
}
