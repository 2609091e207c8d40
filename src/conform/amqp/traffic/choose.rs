//! What is wanted on a channel becomes a method on what its client knows.

use fencepost_rabbitmq::Request;

use super::draw::{How, Wanted};
use super::method::{Method, Verb};
use super::side::Side;

impl Side {
    /// The method that is wanted, with the body of the next message; none: there is nothing to do it to.
    pub(super) fn choose(&self, wanted: &Wanted, body: u32) -> Option<Method> {
        let settle = |how: How, tag: u64, multiple: bool| {
            let (verb, requeue) = match how {
                How::Ack => (Verb::Ack, false),
                How::Nack { requeue } => (Verb::Nack, requeue),
                How::Reject { requeue } => (Verb::Reject, requeue),
            };
            Method::Settle { verb, tag, multiple: multiple && verb != Verb::Reject, requeue }
        };
        Some(match *wanted {
            Wanted::Declare(name, shape) => Method::Plain(Request::Declare { name, shape }),
            Wanted::Look(name) => Method::Plain(Request::Look(name)),
            Wanted::Delete(name, if_empty) => Method::Plain(Request::Delete { name, if_empty }),
            Wanted::Publish { name, mandatory, expiration, persistent } => {
                Method::Publish { name, body, mandatory, expiration, persistent }
            }
            Wanted::Get { name, no_ack } => Method::Get { name, no_ack },
            Wanted::Settle { which, how, multiple } => {
                let tag = self.unsettled.get(which % self.unsettled.len().max(1))?;
                settle(how, *tag, multiple)
            }
            Wanted::SettleUnknown(how) => settle(how, 9_999, false),
            Wanted::Recover => Method::Recover,
            Wanted::Qos(prefetch) => Method::Qos(prefetch),
            // Which of several was refused, the broker does not say.
            Wanted::Consume { .. } if self.awaits_consumer() => return None,
            Wanted::Consume { name, no_ack, exclusive } => {
                let taken = self.taken();
                let tag = (1..).find(|tag| !taken.contains(tag))?;
                Method::Consume { name, tag, no_ack, exclusive }
            }
            Wanted::ConsumeAgain(name) => {
                let tag = *self.consumers.first()?;
                Method::Consume { name, tag, no_ack: false, exclusive: false }
            }
            Wanted::Cancel(which) => {
                let consuming = self.consuming();
                Method::Cancel(consuming.get(which % consuming.len().max(1)).copied().unwrap_or(77))
            }
            Wanted::Purge(name) => Method::Purge(name),
            Wanted::CloseChannel => Method::Plain(Request::CloseChannel),
            Wanted::Close => Method::Plain(Request::Close),
            Wanted::OpenUnconfirmed | Wanted::HangUp => return None,
        })
    }
}
