//! Scenarios as they stand, with one setting changed at a time.

use fencepost_checker::Options;
use fencepost_consul::Consul;
use fencepost_consul_explore::SERVICE;
use fencepost_doctor::Direction;
use fencepost_doctor::exact::{ExactDoctor, ExactEnd, ExactScenario, ExactValue, ExactVerdict};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::properties::Property;
use fencepost_model::scenario::{Scenario, from_toml};
use fencepost_model::time::Ticks;
use fencepost_registry::AnyScenario;
use serde::{Deserialize, Serialize};

/// Waits, is inside for an instant, and waits again; a pause of 0 is no wait, and such a program would stop a search.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
struct Waiting {
    pause: Ticks,
    is_counted: bool,
}

impl Recipe<Consul> for Waiting {
    const NAME: &'static str = "waiting";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        if self.pause > Ticks::ZERO {
            consul.sleep(self.pause).await;
        }
        assert!(!self.is_counted, "it counts");
        consul.enter(Token::default());
        consul.leave(Leaving::Done);
        Ok(Lap::Again)
    }
}

fn read(text: &str) -> Result<Box<dyn AnyScenario>, String> {
    from_toml::<Consul>(text, "exact").map(|scenario| SERVICE.any(&scenario).copy()).map_err(|error| error.message)
}

#[test]
fn a_value_with_which_a_program_is_wrong_is_an_end_and_no_error() {
    let scenario = Scenario::<Consul>::new("waiting").programs(Waiting { pause: Ticks::new(2), is_counted: false });
    let scenario = SERVICE.any(&scenario).copy();
    let base = ExactScenario::new(&*scenario, &read);
    let settings = base.settings();
    let of = |name: &str| settings.iter().find(|setting| setting.name == name).expect("it is changed").clone();
    let (pause, is_counted) = (of("program.0.head.pause"), of("program.0.head.is_counted"));
    assert_eq!((pause.value, is_counted.value), (ExactValue::Number(2), ExactValue::Flag(false)));
    assert_eq!(scenario.description().promises[0].property, Property::NoPanic);
    let mut doctor = ExactDoctor::new(&base, Options::default());
    let verdict = doctor.as_it_stands().expect("no internal error").remove(0);
    assert!(matches!(verdict, ExactVerdict::Kept { .. }), "{verdict:?}");
    let down = doctor.boundaries(&pause, 0, &verdict).expect("no internal error").remove(0);
    assert_eq!((down.direction, down.same), (Direction::Down, 1));
    let Some((0, ExactEnd::Refused(why))) = &down.end else { panic!("{down:?}") };
    assert!(why.contains("waiting"), "{why}");
    let flag = doctor.boundaries(&is_counted, 0, &verdict).expect("no internal error").remove(0);
    assert!(matches!(flag.end, Some((1, ExactEnd::Verdict(ExactVerdict::Broken { .. })))), "{flag:?}");
}

#[test]
fn durations_are_what_doubles_and_zero_is_one_if_a_one_in_its_place_does() {
    let text = "name = \"ours\"\nsystem = \"consul-lock\"\nabout = \"Ours.\"\nclients = 2\n\n[service]\nttl = 3\nlock_delay = 0\n\n[[promise]]\nproperty = \"mutual-exclusion\"\n";
    let scenario = read(text).expect("it is one");
    let base = ExactScenario::new(&*scenario, &read);
    let settings = base.settings();
    let of = |name: &str| settings.iter().find(|setting| setting.name == name).map(|setting| setting.value);
    assert_eq!(of("service.ttl"), Some(ExactValue::Ticks(3)));
    assert_eq!(of("service.lock_delay"), Some(ExactValue::Ticks(0)));
    for name in ["service.ttl_multiplier", "clients", "rounds", "budget.pauses", "clocks.step"] {
        assert_eq!(of(name), None, "{name}");
    }
}

#[test]
fn a_value_that_another_setting_overrides_is_refused() {
    let text = "name = \"ours\"\nsystem = \"consul-lock\"\nabout = \"Ours.\"\nclients = 2\n\n[service]\nttl = \"15s\"\nlock_delay = \"15s\"\nbelief = \"self-limiting\"\n\n[clocks]\nrate = \"200ppm\"\n\n[[promise]]\nproperty = \"mutual-exclusion\"\n";
    let scenario = read(text).expect("it is one");
    let base = ExactScenario::new(&*scenario, &read);
    let settings = base.settings();
    let skew = settings.iter().find(|setting| setting.name == "clocks.skew").expect("it is changed");
    assert_eq!(skew.value, ExactValue::Ticks(1));
    assert_eq!(
        base.with(skew, ExactValue::Ticks(0)).err().as_deref(),
        Some("another setting of the file makes it 15s")
    );
    assert!(base.with(skew, ExactValue::Ticks(2)).is_ok(), "more is allowed");
}
