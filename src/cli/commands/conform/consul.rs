//! The model of Consul against an agent, and against logs.

use std::fs;
use std::path::Path;
use std::time::Instant;

use fencepost_conform::{
    AnswerClass, Consul, Episode, Exchange, LATENESS, Limits, ModelledServer, Objection, Omission, Possible, Race,
    Removal, TIMED_RULES, Tally, Uncertainty, Watched, clients, hunt, judge, judge_until, node_fails, number, picture,
    read, timed, timed_races, uncertainties, watches, write,
};

use super::crowds::crowded;
use super::{Conform, conclude, tell, tell_unexercised, unreadable, warn};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::{say, say_json};
use crate::parallel::progress;
use crate::supervisor::{stop_on_interrupt, stopped, was_interrupted};

/// The model against an agent: first at random, then what takes real time.
pub fn live(conform: &Conform, address: &str, common: &Common) -> Result<Exit, CommandError> {
    let input = |error: fencepost_conform::ConformError| CommandError::Input(error.0);
    let mut consul = Consul::connect(address).map_err(input)?;
    consul.restart.clone_from(&conform.restart);
    if let (Some(start), Some(kill)) = (&conform.second, &conform.kill_second) {
        consul.join(start, kill).map_err(input)?;
    }
    let removal = match (conform.wipe, conform.clean) {
        (true, _) => Removal::Everything,
        (false, true) => Removal::Leftovers,
        (false, false) => Removal::Nothing,
    };
    consul.make_room(removal).map_err(input)?;
    let bar = progress(usize::try_from(conform.commands).unwrap_or(usize::MAX), "answers compared", common.quiet);
    let mut episodes = Vec::new();
    let found = hunt(&consul, conform.seed, conform.commands, &mut |exchanges| {
        bar.inc(exchanges.len() as u64);
        let is_large = exchanges.iter().any(|exchange| exchange.line.question.body.len() > 10_000);
        // A log of one agent does not tell when another one was asked, or was killed.
        if conform.record.is_some() && !is_large && consul.second.is_none() {
            let lines = exchanges.iter().map(|exchange| exchange.line.clone()).collect();
            let node = consul.node.clone();
            let options = consul.options;
            episodes.push(Episode { node, options, lines, ..Episode::default() });
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
    let lateness = conform.lateness.and_then(|lateness| lateness.0).unwrap_or(LATENESS);
    let mut slow = timed(&consul, lateness).map_err(input)?;
    slow.extend(node_fails(&consul, lateness).map_err(input)?);
    number(&mut slow);
    let judged = judge(&slow, None);
    episodes.extend(slow.iter().cloned());
    let judged = match judged {
        Ok(possible) => possible,
        Err(impossible) => {
            conclude(&write(&consul.version, &slow), common);
            conclude(&format!("{impossible}\n"), common);
            return Ok(Exit::Unexpected);
        }
    };
    let crowded = crowded(&consul, conform, &mut episodes, common)?;
    if let Some(file) = &conform.record {
        fs::write(file, write(&consul.version, &episodes)).map_err(|error| unreadable(file, &error))?;
    }
    let crowds = match crowded {
        Ok(crowds) => crowds,
        Err(exit) => return Ok(exit),
    };
    let crowded = &crowds.possible;
    let mut tally = found.tally.clone();
    tally.add(&judged.tally);
    tally.add(&crowded.tally);
    report(&tally, false, common);
    let races = timed_races(&slow);
    tell_races(&races, common);
    tell_unexercised(&tally.unexercised(&shown_besides(&watched, &races)), common);
    conclude(
        &format!(
            "{} answers of Consul {} are as the model says, {} of them at random (seed {}), {} in real time and {} to \
         clients at the same time;\n\
         of the reads that wait, {} were woken and {} slept as it says, and {} did what is left open.\n",
            tally.total(),
            consul.version,
            found.tally.total(),
            conform.seed,
            judged.lines,
            crowded.lines,
            watched.woken,
            watched.slept,
            watched.either
        ),
        common,
    );
    if crowds.undecided > 0 {
        let (count, lines) = (crowds.undecided, crowds.undecided_lines);
        let why = "no order of their requests was found in time, and nothing that is certain is contradicted";
        let crowds = if count == 1 { "1 crowd" } else { &format!("{count} crowds") };
        conclude(&format!("undecided: {crowds} with {lines} answers; {why}.\n"), common);
        return Ok(Exit::Undecided);
    }
    Ok(Exit::AsExpected)
}

/// The rules that real time and reads that wait have shown: no answer tells of them.
fn shown_besides(watched: &Watched, races: &[Race]) -> Vec<&'static str> {
    let waits: [(&[&str], bool); 2] = [(&["C-BLK-1"], watched.woken > 0), (&["C-BLK-1", "C-BLK-2"], watched.slept > 0)];
    let waited = waits.iter().filter(|(_, is_shown)| *is_shown).flat_map(|(rules, _)| rules.iter().copied());
    let hit = races.iter().filter(|race| race.hit > 0).map(|race| race.rule);
    TIMED_RULES.into_iter().chain(waited).chain(hit).collect()
}

/// Races that the scripts try, with how often they were hit: a rule that is not among the rules shown was missed by luck.
fn tell_races(races: &[Race], common: &Common) {
    if common.json || common.quiet {
        return;
    }
    for Race { rule, seen, tried, hit } in races {
        say(&format!("{rule}: in {hit} of {tried} tries {seen}.\n"));
    }
}

/// A log against the model.
pub fn recorded(conform: &Conform, file: &Path, text: &str, common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let mut episodes = read(text).map_err(|why| unreadable(file, &why))?;
    if let Some(lateness) = conform.lateness {
        episodes.iter_mut().for_each(|episode| episode.lateness = lateness.0);
    }
    let mut limits = Limits::default();
    limits.states = conform.max_states.unwrap_or(limits.states);
    let end = conform.timeout.map(|limit| Instant::now() + limit);
    let is_over = || was_interrupted() || end.is_some_and(|end| Instant::now() >= end);
    let judged = judge_until(&episodes, None, limits, &is_over);
    let warning = ModelledServer::CONSUL.warning(text);
    let open = uncertainties(&episodes).into_iter().filter(|open| !matches!(open, Uncertainty::Version(_)));
    let open: Vec<String> = open.map(|open| open.to_string()).collect();
    let exit = server_verdict(&judged, text, &Caveats { open: &open, warning: warning.as_deref() }, common);
    if conform.clients && !was_interrupted() {
        let are_fine: Vec<bool> =
            episodes.iter().map(|episode| tell_clients(episode, &conform.protects, common)).collect();
        return Ok(if are_fine.contains(&false) { Exit::Unexpected } else { exit });
    }
    Ok(exit)
}

/// Prints the verdict about the clients of an episode; true if nothing is wrong.
fn tell_clients(episode: &Episode, protected: &[String], common: &Common) -> bool {
    let clients = clients(episode, protected);
    conclude(&picture(&clients), common);
    for finding in &clients.findings {
        conclude(&format!("{}\n", finding.sentence), common);
        for Omission { sentence, hazard, scenario, mended } in &finding.omissions {
            conclude(
                &format!("    {sentence} ({hazard}: `fencepost check {scenario}`, and mended `{mended}`)\n"),
                common,
            );
        }
        let omissions = finding.omissions.iter().map(|omission| omission.sentence.as_str()).collect();
        let hazard = finding.omissions.first().map(|omission| omission.hazard);
        let scenario = finding.omissions.first().map(|omission| omission.scenario);
        if common.json {
            say_json(&json::ClientFindingJson { finding: &finding.sentence, omissions, hazard, scenario });
        }
    }
    if clients.findings.is_empty() {
        conclude(&format!("{} tenures, and no client acted without one.\n", clients.tenures.len()), common);
    }
    conclude(&format!("This rests on: {}.\n", clients.assumptions.join("; ")), common);
    clients.findings.is_empty()
}

/// What a verdict is told with.
#[derive(Copy, Clone)]
struct Caveats<'a> {
    /// What the log leaves open.
    open: &'a [String],
    /// The log is of another version than the model.
    warning: Option<&'a str>,
}

/// Prints the verdict about the server, what the log leaves open, and the warning.
fn server_verdict(judged: &Result<Possible, Objection>, text: &str, caveats: &Caveats<'_>, common: &Common) -> Exit {
    let exit = verdict(judged, text, caveats, common);
    if !caveats.open.is_empty() {
        conclude(&format!("The log leaves open: {}.\n", caveats.open.join("; ")), common);
    }
    warn(caveats.warning, common);
    exit
}

fn verdict(
    judged: &Result<Possible, Objection>,
    text: &str,
    &Caveats { open, warning }: &Caveats<'_>,
    common: &Common,
) -> Exit {
    match judged {
        Err(Objection::Undecided { line, .. }) if was_interrupted() => {
            stopped(&format!("the answers before line {line} are possible, those from there on are not judged"))
        }
        Ok(possible) => {
            report(&possible.tally, true, common);
            if common.json {
                tell_unexercised(&possible.tally.unexercised(&[]), common);
            }
            let Possible { lines, partial, compared, .. } = *possible;
            if partial < lines || partial == 0 {
                conclude(&format!("{} answers are possible.\n", lines - partial), common);
            }
            if possible.skipped > 0 {
                let skipped = possible.skipped;
                conclude(&format!("{skipped} requests for what the model does not have were passed over.\n"), common);
            }
            let (verdict, exit) = match (partial, compared) {
                (0, _) => ("possible", Exit::AsExpected),
                (_, 0) => ("undecided", Exit::Undecided),
                _ => ("no-contradiction", Exit::AsExpected),
            };
            if partial > 0 {
                conclude(
                    &format!(
                        "{verdict}: the log does not say everything. {partial} answers were searched for contradictions, and \
                         {compared} of them could be held against others.\n"
                    ),
                    common,
                );
            }
            let (answers, compared) = (Some(lines), (partial > 0).then_some(compared));
            tell(
                &json::LogVerdictJson { verdict, answers, compared, line: None, rule: None, why: None, open, warning },
                common,
            );
            exit
        }
        Err(Objection::Undecided { line, why }) => {
            conclude(&format!("undecided, so far possible before line {line}: {why}\n"), common);
            tell(
                &json::LogVerdictJson {
                    verdict: "undecided",
                    answers: None,
                    compared: None,
                    line: Some(*line),
                    rule: None,
                    why: Some(why),
                    open,
                    warning,
                },
                common,
            );
            Exit::Undecided
        }
        Err(Objection::Impossible(impossible)) => {
            conclude(&format!("{impossible}\n"), common);
            let (line, rule, why) = (impossible.line, impossible.rule.map(|(rule, _)| rule), impossible.why.as_str());
            tell(
                &json::LogVerdictJson {
                    verdict: "impossible",
                    answers: None,
                    compared: None,
                    line: Some(line),
                    rule,
                    why: Some(why),
                    open,
                    warning,
                },
                common,
            );
            if let Some(line) = text.lines().nth(impossible.line - 1) {
                conclude(&format!("    {}\n", line.chars().take(400).collect::<String>()), common);
            }
            Exit::Unexpected
        }
    }
}

/// The histogram over the classes of answers: prints how often each class came up; of a log only those that did, for a log is no test of all of them.
fn report(tally: &Tally, is_log: bool, common: &Common) {
    if common.json {
        for (class, count) in tally.iter() {
            say_json(&json::AnswerCountJson { rule: class.rule(), answer: class.text(), count });
        }
    } else if !common.quiet {
        say(&tally.table(!is_log));
        if !is_log {
            say(&format!("{} classes of answers came up less than 50 times.\n", tally.rarer_than(50).len()));
        }
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
