//! Flags and stanzas of elections as they are in the field: what each becomes, and errors with their place.

use fencepost_doctor::configuration::{Place, Reading, Understood};
use fencepost_doctor::election::configuration::{
    ElectionConfiguration, ProgramStart, StanzaMember, of_arguments, of_flags, of_stanza,
};
use fencepost_doctor::{ElectionQuestion, ShellWord};

fn of(line: &str) -> Understood<ElectionQuestion> {
    match of_flags(line, "flags", None).unwrap_or_else(|error| panic!("{line}: {error}")) {
        ElectionConfiguration::Elects(understood) => *understood,
        ElectionConfiguration::Idle { why, .. } => panic!("{line}: {why}"),
    }
}

fn idle(line: &str) -> (Option<usize>, String) {
    match of_flags(line, "flags", None).unwrap_or_else(|error| panic!("{line}: {error}")) {
        ElectionConfiguration::Idle { place, why } => (place.map(|place| place.column), why),
        ElectionConfiguration::Elects(understood) => panic!("{line}: {understood:?}"),
    }
}

/// Lease, renew deadline, retry period, timeout of requests, ReleaseOnCancel, recipe.
fn settings(question: &ElectionQuestion) -> String {
    let ElectionQuestion { recipe, lease, renew_deadline, retry_period, request_timeout, release, .. } = question;
    let timeout = request_timeout.map_or("none".to_owned(), |timeout| timeout.to_string());
    format!("{lease} {renew_deadline} {retry_period} {timeout} {release} {recipe}")
}

#[test]
fn flags_of_each_family_are_read_as_go_reads_them() {
    for (line, expected) in [
        ("--leader-elect", "15s 10s 2s 5s false controller-runtime"),
        ("/manager --enable-leader-election --metrics-addr :8080", "15s 10s 2s 5s false controller-runtime"),
        (
            "-leader-elect=1 -leader-elect-renew-deadline 1m30s -leader-elect-lease-duration=2m",
            "120s 90s 2s 45s false controller-runtime",
        ),
        ("--leader-election --leader-election-retry-period=500ms", "15s 10s 500ms none false client-go"),
        ("csi-provisioner --leader-election", "15s 10s 5s none false client-go"),
        ("/usr/local/bin/kube-controller-manager --v=2", "15s 10s 2s 5s false client-go"),
        ("kube-scheduler --leader-elect-renew-deadline=1500ms", "15s 1.5s 1s 1s true client-go"),
        ("aws-cloud-controller-manager", "15s 10s 2s 5s false client-go"),
        ("cert-manager-controller", "60s 40s 15s none true client-go"),
        (
            "sh -c 'exec /manager --leader-elect --leader-election-release-on-cancel'",
            "15s 10s 2s 5s true controller-runtime",
        ),
        ("--leader-elect=false --leader-elect=true -- --leader-elect=false", "15s 10s 2s 5s false controller-runtime"),
        ("--lease-duration 30s --renew-deadline 20s --retry-period 4s", "30s 20s 4s 10s false controller-runtime"),
    ] {
        let line = line.replace("1500ms", "1500ms --leader-elect-retry-period=1s");
        assert_eq!(settings(&of(&line).question), expected, "{line}");
    }
}

#[test]
fn a_program_that_takes_part_in_no_election_says_why() {
    for (line, column, says) in [
        ("--v=2 --leader-elect=false", Some(7), "because `--leader-elect` is false"),
        ("kube-scheduler --leader-elect=F", Some(16), "because `--leader-elect` is false"),
        ("csi-attacher --leader-election-lease-duration=30s", None, "nothing turns an election on"),
        ("/manager --v 2", None, "`--leader-election`"),
        ("", None, "nothing turns"),
    ] {
        let (at, why) = idle(line);
        assert!(at == column && why.contains(says), "{line}: {at:?}: {why}");
    }
}

#[test]
fn settings_of_the_program_are_assumptions_and_those_of_flags_have_their_place() {
    let read =
        of("kube-scheduler --leader-elect false --leader-elect-lease-duration=20s --leader-elect-lease-duration 30s \
                   --leader-elect-resource-name=x --leader-elect-colour=red --config=/etc/s.yaml");
    let shown: Vec<String> = read
        .fields
        .iter()
        .map(|field| {
            let place = field.place.map_or("-".to_owned(), |place| place.column.to_string());
            format!("{} {place} {}", field.name, field.reading)
        })
        .collect();
    for (at, says) in [
        "--leader-elect 16 the program takes part in an election; Go takes the value of such a flag only after `=`",
        "--leader-elect-lease-duration 37 no verdict depends on it: it stands again in line 1",
        "--leader-elect-lease-duration 71 lease 30s",
        "--leader-elect-resource-name 105 no verdict depends on it",
        "--leader-elect-colour 136 not known here",
        "--config 162 what `leaderElection` says in that file is not known here",
        "leader-elect-renew-deadline - renew-deadline 10s: assumed, not in the flags: default of component-base",
        "leader-elect-retry-period - retry-period 2s: assumed",
        "ReleaseOnCancel - on: assumed, not in the flags: cmd/kube-scheduler",
        "request-timeout - 5s: assumed",
        "recipe - client-go: assumed",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(shown[at].starts_with(says), "{says}: {shown:#?}");
    }
    assert!(matches!(read.fields[0].reading, Reading::Setting(_)), "{read:?}");
}

#[test]
fn the_version_of_kubernetes_in_the_image_says_which_client_go_it_has() {
    for (image, recipe, expected) in [
        ("kube-scheduler:v1.26.15", None, "client-go-v0-26"),
        ("mirror:5000/kube-scheduler:v1.33.2", None, "client-go-v0-33"),
        ("kube-scheduler:v1.37.0-beta.1@sha256:00", None, "client-go"),
        ("kube-scheduler:v1.33.2", Some("client-go"), "client-go"),
        ("kube-scheduler:latest", None, "client-go"),
        ("csi-provisioner:v1.20.0", None, "client-go"),
    ] {
        let start = ProgramStart { file: "m", kind: "it", of: "the manifest", image: Some(image), recipe };
        let words = [ShellWord { place: Place { line: 1, column: 1 }, text: "--leader-election".to_owned() }];
        let read = of_arguments(start, &words).expect("it is read");
        let ElectionConfiguration::Elects(understood) = read else { panic!("{image}: {read:?}") };
        assert_eq!(understood.question.recipe, expected, "{image}");
    }
}

#[test]
fn a_mistake_in_flags_has_its_line_and_column() {
    for (line, says) in [
        ("--leader-elect=maybe", "flags:1:1: `--leader-elect` is true or false, and not `maybe`"),
        (
            "--leader-elect \\\n  --leader-elect-lease-duration=15",
            "flags:2:3: `--leader-elect-lease-duration`: `15` has no unit",
        ),
        ("--leader-elect --leader-elect-retry-period", "flags:1:16: `--leader-elect-retry-period`: `` is no duration"),
        (
            "--leader-elect --leader-elect-lease-duration $(LEASE)",
            "flags:1:46: `--leader-elect-lease-duration` is `$(LEASE)`",
        ),
        ("--leader-elect --leader-elect-renew-deadline=15s", "flags:1:1: lease: the elector refuses 15s"),
        ("--leader-elect --leader-elect-retry-period=9s", "flags:1:1: renew-deadline: the elector refuses 10s"),
        ("--leader-elect --leader-elect-lease-duration=5s", "flags:1:16: lease: the elector refuses 5s"),
        ("--leader-elect 'a", "flags:1:16: this text does not end"),
    ] {
        let error = of_flags(line, "flags", None).expect_err(says).to_string();
        assert!(error.contains(says), "{line}: {error}");
    }
}

fn stanza(kind: &str, members: &[(&str, &str)]) -> String {
    let member = |(line, (name, value)): (usize, &(&str, &str))| StanzaMember {
        name: (*name).to_owned(),
        place: Place { line: line + 1, column: 3 },
        value: (*value).to_owned(),
        value_place: Place { line: line + 1, column: 20 },
    };
    let members: Vec<StanzaMember> = members.iter().enumerate().map(member).collect();
    match of_stanza("file", kind, None, &members) {
        Ok(ElectionConfiguration::Elects(understood)) => settings(&understood.question),
        Ok(ElectionConfiguration::Idle { why, .. }) => why,
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_stanza_of_a_components_configuration_is_read_with_the_defaults_of_the_component() {
    assert_eq!(stanza("KubeSchedulerConfiguration", &[]), "15s 10s 2s 5s true client-go");
    let own = [("leaseDuration", "1m"), ("renewDeadline", "40s"), ("resourceName", "x"), ("colour", "red")];
    assert_eq!(stanza("KubeControllerManagerConfiguration", &own), "60s 40s 2s 20s false client-go");
    assert_eq!(stanza("Operator", &[("leaderElect", "true")]), "15s 10s 2s 5s false controller-runtime");
    assert!(stanza("KubeSchedulerConfiguration", &[("leaderElect", "false")]).contains("`leaderElect` is false"));
    assert!(stanza("GenericOperatorConfig", &[("disable", "true")]).contains("`disable` is true"));
    assert_eq!(stanza("GenericOperatorConfig", &[("disable", "false")]), "15s 10s 2s 5s false controller-runtime");
    let wrong = stanza("Operator", &[("leaderElect", "true"), ("leaseDuration", "9s")]);
    assert!(wrong.starts_with("file:2:20: lease: the elector refuses 9s"), "{wrong}");
}
