//! The real database: sessions of PostgreSQL, each a process of `psql`.

use std::env;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long the database may take for what it does at once.
const PROMPTLY: Duration = Duration::from_secs(10);

/// How to reach the server that runs for these tests, if there is one.
pub fn server() -> Option<String> {
    let address = env::var("FENCEPOST_POSTGRES").ok();
    if address.is_none() {
        // Written to the terminal even if the test harness keeps what is printed.
        let _ = io::stderr().write_all(
            b"skipped: no live PostgreSQL server; set FENCEPOST_POSTGRES to what .ci/postgres DIR prints (.ci/run does)\n",
        );
    }
    address
}

/// A session: one statement after the other.
pub struct PostgresSession {
    child: Child,
    orders: ChildStdin,
    lines: Receiver<String>,
    /// The process of the server, as `pg_stat_activity` names it.
    pub pid: String,
}

/// What the database says of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostgresAnswer {
    /// The rows that it shows, with `|` between columns.
    pub rows: Vec<String>,
    /// How many rows it has changed.
    pub count: String,
    /// Its SQLSTATE: `00000` if it was carried out.
    pub state: String,
}

impl PostgresSession {
    /// A session with this server.
    pub fn connect(server: &str) -> Self {
        let mut child = Command::new("psql")
            .args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", server])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Refused statements are among those that are sent.
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("psql comes with PostgreSQL, and does not start: {error}"));
        let (orders, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let (told, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if told.send(line).is_err() {
                    return;
                }
            }
        });
        let mut session = PostgresSession { child, orders, lines, pid: String::new() };
        session.pid = session.one("SELECT pg_backend_pid()");
        session
    }

    /// Sends a statement.
    pub fn send(&mut self, statement: &str) {
        writeln!(self.orders, "{statement};\n\\echo answer :ROW_COUNT :SQLSTATE").expect("psql runs");
        self.orders.flush().expect("psql runs");
    }

    /// The answer to the last statement, if it comes in this time.
    pub fn answer(&mut self, within: Duration) -> Option<PostgresAnswer> {
        let mut rows = Vec::new();
        loop {
            // A line that was read belongs to an answer, the rest of which comes at once.
            let within = if rows.is_empty() { within } else { PROMPTLY };
            let line = match self.lines.recv_timeout(within) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => panic!("the session has ended: is the server there?"),
            };
            match line.strip_prefix("answer ") {
                Some(answer) => {
                    let (count, state) = answer.split_once(' ').expect("a count and a state");
                    return Some(PostgresAnswer { rows, count: count.to_owned(), state: state.to_owned() });
                }
                None => rows.push(line),
            }
        }
    }

    /// The answer to a statement that waits for nothing any more.
    pub fn late_answer(&mut self) -> Option<PostgresAnswer> {
        self.answer(PROMPTLY)
    }

    /// What the database answers at once.
    pub fn ask(&mut self, statement: &str) -> PostgresAnswer {
        self.send(statement);
        self.answer(PROMPTLY).unwrap_or_else(|| panic!("there is no answer to {statement}"))
    }

    /// The only value that it shows.
    pub fn one(&mut self, query: &str) -> String {
        let answer = self.ask(query);
        assert_eq!((answer.rows.len(), answer.state.as_str()), (1, "00000"), "{query}");
        answer.rows.into_iter().next().expect("there is one")
    }

    /// The answer of another session to its last statement; none: it waits for a lock.
    pub fn answer_of(&mut self, other: &mut PostgresSession) -> Option<PostgresAnswer> {
        let begun = Instant::now();
        let waits = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = {} AND wait_event_type = 'Lock' AND wait_event IN ('transactionid', \
             'tuple', 'spectoken')",
            other.pid
        );
        while begun.elapsed() < PROMPTLY {
            if let Some(answer) = other.answer(Duration::from_millis(2)) {
                return Some(answer);
            }
            if self.one(&waits) == "1" {
                // It may have been answered since.
                return other.answer(Duration::from_millis(1));
            }
        }
        panic!("a statement is neither carried out nor waiting")
    }
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The sessions, and a table of their own.
pub struct RowDatabase {
    /// Those of the clients.
    pub sessions: Vec<PostgresSession>,
    /// The one that looks on.
    pub observer: PostgresSession,
    /// The name of the table.
    pub table: String,
}

impl RowDatabase {
    /// Three sessions of this server, and one that looks on.
    pub fn connect(server: &str, table: &str) -> Self {
        let sessions = (0..3).map(|_| PostgresSession::connect(server)).collect();
        let mut observer = PostgresSession::connect(server);
        for statement in [
            format!("DROP TABLE IF EXISTS {table}"),
            // As ShedLock's documentation has it.
            format!(
                "CREATE TABLE {table}(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, \
                 locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))"
            ),
        ] {
            assert_eq!(observer.ask(&statement).state, "00000", "{statement}");
        }
        RowDatabase { sessions, observer, table: table.to_owned() }
    }

    /// A session, for what is no sequence.
    pub fn session(&mut self, place: usize) -> &mut PostgresSession {
        &mut self.sessions[place]
    }

    /// The one that looks on, and another one.
    pub fn observed(&mut self, place: usize) -> (&mut PostgresSession, &mut PostgresSession) {
        (&mut self.observer, &mut self.sessions[place])
    }
}
