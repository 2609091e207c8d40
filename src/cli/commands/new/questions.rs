//! Questions on a terminal: each has a default, a bad answer is explained and the question asked again, and the end of the input ends
//! the command.

use std::io::{BufRead, Write};

use crate::exit::CommandError;

/// Where answers come from: options first, then a person if one is there, then the default.
pub struct Answers<'a> {
    person: Option<Person<'a>>,
}

struct Person<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

/// What is to be known.
pub struct FieldQuestion<'q> {
    /// The option that answers it, as `--ttl`.
    pub option: &'q str,
    /// What it is about, in a sentence without a question mark.
    pub text: &'q str,
    /// The answers to choose from, each with its meaning; empty: any that the rule accepts.
    pub choices: &'q [(String, String)],
    pub default: &'q str,
}

impl<'a> Answers<'a> {
    /// Options and defaults only.
    pub fn of_options() -> Self {
        Answers { person: None }
    }

    /// A person answers what no option says.
    pub fn of_person(input: &'a mut dyn BufRead, output: &'a mut dyn Write) -> Self {
        Answers { person: Some(Person { input, output }) }
    }

    /// Whether there is a person to ask.
    pub fn has_person(&self) -> bool {
        self.person.is_some()
    }

    /// The answer, by the rule that reads it.
    ///
    /// # Errors
    /// The option has a bad value, or the input ends.
    pub fn get<T>(
        &mut self,
        question: &FieldQuestion<'_>,
        given: Option<&str>,
        rule: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, CommandError> {
        let bad = |error: String| CommandError::Input(format!("new: {}: {error}", question.option));
        match (given, &mut self.person) {
            (Some(given), _) => rule(given).map_err(bad),
            (None, None) => rule(question.default).map_err(bad),
            (None, Some(person)) => person.answer(question, rule),
        }
    }
}

impl Person<'_> {
    fn answer<T>(
        &mut self,
        question: &FieldQuestion<'_>,
        rule: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, CommandError> {
        let mut shown = format!("{}\n", question.text);
        for (word, about) in question.choices {
            let line = if about.is_empty() { format!("    {word}") } else { format!("    {word:<22} {about}") };
            shown += &(line + "\n");
        }
        loop {
            self.show(&format!("{shown}  [{}] ", question.default))?;
            let mut line = String::new();
            let read = self.input.read_line(&mut line).map_err(|error| failed(&error))?;
            if read == 0 {
                self.show("\n")?;
                let message = format!(
                    "new: the input ended before {} was answered; nothing was written. Options answer as well: see `fencepost new --help`",
                    question.option
                );
                return Err(CommandError::Input(message));
            }
            let line = line.trim();
            match rule(if line.is_empty() { question.default } else { line }) {
                Ok(answer) => return Ok(answer),
                Err(error) => shown = format!("  {error}\n"),
            }
        }
    }

    fn show(&mut self, text: &str) -> Result<(), CommandError> {
        self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush()).map_err(|error| failed(&error))
    }
}

fn failed(error: &std::io::Error) -> CommandError {
    CommandError::Input(format!("new: the questions cannot be asked: {error}; options answer as well"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: FieldQuestion<'_> =
        FieldQuestion { option: "--clients", text: "How many clients", choices: &[], default: "2" };

    fn whole(text: &str) -> Result<u8, String> {
        text.parse().map_err(|_| format!("`{text}` is no number"))
    }

    fn asked(typed: &str) -> (Result<u8, CommandError>, String) {
        let (mut input, mut output) = (typed.as_bytes(), Vec::new());
        let answer = Answers::of_person(&mut input, &mut output).get(&QUESTION, None, whole);
        (answer, String::from_utf8(output).expect("text"))
    }

    #[test]
    fn an_empty_answer_is_the_default_and_a_bad_one_is_asked_again() {
        assert_eq!(asked("\n").0.expect("the default"), 2);
        let (answer, shown) = asked("many\n 3 \n");
        assert_eq!(answer.expect("the second answer"), 3);
        assert_eq!(shown, "How many clients\n  [2]   `many` is no number\n  [2] ");
    }

    #[test]
    fn the_end_of_the_input_names_the_question_and_the_options() {
        let (answer, _) = asked("many\n");
        let error = answer.expect_err("the input ended").to_string();
        assert!(error.contains("before --clients was answered; nothing was written"), "{error}");
    }

    #[test]
    fn an_option_is_not_asked_for() {
        let (mut input, mut output) = (&b""[..], Vec::new());
        let mut answers = Answers::of_person(&mut input, &mut output);
        assert_eq!(answers.get(&QUESTION, Some("7"), whole).expect("given"), 7);
        let error = answers.get(&QUESTION, Some("x"), whole).expect_err("a bad option").to_string();
        assert_eq!(error, "new: --clients: `x` is no number");
    }
}
