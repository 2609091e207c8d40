//! An endless run that people can read: a shortest way to a component, and a round trip in it that is fair.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use fencepost_model::mutation::CheckerMutation;

use super::graph::{CycleCriterion, Edge, Graph, Node, Strength};

/// A way to a state, then a way from there back to it, as places of edges. The second is empty where the run ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lasso {
    pub(crate) stem: Vec<u16>,
    pub(crate) round: Vec<u16>,
}

type LassoStep = (Node, Edge);

/// A round trip through the component that takes everything that must not be put off.
pub(crate) fn round(graph: &Graph, question: &CycleCriterion<'_>, component: &[Node]) -> Vec<u16> {
    let start = component[0];
    let is_inside = |edge: Edge| (question.stays_open)(edge.label) && component.binary_search(&edge.to).is_ok();
    let mut walk: Vec<LassoStep> = Vec::new();
    let mut at = start;
    loop {
        let owed = owed(graph, &walk, start, component, &is_inside);
        // What is weakly fair is no longer owed where it is not possible; what is strongly fair must be taken.
        let weak = || owed.iter().copied().filter(|class| graph.strengths[*class] == Strength::Weak);
        let way = way(
            graph,
            at,
            &is_inside,
            &|node| node != at && weak().any(|class| !is_possible(graph, node, class)),
            &|_, edge| graph.class(edge).is_some_and(|class| owed.contains(&class)),
        );
        let Some(way) = way.filter(|_| !owed.is_empty()) else { break };
        at = way.last().map_or(at, |(_, edge)| edge.to);
        walk.extend(way);
    }
    if at != start || walk.is_empty() {
        let back = way(graph, at, &is_inside, &|_| false, &|_, edge| edge.to == start);
        walk.extend(back.unwrap_or_default());
    }
    walk.into_iter().map(|(_, edge)| edge.place).collect()
}

fn is_possible(graph: &Graph, node: Node, class: usize) -> bool {
    graph.edges(node).any(|edge| graph.class(edge) == Some(class))
}

/// The classes that this walk still has to take.
fn owed(
    graph: &Graph,
    walk: &[LassoStep],
    start: Node,
    component: &[Node],
    is_inside: &impl Fn(Edge) -> bool,
) -> BTreeSet<usize> {
    let visited: BTreeSet<Node> = walk.iter().map(|(_, edge)| edge.to).chain([start]).collect();
    let taken: BTreeSet<usize> = walk.iter().filter_map(|(_, edge)| graph.class(*edge)).collect();
    let in_component = |class: usize| {
        component.iter().any(|node| graph.edges(*node).any(|edge| is_inside(edge) && graph.class(edge) == Some(class)))
    };
    (0..graph.strengths.len())
        .filter(|class| !taken.contains(class))
        .filter(|class| match graph.strengths[*class] {
            Strength::Always => true,
            Strength::Weak if graph.mutation == Some(CheckerMutation::LassoUnfair.into()) => false,
            Strength::Weak => visited.iter().all(|node| is_possible(graph, *node, *class)),
            Strength::Strong => visited.iter().any(|node| is_possible(graph, *node, *class)),
        })
        .filter(|class| graph.strengths[*class] == Strength::Weak || in_component(*class))
        .collect()
}

/// A shortest way from a state to one that is wanted, or by an edge that is wanted; empty if the state is wanted itself.
fn way(
    graph: &Graph,
    from: Node,
    may_take: &impl Fn(Edge) -> bool,
    is_wanted: &impl Fn(Node) -> bool,
    is_wanted_edge: &impl Fn(Node, Edge) -> bool,
) -> Option<Vec<LassoStep>> {
    if is_wanted(from) {
        return Some(Vec::new());
    }
    let mut came: BTreeMap<Node, LassoStep> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for edge in graph.edges(node).filter(|edge| may_take(*edge)) {
            let is_end = is_wanted(edge.to) || is_wanted_edge(node, edge);
            if is_end {
                let mut steps = vec![(node, edge)];
                let mut at = node;
                while at != from {
                    let step = came[&at];
                    steps.push(step);
                    at = step.0;
                }
                steps.reverse();
                return Some(steps);
            }
            if edge.to != from && !came.contains_key(&edge.to) {
                came.insert(edge.to, (node, edge));
                queue.push_back(edge.to);
            }
        }
    }
    None
}
