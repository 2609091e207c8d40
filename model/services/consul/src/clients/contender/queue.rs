//! The way in through a queue: a key for each contender, and a listing of older keys. Some libraries omit the last
//! check, whether the client's own key still exists when its turn has come (B-26).

use super::{Contender, What};
use crate::ConsulMutation;
use crate::{Answer, Consul, Key, LOCK, Request, Target, Watch};
use fencepost_model::ids::{Index, RawId, Token};
use fencepost_model::process::{Context, Outbox};

impl Contender {
    /// The key that represents the client as holder or waiter.
    pub(super) fn own_key(&self, context: &Context<'_, Consul>) -> Key {
        match (context.scenario.service.queue, self.session) {
            (Some(_), Some(session)) => Key::Contender(session.id),
            _ => LOCK,
        }
    }

    pub(super) fn line_up(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.call(What::LineUp, Request::Before(Index::numbered(self.stake.raw())), context, out);
    }

    pub(super) fn hear_in_line(
        &mut self,
        what: What,
        answer: Answer,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        let rechecks = context.scenario.service.queue.is_some_and(|queue| queue.rechecks)
            && !context.is_mutated(ConsulMutation::RecheckForgotten);
        match (what, answer) {
            (What::LineUp, Answer::Before(Some(_))) if context.is_mutated(ConsulMutation::QueueJumped) => {
                self.enter(self.stake, context, out);
            }
            (What::LineUp, Answer::Before(Some((session, index)))) => {
                let watch = Watch { target: Target::Key(Key::Contender(session)), index, wait: None };
                self.call(What::AwaitTurn, Request::Watch(watch), context, out);
            }
            (What::LineUp, Answer::Before(None)) if rechecks => {
                let key = self.own_key(context);
                self.call(What::Recheck, Request::Get(key), context, out);
            }
            (What::LineUp, Answer::Before(None)) => self.enter(self.stake, context, out),
            (What::Recheck, Answer::Found(entry)) if self.is_mine(&entry) => self.enter(self.stake, context, out),
            // Its session has ended, and its position in the queue with it.
            (What::Recheck, Answer::Found(_) | Answer::Absent) => {
                (self.session, self.stake) = (None, Token::NONE);
                self.wait(context);
            }
            (What::AwaitTurn, Answer::Found(_) | Answer::Absent) => self.line_up(context, out),
            _ => self.wait(context),
        }
    }
}
