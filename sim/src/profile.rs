//! How long things take in a simulated run: a distribution for each kind of delay.

use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::time::Ticks;
use fencepost_model::world::Link;
use serde::{Deserialize, Serialize};

use crate::curve::Curve;
use crate::detector::DetectorSettings;

/// How long things take in a simulated run, in thousandths of a tick of the unrefined scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// How long a message is under way.
    pub latency: Curve,
    /// How late a wake-up is.
    pub lateness: Curve,
    /// How long a user thinks.
    pub thinking: Curve,
    /// How long a process stands still, where lateness is not bounded.
    pub stall: Curve,
    /// How long until the next process stands still.
    pub stall_every: Curve,
    /// How long it takes until what a fault has done is mended: a crashed client is back, a cut link is whole.
    pub mending: Curve,
    /// Links on which messages take another time; of those that fit, the first counts.
    #[serde(rename = "link")]
    pub links: Vec<SlowLink>,
    /// How many millionths a clock is too fast or too slow, each as likely, drawn once for each process: it slips by a step of the
    /// scenario's clocks whenever that much has come together. None: clocks slip at random moments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Curve>,
    /// How long until a clock that drifts is set right again; none: it never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resync_every: Option<Curve>,
    /// The failure detector among the nodes of a service that has one; none: what the scenario says of its detector
    /// happens after chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detector: Option<DetectorSettings>,
}

/// Links on which messages take another time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowLink {
    /// Whose, from 1; none: every client's.
    #[serde(default)]
    pub client: Option<u16>,
    /// The participant at the other end; none: any.
    #[serde(default)]
    pub peer: Option<Peer>,
    /// In which direction; none: both.
    #[serde(default)]
    pub way: Option<Way>,
    /// How long a message is under way.
    pub latency: Curve,
}

/// With whom a client talks.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Peer {
    /// The lock service.
    Server,
    /// What the lock protects.
    Resource,
}

/// A direction.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From the client.
    There,
    /// To the client.
    Back,
}

impl SlowLink {
    fn is(&self, link: Link) -> bool {
        let (client, peer, way) = match (link.from.client(), link.to.client()) {
            (Some(client), _) => (client, link.to, Way::There),
            (None, Some(client)) => (client, link.from, Way::Back),
            (None, None) => return false,
        };
        let peer = if peer == ProcessId::Server { Peer::Server } else { Peer::Resource };
        let is_it = self.client.is_none_or(|number| ClientId(number) == client);
        is_it && self.peer.is_none_or(|other| other == peer) && self.way.is_none_or(|other| other == way)
    }
}

impl Profile {
    /// How long a message takes on the link.
    #[inline]
    pub(crate) fn latency_on(&self, link: Link) -> &Curve {
        self.links.iter().find(|slow| slow.is(link)).map_or(&self.latency, |slow| &slow.latency)
    }

    /// The longest that a message takes on any link.
    pub(crate) fn latency_max(&self, refinement: i64) -> Ticks {
        let links = self.links.iter().map(|slow| &slow.latency);
        links.chain([&self.latency]).map(|curve| curve.longest(refinement)).max().unwrap_or_default()
    }
}

impl Default for Profile {
    /// Machines and networks as they mostly are, and sometimes are not: with a tick of one second, messages take 2 to 150 ms,
    /// but one in sixteen up to 4 s, and a process stops for 100 ms to 12 s.
    fn default() -> Self {
        let stall = Curve::of([
            100, 200, 300, 400, 600, 800, 1000, 1400, 1800, 2400, 3000, 4000, 5000, 6000, 8000, 10000, 12000,
        ]);
        Profile {
            latency: Curve::of([2, 5, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 90, 150, 600, 4000]),
            lateness: Curve::of([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 5, 8, 15, 40, 600]),
            thinking: Curve::of([0, 10, 30, 60, 100, 150, 200, 300, 400, 500, 700, 900, 1200, 1600, 2200, 3000, 5000]),
            stall: stall.clone(),
            stall_every: Curve::of([
                500, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 12000, 14000, 16000, 20000,
                30000,
            ]),
            mending: stall,
            links: Vec::new(),
            drift: None,
            resync_every: None,
            detector: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Concern, Stream};

    fn draws(curve: &Curve) -> Vec<i64> {
        let mut stream = Stream::new(1, Concern::Latency);
        (0..10_000).map(|_| curve.draw(1000, &mut stream).count()).collect()
    }

    fn median(draws: &[i64]) -> i64 {
        let mut sorted = draws.to_vec();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    }

    #[test]
    fn draws_stay_within_the_table() {
        let draws = draws(&Profile::default().latency);
        assert!(draws.iter().all(|draw| (2..=4000).contains(draw)));
        assert!((24..=30).contains(&median(&draws)), "{}", median(&draws));
        assert_eq!(draws[..6], [9, 10, 36, 27, 13, 9], "tables and arithmetic are part of what a seed means");
    }

    #[test]
    fn a_profile_is_written_in_a_few_lines() {
        let text = "
            latency = { median = 20, factor = 2.0 }
            lateness = 5
            stall = { at_least = 100, alpha = 1.5, at_most = 120000 }
            [[link]]
            client = 2
            way = \"back\"
            latency = [100, 300]";
        let profile: Profile = toml::from_str(text).unwrap();
        let latency = draws(&profile.latency);
        let within_a_sigma = latency.iter().filter(|draw| (10..40).contains(*draw)).count();
        assert!((6700..6950).contains(&within_a_sigma), "{within_a_sigma}: 68 % of a log-normal distribution");
        assert!(draws(&profile.lateness).iter().all(|draw| *draw == 5));
        let stalls = draws(&profile.stall);
        assert!((153..165).contains(&median(&stalls)), "{}: 100 · 2^(1/1.5)", median(&stalls));
        assert!(stalls.iter().max() > Some(&10_000) && stalls.iter().max() <= Some(&120_000), "the tail is heavy");
        let client = ProcessId::Client(ClientId(2));
        let back = Link { from: ProcessId::Server, to: client };
        assert!(draws(profile.latency_on(back)).iter().all(|draw| (100..=300).contains(draw)));
        assert_eq!(profile.latency_on(Link { from: client, to: ProcessId::Server }), &profile.latency);
        assert_eq!(profile, toml::from_str(&toml::to_string(&profile).unwrap()).unwrap());
    }

    #[test]
    fn an_invalid_distribution_is_refused_with_a_reason() {
        for (text, why) in [
            ("[]", "needs a number"),
            ("[3, 2]", "must not fall"),
            ("[-1, 2]", "between 0"),
            ("-1", "between 0"),
            ("[0, 9000000000]", "between 0"),
            ("{ median = 0, factor = 2.0 }", "positive"),
            ("{ median = 10, factor = 0.5 }", "at least 1"),
            ("{ at_least = 10, alpha = 0.0, at_most = 20 }", "positive"),
            ("{ at_least = 30, alpha = 1.0, at_most = 20 }", "at_most"),
            ("\"slow\"", "a number, a list of quantiles"),
        ] {
            let error = toml::from_str::<Profile>(&format!("latency = {text}")).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
