//! A channel as its client knows it.

use std::collections::VecDeque;

use fencepost_rabbitmq::{Answer, Request};

use super::client::strange;
use super::log::Happening;
use super::method::{Method, Reply, Verb};
use crate::ConformError;

/// What a client knows of a channel.
pub(super) struct Side {
    pub life: SideLife,
    pub confirms: bool,
    pub prefetch: u16,
    /// Deliveries that it has not settled.
    pub unsettled: Vec<u64>,
    /// Its consumers' tags.
    pub consumers: Vec<u8>,
    /// Those of the consumers that it has had, since the channel was opened.
    pub had: Vec<u8>,
    /// Those of consumers whose deliveries are not to be settled.
    pub no_acks: Vec<u8>,
    /// What was sent and has not been followed by an answer to a later method: place in the log, and method.
    pub sent: VecDeque<(usize, Method)>,
    /// Publishes that await a confirm: number, place in the log, body.
    pub unconfirmed: Vec<(u64, usize, u32)>,
    /// The bodies of messages that have been returned and not confirmed yet.
    pub returned: Vec<u32>,
    pub published: u64,
}

/// A channel as its client knows it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum SideLife {
    Closed,
    Open,
    /// The broker has closed it.
    Broken,
}

impl Side {
    pub(super) fn new(life: SideLife, confirms: bool) -> Self {
        Side {
            life,
            confirms,
            prefetch: 0,
            unsettled: Vec::new(),
            consumers: Vec::new(),
            had: Vec::new(),
            no_acks: Vec::new(),
            sent: VecDeque::new(),
            unconfirmed: Vec::new(),
            returned: Vec::new(),
            published: 0,
        }
    }

    /// The tags of its consumers, and of those that it has asked for.
    pub(super) fn taken(&self) -> Vec<u8> {
        let asked = self.sent.iter().filter_map(|(_, method)| match method {
            Method::Consume { tag, .. } => Some(*tag),
            _ => None,
        });
        self.consumers.iter().copied().chain(asked).collect()
    }

    /// The tags of consumers that it has not asked to cancel.
    pub(super) fn consuming(&self) -> Vec<u8> {
        let is_left = |tag: &&u8| self.sent.iter().all(|(_, method)| *method != Method::Cancel(**tag));
        self.consumers.iter().filter(is_left).copied().collect()
    }

    /// Whether what arrives on it was sent on a channel that has ended: after its close, and before the next one is open (R-Q-103).
    pub(super) fn is_stale(&self) -> bool {
        let opens =
            |method: &Method| matches!(method, Method::Reopen { .. } | Method::Plain(Request::OpenChannel { .. }));
        self.life != SideLife::Open || self.sent.iter().any(|(_, method)| opens(method))
    }

    /// A consumer is there.
    pub(super) fn consumes(&mut self, tag: u8) {
        self.consumers.push(tag);
        self.had.push(tag);
    }

    /// Whether a delivery was sent on a channel that has ended. Its end and the next channel of the number are written by two processes of the
    /// broker: a delivery may even follow the answer that the next one is open (R-Q-103).
    pub(super) fn is_stale_delivery(&self, consumer: u8) -> bool {
        self.is_stale() || !self.had.contains(&consumer)
    }

    /// Whether it has asked for a consumer and has no answer yet.
    pub(super) fn awaits_consumer(&self) -> bool {
        self.sent.iter().any(|(_, method)| matches!(method, Method::Consume { .. }))
    }

    /// Whether nothing is awaited on it.
    pub(super) fn is_quiet(&self) -> bool {
        self.unconfirmed.is_empty() && !self.sent.iter().any(|(_, method)| method.is_answered())
    }

    /// Whether the last method will not be answered if all is well.
    pub(super) fn needs_fence(&self) -> bool {
        self.life == SideLife::Open && self.sent.back().is_some_and(|(_, method)| !method.is_answered())
    }

    /// An answer belongs to the first method that awaits one. Consume-ok and cancel-ok come from the queue: answers to later methods may
    /// overtake them (R-Q-97).
    pub(super) fn answered(
        &mut self,
        channel: u8,
        reply: Reply,
        of_consumer: Option<u8>,
    ) -> Result<(u8, Happening), ConformError> {
        let fits = |(_, method): &(usize, Method)| match (*method, of_consumer) {
            (Method::Consume { tag, .. }, Some(other)) => reply == Reply::ConsumeOk && tag == other,
            (Method::Cancel(tag), Some(other)) => reply == Reply::CancelOk && tag == other,
            (Method::Consume { .. } | Method::Cancel(_), None) | (_, Some(_)) => false,
            (method, None) => method.is_answered(),
        };
        let at = self.sent.iter().position(fits).ok_or_else(|| strange(&format!("no method explains {reply:?}")))?;
        let (place, method) = self.sent.remove(at).expect("it is there");
        // The channel has dealt with everything before it.
        if of_consumer.is_none() {
            let mut number = 0;
            self.sent.retain(|(_, method)| {
                number += 1;
                number > at || method.is_answered()
            });
        }
        // A message that was got without an acknowledgement is not to be settled.
        if let (Method::Get { no_ack: true, .. }, Reply::Got { tag, .. }) = (method, reply) {
            self.unsettled.retain(|other| *other != tag);
        }
        Ok((channel, Happening::Answered { to: place + 1, reply }))
    }

    pub(super) fn confirm(&mut self, channel: u8, tag: u64, multiple: bool, answer: Answer) -> Vec<(u8, Happening)> {
        let mut lines = Vec::new();
        let returned = &self.returned;
        self.unconfirmed.retain(|(number, place, body)| {
            let is_meant = *number == tag || multiple && *number < tag;
            if is_meant {
                let answer = if returned.contains(body) { Answer::Returned { confirmed: true } } else { answer };
                lines.push((channel, Happening::Answered { to: place + 1, reply: Reply::Plain(answer) }));
            }
            !is_meant
        });
        lines
    }

    /// The method for which the broker has closed the channel: the first of its kind that has no answer.
    pub(super) fn blamed(&self, (class, method): (u16, u16), text: &str) -> Option<usize> {
        let is_meant = |sent: &Method| match sent {
            Method::Plain(Request::Declare { .. } | Request::Look(_)) => (class, method) == (50, 10),
            Method::Plain(Request::Delete { .. }) => (class, method) == (50, 40),
            Method::Purge(_) => (class, method) == (50, 30),
            Method::Consume { .. } => (class, method) == (60, 20),
            Method::Publish { .. } => (class, method) == (60, 40),
            Method::Get { .. } => (class, method) == (60, 70),
            Method::Settle { verb, tag, .. } => {
                let number = match verb {
                    Verb::Ack => 80,
                    Verb::Reject => 90,
                    Verb::Nack => 120,
                };
                (class, method) == (60, number) && text.ends_with(&format!("delivery tag {tag}"))
            }
            _ => false,
        };
        self.sent.iter().find(|(_, sent)| is_meant(sent)).map(|(place, _)| *place)
    }
}

#[cfg(test)]
mod tests {
    use super::{Side, SideLife};

    /// Seen on a real broker: behind channel.open-ok came a delivery with tag 2, to a consumer of the channel that had ended.
    #[test]
    fn r_q_103_a_delivery_of_a_former_channel_may_follow_the_opening_of_the_next_one() {
        let mut side = Side::new(SideLife::Open, true);
        assert!(side.is_stale_delivery(1));
        side.consumes(1);
        assert!(!side.is_stale_delivery(1));
        // What is delivered behind cancel-ok is the channel's own.
        side.consumers.clear();
        assert!(!side.is_stale_delivery(1) && side.is_stale_delivery(2));
    }
}
