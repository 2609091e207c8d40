//! Clients that believe a writer's clock, rows, naps and clock rates: programs against the state machine, with settings at random.

use fencepost_model::ids::ClientId;
use fencepost_model::time::Ticks;
use fencepost_observed_lease::{ClientGo, ControllerManager, Settings, as_programs};
use fencepost_observed_lease_explore::{SERVICE, Service, service};

use super::programs::{compare_drawn, draw, words};

const FABRIC8: &str = "recipe = \"fabric8\"\nrelease = \"never\"\n";
const KUBERT: &str = "recipe = \"kubert\"\n";
const KUBE_LEADER_ELECTION: &str = "recipe = \"kube-leader-election\"\n";
const LITESTREAM: &str = "recipe = \"litestream\"\n";

/// Two clients in a small world with a fault.
fn surroundings(state: &mut u64) -> String {
    let wakes = draw(state, &["0", "0", "1"]);
    let mut text = format!("\n[synchrony]\nmessage_delay = 0\nwake_delay = {wakes}\nserver_delay = 0\n");
    text += "\n[network]\nreplies = \"instant\"\n";
    text += draw(state, &["cuts = \"drop\"\nways = \"both\"\n", "ways = \"one\"\n", "ways = \"both\"\n"]);
    text += "\n[budget]\n";
    let faults =
        ["cuts = 1\n", "store_errors = 1\n", "crashes = 1\nrestarts = 1\n", "pauses = 1\n", "crashes = 1\n", ""];
    text += draw(state, &faults);
    text
}

fn promises(text: &mut String, properties: &[&str]) {
    for property in properties {
        *text += &format!("\n[[promise]]\nproperty = \"{property}\"\n");
    }
}

/// A scenario with settings of one of the clients that believe a writer's clock.
fn drawn_wall(case: u64) -> String {
    let state = &mut case.clone();
    let client = draw(state, &[FABRIC8, KUBERT, KUBE_LEADER_ELECTION, LITESTREAM]);
    let mut text = format!("name = \"wall-{case}\"\nsystem = \"observed-lease\"\nabout = \"Wall clocks at random.\"\n");
    text += draw(state, &["clients = 2\n", "clients = 2\n", "clients = 2\nrounds = 2\n"]);
    text += "\n[service]\n";
    text += client;
    text += match client {
        FABRIC8 => draw(
            state,
            &[
                "lease = 4\nrenew_deadline = 2\nretry_period = 1\nsleep_max = 0\n",
                "lease = 5\nrenew_deadline = 3\nretry_period = 2\nsleep_max = 0\n",
                "lease = 6\nrenew_deadline = 2\nretry_period = 1\nsleep_max = 2\n",
            ],
        ),
        KUBERT => draw(
            state,
            &["lease = 4\nretry_period = 3\n", "lease = 5\nretry_period = 3\n", "lease = 3\nretry_period = 2\n"],
        ),
        _ => draw(
            state,
            &["lease = 4\nretry_period = 1\n", "lease = 3\nretry_period = 2\n", "lease = 5\nretry_period = 2\n"],
        ),
    };
    let ahead = ["[]", "[0, 1]", "[1, 0]", "[0, 2]", "[0, 3]", "[0, 4]", "[2, 0]"];
    text += &format!("wall_ahead = {}\n", draw(state, &ahead));
    text += draw(state, &["", "request_timeout = 1\n", "request_timeout = 2\n"]);
    text += draw(state, &["", "stop_time = 1\n", "stop_time = 2\n"]);
    let release = match client {
        FABRIC8 => draw(state, &["", "release = \"fresh-record\"\n"]),
        KUBERT => draw(state, &["", "release = \"cached-version\"\n"]),
        LITESTREAM => draw(state, &["", "release = \"cached-version\"\n"]),
        _ => draw(state, &["", "conditional = true\n"]),
    };
    text = text.replace("release = \"never\"\n", if release.is_empty() { "release = \"never\"\n" } else { "" });
    text += release;
    text += draw(state, &["", "cancels = \"any-time\"\n"]);
    if matches!(client, FABRIC8 | LITESTREAM) {
        text += draw(state, &["", "token = \"transitions\"\n", "token = \"resource-version\"\n"]);
    }
    text += &surroundings(state);
    promises(&mut text, &["mutual-exclusion", "lease-exclusion", "single-owner"]);
    // A contender of kubert sleeps until the expiry that it has read: the state machine looks once in a period.
    if client != KUBERT {
        let bound = draw(state, &["3", "5", "7", "9"]);
        text += &format!("\n[[promise]]\nproperty = \"eventually-acquired\"\nbound = {bound}\n");
    }
    if text.contains("token =") {
        promises(&mut text, &["token-order"]);
    }
    text
}

/// A scenario of rows.
fn drawn_row(case: u64) -> String {
    let state = &mut case.clone();
    let mut text = format!("name = \"row-{case}\"\nsystem = \"lease-row\"\nabout = \"Rows at random.\"\n");
    text += draw(state, &["clients = 2\n", "clients = 2\n", "clients = 2\nrounds = 2\n"]);
    text += "\n[service]\n";
    let lease = draw(state, &["3", "4", "5"]);
    text += &format!(
        "lease = {lease}\nretry_period = {}\ntask = {}\n",
        draw(state, &["1", "2"]),
        draw(state, &["1", "2", "3", "4", "6"])
    );
    let clock = draw(state, &["database", "client"]);
    text += &format!("row_clock = \"{clock}\"\n");
    text += draw(state, &["", "", "at_least = 2\n", "at_least = 3\n"]);
    text += draw(state, &["", "", "preparation = 1\n", "preparation = 2\n"]);
    text += &format!("wall_ahead = {}\n", draw(state, &["[]", "[0, 1]", "[0, 2]", "[1, 0]"]));
    let keep_alive = if clock == "database" { draw(state, &["", "keep_alive = true\n"]) } else { "" };
    text += keep_alive;
    let (messages, wakes) = (draw(state, &["0", "0", "1"]), draw(state, &["0", "0", "1"]));
    text += &format!("\n[synchrony]\nmessage_delay = {messages}\nwake_delay = {wakes}\nserver_delay = 0\n");
    if messages == "0" {
        text += "\n[network]\nreplies = \"instant\"\n";
    }
    text += "\n[budget]\n";
    text += draw(state, &["", "crashes = 1\nrestarts = 1\n", "crashes = 1\n"]);
    promises(&mut text, &["mutual-exclusion", "single-owner"]);
    let bound = draw(state, &["1", "3", "5", "7"]);
    text += &format!("\n[[promise]]\nproperty = \"eventually-acquired\"\nbound = {bound}\n");
    text
}

/// A scenario of client-go with naps, rates, or a caller that cancels right after a renewal.
fn drawn_time(case: u64) -> String {
    let state = &mut case.clone();
    let mut text =
        format!("name = \"time-{case}\"\nsystem = \"observed-lease\"\nabout = \"Clocks at random.\"\nclients = 2\n");
    text += "\n[service]\n";
    let kind = draw(state, &["nap", "rate", "renewal"]);
    text += match kind {
        "rate" => draw(
            state,
            &[
                "lease = 8\nrenew_deadline = 4\nretry_period = 2\nrates = [{ shows = 1, per = 2 }]\n",
                "lease = 8\nrenew_deadline = 4\nretry_period = 2\nrates = [{ shows = 1, per = 1 }, { shows = 2, per = 1 }]\n",
                "lease = 9\nrenew_deadline = 6\nretry_period = 3\nrates = [{ shows = 3, per = 4 }]\n",
                "lease = 6\nrenew_deadline = 3\nretry_period = 2\nrates = [{ shows = 1, per = 2 }, { shows = 1, per = 2 }]\n",
            ],
        ),
        _ => draw(
            state,
            &[
                "lease = 4\n",
                "lease = 5\n",
                "lease = 6\nrenew_deadline = 3\n",
                "lease = 7\nrenew_deadline = 3\nretry_period = 2\n",
            ],
        ),
    };
    text += draw(state, &["sleep_max = 0\n", if kind == "rate" { "sleep_max = 0\n" } else { "sleep_max = 2\n" }]);
    text += draw(state, &["", "renewal = \"read-write\"\n", "poll_from = \"last-success\"\n"]);
    // On a clock with a rate a program waits for whole ticks only.
    if kind != "rate" {
        text += draw(state, &["", "stop_time = 1\n", "stop_time = 2\n"]);
    }
    // A release records 1 tick.
    if !text.contains("shows = 2") && !text.contains("shows = 3") {
        text += draw(state, &["", "release = \"fresh-version\"\n", "release = \"cached-version\"\n"]);
    }
    match kind {
        "nap" => {
            text +=
                &format!("nap = {}\n{}", draw(state, &["1", "2", "3"]), draw(state, &["", "naps_from = \"renewal\"\n"]))
        }
        "renewal" => {
            let waits = [
                "",
                "on_cancel = \"wait\"\ngrace = 2\n",
                "on_cancel = \"wait\"\n",
                "on_cancel = \"wait-renewing\"\ngrace = 2\n",
            ];
            text += &format!("cancels = \"after-renewal\"\n{}", draw(state, &waits));
        }
        _ => {}
    }
    text += &surroundings(state);
    if kind == "nap" {
        text += "naps = 1\n";
    }
    promises(&mut text, &["mutual-exclusion", "lease-exclusion", "single-owner"]);
    let bound = draw(state, &["3", "5", "7", "9"]);
    text += &format!("\n[[promise]]\nproperty = \"eventually-acquired\"\nbound = {bound}\n");
    text
}

/// The verdicts about a scenario in both forms: they are the same.
fn both(system: &str, who: &str, settings: &str, rest: &str) -> Vec<&'static str> {
    let text = format!(
        "name = \"both\"\nsystem = \"{system}\"\nabout = \"In both forms.\"\n{who}\n\n[service]\n{settings}\n\n[synchrony]\nwake_delay = 0\n\
         server_delay = 0\n{rest}"
    );
    let scenario = service().read(&text, "both").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = as_programs(scenario.of::<Service>().expect("it is one of this service")).expect("it has one");
    let machine = words(&*scenario);
    assert_eq!(words(SERVICE.any(&program)), machine, "{text}");
    machine.into_iter().map(|(_, word)| word).collect()
}

const TWO: &str = "clients = 2";
const EXCLUSION: &str = "\n[[promise]]\nproperty = \"mutual-exclusion\"\n";

/// The manager's elector is that of its recipe, and its runnables are awaited.
#[test]
fn ol_k_17_the_manager_of_controller_runtime_is_client_go_with_a_wait_for_its_runnables() {
    let seconds = Ticks::new;
    let manager = ControllerManager {
        lease_duration: seconds(15),
        renew_deadline: seconds(10),
        retry_period: seconds(2),
        release_on_cancel: true,
        graceful_shutdown_timeout: Some(seconds(30)),
        stop_time: Ticks::ZERO,
        second: seconds(1),
    };
    let recipe = Settings::of_recipe("controller-runtime").expect("there is one");
    assert_eq!(ClientGo::of(&recipe, ClientId(1)), Some(manager.elector()));
    let small = |stop_time, grace| ControllerManager {
        lease_duration: seconds(4),
        renew_deadline: seconds(2),
        retry_period: seconds(1),
        graceful_shutdown_timeout: grace,
        stop_time: seconds(stop_time),
        ..manager
    };
    for (stop_time, grace, expected) in
        [(2, Some(seconds(3)), "proven"), (3, Some(seconds(3)), "violated"), (5, None, "proven")]
    {
        let (_, text) =
            service().scenarios().iter().find(|(name, _)| *name == "ol04-grace-more").expect("it is in the list");
        let scenario = service().read(text, "ol04-grace-more").expect("it is valid");
        let scenario = scenario.of::<Service>().expect("it is one of this service").clone();
        let scenario = scenario.programs(small(stop_time, grace).elector());
        assert_eq!(words(SERVICE.any(&scenario))[0].1, expected, "{stop_time} of {grace:?}");
    }
}

/// The work of another elector hears of a cancellation before the release.
#[test]
fn ol_k_20_the_work_of_fabric8_hears_of_a_cancellation_after_the_release() {
    let settings = "recipe = \"fabric8\"\nlease = 9\nrenew_deadline = 2\nretry_period = 1\nsleep_max = 0\ncancels = \"any-time\"\n";
    let cancelled = |more: &str| {
        both("observed-lease", TWO, &format!("{settings}{more}"), &format!("message_delay = 1\n{EXCLUSION}"))
    };
    assert_eq!(cancelled(""), ["violated"]);
    assert_eq!(cancelled("release = \"never\"\n"), ["proven"]);
}

/// A release over a dead link takes for ever, and the work goes on.
#[test]
fn ol_k_20_the_release_of_fabric8_has_no_deadline() {
    let settings = "recipe = \"fabric8\"\nlease = 9\nrenew_deadline = 2\nretry_period = 1\nsleep_max = 0\n";
    let rest = format!(
        "message_delay = 0\n\n[network]\nreplies = \"instant\"\ncuts = \"drop\"\nways = \"both\"\n\n[budget]\ncuts = 1\n{EXCLUSION}"
    );
    assert_eq!(both("observed-lease", TWO, settings, &rest), ["violated"]);
    assert_eq!(both("observed-lease", TWO, &format!("{settings}request_timeout = 1\n"), &rest), ["proven"]);
}

/// A read, its answer and the write take up to a tick each, and the next renewal begins a tick after the last one or when that has ended. A
/// record is up to 7 old when the next one replaces it: a time that was read before the write would be 2 ticks younger.
#[test]
fn ol_k_20_fabric8_writes_the_time_from_before_its_read() {
    let with = |lease: u8| {
        let settings = format!(
            "recipe = \"fabric8\"\nlease = {lease}\nretry_period = 1\nrenew_deadline = 2\nsleep_max = 0\nrelease = \"never\"\n"
        );
        both("observed-lease", TWO, &settings, &format!("message_delay = 1\n{EXCLUSION}"))[0]
    };
    assert_eq!([5, 6, 7].map(with), ["violated", "violated", "proven"]);
}

/// Its own expired file is another's to it.
#[test]
fn ol_o_2_an_owner_that_takes_its_own_file_over_counts_the_generation_on() {
    let settings = "recipe = \"litestream\"\nlease = 2\nretry_period = 1\ntoken = \"transitions\"\ncancels = \"any-time\"\n\
                    release = \"never\"\non_loss = \"release-then-tell\"\n";
    let rest = "message_delay = 0\n\n[network]\nreplies = \"instant\"\n\n[[promise]]\nproperty = \"token-order\"\n";
    assert_eq!(both("observed-lease", "clients = 1\nrounds = 2", settings, rest), ["proven"]);
}

/// A task of 4 with a least time of 6 is over at 4. Its row was extended at 3, so that it is free at 4, and not at 6.
#[test]
fn ol_r_5_an_extension_takes_its_period_off_the_least_time() {
    let settings = "recipe = \"shedlock\"\nlease = 6\nretry_period = 1\ntask = 4\nat_least = 6\n";
    let rest = "message_delay = 0\n\n[network]\nreplies = \"instant\"\n\n[[promise]]\nproperty = \"eventually-acquired\"\nbound = 1\n";
    assert_eq!(both("lease-row", TWO, settings, rest), ["violated"]);
    assert_eq!(both("lease-row", TWO, &format!("{settings}keep_alive = true\n"), rest), ["proven"]);
}

#[test]
fn clients_that_believe_a_writers_clock_get_the_same_verdicts_with_settings_at_random() {
    assert_eq!(compare_drawn(drawn_wall, 0..10), [26, 19]);
}

#[test]
fn rows_get_the_same_verdicts_with_settings_at_random() {
    assert_eq!(compare_drawn(drawn_row, 0..10), [19, 12]);
}

#[test]
fn naps_rates_and_cancellations_get_the_same_verdicts_with_settings_at_random() {
    assert_eq!(compare_drawn(drawn_time, 0..10), [34, 10]);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn so_do_those_that_believe_a_writers_clock_in_three_hundred_scenarios_by_hand() {
    assert_eq!(compare_drawn(drawn_wall, 0..300), [819, 569]);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn so_do_rows_in_three_hundred_scenarios_by_hand() {
    assert_eq!(compare_drawn(drawn_row, 0..300), [561, 318]);
}

#[test]
#[ignore = "takes minutes: .ci/long"]
fn so_do_naps_rates_and_cancellations_in_three_hundred_scenarios_by_hand() {
    assert_eq!(compare_drawn(drawn_time, 0..300), [858, 388]);
}
