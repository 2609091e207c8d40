//! Fair components, computed by a naive twin: every set of states of a small random graph is tried as the one that an
//! execution visits for ever.

use fencepost_model::mutation::Mutation;

use super::{Draw, LawViolation, require};
use crate::engine::StoreError;
use crate::engine::disk::spool::Spool;
use crate::liveness::edges::EdgeLog;
use crate::liveness::fair::component;
use crate::liveness::graph::{CycleCriterion, Graph, Node, Strength};
use crate::liveness::prune::Remainder;

/// How many graphs are tried.
const GRAPHS: usize = 20_000;

fn index(number: u64) -> usize {
    usize::try_from(number).expect("it is small")
}

fn node(number: u64) -> Node {
    Node::try_from(number).expect("it is small")
}

struct Small {
    graph: Graph,
    open: Vec<bool>,
    stays: Vec<bool>,
}

fn small(draw: &mut Draw) -> Small {
    let nodes = 1 + draw.below(7);
    let classes = draw.below(4);
    let strengths = (0..classes)
        .map(|_| [Strength::Weak, Strength::Weak, Strength::Strong, Strength::Always][index(draw.below(4))]);
    let mut graph = Graph::default();
    graph.strengths.extend(strengths);
    // Labels: for each class, and for none, one that leaves the promise open and one that does not.
    let mut stays = Vec::new();
    for class in (0..classes).map(|class| u16::try_from(class).ok()).chain([None]) {
        for stays_open in [true, false] {
            graph.classes.push(class);
            stays.push(stays_open);
        }
    }
    for _ in 0..nodes {
        let edges: Vec<(Node, u16)> = (0..draw.below(4))
            .map(|_| {
                let label = 2 * draw.below(classes + 1) + u64::from(draw.below(6) == 0);
                (node(draw.below(nodes)), u16::try_from(label).expect("there are few labels"))
            })
            .collect();
        graph.push(edges);
    }
    let open = (0..nodes).map(|_| draw.below(4) > 0).collect();
    Small { graph, open, stays }
}

impl Small {
    /// The component that is found in what is left of the graph, by the states of the whole.
    fn pruned(&self, question: &CycleCriterion<'_>) -> Result<Option<Vec<Node>>, LawViolation> {
        let refused = |error: StoreError| LawViolation(error.to_string());
        let mut edges = EdgeLog::new(Spool::Memory(Vec::new()));
        for from in 0..node(self.graph.len() as u64) {
            let own: Vec<(Node, u16)> = self.graph.edges(from).map(|edge| (edge.to, edge.label)).collect();
            edges.push(&own).map_err(refused)?;
        }
        edges.finish().map_err(refused)?;
        let left = Remainder::of(&edges, &self.graph, question, 0, &mut || true).map_err(refused)?;
        let left = left.expect("it is not called off");
        let is_open = |node: Node| left.contains(node);
        let question = CycleCriterion { is_open: &is_open, stays_open: question.stays_open };
        let component = component(&left.graph, &question);
        Ok(component.map(|nodes| nodes.iter().map(|node| left.states[*node as usize]).collect()))
    }

    /// Whether a run can visit exactly these states for ever, with edges between them taken as often as it likes.
    fn is_fair(&self, set: u32) -> bool {
        let nodes: Vec<Node> = (0..node(self.graph.len() as u64)).filter(|node| set & (1 << node) != 0).collect();
        if !nodes.iter().all(|node| self.open[*node as usize]) {
            return false;
        }
        if let [node] = nodes[..]
            && self.graph.edges(node).next().is_none()
        {
            return true;
        }
        let inner = |node: Node| {
            self.graph.edges(node).filter(move |edge| self.stays[usize::from(edge.label)] && set & (1 << edge.to) != 0)
        };
        let reaches = |from: Node| {
            let mut seen = 0u32;
            let mut to_do = vec![from];
            while let Some(node) = to_do.pop() {
                for edge in inner(node).filter(|edge| seen & (1 << edge.to) == 0).collect::<Vec<_>>() {
                    seen |= 1 << edge.to;
                    to_do.push(edge.to);
                }
            }
            seen
        };
        if !nodes.iter().all(|node| reaches(*node) == set) {
            return false;
        }
        let can = |node: Node, class: usize| self.graph.edges(node).any(|edge| self.graph.class(edge) == Some(class));
        (0..self.graph.strengths.len()).all(|class| {
            let is_taken = nodes.iter().any(|node| inner(*node).any(|edge| self.graph.class(edge) == Some(class)));
            is_taken
                || match self.graph.strengths[class] {
                    Strength::Always => false,
                    Strength::Weak => nodes.iter().any(|node| !can(*node, class)),
                    Strength::Strong => nodes.iter().all(|node| !can(*node, class)),
                }
        })
    }
}

/// On random graphs, the component found is fair and has the smallest state of all that are fair; and it is found in what is left of the graph.
pub(super) fn components_agree_with_their_twin(mutation: Option<Mutation>) -> Result<(), LawViolation> {
    let mut draw = Draw(1);
    let mut found = 0;
    for round in 0..GRAPHS {
        let mut small = small(&mut draw);
        small.graph.mutation = mutation;
        let is_open = |node: Node| small.open[node as usize];
        let stays_open = |label: u16| small.stays[usize::from(label)];
        let question = CycleCriterion { is_open: &is_open, stays_open: &stays_open };
        let whole = component(&small.graph, &question);
        let component = small.pruned(&question)?;
        require(whole == component, || format!("graph {round}: {whole:?}, and {component:?} of what is left of it"))?;
        let naive = (1..1u32 << small.graph.len()).filter(|set| small.is_fair(*set));
        let smallest = naive.map(u32::trailing_zeros).min();
        let first = component.as_ref().map(|nodes| nodes[0]);
        require(first == smallest, || format!("graph {round}: {first:?}, and {smallest:?} by its twin"))?;
        if let Some(nodes) = component {
            found += 1;
            let set = nodes.iter().fold(0, |set, node| set | 1 << node);
            require(small.is_fair(set), || format!("graph {round}: the component is not fair"))?;
        }
    }
    let is_mixed = (GRAPHS / 10..GRAPHS - GRAPHS / 10).contains(&found);
    require(is_mixed, || format!("both answers should occur often: {found} of {GRAPHS} graphs"))
}
