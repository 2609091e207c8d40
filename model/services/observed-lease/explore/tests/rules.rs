//! The rules of `rules.md`, each by the verdicts of scenarios that depend on it. A test whose name begins with the number of a rule is
//! the test of that rule.

use fencepost_checker::Options;
use fencepost_observed_lease_explore::service;

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
fn refused(settings: &str) -> String {
    let text = format!(
        "name = \"wrong\"\nsystem = \"observed-lease\"\nabout = \"It is wrong.\"\nclients = 2\n\n[service]\n{settings}\n"
    );
    service().read(&text, "file").map(|_| ()).expect_err("it is refused").to_string()
}

/// The limits of the model that a verdict about these settings states.
fn limits(settings: &str, budget: &str) -> Vec<String> {
    let text = format!(
        "name = \"long\"\nsystem = \"observed-lease\"\nabout = \"It is long.\"\nclients = 2\n\n[service]\nlease = 200\n\
         renew_deadline = 100\nretry_period = 2\n{settings}\n\n[budget]\n{budget}\n"
    );
    let scenario = service().read(&text, "long").unwrap_or_else(|error| panic!("{error}"));
    scenario.assumptions().into_iter().map(|assumption| assumption.kind.to_string()).collect()
}

#[test]
fn durations_that_are_not_all_explored_are_a_limit_of_the_verdict() {
    for (settings, budget, limit, is_stated) in [
        ("nap = 8\nsleep_max = 4", "naps = 1", "nap-lengths", false),
        ("nap = 9\nsleep_max = 4", "naps = 1", "nap-lengths", true),
        ("sleep_max = 102", "", "sleep-lengths", false),
        ("sleep_max = 103", "", "sleep-lengths", true),
    ] {
        assert_eq!(limits(settings, budget).iter().any(|kind| kind == limit), is_stated, "{settings}");
    }
}

macro_rules! rules {
    ($($name:ident: [$($scenario:literal),*];)*) => {
        $(#[test] fn $name() { verdicts(&[$($scenario),*]); })*
    };
}

rules! {
    ol_s_1_the_version_grows_across_deletion_and_creation: ["ol18-version"];
    ol_s_2_a_read_shows_every_acknowledged_write: ["stale-reads-are-harmless", "stale-read-and-patch"];
    ol_s_3_a_write_names_the_version_that_it_replaces: ["ol26-honest", "ol26-create"];
    ol_s_4_a_write_creates_no_deleted_record_again: ["recreated-lease-refuses-its-earlier-holder"];
    ol_s_5_a_duration_of_0_is_invalid: ["ol09-refused", "ol09-zero"];
    ol_s_6_a_request_that_was_given_up_may_be_applied_later: ["ol10-restart-in-flight", "ol10-restart-same"];
    ol_s_7_the_store_interprets_no_time_and_no_ownership: ["ol11-observed", "ol18-delete"];
    ol_s_8_a_label_restarts_no_wait: ["labels-do-not-restart-the-wait", "labels-cost-one-fast-path"];
    ol_k_2_recorded_durations_are_whole_seconds: ["ol09-whole", "ol09-truncated", "ol09-exact"];
    ol_k_3_a_holder_observes_at_the_answer: ["ol01-enough", "ol01-late-answer"];
    ol_k_4_the_recorded_duration_counts_and_its_end_is_expired: ["ol07-own-4", "ol07-own-5", "ol07-recorded"];
    ol_k_5_any_error_of_the_fast_path_goes_on_with_a_read: ["labels-cost-one-fast-path", "ol18-transitions"];
    ol_k_6_a_contender_sleeps_for_up_to_2_2_periods: ["ol14-released-2", "ol14-released-1", "ol06-no-timeout"];
    ol_k_7_the_deadline_counts_from_the_attempt_and_ends_requests: ["ol06-no-context", "ol08-poll-1", "ol08-poll-2"];
    ol_k_8_a_holder_gives_up_after_period_and_deadline: ["ran-loss-more", "ran-loss-equal"];
    ol_k_10_the_release_comes_before_the_work_is_told: ["ol05-release-first", "ol05-tell-first", "ol04-at-once"];
    ol_k_12_a_release_takes_up_to_the_deadline: ["ran-release-more", "ran-release-equal", "ol02-tell-first"];
    ol_k_13_a_timeout_makes_the_release_shorter: ["ran-release-timeout-more", "ran-release-timeout-equal"];
    ol_k_15_the_tolerated_ratio_of_clocks_is_smaller_than_documented: ["ol12-5-4", "ol12-4-3", "ol12-60-2"];
    ol_k_17_the_manager_waits_for_its_grace_period: ["ol04-grace-more", "ol04-grace-equal"];
    ol_k_20_fabric8_believes_the_writers_clock: ["ol11-fabric8-1", "ol11-fabric8-2"];
    ol_k_21_python_gives_up_after_12_seconds: ["python-gives-up-after-12", "python-gives-up-at-12"];
    ol_k_22_kubert_stops_before_its_expiry: ["ol11-kubert-0", "ol11-kubert-1"];
    ol_k_23_a_patch_without_a_version_overwrites: ["ol19-unconditional", "ol19-conditional"];
    ol_d_1_a_write_names_the_record_version: ["ol24-check-0", "ol21-again"];
    ol_d_2_the_lease_counts_from_the_sending_and_the_test_is_strict: ["ol24-check-0", "ol24-check-1"];
    ol_d_3_a_call_looks_again_after_the_poll_period: ["ol21-restarted"];
    ol_d_4_the_wait_is_never_extended: ["ol21-one-call", "ol21-no-heartbeat"];
    ol_d_5_one_look_wins_only_with_a_memory: ["ol22-afresh", "ol22-remembered"];
    ol_d_6_a_refused_heartbeat_tells_no_client: ["ol24-no-check"];
    ol_d_7_the_monitor_comes_after_the_safe_time: ["ol24-monitor-2", "ol24-monitor-3"];
    ol_d_8_holding_on_errors_gives_exclusion_up: ["ol24-hold"];
    ol_d_9_a_repeated_write_fails_its_own_condition: ["ol23-expiry"];
    ol_o_1_a_store_that_ignores_conditions_breaks_the_lease: ["ol26-create", "ol26-read-back", "ol26-honest"];
    ol_o_2_a_deleted_file_restarts_the_generation: ["ol25-deleted", "ol25-kept", "ol11-litestream-3", "ol11-litestream-4"];
    ol_o_3_an_unlock_looks_and_deletes: ["ol27-forced", "ol27-conditional", "ol27-not-forced", "ol23-no-expiry", "ol23-re-read"];
    ol_r_1_a_row_may_be_taken_at_its_end: ["ol29-task-3", "ol29-task-4"];
    ol_r_2_the_client_computes_the_end_before_the_statement: ["ol28-client-1", "ol28-client-2", "ol28-client-off-2"];
    ol_r_3_the_database_computes_the_end_in_the_statement: ["ol28-database-3", "ol28-database-off"];
    ol_r_4_a_row_is_kept_for_the_least_time: ["at-least-keeps-the-row", "at-least-keeps-the-row-equal"];
    ol_r_5_a_row_is_extended_while_it_is_the_clients: ["ol29-keep-alive"];
}

#[test]
fn ol_k_1_the_constructor_compares_the_durations() {
    assert!(refused("lease = 2\nrenew_deadline = 2\nretry_period = 1").contains("longer than `renew_deadline`"));
    assert!(refused("lease = 20\nrenew_deadline = 6\nretry_period = 5").contains("1.2 times `retry_period`"));
    // It does not look at R + D.
    verdicts(&["ol01-short"]);
}

/// The fuzzer of scenario files found that a longer one panicked.
#[test]
fn a_sleep_that_no_message_can_carry_is_refused() {
    let text = |nap: i64| {
        format!(
            "name = \"nap\"\nsystem = \"observed-lease\"\nabout = \"A long sleep.\"\nclients = 2\n\n[service]\nnap = {nap}\n\n[budget]\nnaps = 1\n\n\
             [[promise]]\nproperty = \"mutual-exclusion\"\n"
        )
    };
    let observed = service();
    assert!(observed.read(&text(65_535), "nap.toml").is_ok());
    let error = observed.read(&text(65_536), "nap.toml").expect_err("it is too long").to_string();
    assert!(error.contains("service.nap") && error.contains("65535"), "{error}");
}
