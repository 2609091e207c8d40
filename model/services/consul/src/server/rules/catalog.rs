//! Rules about nodes, checks, and the sessions that go with them: C-SES-4 to C-SES-11, C-INV-3 to C-INV-10, C-TTL-9.

use super::*;

/// A lab with the nodes of A and B, and all their checks.
fn lab() -> Lab {
    let mut lab = Lab::new();
    lab.server.nodes = [A, B].map(Node::of).into_iter().collect();
    lab
}

fn bound(checks: &[CheckKind]) -> Terms {
    Terms { checks: checks.iter().copied().collect(), ..terms(0, 3) }
}

impl Lab {
    fn act(&mut self, act: impl FnOnce(&mut Server, &Context<'_, Consul>, &mut Outbox<Consul>)) {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        act(&mut self.server, &context, &mut out);
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
    let mut lab = lab();
    lab.set_check(A, CheckKind::NodeCheck, Status::Critical);
    let create = |terms| Request::CreateSession(terms);
    let all = bound(&CheckKind::ALL);
    assert_eq!(lab.ask(A, create(all)), Answer::Critical(CheckKind::NodeCheck));
    lab.act(|server, context, out| server.deregister_node(A, context, out));
    assert_eq!(lab.ask(A, create(all)), Answer::Missing(None));
}

#[test]
fn c_ses_5_a_missing_check_is_named() {
    let mut lab = lab();
    lab.act(|server, context, out| server.deregister_check(A, CheckKind::ServiceCheck, context, out));
    let create = Request::CreateSession(bound(&[CheckKind::ServiceCheck]));
    assert_eq!(lab.ask(A, create), Answer::Missing(Some(CheckKind::ServiceCheck)));
}

#[test]
fn c_ses_10_a_session_is_bound_to_the_checks_it_was_created_with_and_to_no_others() {
    let mut lab = lab();
    let session = lab.session(A, bound(&[CheckKind::NodeCheck]));
    lab.set_check(A, CheckKind::SerfHealth, Status::Critical);
    assert!(lab.lives(session));
    lab.set_check(A, CheckKind::NodeCheck, Status::Critical);
    assert!(!lab.lives(session));
}

#[test]
fn c_ses_11_a_warning_is_good_enough_for_a_new_session() {
    let mut lab = lab();
    lab.set_check(A, CheckKind::NodeCheck, Status::Warning);
    assert!(matches!(lab.ask(A, Request::CreateSession(bound(&[CheckKind::NodeCheck]))), Answer::Created(_)));
}

#[test]
fn c_inv_3_five_causes_end_a_session_and_free_its_key_at_one_index() {
    type Cause = fn(&mut Lab, SessionId);
    let causes: [Cause; 5] = [
        |lab, session| assert_eq!(lab.ask(B, Request::DestroySession(session)), YES),
        |lab, session| lab.expire(session),
        |lab, _| lab.set_check(A, CheckKind::ServiceCheck, Status::Critical),
        |lab, _| lab.act(|server, context, out| server.deregister_check(A, CheckKind::ServiceCheck, context, out)),
        |lab, _| lab.act(|server, context, out| server.deregister_node(A, context, out)),
    ];
    for cause in causes {
        let mut lab = lab();
        let session = lab.session(A, Terms { ttl: Some(Ticks::new(9)), ..bound(&[CheckKind::ServiceCheck]) });
        lab.acquire(A, session);
        let before = lab.server.index;
        cause(&mut lab, session);
        assert!(!lab.lives(session));
        assert!(lab.facts.contains(&Fact::Freed { by: Ending::Invalidated }));
        let entry = lab.entry(LOCK);
        assert_eq!((entry.session, entry.modify), (None, before.next()));
    }
}

#[test]
fn c_inv_4_gossip_turns_serf_health_critical_and_reaping_ends_sessions_without_checks() {
    let mut lab = lab();
    lab.scenario.service.health.detection = Some(Ticks::new(2));
    lab.scenario.service.health.reap_after = Some(Ticks::new(9));
    let link = fencepost_model::world::Link { from: A.into(), to: ProcessId::Server };
    lab.act(|server, context, _| server.notice(fencepost_model::world::Fault::Cut(link), context));
    assert_eq!((lab.due(Timer::Suspect(A)), lab.due(Timer::Reap(A))), (Some(2), Some(9)));
    let (with, without) = (lab.session(A, bound(&[CheckKind::SerfHealth])), lab.session(A, bound(&[])));
    lab.wake(Timer::Suspect(A));
    assert!(!lab.lives(with) && lab.lives(without));
    lab.wake(Timer::Reap(A));
    assert!(!lab.lives(without));
}

#[test]
fn c_inv_5_only_critical_ends_sessions_and_passing_brings_nothing_back() {
    let mut lab = lab();
    let session = lab.session(A, bound(&[CheckKind::NodeCheck]));
    lab.set_check(A, CheckKind::NodeCheck, Status::Warning);
    assert!(lab.lives(session));
    lab.set_check(A, CheckKind::NodeCheck, Status::Critical);
    lab.set_check(A, CheckKind::NodeCheck, Status::Passing);
    assert!(!lab.lives(session));
}

#[test]
fn c_inv_6_a_node_takes_all_its_sessions_along_and_nobody_else_s() {
    let mut lab = lab();
    let (with, without) = (lab.session(A, bound(&[CheckKind::NodeCheck])), lab.session(A, bound(&[])));
    let other = lab.session(B, bound(&[CheckKind::NodeCheck]));
    let before = lab.server.index;
    lab.act(|server, context, out| server.deregister_node(A, context, out));
    assert!(!lab.lives(with) && !lab.lives(without) && lab.lives(other));
    assert_eq!(lab.server.index, before.next());
}

#[test]
fn c_inv_7_what_is_unknown_is_deregistered_without_a_word() {
    let mut lab = lab();
    for _ in 0..2 {
        lab.act(|server, context, out| server.deregister_check(A, CheckKind::NodeCheck, context, out));
        lab.act(|server, context, out| server.deregister_node(B, context, out));
    }
    assert_eq!(lab.facts, []);
}

#[test]
fn c_inv_8_a_service_that_is_deregistered_takes_its_check_along() {
    let mut lab = lab();
    let session = lab.session(A, bound(&[CheckKind::ServiceCheck]));
    let act = crate::OperatorAction::DropService(A);
    lab.act(|server, context, out| crate::operator::perform(server, act, context, out));
    assert!(!lab.lives(session));
}

#[test]
fn c_inv_9_registering_a_check_registers_its_node() {
    let mut lab = lab();
    lab.act(|server, context, out| server.deregister_node(A, context, out));
    lab.set_check(A, CheckKind::NodeCheck, Status::Passing);
    assert!(matches!(lab.ask(A, Request::CreateSession(bound(&[CheckKind::NodeCheck]))), Answer::Created(_)));
}

#[test]
fn c_inv_10_an_agent_puts_the_catalogue_right_later_and_a_dead_process_fails_its_check() {
    let mut lab = lab();
    lab.scenario.service.health.check_interval = Some(Ticks::new(4));
    lab.act(|server, context, out| server.deregister_check(A, CheckKind::NodeCheck, context, out));
    assert!(lab.due(Timer::Sync(A)).is_some_and(|due| due < 0));
    lab.wake(Timer::Sync(A));
    assert_eq!(lab.due(Timer::Sync(A)), None);
    lab.act(|server, context, _| server.notice(fencepost_model::world::Fault::Crash(A), context));
    assert_eq!(lab.due(Timer::CheckFails(A)), Some(4));
    lab.wake(Timer::CheckFails(A));
    assert_eq!((lab.due(Timer::CheckFails(A)), lab.due(Timer::Sync(A))), (None, None));
}

#[test]
fn c_ttl_9_a_ttl_does_not_replace_checks() {
    let mut lab = lab();
    let session = lab.session(A, Terms { ttl: Some(Ticks::new(9)), ..bound(&[CheckKind::SerfHealth]) });
    assert_eq!(lab.expiry(session), Some(18));
    lab.set_check(A, CheckKind::SerfHealth, Status::Critical);
    assert!(!lab.lives(session));
}
