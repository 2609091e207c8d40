//! Runs in a file: an SQLite database that is whole after every transaction, whatever happens to the program.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};

use super::plan::{Job, Jobs, SweepPlan};
use crate::exit::CommandError;

/// Marks a file as ours: “fpst”.
const APPLICATION: i64 = 0x6670_7374;

/// The version of the tables.
const SCHEMA: i64 = 1;

const TABLES: &str = "
    CREATE TABLE plan (json TEXT NOT NULL, first INTEGER NOT NULL, after INTEGER NOT NULL);
    CREATE TABLE setting (setting INTEGER PRIMARY KEY, names TEXT NOT NULL, problem TEXT);
    CREATE TABLE run (number INTEGER PRIMARY KEY, setting INTEGER NOT NULL, seed INTEGER NOT NULL,
        actions INTEGER NOT NULL, ticks INTEGER NOT NULL, at_rest INTEGER NOT NULL, digest TEXT NOT NULL);
    CREATE TABLE violation (number INTEGER NOT NULL, property TEXT NOT NULL, step INTEGER NOT NULL,
        message TEXT NOT NULL, PRIMARY KEY (number, property)) WITHOUT ROWID;
";

/// What one run came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SweptRun {
    /// Its number in the sweep.
    pub number: u64,
    /// The place of its setting.
    pub setting: usize,
    pub seed: u64,
    pub actions: u64,
    pub ticks: i64,
    pub is_at_rest: bool,
    pub digest: String,
    pub violations: Vec<Broken>,
}

/// A promise that a run broke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    pub property: String,
    pub step: u64,
    pub message: String,
}

/// A store.
pub struct Store {
    file: PathBuf,
    database: Connection,
}

/// SQLite's integers have a sign; what goes in was looked at before.
fn signed(number: u64) -> i64 {
    i64::try_from(number).expect("runs and seeds are below 2^63")
}

fn unsigned(row: &Row<'_>, place: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(place)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(place, number))
}

impl Store {
    /// Opens a store, and keeps others from writing to it.
    ///
    /// # Errors
    /// There is none, the file is something else, or another process uses it.
    pub fn open(file: &Path) -> Result<Self, CommandError> {
        let (store, is_new) = Store::connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if is_new {
            return Err(CommandError::Input(format!("{} is empty", file.display())));
        }
        Ok(store)
    }

    /// Opens a store, or creates one for these runs; returns whether it is new. An interrupted creation leaves no
    /// store.
    ///
    /// # Errors
    /// The file is something else, or another process uses it.
    pub fn open_or_make(
        file: &Path,
        plan: &SweepPlan,
        runs: Range<u64>,
        settings: &[(String, Option<String>)],
    ) -> Result<(Self, bool), CommandError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let (mut store, is_new) = Store::connect(file, flags)?;
        if is_new {
            let made = store.make(plan, runs, settings);
            store.heed("the new tables", made)?;
        }
        Ok((store, is_new))
    }

    /// Opens a file; says whether nothing is in it.
    fn connect(file: &Path, flags: OpenFlags) -> Result<(Self, bool), CommandError> {
        let opened = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let database =
            opened.map_err(|error| CommandError::Input(format!("{} cannot be opened: {error}", file.display())))?;
        let store = Store { file: file.to_owned(), database };
        let locked = store.database.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
        store.heed("the file's header", locked)?;
        let number = |query: &str| store.database.query_row(query, [], |row| row.get::<_, i64>(0));
        let is_new = store.heed("the table of tables", number("SELECT count(*) FROM sqlite_schema"))? == 0;
        let (application, schema) = (number("PRAGMA application_id"), number("PRAGMA user_version"));
        let (application, schema) = (store.heed("application_id", application)?, store.heed("user_version", schema)?);
        if is_new && application == 0 {
            return Ok((store, true));
        }
        if application != APPLICATION {
            return Err(CommandError::Input(format!("{} is no store of a sweep", file.display())));
        }
        if schema != SCHEMA {
            let file = file.display();
            return Err(CommandError::Input(format!("{file} has format {schema}, this program reads {SCHEMA}")));
        }
        Ok((store, false))
    }

    fn make(
        &mut self,
        plan: &SweepPlan,
        runs: Range<u64>,
        settings: &[(String, Option<String>)],
    ) -> rusqlite::Result<()> {
        let json = serde_json::to_string(plan).expect("a plan is plain data");
        let transaction = self.database.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction
            .execute("INSERT INTO plan VALUES (?, ?, ?)", params![json, signed(runs.start), signed(runs.end)])?;
        for (place, (names, problem)) in (0i64..).zip(settings) {
            transaction.execute("INSERT INTO setting VALUES (?, ?, ?)", params![place, names, problem])?;
        }
        // Last, so that a file that carries the mark is whole.
        transaction.execute_batch(&format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA}"))?;
        transaction.commit()
    }

    /// Says what is wrong at a place of the file.
    pub fn bad(&self, place: &str, why: &dyn fmt::Display) -> CommandError {
        CommandError::Input(format!("{}: {place}: {why}", self.file.display()))
    }

    /// Says what went wrong with the file.
    fn heed<T>(&self, place: &str, result: rusqlite::Result<T>) -> Result<T, CommandError> {
        result.map_err(|error| {
            let file = self.file.display();
            CommandError::Input(match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    format!("another process is using {file}")
                }
                Some(ErrorCode::NotADatabase) => format!("{file} is no store of a sweep"),
                _ => format!("{file}: {place}: {error}"),
            })
        })
    }

    /// What it is a store of, and which runs belong into it.
    pub fn plan(&self) -> Result<(SweepPlan, Range<u64>), CommandError> {
        let read = self.database.query_row("SELECT json, first, after FROM plan", [], |row| {
            Ok((row.get::<_, String>(0)?, unsigned(row, 1)?..unsigned(row, 2)?))
        });
        let (json, runs) = self.heed("table plan", read)?;
        let plan = serde_json::from_str(&json).map_err(|error| self.bad("table plan, json", &error))?;
        Ok((plan, runs))
    }

    /// The plan spelt out, and which of its runs belong into the store.
    ///
    /// # Errors
    /// The plan cannot be read, or is impossible, or the store is for runs that it does not have.
    pub fn jobs(&self) -> Result<(SweepPlan, Jobs, Range<u64>), CommandError> {
        let (plan, runs) = self.plan()?;
        let jobs = plan.jobs().map_err(|error| self.bad("table plan, json", &error))?;
        if runs.start > runs.end || runs.end > jobs.len() {
            let why = format!("runs {} to before {} of {}", runs.start, runs.end, jobs.len());
            return Err(self.bad("table plan, first and after", &why));
        }
        Ok((plan, jobs, runs))
    }

    /// How many of these runs are in it: the first ones.
    ///
    /// # Errors
    /// They are others than the first ones.
    pub fn done_of(&self, runs: &Range<u64>) -> Result<u64, CommandError> {
        let done = self.done()?;
        let last = self.last()?.map(|(number, _)| number);
        let is_first = |number: u64| number >= runs.start && number - runs.start == done - 1;
        match last {
            None if done == 0 => Ok(done),
            Some(last) if done > 0 && done <= runs.end - runs.start && is_first(last) => Ok(done),
            _ => Err(self.bad("table run", &format!("its {done} rows are not the first of the runs {runs:?}"))),
        }
    }

    /// How many runs are in it.
    fn done(&self) -> Result<u64, CommandError> {
        self.heed("table run", self.database.query_row("SELECT count(*) FROM run", [], |row| unsigned(row, 0)))
    }

    /// Number and digest of the last run in it.
    pub fn last(&self) -> Result<Option<(u64, String)>, CommandError> {
        let last = "SELECT number, digest FROM run ORDER BY number DESC LIMIT 1";
        self.heed(
            "table run, the last row",
            self.database.query_row(last, [], |row| Ok((unsigned(row, 0)?, row.get(1)?))).optional(),
        )
    }

    /// Adds runs, all of them or none.
    pub fn add(&mut self, taken: &[SweptRun]) -> Result<(), CommandError> {
        let added = self.insert(taken);
        self.heed("table run", added)
    }

    fn insert(&mut self, taken: &[SweptRun]) -> rusqlite::Result<()> {
        let transaction = self.database.transaction()?;
        {
            let mut run = transaction.prepare("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?)")?;
            let mut violation = transaction.prepare("INSERT INTO violation VALUES (?, ?, ?, ?)")?;
            for one in taken {
                let number = signed(one.number);
                let setting = signed(one.setting as u64);
                let (seed, actions) = (signed(one.seed), signed(one.actions));
                run.execute(params![number, setting, seed, actions, one.ticks, one.is_at_rest, one.digest])?;
                for broken in &one.violations {
                    violation.execute(params![number, broken.property, signed(broken.step), broken.message])?;
                }
            }
        }
        transaction.commit()
    }

    /// Shows each run, in order.
    ///
    /// # Errors
    /// A row cannot be read, or is not of a run of the plan.
    pub fn for_each(
        &self,
        jobs: &Jobs,
        mut show: impl FnMut(SweptRun) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let all = "SELECT number, setting, seed, actions, ticks, at_rest, digest FROM run ORDER BY number";
        let of_one = "SELECT property, step, message FROM violation WHERE number = ? ORDER BY property";
        let mut violations = self.heed("table violation", self.database.prepare(of_one))?;
        let mut runs = self.heed("table run", self.database.prepare(all))?;
        let mut rows = self.heed("table run", runs.query([]))?;
        let (mut place, promises) = (0u64, jobs.promises());
        loop {
            place += 1;
            let row_name = format!("table run, row {place}");
            let Some(row) = self.heed(&row_name, rows.next())? else { return Ok(()) };
            let mut taken = self.heed(&row_name, Self::run(row))?;
            let SweptRun { number, setting, seed, .. } = taken;
            if jobs.job(number) != Some(Job { setting, seed }) {
                let why = format!("run {number} of the plan does not have setting {setting} and seed {seed}");
                return Err(self.bad(&row_name, &why));
            }
            let broken = violations.query_map([signed(number)], |row| {
                Ok(Broken { property: row.get(0)?, step: unsigned(row, 1)?, message: row.get(2)? })
            });
            let of_run = format!("table violation, the rows of run {number}");
            taken.violations = self.heed(&of_run, broken.and_then(Iterator::collect))?;
            let is_promised = |broken: &Broken| promises.iter().any(|promise| promise.name() == broken.property);
            if let Some(stranger) = taken.violations.iter().find(|broken| !is_promised(broken)) {
                return Err(self.bad(&of_run, &format!("`{}` is not promised", stranger.property)));
            }
            show(taken)?;
        }
    }

    fn run(row: &Row<'_>) -> rusqlite::Result<SweptRun> {
        let setting = usize::try_from(unsigned(row, 1)?).unwrap_or(usize::MAX);
        Ok(SweptRun {
            number: unsigned(row, 0)?,
            setting,
            seed: unsigned(row, 2)?,
            actions: unsigned(row, 3)?,
            ticks: row.get(4)?,
            is_at_rest: row.get(5)?,
            digest: row.get(6)?,
            violations: Vec::new(),
        })
    }
}
