//! Values without absolute meaning, and what they are called in the normal form: numbers by their place among their like,
//! instants by how far they are from now.

use fencepost_model::ids::{Call, ClientId, Index, RawId, SessionId, SessionParts, Tenure, Token};
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::normal::Visitor;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::Horizon;

use super::calls::{Calls, CallsOfAll, ManyCalls};
use super::order::Order;

/// What a scenario looks at.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Rules {
    pub(super) horizon: Horizon,
    /// A mutant: numbers that are not small keep their names' gaps.
    pub(super) is_large_forgotten: bool,
    /// A mutant: the newest call is not counted.
    is_newest_uncounted: bool,
    /// A mutant: calls keep their order.
    keeps_order_of_calls: bool,
}

impl Rules {
    pub(super) fn of<P: Service>(scenario: &Scenario<P>) -> Self {
        Rules {
            horizon: Horizon::of(scenario),
            is_large_forgotten: scenario.is_mutated(CheckerMutation::LargeNumbersForgotten),
            is_newest_uncounted: scenario.is_mutated(CheckerMutation::NewestCallUncounted),
            keeps_order_of_calls: scenario.is_mutated(CheckerMutation::CallsKeepOrder),
        }
    }
}

/// What a number counts among.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Kind {
    Index,
    Tenure,
    /// Of one creator.
    Session(u16),
    /// Of one client.
    Call(u16),
}

/// A word for indexes, one for tenures, and two for each owner.
const LANES: usize = 2 + 2 * OWNERS as usize;

/// The number of clients with their own words in [`SmallSet`]; word 0 belongs to no client.
pub(super) const OWNERS: u16 = 7;

impl Kind {
    /// The place of its word in [`SmallSet`]; none beyond the last one.
    #[inline]
    fn lane(self) -> usize {
        usize::from(match self {
            Kind::Index => 0,
            Kind::Tenure => 1,
            Kind::Session(owner) if owner < OWNERS => 2 + owner,
            Kind::Call(owner) if owner < OWNERS => 2 + OWNERS + owner,
            Kind::Session(_) | Kind::Call(_) => 2 + 2 * OWNERS,
        })
    }
}

/// A set of small numbers of each kind; 0 is no number. Nearly all worlds of a search have no others.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct SmallSet([u16; LANES]);

impl SmallSet {
    /// Adds a number; false if it is not small.
    #[inline]
    fn note(&mut self, kind: Kind, number: u32) -> bool {
        let lane = self.0.get_mut(kind.lane()).filter(|_| number < u16::BITS);
        lane.map(|lane| *lane |= 1 << number).is_some()
    }

    /// How many of a kind are not larger.
    #[inline]
    fn up_to(&self, kind: Kind, number: u32) -> u32 {
        let lane = self.0.get(kind.lane()).copied().unwrap_or_default();
        let mask = u16::MAX >> (u16::BITS - 1).saturating_sub(number);
        (lane & mask).count_ones()
    }

    #[inline]
    fn join(&mut self, other: &SmallSet) {
        for (lane, other) in self.0.iter_mut().zip(other.0) {
            *lane |= other;
        }
    }

    /// Those that are not called by their name: beyond the first gap, for all the others are 1, 2, 3 …; and calls, where their order
    /// does not count.
    #[inline]
    pub(super) fn beyond(&self, calls: &CallsOfAll) -> SmallSet {
        let mut beyond = *self;
        for lane in &mut beyond.0 {
            let from_one = *lane >> 1;
            *lane = (from_one & (from_one + 1)) << 1;
        }
        for (owner, calls) in (0..).zip(calls).filter(|(_, calls)| calls.is_counting()) {
            beyond.0[Kind::Call(owner).lane()] = calls.moved(self.calls(owner));
        }
        beyond
    }

    /// The calls of a client that has a word of its own.
    #[inline]
    pub(super) fn calls(&self, owner: u16) -> u16 {
        self.0[Kind::Call(owner).lane()]
    }

    /// The calls that are in use of the client at this place; those of a client without a word of its own are not small.
    #[inline]
    pub(super) fn calls_in_use(&self, place: usize) -> u16 {
        let owner = u16::try_from(place + 1).ok().filter(|owner| *owner < OWNERS);
        owner.map_or(0, |owner| self.calls(owner))
    }

    /// Those of the kinds of which the other has some, and the calls of the client whose state that is.
    #[inline]
    pub(super) fn of_kinds_in(&self, other: &SmallSet, own: Option<u16>) -> SmallSet {
        let mut same = *self;
        for (lane, other) in same.0.iter_mut().zip(other.0) {
            *lane = if other == 0 { 0 } else { *lane };
        }
        if let Some(owner) = own {
            same.0[Kind::Call(owner).lane()] = self.calls(owner);
        }
        same
    }

    /// The same after clients have changed places.
    fn arrange(&mut self, order: &Order) {
        let before = self.0;
        for (owner, other) in (1..OWNERS).zip(order) {
            for (new, old) in
                [(Kind::Session(owner), Kind::Session(other + 1)), (Kind::Call(owner), Kind::Call(other + 1))]
            {
                self.0[new.lane()] = before.get(old.lane()).copied().unwrap_or_default();
            }
        }
    }

    #[inline]
    fn meets(&self, other: &SmallSet) -> bool {
        self.0.iter().zip(other.0).fold(0, |met, (lane, other)| met | (lane & other)) != 0
    }
}

/// What a part of a world contains of such values.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Occurrences {
    pub(super) small: SmallSet,
    /// Numbers that are not small, or whose owner has no word.
    pub(super) has_large: bool,
    pub(super) has_instants: bool,
    /// Some instant lies beyond the horizon.
    pub(super) is_stale: bool,
    /// Of a client: what it shows of its calls.
    pub(super) calls: Calls,
}

impl Occurrences {
    #[inline]
    pub(super) fn join(&mut self, other: &Occurrences) {
        self.small.join(&other.small);
        self.has_large |= other.has_large;
        self.has_instants |= other.has_instants;
        self.is_stale |= other.is_stale;
    }

    /// The same after clients have changed places. What has many owners is looked at as if all its numbers were large.
    pub(super) fn arrange(&mut self, order: &Order) {
        self.small.arrange(order);
        self.has_large |= order.len() >= usize::from(OWNERS);
    }

    /// Whether something in it has to change.
    #[inline]
    pub(super) fn is_affected(&self, beyond: &SmallSet, shift: Ticks) -> bool {
        let is_moved = self.has_instants && shift != Ticks::ZERO;
        is_moved || self.is_stale || self.has_large || self.small.meets(beyond)
    }
}

/// Looks at a part.
pub(super) struct Looking<'a> {
    rules: &'a Rules,
    /// What the clock in scope shows when it is 0.
    clock: Instant,
    scope: u16,
    pub(super) look: Occurrences,
    /// What is not small.
    large: InlineVec<(Kind, u32), 0>,
    /// What clients' own states show of their calls, where numbers are not small.
    many: Option<ManyCalls>,
}

impl<'a> Looking<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        Looking {
            rules,
            clock: Instant::START,
            scope: 0,
            look: Occurrences::default(),
            large: InlineVec::new(),
            many: None,
        }
    }

    /// From here on, clients' own states are looked at, and numbers are not small.
    pub(super) fn looks_at_many_calls(&mut self) {
        self.many = Some(ManyCalls::default());
    }

    /// They have been looked at.
    pub(super) fn take_many_calls(&mut self) -> ManyCalls {
        self.many.take().unwrap_or_default()
    }

    #[inline]
    fn instant(&mut self, at: Instant, floor: Ticks) {
        self.look.has_instants = true;
        self.look.is_stale |= at < self.clock + floor;
    }

    #[inline]
    fn number(&mut self, kind: Kind, number: u32) {
        if number > 0 && !self.look.small.note(kind, number) {
            self.look.has_large = true;
            if !self.large.contains(&(kind, number)) {
                self.large.push((kind, number));
            }
        }
    }

    #[inline]
    fn call_of_owner(&mut self, owner: u16, call: Call) {
        self.number(Kind::Call(owner), call.0.into());
        if call.0 > 0 && owner == self.scope {
            self.look.has_large |= !self.look.calls.note(call.0.into());
            if let Some(many) = &mut self.many {
                many.note(ClientId(owner), call);
            }
        }
    }

    #[inline]
    fn count(&mut self, counter: Call) {
        if self.rules.keeps_order_of_calls {
            return self.call_of_owner(self.scope, counter);
        }
        self.look.calls.count(counter);
        if let Some(many) = &mut self.many {
            many.count(ClientId(self.scope));
        }
    }
}

impl Visitor for Looking<'_> {
    #[inline]
    fn deadline(&mut self, at: &mut Instant) {
        self.instant(*at, self.rules.horizon.late);
    }

    #[inline]
    fn until(&mut self, at: &mut Instant) {
        self.instant(*at, self.rules.horizon.until);
    }

    #[inline]
    fn elapsed(&mut self, at: &mut Instant) {
        self.instant(*at, self.rules.horizon.elapsed);
    }

    #[inline]
    fn since(&mut self, at: &mut Instant) {
        self.instant(*at, self.rules.horizon.since);
    }

    #[inline]
    fn index(&mut self, index: &mut Index) {
        self.number(Kind::Index, index.raw());
    }

    #[inline]
    fn token(&mut self, token: &mut Token) {
        if self.rules.horizon.tokens_are_indexes {
            self.number(Kind::Index, token.raw());
        }
    }

    #[inline]
    fn counts_versions(&self) -> bool {
        self.rules.horizon.versions_are_counts
    }

    #[inline]
    fn tenure(&mut self, tenure: &mut Tenure) {
        self.number(Kind::Tenure, tenure.0);
    }

    #[inline]
    fn session(&mut self, session: &mut SessionId) {
        self.number(Kind::Session(session.raw().creator.0), session.raw().number.into());
    }

    #[inline]
    fn call(&mut self, call: &mut Call) {
        self.call_of_owner(self.scope, *call);
    }

    #[inline]
    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        self.call_of_owner(client.0, *call);
    }

    #[inline]
    fn counter(&mut self, call: &mut Call) {
        self.count(*call);
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.scope = client.map_or(0, |client| client.0);
        self.clock = Instant::START + skew;
    }
}

/// What everything is called in the normal form.
pub(super) struct NormalNames {
    small: SmallSet,
    large: InlineVec<(Kind, u32), 0>,
    shift: Ticks,
    calls: CallsOfAll,
    /// The same where numbers are not small.
    many: Option<ManyCalls>,
}

impl NormalNames {
    /// Where all numbers are small: those that occur, what clients show of their calls, and by how much instants are moved.
    pub(super) fn few(small: SmallSet, calls: CallsOfAll, shift: Ticks) -> Self {
        NormalNames { small, large: InlineVec::new(), shift, calls, many: None }
    }

    /// Where they are not.
    pub(super) fn many(seen: Looking<'_>, many: ManyCalls, shift: Ticks) -> Self {
        NormalNames { small: seen.look.small, large: seen.large, shift, calls: CallsOfAll::default(), many: Some(many) }
    }

    /// The place of a number among its like, from 1.
    #[inline]
    fn rank(&self, kind: Kind, number: u32) -> u32 {
        let among = |large: &&(Kind, u32)| large.0 == kind && large.1 <= number;
        let large = if self.large.is_empty() { 0 } else { self.large.iter().filter(among).count() };
        self.small.up_to(kind, number) + u32::try_from(large).expect("a world has few numbers")
    }

    /// The name of a call.
    #[inline]
    fn of_call(&self, owner: u16, call: Call) -> u32 {
        let place = || self.rank(Kind::Call(owner), call.0.into());
        if let Some(many) = &self.many {
            let client = ClientId(owner);
            return if many.is_counting(client) { many.name(client, call, place()) } else { place() };
        }
        match self.calls.get(usize::from(owner)) {
            Some(calls) if calls.is_counting() => calls.name(self.small.calls(owner), call.0.into()),
            _ => place(),
        }
    }
}

/// Gives a part the names of the normal form, and looks at it again.
pub(super) struct Rewriting<'a> {
    names: &'a NormalNames,
    pub(super) after: Looking<'a>,
}

impl<'a> Rewriting<'a> {
    pub(super) fn new(names: &'a NormalNames, rules: &'a Rules) -> Self {
        Rewriting { names, after: Looking::new(rules) }
    }

    #[inline]
    fn instant(&mut self, at: &mut Instant, floor: Ticks) {
        *at = (*at - self.names.shift).max(self.after.clock + floor);
        self.after.instant(*at, floor);
    }

    #[inline]
    fn number(&mut self, kind: Kind, number: u32) -> u32 {
        let rank = self.names.rank(kind, number);
        self.after.number(kind, rank);
        rank
    }

    #[inline]
    fn short(&mut self, kind: Kind, number: u16) -> u16 {
        u16::try_from(self.number(kind, number.into())).expect("a place is no larger than the number")
    }

    #[inline]
    fn call_of_owner(&mut self, owner: u16, call: &mut Call) {
        if call.0 > 0 {
            call.0 = u16::try_from(self.names.of_call(owner, *call)).expect("a client has few calls");
        }
        self.after.call_of_owner(owner, *call);
    }
}

impl Visitor for Rewriting<'_> {
    #[inline]
    fn deadline(&mut self, at: &mut Instant) {
        self.instant(at, self.after.rules.horizon.late);
    }

    #[inline]
    fn until(&mut self, at: &mut Instant) {
        self.instant(at, self.after.rules.horizon.until);
    }

    #[inline]
    fn elapsed(&mut self, at: &mut Instant) {
        self.instant(at, self.after.rules.horizon.elapsed);
    }

    #[inline]
    fn since(&mut self, at: &mut Instant) {
        self.instant(at, self.after.rules.horizon.since);
    }

    #[inline]
    fn index(&mut self, index: &mut Index) {
        *index = Index::numbered(self.number(Kind::Index, index.raw()));
    }

    #[inline]
    fn token(&mut self, token: &mut Token) {
        if self.after.rules.horizon.tokens_are_indexes {
            *token = Token::numbered(self.number(Kind::Index, token.raw()));
        }
    }

    #[inline]
    fn counts_versions(&self) -> bool {
        self.after.rules.horizon.versions_are_counts
    }

    #[inline]
    fn tenure(&mut self, tenure: &mut Tenure) {
        tenure.0 = self.number(Kind::Tenure, tenure.0);
    }

    #[inline]
    fn session(&mut self, session: &mut SessionId) {
        let SessionParts { creator, number } = session.raw();
        *session = SessionId::numbered(creator, self.short(Kind::Session(creator.0), number));
    }

    #[inline]
    fn call(&mut self, call: &mut Call) {
        self.call_of_owner(self.after.scope, call);
    }

    #[inline]
    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        self.call_of_owner(client.0, call);
    }

    #[inline]
    fn counter(&mut self, call: &mut Call) {
        let rules = self.after.rules;
        if rules.keeps_order_of_calls {
            return self.call_of_owner(self.after.scope, call);
        }
        let in_use = self.names.rank(Kind::Call(self.after.scope), u32::MAX);
        let less = u32::from(rules.is_newest_uncounted);
        call.0 = u16::try_from(in_use.saturating_sub(less)).expect("a client has few calls");
        self.after.count(*call);
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.after.scope(client, skew);
    }
}
