//! The rules of leader changes of etcd, at a cluster.

use fencepost_conform::etcd::{EtcdCluster, LEADERS_LEFT_OUT, LeaderRule, leader_rules};

use super::conclude;
use crate::args::Common;
use crate::exit::CommandError;
use crate::json;
use crate::output::{say, say_json};

/// A run with this many concurrent calls or more has the time for every rule.
const CALLS_FOR_EVERY_RULE: u64 = 5_000;

/// Tries the rules, and tells of each what was seen. Those that were decided; none: one of them is otherwise.
pub fn seen(
    cluster: &EtcdCluster,
    concurrent: u64,
    lateness: i64,
    common: &Common,
) -> Result<Option<Vec<&'static str>>, CommandError> {
    let is_long = concurrent >= CALLS_FOR_EVERY_RULE;
    let rules = leader_rules(cluster, is_long, lateness).map_err(|error| CommandError::Input(error.0))?;
    if common.json {
        for LeaderRule { rule, seen, is_so } in &rules {
            say_json(&json::LeaderRuleJson { rule, seen, is_so: *is_so });
        }
    } else if !common.quiet {
        say("Leader changes:\n");
        rules.iter().for_each(|LeaderRule { rule, seen, .. }| say(&format!("    {rule}  {seen}\n")));
        LEADERS_LEFT_OUT.iter().for_each(|(rule, why)| say(&format!("    {rule}  left out: {why}\n")));
    }
    let otherwise = rules.iter().filter(|rule| rule.is_so == Some(false));
    otherwise
        .clone()
        .for_each(|LeaderRule { rule, seen, .. }| conclude(&format!("{rule} says otherwise: {seen}\n"), common));
    let is_so = otherwise.count() == 0;
    let decided = rules.iter().filter(|rule| rule.is_so.is_some());
    Ok(is_so.then(|| decided.map(|rule| rule.rule).collect()))
}
