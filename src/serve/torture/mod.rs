//! A test of the user's, again and again: without faults until its requests are known to be the same each time, then once with each
//! fault at each request, and then with two. What breaks comes out as a plan that breaks it again.
//!
//! A run is one start of the test against a stand-in of its own. The plans of one fault are all tried before any of two, so the plan
//! that is found first is a shortest one.

mod reached;
mod tested;
mod trial;

use std::collections::BTreeSet;
use std::fmt;

use crate::faults::{Fault, FaultPlan, Rule};
use crate::stand_in::Seen;

pub use reached::Reached;
pub use tested::TestedServer;
pub use trial::{Ended, Trial, Tried};

/// How many runs without a fault must agree on the requests.
const BASELINE: usize = 3;

/// What is tried.
#[derive(Clone, Debug)]
pub struct Torture {
    /// How one run is made.
    pub trial: Trial,
    /// What may happen to a request.
    pub faults: Vec<Fault>,
    /// Whether two faults are tried in one run.
    pub with_pairs: bool,
    /// The test may fail: only broken promises count.
    pub accepts_failure: bool,
}

/// Why there is nothing to torture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoBaseline {
    /// The test cannot be started.
    NotStarted(String),
    /// It breaks without any fault.
    Breaks(String),
    /// Its requests are not the same in each run.
    Unstable(String),
    /// It sends none to this server.
    Silent(TestedServer),
}

impl fmt::Display for NoBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoBaseline::NotStarted(why) => write!(f, "the test cannot be started: {why}"),
            NoBaseline::Breaks(why) => write!(f, "the test breaks without any fault: {why}"),
            NoBaseline::Unstable(where_) => write!(f, "the requests are not the same in each run: {where_}"),
            NoBaseline::Silent(server) => {
                write!(f, "the test sends no request: does it read {}?", server.variable())
            }
        }
    }
}

/// A plan, and where in its run another fault may come.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The faults of the run.
    pub plan: FaultPlan,
    rules: Vec<Rule>,
    /// The request that the last rule strikes, by its place in the run.
    after: usize,
}

impl Torture {
    /// Makes the runs without a fault.
    ///
    /// # Errors
    /// They cannot be made, break, or differ from each other.
    pub fn baseline(&self) -> Result<Vec<Seen>, NoBaseline> {
        let mut first: Option<Vec<Seen>> = None;
        for number in 1..=BASELINE {
            let tried = self.trial.run(&FaultPlan::default()).map_err(NoBaseline::NotStarted)?;
            if let Some(why) = self.broken(&tried) {
                return Err(NoBaseline::Breaks(why));
            }
            match &first {
                None => first = Some(tried.run.requests),
                Some(first) => same(first, &tried.run.requests, number).map_err(NoBaseline::Unstable)?,
            }
        }
        first.filter(|requests| !requests.is_empty()).ok_or(NoBaseline::Silent(self.trial.server))
    }

    /// Every plan of one fault, for the requests of the runs without one.
    pub fn singles(&self, requests: &[Seen]) -> Vec<Planned> {
        self.extended(&[], 0, requests)
    }

    /// Every plan that adds a fault to one that has been tried, at a later request of its run; without those that begin that request as
    /// another plan with the same fault there does.
    pub fn pairs(&self, planned: &Planned, tried: &Tried, reached: &mut Reached) -> Vec<Planned> {
        let mut plans = self.extended(&planned.rules, planned.after + 1, &tried.run.requests);
        plans.retain(|pair| {
            pair.rules.last().is_none_or(|last| reached.insert(&tried.run.requests[pair.after], last.fault()))
        });
        plans
    }

    /// Plans of two or three faults at different requests, drawn from a seed.
    pub fn drawn(&self, requests: &[Seen], count: usize, seed: u64) -> Vec<Planned> {
        let mut draws = Draws(seed);
        let plan = |_| {
            let wanted = (2 + draws.below(2)).min(requests.len());
            let mut places = BTreeSet::new();
            while places.len() < wanted {
                places.insert(draws.below(requests.len()));
            }
            let rules: Vec<Rule> = places
                .iter()
                .map(|place| once(requests, *place, self.faults[draws.below(self.faults.len())]))
                .collect();
            let after = places.last().copied().unwrap_or(0);
            Planned { plan: rules.iter().cloned().collect(), rules, after }
        };
        (0..count).map(plan).collect()
    }

    fn extended(&self, rules: &[Rule], from: usize, requests: &[Seen]) -> Vec<Planned> {
        let mut plans = Vec::new();
        for place in from..requests.len() {
            for fault in &self.faults {
                let rule = once(requests, place, *fault);
                let rules: Vec<Rule> = rules.iter().cloned().chain([rule]).collect();
                plans.push(Planned { plan: rules.iter().cloned().collect(), rules, after: place });
            }
        }
        plans
    }

    /// What broke in a run, if anything.
    pub fn broken(&self, tried: &Tried) -> Option<String> {
        let verdict = &tried.run.verdict;
        if let Some(found) = verdict.findings.first().filter(|_| verdict.name() == "violated") {
            return Some(format!("{} of {}: {}", found.property, found.key, found.sentence));
        }
        match &tried.ended {
            Ended::Well => None,
            Ended::Hung => Some("the test did not end in time".to_owned()),
            Ended::Failed(_) if self.accepts_failure => None,
            Ended::Failed(how) => Some(format!("the test failed: {how}")),
        }
    }
}

/// A fault at one request of a run.
fn once(requests: &[Seen], place: usize, fault: Fault) -> Rule {
    let request = &requests[place];
    let rule = |number| Rule::once(&request.method, &request.pattern, number, &request.client, fault);
    let any = rule(1);
    let fits = |seen: &&Seen| any.fits(&seen.client, &seen.method, &seen.url);
    rule(requests[..=place].iter().filter(fits).count() as u64)
}

/// Numbers from a seed (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct Draws(u64);

impl Draws {
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * end as u128) >> 64) as usize
    }
}

/// The requests of each client are the same, in the same order; those of several clients may come in any.
fn same(first: &[Seen], other: &[Seen], number: usize) -> Result<(), String> {
    let mut clients: Vec<&str> = first.iter().chain(other).map(|seen| seen.client.as_str()).collect();
    clients.sort_unstable();
    clients.dedup();
    for client in clients {
        let of =
            |all: &[Seen]| -> Vec<String> { all.iter().filter(|seen| seen.client == client).map(Seen::name).collect() };
        let (one, two) = (of(first), of(other));
        let differs = (0..one.len().max(two.len())).find(|place| one.get(*place) != two.get(*place));
        if let Some(place) = differs {
            let told = |list: &[String]| list.get(place).cloned().unwrap_or_else(|| "no request".to_owned());
            return Err(format!(
                "request {} of {client} is `{}` in the first run and `{}` in run {number}",
                place + 1,
                told(&one),
                told(&two)
            ));
        }
    }
    Ok(())
}
