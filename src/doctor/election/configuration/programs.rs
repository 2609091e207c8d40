//! Programs that are known by their name: what they do where their flags say nothing. Each is a fact about its source.

use fencepost_model::units::Duration;

/// A program that elects its leader with client-go.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct KnownProgram {
    /// How names of its files and images end.
    endings: &'static [&'static str],
    /// Whether it elects a leader where no flag says so.
    pub elects: bool,
    /// LeaseDuration, RenewDeadline and RetryPeriod in seconds.
    terms: [i64; 3],
    /// The elector.
    pub recipe: &'static str,
    /// Whether its requests time out after half the renew deadline, whatever the recipe says (OL-K-13).
    pub times_out: bool,
    /// ReleaseOnCancel.
    pub releases: bool,
    /// Whether its version is that of Kubernetes, which goes with one of client-go.
    is_kubernetes: bool,
    /// Where its durations stand.
    pub source: &'static str,
    /// Where the rest stands, and what is not known.
    pub remark: &'static str,
}

const KNOWN: [KnownProgram; 4] = [
    KnownProgram {
        endings: &["kube-scheduler"],
        elects: true,
        terms: [15, 10, 2],
        recipe: "client-go",
        times_out: true,
        releases: true,
        is_kubernetes: true,
        source: "component-base `config/v1alpha1/defaults.go`",
        remark: "cmd/kube-scheduler/app/options/options.go",
    },
    KnownProgram {
        endings: &["kube-controller-manager", "cloud-controller-manager"],
        elects: true,
        terms: [15, 10, 2],
        recipe: "client-go",
        times_out: true,
        releases: false,
        is_kubernetes: true,
        source: "component-base `config/v1alpha1/defaults.go`",
        remark: "leaderElectAndRun of `app/controllermanager.go`",
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
        elects: false,
        terms: [15, 10, 5],
        recipe: "client-go",
        times_out: false,
        releases: false,
        is_kubernetes: false,
        source: "kubernetes-csi/csi-lib-utils `leaderelection/leader_election.go`",
        remark: "kubernetes-csi/csi-lib-utils `leaderelection/leader_election.go`",
    },
    KnownProgram {
        endings: &["cert-manager-controller"],
        elects: true,
        terms: [60, 40, 15],
        recipe: "client-go",
        times_out: false,
        releases: true,
        is_kubernetes: false,
        source: "cert-manager@2d0d7f7f7",
        remark: "cert-manager@2d0d7f7f7",
    },
];

/// A program that is not known and has a flag or a stanza of component-base or of controller-runtime: both make requests time out.
const WITH_TIMEOUT: KnownProgram = KnownProgram {
    endings: &[],
    elects: false,
    terms: [15, 10, 2],
    recipe: "controller-runtime",
    times_out: true,
    releases: false,
    is_kubernetes: false,
    source: "controller-runtime and component-base; this program may have its own",
    remark: "controller-runtime and component-base; this program may have its own",
};

/// One that has the flags of a sidecar of CSI, or only durations.
const WITHOUT_TIMEOUT: KnownProgram = KnownProgram {
    endings: &[],
    elects: false,
    terms: [15, 10, 2],
    recipe: "client-go",
    times_out: false,
    releases: false,
    is_kubernetes: false,
    source: "most users of client-go; this program may have its own",
    remark: "most users of client-go; this program may have its own",
};

impl KnownProgram {
    /// The program with this name, of a file or of an image; `times_out`: what is taken of one that is not known.
    pub fn named(name: &str, times_out: bool) -> &'static KnownProgram {
        let ends = |program: &&KnownProgram| program.endings.iter().any(|ending| name.ends_with(ending));
        let other = if times_out { &WITH_TIMEOUT } else { &WITHOUT_TIMEOUT };
        KNOWN.iter().find(ends).unwrap_or(other)
    }

    /// Whether it is known by its name.
    pub fn is_known(&self) -> bool {
        !self.endings.is_empty()
    }

    /// LeaseDuration, RenewDeadline and RetryPeriod.
    pub fn terms(&self) -> [Duration; 3] {
        self.terms.map(Duration::of_seconds)
    }

    /// The recipe for the version in the tag of an image, with a reason: Kubernetes 1.N has client-go 0.N.
    pub fn of_version(&self, tag: Option<&str>) -> Option<(&'static str, String)> {
        let minor = tag.filter(|_| self.is_kubernetes)?.trim_start_matches('v').strip_prefix("1.")?;
        let minor: u16 = minor.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        let recipe = match minor {
            ..=26 => "client-go-v0-26",
            27..=33 => "client-go-v0-33",
            34.. => "client-go",
        };
        let nearest = if (27..30).contains(&minor) { ", the nearest one that is known here (OL-K-5)" } else { "" };
        Some((recipe, format!("the image is of Kubernetes 1.{minor}, which has client-go v0.{minor}{nearest}")))
    }
}

/// The name of a program or of an image without its folders, and the tag of an image.
pub(super) fn base_name(path: &str) -> (&str, Option<&str>) {
    let path = path.split('@').next().unwrap_or(path);
    let last = path.rsplit('/').next().unwrap_or(path);
    last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)))
}
