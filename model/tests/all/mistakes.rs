//! What a scenario must not say: each mistake is answered at its place, with what would be right.

use fencepost::catalogue;

/// The smallest scenario that says something, with additions to its tables.
fn scenario(system: &str, top: &str, service: &str, rest: &str) -> String {
    format!(
        "name = \"mistaken\"\nsystem = \"{system}\"\nabout = \"It is wrong.\"\nclients = 2\n{top}\n\n[service]\n{service}\n\n{rest}\n"
    )
}

fn refused(text: &str) -> String {
    match catalogue::read(text, "file") {
        Ok(_) => panic!("it is accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

macro_rules! mistakes {
    ($($name:ident, $system:literal: [$top:literal, $service:literal, $rest:literal] => $says:literal;)*) => {
        $(#[test] fn $name() {
            let text = scenario($system, $top, $service, $rest);
            let refusal = refused(&text);
            assert!(refusal.contains($says), "it says: {refusal}");
        })*
    };
}

mistakes! {
    a_ttl_of_0, "consul-lock": ["", "ttl = 0", ""] => "C-SES-7";
    no_multiple_of_a_ttl, "consul-lock": ["", "ttl = 1\nttl_multiplier = 0", ""] => "must be at least 1";
    renewals_without_a_ttl, "consul-lock": ["", "renew_every = 1", ""] => "renewals need a TTL";
    a_retry_that_takes_no_time, "consul-lock": ["", "retry_every = 0", ""] => "would stop time";
    a_monitor_without_patience, "consul-lock": ["", "monitor.patience = 0", ""] => "would stop time";
    a_monitor_that_asks_again_at_once, "consul-lock": ["", "monitor.retries = 2", ""] => "both `retries` and `retry_every`";
    belief_by_a_monitor_that_is_not_there, "consul-lock": ["", "belief = \"by-monitor\"", ""] => "[service.monitor]";
    a_watch_wait_without_a_watch, "consul-lock": ["", "watch_wait = 3", ""] => "`service.waiting = \"watch\"`";
    self_limiting_without_a_ttl, "consul-lock": ["", "belief = \"self-limiting\"", ""] => "counts its TTL";
    suspending_without_renewals, "consul-lock": ["", "ttl = 1\nbelief = \"suspending\"", ""] => "`service.renew_every`";
    errors_of_no_renewals, "consul-lock": ["", "renewal_errors = \"give-up\"", ""] => "needs renewals";
    consistent_reads_without_observers, "consul-lock": ["", "reads = \"consistent\"", ""] => "`observers`";
    a_shared_session_that_is_destroyed, "consul-lock":
        ["", "session = \"shared\"\nends_session = true", ""] => "has one of its own";
    a_deposed_leader_that_is_none, "consul-lock": ["", "servers.renewals = \"with-quorum\"", ""] => "`old_leader = \"lingers\"`";
    an_outage_shorter_than_an_election, "consul-lock":
        ["", "servers.election = 3\nservers.outage_max = 2", "[budget]\noutages = 1"] => "less than `election`";
    a_budget_that_is_a_word, "consul-lock":
        ["", "", "[budget]\nleader_losses = \"never\""] => "from 0 to 254";
    losses_of_a_leader_that_lingers, "consul-lock":
        ["", "servers.old_leader = \"lingers\"", "[budget]\nleader_losses = \"unlimited\""] => "needs `budget.depositions`";
    a_shared_session_with_a_ttl, "consul-lock": ["", "ttl = 1\nsession = \"shared\"", ""] => "remove `service.ttl`";
    a_version_without_a_resource_that_compares_it, "consul-lock": ["", "sequencer = \"version\"", ""] => "`resource = \"unchanged\"` need each other";
    a_third_party_without_a_sequencer, "consul-lock": ["writes = 1", "delegates = true", ""] => "`modify-index`";
    a_third_party_without_work, "consul-lock":
        ["", "delegates = true\nsequencer = \"lock-index\"", ""] => "write at least 1";
    a_transaction_with_another_resource, "consul-lock":
        ["writes = 1\nresource = \"not-lower\"", "guard = \"transaction\"\nsequencer = \"lock-index\"", ""] => "the store itself";
    an_operator_budget_without_actions, "consul-lock": ["", "", "[budget]\noperator = 1"] => "`service.operator`";
    an_operator_action_without_a_cost, "consul-lock":
        ["", "operator = [{ action = \"put\", cost = 0 }]", "[budget]\noperator = 1"] => "repeat without limit";
    an_operator_action_beyond_its_budget, "consul-lock":
        ["", "operator = [{ act = \"put\", cost = 2 }]", "[budget]\noperator = 1"] => "less than the cost";
    retries_without_patience, "consul-lock": ["", "", "[budget]\nretries = 1"] => "`service.patience`";
    a_false_alarm_without_a_check, "consul-lock": ["", "", "[budget]\nfalse_alarms = 1"] => "`service.health.checks`";
    a_queue_whose_keys_stay, "consul-lock": ["", "queue = {}", ""] => "set `delete`";
    a_queue_without_an_order, "consul-lock": ["", "queue = {}\nbehavior = \"delete\"", ""] => "`create-index`";
    a_queue_that_is_watched, "consul-lock":
        ["", "queue = {}\nbehavior = \"delete\"\nsequencer = \"create-index\"\nmonitor = {}", ""] => "does not have";
    an_operator_action_on_a_key_that_does_not_exist, "consul-lock":
        ["", "queue = {}\nbehavior = \"delete\"\nsequencer = \"create-index\"\noperator = [\"put\"]", "[budget]\noperator = 1"]
        => "does not have";
    a_semaphore_without_a_limit, "consul-semaphore": ["", "", ""] => "`limits`";
    a_limit_of_0, "consul-semaphore": ["", "semaphore.limits = [0]", ""] => "from 1 to";
    a_limit_of_a_lock, "consul-lock": ["", "semaphore.limits = [1]", ""] => "`consul-semaphore`";
    a_semaphore_that_is_a_queue, "consul-semaphore": ["", "semaphore.limits = [1]\nqueue = {}", ""] => "a queue is a lock";
    a_semaphore_with_writes, "consul-semaphore": ["writes = 1", "semaphore.limits = [1]", ""] => "does not have";
    a_count_that_is_pruned, "consul-semaphore":
        ["", "semaphore = { limits = [1], registers = \"count-then-register\", prunes = \"never\" }", ""] => "no list to prune";
    a_prune_wait_without_pruning, "consul-semaphore":
        ["", "semaphore = { limits = [1], prunes = \"never\", prune_wait = 1 }", ""] => "prunes no holders";
    a_repeat_without_a_deadline, "consul-semaphore":
        ["", "semaphore = { limits = [1], unclear = \"repeat\" }", ""] => "set `service.patience`";
    a_kept_session_that_is_destroyed, "consul-semaphore":
        ["", "ends_session = true\nsemaphore = { limits = [1], afterwards = \"kept\" }", ""] => "does not destroy it";
    a_query_from_an_index_without_a_watch, "consul-semaphore":
        ["", "semaphore = { limits = [1], after_race = \"watch\" }", ""] => "`service.waiting = \"watch\"`";
    a_semaphore_that_is_cleaned_up_with_its_session, "consul-semaphore":
        ["", "cleanup = true\nsemaphore = { limits = [1] }", ""] => "`cleanup` without `ends_session`";
    a_single_watch_without_a_monitor, "consul-semaphore":
        ["", "semaphore = { limits = [1], watches_once = true }", ""] => "needs a monitor";
    an_operator_action_on_the_key_of_a_semaphore, "consul-semaphore":
        ["", "semaphore.limits = [1]\noperator = [\"put\"]", "[budget]\noperator = 1"] => "does not have";
    a_slot_of_a_lock, "consul-lock":
        ["", "", "[[promise]]\nproperty = \"slot-limit\""] => "this is a lock";
    an_owner_of_a_semaphore, "consul-semaphore":
        ["", "semaphore.limits = [1]", "[[promise]]\nproperty = \"single-owner\""] => "this is a semaphore";
    an_unknown_recipe, "consul-lock": ["", "recipe = \"java-lock\"", ""] => "file:8:10: service.recipe: there is no recipe `java-lock`; valid recipes: `go-lock`";
    a_recipe_of_a_system_without_recipes, "lease": ["", "recipe = \"go-lock\"", ""] => "this system has no recipes";
}

mistakes! {
    a_pool_without_a_slot, "token-pool": ["", "limit = 0", ""] => "no client can enter";
    a_retry_of_0_ticks, "token-pool": ["", "retry_every = 0", ""] => "would stop time";
    records_that_are_stale_at_once, "token-pool": ["", "stale_after = 0", ""] => "must be at least 1";
    a_rank_in_a_pool, "token-pool": ["", "memory = 3", ""] => "belongs to a `ranked-semaphore`";
    a_token_in_a_rank, "ranked-semaphore": ["", "stale_after = 3", ""] => "belongs to a `token-pool`";
    anonymous_records, "holder-records": ["", "nodes = \"anonymous\"", ""] => "belongs to a `sequence-queue`";
    timestamps_without_bounded_delays, "ranked-semaphore":
        ["", "sequence = \"timestamps\"\nmemory = 3\njoins = \"atomic\"", ""] => "`synchrony.message_delay`";
    crashes_in_a_queue_that_keeps_entries, "sequence-queue": ["", "", "[budget]\ncrashes = 1"] => "entries of crashed clients";
    slot_conservation_of_a_ranked_semaphore, "ranked-semaphore":
        ["", "", "[[promise]]\nproperty = \"slot-conservation\""] => "does not apply to such a `ranked-semaphore`";
    mutual_exclusion_of_a_pool_of_two, "token-pool":
        ["", "limit = 2", "[[promise]]\nproperty = \"mutual-exclusion\""] => "does not apply to such a `token-pool`";
    writes_of_a_store, "holder-records": ["writes = 1", "", ""] => "do not write";
    too_many_nodes, "redlock": ["", "nodes = 8\nlease = 3", ""] => "from 1 to 7";
    keys_that_are_kept_for_no_time, "redlock": ["", "", ""] => "longer than `service.drift`";
    a_lease_of_a_copy, "copied-lock": ["", "lease = 3", ""] => "does not apply to a `copied-lock`";
    a_split_of_a_redlock, "redlock": ["", "lease = 3\nsplits = true", "[budget]\noutages = 1"] => "does not apply to a `redlock`";
    a_jump_that_cannot_happen, "redlock": ["", "lease = 3", "[budget]\nclock_jumps = 1"] => "service.jumps = true";
    an_old_budget_of_faults_that_cannot_occur, "redlock": ["", "lease = 3", "[budget]\noutages = 1"] => "service.jumps = true";
    a_budget_of_another_service, "redlock": ["", "lease = 3", "[budget]\nlost_connections = 1"] => "valid budgets: `losses`";
    an_unlimited_budget_of_a_permanent_fault, "redlock": ["", "lease = 3\njumps = true", "[budget]\nclock_jumps = \"unlimited\""] => "permanently";
    a_budget_beyond_its_range, "redlock": ["", "lease = 3\njumps = true", "[budget]\nclock_jumps = 255"] => "from 0 to 254";
    a_shared_budget_of_one_fault, "redlock":
        ["", "lease = 3\njumps = true", "[[budget.shared]]\nof = [\"clock_jumps\"]\nat_most = 1"] => "at least two faults";
    a_shared_budget_of_an_unknown_fault, "redlock":
        ["", "lease = 3\njumps = true", "[[budget.shared]]\nof = [\"clock_jumps\", \"losses\"]\nat_most = 1"] => "it names `losses`";
    an_owner_of_many_nodes, "redlock":
        ["", "lease = 3", "[[promise]]\nproperty = \"single-owner\""] => "does not apply to a `redlock`";
}

mistakes! {
    a_heartbeat_of_0, "rabbitmq-semaphore": ["", "heartbeat = 0", ""] => "a heartbeat of 0 disables";
    beats_without_a_heartbeat, "rabbitmq-semaphore": ["", "beat = 1", ""] => "`beat` needs a heartbeat";
    beats_that_are_too_rare, "rabbitmq-semaphore": ["", "heartbeat = 1\nbeat = 2", ""] => "must not be longer than `service.heartbeat`";
    a_lease_without_a_heartbeat, "rabbitmq-semaphore": ["", "lease_margin = 1", ""] => "set `service.heartbeat`";
    a_lease_that_is_all_margin, "rabbitmq-semaphore":
        ["", "heartbeat = 2\nbeat = 1\nlease_margin = 4", ""] => "less than twice the heartbeat";
    slots_out_of_order, "rabbitmq-semaphore": ["", "slots = [2, 1]", ""] => "must be in ascending order";
    no_attempts, "rabbitmq-semaphore": ["", "attempts = 0", ""] => "no client gets a slot";
    an_exclusive_slot, "rabbitmq-semaphore": ["", "queues.exclusive = true", ""] => "slot queues have no owner";
    a_node_that_is_not_there, "rabbitmq-semaphore": ["", "cluster = { nodes = 2, slots_at = [3] }", ""] => "nodes 1 to 2 only";
    a_split_of_one_node, "rabbitmq-semaphore": ["", "cluster.splits = true", ""] => "needs at least 2 nodes";
    an_administered_mutex, "rabbitmq-mutex": ["", "administration.does = [[\"destroy\"]]", ""] => "has no administrators";
    more_slots_than_there_are_numbers, "rabbitmq-semaphore":
        ["", "administration.does = [[{ create = 200 }]]", ""] => "more than";
    an_operator_with_nothing_to_do, "rabbitmq-semaphore": ["", "", "[budget]\noperator = 1"] => "`service.operator`";
    slots_of_a_mutex, "rabbitmq-mutex": ["", "", "[[promise]]\nproperty = \"slot-limit\""] => "does not apply to a `rabbitmq-mutex`";
    a_promise_of_verifications_without_verifications, "rabbitmq-semaphore":
        ["", "", "[[promise]]\nproperty = \"verify-truthful\""] => "needs verifications";
}

#[test]
fn every_recipe_makes_a_scenario() {
    for (system, service) in [
        ("consul-lock", "recipe = \"go-lock\""),
        ("consul-lock", "recipe = \"lock-command\""),
        ("consul-lock", "recipe = \"leader-election\""),
        ("consul-semaphore", "recipe = \"go-semaphore\"\nsemaphore.limits = [2]"),
        ("consul-semaphore", "recipe = \"semaphore-guide\"\nsemaphore.limits = [2]"),
    ] {
        let text = scenario(system, "", service, "");
        let scenario = catalogue::read(&text, "file").unwrap_or_else(|error| panic!("{error}"));
        let again = catalogue::read(&scenario.to_toml(), "file").expect("it was written a moment ago");
        assert_eq!(*again, *scenario, "{service}");
    }
}

#[test]
fn a_field_of_the_scenario_overrides_its_recipe() {
    let text = scenario("consul-lock", "", "recipe = \"lock-command\"\nttl = 7\njob.grace = 3", "");
    let read = catalogue::read(&text, "file").expect("it is right").to_toml();
    for line in ["ttl = 7", "grace = 3", "killed = \"group\"", "lock_delay = 30", "cleanup = true"] {
        assert!(read.contains(line), "`{line}` is missing in:\n{read}");
    }
}

#[test]
fn a_recipe_of_a_semaphore_gets_its_limit_from_the_file_with_and_without_a_tick() {
    for recipe in ["go-semaphore", "semaphore-guide"] {
        for tick in ["", "tick = \"500ms\""] {
            let text = |semaphore: &str| {
                scenario("consul-semaphore", tick, &format!("recipe = \"{recipe}\"\n{semaphore}"), "")
            };
            if let Err(error) = catalogue::read(&text("semaphore.limits = [2]"), "file") {
                panic!("{recipe} {tick}: {error}");
            }
            assert!(refused(&text("")).contains("limits"), "{recipe} {tick}");
        }
    }
}
