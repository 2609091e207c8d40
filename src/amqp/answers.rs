//! Methods from the broker as answers.

use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::basic::AMQPMethod as Basic;
use amq_protocol::protocol::channel::AMQPMethod as Channel;
use amq_protocol::protocol::confirm::AMQPMethod as Confirm;
use amq_protocol::protocol::queue::AMQPMethod as Queue;
use fencepost_rabbitmq::{Answer, Difference, Problem, Request};

use crate::BrokerError;

/// What a method from the broker says to a request, whose message may have been returned before; none: the answer is still to come.
/// Whatever ends a channel or a connection is none of these.
///
/// # Errors
/// [`BrokerError::Unknown`]: the model has no name for it.
pub fn answer(request: &Request, class: &AMQPClass, returned: bool) -> Result<Option<Answer>, BrokerError> {
    Ok(match class {
        AMQPClass::Channel(Channel::OpenOk(_)) => Some(Answer::Opened),
        AMQPClass::Confirm(Confirm::SelectOk(_)) => None,
        AMQPClass::Queue(Queue::DeclareOk(ok)) => Some(Answer::Declared { messages: ok.message_count }),
        AMQPClass::Queue(Queue::DeleteOk(ok)) => Some(Answer::Deleted { messages: ok.message_count }),
        AMQPClass::Basic(Basic::Ack(_)) if returned => Some(Answer::Returned { confirmed: true }),
        AMQPClass::Basic(Basic::Ack(_)) => Some(Answer::Confirmed),
        AMQPClass::Basic(Basic::Nack(_)) => Some(Answer::Nacked),
        AMQPClass::Basic(Basic::GetOk(ok)) => {
            let delivery = u32::try_from(ok.delivery_tag).unwrap_or(u32::MAX);
            Some(Answer::Got { delivery, messages: ok.message_count })
        }
        AMQPClass::Basic(Basic::GetEmpty(_)) => Some(Answer::Empty),
        other => return Err(BrokerError::Unknown(format!("to {request} the broker said {other:?}"))),
    })
}

/// What a reply code and its text mean.
///
/// # Errors
/// [`BrokerError::Unknown`]: the model has no name for it.
pub fn problem(code: u16, text: &str) -> Result<Problem, BrokerError> {
    let inequivalent = |argument: &str| text.contains(&format!("inequivalent arg '{argument}'"));
    let found = match code {
        403 if text.contains("reserved prefix") => Problem::Reserved,
        404 if text.contains("no queue") => Problem::NoQueue,
        404 if text.contains("no exchange") => Problem::NoExchange,
        404 if text.contains("home node") => Problem::HomeDown,
        405 if text.contains("locked queue") => Problem::Locked,
        406 if inequivalent("durable") => Problem::NotAlike(Difference::Durable),
        406 if inequivalent("auto_delete") => Problem::NotAlike(Difference::AutoDelete),
        406 if inequivalent("x-expires") => Problem::NotAlike(Difference::Expires),
        406 if inequivalent("x-max-length") => Problem::NotAlike(Difference::MaxLength),
        406 if inequivalent("x-overflow") => Problem::NotAlike(Difference::Overflow),
        406 if text.contains("not empty") => Problem::NotEmpty,
        406 if text.contains("unknown delivery tag") => Problem::UnknownDelivery,
        504 if text.contains("expected 'channel.open'") => Problem::NotOpen,
        504 if text.contains("second 'channel.open'") => Problem::OpenTwice,
        540 => Problem::NotImplemented,
        320 => Problem::Forced,
        _ => return Err(BrokerError::Unknown(format!("the broker said {code} {text}, which the model does not know"))),
    };
    Ok(found)
}
