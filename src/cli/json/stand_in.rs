//! The JSON lines of `fencepost serve` and of `fencepost torture`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The first line of `fencepost serve`: the addresses at which the stand-in listens.
#[derive(Serialize, JsonSchema)]
pub struct ReadyJson {
    pub address: String,
    /// The address of each named client.
    pub clients: BTreeMap<String, String>,
}

/// A line of `fencepost torture --plan`.
#[derive(Serialize, JsonSchema)]
pub struct TortureTrialJson {
    /// What the run broke.
    pub broken: Option<String>,
    pub ended: String,
    #[schemars(with = "StandInVerdictJson")]
    pub verdict: Value,
}

/// A line of `fencepost torture` that found a violation.
#[derive(Serialize, JsonSchema)]
pub struct TortureViolationJson<'a> {
    pub broken: &'a str,
    pub plan: String,
    /// The file with the plan.
    pub kept: Option<String>,
    /// The number of plans that were tried.
    pub plans: usize,
    #[schemars(with = "StandInVerdictJson")]
    pub verdict: Value,
}

/// A line of `fencepost torture` that found no violation.
#[derive(Serialize, JsonSchema)]
pub struct TortureSummaryJson<'a> {
    pub broken: Option<&'a str>,
    pub plans: usize,
    /// The number of pairs that come to the same as another plan, and were left out.
    pub pruned: usize,
    pub requests: usize,
    pub upto: &'a str,
    pub is_complete: bool,
}

/// The last line of `fencepost serve`: the verdict on a run at the stand-in, as `fencepost_serve::Verdict` writes it.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is read from the type, and no value is made")]
pub struct StandInVerdictJson {
    /// `violated`, `no-violation`, `vacuous` or `inconclusive`.
    verdict: String,
    findings: Vec<StandInFinding>,
    misuse: Vec<StandInMisuse>,
    /// The reason why findings are inconclusive, if they are.
    inconclusive: Option<String>,
    assumptions: Vec<String>,
    faults: Vec<StandInFault>,
    /// What the record says of leases; none of a server that has none.
    leases: Option<LeaseRunJson>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is read from the type, and no value is made")]
struct LeaseRunJson {
    tenures: Vec<LeaseTenureJson>,
    takeovers: Vec<LeaseTakeoverJson>,
}

/// A time in which the record named one holder. Times are in seconds since the start.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is read from the type, and no value is made")]
struct LeaseTenureJson {
    /// The namespace and the name of the lease.
    lease: String,
    holder: String,
    client: String,
    from: String,
    /// One duration after the holder sent the last write whose answer arrived.
    certain_until: Option<String>,
    renewals: u64,
    until: Option<String>,
    /// `taken over`, `released` or `deleted`; none: it lasts.
    end: Option<String>,
}

/// A write that made another identity the holder of a lease that was held. Times are in seconds.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is read from the type, and no value is made")]
struct LeaseTakeoverJson {
    lease: String,
    from: String,
    to: String,
    at: String,
    /// For how long the record had stood unchanged.
    unchanged_for: String,
    /// The duration that the record named.
    duration: Option<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is read from the type, and no value is made")]
struct StandInFinding {
    property: String,
    key: String,
    at: String,
    sentence: String,
    story: Vec<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is read from the type, and no value is made")]
struct StandInMisuse {
    name: String,
    at: String,
    sentence: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is read from the type, and no value is made")]
struct StandInFault {
    rule: String,
    /// The number of requests that fitted the rule.
    requests: u64,
}
