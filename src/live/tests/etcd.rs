//! Mutex and Election of the Go client, and the server's lock, as programs at a real etcd server: threads and processes contend, one is
//! killed, and a lease is revoked. What they say of themselves does not overlap.

use std::env;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fencepost_etcd::{GoElection, GoMutex, HolderTerms, LockService, SessionTerms, Stop};
use fencepost_live::{LiveError, LiveEtcd, hold};
use fencepost_model::fact::Leaving;
use fencepost_model::ids::RawId;
use fencepost_model::program::Recipe;
use serde_json::{Value, json};

use crate::processes::children::Processes;
use crate::processes::reports::overlaps;

/// The TTL, which is the shortest that the server grants with its defaults. E-LS-1.
const TTL: Duration = Duration::from_secs(2);

/// E-LS-5: how much later the scan may find a lease.
const SCAN: Duration = Duration::from_millis(500);

/// How long a process may take to say what it has done or heard.
const SLACK: Duration = Duration::from_secs(1);

/// Sessions with that TTL, on a clock of 100 ticks a second.
pub fn terms() -> SessionTerms {
    SessionTerms::with(2, 100)
}

/// A user who stops when `Done` closes.
pub fn heeds_done() -> HolderTerms {
    HolderTerms { stop: Stop::OnDone, ..HolderTerms::default() }
}

/// The server that `FENCEPOST_ETCD` names, and the name of a lock that is not in use; none: there is no server.
pub fn bench() -> Option<(String, String)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let Ok(address) = env::var("FENCEPOST_ETCD") else {
        eprintln!("skipped: no live etcd server, for FENCEPOST_ETCD names none");
        return None;
    };
    Some((address, format!("fencepost-live/{}/{}", std::process::id(), COUNT.fetch_add(1, SeqCst))))
}

/// Three threads take the lock some times, with a client of each kind.
fn take_turns<R: Recipe<fencepost_etcd::Etcd> + Clone>(recipe: &R, rounds: u32) {
    let Some((address, name)) = bench() else { return };
    let (inside, tenures, newest) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for client in 1..=3 {
            let server = LiveEtcd::new(&address, &name).client(client);
            let (recipe, inside, tenures, newest) = (recipe, &inside, &tenures, &newest);
            scope.spawn(move || {
                for _ in 0..rounds {
                    let held = hold(&server, recipe.clone(), |tenure| {
                        assert_eq!(inside.fetch_add(1, SeqCst), 0, "two are inside");
                        // Its create revision: waiters are served in the order of it, and no later holder has a smaller one. E-CC-24.
                        let token = tenure.token().raw();
                        assert!(newest.swap(token, SeqCst) < token, "an older token");
                        let is_held = tenure.wait(Duration::from_millis(50));
                        inside.fetch_sub(1, SeqCst);
                        is_held
                    });
                    let held = held.expect("the server is there");
                    assert!(held.value, "it was lost");
                    assert_eq!(held.left, Leaving::Done);
                    tenures.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(tenures.load(SeqCst), 3 * rounds);
}

#[test]
fn threads_take_turns_by_mutex() {
    take_turns(&GoMutex::with(terms(), heeds_done()), 3);
}

#[test]
fn threads_take_turns_by_election() {
    let mut candidate = GoElection::with(terms(), heeds_done());
    candidate.proclaims = true;
    take_turns(&candidate, 3);
}

#[test]
fn threads_take_turns_by_the_server_s_lock() {
    // It renews nothing: three tenures are over long before its lease is.
    take_turns(&LockService::with(SessionTerms::with(20, 100), HolderTerms::default()), 1);
}

#[test]
fn processes_take_turns_at_etcd() {
    for kind in ["etcd-mutex", "etcd-election"] {
        let Some((address, name)) = bench() else { return };
        let mut processes = Processes::default();
        let inside = Duration::from_millis(100);
        let all: Vec<_> = (1..=3).map(|client| processes.start((&address, &name), kind, client, 3, inside)).collect();
        all.into_iter().for_each(|process| processes.wait(process));
        let tenures = processes.tenures();
        assert_eq!(tenures.len(), 9, "{kind}: {tenures:?}");
        assert_eq!(overlaps(&tenures, 1), [], "{kind}: {tenures:?}");
    }
}

#[test]
fn the_key_of_a_process_that_is_killed_goes_with_its_lease() {
    for kind in ["etcd-mutex", "etcd-election"] {
        let Some((address, name)) = bench() else { return };
        let mut processes = Processes::default();
        let first = processes.start((&address, &name), kind, 1, 1, Duration::from_secs(60));
        processes.until_inside(1);
        let second = processes.start((&address, &name), kind, 2, 1, Duration::from_millis(100));
        let killed = processes.kill(first);
        processes.wait(second);
        let tenures = processes.tenures();
        assert_eq!(overlaps(&tenures, 1), [], "{kind}: {tenures:?}");
        let next = tenures.iter().find(|tenure| tenure.client == 2).expect("it has waited for it");
        let waited = next.from - killed;
        // The last renewal came up to T/3 + 0.5 s before. E-CC-2.
        let soonest = TTL - TTL / 3 - Duration::from_millis(500);
        assert!((soonest..=TTL + SCAN + SLACK).contains(&waited), "{kind}: taken over after {waited:?}");
    }
}

#[test]
fn a_holder_whose_lease_is_revoked_hears_it_with_its_next_renewal() {
    let Some((address, name)) = bench() else { return };
    let server = LiveEtcd::new(&address, &name);
    let held = hold(&server, GoMutex::with(terms(), heeds_done()), |tenure| {
        let began = Instant::now();
        revoke_holder(&address, &name);
        let is_held = tenure.wait(Duration::from_secs(30));
        (is_held, began.elapsed())
    });
    let held = held.expect("the server is there");
    let (is_held, after) = held.value;
    assert!(!is_held, "it was not told");
    assert_eq!(held.left, Leaving::Notified);
    // E-CC-5: T/3 and 0.5 s.
    assert!(after <= TTL / 3 + Duration::from_millis(500) + SLACK, "told after {after:?}");
}

/// E-2, at a real server: A has the lock, B waits, and the lease of B is revoked. When A unlocks, `Lock` of 3.4 tells B that it has the lock, and
/// there is no key. Since 3.5 it reads its own key. E-CC-12.
#[test]
fn a_waiter_whose_lease_is_gone_is_told_that_it_has_the_lock_before_3_5() {
    for final_get in [false, true] {
        let Some((address, name)) = bench() else { return };
        let server = LiveEtcd::new(&address, &name);
        let mut recipe = GoMutex::with(terms(), HolderTerms::default());
        recipe.final_get = final_get;
        let told = thread::scope(|scope| {
            let held = hold(&server, recipe.clone(), |_| {
                let waiter = server.clone().client(2);
                let told = scope.spawn(move || hold(&waiter, recipe, |_| ()));
                let end = Instant::now() + Duration::from_secs(10);
                let leases = loop {
                    let leases = leases(&address, &name);
                    if leases.len() == 2 {
                        break leases;
                    }
                    assert!(Instant::now() < end, "no client waits");
                    thread::sleep(Duration::from_millis(20));
                };
                post(&address, "/v3/lease/revoke", &json!({ "ID": leases[1] }));
                told
            });
            held.expect("the server is there").value.join().expect("it does not panic")
        });
        match told {
            Ok(_) => assert!(!final_get, "it was told that it has the lock"),
            Err(error) => assert!(final_get && matches!(error, LiveError::GaveUp(_)), "{error}"),
        }
        assert_eq!(leases(&address, &name).len(), 0);
    }
}

#[test]
fn a_server_that_is_not_there_makes_the_recipe_give_up() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its address");
    let server = LiveEtcd::new(&port.to_string(), "nowhere");
    let error = hold(&server, GoMutex::with(terms(), heeds_done()), |_| ()).expect_err("no server listens");
    assert!(matches!(&error, LiveError::GaveUp(why) if why.contains(&port.to_string())), "{error}");
}

/// Revokes the lease of the oldest key.
fn revoke_holder(address: &str, name: &str) {
    let lease = leases(address, name).first().cloned().expect("it is held");
    post(address, "/v3/lease/revoke", &json!({ "ID": lease }));
}

/// The leases of the keys below the name, the oldest key first.
fn leases(address: &str, name: &str) -> Vec<Value> {
    let (start, end) = (STANDARD.encode(format!("{name}/")), STANDARD.encode(format!("{name}0")));
    let range = json!({"key": start, "range_end": end, "sort_order": "ASCEND", "sort_target": "CREATE"});
    let answer = post(address, "/v3/kv/range", &range);
    answer["kvs"].as_array().into_iter().flatten().map(|entry| entry["lease"].clone()).collect()
}

fn post(address: &str, path: &str, body: &Value) -> Value {
    let base = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let mut response = ureq::post(format!("{base}{path}")).send(body.to_string()).expect("it answers");
    serde_json::from_str(&response.body_mut().read_to_string().expect("text")).expect("JSON")
}
