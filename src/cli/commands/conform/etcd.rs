//! The model of etcd's store against a server, and against logs.

use std::fs;
use std::path::Path;

use fencepost_conform::etcd::{Class, EtcdExchange, EtcdServer, EtcdVerdict, LEFT_OUT, hunt, judge, read, write};
use fencepost_conform::{AnswerClass, Histogram, Removal};

use super::{Conform, conclude, tell, unreadable};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};
use crate::parallel::progress;

/// What the agreement is about.
const BESIDE: &str =
    "This is about the store as its API shows it; the checker explores a smaller one, which is not compared here.";

pub fn live(conform: &Conform, address: &str, common: &Common) -> Result<Exit, CommandError> {
    let input = |error: fencepost_conform::ConformError| CommandError::Input(error.0);
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
    if let Some(file) = &conform.record {
        fs::write(file, write(version, &sequences)).map_err(|error| unreadable(file, &error))?;
    }
    if let Some(sequence) = &found.difference {
        sequence.exchanges.iter().for_each(|exchange| conclude(&transcript(exchange), common));
        conclude(&format!("The model and etcd {version} differ (seed {seed}).\n"), common);
        return Ok(Exit::Unexpected);
    }
    report(&found.tally, common);
    let count = found.tally.total();
    conclude(&format!("{count} answers of etcd {version} are as the model says (seed {seed}).\n{BESIDE}\n"), common);
    Ok(Exit::AsExpected)
}

/// A log of calls.
pub fn recorded(file: &Path, text: &str, common: &Common) -> Result<Exit, CommandError> {
    let log = read(text).map_err(|why| unreadable(file, &why))?;
    match judge(&log) {
        EtcdVerdict::Possible(tally) => {
            let answers = usize::try_from(tally.total()).ok();
            conclude(&format!("{} answers are possible.\n{BESIDE}\n", tally.total()), common);
            tell(&verdict("possible", answers, None, None), common);
            Ok(Exit::AsExpected)
        }
        EtcdVerdict::Impossible { line, exchange } => {
            let why =
                format!("the server said {}, and the model says {}", exchange.reply.body, exchange.expected().body);
            conclude(&format!("impossible at line {line}: {why}\n"), common);
            tell(&verdict("impossible", None, Some(line), Some(&why)), common);
            Ok(Exit::Unexpected)
        }
    }
}

fn verdict<'a>(
    verdict: &'static str,
    answers: Option<usize>,
    line: Option<usize>,
    why: Option<&'a str>,
) -> json::LogVerdictJson<'a> {
    json::LogVerdictJson { verdict, answers, compared: None, line, rule: None, why, open: &[] }
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
