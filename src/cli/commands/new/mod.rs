//! `fencepost new`: a commented scenario file and a test of it, from questions or from options.

mod draft;
mod files;
mod questions;
mod starts;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use fencepost::Property;
use fencepost::catalogue::CATALOGUE;

use self::draft::{Draft, Fields, duration, name, number, scaled, setting, suggestion, tick};
use self::questions::{Answers, FieldQuestion};
use self::starts::{Start, start};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::fields::Field;
use crate::json::WrittenJson;
use crate::output::{say, say_json, write};
use crate::target::{self, quoted};

/// Write a commented scenario file, and a test of it in Rust
///
/// On a terminal, the command asks for what no option says, unless --system is given. Then, and where there is no terminal, what is not
/// said has a default. Existing files are never overwritten. With --out, the files go into that folder.
///
/// fencepost new our-lock --system consul-lock --recipe go-lock
///
/// fencepost new our-lock --system consul-lock --ttl 15s --lock-delay 15s --fault pauses=1
#[derive(Args, Debug, Default)]
pub struct New {
    /// The name of the scenario and of its files [default: our-lock]
    name: Option<String>,
    /// What is shared: a lock, a semaphore or a lease of a service
    #[arg(long, value_name = "SYSTEM", value_parser = PossibleValuesParser::new(CATALOGUE.systems().collect::<Vec<_>>()))]
    system: Option<String>,
    /// A client as it is in the field, which stands for the settings that no option says
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
    /// The number of clients [default: 2]
    #[arg(long, value_name = "N")]
    clients: Option<String>,
    /// How often each client asks for the lock [default: 1]
    #[arg(long, value_name = "N")]
    rounds: Option<String>,
    /// The number of writes in each tenure [default: 0]
    #[arg(long, value_name = "N")]
    writes: Option<String>,
    /// The session's TTL, or none: short for --set ttl=…
    #[arg(long, value_name = "DURATION|none")]
    ttl: Option<String>,
    /// The lock-delay: short for --set lock_delay=…
    #[arg(long, value_name = "DURATION")]
    lock_delay: Option<String>,
    /// The time between renewals, or none: short for --set renew_every=…
    #[arg(long, value_name = "DURATION|none")]
    renew_every: Option<String>,
    /// A setting of the service, as lease=15s or semaphore.limits=[1]
    #[arg(long, value_name = "FIELD=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// The bound on the delay of messages [default: 0]
    #[arg(long, value_name = "DURATION|none")]
    message_delay: Option<String>,
    /// The bound on how late a client's own deadline fires [default: 0]
    #[arg(long, value_name = "DURATION|none")]
    wake_delay: Option<String>,
    /// The bound on how late a deadline of the servers fires [default: 0]
    #[arg(long, value_name = "DURATION|none")]
    server_delay: Option<String>,
    /// A budget of faults, as crashes=1 [default: crashes=1]
    #[arg(long = "fault", value_name = "KIND=N", value_parser = assignment)]
    faults: Vec<(String, String)>,
    /// A promise, with its bound where it has one, as lock-delay=15s [default: those of the system]
    #[arg(long = "promise", value_name = "NAME[=BOUND]", value_parser = promise)]
    promises: Vec<(Property, Option<String>)>,
    /// Ask for what no option says, also where the input is no terminal
    #[arg(long)]
    ask: bool,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a name and a value, as ttl=15s")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn promise(text: &str) -> Result<(Property, Option<String>), String> {
    let (name, bound) = text.split_once('=').map_or((text, None), |(name, bound)| (name, Some(bound)));
    Ok((crate::args::property(name)?, bound.map(duration).transpose()?))
}

pub fn run(new: &New, common: &Common) -> Result<Exit, CommandError> {
    let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let (mut input, mut output) = (io::stdin().lock(), io::stderr());
    let is_asked = new.ask || (new.system.is_none() && is_terminal);
    let mut answers = if is_asked { Answers::of_person(&mut input, &mut output) } else { Answers::of_options() };
    let folder = common.out.clone().unwrap_or_default();
    let draft = draft(new, &mut answers, &folder)?;
    let fields = Fields::of(draft.start.system);
    let [scenario, test] = files_of(&folder, &draft.name);
    let text = files::scenario(&draft, &fields);
    let file = format!("{}.toml", draft.name);
    target::parse(&text, &file).map_err(|error| {
        CommandError::Input(format!("new: these settings do not fit together; nothing was written: {error}"))
    })?;
    write(&scenario, &text)?;
    write(&test, &files::test(&draft.name))?;
    if common.json {
        [&scenario, &test].iter().for_each(|file| say_json(&WrittenJson { file: &file.display().to_string() }));
    } else if !common.quiet {
        tell(&draft, &scenario, &test);
    }
    Ok(Exit::AsExpected)
}

/// The scenario file and the test of a scenario.
fn files_of(folder: &Path, name: &str) -> [PathBuf; 2] {
    [folder.join(format!("{name}.toml")), folder.join("tests").join(format!("{}.rs", name.replace('-', "_")))]
}

fn tell(draft: &Draft, scenario: &Path, test: &Path) {
    let promises: Vec<&str> = draft.promises.iter().map(|(property, _)| property.name()).collect();
    let shown = scenario.display().to_string();
    let path = quoted(&shown);
    say(&format!("{shown}: {} clients, {}; promises: {}\n", draft.clients, draft.start.about, promises.join(", ")));
    say(&format!("{}: a test of every execution\n", test.display()));
    say(&format!(
        "next:\n  fencepost check {path} --out out    # every execution; out/report.html shows what breaks\n"
    ));
    say(&format!("  fencepost doctor scenario {path}     # how far each setting may be changed\n"));
    say(&format!("  fencepost simulate {path} --seed 1   # one execution, step by step\n"));
    let name = draft.name.replace('-', "_");
    say(&format!("  cargo test --test {name}            # in a crate with fencepost among its dev-dependencies\n"));
}

fn draft(new: &New, answers: &mut Answers<'_>, folder: &Path) -> Result<Draft, CommandError> {
    let question =
        FieldQuestion { option: "NAME", text: "The name of the scenario", choices: &[], default: "our-lock" };
    let name = answers.get(&question, new.name.as_deref(), |text| {
        let name = name(text)?;
        let taken = files_of(folder, &name).into_iter().find(|file| file.exists());
        match taken {
            Some(file) => Err(format!("{} exists, and is not overwritten: choose another name", file.display())),
            None => Ok(name),
        }
    })?;
    let start = system(new, answers)?;
    let recipe = recipe(new, answers, &start)?;
    let mut count = |option, text, given: &Option<String>, (low, high), default| {
        let question = FieldQuestion { option, text, choices: &[], default };
        answers.get(&question, given.as_deref(), |text| number(text, low, high))
    };
    let clients = count("--clients", "The number of clients that contend for it", &new.clients, (1, 10_000), "2")?;
    let rounds = count("--rounds", "How often each client asks for it", &new.rounds, (1, 255), "1")?;
    let writes = count("--writes", "How many writes a client sends in each tenure", &new.writes, (0, 255), "0")?;
    let fields = Fields::of(start.system);
    let settings = settings(new, answers, &start, recipe.is_some(), &fields)?;
    let delays = delays(new, answers)?;
    let faults = faults(new, answers, &start, &fields)?;
    let plain = || start.promises.iter().map(|property| (*property, None)).collect();
    let promises = if new.promises.is_empty() { plain() } else { new.promises.clone() };
    Ok(Draft { name, start, recipe, clients, rounds, writes, settings, delays, faults, promises })
}

fn system(new: &New, answers: &mut Answers<'_>) -> Result<Start, CommandError> {
    if new.system.is_none() && !answers.has_person() {
        let systems: Vec<&str> = CATALOGUE.systems().collect();
        let message = format!(
            "new: say what is shared: --system, one of `{}`; with --ask the command asks",
            systems.join("`, `")
        );
        return Err(CommandError::Input(message));
    }
    let about = |system: &str| start(system).map(|start| start.about).unwrap_or_default();
    let choices: Vec<_> = CATALOGUE.systems().map(|system| (system.to_owned(), about(system).to_owned())).collect();
    let question =
        FieldQuestion { option: "--system", text: "What is shared", choices: &choices, default: "consul-lock" };
    answers.get(&question, new.system.as_deref(), |text| {
        start(text).ok_or_else(|| {
            let systems: Vec<&str> = CATALOGUE.systems().collect();
            format!("there is no system `{text}`; {}", suggestion(systems.iter().copied(), text))
        })
    })
}

fn recipe(new: &New, answers: &mut Answers<'_>, start: &Start) -> Result<Option<String>, CommandError> {
    if start.recipes.is_empty() && new.recipe.is_none() {
        return Ok(None);
    }
    let none = ("none".to_owned(), "your own settings".to_owned());
    let choices: Vec<_> = start.recipes.iter().map(|name| ((*name).to_owned(), String::new())).chain([none]).collect();
    let text = "A client as it is in the field, or none";
    let question = FieldQuestion { option: "--recipe", text, choices: &choices, default: "none" };
    answers.get(&question, new.recipe.as_deref(), |text| match text {
        "none" => Ok(None),
        known if start.recipes.contains(&known) => Ok(Some(known.to_owned())),
        other if start.recipes.is_empty() => {
            Err(format!("{} has no recipe `{other}`; leave the option out", start.system))
        }
        other => Err(format!(
            "{} has no recipe `{other}`; {}",
            start.system,
            suggestion(start.recipes.iter().copied(), other)
        )),
    })
}

/// The settings of `[service]`: asked for or given, and the defaults in their ratio to what is given.
fn settings(
    new: &New,
    answers: &mut Answers<'_>,
    start: &Start,
    has_recipe: bool,
    fields: &Fields,
) -> Result<Vec<(String, String)>, CommandError> {
    let short = [("ttl", &new.ttl), ("lock_delay", &new.lock_delay), ("renew_every", &new.renew_every)];
    let short = short.into_iter().filter_map(|(path, value)| Some((path.to_owned(), value.clone()?)));
    let given: Vec<(String, String)> = short.chain(new.set.iter().cloned()).collect();
    let own: &[(&str, &str)] = if has_recipe { &[] } else { start.settings };
    let defaults: Vec<(&str, &str)> = own.iter().chain(start.always).copied().collect();
    let questions = start.questions.iter().copied();
    let asked = questions.filter(|path| !has_recipe || start.always.iter().any(|(always, _)| always == path));
    let mut paths: Vec<&str> = asked.chain(defaults.iter().map(|(path, _)| *path)).collect();
    paths.extend(given.iter().map(|(path, _)| path.as_str()));
    let mut length = given.iter().find_map(|(path, value)| tick(value, default(&defaults, path).unwrap_or("1")));
    let mut settings: Vec<(String, String)> = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        if paths[..place].contains(path) {
            continue;
        }
        let option = format!("--set {path}");
        let field: &Field =
            fields.setting(path).map_err(|error| CommandError::Input(format!("new: {option}: {error}")))?;
        let given = given.iter().rfind(|(name, _)| name == path).map(|(_, value)| value.as_str());
        let own =
            default(&defaults, path).map(|value| if has_recipe { value.to_owned() } else { scaled(value, length) });
        let shown = own.clone().or(field.default.clone()).unwrap_or_else(|| "none".to_owned());
        let text = format!("{path}: {}", field.about);
        let shown = shown.trim_matches('"');
        let question = FieldQuestion { option: &option, text: &text, choices: &field.values, default: shown };
        let Some(value) = answers.get(&question, given, |text| setting(field, text))? else { continue };
        length = length.or_else(|| tick(&value, default(&defaults, path).unwrap_or("1")));
        // What nothing was said about stays as the service has it.
        if own.is_some() || given.is_some() || Some(&value) != field.default.as_ref() {
            settings.push(((*path).to_owned(), value));
        }
    }
    Ok(settings)
}

/// The value with which a setting begins.
fn default<'d>(defaults: &[(&str, &'d str)], path: &str) -> Option<&'d str> {
    defaults.iter().find(|(name, _)| *name == path).map(|(_, value)| *value)
}

fn delays(new: &New, answers: &mut Answers<'_>) -> Result<Vec<(&'static str, String)>, CommandError> {
    let bounds = [
        ("message_delay", "--message-delay", "The bound on the delay of messages, or none", &new.message_delay),
        (
            "wake_delay",
            "--wake-delay",
            "The bound on how late a client's own deadline fires, as in a pause, or none",
            &new.wake_delay,
        ),
        (
            "server_delay",
            "--server-delay",
            "The bound on how late a deadline of the servers fires, or none",
            &new.server_delay,
        ),
    ];
    let mut delays = Vec::new();
    for (field, option, text, given) in bounds {
        let question = FieldQuestion { option, text, choices: &[], default: "0" };
        let rule = |text: &str| if text == "none" { Ok(None) } else { duration(text).map(Some) };
        if let Some(value) = answers.get(&question, given.as_deref(), rule)? {
            delays.push((field, value));
        }
    }
    Ok(delays)
}

fn faults(
    new: &New,
    answers: &mut Answers<'_>,
    start: &Start,
    fields: &Fields,
) -> Result<Vec<(String, String)>, CommandError> {
    let is_kind = |kind: &str| fields.budget.iter().any(|field| field.name == kind && kind != "shared");
    let mut faults = Vec::new();
    for (kind, text) in &new.faults {
        let bad = |error: String| CommandError::Input(format!("new: --fault {kind}: {error}"));
        if !is_kind(kind) {
            let kinds = fields.budget.iter().map(|field| field.name.as_str()).filter(|name| *name != "shared");
            return Err(bad(format!("there is no such fault; {}", suggestion(kinds, kind))));
        }
        faults.push((kind.clone(), number(text, 0, 255).map_err(bad)?));
    }
    let asked = [
        ("crashes", "How many crashes of clients"),
        ("pauses", "How many pauses of clients, each as long as it likes"),
    ];
    for (kind, text) in asked.into_iter().filter(|_| start.has_crashes) {
        let default = if kind == "crashes" { "1" } else { "0" };
        if faults.iter().any(|(name, _)| name == kind)
            || !answers.has_person() && (!new.faults.is_empty() || default == "0")
        {
            continue;
        }
        let option = format!("--fault {kind}");
        let question = FieldQuestion { option: &option, text, choices: &[], default };
        let count = answers.get(&question, None, |text| number(text, 0, 255))?;
        if count != "0" {
            faults.push((kind.to_owned(), count));
        }
    }
    Ok(faults)
}
