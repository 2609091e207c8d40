//! Between a run and its executor: what the run does, and what it is told.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::handle::{AnyKind, Told};
use super::names::Blank;
use super::shared::SharedValue;
use super::{Gone, Lap, Programmable, UserCommand};
use crate::fact::Leaving;
use crate::ids::{ClientId, SessionId, Token};
use crate::normal::{Normal, Visitor};
use crate::resource::{Version, WriteTarget};
use crate::time::{StartTime, Ticks};
use crate::work_queue::QueueItem;

/// What lies between a run and its executor.
pub(super) struct Desk<S: Programmable> {
    pub(super) me: ClientId,
    /// How many operations the lap has begun.
    begun: u16,
    /// What the run has done since it was polled.
    pub(super) outputs: Vec<Output<S>>,
    /// What it was told and has not taken.
    pub(super) told: Told<S>,
}

impl<S: Programmable> Desk<S> {
    pub(super) fn new(me: ClientId) -> Self {
        Desk { me, begun: 0, outputs: Vec::new(), told: Told::new() }
    }

    /// As at its beginning.
    pub(super) fn clear(&mut self, me: ClientId) {
        (self.me, self.begun) = (me, 0);
        self.outputs.clear();
        self.told.clear();
    }

    /// The number of the next operation.
    pub(super) fn number(&mut self) -> u16 {
        let number = self.begun;
        self.begun = number.checked_add(1).expect("a lap is cut long before it has begun so much");
        number
    }
}

/// What a run does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Output<S: Programmable> {
    Begin(u16, What<S>),
    Drop(u16),
    Enter(Token, Permit),
    /// Whether it is changing the number of slots.
    Work(bool),
    Leave(Leaving),
    /// Until this open deadline, or none any more.
    Lease(Option<u16>),
    /// Up to this open deadline, and without its instant.
    LeaseBefore(u16),
    /// What it believes in is renewed.
    Renewed,
    Write(WriteTarget, Compared),
    Send(S::Request),
    Spawn(AnyKind<S>, String),
    /// A cell has this value from now on.
    Set(SharedValue),
    /// A message for a mailbox.
    Post(SharedValue),
    Stop(&'static str),
    /// The lap is over, and this is the value after it.
    End(String, Result<Lap, Gone>),
    Panic(String),
}

/// What a write carries, for the resource to compare.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Compared {
    /// A fencing token.
    Token(Token),
    /// A version that was read before.
    Version(Version),
}

impl From<Token> for Compared {
    fn from(token: Token) -> Self {
        Compared::Token(token)
    }
}

impl From<Version> for Compared {
    fn from(version: Version) -> Self {
        Compared::Version(version)
    }
}

/// What an operation is about.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum What<S: Programmable> {
    Request(S::Request),
    Listen,
    Write(WriteTarget, Compared),
    Read,
    ReadKey(u8),
    /// The first item of the work queue; true: it is removed.
    Item(bool),
    Sleep(Ticks),
    Deadline(Ticks),
    /// What the wall clock shows.
    WallTime,
    /// A deadline: the wall clock shows so much more than that.
    DeadlineAfter(StartTime, Ticks),
    Until(u16),
    IsOver(u16),
    HasCome(u16),
    /// An id that is not in use.
    Unique,
    Random(u8),
    User,
    Verification,
    Ended(&'static str),
    /// The value of a cell.
    Cell(&'static str),
    /// That a cell is set.
    Change(&'static str),
    /// The next message of a mailbox.
    Message(&'static str),
    LeaseEnd,
    LeaseIsOver,
    LeaseHasCome,
}

/// What a client has when it is inside.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Permit {
    /// The lock.
    Lock,
    /// One of this number of slots.
    OneOf(u16),
    /// The slot with this number.
    Slot(u8),
}

/// What an operation comes to.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case")]
pub(super) enum Outcome<S: Programmable> {
    Answer(S::Answer),
    Version(Version),
    Is(bool),
    Over,
    Chosen(u8),
    User(UserCommand),
    Ended,
    Unique(SessionId),
    Item(Option<QueueItem>),
    WallTime(StartTime),
    /// A message, or the value of a cell, if it is set.
    Shared(Option<SharedValue>),
}

impl<S: Programmable> Outcome<S> {
    pub(super) fn over(self) -> Option<()> {
        matches!(self, Outcome::Over).then_some(())
    }

    pub(super) fn answer(self) -> Option<S::Answer> {
        match self {
            Outcome::Answer(answer) => Some(answer),
            _ => None,
        }
    }

    pub(super) fn item(self) -> Option<Option<QueueItem>> {
        match self {
            Outcome::Item(item) => Some(item),
            _ => None,
        }
    }

    pub(super) fn shared(self) -> Option<Option<SharedValue>> {
        match self {
            Outcome::Shared(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn version(self) -> Option<Version> {
        match self {
            Outcome::Version(version) => Some(version),
            _ => None,
        }
    }

    pub(super) fn is(self) -> Option<bool> {
        match self {
            Outcome::Is(is) => Some(is),
            _ => None,
        }
    }
}

/// By hand: only answers, versions, ids, readings and what tasks share contain anything without absolute meaning.
impl<S: Programmable> Normal for Outcome<S> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Outcome::Answer(answer) => answer.visit(visitor),
            Outcome::Version(version) => version.visit(visitor),
            Outcome::Unique(id) => visitor.session(id),
            Outcome::WallTime(time) => time.visit(visitor),
            Outcome::Shared(Some(value)) => value.visit(visitor),
            _ => {}
        }
    }

    fn sort(&mut self) {
        if let Outcome::Answer(answer) = self {
            answer.sort();
        }
    }
}

impl<S: Programmable> Output<S> {
    /// The same without ids, indexes, tokens and instants: what a deterministic program does again, whatever they are called.
    pub(super) fn blank(mut self, kind: AnyKind<S>) -> Self {
        match &mut self {
            Output::End(head, _) => *head = kind.visited(head, &mut Blank).unwrap_or_default(),
            Output::Begin(_, What::Request(request)) | Output::Send(request) => request.visit(&mut Blank),
            Output::Enter(token, _) => *token = Token::NONE,
            Output::Begin(_, What::Write(_, compared)) | Output::Write(_, compared) => match compared {
                Compared::Token(token) => *token = Token::NONE,
                Compared::Version(version) => *version = Version::default(),
            },
            Output::Spawn(kind, head) => *head = kind.visited(head, &mut Blank).unwrap_or_default(),
            Output::Begin(_, What::DeadlineAfter(time, _)) => time.visit(&mut Blank),
            Output::Set(value) | Output::Post(value) => value.visit(&mut Blank),
            Output::Begin(..)
            | Output::Drop(_)
            | Output::Leave(_)
            | Output::Work(_)
            | Output::Lease(_)
            | Output::LeaseBefore(_)
            | Output::Renewed
            | Output::Stop(_)
            | Output::Panic(_) => {}
        }
        self
    }
}

/// What a run does, in words.
impl<S: Programmable> fmt::Display for Output<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Output::Begin(_, what) => what.fmt(f),
            Output::Drop(operation) => write!(f, "drop what was begun as [{operation}]"),
            Output::Enter(_, Permit::Lock) => f.write_str("enter"),
            Output::Enter(_, Permit::OneOf(slots)) => write!(f, "enter with one of {slots} slots"),
            Output::Enter(_, Permit::Slot(slot)) => write!(f, "enter with slot {slot}"),
            Output::Work(true) => f.write_str("begin to change the number of slots"),
            Output::Work(false) => f.write_str("change the number of slots no more"),
            Output::Leave(why) => write!(f, "leave: {why}"),
            Output::Lease(Some(deadline)) => write!(f, "the lease ends with [{deadline}]"),
            Output::Lease(None) => f.write_str("no lease"),
            Output::LeaseBefore(deadline) => write!(f, "the lease ends before [{deadline}]"),
            Output::Renewed => f.write_str("it is renewed"),
            Output::Write(target, _) => write!(f, "send: {target}"),
            Output::Send(request) => write!(f, "send: {request}"),
            Output::Spawn(kind, _) => write!(f, "spawn {}", kind.name),
            Output::Stop(name) => write!(f, "stop {name}"),
            Output::Set(value) => write!(f, "set the cell {value}"),
            Output::Post(value) => write!(f, "post {value}"),
            Output::End(head, Ok(Lap::Again)) => write!(f, "end the lap, and begin another with {head}"),
            Output::End(head, Ok(Lap::Done)) => write!(f, "end the lap, and be done with {head}"),
            Output::End(_, Err(Gone)) => f.write_str("give up"),
            Output::Panic(message) => write!(f, "panic: {message}"),
        }
    }
}

impl<S: Programmable> fmt::Display for What<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Request(request) => write!(f, "ask: {request}"),
            What::Listen => f.write_str("wait for an answer"),
            What::Write(target, _) => target.fmt(f),
            What::Read => f.write_str("read the version of the resource"),
            What::ReadKey(key) => write!(f, "read the version of key {key}"),
            What::Item(true) => f.write_str("take an item"),
            What::Item(false) => f.write_str("ask which item is next"),
            What::Sleep(length) => write!(f, "sleep for {length}"),
            What::Deadline(length) => write!(f, "open a deadline in {length}"),
            What::WallTime => f.write_str("read the wall clock"),
            What::DeadlineAfter(_, length) => write!(f, "open a deadline {length} after a reading of a wall clock"),
            What::Until(deadline) => write!(f, "wait for deadline [{deadline}]"),
            What::IsOver(deadline) => write!(f, "is deadline [{deadline}] over?"),
            What::HasCome(deadline) => write!(f, "has deadline [{deadline}] come?"),
            What::Unique => f.write_str("make up an id"),
            What::Random(options) => write!(f, "draw a number below {options}"),
            What::User => f.write_str("wait for the user"),
            What::Verification => f.write_str("wait for a user who asks for a verification"),
            What::Ended(name) => write!(f, "wait for the end of {name}"),
            What::Cell(name) => write!(f, "read the cell {name}"),
            What::Change(name) => write!(f, "wait until the cell {name} is set"),
            What::Message(name) => write!(f, "wait for a message {name}"),
            What::LeaseEnd => f.write_str("wait for the end of the lease"),
            What::LeaseIsOver => f.write_str("is the lease over?"),
            What::LeaseHasCome => f.write_str("has the end of the lease come?"),
        }
    }
}

impl<S: Programmable> fmt::Display for Outcome<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Answer(answer) => answer.fmt(f),
            Outcome::Version(version) => version.fmt(f),
            Outcome::Is(is) => write!(f, "{is}"),
            Outcome::Over => f.write_str("the time is up"),
            Outcome::Chosen(option) => write!(f, "the number is {option}"),
            Outcome::User(UserCommand::Acquire) => f.write_str("the user wants the lock"),
            Outcome::User(UserCommand::Write) => f.write_str("the user wants to write"),
            Outcome::User(UserCommand::Release) => f.write_str("the user gives the lock back"),
            Outcome::Ended => f.write_str("the task has ended"),
            Outcome::Unique(_) => f.write_str("an id that is not in use"),
            Outcome::Item(Some(item)) => item.fmt(f),
            Outcome::Item(None) => f.write_str("no item is left"),
            Outcome::WallTime(_) => f.write_str("a reading of the wall clock"),
            Outcome::Shared(Some(value)) => value.fmt(f),
            Outcome::Shared(None) => f.write_str("the cell is not set"),
        }
    }
}
