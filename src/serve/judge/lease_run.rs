//! Who held which lease when, as the record says: what a verdict tells of leases.

use std::fmt;

use serde_json::{Value, json};

use crate::clock::seconds;

/// A time in which the record named one holder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaseTenure {
    /// The namespace and the name of the lease.
    pub lease: String,
    /// The identity of the holder.
    pub holder: String,
    /// The client whose write made it so.
    pub client: String,
    /// When that was, in nanoseconds since the start.
    pub from: i64,
    /// Until when the holder certainly held the lease: one duration after it sent the last write whose answer arrived.
    pub certain_until: Option<i64>,
    /// How many writes renewed it.
    pub renewals: u64,
    /// When and how the record ended it; none: it stands.
    pub end: Option<(i64, &'static str)>,
}

/// A write that made another identity the holder of a lease that was held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaseTakeover {
    /// The namespace and the name of the lease.
    pub lease: String,
    /// The identity of the holder before.
    pub from: String,
    /// The identity of the holder after.
    pub to: String,
    /// When it was applied, in nanoseconds since the start.
    pub at: i64,
    /// For how long the record had stood unchanged, in nanoseconds. A change of labels does not count (OL-S-8).
    pub unchanged_for: i64,
    /// The duration that the record named, in nanoseconds, if it did.
    pub duration: Option<i64>,
}

/// What the record says of leases.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LeaseRun {
    /// Who held them, in the order in which that began.
    pub tenures: Vec<LeaseTenure>,
    /// Every takeover, in its order.
    pub takeovers: Vec<LeaseTakeover>,
}

impl LeaseRun {
    /// The same as JSON, with times in seconds.
    pub(super) fn json(&self) -> Value {
        let tenure = |tenure: &LeaseTenure| {
            json!({
                "lease": tenure.lease, "holder": tenure.holder, "client": tenure.client, "from": seconds(tenure.from),
                "certain_until": tenure.certain_until.map(seconds), "renewals": tenure.renewals,
                "until": tenure.end.map(|(at, _)| seconds(at)), "end": tenure.end.map(|(_, how)| how),
            })
        };
        let takeover = |takeover: &LeaseTakeover| {
            json!({
                "lease": takeover.lease, "from": takeover.from, "to": takeover.to, "at": seconds(takeover.at),
                "unchanged_for": seconds(takeover.unchanged_for), "duration": takeover.duration.map(seconds),
            })
        };
        json!({
            "tenures": self.tenures.iter().map(tenure).collect::<Vec<_>>(),
            "takeovers": self.takeovers.iter().map(takeover).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for LeaseRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for tenure in &self.tenures {
            write!(f, "{}: {} from {} s", tenure.lease, tenure.holder, seconds(tenure.from))?;
            match tenure.certain_until {
                Some(until) => write!(f, ", certainly until {} s", seconds(until))?,
                None => f.write_str(", and has not been told so")?,
            }
            write!(f, ", {} renewals", tenure.renewals)?;
            match tenure.end {
                Some((at, how)) => writeln!(f, ", {how} at {} s", seconds(at))?,
                None => writeln!(f, ", not ended")?,
            }
        }
        for takeover in &self.takeovers {
            let LeaseTakeover { lease, from, to, at, unchanged_for, duration } = takeover;
            let of = duration.map_or_else(String::new, |duration| format!("; its duration is {} s", seconds(duration)));
            let (at, unchanged_for) = (seconds(*at), seconds(*unchanged_for));
            writeln!(f, "{lease}: {to} took over from {from} at {at} s: unchanged for {unchanged_for} s{of}")?;
        }
        Ok(())
    }
}
