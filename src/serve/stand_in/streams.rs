//! Answers that go on message by message: a stream is open until its client goes away, or the server does.

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
        let Some(Waiting::Streams { journey, delay, messages }) = self.waiting.get_mut(&ticket) else { return };
        self.judge.answered(self.now, journey, &message);
        if *delay > 0 {
            messages.push_back((self.now.saturating_add(*delay), message));
            return;
        }
        let journey = journey.clone();
        self.hear(&journey, message, RequestOutcome::Message);
    }

    /// The first of the messages that are under way arrives.
    pub(super) fn message_arrives(&mut self, journey: Journey, delay: i64, mut messages: VecDeque<(i64, Answer)>) {
        if let Some((_, message)) = messages.pop_front() {
            self.hear(&journey, message, RequestOutcome::Message);
        }
        self.waiting.insert(journey.ticket, Waiting::Streams { journey, delay, messages });
    }
}
