//! The stanza `leaderElection` of configuration files: `LeaderElectionConfiguration` of component-base, as KubeSchedulerConfiguration and
//! operators have it, and `LeaderElection` of OpenShift, which has `disable`.

use super::programs::{KnownProgram, LIBRARY_GO};
use super::written::{ElectionSetting, GivenSetting, Spelling, Written};
use super::{ElectionConfiguration, known};
use crate::configuration::{ConfigurationError, Field, Place, Reading};

/// The field that turns an election off (OpenShift's `LeaderElection`).
pub(super) const DISABLES: &str = "disable";

/// The file that a stanza stands in.
#[derive(Copy, Clone, Debug)]
pub struct StanzaStart<'a> {
    /// Its name, for errors.
    pub file: &'a str,
    /// Its kind, as `KubeSchedulerConfiguration`.
    pub kind: &'a str,
    /// Its group and version, as `config.openshift.io/v1`; empty if it says none.
    pub api_version: &'a str,
    /// The elector, where the user knows it.
    pub recipe: Option<&'a str>,
}

impl StanzaStart<'_> {
    /// The program that reads the file.
    fn program(&self, members: &[StanzaMember]) -> &'static KnownProgram {
        let group = self.api_version.split('/').next().unwrap_or("");
        let is_openshift = group == "openshift.io" || group.ends_with(".openshift.io");
        let name = match self.kind {
            "KubeSchedulerConfiguration" => "kube-scheduler",
            "KubeControllerManagerConfiguration" => "kube-controller-manager",
            "CloudControllerManagerConfiguration" => "cloud-controller-manager",
            "GenericControllerConfig" | "GenericOperatorConfig" => return &LIBRARY_GO,
            _ if is_openshift || members.iter().any(|member| member.name == DISABLES) => return &LIBRARY_GO,
            _ => "",
        };
        KnownProgram::named(name, true)
    }
}

/// The fields that set an election.
const FIELDS: [&str; 5] =
    ["leaderElect", "leaseDuration", "renewDeadline", "retryPeriod", "leaderElectionReleaseOnCancel"];

/// A field of the stanza.
#[derive(Clone, Debug)]
pub struct StanzaMember {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub place: Place,
    /// The value.
    pub value: String,
    /// Where that stands.
    pub value_place: Place,
}

/// Reads the stanza of a file; without members it has the defaults of its kind.
///
/// # Errors
/// A field has a wrong value, or the settings are refused; with the place.
pub fn of_stanza(
    start: StanzaStart<'_>,
    members: &[StanzaMember],
) -> Result<ElectionConfiguration, ConfigurationError> {
    let (mut given, mut others) = (Vec::new(), Vec::new());
    for StanzaMember { name, place, value, value_place } in members {
        let setting = match &**name {
            "leaderElect" | DISABLES => ElectionSetting::Elects,
            "leaseDuration" => ElectionSetting::Lease,
            "renewDeadline" => ElectionSetting::RenewDeadline,
            "retryPeriod" => ElectionSetting::RetryPeriod,
            "leaderElectionReleaseOnCancel" | "releaseOnCancel" => ElectionSetting::Releases,
            _ => {
                let reading = match &**name {
                    "resourceLock" | "resourceName" | "resourceNamespace" | "name" | "namespace" => {
                        Reading::WithoutEffect("it says which object is the lease".to_owned())
                    }
                    _ => Reading::unknown(name, FIELDS),
                };
                others.push(Field { name: name.clone(), place: Some(*place), value: None, reading, option: None });
                continue;
            }
        };
        given.push(GivenSetting {
            setting,
            name: name.clone(),
            place: *place,
            value_place: *value_place,
            value: value.clone(),
            remark: None,
            is_generic: false,
        });
    }
    let program = start.program(members);
    let turns = if *program == LIBRARY_GO { DISABLES } else { "leaderElect" };
    Written {
        file: start.file,
        kind: format!("`leaderElection` of {}", start.kind),
        program,
        recipe: known(start.recipe),
        version: None,
        given,
        others,
        assumptions: Vec::new(),
        spelling: Spelling {
            of: "the file",
            names: [turns, "leaseDuration", "renewDeadline", "retryPeriod"],
            turns_on: "`leaderElect: true` does",
        },
    }
    .read()
}
