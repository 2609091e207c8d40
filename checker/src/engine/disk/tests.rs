//! The search on disk against the one in memory, on random graphs: whole, interrupted at each of its operations, on a disk that is full.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::memory::MemoryFolder;
use super::*;
use crate::engine::maze::{Maze, expected, mazes, mix, plan};
use crate::engine::search as search_in_memory;
use crate::limits::{Limits, Progress, Supervisor};

fn identity() -> Vec<(String, String)> {
    vec![("the maze".to_owned(), "this one".to_owned())]
}

fn store(folder: &MemoryFolder, room: usize) -> SearchStore {
    SearchStore::of(Arc::new(folder.clone()), "a test".to_owned(), room).below("maze")
}

/// Searches on disk as a process of its own: with nothing in memory but what the store says.
fn on_disk(maze: &Maze, store: &SearchStore, plan: &SearchPlan) -> Result<(SearchResult, u64), StoreError> {
    let maze = maze.anew();
    match search(&maze, plan, store, identity()) {
        Ok(result) => Ok((result, maze.counted.load(Relaxed))),
        Err(DiskSearchError::Store(error)) => Err(error),
        Err(DiskSearchError::Model(failure)) => panic!("{failure}"),
    }
}

#[test]
fn random_graphs_come_to_the_same_on_disk_and_in_memory() {
    let (mut violated, mut deep) = (0, 0);
    for seed in 0..150 {
        let broken = [None, Some(37), Some(1_003)][seed as usize % 3];
        let nodes = 1 + mix(&[seed]) % 4_000;
        let maze = Maze::new(seed, nodes, 1 + nodes / (1 + seed % 40), broken);
        let expected = expected(&maze);
        violated += u64::from(expected.0.violation.is_some());
        deep += u64::from(expected.0.depth > 15);
        for (workers, room) in [(1, 1 << 20), (1, 4 << 10), (2, 1 << 13), (3, 1 << 20)] {
            let found = on_disk(&maze, &store(&MemoryFolder::default(), room), &plan(workers)).unwrap();
            assert_eq!(found, expected, "seed {seed}, {workers} workers, {room} bytes");
        }
    }
    assert!(violated > 30 && deep > 30, "{violated} {deep}");
}

#[test]
fn a_process_may_end_at_any_operation() {
    for maze in mazes() {
        let expected = expected(&maze);
        let whole = MemoryFolder::default();
        assert_eq!(on_disk(&maze, &store(&whole, 6 << 10), &plan(1)).unwrap(), expected);
        assert!(whole.operations() > 100, "{}", whole.operations());
        for end in 1..=whole.operations() {
            for loses_power in [false, true] {
                let folder = MemoryFolder::default();
                folder.end_at(end);
                let ended = on_disk(&maze, &store(&folder, 6 << 10), &plan(1));
                let is_complete = ended.is_ok_and(|(result, _)| result.cut.is_none());
                assert!(!is_complete || end == whole.operations(), "operation {end}");
                folder.begin_anew(loses_power);
                let found = on_disk(&maze, &store(&folder, 6 << 10), &plan(2)).unwrap();
                assert_eq!(found, expected, "ended at operation {end}, {loses_power}");
                assert_eq!(names(&folder), names(&whole), "files are left over");
            }
        }
    }
}

fn names(folder: &MemoryFolder) -> Vec<String> {
    folder.contents().into_keys().collect()
}

#[test]
fn a_search_of_many_processes_comes_to_the_same() {
    for maze in mazes() {
        let expected = expected(&maze);
        for loses_power in [false, true] {
            let folder = MemoryFolder::default();
            let mut ends = 0;
            loop {
                // Each process gets a little further than the one before, and the most expensive level is completed.
                folder.end_at(3 + ends);
                match on_disk(&maze, &store(&folder, 6 << 10), &plan(1)) {
                    Ok((result, counted)) if result.cut.is_none() => {
                        assert_eq!((result, counted), expected);
                        break;
                    }
                    Ok(_) | Err(StoreError::Unusable { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                ends += 1;
                folder.begin_anew(loses_power);
            }
            assert!(ends > 20, "it ended {ends} times");
        }
    }
}

#[test]
fn a_full_disk_cuts_the_search_and_more_room_completes_it() {
    for maze in mazes() {
        let expected = expected(&maze);
        let folder = MemoryFolder::default();
        let (mut room, mut cuts) = (400, 0);
        loop {
            folder.set_room(Some(room));
            match on_disk(&maze, &store(&folder, 6 << 10), &plan(1)) {
                Ok((result, counted)) if result.cut.is_none() => {
                    assert_eq!((result, counted), expected);
                    break;
                }
                Ok((result, _)) => {
                    let by = result.cut.unwrap();
                    assert!(by.contains("levels are complete, and the search can go on from there"), "{by}");
                    assert!(result.states <= expected.0.states && result.violation.is_none());
                    cuts += 1;
                }
                Err(error) => assert!(matches!(error, StoreError::Unusable { .. }), "{error}"),
            }
            room += 200;
        }
        assert!(cuts > 20, "{cuts}");
    }
}

/// Stops at the first question.
struct Stop;

impl Supervisor for Stop {
    fn stop(&self, _: &Progress) -> Option<String> {
        Some("a supervisor".to_owned())
    }

    fn microseconds(&self) -> u64 {
        0
    }
}

#[test]
fn limits_cut_at_the_same_level_as_in_memory_and_can_be_raised() {
    let maze = &mazes()[0];
    let (whole, counted) = expected(maze);
    let folder = MemoryFolder::default();
    let store = store(&folder, 6 << 10);
    for depth in 1..whole.depth {
        let limits = Limits { depth: Some(depth), states: None };
        let limited = SearchPlan { limits, ..plan(1) };
        let in_memory = search_in_memory(&maze.anew(), &limited).unwrap();
        assert_eq!(on_disk(maze, &store, &limited).unwrap().0, in_memory);
        assert_eq!(in_memory.cut, Some(format!("--max-depth {depth}")));
        let limits = Limits { states: Some(in_memory.states - 1), depth: None };
        let limited = SearchPlan { limits, ..plan(1) };
        let in_memory = search_in_memory(&maze.anew(), &limited).unwrap();
        assert_eq!(on_disk(maze, &store, &limited).unwrap().0, in_memory);
        let stopped = SearchPlan { supervisor: Arc::new(Stop), ..plan(1) };
        let found = on_disk(maze, &store, &stopped).unwrap().0;
        assert_eq!((found.cut, found.states), (Some("a supervisor".to_owned()), in_memory.states));
    }
    assert_eq!(on_disk(maze, &store, &plan(1)).unwrap(), (whole, counted));
}

#[test]
fn a_search_that_has_ended_gives_its_result_at_once() {
    for maze in mazes() {
        let folder = MemoryFolder::default();
        let found = on_disk(&maze, &store(&folder, 1 << 20), &plan(1)).unwrap();
        let before = folder.contents();
        let again = maze.anew();
        let told = search(&again, &plan(1), &store(&folder, 1 << 20), identity());
        assert_eq!(told.ok(), Some(found.0));
        assert_eq!(again.expanded.load(Relaxed), 0);
        assert!(folder.contents() == before);
    }
}

/// Lets a store be refused, and looks that nothing in it has changed.
fn refused(folder: &MemoryFolder, by: impl FnOnce() -> Result<(SearchResult, u64), StoreError>) -> StoreError {
    let before = folder.contents();
    let error = by().expect_err("the store is refused");
    assert!(folder.contents() == before, "{error}: and it was changed");
    error
}

/// What happens to the bytes of a file.
type Change<'a> = &'a dyn Fn(&mut Vec<u8>);

#[test]
fn a_damaged_store_is_refused_whichever_file_it_is() {
    let maze = &mazes()[0];
    let folder = MemoryFolder::default();
    let limited = SearchPlan { limits: Limits { depth: Some(6), states: None }, ..plan(1) };
    on_disk(maze, &store(&folder, 6 << 10), &limited).unwrap();
    let sound = folder.contents();
    assert!(sound.len() > 12, "{:?}", sound.keys());
    for (path, bytes) in &sound {
        let middle = bytes.len() / 2;
        let changes: [Change<'_>; 4] =
            [&|bytes| bytes[middle] ^= 1, &|bytes| bytes.truncate(middle), &|bytes| bytes.push(b'7'), &|bytes| {
                bytes.insert(middle, 0)
            }];
        for change in changes {
            folder.damage(path, change);
            let error = refused(&folder, || on_disk(maze, &store(&folder, 6 << 10), &plan(1)));
            let file = path.rsplit('/').next().unwrap();
            assert!(matches!(&error, StoreError::Damaged { file: named, .. } if named == file), "{path}: {error}");
            folder.damage(path, |now| now.clone_from(bytes));
        }
    }
    for path in sound.keys().filter(|path| path.starts_with("maze/") && !path.ends_with("manifest.json")) {
        let incomplete = MemoryFolder::default();
        for (other, bytes) in sound.iter().filter(|(other, _)| *other != path) {
            let (name, part) = (other.rsplit('/').next().unwrap(), if other.contains('/') { "maze" } else { "" });
            let folder: Arc<dyn StoreFolder> =
                if part.is_empty() { Arc::new(incomplete.clone()) } else { incomplete.below(part) };
            folder.create(name).unwrap().write_all(bytes).unwrap();
        }
        let error = refused(&incomplete, || on_disk(maze, &store(&incomplete, 6 << 10), &plan(1)));
        assert!(matches!(error, StoreError::Damaged { .. }), "{path}: {error}");
    }
    assert!(on_disk(maze, &store(&folder, 6 << 10), &plan(1)).is_ok());
}

#[test]
fn a_store_of_another_search_or_program_is_refused() {
    let maze = &mazes()[0];
    let folder = MemoryFolder::default();
    on_disk(maze, &store(&folder, 1 << 20), &plan(1)).unwrap();
    let other = SearchStore::of(Arc::new(folder.clone()), "another build".to_owned(), 1 << 20).below("maze");
    let error = refused(&folder, || on_disk(maze, &other, &plan(1)));
    let sentence = "memory: was written by another build of fencepost (store format 1, version 0.1.0, build a test), which may know another \
                    model; name another folder";
    assert_eq!(error.to_string(), sentence);
    let before = folder.contents();
    let answers = vec![("the maze".to_owned(), "another one".to_owned())];
    let Err(DiskSearchError::Store(error)) = search(&maze.anew(), &plan(1), &store(&folder, 1 << 20), answers) else {
        panic!("the store is refused");
    };
    let sentence =
        "memory:maze/ belongs to another search: the maze is this one there, and another one here; name another folder";
    assert_eq!(error.to_string(), sentence);
    assert!(folder.contents() == before);
}

#[test]
fn a_folder_of_others_is_refused() {
    let maze = &mazes()[0];
    for (name, is_inside) in [("letter.txt", false), ("letter.txt", true), ("level-x", true)] {
        let folder = MemoryFolder::default();
        if is_inside {
            let first = SearchStore::of(Arc::new(folder.clone()), "a test".to_owned(), 1 << 20).below("first");
            on_disk(maze, &first, &plan(1)).unwrap();
        }
        let place: Arc<dyn StoreFolder> = if is_inside { folder.below("maze") } else { Arc::new(folder.clone()) };
        place.create(name).unwrap().write_all(b"Dear reader").unwrap();
        let error = refused(&folder, || on_disk(maze, &store(&folder, 1 << 20), &plan(1)));
        assert!(matches!(&error, StoreError::Foreign { file, .. } if file == name), "{error}");
    }
}
