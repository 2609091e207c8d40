//! Searches of several processes against that of one, on random graphs of which each process numbers the nodes by itself.

use std::sync::atomic::Ordering::Relaxed;

use super::pipes::in_processes;
use super::*;
use crate::engine::disk::memory::MemoryFolder;
use crate::engine::maze::{Maze, expected, mazes, mix, plan};
use crate::engine::{SearchPlan, SearchResult, SearchStore, StoreFolder, search, search_together};
use crate::limits::{Limits, Progress, Supervisor};

fn identity() -> Vec<(String, String)> {
    vec![("the maze".to_owned(), "this one".to_owned())]
}

fn together(maze: &Arc<Maze>, peers: Arc<dyn Peers>) -> Together<u32> {
    Together { peers, identity: identity(), limits: Vec::new(), portable: Arc::<Maze>::clone(maze), store: None }
}

/// What each of several processes comes to, and what its space has counted then.
fn found(maze: &Maze, processes: usize, plan: &SearchPlan) -> Vec<(SearchResult, u64)> {
    in_processes(processes, |peers| {
        let maze = maze.anew();
        match search_together(&maze, plan, &together(&maze, peers)) {
            Ok(result) => (result, maze.counted.load(Relaxed)),
            Err(error) => panic!("{}", error.sentence()),
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

/// On narrow levels some processes have no state: they are cut all the same.
#[test]
fn limits_cut_processes_that_have_no_state_of_a_level() {
    let mut cut = 0;
    for seed in 0..12 {
        let maze = Maze::new(seed, 30, 2, None);
        for depth in 1..8 {
            let limits = Limits { states: None, depth: Some(depth) };
            let expected = search(&maze.anew(), &SearchPlan { limits, ..plan(1) }).unwrap();
            cut += u64::from(expected.cut.is_some());
            let plan = SearchPlan { limits, ..plan(1) };
            assert!(found(&maze, 3, &plan).into_iter().all(|(result, _)| result == expected), "{seed}, {depth}");
        }
    }
    assert_eq!(cut, 30);
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
            Err(error) => panic!("{}", error.sentence()),
            Ok(result) => panic!("{result:?}"),
        }
    });
    let sentence = "another process ended, or the connection to it broke".to_owned();
    assert_eq!(ended.unwrap(), [Some(sentence.clone()), None, Some(sentence)]);
}

/// The folders of the processes of a search.
fn folders(processes: usize) -> Vec<MemoryFolder> {
    (0..processes).map(|_| MemoryFolder::default()).collect()
}

/// What each process comes to that keeps checkpoints in its folder, or why it ended.
fn kept(maze: &Maze, folders: &[MemoryFolder], plan: &SearchPlan) -> Vec<Result<(SearchResult, u64), String>> {
    in_processes(folders.len(), |peers| {
        let maze = maze.anew();
        let folder: Arc<dyn StoreFolder> = Arc::new(folders[peers.process()].clone());
        let store = SearchStore::of(folder, "a test".to_owned(), 0).below("maze");
        let together = Together { store: Some(store), ..together(&maze, peers) };
        let result = search_together(&maze, plan, &together).map_err(ClusterSearchError::sentence)?;
        Ok((result, maze.counted.load(Relaxed)))
    })
    .unwrap()
}

#[test]
fn a_search_goes_on_after_a_process_ended_at_any_operation() {
    let mut ended = 0;
    for maze in mazes() {
        let expected = expected(&maze);
        let is_expected = |found: &Result<(SearchResult, u64), String>| {
            let (result, counted) = found.as_ref().expect("it does not end");
            *result == expected.0 && (*counted == expected.1 || expected.0.is_violated)
        };
        let whole = folders(2);
        assert!(kept(&maze, &whole, &plan(2)).iter().all(is_expected));
        let operations = whole[1].operations();
        assert!(operations > 100, "{operations}");
        // What is complete is not searched again.
        assert!(kept(&maze, &whole, &plan(2)).iter().all(is_expected));
        for end in (1..=operations).step_by(5) {
            let folders = folders(2);
            folders[1].end_at(end);
            let found = kept(&maze, &folders, &plan(2));
            let is_cut = |found: &Result<(SearchResult, u64), String>| {
                found.as_ref().map_or(true, |(result, _)| result.cut.is_some() || result.is_violated)
            };
            // What one process cannot keep is a proof for none of them.
            ended += u64::from(found.iter().all(is_cut));
            assert!(found.iter().all(is_cut) || found.iter().all(is_expected), "operation {end}: {found:?}");
            folders.iter().for_each(|folder| folder.begin_anew(end.is_multiple_of(2)));
            // What was written after it went on is read as well.
            folders[1].end_at(operations / 2);
            let found = kept(&maze, &folders, &plan(2));
            assert!(found.iter().all(is_cut) || found.iter().all(is_expected), "operation {end}, again: {found:?}");
            folders.iter().for_each(|folder| folder.begin_anew(false));
            assert!(kept(&maze, &folders, &plan(2)).iter().all(is_expected), "operation {end}");
        }
    }
    assert!(ended > 50, "{ended}");
}

#[test]
fn a_checkpoint_of_another_search_or_with_another_byte_is_refused() {
    let maze = &mazes()[0];
    let folders = folders(2);
    assert!(kept(maze, &folders, &plan(2)).iter().all(Result::is_ok));
    // Another number of workers is another division of the states.
    let refused = |workers| {
        in_processes(2, |peers| {
            let maze = maze.anew();
            let process = peers.process();
            let store = SearchStore::of(Arc::new(folders[process].clone()), "a test".to_owned(), 0).below("maze");
            let identity = vec![("the maze".to_owned(), format!("with {workers} workers"))];
            let together = Together { store: Some(store), identity, ..together(&maze, peers) };
            search_together(&maze, &plan(workers), &together).err().map(ClusterSearchError::sentence)
        })
        .unwrap()
    };
    let said: Vec<String> = refused(1).into_iter().flatten().collect();
    let sentence = "belongs to another search: the maze is this one there, and with 1 workers here";
    assert!(said.len() == 2 && said.iter().any(|said| said.contains(sentence)), "{said:?}");
    // The store of one process is elsewhere.
    let elsewhere = [folders[0].clone(), MemoryFolder::default()];
    let kept_before = folders[0].contents();
    assert!(kept(maze, &elsewhere, &plan(2)).iter().all(Result::is_err));
    assert!(folders[0].contents() == kept_before, "nothing is forgotten");
    let (path, _) = folders[1].contents().into_iter().find(|(path, _)| path.contains("-level-3")).expect("level 3");
    folders[1].damage(&path, |bytes| *bytes.last_mut().expect("not empty") ^= 1);
    let found = kept(maze, &folders, &plan(2));
    assert!(found.iter().all(Result::is_err));
}
