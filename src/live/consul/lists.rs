//! The agent's answers to reads of several things, as a program hears them. What a program has no name for, or what its message has no
//! room for, is counted.

use fencepost_consul::{Behavior, KeyList, NodeHealth, NodeList, Row, SessionInfo, SessionList, Status, Terms, Tree};
use fencepost_model::ids::Index;
use fencepost_model::inline_array::InlineArray;
use fencepost_model::time::Ticks;
use serde_json::Value;

use super::agent::{Agent, check_with_id};
use super::http::entry;
use super::names::{SessionIds, fit};
use crate::LiveError;

/// As many as there is room for, in order, and how many more there are.
fn gathered<T: Copy + Default + Ord, const N: usize>(found: Vec<Option<T>>) -> (InlineArray<T, N>, u16) {
    let all = found.len();
    let mut named: Vec<T> = found.into_iter().flatten().collect();
    named.sort_unstable();
    named.truncate(N);
    let more = u16::try_from(all - named.len()).unwrap_or(u16::MAX);
    (named.into_iter().collect(), more)
}

fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn log_position(index: u64) -> Result<Index, LiveError> {
    fit("a log position", index, u64::from(u32::MAX)).map(Index::numbered)
}

/// `?keys`.
pub(super) fn key_list(all: &Value, index: u64, agent: &Agent, names: &mut SessionIds) -> Result<KeyList, LiveError> {
    let found = members(all).map(|name| names.key_named(agent, name.as_str().unwrap_or_default())).collect();
    let (keys, more) = gathered(found);
    Ok(KeyList { index: log_position(index)?, keys, more })
}

/// `?recurse`.
pub(super) fn tree(all: &Value, index: u64, agent: &Agent, names: &mut SessionIds) -> Result<Tree, LiveError> {
    let mut found = Vec::new();
    for one in members(all) {
        let entry = entry(one, names)?;
        let key = names.key_named(agent, one["Key"].as_str().unwrap_or_default());
        found.push(key.map(|key| Row::new(key, &entry)));
    }
    let (rows, more) = gathered(found);
    Ok(Tree { index: log_position(index)?, rows, more })
}

/// `/v1/session/list`, and of a node.
pub(super) fn session_list(all: &Value, names: &mut SessionIds) -> SessionList {
    let (ids, more) = gathered(members(all).map(|one| one["ID"].as_str().map(|id| names.session(id))).collect());
    SessionList { ids, more }
}

/// One session. C-SES-16.
pub(super) fn session_info(one: &Value, agent: &Agent, names: &mut SessionIds) -> Result<SessionInfo, LiveError> {
    let text = |name: &str| one[name].as_str().unwrap_or_default();
    let ttl = match text("TTL") {
        "" => None,
        ttl => Some(ticks(nanoseconds(ttl).ok_or_else(|| LiveError::Unsupported(format!("a TTL of {ttl}")))?, agent)),
    };
    let lock_delay = ticks(one["LockDelay"].as_u64().unwrap_or(0), agent);
    let behavior = if text("Behavior") == "delete" { Behavior::Delete } else { Behavior::Release };
    let checks = members(&one["NodeChecks"]).filter_map(|id| check_with_id(id.as_str()?)).collect();
    let id = names.session(text("ID"));
    Ok(SessionInfo { id, terms: Terms { ttl, lock_delay, behavior, checks } })
}

/// `/v1/catalog/nodes`.
pub(super) fn node_list(all: &Value, agent: &Agent) -> NodeList {
    let (nodes, more) = gathered(members(all).map(|one| agent.client_on(one["Node"].as_str()?)).collect());
    NodeList { nodes, more }
}

/// `/v1/health/node/:node`: of the checks that a program knows, the status; any other status counts as a warning, as it ends no session.
pub(super) fn node_health(all: &Value) -> NodeHealth {
    let mut checks: Vec<_> = members(all)
        .filter_map(|one| {
            let status = match one["Status"].as_str()? {
                "passing" => Status::Passing,
                "critical" => Status::Critical,
                _ => Status::Warning,
            };
            Some((check_with_id(one["CheckID"].as_str()?)?, status))
        })
        .collect();
    checks.sort_unstable();
    checks.dedup_by_key(|(kind, _)| *kind);
    NodeHealth { checks: checks.into_iter().collect() }
}

/// A number of nanoseconds in ticks, rounded up.
fn ticks(nanoseconds: u64, agent: &Agent) -> Ticks {
    let tick = agent.tick.as_nanos().max(1);
    Ticks::new(i64::try_from(u128::from(nanoseconds).div_ceil(tick)).unwrap_or(i64::MAX))
}

/// A duration as Go writes it: `1m30s`, `1500ms`.
fn nanoseconds(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut sum = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let factor = match unit {
            "h" => 3.6e12,
            "m" => 6e10,
            "s" => 1e9,
            "ms" => 1e6,
            "us" | "µs" => 1e3,
            "ns" => 1.0,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * factor;
        rest = after;
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a duration of nanoseconds is whole, and not negative"
    )]
    Some(sum.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        assert_eq!(nanoseconds("15s"), Some(15_000_000_000));
        assert_eq!(nanoseconds("1m30s"), Some(90_000_000_000));
        assert_eq!(nanoseconds("1500ms"), Some(1_500_000_000));
        assert_eq!(nanoseconds("1.5s"), Some(1_500_000_000));
        assert_eq!(nanoseconds("fifteen"), None);
        assert_eq!(nanoseconds("15"), None);
    }
}
