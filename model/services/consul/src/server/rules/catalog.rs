//! Rules about nodes, checks, and the sessions that end with them: C-SES-4 to C-SES-11, C-INV-3 to C-INV-10, C-TTL-9.

use super::*;
use fencepost_model::ids::RawId;

/// A harness with the nodes of A and B, and all their checks.
fn harness() -> ServerHarness {
    let mut harness = ServerHarness::new();
    harness.server.nodes = [A, B].map(Node::of).into_iter().collect();
    harness
}

fn bound(checks: &[CheckKind]) -> Terms {
    Terms { checks: checks.iter().copied().collect(), ..terms(0, 3) }
}

impl ServerHarness {
    fn act(&mut self, during: impl FnOnce(&mut Server, &Context<'_, Consul>, &mut Outbox<Consul>)) {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        during(&mut self.server, &context, &mut out);
        self.facts = out.facts().to_vec();
    }

    fn set_check(&mut self, node: ClientId, kind: CheckKind, status: Status) {
        self.act(|server, context, out| server.set_check(node, kind, status, context, out));
    }

    fn lives(&self, session: SessionId) -> bool {
        self.server.row(session).is_some()
    }
}

#[test]
fn c_ses_4_node_and_checks_must_exist_and_not_be_critical() {
    let mut harness = harness();
    harness.set_check(A, CheckKind::NodeCheck, Status::Critical);
    let create = |terms| Request::CreateSession(terms);
    let all = bound(&CheckKind::ALL);
    assert_eq!(harness.ask(A, create(all)), Answer::Critical(CheckKind::NodeCheck));
    harness.act(|server, context, out| server.deregister_node(A, context, out));
    assert_eq!(harness.ask(A, create(all)), Answer::Missing(None));
}

#[test]
fn c_ses_5_a_missing_check_is_named() {
    let mut harness = harness();
    harness.act(|server, context, out| server.deregister_check(A, CheckKind::ServiceCheck, context, out));
    let create = Request::CreateSession(bound(&[CheckKind::ServiceCheck]));
    assert_eq!(harness.ask(A, create), Answer::Missing(Some(CheckKind::ServiceCheck)));
}

#[test]
fn c_ses_10_a_session_is_bound_to_the_checks_it_was_created_with_and_to_no_others() {
    let mut harness = harness();
    let session = harness.session(A, bound(&[CheckKind::NodeCheck]));
    harness.set_check(A, CheckKind::SerfHealth, Status::Critical);
    assert!(harness.lives(session));
    harness.set_check(A, CheckKind::NodeCheck, Status::Critical);
    assert!(!harness.lives(session));
}

#[test]
fn c_ses_11_a_warning_allows_a_new_session() {
    let mut harness = harness();
    harness.set_check(A, CheckKind::NodeCheck, Status::Warning);
    assert!(matches!(harness.ask(A, Request::CreateSession(bound(&[CheckKind::NodeCheck]))), Answer::Created(_)));
}

#[test]
fn c_inv_3_five_causes_end_a_session_and_free_its_key_at_one_index() {
    type Cause = fn(&mut ServerHarness, SessionId);
    let causes: [Cause; 5] = [
        |harness, session| assert_eq!(harness.ask(B, Request::DestroySession(session)), YES),
        |harness, session| harness.expire(session),
        |harness, _| harness.set_check(A, CheckKind::ServiceCheck, Status::Critical),
        |harness, _| {
            harness.act(|server, context, out| server.deregister_check(A, CheckKind::ServiceCheck, context, out))
        },
        |harness, _| harness.act(|server, context, out| server.deregister_node(A, context, out)),
    ];
    for cause in causes {
        let mut harness = harness();
        let session = harness.session(A, Terms { ttl: Some(Ticks::new(9)), ..bound(&[CheckKind::ServiceCheck]) });
        harness.acquire(A, session);
        let before = harness.server.index;
        cause(&mut harness, session);
        assert!(!harness.lives(session));
        assert!(harness.facts.contains(&Fact::Freed { by: Ending::Invalidated }));
        let entry = harness.entry(LOCK);
        assert_eq!((entry.session, entry.modify), (None, before.next()));
    }
}

#[test]
fn c_inv_4_gossip_turns_serf_health_critical_and_reaping_ends_sessions_without_checks() {
    let mut harness = harness();
    harness.scenario.service.health.detection = Some(Ticks::new(2));
    harness.scenario.service.health.reap_after = Some(Ticks::new(9));
    let link = fencepost_model::world::Link { from: A.into(), to: ProcessId::Server };
    harness.act(|server, context, _| server.notice(fencepost_model::world::Fault::Cut(link), context));
    assert_eq!((harness.due(Timer::Suspect(A)), harness.due(Timer::Reap(A))), (Some(2), Some(9)));
    let (with, without) = (harness.session(A, bound(&[CheckKind::SerfHealth])), harness.session(A, bound(&[])));
    harness.wake(Timer::Suspect(A));
    assert!(!harness.lives(with) && harness.lives(without));
    harness.wake(Timer::Reap(A));
    assert!(!harness.lives(without));
}

#[test]
fn c_inv_5_only_critical_ends_sessions_and_passing_restores_none() {
    let mut harness = harness();
    let session = harness.session(A, bound(&[CheckKind::NodeCheck]));
    harness.set_check(A, CheckKind::NodeCheck, Status::Warning);
    assert!(harness.lives(session));
    harness.set_check(A, CheckKind::NodeCheck, Status::Critical);
    harness.set_check(A, CheckKind::NodeCheck, Status::Passing);
    assert!(!harness.lives(session));
}

#[test]
fn c_inv_6_the_removal_of_a_node_ends_its_own_sessions_only() {
    let mut harness = harness();
    let (with, without) = (harness.session(A, bound(&[CheckKind::NodeCheck])), harness.session(A, bound(&[])));
    let other = harness.session(B, bound(&[CheckKind::NodeCheck]));
    let before = harness.server.index;
    harness.act(|server, context, out| server.deregister_node(A, context, out));
    assert!(!harness.lives(with) && !harness.lives(without) && harness.lives(other));
    assert_eq!(harness.server.index, before.next());
}

#[test]
fn c_inv_7_the_deregistration_of_an_unknown_check_succeeds() {
    let mut harness = harness();
    for _ in 0..2 {
        harness.act(|server, context, out| server.deregister_check(A, CheckKind::NodeCheck, context, out));
        harness.act(|server, context, out| server.deregister_node(B, context, out));
    }
    assert_eq!(harness.facts, []);
}

#[test]
fn c_inv_8_the_deregistration_of_a_service_removes_its_check() {
    let mut harness = harness();
    let session = harness.session(A, bound(&[CheckKind::ServiceCheck]));
    let action = crate::OperatorAction::DropService(A);
    harness.act(|server, context, out| crate::operator::perform(server, action, context, out));
    assert!(!harness.lives(session));
}

#[test]
fn c_inv_9_registering_a_check_registers_its_node() {
    let mut harness = harness();
    harness.act(|server, context, out| server.deregister_node(A, context, out));
    harness.set_check(A, CheckKind::NodeCheck, Status::Passing);
    assert!(matches!(harness.ask(A, Request::CreateSession(bound(&[CheckKind::NodeCheck]))), Answer::Created(_)));
}

#[test]
fn c_inv_10_an_agent_corrects_the_catalogue_later_and_a_crashed_process_fails_its_check() {
    let mut harness = harness();
    harness.scenario.service.health.check_interval = Some(Ticks::new(4));
    harness.act(|server, context, out| server.deregister_check(A, CheckKind::NodeCheck, context, out));
    assert!(harness.due(Timer::Sync(A)).is_some_and(|due| due < 0));
    harness.wake(Timer::Sync(A));
    assert_eq!(harness.due(Timer::Sync(A)), None);
    harness.act(|server, context, _| server.notice(fencepost_model::world::Fault::Crash(A), context));
    assert_eq!(harness.due(Timer::CheckFails(A)), Some(4));
    harness.wake(Timer::CheckFails(A));
    assert_eq!((harness.due(Timer::CheckFails(A)), harness.due(Timer::Sync(A))), (None, None));
}

#[test]
fn c_ttl_9_a_ttl_does_not_replace_checks() {
    let mut harness = harness();
    let session = harness.session(A, Terms { ttl: Some(Ticks::new(9)), ..bound(&[CheckKind::SerfHealth]) });
    assert_eq!(harness.expiry(session), Some(18));
    harness.set_check(A, CheckKind::SerfHealth, Status::Critical);
    assert!(!harness.lives(session));
}
