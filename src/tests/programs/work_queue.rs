//! Programs that work off a queue while they have the lock, and programs that write to keys of the resource.
//!
//! Whether an item is lost or handled twice depends on when it is removed from the queue, on fencing, and on whether the work and the queue
//! are in one database.

use fencepost::checker::Options;
use fencepost::lease::{self, Lease, LeaseMessage, Lending, SERVICE};
use fencepost::model::action_kind::ActionKind;
use fencepost::model::assumption::Execution;
use fencepost::model::fact::{Fact, Leaving};
use fencepost::model::ids::{ClientId, Token};
use fencepost::model::mutation::{KernelMutation, Mutation};
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe};
use fencepost::model::resource::Accepts;
use fencepost::model::scenario::{Scenario as ModelScenario, UNLIMITED};
use fencepost::sim::{Hunt, Settings, ready, walk};
use fencepost::{Goal, Property, Scenario, Ticks};
use serde::{Deserialize, Serialize};

use super::{Verdicts, agreed, verdicts, words};

/// When an item leaves the queue.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Removal {
    /// Before the work.
    Before,
    /// After it.
    After,
    /// With it.
    Together,
}

/// Has the lock for a lease, and handles items as long as that lasts.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Worker {
    lease: Ticks,
    #[normal(skip = "a constant")]
    removal: Removal,
}

/// Handles the next item. False: there is none, or the resource has refused the token.
async fn handle_next(resource: &Handle<Lease>, removal: Removal, token: Token) -> bool {
    let item = match removal {
        Removal::Before => resource.take_item().await,
        Removal::After | Removal::Together => resource.next_item().await,
    };
    let Some(item) = item else { return false };
    match removal {
        Removal::Before => resource.handle_item(item, token).await,
        Removal::After => resource.handle_item(item, token).await && resource.finish_item(item, token).await,
        Removal::Together => resource.complete_item(item, token).await,
    }
}

impl Recipe<Lease> for Worker {
    const NAME: &'static str = "worker";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let lease = lender.deadline(self.lease);
        let LeaseMessage::Lent(loan) = lender.borrow().await else {
            drop(lease);
            lender.sleep(Ticks::new(1)).await;
            return Ok(Lap::Again);
        };
        if lease.is_over().await {
            return Ok(Lap::Done);
        }
        let token = lender.token(loan);
        lender.lease_until(&lease);
        lender.enter(token);
        let why = loop {
            if lease.is_over().await {
                break Leaving::Lapsed;
            }
            if !handle_next(lender, self.removal, token).await {
                break Leaving::Done;
            }
        };
        lender.leave(why);
        lender.no_lease();
        lender.give_back(loan);
        Ok(Lap::Done)
    }
}

/// Two workers, of which one may crash. Messages take this long at most, and a user whose client is idle asks it for the lock.
fn prompt(items: u8, removal: Removal, message_delay: i64) -> Scenario<Lease> {
    let lease = Ticks::new(2 + 4 * message_delay);
    let scenario = lease::lock("work-queue")
        .programs(Worker { lease, removal })
        .message_delay(message_delay)
        .wake_delay(0)
        .server_delay(0)
        .scenario();
    let scenario = scenario.service(|service| (service.lease, service.grace) = (lease, Ticks::new(1 + message_delay)));
    let scenario = scenario.rounds(UNLIMITED).work_items(items);
    let scenario = scenario.budget(|budget| (budget.crashes, budget.restarts) = (1, 1));
    let mut scenario = scenario.promise(Property::HandledOnce).promise(Property::EveryItemHandled);
    scenario.fairness.weak.extend([ActionKind::Command, ActionKind::Restart]);
    scenario
}

fn on_time(items: u8, removal: Removal) -> Scenario<Lease> {
    prompt(items, removal, 0)
}

/// The same without a crash, where messages may be as late as they are.
fn late(removal: Removal, resource: Accepts) -> Scenario<Lease> {
    let scenario = lease::lock("late-work").programs(Worker { lease: Ticks::new(2), removal }).wake_delay(0).scenario();
    let scenario = scenario.service(|lease| lease.grace = Ticks::new(1)).work_items(1).resource(resource);
    scenario.promise(Property::HandledOnce)
}

/// The verdicts in every engine, which are the same without what a search leaves out, and with partial orders.
fn judged(scenario: &Scenario<Lease>) -> Verdicts {
    let scenario = SERVICE.any(scenario);
    let all = agreed(scenario);
    let heard = Options { leaves_out_unheard: false, ..Options::default() };
    let ordered = Options { partial_order: true, ..Options::default() };
    for (name, options) in [("unheard", heard), ("partial orders", ordered)] {
        assert_eq!(words(&verdicts(scenario, &options)), words(&all), "{name}");
    }
    all
}

fn verdict(verdicts: &Verdicts, property: Property) -> &'static str {
    verdicts.iter().find(|(other, ..)| *other == property).expect("it is promised").1
}

/// `handled-once`, and `every-item-handled`.
fn both(scenario: &Scenario<Lease>) -> (&'static str, &'static str) {
    let all = judged(scenario);
    assert_eq!(verdict(&all, Property::NoPanic), "proven");
    (verdict(&all, Property::HandledOnce), verdict(&all, Property::EveryItemHandled))
}

#[test]
fn an_item_that_is_removed_first_may_be_lost_and_one_that_is_removed_last_may_be_handled_twice() {
    assert_eq!(both(&on_time(2, Removal::Before)), ("proven", "violated"));
    assert_eq!(both(&on_time(2, Removal::After)), ("violated", "proven"));
    assert_eq!(both(&on_time(2, Removal::Together)), ("proven", "proven"));
}

#[test]
fn a_token_does_not_replace_a_transaction_where_work_is_late() {
    let once = |removal, resource| verdict(&judged(&late(removal, resource)), Property::HandledOnce);
    assert_eq!(once(Removal::Before, Accepts::All), "proven");
    assert_eq!(once(Removal::After, Accepts::All), "violated");
    // The next client was told of the item before: the tokens of both tenures arrive in order.
    assert_eq!(once(Removal::After, Accepts::NotLower), "violated");
    assert_eq!(once(Removal::Together, Accepts::All), "proven");
    let mutation = Some(KernelMutation::AbsentItemCompleted.into());
    let mutated = |resource| Scenario { mutation, ..late(Removal::Together, resource) };
    for resource in [Accepts::All, Accepts::NotLower] {
        assert_eq!(verdict(&judged(&mutated(resource)), Property::HandledOnce), "violated", "{resource:?}");
    }
}

#[test]
fn a_queue_that_forgets_gives_items_out_again() {
    let forgetful = on_time(1, Removal::Before).budget(|budget| {
        (budget.crashes, budget.restarts, budget.resource_restarts) = (0, 0, 1);
    });
    let message = forgetful.assumptions().into_iter().map(|it| it.sentence).collect::<Vec<_>>().join("\n");
    assert!(message.contains("and then which items were removed as well"), "{message}");
    assert_eq!(both(&forgetful), ("violated", "proven"));
}

#[test]
fn the_shortest_run_says_which_item_is_handled_twice_and_which_is_never_handled() {
    let told = |scenario: &Scenario<Lease>, property| {
        let scenario = SERVICE.any(scenario);
        let outcomes = scenario.check(&Default::default()).unwrap_or_else(|error| panic!("{error}"));
        let outcome = outcomes.into_iter().find(|outcome| outcome.finding.property == property).expect("promised");
        let trace = outcome.trace.expect("it has a trace");
        trace.replay().unwrap_or_else(|error| panic!("{error}"));
        (trace.steps(), trace.to_text())
    };
    let (steps, text) = told(&on_time(2, Removal::After), Property::HandledOnce);
    assert!(text.contains("which had been handled") && text.contains("client 2 handles item 1 once more"), "{text}");
    assert_eq!(steps, 14, "{text}");
    let (_, text) = told(&on_time(2, Removal::Before), Property::EveryItemHandled);
    assert!(text.contains("is never handled"), "{text}");
}

#[test]
fn the_simulator_finds_items_that_are_lost_and_items_that_are_handled_twice() {
    for (removal, property) in [(Removal::Before, Property::EveryItemHandled), (Removal::After, Property::HandledOnce)]
    {
        let scenario = prompt(2, removal, 1);
        let scenario = SERVICE.any(&scenario);
        let hunt = Hunt { seeds: 0..2_000, workers: 2, only: vec![property], ..Hunt::default() };
        let seed = scenario.hunt(&hunt, &|_| false).seed.unwrap_or_else(|| panic!("no seed breaks {property}"));
        let run = scenario.simulate(&Settings { seed, ..Settings::default() });
        let read = scenario.read_trace(&run.trace.to_text()).unwrap_or_else(|error| panic!("{error}"));
        read.replay().unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn mutants_of_the_queue_change_a_verdict() {
    let once = |removal, mutation: Option<KernelMutation>| {
        let mutation: Option<Mutation> = mutation.map(Into::into);
        let all = judged(&Scenario { mutation, ..on_time(1, removal) });
        verdict(&all, Property::HandledOnce)
    };
    assert_eq!(once(Removal::Before, None), "proven");
    assert_eq!(once(Removal::Before, Some(KernelMutation::TakenItemStays)), "violated");
    assert_eq!(once(Removal::Together, None), "proven");
    assert_eq!(once(Removal::Together, Some(KernelMutation::FinishedItemStays)), "violated");
    assert_eq!(once(Removal::After, None), "violated");
    assert_eq!(once(Removal::After, Some(KernelMutation::FirstItemUnseen)), "proven");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let refused = |scenario: &ModelScenario<Lease>| scenario.validate().expect_err("it is wrong").to_string();
    let fine = on_time(2, Removal::Together);
    assert!(fine.validate().is_ok());
    assert!(refused(&Scenario { work_items: 17, ..fine.clone() }).contains("at most 16 items"));
    assert!(refused(&Scenario { work_items: 0, ..fine.clone() }).contains("set `work_items`"));
    assert!(refused(&Scenario { programs: Vec::new(), ..fine.clone() }).contains("only programs handle items"));
    let mut idle = fine.clone();
    idle.fairness.weak.retain(|kind| *kind != ActionKind::Command);
    assert!(refused(&idle).contains("add `command` to `fairness.weak`"));
    let text = fine.to_toml();
    assert!(text.contains("work_items = 2"), "{text}");
    assert!(!Scenario { work_items: 0, ..fine }.to_toml().contains("work_items"));
}

/// An execution of a longer queue breaks what is assumed of a shorter one.
#[test]
fn the_length_of_the_queue_is_an_assumption_that_can_fail() {
    let (short, long) = (on_time(1, Removal::Together), on_time(2, Removal::Together));
    let declared = short.declared().into_iter().find(|it| it.assumption.kind == "finite-queue").expect("it is assumed");
    assert_eq!(declared.assumption.sentence, "the work queue has 1 item from the start, and none is added");
    let settings = Settings { refinement: 1, ..Settings::default() };
    let actions = walk(&ready(&long, &settings), &settings).actions;
    let progress = short.promises.iter().find(|promise| promise.property == Property::EveryItemHandled);
    let rests_on = short.assumptions_of(progress.expect("it is promised"));
    assert!(rests_on.iter().any(|it| it.kind == "durable-resource"), "{rests_on:?}");
    assert!(declared.holds(&Execution::of(&long, &actions)).is_err());
}

/// Writes once per tenure to the key with its own number.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct OwnKey {
    #[normal(skip = "a constant")]
    key: u8,
}

impl Recipe<Lease> for OwnKey {
    const NAME: &'static str = "own-key";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let lease = lender.deadline(Ticks::new(2));
        let LeaseMessage::Lent(loan) = lender.borrow().await else {
            drop(lease);
            lender.sleep(Ticks::new(1)).await;
            return Ok(Lap::Again);
        };
        let token = lender.token(loan);
        lender.lease_until(&lease);
        lender.enter(token);
        lender.user().await;
        let accepted = lender.write_to(self.key, token).await;
        assert!(accepted, "no other client writes to key {}", self.key);
        lender.leave(Leaving::Done);
        lender.no_lease();
        Ok(Lap::Done)
    }
}

/// Clients whose writes go to these keys, of any lateness; the resource compares tokens.
fn keyed(keys: [u8; 2]) -> Scenario<Lease> {
    let [first, second] = keys.map(|key| OwnKey { key });
    let scenario =
        lease::lock("keys").program(ClientId(1), first).program(ClientId(2), second).wake_delay(0).scenario();
    let scenario = scenario.service(|lease| lease.grace = Ticks::new(1)).writes(1).resource(Accepts::NotLower);
    scenario.promise(Property::NoLostUpdate).goal(Goal::WRITTEN)
}

#[test]
fn tokens_of_different_keys_are_not_compared() {
    let all = |scenario: &Scenario<Lease>| {
        let all = judged(scenario);
        (verdict(&all, Property::NoPanic), verdict(&all, Property::NoLostUpdate))
    };
    assert_eq!(all(&keyed([0, 7])), ("proven", "proven"));
    // The write of the first holder is late, and refused.
    assert_eq!(all(&keyed([3, 3])), ("violated", "proven"));
    let unfenced = keyed([3, 3]).resource(Accepts::All);
    assert_eq!(all(&unfenced), ("proven", "violated"));
    let mutated = |mutation: KernelMutation| Scenario { mutation: Some(mutation.into()), ..keyed([0, 7]) };
    assert_eq!(all(&mutated(KernelMutation::KeysShareTokens)), ("violated", "proven"));
    assert_eq!(all(&mutated(KernelMutation::KeysShareTenures)), ("proven", "violated"));
}

#[test]
fn a_key_that_does_not_exist_is_a_mistake_of_the_program() {
    let all = judged(&keyed([8, 0]));
    assert_eq!(verdict(&all, Property::NoPanic), "violated");
}

#[test]
fn facts_name_key_and_item() {
    let written: Fact<Lease> = serde_json::from_value(serde_json::json!({
        "written": { "client": 1, "token": 2, "tenure": 1, "key": 3 }
    }))
    .expect("it is a fact");
    assert_eq!(written.to_string(), "the write of client 1 to key 3 is accepted (token 2)");
    let handled: Fact<Lease> =
        serde_json::from_value(serde_json::json!({ "handled": { "client": 1, "item": 2, "again": true } }))
            .expect("it is a fact");
    assert_eq!(handled.to_string(), "client 1 handles item 2 once more");
    let no_item = serde_json::from_value::<Fact<Lease>>(serde_json::json!({
        "handled": { "client": 1, "item": 17, "again": false }
    }));
    assert!(no_item.expect_err("there is none").to_string().contains("from 1 to 16"));
}
