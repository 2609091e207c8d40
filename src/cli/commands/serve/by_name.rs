//! A program that is called `consul`, as a link to fencepost: `consul agent -config-file FILE` is a stand-in, for test suites that start
//! agents themselves.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fencepost_serve::{Server, Settings};
use serde_json::{Map, Value, json};

use super::{unreadable, until_stopped};
use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::say;

/// Flags of `consul agent` that have no value of their own.
const SWITCHES: [&str; 11] = [
    "bootstrap",
    "dev",
    "disable-host-node-id",
    "disable-keyring-file",
    "enable-local-script-checks",
    "enable-script-checks",
    "non-voting-server",
    "rejoin",
    "server",
    "syslog",
    "ui",
];

const USAGE: &str =
    "consul agent [-config-file FILE] [-config-dir DIR] [-node NAME] [-node-id ID] [-datacenter NAME] [-client ADDRESS]
    [-bind ADDRESS] [-http-port PORT]
This is the stand-in of fencepost, with an empty store; other flags of consul agent are accepted and named on stderr.
`fencepost serve consul --help` has clocks and faults.
";

/// Whether fencepost was called by the name of a Consul agent.
pub fn is_consul(program: Option<&OsString>) -> bool {
    program.is_some_and(|program| Path::new(program).file_stem().is_some_and(|name| name == "consul"))
}

/// Does what `consul` would do with these arguments.
pub fn run(arguments: &[String]) -> Result<Exit, CommandError> {
    match arguments.first().map(String::as_str) {
        Some("agent") if arguments.iter().any(|argument| matches!(argument.trim_start_matches('-'), "h" | "help")) => {
            say(USAGE);
            Ok(Exit::AsExpected)
        }
        Some("agent") => {
            let asked = Asked::read(&arguments[1..])?;
            let mut settings = Settings::default();
            let configuration = asked.configuration()?;
            let read = settings.configure(&configuration.to_string()).map_err(CommandError::Input)?;
            let ignored: BTreeSet<String> = asked.ignored.into_iter().chain(read.ignored).collect();
            if !ignored.is_empty() {
                let ignored: Vec<String> = ignored.into_iter().collect();
                eprintln!("fencepost: ignored: {}", ignored.join(", "));
            }
            let listen = read.listen.unwrap_or_else(|| "127.0.0.1:8500".to_owned());
            until_stopped(Server::start, settings, &listen, None, &Common::default())
        }
        Some("version" | "-version" | "--version" | "-v") => {
            say("Consul v1.8.7\nThis is the stand-in of fencepost: `fencepost serve consul --help`");
            Ok(Exit::AsExpected)
        }
        other => Err(CommandError::Input(format!(
            "called as consul, there are `agent` and `version`, and not `{}`",
            other.unwrap_or_default()
        ))),
    }
}

/// The flags of `consul agent`.
#[derive(Debug, Default)]
struct Asked {
    /// Files of configuration, and folders of them; a later one counts more.
    files: Vec<PathBuf>,
    /// What flags say, as a configuration; it counts most.
    flags: Map<String, Value>,
    /// Flags that mean nothing to a stand-in.
    ignored: BTreeSet<String>,
}

impl Asked {
    fn read(arguments: &[String]) -> Result<Self, CommandError> {
        let mut asked = Asked::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let flag = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'));
            let Some(flag) = flag.filter(|flag| !flag.is_empty()) else {
                return Err(CommandError::Input(format!("`{argument}` is no flag of consul agent")));
            };
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None if SWITCHES.contains(&flag) => (flag, None),
                None => (flag, arguments.next().cloned()),
            };
            if SWITCHES.contains(&name) {
                asked.ignored.insert(format!("-{name}"));
                continue;
            }
            let value = value.ok_or_else(|| CommandError::Input(format!("-{name}: its value is missing")))?;
            asked.flag(name, value)?;
        }
        Ok(asked)
    }

    fn flag(&mut self, name: &str, value: String) -> Result<(), CommandError> {
        let field = match name {
            "config-file" | "config-dir" => {
                self.files.push(PathBuf::from(value));
                return Ok(());
            }
            "http-port" => {
                let port: u16 =
                    value.parse().map_err(|_| CommandError::Input(format!("-http-port: {value} is no port")))?;
                self.flags.insert("ports".to_owned(), json!({ "http": port }));
                return Ok(());
            }
            "hcl" => {
                let why = "-hcl: HCL is not read; -config-file takes the same as JSON";
                return Err(CommandError::Input(why.to_owned()));
            }
            "node" => "node_name",
            "node-id" => "node_id",
            "datacenter" => "datacenter",
            "client" => "client_addr",
            "bind" => "bind_addr",
            other => {
                self.ignored.insert(format!("-{other}"));
                return Ok(());
            }
        };
        self.flags.insert(field.to_owned(), Value::String(value));
        Ok(())
    }

    /// Everything together. An agent listens to 127.0.0.1:8500 unless something says otherwise; `bind_addr` is not about HTTP.
    fn configuration(&self) -> Result<Value, CommandError> {
        let mut all = Map::from_iter([
            ("client_addr".to_owned(), json!("127.0.0.1")),
            ("ports".to_owned(), json!({"http": 8500})),
        ]);
        for file in &self.files {
            for file in json_files(file)? {
                let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
                let fields = serde_json::from_str(&text).map_err(|error| {
                    unreadable(&file, &format!("{error}; a configuration is read as JSON, and HCL is not"))
                })?;
                merge(&mut all, fields);
            }
        }
        merge(&mut all, self.flags.clone());
        Ok(Value::Object(all))
    }
}

/// A file, or the JSON files of a folder in the order of their names.
fn json_files(path: &Path) -> Result<Vec<PathBuf>, CommandError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries =
        fs::read_dir(path).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut files = entries.map_err(|error| unreadable(path, &error))?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

/// Later fields replace earlier ones; ports one by one.
fn merge(all: &mut Map<String, Value>, fields: Map<String, Value>) {
    for (name, value) in fields {
        match (all.get_mut(&name), value) {
            (Some(Value::Object(before)), Value::Object(ports)) if name == "ports" => before.extend(ports),
            (_, value) => drop(all.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, is_consul};

    fn asked(flags: &str) -> Asked {
        let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        Asked::read(&flags).expect("flags of consul agent")
    }

    #[test]
    fn the_name_of_the_program_decides() {
        for (program, expected) in
            [("consul", true), ("bin/consul", true), ("fencepost", false), ("consul/fencepost", false)]
        {
            assert_eq!(is_consul(Some(&program.into())), expected, "{program}");
        }
    }

    #[test]
    fn flags_count_more_than_defaults() {
        let asked =
            asked("-dev -node one --client=127.0.0.2 -http-port 8600 -server -log-level debug -bootstrap-expect=1");
        let configuration = asked.configuration().expect("no file is read");
        let expected = serde_json::json!({"node_name": "one", "client_addr": "127.0.0.2", "ports": {"http": 8600}});
        assert_eq!(configuration, expected);
        let ignored: Vec<&str> = asked.ignored.iter().map(String::as_str).collect();
        assert_eq!(ignored, ["-bootstrap-expect", "-dev", "-log-level", "-server"]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for (flags, part) in [
            ("agent", "no flag"),
            ("-node", "value is missing"),
            ("-http-port high", "no port"),
            ("-hcl x=1", "HCL is not read"),
        ] {
            let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
            let error = Asked::read(&flags).expect_err("it is refused").to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
