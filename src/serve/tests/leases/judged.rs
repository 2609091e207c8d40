//! The judge of leases: who certainly held which lease when, and how each takeover came about.

use serde_json::{Value, json};

use super::bench::{LEAD, Leases, rewritten};

const SECOND: i64 = 1_000_000_000;

fn patch(leases: &Leases, client: &str) -> u16 {
    let body = json!({"spec": {"holderIdentity": client, "leaseDurationSeconds": 15}});
    leases.ask(client, "PATCH application/merge-patch+json", LEAD, &body).0
}

#[test]
fn ol_19_two_patches_without_a_version_break_lease_exclusion() {
    let leases = Leases::new();
    leases.acquired("old", 15);
    leases.advance("16s");
    assert_eq!([patch(&leases, "a"), patch(&leases, "b")], [200, 200]);
    let told = leases.control("GET", "verdict", "");
    assert_eq!((&told["verdict"], &told["findings"][0]["property"]), (&json!("violated"), &json!("lease-exclusion")));
    assert_eq!(told["findings"][0]["key"], "default/lead");
    let takeovers = &told["leases"]["takeovers"];
    assert_eq!(
        (&takeovers[0]["from"], &takeovers[1]["from"], &takeovers[1]["to"]),
        (&json!("old"), &json!("a"), &json!("b"))
    );
    let verdict = leases.verdict();
    let text = verdict.to_string();
    assert!(text.contains("two clients have been told that they hold the lease: a until 31.0"), "{text}");
    assert!(text.contains("record: b") && text.contains("default/lead: b takes the lease over from a"), "{text}");
    let takeovers = &verdict.leases.expect("leases").takeovers;
    assert!(takeovers[0].unchanged_for >= 16 * SECOND && takeovers[1].unchanged_for < SECOND, "{takeovers:?}");
    assert_eq!(takeovers[0].duration, Some(15 * SECOND));
}

#[test]
fn ol_19_a_late_renewal_extends_the_lease_of_the_successor_and_tells_its_sender_that_it_holds_it() {
    let leases = Leases::new();
    leases.acquired("a", 15);
    leases.plan("on PATCH *leases/lead from a #1: delay-request 20s");
    let renewal = json!({"spec": {"renewTime": "2026-11-28T04:00:09.000000Z", "leaseDurationSeconds": 60}}).to_string();
    let late = leases.send("a", "PATCH application/merge-patch+json", LEAD, &renewal);
    leases.wait_for(1);
    leases.advance("16s");
    assert_eq!(patch(&leases, "b"), 200);
    leases.advance("4s");
    let (status, told) = late.answer().expect("an answer");
    assert_eq!((status, &told["spec"]["holderIdentity"]), (200, &json!("b")));
    let verdict = leases.verdict();
    let sentence = &verdict.findings[0].sentence;
    assert!(sentence.contains("b until 31.0") && sentence.contains("a (as b) until 60.0"), "{verdict}");
    let successor = &verdict.leases.as_ref().expect("leases").tenures[1];
    assert_eq!((successor.renewals, successor.certain_until.map(|at| at / SECOND)), (1, Some(31)), "{verdict}");
}

#[test]
fn a_takeover_after_a_whole_lease_breaks_nothing() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    leases.advance("5s");
    let (_, renewed) = leases.ask("a", "PUT", LEAD, &rewritten(&first, "a", 1));
    leases.advance("15s");
    assert_eq!(leases.ask("b", "PUT", LEAD, &rewritten(&renewed, "b", 2)).0, 200);
    let verdict = leases.verdict();
    assert_eq!(verdict.name(), "no-violation", "{verdict}");
    let run = verdict.leases.expect("leases");
    let [a, b] = &run.tenures[..] else { panic!("two tenures: {:?}", run.tenures) };
    assert_eq!((a.renewals, a.end.map(|(at, how)| (at / SECOND, how))), (1, Some((20, "taken over"))));
    assert_eq!((a.certain_until.map(|at| at / SECOND), b.end), (Some(20), None));
    assert_eq!((run.takeovers[0].unchanged_for / SECOND, run.takeovers.len()), (15, 1));
}

#[test]
fn a_takeover_within_the_lease_breaks_lease_exclusion_only_if_both_know_of_theirs() {
    for (fault, broken) in
        [("", true), ("on PUT *leases/lead #1: lose-answer", false), ("on PUT *leases/lead #1: delay 16s", false)]
    {
        let leases = Leases::new();
        let first = leases.acquired("a", 15);
        leases.advance("14s");
        leases.plan(fault);
        let sent = leases.send("b", "PUT", LEAD, &rewritten(&first, "b", 1).to_string());
        if fault.contains("delay") {
            leases.wait_for(1);
            // The answer comes when the lease of b is over, by any clock.
            leases.advance("16s");
        }
        sent.answer();
        let verdict = leases.verdict();
        assert_eq!(!verdict.findings.is_empty(), broken, "{fault}: {verdict}");
    }
}

#[test]
fn ol_18_a_deleted_lease_has_a_holder_that_does_not_know() {
    let leases = Leases::new();
    leases.acquired("a", 15);
    leases.plan("on GET *leases/lead from b #1: lease-deleted");
    assert_eq!(leases.ask("b", "GET", LEAD, &Value::Null).0, 404);
    leases.acquired("b", 15);
    let verdict = leases.verdict();
    assert_eq!(verdict.findings[0].property, "lease-exclusion", "{verdict}");
    let run = verdict.leases.expect("leases");
    assert_eq!(run.tenures[0].end.map(|(_, how)| how), Some("deleted"));
    assert!(run.takeovers.is_empty(), "there was no lease to take over");
}

#[test]
fn a_release_ends_a_lease_and_ol_3_that_of_a_deposed_leader_ends_anothers() {
    let leases = Leases::new();
    let first = leases.acquired("a", 15);
    let (_, free) = leases.ask("a", "PUT", LEAD, &rewritten(&first, "", 1));
    let (_, second) = leases.ask("b", "PUT", LEAD, &rewritten(&free, "b", 2));
    assert_eq!(leases.control("GET", "verdict", "")["verdict"], "no-violation", "released is over");
    // a, which was deposed, reads and releases what is b's; c takes what is free.
    let (_, free) = leases.ask("a", "PUT", LEAD, &rewritten(&second, "", 3));
    leases.ask("c", "PUT", LEAD, &rewritten(&free, "c", 4));
    let verdict = leases.verdict();
    assert_eq!(verdict.findings[0].property, "lease-exclusion", "{verdict}");
    let ends: Vec<_> =
        verdict.leases.expect("leases").tenures.iter().map(|tenure| tenure.end.map(|(_, how)| how)).collect();
    assert_eq!(ends, [Some("released"), Some("released"), None]);
}

#[test]
fn ol_10_two_clients_of_one_identity_hold_one_lease_and_nameless_ones_are_told_apart_by_it() {
    for (clients, broken) in [(["one", "two"], true), (["client", "client"], false), (["one", "one"], false)] {
        let leases = Leases::new();
        let first = leases.ask(clients[0], "POST", super::bench::LEASES, &super::bench::lease("same", 15, 0)).1;
        assert_eq!(leases.ask(clients[1], "PUT", LEAD, &rewritten(&first, "same", 1)).0, 200);
        let verdict = leases.verdict();
        assert_eq!(verdict.findings.len(), usize::from(broken), "{clients:?}: {verdict}");
    }
}

#[test]
fn what_clients_say_of_themselves_is_judged_as_that_of_other_clients() {
    let leases = Leases::new();
    leases.acquired("a", 15);
    leases.control("PUT", "inside?key=default/lead&client=a&token=7", "");
    leases.control("PUT", "waiting?key=default/lead&client=c&within=10s", "");
    assert_eq!(leases.control("GET", "clock", "")["next"]["what"], "a client has waited for a lock for too long");
    leases.control("PUT", "clock/advance?until=next", "");
    leases.control("PUT", "inside?key=default/lead&client=b&token=7", "");
    let verdict = leases.verdict();
    let found: Vec<&str> = verdict.findings.iter().map(|found| found.property).collect();
    assert_eq!(found, ["eventually-acquired", "mutual-exclusion", "token-order"], "{verdict}");
    assert!(
        verdict.findings[1].story.last().is_some_and(|line| line.contains("record: a        inside: a b")),
        "{verdict}"
    );
}

#[test]
fn a_reset_takes_every_lease_away() {
    let leases = Leases::new();
    leases.acquired("a", 15);
    leases.control("PUT", "reset", "");
    assert_eq!(leases.get(LEAD).0, 404);
    assert_eq!(leases.control("GET", "verdict", "")["verdict"], "vacuous");
    assert_eq!(
        leases.send("test", "PUT", "/fencepost/clock/advance?until=session-expired", "").answer().map(|told| told.0),
        Some(400)
    );
}
