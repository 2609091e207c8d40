//! A witness says how a world becomes the one that stands for it: by how much instants are moved back, and which numbers get others. It is
//! carried out here, by the visitor of the kernel, and must leave alone all that a process can notice: the order of numbers, and where
//! only identity counts, which of them are the same.

use fencepost_model::ids::{Call, ClientId, Index, ProcessId, RawId, SessionId, SessionParts, Tenure, Token};
use fencepost_model::monitor::{NumberKind, Observed, Renaming};
use fencepost_model::normal::{Normal, Visitor};
use fencepost_model::service::Service;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::Horizon;

/// Applies a witness to a world.
///
/// # Errors
/// It changes more than names; what, as a sentence.
pub(crate) fn apply<S: Service>(witness: &Renaming, horizon: Horizon, state: &mut Observed<S>) -> Result<(), String> {
    let passed = state.world.now - Instant::START;
    if passed != witness.shift {
        return Err(format!("the witness moves instants back by {}, and {passed} passed", witness.shift));
    }
    let oldest = state.world.clock(ProcessId::Server) - horizon.back;
    state.world.server.process.settle(oldest);
    let mut renamer = Renamer { witness, horizon, clock: Instant::START, scope: 0, renamed: Vec::new() };
    state.world.visit(&mut renamer);
    renamer.scope(None, Ticks::ZERO);
    state.monitor.visit(&mut renamer);
    state.world.now = Instant::START;
    state.world.sort();
    state.monitor.sort();
    renamer.verdict()
}

/// Gives a world the names of a witness, and remembers all numbers that it saw.
struct Renamer<'a> {
    witness: &'a Renaming,
    horizon: Horizon,
    /// What the clock in scope shows when true time is 0.
    clock: Instant,
    scope: u16,
    /// What a number counts among, the number, its new name.
    renamed: Vec<(NumberKind, u32, u32)>,
}

impl Renamer<'_> {
    /// Whether the names are as good as the numbers were.
    fn verdict(mut self) -> Result<(), String> {
        self.renamed.sort_unstable();
        self.renamed.dedup();
        let of = |wanted: NumberKind| self.renamed.iter().filter(move |(kind, ..)| *kind == wanted);
        for (kind, from, to) in &self.renamed {
            let refused = |what: &str| Err(format!("the witness calls {kind:?} {from} {to}: {what}"));
            let is_identity = match kind {
                NumberKind::Counter(client) if of(NumberKind::Call(*client)).any(|(.., call)| call > to) => {
                    return refused("a call has a larger number, so the next call would not be new");
                }
                NumberKind::Counter(_) => continue,
                NumberKind::Call(client) => of(NumberKind::Counter(*client)).next().is_some(),
                _ => false,
            };
            let is_wrong = |(_, other, name): &&(NumberKind, u32, u32)| match is_identity {
                true => (other == from) != (name == to),
                false => other.cmp(from) != name.cmp(to),
            };
            if *to == 0 || of(*kind).any(|other| is_wrong(&other)) {
                return refused("it is a number of something else, or the order changes");
            }
        }
        Ok(())
    }

    fn instant(&self, at: &mut Instant, floor: Ticks) {
        *at = (*at - self.witness.shift).max(self.clock + floor);
    }

    fn name(&self, kind: NumberKind, number: u32) -> u32 {
        let is_it = |(among, from, _): &&(NumberKind, u32, u32)| (*among, *from) == (kind, number);
        self.witness.numbers.iter().find(is_it).map_or(number, |(.., to)| *to)
    }

    /// 0 is no number, and has no other name.
    fn number(&mut self, kind: NumberKind, number: u32) -> u32 {
        let name = if number == 0 { 0 } else { self.name(kind, number) };
        self.renamed.extend((number > 0).then_some((kind, number, name)));
        name
    }

    /// A name that is too large becomes 0, which is refused.
    fn short(&mut self, kind: NumberKind, number: u16) -> u16 {
        let name = self.number(kind, number.into());
        self.renamed.extend((name > u16::MAX.into()).then_some((kind, number.into(), 0)));
        u16::try_from(name).unwrap_or_default()
    }
}

impl Visitor for Renamer<'_> {
    fn deadline(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.late);
    }

    fn until(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.until);
    }

    fn elapsed(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.elapsed);
    }

    fn since(&mut self, at: &mut Instant) {
        self.instant(at, self.horizon.since);
    }

    fn index(&mut self, index: &mut Index) {
        *index = Index::numbered(self.number(NumberKind::Index, index.raw()));
    }

    fn token(&mut self, token: &mut Token) {
        if self.horizon.tokens_are_indexes {
            *token = Token::numbered(self.number(NumberKind::Index, token.raw()));
        }
    }

    fn counts_versions(&self) -> bool {
        self.horizon.versions_are_counts
    }

    fn tenure(&mut self, tenure: &mut Tenure) {
        tenure.0 = self.number(NumberKind::Tenure, tenure.0);
    }

    fn session(&mut self, session: &mut SessionId) {
        let SessionParts { creator, number } = session.raw();
        *session = SessionId::numbered(creator, self.short(NumberKind::Session(creator.0), number));
    }

    fn call(&mut self, call: &mut Call) {
        call.0 = self.short(NumberKind::Call(self.scope), call.0);
    }

    fn call_of(&mut self, client: ClientId, call: &mut Call) {
        call.0 = self.short(NumberKind::Call(client.0), call.0);
    }

    fn counter(&mut self, call: &mut Call) {
        let (kind, number) = (NumberKind::Counter(self.scope), call.0.into());
        call.0 = u16::try_from(self.name(kind, number)).unwrap_or_default();
        self.renamed.push((kind, number, call.0.into()));
    }

    fn scope(&mut self, client: Option<ClientId>, skew: Ticks) {
        self.scope = client.map_or(0, |client| client.0);
        self.clock = Instant::START + skew;
    }
}
