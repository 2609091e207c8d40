//! Settings of sessions of etcd as they are in the field: what is read, and what is refused with its place.

use fencepost_doctor::SessionStop;
use fencepost_doctor::configuration::Reading;
use fencepost_doctor::etcd::configuration::{of_etcdctl, of_session_scenario};

#[test]
fn e_cc_32_a_command_line_of_etcdctl_says_ttl_and_what_ends_a_holder() {
    for (line, recipe, ttl, stop, dial) in [
        ("lock jobs/backup", "etcd-mutex", "10s", SessionStop::OnDone, "2s"),
        ("etcdctl lock jobs/backup ./backup.sh", "etcd-mutex", "10s", SessionStop::Never, "2s"),
        (
            "ETCDCTL_API=3 /usr/bin/etcdctl --endpoints=a,b lock n --ttl 30 -- ./job --fast",
            "etcd-mutex",
            "30s",
            SessionStop::Never,
            "2s",
        ),
        ("etcdctl lock n --ttl=1 --dial-timeout=5s", "etcd-mutex", "2s", SessionStop::OnDone, "5s"),
        ("etcdctl elect leader me", "etcd-election", "60s", SessionStop::OnDone, "2s"),
    ] {
        let read = of_etcdctl(line, "line").unwrap_or_else(|error| panic!("{error}"));
        let asked = &read.question;
        let seen = (asked.recipe, asked.ttl.to_string(), asked.stop, asked.dial_timeout.to_string());
        assert_eq!(seen, (recipe, ttl.to_owned(), stop, dial.to_owned()), "{line}");
        let has_ttl = |text: &str| text.starts_with("ttl ");
        let told = read.fields.iter().filter(|field| matches!(&field.reading, Reading::Setting(text) if has_ttl(text)));
        assert_eq!(told.count(), 1, "{line}");
    }
}

#[test]
fn a_command_line_that_is_no_lock_is_refused_with_its_column() {
    for (line, place, part) in [
        ("put a b", "line:1:1", "`etcdctl lock NAME"),
        ("etcdctl lock", "line:1:9", "needs the name"),
        ("lock n --tll 3", "line:1:8", "no flag `--tll`"),
        ("lock n --ttl", "line:1:8", "needs a value"),
        ("lock n --ttl soon", "line:1:8", "number of seconds"),
        ("elect n --ttl 3 v", "line:1:9", "no flag `--ttl`"),
        ("elect n -l", "line:1:9", "observes"),
    ] {
        let error = of_etcdctl(line, "line").expect_err(line).to_string();
        assert!(error.starts_with(place) && error.contains(part), "{error}");
    }
}

const OURS: &str = "name = \"ours\"
system = \"etcd-election\"
about = \"Ours.\"
clients = 3
budget.cuts = 1

[service]
ttl = \"9s\"
renew_after = \"3s\"
resend_after = \"500ms\"
done_loop = \"1s\"
first_deadline = \"11s\"
stop = \"on-done\"

[synchrony]
message_delay = \"1200ms\"
wake_delay = \"1s\"

[[promise]]
property = \"mutual-exclusion\"
";

#[test]
fn a_scenario_in_units_is_read_with_its_bounds() {
    let read = of_session_scenario(OURS, "ours.toml").unwrap_or_else(|error| panic!("{error}"));
    let asked = read.question;
    let durations = [asked.ttl, asked.dial_timeout, asked.pause, asked.latency].map(|duration| duration.to_string());
    assert_eq!(durations, ["9s", "10s", "1s", "200ms"]);
    assert_eq!((asked.recipe, asked.stop, read.has_bounds), ("etcd-election", SessionStop::OnDone, true));
    let place = read.fields.iter().find(|field| field.name == "service.ttl").and_then(|field| field.place);
    assert_eq!(place.map(|place| place.line), Some(8));
}

#[test]
fn a_scenario_that_is_not_judged_is_refused_with_its_place() {
    for (from, to, place, part) in [
        ("etcd-election", "consul-lock", "ours.toml:2:10", "not `consul-lock`"),
        ("\"9s\"", "\"9500ms\"", "ours.toml:8:7", "whole number of seconds"),
        ("renew_after = \"3s\"", "renew_after = \"1s\"", "ours.toml:9:15", "in which this is 3s"),
        ("first_deadline = \"11s\"", "first_deadline = \"500ms\"", "ours.toml:12:18", "DialTimeout and a second"),
        ("stop = \"on-done\"", "stop = \"on-done\"\nshared_lease = true", "ours.toml:14:16", "leave it out"),
        ("budget.cuts = 1", "budget.crashes = 1", "ours.toml:5:", "no faults but cut links"),
        ("wake_delay = \"1s\"", "wake_delay = \"2s\"", "ours.toml:16:17", "is less than wake_delay"),
        ("wake_delay = \"1s\"\n", "", "ours.toml:15:", "needs a bound"),
    ] {
        let error = of_session_scenario(&OURS.replace(from, to), "ours.toml").expect_err(to).to_string();
        assert!(error.starts_with(place) && error.contains(part), "{error}");
    }
}
