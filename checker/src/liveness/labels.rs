//! What is known of the transitions of a state graph: the class of fairness of each action, and who enters by it.

use std::collections::BTreeMap;

use fencepost_model::action_kind::ActionKind;
use fencepost_model::goal::Reached;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use super::graph::{Graph, Strength};
use super::obligation::entered;

/// What a label says of an edge.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EdgeLabel<P: Service> {
    /// The shape of its action, if that is fair.
    class: Option<Action<P>>,
    /// The clients that enter.
    enters: u32,
}

impl<P: Service> EdgeLabel<P> {
    pub(crate) fn of(scenario: &Scenario<P>, action: &Action<P>, reached: Reached) -> Self {
        EdgeLabel { class: strength(scenario, action).map(|_| action.shape()), enters: entered(reached) }
    }
}

/// The labels of a graph's edges, by number.
pub(crate) struct EdgeLabels<P: Service> {
    /// For each label: the clients that enter.
    pub(crate) enters: Vec<u32>,
    labels: BTreeMap<EdgeLabel<P>, u16>,
    classes: BTreeMap<Action<P>, u16>,
}

impl<P: Service> EdgeLabels<P> {
    pub(crate) fn new() -> Self {
        EdgeLabels { enters: Vec::new(), labels: BTreeMap::new(), classes: BTreeMap::new() }
    }

    /// The number of a label. What is new is told to the graph.
    pub(crate) fn number(&mut self, scenario: &Scenario<P>, graph: &mut Graph, label: EdgeLabel<P>) -> u16 {
        let next = u16::try_from(self.labels.len()).expect("there are few labels");
        let number = *self.labels.entry(label).or_insert(next);
        if number == next {
            let class = label.class.map(|shape| self.class(scenario, graph, shape));
            graph.classes.push(class);
            self.enters.push(label.enters);
        }
        number
    }

    fn class(&mut self, scenario: &Scenario<P>, graph: &mut Graph, shape: Action<P>) -> u16 {
        let next = u16::try_from(self.classes.len()).expect("there are few kinds of action");
        let class = *self.classes.entry(shape).or_insert(next);
        if class == next {
            graph.strengths.extend(strength(scenario, &shape));
        }
        class
    }

    /// The classes, in the order of their numbers.
    pub(crate) fn classes(&self) -> Vec<Action<P>> {
        let mut classes: Vec<(u16, Action<P>)> = self.classes.iter().map(|(class, number)| (*number, *class)).collect();
        classes.sort_unstable_by_key(|(number, _)| *number);
        classes.into_iter().map(|(_, class)| class).collect()
    }
}

/// How often an action of this class must be taken, if it is fair.
fn strength<P: Service>(scenario: &Scenario<P>, action: &Action<P>) -> Option<Strength> {
    let fairness = &scenario.fairness;
    let is_among = |kinds: &[ActionKind]| kinds.contains(&action.kind());
    match action {
        Action::Advance(_) if is_among(&fairness.weak) || is_among(&fairness.strong) => Some(Strength::Always),
        _ if is_among(&fairness.strong) => Some(Strength::Strong),
        _ if is_among(&fairness.weak) => Some(Strength::Weak),
        _ => None,
    }
}
