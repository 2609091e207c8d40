//! The model of etcd's store against a server, and against logs.

use std::fs;
use std::path::Path;

use fencepost_conform::etcd::{
    Class, EtcdCluster, EtcdExchange, EtcdPossible, EtcdServer, EtcdVerdict, LEFT_OUT, SCAN, UNTOLD, hunt, judge, read,
    write, write_crowds,
};
use fencepost_conform::{AnswerClass, ConformError, Histogram, LATENESS, ModelledServer, Removal};

use super::etcd_crowds::{CrowdPlace, Differing, concurrent, crowded};
use super::{Conform, conclude, leaders, tell, tell_unexercised, unreadable, warn};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};
use crate::parallel::progress;

/// What the agreement is about.
const BESIDE: &str = "This is about the store as its API shows it; the checker explores a smaller one, which a test of fencepost holds against this one.";

pub fn live(conform: &Conform, address: &str, common: &Common) -> Result<Exit, CommandError> {
    let input = |error: ConformError| CommandError::Input(error.0);
    let cluster = conform.members.as_deref().map(|command| EtcdCluster::connect(address, command)).transpose();
    let cluster = cluster.map_err(input)?;
    if cluster.is_none() && address.contains(',') {
        let why = "several addresses are the members of a cluster: add --members COMMAND, which operates them";
        return Err(CommandError::Input(why.to_owned()));
    }
    let server = match &cluster {
        Some(cluster) => cluster.members[0].clone(),
        None => EtcdServer::connect(address).map_err(input)?,
    };
    let removal = match (conform.wipe, conform.clean) {
        (true, _) => Removal::Everything,
        (false, true) => Removal::Leftovers,
        (false, false) => Removal::Nothing,
    };
    server.make_room(removal).map_err(input)?;
    warn(ModelledServer::ETCD.warning_at(&server.version.to_string()).as_deref(), common);
    let (seed, version) = (conform.seed, server.version);
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
    let log = write(&sequences);
    keep(&log)?;
    if let Some(sequence) = &found.difference {
        sequence.exchanges.iter().for_each(|exchange| conclude(&transcript(exchange), common));
        conclude(&format!("The model and etcd {version} differ (seed {seed}).\n"), common);
        return Ok(Exit::Unexpected);
    }
    let place = CrowdPlace { server: &server, cluster: cluster.as_ref() };
    let crowds = crowded(&place, conform, EtcdPossible { tally: found.tally, ..EtcdPossible::default() }, common)?;
    keep(&(log + &write_crowds(&crowds.exchanged)))?;
    if let Some(Differing { crowd, exchange, drawn }) = &crowds.impossible {
        conclude(&write_crowds(std::slice::from_ref(crowd)), common);
        conclude(&transcript(exchange), common);
        let these = match crowd.calls.len() {
            all if all == *drawn => "these calls".to_owned(),
            left => format!("these {left} calls, which are left of {drawn},"),
        };
        conclude(&format!("The model answers {these} as etcd {version} did in no order (seed {seed}).\n"), common);
        return Ok(Exit::Unexpected);
    }
    let seen = match &cluster {
        Some(cluster) => leaders::seen(cluster, concurrent(conform), lateness(conform), common)?,
        None => Some(Vec::new()),
    };
    let Some(mut seen) = seen else { return Ok(Exit::Unexpected) };
    if crowds.possible.ended > 0 {
        seen.extend(["E-LS-2", "E-LS-5", "E-T-1"]);
    }
    if cluster.is_some() && crowds.possible.ended > 0 {
        seen.extend(["E-GEN-1", "E-T-2"]);
    }
    report(&crowds.possible.tally, &seen, common);
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

/// How late the scan of leases may be, in nanoseconds.
pub fn lateness(conform: &Conform) -> i64 {
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
fn report(tally: &Histogram<Class>, seen: &[&str], common: &Common) {
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
        for (why, rules) in UNTOLD {
            let rules: Vec<&str> = rules.iter().copied().filter(|rule| !seen.contains(rule)).collect();
            if !rules.is_empty() {
                say(&format!("    {}: {why}\n", rules.join(", ")));
            }
        }
    }
    tell_unexercised(&tally.unexercised(seen), common);
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
