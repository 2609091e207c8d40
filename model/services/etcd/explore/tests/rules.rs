//! The rules of `rules.md`, each by the verdicts of scenarios that depend on it. A test whose name begins with the number of a rule is
//! the test of that rule.

use fencepost_checker::Options;
use fencepost_etcd_explore::service;

/// Every promise of these scenarios has the expected verdict.
fn verdicts(names: &[&str]) {
    for name in names {
        let (_, text) = service().scenarios().iter().find(|(other, _)| other == name).expect("it is in the list");
        let scenario = service().read(text, name).expect("it is valid");
        let outcomes = scenario.check(&Options::default()).expect("no internal error");
        for outcome in outcomes {
            let finding = outcome.finding;
            assert!(finding.is_as_expected(), "{name}: {} is {}", finding.property, finding.verdict.word());
        }
    }
}

/// What the reader says of a scenario with these settings.
fn refused(system: &str, settings: &str) -> String {
    let text = format!(
        "name = \"wrong\"\nsystem = \"{system}\"\nabout = \"It is wrong.\"\nclients = 2\n\n[service]\n{settings}\n"
    );
    service().read(&text, "file").map(|_| ()).expect_err("it is refused").to_string()
}

#[test]
fn settings_that_do_not_fit_together_are_refused() {
    for (system, settings, message) in [
        ("etcd-mutex", "ttl = 0", "at least 1 tick"),
        ("etcd-mutex", "renew_after = 0", "would stop time"),
        ("etcd-mutex", "margin = 1", "needs `stop"),
        ("etcd-mutex", "looks_before_entry = false", "looks at nothing"),
        ("etcd-mutex", "renews = false\nstop = \"on-done\"", "has no `Done`"),
        ("etcd-mutex", "checkpoint_persists = true", "nothing is logged"),
        ("etcd-mutex", "stalled_client = true", "no leader stalls"),
        ("etcd-mutex", "stall = 1\noutage = 2", "deposes no leader"),
        ("etcd-mutex", "closes_session = false\nlimits_close = true", "no session is closed"),
        ("etcd-mutex", "on_error = \"close\"", "does not apply"),
        ("etcd-election", "final_get = true", "does not apply"),
        ("etcd-election", "history = true", "only programs watch"),
        ("etcd-election", "shows_compacted_deletes = true", "set `history`"),
    ] {
        let said = refused(system, settings);
        assert!(said.contains(message), "{settings}: {said}");
    }
}

macro_rules! rules {
    ($($name:ident: [$($scenario:literal),*];)*) => {
        $(#[test] fn $name() { verdicts(&[$($scenario),*]); })*
    };
}

rules! {
    e_gen_1_expiry_is_in_the_memory_of_the_leader: ["e05-stop", "e05-stop-sooner"];
    e_gen_2_a_lease_list_is_answered_from_the_local_copy: ["e07-list", "e07-range"];
    e_kv_1_a_key_that_was_deleted_is_created_anew: ["e21-by-name", "e21-compares"];
    e_kv_7_the_newest_key_before_a_revision: ["e10-no-deletes"];
    e_kv_9_earlier_revisions_are_compacted: ["e11-kept"];
    e_kv_10_a_default_range_is_linearizable_and_needs_a_leader: ["e25-same-id", "e25-new-id", "e16-short"];
    e_txn_1_compares_look_at_the_state_before: ["e12-txn", "e19-txn"];
    e_txn_2_a_missing_key_compares_as_0: ["e24-own", "e12-txn"];
    e_txn_4_a_range_sees_the_writes_of_its_transaction: ["e23-disjoint"];
    e_txn_6_a_put_with_an_unknown_lease_has_no_effect: ["put-needs-its-lease"];
    e_ls_1_an_existing_lease_is_left_alone: ["e24-shared"];
    e_ls_2_expiry_counts_from_the_grant: ["lease-ends-after-its-ttl", "lease-ends-no-sooner"];
    e_ls_3_a_renewal_restarts_the_ttl_and_waits_for_the_apply: ["lease-ends-after-its-ttl", "e09-lag"];
    e_ls_5_the_scan_revokes_overdue_leases: ["e17-no-loop", "e17-no-loop-equal"];
    e_ls_6_a_renewal_of_an_overdue_lease_waits_for_the_revoke: ["e27-between"];
    e_ls_8_a_revoke_deletes_the_keys: ["e15-close", "e19-revoke"];
    e_ls_9_a_put_without_a_lease_detaches_the_key: ["e23-c"];
    e_ls_10_the_scan_compares_wall_clocks: ["e26-back", "e26-back-sooner", "e26-ahead", "e26-ahead-sooner", "e26-monotonic"];
    e_ls_11_a_pause_counts_as_time: ["e27-between", "e27-longer", "e27-equal"];
    e_ls_13_a_checkpoint_keeps_the_rest: ["e06-change", "e06-change-sooner", "e06-restart", "e06-persist"];
    e_w_2_a_watch_misses_no_event: ["watch-resumes", "e23-disjoint"];
    e_w_5_a_watch_before_the_compaction_is_cancelled: ["e11-mutex", "e11-again"];
    e_w_7_the_client_resumes_a_watch: ["watch-resumes"];
    e_ld_1_a_promotion_starts_every_ttl_anew: ["e05-stop", "e05-stop-sooner", "e05-after-the-end"];
    e_ld_2_a_restart_is_the_same: ["e06-restart", "e16-short"];
    e_ld_3_between_election_and_promotion_nothing_expires: ["e16-short", "e04-elected-late"];
    e_ld_7_a_stuck_leader_goes_on: ["e04-long", "e20-long"];
    e_ld_8_a_stalled_leader_renews: ["e20-short", "e20-long", "e20-confirmed"];
    e_ld_9_a_deposed_leader_revokes: ["e04-short", "e04-rest", "e04-long", "e04-term-check"];
    e_cc_1_a_session_does_not_wait_for_an_answer: ["e18-long"];
    e_cc_2_a_third_of_the_ttl_after_an_answer: ["e04-short"];
    e_cc_3_done_closes_within_a_period_of_the_loop: ["e17-loop", "e27-equal"];
    e_cc_4_the_first_deadline_is_not_the_ttl: ["e18-long", "e18-short", "e18-equal", "e18-less"];
    e_cc_5_an_answer_0_closes_done: ["e19-revoke"];
    e_cc_6_close_revokes_the_lease: ["e15-no-close", "e15-close", "close-gives-up"];
    e_cc_10_lock_puts_its_key_or_finds_it: ["e24-shared", "e24-own"];
    e_cc_11_a_waiter_looks_again_after_each_deletion: ["e02-final-get", "e10-no-deletes"];
    e_cc_12_lock_does_not_look_at_its_own_key: ["e02-3-4", "e02-final-get"];
    e_cc_13_a_lock_that_fails_deletes_its_key: ["e11-mutex"];
    e_cc_14_unlock_deletes_by_name: ["e21-by-name", "e21-compares", "e21-new-session"];
    e_cc_15_one_lease_locks_at_once: ["e24-shared"];
    e_cc_20_campaign_never_looks_at_its_own_key: ["e10-waiting", "e12-unguarded", "e12-not-cancelled"];
    e_cc_21_campaign_keeps_its_key_and_forgets: ["e11-kept", "e11-closed", "e12-cancelled"];
    e_cc_22_resign_forgets_on_error: ["e13-error", "e13-close", "e13-fixed"];
    e_cc_23_observe_tells_each_value_of_the_leader_s_key: ["observe-each-value", "observe-first-value"];
    e_cc_24_a_write_compares_the_create_revision: ["e12-txn", "e19-txn"];
    e_cc_25_the_prefix_is_a_range_of_strings: ["e23-a", "e23-b", "e23-outer-first"];
    e_cc_30_the_server_side_lock_never_renews: ["e03-trusts", "e03-looks", "e03-longer"];
    e_cc_32_the_command_runs_on: ["e22-exec", "e22-no-command"];
    e_t_1_gone_t_after_the_last_renewal: ["lease-ends-after-its-ttl", "lease-ends-no-sooner"];
    e_t_2_gone_e_and_t_after_the_promotion: ["e05-stop", "e05-stop-sooner"];
    e_t_3_a_stall_of_2e_is_the_bound: ["e20-short", "e20-long"];
    e_t_4_a_deposed_revoke_has_no_relation_to_the_renewals: ["e04-rest", "e04-long"];
    e_t_5_elections_faster_than_e_and_t_keep_a_lease_for_ever: ["e05-at-the-end", "e05-after-the-end"];
    e_t_6_done_is_no_guarantee: ["e17-loop", "e17-no-loop", "e17-no-loop-equal"];
    e_t_7_a_self_limiting_holder_needs_a_margin: ["e01-self-limiting", "e01-self-limiting-late", "e17-more", "e17-equal", "one-way-cut"];
}
