//! The questions of `fencepost doctor` on a terminal. An empty answer takes the default, and a wrong one is asked for again.

use std::io::{BufRead, Write};

use fencepost::model::units::Duration;
use fencepost_doctor::{LockBelief, LockQuestion};

use super::values::{Optional, duration, optional, rate};
use crate::exit::CommandError;

/// Reads one answer into the question; an error says what would be right.
type Take<'a> = &'a dyn Fn(&str, &mut LockQuestion) -> Result<(), String>;

/// Asks for every setting and every bound, beginning with what the command line says already. `of_recipe`: the defaults of another
/// client, with the options of the command line.
pub fn ask(
    mut question: LockQuestion,
    of_recipe: impl Fn(&str) -> Result<LockQuestion, String>,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<LockQuestion, CommandError> {
    let mut terminal = Terminal { input, output };
    terminal.tell(
        "Settings of a lock in Consul. Enter takes the value in brackets; durations have units, as 15s or 200ms.\n",
    )?;
    let recipe = question.recipe.to_owned();
    terminal.ask(
        &mut question,
        "recipe",
        "client: go-lock (the Go client, Vault), lock-command (consul lock), leader-election (the guide)",
        &recipe,
        &|answer, question| of_recipe(answer).map(|other| *question = other),
    )?;
    if question.recipe != "leader-election" {
        let slots = question.slots.unwrap_or(1).to_string();
        terminal.ask(
            &mut question,
            "slots",
            "holders at once; 1: a lock, more: a semaphore",
            &slots,
            &|answer, question| {
                let slots: u8 = answer.parse().map_err(|_| "a number from 1 to 255".to_owned())?;
                question.slots = (slots != 1).then_some(slots);
                Ok(())
            },
        )?;
    }
    of_session(&mut terminal, &mut question)?;
    of_environment(&mut terminal, &mut question)?;
    Ok(question)
}

fn of_session(terminal: &mut Terminal<'_>, question: &mut LockQuestion) -> Result<(), CommandError> {
    let or_none = |duration: Option<Duration>| duration.map_or("none".to_owned(), |duration| duration.to_string());
    let before = or_none(question.ttl);
    terminal.ask(question, "ttl", "TTL of the session, or none", &before, &|answer, question| {
        let Optional(ttl) = optional(answer)?;
        question.set_ttl(ttl);
        Ok(())
    })?;
    if question.ttl.is_some() {
        let before = or_none(question.renew_every);
        terminal.ask(question, "renew-every", "time between renewals, or none", &before, &|answer, question| {
            let Optional(period) = optional(answer)?;
            if period != question.renew_every {
                question.set_renew_every(period);
            }
            Ok(())
        })?;
    }
    if question.slots.is_none() {
        let before = question.lock_delay.to_string();
        terminal.ask(question, "lock-delay", "lock-delay", &before, &|answer, question| {
            duration(answer).map(|delay| question.lock_delay = delay)
        })?;
    }
    if question.ttl.is_some() {
        let before = question.belief.to_string();
        let text = "the holder stops: by-monitor (its query says so), self-limiting (by its own clock, too)";
        terminal.ask(question, "belief", text, &before, &|answer, question| {
            LockBelief::named(answer).map(|belief| question.belief = belief).map_err(|mistake| mistake.message)
        })?;
    }
    if question.recipe == "lock-command" {
        let before = question.grace.to_string();
        terminal.ask(question, "grace", "time that its child may take to die", &before, &|answer, question| {
            duration(answer).map(|grace| question.grace = grace)
        })?;
    }
    Ok(())
}

fn of_environment(terminal: &mut Terminal<'_>, question: &mut LockQuestion) -> Result<(), CommandError> {
    let before = question.pause.to_string();
    let text = "longest pause of a client: garbage collection, swapping, a machine that is moved";
    terminal.ask(question, "pause", text, &before, &|answer, question| {
        duration(answer).map(|pause| question.pause = pause)
    })?;
    let before = question.latency.to_string();
    terminal.ask(question, "latency", "longest delay of a message", &before, &|answer, question| {
        duration(answer).map(|latency| question.latency = latency)
    })?;
    let before = question.drift.to_string();
    let text = "rate by which clients' clocks may be slower than the servers'";
    terminal
        .ask(question, "drift", text, &before, &|answer, question| rate(answer).map(|drift| question.drift = drift))?;
    let before = yes_or_no(question.false_alarm);
    let text = "may gossip declare the holder's live node failed, once?";
    terminal.ask(question, "false-alarm", text, before, &|answer, question| {
        truth(answer).map(|truth| question.false_alarm = truth)
    })?;
    if question.slots.is_none() {
        let before = yes_or_no(question.fencing);
        let text = "do writes carry the index of the lock, and does the resource refuse lower ones?";
        terminal.ask(question, "fencing", text, before, &|answer, question| {
            truth(answer).map(|truth| question.fencing = truth)
        })?;
    }
    Ok(())
}

fn yes_or_no(truth: bool) -> &'static str {
    if truth { "yes" } else { "no" }
}

fn truth(answer: &str) -> Result<bool, String> {
    match answer {
        "yes" | "y" => Ok(true),
        "no" | "n" => Ok(false),
        _ => Err("yes or no".to_owned()),
    }
}

/// Where questions go, and answers come from.
struct Terminal<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

impl Terminal<'_> {
    fn tell(&mut self, text: &str) -> Result<(), CommandError> {
        let written = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush());
        written.map_err(|error| CommandError::Input(format!("the terminal cannot be written: {error}")))
    }

    /// Asks until an answer can be meant.
    fn ask(
        &mut self,
        question: &mut LockQuestion,
        setting: &str,
        text: &str,
        default: &str,
        take: Take<'_>,
    ) -> Result<(), CommandError> {
        loop {
            self.tell(&format!("{setting}: {text} [{default}]: "))?;
            let mut line = String::new();
            match self.input.read_line(&mut line) {
                Ok(0) => {
                    let message = format!("the answers end before `{setting}`: answer it, or give `--{setting}`");
                    return Err(CommandError::Input(message));
                }
                Ok(_) => {}
                Err(error) => return Err(CommandError::Input(format!("the answer cannot be read: {error}"))),
            }
            let answer = line.trim();
            let answer = if answer.is_empty() { default } else { answer };
            let mut other = question.clone();
            let mistake = match take(answer, &mut other) {
                Err(mistake) => Some(mistake),
                Ok(()) => {
                    other.validate().err().filter(|mistake| mistake.setting == setting).map(|found| found.message)
                }
            };
            match mistake {
                None => {
                    *question = other;
                    return Ok(());
                }
                Some(mistake) => self.tell(&format!("  {mistake}\n"))?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::commands::doctor::assumed::AssumedBounds;
    use crate::commands::doctor::configured::command;

    fn asked(answers: &str) -> (Result<LockQuestion, CommandError>, String) {
        let of_recipe = |name: &str| LockQuestion::of_recipe(name).map_err(|mistake| mistake.message);
        let mut output = Vec::new();
        let start = of_recipe("go-lock").expect("it is known");
        let question = ask(start, of_recipe, &mut Cursor::new(answers), &mut output);
        (question, String::from_utf8(output).expect("text"))
    }

    #[test]
    fn empty_answers_take_the_defaults_of_the_recipe() {
        let (question, _) = asked(&"\n".repeat(11));
        assert_eq!(question.expect("all are answered"), LockQuestion::of_recipe("go-lock").expect("it is known"));
    }

    #[test]
    fn a_wrong_answer_is_asked_for_again_and_another_ttl_has_another_period() {
        let (question, shown) = asked("vault\nlock-command\n1\n30\n30s\n\n90s\n20s\n\n\n1s\n200ms\n\nmaybe\nyes\n\n");
        let question = question.unwrap_or_else(|error| panic!("{error}\n{shown}"));
        for says in ["there is no recipe `vault`", "`30` has no unit", "at most 60s", "yes or no"] {
            assert!(shown.contains(says), "{says}: {shown}");
        }
        // Half the TTL is what the command means without a period.
        assert_eq!(question.renew_every, Some(Duration::of_seconds(15)));
        assert_eq!(
            command(&question, &AssumedBounds::of(&question, |_| true)),
            "fencepost doctor consul-lock --recipe lock-command --ttl 30s --lock-delay 20s --pause 1s --latency 200ms --drift 0ppm --false-alarm"
        );
    }

    #[test]
    fn a_semaphore_is_asked_for_no_lock_delay_and_no_fencing() {
        let (question, shown) = asked(&format!("\n3\n{}", "\n".repeat(7)));
        assert_eq!(question.unwrap_or_else(|error| panic!("{error}")).slots, Some(3));
        assert!(!shown.contains("lock-delay:") && !shown.contains("fencing:"), "{shown}");
    }

    #[test]
    fn answers_that_end_too_early_are_an_error() {
        let (question, _) = asked("\n\n");
        assert!(question.expect_err("it ends").to_string().contains("before `ttl`"));
    }
}
