//! The states of the level that is being expanded: each worker of a process has a queue of them, and takes from the others' when it has expanded its
//! own (work stealing). Who expands a state makes no difference: its successors belong to their owners, and the level goes on as long as one worker is at it.
//! A worker that owns no state of a level takes no part in it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

/// The queues of the workers of one process.
pub(super) struct Queues<C>(Vec<Mutex<VecDeque<C>>>);

impl<C> Queues<C> {
    /// Empty ones for this number of workers.
    pub(super) fn of(workers: usize) -> Self {
        Queues((0..workers).map(|_| Mutex::default()).collect())
    }

    fn queue(&self, worker: usize) -> MutexGuard<'_, VecDeque<C>> {
        self.0[worker].lock().expect("no worker panics while it holds a queue")
    }

    /// Adds the chunks of a worker.
    pub(super) fn fill(&self, worker: usize, chunks: impl Iterator<Item = C>) {
        self.queue(worker).extend(chunks);
    }

    /// The first chunk of a worker.
    pub(super) fn take(&self, worker: usize) -> Option<C> {
        self.queue(worker).pop_front()
    }

    /// The last chunk of another worker: of the next one that has some.
    pub(super) fn steal(&self, worker: usize) -> Option<C> {
        let others = (worker + 1..self.0.len()).chain(0..worker);
        others.into_iter().find_map(|other| self.queue(other).pop_back())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_takes_its_own_in_order_and_what_others_would_take_last() {
        let queues = Queues::of(3);
        queues.fill(0, [1, 2, 3].into_iter());
        queues.fill(1, [7].into_iter());
        assert_eq!((queues.take(0), queues.steal(0), queues.steal(0)), (Some(1), Some(7), None));
        assert_eq!((queues.take(2), queues.steal(2), queues.steal(1), queues.take(0)), (None, Some(3), Some(2), None));
    }
}
