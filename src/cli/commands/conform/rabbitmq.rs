//! The model of RabbitMQ against a broker, and against logs.

use std::fs;
use std::path::Path;

use fencepost::rabbitmq::Answer;
use fencepost_conform::amqp::traffic::{self, Verdict};
use fencepost_conform::amqp::{Broker, Command, Exchange, Judged, LEFT_OUT, Tally, hunt, judge, read, write};
use fencepost_conform::{AnswerClass, ModelledServer};

use super::{Conform, conclude, tell, tell_unexercised, unreadable, warn};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};
use crate::parallel::progress;

pub fn live(conform: &Conform, address: &str, common: &Common) -> Result<Exit, CommandError> {
    let input = |error: fencepost_conform::ConformError| CommandError::Input(error.0);
    let mut broker = Broker::connect(address).map_err(input)?;
    broker.removes_leftovers = conform.clean;
    if let Some(lateness) = conform.lateness {
        broker.lateness = lateness.milliseconds();
    }
    broker.restart.clone_from(&conform.restart);
    if let Some(rabbitmqctl) = &conform.rabbitmqctl {
        let removed = broker.remove_leftovers(rabbitmqctl).map_err(input)?;
        if !removed.is_empty() {
            conclude(&format!("Removed the queues of {}.\n", removed.join(", ")), common);
        }
    }
    let (seed, version) = (conform.seed, broker.version.clone());
    let count = usize::try_from(conform.commands.saturating_add(conform.traffic)).unwrap_or(usize::MAX);
    let bar = progress(count, "answers compared", common.quiet);
    let (mut sequences, mut logs) = (Vec::new(), Vec::new());
    let found = hunt(&broker, seed, conform.commands, None, &mut |exchanges| {
        bar.inc(exchanges.len() as u64);
        if conform.record.is_some() {
            sequences.push(exchanges.to_vec());
        }
    });
    let found = found.map_err(input)?;
    if let Some(file) = &conform.record {
        fs::write(file, write(&version, &sequences)).map_err(|error| unreadable(file, &error))?;
    }
    if let Some(exchanges) = &found.difference {
        bar.finish_and_clear();
        conclude(&transcript(exchanges), common);
        conclude(&format!("The model and RabbitMQ {version} differ (seed {seed}).\n"), common);
        return Ok(Exit::Unexpected);
    }
    let busy = traffic::hunt(&broker, seed, conform.traffic, None, &mut |log, methods| {
        bar.inc(methods);
        if conform.record.is_some() {
            logs.push(log.clone());
        }
    });
    bar.finish_and_clear();
    let busy = busy.map_err(input)?;
    if let Some(file) = conform.record.as_ref().filter(|_| !logs.is_empty()) {
        let text = write(&version, &sequences) + &traffic::write(&logs);
        fs::write(file, text).map_err(|error| unreadable(file, &error))?;
    }
    if let Some((log, flaw)) = &busy.difference {
        conclude(&traffic::write(std::slice::from_ref(log)), common);
        conclude(&format!("impossible at line {}: {} (seed {seed})\n", flaw.line, flaw.why), common);
        return Ok(Exit::Unexpected);
    }
    let mut tally = found.tally.clone();
    tally.add(&busy.tally);
    report(&tally, common);
    conclude(
        &format!("{} answers of RabbitMQ {version} are as the model says (seed {seed}).\n", found.total()),
        common,
    );
    if conform.traffic == 0 {
        return Ok(Exit::AsExpected);
    }
    if !busy.has_limited {
        conclude("The broker has no user limited, with the password limited: permissions were not tried.\n", common);
    }
    let (methods, concurrent, judged) = (busy.methods, busy.concurrent, busy.judged);
    conclude(
        &format!(
            "Of {methods} methods in traffic, {concurrent} while other channels had some in flight, {judged} answers and deliveries are \
             possible.\n"
        ),
        common,
    );
    if busy.undecided > 0 {
        let count = busy.undecided;
        let sequences = if count == 1 { "1 sequence".to_owned() } else { format!("{count} sequences") };
        conclude(&format!("undecided: {sequences} with too many possible orders.\n"), common);
        return Ok(Exit::Undecided);
    }
    Ok(Exit::AsExpected)
}

/// A log of single methods, of traffic, or of one after the other.
pub fn recorded(conform: &Conform, file: &Path, text: &str, common: &Common) -> Result<Exit, CommandError> {
    let warning = ModelledServer::RABBITMQ.warning(text);
    let exit = judged(conform, file, text, warning.as_deref(), common)?;
    warn(warning.as_deref(), common);
    Ok(exit)
}

fn judged(
    conform: &Conform,
    file: &Path,
    text: &str,
    warning: Option<&str>,
    common: &Common,
) -> Result<Exit, CommandError> {
    let split = text.lines().position(traffic::is_one).unwrap_or(usize::MAX);
    let single = read(&joined(text.lines().take(split))).map_err(|why| unreadable(file, &why))?;
    let mut answers = match judge(&single, None) {
        Judged::Possible(answers) => answers,
        Judged::Impossible { line, answer, expected } => {
            let why = format!("the broker said “{}”, and the model says “{}”", in_words(answer), in_words(expected));
            return Ok(impossible(line, &why, warning, common));
        }
    };
    let first = split.min(text.lines().count());
    let mut logs = traffic::read(&joined(text.lines().skip(first))).map_err(|mut why| {
        why.line += first;
        unreadable(file, &why)
    })?;
    if let Some(lateness) = conform.lateness {
        if logs.is_empty() {
            let why = "--lateness has no effect on a log of RabbitMQ without `traffic`: it has no clock";
            return Err(unreadable(file, &why));
        }
        logs.iter_mut().for_each(|log| log.lateness = lateness.milliseconds());
    }
    for log in &logs {
        match traffic::judge(log, None) {
            Verdict::Possible(count) => answers += count,
            Verdict::Impossible(flaw) => return Ok(impossible(first + flaw.line, &flaw.why, warning, common)),
            Verdict::Undecided { line } => {
                let line = first + line;
                conclude(
                    &format!("undecided, so far possible before line {line}: there are too many orders\n"),
                    common,
                );
                let why = Some("there are too many orders");
                tell(&verdict("undecided", None, Some(line), why, warning), common);
                return Ok(Exit::Undecided);
            }
        }
    }
    conclude(&format!("{answers} answers are possible.\n"), common);
    tell(&verdict("possible", Some(answers), None, None, warning), common);
    Ok(Exit::AsExpected)
}

fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.fold(String::new(), |text, line| text + line + "\n")
}

fn impossible(line: usize, why: &str, warning: Option<&str>, common: &Common) -> Exit {
    conclude(&format!("impossible at line {line}: {why}\n"), common);
    tell(&verdict("impossible", None, Some(line), Some(why), warning), common);
    Exit::Unexpected
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
fn report(tally: &Tally, common: &Common) {
    if common.json {
        for (class, count) in tally.iter() {
            say_json(&json::AnswerCountJson { rule: class.rule(), answer: class.text(), count });
        }
    } else if !common.quiet {
        say(&tally.table(false));
        let never = tally.never();
        if !never.is_empty() {
            say(&format!("Never came up (messages and consumers come with --traffic):\n{never}"));
        }
        say("Left out:\n");
        LEFT_OUT.iter().for_each(|(what, why)| say(&format!("    {what}: {why}\n")));
    }
    tell_unexercised(&tally.unexercised(&[]), common);
}

fn in_words(answer: Option<Answer>) -> String {
    answer.map_or("nothing".to_owned(), |answer| answer.to_string())
}

/// A short list of methods with both answers.
fn transcript(exchanges: &[Exchange]) -> String {
    let mut text = String::new();
    for Exchange { command, answer, expected } in exchanges {
        match command {
            Command::Ask { connection, channel, close_ok, request } => {
                let before = if *close_ok { "close-ok, " } else { "" };
                text += &format!("connection {connection}, channel {channel}: {before}{request}\n");
                text += &format!("    {}\n", in_words(*answer));
            }
            Command::HangUp { connection } => text += &format!("connection {connection}: hangs up\n"),
        }
        if answer != expected {
            text += &format!("    differs; the model: {}\n", in_words(*expected));
        }
    }
    text
}
