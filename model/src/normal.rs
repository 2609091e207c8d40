//! Values of a world without absolute meaning, and visitors of them. Worlds that differ in nothing else are equivalent.

mod contents;

/// Implements [`trait@Normal`], field by field.
pub use fencepost_derive::Normal;

use crate::ids::{Call, ClientId, Index, ProcessId, SessionId, Tenure, Token};
use crate::time::{Instant, Ticks};

/// Sees every value without absolute meaning. A field without a visit does not compile. The law tests find a field that
/// is visited as a value of another kind.
pub trait Visitor {
    /// A deadline: it is only compared by `now >= at`, and its delay counts.
    fn deadline(&mut self, at: &mut Instant);
    /// The end of a lease: it is compared by `now <= at`, and it is a deadline, too.
    fn until(&mut self, at: &mut Instant);
    /// A start time: durations count from it, up to the longest duration of the service.
    fn elapsed(&mut self, at: &mut Instant);
    /// The instant of an event in a ghost: its age counts, up to the longest bound of a promise.
    fn since(&mut self, at: &mut Instant);
    /// A log position.
    fn index(&mut self, index: &mut Index);
    /// A token; a log position in some scenarios.
    fn token(&mut self, token: &mut Token);
    /// Whether versions of the resource are counts of writes. Otherwise they are tokens.
    fn counts_versions(&self) -> bool {
        false
    }
    /// What the resource compares: [`Version`](crate::resource::Version). A count has an absolute meaning. A visitor that hands on to another one
    /// hands this on, too.
    fn version(&mut self, version: &mut Token) {
        if !self.counts_versions() {
            self.token(version);
        }
    }
    /// A tenure.
    fn tenure(&mut self, tenure: &mut Tenure);
    /// A session's id: its number counts by order among the sessions of its creator.
    fn session(&mut self, session: &mut SessionId);
    /// The number of a call of the client in scope.
    fn call(&mut self, call: &mut Call);
    /// The number of a call of another client than the one in scope.
    fn call_of(&mut self, client: ClientId, call: &mut Call);
    /// The number of the newest call of the client in scope, kept only to number the next one. A client that shows it so promises two
    /// things: it compares calls with `==` only, and it ignores a message on a call of its own that its state does not show.
    fn counter(&mut self, call: &mut Call) {
        self.call(call);
    }
    /// A client's id. Only a permutation of clients changes it.
    fn client(&mut self, _: &mut ClientId) {}
    /// Whether what has different names keeps different names. A visitor for which several clients look the same does not: a program that
    /// compares two of their ids may do something else under those names. A visitor that hands on to another one hands this on, too.
    fn keeps_apart(&self) -> bool {
        true
    }
    /// Sets the client whose calls follow, and the offset of the clock whose instants follow.
    fn scope(&mut self, client: Option<ClientId>, skew: Ticks);
}

/// The client whose calls a process makes, if it is a client. The derive uses this for `#[normal(of = …)]`.
#[inline]
pub fn client_of(process: impl Into<ProcessId>) -> Option<ClientId> {
    process.into().client()
}

/// A value that contains such values. Use the derive: a field without a visit does not compile.
///
/// A stored deadline has its own type:
///
/// ```
/// use fencepost_model::time::Deadline;
/// use fencepost_model::normal::Normal;
///
/// #[derive(Normal)]
/// struct Lock {
///     expires: Deadline,
/// }
/// ```
///
/// A bare instant does not show how it is compared:
///
/// ```compile_fail,E0277
/// use fencepost_model::time::Instant;
/// use fencepost_model::normal::Normal;
///
/// #[derive(Normal)]
/// struct Lock {
///     expires: Instant,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no normal form",
    label = "does not implement `Normal`",
    note = "an instant that is stored is a `Deadline`, a `LeaseEnd`, a `StartTime` or a `Since`"
)]
pub trait Normal {
    /// Shows each value without absolute meaning to the visitor, always in the same order.
    fn visit(&mut self, visitor: &mut impl Visitor);

    /// Drops values that have no meaning from `oldest` on. `oldest` is the earliest instant that the process's own
    /// clock may still show.
    fn settle(&mut self, _oldest: Instant) {}

    /// Restores the order of sorted lists after renaming.
    fn sort(&mut self) {}
}
