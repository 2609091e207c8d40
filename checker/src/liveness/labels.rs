//! What is known of the transitions of a state graph: the class of fairness of each action, and who enters by it.

use std::collections::BTreeMap;

use fencepost_model::goal::Reached;
use fencepost_model::ids::ClientId;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use super::graph::Graph;
use super::obligation::{CLIENTS_MAX, bit};
use super::strength;

/// The labels of a graph's edges, by number.
pub(crate) struct EdgeLabels<P: Service> {
    /// For each label: the clients that enter.
    pub(crate) enters: Vec<u32>,
    labels: BTreeMap<(Option<u16>, u32), u16>,
    classes: BTreeMap<Action<P>, u16>,
}

impl<P: Service> EdgeLabels<P> {
    pub(crate) fn new() -> Self {
        EdgeLabels { enters: Vec::new(), labels: BTreeMap::new(), classes: BTreeMap::new() }
    }

    /// The label of an edge: the class of its action, if it is fair, and who enters. What is new is told to the graph.
    pub(crate) fn of(
        &mut self,
        scenario: &Scenario<P>,
        graph: &mut Graph,
        action: &Action<P>,
        reached: Reached,
    ) -> u16 {
        let clients = (0..=usize::from(CLIENTS_MAX)).map(ClientId::of);
        let enters = clients.filter(|client| reached.has_entered(*client)).fold(0, |bits, client| bits | bit(client));
        let class = strength(scenario, action).map(|strength| {
            let next = u16::try_from(self.classes.len()).expect("there are few kinds of action");
            let class = *self.classes.entry(action.shape()).or_insert(next);
            if class == next {
                graph.strengths.push(strength);
            }
            class
        });
        let next = u16::try_from(self.labels.len()).expect("there are few labels");
        let label = *self.labels.entry((class, enters)).or_insert(next);
        if label == next {
            graph.classes.push(class);
            self.enters.push(enters);
        }
        label
    }

    /// The classes, in the order of their numbers.
    pub(crate) fn classes(&self) -> Vec<Action<P>> {
        let mut classes: Vec<(u16, Action<P>)> = self.classes.iter().map(|(class, number)| (*number, *class)).collect();
        classes.sort_unstable_by_key(|(number, _)| *number);
        classes.into_iter().map(|(_, class)| class).collect()
    }
}
