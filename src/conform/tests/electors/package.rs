//! The real elector: a process of Python with the package `kubernetes`, which runs `elector.py`.

use std::env;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

/// The version that the program follows.
const VERSION: &str = "37.0.2";

/// The process, with any number of electors in it.
pub struct PythonPackage {
    child: Child,
    orders: ChildStdin,
    lines: BufReader<ChildStdout>,
}

/// What an elector does after it was told something.
#[derive(Deserialize, Debug)]
pub struct PackageMove {
    /// The callbacks that have run.
    pub callbacks: Vec<String>,
    /// The method of a request.
    pub method: Option<String>,
    /// Where it goes.
    pub url: Option<String>,
    /// What it sends.
    pub body: Option<Value>,
    /// After how many seconds the client gives it up.
    pub timeout: Option<f64>,
    /// Or a sleep, in seconds.
    pub sleep: Option<f64>,
    /// Or the end of `run()`: `returned`, or the class of the exception that it raised.
    pub ended: Option<String>,
}

impl PythonPackage {
    /// The package, if there is one.
    pub fn start() -> Option<PythonPackage> {
        let Ok(python) = env::var("FENCEPOST_PYTHON") else {
            // Written to the terminal even if the test harness keeps what is printed.
            let _ = io::stderr().write_all(
                b"skipped: no Python package kubernetes; set FENCEPOST_PYTHON to the interpreter that .ci/python-elector DIR prints (.ci/run does)\n",
            );
            return None;
        };
        let mut child = Command::new(&python)
            .args(["-c", include_str!("elector.py")])
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("FENCEPOST_PYTHON={python} names no interpreter: {error}"));
        let (orders, lines) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut package = PythonPackage { child, orders, lines: BufReader::new(lines) };
        let hello: Value = package.line();
        assert_eq!(hello["version"], VERSION, "the program follows this version of the package");
        Some(package)
    }

    fn line<T: for<'a> Deserialize<'a>>(&mut self) -> T {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("elector.py runs");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("elector.py said {line:?}: {error}"))
    }

    /// Tells an elector something: what it does then.
    pub fn tell(&mut self, order: &Value) -> PackageMove {
        writeln!(self.orders, "{order}").expect("elector.py runs");
        self.line()
    }

    /// Ends the threads of all electors, wherever they are.
    pub fn forget(&mut self) {
        writeln!(self.orders, "{}", json!({ "do": "forget" })).expect("elector.py runs");
    }
}

impl Drop for PythonPackage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
