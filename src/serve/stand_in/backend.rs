//! What distinguishes the servers that a stand-in can be. Faults, clocks, clients and what a test asks are the same for all of them.

use std::fmt::Debug;

use fencepost_conform::HttpRequest;

use super::{Answer, Journey, StandIn, Ticket};
use crate::faults::ServerEvent;
use crate::judge::{LeaseRun, Misuse, Violated};
use crate::settings::Settings;

/// A server that a stand-in can be.
pub trait Backend: Clone + Debug + Sized {
    /// As the command line and fault plans call it.
    const NAME: &'static str;
    /// The most bytes of a body that are read at all.
    const BODY_MAX: usize;
    /// The instants to which a test may let time pass by name, as errors list them.
    const INSTANTS: &'static str;
    /// What it does by itself.
    type Due: Clone + Ord + Debug;
    /// The run, written down.
    type Record: RunRecord;
    /// What is seen of clients in their requests.
    type Witness: Witness;

    /// With an empty store.
    fn new(settings: &Settings) -> Self;

    /// A request reaches the server.
    fn carry_out(stand_in: &mut StandIn<Self>, journey: Journey);

    /// An event happens just before a request is carried out.
    fn happen(stand_in: &mut StandIn<Self>, event: ServerEvent, journey: &Journey);

    /// Everything that comes by itself, as far as it is known now.
    fn agenda(stand_in: &StandIn<Self>) -> Vec<(i64, Self::Due)>;

    /// Something that was due comes.
    fn come(stand_in: &mut StandIn<Self>, due: Self::Due);

    /// The client of a request that the server holds has gone.
    fn gone(_stand_in: &mut StandIn<Self>, _ticket: Ticket) {}

    /// What comes, as a sentence.
    fn told(&self, due: &Self::Due) -> String;

    /// An instant to which a test lets time pass by its name; none: there is no such name.
    fn instant(stand_in: &StandIn<Self>, name: &str) -> Option<Result<i64, String>>;

    /// The client, or the name, that holds a lock by record.
    fn holder(stand_in: &mut StandIn<Self>, key: &str) -> Option<String>;

    /// An error, as this server writes it.
    fn error(status: u16, why: &str) -> Answer;

    /// All that may differ between two of them with the same settings: they are equal if this is written in the same way.
    fn state(&self) -> impl Debug + '_;

    /// What a verdict rests on besides the clock and the seed.
    fn assumptions(settings: &Settings) -> Vec<String>;
}

/// A run, written down.
pub trait RunRecord: Clone + Debug {
    /// Nothing so far.
    fn new(settings: &Settings) -> Self;

    /// The store is empty again.
    fn begin(&mut self, settings: &Settings);

    /// A client got an answer.
    fn answered(&mut self, journey: &Journey, answer: &Answer, now: i64);

    /// A client got none: the request was carried out, or not.
    fn lost(&mut self, journey: &Journey);

    /// A client says that it is inside a key, or no longer.
    fn reported(&mut self, client: &str, key: &str, is_inside: bool, now: i64);

    /// The log; empty, if it was not kept.
    fn text(&self) -> String;
}

/// What is seen of clients in their requests.
pub trait Witness: Clone + Debug + Default {
    /// A request, as stories tell it.
    fn request(&self, question: &HttpRequest) -> String;

    /// The beginning of an answer, as stories tell it.
    fn told(&self, answer: &Answer) -> String;

    /// The key that a request acquires.
    fn acquired_key(question: &HttpRequest) -> Option<String>;

    /// A request has been answered, whether or not the answer arrives: what its client has done wrong, and what it knows now.
    fn answered(&mut self, at: i64, journey: &Journey, answer: &Answer, misuse: &mut Vec<Misuse>);

    /// The answer arrives: what the client knows now, and the promises that this breaks, each about a key.
    fn delivered(&mut self, at: i64, journey: &Journey) -> Vec<(String, Violated)>;

    /// Whether a client has been told that it has lost a key.
    fn has_lost(&self, client: &str, key: &str) -> bool;

    /// What the record says of leases, if the server has some.
    fn leases(&self) -> Option<LeaseRun>;
}
