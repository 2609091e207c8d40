//! The bare loop: a heap of events, and latencies from ChaCha8. There are no faults and no properties.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::machines::{Answer, Client, Request, SECOND, Server, Timer};

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Request(u16, Request),
    Answer(u16, Answer),
    /// Of a client; the deadline that it was set for.
    Timer(u16, Timer, i64),
    Sweep,
}

/// How many events there were, and a digest over (time, kind, client).
pub fn run(clients: u16, seconds: i64, seed: u64) -> (u64, u64) {
    let mut loop_ = Loop { heap: BinaryHeap::new(), made: 0, chance: ChaCha8Rng::seed_from_u64(seed) };
    let mut server = Server::new(usize::from(clients));
    let mut machines = vec![Client::new(); usize::from(clients)];
    for client in 0..clients {
        loop_.plan(0, Event::Timer(client, Timer::Step, 0));
    }
    loop_.plan(SECOND, Event::Sweep);
    let (mut events, mut digest) = (0u64, 0u64);
    while let Some(Reverse((now, _, event))) = loop_.heap.pop() {
        if now > seconds * SECOND {
            break;
        }
        let (kind, client) = match event {
            Event::Request(client, request) => {
                let answer = server.receive(now, client, request);
                assert!(server.is_sound());
                let latency = loop_.latency();
                loop_.plan(now + latency, Event::Answer(client, answer));
                (0, client)
            }
            Event::Answer(client, answer) => {
                let before = machines[usize::from(client)];
                let request = machines[usize::from(client)].receive(now, answer);
                loop_.follow(now, client, &before, &machines[usize::from(client)], request);
                (1, client)
            }
            Event::Timer(client, timer, due) => {
                let machine = &mut machines[usize::from(client)];
                let is_due = match timer {
                    Timer::Renew => machine.renew_at == due,
                    _ => machine.step_at == due,
                };
                if !is_due {
                    continue;
                }
                let before = *machine;
                let request = machine.fire(now, timer);
                loop_.follow(now, client, &before, &machines[usize::from(client)], request);
                (2, client)
            }
            Event::Sweep => {
                server.sweep(now);
                assert!(server.is_sound());
                loop_.plan(server.sweep_at, Event::Sweep);
                (3, 0)
            }
        };
        events += 1;
        digest = (digest ^ (now as u64) ^ (kind << 60) ^ (u64::from(client) << 40))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(23);
    }
    (events, digest)
}

struct Loop {
    heap: BinaryHeap<Reverse<(i64, u64, Event)>>,
    made: u64,
    chance: ChaCha8Rng,
}

impl Loop {
    fn plan(&mut self, at: i64, event: Event) {
        self.made += 1;
        self.heap.push(Reverse((at, self.made, event)));
    }

    fn latency(&mut self) -> i64 {
        10_000 + ((u128::from(self.chance.next_u64()) * 90_001) >> 64) as i64
    }

    /// Sends what the client wants to send, and sets the timers that it has set anew.
    fn follow(&mut self, now: i64, client: u16, before: &Client, after: &Client, request: Option<Request>) {
        if let Some(request) = request {
            let latency = self.latency();
            self.plan(now + latency, Event::Request(client, request));
        }
        if after.step_at != before.step_at {
            self.plan(after.step_at, Event::Timer(client, Timer::Step, after.step_at));
        }
        if after.renew_at != before.renew_at {
            self.plan(after.renew_at, Event::Timer(client, Timer::Renew, after.renew_at));
        }
    }
}
