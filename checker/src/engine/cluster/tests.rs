//! Searches of several processes against that of one, on random graphs of which each process numbers the nodes by itself.

use std::sync::atomic::Ordering::Relaxed;

use super::pipes::in_processes;
use super::*;
use crate::engine::maze::{Maze, expected, mazes, mix, plan};
use crate::engine::{SearchPlan, SearchResult, search, search_together};
use crate::limits::{Limits, Progress, Supervisor};

fn identity() -> Vec<(String, String)> {
    vec![("the maze".to_owned(), "this one".to_owned())]
}

fn together(maze: &Arc<Maze>, peers: Arc<dyn Peers>) -> Together<u32> {
    Together { peers, identity: identity(), portable: Arc::<Maze>::clone(maze) }
}

/// What each of several processes comes to, and what its space has counted then.
fn found(maze: &Maze, processes: usize, plan: &SearchPlan) -> Vec<(SearchResult, u64)> {
    in_processes(processes, |peers| {
        let maze = maze.anew();
        match search_together(&maze, plan, &together(&maze, peers)) {
            Ok(result) => (result, maze.counted.load(Relaxed)),
            Err(ClusterSearchError::Peers(why) | ClusterSearchError::Model(why)) => panic!("{why}"),
        }
    })
    .unwrap()
}

#[test]
fn random_graphs_come_to_the_same_in_any_number_of_processes() {
    let (mut violated, mut deep) = (0, 0);
    for seed in 0..60 {
        let broken = [None, Some(37), Some(1_003)][seed as usize % 3];
        let nodes = 1 + mix(&[seed]) % 4_000;
        let maze = Maze::new(seed, nodes, 1 + nodes / (1 + seed % 40), broken);
        let expected = expected(&maze);
        violated += u64::from(expected.0.violation.is_some());
        deep += u64::from(expected.0.depth > 15);
        for (processes, workers) in [(1, 2), (2, 1), (2, 2), (3, 1), (4, 2)] {
            for (process, (result, counted)) in found(&maze, processes, &plan(workers)).into_iter().enumerate() {
                let which = format!("seed {seed}, process {process} of {processes} with {workers} workers");
                assert_eq!(result, expected.0, "{which}");
                // After a violation one worker searches again, and counts again.
                assert!(counted == expected.1 || expected.0.is_violated, "{which}: {counted} for {}", expected.1);
            }
        }
    }
    assert!(violated > 12 && deep > 12, "{violated} {deep}");
}

#[test]
fn limits_cut_all_processes_at_the_same_level() {
    let maze = &mazes()[0];
    for limits in [(None, Some(3)), (None, Some(9)), (Some(100), None), (Some(400), None)] {
        let limits = Limits { states: limits.0, depth: limits.1 };
        let limited = |workers| SearchPlan { limits, ..plan(workers) };
        let expected = search(&maze.anew(), &limited(1)).unwrap();
        assert!(expected.cut.is_some());
        assert!(found(maze, 3, &limited(2)).into_iter().all(|(result, _)| result == expected), "{limits:?}");
    }
}

/// Stops when some states are found.
struct Stop;

impl Supervisor for Stop {
    fn stop(&self, progress: &Progress) -> Option<String> {
        (progress.states > 50).then(|| "a supervisor".to_owned())
    }

    fn microseconds(&self) -> u64 {
        0
    }
}

#[test]
fn who_stops_one_process_stops_them_all() {
    let maze = &mazes()[0];
    let stopped = in_processes(3, |peers| {
        let plan = if peers.process() == 1 { SearchPlan { supervisor: Arc::new(Stop), ..plan(1) } } else { plan(1) };
        let maze = maze.anew();
        search_together(&maze, &plan, &together(&maze, peers)).ok()
    });
    let results: Vec<SearchResult> = stopped.unwrap().into_iter().flatten().collect();
    assert_eq!(results.len(), 3);
    assert_eq!(results[0].cut.as_deref(), Some("a supervisor"));
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn a_process_that_searches_something_else_is_refused() {
    let maze = &mazes()[0];
    let refused = in_processes(2, |peers| {
        let maze = maze.anew();
        let identity = vec![("the maze".to_owned(), peers.process().to_string())];
        let together = Together { identity, ..together(&maze, peers) };
        search_together(&maze, &plan(1), &together).is_err()
    });
    assert!(refused.unwrap().into_iter().any(|is_refused| is_refused));
}

#[test]
fn a_process_that_ends_ends_the_search_of_the_others() {
    let maze = &mazes()[0];
    let ended = in_processes(3, |peers| {
        if peers.process() == 1 {
            drop(peers.connect(&identity()));
            return None;
        }
        let maze = maze.anew();
        match search_together(&maze, &plan(2), &together(&maze, peers)) {
            Err(ClusterSearchError::Peers(why)) => Some(why),
            Err(ClusterSearchError::Model(why)) => panic!("{why}"),
            Ok(result) => panic!("{result:?}"),
        }
    });
    let sentence = "another process ended, or the connection to it broke".to_owned();
    assert_eq!(ended.unwrap(), [Some(sentence.clone()), None, Some(sentence)]);
}
