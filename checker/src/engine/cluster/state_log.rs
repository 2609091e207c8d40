//! The states that a worker of several processes has found: a log, written to its checkpoint level by level, and read again.
//!
//! The file of a level has blocks: parts that no earlier block and no earlier level has, then states, as they travel to other processes
//! ([`Portable`]). Where the states of a level are found before the level before it is complete, their parts are written with that one, for it
//! is complete first.

use std::io;
use std::sync::Arc;

use super::checkpoint::Checkpoint;
use super::{Heard, Portable, Told};
use crate::engine::counters::Report;
use crate::engine::disk::{BlockWriter, put_number, read_sized, reader, stopped_by, take_number};

/// How many bytes are written together.
const BLOCK: usize = 1 << 16;

/// One worker's checkpoint, and the files of levels that are not complete.
pub(in crate::engine) struct StateLog<S> {
    portable: Arc<dyn Portable<S>>,
    checkpoint: Checkpoint,
    /// The parts that are in the files.
    told: Told,
    /// The next level, and the one after it if another worker is ahead.
    open: Vec<(u64, LevelFile)>,
}

/// The file of a level that is being found.
struct LevelFile {
    writer: BlockWriter,
    parts: Vec<u8>,
    states: Vec<u8>,
}

impl LevelFile {
    fn flush(&mut self) -> io::Result<()> {
        for bytes in [&mut self.parts, &mut self.states] {
            let mut length = Vec::new();
            put_number(bytes.len() as u64, &mut length);
            self.writer.write(&length)?;
            self.writer.write(bytes)?;
            bytes.clear();
        }
        Ok(())
    }
}

impl<S> StateLog<S> {
    pub(in crate::engine) fn new(portable: Arc<dyn Portable<S>>, checkpoint: Checkpoint) -> Self {
        StateLog { portable, checkpoint, told: Told::default(), open: Vec::new() }
    }

    /// The place of a level among those that are open.
    fn place(&mut self, level: u64) -> io::Result<usize> {
        if let Some(place) = self.open.iter().position(|(other, _)| *other == level) {
            return Ok(place);
        }
        let writer = self.checkpoint.begin(level)?;
        self.open.push((level, LevelFile { writer, parts: Vec::new(), states: Vec::new() }));
        Ok(self.open.len() - 1)
    }

    /// Notes a state that was found on a level.
    ///
    /// # Errors
    /// It cannot be written: by what the search is cut.
    pub(in crate::engine) fn note(&mut self, level: u64, state: &S) -> Result<(), String> {
        let mut packed = Vec::new();
        let mut parts = Vec::new();
        self.portable.pack(state, &mut self.told, &mut parts, &mut packed)?;
        self.write(level, &packed, &parts).map_err(|error| self.stopped_by(&error))
    }

    fn write(&mut self, level: u64, state: &[u8], parts: &[u8]) -> io::Result<()> {
        if !parts.is_empty() {
            let first = self.place(self.checkpoint.levels())?;
            self.open[first].1.parts.extend(parts);
        }
        let place = self.place(level)?;
        let file = &mut self.open[place].1;
        put_number(state.len() as u64, &mut file.states);
        file.states.extend(state);
        if file.parts.len() + file.states.len() >= BLOCK { file.flush() } else { Ok(()) }
    }

    /// All states of a level have been noted. `done`: what the worker has done until now.
    ///
    /// # Errors
    /// They cannot be written: by what the search is cut.
    pub(in crate::engine) fn complete(&mut self, level: u64, done: Report) -> Result<(), String> {
        if level < self.checkpoint.levels() {
            return Ok(());
        }
        assert_eq!(level, self.checkpoint.levels(), "all workers take part in each level");
        let place = self.open.iter().position(|(other, _)| *other == level);
        let file = place.map(|place| self.open.swap_remove(place).1);
        let finish = |mut file: LevelFile| {
            file.flush()?;
            file.writer.finish()
        };
        let written = file.map(finish).transpose();
        written.and_then(|file| self.checkpoint.add(file, done)).map_err(|error| self.stopped_by(&error))
    }

    /// Shows the states of each level that is complete. Returns the last of these levels, and what the worker had done until then; none if no
    /// level is.
    ///
    /// # Errors
    /// The files cannot be read: by what the search is cut.
    pub(in crate::engine) fn restore(
        &mut self,
        found: &mut dyn FnMut(Vec<S>, u64),
    ) -> Result<Option<(u64, Report)>, String> {
        let (mut last, mut heard) = (None, Heard::default());
        for (level, (file, done)) in (0..).zip(self.checkpoint.complete()) {
            last = Some((level, done));
            let Some(file) = file else { continue };
            let failed = |error: io::Error| self.stopped_by(&error);
            let mut from = reader(self.checkpoint.folder(), &file.name).map_err(failed)?;
            let (mut parts, mut states) = (Vec::new(), Vec::new());
            while read_sized(&mut from, &mut parts).map_err(failed)?
                && read_sized(&mut from, &mut states).map_err(failed)?
            {
                self.portable.learn(&parts, &mut heard)?;
                found(self.states(&states, &heard).ok_or("states of a checkpoint cannot be read")?, level);
            }
        }
        self.told = heard.told();
        Ok(last)
    }

    fn states(&self, mut bytes: &[u8], heard: &Heard) -> Option<Vec<S>> {
        let mut states = Vec::new();
        while !bytes.is_empty() {
            let length = usize::try_from(take_number(&mut bytes)?).ok()?;
            let (state, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            states.push(self.portable.unpack(state, heard)?);
        }
        Some(states)
    }

    /// By what the search is cut where the store fails.
    fn stopped_by(&self, error: &io::Error) -> String {
        stopped_by(self.checkpoint.folder(), error, self.checkpoint.levels())
    }
}
