//! The handle: everything that a program can do. Each operation is begun when it is polled first, in program order, and dropped
//! with its future; what it does is written on a desk between the run and the executor.

use std::cell::RefCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context as Polling, Poll};

use super::clock::WallTime;
use super::desk::{Compared, Desk, Outcome, Output, Permit, What};
use super::guard::TenureGuard;
use super::kind::{self, Kind};
use super::shared::{Shared, SharedValue};
use super::{First, Gone, Programmable, Recipe, TimedOut, UserCommand, Wanted};
use crate::fact::Leaving;
use crate::ids::{ClientId, SessionId, Token};
use crate::keys::KEYS_MAX;
use crate::resource::{Version, WriteTarget};
use crate::time::Ticks;
use crate::work_queue::QueueItem;

/// What a program holds of its client: the requests of the service, time, chance, the protected resource, its user.
///
/// No clock shows a number: time enters only as what [`sleep`](Handle::sleep), [`timeout`](Handle::timeout) and
/// [`deadline`](Handle::deadline) come to. What [`wall_time`](Handle::wall_time) reads is opaque.
pub struct Handle<S: Programmable> {
    desk: Rc<RefCell<Desk<S>>>,
}

impl<S: Programmable> Handle<S> {
    pub(super) fn new(desk: Rc<RefCell<Desk<S>>>) -> Self {
        Handle { desk }
    }

    fn begin<T>(&self, what: What<S>, take: fn(Outcome<S>) -> Option<T>) -> Operation<S, T> {
        Operation { desk: Rc::clone(&self.desk), state: State::Unbegun(what), take }
    }

    fn put(&self, output: Output<S>) {
        self.desk.borrow_mut().outputs.push(output);
    }

    /// Which client this is.
    pub fn me(&self) -> ClientId {
        self.desk.borrow().me
    }

    /// Asks something of the service, and waits for the answer: for ever if none comes. Dropping the future closes the
    /// connection, and a late response reaches no operation.
    pub fn request(&self, request: S::Request) -> Operation<S, S::Answer> {
        self.begin(What::Request(request), Outcome::answer)
    }

    /// Asks something of the service that it does not answer, and goes on. A request that is a
    /// [fact](Programmable::fact) is recorded instead.
    pub fn send(&self, request: S::Request) {
        self.put(Output::Send(request));
    }

    /// Waits for the next answer that names no request, without asking: what the service says by itself, and every answer of a
    /// service that does not number them.
    pub fn listen(&self) -> Operation<S, S::Answer> {
        self.begin(What::Listen, Outcome::answer)
    }

    /// Waits so long, or longer.
    pub fn sleep(&self, length: Ticks) -> Operation<S, ()> {
        self.begin(What::Sleep(length), Outcome::over)
    }

    /// Opens a deadline that lies so far ahead. It stays open until it is dropped.
    pub fn deadline(&self, length: Ticks) -> OpenDeadline<S> {
        self.open(What::Deadline(length))
    }

    fn open(&self, what: What<S>) -> OpenDeadline<S> {
        let operation = self.desk.borrow_mut().number();
        self.put(Output::Begin(operation, what));
        OpenDeadline { handle: Handle::new(Rc::clone(&self.desk)), operation }
    }

    /// Reads the wall clock. The reading can be written for others, whose wall clocks may be ahead or behind.
    pub fn wall_time(&self) -> Operation<S, WallTime> {
        self.begin(What::WallTime, |outcome| match outcome {
            Outcome::WallTime(time) => Some(time.into()),
            _ => None,
        })
    }

    /// Opens a deadline that comes when the wall clock of this client shows so much more than that, which any client may have read on its
    /// own. It may have come already. `has_come` is a closed comparison of the wall clock, `is_over` a strict one, `passed` sleeps until then.
    pub fn deadline_after(&self, time: WallTime, length: Ticks) -> OpenDeadline<S> {
        self.open(What::DeadlineAfter(time.into(), length))
    }

    /// Waits for a future, and no longer than so long: then it drops it.
    ///
    /// # Errors
    /// Time was up first.
    pub async fn timeout<F: Future>(&self, length: Ticks, future: F) -> Result<F::Output, TimedOut> {
        match self.select(future, self.sleep(length)).await {
            First::One(value) => Ok(value),
            First::Other(()) => Err(TimedOut),
        }
    }

    /// Waits for either of two, and drops the other one. If both are ready, the first one counts.
    pub async fn select<A: Future, B: Future>(&self, one: A, other: B) -> First<A::Output, B::Output> {
        let (mut one, mut other) = (pin!(one), pin!(other));
        poll_fn(|polling| {
            if let Poll::Ready(value) = one.as_mut().poll(polling) {
                return Poll::Ready(First::One(value));
            }
            other.as_mut().poll(polling).map(First::Other)
        })
        .await
    }

    /// Waits for both.
    pub async fn join<A: Future, B: Future>(&self, one: A, other: B) -> (A::Output, B::Output) {
        let (mut one, mut other) = (pin!(one), pin!(other));
        let (mut first, mut second) = (None, None);
        poll_fn(|polling| {
            if first.is_none()
                && let Poll::Ready(value) = one.as_mut().poll(polling)
            {
                first = Some(value);
            }
            if second.is_none()
                && let Poll::Ready(value) = other.as_mut().poll(polling)
            {
                second = Some(value);
            }
            match (first.take(), second.take()) {
                (Some(one), Some(other)) => Poll::Ready((one, other)),
                (one, other) => {
                    (first, second) = (one, other);
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// A number below `options`, from 1 to 255, that is unpredictable: an exploration tries each.
    ///
    /// # Panics
    /// There are no options.
    pub fn random(&self, options: u8) -> Operation<S, u8> {
        assert!(options > 0, "a random number below 0 does not exist: use 1 or more options");
        self.begin(What::Random(options), |outcome| match outcome {
            Outcome::Chosen(option) => Some(option),
            _ => None,
        })
    }

    /// An id that is not in use and that no other client makes up: a UUID, or the random value of a lock.
    pub fn unique(&self) -> Operation<S, SessionId> {
        self.begin(What::Unique, |outcome| match outcome {
            Outcome::Unique(id) => Some(id),
            _ => None,
        })
    }

    /// Runs another recipe beside this one, with laps of its own, until its lap is [`Done`](super::Lap::Done) or the caller stops
    /// it. A client has one task of each name: an older one is stopped.
    pub fn spawn<R: Recipe<S>>(&self, recipe: R) {
        let kind = kind::of::<S, R>();
        let head = kind::encode(&recipe);
        self.put(Output::Spawn(kind, head));
    }

    /// Stops the task that runs this recipe, if there is one.
    pub fn stop<R: Recipe<S>>(&self) {
        self.put(Output::Stop(R::NAME));
    }

    /// Sets the cell of this type, which every task of the client can [read](Handle::cell). It stays set until the client gives up its
    /// round, or crashes.
    pub fn set<T: Shared>(&self, value: &T) {
        self.put(Output::Set(SharedValue::new(value)));
    }

    /// Reads the cell of this type: none if it has not been set.
    pub fn cell<T: Shared>(&self) -> Operation<S, Option<T>> {
        self.begin(What::Cell(T::NAME), |outcome| Some(outcome.shared()?.map(|value| value.value())))
    }

    /// Waits until the cell of this type is set from now on, and reads it.
    pub fn changed<T: Shared>(&self) -> Operation<S, T> {
        self.begin(What::Change(T::NAME), |outcome| Some(outcome.shared()??.value()))
    }

    /// Posts a message into the mailbox of its type. It stays there until a task [receives](Handle::receive) it, until the client gives up
    /// its round, or crashes.
    pub fn post<T: Shared>(&self, message: &T) {
        self.put(Output::Post(SharedValue::new(message)));
    }

    /// Waits for the oldest message in the mailbox of this type, and takes it out. A message that comes when this has been dropped stays in
    /// the mailbox; of several tasks that wait, the first one in their order receives it: the recipe itself, then the others by name.
    pub fn receive<T: Shared>(&self) -> Operation<S, T> {
        self.begin(What::Message(T::NAME), |outcome| Some(outcome.shared()??.value()))
    }

    /// Waits until no task runs this recipe.
    pub fn ended<R: Recipe<S>>(&self) -> Operation<S, ()> {
        self.begin(What::Ended(R::NAME), |outcome| matches!(outcome, Outcome::Ended).then_some(()))
    }

    /// The client believes from here that it is inside. Writes by the guard carry this token.
    pub fn enter(&self, token: Token) -> TenureGuard<S> {
        self.enter_with(token, Permit::Lock)
    }

    /// The same for a semaphore: the client believes that it has one of this number of slots.
    pub fn enter_slot(&self, token: Token, slots: u16) -> TenureGuard<S> {
        self.enter_with(token, Permit::OneOf(slots))
    }

    /// The same where slots have numbers: the client believes that it has this one.
    pub fn enter_numbered(&self, token: Token, slot: u8) -> TenureGuard<S> {
        self.enter_with(token, Permit::Slot(slot))
    }

    fn enter_with(&self, token: Token, permit: Permit) -> TenureGuard<S> {
        self.put(Output::Enter(token, permit));
        self.guard(token)
    }

    /// The guard of a tenure that began in an earlier lap, or in another task, with this token. It changes nothing of what the client
    /// believes.
    pub fn guard(&self, token: Token) -> TenureGuard<S> {
        TenureGuard::new(Handle::new(Rc::clone(&self.desk)), token)
    }

    /// It does not any more, for this reason.
    pub fn leave(&self, why: Leaving) {
        self.put(Output::Leave(why));
    }

    /// The client changes the number of slots from here: see [`is_at_work`](crate::process::Client::is_at_work).
    pub fn begin_work(&self) {
        self.put(Output::Work(true));
    }

    /// It does not any more.
    pub fn end_work(&self) {
        self.put(Output::Work(false));
    }

    /// What it believes is covered by a lease that ends with this deadline, from now on and for later tenures.
    pub fn lease_until(&self, deadline: &OpenDeadline<S>) {
        self.put(Output::Lease(Some(deadline.operation)));
    }

    /// The same where the instant of the deadline is not covered any more.
    pub fn lease_before(&self, deadline: &OpenDeadline<S>) {
        self.put(Output::LeaseBefore(deadline.operation));
    }

    /// It has renewed just now what it believes in. A scenario may have its user, or a fault, come right after that.
    pub fn renewed(&self) {
        self.put(Output::Renewed);
    }

    /// It has no lease any more.
    pub fn no_lease(&self) {
        self.put(Output::Lease(None));
    }

    /// Waits for the end of the lease, for ever without one; a lease that is extended ends later.
    pub fn lease_ended(&self) -> Operation<S, ()> {
        self.begin(What::LeaseEnd, Outcome::over)
    }

    /// Whether the lease is over: it covers its last instant. One that does not exist is not over.
    pub fn lease_is_over(&self) -> Operation<S, bool> {
        self.begin(What::LeaseIsOver, Outcome::is)
    }

    /// Whether the end of the lease has come: it has at its last instant. The end of one that does not exist has not.
    pub fn lease_has_come(&self) -> Operation<S, bool> {
        self.begin(What::LeaseHasCome, Outcome::is)
    }

    /// Waits for what the user wants of a client that is inside.
    pub fn user(&self) -> Operation<S, Wanted> {
        self.begin(What::User, |outcome| match outcome {
            Outcome::User(UserCommand::Write) => Some(Wanted::Write),
            Outcome::User(UserCommand::Release) => Some(Wanted::Release),
            _ => None,
        })
    }

    /// Waits for a user who asks a client whether it still has what it has acquired: see
    /// [`verification`](Programmable::verification).
    pub fn verification(&self) -> Operation<S, ()> {
        self.begin(What::Verification, Outcome::over)
    }

    /// Writes to the resource, and waits for its answer: whether it accepted the token, or the version that was [read](Handle::read)
    /// before.
    pub fn write(&self, token: impl Into<Compared>) -> Operation<S, bool> {
        self.begin(What::Write(WriteTarget::Whole, token.into()), Outcome::is)
    }

    /// Sends a write to the resource, and goes on.
    pub fn send_write(&self, token: impl Into<Compared>) {
        self.put(Output::Write(WriteTarget::Whole, token.into()));
    }

    /// Writes to one key of the resource, from 0 to 7, and waits for its answer: whether it accepted the token. Tokens of different keys
    /// are not compared: with a key for each slot of a semaphore, a slot is fenced by the tokens of its holders.
    ///
    /// # Panics
    /// There is no such key.
    pub fn write_to(&self, key: u8, token: impl Into<Compared>) -> Operation<S, bool> {
        check_key(key);
        self.begin(What::Write(WriteTarget::Key(key), token.into()), Outcome::is)
    }

    /// Asks which item of the work queue is next, and leaves it there: none if the queue is empty.
    pub fn next_item(&self) -> Operation<S, Option<QueueItem>> {
        self.begin(What::Item(false), Outcome::item)
    }

    /// Takes the next item out of the work queue: none if it is empty. If it is not handled then, it is lost.
    pub fn take_item(&self) -> Operation<S, Option<QueueItem>> {
        self.begin(What::Item(true), Outcome::item)
    }

    /// Does the work on an item, and waits for the answer of the resource: whether it accepted the token. Work that was done cannot be
    /// undone.
    pub fn handle_item(&self, item: QueueItem, token: impl Into<Compared>) -> Operation<S, bool> {
        self.begin(What::Write(WriteTarget::Work(item), token.into()), Outcome::is)
    }

    /// Removes an item from the work queue, and waits for the answer of the resource: whether it accepted the token.
    pub fn finish_item(&self, item: QueueItem, token: impl Into<Compared>) -> Operation<S, bool> {
        self.begin(What::Write(WriteTarget::Entry(item), token.into()), Outcome::is)
    }

    /// Does both at once, where work and queue are in one database, and waits for the answer of the resource: false if it refused the token, or
    /// if the item is not in the queue any more, and then nothing is done.
    pub fn complete_item(&self, item: QueueItem, token: impl Into<Compared>) -> Operation<S, bool> {
        self.begin(What::Write(WriteTarget::WorkAndEntry(item), token.into()), Outcome::is)
    }

    /// Reads what the resource remembers, to write with it: with [`Accepts::Unchanged`](crate::resource::Accepts::Unchanged) such a write is
    /// refused if another one came between. Versions may be compared with each
    /// other, and the default is that of a resource without a write.
    pub fn read(&self) -> Operation<S, Version> {
        self.begin(What::Read, Outcome::version)
    }

    /// The same of one key, from 0 to 7, to write to it.
    ///
    /// # Panics
    /// There is no such key.
    pub fn read_key(&self, key: u8) -> Operation<S, Version> {
        check_key(key);
        self.begin(What::ReadKey(key), Outcome::version)
    }
}

fn check_key(key: u8) {
    assert!(key < KEYS_MAX, "the resource has {KEYS_MAX} keys, from 0: there is no key {key}");
}

impl<S: Programmable> fmt::Debug for Handle<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle of {}", self.me())
    }
}

/// A deadline that is open.
#[derive(Debug)]
pub struct OpenDeadline<S: Programmable> {
    handle: Handle<S>,
    operation: u16,
}

impl<S: Programmable> OpenDeadline<S> {
    /// Waits until it has come.
    pub fn passed(&self) -> Operation<S, ()> {
        self.handle.begin(What::Until(self.operation), Outcome::over)
    }

    /// Whether it lies behind. At its very instant it does not yet.
    pub fn is_over(&self) -> Operation<S, bool> {
        self.handle.begin(What::IsOver(self.operation), Outcome::is)
    }

    /// Whether it has come. At its very instant it has.
    pub fn has_come(&self) -> Operation<S, bool> {
        self.handle.begin(What::HasCome(self.operation), Outcome::is)
    }
}

impl<S: Programmable> Drop for OpenDeadline<S> {
    fn drop(&mut self) {
        self.handle.put(Output::Drop(self.operation));
    }
}

/// Something that a program waits for.
#[must_use = "nothing is done before it is awaited"]
pub struct Operation<S: Programmable, T> {
    desk: Rc<RefCell<Desk<S>>>,
    state: State<S>,
    take: fn(Outcome<S>) -> Option<T>,
}

enum State<S: Programmable> {
    Unbegun(What<S>),
    Open(u16),
    Over,
}

impl<S: Programmable, T> Unpin for Operation<S, T> {}

impl<S: Programmable, T> Future for Operation<S, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _: &mut Polling<'_>) -> Poll<T> {
        let me = &mut *self;
        let mut desk = me.desk.borrow_mut();
        match me.state {
            State::Unbegun(what) => {
                let operation = desk.number();
                desk.outputs.push(Output::Begin(operation, what));
                me.state = State::Open(operation);
                Poll::Pending
            }
            State::Open(operation) => {
                let told = desk.told.iter().position(|(other, _)| *other == operation);
                let Some((_, outcome)) = told.map(|place| desk.told.swap_remove(place)) else { return Poll::Pending };
                me.state = State::Over;
                Poll::Ready((me.take)(outcome).expect("the executor answers what was asked"))
            }
            State::Over => panic!("an operation that is over was polled again"),
        }
    }
}

impl<S: Programmable, T> Drop for Operation<S, T> {
    fn drop(&mut self) {
        if let State::Open(operation) = self.state {
            let mut desk = self.desk.borrow_mut();
            desk.told.retain(|(other, _)| *other != operation);
            desk.outputs.push(Output::Drop(operation));
        }
    }
}

impl From<TimedOut> for Gone {
    fn from(_: TimedOut) -> Gone {
        Gone
    }
}

/// What was told and not taken yet, by operation.
pub(super) type Told<S> = Vec<(u16, Outcome<S>)>;

/// What runs a recipe of which only the name is known.
pub(super) type AnyKind<S> = &'static Kind<S>;
