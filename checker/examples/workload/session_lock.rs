//! The transition system `session lock`: N clients, sessions with a TTL, a lock-delay, fencing tokens, a network that loses
//! messages. Small enough to be packed, large enough to compare tools by; its exact counts are known from five of them.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use stateright::{Model, Property};

/// The most clients.
const ROOM: usize = 4;

/// The parameters, and whether the promise that does not hold is judged.
#[derive(Copy, Clone, Debug)]
pub struct SessionLock {
    /// How many clients.
    pub clients: u8,
    /// The TTL, in ticks.
    pub ttl: u8,
    /// The lock-delay, in ticks.
    pub delay: u8,
    /// The highest LockIndex.
    pub index_max: u8,
    /// Whether mutual exclusion by belief is promised. It is broken wherever `index_max` is 2 or more.
    pub is_exclusive: bool,
}

/// What a client believes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Phase {
    #[default]
    Idle,
    CreateSent,
    HaveSession,
    AcquireSent,
    Holding,
    WriteSent,
    RenewSent,
    ReleaseSent,
}

/// The one message between a client and the server.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum Net {
    #[default]
    None,
    Request,
    Ok,
    Denied,
    Invalid,
}

/// A client, its message and its session.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(align(8))]
pub struct Client {
    phase: Phase,
    net: Net,
    token: u8,
    value: u8,
    ttl: u8,
}

/// Everything that varies: 40 bytes, a word for each client and one for the rest.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[repr(align(8))]
pub struct State {
    clients: [Client; ROOM],
    holder: u8,
    delay: u8,
    index: u8,
    high: u8,
    last: u8,
}

impl Hash for State {
    /// A word for each client and one for the rest: hashing 25 small values one by one would cost more than the step.
    #[inline]
    fn hash<H: Hasher>(&self, to: &mut H) {
        for Client { phase, net, token, value, ttl } in self.clients {
            to.write_u64(u64::from_le_bytes([phase as u8, net as u8, token, value, ttl, 0, 0, 0]));
        }
        to.write_u64(u64::from_le_bytes([self.holder, self.delay, self.index, self.high, self.last, 0, 0, 0]));
    }
}

/// One transition.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Action {
    Send(u8, Phase),
    Serve(u8),
    Receive(u8),
    Lose(u8),
    Tick,
}

impl State {
    fn serve(&mut self, place: usize, model: &SessionLock) {
        let me = u8::try_from(place + 1).expect("there are few clients");
        let Client { phase, token, ttl, .. } = self.clients[place];
        let holds = self.holder == me;
        let mut value = 0;
        let answer = match phase {
            Phase::CreateSent => {
                self.clients[place].ttl = model.ttl;
                Net::Ok
            }
            Phase::WriteSent if token >= self.high => {
                (self.high, self.last) = (token, token);
                Net::Ok
            }
            Phase::WriteSent => Net::Denied,
            _ if ttl == 0 => Net::Invalid,
            Phase::AcquireSent if holds => {
                value = self.index;
                Net::Ok
            }
            Phase::AcquireSent if self.holder == 0 && self.delay == 0 && self.index < model.index_max => {
                self.holder = me;
                self.index += 1;
                value = self.index;
                Net::Ok
            }
            Phase::RenewSent => {
                self.clients[place].ttl = model.ttl;
                Net::Ok
            }
            Phase::ReleaseSent if holds => {
                self.holder = 0;
                Net::Ok
            }
            _ => Net::Denied,
        };
        (self.clients[place].net, self.clients[place].value) = (answer, value);
    }

    fn receive(&mut self, place: usize) {
        let client = &mut self.clients[place];
        let (phase, token) = match (client.phase, client.net) {
            (Phase::AcquireSent, Net::Ok) => (Phase::Holding, client.value),
            (Phase::CreateSent, _) | (Phase::AcquireSent, Net::Denied) => (Phase::HaveSession, client.token),
            (Phase::AcquireSent, _) => (Phase::Idle, client.token),
            (Phase::WriteSent | Phase::RenewSent, Net::Ok) => (Phase::Holding, client.token),
            (Phase::WriteSent, _) => (Phase::HaveSession, 0),
            _ => (Phase::Idle, 0),
        };
        *client = Client { phase, token, net: Net::None, value: 0, ttl: client.ttl };
    }

    fn lose(&mut self, place: usize) {
        let client = &mut self.clients[place];
        client.phase = match client.phase {
            Phase::CreateSent => Phase::Idle,
            Phase::AcquireSent => Phase::HaveSession,
            _ => Phase::Holding,
        };
        (client.net, client.value) = (Net::None, 0);
    }

    fn tick(&mut self, model: &SessionLock) {
        self.delay = self.delay.saturating_sub(1);
        for place in 0..ROOM {
            if self.clients[place].ttl == 0 {
                continue;
            }
            self.clients[place].ttl -= 1;
            if self.clients[place].ttl == 0 && usize::from(self.holder) == place + 1 {
                (self.holder, self.delay) = (0, model.delay);
            }
        }
    }

    fn is_sound(&self) -> bool {
        let holder = usize::from(self.holder);
        let holder_lives = holder == 0 || (self.clients[holder - 1].ttl > 0 && self.delay == 0);
        holder_lives && self.last == self.high && self.high <= self.index
    }

    fn is_exclusive(&self) -> bool {
        self.clients.iter().filter(|client| client.phase as u8 >= Phase::Holding as u8).count() <= 1
    }
}

impl Model for SessionLock {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let mut is_counting = state.delay > 0;
        for (client, place) in state.clients.iter().zip(0..self.clients) {
            is_counting |= client.ttl > 0;
            match (client.net, client.phase) {
                (Net::None, Phase::Idle) => actions.push(Action::Send(place, Phase::CreateSent)),
                (Net::None, Phase::HaveSession) => actions.push(Action::Send(place, Phase::AcquireSent)),
                (Net::None, _) => {
                    actions.push(Action::Send(place, Phase::WriteSent));
                    actions.push(Action::Send(place, Phase::RenewSent));
                    actions.push(Action::Send(place, Phase::ReleaseSent));
                }
                (Net::Request, _) => actions.extend([Action::Serve(place), Action::Lose(place)]),
                (_, _) => actions.extend([Action::Receive(place), Action::Lose(place)]),
            }
        }
        if is_counting {
            actions.push(Action::Tick);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = *last;
        match action {
            Action::Send(place, phase) => {
                let client = &mut state.clients[usize::from(place)];
                (client.phase, client.net) = (phase, Net::Request);
            }
            Action::Serve(place) => state.serve(usize::from(place), self),
            Action::Receive(place) => state.receive(usize::from(place)),
            Action::Lose(place) => state.lose(usize::from(place)),
            Action::Tick => state.tick(self),
        }
        Some(state)
    }

    /// One combined promise: each one costs about a hundred instructions per state.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("every promise is kept", |model: &Self, state: &State| {
            state.is_sound() && (!model.is_exclusive || state.is_exclusive())
        })]
    }
}

/// A size with its known counts.
#[derive(Copy, Clone, Debug)]
pub struct Size {
    pub name: &'static str,
    pub model: SessionLock,
    pub distinct: u64,
    /// The initial state counted.
    pub generated: u64,
    pub levels: u64,
    /// The length of the shortest run that breaks mutual exclusion.
    pub shortest: Option<usize>,
}

const fn size(
    name: &'static str,
    [clients, ttl, delay, index_max]: [u8; 4],
    counts: [u64; 3],
    shortest: Option<usize>,
) -> Size {
    let [distinct, generated, levels] = counts;
    let model = SessionLock { clients, ttl, delay, index_max, is_exclusive: false };
    Size { name, model, distinct, generated, levels, shortest }
}

/// The sizes that are known.
pub const SIZES: [Size; 6] = [
    size("tiny", [2, 2, 1, 1], [5_081, 23_240, 25], None),
    size("S", [2, 3, 2, 3], [133_771, 649_903, 48], Some(14)),
    size("M", [3, 2, 1, 2], [891_419, 5_890_915, 42], Some(14)),
    size("M4", [4, 1, 1, 2], [5_058_507, 41_974_827, 43], Some(14)),
    size("L", [3, 3, 2, 3], [10_467_088, 71_309_369, 55], Some(14)),
    size("XL4", [4, 2, 1, 2], [27_766_774, 232_415_706, 47], Some(14)),
];
