//! The search for the smallest sets of edits: every single edit, then pairs, then triples.

use std::collections::BTreeMap;

use super::counterexamples::{Counterexamples, Refuted};
use super::edits::Edit;
use super::kept::Resumption;
use super::trial::{Base, DEEPER, Judgement, Repair, Trial};
use crate::exit::CommandError;
use crate::parallel::{in_parallel, progress};
use crate::supervisor::was_interrupted;

/// Candidates that are tried between two looks at the clock.
const BATCH: usize = 64;

/// At most this number of sets of one size is tried: those of the most promising edits.
const SETS_MAX: usize = 200_000;

/// What was tried, and what came of it.
#[derive(Default)]
pub struct Tried {
    /// The candidates of each size that there are, and the number of those that were tried.
    pub sizes: Vec<(usize, usize)>,
    pub invalid: usize,
    pub assume_more: usize,
    pub still_violated: usize,
    pub break_others: usize,
    pub undecided: usize,
    pub repairs: Vec<Repair>,
}

impl Tried {
    /// Whether every candidate was tried, and decided.
    pub fn is_exhausted(&self) -> bool {
        self.undecided == 0 && self.sizes.iter().all(|(all, tried)| all == tried)
    }
}

/// Tries sets of edits by their size, and ends with the first size that has repairs. Where none has, the sets that were not decided are
/// tried once more, with more states. What was judged before is not judged again.
pub fn search(
    base: &Base,
    edits: &[Edit],
    edits_max: usize,
    mut known: Known<'_>,
    is_quiet: bool,
) -> Result<Tried, CommandError> {
    let mut tried = Tried::default();
    // For each edit the smaller the better: whether it left fewer promises violated, or made the counterexample longer.
    let mut ranks: Vec<(usize, usize)> = vec![(usize::MAX, 0); edits.len()];
    let mut undecided: Vec<Vec<usize>> = Vec::new();
    for size in 1..=edits_max {
        let mut order = promising(&ranks);
        while count(&order, edits, size) > SETS_MAX {
            order.pop();
        }
        let candidates = combinations(&order, edits, size);
        let mut pass = Pass { base, edits, states_max: base.states_max, known: &mut known, is_quiet };
        let done = pass.over(&candidates, &format!("sets of {size}"), &mut |places, judgement| {
            if let ([place], Judgement::Violated { left, steps }) = (places, &judgement) {
                ranks[*place] = (*left, usize::MAX - steps);
            }
            match judgement {
                Judgement::Undecided => undecided.push(places.to_vec()),
                judgement => tried.note(judgement),
            }
        })?;
        let all: Vec<usize> = (0..edits.len()).collect();
        tried.sizes.push((count(&all, edits, size), done));
        if !tried.repairs.is_empty() {
            break;
        }
    }
    let mut done = 0;
    if tried.repairs.is_empty() {
        let states_max = base.states_max.saturating_mul(DEEPER);
        let mut pass = Pass { base, edits, states_max, known: &mut known, is_quiet };
        done = pass.over(&undecided, "undecided sets", &mut |_, judgement| tried.note(judgement))?;
    }
    tried.undecided += undecided.len() - done;
    Ok(tried)
}

/// What is known before a candidate is judged.
pub struct Known<'a> {
    pub counterexamples: Counterexamples,
    pub resumption: &'a mut Resumption,
}

/// What it takes to judge candidates.
struct Pass<'a, 'b> {
    base: &'a Base,
    edits: &'a [Edit],
    states_max: u64,
    known: &'a mut Known<'b>,
    is_quiet: bool,
}

impl Pass<'_, '_> {
    /// Judges candidates until the time is over, and says how many it has judged.
    fn over(
        &mut self,
        candidates: &[Vec<usize>],
        what: &str,
        note: &mut dyn FnMut(&[usize], Judgement),
    ) -> Result<usize, CommandError> {
        let Pass { base, edits, states_max, .. } = *self;
        let of = |places: &[usize]| places.iter().map(|place| &edits[*place]).collect::<Vec<&Edit>>();
        let bar = progress(candidates.len(), what, self.is_quiet);
        let mut done = 0;
        for batch in candidates.chunks(BATCH) {
            if was_interrupted() || base.watch.is_over() {
                break;
            }
            let Known { counterexamples, resumption } = &*self.known;
            let trials = in_parallel(batch, &bar, |places| {
                let chosen = of(places);
                match resumption.judgement(&chosen, states_max) {
                    Some(judgement) => Ok(judgement.into()),
                    None => decided(base, &chosen, counterexamples, states_max),
                }
            });
            let mut trials = trials.into_iter().collect::<Result<Vec<Trial>, CommandError>>()?;
            self.known.learn(&mut trials);
            // What the clock or a signal has cut is judged the next time.
            let is_cut = was_interrupted() || base.watch.is_over();
            let lasts = |judgement: &Judgement| !is_cut || !matches!(judgement, Judgement::Undecided);
            let judged = batch.iter().zip(&trials).filter(|(_, trial)| lasts(&trial.judgement));
            self.known.resumption.add(judged.map(|(places, trial)| (of(places), &trial.judgement)), states_max)?;
            batch.iter().zip(trials).for_each(|(places, trial)| note(places, trial.judgement));
            done += batch.len();
        }
        Ok(done)
    }
}

impl Known<'_> {
    /// Counts which counterexamples were of use, and adds new ones: between batches, so that the order of threads does not matter.
    fn learn(&mut self, trials: &mut [Trial]) {
        let refuted: Vec<Refuted> = trials.iter().filter_map(|trial| trial.refuted).collect();
        self.counterexamples.count(refuted.into_iter());
        self.counterexamples.settle();
        let found = trials.iter_mut().filter_map(|trial| trial.counterexample.take());
        found.for_each(|trace| self.counterexamples.add(trace));
    }
}

/// The judgement about a candidate. One that the model cannot represent, such as a queue that grows without end, is not decided: others
/// may be repairs all the same.
fn decided(base: &Base, edits: &[&Edit], known: &Counterexamples, states_max: u64) -> Result<Trial, CommandError> {
    match base.judge(edits, known, states_max) {
        Err(CommandError::Internal(error)) => {
            let edits: Vec<String> = edits.iter().map(ToString::to_string).collect();
            eprintln!("fencepost: {} is not decided: {error}", edits.join("; "));
            Ok(Judgement::Undecided.into())
        }
        judged => judged,
    }
}

impl Tried {
    fn note(&mut self, judgement: Judgement) {
        match judgement {
            Judgement::Invalid => self.invalid += 1,
            Judgement::AssumesMore => self.assume_more += 1,
            Judgement::Violated { .. } => self.still_violated += 1,
            Judgement::Breaks => self.break_others += 1,
            Judgement::Undecided => self.undecided += 1,
            Judgement::Repairs(repair) => self.repairs.push(*repair),
        }
    }
}

/// The places of the edits, the most promising first.
fn promising(ranks: &[(usize, usize)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|place| (ranks[*place], *place));
    order
}

/// The number of sets of this size with at most one edit of a setting.
fn count(places: &[usize], edits: &[Edit], size: usize) -> usize {
    let mut of_knobs: BTreeMap<&str, usize> = BTreeMap::new();
    places.iter().for_each(|place| *of_knobs.entry(&edits[*place].knob).or_default() += 1);
    // The sets of each size among the knobs that were seen so far.
    let mut sets = vec![0; size + 1];
    sets[0] = 1_usize;
    for of_knob in of_knobs.into_values() {
        for size in (1..=size).rev() {
            sets[size] = sets[size].saturating_add(sets[size - 1].saturating_mul(of_knob));
        }
    }
    sets[size]
}

/// Every set of this size with at most one edit of a setting; sets of promising edits first.
fn combinations(order: &[usize], edits: &[Edit], size: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    // Edits that are not in the order have no part in any set.
    let mut ranks = vec![usize::MAX; edits.len()];
    order.iter().enumerate().for_each(|(rank, place)| ranks[*place] = rank);
    for _ in 0..size {
        let longer = |set: &Vec<usize>| {
            let first = set.last().map_or(0, |last| ranks[*last] + 1);
            let is_new = |place: &&usize| set.iter().all(|other| edits[*other].knob != edits[**place].knob);
            order[first..].iter().filter(is_new).map(|place| [&set[..], &[*place]].concat()).collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(longer).collect();
    }
    sets.sort_by_key(|set| set.iter().map(|place| ranks[*place]).sum::<usize>());
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_one_edit_of_a_setting_and_promising_sets_come_first() {
        let edit = |knob: &str| Edit { knob: knob.to_owned(), before: None, after: None };
        let edits = [edit("a"), edit("a"), edit("b"), edit("c")];
        let order = promising(&[(2, 0), (1, 9), (1, 8), (2, 1)]);
        assert_eq!(order, [2, 1, 0, 3]);
        let pairs = combinations(&order, &edits, 2);
        assert_eq!(pairs, [vec![2, 1], vec![2, 0], vec![2, 3], vec![1, 3], vec![0, 3]]);
        for size in 1..=3 {
            assert_eq!(combinations(&order, &edits, size).len(), count(&order, &edits, size));
        }
        assert_eq!(combinations(&order, &edits, 3), [vec![2, 1, 3], vec![2, 0, 3]]);
        // Where there are too many sets, the least promising edits are left out.
        assert_eq!(combinations(&order[..3], &edits, 2), [vec![2, 1], vec![2, 0]]);
    }
}
