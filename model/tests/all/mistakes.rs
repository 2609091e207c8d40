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
        Ok(_) => panic!("nobody minds:\n{text}"),
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
    no_multiple_of_a_ttl, "consul-lock": ["", "ttl = 1\nttl_multiplier = 0", ""] => "at least 1 TTL";
    renewals_without_a_ttl, "consul-lock": ["", "renew_every = 1", ""] => "nothing to renew";
    a_retry_that_takes_no_time, "consul-lock": ["", "retry_every = 0", ""] => "would stop time";
    a_monitor_without_patience, "consul-lock": ["", "monitor.patience = 0", ""] => "would stop time";
    a_monitor_that_asks_again_at_once, "consul-lock": ["", "monitor.retries = 2", ""] => "both `retries` and `retry_every`";
    belief_by_a_monitor_that_is_not_there, "consul-lock": ["", "belief = \"by-monitor\"", ""] => "[service.monitor]";
    a_watch_that_nobody_has, "consul-lock": ["", "watch_wait = 3", ""] => "`waiting`";
    self_limiting_without_a_ttl, "consul-lock": ["", "belief = \"self-limiting\"", ""] => "counts its TTL";
    suspending_without_renewals, "consul-lock": ["", "ttl = 1\nbelief = \"suspending\"", ""] => "`renew_every`";
    errors_of_no_renewals, "consul-lock": ["", "renewal_errors = \"give-up\"", ""] => "no renewals";
    consistent_reads_of_nobody, "consul-lock": ["", "reads = \"consistent\"", ""] => "`observers`";
    a_deposed_leader_that_is_none, "consul-lock": ["", "servers.renewals = \"with-quorum\"", ""] => "`old_leader = \"lingers\"`";
    an_outage_shorter_than_an_election, "consul-lock":
        ["", "servers.election = 3\nservers.outage_max = 2", "[budget]\noutages = 1"] => "less than `election`";
    a_budget_that_is_a_word, "consul-lock":
        ["", "", "[budget]\nleader_losses = \"never\""] => "from 0 to 254";
    losses_of_a_leader_that_lingers, "consul-lock":
        ["", "servers.old_leader = \"lingers\"", "[budget]\nleader_losses = \"unlimited\""] => "a leader is deposed";
    a_shared_session_with_a_ttl, "consul-lock": ["", "ttl = 1\nsession = \"shared\"", ""] => "leave `ttl` out";
    a_version_that_nobody_compares, "consul-lock": ["", "sequencer = \"version\"", ""] => "`unchanged`";
    a_third_party_without_a_sequencer, "consul-lock": ["writes = 1", "delegates = true", ""] => "`modify-index`";
    a_third_party_without_work, "consul-lock":
        ["", "delegates = true\nsequencer = \"lock-index\"", ""] => "allow at least 1";
    a_transaction_with_another_resource, "consul-lock":
        ["writes = 1\nresource = \"not-lower\"", "guard = \"transaction\"\nsequencer = \"lock-index\"", ""] => "the store itself";
    an_operator_without_acts, "consul-lock": ["", "", "[budget]\noperator = 1"] => "`service.operator`";
    an_act_that_costs_nothing, "consul-lock":
        ["", "operator = [{ action = \"put\", cost = 0 }]", "[budget]\noperator = 1"] => "for ever";
    an_act_that_nobody_can_pay, "consul-lock":
        ["", "operator = [{ act = \"put\", cost = 2 }]", "[budget]\noperator = 1"] => "not enough";
    retries_without_patience, "consul-lock": ["", "", "[budget]\nretries = 1"] => "`service.patience`";
    an_alarm_that_nobody_hears, "consul-lock": ["", "", "[budget]\nfalse_alarms = 1"] => "`service.health.checks`";
    a_queue_whose_keys_stay, "consul-lock": ["", "queue = {}", ""] => "set `delete`";
    a_queue_without_an_order, "consul-lock": ["", "queue = {}\nbehavior = \"delete\"", ""] => "`create-index`";
    a_queue_that_is_watched, "consul-lock":
        ["", "queue = {}\nbehavior = \"delete\"\nsequencer = \"create-index\"\nmonitor = {}", ""] => "does not know";
    an_act_on_a_key_that_is_not_there, "consul-lock":
        ["", "queue = {}\nbehavior = \"delete\"\nsequencer = \"create-index\"\noperator = [\"put\"]", "[budget]\noperator = 1"]
        => "does not have";
    a_semaphore_without_a_limit, "consul-semaphore": ["", "", ""] => "`limits`";
    a_limit_of_0, "consul-semaphore": ["", "semaphore.limits = [0]", ""] => "from 1 to";
    a_limit_of_a_lock, "consul-lock": ["", "semaphore.limits = [1]", ""] => "`consul-semaphore`";
    a_semaphore_that_is_a_queue, "consul-semaphore": ["", "semaphore.limits = [1]\nqueue = {}", ""] => "a queue is a lock";
    a_semaphore_with_writes, "consul-semaphore": ["writes = 1", "semaphore.limits = [1]", ""] => "does not know";
    a_count_that_is_pruned, "consul-semaphore":
        ["", "semaphore = { limits = [1], registers = \"count-then-register\", prunes = \"never\" }", ""] => "no list to prune";
    a_wait_for_nobody, "consul-semaphore":
        ["", "semaphore = { limits = [1], prunes = \"never\", prune_wait = 1 }", ""] => "prunes nobody";
    a_doubt_that_never_comes, "consul-semaphore":
        ["", "semaphore = { limits = [1], unclear = \"repeat\" }", ""] => "set `patience`";
    a_watch_that_is_none, "consul-semaphore":
        ["", "semaphore = { limits = [1], watches_once = true }", ""] => "nobody watches";
    an_act_on_a_semaphore_s_key, "consul-semaphore":
        ["", "semaphore.limits = [1]\noperator = [\"put\"]", "[budget]\noperator = 1"] => "does not have";
    a_slot_of_a_lock, "consul-lock":
        ["", "", "[[promise]]\nproperty = \"slot-limit\""] => "this is a lock";
    an_owner_of_a_semaphore, "consul-semaphore":
        ["", "semaphore.limits = [1]", "[[promise]]\nproperty = \"single-owner\""] => "this is a semaphore";
    a_recipe_that_nobody_knows, "consul-lock": ["", "recipe = \"java-lock\"", ""] => "file:8:10: service.recipe: there is no recipe `java-lock`; there are `go-lock`";
    a_recipe_where_there_are_none, "lease": ["", "recipe = \"go-lock\"", ""] => "this system has no recipes";
}

mistakes! {
    a_pool_without_a_slot, "token-pool": ["", "limit = 0", ""] => "nobody ever gets in";
    a_roster_that_asks_again_at_once, "token-pool": ["", "retry_every = 0", ""] => "would stop time";
    records_that_are_stale_at_once, "token-pool": ["", "stale_after = 0", ""] => "over at once";
    a_rank_in_a_pool, "token-pool": ["", "memory = 3", ""] => "that is about a `ranked-semaphore`";
    a_token_in_a_rank, "ranked-semaphore": ["", "stale_after = 3", ""] => "that is about a `token-pool`";
    anonymous_records, "holder-records": ["", "nodes = \"anonymous\"", ""] => "that is about a `sequence-queue`";
    timestamps_that_nobody_bounds, "ranked-semaphore":
        ["", "sequence = \"timestamps\"\nmemory = 3\njoins = \"atomic\"", ""] => "`synchrony.message_delay`";
    a_dead_one_in_a_queue_without_an_end, "sequence-queue": ["", "", "[budget]\ncrashes = 1"] => "a dead client's entries";
    conserved_slots_of_ranks, "ranked-semaphore":
        ["", "", "[[promise]]\nproperty = \"slot-conservation\""] => "says nothing about such a `ranked-semaphore`";
    one_inside_of_two, "token-pool":
        ["", "limit = 2", "[[promise]]\nproperty = \"mutual-exclusion\""] => "says nothing about such a `token-pool`";
    writes_of_a_roster, "holder-records": ["writes = 1", "", ""] => "write nothing";
    too_many_nodes, "redlock": ["", "nodes = 8\nlease = 3", ""] => "from 1 to 7";
    keys_that_are_kept_for_no_time, "redlock": ["", "", ""] => "longer than `drift`";
    a_lease_of_a_copy, "copied-lock": ["", "lease = 3", ""] => "says nothing about a `copied-lock`";
    a_split_of_a_redlock, "redlock": ["", "lease = 3\nsplits = true", "[budget]\noutages = 1"] => "says nothing about a `redlock`";
    a_jump_that_cannot_happen, "redlock": ["", "lease = 3", "[budget]\nclock_jumps = 1"] => "service.jumps = true";
    an_outage_of_which_kind, "redlock": ["", "lease = 3", "[budget]\noutages = 1"] => "service.jumps = true";
    a_budget_of_another_service, "redlock": ["", "lease = 3", "[budget]\nlost_connections = 1"] => "there are `losses`";
    a_budget_for_what_is_for_good, "redlock": ["", "lease = 3\njumps = true", "[budget]\nclock_jumps = \"unlimited\""] => "for good";
    a_budget_beyond_its_range, "redlock": ["", "lease = 3\njumps = true", "[budget]\nclock_jumps = 255"] => "from 0 to 254";
    a_shared_budget_of_one_fault, "redlock":
        ["", "lease = 3\njumps = true", "[[budget.shared]]\nof = [\"clock_jumps\"]\nat_most = 1"] => "at least two faults";
    a_shared_budget_of_an_unknown_fault, "redlock":
        ["", "lease = 3\njumps = true", "[[budget.shared]]\nof = [\"clock_jumps\", \"losses\"]\nat_most = 1"] => "not `losses`";
    an_owner_of_many_nodes, "redlock":
        ["", "lease = 3", "[[promise]]\nproperty = \"single-owner\""] => "says nothing about a `redlock`";
}

mistakes! {
    a_heartbeat_of_0, "rabbitmq-semaphore": ["", "heartbeat = 0", ""] => "a heartbeat of 0 means none";
    beats_without_a_heartbeat, "rabbitmq-semaphore": ["", "beat = 1", ""] => "without a heartbeat nobody beats";
    beats_that_are_too_rare, "rabbitmq-semaphore": ["", "heartbeat = 1\nbeat = 2", ""] => "in every heartbeat";
    a_lease_without_a_heartbeat, "rabbitmq-semaphore": ["", "lease_margin = 1", ""] => "set `heartbeat`";
    a_lease_that_is_all_margin, "rabbitmq-semaphore":
        ["", "heartbeat = 2\nbeat = 1\nlease_margin = 4", ""] => "over before it begins";
    slots_out_of_order, "rabbitmq-semaphore": ["", "slots = [2, 1]", ""] => "the numbers of slots go up";
    no_attempts, "rabbitmq-semaphore": ["", "attempts = 0", ""] => "nobody ever gets a slot";
    an_exclusive_slot, "rabbitmq-semaphore": ["", "queues.exclusive = true", ""] => "slots belong to nobody";
    a_node_that_is_not_there, "rabbitmq-semaphore": ["", "cluster = { nodes = 2, slots_at = [3] }", ""] => "only nodes 1 to 2";
    a_split_of_one_node, "rabbitmq-semaphore": ["", "cluster.splits = true", ""] => "cannot be cut off from others";
    an_administered_mutex, "rabbitmq-mutex": ["", "administration.does = [[\"destroy\"]]", ""] => "is not administered";
    more_slots_than_there_are_numbers, "rabbitmq-semaphore":
        ["", "administration.does = [[{ create = 200 }]]", ""] => "more than";
    an_operator_with_nothing_to_do, "rabbitmq-semaphore": ["", "", "[budget]\noperator = 1"] => "`service.operator`";
    slots_of_a_mutex, "rabbitmq-mutex": ["", "", "[[promise]]\nproperty = \"slot-limit\""] => "says nothing about a `rabbitmq-mutex`";
    a_verification_that_nobody_asks_for, "rabbitmq-semaphore":
        ["", "", "[[promise]]\nproperty = \"verify-truthful\""] => "nobody asks for a verification";
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
fn what_a_scenario_says_goes_before_its_recipe() {
    let text = scenario("consul-lock", "", "recipe = \"lock-command\"\nttl = 7\njob.grace = 3", "");
    let read = catalogue::read(&text, "file").expect("it is right").to_toml();
    for line in ["ttl = 7", "grace = 3", "killed = \"group\"", "lock_delay = 30", "cleanup = true"] {
        assert!(read.contains(line), "`{line}` is missing in:\n{read}");
    }
}
