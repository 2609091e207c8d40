//! The lock service of workload 2, as state machines without I/O: whatever runs them is what is measured. Times are microseconds.

use serde::{Deserialize, Serialize};

pub const SECOND: i64 = 1_000_000;
const TTL: i64 = 15 * SECOND;
const DELAY: i64 = 15 * SECOND;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Request {
    Create,
    Acquire,
    Write(u32),
    Renew,
    Release,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Answer {
    Created,
    Granted(u32),
    Denied,
    Invalid,
    Written(bool),
    Renewed,
    Released,
}

/// One lock, and a session for each client.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Server {
    /// When each client's session expires; 0: it has none.
    expires: Vec<i64>,
    pub holder: Option<u16>,
    pub lock_index: u32,
    free_from: i64,
    pub highest: u32,
    pub sweep_at: i64,
}

impl Server {
    pub fn new(clients: usize) -> Self {
        Server { expires: vec![0; clients], holder: None, lock_index: 0, free_from: 0, highest: 0, sweep_at: SECOND }
    }

    pub fn receive(&mut self, now: i64, from: u16, request: Request) -> Answer {
        let place = usize::from(from);
        if request == Request::Create {
            self.expires[place] = now + TTL;
            return Answer::Created;
        }
        if let Request::Write(token) = request {
            let is_accepted = token >= self.highest;
            self.highest = self.highest.max(token);
            return Answer::Written(is_accepted);
        }
        if self.expires[place] <= now {
            return Answer::Invalid;
        }
        match request {
            Request::Acquire if self.holder == Some(from) => Answer::Granted(self.lock_index),
            Request::Acquire if self.holder.is_none() && self.free_from <= now => {
                self.holder = Some(from);
                self.lock_index += 1;
                Answer::Granted(self.lock_index)
            }
            Request::Acquire => Answer::Denied,
            Request::Renew => {
                self.expires[place] = now + TTL;
                Answer::Renewed
            }
            Request::Release if self.holder == Some(from) => {
                self.holder = None;
                Answer::Released
            }
            _ => Answer::Denied,
        }
    }

    pub fn sweep(&mut self, now: i64) {
        self.sweep_at = now + SECOND;
        for (place, expires) in self.expires.iter_mut().enumerate() {
            if *expires != 0 && *expires <= now {
                *expires = 0;
                if self.holder.map(usize::from) == Some(place) {
                    (self.holder, self.free_from) = (None, now + DELAY);
                }
            }
        }
    }

    /// What must hold after each event of the server.
    pub fn is_sound(&self) -> bool {
        self.highest <= self.lock_index
    }
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Timer {
    /// The end of a wait, or the time-out of a request.
    Step,
    Renew,
    Sweep,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Phase {
    Start,
    Creating,
    Acquiring,
    BackOff,
    Writing,
    Holding,
    Releasing,
    Pause,
}

/// A client.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Client {
    pub phase: Phase,
    pub step_at: i64,
    /// 0: there is no session yet.
    pub renew_at: i64,
    token: u32,
}

impl Client {
    pub fn new() -> Self {
        Client { phase: Phase::Start, step_at: 0, renew_at: 0, token: 0 }
    }

    pub fn fire(&mut self, now: i64, timer: Timer) -> Option<Request> {
        if timer == Timer::Renew {
            self.renew_at = now + 5 * SECOND;
            return Some(Request::Renew);
        }
        match self.phase {
            Phase::Start | Phase::Creating => self.ask(now, Phase::Creating),
            Phase::Acquiring | Phase::BackOff | Phase::Pause => self.ask(now, Phase::Acquiring),
            Phase::Writing => self.ask(now, Phase::Writing),
            Phase::Holding | Phase::Releasing => self.ask(now, Phase::Releasing),
        }
    }

    pub fn receive(&mut self, now: i64, answer: Answer) -> Option<Request> {
        match (self.phase, answer) {
            (Phase::Creating, Answer::Created) => {
                self.renew_at = now + 5 * SECOND;
                self.ask(now, Phase::Acquiring)
            }
            (Phase::Acquiring, Answer::Granted(token)) => {
                self.token = token;
                self.ask(now, Phase::Writing)
            }
            (Phase::Acquiring, Answer::Denied) => self.rest(now + SECOND / 2, Phase::BackOff),
            (Phase::Acquiring, Answer::Invalid) => self.ask(now, Phase::Creating),
            (Phase::Writing, Answer::Written(_)) => self.rest(now + SECOND, Phase::Holding),
            (Phase::Releasing, Answer::Released | Answer::Denied | Answer::Invalid) => {
                self.rest(now + SECOND, Phase::Pause)
            }
            _ => None,
        }
    }

    /// Whether it has the lock, for all it knows.
    pub fn is_inside(&self) -> bool {
        matches!(self.phase, Phase::Writing | Phase::Holding)
    }

    fn ask(&mut self, now: i64, phase: Phase) -> Option<Request> {
        (self.phase, self.step_at) = (phase, now + SECOND);
        Some(match phase {
            Phase::Creating => Request::Create,
            Phase::Acquiring => Request::Acquire,
            Phase::Writing => Request::Write(self.token),
            _ => Request::Release,
        })
    }

    fn rest(&mut self, until: i64, phase: Phase) -> Option<Request> {
        (self.phase, self.step_at) = (phase, until);
        None
    }
}
