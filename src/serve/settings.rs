//! What a stand-in is started with.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use fencepost_conform::{Options, nanoseconds};
use fencepost_etcd::mvcc::EtcdVersion;

use crate::clock::{Clock, seconds};
use crate::faults::FaultPlan;

/// What a stand-in is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of its node.
    pub node: String,
    /// The id of its node.
    pub node_id: String,
    /// The name of its datacenter.
    pub datacenter: String,
    /// Metadata of the agent's node.
    pub node_meta: BTreeMap<String, String>,
    /// What else a Consul agent is configured with.
    pub options: Options,
    /// How its time passes.
    pub clock: Clock,
    /// How late its timers are.
    pub timers: Timers,
    /// The version of etcd as which it answers.
    pub etcd: EtcdVersion,
    /// Where ids, jitter and lateness are drawn from.
    pub seed: u64,
    /// Clients with an address of their own each.
    pub clients: Vec<String>,
    /// The faults that are planned.
    pub plan: FaultPlan,
    /// Whether requests and answers are kept, to be written down in the end.
    pub is_recorded: bool,
    /// Whether requests are listed by names that are the same in each run.
    pub lists_requests: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            node: "fencepost".to_owned(),
            node_id: "fe9ce905-7000-4000-8000-000000000001".to_owned(),
            datacenter: "dc1".to_owned(),
            node_meta: BTreeMap::new(),
            options: Options::default(),
            clock: Clock::Real,
            timers: Timers::Earliest,
            etcd: EtcdVersion::default(),
            seed: 0,
            clients: Vec::new(),
            plan: FaultPlan::default(),
            is_recorded: false,
            lists_requests: false,
        }
    }
}

/// When a session's timer fires and its end is applied, of all that the rules allow (C-TTL-4, C-TTL-5). Where a blocking query may
/// return for a change next to what it waits for (C-BLK-6), `Earliest` lets it return, `Late` and `Pending` do not, `Seeded` draws.
///
/// ```
/// use fencepost_serve::Timers;
///
/// assert_eq!("late=1.5s".parse(), Ok(Timers::Late(1_500_000_000)));
/// assert_eq!(Timers::Late(1_500_000_000).to_string(), "late=1.5s");
/// assert!("later".parse::<Timers>().is_err());
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Timers {
    /// As soon as it may: at twice the TTL.
    #[default]
    Earliest,
    /// This many nanoseconds later: a renewal before that saves the session.
    Late(i64),
    /// The timer fires as soon as it may, and the end is applied this many nanoseconds later: a renewal in between is answered with 200,
    /// and the session ends anyway.
    Pending(i64),
    /// A time of up to this many nanoseconds of each, drawn for each session and renewal.
    Seeded(i64),
}

impl Timers {
    /// For a timer that may fire from an instant on: when it does, and when what it sends is applied.
    pub(crate) fn fires(self, since: i64, draw: impl Fn(u64) -> u64) -> (i64, i64) {
        let upto = |what: u64, most: i64| {
            let most = u64::try_from(most).unwrap_or(0);
            i64::try_from(draw(what) % most.saturating_add(1)).unwrap_or(0)
        };
        let (fires, applied) = match self {
            Timers::Earliest => (0, 0),
            Timers::Late(late) => (late, 0),
            Timers::Pending(late) => (0, late),
            Timers::Seeded(most) => {
                let fires = upto(0, most);
                // Every other one is applied at once: the other half of the renewals finds a session that can be saved.
                (fires, if draw(2).is_multiple_of(2) { 0 } else { upto(1, most - fires) })
            }
        };
        (since.saturating_add(fires), since.saturating_add(fires).saturating_add(applied))
    }
}

impl FromStr for Timers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, late) = text.split_once('=').map_or((text, None), |(name, late)| (name, Some(late)));
        let late = late.map(nanoseconds).transpose()?;
        match (name, late) {
            ("earliest", None) => Ok(Timers::Earliest),
            ("late", Some(late)) if late >= 0 => Ok(Timers::Late(late)),
            ("pending", Some(late)) if late >= 0 => Ok(Timers::Pending(late)),
            ("seeded", Some(late)) if late >= 0 => Ok(Timers::Seeded(late)),
            _ => Err(format!("`{text}`: there are earliest, late=1s, pending=1s and seeded=1s, with any duration")),
        }
    }
}

impl fmt::Display for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timers::Earliest => f.write_str("earliest"),
            Timers::Late(late) => write!(f, "late={}s", seconds(*late)),
            Timers::Pending(late) => write!(f, "pending={}s", seconds(*late)),
            Timers::Seeded(most) => write!(f, "seeded={}s", seconds(*most)),
        }
    }
}

/// Random numbers that depend on nothing but a seed and what they are drawn for.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    /// A number for something.
    pub(crate) fn draw(self, what: &[u64]) -> u64 {
        what.iter().fold(mix(self.0), |hash, part| mix(hash ^ *part))
    }

    /// A UUID of version 4.
    pub(crate) fn uuid(self, number: u64) -> String {
        let [high, low] = [0, 1].map(|half| self.draw(&[u64::from_be_bytes(*b"the uuid"), number, half]));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xffff,
            high & 0xfff,
            low >> 48 & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: the finaliser of SplitMix64.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::{Seed, Timers};

    #[test]
    fn ids_are_uuids_and_differ() {
        let ids: Vec<String> = (0..1000).map(|number| Seed(7).uuid(number)).collect();
        assert!(ids.iter().all(|id| id.len() == 36 && id.as_bytes()[14] == b'4'));
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), ids.len());
        assert_eq!(Seed(7).uuid(3), ids[3]);
        assert_ne!(Seed(8).uuid(3), ids[3]);
    }

    #[test]
    fn a_timer_never_fires_before_it_may_and_no_later_than_was_said() {
        for what in 0..500 {
            let draw = |which| Seed(what).draw(&[which]);
            assert_eq!(Timers::Earliest.fires(10, draw), (10, 10));
            assert_eq!(Timers::Late(5).fires(10, draw), (15, 15));
            assert_eq!(Timers::Pending(5).fires(10, draw), (10, 15));
            let (fires, applied) = Timers::Seeded(5).fires(10, draw);
            assert!((10..=15).contains(&fires) && (fires..=15).contains(&applied), "{fires} {applied}");
        }
    }
}
