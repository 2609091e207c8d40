//! Profiles and studies: read, and runs taken as they say.

use fencepost::catalogue;
use fencepost::model::scenario::Axis;
use fencepost::sim::{SchedulerKind, Settings, Trial, trial};

use super::{Refused, fuzz};
use crate::args::Common;
use crate::commands::tradeoff::measure::settings;
use crate::commands::tradeoff::question::StudyQuestion;
use crate::run_arguments;
use crate::studies::READY;

const PROFILES: [&str; 3] = [
    "latency = { median = 20, factor = 2.0 }\nlateness = 5\nstall = { at_least = 100, alpha = 1.5, at_most = 120000 }\n\
     stall_every = [500, 1000]\nthinking = [0, 10, 5000]\nmending = 7\n\n[[link]]\nclient = 2\nway = \"back\"\n\
     peer = \"server\"\nlatency = [100, 300]\n",
    "drift = [0, 100, 200]\nresync_every = [1000, 2000]\nlatency = 3\n",
    "latency = [1, 2]\n\n[detector]\nservers = 3\nothers = 2\nprobe_interval = 1000\nprobe_timeout = 500\n\
     indirect_checks = 3\nsuspicion_mult = 4\nsuspicion_max_mult = 6\nawareness_max = 8\ngossip_interval = 200\n\
     gossip_nodes = 3\ngossip_to_dead = 30000\nretransmit_mult = 4\npush_pull_interval = 30000\n\
     reconnect_interval = 30000\nreap_after = 60000\nlifeguard = true\nloss = 10\nlatency = [0, 2]\ncut = \"node\"\n\
     stalls_nodes = false\n",
];

fn used(bytes: &[u8]) -> Refused {
    let text = String::from_utf8_lossy(bytes);
    let profile = run_arguments::pace(&text, "fuzzed.toml")?.profile;
    for name in ["b01-no-fencing", "b44-clock-jump", "dial-bounded"] {
        let scenario = catalogue::named(name).expect("it ships");
        let settings = Settings {
            profile: profile.clone(),
            scheduler: SchedulerKind::Realistic,
            actions_max: 60,
            storm: 5,
            ..Settings::default()
        };
        if run_arguments::refuse_unusable(&*scenario, &settings).is_ok() {
            scenario.summarize(&settings);
        }
    }
    let gossip = profile.detector.unwrap_or_default();
    // A trial of many members, or with a message in every millisecond, takes long.
    let is_small = usize::from(gossip.servers) + usize::from(gossip.others) < 20
        && gossip.gossip_interval >= 100
        && gossip.probe_interval >= 100;
    if gossip.validate(0).is_ok() && is_small {
        let (stall, stall_every) = (profile.stall, profile.stall_every);
        trial(&Trial { gossip, members: 4, slow: 0, stall, stall_every, watch: 2_000 }, 1);
    }
    Ok(())
}

#[test]
fn mutated_profiles_are_used_or_refused() {
    let files: Vec<Vec<u8>> = PROFILES.iter().map(|text| text.as_bytes().to_vec()).collect();
    fuzz("profiles", 1, &files, &["line "], used);
}

#[test]
fn mutated_studies_are_used_or_refused() {
    let files: Vec<Vec<u8>> = READY.iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
    let places = ["line ", "scenario:", "`scenario`", "`seeds`", "`storm`", "`vary`", "`search`"];
    fuzz("studies", 1, &files, &places, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let named = |why: String| format!("fuzzed.toml: {why}");
        let question = StudyQuestion::read("fuzzed", &text, &Common::default()).map_err(named)?;
        question.validate().map_err(named)?;
        if let Some(simulated) = &question.simulated {
            // A large grid takes long.
            if simulated.axes.iter().map(Axis::len).product::<usize>() > 64 {
                return Ok(());
            }
            for setting in settings(simulated).into_iter().take(2) {
                let Ok(scenario) = setting.scenario else { continue };
                scenario.summarize(&Settings { actions_max: 40, ..simulated.settings.clone() });
            }
        }
        Ok(())
    });
}
