//! Along the log with one key, many ways side by side: after each stop, those are kept that leave the fewest requests in need of a place (beam
//! search; Lowerre). Where a walk that goes depth first is lost in the order of what happened long before, this is not. What a way cannot do
//! without later on, it does not use up (see `needs` and `viable`).
//!
//! A way is a schedule without lengths: each step comes as early as the one before and the sequence allow, so that a request that is answered
//! before the way has got to it is lost. Only the best way is laid down in the sequence (see `lay`). It is a guess like any other.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::WEIGHTS;
use super::draft::Draft;
use super::entry::{Effect, Entry, Labels, effect};
use super::needs::Need;
use super::requests::{Verb, What};
use super::walk::Walk;

/// What a way has done.
#[derive(Clone, Debug)]
pub(super) enum TrailStep {
    /// Requests that change nothing, anywhere between the last change and what follows.
    Idle(usize),
    /// A change right before another one, at the earliest at this instant.
    Hidden(usize, i64),
    /// The next stop, with the request that is carried out there if that was not known.
    Stop(Option<usize>),
}

/// A way along the log, as far as it has got.
#[derive(Clone)]
pub(super) struct Trail {
    /// How many stops it has passed.
    pub(super) stop: usize,
    pub(super) entry: Option<Entry>,
    /// The instant of its last event, at the earliest.
    pub(super) now: i64,
    /// The place from which on something may be inserted.
    pub(super) at: usize,
    /// By item: whether it is still to come.
    pub(super) open: Vec<u64>,
    /// The step before, in the list of all steps.
    pub(super) last: Option<usize>,
}

/// A change that a way may take next.
pub(super) struct NextChange {
    /// Who changes, and what comes of it.
    pub(super) item: Option<usize>,
    pub(super) new: Option<Entry>,
    /// Whether it is the next stop.
    pub(super) is_stop: bool,
    /// Where it comes at the latest.
    pub(super) place: usize,
    /// When it comes at the earliest, and at the latest.
    pub(super) since: i64,
    pub(super) until: i64,
}

/// Where two ways meet: from here on they may do the same. What the key is, and what is still to come.
type Junction = (Option<Entry>, Vec<u64>);

/// By end of a session: who takes the lock for it, and the last stop at which it is taken.
pub(super) type Takers = BTreeMap<usize, (Vec<usize>, usize)>;

/// All ways along a key.
pub(super) struct Beam<'a, 'b> {
    pub(super) draft: &'a Draft<'b>,
    pub(super) walk: &'a Walk,
    /// Log positions by request, and then by stop: what is changed at a stop is named by that.
    pub(super) labels: Labels,
    /// All steps, each with the one before.
    steps: Vec<(Option<usize>, TrailStep)>,
    /// Items by when they were answered.
    items: Vec<usize>,
    /// By request: its number among the items.
    number: Vec<usize>,
    /// What is needed later on.
    pub(super) needs: Vec<Need>,
    /// By stop: the last place up to it where the key may be changed.
    pub(super) last_free: Vec<usize>,
    pub(super) takers: Takers,
    /// By item: where the end of a session would change another key.
    pub(super) held: BTreeMap<usize, Vec<RangeInclusive<usize>>>,
    work: usize,
    /// How often a request had no place any more, at the last stop that was got to.
    pub(super) lost: BTreeMap<usize, usize>,
}

/// How many of the requests that change nothing now, but may elsewhere, are left for later.
const SPARE: [usize; 3] = [0, 1, usize::MAX];

impl Draft<'_> {
    /// The steps of the best way along a key that was found, and how much work that took. An error: the request that most often had no place any
    /// more where all ways end.
    pub(super) fn beam(&self, walk: &Walk, breadth: usize) -> (Result<Vec<TrailStep>, Option<usize>>, usize) {
        let mut items = walk.items.clone();
        items.sort_by_key(|item| (self.request(*item).received, *item));
        let mut number = vec![usize::MAX; self.labels.len()];
        items.iter().enumerate().for_each(|(place, item)| number[*item] = place);
        let labels = walk.stops.iter().map(|stop| self.sequence.events[*stop].label);
        let free = |stop: &usize| {
            let mut places = (0..=self.sequence.place[*stop]).rev();
            places.find(|at| self.sequence.is_free(*at, &self.scopes[walk.key])).unwrap_or(0)
        };
        let mut beam = Beam {
            draft: self,
            walk,
            labels: self.labels.iter().copied().chain(labels).collect(),
            steps: Vec::new(),
            number,
            needs: self.needs(walk),
            last_free: walk.stops.iter().map(free).collect(),
            takers: self.takers(walk),
            held: items.iter().map(|item| (*item, self.held(*item, Some(walk.key)))).collect(),
            items,
            work: 0,
            lost: BTreeMap::new(),
        };
        let Some(mut at) = beam.run(breadth) else {
            let lost = beam.lost.into_iter().max_by_key(|(item, times)| (*times, *item));
            return (Err(lost.map(|(item, _)| item)), beam.work);
        };
        let mut steps = Vec::new();
        while let Some(step) = at {
            let (before, what) = &beam.steps[step];
            steps.push(what.clone());
            at = *before;
        }
        steps.reverse();
        (Ok(steps), beam.work)
    }
}

impl Beam<'_, '_> {
    /// The last step of the first way that gets to the end; none: there is none among those that were kept.
    fn run(&mut self, breadth: usize) -> Option<Option<usize>> {
        let mut open = vec![0_u64; self.items.len().div_ceil(64)];
        for number in 0..self.items.len() {
            open[number / 64] |= 1 << (number % 64);
        }
        let mut layer = vec![Trail { stop: 0, entry: None, now: i64::MIN, at: 0, open, last: None }];
        for stop in 0..=self.walk.stops.len() {
            if (self.draft.is_over)() {
                return None;
            }
            let mut next: BTreeMap<Junction, Trail> = BTreeMap::new();
            let mut known: BTreeMap<Junction, i64> = BTreeMap::new();
            let mut depth = 0;
            self.lost.clear();
            while !layer.is_empty() {
                let mut inner: BTreeMap<Junction, Trail> = BTreeMap::new();
                for way in &layer {
                    let end = if stop == self.walk.stops.len() { self.ended(way) } else { None };
                    if end.is_some() {
                        return end;
                    }
                    for other in self.successors(way) {
                        let key = (other.entry.clone(), other.open.clone());
                        if other.stop > stop {
                            if next.get(&key).is_none_or(|known| other.now < known.now) {
                                next.insert(key, other);
                            }
                        } else if known.get(&key).is_none_or(|now| other.now < *now) {
                            known.insert(key.clone(), other.now);
                            inner.insert(key, other);
                        }
                    }
                }
                depth += 1;
                layer = self.best(inner.into_values().collect(), breadth);
                if depth > self.items.len() {
                    break;
                }
            }
            layer = self.best(next.into_values().collect(), breadth);
            if layer.is_empty() {
                return None;
            }
        }
        None
    }

    /// Those that leave the fewest requests in need of a place.
    fn best(&self, ways: Vec<Trail>, breadth: usize) -> Vec<Trail> {
        let mut rated: Vec<(i64, usize)> =
            ways.iter().enumerate().map(|(number, way)| (self.burden(way), number)).collect();
        rated.sort_unstable();
        rated.truncate(breadth);
        let mut ways: Vec<Option<Trail>> = ways.into_iter().map(Some).collect();
        rated.into_iter().filter_map(|(_, number)| ways[number].take()).collect()
    }

    /// How much is in need of a place, the more the sooner.
    fn burden(&self, way: &Trail) -> i64 {
        let mut sum = 0;
        for item in self.open(way) {
            let request = self.draft.request(item);
            if self.draft.is_end(item) || request.sent > way.now {
                continue;
            }
            let left = request.received.saturating_sub(way.now) / 1_000_000;
            let weight = match request.operations().first().map(|one| one.verb) {
                Some(Verb::Acquire(_)) => [3, 6, 2][self.draft.policy % WEIGHTS],
                Some(Verb::Delete) => [1, 1, 3][self.draft.policy % WEIGHTS],
                _ => 2,
            };
            let weight = weight * (1 + i64::from(self.draft.urgency[item].min(8)));
            sum += weight * (1_000 / (left + 20).max(1) + 10);
        }
        sum
    }

    /// The items that are still to come, by when they were answered.
    pub(super) fn open<'c>(&'c self, way: &'c Trail) -> impl Iterator<Item = usize> + 'c {
        self.items.iter().copied().filter(|item| self.is_open(way, *item))
    }

    /// Whether an item is still to come.
    pub(super) fn is_open(&self, way: &Trail, item: usize) -> bool {
        let number = self.number[item];
        (way.open[number / 64] >> (number % 64)) & 1 == 1
    }

    /// An item has its place.
    pub(super) fn close(&self, way: &mut Trail, item: usize) {
        let number = self.number[item];
        way.open[number / 64] &= !(1 << (number % 64));
    }

    /// What a request does with an entry, at a stop or between.
    pub(super) fn effect(&self, item: usize, stop: Option<usize>, entry: Option<&Entry>) -> Effect {
        let name = stop.map_or(item, |stop| self.draft.labels.len() + stop);
        let request = self.draft.request(item);
        effect(name, request, self.walk.key, entry, &self.labels, &self.draft.requests.deletes)
    }

    /// A way takes a step.
    pub(super) fn note(&mut self, way: &mut Trail, step: TrailStep) {
        self.steps.push((way.last, step));
        way.last = Some(self.steps.len() - 1);
    }

    /// The end, if all that is left changes nothing.
    fn ended(&mut self, way: &Trail) -> Option<Option<usize>> {
        let holder = way.entry.as_ref().and_then(|entry| entry.session);
        let may_stay = |item: usize| match self.draft.request(item).what {
            What::Destroy(session) => holder != Some(session),
            _ => self.effect(item, None, way.entry.as_ref()) == Effect::Nothing,
        };
        let left: Vec<usize> = self.open(way).collect();
        if !left.iter().all(|item| may_stay(*item)) {
            return None;
        }
        let mut way = way.clone();
        let count = self.draft.sequence.order.len();
        for item in left.into_iter().filter(|item| !self.draft.is_end(*item)) {
            if !self.has_place(item, way.at, count) {
                return None;
            }
            self.note(&mut way, TrailStep::Idle(item));
        }
        Some(way.last)
    }

    /// The ways that go on from one.
    fn successors(&mut self, way: &Trail) -> Vec<Trail> {
        let mut turns = self.stop_turns(way);
        turns.extend(self.hidden_turns(way));
        let mut found = Vec::new();
        for turn in &turns {
            for since in self.waits(way, turn) {
                for spare in SPARE {
                    for hides in [true, false] {
                        found.extend(self.turn(way, turn, since, spare, hides));
                    }
                    if way.entry.is_some() {
                        break;
                    }
                }
            }
        }
        self.work += 200 * found.len() + 1_000;
        found
    }
}
