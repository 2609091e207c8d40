//! The values of a world that have no absolute meaning, and who visits them: worlds that differ in nothing else are equivalent.

mod contents;

/// Implements [`trait@Normal`], field by field.
pub use fencepost_derive::Normal;

use crate::ids::{Call, ClientId, Index, ProcessId, SessionId, Tenure, Token};
use crate::time::{Instant, Ticks};

/// Sees every value without absolute meaning. A field that nobody shows to it does not compile; the law tests find one that is
/// shown as something else.
pub trait Visitor {
    /// A deadline: only ever asked whether `now >= at`, and by how much it is late.
    fn deadline(&mut self, at: &mut Instant);
    /// The end of a belief: asked whether `now <= at`, and a deadline, too.
    fn until(&mut self, at: &mut Instant);
    /// When something began that counts from then, up to the longest duration of the service.
    fn elapsed(&mut self, at: &mut Instant);
    /// A ghost's memory of when: asked for its age, up to the longest bound of a promise.
    fn since(&mut self, at: &mut Instant);
    /// A log position.
    fn index(&mut self, index: &mut Index);
    /// A token; a log position in some scenarios.
    fn token(&mut self, token: &mut Token);
    /// A tenure.
    fn tenure(&mut self, tenure: &mut Tenure);
    /// A session's name: its number counts by order, among those of its creator.
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
    /// A client's name; it stays what it is, but for who tells the same run of other clients.
    fn client(&mut self, _: &mut ClientId) {}
    /// Says whose calls follow, and by how much the clock of the instants that follow is ahead.
    fn scope(&mut self, client: Option<ClientId>, skew: Ticks);
}

/// The client whose calls a process makes, if it is one: the derive asks this for `#[normal(of = …)]`.
#[inline]
pub fn client_of(process: impl Into<ProcessId>) -> Option<ClientId> {
    process.into().client()
}

/// Something that contains such values. It is derived: a field that nobody visits does not compile.
///
/// A deadline that is stored says that it is one:
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
/// A bare instant does not say what it is compared for:
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
    message = "nobody visits `{Self}`: it has no normal form",
    label = "does not implement `Normal`",
    note = "an instant that is stored is a `Deadline`, a `LeaseEnd`, a `StartTime` or a `Since`"
)]
pub trait Normal {
    /// Shows each of them to the visitor, always in the same order.
    fn visit(&mut self, visitor: &mut impl Visitor);

    /// Forgets what is meaningless from `oldest` on, the earliest instant that its own clock may still show.
    fn settle(&mut self, _oldest: Instant) {}

    /// Restores the order of sorted lists after renaming.
    fn sort(&mut self) {}
}
