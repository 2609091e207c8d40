//! Why no fair execution is endless while a promise about endless executions stays open: numbers of components that never rise, and for
//! each component with a cycle something fair that is enabled in it and never taken.

use fencepost_model::goal::Reached;
use fencepost_model::monitor::Observed;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use crate::liveness::fair::Scratch;
use crate::liveness::graph::{CycleCriterion, Graph, Node, Strength};
use crate::liveness::labels::{EdgeLabel, EdgeLabels};
use crate::liveness::obligation::{Obligation, OpenFacts};

/// Some worlds, each with the number of its component; the next layer looks at what remains of components.
#[derive(Default)]
pub(super) struct ComponentLayer {
    /// For each world that counts in this layer.
    pub(super) component: Vec<Option<u32>>,
    /// For components with a cycle: the class that is never taken in them. If it is not enabled in all their worlds, those without it
    /// count in the next layer.
    pub(super) missed: Vec<(u32, u16)>,
}

/// The graph of the closed set.
pub(super) struct Fairly<'a, P: Service> {
    scenario: &'a Scenario<P>,
    graph: Graph,
    /// For each world: what is open in it.
    facts: Vec<OpenFacts>,
    labels: EdgeLabels<P>,
}

impl<'a, P: Service> Fairly<'a, P> {
    pub(super) fn new(scenario: &'a Scenario<P>) -> Self {
        Fairly { scenario, graph: Graph::new(None), facts: Vec::new(), labels: EdgeLabels::new() }
    }

    /// Adds the next world with its transitions: their targets and labels.
    pub(super) fn push(&mut self, world: &Observed<P>, edges: Vec<(Node, u16)>) {
        self.facts.push(OpenFacts::of(self.scenario, world));
        self.graph.push(edges);
    }

    /// The label of a transition: the class of its action, and who enters by it.
    pub(super) fn label(&mut self, action: &Action<P>, reached: Reached) -> u16 {
        self.labels.number(self.scenario, &mut self.graph, EdgeLabel::of(self.scenario, action, reached))
    }

    /// The classes, in the order of their numbers.
    pub(super) fn classes(&self) -> Vec<Action<P>> {
        self.labels.classes()
    }

    /// What a promise is open for, one after the other.
    pub(super) fn obligations(&self, property: Property) -> Vec<Obligation> {
        Obligation::of(self.scenario, property)
    }

    /// The layers for one of them; `None` if a fair execution stays open.
    pub(super) fn layers(&self, obligation: Obligation) -> Option<Vec<ComponentLayer>> {
        let is_open = |node: Node| obligation.is_open(self.facts[node as usize]);
        let stays_open = |label: u16| obligation.stays_open(self.labels.enters[usize::from(label)]);
        let question = CycleCriterion { is_open: &is_open, stays_open: &stays_open };
        let nodes = u32::try_from(self.graph.len()).expect("worlds have 32 bits");
        let mut sets: Vec<Vec<Node>> = vec![(0..nodes).filter(|node| is_open(*node)).collect()];
        let mut scratch = Scratch::new(self.graph.len());
        let mut layers = Vec::new();
        while !sets.is_empty() {
            let mut layer = ComponentLayer { component: vec![None; self.graph.len()], missed: Vec::new() };
            let mut rests = Vec::new();
            // Tarjan's algorithm finds a component after all that it leads to.
            let found = sets.iter().flat_map(|set| scratch.components(&self.graph, &question, set)).collect::<Vec<_>>();
            for (number, component) in (0..).zip(found) {
                component.iter().for_each(|node| layer.component[*node as usize] = Some(number));
                let Some((class, rest)) = self.missed(&question, &component)? else { continue };
                layer.missed.push((number, class));
                if !rest.is_empty() {
                    rests.push(rest);
                }
            }
            layers.push(layer);
            sets = rests;
        }
        Some(layers)
    }

    /// The class that is never taken in a component, and the worlds of it in which an execution may stay all the same; nothing if it has no
    /// cycle. `None` if a fair execution can stay in all of it.
    fn missed(&self, question: &CycleCriterion<'_>, component: &[Node]) -> Option<Option<(u16, Vec<Node>)>> {
        let is_inside = |node: Node| component.binary_search(&node).is_ok();
        let (mut has_edge, mut has_cycle) = (false, false);
        let mut is_taken = vec![false; self.graph.strengths.len()];
        let mut enabled = vec![0; self.graph.strengths.len()];
        let classes_of = |node: Node| {
            let mut classes: Vec<usize> = self.graph.edges(node).filter_map(|edge| self.graph.class(edge)).collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        };
        for node in component {
            for edge in self.graph.edges(*node) {
                has_edge = true;
                if (question.stays_open)(edge.label) && is_inside(edge.to) {
                    has_cycle = true;
                    self.graph.class(edge).into_iter().for_each(|class| is_taken[class] = true);
                }
            }
        }
        if !has_edge {
            return None;
        }
        if !has_cycle {
            return Some(None);
        }
        component.iter().flat_map(|node| classes_of(*node)).for_each(|class| enabled[class] += 1);
        let number = |class: usize| u16::try_from(class).expect("there are few kinds of action");
        let missed = || (0..enabled.len()).filter(|class| !is_taken[*class]);
        let is_unfair =
            |class: &usize| self.graph.strengths[*class] == Strength::Always || enabled[*class] == component.len();
        if let Some(class) = missed().find(is_unfair) {
            return Some(Some((number(class), Vec::new())));
        }
        let is_strong = |class: &usize| self.graph.strengths[*class] == Strength::Strong && enabled[*class] > 0;
        let class = missed().find(is_strong)?;
        let rest = component.iter().copied().filter(|node| !classes_of(*node).contains(&class)).collect();
        Some(Some((number(class), rest)))
    }
}
