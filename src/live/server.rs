//! What a round has to know of a real server.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::time::Duration;

use fencepost_model::ids::{Call, ClientId};
use fencepost_model::program::Programmable;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use crate::LiveError;

/// A real server at which recipes of a service run.
pub trait LiveServer {
    /// The service whose recipes run there.
    type Service: Programmable;
    /// What one client says and hears.
    type Conversation: Conversation<Service = Self::Service>;

    /// The length of a tick.
    fn tick(&self) -> Duration;

    /// Which client this is.
    fn client(&self) -> ClientId;

    /// The scenario of a round, with what is true of every server of this kind.
    fn prepare(&self, scenario: Scenario<Self::Service>) -> Scenario<Self::Service> {
        scenario
    }

    /// Begins the conversation of one round.
    fn converse(&self, post: Post<<Self::Conversation as Conversation>::Heard>) -> Self::Conversation;
}

/// What one client says to a server and hears from it.
pub trait Conversation {
    /// The service.
    type Service: Service;
    /// What other threads have heard from the server.
    type Heard: Send + 'static;

    /// Sends what the program sends.
    ///
    /// # Errors
    /// The server has no request like that, or nothing can be sent to it any more.
    fn send(&mut self, message: <Self::Service as Service>::Message) -> Result<(), LiveError>;

    /// What the program is told of what was heard.
    ///
    /// # Errors
    /// The model has no name for it.
    fn hear(&mut self, heard: Self::Heard) -> Result<Vec<<Self::Service as Service>::Message>, LiveError>;

    /// What was heard that may have made a recipe give up: a sentence.
    fn refusal(&self) -> Option<&str>;

    /// The requests that the program waits for have other numbers from now on; it does not wait for those that are not named.
    fn renumber(&mut self, numbers: &BTreeMap<Call, Call>);

    /// The round is over: nothing is sent any more but a farewell.
    fn part(&mut self) {}

    /// Whether something that was sent may not have reached the server yet.
    fn is_unfinished(&self) -> bool;
}

/// Where threads of a conversation leave what they hear.
#[derive(Debug)]
pub struct Post<H>(pub(crate) Sender<Event<H>>);

impl<H> Clone for Post<H> {
    fn clone(&self) -> Self {
        Post(self.0.clone())
    }
}

impl<H> Post<H> {
    /// Leaves it for the program, which is told at the next tick. Says whether the round still goes on.
    pub fn deliver(&self, heard: H) -> bool {
        self.0.send(Event::Heard(heard)).is_ok()
    }
}

/// What a driver waits for.
#[derive(Debug)]
pub(crate) enum Event<H> {
    /// Something came from the server.
    Heard(H),
    /// The user's code wants something of the recipe.
    UserRequest(UserRequest),
    /// The user's code has returned, or panicked.
    Finished,
}

/// What the user's code wants of the recipe.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum UserRequest {
    /// A write to the resource.
    Write,
    /// To know whether it still holds what it holds.
    Verification,
}
