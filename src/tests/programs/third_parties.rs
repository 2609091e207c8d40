//! Third parties that run programs: a janitor that deletes what it believes to be left over.

use fencepost::checker::{Engine, Options};
use fencepost::consul::{self, CatalogApi, CheckKind, Consul, Entry, HttpApi, LOCK, Status, Takes, Timer};
use fencepost::model::ids::{ClientId, ProcessId};
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe};
use fencepost::model::world::{Action, Fault};
use fencepost::{Property, Scenario, Ticks};
use serde::{Deserialize, Serialize};

use super::verdicts;

/// Deletes the lock's key if no session holds it.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Janitor {
    /// Only the entry that it has read.
    compares: bool,
}

impl Recipe<Consul> for Janitor {
    const NAME: &'static str = "janitor";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        if let Some(entry) = consul.get(LOCK).await?
            && entry.session.is_none()
        {
            match self.compares {
                true => consul.delete_cas(LOCK, entry.modify).await?,
                false => consul.delete(LOCK).await?,
            };
        }
        Ok(Lap::Done)
    }
}

/// Two clients whose sessions do not end, and the janitor. It comes twice.
fn swept(compares: bool) -> Scenario<Consul> {
    let scenario = consul::lock("swept").scenario().clients(2).rounds(2).promise(Property::MutualExclusion);
    scenario.program(ClientId(3), Janitor { compares })
}

#[test]
fn a_janitor_that_compares_nothing_lets_two_in() {
    for engine in [Engine::Dataflow, Engine::Stateright] {
        let options = Options { engine, ..Options::default() };
        let outcomes = consul::SERVICE.any(&swept(false)).check(&options).unwrap_or_else(|error| panic!("{error}"));
        let found = outcomes.iter().find(|outcome| outcome.finding.property == Property::MutualExclusion);
        let finding = &found.expect("it is promised").finding;
        let story = finding.verdict.story().unwrap_or_else(|| panic!("{:?}", finding.verdict));
        let labels: Vec<&str> = story.steps.iter().map(|step| step.label.as_str()).collect();
        assert!(labels.contains(&"the janitor is asked to do its work"), "{labels:#?}");
        assert!(labels.iter().any(|label| label.contains("receives from the janitor: delete")), "{labels:#?}");
        assert!(finding.assumptions.iter().any(|assumption| assumption.kind == "finite-work"));
    }
}

#[test]
fn a_janitor_that_compares_does_no_harm_and_may_crash() {
    let mut scenario = swept(true);
    (scenario.budget.crashes, scenario.rounds) = (1, 1);
    let options = Options::default();
    let all = verdicts(consul::SERVICE.any(&scenario), &options);
    assert!(all.iter().all(|(_, word, ..)| *word == "proven"), "{all:?}");
    // Its crash is one more than those of the two clients.
    let crashes = |scenario: &Scenario<Consul>| {
        let mut enabled = Vec::new();
        scenario.enabled(&scenario.start(), &mut enabled);
        enabled.iter().filter(|action| action.to_string().ends_with("crashes")).count()
    };
    assert_eq!(crashes(&scenario), 3);
}

/// An operator who ends whatever holds the lock: the check of its node becomes critical.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Operator {
    /// It looks, and changes nothing.
    only_looks: bool,
}

impl Recipe<Consul> for Operator {
    const NAME: &'static str = "operator";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        let Some(Entry { session: Some(session), .. }) = consul.get(LOCK).await? else { return Ok(Lap::Done) };
        let holders = consul.nodes().await?.nodes;
        for node in holders.iter().copied() {
            if consul.node_sessions(node).await?.ids.contains(&session) && !self.only_looks {
                consul.set_check(node, CheckKind::NodeCheck, Status::Critical).await?;
            }
        }
        Ok(Lap::Done)
    }
}

/// Two clients whose sessions are bound to a check of their node, and the operator.
fn operated(only_looks: bool) -> Scenario<Consul> {
    let mut scenario = consul::lock("operated").scenario().clients(2).rounds(1).promise(Property::MutualExclusion);
    scenario.service.health.checks = vec![CheckKind::NodeCheck];
    scenario.program(ClientId(3), Operator { only_looks })
}

#[test]
fn an_operator_who_ends_the_holder_lets_another_client_in_beside_it() {
    let options = Options::default();
    let outcomes = consul::SERVICE.any(&operated(false)).check(&options).unwrap_or_else(|error| panic!("{error}"));
    let found = outcomes.iter().find(|outcome| outcome.finding.property == Property::MutualExclusion);
    let story = found.expect("it is promised").finding.verdict.story().expect("it is violated").clone();
    let labels: Vec<&str> = story.steps.iter().map(|step| step.label.as_str()).collect();
    let sets = |label: &&str| label.contains("from the operator: set") && label.contains("to critical");
    assert!(labels.iter().any(sets), "{labels:#?}");
    let all = verdicts(consul::SERVICE.any(&operated(true)), &options);
    assert!(all.iter().all(|(_, word, ..)| *word == "proven"), "it only looks: {all:?}");
}

/// A third party is paused and cut off like a client, out of the same budget.
#[test]
fn a_third_party_is_paused_and_cut_off() {
    let mut scenario = swept(true);
    (scenario.budget.pauses, scenario.budget.cuts, scenario.rounds) = (1, 1, 1);
    scenario = scenario.message_delay(0).wake_delay(0).server_delay(0);
    let mut enabled = Vec::new();
    scenario.enabled(&scenario.start(), &mut enabled);
    let janitor = ProcessId::Client(ClientId(3));
    assert!(enabled.contains(&Action::Fault(Fault::Pause(janitor))), "{enabled:?}");
    let cut = |action: &&Action<Consul>| matches!(action, Action::Fault(Fault::Cut(link)) if link.from == janitor || link.to == janitor);
    assert!(enabled.iter().any(|action| cut(&action)), "{enabled:?}");
    let all = verdicts(consul::SERVICE.any(&scenario), &Options::default());
    assert!(all.iter().all(|(_, word, ..)| *word == "proven"), "{all:?}");
}

/// A third party has a node of its own, which gossip may give up.
#[test]
fn a_third_party_has_a_node() {
    let mut scenario = swept(true);
    (scenario.service.health.detection, scenario.service.health.crash) = (Some(Ticks::new(1)), Takes::Node);
    assert_eq!(consul::with_nodes(&scenario).collect::<Vec<_>>(), [ClientId(1), ClientId(2), ClientId(3)]);
    scenario.budget.crashes = 1;
    let crash = Action::Fault(Fault::Crash(ClientId(3)));
    let mut world = scenario.start();
    for action in [crash, Action::Advance(Ticks::new(1))] {
        scenario.step(&mut world, &action);
    }
    let suspect = Action::Wake { process: ProcessId::Server, timer: Timer::Suspect(ClientId(3)) };
    assert!(scenario.is_enabled(&world, &suspect));
}

#[test]
fn third_parties_are_numbered_without_gaps_after_all_others() {
    let janitor = || Janitor { compares: true };
    let error = |scenario: Scenario<Consul>| scenario.validate().expect_err("it is wrong").to_string();
    let gap = error(swept(true).program(ClientId(5), janitor()));
    assert!(gap.ends_with("third parties are numbered from 3, without gaps"), "{gap}");
    let mut observed = swept(true);
    observed.service.observers = 1;
    let taken = error(observed.clone());
    assert!(taken.ends_with("client 3 is a participant of the settings, and runs no program"), "{taken}");
    observed.programs[0].client = Some(ClientId(4));
    assert_eq!(observed.validate(), Ok(()));
    let two = swept(true).program(ClientId(4), janitor());
    assert_eq!(two.validate(), Ok(()));
}
