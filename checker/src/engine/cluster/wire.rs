//! States as bytes, from one worker to another of another process.
//!
//! ```text
//! length of the parts, the parts, then for each state: whether a violation leads to it, its length, the state
//! ```

use std::sync::Arc;

use super::{Heard, Portable, Told};
use crate::engine::disk::{put_number, take_number};

/// Why bytes are refused: all processes are of one build, so that would be a mistake of ours.
const UNREADABLE: &str = "states of another process cannot be read";

/// One worker's conversations with those of other processes.
pub(in crate::engine) struct Wire<S> {
    portable: Arc<dyn Portable<S>>,
    /// How many workers each process has.
    workers: usize,
    /// The place of this process.
    process: usize,
    told: Vec<Told>,
    heard: Vec<Heard>,
}

impl<S> Wire<S> {
    /// Those of a worker in one of several processes, each with this number of workers.
    pub(in crate::engine) fn new(
        portable: Arc<dyn Portable<S>>,
        (processes, process): (usize, usize),
        workers: usize,
    ) -> Self {
        let all = processes * workers;
        let told = (0..all).map(|_| Told::default()).collect();
        let heard = (0..all).map(|_| Heard::default()).collect();
        Wire { portable, workers, process, told, heard }
    }

    /// Whether a worker belongs to another process.
    pub(in crate::engine) fn is_elsewhere(&self, worker: usize) -> bool {
        worker / self.workers != self.process
    }

    /// The first worker of each other process.
    pub(in crate::engine) fn others(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.told.len()).step_by(self.workers).filter(|worker| self.is_elsewhere(*worker))
    }

    /// States for a worker, each with whether a violation leads to it.
    pub(in crate::engine) fn pack<'a>(
        &mut self,
        worker: usize,
        states: impl Iterator<Item = (&'a S, bool)>,
    ) -> Result<Vec<u8>, String>
    where
        S: 'a,
    {
        let (mut parts, mut packed, mut one) = (Vec::new(), Vec::new(), Vec::new());
        for (state, is_violation) in states {
            one.clear();
            self.portable.pack(state, &mut self.told[worker], &mut parts, &mut one)?;
            packed.push(u8::from(is_violation));
            put_number(one.len() as u64, &mut packed);
            packed.extend(&one);
        }
        let mut bytes = Vec::with_capacity(packed.len() + parts.len() + 10);
        put_number(parts.len() as u64, &mut bytes);
        bytes.extend(parts);
        bytes.extend(packed);
        Ok(bytes)
    }

    /// What a worker has packed.
    pub(in crate::engine) fn unpack(
        &mut self,
        worker: usize,
        bytes: &[u8],
        mut found: impl FnMut(S, bool),
    ) -> Result<(), String> {
        let mut rest = bytes;
        let sized = |rest: &mut &[u8]| -> Option<Vec<u8>> {
            let length = usize::try_from(take_number(rest)?).ok()?;
            let (taken, after) = rest.split_at_checked(length)?;
            *rest = after;
            Some(taken.to_vec())
        };
        let parts = sized(&mut rest).ok_or(UNREADABLE)?;
        self.portable.learn(&parts, &mut self.heard[worker])?;
        while let Some((is_violation, after)) = rest.split_first() {
            rest = after;
            let state = sized(&mut rest).ok_or(UNREADABLE)?;
            let state = self.portable.unpack(&state, &self.heard[worker]).ok_or(UNREADABLE)?;
            found(state, *is_violation != 0);
        }
        Ok(())
    }

    pub(in crate::engine) fn portable(&self) -> &dyn Portable<S> {
        &*self.portable
    }
}
