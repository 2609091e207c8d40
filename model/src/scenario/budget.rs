//! How often each kind of fault may occur in one execution. The kernel's kinds are those of the network, of processes and of
//! clocks; each service declares its own (see [`FaultKind`]), and each of those has a budget of its own name.

use std::hash::{Hash, Hasher};

use crate::action_kind::ActionKind;
use crate::service_fault::{FaultKind, ServiceFault};

/// How many caps on faults of the service a scenario can name.
pub const CAPS_MAX: usize = 8;

/// How often each kind of fault may occur in one execution. A kind without a budget cannot occur.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Budget {
    /// The number of messages that may be lost.
    pub losses: u8,
    /// The number of messages that may be duplicated.
    pub duplicates: u8,
    /// The number of crashes of clients.
    pub crashes: u8,
    /// The number of restarts of crashed clients.
    pub restarts: u8,
    /// The number of pauses of processes. Pauses matter where delays are bounded.
    pub pauses: u8,
    /// The number of cut links: partitions between a client and a server, each in one direction unless `network.ways`
    /// says otherwise.
    pub cuts: u8,
    /// The number of clock jumps against true time.
    pub slips: u8,
    /// The total cost of operator actions.
    pub operator: u8,
    /// The number of requests that each client may give up and send again.
    pub retries: u8,
    /// The number of restarts of the resource, which forgets then what it compares with. A resource that stores it durably
    /// restarts unnoticed, and needs no budget.
    pub resource_restarts: u8,
    /// Caps on faults of the service; those in use come first.
    pub caps: [Cap; CAPS_MAX],
}

/// A cap on faults of some kinds of the service, counted together.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cap {
    /// The kinds that it counts, a bit for each index in [`ServiceFault::KINDS`]; 0: the cap is not in use.
    pub kinds: u8,
    /// The maximum number of faults; [`UNLIMITED`]: any number.
    pub at_most: u8,
}

/// The count that stands for any number of faults.
pub const UNLIMITED: u8 = u8::MAX;

impl Cap {
    /// A cap of its own for the kind at this index.
    pub fn of(kind: usize, at_most: u8) -> Self {
        Cap { kinds: 1 << kind, at_most }
    }

    /// Whether it counts the kind.
    pub fn counts(self, kind: usize) -> bool {
        self.kinds & (1 << kind) != 0
    }

    /// Whether it counts several kinds together.
    pub fn is_shared(self) -> bool {
        self.kinds.count_ones() > 1
    }

    /// The kinds that it counts.
    pub fn among(self, kinds: &'static [FaultKind]) -> impl Iterator<Item = &'static FaultKind> {
        kinds.iter().enumerate().filter(move |(place, _)| self.counts(*place)).map(|(_, kind)| kind)
    }
}

impl Budget {
    /// The caps in use.
    pub fn caps(&self) -> impl Iterator<Item = Cap> + '_ {
        self.caps.iter().copied().take_while(|cap| cap.kinds != 0)
    }

    /// Whether the budget allows for a kind of action, in any number.
    pub fn allows(&self, kind: ActionKind) -> bool {
        match kind {
            ActionKind::Lose => self.losses > 0,
            ActionKind::Duplicate => self.duplicates > 0,
            ActionKind::Crash => self.crashes > 0,
            ActionKind::Restart => self.restarts > 0,
            ActionKind::Pause => self.pauses > 0,
            ActionKind::Cut => self.cuts > 0,
            ActionKind::Slip => self.slips > 0,
            ActionKind::Operator => self.operator > 0,
            ActionKind::ResourceRestart => self.resource_restarts > 0,
            ActionKind::ServiceFault => self.caps().any(|cap| cap.at_most > 0),
            ActionKind::Command
            | ActionKind::Deliver
            | ActionKind::Wake
            | ActionKind::Advance
            | ActionKind::Resume
            | ActionKind::Heal
            | ActionKind::Choose => true,
        }
    }

    /// Whether the budget allows another fault of this kind: some cap counts the kind, and no cap that counts it is
    /// exhausted.
    #[inline]
    pub fn affords(&self, kind: usize) -> bool {
        let mut is_counted = false;
        for cap in self.caps() {
            if cap.counts(kind) {
                if cap.at_most == 0 {
                    return false;
                }
                is_counted = true;
            }
        }
        is_counted
    }

    /// Takes a fault of this kind from every cap that counts it.
    ///
    /// # Panics
    /// A cap is exhausted: the fault cannot occur.
    pub fn pay(&mut self, kind: usize) {
        assert!(self.affords(kind), "a fault of the service exceeds its budget");
        for cap in &mut self.caps {
            if cap.counts(kind) && cap.at_most != UNLIMITED {
                cap.at_most -= 1;
            }
        }
    }

    /// Whether faults of this kind may occur any number of times.
    pub fn is_unlimited(&self, kind: usize) -> bool {
        self.affords(kind) && self.caps().all(|cap| !cap.counts(kind) || cap.at_most == UNLIMITED)
    }

    /// Adds a cap. It replaces a cap that counts the same kinds.
    ///
    /// # Errors
    /// The budget has the maximum number of caps already.
    pub fn add(&mut self, cap: Cap) -> Result<(), CapsError> {
        let place = self.caps.iter().position(|other| other.kinds == cap.kinds || other.kinds == 0);
        *self.caps.get_mut(place.ok_or(CapsError)?).expect("a position is within") = cap;
        self.order();
        Ok(())
    }

    /// Leaves out the kinds of fault that cannot occur, if a cap counts others as well. Two caps may count the same kinds then: both
    /// hold, so the lower one stays.
    pub(crate) fn keep_kinds(&mut self, kinds: u8) {
        for place in 0..self.caps.len() {
            let mut cap = std::mem::take(&mut self.caps[place]);
            if cap.kinds & kinds != 0 {
                cap.kinds &= kinds;
            }
            let is_same = |other: &&mut Cap| cap.kinds != 0 && other.kinds == cap.kinds;
            match self.caps[..place].iter_mut().find(is_same) {
                Some(other) => other.at_most = other.at_most.min(cap.at_most),
                None => self.caps[place] = cap,
            }
        }
        self.order();
    }

    /// The faults that were taken from this budget when `left` is left of it, without caps that are unused.
    #[must_use]
    pub(crate) fn used(&self, left: &Budget) -> Budget {
        let mut used = Budget {
            losses: self.losses - left.losses,
            duplicates: self.duplicates - left.duplicates,
            crashes: self.crashes - left.crashes,
            restarts: self.restarts - left.restarts,
            pauses: self.pauses - left.pauses,
            cuts: self.cuts - left.cuts,
            slips: self.slips - left.slips,
            operator: self.operator - left.operator,
            resource_restarts: self.resource_restarts - left.resource_restarts,
            ..*self
        };
        for (cap, left) in used.caps.iter_mut().zip(&left.caps) {
            match (cap.at_most, left.at_most) {
                (UNLIMITED, _) => {}
                (at_most, left) if at_most == left => *cap = Cap::default(),
                (at_most, left) => cap.at_most = at_most - left,
            }
        }
        used.order();
        used
    }

    /// Caps of one kind first, by its index; then shared caps; then unused ones.
    fn order(&mut self) {
        for cap in self.caps.iter_mut().filter(|cap| cap.kinds == 0) {
            *cap = Cap::default();
        }
        self.caps.sort_by_key(|cap| (cap.kinds == 0, cap.is_shared(), cap.kinds));
    }

    /// Sets the budget of a fault of the service by its name, as in `budget.clock_jumps`: for scenarios built in Rust.
    ///
    /// # Panics
    /// The service has no such fault.
    pub fn allow<F: ServiceFault>(&mut self, name: &str, at_most: u8) {
        let place = F::KINDS.iter().position(|kind| kind.budget == name);
        let place = place.unwrap_or_else(|| panic!("the service has no fault with the budget `{name}`"));
        self.add(Cap::of(place, at_most)).expect("there are fewer kinds than caps");
    }
}

/// The budget has the maximum number of caps already.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CapsError;

impl std::fmt::Display for CapsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a scenario can have at most {CAPS_MAX} budgets for faults of its service")
    }
}

impl std::error::Error for CapsError {}

impl Hash for Budget {
    /// Written as two 64-bit numbers, and a third that is hardly ever needed: most of it is 0, and the kinds that a cap counts
    /// never change.
    #[inline]
    fn hash<H: Hasher>(&self, to: &mut H) {
        let Budget { losses, duplicates, crashes, restarts, pauses, cuts, slips, operator, resource_restarts, .. } =
            *self;
        to.write_u64(u64::from_le_bytes([losses, duplicates, crashes, restarts, pauses, cuts, slips, operator]));
        to.write_u64(u64::from_le_bytes(self.caps.map(|cap| cap.at_most)));
        if resource_restarts > 0 {
            to.write_u64(resource_restarts.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_needs_room_in_every_cap_that_counts_it() {
        let mut budget = Budget::default();
        assert!(!budget.affords(0));
        budget.add(Cap { kinds: 0b011, at_most: 1 }).unwrap();
        budget.add(Cap::of(1, 2)).unwrap();
        budget.add(Cap::of(2, UNLIMITED)).unwrap();
        assert!((0..3).all(|kind| budget.affords(kind)) && !budget.affords(3));
        let whole = budget;
        budget.pay(1);
        assert!(!budget.affords(0) && !budget.affords(1), "the shared cap is exhausted");
        (0..300).for_each(|_| budget.pay(2));
        assert!(budget.is_unlimited(2) && !budget.is_unlimited(1));
        let used = whole.used(&budget);
        assert_eq!(
            used.caps().collect::<Vec<_>>(),
            [Cap::of(1, 1), Cap::of(2, UNLIMITED), Cap { kinds: 3, at_most: 1 }]
        );
    }

    #[test]
    fn a_cap_leaves_out_faults_that_cannot_occur() {
        let mut budget = Budget::default();
        budget.add(Cap { kinds: 0b110, at_most: 1 }).unwrap();
        budget.keep_kinds(0b010);
        assert_eq!(budget.caps().collect::<Vec<_>>(), [Cap::of(1, 1)]);
        let before = budget;
        budget.keep_kinds(0b001);
        assert_eq!(budget, before, "a cap on a fault that cannot occur is a mistake; it is kept for the error message");
    }
}
