//! A finite graph whose edges have labels, and which labels cannot be put off for ever.

use fencepost_model::mutation::Mutation;

/// A number of a state, in breadth-first order from 0.
pub(crate) type Node = u32;

/// How often a class of edges must be taken in an endless run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Strength {
    /// Weakly fair: taken infinitely often if it is always enabled from some point on.
    Weak,
    /// Strongly fair: taken infinitely often if it is enabled infinitely often.
    Strong,
    /// Time advances infinitely often.
    Always,
}

/// A state graph, or a part of one, with every edge of its states, including self-loops; in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// The first edge of each state, and the end of the last.
    first: Vec<u64>,
    targets: Vec<Node>,
    labels: Vec<u16>,
    /// The fairness class of each label, if it has one.
    pub(crate) classes: Vec<Option<u16>>,
    /// The strength of each class.
    pub(crate) strengths: Vec<Strength>,
    /// The mutant that is switched on.
    pub(crate) mutation: Option<Mutation>,
}

/// An edge.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    /// Its place among those of its state.
    pub place: u16,
    /// The successor.
    pub to: Node,
    /// The index of the action's label.
    pub label: u16,
}

impl Graph {
    /// An empty one, with this mutant switched on.
    pub(crate) fn new(mutation: Option<Mutation>) -> Self {
        Graph { mutation, ..Graph::default() }
    }

    /// One without states, with the labels and classes of this one.
    pub(crate) fn emptied(&self) -> Self {
        let Graph { classes, strengths, mutation, .. } = self;
        Graph { classes: classes.clone(), strengths: strengths.clone(), mutation: *mutation, ..Graph::default() }
    }

    /// Adds the edges of the next state.
    pub(crate) fn push(&mut self, edges: impl IntoIterator<Item = (Node, u16)>) {
        if self.first.is_empty() {
            self.first.push(0);
        }
        for (to, label) in edges {
            self.targets.push(to);
            self.labels.push(label);
        }
        self.first.push(self.targets.len() as u64);
    }

    /// How many states have their edges.
    pub(crate) fn len(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// The edges of a state, in the order of action indices.
    pub(crate) fn edges(&self, node: Node) -> impl Iterator<Item = Edge> + '_ {
        let bound = |place: usize| usize::try_from(self.first[place]).expect("the edges fit into memory");
        let range = bound(node as usize)..bound(node as usize + 1);
        let edges = self.targets[range.clone()].iter().zip(&self.labels[range]);
        (0..).zip(edges).map(|(place, (to, label))| Edge { place, to: *to, label: *label })
    }

    /// The class of an edge.
    pub(crate) fn class(&self, edge: Edge) -> Option<usize> {
        self.classes[usize::from(edge.label)].map(usize::from)
    }
}

/// What an endless run must not do.
pub(crate) struct CycleCriterion<'a> {
    /// Whether the promise is still open in a state.
    pub is_open: &'a dyn Fn(Node) -> bool,
    /// Whether an edge with this label leaves it open.
    pub stays_open: &'a dyn Fn(u16) -> bool,
}
