//! Programs that are known by their name: what they do where their flags say nothing. Each is a fact about its source at the version that
//! stands there.

use fencepost_model::units::Duration;

/// A program that elects its leader with client-go.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct KnownProgram {
    /// How names of its files and images end.
    endings: &'static [&'static str],
    /// Whether it is this program, and not one of which nothing is known.
    pub is_known: bool,
    /// Whether it elects a leader where nothing says so.
    pub elects: bool,
    /// LeaseDuration, RenewDeadline and RetryPeriod in seconds.
    terms: [i64; 3],
    /// The elector.
    pub recipe: &'static str,
    /// Whether its requests time out after half the renew deadline, whatever the recipe says (OL-K-13).
    pub times_out: bool,
    /// ReleaseOnCancel.
    pub releases: ReleaseDefault,
    /// The feature gates that are ReleaseOnCancel.
    pub release_gates: &'static [&'static str],
    /// Whether its version is that of Kubernetes, which goes with one of client-go.
    is_kubernetes: bool,
    /// Where its durations stand, and at which version.
    pub source: &'static str,
    /// Where the timeout of requests stands.
    pub timeout_source: &'static str,
}

/// Whether a program has ReleaseOnCancel where nothing says so, and where that stands.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum ReleaseDefault {
    Off(&'static str),
    On(&'static str),
    /// On since Kubernetes 1.`minor`.
    Since {
        minor: u16,
        source: &'static str,
    },
}

impl ReleaseDefault {
    /// The setting in this version of Kubernetes, and why.
    pub fn of(&self, version: Option<u16>) -> (bool, String) {
        match (self, version) {
            (ReleaseDefault::Off(source), _) => (false, (*source).to_owned()),
            (ReleaseDefault::Since { minor, source }, Some(version)) if version < *minor => {
                (false, format!("{source}, and the image is of 1.{version}"))
            }
            (ReleaseDefault::On(source) | ReleaseDefault::Since { source, .. }, _) => (true, (*source).to_owned()),
        }
    }
}

const COMPONENT_BASE: &str = "component-base `config/v1alpha1/defaults.go`, line v0.37";
const HALF: &str = "half the renew deadline, at least 1s (OL-K-13)";
const OF_CLIENT: &str = "a lock of resourcelock.New keeps the client's (OL-K-13)";

const CONTROLLER_MANAGER_GATE: &str = "ControllerManagerReleaseLeaderElectionLockOnExit";
const SIDECAR_GATE: &str = "ReleaseLeaderElectionOnExit";

const CONTROLLER_MANAGER: KnownProgram = KnownProgram {
    endings: &["kube-controller-manager"],
    is_known: true,
    elects: true,
    terms: [15, 10, 2],
    recipe: "client-go",
    times_out: true,
    releases: ReleaseDefault::Off(
        "leaderElectAndRun of `app/controllermanager.go`; the feature gate ControllerManagerReleaseLeaderElectionLockOnExit turns it on, which \
         is off in 1.36, and may be on in later versions",
    ),
    release_gates: &[CONTROLLER_MANAGER_GATE],
    is_kubernetes: true,
    source: COMPONENT_BASE,
    timeout_source: HALF,
};

const KNOWN: [KnownProgram; 5] = [
    KnownProgram {
        endings: &["kube-scheduler"],
        releases: ReleaseDefault::Since {
            minor: 22,
            source: "cmd/kube-scheduler/app/options/options.go since Kubernetes 1.22 (kubernetes/kubernetes#100305)",
        },
        release_gates: &[],
        ..CONTROLLER_MANAGER
    },
    CONTROLLER_MANAGER,
    KnownProgram {
        endings: &["cloud-controller-manager"],
        releases: ReleaseDefault::Off("leaderElectAndRun of cloud-provider `app/controllermanager.go`, line v0.37"),
        release_gates: &[],
        ..CONTROLLER_MANAGER
    },
    KnownProgram {
        endings: &[
            "csi-attacher",
            "csi-external-health-monitor-controller",
            "csi-provisioner",
            "csi-resizer",
            "csi-snapshotter",
            "snapshot-controller",
        ],
        is_known: true,
        elects: false,
        terms: [15, 10, 5],
        recipe: "client-go",
        times_out: false,
        releases: ReleaseDefault::Off(
            "kubernetes-csi/csi-lib-utils@4dbcbf1a; the feature gate ReleaseLeaderElectionOnExit turns it on, where a sidecar has it",
        ),
        release_gates: &[SIDECAR_GATE],
        is_kubernetes: false,
        source: "kubernetes-csi/csi-lib-utils@4dbcbf1a `leaderelection/leader_election.go`",
        timeout_source: OF_CLIENT,
    },
    KnownProgram {
        endings: &["cert-manager-controller"],
        is_known: true,
        elects: true,
        terms: [60, 40, 15],
        recipe: "client-go",
        times_out: false,
        releases: ReleaseDefault::On("cert-manager@2d0d7f7f7"),
        release_gates: &[],
        is_kubernetes: false,
        source: "cert-manager@2d0d7f7f7",
        timeout_source: "a guess, for how cert-manager makes its lock was not read; --request-timeout says otherwise (OL-K-13)",
    },
];

/// Operators of OpenShift, which have the stanza of `config.openshift.io`.
pub(super) const LIBRARY_GO: KnownProgram = KnownProgram {
    endings: &[],
    is_known: true,
    elects: true,
    terms: [137, 107, 26],
    recipe: "client-go",
    times_out: false,
    releases: ReleaseDefault::On("openshift/library-go@93ac9206a"),
    release_gates: &[],
    is_kubernetes: false,
    source: "openshift/library-go@93ac9206a, since 2021-07; on a single node 270s, 240s and 60s",
    timeout_source: "openshift/library-go@93ac9206a sets none for the lock (OL-K-13)",
};

/// A program that is not known and has a flag or a stanza of component-base or of controller-runtime: both make requests time out.
const OTHER_WITH_TIMEOUT: KnownProgram = KnownProgram {
    endings: &[],
    is_known: false,
    elects: false,
    recipe: "controller-runtime",
    releases: ReleaseDefault::Off(
        "controller-runtime@86a0d40e and component-base, line v0.37; this program may have its own",
    ),
    release_gates: &[CONTROLLER_MANAGER_GATE, SIDECAR_GATE],
    is_kubernetes: false,
    source: "controller-runtime@86a0d40e and component-base, line v0.37; this program may have its own",
    ..CONTROLLER_MANAGER
};

/// One that has the flags of a sidecar of CSI.
const OTHER_WITHOUT_TIMEOUT: KnownProgram = KnownProgram {
    recipe: "client-go",
    times_out: false,
    releases: ReleaseDefault::Off("most users of client-go; this program may have its own"),
    source: "most users of client-go, line v0.37; this program may have its own",
    timeout_source: OF_CLIENT,
    ..OTHER_WITH_TIMEOUT
};

impl KnownProgram {
    /// The program with this name, of a file or of an image; `times_out`: what is taken of one that is not known.
    pub fn named(name: &str, times_out: bool) -> &'static KnownProgram {
        let ends = |program: &&KnownProgram| program.endings.iter().any(|ending| name.ends_with(ending));
        let other = if times_out { &OTHER_WITH_TIMEOUT } else { &OTHER_WITHOUT_TIMEOUT };
        KNOWN.iter().find(ends).unwrap_or(other)
    }

    /// LeaseDuration, RenewDeadline and RetryPeriod.
    pub fn terms(&self) -> [Duration; 3] {
        self.terms.map(Duration::of_seconds)
    }

    /// The *N* of Kubernetes 1.*N* whose image this is. Only images of Kubernetes itself say it: the controller manager of a cloud has versions
    /// of its own.
    pub fn version(&self, image: Option<&str>) -> Option<u16> {
        let (name, tag) = image.filter(|_| self.is_kubernetes).map(base_name)?;
        if !matches!(name, "kube-scheduler" | "kube-controller-manager" | "cloud-controller-manager") {
            return None;
        }
        let minor = tag?.trim_start_matches('v').strip_prefix("1.")?;
        minor.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }
}

/// The recipe of Kubernetes 1.`minor`, which has client-go 0.`minor`, with a reason.
pub(super) fn recipe_of(minor: u16) -> (&'static str, String) {
    let (recipe, exact) = match minor {
        ..=26 => ("client-go-v0-26", 26),
        27..=33 => ("client-go-v0-33", 33),
        34.. => ("client-go", 37),
    };
    let nearest =
        if minor == exact { String::new() } else { format!("; v0.{exact} is the nearest one that is known here") };
    (recipe, format!("the image is of Kubernetes 1.{minor}, which has client-go v0.{minor}{nearest}"))
}

/// The name of a program or of an image without its folders, and the tag of an image.
pub(super) fn base_name(path: &str) -> (&str, Option<&str>) {
    let path = path.split('@').next().unwrap_or(path);
    let last = path.rsplit('/').next().unwrap_or(path);
    last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)))
}
