//! How a program is started: by itself, behind a wrapper as `tini --`, or as one of the commands of a script.

use super::ElectionConfiguration;
use super::flags::{has_settings, of_command};
use super::programs::{KnownProgram, base_name};
use crate::configuration::ConfigurationError;
use crate::shell::{NewLine, ShellWord, commands, is_assignment};

/// How a program is started.
#[derive(Copy, Clone, Debug)]
pub struct ProgramStart<'a> {
    /// The file that says so, or the option, for errors.
    pub file: &'a str,
    /// What it is, for people: `container manager of Deployment operator`.
    pub kind: &'a str,
    /// Where the flags stand: `the manifest`.
    pub of: &'static str,
    /// The image that it is in.
    pub image: Option<&'a str>,
    /// The elector, where the user knows it.
    pub recipe: Option<&'a str>,
}

/// Programs that run the one behind them, and words of a shell that stand before a command.
const WRAPPERS: [&str; 20] = [
    "!",
    "busybox",
    "catatonit",
    "do",
    "dumb-init",
    "elif",
    "else",
    "env",
    "exec",
    "if",
    "nohup",
    "setsid",
    "then",
    "time",
    "tini",
    "tini-static",
    "until",
    "while",
    "{",
    "}",
];

/// Reads a line of flags as a shell would take it apart: `kube-scheduler --leader-elect --leader-elect-lease-duration=15s`. The name of the
/// program may be left out.
///
/// ```
/// use fencepost_doctor::election::configuration::{ElectionConfiguration, of_flags};
///
/// let read = of_flags("--leader-elect --leader-elect-lease-duration=1m30s", "--flags", None).expect("these are flags");
/// let ElectionConfiguration::Elects(understood) = read else { panic!("it elects a leader") };
/// assert_eq!(understood.question.lease.to_string(), "90s");
/// let error = of_flags("--leader-elect --leader-elect-lease-duration=15", "--flags", None).expect_err("no unit");
/// assert!(error.to_string().starts_with("--flags:1:16: "), "{error}");
/// ```
///
/// # Errors
/// A flag has a wrong value, or the settings are refused; with the place.
pub fn of_flags(line: &str, name: &str, recipe: Option<&str>) -> Result<ElectionConfiguration, ConfigurationError> {
    let start = ProgramStart { file: name, kind: "flags", of: "the flags", image: None, recipe };
    of_commands(start, &commands(name, line, NewLine::Blank)?)
}

/// Reads the words that a program is started with. The first one is its name, if it is no flag, or the image says what it is. A shell that
/// runs a script is not the program, and neither is a wrapper.
///
/// # Errors
/// As [`of_flags`].
pub fn of_arguments(
    start: ProgramStart<'_>,
    arguments: &[ShellWord],
) -> Result<ElectionConfiguration, ConfigurationError> {
    let command = unwrapped(arguments);
    let Some(script) = script(command) else { return of_command(start, command) };
    if script.text.contains("<<") {
        return Ok(not_read());
    }
    let place = script.place;
    let read = commands(start.file, &script.text, NewLine::Ends);
    let mut read = read.map_err(|error| ConfigurationError { place, ..error })?;
    read.iter_mut().flatten().for_each(|word| word.place = place);
    of_commands(start, &read)
}

/// One of the commands may be an elector. The image says what the container runs, and not what each of its commands is.
fn of_commands(
    start: ProgramStart<'_>,
    commands: &[Vec<ShellWord>],
) -> Result<ElectionConfiguration, ConfigurationError> {
    if let [command] = commands {
        return of_arguments(start, command);
    }
    let mut found = Vec::new();
    for command in commands {
        match of_arguments(ProgramStart { image: None, ..start }, command)? {
            ElectionConfiguration::Unsaid { .. } => {}
            _ => found.push(command),
        }
    }
    match found[..] {
        [] => of_command(start, &[]),
        [command] => of_arguments(start, command),
        _ => Ok(not_read()),
    }
}

fn not_read() -> ElectionConfiguration {
    let why = "a script that is not read here starts it: give the flags of its program to --flags".to_owned();
    ElectionConfiguration::Unsaid { why }
}

/// The command behind wrappers and assignments. Only behind the program itself `--` ends its flags.
fn unwrapped(arguments: &[ShellWord]) -> &[ShellWord] {
    let mut rest = arguments;
    while let Some((first, behind)) = rest.split_first() {
        let name = base_name(&first.text).0;
        if is_assignment(&first.text) {
            rest = behind;
        } else if WRAPPERS.contains(&name) {
            let options = behind.iter().take_while(|word| word.text.starts_with('-') && word.text != "--").count();
            let is_marked = behind.get(options).is_some_and(|word| word.text == "--");
            rest = &behind[options + usize::from(is_marked)..];
        } else {
            let is_program = first.text.starts_with('-') || KnownProgram::named(name, true).is_known;
            let Some(end) = rest.iter().position(|word| word.text == "--").filter(|_| !is_program) else { break };
            let wraps = rest.get(end + 1).is_some_and(|word| !word.text.starts_with('-'));
            if !wraps || has_settings(&rest[..end]) {
                break;
            }
            rest = &rest[end + 1..];
        }
    }
    rest
}

/// The script that a shell runs: `sh -c SCRIPT`, `bash -eo pipefail -c SCRIPT`.
fn script(command: &[ShellWord]) -> Option<&ShellWord> {
    let (shell, rest) = command.split_first()?;
    if !matches!(base_name(&shell.text).0, "sh" | "bash" | "ash" | "dash" | "ksh" | "zsh") {
        return None;
    }
    let mut runs = false;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let Some(letters) = word.text.strip_prefix(['-', '+']) else { return runs.then_some(word) };
        if letters.starts_with('-') {
            continue;
        }
        runs |= letters.contains('c');
        if letters.ends_with('o') {
            words.next();
        }
    }
    None
}
