//! One channel: which request an answer of the broker belongs to.

use std::collections::{BTreeMap, VecDeque};

use amq_protocol::protocol::AMQPClass;
use amq_protocol::protocol::basic::AMQPMethod as Basic;
use amq_protocol::protocol::channel::AMQPMethod as Channel;
use amq_protocol::protocol::confirm::AMQPMethod as Confirm;
use amq_protocol::protocol::queue::AMQPMethod as Queue;
use fencepost_amqp::{BrokerError, answer, problem};
use fencepost_model::ids::Call;
use fencepost_rabbitmq::{Answer, Request};

/// What is under way on a channel.
#[derive(Debug)]
pub(super) struct ChannelCalls {
    /// Requests in the order in which they went, those without an answer among them: the broker may refuse them, too.
    asked: VecDeque<(Call, Request)>,
    /// How many publishes went on it since it was opened.
    published: u64,
    /// Publishes that are to be confirmed, by their number: whether the message was returned.
    unconfirmed: BTreeMap<u64, (Call, Request, bool)>,
    confirms: bool,
}

impl ChannelCalls {
    /// A channel on which publishes are confirmed, or not.
    pub(super) fn new(confirms: bool) -> Self {
        ChannelCalls { asked: VecDeque::new(), published: 0, unconfirmed: BTreeMap::new(), confirms }
    }

    /// A request goes to the broker.
    pub(super) fn ask(&mut self, call: Call, request: Request) {
        if let Request::OpenChannel { confirms } = request {
            *self = ChannelCalls::new(confirms);
        }
        let publishes =
            matches!(request, Request::Publish { .. } | Request::PublishImmediate(_) | Request::PublishNowhere);
        if publishes && self.confirms {
            self.published += 1;
            self.unconfirmed.insert(self.published, (call, request, false));
        } else {
            self.asked.push_back((call, request));
        }
    }

    /// What a method of the broker answers, to which calls.
    ///
    /// # Errors
    /// The model has no name for it.
    pub(super) fn hear(&mut self, class: &AMQPClass) -> Result<Vec<(Call, Answer)>, BrokerError> {
        match class {
            AMQPClass::Channel(Channel::Close(close)) => {
                let why = Answer::Error(problem(close.reply_code, close.reply_text.as_str())?);
                let blamed = self.blamed(close.class_id, close.method_id);
                // What followed it is never answered (R-Q-31).
                *self = ChannelCalls::new(false);
                Ok(blamed.map(|call| (call, why)).into_iter().collect())
            }
            AMQPClass::Channel(Channel::CloseOk(_)) => {
                let closed = self.asked.iter().find(|(_, request)| *request == Request::CloseChannel).copied();
                *self = ChannelCalls::new(false);
                Ok(closed.map(|(call, _)| (call, Answer::ChannelClosed)).into_iter().collect())
            }
            AMQPClass::Basic(Basic::Return(_)) => Ok(self.returned()),
            AMQPClass::Basic(Basic::Ack(ack)) => Ok(self.confirmed(ack.delivery_tag, ack.multiple, Answer::Confirmed)),
            AMQPClass::Basic(Basic::Nack(nack)) => Ok(self.confirmed(nack.delivery_tag, nack.multiple, Answer::Nacked)),
            other => {
                let place = self.asked.iter().position(|(_, request)| is_answered_by(request, other));
                let Some(place) = place else { return Ok(Vec::new()) };
                // What was asked before it has no answer.
                let (call, request) = self.asked.drain(..=place).next_back().expect("one at least");
                let said = match request {
                    Request::OpenChannel { .. } => Some(Answer::Opened),
                    _ => answer(&request, other, false)?,
                };
                Ok(said.map(|said| (call, said)).into_iter().collect())
            }
        }
    }

    /// The request that made the broker close the channel or the connection: the first of that method.
    pub(super) fn blamed(&self, class: u16, method: u16) -> Option<Call> {
        let unconfirmed = self.unconfirmed.values().map(|(call, request, _)| (call, request));
        let mut all = self.asked.iter().map(|(call, request)| (call, request)).chain(unconfirmed);
        all.find(|(_, request)| numbers(request) == (class, method)).map(|(call, _)| *call)
    }

    /// R-Q-17: a message is returned before it is confirmed, in the order of the publishes.
    fn returned(&mut self) -> Vec<(Call, Answer)> {
        let is_mandatory = |request: &Request| matches!(request, Request::Publish { mandatory: true, .. });
        let mut unconfirmed = self.unconfirmed.values_mut();
        if let Some((.., is_returned)) = unconfirmed.find(|(_, request, returned)| !returned && is_mandatory(request)) {
            *is_returned = true;
            return Vec::new();
        }
        let place = self.asked.iter().position(|(_, request)| is_mandatory(request));
        let call = place.and_then(|place| self.asked.remove(place)).map(|(call, _)| call);
        call.map(|call| (call, Answer::Returned { confirmed: false })).into_iter().collect()
    }

    fn confirmed(&mut self, tag: u64, multiple: bool, said: Answer) -> Vec<(Call, Answer)> {
        let first = if multiple { 0 } else { tag };
        let tags: Vec<u64> = self.unconfirmed.range(first..=tag).map(|(tag, _)| *tag).collect();
        let calls = tags.into_iter().filter_map(|tag| self.unconfirmed.remove(&tag));
        calls
            .map(|(call, _, returned)| (call, if returned { Answer::Returned { confirmed: true } } else { said }))
            .collect()
    }

    /// Every call has another number; those that nothing waits for have 0.
    pub(super) fn renumber(&mut self, numbers: &BTreeMap<Call, Call>) {
        let unconfirmed = self.unconfirmed.values_mut().map(|(call, ..)| call);
        for call in self.asked.iter_mut().map(|(call, _)| call).chain(unconfirmed) {
            *call = numbers.get(call).copied().unwrap_or(Call(0));
        }
    }
}

/// Whether the method is the success of the request.
fn is_answered_by(request: &Request, class: &AMQPClass) -> bool {
    match request {
        // The channel is as it should be when publishes on it are confirmed.
        Request::OpenChannel { confirms: true } => matches!(class, AMQPClass::Confirm(Confirm::SelectOk(_))),
        Request::OpenChannel { confirms: false } => matches!(class, AMQPClass::Channel(Channel::OpenOk(_))),
        Request::Declare { .. } | Request::Look(_) => matches!(class, AMQPClass::Queue(Queue::DeclareOk(_))),
        Request::Delete { .. } => matches!(class, AMQPClass::Queue(Queue::DeleteOk(_))),
        Request::Get(_) => matches!(class, AMQPClass::Basic(Basic::GetOk(_) | Basic::GetEmpty(_))),
        _ => false,
    }
}

/// The numbers of a request's class and method in AMQP 0-9-1.
fn numbers(request: &Request) -> (u16, u16) {
    match request {
        Request::OpenChannel { .. } => (20, 10),
        Request::CloseChannel => (20, 40),
        Request::Close => (10, 50),
        Request::Declare { .. } | Request::DeclareSilently { .. } | Request::Look(_) => (50, 10),
        Request::Delete { .. } => (50, 40),
        Request::Publish { .. } | Request::PublishImmediate(_) | Request::PublishNowhere => (60, 40),
        Request::Get(_) => (60, 70),
        Request::Ack(_) => (60, 80),
        Request::Requeue(_) => (60, 90),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amq_protocol::protocol::{basic, channel, confirm, queue};
    use fencepost_amqp::short;
    use fencepost_rabbitmq::{Name, Problem};

    const NAME: Name = Name::Slot(1);

    fn published(mandatory: bool, count: u16) -> ChannelCalls {
        let mut calls = ChannelCalls::new(true);
        (1..=count).for_each(|call| calls.ask(Call(call), Request::Publish { name: NAME, mandatory }));
        calls
    }

    fn ack(delivery_tag: u64, multiple: bool) -> AMQPClass {
        AMQPClass::Basic(Basic::Ack(basic::Ack { delivery_tag, multiple }))
    }

    fn returned() -> AMQPClass {
        let (exchange, routing_key) = (short(""), short("ours-1-A"));
        AMQPClass::Basic(Basic::Return(basic::Return {
            reply_code: 312,
            reply_text: short("NO_ROUTE"),
            exchange,
            routing_key,
        }))
    }

    fn declared() -> AMQPClass {
        let ok = queue::DeclareOk { queue: short("ours-1-A"), message_count: 3, consumer_count: 0 };
        AMQPClass::Queue(Queue::DeclareOk(ok))
    }

    fn closed(reply_code: u16, text: &str, class_id: u16, method_id: u16) -> AMQPClass {
        AMQPClass::Channel(Channel::Close(channel::Close { reply_code, reply_text: short(text), class_id, method_id }))
    }

    #[test]
    fn r_q_17_a_message_is_returned_before_it_is_confirmed() {
        let mut calls = published(true, 2);
        assert_eq!(calls.hear(&returned()), Ok(vec![]));
        assert_eq!(calls.hear(&ack(1, false)), Ok(vec![(Call(1), Answer::Returned { confirmed: true })]));
        assert_eq!(calls.hear(&ack(2, false)), Ok(vec![(Call(2), Answer::Confirmed)]));
    }

    #[test]
    fn several_publishes_are_confirmed_at_once() {
        let mut calls = published(false, 3);
        let both = vec![(Call(1), Answer::Confirmed), (Call(2), Answer::Confirmed)];
        assert_eq!(calls.hear(&ack(2, true)), Ok(both));
        assert_eq!(calls.hear(&ack(3, false)), Ok(vec![(Call(3), Answer::Confirmed)]));
    }

    #[test]
    fn r_q_19_without_confirms_only_a_return_answers_a_publish() {
        let mut calls = ChannelCalls::new(false);
        calls.ask(Call(1), Request::Publish { name: NAME, mandatory: true });
        calls.ask(Call(2), Request::Look(NAME));
        assert_eq!(calls.hear(&returned()), Ok(vec![(Call(1), Answer::Returned { confirmed: false })]));
        assert_eq!(calls.hear(&declared()), Ok(vec![(Call(2), Answer::Declared { messages: 3 })]));
    }

    #[test]
    fn a_channel_is_open_when_it_confirms() {
        let mut calls = ChannelCalls::new(false);
        calls.ask(Call(1), Request::OpenChannel { confirms: true });
        let opened = AMQPClass::Channel(Channel::OpenOk(channel::OpenOk {}));
        assert_eq!(calls.hear(&opened), Ok(vec![]));
        let confirms = AMQPClass::Confirm(Confirm::SelectOk(confirm::SelectOk {}));
        assert_eq!(calls.hear(&confirms), Ok(vec![(Call(1), Answer::Opened)]));
    }

    /// R-Q-29, R-Q-31: the broker refuses an ack, which has no answer, and is deaf to what follows it.
    #[test]
    fn r_q_31_what_is_refused_is_told_to_the_request_that_was_refused() {
        let mut calls = ChannelCalls::new(false);
        calls.ask(Call(1), Request::Ack(7));
        calls.ask(Call(2), Request::Look(NAME));
        let refused = closed(406, "PRECONDITION_FAILED - unknown delivery tag 7", 60, 80);
        assert_eq!(calls.hear(&refused), Ok(vec![(Call(1), Answer::Error(Problem::UnknownDelivery))]));
        assert_eq!(calls.hear(&declared()), Ok(vec![]));
        assert!(calls.hear(&closed(499, "STRANGE", 60, 80)).is_err());
    }

    #[test]
    fn calls_that_nothing_waits_for_lose_their_number() {
        let mut calls = ChannelCalls::new(false);
        calls.ask(Call(900), Request::Look(NAME));
        calls.ask(Call(901), Request::Look(NAME));
        calls.renumber(&BTreeMap::from([(Call(901), Call(1))]));
        assert_eq!(calls.hear(&declared()), Ok(vec![(Call(0), Answer::Declared { messages: 3 })]));
        assert_eq!(calls.hear(&declared()), Ok(vec![(Call(1), Answer::Declared { messages: 3 })]));
    }
}
