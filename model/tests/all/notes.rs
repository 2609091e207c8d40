//! Controls: settings whose budget is zero are accepted, have no effect, and are noted.

use fencepost::with_scenario;
use fencepost::{AnyScenario, catalogue};
use fencepost_model::scenario::{Axis, Scenario};
use fencepost_model::service::Service;
use fencepost_model::service_fault::ServiceFault;

/// A small scenario with these additions to its tables.
fn read(system: &str, service: &str, rest: &str) -> Box<dyn AnyScenario> {
    let text = format!(
        "name = \"control\"\nsystem = \"{system}\"\nabout = \"A control.\"\nclients = 2\n\n[service]\n{service}\n\n{rest}\n"
    );
    catalogue::read(&text, "file").unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn a_setting_without_its_budget_is_noted_and_accepted() {
    for (system, service, rest, path) in [
        ("consul-lock", "servers.election = 3", "", "service.servers.election"),
        ("consul-lock", "servers.outage_max = 3", "", "service.servers.outage_max"),
        ("consul-lock", "servers.timers = \"go-on\"", "", "service.servers.timers"),
        ("consul-lock", "servers.requests = \"held\"", "", "service.servers.requests"),
        ("consul-lock", "servers.old_leader = \"lingers\"", "", "service.servers.old_leader"),
        ("consul-lock", "operator = [\"put\"]", "", "service.operator"),
        (
            "consul-lock",
            "operator = [\"destroy-crashed\"]",
            "[budget]\noperator = 1",
            "service.operator.destroy-crashed",
        ),
        ("consul-lock", "patience = 2", "", "service.patience"),
        ("consul-lock", "", "[network]\ncuts = \"drop\"", "network"),
        ("consul-lock", "", "[clocks]\nskew = 2", "clocks.skew"),
        ("consul-lock", "", "[budget]\nslips = 2", "budget.slips"),
        ("consul-lock", "", "[budget]\nrestarts = 1", "budget.restarts"),
        ("token-pool", "patience = 2", "", "service.patience"),
        ("redlock", "lease = 3\njumps = true", "", "service.jumps"),
        ("copied-lock", "fails = true", "", "service.fails"),
        ("copied-lock", "splits = true", "", "service.splits"),
        ("rabbitmq-semaphore", "alarms = true", "", "service.alarms"),
        ("rabbitmq-semaphore", "cluster = { nodes = 2, go_down = [2] }", "", "service.cluster.go_down"),
        ("rabbitmq-semaphore", "cluster = { nodes = 2, splits = true }", "", "service.cluster.splits"),
        ("rabbitmq-semaphore", "patience = 2", "", "service.patience"),
    ] {
        let notes = read(system, service, rest).notes();
        let paths: Vec<&str> = notes.iter().map(|note| note.path.as_str()).collect();
        assert_eq!(paths, [path], "{system}: {service} {rest}");
        assert!(notes[0].to_string().contains("has no effect, because `"), "{}", notes[0]);
    }
}

#[test]
fn the_catalogue_has_no_setting_without_effect() {
    for scenario in catalogue::all() {
        assert_eq!(scenario.notes(), [], "{}", scenario.name());
    }
}

/// The budgets that the service declares.
fn own_budgets<P: Service>(_: &Scenario<P>) -> Vec<&'static str> {
    P::Fault::KINDS.iter().map(|kind| kind.budget).collect()
}

/// Whatever faults a scenario of the catalogue has: a control without one of them is possible.
#[test]
fn every_budget_can_be_varied_down_to_zero() {
    let budgets = ["losses", "duplicates", "crashes", "pauses", "cuts", "slips", "operator", "retries"];
    let mut controls = 0;
    for scenario in catalogue::all() {
        let own = with_scenario!(&scenario, scenario => own_budgets(scenario));
        for budget in budgets.into_iter().chain(own) {
            let axis: Axis = format!("budget.{budget}=0").parse().expect("an axis");
            for control in scenario.vary(&[axis]) {
                let control = control.scenario.unwrap_or_else(|error| panic!("{} {budget}: {error}", scenario.name()));
                controls += usize::from(!control.notes().is_empty());
            }
        }
    }
    assert!(controls > 20, "{controls} controls have a note");
}
