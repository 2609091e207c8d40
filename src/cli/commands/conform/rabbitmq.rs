//! The model of RabbitMQ against a broker, and against logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fencepost::rabbitmq::Answer;
use fencepost_conform::amqp::{Broker, Command, Exchange, Judged, hunt, judge, read, write};

use super::{Conform, conclude, tell, unreadable};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};
use crate::parallel::progress;

pub fn live(conform: &Conform, address: &str, common: &Common) -> Result<Exit, CommandError> {
    let input = |error: fencepost_conform::ConformError| CommandError::Input(error.0);
    let mut broker = Broker::connect(address).map_err(input)?;
    broker.removes_leftovers = conform.clean;
    let bar = progress(usize::try_from(conform.commands).unwrap_or(usize::MAX), "answers compared", common.quiet);
    let mut sequences = Vec::new();
    let found = hunt(&broker, conform.seed, conform.commands, None, &mut |exchanges| {
        bar.inc(exchanges.len() as u64);
        if conform.record.is_some() {
            sequences.push(exchanges.to_vec());
        }
    });
    bar.finish_and_clear();
    let found = found.map_err(input)?;
    if let Some(file) = &conform.record {
        fs::write(file, write(&broker.version, &sequences)).map_err(|error| unreadable(file, &error))?;
    }
    if let Some(exchanges) = &found.difference {
        conclude(&transcript(exchanges), common);
        conclude(&format!("The model and RabbitMQ {} differ (seed {}).\n", broker.version, conform.seed), common);
        return Ok(Exit::Unexpected);
    }
    report(&found.tally, common);
    let (total, version, seed) = (found.total(), &broker.version, conform.seed);
    conclude(&format!("{total} answers of RabbitMQ {version} are as the model says (seed {seed}).\n"), common);
    Ok(Exit::AsExpected)
}

pub fn recorded(file: &Path, text: &str, common: &Common) -> Result<Exit, CommandError> {
    let sequences = read(text).map_err(|why| unreadable(file, &why))?;
    let (line, answer, expected) = match judge(&sequences, None) {
        Judged::Possible(answers) => {
            conclude(&format!("{answers} answers are possible.\n"), common);
            let answers = Some(answers);
            tell(
                &json::LogVerdictJson {
                    verdict: "possible",
                    answers,
                    compared: None,
                    line: None,
                    rule: None,
                    why: None,
                    open: &[],
                },
                common,
            );
            return Ok(Exit::AsExpected);
        }
        Judged::Impossible { line, answer, expected } => (line, answer, expected),
    };
    let why = format!("the broker said “{}”, and the model says “{}”", in_words(answer), in_words(expected));
    conclude(&format!("impossible at line {line}: {why}\n"), common);
    let verdict = json::LogVerdictJson {
        verdict: "impossible",
        answers: None,
        compared: None,
        line: Some(line),
        rule: None,
        why: Some(&why),
        open: &[],
    };
    tell(&verdict, common);
    Ok(Exit::Unexpected)
}

/// The histogram over the classes of answers.
fn report(tally: &BTreeMap<String, u64>, common: &Common) {
    if common.json {
        for (class, count) in tally {
            say_json(&json::AnswerCountJson { rule: "", answer: class, count: *count });
        }
    } else if !common.quiet {
        tally.iter().for_each(|(class, count)| say(&format!("{count:8}  {class}\n")));
        let rare = tally.values().filter(|count| **count < 50).count();
        say(&format!("{rare} classes of answers came up less than 50 times.\n"));
    }
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
