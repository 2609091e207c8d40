//! What the messages of Consul's clients ask and answer, for executions that are repeated in exact durations.

use std::mem::{Discriminant, discriminant};

use fencepost_consul::{Answer, Consul, ConsulMessage, Request};
use fencepost_model::process::Message;

pub(super) fn is_created(message: &Message<Consul>) -> bool {
    matches!(message, Message::Service(ConsulMessage::Response(_, Answer::Created(_))))
}

/// What a message asks or answers.
pub(super) fn kind(
    message: &Message<Consul>,
) -> (u8, Option<Discriminant<Request>>, Option<Discriminant<Answer>>, bool) {
    match message {
        Message::Service(ConsulMessage::Request(_, request)) => (0, Some(discriminant(request)), None, false),
        Message::Service(ConsulMessage::Response(_, answer)) => {
            (1, None, Some(discriminant(answer)), *answer == Answer::Done(true))
        }
        Message::Write(_) => (2, None, None, false),
        Message::Written { accepted, .. } => (3, None, None, *accepted),
        Message::Service(ConsulMessage::Order(..) | ConsulMessage::OrderDone(..))
        | Message::Read(_)
        | Message::ReadKey { .. }
        | Message::Version { .. }
        | Message::NextItem { .. }
        | Message::QueueItem { .. } => (4, None, None, false),
    }
}

/// Whether a message is a read of a key or of a listing, or the answer to one.
pub(super) fn is_of_read(message: &Message<Consul>) -> bool {
    match message {
        Message::Service(ConsulMessage::Request(_, request)) => {
            request.watch().is_some()
                || matches!(
                    request,
                    Request::Get(_) | Request::GetConsistent(_) | Request::List | Request::Keys(_) | Request::Tree(_)
                )
        }
        Message::Service(ConsulMessage::Response(_, answer)) => {
            matches!(answer, Answer::Found(_) | Answer::Absent | Answer::Listed(_) | Answer::Keys(_) | Answer::Tree(_))
        }
        _ => false,
    }
}
