//! Flags of programs: those of component-base (`--leader-elect-lease-duration`), of the sidecars of CSI (`--leader-election-lease-duration`),
//! and of operators made with controller-runtime (`--leader-elect`, `--enable-leader-election`), as Go reads them.

use super::programs::{KnownProgram, base_name};
use super::{ElectionConfiguration, ElectionSetting, GivenSetting, Spelling, Written, known};
use crate::configuration::{ConfigurationError, Field, Reading};
use crate::shell::{ShellWord, is_assignment, words};

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

/// Flags that turn an election on.
const ELECTS: [&str; 4] = ["leader-elect", "leader-election", "enable-leader-election", "leader-election-enabled"];

/// What flags of an election begin with, the longer one first.
const PREFIXES: [&str; 2] = ["leader-election-", "leader-elect-"];

/// Flags that name a file of settings.
const FILES: [&str; 2] = ["config", "component-config"];

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
    let words: Vec<ShellWord> = words(name, line)?;
    let start = ProgramStart { file: name, kind: "flags", of: "the flags", image: None, recipe };
    of_arguments(start, &words)
}

/// Reads the words that a program is started with. The first one is its name, if it is no flag, or the image says what it is; a shell that
/// runs a script is not the program.
///
/// # Errors
/// As [`of_flags`].
pub fn of_arguments(
    start: ProgramStart<'_>,
    arguments: &[ShellWord],
) -> Result<ElectionConfiguration, ConfigurationError> {
    let skipped = arguments.iter().take_while(|word| is_assignment(&word.text) || word.text == "exec").count();
    let arguments = &arguments[skipped..];
    if let [shell, option, script, ..] = arguments
        && matches!(base_name(&shell.text).0, "sh" | "bash" | "ash" | "dash")
        && option.text.starts_with('-')
        && option.text.ends_with('c')
    {
        let place = script.place;
        let words = words(start.file, &script.text).map_err(|error| ConfigurationError { place, ..error })?;
        let words: Vec<ShellWord> = words.into_iter().map(|word| ShellWord { place, ..word }).collect();
        return of_arguments(start, &words);
    }
    let first = arguments.first().map(|word| word.text.as_str()).filter(|word| !word.starts_with('-'));
    let (image, tag) = start.image.map_or(("", None), base_name);
    let names = [first.map_or("", |path| base_name(path).0), image];
    let flags = Flags::of(arguments);
    let is_sidecar = flags.is_sidecar();
    let by_name = names.into_iter().map(|name| KnownProgram::named(name, !is_sidecar));
    let program = by_name.reduce(|one, other| if one.is_known() { one } else { other }).expect("there are two names");
    let spelling = match is_sidecar {
        false => {
            ["leader-elect", "leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period"]
        }
        true => [
            "leader-election",
            "leader-election-lease-duration",
            "leader-election-renew-deadline",
            "leader-election-retry-period",
        ],
    };
    Written {
        file: start.file,
        kind: start.kind.to_owned(),
        program,
        recipe: known(start.recipe),
        of_version: program.of_version(tag),
        given: flags.given,
        others: flags.others,
        spelling: Spelling { of: start.of, names: spelling },
    }
    .read()
}

/// The flags of a command line that are about an election.
struct Flags {
    given: Vec<GivenSetting>,
    others: Vec<Field>,
}

impl Flags {
    /// Whether they are those of a sidecar of CSI: the flag that turns the election on says so, or what the others begin with.
    fn is_sidecar(&self) -> bool {
        let bare = |given: &GivenSetting| given.name.trim_start_matches('-').to_owned();
        match self.given.iter().find(|given| given.setting == ElectionSetting::Elects) {
            Some(elects) => bare(elects) == "leader-election",
            None => self.given.iter().any(|given| bare(given).starts_with(PREFIXES[0])),
        }
    }

    fn of(arguments: &[ShellWord]) -> Flags {
        let mut flags = Flags { given: Vec::new(), others: Vec::new() };
        let mut rest = arguments.iter().peekable();
        while let Some(word) = rest.next() {
            let Some(bare) = word.text.strip_prefix("--").or_else(|| word.text.strip_prefix('-')) else { continue };
            if bare.is_empty() {
                // What follows `--` is no flag.
                break;
            }
            let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
            let Some(setting) = setting(name) else {
                flags.others.extend(other(word, name));
                continue;
            };
            let is_truth = matches!(setting, ElectionSetting::Elects | ElectionSetting::Releases);
            let next = |word: &&&ShellWord| !word.text.starts_with('-');
            let (value, value_place, remark) = match value {
                Some(value) => (value.to_owned(), word.place, None),
                None if is_truth => {
                    let stray = rest.peek().is_some_and(|word| word.text == "false");
                    let remark =
                        "Go takes the value of such a flag only after `=`, so the word `false` behind it says nothing";
                    ("true".to_owned(), word.place, stray.then_some(remark))
                }
                None => match rest.next_if(|word| next(&word)) {
                    Some(value) => (value.text.clone(), value.place, None),
                    None => (String::new(), word.place, None),
                },
            };
            flags.given.push(GivenSetting {
                setting,
                name: word.text[..word.text.len() - bare.len() + name.len()].to_owned(),
                place: word.place,
                value_place,
                value,
                remark,
            });
        }
        flags
    }
}

fn setting(name: &str) -> Option<ElectionSetting> {
    if ELECTS.contains(&name) {
        return Some(ElectionSetting::Elects);
    }
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    match rest {
        "lease-duration" => Some(ElectionSetting::Lease),
        "renew-deadline" => Some(ElectionSetting::RenewDeadline),
        "retry-period" => Some(ElectionSetting::RetryPeriod),
        "release-on-cancel" => Some(ElectionSetting::Releases),
        _ => None,
    }
}

/// Another flag of an election, or one that names a file of settings.
fn other(word: &ShellWord, name: &str) -> Option<Field> {
    let reading = if FILES.contains(&name) {
        Reading::Setting(
            "what `leaderElection` says in that file is not known here: ask again with --from that file".to_owned(),
        )
    } else {
        match PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))? {
            "resource-lock" | "resource-name" | "resource-namespace" | "type" | "id" | "namespace" | "labels" => {
                Reading::WithoutEffect("it says which object is the lease".to_owned())
            }
            _ => Reading::Unknown,
        }
    };
    let dashes = word.text.len() - word.text.trim_start_matches('-').len();
    let name = word.text[..dashes + name.len()].to_owned();
    Some(Field { name, place: Some(word.place), value: None, reading })
}
