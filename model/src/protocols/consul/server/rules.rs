//! A test for each rule about the server, named after it. The rules stand in `model/rules/consul.md`.

use super::Server;
use crate::fact::{Ending, Fact, Refusal};
use crate::ids::{Call, ClientId, Index, ProcessId, SessionId};
use crate::process::{Context, Input, Message, Outbox, Process};
use crate::protocols::consul::{
    Answer, Behavior, Claim, Consul, Entry, Key, LOCK, Opaque, Request, Settings, Terms, Text, Timer,
};
use crate::scenario::Scenario;
use crate::time::{Instant, Ticks};

const A: ClientId = ClientId(1);
const B: ClientId = ClientId(2);
const OTHER: Key = Key(1);

/// A server, a clock, and what became true.
struct Lab {
    scenario: Scenario<Consul>,
    server: Server,
    now: Instant,
    facts: Vec<Fact<Consul>>,
}

impl Lab {
    fn new() -> Self {
        Lab {
            scenario: Scenario::new("lab"),
            server: Server { index: Index(10), ..Server::default() },
            now: Instant::at(100),
            facts: Vec::new(),
        }
    }

    fn ask(&mut self, from: ClientId, request: Request) -> Answer {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        let message = Message::Service(Text::Ask(Call(1), request));
        self.server.on(Input::Message { from: from.into(), message }, &context, &mut out);
        self.facts = out.facts.iter().copied().collect();
        match out.messages[..] {
            [(to, Message::Service(Text::Tell(Call(1), answer)))] if to == from.into() => answer,
            ref other => panic!("one answer on the same call, not {other:?}"),
        }
    }

    fn session(&mut self, from: ClientId, terms: Terms) -> SessionId {
        match self.ask(from, Request::CreateSession(terms)) {
            Answer::Created(session) => session,
            other => panic!("{other:?}"),
        }
    }

    fn acquire(&mut self, from: ClientId, session: SessionId) -> Answer {
        self.ask(from, Request::Acquire(Claim { key: LOCK, session, value: Opaque::Name(from), flags: 0 }))
    }

    fn release(&mut self, from: ClientId, session: SessionId) -> Answer {
        self.ask(from, Request::Release(Claim { key: LOCK, session, value: Opaque::Empty, flags: 0 }))
    }

    fn put(&mut self, key: Key, value: Opaque, flags: u8) -> Answer {
        self.ask(B, Request::Put { key, value, flags })
    }

    fn entry(&mut self, key: Key) -> Entry {
        match self.ask(B, Request::Get(key)) {
            Answer::Found(entry) => entry,
            other => panic!("{other:?}"),
        }
    }

    fn pass(&mut self, ticks: i64) {
        self.now += Ticks::new(ticks);
    }

    /// When the session's timer fires.
    fn expiry(&self, session: SessionId) -> Option<i64> {
        let mut found = None;
        self.server.wakes(&self.scenario, &mut |timer, due| {
            if timer == Timer::Expire(session) {
                found = Some((due - self.now).count());
            }
        });
        found
    }

    fn expire(&mut self, session: SessionId) {
        let context = Context { scenario: &self.scenario, now: self.now, me: ProcessId::Server };
        let mut out = Outbox::new();
        self.server.on(Input::Wake(Timer::Expire(session)), &context, &mut out);
        self.facts = out.facts.iter().copied().collect();
    }
}

fn terms(ttl: i64, lock_delay: i64) -> Terms {
    Terms { ttl: (ttl > 0).then(|| Ticks::new(ttl)), lock_delay: Ticks::new(lock_delay), behavior: Behavior::Release }
}

fn deleting(ttl: i64, lock_delay: i64) -> Terms {
    Terms { behavior: Behavior::Delete, ..terms(ttl, lock_delay) }
}

const YES: Answer = Answer::Done(true);
const NO: Answer = Answer::Done(false);

#[test]
fn c_gen_3_all_that_an_invalidation_does_carries_one_index() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    lab.ask(A, Request::Acquire(Claim { key: OTHER, session, value: Opaque::Empty, flags: 0 }));
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(lab.entry(LOCK).modify, lab.entry(OTHER).modify);
    assert_eq!(lab.entry(LOCK).modify, lab.server.index);
}

#[test]
fn c_gen_4_useless_writes_use_up_an_index_and_refusals_before_the_log_do_not() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(5, 3));
    let other = lab.session(B, terms(0, 0));
    lab.acquire(A, session);
    let uses = |lab: &mut Lab, request| {
        let before = lab.server.index.0;
        lab.ask(B, request);
        lab.server.index.0 - before
    };
    let gone = SessionId { creator: B, number: 9 };
    assert_eq!(
        uses(&mut lab, Request::Acquire(Claim { key: LOCK, session: other, value: Opaque::Empty, flags: 0 })),
        1,
        "held by another"
    );
    assert_eq!(
        uses(&mut lab, Request::Acquire(Claim { key: LOCK, session: gone, value: Opaque::Empty, flags: 0 })),
        1,
        "unknown session"
    );
    assert_eq!(
        uses(&mut lab, Request::Release(Claim { key: LOCK, session: other, value: Opaque::Empty, flags: 0 })),
        1,
        "release of another's"
    );
    assert_eq!(
        uses(&mut lab, Request::Cas { key: LOCK, index: Index(1), value: Opaque::Empty, flags: 0 }),
        1,
        "stale cas"
    );
    assert_eq!(uses(&mut lab, Request::Delete(OTHER)), 1, "delete of nothing");
    assert_eq!(uses(&mut lab, Request::DeleteCas { key: LOCK, index: Index(1) }), 1, "stale delete-cas");
    assert_eq!(uses(&mut lab, Request::DestroySession(gone)), 1, "destroy of nothing");
    assert_eq!(uses(&mut lab, Request::RenewSession(session)), 0, "renewal");
    assert_eq!(uses(&mut lab, Request::Get(LOCK)), 0, "read");
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(
        uses(&mut lab, Request::Acquire(Claim { key: LOCK, session: other, value: Opaque::Empty, flags: 0 })),
        0,
        "lock-delay"
    );
}

#[test]
fn c_ses_1_a_session_has_the_terms_it_was_asked_for() {
    let mut lab = Lab::new();
    let session = lab.session(A, deleting(7, 3));
    assert_eq!(lab.server.row(session).map(|row| row.terms), Some(deleting(7, 3)));
}

#[test]
fn c_ses_2_ids_are_always_fresh() {
    let mut lab = Lab::new();
    let first = lab.session(A, terms(0, 0));
    lab.ask(A, Request::DestroySession(first));
    assert_ne!(lab.session(A, terms(0, 0)), first);
}

#[test]
fn c_ses_9_lock_delay_is_kept_as_asked_and_capped_at_use() {
    let mut lab = Lab::new();
    lab.scenario.service.lock_delay_max = Some(Ticks::new(60));
    let session = lab.session(A, terms(0, 120));
    assert_eq!(lab.server.row(session).map(|row| row.terms.lock_delay), Some(Ticks::new(120)));
    lab.acquire(A, session);
    lab.ask(A, Request::DestroySession(session));
    let next = lab.session(B, terms(0, 0));
    lab.pass(59);
    assert_eq!(lab.acquire(B, next), NO);
    lab.pass(1);
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_ses_14_creation_uses_one_index_and_renewal_none() {
    let mut lab = Lab::new();
    let before = lab.server.index;
    let session = lab.session(A, terms(5, 0));
    assert_eq!(lab.server.index, before.next());
    lab.ask(A, Request::RenewSession(session));
    assert_eq!(lab.server.index, before.next());
}

#[test]
fn c_ses_18_renewal_answers_404_for_the_unknown_and_does_nothing_without_ttl() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    assert_eq!(lab.ask(A, Request::RenewSession(session)), Answer::Renewed);
    assert_eq!(lab.expiry(session), None);
    assert_eq!(lab.ask(A, Request::RenewSession(SessionId { creator: A, number: 9 })), Answer::UnknownSession);
}

#[test]
fn c_ses_19_destroy_is_always_true_and_anybody_may() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    assert_eq!(lab.ask(B, Request::DestroySession(session)), YES);
    assert_eq!(lab.facts, [Fact::Destroyed { session }]);
    assert_eq!(lab.ask(B, Request::DestroySession(session)), YES);
    assert_eq!(lab.facts, []);
}

#[test]
fn c_inv_1_release_behaviour_keeps_the_entry_and_delete_behaviour_removes_it() {
    let mut lab = Lab::new();
    let keeping = lab.session(A, terms(0, 0));
    lab.acquire(A, keeping);
    let before = lab.entry(LOCK);
    lab.ask(A, Request::DestroySession(keeping));
    assert!(lab.facts.contains(&Fact::Freed { by: Ending::Invalidated }));
    assert_eq!(lab.entry(LOCK), Entry { session: None, modify: lab.server.index, ..before });
    let removing = lab.session(A, deleting(0, 0));
    lab.acquire(A, removing);
    lab.ask(A, Request::DestroySession(removing));
    assert_eq!(lab.ask(B, Request::Get(LOCK)), Answer::Absent);
}

#[test]
fn c_inv_2_keys_released_before_are_not_touched_and_not_delayed() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 5));
    lab.acquire(A, session);
    lab.release(A, session);
    let before = lab.entry(LOCK);
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(lab.entry(LOCK), before);
    let next = lab.session(B, terms(0, 5));
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_inv_11_invalidation_leaves_value_flags_and_lock_index() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.ask(A, Request::Acquire(Claim { key: LOCK, session, value: Opaque::Name(A), flags: 7 }));
    lab.ask(A, Request::DestroySession(session));
    let entry = lab.entry(LOCK);
    assert_eq!((entry.value, entry.flags, entry.lock_index), (Opaque::Name(A), 7, 1));
}

#[test]
fn c_ttl_1_the_timer_starts_on_creation_and_on_renewal() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(5, 0));
    assert_eq!(lab.expiry(session), Some(10));
    lab.pass(4);
    lab.ask(A, Request::RenewSession(session));
    assert_eq!(lab.expiry(session), Some(10));
}

#[test]
fn c_ttl_2_the_timer_is_twice_the_ttl() {
    let mut lab = Lab::new();
    assert_eq!(Settings::default().ttl_multiplier, 2);
    let session = lab.session(A, terms(15, 0));
    assert_eq!(lab.expiry(session), Some(30));
}

#[test]
fn c_ttl_3_a_renewal_after_the_ttl_is_accepted_and_restarts_the_timer() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(10, 0));
    lab.pass(12);
    assert_eq!(lab.ask(A, Request::RenewSession(session)), Answer::Renewed);
    assert_eq!(lab.expiry(session), Some(20));
}

#[test]
fn c_ttl_4_when_the_timer_fires_the_session_is_destroyed_in_the_log() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(1, 0));
    lab.acquire(A, session);
    let before = lab.server.index;
    lab.expire(session);
    assert_eq!(lab.facts, [Fact::Expired { session }, Fact::Freed { by: Ending::Invalidated }]);
    assert_eq!(lab.server.index, before.next());
    assert_eq!(lab.ask(A, Request::RenewSession(session)), Answer::UnknownSession);
}

/// A lab in which A's session has just ended while it had the lock, and B has a session.
fn delayed(delay: i64) -> (Lab, SessionId) {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, delay));
    lab.acquire(A, session);
    lab.ask(A, Request::DestroySession(session));
    let next = lab.session(B, terms(0, 0));
    (lab, next)
}

#[test]
fn c_ld_1_the_delay_counts_from_the_server_s_own_clock_when_the_session_ends() {
    let (mut lab, next) = delayed(4);
    lab.pass(3);
    assert_eq!(lab.acquire(B, next), NO);
    lab.pass(1);
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_ld_2_an_acquire_is_refused_while_the_deadline_is_ahead() {
    let (mut lab, next) = delayed(1);
    assert_eq!(lab.acquire(B, next), NO);
    assert_eq!(lab.facts, [Fact::Refused { client: B, why: Refusal::LockDelay }]);
}

#[test]
fn c_ld_3_zero_means_none() {
    let (mut lab, next) = delayed(0);
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_ld_4_the_delay_comes_before_any_look_at_the_session() {
    let (mut lab, _) = delayed(3);
    let unknown = SessionId { creator: A, number: 9 };
    assert_eq!(lab.acquire(A, unknown), NO);
    lab.pass(3);
    assert_eq!(lab.acquire(A, unknown), Answer::InvalidSession);
}

#[test]
fn c_ld_5_put_cas_delete_and_release_are_not_delayed() {
    let (mut lab, _) = delayed(9);
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    let index = lab.entry(LOCK).modify;
    assert_eq!(lab.ask(B, Request::Cas { key: LOCK, index, value: Opaque::Empty, flags: 0 }), YES);
    assert_eq!(lab.ask(B, Request::Delete(LOCK)), YES);
}

#[test]
fn c_ld_6_release_and_deletion_start_no_delay() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 9));
    let next = lab.session(B, terms(0, 9));
    lab.acquire(A, session);
    lab.release(A, session);
    assert_eq!(lab.acquire(B, next), YES);
    lab.ask(A, Request::Delete(LOCK));
    lab.ask(B, Request::DestroySession(next));
    assert_eq!(lab.acquire(A, session), YES);
}

#[test]
fn c_ld_7_the_delay_belongs_to_the_name_and_outlives_the_entry() {
    let mut lab = Lab::new();
    let session = lab.session(A, deleting(0, 3));
    let next = lab.session(B, terms(0, 0));
    lab.acquire(A, session);
    lab.ask(A, Request::DestroySession(session));
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    assert_eq!(lab.acquire(B, next), NO);
    lab.pass(3);
    assert_eq!(lab.acquire(B, next), YES);
}

#[test]
fn c_kv_1_a_plain_put_always_answers_true() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    lab.acquire(A, session);
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
}

#[test]
fn c_kv_5_get_answers_the_entry_or_404() {
    let mut lab = Lab::new();
    assert_eq!(lab.ask(A, Request::Get(LOCK)), Answer::Absent);
    lab.put(LOCK, Opaque::Foreign, 3);
    assert!(matches!(lab.ask(A, Request::Get(LOCK)), Answer::Found(_)));
}

#[test]
fn c_kv_6_an_entry_shows_lock_index_flags_value_session_and_both_indexes() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.put(LOCK, Opaque::Foreign, 3);
    let create = lab.server.index;
    lab.ask(A, Request::Acquire(Claim { key: LOCK, session, value: Opaque::Name(A), flags: 4 }));
    let expected = Entry {
        value: Opaque::Name(A),
        flags: 4,
        lock_index: 1,
        session: Some(session),
        create,
        modify: create.next(),
    };
    assert_eq!(lab.entry(LOCK), expected);
}

#[test]
fn c_kv_7_a_write_that_changes_nothing_leaves_modify_index_alone() {
    let mut lab = Lab::new();
    lab.put(LOCK, Opaque::Foreign, 0);
    let before = lab.entry(LOCK);
    assert_eq!(lab.put(LOCK, Opaque::Foreign, 0), YES);
    assert_eq!(lab.entry(LOCK), before);
    lab.put(LOCK, Opaque::Foreign, 1);
    assert_eq!(lab.entry(LOCK), Entry { flags: 1, modify: lab.server.index, ..before });
}

#[test]
fn c_kv_8_a_plain_put_keeps_the_session_and_zeroes_lock_index() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    assert_eq!(lab.entry(LOCK).lock_index, 1);
    lab.put(LOCK, Opaque::Foreign, 0);
    let entry = lab.entry(LOCK);
    assert_eq!((entry.lock_index, entry.session, entry.flags), (0, Some(session), 0));
}

#[test]
fn c_kv_9_cas_compares_modify_index_and_ignores_the_lock() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    let cas = |lab: &mut Lab, index, value| lab.ask(B, Request::Cas { key: LOCK, index, value, flags: 0 });
    assert_eq!(cas(&mut lab, Index(5), Opaque::Foreign), NO, "absent: only index 0 matches");
    assert_eq!(cas(&mut lab, Index(0), Opaque::Foreign), YES);
    assert_eq!(cas(&mut lab, Index(0), Opaque::Foreign), NO, "present: index 0 does not");
    lab.acquire(A, session);
    let index = lab.entry(LOCK).modify;
    assert_eq!(cas(&mut lab, index, Opaque::Foreign), YES);
    let entry = lab.entry(LOCK);
    assert_eq!((entry.lock_index, entry.session), (0, Some(session)));
    assert_eq!(cas(&mut lab, entry.modify, Opaque::Foreign), YES, "equal contents win the same index again");
    assert_eq!(cas(&mut lab, entry.modify, Opaque::Foreign), YES, "and again");
}

#[test]
fn c_kv_10_acquire_counts_from_free_to_held_and_refuses_others_and_dead_sessions() {
    let mut lab = Lab::new();
    let (first, second) = (lab.session(A, terms(0, 0)), lab.session(B, terms(0, 0)));
    assert_eq!(lab.acquire(A, first), YES);
    assert_eq!((lab.entry(LOCK).lock_index, lab.entry(LOCK).create), (1, lab.server.index));
    assert_eq!(lab.acquire(B, second), NO);
    assert_eq!(lab.facts, [Fact::Refused { client: B, why: Refusal::Held }]);
    lab.release(A, first);
    assert_eq!(lab.acquire(B, second), YES);
    assert_eq!(lab.entry(LOCK).lock_index, 2);
    lab.ask(B, Request::DestroySession(second));
    assert_eq!(lab.acquire(B, second), Answer::InvalidSession);
}

#[test]
fn c_kv_11_the_holder_s_re_acquire_with_the_same_value_changes_nothing() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    let before = lab.entry(LOCK);
    assert_eq!(lab.acquire(A, session), YES);
    assert_eq!(lab.entry(LOCK), before);
    lab.ask(A, Request::Acquire(Claim { key: LOCK, session, value: Opaque::Empty, flags: 0 }));
    assert_eq!(lab.entry(LOCK), Entry { value: Opaque::Empty, modify: lab.server.index, ..before });
}

#[test]
fn c_kv_12_only_the_holder_s_session_releases_and_lock_index_stays() {
    let mut lab = Lab::new();
    let (first, second) = (lab.session(A, terms(0, 0)), lab.session(B, terms(0, 0)));
    assert_eq!(lab.release(A, first), NO, "absent");
    lab.acquire(A, first);
    assert_eq!(lab.release(B, second), NO, "another's");
    let before = lab.entry(LOCK);
    assert_eq!(lab.release(A, first), YES);
    let after = lab.entry(LOCK);
    assert_eq!((after.session, after.lock_index, after.create), (None, before.lock_index, before.create));
    assert_eq!(after.modify, lab.server.index);
    assert_eq!(lab.release(A, first), NO, "free");
}

#[test]
fn c_kv_13_anybody_who_knows_the_id_can_release() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    assert_eq!(lab.release(B, session), YES);
}

#[test]
fn c_kv_14_delete_ignores_locks_and_the_session_lives_on() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.acquire(A, session);
    assert_eq!(lab.ask(B, Request::Delete(LOCK)), YES);
    assert_eq!(lab.facts, [Fact::Freed { by: Ending::Deleted }]);
    assert_eq!(lab.ask(A, Request::Get(LOCK)), Answer::Absent);
    assert_eq!(lab.ask(A, Request::RenewSession(session)), Answer::Renewed);
}

#[test]
fn c_kv_15_delete_cas_of_an_absent_key_is_true_for_any_index() {
    let mut lab = Lab::new();
    let delete = |lab: &mut Lab, index| lab.ask(B, Request::DeleteCas { key: LOCK, index });
    assert_eq!(delete(&mut lab, Index(77)), YES);
    lab.put(LOCK, Opaque::Foreign, 0);
    assert_eq!(delete(&mut lab, Index(0)), NO, "0 never matches a key that is there");
    let index = lab.entry(LOCK).modify;
    assert_eq!(delete(&mut lab, index), YES);
    assert_eq!(lab.ask(A, Request::Get(LOCK)), Answer::Absent);
}

#[test]
fn c_kv_16_release_writes_value_and_flags() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    lab.ask(A, Request::Acquire(Claim { key: LOCK, session, value: Opaque::Name(A), flags: 7 }));
    lab.release(A, session);
    let entry = lab.entry(LOCK);
    assert_eq!((entry.value, entry.flags), (Opaque::Empty, 0));
}

#[test]
fn c_kv_18_after_deletion_everything_starts_anew() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    for _ in 0..3 {
        lab.acquire(A, session);
        lab.release(A, session);
    }
    assert_eq!(lab.entry(LOCK).lock_index, 3);
    lab.ask(A, Request::Delete(LOCK));
    lab.acquire(A, session);
    assert_eq!(
        lab.entry(LOCK),
        Entry { lock_index: 1, create: lab.server.index, modify: lab.server.index, ..lab.server.entry(LOCK).unwrap() }
    );
    lab.ask(A, Request::Delete(LOCK));
    lab.put(LOCK, Opaque::Foreign, 0);
    assert_eq!(lab.entry(LOCK).lock_index, 0);
}

#[test]
fn c_kv_19_key_lock_index_and_session_are_not_a_unique_sequencer() {
    let mut lab = Lab::new();
    let session = lab.session(A, terms(0, 0));
    let sequencer = |lab: &mut Lab| {
        lab.acquire(A, session);
        let entry = lab.entry(LOCK);
        (entry.lock_index, entry.session, entry.modify)
    };
    let first = sequencer(&mut lab);
    lab.ask(B, Request::Delete(LOCK));
    let second = sequencer(&mut lab);
    assert_eq!((first.0, first.1), (second.0, second.1), "after a deletion");
    lab.put(LOCK, Opaque::Foreign, 0);
    lab.release(A, session);
    let third = sequencer(&mut lab);
    assert_eq!((second.0, second.1), (third.0, third.1), "after a put");
    assert!(first.2 < second.2 && second.2 < third.2, "ModifyIndex right after the acquire is");
}
