//! Configurations as they are in the field: what each field becomes, and errors with their place.

use fencepost_doctor::lock::configuration::{Configuration, Reading, of_file, of_lock_command};
use fencepost_doctor::{LockBelief, LockQuestion};
use fencepost_model::units::Duration;

fn duration(text: &str) -> Duration {
    text.parse().expect("a duration")
}

fn read(text: &str) -> Configuration {
    of_file(text, "vault.hcl").unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn reading(configuration: &Configuration, name: &str) -> (Option<usize>, Reading) {
    let field = configuration.fields.iter().find(|field| field.name == name);
    let field = field.unwrap_or_else(|| panic!("no field `{name}`: {:?}", configuration.fields));
    (field.place.map(|place| place.line), field.reading.clone())
}

/// A configuration as Vault's documentation shows it, with comments in each form.
const VAULT: &str = r#"
# The cluster in Berlin.
ui = true
listener "tcp" {
  address     = "127.0.0.1:8200"
  tls_disable = 1 // behind a proxy
}
listener "tcp" { address = "[::1]:8200" }
/* Data and
   lock. */
storage "consul" {
  address        = "127.0.0.1:8500"
  path           = "vault/"
  token          = "a-secret"
  session_ttl    = "30s"
  lock_wait_time = 20
  colour         = ["blue", "green",]
}
plugin_text = <<-END
  storage "raft" {
  END
telemetry = { statsd_address = "127.0.0.1:8125", disable_hostname = true }
"#;

#[test]
fn the_storage_stanza_of_vault_is_the_go_lock_with_its_ttl_renewed_after_half_of_it() {
    let configuration = read(VAULT);
    let question = &configuration.question;
    assert_eq!((question.recipe, question.slots, question.belief), ("go-lock", None, LockBelief::ByMonitor));
    assert_eq!((question.ttl, question.renew_every), (Some(duration("30s")), Some(duration("15s"))));
    assert_eq!(question.lock_delay, duration("15s"));
    assert!(
        matches!(reading(&configuration, "session_ttl"), (Some(15), Reading::Setting(text)) if text.contains("renew-every 15s"))
    );
    assert!(
        matches!(reading(&configuration, "lock_wait_time"), (Some(16), Reading::WithoutEffect(text)) if text.starts_with("20s"))
    );
    assert_eq!(reading(&configuration, "colour"), (Some(17), Reading::Unknown { meant: None }));
    assert!(!format!("{:?}", configuration.fields).contains("a-secret"), "a token is never shown");
}

#[test]
fn the_stanza_for_high_availability_comes_first_and_json_is_read_like_hcl() {
    let both = "storage \"file\" { path = \"/data\" }\nha_storage \"consul\" {\n  session_ttl = \"20s\"\n}\n";
    assert_eq!(read(both).question.ttl, Some(duration("20s")));
    for json in [
        r#"{"storage": {"consul": {"session_ttl": "20s", "address": "a\u002fb"}}, "ui": true}"#,
        r#"{"backend": [{"consul": [{"session_ttl": "20s"}]}]}"#,
        "{\n  \"ha_storage\":\n  {\"consul\": {\"session_ttl\": \"20s\"}},\n  \"storage\": {\"raft\": {}}\n}",
    ] {
        assert_eq!(read(json).question.ttl, Some(duration("20s")), "{json}");
    }
    // What is not set has the default of the Go client.
    let empty = read("backend \"consul\" {}\n");
    assert_eq!(empty.question, LockQuestion::of_recipe("go-lock").expect("it is known"));
    assert!(matches!(reading(&empty, "session_ttl"), (None, Reading::Setting(text)) if text.contains("15s")));
}

#[test]
fn a_mistake_in_a_configuration_has_its_line_and_column() {
    for (text, says) in [
        ("storage \"consul\" {\n  session_ttl = \"15\"\n}", "vault.hcl:2:17: `session_ttl` has no unit"),
        ("storage \"consul\" {\n  session_ttl = 15\n}", "vault.hcl:2:17: `session_ttl` has no unit"),
        (
            "storage \"consul\" {\n  session_ttl = \"15sec\"\n}",
            "vault.hcl:2:17: `session_ttl`: `15sec` has an unknown unit",
        ),
        ("storage \"consul\" {\n\n  session_ttl = \"30h\"\n}", "vault.hcl:3:3: ttl: 108000s is longer than"),
        (
            "storage \"consul\" {\n  session_ttl = [1]\n}",
            "vault.hcl:2:17: `session_ttl` is a text in quotes, and here stands a list",
        ),
        (
            "storage \"consul\" {\n  consistency_mode = \"weak\"\n}",
            "vault.hcl:2:22: there is no consistency mode `weak`",
        ),
        ("storage \"consul\" {\n  path = \"a\"\n  path = \"b\"\n}", "vault.hcl:3:3: `path` stands in line 2 already"),
        ("storage \"raft\" {\n  path = \"a\"\n}", "vault.hcl:1:1: the lock of this Vault is in `raft`"),
        ("storage \"consul\" {\n  path = \"a\"\n", "the file ends within a block"),
        ("storage \"consul\" {\n  path = \"a\n}", "vault.hcl:2:10: this text does not end in its line"),
        ("storage \"consul\" {\n  path = var.path\n}", "vault.hcl:2:10: `var.path` is no value"),
        ("storage \"consul\" {\n  path \"a\"\n}", "after `path` comes `=` and a value"),
        ("storage \"consul\" { path = \"a\" scheme = \"http\" }", "vault.hcl:1:31: one line has one name"),
        ("storage = \"consul\"", "vault.hcl:1:11: `storage` is a block"),
        ("ui = true\n", "vault.hcl:1:1: this is neither Vault's configuration"),
        ("", "vault.hcl:1:1: this is neither"),
        ("/* storage", "vault.hcl:1:1: this comment does not end"),
        ("a = <<END\nb\n", "vault.hcl:1:5: this text does not end"),
        ("{\"storage\": {\"consul\": {}}\n \"ui\": true}", "vault.hcl:2:2: this is no JSON"),
    ] {
        let error = of_file(text, "vault.hcl").expect_err(says).to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
    let deep = format!("storage \"consul\" {{ a = {} }}", "[".repeat(10_000));
    assert!(of_file(&deep, "deep.hcl").expect_err("too deep").to_string().contains("at most 32 deep"));
}

#[test]
fn options_of_the_go_client_are_read_with_its_defaults_and_its_nanoseconds() {
    let options = of_file(
        r#"{"Key": "lead", "SessionTTL": "30s", "LockDelay": 20000000000, "MonitorRetries": 5, "MonitorRetryTime": 2000000000,
            "LockWaitTime": "10s", "LockTryOnce": true, "Colour": "blue"}"#,
        "lock.json",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let question = &options.question;
    assert_eq!((question.ttl, question.renew_every), (Some(duration("30s")), Some(duration("15s"))));
    assert_eq!(question.lock_delay, duration("20s"));
    for name in ["MonitorRetries", "MonitorRetryTime", "LockWaitTime", "LockTryOnce"] {
        assert!(matches!(reading(&options, name).1, Reading::WithoutEffect(_)), "{name}");
    }
    assert_eq!(reading(&options, "Colour").1, Reading::Unknown { meant: None });
    let bare = of_file(r#"{"Key": "lead", "LockDelay": 0}"#, "lock.json").expect("a key is enough");
    assert_eq!(bare.question, LockQuestion::of_recipe("go-lock").expect("it is known"));
    // C-LD-3: Consul stores more, and grants 60 s.
    let long = of_file(r#"{"Key": "lead", "LockDelay": "90s"}"#, "lock.json").expect("it is capped");
    assert_eq!(long.question.lock_delay, duration("60s"));
}

/// `RenewPeriodic` gets `SessionTTL`, and the session has the TTL of `SessionOpts` (api/lock.go).
#[test]
fn a_session_of_its_own_is_first_renewed_after_half_of_the_other_ttl() {
    let of = |options: &str| of_file(options, "lock.json").unwrap_or_else(|error| panic!("{error}")).question;
    let later = of(r#"{"Key": "a", "SessionTTL": "60s", "SessionOpts": {"TTL": "10s", "LockDelay": 5000000000}}"#);
    assert_eq!((later.ttl, later.renew_every), (Some(duration("10s")), Some(duration("30s"))));
    assert_eq!(later.lock_delay, duration("5s"));
    let sooner = of(r#"{"Key": "a", "SessionOpts": {"TTL": "20s", "Behavior": "delete"}}"#);
    assert_eq!((sooner.ttl, sooner.renew_every), (Some(duration("20s")), Some(duration("10s"))));
    let none = of(r#"{"Key": "a", "SessionOpts": {"Checks": ["serfHealth"]}, "LockDelay": "5s"}"#);
    assert_eq!((none.ttl, none.renew_every, none.lock_delay), (None, None, duration("15s")));
}

#[test]
fn options_of_a_semaphore_have_slots_and_a_mistake_in_options_has_its_place() {
    let semaphore =
        of_file(r#"{"Prefix": "jobs", "Limit": 3, "SessionTTL": "10s"}"#, "lock.json").expect("a semaphore");
    assert_eq!((semaphore.question.slots, semaphore.question.ttl), (Some(3), Some(duration("10s"))));
    for (text, says) in [
        (r#"{"Key": "a", "LockDelay": 15}"#, "lock.json:1:27: Go reads a bare number as nanoseconds"),
        (r#"{"Key": "a", "SessionTTL": 15}"#, "lock.json:1:28: `SessionTTL` is a text in quotes"),
        (r#"{"Key": "a", "Session": "2f1e"}"#, "lock.json:1:25: this session is made elsewhere"),
        (r#"{"Prefix": "a"}"#, "a semaphore has a limit"),
        (r#"{"Prefix": "a", "Limit": 0}"#, "a limit is a number from 1"),
        (r#"{"Key": "a", "key": "b"}"#, "`key` stands in line 1 already"),
        (r#"{"Key": "a", "MonitorRetries": -1}"#, "not negative"),
        (r#"{"Key": "a", "SessionOpts": {"Behavior": "keep"}}"#, "lock.json:1:42: there is no behavior `keep`"),
        (r#"{"Name": "a"}"#, "nor the Go client's options"),
    ] {
        let error = of_file(text, "lock.json").expect_err(says).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn flags_of_consul_lock_are_read_as_a_shell_and_go_read_them() {
    let of = |line: &str| of_lock_command(line, "line").unwrap_or_else(|error| panic!("{line}: {error}"));
    let default = LockQuestion::of_recipe("lock-command").expect("it is known");
    for line in [
        "",
        "consul lock jobs/backup ./backup.sh -n 3",
        "consul lock -verbose -shell=false -name 'a b' jobs \"run it\"",
        "CONSUL_HTTP_ADDR=10.0.0.1:8500 /usr/bin/consul lock -monitor-retry=10 -timeout 1m jobs run; echo done",
        "-n=1 \\\n  -try 5s jobs run",
    ] {
        assert_eq!(of(line).question, default, "{line}");
    }
    for line in ["-n 3 -try 5s", "consul lock --n=3 jobs ./backup.sh"] {
        assert_eq!(of(line).question, LockQuestion { slots: Some(3), ..default.clone() }, "{line}");
    }
    assert!(
        matches!(reading(&of("-try 5s"), "-try"), (Some(1), Reading::WithoutEffect(text)) if text.contains("-timeout"))
    );
    for (line, says) in [
        ("consul lock -limit 3 jobs run", "line:1:13: `consul lock` has no flag `-limit`"),
        ("consul kv get a", "line:1:8: `consul kv` is no lock"),
        ("-n 0", "line:1:1: `-n` is the number of holders"),
        ("-n", "line:1:1: `-n` needs a value"),
        ("-timeout 5", "line:1:1: `-timeout`: `5` has no unit"),
        ("-verbose\n  -monitor-retry=-1", "line:2:3: `-monitor-retry` is a number from 0"),
        ("-verbose=maybe", "`-verbose` is true or false"),
        ("jobs 'run it", "line:1:6: this text does not end"),
    ] {
        let error = of_lock_command(line, "line").expect_err(says).to_string();
        assert!(error.contains(says), "{line}: {error}");
    }
}

#[test]
fn damaged_configurations_are_answered_with_an_error_and_no_panic() {
    let json = r#"{"storage": {"consul": {"session_ttl": "20s", "tls": [1, -2.5e3, null]}}}"#;
    let line = "CONSUL=1 consul lock -n 3 -name 'a b' \\\n -try=5s \"jobs\" run";
    for text in [VAULT, json, line] {
        let characters: Vec<char> = text.chars().collect();
        for at in 0..characters.len() {
            for put in ['"', '{', '}', '\\', '<', '=', '\n', 'é', '\0'] {
                let mut damaged = characters.clone();
                damaged[at] = put;
                let damaged: String = damaged.into_iter().collect();
                let _ = (of_file(&damaged, "a"), of_lock_command(&damaged, "a"));
            }
            let cut: String = characters[..at].iter().collect();
            let _ = (of_file(&cut, "a"), of_lock_command(&cut, "a"));
        }
    }
}

#[test]
fn a_misspelt_name_is_left_out_and_the_right_one_is_named() {
    let meant = |text: &str, file: &str, name: &str| {
        let read = of_file(text, file).unwrap_or_else(|error| panic!("{error}"));
        match reading(&read, name).1 {
            Reading::Unknown { meant } => meant,
            other => panic!("{other}"),
        }
    };
    let vault = |field: &str| format!("storage \"consul\" {{\n  {field} = \"20s\"\n}}\n");
    for (field, known) in [
        ("sesion_ttl", Some("session_ttl")),
        ("session_tlt", Some("session_ttl")),
        ("consistancy_mode", Some("consistency_mode")),
        ("session_delay", None),
        ("ttl", None),
    ] {
        assert_eq!(meant(&vault(field), "vault.hcl", field), known, "{field}");
    }
    for (text, field, known) in [
        (r#"{"Key": "k", "SesionTTL": "20s"}"#, "SesionTTL", Some("SessionTTL")),
        (r#"{"Key": "k", "LokDelay": "20s"}"#, "LokDelay", Some("LockDelay")),
        (r#"{"Key": "k", "Keys": "20s"}"#, "Keys", None),
        (r#"{"Key": "k", "SessionOpts": {"TTL": "20s", "LockDely": "1s"}}"#, "SessionOpts.LockDely", Some("LockDelay")),
    ] {
        assert_eq!(meant(text, "lock.json", field), known, "{field}");
    }
}
