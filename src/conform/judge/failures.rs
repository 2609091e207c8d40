//! Nodes that fail: what gossip and the servers may make of it is what requests without a response may do (C-INV-4). Each may be carried
//! out at any time after the failure, or never.

use super::super::consul::HttpRequest;
use super::super::gossip::opinion;
use super::super::log::{Details, Episode, EventKind, LogRecord};
use super::super::wire::put;

/// The same episode with those requests; none if no node fails in it.
pub(super) fn carried_out(episode: &Episode) -> Option<Episode> {
    if episode.events.is_empty() {
        return None;
    }
    let mut whole = episode.clone();
    for event in &episode.events {
        let EventKind::NodeFailed(node) = &event.kind else { continue };
        let record = |question: HttpRequest| LogRecord {
            number: event.number,
            client: None,
            question,
            reply: None,
            sent: event.sent,
            received: i64::MAX,
            is_timed: true,
            details: Details::default(),
        };
        // It fails; it leaves, or is reaped; it is back.
        let leaves = put("/v1/catalog/deregister", serde_json::json!({"Node": node}).to_string());
        whole.lines.extend([opinion(node, "critical"), leaves, opinion(node, "passing")].map(record));
    }
    whole.lines.sort_by_key(|line| line.sent);
    Some(whole)
}
