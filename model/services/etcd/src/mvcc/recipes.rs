//! The lock and election calls of the server: the Go client's recipes, on the caller's lease (E-CC-30).

use super::{DeleteRange, EtcdAnswer, EtcdCall, EtcdRefusal, KeyValue, LeaderKey, Mvcc, Put};

/// The key of a contender: the name, and the lease in hexadecimal (E-CC-10).
fn own_key(name: &str, lease: i64) -> String {
    let sign = if lease < 0 { "-" } else { "" };
    format!("{name}/{sign}{:x}", lease.unsigned_abs())
}

/// The name and the lease of a call that may wait for others.
fn contest(call: &EtcdCall) -> Option<(&str, i64)> {
    match call {
        EtcdCall::Lock { name, lease } | EtcdCall::Campaign { name, lease, .. } => Some((name, *lease)),
        _ => None,
    }
}

/// A caller of a lock or a campaign whose key is in the queue, and which is not answered yet.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Contender {
    /// The creation revision of its key.
    pub created: i64,
    /// The revision after the transaction with which it entered.
    pub entered: i64,
    /// What it does next.
    pub stage: Stage,
}

/// What a contender does next.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Its key was there with another value: a transaction gives it the campaign's (E-CC-20).
    Proclaims,
    /// That was refused, for its lease is gone: a transaction removes its key (E-CC-20).
    Resigns,
    /// It is served as soon as none is ahead (E-CC-11).
    Waits,
    /// As soon as none is ahead it reads its own key, and is served if that is there (E-CC-12, since 3.5). None is ahead from then on, so that both
    /// are one step.
    WaitsAndReads,
}

impl Stage {
    /// Whether only others keep it from being served.
    pub fn is_queued(self) -> bool {
        matches!(self, Stage::Waits | Stage::WaitsAndReads)
    }
}

/// The result of a step of a contender.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContenderStep {
    /// It is answered.
    Answered(EtcdAnswer),
    /// It goes on later; others may come in between.
    GoesOn(Contender),
}

impl Mvcc {
    /// The first transaction of a lock or a campaign.
    ///
    /// # Errors
    /// It is refused.
    ///
    /// # Panics
    /// The call is none of both.
    pub fn enter(&mut self, call: &EtcdCall) -> Result<Contender, EtcdRefusal> {
        let (name, lease) = contest(call).expect("a lock or a campaign");
        let key = own_key(name, lease);
        let value = if let EtcdCall::Campaign { value, .. } = call { value.as_str() } else { "" };
        let Some(entry) = self.present(&key) else {
            self.put_for(&key, lease, value)?;
            let created = self.revision;
            return Ok(Contender { created, entered: self.revision, stage: self.wait_of(call, name, created) });
        };
        let (created, is_other) = (entry.created, matches!(call, EtcdCall::Campaign { .. }) && entry.value != value);
        let stage = if is_other { Stage::Proclaims } else { self.wait_of(call, name, created) };
        Ok(Contender { created, entered: self.revision, stage })
    }

    /// How a contender waits: a lock that finds none ahead at once does not read its key (E-CC-12).
    fn wait_of(&self, call: &EtcdCall, name: &str, created: i64) -> Stage {
        let reads = matches!(call, EtcdCall::Lock { .. }) && self.version.lock_reads_own_key();
        if reads && self.is_behind(name, created) { Stage::WaitsAndReads } else { Stage::Waits }
    }

    /// The next step of a contender; none: others are still ahead. Before 3.5 nothing looks at its own key and its lease at the end, and both may be
    /// gone by then, and of a campaign nothing does since (E-CC-11, E-CC-12, E-CC-20).
    pub fn go_on(&mut self, call: &EtcdCall, contender: Contender) -> Option<ContenderStep> {
        let (name, lease) = contest(call)?;
        let Contender { created, entered, stage } = contender;
        let (key, name) = (own_key(name, lease), name.to_owned());
        let leader = LeaderKey { name, key, created, lease };
        let goes_on = |stage| Some(ContenderStep::GoesOn(Contender { stage, ..contender }));
        let answered = |answer| Some(ContenderStep::Answered(answer));
        match (stage, call) {
            (Stage::Proclaims, EtcdCall::Campaign { value, .. }) => match self.proclaim(&leader, value) {
                Ok(_) => goes_on(Stage::Waits),
                // The object has forgotten its key by then: there is nothing to resign.
                Err(EtcdRefusal::NotLeader) => answered(EtcdAnswer::Refused(EtcdRefusal::NotLeader)),
                Err(_) => goes_on(Stage::Resigns),
            },
            (Stage::Resigns, _) => {
                // What resigning says is ignored, and the campaign fails with the refusal before it.
                drop(self.resign(&leader));
                answered(EtcdAnswer::Refused(EtcdRefusal::RecipeLeaseNotFound))
            }
            _ if self.is_behind(&leader.name, created) => None,
            (Stage::WaitsAndReads, _) if self.present(&leader.key).is_none() => {
                answered(EtcdAnswer::Refused(EtcdRefusal::SessionExpired))
            }
            // E-CC-16.
            (_, EtcdCall::Lock { .. }) => answered(EtcdAnswer::Locked { revision: self.revision, key: leader.key }),
            // E-CC-20: the header is that of the first transaction.
            _ => answered(EtcdAnswer::Elected { revision: entered, leader }),
        }
    }

    /// All steps of a lock or a campaign, with none in between.
    pub(super) fn contend(&mut self, call: &EtcdCall) -> Result<EtcdAnswer, EtcdRefusal> {
        let mut contender = self.enter(call)?;
        loop {
            match self.go_on(call, contender) {
                Some(ContenderStep::GoesOn(next)) => contender = next,
                Some(ContenderStep::Answered(answer)) => return Ok(answer),
                None => return Ok(EtcdAnswer::Waits),
            }
        }
    }

    /// Whether a contender that was created earlier is in the queue (E-CC-11).
    fn is_behind(&self, name: &str, created: i64) -> bool {
        self.queue(name).any(|entry| entry.created < created)
    }

    /// The keys of the contenders: whatever begins with the name and a slash (E-CC-25).
    fn queue<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a KeyValue> + 'a {
        let prefix = format!("{name}/");
        self.within("\0", "\0", i64::MAX).filter(move |entry| entry.key.starts_with(&prefix))
    }

    fn put_for(&mut self, key: &str, lease: i64, value: &str) -> Result<(), EtcdRefusal> {
        let put = Put { key: key.to_owned(), value: value.to_owned(), lease, ..Put::default() };
        self.put(&put).map(drop).map_err(|why| match why {
            EtcdRefusal::LeaseNotFound => EtcdRefusal::RecipeLeaseNotFound,
            other => other,
        })
    }

    /// A plain delete by name (E-CC-14).
    pub(super) fn unlock(&mut self, key: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        self.remove(key)
    }

    fn remove(&mut self, key: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        self.delete(&DeleteRange { key: key.to_owned(), ..DeleteRange::default() })?;
        Ok(EtcdAnswer::Done { revision: self.revision })
    }

    /// A caller that waits for a lock or an election goes away: its key is removed (E-CC-13, E-CC-31).
    pub fn leave(&mut self, call: &EtcdCall) {
        if let Some((name, lease)) = contest(call) {
            let mut writing = self.writing();
            writing.delete(&DeleteRange { key: own_key(name, lease), ..DeleteRange::default() });
            writing.commit();
        }
    }

    /// The same where others may have come in between: a lock's key goes by name (E-CC-13), a campaign's only if it is still the one with which
    /// it entered (E-CC-21, E-CC-22).
    pub fn withdraw(&mut self, call: &EtcdCall, contender: Contender) {
        if self.is_own(call, contender) || matches!(call, EtcdCall::Lock { .. }) {
            self.leave(call);
        }
    }

    /// Whether the key of a contender is still the one with which it entered.
    pub fn is_own(&self, call: &EtcdCall, contender: Contender) -> bool {
        let entry = contest(call).and_then(|(name, lease)| self.present(&own_key(name, lease)));
        entry.is_some_and(|entry| entry.created == contender.created)
    }

    fn is_leader(&self, leader: &LeaderKey) -> bool {
        self.present(&leader.key).map_or(0, |entry| entry.created) == leader.created
    }

    /// E-CC-22. The key moves to the lease that the caller names (E-CC-31).
    pub(super) fn proclaim(&mut self, leader: &LeaderKey, value: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        if !self.is_leader(leader) {
            return Err(EtcdRefusal::NotLeader);
        }
        self.put_for(&leader.key, leader.lease, value)?;
        Ok(EtcdAnswer::Done { revision: self.revision })
    }

    /// E-CC-22: success, too, where the compare fails.
    pub(super) fn resign(&mut self, leader: &LeaderKey) -> Result<EtcdAnswer, EtcdRefusal> {
        if self.is_leader(leader) {
            return self.remove(&leader.key);
        }
        Ok(EtcdAnswer::Done { revision: self.revision })
    }

    /// E-CC-23.
    pub(super) fn leader(&self, name: &str) -> Result<EtcdAnswer, EtcdRefusal> {
        let oldest = self.queue(name).min_by_key(|entry| entry.created).cloned().ok_or(EtcdRefusal::NoLeader)?;
        Ok(EtcdAnswer::Leads { revision: self.revision, entry: oldest })
    }
}
