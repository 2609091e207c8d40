//! A third party: a holder sends it a sequencer with an order to write. It asks the server whether the sequencer is
//! still valid, and writes. The sessions document uses a sequencer in this way where the resource itself cannot
//! compare.

use serde::{Deserialize, Serialize};

use super::ask;
use crate::ConsulMutation;
use crate::{Answer, Consul, ConsulMessage, LOCK, Order, Request};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{Call, ClientId};
use fencepost_model::inline_array::InlineArray;
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Input, Message, Outbox};

/// An order with its call.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
struct Incoming {
    from: ClientId,
    #[normal(of = from)]
    call: Call,
    order: Order,
}

/// A third party. It carries out one order after the other.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct Verifier {
    /// The first one is being looked into.
    orders: InlineArray<Incoming, 3>,
    /// The request to the server in flight.
    asked: Option<Call>,
    #[normal(counter)]
    last: Call,
}

impl Verifier {
    pub(super) fn on(&mut self, input: Input<Consul>, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Input::Message { message: Message::Service(text), .. } = input else { return };
        match text {
            ConsulMessage::Order(from, call, _) if self.orders.len() == InlineArray::<Incoming, 3>::ROOM => {
                out.send(from.into(), ConsulMessage::OrderDone(from, call, false));
            }
            ConsulMessage::Order(from, call, order) => {
                self.orders.push(Incoming { from, call, order });
                self.look_into_next(out);
            }
            ConsulMessage::Response(to, answer) if Some(to) == self.asked => {
                self.asked = None;
                self.carry_out(answer, context, out);
                self.look_into_next(out);
            }
            _ => {}
        }
    }

    fn look_into_next(&mut self, out: &mut Outbox<Consul>) {
        if self.asked.is_none() && !self.orders.is_empty() {
            self.asked = Some(ask(&mut self.last, Request::Get(LOCK), out));
        }
    }

    /// The sequencer is valid if that session holds the key with that number.
    fn carry_out(&mut self, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let Some(&Incoming { from, call, order }) = self.orders.first() else { return };
        self.orders = self.orders[1..].iter().copied().collect();
        let is_valid = match answer {
            Answer::Found(entry) => {
                let is_holder =
                    entry.session == Some(order.session) || context.is_mutated(ConsulMutation::VerifierIgnoresHolder);
                is_holder && context.scenario.service.token(&entry) == order.token
            }
            _ => false,
        };
        if is_valid {
            out.write_for(order.tenure, order.token, None);
        } else {
            out.record(Fact::WriteRefused { client: from, token: order.token, tenure: order.tenure });
        }
        out.send(from.into(), ConsulMessage::OrderDone(from, call, is_valid));
    }

    /// Orders are in memory only.
    pub(super) fn restarted(self) -> Self {
        Verifier { last: self.last, ..Verifier::default() }
    }
}
