//! Flags and stanzas of elections as they are in the field: what each becomes, and errors with their place.

use fencepost_doctor::configuration::{Place, Reading, Understood};
use fencepost_doctor::election::configuration::{
    ElectionConfiguration, ProgramStart, StanzaMember, StanzaStart, of_arguments, of_flags, of_stanza,
};
use fencepost_doctor::{ElectionQuestion, ShellWord};

fn of(line: &str) -> Understood<ElectionQuestion> {
    match of_flags(line, "flags", None).unwrap_or_else(|error| panic!("{line}: {error}")) {
        ElectionConfiguration::Elects(understood) => *understood,
        ElectionConfiguration::Idle { why, .. } | ElectionConfiguration::Unsaid { why } => panic!("{line}: {why}"),
    }
}

fn idle(line: &str) -> (Option<usize>, String) {
    match of_flags(line, "flags", None).unwrap_or_else(|error| panic!("{line}: {error}")) {
        ElectionConfiguration::Idle { place, why } => (Some(place.column), why),
        ElectionConfiguration::Unsaid { why } => (None, why),
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
    let operator = "15s 10s 2s 5s false controller-runtime";
    for (line, expected) in [
        ("/tini -- /manager --leader-elect", operator),
        ("/tini -g -- env A=1 /manager --leader-elect", operator),
        ("/entry -v -- /manager --leader-elect", operator),
        ("dumb-init kube-controller-manager", "15s 10s 2s 5s false client-go"),
        ("sh -c '# start it\nexec /manager --leader-elect'", operator),
        ("bash -eo pipefail -c 'echo \"hi; there\" ; exec /manager --leader-elect 2>&1'", operator),
        ("sh -c 'test -f /x && A=$(ls | wc -l); /manager --leader-elect & wait'", operator),
        ("sh -c 'if true; then\n  /manager --leader-elect\nfi'", operator),
        ("echo hi; /manager --leader-elect", operator),
        (
            "kube-controller-manager --feature-gates=A=false,ControllerManagerReleaseLeaderElectionLockOnExit=true",
            "15s 10s 2s 5s true client-go",
        ),
        (
            "csi-resizer --leader-election --feature-gates kube:ReleaseLeaderElectionOnExit=true",
            "15s 10s 5s none true client-go",
        ),
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
        ("/manager --v 2", None, "it may do so of its own"),
        ("", None, "nothing here says that it elects a leader, as `--leader-elect` or `--leader-election` do"),
        ("dhcpd --lease-duration=24h", None, "nothing here says"),
        ("/manager -- --leader-elect", None, "nothing here says"),
        ("/manager --leader-elect=0 -- /other --leader-elect", Some(10), "is false"),
        ("sh -c 'a --leader-elect & b --leader-elect'", None, "a script that is not read here"),
        ("sh -c 'cat <<X\n/manager --leader-elect\nX'", None, "a script that is not read here"),
        ("sh /manager.sh", None, "nothing here says"),
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
    assert_eq!(
        read.assumptions,
        ["the file of `--config` (line 1) is not read, and is taken to set nothing: ask again with --from that file"]
    );
}

#[test]
fn a_misspelt_flag_is_found_and_the_right_one_is_named() {
    let read = of(
        "kube-scheduler --leader-elect --leader-elect-lease-duraton=60s --leder-elect-renew-deadline=50s --v=2 --lease-file=x",
    );
    let unknown: Vec<_> = read
        .fields
        .iter()
        .filter_map(|field| match field.reading {
            Reading::Unknown { meant } => Some((field.name.as_str(), meant)),
            _ => None,
        })
        .collect();
    assert_eq!(
        unknown,
        [
            ("--leader-elect-lease-duraton", Some("leader-elect-lease-duration")),
            ("--leder-elect-renew-deadline", Some("leader-elect-renew-deadline")),
        ],
        "other flags of the program say nothing about an election"
    );
    assert_eq!(read.question.lease.to_string(), "15s");
    let told =
        read.fields.iter().find(|field| field.name.ends_with("duraton")).expect("it is told").reading.to_string();
    assert!(told.starts_with("WARNING") && told.ends_with("did you mean `leader-elect-lease-duration`?"), "{told}");
}

#[test]
fn other_feature_gates_are_named_and_not_understood() {
    // The second one is of sidecars: it does not turn off what the scheduler does.
    let read = of("kube-scheduler --feature-gates=Colour=true,ReleaseLeaderElectionOnExit=false");
    assert!(read.question.release);
    let shown: Vec<_> = read.fields.iter().map(|field| (field.name.as_str(), field.value.as_deref())).collect();
    let gates =
        [("--feature-gates Colour", Some("true")), ("--feature-gates ReleaseLeaderElectionOnExit", Some("false"))];
    assert_eq!(shown[..2], gates);
    assert!(read.fields[..2].iter().all(|field| matches!(field.reading, Reading::Unknown { .. })));
    let read =
        of("csi-resizer --leader-election --feature-gates ControllerManagerReleaseLeaderElectionLockOnExit=true");
    assert!(!read.question.release);
    let wrong = of_flags("csi-resizer --leader-election --feature-gates=ReleaseLeaderElectionOnExit", "f", None);
    assert!(wrong.expect_err("it has no value").to_string().contains("is true or false"));
}

#[test]
fn what_the_command_line_says_is_not_told_as_if_it_were_read() {
    let mut read = of("--leader-elect --leader-elect-lease-duration=30s");
    read.override_setting("lease", "--lease 20s");
    read.override_setting("renew-deadline", "--renew-deadline 9s");
    let told = |name: &str| {
        let field = read.fields.iter().find(|field| field.name.ends_with(name)).expect("it is there");
        field.reading.to_string()
    };
    assert_eq!(told("lease-duration"), "no verdict depends on it: overridden by --lease 20s");
    assert_eq!(told("renew-deadline"), "no verdict depends on it: overridden by --renew-deadline 9s");
    assert!(told("retry-period").starts_with("retry-period 2s: assumed"), "{}", told("retry-period"));
}

#[test]
fn what_is_a_guess_says_so_and_facts_have_their_version() {
    let told = |line: &str, name: &str| {
        let read = of(line);
        read.fields.iter().find(|field| field.name == name).expect("it is there").reading.to_string()
    };
    for (line, name, says) in [
        ("cert-manager-controller", "request-timeout", "none: assumed, not in the flags: a guess"),
        ("cert-manager-controller", "leader-elect-lease-duration", "cert-manager@2d0d7f7f7"),
        ("kube-scheduler", "ReleaseOnCancel", "since Kubernetes 1.22"),
        ("kube-controller-manager", "ReleaseOnCancel", "off in 1.36"),
        ("csi-attacher --leader-election", "leader-election-lease-duration", "csi-lib-utils@4dbcbf1a"),
    ] {
        assert!(told(line, name).contains(says), "{line}: {}", told(line, name));
    }
}

#[test]
fn the_version_of_kubernetes_in_the_image_says_which_client_go_it_has() {
    for (image, recipe, expected) in [
        ("hetznercloud/hcloud-cloud-controller-manager:v1.20.0", None, "client-go"),
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

/// A version between those that are known is told as such, and ReleaseOnCancel of kube-scheduler came with 1.22.
#[test]
fn ol_k_12_the_version_of_kubernetes_says_whether_its_scheduler_releases() {
    for (tag, releases, says) in [
        ("v1.19.0", false, "v0.26 is the nearest one"),
        ("v1.22.0", true, "v0.26 is the nearest one"),
        ("v1.26.0", true, "client-go v0.26"),
        ("v1.30.2", true, "v0.33 is the nearest one"),
        ("v1.36.0", true, "v0.37 is the nearest one"),
        ("v1.37.0", true, "client-go v0.37"),
    ] {
        let image = format!("k8s/kube-scheduler:{tag}");
        let start = ProgramStart { file: "m", kind: "it", of: "the manifest", image: Some(&image), recipe: None };
        let read = of_arguments(start, &[]).expect("it is read");
        let ElectionConfiguration::Elects(understood) = read else { panic!("{image}: {read:?}") };
        let recipe = understood.fields.last().expect("the recipe").reading.to_string();
        assert_eq!(understood.question.release, releases, "{image}");
        assert!(recipe.ends_with(says) || recipe.contains(&format!("{says} that is known here")), "{image}: {recipe}");
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
    let (api_version, kind) = kind.split_once(' ').unwrap_or(("", kind));
    let member = |(line, (name, value)): (usize, &(&str, &str))| StanzaMember {
        name: (*name).to_owned(),
        place: Place { line: line + 1, column: 3 },
        value: (*value).to_owned(),
        value_place: Place { line: line + 1, column: 20 },
    };
    let members: Vec<StanzaMember> = members.iter().enumerate().map(member).collect();
    match of_stanza(StanzaStart { file: "file", kind, api_version, recipe: None }, &members) {
        Ok(ElectionConfiguration::Elects(understood)) => settings(&understood.question),
        Ok(ElectionConfiguration::Idle { why, .. } | ElectionConfiguration::Unsaid { why }) => why,
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
    let openshift = "137s 107s 26s none true client-go";
    assert_eq!(stanza("GenericOperatorConfig", &[("disable", "false")]), openshift);
    assert_eq!(stanza("GenericControllerConfig", &[]), openshift);
    assert_eq!(stanza("Operator", &[("disable", "false")]), openshift);
    assert_eq!(stanza("kubecontrolplane.config.openshift.io/v1 Config", &[]), openshift);
    let unsaid = stanza("notopenshift.io/v1 Config", &[]);
    assert_eq!(
        unsaid,
        "nothing here says that it elects a leader, as `leaderElect: true` does; it may do so of its own"
    );
    let wrong = stanza("Operator", &[("leaderElect", "true"), ("leaseDuration", "9s")]);
    assert!(wrong.starts_with("file:2:20: lease: the elector refuses 9s"), "{wrong}");
}
