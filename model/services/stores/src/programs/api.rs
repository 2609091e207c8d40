//! What a program can ask of the store: each operation is atomic, and answered once.

use std::future::Future;

use crate::{Answer, Command, Request, StoreMessage, Stores, Timer};
use fencepost_model::ids::{Call, Index};
use fencepost_model::program::{Alarm, Handle, Programmable, UserCommand};

impl Programmable for Stores {
    type Request = Request;
    type Answer = Answer;
    const ASKS_AGAIN: bool = true;

    fn ask(call: Call, request: Request) -> StoreMessage {
        StoreMessage::Request(call, request)
    }

    fn answer(message: &StoreMessage) -> Option<(Option<Call>, Answer)> {
        match message {
            StoreMessage::Response(call, answer) => Some((Some(*call), *answer)),
            StoreMessage::Request(..) => None,
        }
    }

    fn timer(alarm: Alarm) -> Timer {
        Timer::Program(alarm)
    }

    fn alarm(timer: &Timer) -> Option<Alarm> {
        match timer {
            Timer::Program(alarm) => Some(*alarm),
            Timer::Retry | Timer::GiveUp | Timer::Lapse => None,
        }
    }

    /// These clients do not write: see the validation of `writes`.
    fn command(command: UserCommand) -> Command {
        match command {
            UserCommand::Acquire => Command::Acquire,
            UserCommand::Write | UserCommand::Release => Command::Release,
        }
    }

    fn user_command(command: &Command) -> Option<UserCommand> {
        Some(match command {
            Command::Acquire => UserCommand::Acquire,
            Command::Release => UserCommand::Release,
        })
    }
}

/// The operations of the store. Each waits for its answer, for ever if none comes: wrap it in a
/// [`timeout`](Handle::timeout) if the client gives up. A client whose own clock orders the list, as in the system
/// `ranked-semaphore` with timestamps, cannot be a program: there is no clock to read.
pub trait Storing {
    /// Takes a slot: the number of the entry, or none if no slot is free.
    fn take(&self) -> impl Future<Output = Option<Index>>;

    /// Frees the slots that were taken too long ago.
    fn reap(&self) -> impl Future<Output = ()>;

    /// Whether the entry still exists.
    fn check(&self, number: Index) -> impl Future<Output = bool>;

    /// Adds a free slot and removes the entry, whether it exists or not.
    fn push(&self, number: Index) -> impl Future<Output = ()>;

    /// If the entry still exists, removes it and frees its slot: whether it existed.
    fn give_back(&self, number: Index) -> impl Future<Output = bool>;

    /// Draws the next number of the counter; none: the store said no number.
    fn draw(&self) -> impl Future<Output = Option<Index>>;

    /// Inserts the client into the list with that number.
    fn insert(&self, number: Index) -> impl Future<Output = ()>;

    /// Inserts the client, and returns its number and the number of entries before it; none: it is beyond the limit, and not inserted.
    fn join_list(&self) -> impl Future<Output = Option<(Index, u8)>>;

    /// Appends the client to the list: the number of its entry. With a name, a client that is there already keeps its entry.
    fn enqueue(&self, named: bool) -> impl Future<Output = Option<Index>>;

    /// The number of entries before this one; none: it is not there.
    fn place(&self, number: Index) -> impl Future<Output = Option<u8>>;

    /// Removes an entry from the list.
    fn remove(&self, number: Index) -> impl Future<Output = ()>;
}

impl Storing for Handle<Stores> {
    async fn take(&self) -> Option<Index> {
        self.request(Request::Take).await.number()
    }

    async fn reap(&self) {
        self.request(Request::Reap).await;
    }

    async fn check(&self, number: Index) -> bool {
        self.request(Request::Check(number)).await == Answer::Yes
    }

    async fn push(&self, number: Index) {
        self.request(Request::Push(number)).await;
    }

    async fn give_back(&self, number: Index) -> bool {
        self.request(Request::GiveBack(number)).await == Answer::Yes
    }

    async fn draw(&self) -> Option<Index> {
        self.request(Request::Draw).await.number()
    }

    async fn insert(&self, number: Index) {
        self.request(Request::Insert(number)).await;
    }

    async fn join_list(&self) -> Option<(Index, u8)> {
        self.request(Request::Join(None)).await.placed()
    }

    async fn enqueue(&self, named: bool) -> Option<Index> {
        self.request(Request::Enqueue { named }).await.number()
    }

    async fn place(&self, number: Index) -> Option<u8> {
        self.request(Request::Place(number)).await.placed().map(|(_, before)| before)
    }

    async fn remove(&self, number: Index) {
        self.request(Request::Remove(number)).await;
    }
}

impl Answer {
    /// The number of the entry or ticket, if it is one.
    pub fn number(self) -> Option<Index> {
        match self {
            Answer::Number(number) => Some(number),
            Answer::Placed(..) | Answer::Yes | Answer::No => None,
        }
    }

    /// The number of the entry, and the number of entries before it.
    pub fn placed(self) -> Option<(Index, u8)> {
        match self {
            Answer::Placed(number, before) => Some((number, before)),
            Answer::Number(_) | Answer::Yes | Answer::No => None,
        }
    }
}
