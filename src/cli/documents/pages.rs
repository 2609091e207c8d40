//! The pages of the site that stand in the source tree: each is part of the program.

/// A page that is written by hand.
#[derive(Debug)]
pub struct Source {
    /// Its path in the source tree: links are relative to it.
    pub path: &'static str,
    /// The name of its file in the site.
    pub file: &'static str,
    /// The heading of the navigation under which it stands.
    pub group: &'static str,
    /// Its name there; empty: its first heading.
    pub title: &'static str,
    pub text: &'static str,
}

/// Headings of the navigation, in order.
pub const GROUPS: [&str; 5] = ["", "Guides", "Reference", "Services", "Inside"];

macro_rules! pages {
    ($($group:literal: $path:literal as $file:literal $title:literal;)*) => {
        &[$(Source {
            path: $path,
            file: $file,
            group: $group,
            title: $title,
            text: include_str!(concat!("../../../", $path)),
        }),*]
    };
}

/// The pages, in the order of the navigation.
pub const PAGES: &[Source] = pages! {
    "": "README.md" as "index.html" "Overview";
    "Guides": "reports/docs/doctor.md" as "doctor.html" "Are my settings safe?";
    "Guides": "reports/docs/programs.md" as "programs.html" "Bring your own recipe";
    "Guides": "reports/docs/scenarios.md" as "scenarios.html" "Scenario files";
    "Guides": "src/serve/README.md" as "serve.html" "A stand-in for Consul";
    "Guides": "src/conform/LOGS.md" as "logs.html" "Recorded logs";
    "Guides": "reports/docs/incident.md" as "incident.html" "What happened last night?";
    "Guides": "reports/docs/tradeoff.md" as "tradeoff.html" "Trade-offs";
    "Guides": "reports/docs/detector.md" as "detector.html" "Failure detection";
    "Guides": "reports/docs/schedulers.md" as "schedulers.html" "Schedulers";
    "Guides": "reports/docs/simulator.md" as "simulator.html" "A simulated run";
    "Guides": "reports/docs/large-searches.md" as "large-searches.html" "A search that does not end";
    "Guides": "reports/docs/machines.md" as "machines.html" "More than one machine";
    "Guides": "reports/docs/github-actions.md" as "github-actions.html" "GitHub Actions";
    "Guides": "reports/docs/a-service.md" as "a-service.html" "A service in 30 minutes";
    "Services": "model/services/lease/README.md" as "service-lease.html" "The lease";
    "Services": "model/services/consul/README.md" as "service-consul.html" "Consul";
    "Services": "model/services/consul/rules.md" as "rules-consul.html" "Rules of Consul";
    "Services": "model/services/rabbitmq/README.md" as "service-rabbitmq.html" "RabbitMQ";
    "Services": "model/services/rabbitmq/rules.md" as "rules-rabbitmq.html" "Rules of RabbitMQ";
    "Services": "model/services/stores/README.md" as "service-stores.html" "Small stores";
    "Services": "model/services/redlock/README.md" as "service-redlock.html" "Redlock";
    "Services": "model/services/observed-lease/README.md" as "service-observed-lease.html" "Observed leases";
    "Services": "model/services/observed-lease/rules.md" as "rules-observed-lease.html" "Rules of observed leases";
    "Services": "model/services/observed-lease/slack.md" as "slack-observed-lease.html" "Slack of published settings";
    "Services": "model/services/observed-lease/pages/release-on-cancel.md" as "release-on-cancel.html" "What ReleaseOnCancel costs";
    "Services": "model/services/observed-lease/pages/deposed-leader.md" as "deposed-leader.html" "A deposed leader and its successor";
    "Services": "model/services/observed-lease/pages/settings-without-slack.md" as "settings-without-slack.html" "Settings without slack";
    "Services": "model/services/etcd/README.md" as "service-etcd.html" "etcd";
    "Services": "model/services/etcd/rules.md" as "rules-etcd.html" "Rules of etcd";
    "Inside": "reports/docs/architecture.md" as "architecture.html" "Architecture";
    "Inside": ".github/CONTRIBUTING.md" as "contributing.html" "Contributing";
};

/// The pictures of these pages: path in the source tree, name in the site, and the file itself.
pub const PICTURES: [(&str, &str, &str); 2] = [
    (
        "reports/docs/pictures/b17-release-then-stop.svg",
        "pictures/b17-release-then-stop.svg",
        include_str!("../../../reports/docs/pictures/b17-release-then-stop.svg"),
    ),
    (
        "reports/docs/pictures/ttl-and-lock-delay.svg",
        "pictures/ttl-and-lock-delay.svg",
        include_str!("../../../reports/docs/pictures/ttl-and-lock-delay.svg"),
    ),
];

/// Where a link leads that names a file of the source tree.
pub fn target(path: &str) -> Option<&'static str> {
    let page = PAGES.iter().find(|page| page.path == path).map(|page| page.file);
    page.or_else(|| PICTURES.iter().find(|(source, ..)| *source == path).map(|(_, file, _)| *file))
}
