//! Random sequences from a seed; one that differs is made shorter, by proptest.

use std::cell::{Cell, RefCell};

use fencepost_model::mutation::Mutation;
use fencepost_model::time::Ticks;
use fencepost_rabbitmq::{Answer, Keeps, Name, Problem, QueueProperties, Request};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::broker::Broker;
use super::class::{Tally, class};
use super::pair::{Command, Exchange, LINES, Pair};
use crate::ConformError;

/// The most methods in one sequence.
const LENGTH: usize = 80;

/// The result of a hunt.
#[derive(Clone, Debug)]
pub struct Found {
    /// How often each class of answers came up.
    pub tally: Tally,
    /// The shortest sequence that was found whose last answer differs.
    pub difference: Option<Vec<Exchange>>,
}

impl Found {
    /// How many answers were compared.
    pub fn total(&self) -> u64 {
        self.tally.total()
    }
}

/// The two queues, and now and then another name.
fn name() -> impl Strategy<Value = Name> {
    prop_oneof![12 => Just(Name::Slot(1)), 12 => Just(Name::Holder(1)), 1 => Just(Name::Mutex)]
}

fn shape() -> impl Strategy<Value = QueueProperties> {
    let keeps = prop_oneof![4 => Just(Keeps::All), 2 => Just(Keeps::Nothing), 2 => Just(Keeps::One)];
    let flags = (any::<bool>(), proptest::bool::weighted(0.25), proptest::bool::weighted(0.15));
    (flags, keeps, proptest::bool::weighted(0.1)).prop_map(|((exclusive, durable, auto_delete), keeps, expires)| {
        QueueProperties { exclusive, durable, auto_delete, keeps, expires: expires.then(|| Ticks::new(60_000)) }
    })
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        10 => (name(), shape()).prop_map(|(name, shape)| Request::Declare { name, shape }),
        2 => shape().prop_map(|shape| Request::Declare { name: Name::Reserved, shape }),
        2 => (name(), shape()).prop_map(|(name, shape)| Request::DeclareSilently { name, shape }),
        6 => name().prop_map(Request::Look),
        4 => (name(), any::<bool>()).prop_map(|(name, if_empty)| Request::Delete { name, if_empty }),
        8 => (name(), any::<bool>()).prop_map(|(name, mandatory)| Request::Publish { name, mandatory }),
        2 => name().prop_map(Request::PublishImmediate),
        2 => Just(Request::PublishNowhere),
        6 => name().prop_map(Request::Get),
        3 => (1..4_u32).prop_map(Request::Ack),
        3 => (1..4_u32).prop_map(Request::Requeue),
        4 => any::<bool>().prop_map(|confirms| Request::OpenChannel { confirms }),
        2 => Just(Request::CloseChannel),
        1 => Just(Request::Close),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let lines = u16::try_from(LINES).expect("few");
    let ask = (1..=lines, proptest::bool::weighted(0.8), request());
    prop_oneof![
        60 => ask.prop_map(|(connection, first, request)| {
            Command::Ask { connection, channel: if first { 1 } else { 2 }, close_ok: false, request }
        }),
        1 => (1..=lines).prop_map(|connection| Command::HangUp { connection }),
    ]
}

/// Whatever would only cost a connection is left out most of the time: a channel that was closed is opened again before the
/// next method on it, and one that is open is not opened twice. Which it is, the model knows.
fn sensible(wanted: Vec<(Command, u8)>) -> Vec<Command> {
    let mut states = [[State::Open, State::None]; LINES];
    let mut pair = Pair::alone(None);
    let mut commands = Vec::new();
    for (command, chance) in wanted {
        let Command::Ask { connection, channel, mut request, .. } = command else {
            let Command::HangUp { connection } = command else { continue };
            states[usize::from(connection) - 1] = [State::Open, State::None];
            pair.expect(command);
            commands.push(command);
            continue;
        };
        let state = &mut states[usize::from(connection) - 1][usize::from(channel) - 1];
        let is_careful = chance > 25;
        let opens = matches!(request, Request::OpenChannel { .. });
        let mut close_ok = false;
        match state {
            State::Closing if is_careful || chance > 12 => {
                close_ok = true;
                if is_careful && !opens {
                    request = Request::OpenChannel { confirms: chance % 2 == 0 };
                }
            }
            State::None if is_careful && !opens && request != Request::Close => {
                request = Request::OpenChannel { confirms: chance % 2 == 0 };
            }
            State::Open if is_careful && opens => request = Request::Look(Name::Slot(1)),
            _ => {}
        }
        let command = Command::Ask { connection, channel, close_ok, request };
        let answer = pair.expect(command);
        commands.push(command);
        let lines = &mut states[usize::from(connection) - 1];
        let state = &mut lines[usize::from(channel) - 1];
        match answer {
            Some(Answer::Opened) => *state = State::Open,
            Some(Answer::ChannelClosed) if close_ok || *state != State::Closing => *state = State::None,
            Some(Answer::Closed | Answer::Reset) => *lines = [State::Open, State::None],
            Some(Answer::Error(problem)) if problem.is_fatal() => *lines = [State::Open, State::None],
            Some(Answer::Error(_)) => *state = State::Closing,
            _ => {}
        }
    }
    commands
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum State {
    None,
    Open,
    Closing,
}

/// Sends at least this number of random methods to the model and to the broker, until an answer differs. `each` hears what each
/// sequence has exchanged. Nothing is left behind in the broker.
///
/// # Errors
/// The broker cannot be talked to.
pub fn hunt(
    broker: &Broker,
    seed: u64,
    commands: u64,
    mutation: Option<Mutation>,
    each: &mut dyn FnMut(&[Exchange]),
) -> Result<Found, ConformError> {
    let mut bytes = [2; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = proptest::collection::vec((command(), 0..100_u8), 1..LENGTH);
    let mut found = Found { tally: Tally::default(), difference: None };
    let sequences = Cell::new(0_u64);
    while found.total() < commands {
        let last: RefCell<Option<Vec<Exchange>>> = RefCell::default();
        let failure: RefCell<Option<ConformError>> = RefCell::default();
        let seen: RefCell<Option<Vec<Exchange>>> = RefCell::default();
        let run = |wanted: Vec<(Command, u8)>| {
            sequences.set(sequences.get() + 1);
            let prefix = format!("fencepost-{seed}-{}", sequences.get());
            match once(broker, prefix, &sensible(wanted), mutation) {
                Ok((exchanges, true)) => {
                    seen.borrow_mut().get_or_insert(exchanges);
                    Ok(())
                }
                Ok((exchanges, false)) => {
                    *last.borrow_mut() = Some(exchanges);
                    Err(TestCaseError::fail("the answers differ"))
                }
                Err(found) => {
                    *failure.borrow_mut() = Some(found);
                    Err(TestCaseError::reject("no answer"))
                }
            }
        };
        let case = strategy.new_tree(&mut runner).expect("no sequence is refused");
        let _ = runner.run_one(case, run);
        if let Some(failure) = failure.take() {
            return Err(failure);
        }
        if let Some(exchanges) = last.take() {
            found.difference = Some(exchanges);
            return Ok(found);
        }
        let exchanges = seen.take().expect("it ran");
        exchanges.iter().for_each(|exchange| found.tally.count(class(exchange)));
        each(&exchanges);
    }
    Ok(found)
}

/// One sequence, with queues of its own; false: the last answer differs. Its queues are deleted afterwards.
fn once(
    broker: &Broker,
    prefix: String,
    commands: &[Command],
    mutation: Option<Mutation>,
) -> Result<(Vec<Exchange>, bool), ConformError> {
    make_room(broker, &prefix)?;
    let mut pair = Pair::live(broker, prefix.clone(), mutation);
    let mut is_alike = true;
    for command in commands {
        is_alike = pair.carry_out(*command)?;
        if !is_alike {
            break;
        }
    }
    let exchanges = std::mem::take(&mut pair.exchanges);
    drop(pair);
    clean_up(broker, &prefix)?;
    Ok((exchanges, is_alike))
}

/// Deletes the queues of a sequence.
pub(super) fn clean_up(broker: &Broker, prefix: &str) -> Result<(), ConformError> {
    let mut line = broker.line(prefix)?;
    for name in QUEUES {
        // An exclusive queue may still be on its way out; then it needs no help.
        let answer = line.ask(1, false, &Request::Delete { name, if_empty: false })?;
        if matches!(answer, Some(Answer::Error(_))) {
            line.ask(1, true, &Request::OpenChannel { confirms: true })?;
        }
    }
    Ok(())
}

/// The queues that a sequence uses.
const QUEUES: [Name; 3] = [Name::Slot(1), Name::Holder(1), Name::Mutex];

/// Makes sure that none of the queues of a sequence is there: a clear 404 for each. A killed run leaves such queues behind;
/// they are deleted only where that is wanted.
pub(super) fn make_room(broker: &Broker, prefix: &str) -> Result<(), ConformError> {
    let mut line = broker.line(prefix)?;
    for name in QUEUES {
        let mut answer = line.ask(1, false, &Request::Look(name))?;
        if matches!(answer, Some(Answer::Declared { .. })) && broker.removes_leftovers {
            line.ask(1, false, &Request::Delete { name, if_empty: false })?;
            answer = line.ask(1, false, &Request::Look(name))?;
        }
        if answer != Some(Answer::Error(Problem::NoQueue)) {
            let seen = answer.map_or("nothing".to_owned(), |answer| answer.to_string());
            return Err(ConformError(format!(
                "the queue {} may be in use: to a passive declare the broker says “{seen}”, and not 404. Nothing was \
                 removed. A killed run with this seed leaves such queues behind; --clean deletes them",
                line.writer.name(name)
            )));
        }
        line.ask(1, true, &Request::OpenChannel { confirms: true })?;
    }
    Ok(())
}
