//! The stanza `leaderElection` of configuration files: `LeaderElectionConfiguration` of component-base, as KubeSchedulerConfiguration and
//! operators have it, and `LeaderElection` of OpenShift, which has `disable`.

use super::programs::KnownProgram;
use super::{DISABLES, ElectionConfiguration, ElectionSetting, GivenSetting, Spelling, Written, known};
use crate::configuration::{ConfigurationError, Field, Place, Reading};

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

/// Reads the stanza of a file of this kind, as `KubeSchedulerConfiguration`; without members it has its defaults.
///
/// # Errors
/// A field has a wrong value, or the settings are refused; with the place.
pub fn of_stanza(
    file: &str,
    kind: &str,
    recipe: Option<&str>,
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
                    _ => Reading::Unknown,
                };
                others.push(Field { name: name.clone(), place: Some(*place), value: None, reading });
                continue;
            }
        };
        let (name, place, value, value_place) = (name.clone(), *place, value.clone(), *value_place);
        given.push(GivenSetting { setting, name, place, value_place, value, remark: None });
    }
    let program = match kind {
        "KubeSchedulerConfiguration" => "kube-scheduler",
        "KubeControllerManagerConfiguration" => "kube-controller-manager",
        "CloudControllerManagerConfiguration" => "cloud-controller-manager",
        _ => "",
    };
    Written {
        file,
        kind: format!("`leaderElection` of {kind}"),
        program: KnownProgram::named(program, true),
        recipe: known(recipe),
        of_version: None,
        given,
        others,
        spelling: Spelling { of: "the file", names: ["leaderElect", "leaseDuration", "renewDeadline", "retryPeriod"] },
    }
    .read()
}
