//! A scenario file in units, as a question: a session of the Go client, with its own durations and bounds. Everything else in the file has to be as
//! this program judges it; the first setting that is not is an error that says so.

use fencepost_etcd::{Etcd, Settings, Stop};
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Clocks, Scenario, ScenarioError, from_toml, system_of};
use fencepost_model::time::Ticks;
use fencepost_model::units::Duration;

use super::SessionConfiguration;
use crate::asked::Asked as _;
use crate::configuration::{ConfigurationError, Field, Reading, first_difference};
use crate::etcd::keeping::RENEWAL_LOOP;
use crate::etcd::question::{DONE_LOOP, RECIPES, SessionQuestion, SessionStop};
use crate::rounding::{down, up};
use crate::scenario_text::{ScenarioText, mistake};

/// Where to go with a scenario that is not judged here.
const ELSEWHERE: &str = "`fencepost doctor scenario FILE` judges it as it stands";

/// Reads a scenario file of `etcd-mutex` or `etcd-election`.
///
/// ```
/// use fencepost_doctor::etcd::configuration::of_session_scenario;
///
/// let text = "name = \"ours\"\nsystem = \"etcd-mutex\"\nabout = \"Ours.\"\nclients = 2\nrounds = 1\n\n[service]\nttl = \"9s\"\nrenew_after = \"3s\"\nstop = \"before-expiry\"\nmargin = \"2s\"\n\n[synchrony]\nmessage_delay = \"1200ms\"\nwake_delay = \"1s\"\n\n[[promise]]\nproperty = \"mutual-exclusion\"\n";
/// let read = of_session_scenario(text, "ours.toml").expect("the doctor knows this client");
/// assert_eq!((read.question.margin.to_string(), read.question.latency.to_string()), ("2s".to_owned(), "200ms".to_owned()));
/// let other = text.replace("ttl = \"9s\"", "ttl = \"9s\"\nshared_lease = true");
/// let error = of_session_scenario(&other, "ours.toml").expect_err("the client is another one").to_string();
/// assert!(error.starts_with("ours.toml:9:16: service.shared_lease: "), "{error}");
/// ```
///
/// # Errors
/// A mistake in the file, or what in it is not judged here; with the place.
pub fn of_session_scenario(text: &str, file: &str) -> Result<SessionConfiguration, ConfigurationError> {
    read(&ScenarioText::new(text, file)).map_err(mistake)
}

fn read(source: &ScenarioText<'_>) -> Result<SessionConfiguration, ScenarioError> {
    let system = system_of(source.text, source.file)?;
    let Some(recipe) = RECIPES.into_iter().find(|recipe| *recipe == system) else {
        let message = format!("`doctor etcd` judges `{}`, and not `{system}`; {ELSEWHERE}", RECIPES.join("` and `"));
        return Err(source.error("system", message));
    };
    let scenario: Scenario<Etcd> = from_toml(source.text, source.file)?;
    let tick = source.tick(scenario.tick, ELSEWHERE)?;
    environment(source, &scenario)?;
    let real = |ticks: Ticks| Duration::of_nanoseconds(tick.nanoseconds() * ticks.count());
    let mut question = SessionQuestion::of_recipe(recipe).expect("it is listed");
    question.ttl = real(scenario.service.ttl);
    question.margin = real(scenario.service.margin);
    question.stop = match scenario.service.stop {
        Stop::Never => SessionStop::Never,
        Stop::OnDone => SessionStop::OnDone,
        Stop::BeforeExpiry => SessionStop::BeforeExpiry,
    };
    if let Some(first) = scenario.service.first_deadline {
        let dial = real(first).nanoseconds() - Duration::of_seconds(1).nanoseconds();
        if dial <= 0 {
            let message = format!("a first deadline is DialTimeout and a second (E-CC-4); {ELSEWHERE}");
            return Err(source.error("service.first_deadline", message));
        }
        question.dial_timeout = Duration::of_nanoseconds(dial);
    }
    (question.pause, question.latency) = bounds(source, &scenario, &real)?;
    question
        .validate()
        .map_err(|wrong| source.error(&format!("service.{}", wrong.setting.replace('-', "_")), wrong.message))?;
    is_known_client(source, &scenario.service, &question, tick)?;
    Ok(SessionConfiguration {
        kind: format!("the scenario `{}`", scenario.name),
        fields: fields(source, &scenario, &question),
        question,
        has_bounds: true,
        assumptions: Vec::new(),
        without_field: Vec::new(),
    })
}

/// The pause and the latency.
fn bounds(
    source: &ScenarioText<'_>,
    scenario: &Scenario<Etcd>,
    real: &dyn Fn(Ticks) -> Duration,
) -> Result<(Duration, Duration), ScenarioError> {
    let (Some(message), Some(wake)) = (scenario.synchrony.message_delay, scenario.synchrony.wake_delay) else {
        let path = if scenario.synchrony.message_delay.is_none() { "message_delay" } else { "wake_delay" };
        let message = format!("`doctor` needs a bound: set synchrony.{path}; {ELSEWHERE}, without any bound");
        return Err(source.error("synchrony", message));
    };
    if message < wake {
        let (message, wake) = (real(message), real(wake));
        let why = format!(
            "{message} is less than wake_delay: a client that stands still for {wake} hears its messages as late, so write that or more"
        );
        return Err(source.error("synchrony.message_delay", why));
    }
    Ok((real(wake), real(message - wake)))
}

/// What the doctor assumes of the world has to be what the file says of it. Links may be cut, whatever the file says of that.
fn environment(source: &ScenarioText<'_>, scenario: &Scenario<Etcd>) -> Result<(), ScenarioError> {
    let mut budget = scenario.budget;
    budget.cuts = 0;
    let others = [
        (
            scenario.clocks != Clocks::default(),
            "clocks",
            "clocks by their rate: leave `[clocks]` out, and say --drift 200ppm",
        ),
        (!scenario.programs.is_empty(), "program", "the clients of a recipe, and no programs"),
        (!scenario.fault_places.is_empty(), "fault_place", "faults at any place: leave `[[fault_place]]` out"),
        (!scenario.prefix.is_empty(), "prefix", "executions from their beginning: leave `prefix` out"),
        (scenario.mutation.is_some(), "mutation", "no model that is broken on purpose"),
        (budget != Scenario::<Etcd>::new("none").budget, "budget", "no faults but cut links (budget.cuts)"),
    ];
    match others.iter().find(|(is_so, ..)| *is_so) {
        Some((_, path, what)) => Err(source.error(path, format!("`doctor` judges {what}; {ELSEWHERE}"))),
        None => Ok(()),
    }
}

/// Every setting of the file has to be the one that is judged; durations of the client that a tick cannot hold are rounded.
fn is_known_client(
    source: &ScenarioText<'_>,
    asked: &Settings,
    question: &SessionQuestion,
    tick: Duration,
) -> Result<(), ScenarioError> {
    let third = Duration::of_nanoseconds(question.ttl.nanoseconds() / 3);
    let known = [
        ("renew_after", third, asked.renew_after),
        ("resend_after", RENEWAL_LOOP, asked.resend_after),
        ("done_loop", DONE_LOOP, asked.done_loop),
    ];
    for (name, wanted, ticks) in known {
        let path = format!("service.{name}");
        let is_near = [down(wanted, tick), up(wanted, tick)].contains(&ticks.count());
        if source.value(&path).is_some() && !is_near {
            let message =
                format!("`doctor` judges the Go client, in which this is {wanted} (E-CC-2, E-CC-3); {ELSEWHERE}");
            return Err(source.error(&path, message));
        }
    }
    let Settings { ttl, stop, margin, renew_after, resend_after, done_loop, first_deadline, .. } = asked.clone();
    let judged =
        Settings { ttl, stop, margin, renew_after, resend_after, done_loop, first_deadline, ..Settings::default() };
    // What lasts for a tick by default, and does not stand in the file, was not meant.
    let Some((name, wanted)) = first_difference::<Etcd>(&judged, asked) else { return Ok(()) };
    let message = format!("`doctor` judges the Go client, in which this {wanted}: leave it out; {ELSEWHERE}");
    Err(source.error(&format!("service.{name}"), message))
}

/// What the file has, as it was understood.
fn fields(source: &ScenarioText<'_>, scenario: &Scenario<Etcd>, question: &SessionQuestion) -> Vec<Field> {
    let setting = |path: &str, value: String, option: &str| {
        let reading = Reading::Setting(format!("{option} {value}"));
        source.field(path, value, reading)
    };
    let without =
        |path: &str, value: String, why: &str| source.field(path, value, Reading::WithoutEffect(why.to_owned()));
    let message = question.message().to_string();
    let latency = format!("latency {}: what is left of it beside a pause", question.latency);
    let third = format!("T/3, sent with the next tick of a loop of {RENEWAL_LOOP} (E-CC-2)");
    let mut fields: Vec<Field> = [
        without("clients", scenario.clients.to_string(), "answers are for any number of clients"),
        without("rounds", scenario.rounds.to_string(), "answers are for any number of rounds"),
        without(
            "budget.cuts",
            scenario.budget.cuts.to_string(),
            "links may be cut at any time; a lease is kept where none is",
        ),
        setting("service.ttl", question.ttl.to_string(), "ttl"),
        without("service.renew_after", scenario.service.renew_after.to_string(), &third),
        setting("service.stop", question.stop.name().to_owned(), "stop"),
        setting("service.margin", question.margin.to_string(), "margin"),
        setting("service.first_deadline", question.dial_timeout.to_string(), "dial-timeout"),
        setting("synchrony.wake_delay", question.pause.to_string(), "pause"),
        source.field("synchrony.message_delay", message, Reading::Setting(latency)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let others = scenario.promises.iter().filter(|promise| promise.property != Property::MutualExclusion);
    fields.extend(others.filter_map(|promise| {
        let names: Vec<&str> = question.promises().iter().map(|promise| promise.name()).collect();
        let why = format!("`doctor` judges {}; `fencepost check` judges this promise", names.join(", "));
        source.field("promise", promise.property.name().to_owned(), Reading::WithoutEffect(why))
    }));
    fields
}
