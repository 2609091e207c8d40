//! The model of etcd's store against a server, and against logs.

use std::fs;
use std::path::Path;

use fencepost_conform::etcd::{
    Class, EtcdCrowd, EtcdExchange, EtcdOrder, EtcdPace, EtcdPossible, EtcdScript, EtcdServer, EtcdVerdict, LEFT_OUT,
    SCAN, TRIES, crowd, hunt, judge, order, read, shrink, write, write_crowds,
};
use fencepost_conform::{AnswerClass, ConformError, Histogram, LATENESS, ModelledServer, Removal};

use super::{Conform, conclude, tell, tell_unexercised, unreadable, warn};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};
use crate::parallel::progress;

/// What the agreement is about.
const BESIDE: &str = "This is about the store as its API shows it; the checker explores a smaller one, which a test of fencepost holds against this one.";

/// The number of calls at the same time for which there is one slow crowd, and the highest number of slow crowds: each takes seven seconds.
const CALLS_PER_SLOW_CROWD: u64 = 600;
const SLOW_CROWDS_MAX: u64 = 8;

/// The number of calls at the same time for which there is one crowd about locks and elections, which takes two seconds.
const CALLS_PER_QUEUES: u64 = 120;

pub fn live(conform: &Conform, address: &str, common: &Common) -> Result<Exit, CommandError> {
    let input = |error: ConformError| CommandError::Input(error.0);
    let server = EtcdServer::connect(address).map_err(input)?;
    let removal = match (conform.wipe, conform.clean) {
        (true, _) => Removal::Everything,
        (false, true) => Removal::Leftovers,
        (false, false) => Removal::Nothing,
    };
    server.make_room(removal).map_err(input)?;
    let (seed, version) = (conform.seed, &server.version);
    let bar = progress(usize::try_from(conform.commands).unwrap_or(usize::MAX), "answers compared", common.quiet);
    let mut sequences = Vec::new();
    let found = hunt(&server, seed, conform.commands, &mut |sequence| {
        bar.inc(sequence.exchanges.len() as u64);
        if conform.record.is_some() {
            sequences.push(sequence.clone());
        }
    });
    bar.finish_and_clear();
    let found = found.map_err(input)?;
    let keep = |log: &str| match &conform.record {
        Some(file) => fs::write(file, log).map_err(|error| unreadable(file, &error)),
        None => Ok(()),
    };
    let log = write(version, &sequences);
    keep(&log)?;
    if let Some(sequence) = &found.difference {
        sequence.exchanges.iter().for_each(|exchange| conclude(&transcript(exchange), common));
        conclude(&format!("The model and etcd {version} differ (seed {seed}).\n"), common);
        return Ok(Exit::Unexpected);
    }
    let crowds = crowded(&server, conform, EtcdPossible { tally: found.tally, ..EtcdPossible::default() }, common)?;
    keep(&(log + &write_crowds(version, &crowds.exchanged)))?;
    if let Some(Differing { crowd, exchange, drawn }) = &crowds.impossible {
        conclude(&write_crowds(version, std::slice::from_ref(crowd)), common);
        conclude(&transcript(exchange), common);
        let these = match crowd.calls.len() {
            all if all == *drawn => "these calls".to_owned(),
            left => format!("these {left} calls, which are left of {drawn},"),
        };
        conclude(&format!("The model answers {these} as etcd {version} did in no order (seed {seed}).\n"), common);
        return Ok(Exit::Unexpected);
    }
    report(&crowds.possible.tally, common);
    let (count, rest) = (crowds.possible.tally.total(), at_the_same_time(&crowds.possible, conform));
    let agree = format!("{count} answers of etcd {version} are as the model says (seed {seed}){rest}\n{BESIDE}\n");
    conclude(&agree, common);
    if crowds.undecided > 0 {
        let count = crowds.undecided;
        let crowds = if count == 1 { "1 crowd".to_owned() } else { format!("{count} crowds") };
        conclude(&format!("undecided: {crowds}; no order of their calls was found among a million states.\n"), common);
        return Ok(Exit::Undecided);
    }
    Ok(Exit::AsExpected)
}

/// What of it was said to clients at the same time; the end of a sentence.
fn at_the_same_time(possible: &EtcdPossible, conform: &Conform) -> String {
    let EtcdPossible { at_the_same_time, ended, .. } = possible;
    if *at_the_same_time == 0 {
        return ", none of them to clients at the same time.".to_owned();
    }
    let late = match lateness(conform) {
        i64::MAX => "however late".to_owned(),
        lateness => format!("at most {}ms late", lateness.saturating_add(SCAN) / 1_000_000),
    };
    format!(", {at_the_same_time} of them to clients at the same time; {ended} leases ended by themselves, {late}.")
}

/// What came of calls at the same time.
struct Crowds {
    possible: EtcdPossible,
    /// All of them, if there will be a log.
    exchanged: Vec<EtcdCrowd>,
    /// The first one of which no order is possible.
    impossible: Option<Differing>,
    undecided: u64,
}

/// A crowd of which no order is possible.
struct Differing {
    crowd: EtcdCrowd,
    /// The call that none gets past.
    exchange: EtcdExchange,
    /// The number of calls before some were left out.
    drawn: usize,
}

/// Several clients at the same time, with pauses and without.
fn crowded(
    server: &EtcdServer,
    conform: &Conform,
    possible: EtcdPossible,
    common: &Common,
) -> Result<Crowds, CommandError> {
    let concurrent = conform.concurrent.unwrap_or(conform.commands / 2);
    let mut crowds = Crowds { possible, exchanged: Vec::new(), impossible: None, undecided: 0 };
    if concurrent == 0 {
        return Ok(crowds);
    }
    let slow = (concurrent / CALLS_PER_SLOW_CROWD).clamp(1, SLOW_CROWDS_MAX);
    let busy = concurrent.div_ceil(EtcdPace::Busy.total() as u64);
    let bar = progress(usize::try_from(concurrent).unwrap_or(usize::MAX), "concurrent answers", common.quiet);
    let of = |pace: EtcdPace, count: u64| (0..count).map(move |number| (number, pace));
    let queues = of(EtcdPace::Queues, concurrent.div_ceil(CALLS_PER_QUEUES));
    let paces = of(EtcdPace::Slow, slow).chain(queues).chain(of(EtcdPace::Busy, busy));
    for (number, pace) in paces {
        let script = EtcdScript::drawn(conform.seed, number, pace);
        let found = crowd(server, &script).map_err(|error| CommandError::Input(error.0))?;
        if conform.record.is_some() {
            crowds.exchanged.push(found.clone());
        }
        match order(&found, lateness(conform)) {
            EtcdOrder::Possible { exchanges, ended } => crowds.possible.add(&exchanges, ended),
            EtcdOrder::Impossible { exchange, .. } => {
                crowds.impossible = Some(shrunk(server, conform, &script, (found, *exchange))?);
                break;
            }
            EtcdOrder::Undecided => crowds.undecided += 1,
        }
        bar.inc(if pace == EtcdPace::Busy { pace.total() as u64 } else { 0 });
    }
    bar.finish_and_clear();
    Ok(crowds)
}

/// The smallest crowd that was found without some calls of one that differs, and still differs.
fn shrunk(
    server: &EtcdServer,
    conform: &Conform,
    script: &EtcdScript,
    first: (EtcdCrowd, EtcdExchange),
) -> Result<Differing, CommandError> {
    let smaller = shrink(script, TRIES, &mut |script| {
        let found = crowd(server, script)?;
        Ok(match order(&found, lateness(conform)) {
            EtcdOrder::Impossible { exchange, .. } => Some((found, *exchange)),
            _ => None,
        })
    });
    let (crowd, exchange) = smaller.map_err(|error: ConformError| CommandError::Input(error.0))?.unwrap_or(first);
    Ok(Differing { crowd, exchange, drawn: script.count() })
}

/// How late the scan of leases may be, in nanoseconds.
fn lateness(conform: &Conform) -> i64 {
    conform.lateness.map_or(LATENESS, |lateness| lateness.0.unwrap_or(i64::MAX))
}

/// A log of calls.
pub fn recorded(conform: &Conform, file: &Path, text: &str, common: &Common) -> Result<Exit, CommandError> {
    let log = read(text).map_err(|why| unreadable(file, &why))?;
    let warning = ModelledServer::ETCD.warning(text);
    let warning = warning.as_deref();
    let exit = match judge(&log, lateness(conform)) {
        EtcdVerdict::Possible(possible) => {
            let answers = usize::try_from(possible.tally.total()).ok();
            let (count, rest) = (possible.tally.total(), at_the_same_time(&possible, conform));
            conclude(&format!("{count} answers are possible{rest}\n{BESIDE}\n"), common);
            tell(&verdict("possible", answers, None, None, warning), common);
            Exit::AsExpected
        }
        EtcdVerdict::Impossible { line, exchange } => {
            let why =
                format!("the server said {}, and the model says {}", exchange.reply.body, exchange.expected().body);
            conclude(&format!("impossible at line {line}: {why}\n"), common);
            tell(&verdict("impossible", None, Some(line), Some(&why), warning), common);
            Exit::Unexpected
        }
        EtcdVerdict::Undecided { line } => {
            let why = "among a million states no order of the calls that overlap was found";
            conclude(&format!("undecided from line {line} on: {why}\n"), common);
            tell(&verdict("undecided", None, Some(line), Some(why), warning), common);
            Exit::Undecided
        }
    };
    warn(warning, common);
    Ok(exit)
}

fn verdict<'a>(
    verdict: &'static str,
    answers: Option<usize>,
    line: Option<usize>,
    why: Option<&'a str>,
    warning: Option<&'a str>,
) -> json::LogVerdictJson<'a> {
    json::LogVerdictJson { verdict, answers, compared: None, line, rule: None, why, open: &[], warning }
}

/// The histogram over the classes of answers, with those that never came up, and what no run can meet.
fn report(tally: &Histogram<Class>, common: &Common) {
    if common.json {
        for (class, count) in tally.iter() {
            say_json(&json::AnswerCountJson { rule: class.rule(), answer: class.text(), count });
        }
    } else if !common.quiet {
        say(&tally.table(false));
        let never = tally.never();
        if !never.is_empty() {
            say(&format!("Never came up:\n{never}"));
        }
        say("Left out:\n");
        LEFT_OUT.iter().for_each(|(what, why)| say(&format!("    {what}: {why}\n")));
    }
    tell_unexercised(&tally.unexercised(&[]), common);
}

/// A call with both answers.
fn transcript(exchange: &EtcdExchange) -> String {
    let mut text = format!("{:?}\n    {} {}\n", exchange.call, exchange.reply.status, exchange.reply.body);
    if !exchange.is_alike() {
        let expected = exchange.expected();
        text += &format!("    differs; the model: {} {}\n", expected.status, expected.body);
    }
    text
}
