//! Rules about reads of several things at once, and about requests that change the catalogue.

use super::*;
use crate::{KeyList, NodeHealth, NodeList, Row, SessionInfo, SessionList, Tree};
use fencepost_model::ids::RawId;
use fencepost_model::inline_array::InlineArray;

fn list<T: Copy + Default, const N: usize>(all: impl IntoIterator<Item = T>) -> InlineArray<T, N> {
    all.into_iter().collect()
}

#[test]
fn c_ses_16_a_session_is_read_with_its_terms_and_a_gone_one_is_none() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, deleting(7, 3));
    let info = SessionInfo { id: session, terms: deleting(7, 3) };
    assert_eq!(harness.ask(B, Request::SessionInfo(session)), Answer::Session(Some(info)));
    harness.ask(A, Request::DestroySession(session));
    assert_eq!(harness.ask(B, Request::SessionInfo(session)), Answer::Session(None));
}

#[test]
fn c_ses_16_sessions_are_listed_in_all_and_by_node() {
    let mut harness = ServerHarness::new();
    let (one, other) = (harness.session(A, terms(0, 0)), harness.session(B, terms(0, 0)));
    let sessions = |ids: &[SessionId], more| Answer::Sessions(SessionList { ids: list(ids.iter().copied()), more });
    assert_eq!(harness.ask(A, Request::Sessions(None)), sessions(&[one, other], 0));
    assert_eq!(harness.ask(A, Request::Sessions(Some(B))), sessions(&[other], 0));
    let more: Vec<SessionId> = (0..20).map(|_| harness.session(B, terms(0, 0))).collect();
    let first: Vec<SessionId> = [one, other].into_iter().chain(more).take(16).collect();
    assert_eq!(harness.ask(A, Request::Sessions(None)), sessions(&first, 6));
}

#[test]
fn c_kv_21_keys_and_entries_of_a_prefix_come_with_its_index() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.put(OTHER, Opaque::Foreign, 0);
    harness.put(Key::Named(7), Opaque::Foreign, 0);
    let first = harness.entry(Key::Named(7));
    harness.ask(A, Request::Acquire(Claim::new(Key::Named(3), session, Opaque::Empty, 0)));
    let second = harness.entry(Key::Named(3));
    harness.put(OTHER, Opaque::Empty, 0);
    let keys = KeyList { index: second.modify, keys: list([Key::Named(3), Key::Named(7)]), more: 0 };
    assert_eq!(harness.ask(A, Request::Keys(Prefix::NAMED)), Answer::Keys(keys));
    let rows = list([Row::new(Key::Named(3), &second), Row::new(Key::Named(7), &first)]);
    let tree = Tree { index: second.modify, rows, more: 0 };
    assert_eq!(harness.ask(A, Request::Tree(Prefix::NAMED)), Answer::Tree(tree));
    let values = tree.rows.iter().map(|row| row.value).collect::<Vec<_>>();
    assert_eq!(values, [Some(Plain::Empty), Some(Plain::Foreign)]);
}

#[test]
fn c_kv_22_a_query_for_keys_wakes_when_one_below_the_prefix_comes_or_goes() {
    let mut harness = ServerHarness::new();
    harness.put(Key::Named(3), Opaque::Empty, 0);
    let index = harness.entry(Key::Named(3)).modify;
    let watch = Request::Watch(Watch { target: Target::Keys(Prefix::NAMED), index, wait: None });
    assert_eq!(harness.send(A, 1, watch), []);
    assert_eq!(harness.send(B, 1, Request::Put { key: OTHER, value: Opaque::Empty, flags: 0 }), [(B.into(), YES)]);
    let answers = harness.send(B, 2, Request::Delete(Key::Named(3)));
    let empty = KeyList { index: Index::numbered(index.raw() + 2), keys: list([]), more: 0 };
    assert_eq!(answers, [(B.into(), YES), (A.into(), Answer::Keys(empty))]);
}

#[test]
fn c_kv_17_a_recursive_delete_takes_one_index_and_ignores_locks() {
    let mut harness = ServerHarness::new();
    let session = harness.session(A, terms(0, 0));
    harness.ask(A, Request::Acquire(Claim::new(Key::Named(3), session, Opaque::Empty, 0)));
    harness.put(Key::Named(7), Opaque::Empty, 0);
    harness.put(OTHER, Opaque::Empty, 0);
    let before = harness.server.index;
    assert_eq!(harness.ask(B, Request::DeleteTree(Prefix::NAMED)), YES);
    assert_eq!(harness.server.index, before.next());
    assert_eq!(harness.ask(A, Request::Get(Key::Named(3))), Answer::Absent);
    assert!(matches!(harness.ask(A, Request::Get(OTHER)), Answer::Found(_)));
    assert_eq!(harness.ask(A, Request::SessionInfo(session)).to_string(), format!("{session} is alive"));
}

#[test]
fn c_inv_5_a_check_that_is_set_critical_ends_the_sessions_bound_to_it() {
    let mut harness = ServerHarness::new();
    let bound = Terms { checks: [CheckKind::NodeCheck].into_iter().collect(), ..terms(0, 0) };
    let (session, other) = (harness.session(A, bound), harness.session(A, terms(0, 0)));
    let health = |status| {
        let checks = [(CheckKind::SerfHealth, Status::Passing), (CheckKind::NodeCheck, status)];
        Answer::Health(NodeHealth {
            checks: list(checks.into_iter().chain([(CheckKind::ServiceCheck, Status::Passing)])),
        })
    };
    assert_eq!(harness.ask(B, Request::NodeHealth(A)), health(Status::Passing));
    assert_eq!(harness.ask(B, Request::SetCheck(A, CheckKind::NodeCheck, Status::Warning)), YES);
    assert_eq!(harness.ask(B, Request::NodeHealth(A)), health(Status::Warning));
    assert_ne!(harness.ask(B, Request::SessionInfo(session)), Answer::Session(None));
    assert_eq!(harness.ask(B, Request::SetCheck(A, CheckKind::NodeCheck, Status::Critical)), YES);
    assert_eq!(harness.ask(B, Request::SessionInfo(session)), Answer::Session(None));
    assert_ne!(harness.ask(B, Request::SessionInfo(other)), Answer::Session(None));
    // C-SES-11: and no new one can be bound to it.
    assert_eq!(harness.ask(A, Request::CreateSession(bound)), Answer::Critical(CheckKind::NodeCheck));
    assert!(matches!(harness.ask(B, Request::CreateSession(bound)), Answer::Created(_)), "the others have their nodes");
}

#[test]
fn c_inv_7_the_deregistration_of_a_check_ends_the_sessions_bound_to_it() {
    let mut harness = ServerHarness::new();
    let bound = Terms { checks: [CheckKind::NodeCheck].into_iter().collect(), ..terms(0, 0) };
    let session = harness.session(A, bound);
    assert_eq!(harness.ask(B, Request::DeregisterCheck(A, CheckKind::NodeCheck)), YES);
    assert_eq!(harness.ask(B, Request::SessionInfo(session)), Answer::Session(None));
    assert_eq!(harness.ask(A, Request::CreateSession(bound)), Answer::Missing(Some(CheckKind::NodeCheck)));
}

#[test]
fn c_inv_6_the_deregistration_of_a_node_ends_all_its_sessions() {
    let mut harness = ServerHarness::new();
    let (mine, theirs) = (harness.session(A, terms(0, 0)), harness.session(B, terms(0, 0)));
    let nodes = |nodes: &[ClientId]| Answer::Nodes(NodeList { nodes: list(nodes.iter().copied()), more: 0 });
    let everyone: Vec<ClientId> = (1..=harness.scenario.clients).map(ClientId).collect();
    assert_eq!(harness.ask(B, Request::Nodes), nodes(&everyone));
    assert_eq!(harness.ask(B, Request::DeregisterNode(A)), YES);
    assert_eq!(harness.ask(B, Request::Nodes), nodes(&everyone[1..]));
    assert_eq!(harness.ask(B, Request::SessionInfo(mine)), Answer::Session(None));
    assert_ne!(harness.ask(B, Request::SessionInfo(theirs)), Answer::Session(None));
    assert_eq!(harness.ask(B, Request::NodeHealth(A)), Answer::Health(NodeHealth::default()));
}

#[test]
fn c_con_6_whether_there_is_a_leader_is_answered_without_one() {
    let mut harness = ServerHarness::new();
    assert_eq!(harness.ask(A, Request::Leader), Answer::Leader(true));
    harness.suffer(ConsulFault::LoseLeader);
    assert_eq!(harness.ask(A, Request::Leader), Answer::Leader(false));
    assert_eq!(harness.ask(A, Request::Sessions(None)), Answer::NoLeader);
}
