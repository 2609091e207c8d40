//! The way to the lock: the transaction of `Lock` and `Campaign`, the wait for the keys before the own one, and what follows a wait that
//! fails.

use super::{Contender, ContenderStep, Ctx, Index, Key, Operation, Out, is_election};
use crate::messages::{Request, Response};
use crate::settings::{Nested, OnError, Settings, Stop};
use crate::{EtcdEvent, EtcdMutation as Mutant};
use fencepost_model::fact::Fact;

impl Contender {
    /// There is a session: the locks are taken in the order of the settings.
    pub(super) fn begin(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        match context.scenario.service.nested {
            Nested::First => self.nest(out),
            Nested::No | Nested::Second => self.lock(out),
        }
    }

    /// Takes the lock whose name begins with this one's: its key is below this one's prefix, too (E-CC-25).
    fn nest(&mut self, out: Out<'_>) {
        let call = self.transact(Key::Below(self.lease), Index::NONE, Operation::Put(self.lease), out);
        self.step = ContenderStep::Nesting(call);
    }

    /// Step 1 of `Lock` and `Campaign`: put the key if it is absent, else get it; and get the oldest (E-CC-10, E-CC-20).
    pub(super) fn lock(&mut self, out: Out<'_>) {
        let call = self.transact(self.key(), Index::NONE, Operation::Put(self.lease), out);
        self.step = ContenderStep::Locking(call);
    }

    /// Step 2: the newest key that was created before its own (E-CC-11).
    fn look(&mut self, out: Out<'_>) {
        let call = self.send(Request::Newest(self.created), out);
        self.step = ContenderStep::Looking(call);
    }

    fn watch(&mut self, key: Key, from: Index, out: Out<'_>) {
        let call = self.send(Request::Watch(key, from), out);
        self.step = ContenderStep::Watching(call, key, from);
    }

    /// The answer to what it waits for on its way.
    pub(super) fn hear_wait(&mut self, response: Response, context: &Ctx<'_>, out: Out<'_>) {
        match (self.step, response) {
            (ContenderStep::Opening(_, stops), Response::Granted) => {
                self.register(stops, context, out);
                self.begin(context, out);
            }
            (ContenderStep::Nesting(_), Response::Txn { .. }) => match context.scenario.service.nested {
                Nested::Second => self.enter(context, out),
                Nested::First | Nested::No => self.lock(out),
            },
            (ContenderStep::Locking(_), Response::Txn { created: Some(created), oldest }) => {
                self.created = created;
                // E-CC-20: `Campaign` waits for the keys before its own in any case; `Lock` looks at the oldest first (E-CC-10).
                let waits = is_election(context) || oldest.is_some_and(|oldest| oldest.created != created);
                if waits { self.look(out) } else { self.hold(context, out) }
            }
            (ContenderStep::Looking(_), Response::Found(None, _)) => self.take_turn(context, out),
            (ContenderStep::Looking(_), Response::Found(Some(shown), revision)) => {
                self.watch(shown.key, revision, out);
            }
            (ContenderStep::Watching(..), Response::Deleted) if context.is_mutated(Mutant::DeletionIsTurn) => {
                self.take_turn(context, out);
            }
            (ContenderStep::Watching(..), Response::Deleted) => self.look(out),
            // The Go client resumes a watch that breaks at its start revision (E-W-7).
            (ContenderStep::Watching(_, key, from), Response::Disconnected) => self.watch(key, from, out),
            (ContenderStep::Watching(..), Response::Compacted) => {
                out.record(Fact::Service(EtcdEvent::Compacted(context.client())));
                self.fail(context, out);
            }
            (ContenderStep::Looking(_) | ContenderStep::Checking(_), Response::Failed) => self.fail(context, out),
            (ContenderStep::Checking(_), Response::Found(found, _)) => {
                match found.is_some() || context.is_mutated(Mutant::FinalGetIgnored) {
                    true => self.hold(context, out),
                    // `ErrSessionExpired` (E-CC-12).
                    false => self.finish(context, out),
                }
            }
            // A put with a lease that is gone fails (E-TXN-6); so does any request while the members restart.
            _ => self.finish(context, out),
        }
    }

    /// No key is before its own. Released versions of `Campaign`, and `Lock` before 3.5, look at nothing else (E-CC-12, E-CC-20).
    fn take_turn(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        if context.scenario.service.final_get && !is_election(context) {
            let call = self.send(Request::Get(self.key()), out);
            self.step = ContenderStep::Checking(call);
        } else {
            self.hold(context, out);
        }
    }

    /// The call has returned success.
    fn hold(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        if context.scenario.service.nested == Nested::Second {
            return self.nest(out);
        }
        self.enter(context, out);
    }

    /// A client that looks at its time, or at `Done`, does not begin when that is over.
    pub(super) fn may_enter(&self, context: &Ctx<'_>) -> bool {
        let Settings { stop, looks_before_entry, .. } = context.scenario.service;
        match stop {
            _ if !looks_before_entry => true,
            Stop::Never => true,
            Stop::OnDone => self.session.is_some(),
            Stop::BeforeExpiry => {
                let stops = self.session.and_then(|session| session.stops);
                stops.is_some_and(|at| !at.is_due(context.now))
            }
        }
    }

    /// The wait has failed by an error of the server: `Lock` deletes its key (E-CC-13), `Campaign` leaves it and forgets its session
    /// (E-CC-21).
    fn fail(&mut self, context: &Ctx<'_>, out: Out<'_>) {
        match (is_election(context), context.scenario.service.on_error) {
            (false, _) if context.is_mutated(Mutant::FailedLockKeepsKey) => self.step = ContenderStep::Idle,
            (false, _) => self.withdraw(out, context),
            (true, OnError::Keep) => self.step = ContenderStep::Idle,
            (true, OnError::Close) => self.finish(context, out),
            (true, OnError::Again) => self.lock(out),
        }
    }

    /// The own key is deleted: by name (E-CC-13), or by its create revision (E-CC-21).
    pub(super) fn withdraw(&mut self, out: Out<'_>, context: &Ctx<'_>) {
        let call = self.delete_key(context, out);
        self.step = ContenderStep::Withdrawing(call);
    }
}
