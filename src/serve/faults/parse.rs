//! How plans are read.

use std::fmt;
use std::str::FromStr;

use fencepost_conform::nanoseconds;

use super::glob::Glob;
use super::{DOUBTS, Doubt, DoubtfulAnswer, Fault, FaultPlan, Rule, ServerEvent};

/// What is wrong with a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanError {
    /// In which line, from 1.
    pub line: usize,
    /// The mistake, in a sentence.
    pub why: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for PlanError {}

impl FromStr for FaultPlan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let lines = text.lines().map(str::trim).enumerate();
        let rules = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        rules.map(|(place, line)| line.parse().map_err(|why| PlanError { line: place + 1, why })).collect()
    }
}

const FORM: &str = "a rule is `on METHOD PATH [#NUMBER] [from CLIENT]: FAULT`";

impl FromStr for Rule {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let (head, fault) = line.split_once(": ").ok_or(FORM)?;
        let mut words = head.split_whitespace();
        let (Some("on"), Some(method), Some(url)) = (words.next(), words.next(), words.next()) else {
            return Err(FORM.to_owned());
        };
        if !method.bytes().all(|byte| byte.is_ascii_alphabetic()) && method != "*" {
            return Err(format!("`{method}` is no method: there are GET, PUT, POST, PATCH, DELETE and * for any"));
        }
        if !url.starts_with(['/', '*']) {
            return Err(format!("`{url}` is no path: it begins with / or *"));
        }
        if url.starts_with("/fencepost/") {
            return Err("what a test asks under /fencepost/ never goes wrong".to_owned());
        }
        let (mut occurrence, mut client) = (None, None);
        while let Some(word) = words.next() {
            match (word.strip_prefix('#').map(str::parse), word) {
                (Some(Ok(number @ 1..)), _) if occurrence.is_none() => occurrence = Some(number),
                (None, "from") if client.is_none() => {
                    client = Some(words.next().ok_or("`from` needs the name of a client")?.to_owned());
                }
                _ => return Err(format!("`{word}`: {FORM}; numbers begin with 1")),
            }
        }
        let method = (method != "*").then(|| method.to_ascii_uppercase());
        Ok(Rule { method, url: Glob::new(url), occurrence, client, fault: fault.trim().parse()?, seen: 0 })
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, fault)) = Fault::PLAIN.iter().find(|(name, _)| *name == text) {
            return Ok(*fault);
        }
        if let Some(event) = ServerEvent::read(text) {
            return event.map(Fault::Event);
        }
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let by = || match nanoseconds(rest.trim())? {
            by @ 1.. => Ok(by),
            _ => Err(format!("{name}: {rest} is no time in the future")),
        };
        match name {
            "delay" | "delay-answer" => Ok(Fault::DelayAnswer(by()?)),
            "delay-request" => Ok(Fault::DelayRequest(by()?)),
            "status" => status(rest),
            _ => {
                let plain = Fault::PLAIN.map(|(name, _)| name).join(", ");
                let events = ServerEvent::FORMS;
                Err(format!("`{text}`: there are {plain}, {events}, delay 20s, delay-request 20s and status 500 \"…\""))
            }
        }
    }
}

/// `500 "No cluster leader"`, with `after` if the request is carried out first.
fn status(text: &str) -> Result<Fault, String> {
    let form = |doubt: &DoubtfulAnswer| format!("status {} {:?} ({})", doubt.status, doubt.text, doubt.server);
    let known = || DOUBTS.iter().map(form).collect::<Vec<_>>().join(", ");
    let (quoted, is_carried_out) = match text.strip_suffix(" after") {
        Some(quoted) => (quoted, true),
        None => (text, false),
    };
    let parts = quoted.split_once(' ').and_then(|(status, said)| Some((status.parse().ok()?, said)));
    let parts: Option<(u16, &str)> =
        parts.and_then(|(status, said)| Some((status, said.strip_prefix('"')?.strip_suffix('"')?)));
    let place = parts.and_then(|said| DOUBTS.iter().position(|doubt| (doubt.status, doubt.text) == said));
    let Some(place) = place else {
        return Err(format!("`status {text}`: no rule allows that. There are {}", known()));
    };
    if is_carried_out && !DOUBTS[place].may_be_carried_out {
        let why = DOUBTS[place].allowed_by;
        return Err(format!("`status {text}`: who says so has not carried the request out ({why})"));
    }
    Ok(Fault::Status(Doubt(place), is_carried_out))
}

#[cfg(test)]
mod tests {
    use super::FaultPlan;

    const PLAN: &str = "\
on PUT /v1/session/renew/* #3: lose-answer
on PUT /v1/kv/lead?acquire=* #1 from worker-2: delay-answer 20s
on GET *: status 500 \"No cluster leader\"
on * /v1/kv/*: status 500 \"rpc error making call: EOF\" after
on DELETE /v1/kv/lead: half-open
on PUT /v1/kv/lead: delay-request 0.3s
on GET /v1/kv/lead #2: session-destroyed
on GET /v1/kv/lead #3: leader-lingers 0.5s
on GET /v1/kv/lead #4: gossip-failure 5s
";

    #[test]
    fn a_plan_is_read_as_it_is_written() {
        let plan: FaultPlan = PLAN.parse().expect("a plan");
        assert_eq!(plan.to_string(), PLAN);
        let short: FaultPlan = "# a comment\n\n  on put /v1/kv/lead #1: delay 1500ms\n".parse().expect("a plan");
        assert_eq!(short.to_string(), "on PUT /v1/kv/lead #1: delay-answer 1.5s\n");
    }

    #[test]
    fn an_error_in_a_fault_plan_names_its_line() {
        for (line, part) in [
            ("PUT /v1/kv/lead: reset", "a rule is `on METHOD PATH"),
            ("on PUT /v1/kv/lead reset", "a rule is `on METHOD PATH"),
            ("on PUT lead: reset", "begins with / or *"),
            ("on P?T /v1/kv/lead: reset", "is no method"),
            ("on PUT /v1/kv/lead #0: reset", "numbers begin with 1"),
            ("on PUT /v1/kv/lead from: reset", "the name of a client"),
            ("on PUT /v1/kv/lead: burn", "there are lose-request"),
            ("on PUT /v1/kv/lead: delay", "invalid duration"),
            ("on PUT /v1/kv/lead: delay -1s", "no time in the future"),
            ("on PUT /v1/kv/lead: status 503 \"busy\"", "no rule allows that"),
            ("on PUT /v1/kv/lead: status 500 \"No cluster leader\" after", "C-CON-6"),
            ("on PUT /v1/kv/lead: leader-lingers 3s", "after 2.5 s at most (C-CON-2)"),
            ("on PUT /v1/kv/lead: gossip-failure 0s", "no time in the future"),
            ("on PUT /v1/kv/lead: split-brain", "there are lose-request"),
            ("on PUT /fencepost/clock/advance: reset", "never goes wrong"),
        ] {
            let error = format!("# first\n{line}\n").parse::<FaultPlan>().expect_err(line);
            assert_eq!(error.line, 2, "{line}");
            assert!(error.why.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn each_rule_counts_the_requests_that_fit_and_the_first_that_strikes_counts() {
        let mut plan: FaultPlan = PLAN.parse().expect("a plan");
        let renew =
            |plan: &mut FaultPlan| plan.strike("a", "PUT", "/v1/session/renew/1").map(|fault| fault.to_string());
        assert_eq!(renew(&mut plan), None);
        assert_eq!(renew(&mut plan), None);
        assert_eq!(renew(&mut plan).as_deref(), Some("lose-answer"));
        assert_eq!(renew(&mut plan), None);
        let mut acquire = |client: &str| {
            plan.strike(client, "PUT", "/v1/kv/lead?acquire=1").map(|fault| fault.to_string()).unwrap_or_default()
        };
        assert!(acquire("worker-1").starts_with("status"), "a rule for another client does not count it");
        assert_eq!(acquire("worker-2"), "delay-answer 20s");
        assert!(acquire("worker-2").starts_with("status"));
    }
}
