//! Sequences of ShedLock's statements by several sessions, drawn from a seed. They name times by the beginnings of transactions, so that
//! a smaller sequence is one, too.

use std::fmt;

use crate::electors::Draw;

/// What one session does, or all of them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RowStep {
    /// A session begins a transaction.
    Begin(usize),
    /// It commits it, or rolls it back.
    End(usize, TransactionEnd),
    /// It sends a statement: in its transaction, or in one that consists of it.
    State(usize, RowStatement),
    /// Nothing for this number of microseconds.
    Rest(u64),
}

/// How a transaction ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TransactionEnd {
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
}

/// A time that a client says: so much after the begin of the last transaction of a session, in microseconds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ClientTime {
    /// The session.
    pub of: usize,
    /// How much later.
    pub more: i64,
}

/// A statement of ShedLock; durations are in microseconds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RowStatement {
    /// `usingDbTime`: INSERT … ON CONFLICT DO UPDATE … WHERE lock_until <= CURRENT_TIMESTAMP.
    InsertByDatabase { at_most: i64 },
    /// `usingDbTime`: UPDATE … WHERE lock_until <= CURRENT_TIMESTAMP.
    UpdateByDatabase { at_most: i64 },
    /// INSERT with the times of the client.
    InsertByClient { now: ClientTime, until: ClientTime },
    /// UPDATE … WHERE lock_until <= :now.
    UpdateByClient { now: ClientTime, until: ClientTime },
    /// UPDATE … WHERE locked_by = :me AND lock_until > CURRENT_TIMESTAMP.
    Extend { at_most: i64 },
    /// UPDATE … SET lock_until = the later one of CURRENT_TIMESTAMP and locked_at + at_least WHERE locked_by = :me.
    UnlockByDatabase { at_least: i64 },
    /// UPDATE … SET lock_until = :until WHERE locked_by = :me.
    UnlockByClient { until: ClientTime },
}

impl RowStatement {
    /// Whether it takes the row.
    pub fn takes(self) -> bool {
        !matches!(self, Self::Extend { .. } | Self::UnlockByDatabase { .. } | Self::UnlockByClient { .. })
    }
}

/// The steps of some sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowSequence {
    /// How many sessions there are: 2 or 3.
    pub sessions: usize,
    /// What they do.
    pub steps: Vec<RowStep>,
}

impl RowSequence {
    /// The sequence of a seed.
    pub fn drawn(seed: u64) -> Self {
        let draw = &mut Draw(seed);
        let sessions = if draw.below(3) == 0 { 3 } else { 2 };
        let steps = (0..8 + draw.below(20)).map(|_| step(draw, sessions)).collect();
        RowSequence { sessions, steps }
    }

    /// The same without one of the steps, or with one that is smaller.
    pub fn smaller(&self) -> Vec<RowSequence> {
        let without = |place: usize| {
            let mut smaller = self.clone();
            smaller.steps.remove(place);
            smaller
        };
        (0..self.steps.len()).rev().map(without).collect()
    }
}

fn place(draw: &mut Draw, count: usize) -> usize {
    usize::try_from(draw.below(u64::try_from(count).expect("a few"))).expect("a few")
}

fn one_of(draw: &mut Draw, values: &[i64]) -> i64 {
    values[place(draw, values.len())]
}

fn time(draw: &mut Draw, sessions: usize, mores: &[i64]) -> ClientTime {
    ClientTime { of: place(draw, sessions), more: one_of(draw, mores) }
}

fn step(draw: &mut Draw, sessions: usize) -> RowStep {
    let session = place(draw, sessions);
    match draw.below(16) {
        0..4 => RowStep::Begin(session),
        4..6 => RowStep::End(session, TransactionEnd::Commit),
        6 => RowStep::End(session, TransactionEnd::Rollback),
        7 => RowStep::Rest(draw.below(3_000)),
        _ => RowStep::State(session, statement(draw, sessions)),
    }
}

fn statement(draw: &mut Draw, sessions: usize) -> RowStatement {
    const NEAR: [i64; 5] = [-1, 0, 0, 1, 700];
    let at_most = one_of(draw, &[0, 1, 400, 4_000, 1_000_000]);
    match draw.below(12) {
        0..2 => RowStatement::InsertByDatabase { at_most },
        2..4 => RowStatement::UpdateByDatabase { at_most },
        4 => RowStatement::InsertByClient {
            now: time(draw, sessions, &NEAR),
            until: time(draw, sessions, &[0, 1, 400, 4_000]),
        },
        5..8 => RowStatement::UpdateByClient {
            now: time(draw, sessions, &NEAR),
            until: time(draw, sessions, &[-1, 0, 1, 400, 4_000, 1_000_000]),
        },
        8 => RowStatement::Extend { at_most },
        9..11 => RowStatement::UnlockByDatabase { at_least: one_of(draw, &[0, 1, 400, 3_000, 1_000_000]) },
        _ => RowStatement::UnlockByClient { until: time(draw, sessions, &NEAR) },
    }
}

impl fmt::Display for RowSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} sessions", self.sessions)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step:?}"))
    }
}
