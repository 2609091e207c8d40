//! A scenario file in units, as a question: a known client, with its own durations and bounds. Everything else in the file has to be as
//! this program judges it; the first setting that is not is an error that says so.

use fencepost_consul::{BeliefRule, Consul, Sequencer};
use fencepost_model::properties::Property;
use fencepost_model::resource::Accepts;
use fencepost_model::scenario::{Clocks, Links, Scenario, ScenarioError, from_toml, system_of};
use fencepost_model::service::Settings as _;
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

use super::{Configuration, ConfigurationError, Field, Reading};
use crate::asked::Asked as _;
use crate::configuration::first_difference;
use crate::lock::question::{LockBelief, LockQuestion, RECIPES};
use crate::rounding::exact;
use crate::scenario_text::{ScenarioText, mistake};

/// Where to go with a scenario that is not judged here.
const ELSEWHERE: &str = "`fencepost doctor scenario FILE` judges it as it stands";

/// Reads a scenario file of `consul-lock` or `consul-semaphore`.
///
/// ```
/// use fencepost_doctor::lock::configuration::of_scenario;
///
/// let text = "name = \"ours\"\nsystem = \"consul-lock\"\nabout = \"Ours.\"\nclients = 2\n\n[service]\nrecipe = \"go-lock\"\nttl = \"20s\"\nrenew_every = \"10s\"\n\n[synchrony]\nmessage_delay = \"1200ms\"\nwake_delay = \"1s\"\n\n[[promise]]\nproperty = \"mutual-exclusion\"\n";
/// let read = of_scenario(text, "ours.toml").expect("the doctor knows this client");
/// assert_eq!(read.question.ttl.expect("it has one").to_string(), "20s");
/// assert_eq!((read.question.pause.to_string(), read.question.latency.to_string()), ("1s".to_owned(), "200ms".to_owned()));
/// let other = text.replace("ttl = \"20s\"", "ttl = \"20s\"\nunlock = \"delete\"");
/// let error = of_scenario(&other, "ours.toml").expect_err("the client is another one").to_string();
/// assert!(error.starts_with("ours.toml:9:10: service.unlock: "), "{error}");
/// ```
///
/// # Errors
/// A mistake in the file, or what in it is not judged here; with the place.
pub fn of_scenario(text: &str, file: &str) -> Result<Configuration, ConfigurationError> {
    read(&ScenarioText::new(text, file)).map_err(mistake)
}

fn read(source: &ScenarioText<'_>) -> Result<Configuration, ScenarioError> {
    let system = system_of(source.text, source.file)?;
    if !["consul-lock", "consul-semaphore"].contains(&system.as_str()) {
        let elsewhere = match crate::etcd::RECIPES.contains(&system.as_str()) {
            true => "`fencepost doctor etcd --from FILE` judges a session of etcd".to_owned(),
            false => ELSEWHERE.to_owned(),
        };
        let message = format!("`doctor` judges locks and semaphores of Consul, and not `{system}`; {elsewhere}");
        return Err(source.error("system", message));
    }
    let scenario: Scenario<Consul> = from_toml(source.text, source.file)?;
    let tick = source.tick(scenario.tick, ELSEWHERE)?;
    let real = |ticks: Ticks| Duration::of_nanoseconds(tick.nanoseconds() * ticks.count());
    environment(source, &scenario)?;
    let recipe = recipe_of(source, &system)?;
    let mut question = with_settings(source, &scenario, recipe, &real)?;
    let (Some(message), Some(wake)) = (scenario.synchrony.message_delay, scenario.synchrony.wake_delay) else {
        let path = if scenario.synchrony.message_delay.is_none() { "message_delay" } else { "wake_delay" };
        let message = format!("`doctor` needs a bound: set synchrony.{path}; {ELSEWHERE}, without any bound");
        return Err(source.error("synchrony", message));
    };
    if message < wake {
        return Err(source.error(
            "synchrony.message_delay",
            format!(
                "{} is less than wake_delay: a client that stands still for {} hears its messages as late, so write that or more",
                real(message),
                real(wake)
            ),
        ));
    }
    question.pause = real(wake);
    question.latency = real(message - wake);
    question
        .validate()
        .map_err(|wrong| source.error(&format!("service.{}", wrong.setting.replace('-', "_")), wrong.message))?;
    is_known_client(source, &scenario, &question, tick)?;
    let fields = fields(source, &scenario, &question);
    Ok(Configuration {
        kind: format!("the scenario `{}`", scenario.name),
        question,
        has_bounds: true,
        fields,
        assumptions: Vec::new(),
        without_field: Vec::new(),
    })
}

/// The recipe that the file names.
fn recipe_of(source: &ScenarioText<'_>, system: &str) -> Result<&'static str, ScenarioError> {
    let named = source.value("service.recipe").and_then(toml::Value::as_str);
    let known = if system == "consul-semaphore" { &["go-semaphore"][..] } else { &RECIPES[..] };
    match named.and_then(|name| known.iter().find(|known| **known == name)) {
        Some(&"go-semaphore") => Ok("go-lock"),
        Some(recipe) => Ok(recipe),
        None => {
            let path = if named.is_some() { "service.recipe" } else { "service" };
            let named = named.map_or("no recipe".to_owned(), |name| format!("`{name}`"));
            let message = format!(
                "`doctor` judges the clients `recipe = \"{}\"`, and this file has {named}; {ELSEWHERE}",
                known.join("\"`, `\"")
            );
            Err(source.error(path, message))
        }
    }
}

/// What the doctor assumes of the world has to be what the file says of it.
fn environment(source: &ScenarioText<'_>, scenario: &Scenario<Consul>) -> Result<(), ScenarioError> {
    let refused = |path: &str, what: &str| Err(source.error(path, format!("`doctor` judges {what}; {ELSEWHERE}")));
    if scenario.synchrony.server_delay.is_some() {
        return refused("synchrony.server_delay", "servers that may be as late as they like: leave the bound out");
    }
    if scenario.clocks != Clocks::default() {
        return refused("clocks", "clocks by their rate: leave `[clocks]` out, and say --drift 200ppm");
    }
    if scenario.network != Links::default() {
        return refused("network", "messages that travel on links that are never cut: leave `[network]` out");
    }
    if !scenario.programs.is_empty() {
        return refused("program", "the clients of a recipe, and no programs");
    }
    if !scenario.fault_places.is_empty() {
        return refused("fault_place", "faults at any place: leave `[[fault_place]]` out");
    }
    if !scenario.prefix.is_empty() {
        return refused("prefix", "executions from their beginning: leave `prefix` out");
    }
    if scenario.mutation.is_some() {
        return refused("mutation", "no model that is broken on purpose");
    }
    let mut other = scenario.clone();
    other = other.allow("false_alarms", 0);
    let none = Scenario::<Consul>::new("none").allow("false_alarms", 0);
    if other.budget != none.budget {
        return refused("budget", "no faults but one false alarm (budget.false_alarms = 1)");
    }
    Ok(())
}

/// A question about the known client with what the file says of it.
fn with_settings(
    source: &ScenarioText<'_>,
    scenario: &Scenario<Consul>,
    recipe: &str,
    real: &dyn Fn(Ticks) -> Duration,
) -> Result<LockQuestion, ScenarioError> {
    let settings = &scenario.service;
    let mut question = LockQuestion::of_recipe(recipe).expect("it is listed");
    if let Some(semaphore) = &settings.semaphore {
        let slots = semaphore.limits.first().copied().unwrap_or_default();
        if slots == 0 || semaphore.limits.iter().any(|limit| *limit != slots) {
            let message = format!("`doctor` judges one limit from 1 on for all clients; {ELSEWHERE}");
            return Err(source.error("service.semaphore", message));
        }
        question.slots = Some(slots);
    }
    question.ttl = settings.ttl.map(real);
    question.ttl_multiplier = settings.ttl_multiplier;
    question.lock_delay = real(settings.lock_delay);
    question.set_renew_every(settings.renew_every.map(real));
    question.belief = match settings.belief {
        BeliefRule::SelfLimiting => LockBelief::SelfLimiting,
        BeliefRule::ByMonitor => LockBelief::ByMonitor,
        _ => {
            let message = format!("`doctor` judges `self-limiting` and `by-monitor`; {ELSEWHERE}");
            return Err(source.error("service.belief", message));
        }
    };
    question.grace = settings.job.map(|job| real(job.grace)).unwrap_or_default();
    question.false_alarm = scenario.budget != Scenario::<Consul>::new("none").budget;
    question.fencing = match (scenario.resource, settings.sequencer) {
        (Accepts::All, Sequencer::None) => false,
        (Accepts::NotLower, Sequencer::ModifyIndex) => true,
        _ => {
            let message = format!(
                "`doctor` judges fencing as `resource = \"not-lower\"` with `sequencer = \"modify-index\"`, or none; {ELSEWHERE}"
            );
            return Err(source.error("resource", message));
        }
    };
    Ok(question)
}

/// Every setting of the file has to be the one that is judged.
fn is_known_client(
    source: &ScenarioText<'_>,
    scenario: &Scenario<Consul>,
    question: &LockQuestion,
    tick: Duration,
) -> Result<(), ScenarioError> {
    let mut judged = question.settings();
    // A resource that compares numbers is a part of the promise.
    judged.sequencer = scenario.service.sequencer;
    if let (Some(judged), Some(asked)) = (&mut judged.semaphore, &scenario.service.semaphore) {
        judged.limits.clone_from(&asked.limits);
    }
    let mut asked = scenario.service.clone();
    asked.durations(&mut |ticks| *ticks = ticks.times(exact(tick).count()));
    let Some((name, wanted)) = first_difference::<Consul>(&judged, &asked) else { return Ok(()) };
    let message = format!(
        "`doctor` judges the client of `{}`, in which this {wanted} (durations in microseconds): leave it out; {ELSEWHERE}",
        question.recipe
    );
    Err(source.error(&format!("service.{name}"), message))
}

/// What the file has, as it was understood.
fn fields(source: &ScenarioText<'_>, scenario: &Scenario<Consul>, question: &LockQuestion) -> Vec<Field> {
    let or_none = |duration: Option<Duration>| duration.map_or("none".to_owned(), |duration| duration.to_string());
    let setting = |path: &str, value: String, option: &str| {
        let reading = Reading::Setting(format!("{option} {value}"));
        source.field(path, value, reading)
    };
    let without =
        |path: &str, value: String, why: &str| source.field(path, value, Reading::WithoutEffect(why.to_owned()));
    let message = question.message().to_string();
    let mut fields: Vec<Field> = [
        without("clients", scenario.clients.to_string(), "answers are for any number of clients"),
        without("rounds", scenario.rounds.to_string(), "answers are for any number of rounds"),
        setting("service.recipe", question.recipe.to_owned(), "recipe"),
        setting("service.ttl", or_none(question.ttl), "ttl"),
        setting("service.lock_delay", question.lock_delay.to_string(), "lock-delay"),
        setting("service.renew_every", or_none(question.renew_every), "renew-every"),
        setting("service.belief", question.belief.to_string(), "belief"),
        setting("synchrony.wake_delay", question.pause.to_string(), "pause"),
        source.field(
            "synchrony.message_delay",
            message,
            Reading::Setting(format!("latency {}: what is left of it beside a pause", question.latency)),
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let judged: Vec<&str> = question.promises().iter().map(|promise| promise.name()).collect();
    let is_judged = |property: Property| judged.contains(&property.name());
    let others = scenario.promises.iter().filter(|promise| !is_judged(promise.property));
    fields.extend(others.filter_map(|promise| {
        let why = format!("`doctor` judges {}; `fencepost check` judges this promise", judged.join(", "));
        source.field("promise", promise.property.name().to_owned(), Reading::WithoutEffect(why))
    }));
    fields
}
