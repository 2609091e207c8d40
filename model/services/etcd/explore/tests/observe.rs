//! What a user of `Observe` may expect, and what not (E-CC-23), with the lines of hazard E-14: promises to observers are properties of Rust.

use fencepost_checker::Options;
use fencepost_etcd::{
    ElectionService, Etcd, EtcdError, EtcdEvent, EtcdObserver, EtcdQuery, EtcdValue, EventCursor, GoElection,
    HolderTerms, Key, KeyRange, ObserverKind, OperatorKind, Reads, Response, SessionTerms, Settings, Stop, WatchApi,
};
use fencepost_etcd_explore::SERVICE;
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, Index};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::properties::{Level, Memory, View};
use fencepost_model::scenario::{Replies, Scenario};
use fencepost_model::service::Service as _;
use fencepost_model::time::Ticks;
use fencepost_model::world::{Action, Condition};
use serde::{Deserialize, Serialize};

fn terms() -> SessionTerms {
    let ttl = Ticks::new(3);
    SessionTerms {
        ttl,
        lease: None,
        renew_after: Ticks::new(1),
        resend_after: Ticks::new(1),
        resends: false,
        done_loop: Ticks::new(1),
        first_deadline: ttl,
        limit: None,
    }
}

/// A world without delays, in which candidates lead once each, and a third party observes them.
fn beside<C: Recipe<Etcd>, R: Recipe<Etcd>>(candidates: u16, candidate: C, observer: R) -> Scenario<Etcd> {
    let mut scenario = Scenario::<Etcd>::new("observed").message_delay(0).wake_delay(0).server_delay(0).rounds(1);
    scenario.system = "etcd-election".to_owned();
    scenario.network.replies = Replies::Instant;
    let scenario = scenario.clients(candidates).service(|settings| settings.history = true);
    scenario.programs(candidate).program(ClientId(candidates + 1), observer)
}

/// The candidates announce this number of values.
fn observed<R: Recipe<Etcd>>(candidates: u16, announces: u8, observer: R) -> Scenario<Etcd> {
    let mut candidate = GoElection::with(terms(), HolderTerms::default());
    candidate.announces = Some(announces);
    beside(candidates, candidate, observer)
}

/// Callers of the server's election, whose leases end while they lead, and one of its `observe`, or of clientv3's.
fn served(candidates: u16, announces: Option<u8>, kind: ObserverKind) -> Scenario<Etcd> {
    let mut candidate = ElectionService::with(terms(), HolderTerms::default());
    candidate.announces = announces;
    beside(candidates, candidate, EtcdObserver::by(kind))
}

/// By `Observe`.
fn by_observe(candidates: u16, announces: u8) -> Scenario<Etcd> {
    observed(candidates, announces, EtcdObserver::by(ObserverKind::Observe))
}

/// The verdict on a property.
fn verdict(scenario: Scenario<Etcd>, check: fn(&View<'_, Etcd>, &mut Memory) -> Result<(), String>) -> &'static str {
    let scenario = scenario
        .own_property("observer", Level::Belief, check)
        .judging(|promise| promise.property.to_string() == "observer");
    let outcome = SERVICE.any(&scenario).check(&Options::default()).expect("no internal error").remove(0);
    outcome.finding.verdict.word()
}

/// Whom the observer obeys: the client, or 0.
const OBEYED: usize = 0;
/// Whether its channel is closed, or its process is gone: then it obeys no client any longer.
const IS_CLOSED: usize = 1;

fn remember(view: &View<'_, Etcd>, memory: &mut Memory) {
    for fact in view.facts {
        match fact {
            Fact::Service(EtcdEvent::Observed { told, .. }) => {
                memory[OBEYED] = told.shown.key.client().map_or(0, |client| client.0.into());
            }
            Fact::Service(EtcdEvent::Read { holder, .. }) => {
                memory[OBEYED] = holder.map_or(0, |client| client.0.into());
            }
            Fact::Service(EtcdEvent::ObserveEnded(_)) => memory[IS_CLOSED] = 1,
            _ => {}
        }
    }
    let observer = &view.after.clients[usize::from(view.scenario.clients)];
    if observer.condition != Condition::Up {
        memory[IS_CLOSED] = 1;
    }
}

fn leader(view: &View<'_, Etcd>) -> u32 {
    let record = Etcd::record(&view.after.server.process, view.scenario);
    record.owners.first().map_or(0, |client| client.0.into())
}

/// When time passes, everything that is under way has arrived: an observer that was told of a leader obeys the present one.
fn obeys_the_leader(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    remember(view, memory);
    let [obeyed, is_closed, ..] = *memory;
    match (view.action, leader(view)) {
        (Action::Advance(_), leader) if leader != 0 && obeyed != 0 && obeyed != leader && is_closed == 0 => {
            Err(format!("client {leader} leads, and the observer obeys client {obeyed}"))
        }
        _ => Ok(()),
    }
}

/// OBS of E-14: an observer drops a leader whose key stays gone.
fn drops_the_leader(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    obeys_the_leader(view, memory)?;
    match (view.action, leader(view), memory[OBEYED]) {
        (Action::Advance(_), 0, obeyed) if obeyed != 0 && memory[IS_CLOSED] == 0 => {
            Err(format!("no client leads, and the observer obeys client {obeyed}"))
        }
        _ => Ok(()),
    }
}

/// The observer is told of each leader that there is since it was told of the first one.
fn misses_no_leader(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    const UNTOLD: usize = 2;
    for fact in view.facts {
        if let Fact::Granted { client, fresh: true, .. } = fact {
            if memory[UNTOLD] != 0 {
                return Err(format!("the observer was not told that client {} led", memory[UNTOLD]));
            }
            memory[UNTOLD] = if memory[OBEYED] == 0 { 0 } else { client.0.into() };
        }
    }
    remember(view, memory);
    if memory[OBEYED] == memory[UNTOLD] {
        memory[UNTOLD] = 0;
    }
    Ok(())
}

/// How many values the candidates announce.
const ANNOUNCED: u8 = 2;

/// Of each leader the name and each number after it are told in order; all of them, when it has begun to work and time passes.
fn tells_each_value(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    const WORKING: usize = 2;
    // Which value was told last: 1 for a name, and one more for each number.
    const VALUE: usize = 3;
    for fact in view.facts {
        match fact {
            Fact::Service(EtcdEvent::Observed { told, .. }) => {
                let client = told.shown.key.client().map_or(0, |client| client.0.into());
                let place = match told.shown.value {
                    EtcdValue::Name(_) => 1,
                    EtcdValue::Number(number) => u32::from(number) + 1,
                    EtcdValue::Empty | EtcdValue::Other => 0,
                };
                if client == memory[OBEYED] && place != memory[VALUE] + 1 {
                    return Err(format!("client {client}: value {place} is told after value {}", memory[VALUE]));
                }
                memory[VALUE] = place;
            }
            Fact::Entered { client, .. } => memory[WORKING] = client.0.into(),
            _ => {}
        }
    }
    remember(view, memory);
    let leader = leader(view);
    let is_told = leader != 0 && leader == memory[WORKING] && leader == memory[OBEYED] && memory[IS_CLOSED] == 0;
    match view.action {
        Action::Advance(_) if is_told && memory[VALUE] != u32::from(ANNOUNCED) + 1 => {
            Err(format!("client {leader} works, and the observer was told its value {}", memory[VALUE]))
        }
        _ => Ok(()),
    }
}

/// A name is not told after a number: the only candidate campaigns with its name first.
fn tells_a_name_first(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    const NUMBER: usize = 2;
    for fact in view.facts {
        let Fact::Service(EtcdEvent::Observed { told, .. }) = fact else { continue };
        match told.shown.value {
            EtcdValue::Number(number) => memory[NUMBER] = number.into(),
            EtcdValue::Name(client) if memory[NUMBER] != 0 => {
                return Err(format!("the name of client {} is told after its number {}", client.0, memory[NUMBER]));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Its channel does not close.
fn stays_open(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    remember(view, memory);
    if memory[IS_CLOSED] == 1 { Err("the observer's channel is closed".to_owned()) } else { Ok(()) }
}

#[test]
fn e_cc_23_observe_tells_the_present_leader() {
    assert_eq!(verdict(by_observe(2, 0).allow("disconnections", 1), obeys_the_leader), "proven");
    // An observer that reads once is no observer.
    let once = observed(2, 0, EtcdObserver::by(ObserverKind::Leader));
    assert_eq!(verdict(once, obeys_the_leader), "violated");
}

#[test]
#[ignore = "takes a minute: .ci/long"]
fn e_cc_23_so_it_does_beside_other_faults_by_hand() {
    assert_eq!(verdict(by_observe(2, 0).allow("leader_losses", 1), obeys_the_leader), "proven");
    assert_eq!(verdict(by_observe(2, 0).budget(|budget| budget.crashes = 1), obeys_the_leader), "proven");
    // Its watch begins at the revision of its read: a stale one (E-25) is mended.
    let stale = by_observe(2, 0).service(|settings| settings.reads = Reads::ReusedNumber).allow("stale_members", 1);
    assert_eq!(verdict(stale, obeys_the_leader), "proven");
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn e_cc_23_observe_may_miss_a_leader_between_two() {
    assert_eq!(verdict(by_observe(3, 0), misses_no_leader), "violated");
    assert_eq!(verdict(by_observe(2, 0), misses_no_leader), "proven");
}

const KINDS: [ObserverKind; 2] = [ObserverKind::Observe, ObserverKind::ObserveCall];

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn e_cc_30_values_of_the_servers_election_are_told_as_those_of_clientv3() {
    let by_clientv3 = by_observe(2, ANNOUNCED);
    assert_eq!(verdict(by_clientv3, tells_each_value), "proven");
    for kind in KINDS {
        assert_eq!(verdict(served(2, Some(ANNOUNCED), kind), tells_each_value), "proven", "{kind:?}");
        assert_eq!(verdict(served(2, Some(ANNOUNCED), kind), obeys_the_leader), "proven", "{kind:?}");
        // One value less, and none.
        assert_eq!(verdict(served(2, Some(ANNOUNCED - 1), kind), tells_each_value), "violated", "{kind:?}");
        assert_eq!(verdict(served(2, None, kind), tells_each_value), "violated", "{kind:?}");
    }
}

#[test]
#[ignore = "takes some seconds: cargo test --tests -- --ignored"]
fn e_cc_30_a_connection_that_breaks_ends_a_call_of_observe_and_no_channel_of_clientv3() {
    let [resumed, ended] = KINDS.map(|kind| {
        let scenario = served(2, Some(1), kind).allow("disconnections", 1);
        assert_eq!(verdict(scenario.clone(), obeys_the_leader), "proven", "{kind:?}");
        verdict(scenario, stays_open)
    });
    assert_eq!((resumed, ended), ("proven", "violated"));
    assert_eq!(verdict(served(2, Some(1), ObserverKind::ObserveCall), stays_open), "proven");
}

/// A caller that stops before its lease ends, and keeps it: its second campaign finds its key, with the last value of the first.
#[test]
fn e_cc_20_a_campaign_that_finds_its_key_with_another_value_puts_its_own() {
    let again = |announces: u8| {
        let holder = HolderTerms { stop: Stop::BeforeExpiry, closes_session: false, ..HolderTerms::default() };
        let mut candidate = ElectionService::with(SessionTerms { limit: Some(Ticks::new(1)), ..terms() }, holder);
        candidate.announces = Some(announces);
        let scenario = beside(1, candidate, EtcdObserver::by(ObserverKind::ObserveCall)).rounds(2);
        verdict(scenario, tells_a_name_first)
    };
    // The name is there already: nothing is put.
    assert_eq!((again(1), again(0)), ("violated", "proven"));
}

#[test]
fn e_14_no_message_tells_the_followers() {
    // observe-only, and a second candidate: as long as there is one.
    assert_eq!(verdict(by_observe(1, 0), drops_the_leader), "violated");
    assert_eq!(verdict(by_observe(2, 0), obeys_the_leader), "proven");
    // A watch of deletes below the prefix.
    let watches = observed(2, 0, PrefixObserver::default());
    assert_eq!(verdict(watches.clone().allow("disconnections", 1), drops_the_leader), "proven");
    assert_eq!(verdict(watches.budget(|budget| budget.crashes = 1), drops_the_leader), "proven");
}

/// The operator compacts, and deletes the leader's key.
fn compacts(scenario: Scenario<Etcd>) -> Scenario<Etcd> {
    let operators = |settings: &mut Settings| settings.operator = vec![OperatorKind::Compact];
    scenario.service(operators).budget(|budget| budget.operator = 1)
}

#[test]
fn e_cc_23_a_compaction_closes_the_channel() {
    assert_eq!(verdict(compacts(by_observe(2, 0)), stays_open), "violated");
    assert_eq!(verdict(by_observe(2, 0), stays_open), "proven");
}

#[test]
fn e_w_5_a_deletion_at_the_compacted_revision_is_lost_to_observers() {
    let lost = |shows: bool| {
        let scenario = compacts(by_observe(2, 0)).service(|settings| settings.shows_compacted_deletes = shows);
        verdict(scenario, obeys_the_leader)
    };
    // Until 3.4.35, and since.
    assert_eq!((lost(false), lost(true)), ("violated", "proven"));
}

#[test]
fn a_watch_of_events_without_history_is_a_mistake_of_the_scenario() {
    let scenario = by_observe(1, 0).service(|settings| settings.history = false);
    let error = SERVICE.any(&scenario).check(&Options::default()).expect_err("it is refused").to_string();
    assert!(error.contains("service.history"), "{error}");
}

/// An observer that watches the whole prefix, and reads the oldest key after each deletion: the repair of E-14.
#[derive(Clone, PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
struct PrefixObserver {
    /// From where on; none: it reads first.
    from: Option<EventCursor>,
    /// Whom it obeys.
    leader: Option<Key>,
}

impl Recipe<Etcd> for PrefixObserver {
    const NAME: &'static str = "prefix-observer";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        let Some(cursor) = self.from else {
            let (oldest, revision): (_, Index) = client.first_create(false).await?;
            self.leader = oldest.map(|shown| shown.key);
            client.send(EtcdQuery::HasRead(self.leader));
            self.from = Some(EventCursor::after(revision));
            return Ok(Lap::Again);
        };
        match client.next_event(KeyRange::Prefix, cursor).await {
            Ok(event) => {
                // A put below the prefix makes a leader only where there was none.
                let is_news = event.is_delete || self.leader.is_none();
                self.from = (!is_news).then(|| event.cursor());
            }
            Err(EtcdError(Response::Disconnected)) => {}
            Err(_) => self.from = None,
        }
        Ok(Lap::Again)
    }
}
