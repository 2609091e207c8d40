//! Redlock as a program: what its handle can ask of the nodes, and the algorithm as its page has it (B-44).

use serde::{Deserialize, Serialize};

use super::messages::{Command, LockValue, RedlockMessage, Timer};
use super::{Redlock, Validity};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::{Call, Token};
use fencepost_model::normal::Normal;
use fencepost_model::program::{
    Alarm, First, Gone, Handle, Lap, OpenDeadline, Operation, Programmable, Recipe, UserCommand, Wanted, register,
};
use fencepost_model::time::Ticks;

impl Programmable for Redlock {
    type Request = RedlockMessage;
    type Answer = RedlockMessage;

    /// There are no connections: an answer names the node and the value, and is for the operation that listens.
    fn ask(_: Call, request: RedlockMessage) -> RedlockMessage {
        request
    }

    fn answer(message: &RedlockMessage) -> Option<(Option<Call>, RedlockMessage)> {
        match message {
            RedlockMessage::Locked(..) | RedlockMessage::Held(..) => Some((None, *message)),
            RedlockMessage::Lock(..) | RedlockMessage::Unlock(..) => None,
        }
    }

    fn timer(alarm: Alarm) -> Timer {
        Timer::Program(alarm)
    }

    fn alarm(timer: &Timer) -> Option<Alarm> {
        match timer {
            Timer::Program(alarm) => Some(*alarm),
            Timer::Lapse | Timer::GiveUp | Timer::Copy(_) => None,
        }
    }

    /// These clients do not write: see the validation of `writes`.
    fn command(command: UserCommand) -> Command {
        match command {
            UserCommand::Acquire => Command::Acquire,
            UserCommand::Write | UserCommand::Release => Command::Release,
        }
    }

    fn user_command(command: &Command) -> Option<UserCommand> {
        Some(match command {
            Command::Acquire => UserCommand::Acquire,
            Command::Release => UserCommand::Release,
        })
    }
}

/// What a program can ask of the nodes. Nodes count from 1; node 0 stands for the current leader of a `copied-lock`.
pub trait Locking {
    /// `SET key value NX PX lease` at a node. The answer comes to [`hear`](Locking::hear).
    fn lock(&self, node: u8, value: LockValue);

    /// The script that deletes the key if it still has the value. There is no answer.
    fn unlock(&self, node: u8, value: LockValue);

    /// Waits for the next answer of any node, to this attempt or to an earlier one: compare the value.
    fn hear(&self) -> Operation<Redlock, RedlockMessage>;
}

impl Locking for Handle<Redlock> {
    fn lock(&self, node: u8, value: LockValue) {
        self.send(RedlockMessage::Lock(node, value));
    }

    fn unlock(&self, node: u8, value: LockValue) {
        self.send(RedlockMessage::Unlock(node, value));
    }

    fn hear(&self) -> Operation<Redlock, RedlockMessage> {
        self.listen()
    }
}

/// The algorithm of the page "Distributed Locks with Redis", section "The Redlock algorithm", steps 1 to 5. All nodes are asked at once,
/// as its section "Retry on failure" proposes. An attempt that fails ends the round, unless there is [`RedlockPage::retry`].
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct RedlockPage {
    /// The number of nodes; 0: the client asks the leader of a `copied-lock`.
    pub nodes: u8,
    /// How long nodes keep the key, in ticks; none: for ever.
    pub lease: Option<Ticks>,
    /// How much earlier the client stops, in ticks: step 4 and its note on clock drift.
    pub drift: Ticks,
    /// From which instant the client counts.
    pub validity: Validity,
    /// Whether an attempt that fails is followed by others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
}

/// "Retry on failure": the client tries again after a random delay, so that clients that compete do not go on in step.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
pub struct Retry {
    /// How many more attempts a round may have.
    pub times: u8,
    /// Attempts that this round has had and that failed; 0 when a round begins.
    #[serde(default)]
    pub failed: u8,
    /// The longest delay, in ticks; each length from 1 to this is explored.
    pub delay: u8,
}

impl RedlockPage {
    /// After an attempt that failed: the random delay, and another lap; none if the round is over.
    async fn try_again(&mut self, nodes: &Handle<Redlock>) -> Option<Lap> {
        let retry = self.retry.as_mut()?;
        if retry.failed == retry.times {
            retry.failed = 0;
            return None;
        }
        retry.failed += 1;
        let delay = 1 + nodes.random(retry.delay.max(1)).await;
        nodes.sleep(Ticks::new(delay.into())).await;
        Some(Lap::Again)
    }

    fn deadline(&self, nodes: &Handle<Redlock>) -> Option<OpenDeadline<Redlock>> {
        self.lease.map(|lease| nodes.deadline(lease - self.drift))
    }

    /// The nodes that it asks.
    fn asked(&self) -> std::ops::RangeInclusive<u8> {
        self.nodes.min(1)..=self.nodes
    }

    /// Step 3, first part: whether a majority has the value before the lease is over.
    async fn has_majority(
        &self,
        nodes: &Handle<Redlock>,
        value: LockValue,
        lease: Option<&OpenDeadline<Redlock>>,
    ) -> bool {
        let (mut yes, mut no) = (0_u8, 0_u8);
        let all = u32::from(self.nodes.max(1));
        loop {
            let answer = match lease {
                None => nodes.hear().await,
                Some(lease) => match nodes.select(nodes.hear(), lease.passed()).await {
                    First::One(answer) => answer,
                    First::Other(()) => return false,
                },
            };
            match answer {
                RedlockMessage::Locked(node, of) if of == value => yes |= 1 << node,
                RedlockMessage::Held(node, of) if of == value => no |= 1 << node,
                // An answer to an earlier attempt.
                _ => {}
            }
            if yes.count_ones() > all / 2 {
                return true;
            }
            if (yes | no).count_ones() == all {
                return false;
            }
        }
    }
}

impl Recipe<Redlock> for RedlockPage {
    const NAME: &'static str = "redlock-page";

    async fn lap(&mut self, nodes: &Handle<Redlock>) -> Result<Lap, Gone> {
        // Step 1: the current time.
        let mut lease = self.deadline(nodes);
        // Step 2: the same key and random value on every node.
        let value = nodes.unique().await;
        self.asked().for_each(|node| nodes.lock(node, value));
        // Step 3: a majority, and time left.
        let mut is_locked = self.has_majority(nodes, value, lease.as_ref()).await;
        if is_locked && self.validity == Validity::FromAnswer {
            lease = self.deadline(nodes);
        }
        if let Some(lease) = lease.as_ref().filter(|_| is_locked) {
            is_locked = !lease.is_over().await;
        }
        if !is_locked {
            // Step 5: unlock all nodes, those that refused, too.
            self.asked().for_each(|node| nodes.unlock(node, value));
            return Ok(self.try_again(nodes).await.unwrap_or(Lap::Done));
        }
        if let Some(retry) = &mut self.retry {
            retry.failed = 0;
        }
        // Step 4: what is left of the lease.
        lease.iter().for_each(|lease| nodes.lease_until(lease));
        nodes.enter(Token::NONE);
        let why = loop {
            match nodes.select(nodes.lease_ended(), nodes.user()).await {
                First::One(()) => break Leaving::Lapsed,
                First::Other(Wanted::Release) => break Leaving::Done,
                First::Other(Wanted::Write) => {}
            }
        };
        if why == Leaving::Done {
            self.asked().for_each(|node| nodes.unlock(node, value));
        }
        nodes.leave(why);
        nodes.no_lease();
        Ok(Lap::Done)
    }
}

/// Makes the programs known by their names, so that scenario files and traces can name them.
pub fn register_programs() {
    register::<Redlock, RedlockPage>();
}
