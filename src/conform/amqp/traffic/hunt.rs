//! Random sequences from a seed; one that is impossible is made shorter, by proptest.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use fencepost_model::mutation::Mutation;
use fencepost_rabbitmq::{Answer, Problem, QueueProperties, Request};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::draw::{Kind, Round, sequence};
use super::judge::{Flaw, Verdict};
use super::log::{Access, Happening, Log, Loss};
use super::method::{Method, Reply, Verb};
use super::run::LiveSequence;
use crate::ConformError;
use crate::amqp::broker::Broker;
use crate::amqp::class::{Class, Tally, by_problem, declared, published};
use crate::amqp::hunt::{clean_up, make_room};

/// Of this number of sequences, one has silences, and two have a restart, if the broker can be restarted: they take seconds.
const RARE: u64 = 100;

/// The result of a hunt.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// How often each class of answers came up.
    pub tally: Tally,
    /// How many methods were sent.
    pub methods: u64,
    /// How many of them while other channels had methods in flight.
    pub concurrent: u64,
    /// How many answers and deliveries were judged.
    pub judged: u64,
    /// How many sequences had too many possible orders.
    pub undecided: u64,
    /// Whether the broker has a user with few permissions.
    pub has_limited: bool,
    /// The shortest sequence that was found that is impossible, and its flaw.
    pub difference: Option<(Log, Flaw)>,
}

/// Sends at least this number of random methods to the broker, and judges what comes of it, until that is impossible. `each` hears of each
/// sequence. Nothing is left behind in the broker.
///
/// # Errors
/// The broker cannot be talked to.
pub fn hunt(
    broker: &Broker,
    seed: u64,
    methods: u64,
    mutation: Option<Mutation>,
    each: &mut dyn FnMut(&Log, u64),
) -> Result<Found, ConformError> {
    let mut bytes = [5; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let has_limited = methods > 0 && broker.limited_line("")?.is_some();
    let mut found = Found { has_limited, ..Found::default() };
    let sequences = Cell::new(0_u64);
    for number in 1_u64.. {
        if found.methods >= methods {
            break;
        }
        let kind = match number % RARE {
            20 => Kind::Silences,
            30 | 80 if broker.restart.is_some() => Kind::Restart,
            _ => Kind::Plain,
        };
        let flaw: RefCell<Option<(Log, Flaw)>> = RefCell::default();
        let failure: RefCell<Option<ConformError>> = RefCell::default();
        let seen: RefCell<Option<SequenceOutcome>> = RefCell::default();
        let test = |(opening, is_limited, rounds): (QueueProperties, bool, Vec<Round>)| {
            sequences.set(sequences.get() + 1);
            let prefix = format!("fencepost-{seed}-t{}", sequences.get());
            let access = if is_limited && has_limited { Access::Limited } else { Access::Full };
            match once(broker, prefix, (kind, access), opening, &rounds, mutation) {
                Ok(SequenceOutcome { log, verdict: Verdict::Impossible(why), .. }) => {
                    *flaw.borrow_mut() = Some((log, why));
                    Err(TestCaseError::fail("it is impossible"))
                }
                Ok(outcome) => {
                    seen.borrow_mut().get_or_insert(outcome);
                    Ok(())
                }
                Err(error) => {
                    *failure.borrow_mut() = Some(error);
                    Err(TestCaseError::reject("no answer"))
                }
            }
        };
        let case = sequence(kind).new_tree(&mut runner).expect("no sequence is refused");
        let _ = runner.run_one(case, test);
        if let Some(failure) = failure.take() {
            return Err(failure);
        }
        if let Some(difference) = flaw.take() {
            found.difference = Some(difference);
            return Ok(found);
        }
        let SequenceOutcome { log, methods: [sent, concurrent], verdict, noted } = seen.take().expect("it ran");
        noted.into_iter().for_each(|class| found.tally.count(class));
        found.methods += sent;
        found.concurrent += concurrent;
        match verdict {
            Verdict::Possible(judged) => found.judged += judged as u64,
            _ => found.undecided += 1,
        }
        count(&log, &mut found.tally);
        each(&log, sent);
    }
    Ok(found)
}

/// What came of a sequence.
struct SequenceOutcome {
    log: Log,
    /// How many methods were sent, and how many of them while other channels had some in flight.
    methods: [u64; 2],
    verdict: Verdict,
    /// What no answer shows, and has come up.
    noted: Vec<Class>,
}

/// One sequence, with queues of its own, which are deleted afterwards.
fn once(
    broker: &Broker,
    prefix: String,
    (kind, access): (Kind, Access),
    opening: QueueProperties,
    rounds: &[Round],
    mutation: Option<Mutation>,
) -> Result<SequenceOutcome, ConformError> {
    make_room(broker, &prefix)?;
    let mut run = LiveSequence::new(broker, prefix.clone(), kind, access);
    run.rounds(opening, rounds)?;
    let verdict = run.verdict(mutation)?;
    let (log, methods, noted) = (std::mem::take(&mut run.log), run.methods, std::mem::take(&mut run.noted));
    drop(run);
    clean_up(broker, &prefix)?;
    Ok(SequenceOutcome { log, methods, verdict, noted })
}

/// Counts the classes of answers in a log.
fn count(log: &Log, tally: &mut Tally) {
    let mut answers = vec![None; log.events.len()];
    for event in &log.events {
        if let Happening::Answered { to, reply } = event.happened {
            answers[to - 1] = Some(reply);
        }
    }
    let mut prefetch = BTreeMap::new();
    // The messages that were published before the last restart.
    let (mut published, mut old) = (Vec::new(), Vec::new());
    for (event, answer) in log.events.iter().zip(answers) {
        let body = match (event.happened, answer) {
            (Happening::Delivered { body, .. }, _) | (_, Some(Reply::Got { body, .. })) => Some(body),
            _ => None,
        };
        if body.is_some_and(|body| old.contains(&body)) {
            tally.count(Class::Survived);
        }
        match event.happened {
            Happening::Sent(Method::Publish { body, .. }) => published.push(body),
            Happening::Restarted { .. } => old.append(&mut published),
            _ => {}
        }
        let class = match event.happened {
            Happening::Answered { .. } => continue,
            Happening::Lost(Loss::Reset) => Class::LostReset,
            Happening::Lost(Loss::Forced) => Class::LostForced,
            Happening::Restarted { .. } => Class::Restarted,
            Happening::Delivered { redelivered: true, .. } => Class::DeliveredAgain,
            Happening::Delivered { .. } => Class::Delivered,
            Happening::Cancelled { .. } => Class::CancelledByBroker,
            Happening::Sent(method) => {
                let limit = prefetch.entry((event.connection, event.channel)).or_insert(0);
                match method {
                    Method::Qos(count) => *limit = count,
                    Method::Reopen { .. } | Method::Plain(Request::OpenChannel { .. }) => *limit = 0,
                    _ => {}
                }
                class(method, answer, *limit > 0)
            }
        };
        tally.count(class);
    }
}

/// What kind of answer to what kind of method.
fn class(method: Method, answer: Option<Reply>, is_limited: bool) -> Class {
    let problem = if let Some(Reply::Plain(Answer::Error(problem))) = answer { Some(problem) } else { None };
    let is_refused = answer == Some(Reply::Refused);
    match (method, answer) {
        (Method::HangUp, _) => Class::HungUp,
        (Method::Beat, _) => Class::Beat,
        (Method::Connect { heartbeat: 0 }, _) => Class::ConnectedWithout,
        (Method::Connect { .. }, _) => Class::Connected,
        (Method::Publish { persistent: true, .. }, Some(Reply::Plain(Answer::Confirmed))) => Class::PublishedPersistent,
        (Method::Publish { .. }, None) => Class::PublishedSilently,
        (Method::Publish { .. }, Some(Reply::Refused)) => Class::PublishedRefused,
        (Method::Publish { .. }, Some(Reply::Plain(answer))) => published(answer),
        (Method::Settle { .. }, Some(_)) => Class::SettledUnknown,
        (Method::Settle { verb, multiple, requeue, .. }, None) => match (verb, multiple, requeue) {
            (Verb::Ack, false, _) => Class::Acked,
            (Verb::Ack, true, _) => Class::AckedAll,
            (Verb::Nack, false, false) => Class::Nacked,
            (Verb::Nack, false, true) => Class::NackedRequeued,
            (Verb::Nack, true, false) => Class::NackedAll,
            (Verb::Nack, true, true) => Class::NackedAllRequeued,
            (Verb::Reject, _, false) => Class::Rejected,
            (Verb::Reject, _, true) => Class::RejectedRequeued,
        },
        (_, None) => Class::Discarded,
        _ if problem == Some(Problem::NotOpen) => Class::ChannelNotOpen,
        (Method::Reopen { .. } | Method::Plain(Request::OpenChannel { .. }), _) => {
            if problem.is_some() {
                Class::ChannelOpenTwice
            } else {
                Class::ChannelOpened
            }
        }
        (Method::Plain(Request::CloseChannel), _) => Class::ChannelClosed,
        (Method::Plain(Request::Close), _) => Class::Closed,
        (Method::Plain(Request::Declare { .. }), _) if is_refused => Class::DeclaredRefused,
        (Method::Plain(Request::Declare { .. }), _) => declared(problem),
        (Method::Plain(Request::Delete { .. }), _) if is_refused => Class::DeletedRefused,
        (Method::Plain(Request::Delete { .. }), _) if problem == Some(Problem::NotEmpty) => Class::DeletedNotEmpty,
        (Method::Plain(Request::Delete { .. }), _) => {
            by_problem(problem, Class::Deleted, Class::Deleted, Class::DeletedLocked)
        }
        (Method::Purge(_), Some(Reply::Purged { messages: 0 })) => Class::PurgedEmpty,
        (Method::Purge(_), _) if is_refused => Class::PurgedRefused,
        (Method::Purge(_), _) => by_problem(problem, Class::Purged, Class::PurgedAbsent, Class::PurgedLocked),
        (Method::Get { .. }, Some(Reply::Got { redelivered: true, .. })) => Class::GotAgain,
        (Method::Get { no_ack: true, .. }, Some(Reply::Got { .. })) => Class::GotUnacked,
        (Method::Get { .. }, Some(Reply::Plain(Answer::Empty))) => Class::GotEmpty,
        (Method::Get { .. }, _) if is_refused => Class::GotRefused,
        (Method::Get { .. }, _) => by_problem(problem, Class::Got, Class::GotAbsent, Class::GotLocked),
        (Method::Consume { .. }, Some(Reply::InUse)) => Class::ConsumingInUse,
        (Method::Consume { .. }, Some(Reply::TagReused)) => Class::ConsumingTagReused,
        (Method::Consume { .. }, _) if is_refused => Class::ConsumingRefused,
        (Method::Consume { exclusive: true, .. }, Some(Reply::ConsumeOk)) => Class::ConsumingAlone,
        (Method::Consume { no_ack: true, .. }, Some(Reply::ConsumeOk)) => Class::ConsumingUnacked,
        (Method::Consume { .. }, Some(Reply::ConsumeOk)) if is_limited => Class::ConsumingLimited,
        (Method::Consume { .. }, _) => {
            by_problem(problem, Class::Consuming, Class::ConsumingAbsent, Class::ConsumingLocked)
        }
        (Method::Cancel(_), _) => Class::Cancelled,
        (Method::Qos(_), _) => Class::Prefetch,
        (Method::Recover, _) => Class::Recovered,
        (Method::Plain(_), _) => by_problem(problem, Class::Looked, Class::LookedAbsent, Class::LookedLocked),
        (Method::Publish { .. }, Some(_)) => Class::Published,
    }
}
