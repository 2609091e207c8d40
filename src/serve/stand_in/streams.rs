//! Answers that go on message by message: a stream is open until its client goes away, or the server does, or the answer is complete.

use std::collections::VecDeque;

use super::{Answer, Backend, Fate, Journey, RequestOutcome, StandIn, Ticket, Waiting};

impl<B: Backend> StandIn<B> {
    /// The answer to a request goes on from here; none: its client hears nothing of it, or something else.
    pub(crate) fn begin_stream(&mut self, mut journey: Journey) -> Option<Ticket> {
        let ticket = journey.ticket;
        let delay = match std::mem::replace(&mut journey.fate, Fate::Answered) {
            Fate::Answered => 0,
            Fate::Delayed(by) => by,
            Fate::Lost => {
                self.lose(&journey, RequestOutcome::Close);
                return None;
            }
            Fate::Instead(other) => {
                self.finish(journey, other);
                return None;
            }
        };
        self.waiting.insert(ticket, Waiting::Streams { journey, delay, messages: VecDeque::new() });
        Some(ticket)
    }

    /// The server says something on a stream that is open.
    pub(crate) fn send_message(&mut self, ticket: Ticket, message: Answer) {
        self.send_on(ticket, Some(message));
    }

    /// The server has said everything that it says on a stream.
    pub(crate) fn end_stream(&mut self, ticket: Ticket) {
        self.send_on(ticket, None);
    }

    /// A message, or the end of a stream.
    fn send_on(&mut self, ticket: Ticket, message: Option<Answer>) {
        let Some(Waiting::Streams { journey, delay, messages }) = self.waiting.get_mut(&ticket) else { return };
        self.judge.answered(self.now, journey, message.as_ref().unwrap_or(&Answer::complete()));
        if *delay > 0 {
            messages.push_back((self.now.saturating_add(*delay), message));
            return;
        }
        let journey = journey.clone();
        self.hear_on(&journey, message);
    }

    /// A message arrives, or the end of a stream.
    fn hear_on(&mut self, journey: &Journey, message: Option<Answer>) {
        match message {
            Some(message) => self.hear(journey, message, RequestOutcome::Message),
            None => {
                self.waiting.remove(&journey.ticket);
                self.hear(journey, Answer::complete(), |_| RequestOutcome::End);
            }
        }
    }

    /// The first of the messages that are under way arrives.
    pub(super) fn message_arrives(
        &mut self,
        journey: Journey,
        delay: i64,
        mut messages: VecDeque<(i64, Option<Answer>)>,
    ) {
        let first = messages.pop_front();
        self.waiting.insert(journey.ticket, Waiting::Streams { journey: journey.clone(), delay, messages });
        if let Some((_, message)) = first {
            self.hear_on(&journey, message);
        }
    }
}
