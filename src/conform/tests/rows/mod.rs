//! The row of the model against that of a real PostgreSQL server: ShedLock's statements by two or three sessions, in transactions of
//! their own and in longer ones, of which one may hold the lock of the row while another one waits (OL-R-1, OL-R-3, OL-R-4, OL-R-5).

mod database;
mod model;
mod sequence;
mod side_by_side;
mod statements;

use fencepost_observed_lease::ObservedLeaseMutation;

use database::{RowDatabase, server};
use model::RowMistake;
use sequence::RowSequence;
use side_by_side::{RowTally, compare};

/// A smaller sequence in which both still part, and how. What a step does depends on real time: each is tried more than once.
fn shrink(database: &mut RowDatabase, sequence: &RowSequence, mistake: RowMistake) -> Option<(RowSequence, String)> {
    let mut parts = |sequence: &RowSequence| (0..3).find_map(|_| compare(database, sequence, mistake).err());
    let mut found = (sequence.clone(), parts(sequence)?);
    loop {
        let smaller = found.0.smaller().into_iter().find_map(|sequence| Some((parts(&sequence)?, sequence)));
        let Some((story, sequence)) = smaller else { return Some(found) };
        found = (sequence, story);
    }
}

/// What the sequences must show, or the comparison says little.
const EXPECTED: [(&str, u64); 12] = [
    ("inserted", 300),
    ("inserted twice", 80),
    ("taken", 150),
    ("not taken", 700),
    ("extended", 15),
    ("not extended", 15),
    ("ended", 100),
    ("not ended", 20),
    ("rolled back", 25),
    ("changed after waiting", 12),
    ("refused after waiting", 10),
    ("at the very end of the row", 15),
];

#[test]
fn ol_r_1_the_row_of_the_model_is_that_of_postgresql_in_six_hundred_sequences() {
    let Some(server) = server() else { return };
    let mut database = RowDatabase::connect(&server, "fencepost_rows");
    let mut tally = RowTally::new();
    for seed in 0..600 {
        let sequence = RowSequence::drawn(seed);
        match compare(&mut database, &sequence, RowMistake::None) {
            Ok(counts) => counts.into_iter().for_each(|(what, count)| *tally.entry(what).or_default() += count),
            Err(story) => {
                let shrunk = shrink(&mut database, &sequence, RowMistake::None);
                let (smaller, shorter) = shrunk.unwrap_or((sequence, story.clone()));
                panic!("seed {seed}: they part\n{story}\nshrunk:\n{smaller}{shorter}");
            }
        }
    }
    println!("{tally:?}");
    for (what, at_least) in EXPECTED {
        let count = tally.get(what).copied().unwrap_or(0);
        assert!(count >= at_least, "{what}: {count} times, and {at_least} are expected: {tally:?}");
    }
}

/// With one thing done differently, some sequence tells the two apart, and it shrinks to a few steps.
#[test]
fn a_model_with_a_mistake_is_told_apart_from_postgresql() {
    let Some(server) = server() else { return };
    let mut database = RowDatabase::connect(&server, "fencepost_mistakes");
    let mistakes = [
        RowMistake::Mutation(ObservedLeaseMutation::RowTakenEarly),
        RowMistake::Mutation(ObservedLeaseMutation::RowEndedByOther),
        RowMistake::Mutation(ObservedLeaseMutation::AtLeastIgnored),
        RowMistake::TimeOfStatement,
    ];
    for mistake in mistakes {
        let found = (0..400).find_map(|seed| {
            let sequence = RowSequence::drawn(seed);
            compare(&mut database, &sequence, mistake).err()?;
            Some((seed, shrink(&mut database, &sequence, mistake)?))
        });
        let (seed, (sequence, story)) = found.unwrap_or_else(|| panic!("{mistake:?} is not found"));
        println!("{mistake:?}, seed {seed}:\n{sequence}{story}");
        assert!(sequence.steps.len() <= 6, "{mistake:?}: {sequence}{story}");
    }
}

/// A transaction that waits for the lock of the row takes it by the time at which it began: the row that it gets may have ended before it was
/// got, and the next client takes it at once. Both run their tasks then, with the database's time and without any pause of a client.
#[test]
fn ol_r_3_a_row_that_was_waited_for_may_have_ended_before_it_was_taken() {
    let Some(server) = server() else { return };
    let mut database = RowDatabase::connect(&server, "fencepost_waiting");
    let take = "INSERT INTO fencepost_waiting(name, lock_until, locked_at, locked_by) VALUES('task', \
                timezone('utc', CURRENT_TIMESTAMP) + interval '50 milliseconds', timezone('utc', CURRENT_TIMESTAMP), 'me') \
                ON CONFLICT (name) DO UPDATE SET lock_until = excluded.lock_until, locked_at = excluded.locked_at, locked_by = 'me' \
                WHERE fencepost_waiting.lock_until <= timezone('utc', CURRENT_TIMESTAMP)";
    // Another transaction has the lock of the row for longer than the row is to be held, and changes nothing.
    let first = database.session(0);
    first.ask("BEGIN");
    assert_eq!(first.ask(take).count, "1");
    let (observer, second) = database.observed(1);
    second.send(take);
    assert_eq!(observer.answer_of(second), None, "it waits");
    std::thread::sleep(std::time::Duration::from_millis(60));
    database.session(0).ask("ROLLBACK");
    let answer = database.session(1).late_answer();
    assert_eq!(answer.map(|answer| answer.count).as_deref(), Some("1"), "it has the row");
    assert_eq!(database.session(2).ask(take).count, "1", "and so has the third one, at once");
}

/// What the model does not have: an ended row keeps `locked_by`, so that a client can end it twice. ShedLock does not do so.
#[test]
fn ol_r_4_an_ended_row_keeps_its_last_holder() {
    let Some(server) = server() else { return };
    let mut database = RowDatabase::connect(&server, "fencepost_ended");
    let session = database.session(0);
    session.ask("INSERT INTO fencepost_ended VALUES('task', timezone('utc', CURRENT_TIMESTAMP) + interval '1 hour', timezone('utc', CURRENT_TIMESTAMP), 'me')");
    let end = "UPDATE fencepost_ended SET lock_until = timezone('utc', CURRENT_TIMESTAMP) WHERE name = 'task' AND locked_by = 'me'";
    assert_eq!([(); 2].map(|()| session.ask(end).count), ["1", "1"]);
}
