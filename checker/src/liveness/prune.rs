//! The part of a state graph in which a fair execution may stay for ever while a promise is open. It takes a few passes over the edges, and
//! four bytes for each state; what is left is looked at in memory (see [`fair`](super::fair)).
//!
//! A state is left out if, by edges that leave the promise open and between states that are not left out,
//!
//! - nothing leads on from it, or
//! - for a fair class, no state can be reached from it in which that class is disabled, and no edge of that class; if time has to advance,
//!   no edge of that class.
//!
//! This changes no answer (Emerson and Lei, "Modalities for model checking: branching time logic strikes back", 1987, whose largest fixed
//! point it is for weak fairness). In a component in which a fair execution can stay, each state reaches all others: so it reaches what a
//! fair class asks for, which is within the component; strong fairness asks for no less than weak. By induction none of its states is
//! left out. And a component that is unfair because of a class that is enabled in all its states and never taken is so in each part, too.
//! States may be left in for nothing, so it does no harm to stop early: when what is left is small enough, at the beginning already, or when
//! a round through all classes has left out few.

use std::ops::ControlFlow;

use fencepost_model::mutation::CheckerMutation;

use super::edges::EdgeLog;
use super::graph::{CycleCriterion, Graph, Node, Strength};
use crate::engine::StoreError;

/// How many classes are looked at in one pass: each has a bit.
const CLASSES: usize = 30;

/// An edge leads on.
const LEADS_ON: u32 = 1 << 30;

/// The state is left out.
const OUT: u32 = 1 << 31;

/// Another round through all classes has to leave out this part of the states.
const WORTHWHILE: usize = 8;

/// What is left of a graph.
pub(crate) struct Remainder {
    /// Its states, sorted, by their numbers in the whole graph.
    pub(crate) states: Vec<Node>,
    /// The same with numbers of its own and all their edges; behind them is one state that stands for all others.
    pub(crate) graph: Graph,
}

impl Remainder {
    /// What is left of the graph with these edges, and with the labels and classes of this one. That many states are few `enough`. Before each
    /// pass it is asked whether to go on; if not, there is no answer.
    ///
    /// # Errors
    /// The edges are on disk, and cannot be read.
    pub(crate) fn of(
        edges: &EdgeLog,
        labels: &Graph,
        question: &CycleCriterion<'_>,
        enough: usize,
        may_go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Self>, StoreError> {
        let Some(mut numbers) = Pruning::of(edges, labels, question).run(enough, may_go_on)? else { return Ok(None) };
        let states: Vec<Node> =
            (0..).zip(&numbers).filter(|(_, mark)| **mark & OUT == 0).map(|(node, _)| node).collect();
        let others = Node::try_from(states.len()).expect("they are some of the states");
        numbers.iter_mut().filter(|mark| **mark & OUT != 0).for_each(|mark| *mark = others);
        (0..).zip(&states).for_each(|(number, state)| numbers[*state as usize] = number);
        let number = |state: &Node| numbers.get(*state as usize).copied().unwrap_or(others);
        let ignores_others = labels.mutation == Some(CheckerMutation::PruneDropsEdges.into());
        let mut graph = labels.emptied();
        let mut rest = &states[..];
        edges.forward(|from, edges| {
            let Some((first, later)) = rest.split_first() else { return ControlFlow::Break(()) };
            if from == *first {
                let numbered = edges.iter().map(|(to, label)| (number(to), *label));
                graph.push(numbered.filter(|(to, _)| !ignores_others || *to != others));
                rest = later;
            }
            ControlFlow::Continue(())
        })?;
        graph.push([]);
        Ok(Some(Remainder { states, graph }))
    }

    /// Whether this is a state of the remainder, and not the one that stands for the others.
    pub(crate) fn contains(&self, node: Node) -> bool {
        (node as usize) < self.states.len()
    }
}

/// Some classes, and the bit of each.
struct ClassGroup {
    /// For each label.
    taken: Vec<u32>,
    /// Those that may be disabled instead.
    may_be_disabled: u32,
    all: u32,
}

impl ClassGroup {
    fn of(labels: &Graph, classes: &[usize]) -> Self {
        let bit = |class: usize| classes.iter().position(|other| *other == class).map_or(0, |place| 1 << place);
        let taken = labels.classes.iter().map(|class| class.map_or(0, |class| bit(usize::from(class)))).collect();
        let ignores_disabled = labels.mutation == Some(CheckerMutation::PruneIgnoresDisabled.into());
        let weaker = classes.iter().filter(|class| labels.strengths[**class] != Strength::Always && !ignores_disabled);
        ClassGroup {
            taken,
            may_be_disabled: weaker.fold(0, |bits, class| bits | bit(*class)),
            all: classes.iter().fold(LEADS_ON, |bits, class| bits | bit(*class)),
        }
    }
}

struct Pruning<'a> {
    edges: &'a EdgeLog,
    labels: &'a Graph,
    stays_open: Vec<bool>,
    /// For each state: what can be reached from it, or that it is left out.
    marks: Vec<u32>,
    left: usize,
    /// The first state in which the execution ends while the promise is open.
    end: Option<Node>,
}

impl<'a> Pruning<'a> {
    fn of(edges: &'a EdgeLog, labels: &'a Graph, question: &CycleCriterion<'_>) -> Self {
        let label = |place: usize| u16::try_from(place).expect("there are few labels");
        let stays_open = (0..labels.classes.len()).map(|place| (question.stays_open)(label(place))).collect();
        let mark = |node: Node| if (question.is_open)(node) { 0 } else { OUT };
        let marks: Vec<u32> = (0..edges.len()).map(mark).collect();
        let left = marks.iter().filter(|mark| **mark != OUT).count();
        Pruning { edges, labels, stays_open, marks, left, end: None }
    }

    /// The marks of all states; none if it was called off.
    fn run(mut self, enough: usize, may_go_on: &mut dyn FnMut() -> bool) -> Result<Option<Vec<u32>>, StoreError> {
        let time_may_stop = self.labels.mutation == Some(CheckerMutation::TimeMayStop.into());
        let strengths = self.labels.strengths.iter().enumerate();
        let is_kept = |strength: &Strength| *strength != Strength::Always || !time_may_stop;
        let classes: Vec<usize> = strengths.filter(|(_, strength)| is_kept(strength)).map(|(class, _)| class).collect();
        let mut groups: Vec<ClassGroup> =
            classes.chunks(CLASSES).map(|classes| ClassGroup::of(self.labels, classes)).collect();
        if groups.is_empty() {
            groups.push(ClassGroup::of(self.labels, &[]));
        }
        while self.left > enough {
            let before = self.left;
            for group in &groups {
                if !self.leave_out(group, may_go_on)? {
                    return Ok(None);
                }
            }
            if (before - self.left) * WORTHWHILE < before {
                break;
            }
        }
        if let Some(end) = self.end {
            self.marks[end as usize] = 0;
        }
        Ok(Some(self.marks))
    }

    /// Leaves out states because of some classes; false if it was called off.
    fn leave_out(&mut self, group: &ClassGroup, may_go_on: &mut dyn FnMut() -> bool) -> Result<bool, StoreError> {
        let Pruning { edges, labels, stays_open, marks, left, end } = self;
        marks.iter_mut().for_each(|mark| *mark &= OUT);
        let mut is_stable = false;
        while !is_stable {
            if !may_go_on() {
                return Ok(false);
            }
            is_stable = true;
            edges.backward(|from, edges| {
                let from_mark = marks[from as usize];
                if from_mark & OUT != 0 {
                    return;
                }
                if edges.is_empty() {
                    // States are looked at from the last one back.
                    *end = Some(end.map_or(from, |end: Node| end.min(from)));
                    marks[from as usize] = OUT;
                    *left -= 1;
                    return;
                }
                let enabled = edges.iter().fold(0, |bits, (_, label)| bits | group.taken[usize::from(*label)]);
                let mut mark = from_mark | group.may_be_disabled & !enabled;
                for (to, label) in edges.iter().filter(|(_, label)| stays_open[usize::from(*label)]) {
                    let to_mark = marks.get(*to as usize).copied().unwrap_or(OUT);
                    if to_mark & OUT == 0 {
                        mark |= LEADS_ON | group.taken[usize::from(*label)] | to_mark;
                    }
                }
                if mark != from_mark {
                    marks[from as usize] = mark;
                    is_stable = false;
                }
            })?;
            is_stable |= labels.mutation == Some(CheckerMutation::PruneBeforeStable.into());
        }
        for mark in marks.iter_mut().filter(|mark| **mark & OUT == 0 && **mark != group.all) {
            *mark = OUT;
            *left -= 1;
        }
        Ok(true)
    }
}
