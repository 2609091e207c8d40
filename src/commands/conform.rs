//! `fencepost conform`: the model held against a real Consul agent.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use fencepost::conform::{Consul, Episode, Exchange, Objection, Tally, hunt, judge, read, timed, watches, write};

use super::output::{say, say_json};
use super::parallel::progress;
use super::{Common, Exit, Trouble, json};

#[derive(Args, Debug)]
pub struct Conform {
    /// Where an agent listens, as http://127.0.0.1:8500; everything in it is removed, again and again
    #[arg(long, value_name = "URL", required_unless_present = "recorded", conflicts_with = "recorded")]
    consul: Option<String>,
    /// A log of requests and answers to be judged
    #[arg(long, value_name = "FILE")]
    recorded: Option<PathBuf>,
    /// How many answers to compare
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    commands: u64,
    /// How many blocking queries to let wait
    #[arg(long, default_value_t = 60, value_name = "N")]
    watches: u32,
    /// From which seed commands are drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write requests and answers into this file, as --recorded reads them; sequences with very large values are left out
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Go on although somebody has put something into the agent, and remove it
    #[arg(long)]
    wipe: bool,
}

pub fn run(conform: &Conform, common: &Common) -> Result<Exit, Trouble> {
    match (&conform.recorded, &conform.consul) {
        (Some(file), _) => recorded(file, common),
        (None, Some(address)) => live(conform, address, common),
        (None, None) => Err(Trouble::Input("either --consul URL or --recorded FILE".to_owned())),
    }
}

/// The model against an agent: first at random, then what takes real time.
fn live(conform: &Conform, address: &str, common: &Common) -> Result<Exit, Trouble> {
    let input = |trouble: fencepost::conform::Trouble| Trouble::Input(trouble.0);
    let consul = Consul::connect(address).map_err(input)?;
    if let Some(contents) = consul.contents().map_err(input)?.filter(|_| !conform.wipe) {
        return Err(Trouble::Input(format!(
            "the agent is in use: it has {contents}. Everything in it would be removed; --wipe says that it may be"
        )));
    }
    let bar = progress(usize::try_from(conform.commands).unwrap_or(usize::MAX), "answers compared", common.quiet);
    let mut episodes = Vec::new();
    let found = hunt(&consul, conform.seed, conform.commands, &mut |exchanges| {
        bar.inc(exchanges.len() as u64);
        let is_large = exchanges.iter().any(|exchange| exchange.line.question.body.len() > 10_000);
        if conform.record.is_some() && !is_large {
            let lines = exchanges.iter().map(|exchange| exchange.line.clone()).collect();
            episodes.push(Episode { node: consul.node.clone(), options: consul.options, lateness: None, lines });
        }
    });
    bar.finish_and_clear();
    let found = found.map_err(input)?;
    if let Some(exchanges) = &found.difference {
        conclude(&transcript(exchanges), common);
        conclude(&format!("The model and Consul {} differ (seed {}).\n", consul.version, conform.seed), common);
        return Ok(Exit::Unexpected);
    }
    let watched = match watches(&consul, conform.seed, conform.watches).map_err(input)? {
        Ok(watched) => watched,
        Err(missed) => {
            conclude(&transcript(&missed.exchanges), common);
            conclude(
                &format!(
                    "A read of {} that waits: the model says {:?}, and it is not so.\n",
                    missed.url, missed.expected
                ),
                common,
            );
            return Ok(Exit::Unexpected);
        }
    };
    let slow = timed(&consul).map_err(input)?;
    let judged = judge(&slow, None);
    episodes.extend(slow.iter().cloned());
    if let Some(file) = &conform.record {
        fs::write(file, write(&consul.version, &episodes))
            .map_err(|error| Trouble::Input(format!("{}: {error}", file.display())))?;
    }
    let judged = match judged {
        Ok(possible) => possible,
        Err(impossible) => {
            conclude(&write(&consul.version, &slow), common);
            conclude(&format!("{impossible}\n"), common);
            return Ok(Exit::Unexpected);
        }
    };
    let mut tally = found.tally.clone();
    tally.add(&judged.tally);
    report(&tally, common);
    conclude(
        &format!(
            "{} answers of Consul {} are as the model says, {} of them at random (seed {}) and {} in real time;\n\
         of the reads that wait, {} were woken and {} slept as it says, and {} did what is left open.\n",
            tally.total(),
            consul.version,
            found.tally.total(),
            conform.seed,
            judged.lines,
            watched.woken,
            watched.slept,
            watched.either
        ),
        common,
    );
    Ok(Exit::AsExpected)
}

/// A log against the model.
fn recorded(file: &Path, common: &Common) -> Result<Exit, Trouble> {
    let named = |why: String| Trouble::Input(format!("{}: {why}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
    let episodes = read(&text).map_err(|error| named(error.to_string()))?;
    let tell = |judged: json::Judged<'_>| {
        if common.json {
            say_json(&judged);
        }
    };
    match judge(&episodes, None) {
        Ok(possible) => {
            report(&possible.tally, common);
            conclude(&format!("{} answers are possible.\n", possible.lines), common);
            tell(json::Judged {
                verdict: "possible",
                answers: Some(possible.lines),
                line: None,
                rule: None,
                why: None,
            });
            Ok(Exit::AsExpected)
        }
        Err(Objection::Undecided { line, why }) => {
            conclude(&format!("undecided at line {line}: {why}\n"), common);
            tell(json::Judged { verdict: "undecided", answers: None, line: Some(line), rule: None, why: Some(&why) });
            Ok(Exit::Undecided)
        }
        Err(Objection::Impossible(impossible)) => {
            conclude(&format!("{impossible}\n"), common);
            let (line, rule, why) = (impossible.line, impossible.rule.map(|(rule, _)| rule), impossible.why.as_str());
            tell(json::Judged { verdict: "impossible", answers: None, line: Some(line), rule, why: Some(why) });
            if let Some(line) = text.lines().nth(impossible.line - 1) {
                conclude(&format!("    {}\n", line.chars().take(400).collect::<String>()), common);
            }
            Ok(Exit::Unexpected)
        }
    }
}

/// The histogram over the classes of answers.
fn report(tally: &Tally, common: &Common) {
    if common.json {
        for (class, count) in tally.iter() {
            say_json(&json::Answered { rule: class.rule(), answer: class.text(), count });
        }
    } else if !common.quiet {
        say(&tally.table());
        say(&format!("{} classes of answers came up less than 50 times.\n", tally.rarer_than(50).len()));
    }
}

/// A sentence for people.
fn conclude(text: &str, common: &Common) {
    if common.json {
        eprint!("{text}");
    } else {
        say(text);
    }
}

/// A short list of curl-like lines with both answers.
fn transcript(exchanges: &[Exchange]) -> String {
    let mut text = String::new();
    for exchange in exchanges {
        let question = &exchange.line.question;
        let body = String::from_utf8_lossy(&question.body);
        text += &format!("curl -X {} '{}'", question.method, question.url);
        if !body.is_empty() {
            text += &format!(" -d '{}'", body.chars().take(300).collect::<String>());
        }
        if let Some(reply) = &exchange.line.reply {
            let body = String::from_utf8_lossy(&reply.body).replace('\n', "").replace("    ", "");
            text += &format!("\n    {} {body}\n", reply.status);
        }
        if let Some(difference) = &exchange.difference {
            text += &format!("    differs: {difference}\n    the model: {:?}\n", exchange.expected);
        }
    }
    text
}
