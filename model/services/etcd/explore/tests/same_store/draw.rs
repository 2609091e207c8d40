//! Random steps. Keys and leases are few, so that they meet.

use fencepost_checker::laws::Draw;
use fencepost_etcd::{Compare, EtcdValue, EventCursor, Key, KeyRange, Operation, OperatorKind, Request};
use fencepost_model::ids::{ClientId, Index, RawId, Tenure};
use fencepost_model::time::Ticks;

use super::names::{index, keys, leases, path};
use super::pair::{Pair, StoreStep};

impl Pair {
    /// A step that changes something, or one that is refused.
    pub(super) fn draw(&mut self, draw: &mut Draw) -> StoreStep {
        let queue = self.waiting();
        let now = index(self.mvcc.revision());
        let client = ClientId(1 + u16::try_from(draw.below(3)).expect("it is below 3"));
        let pick = |draw: &mut Draw, count: usize| usize::try_from(draw.below(count as u64)).expect("it is small");
        let lease = leases().nth(pick(draw, 6)).expect("there are six");
        let key = match draw.below(4) {
            0 => Key::Below(lease),
            1 => keys().nth(pick(draw, 13)).expect("there are thirteen"),
            _ => Key::Of(lease),
        };
        let created = match queue.iter().find(|entry| entry.key == path(key)) {
            Some(entry) if draw.below(4) > 0 => index(entry.created),
            _ => Index::numbered(
                u32::try_from(draw.below(2) * draw.below(u64::from(now.raw()) + 1)).expect("it is small"),
            ),
        };
        let compare = Compare { key, created };
        let value = EtcdValue::Number(u8::try_from(draw.below(3)).expect("it is small"));
        let request = match draw.below(32) {
            0..4 => Request::Grant(lease, Ticks::new(3)),
            4..6 => Request::Renew(lease),
            6 => Request::Revoke(lease),
            7..13 => Request::Txn(compare, Operation::Put(lease)),
            13 => Request::Txn(compare, Operation::Delete),
            14 => Request::Txn(compare, Operation::Write(Tenure::default())),
            15..17 => Request::Newest(Index::numbered(
                1 + u32::try_from(draw.below(u64::from(now.raw()) + 2)).expect("it is small"),
            )),
            17 => Request::Get(key),
            18..20 if !self.seen.is_empty() => {
                let (key, from) = self.seen[pick(draw, self.seen.len())];
                Request::Watch(key, from)
            }
            18..20 => Request::Get(key),
            20 => Request::Delete(key),
            21 => Request::Holder,
            22 => return self.draw_operator(draw).map_or(StoreStep::Pass(1), StoreStep::Operate),
            23..25 => Request::Txn(compare, Operation::PutValue(lease, value)),
            25 => Request::Put(key, (draw.below(3) > 0).then_some(lease), value),
            26 => Request::First { serializable: draw.below(2) == 0 },
            27..30 => return StoreStep::Ask(client, self.draw_follow(draw, client, key)),
            _ if draw.below(2) == 0 => return StoreStep::Expire,
            _ => return StoreStep::Pass(1 + i64::try_from(draw.below(2)).expect("it is small")),
        };
        StoreStep::Ask(client, request)
    }

    /// A watch of events: from any revision, or from the last event that this client was shown.
    fn draw_follow(&self, draw: &mut Draw, client: ClientId, key: Key) -> Request {
        if let Some((range, cursor)) = self.follows.last.get(&client).filter(|_| draw.below(3) > 0) {
            return Request::Follow(*range, *cursor);
        }
        let range = if draw.below(2) == 0 { KeyRange::One(key) } else { KeyRange::Prefix };
        let now = u64::try_from(self.mvcc.revision()).expect("it is positive");
        let from = u32::try_from(draw.below(now + 2)).expect("it is small");
        Request::Follow(range, EventCursor::at(Index::numbered(from)))
    }

    /// What an operator can do here: `can_operate` is not public.
    fn draw_operator(&mut self, draw: &mut Draw) -> Option<OperatorKind> {
        let queue = self.waiting();
        let (held, next) = (queue.first(), queue.get(1));
        let kinds = [
            (OperatorKind::DeleteHeld, held.is_some()),
            (OperatorKind::DeleteWaiting, next.is_some()),
            (OperatorKind::RevokeHeld, held.is_some_and(|entry| entry.lease != 0)),
            (OperatorKind::RevokeWaiting, next.is_some_and(|entry| entry.lease != 0)),
            (OperatorKind::Detach, held.is_some_and(|entry| entry.lease != 0)),
            (OperatorKind::PutStranger, queue.iter().all(|entry| entry.key != path(Key::Stranger))),
            (OperatorKind::Compact, self.mvcc.revision() > 1),
        ];
        let possible: Vec<OperatorKind> = kinds.iter().filter(|(_, may)| *may).map(|(kind, _)| *kind).collect();
        let count = possible.len() as u64;
        (count > 0).then(|| possible[usize::try_from(draw.below(count)).expect("it is small")])
    }
}
