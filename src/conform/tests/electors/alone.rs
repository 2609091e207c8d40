//! What the package does that the model leaves out: an elector of the package alone, told by hand (OL-K-21).

use serde_json::{Value, json};

use super::package::{PackageMove, PythonPackage};

/// An elector of the package alone, told by hand.
struct Alone {
    package: PythonPackage,
    now: i64,
}

impl Alone {
    fn start(lock: &str, terms: [Value; 3], work_raises: bool) -> Option<(Alone, PackageMove)> {
        let mut package = PythonPackage::start()?;
        let [lease, renew_deadline, retry_period] = terms;
        let start = json!({
            "do": "start", "elector": 1, "now": 0, "identity": "a", "lock": lock, "ahead": 0, "lease": lease,
            "renew_deadline": renew_deadline, "retry_period": retry_period, "work_raises": work_raises,
        });
        let first = package.tell(&start);
        Some((Alone { package, now: 0 }, first))
    }

    fn tell(&mut self, mut order: Value) -> PackageMove {
        order["do"] = json!("answer");
        order["elector"] = json!(1);
        order["now"] = json!(self.now);
        self.package.tell(&order)
    }

    fn answer(&mut self, status: u16, body: &Value) -> PackageMove {
        self.tell(json!({ "status": status, "type": "application/json", "body": body.to_string() }))
    }

    /// Acquires a lease that does not exist: the first read of the renewals follows.
    fn acquire(&mut self) -> PackageMove {
        let create = self.answer(404, &json!({ "code": 404 }));
        assert_eq!(create.method.as_deref(), Some("POST"));
        self.answer(201, &create.body.expect("a body"))
    }
}

fn seconds(terms: [i64; 3]) -> [Value; 3] {
    terms.map(|seconds| json!(seconds))
}

/// A request without an answer is no failed attempt: the exception of urllib3 passes through `run()`. The work is not told.
#[test]
fn ol_k_21_a_refused_connection_ends_run_without_the_callback() {
    for lock in ["lease", "config-map"] {
        let Some((mut alone, first)) = Alone::start(lock, seconds([15, 10, 2]), false) else { return };
        assert_eq!(first.method.as_deref(), Some("GET"));
        let renewal = alone.acquire();
        assert_eq!((renewal.callbacks, renewal.method.as_deref()), (vec!["started".to_owned()], Some("GET")));
        let end = alone.tell(json!({ "raises": "connection refused" }));
        assert_eq!((end.callbacks, end.ended.as_deref()), (Vec::new(), Some("MaxRetryError")));
    }
}

/// So it does with a contender.
#[test]
fn ol_k_21_a_refused_connection_ends_a_contender() {
    let Some((mut alone, _)) = Alone::start("lease", seconds([15, 10, 2]), false) else { return };
    let end = alone.tell(json!({ "raises": "connection refused" }));
    assert_eq!((end.callbacks, end.ended.as_deref()), (Vec::new(), Some("MaxRetryError")));
}

/// Work that raises ends the renewals before the next of them. What it protects is not lost before: the lease is not given back.
#[test]
fn ol_k_21_work_that_raises_ends_the_renewals() {
    let Some((mut alone, _)) = Alone::start("lease", seconds([15, 10, 2]), true) else { return };
    let create = alone.answer(404, &json!({ "code": 404 }));
    let mut lease = create.body.expect("a body");
    lease["metadata"]["resourceVersion"] = json!("1");
    let mut next = alone.answer(201, &lease);
    let mut callbacks = next.callbacks.clone();
    // The thread of the work is the system's to schedule: the first renewal may begin before it raises.
    if next.method.is_some() {
        let write = alone.answer(200, &lease);
        assert_eq!(write.method.as_deref(), Some("PUT"));
        let sleep = alone.answer(200, &write.body.expect("a body"));
        assert_eq!(sleep.sleep, Some(2.0));
        alone.now = 2_000;
        next = alone.tell(json!({}));
        callbacks.append(&mut next.callbacks);
    }
    assert_eq!(
        (callbacks, next.ended.as_deref()),
        (vec!["started".to_owned(), "stopped".to_owned()], Some("returned"))
    );
}

/// `LeaseLock` reads the duration back from text, as a whole number.
#[test]
fn ol_k_21_a_lease_lock_takes_whole_seconds_only() {
    let Some((mut alone, _)) = Alone::start("lease", [json!(2.5), json!(2), json!(1)], false) else { return };
    let end = alone.answer(404, &json!({ "code": 404 }));
    assert_eq!((end.callbacks, end.ended.as_deref()), (Vec::new(), Some("ValueError")));
}

/// Its deadline counts on the wall clock, its sleeps do not. A clock that is set back by a minute gives a leader a minute more.
#[test]
fn ol_k_21_a_leader_whose_wall_clock_is_set_back_leads_longer() {
    for (set_back, attempts) in [(0, 5), (60_000, 35)] {
        let Some((mut alone, _)) = Alone::start("lease", seconds([15, 10, 2]), false) else { return };
        alone.now = 100_000;
        let mut next = alone.acquire();
        let mut failed = 0;
        while next.ended.is_none() {
            failed += 1;
            let sleep = alone.answer(500, &json!({ "code": 500 }));
            assert_eq!(sleep.sleep, Some(2.0));
            alone.now += 2_000;
            if failed == 1 {
                alone.now -= set_back;
            }
            next = alone.tell(json!({}));
        }
        assert_eq!((next.callbacks, failed), (vec!["stopped".to_owned()], attempts), "set back by {set_back} ms");
    }
}
