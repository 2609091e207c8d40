//! What a run measures, against what can be counted by hand.

use fencepost::catalogue;
use fencepost_model::finding::Measurement;
use fencepost_sim::{Profile, Settings};

/// What a run of ten minutes measures where everything takes as long as it says: messages 5 ms, thoughts 2 s.
fn measured(clients: u16, more: &str) -> Measurement {
    let text = format!(
        "name = \"steady\"\nsystem = \"consul-lock\"\nabout = \"Nothing is left to chance.\"\nclients = {clients}\nrounds = 200\n\
         [service]\nttl = 10\nrenew_every = 5\nlock_delay = 15\n{more}\n[[promise]]\nproperty = \"mutual-exclusion\"\n"
    );
    let profile = "latency = 5\nlateness = 0\nthinking = 2000\nstall = 0\nstall_every = 1000000000\nmending = 100000";
    let profile: Profile = toml::from_str(profile).expect("a profile");
    let settings = Settings { storm: 600, profile, ends_with_storm: true, measures: true, ..Settings::default() };
    let scenario = catalogue::read(&text, "steady").expect("a scenario");
    scenario.summarize(&settings).measurement.expect("it measures")
}

#[test]
fn a_steady_run_measures_the_values_counted_by_hand() {
    let taken = measured(1, "");
    // A round: a thought, acquire and answer, a thought, release and answer. The session takes a round trip the first time.
    let round = 2000 + 10 + 2000 + 10;
    let entries = (600_000 - 2020) / round + 1;
    assert_eq!(taken.entries, u64::try_from(entries).unwrap());
    assert_eq!(taken.handovers[..3], [20, 10, 10], "it waits for its session, too, the first time");
    assert_eq!(taken.idle, taken.handovers.iter().sum::<i64>());
    assert_eq!(taken.inside, 2000 * entries);
    let renewals = taken.ticks / 5000;
    let requests = i64::try_from(taken.requests).unwrap();
    assert!((requests - (1 + 2 * entries + renewals)).abs() <= 1, "{requests}");
    assert_eq!((taken.overlap, taken.mistakes, taken.detections.len(), taken.dead_holds.len()), (0, 0, 0, 0));
}

#[test]
fn a_crash_is_detected_when_the_doubled_ttl_is_over() {
    let taken = measured(2, "[budget]\ncrashes = 1\nrestarts = 1");
    let [detection] = taken.detections[..] else { panic!("{:?}", taken.detections) };
    // Twice the TTL after the last renewal, which was up to 5 s before.
    assert!((14_990..=20_000).contains(&detection), "{detection}");
    assert!(taken.dead_holds.iter().all(|held| *held <= detection), "{:?}", taken.dead_holds);
    assert_eq!((taken.mistakes, taken.held_at_the_end), (0, 0));
    assert_eq!(taken.watched + 100_000, 2 * taken.ticks, "one of the two is down for 100 s");
}
