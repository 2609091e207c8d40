//! The assumptions of verdicts about these nodes.

use super::{COPIED, Grants, Nodes, Redlock, RedlockFault};
use fencepost_model::assumption::{Assumption, Class, Declarations};
use fencepost_model::scenario::Scenario;

fn setting(kind: &'static str, source: &'static str, sentence: String) -> Assumption {
    Assumption::new(Class::Setting, kind, source, sentence)
}

pub(super) fn declare(scenario: &Scenario<Redlock>, list: &mut Declarations<Redlock>) {
    let settings = &scenario.service;
    let nodes = settings.nodes;
    let sentence = format!("there are {nodes} nodes");
    list.declare(setting("nodes", "service.nodes", sentence).of(i64::from(nodes)), move |execution| {
        Nodes::count_is(execution, nodes)
    });
    if scenario.system == COPIED {
        let (sentence, value) = match settings.grants {
            Grants::AtOnce => ("the leader grants the lock before it is replicated", "at-once"),
            Grants::ByQuorum => ("the leader grants the lock when a majority has it", "by-quorum"),
        };
        let assumption = setting("grants", "service.grants", sentence.to_owned()).of(value);
        let grants = settings.grants;
        list.declare(assumption, move |execution| Nodes::grants_are(execution, grants));
    } else {
        let lease = settings.lease();
        let sentence = format!("a node keeps a key for {lease}");
        let assumption = setting("node-lease", "service.lease", sentence).of(lease);
        list.declare(assumption, move |execution| Nodes::keys_last(execution, lease));
    }
    if scenario.budget.affords(RedlockFault::RESTART) {
        let keeps = settings.keeps;
        let what = if keeps { "still has" } else { "has lost" };
        let sentence = format!("a node that has restarted {what} its key");
        let assumption = setting("restarted-nodes", "service.keeps", sentence);
        list.declare(assumption.of(if keeps { "keep" } else { "forget" }), move |execution| {
            Nodes::restarts_keep(execution, keeps)
        });
    }
    let sentence = "values are unique, and a key is deleted only by the client that wrote it";
    list.declare(Assumption::limit("unique-values", sentence), Nodes::only_writers_delete);
}
