//! Flags of programs: those of component-base (`--leader-elect-lease-duration`), of the sidecars of CSI (`--leader-election-lease-duration`),
//! and of operators made with controller-runtime (`--leader-elect`, `--enable-leader-election`), as Go reads them.

use super::programs::{KnownProgram, base_name};
use super::started::ProgramStart;
use super::written::{ElectionSetting, GivenSetting, Spelling, Written};
use super::{ElectionConfiguration, known};
use crate::configuration::{ConfigurationError, Field, Place, Reading, nearest};
use crate::shell::ShellWord;

/// Flags that turn an election on.
const ELECTS: [&str; 4] = ["leader-elect", "leader-election", "enable-leader-election", "leader-election-enabled"];

/// Flags that set an election, of component-base and of sidecars.
const SETTINGS: [&str; 8] = [
    "leader-elect-lease-duration",
    "leader-elect-renew-deadline",
    "leader-elect-retry-period",
    "leader-elect-release-on-cancel",
    "leader-election-lease-duration",
    "leader-election-renew-deadline",
    "leader-election-retry-period",
    "leader-election-release-on-cancel",
];

/// What flags of an election begin with, the longer one first.
const PREFIXES: [&str; 2] = ["leader-election-", "leader-elect-"];

/// Flags that name a file of settings.
const FILES: [&str; 2] = ["config", "component-config"];

/// The flag that turns features on.
const GATES: &str = "feature-gates";

/// Reads the words of one command: the first one is the name of a program, if it is no flag.
pub(super) fn of_command(
    start: ProgramStart<'_>,
    command: &[ShellWord],
) -> Result<ElectionConfiguration, ConfigurationError> {
    let first = command.first().map(|word| word.text.as_str()).filter(|word| !word.starts_with('-'));
    let names = [first, start.image].map(|path| path.map_or("", |path| base_name(path).0));
    let mut flags = Flags::of(command);
    let is_sidecar = flags.is_sidecar();
    let by_name = names.into_iter().map(|name| KnownProgram::named(name, !is_sidecar));
    let program = by_name.reduce(|one, other| if one.is_known { one } else { other }).expect("there are two names");
    flags.read_gates(program);
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
        version: program.version(start.image),
        given: flags.given,
        others: flags.others,
        assumptions: flags.assumptions,
        spelling: Spelling { of: start.of, names: spelling, turns_on: "`--leader-elect` or `--leader-election` do" },
    }
    .read()
}

/// Whether settings of an election are among these words.
pub(super) fn has_settings(words: &[ShellWord]) -> bool {
    !Flags::of(words).given.is_empty()
}

/// The flags of a command line that are about an election.
struct Flags {
    given: Vec<GivenSetting>,
    others: Vec<Field>,
    assumptions: Vec<String>,
    /// What feature gates say, for programs that have them.
    gates: Vec<GivenGates>,
}

/// A flag for feature gates, with its value, as `A=true,kube:B=false`.
struct GivenGates {
    name: String,
    place: Place,
    value_place: Place,
    value: String,
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
        let mut flags = Flags { given: Vec::new(), others: Vec::new(), assumptions: Vec::new(), gates: Vec::new() };
        let mut rest = arguments.iter().peekable();
        while let Some(word) = rest.next() {
            let Some(bare) = word.text.strip_prefix("--").or_else(|| word.text.strip_prefix('-')) else { continue };
            if bare.is_empty() {
                // What follows `--` is no flag.
                break;
            }
            let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
            let dashed = word.text[..word.text.len() - bare.len() + name.len()].to_owned();
            let setting = setting(name);
            if setting.is_none() && name != GATES {
                flags.other(&dashed, name, word.place);
                continue;
            }
            let is_truth = matches!(setting, Some(ElectionSetting::Elects | ElectionSetting::Releases));
            let (value, value_place, remark) = match value {
                Some(value) => (value.to_owned(), word.place, None),
                None if is_truth => {
                    let stray = rest.peek().is_some_and(|word| word.text == "false");
                    let remark =
                        "Go takes the value of such a flag only after `=`, so the word `false` behind it says nothing";
                    ("true".to_owned(), word.place, stray.then_some(remark))
                }
                None => match rest.next_if(|word| !word.text.starts_with('-')) {
                    Some(value) => (value.text.clone(), value.place, None),
                    None => (String::new(), word.place, None),
                },
            };
            match setting {
                None => flags.gates.push(GivenGates { name: dashed, place: word.place, value_place, value }),
                Some(setting) => {
                    let is_generic =
                        setting != ElectionSetting::Elects && !PREFIXES.iter().any(|prefix| name.starts_with(prefix));
                    let place = word.place;
                    flags.given.push(GivenSetting {
                        setting,
                        name: dashed,
                        place,
                        value_place,
                        value,
                        remark,
                        is_generic,
                    });
                }
            }
        }
        flags
    }

    /// Another flag of an election, or one that names a file of settings.
    fn other(&mut self, dashed: &str, name: &str, place: Place) {
        let reading = if FILES.contains(&name) {
            self.assumptions.push(format!(
                "the file of `{dashed}` (line {}) is not read, and is taken to set nothing: ask again with --from that file",
                place.line
            ));
            Reading::Setting(
                "what `leaderElection` says in that file is not known here: ask again with --from that file".to_owned(),
            )
        } else {
            let known = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
            match known.unwrap_or_default() {
                "resource-lock" | "resource-name" | "resource-namespace" | "type" | "id" | "namespace" | "labels" => {
                    Reading::WithoutEffect("it says which object is the lease".to_owned())
                }
                _ => match (known, nearest(name, SETTINGS.into_iter().chain(ELECTS))) {
                    // Most flags of a program say nothing about its election.
                    (None, None) => return,
                    (_, meant) => Reading::Unknown { meant },
                },
            }
        };
        self.others.push(Field { name: dashed.to_owned(), place: Some(place), value: None, reading, option: None });
    }

    /// Feature gates: those that are ReleaseOnCancel of this program, and others that are not understood. A program that does not have a gate
    /// refuses it, and its default stays.
    fn read_gates(&mut self, program: &KnownProgram) {
        for GivenGates { name: flag, place, value_place, value } in std::mem::take(&mut self.gates) {
            for gate in value.split(',').filter(|gate| !gate.trim().is_empty()) {
                let (gate, value) = gate.split_once('=').unwrap_or((gate, ""));
                let gate = gate.rsplit(':').next().unwrap_or(gate).trim();
                let (name, value) = (format!("{flag} {gate}"), value.trim().to_owned());
                if program.release_gates.contains(&gate) {
                    let (setting, remark, is_generic) = (ElectionSetting::Releases, None, true);
                    self.given.push(GivenSetting { setting, name, place, value_place, value, remark, is_generic });
                } else {
                    let (place, value, reading) = (Some(place), Some(value), Reading::Unknown { meant: None });
                    self.others.push(Field { name, place, value, reading, option: None });
                }
            }
        }
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
