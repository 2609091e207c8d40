//! Clients at other places.

use fencepost_model::ids::ClientId;
use fencepost_model::inline_vec::InlineVec;

/// For each place, the client that stands there afterwards.
pub(super) type Order = InlineVec<u16, 4>;

/// A place as an order has it.
pub(super) fn place_of(place: usize) -> u16 {
    u16::try_from(place).expect("scenarios are limited to 65,534 clients")
}

/// Names as one client sees them: itself, and others.
pub(super) fn seen_by(me: usize) -> impl Fn(ClientId) -> ClientId {
    move |client| if client.place() == me { ClientId(1) } else { ClientId(2) }
}
