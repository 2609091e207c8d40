//! Calls at members that are restarted. What comes in the log after the last entry that changed a key is applied again by a restart, to a state that
//! may have all of it (E-GEN-9): a put that was refused, for want of its lease, is carried out if the lease was granted after it, by those members
//! that had the grant on disk. So each client has leases of its own here, names one in a put only after it has granted it, and does not grant it
//! again after that.

use std::collections::BTreeSet;

use fencepost_etcd::mvcc::{EtcdCall, LeaderKey, Put, Transaction};

use super::draw::LEASES;
use super::script::Turn;

/// How many leases each of three clients has.
const OWN: usize = LEASES.len() / 3;

/// The most seconds of a TTL (E-LS-1).
const TTL_MAX: i64 = 9_000_000_000;

/// The turns of a client, with its own leases.
pub(super) fn with_own_leases(client: u8, turns: Vec<Turn>) -> Vec<Turn> {
    let mut leases = OwnLeases { client: usize::from(client), granted: BTreeSet::new(), named: BTreeSet::new() };
    turns.into_iter().map(|turn| Turn { call: leases.call(turn.call), ..turn }).collect()
}

/// What a client has done with its leases.
struct OwnLeases {
    client: usize,
    granted: BTreeSet<i64>,
    named: BTreeSet<i64>,
}

impl OwnLeases {
    /// One of its own in place of a lease.
    fn own(&self, lease: i64) -> i64 {
        let place = LEASES.iter().position(|known| *known == lease).unwrap_or_default();
        LEASES[self.client * OWN + place % OWN]
    }

    /// A lease that a put may name.
    fn for_put(&mut self, lease: i64) -> Option<i64> {
        let own = self.own(lease);
        self.granted.contains(&own).then(|| {
            self.named.insert(own);
            own
        })
    }

    fn call(&mut self, call: EtcdCall) -> EtcdCall {
        match call {
            EtcdCall::Grant { id, .. } if self.named.contains(&self.own(id)) => EtcdCall::Renew(self.own(id)),
            EtcdCall::Grant { id, ttl } => {
                let id = self.own(id);
                if ttl <= TTL_MAX {
                    self.granted.insert(id);
                }
                EtcdCall::Grant { id, ttl }
            }
            EtcdCall::Put(put) if put.lease != 0 => {
                EtcdCall::Put(Put { lease: self.for_put(put.lease).unwrap_or(0), ..put })
            }
            EtcdCall::Txn(Transaction { compare, success, failure }) => {
                let mut all = |calls: Vec<EtcdCall>| calls.into_iter().map(|call| self.call(call)).collect();
                EtcdCall::Txn(Transaction { compare, success: all(success), failure: all(failure) })
            }
            // The key gets the lease.
            EtcdCall::Proclaim { leader, value } => match self.for_put(leader.lease) {
                Some(lease) => EtcdCall::Proclaim { leader: LeaderKey { lease, ..leader }, value },
                None => EtcdCall::Leader { name: leader.name },
            },
            call => call,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::crowd::EtcdPace;
    use super::super::script::EtcdScript;
    use super::*;

    /// The leases that the puts of a call name.
    fn named(call: &EtcdCall) -> Vec<i64> {
        match call {
            EtcdCall::Put(put) if put.lease != 0 => vec![put.lease],
            EtcdCall::Proclaim { leader, .. } => vec![leader.lease],
            EtcdCall::Txn(txn) => txn.success.iter().chain(&txn.failure).flat_map(named).collect(),
            EtcdCall::Lock { lease, .. } | EtcdCall::Campaign { lease, .. } => vec![*lease],
            _ => Vec::new(),
        }
    }

    #[test]
    fn e_gen_9_at_members_that_restart_no_lease_is_granted_after_a_put_has_named_it() {
        let (mut puts, mut grants, mut of_others) = (0, 0, 0);
        for number in 0..200 {
            let script = EtcdScript::drawn(7, number, EtcdPace::Members);
            let mut owners: Vec<BTreeSet<i64>> = Vec::new();
            for turns in &script.clients {
                let (mut granted, mut used) = (BTreeSet::new(), BTreeSet::new());
                for Turn { call, .. } in turns {
                    if let EtcdCall::Grant { id, ttl } = call {
                        assert!(!used.contains(id), "{turns:?}");
                        grants += 1;
                        if *ttl <= TTL_MAX {
                            granted.insert(*id);
                        }
                    }
                    for lease in named(call) {
                        assert!(granted.contains(&lease), "{turns:?}");
                        puts += 1;
                        used.insert(lease);
                    }
                    if let EtcdCall::Revoke(lease) | EtcdCall::Renew(lease) = call {
                        of_others += u32::from(!granted.contains(lease));
                    }
                }
                owners.push(granted);
            }
            assert!(
                owners
                    .iter()
                    .enumerate()
                    .all(|(place, own)| { owners[..place].iter().all(|other| own.is_disjoint(other)) })
            );
        }
        assert!(puts > 500 && grants > 500 && of_others > 200, "{puts} {grants} {of_others}");
    }
}
