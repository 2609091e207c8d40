//! Sorts more candidates than fit into memory: sorted runs are written whenever memory is full, and merged at the end (Knuth, TAOCP 3, 5.4).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

use super::blocks::{BlockReader, BlockWriter, reader};
use super::candidate::{CandidateHead, Candidates, SortKey, SortValue};
use super::folder::StoreFolder;

/// The most runs that are merged at once. Each has a block in memory, and an open file.
const RUNS_MAX: usize = 64;

/// The beginning of the names of runs.
pub(super) const RUN: &str = "run-";

pub(super) struct CandidateSorter {
    folder: Arc<dyn StoreFolder>,
    by: SortKey,
    /// How much memory candidates take until they are written, in bytes.
    room: usize,
    candidates: Candidates,
    runs: Vec<String>,
    /// The number of the next run, different from those of other sorters that are in use.
    next: u64,
    /// A mutant: the last run is lost.
    loses_run: bool,
}

impl CandidateSorter {
    pub(super) fn new(folder: &Arc<dyn StoreFolder>, by: SortKey, room: usize, loses_run: bool) -> Self {
        // Sorters by fingerprint and by discovery are in use at the same time.
        let next = u64::from(by == SortKey::Discovery);
        let (candidates, runs) = (Candidates::default(), Vec::new());
        CandidateSorter { folder: Arc::clone(folder), by, room, candidates, runs, next, loses_run }
    }

    pub(super) fn push(&mut self, head: CandidateHead, state: &[u8]) -> io::Result<()> {
        self.candidates.push(head, |to| to.extend(state));
        if self.candidates.size() >= self.room { self.spill() } else { Ok(()) }
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> io::Result<()> {
        self.candidates.sort(self.by);
        let candidates = std::mem::take(&mut self.candidates);
        self.write_run(vec![Source::Memory { candidates, at: 0 }])?;
        if self.runs.len() == RUNS_MAX {
            let runs = std::mem::take(&mut self.runs);
            let sources = runs.iter().map(|run| Source::open(&self.folder, run)).collect::<io::Result<_>>()?;
            self.write_run(sources)?;
            runs.iter().try_for_each(|run| self.folder.remove(run))?;
        }
        Ok(())
    }

    fn write_run(&mut self, sources: Vec<Source>) -> io::Result<()> {
        let name = format!("{RUN}{}", self.next);
        self.next += 2;
        let mut writer = BlockWriter::create(&self.folder, name)?;
        let mut merge = Merge::new(sources, self.by)?;
        let mut bytes = Vec::new();
        while let Some(head) = merge.next()? {
            bytes.clear();
            head.write(merge.state(), &mut bytes);
            writer.write(&bytes)?;
        }
        self.runs.push(writer.finish()?.name);
        Ok(())
    }

    /// Hands over all candidates in order. By fingerprint, only the first of several with the same one.
    pub(super) fn drain(mut self, mut each: impl FnMut(CandidateHead, &[u8]) -> io::Result<()>) -> io::Result<()> {
        self.candidates.sort(self.by);
        let taken = self.runs.len() - usize::from(self.loses_run && !self.runs.is_empty());
        let runs = self.runs[..taken].iter().map(|run| Source::open(&self.folder, run));
        let mut sources = runs.collect::<io::Result<Vec<Source>>>()?;
        sources.push(Source::Memory { candidates: self.candidates, at: 0 });
        let mut merge = Merge::new(sources, self.by)?;
        while let Some(head) = merge.next()? {
            each(head, merge.state())?;
        }
        drop(merge);
        self.runs.iter().try_for_each(|run| self.folder.remove(run))
    }
}

/// A sorted list of candidates.
enum Source {
    Memory { candidates: Candidates, at: usize },
    Run { from: BlockReader, state: Vec<u8> },
}

impl Source {
    fn open(folder: &Arc<dyn StoreFolder>, run: &str) -> io::Result<Self> {
        Ok(Source::Run { from: reader(folder, run)?, state: Vec::new() })
    }

    /// Goes to the next candidate.
    fn advance(&mut self) -> io::Result<Option<CandidateHead>> {
        match self {
            Source::Memory { candidates, at } => {
                *at += 1;
                Ok((*at <= candidates.len()).then(|| candidates.get(*at - 1).0))
            }
            Source::Run { from, state } => CandidateHead::read(from, state),
        }
    }

    /// The state of the candidate that it is at.
    fn state(&self) -> &[u8] {
        match self {
            Source::Memory { candidates, at } => candidates.get(*at - 1).1,
            Source::Run { state, .. } => state,
        }
    }
}

/// The next candidate of a source, behind its place in the order and the number of the source.
type MergeHead = (SortValue, usize, CandidateHead);

/// Several sorted lists as one.
struct Merge {
    sources: Vec<Source>,
    by: SortKey,
    /// For each source that is not at its end.
    heads: BinaryHeap<Reverse<MergeHead>>,
    /// The source of the candidate that was handed over last; it has not advanced yet.
    last: Option<(usize, CandidateHead)>,
}

impl Merge {
    fn new(sources: Vec<Source>, by: SortKey) -> io::Result<Self> {
        let mut merge = Merge { heads: BinaryHeap::with_capacity(sources.len()), sources, by, last: None };
        (0..merge.sources.len()).try_for_each(|place| merge.advance(place))?;
        Ok(merge)
    }

    fn advance(&mut self, place: usize) -> io::Result<()> {
        if let Some(head) = self.sources[place].advance()? {
            self.heads.push(Reverse((self.by.of(&head), place, head)));
        }
        Ok(())
    }

    fn next(&mut self) -> io::Result<Option<CandidateHead>> {
        let before = self.last.take();
        if let Some((place, _)) = before {
            self.advance(place)?;
        }
        while let Some(Reverse((_, place, head))) = self.heads.pop() {
            let is_again = self.by == SortKey::Fingerprint
                && before.is_some_and(|(_, before)| before.fingerprint == head.fingerprint);
            if is_again {
                self.advance(place)?;
                continue;
            }
            self.last = Some((place, head));
            return Ok(Some(head));
        }
        Ok(None)
    }

    /// The state of the candidate that was handed over last.
    fn state(&self) -> &[u8] {
        let (place, _) = self.last.expect("a candidate was handed over");
        self.sources[place].state()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::memory::MemoryFolder;
    use super::*;

    /// Candidates of which many are the same state, in the order of their discovery.
    fn some(count: u64) -> impl Iterator<Item = (CandidateHead, Vec<u8>)> {
        (0..count).map(move |place| {
            let fingerprint = (place * place % 7_001).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (parent, action) = (place / 5, u16::try_from(place % 5).unwrap());
            let head = CandidateHead { fingerprint, parent, action, is_violation: place % 3 == 0 };
            (head, vec![place as u8; (place % 23) as usize])
        })
    }

    #[test]
    fn of_the_same_states_the_first_is_kept_whatever_the_room() {
        let count = 20_000;
        let mut first = BTreeMap::new();
        for (head, state) in some(count) {
            first.entry(head.fingerprint).or_insert((head, state));
        }
        for room in [1 << 30, 1 << 16, 1 << 12] {
            let memory = MemoryFolder::default();
            let folder: Arc<dyn StoreFolder> = Arc::new(memory.clone());
            let mut sorter = CandidateSorter::new(&folder, SortKey::Fingerprint, room, false);
            some(count).try_for_each(|(head, state)| sorter.push(head, &state)).unwrap();
            assert_eq!(sorter.runs.is_empty(), room == 1 << 30);
            let mut again = CandidateSorter::new(&folder, SortKey::Discovery, room, false);
            let mut found = Vec::new();
            sorter
                .drain(|head, state| {
                    found.push((head, state.to_vec()));
                    again.push(head, state)
                })
                .unwrap();
            assert!(found.iter().eq(first.values()), "{room}");
            let mut discovered: Vec<_> = first.values().cloned().collect();
            discovered.sort_by_key(|(head, _)| (head.parent, head.action));
            let mut order = discovered.iter();
            again
                .drain(|head, state| {
                    assert_eq!(order.next(), Some(&(head, state.to_vec())));
                    Ok(())
                })
                .unwrap();
            assert_eq!(order.next(), None);
            assert!(memory.contents().is_empty(), "runs are removed");
        }
    }
}
