//! One run of both: the sessions of the database do what a sequence says, and the row of the model what it says of that.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use super::database::{PostgresAnswer, RowDatabase};
use super::model::{ModelRow, RowColumns, RowMistake, RowOutcome};
use super::sequence::{ClientTime, RowSequence, RowStatement, RowStep, TransactionEnd};
use super::statements::{NOW, text};

/// How often something has happened.
pub type RowTally = BTreeMap<&'static str, u64>;

#[derive(Copy, Clone, PartialEq, Eq)]
enum TransactionState {
    None,
    Open,
    /// An error has ended it; it can only be rolled back.
    Failed,
}

/// A transaction that holds the lock of the row.
struct Locker {
    session: usize,
    /// The row as it sees it.
    row: ModelRow,
    has_changed: bool,
}

/// A statement that waits for that lock.
#[derive(Copy, Clone)]
struct Waiting {
    session: usize,
    statement: RowStatement,
    /// Whether its transaction consists of it.
    is_single: bool,
}

struct RowRun<'a> {
    database: &'a mut RowDatabase,
    mistake: RowMistake,
    /// What all sessions see.
    row: ModelRow,
    locker: Option<Locker>,
    waiting: Option<Waiting>,
    transactions: [TransactionState; 3],
    /// When the last transaction of each began, in microseconds since the run began.
    begun: [i64; 3],
    epoch: i64,
    story: String,
    tally: RowTally,
}

/// Runs both: how often what has happened, or the story up to where they part.
pub fn compare(database: &mut RowDatabase, sequence: &RowSequence, mistake: RowMistake) -> Result<RowTally, String> {
    let RowDatabase { observer, table, .. } = &mut *database;
    observer.ask(&format!("DELETE FROM {table}"));
    let epoch = observer.one(&format!("SELECT {NOW}")).parse().expect("a number");
    let mut run = RowRun {
        mistake,
        row: ModelRow::new(mistake),
        locker: None,
        waiting: None,
        transactions: [TransactionState::None; 3],
        begun: [0; 3],
        epoch,
        story: String::new(),
        tally: RowTally::new(),
        database,
    };
    let compared = sequence.steps.iter().try_for_each(|step| run.step(*step));
    run.stop();
    compared.map_err(|part| format!("{}{part}\n", run.story)).map(|()| run.tally)
}

impl RowRun<'_> {
    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
    }

    fn tell_story(&mut self, line: &str) {
        writeln!(self.story, "  {line}").expect("a text grows");
    }

    /// A step that is not possible now is left out.
    fn step(&mut self, step: RowStep) -> Result<(), String> {
        let waits = |session: usize| self.waiting.is_some_and(|waiting| waiting.session == session);
        match step {
            RowStep::Rest(microseconds) => thread::sleep(Duration::from_micros(microseconds)),
            RowStep::Begin(session) => {
                if self.transactions[session] == TransactionState::None && !waits(session) {
                    self.begin(session);
                }
            }
            RowStep::End(session, end) => {
                if self.transactions[session] != TransactionState::None && !waits(session) {
                    return self.end(session, end);
                }
            }
            RowStep::State(session, statement) => {
                let can = self.transactions[session] != TransactionState::Failed
                    && !waits(session)
                    && self.seen(session).is_sent(session, statement);
                if can {
                    return self.state(session, statement);
                }
            }
        }
        Ok(())
    }

    /// The row as this session sees it.
    fn seen(&self, session: usize) -> &ModelRow {
        self.locker.as_ref().filter(|locker| locker.session == session).map_or(&self.row, |locker| &locker.row)
    }

    fn begin(&mut self, session: usize) {
        self.database.sessions[session].ask("BEGIN");
        let now: i64 = self.database.sessions[session].one(&format!("SELECT {NOW}")).parse().expect("a number");
        self.begun[session] = now - self.epoch;
        self.transactions[session] = TransactionState::Open;
        self.tell_story(&format!("session {session} begins at {}", self.begun[session]));
    }

    /// Whether it needs the lock of the row, and another transaction has it. A statement whose condition does not hold of the row that it
    /// sees needs none, also if the row is about to be changed.
    fn will_wait(&self, session: usize, statement: RowStatement) -> bool {
        let Some(locker) = self.locker.as_ref().filter(|locker| locker.session != session) else { return false };
        match statement {
            RowStatement::InsertByDatabase { .. } => true,
            RowStatement::InsertByClient { .. } => locker.has_changed,
            _ => self.carried_out(session, statement, self.begun[session]).1 == RowOutcome::Changed,
        }
    }

    /// The row after a statement.
    fn carried_out(&self, session: usize, statement: RowStatement, now: i64) -> (ModelRow, RowOutcome) {
        let mut row = self.seen(session).clone();
        let outcome = row.carry_out(session, statement, now, |ClientTime { of, more }| self.begun[of] + more);
        (row, outcome)
    }

    /// A statement that stands alone is a transaction: one is begun for it, so that its time is known.
    fn state(&mut self, session: usize, statement: RowStatement) -> Result<(), String> {
        let is_single = self.transactions[session] == TransactionState::None;
        if is_single {
            self.begin(session);
        }
        let waits = self.will_wait(session, statement);
        if waits && self.waiting.is_some() {
            // Which one of two that wait is first is the database's affair.
            return if is_single { self.end(session, TransactionEnd::Rollback) } else { Ok(()) };
        }
        let time = |ClientTime { of, more }: ClientTime| self.epoch + self.begun[of] + more;
        let text = text(&self.database.table, session, statement, time);
        self.tell_story(&format!("session {session}: {statement:?}"));
        let [told, observer] = [&mut self.database.sessions[session], &mut self.database.observer];
        told.send(&text);
        match (observer.answer_of(told), waits) {
            (Some(answer), false) => self.answered(Waiting { session, statement, is_single }, &answer),
            (None, true) => {
                self.count("waited");
                self.tell_story("    it waits");
                self.waiting = Some(Waiting { session, statement, is_single });
                Ok(())
            }
            (Some(answer), true) => Err(format!("the model waits, and PostgreSQL does not: {answer:?}")),
            (None, false) => Err("the model does not wait, and PostgreSQL does".to_owned()),
        }
    }

    /// A statement was carried out.
    fn answered(&mut self, done: Waiting, answer: &PostgresAnswer) -> Result<(), String> {
        let Waiting { session, statement, is_single } = done;
        let now = match self.mistake {
            // OL-R-3: also after waiting for a row lock.
            RowMistake::None | RowMistake::Mutation(_) => self.begun[session],
            RowMistake::TimeOfStatement => {
                let now = "SELECT (extract(epoch FROM timezone('utc', clock_timestamp())) * 1000000)::bigint";
                self.database.observer.one(now).parse::<i64>().expect("a number") - self.epoch
            }
        };
        let before = self.seen(session).columns().map(|row| row.until);
        let (row, outcome) = self.carried_out(session, statement, now);
        let expected = match outcome {
            RowOutcome::Changed => ("1", "00000"),
            RowOutcome::Unchanged => ("0", "00000"),
            RowOutcome::Duplicate => ("0", "23505"),
        };
        if expected != (answer.count.as_str(), answer.state.as_str()) {
            return Err(format!("the model says {outcome:?}, and PostgreSQL {answer:?}"));
        }
        self.tell_story(&format!("    {outcome:?}"));
        self.count(name(statement, outcome));
        let compared = match statement {
            RowStatement::UpdateByClient { now, .. } => self.begun[now.of] + now.more,
            _ => now,
        };
        if statement.takes() && outcome == RowOutcome::Changed && before == Some(compared) {
            self.count("at the very end of the row");
        }
        if outcome == RowOutcome::Duplicate {
            // An error takes back at once what the transaction has done.
            self.transactions[session] = TransactionState::Failed;
            self.free(session, false)?;
        } else if outcome == RowOutcome::Changed || matches!(statement, RowStatement::InsertByDatabase { .. }) {
            // ON CONFLICT DO UPDATE locks the row also if its condition does not hold.
            let held = self.locker.take().filter(|locker| locker.session == session);
            let has_changed = outcome == RowOutcome::Changed || held.is_some_and(|held| held.has_changed);
            self.locker = Some(Locker { session, row, has_changed });
        } else if let Some(locker) = self.locker.as_mut().filter(|locker| locker.session == session) {
            locker.row = row;
        } else {
            self.row = row;
        }
        if is_single { self.end(session, TransactionEnd::Commit) } else { self.same_row() }
    }

    fn end(&mut self, session: usize, end: TransactionEnd) -> Result<(), String> {
        let (statement, commits) = match end {
            TransactionEnd::Commit => ("COMMIT", self.transactions[session] == TransactionState::Open),
            TransactionEnd::Rollback => ("ROLLBACK", false),
        };
        self.database.sessions[session].ask(statement);
        self.tell_story(&format!("session {session}: {end:?}"));
        self.transactions[session] = TransactionState::None;
        self.free(session, commits)
    }

    /// A transaction gives its locks up, and its changes stay or go.
    fn free(&mut self, session: usize, commits: bool) -> Result<(), String> {
        if let Some(locker) = self.locker.take_if(|locker| locker.session == session) {
            match commits {
                true => self.row = locker.row,
                false if locker.has_changed => self.count("rolled back"),
                false => {}
            }
            if let Some(waiting) = self.waiting.take() {
                let answer = self.database.sessions[waiting.session].late_answer();
                let Some(answer) = answer else { return Err("the lock is free, and it still waits".to_owned()) };
                self.tell_story(&format!("session {} goes on: {:?}", waiting.session, waiting.statement));
                let ended = self.answered(waiting, &answer);
                self.count(if answer.count == "1" { "changed after waiting" } else { "refused after waiting" });
                return ended;
            }
        }
        self.same_row()
    }

    /// The row that all see is the same.
    fn same_row(&mut self) -> Result<(), String> {
        let table = &self.database.table;
        let column = |name: &str| format!("(extract(epoch FROM {name}) * 1000000)::bigint");
        let (until, since) = (column("lock_until"), column("locked_at"));
        let rows = self.database.observer.ask(&format!("SELECT {until}, {since}, locked_by FROM {table}")).rows;
        let modelled = self.row.columns().filter(|_| self.row.exists);
        let is_same = match (&rows[..], &modelled) {
            ([], None) => true,
            ([row], Some(RowColumns { until, since, holder })) => {
                let columns: Vec<&str> = row.split('|').collect();
                let is = |column: &str, time: i64| column == (time + self.epoch).to_string();
                is(columns[0], *until)
                    && since.is_none_or(|since| is(columns[1], since))
                    && holder.is_none_or(|holder| columns[2] == format!("client {}", holder.0))
            }
            _ => false,
        };
        if is_same {
            return Ok(());
        }
        Err(format!("the row of the model is {modelled:?}, and that of PostgreSQL {rows:?} (from {})", self.epoch))
    }

    /// No transaction is left.
    fn stop(&mut self) {
        let waiting = self.waiting.take().map(|waiting| waiting.session);
        for session in (0..3).filter(|session| Some(*session) != waiting).chain(waiting) {
            if Some(session) == waiting {
                self.database.sessions[session].late_answer().expect("the lock is free");
            }
            self.database.sessions[session].ask("ROLLBACK");
        }
    }
}

fn name(statement: RowStatement, outcome: RowOutcome) -> &'static str {
    match (statement, outcome) {
        (_, RowOutcome::Duplicate) => "inserted twice",
        (RowStatement::InsertByDatabase { .. } | RowStatement::InsertByClient { .. }, RowOutcome::Changed) => {
            "inserted"
        }
        (RowStatement::Extend { .. }, RowOutcome::Changed) => "extended",
        (RowStatement::Extend { .. }, RowOutcome::Unchanged) => "not extended",
        (RowStatement::UnlockByDatabase { .. } | RowStatement::UnlockByClient { .. }, RowOutcome::Changed) => "ended",
        (RowStatement::UnlockByDatabase { .. } | RowStatement::UnlockByClient { .. }, RowOutcome::Unchanged) => {
            "not ended"
        }
        (_, RowOutcome::Changed) => "taken",
        (_, RowOutcome::Unchanged) => "not taken",
    }
}
