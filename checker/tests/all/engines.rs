//! The two searches on the same stateright model, whose counts are known from five tools; and what cuts a search.

#[path = "../../examples/workload/session_lock.rs"]
mod session_lock;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fencepost::{AnyOutcome, catalogue};
use fencepost_checker::engine::{Paths, SearchPlan, SearchResult, search};
use fencepost_checker::{Engine, Limits, Options, Progress, Searchable, Supervisor, Unsupervised};
use fencepost_model::finding::Verdict;
use session_lock::{SIZES, SessionLock, Size};
use stateright::{Checker, Model};

fn size(name: &str) -> Size {
    *SIZES.iter().find(|size| size.name == name).expect("it is one of the sizes")
}

fn searched(model: SessionLock, workers: usize, paths: Paths) -> SearchResult {
    let plan = SearchPlan { workers, limits: Limits::default(), supervisor: Arc::new(Unsupervised), paths };
    search(&Arc::new(Searchable::new(model)), &plan).expect("the model does not panic")
}

#[test]
fn the_workload_has_its_known_counts_in_both_engines() {
    for name in ["tiny", "S", "M"] {
        let size = size(name);
        for workers in [1, 2, 3] {
            let found = searched(size.model, workers, Paths::SearchedAgain);
            assert_eq!((found.states, found.transitions + 1), (size.distinct, size.generated), "{name}, {workers}");
            assert_eq!((found.depth, found.cut, found.violation), (size.levels, None, None), "{name}, {workers}");
        }
        let other = size.model.checker().threads(1).spawn_bfs().join();
        let counts = (other.unique_state_count() as u64, other.state_count() as u64, other.max_depth() as u64);
        assert_eq!(counts, (size.distinct, size.generated, size.levels), "{name}");
    }
}

#[test]
fn the_shortest_violation_is_the_same_for_any_number_of_workers() {
    for name in ["tiny", "S", "M"] {
        let size = size(name);
        let model = SessionLock { is_exclusive: true, ..size.model };
        let by = |workers| [Paths::Noted, Paths::SearchedAgain].map(|paths| searched(model, workers, paths));
        let paths = [1, 2, 3].map(by).concat();
        assert!(paths.iter().all(|found| *found == paths[0]), "{name}");
        let unwanted = searched(model, 1, Paths::Unwanted);
        assert_eq!(unwanted, SearchResult { violation: None, ..paths[0].clone() }, "{name}");
        let steps = paths[0].violation.as_ref().map(|path| path.len() - 1);
        assert_eq!(steps, size.shortest, "{name}");
        if let Some(path) = &paths[0].violation {
            replay(&model, path);
        }
    }
}

/// A path of action indices ends where the promise is broken, and nowhere before.
fn replay(model: &SessionLock, path: &[u16]) {
    let promise = model.properties().remove(0);
    let mut state = model.init_states().remove(usize::from(path[0]));
    for action in &path[1..] {
        assert!((promise.condition)(model, &state));
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        state = model.next_state(&state, actions.remove(usize::from(*action))).expect("it was taken before");
    }
    assert!(!(promise.condition)(model, &state));
}

/// Calls a search off when it is asked for the nth time.
struct After(u64, AtomicU64);

impl Supervisor for After {
    fn stop(&self, _: &Progress) -> Option<String> {
        (self.1.fetch_add(1, Relaxed) >= self.0).then(|| "a supervisor".to_owned())
    }

    fn microseconds(&self) -> u64 {
        0
    }
}

/// Whatever cuts a search, in whichever engine, the verdict says so and is no proof.
#[test]
fn a_search_that_was_cut_proves_nothing() {
    let scenario = catalogue::named("consul-record").expect("it is in the catalogue");
    let states = |states| Limits { states: Some(states), depth: None };
    let depth = |depth| Limits { states: None, depth: Some(depth) };
    for engine in Engine::ALL {
        for workers in [1, 2] {
            let unsupervised: Arc<dyn Supervisor> = Arc::new(Unsupervised);
            let supervised: Arc<dyn Supervisor> = Arc::new(After(1, AtomicU64::new(0)));
            for (limits, supervisor, by) in [
                (states(1000), Arc::clone(&unsupervised), "--max-states 1000"),
                (depth(7), unsupervised, "--max-depth 7"),
                (Limits::default(), supervised, "a supervisor"),
            ] {
                let options = Options { engine, workers, limits, supervisor, ..Options::default() };
                for outcome in scenario.check(&options).expect("no internal error") {
                    let finding = outcome.finding;
                    assert_eq!(
                        finding.verdict,
                        Verdict::Bounded { by: by.to_owned() },
                        "{engine:?}, {workers} workers"
                    );
                    assert!(finding.states > 0 && finding.transitions > 0, "there are counts");
                    assert!(limits.depth.is_none_or(|depth| finding.depth == depth), "{engine:?}");
                }
            }
        }
    }
}

/// Not only counts: certificates and stories are the same, to the letter.
#[test]
fn findings_do_not_depend_on_the_number_of_workers() {
    for name in ["consul-record", "b01-no-fencing", "b32-compare-and-set"] {
        let scenario = catalogue::named(name).expect("it is in the catalogue");
        let by = |workers| {
            let outcomes = scenario.check(&Options { workers, ..Options::default() }).expect("no internal error");
            let summary = |outcome: AnyOutcome| (outcome.finding, outcome.trace.map(|trace| trace.to_text()));
            outcomes.into_iter().map(summary).collect::<Vec<_>>()
        };
        let one = by(1);
        for workers in [2, 2, 3] {
            assert!(by(workers) == one, "{name} with {workers} workers");
        }
    }
}

/// A limit that is just large enough cuts nothing; one less cuts.
#[test]
fn limits_are_exact() {
    let scenario = catalogue::named("lease-no-lateness").expect("it is in the catalogue");
    for engine in Engine::ALL {
        let verdict = |limits| {
            let options = Options { engine, limits, symmetry: false, ..Options::default() };
            let finding = scenario.check(&options).expect("no internal error").remove(0).finding;
            (finding.verdict.word(), finding.states, finding.depth)
        };
        let (word, states, depth) = verdict(Limits::default());
        assert_eq!(word, "proven");
        let enough = Limits { states: Some(states), depth: Some(depth) };
        assert_eq!(verdict(enough), ("proven", states, depth), "{engine:?}");
        assert_eq!(verdict(Limits { states: Some(states - 1), ..enough }).0, "bounded", "{engine:?}");
        assert_eq!(verdict(Limits { depth: Some(depth - 1), ..enough }).0, "bounded", "{engine:?}");
    }
}
