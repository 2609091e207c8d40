//! Whether there is an endless fair run on which a promise stays open: strongly connected components (Tarjan 1972), taken
//! apart where something strongly fair is possible and never taken (Emerson and Lei 1987).

use fencepost_model::mutation::CheckerMutation;

use super::graph::{CycleCriterion, Graph, Node, Strength};

/// Classes of edges as a set.
#[derive(Clone, PartialEq, Eq)]
struct Classes(Vec<u64>);

impl Classes {
    fn none(graph: &Graph) -> Self {
        Classes(vec![0; graph.strengths.len().div_ceil(64)])
    }

    fn all(graph: &Graph) -> Self {
        Classes(vec![u64::MAX; graph.strengths.len().div_ceil(64)])
    }

    fn add(&mut self, class: usize) {
        self.0[class / 64] |= 1 << (class % 64);
    }

    fn contains(&self, class: usize) -> bool {
        self.0[class / 64] & (1 << (class % 64)) != 0
    }

    fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
}

/// The states of a component in which a fair run can stay for ever while the promise is open, sorted; of several, that
/// with the smallest state. A state out of which nothing leads is a component as well: there the run ends.
pub(crate) fn component(graph: &Graph, question: &CycleCriterion<'_>) -> Option<Vec<Node>> {
    let open: Vec<Node> = (0..u32::try_from(graph.len()).expect("states have 32 bits"))
        .filter(|node| (question.is_open)(*node))
        .collect();
    let mut found: Option<Vec<Node>> = None;
    let mut keep = |mut component: Vec<Node>| {
        component.sort_unstable();
        if found.as_ref().is_none_or(|best| component[0] < best[0]) {
            found = Some(component);
        }
    };
    let mut to_do = vec![open];
    let mut scratch = Scratch::new(graph.len());
    while let Some(nodes) = to_do.pop() {
        for component in scratch.components(graph, question, &nodes) {
            if let [node] = component[..]
                && graph.edges(node).next().is_none()
                && graph.mutation != Some(CheckerMutation::DeadlockUncounted.into())
            {
                keep(component);
                continue;
            }
            match judge(graph, question, &component) {
                Judgement::Fair => keep(component),
                Judgement::Unfair => {}
                Judgement::Without(_) if graph.mutation == Some(CheckerMutation::ComponentNotSplit.into()) => {}
                Judgement::Without(rest) => to_do.push(rest),
            }
        }
    }
    found
}

enum Judgement {
    /// A fair run can stay in it.
    Fair,
    /// None can, nor in a part of it.
    Unfair,
    /// None that visits all of it; perhaps one that stays in these states.
    Without(Vec<Node>),
}

fn judge(graph: &Graph, question: &CycleCriterion<'_>, component: &[Node]) -> Judgement {
    let is_inside = |node: &Node| component.binary_search(node).is_ok();
    let possible = |node: Node| {
        let mut classes = Classes::none(graph);
        graph.edges(node).filter_map(|edge| graph.class(edge)).for_each(|class| classes.add(class));
        classes
    };
    let (mut always, mut ever, mut taken) = (Classes::all(graph), Classes::none(graph), Classes::none(graph));
    let mut has_edge = false;
    for node in component {
        let here = possible(*node);
        if graph.mutation != Some(CheckerMutation::WeakAtFirstState.into()) || *node == component[0] {
            always.keep(&here);
        }
        ever.join(&here);
        for edge in graph.edges(*node).filter(|edge| (question.stays_open)(edge.label) && is_inside(&edge.to)) {
            has_edge = true;
            graph.class(edge).into_iter().for_each(|class| taken.add(class));
        }
    }
    if !has_edge {
        return Judgement::Unfair;
    }
    let mut missed = Vec::new();
    for (class, strength) in graph.strengths.iter().enumerate().filter(|(class, _)| !taken.contains(*class)) {
        match strength {
            Strength::Always if graph.mutation == Some(CheckerMutation::TimeMayStop.into()) => {}
            Strength::Always => return Judgement::Unfair,
            Strength::Strong
                if graph.mutation == Some(CheckerMutation::StrongIsWeak.into()) && !always.contains(class) => {}
            Strength::Weak | Strength::Strong if always.contains(class) => return Judgement::Unfair,
            Strength::Strong if ever.contains(class) => missed.push(class),
            Strength::Weak | Strength::Strong => {}
        }
    }
    if missed.is_empty() {
        return Judgement::Fair;
    }
    let can_stay = |node: &Node| {
        let here = possible(*node);
        !missed.iter().any(|class| here.contains(*class))
    };
    Judgement::Without(component.iter().copied().filter(can_stay).collect())
}

/// What Tarjan's algorithm remembers of each state; 0: not visited.
pub(crate) struct Scratch {
    index: Vec<u32>,
    low: Vec<u32>,
    is_on_stack: Vec<bool>,
    /// Which set of states is looked at: those with the present number.
    member: Vec<u32>,
    round: u32,
}

impl Scratch {
    pub(crate) fn new(nodes: usize) -> Self {
        Scratch {
            index: vec![0; nodes],
            low: vec![0; nodes],
            is_on_stack: vec![false; nodes],
            member: vec![0; nodes],
            round: 0,
        }
    }

    /// The strongly connected components of the graph between these states, by edges that leave the promise open; each
    /// sorted.
    pub(crate) fn components(
        &mut self,
        graph: &Graph,
        question: &CycleCriterion<'_>,
        nodes: &[Node],
    ) -> Vec<Vec<Node>> {
        self.round += 1;
        let ignores_low = graph.mutation == Some(CheckerMutation::LowLinkIgnored.into());
        for node in nodes {
            self.member[*node as usize] = self.round;
            self.index[*node as usize] = 0;
        }
        let (mut components, mut stack, mut count) = (Vec::new(), Vec::new(), 0);
        for root in nodes {
            if self.index[*root as usize] != 0 {
                continue;
            }
            let mut path = Vec::new();
            self.open(graph, question, *root, &mut count, &mut stack, &mut path);
            while let Some((node, next)) = path.last_mut() {
                let node = *node;
                if let Some(to) = next.next() {
                    let to = to as usize;
                    if self.member[to] != self.round {
                        continue;
                    }
                    if self.index[to] == 0 {
                        let to = u32::try_from(to).expect("it was one");
                        self.open(graph, question, to, &mut count, &mut stack, &mut path);
                    } else if self.is_on_stack[to] {
                        self.low[node as usize] = self.low[node as usize].min(self.index[to]);
                    }
                    continue;
                }
                path.pop();
                let low = self.low[node as usize];
                if let Some((parent, _)) = path.last() {
                    let parent = *parent as usize;
                    self.low[parent] = if ignores_low { self.low[parent] } else { self.low[parent].min(low) };
                }
                if low == self.index[node as usize] {
                    let from = stack.iter().rposition(|other| *other == node).expect("it is on the stack");
                    let mut component = stack.split_off(from);
                    component.iter().for_each(|other| self.is_on_stack[*other as usize] = false);
                    component.sort_unstable();
                    components.push(component);
                }
            }
        }
        components
    }

    fn open<'a>(
        &mut self,
        graph: &'a Graph,
        question: &CycleCriterion<'a>,
        node: Node,
        count: &mut u32,
        stack: &mut Vec<Node>,
        path: &mut Vec<(Node, Box<dyn Iterator<Item = Node> + 'a>)>,
    ) {
        *count += 1;
        (self.index[node as usize], self.low[node as usize]) = (*count, *count);
        self.is_on_stack[node as usize] = true;
        stack.push(node);
        let stays_open = question.stays_open;
        let edges = graph.edges(node).filter(move |edge| stays_open(edge.label)).map(|edge| edge.to);
        path.push((node, Box::new(edges)));
    }
}
