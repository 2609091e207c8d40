//! A store in memory, for laws and tests: it can be full, and a process can end at any of its operations, with or without a loss of power.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, MutexGuard};

use super::folder::{StoreFile, StoreFolder};

/// A folder in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryFolder {
    /// The names of the folders that lead to it, each with a slash.
    path: String,
    disk: Arc<Mutex<MemoryDisk>>,
}

/// The disk that all folders are on.
#[derive(Debug, Default)]
struct MemoryDisk {
    files: Vec<MemoryFile>,
    /// By path; the places are those in `files`.
    names: BTreeMap<String, usize>,
    /// The names that survive a loss of power.
    durable: BTreeMap<String, usize>,
    /// Operations that change something.
    operations: u64,
    /// The process ends at this operation.
    end_at: Option<u64>,
    /// The number of bytes that fit on it.
    room: Option<usize>,
    /// What is written to it from now on is lost.
    is_over: bool,
}

#[derive(Debug, Default)]
struct MemoryFile {
    bytes: Vec<u8>,
    /// The number of bytes that survive a loss of power.
    durable: usize,
}

impl MemoryDisk {
    /// Counts an operation that changes something. Whether it is the one at which the process ends.
    fn operation(&mut self) -> io::Result<()> {
        self.operations += 1;
        self.is_over |= self.end_at.is_some_and(|end| self.operations >= end);
        self.alive()
    }

    fn alive(&self) -> io::Result<()> {
        if self.is_over { Err(io::Error::other("the process has ended")) } else { Ok(()) }
    }

    fn place(&self, path: &str) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn used(&self) -> usize {
        self.names.values().map(|place| self.files[*place].bytes.len()).sum()
    }
}

impl MemoryFolder {
    fn disk(&self) -> MutexGuard<'_, MemoryDisk> {
        self.disk.lock().expect("no operation on it panics")
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.path)
    }
}

#[cfg(test)]
impl MemoryFolder {
    /// Lets the process end at an operation; what that one writes is half there.
    pub(in crate::engine) fn end_at(&self, operation: u64) {
        self.disk().end_at = Some(operation);
    }

    /// The number of operations until now.
    pub(in crate::engine) fn operations(&self) -> u64 {
        self.disk().operations
    }

    /// Lets no more than this number of bytes fit on it.
    pub(super) fn set_room(&self, bytes: Option<usize>) {
        self.disk().room = bytes;
    }

    /// Another process begins; before that, the power may have failed.
    pub(in crate::engine) fn begin_anew(&self, loses_power: bool) {
        let mut disk = self.disk();
        (disk.end_at, disk.is_over, disk.operations) = (None, false, 0);
        if loses_power {
            disk.names = disk.durable.clone();
            for file in &mut disk.files {
                file.bytes.truncate(file.durable);
            }
        }
    }

    /// Changes the bytes of a file, by its path.
    pub(in crate::engine) fn damage(&self, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut disk = self.disk();
        let place = disk.place(path).expect("there is such a file");
        change(&mut disk.files[place].bytes);
    }

    /// The paths and contents of all files.
    pub(in crate::engine) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let disk = self.disk();
        disk.names.iter().map(|(path, place)| (path.clone(), disk.files[*place].bytes.clone())).collect()
    }
}

/// A file that is written.
struct Writing {
    disk: Arc<Mutex<MemoryDisk>>,
    place: usize,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.disk.lock().expect("no operation on it panics");
        disk.alive()?;
        let is_last = disk.operation().is_err();
        let free = disk.room.map_or(usize::MAX, |room| room.saturating_sub(disk.used()));
        let fits = if is_last { bytes.len() / 2 } else { bytes.len().min(free) };
        disk.files[self.place].bytes.extend(&bytes[..fits]);
        disk.alive()?;
        if fits == 0 && !bytes.is_empty() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(fits) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StoreFolder for MemoryFolder {
    fn place(&self) -> String {
        format!("memory:{}", self.path)
    }

    fn below(&self, name: &str) -> Arc<dyn StoreFolder> {
        Arc::new(MemoryFolder { path: format!("{}{name}/", self.path), disk: Arc::clone(&self.disk) })
    }

    fn make(&self) -> io::Result<()> {
        self.disk().alive()
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let disk = self.disk();
        disk.alive()?;
        let inside = disk.names.keys().filter_map(|path| path.strip_prefix(&self.path));
        let mut names: Vec<String> = inside.filter_map(|rest| rest.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>> {
        let mut disk = self.disk();
        disk.operation()?;
        let (path, place) = (self.path(name), disk.files.len());
        if disk.names.contains_key(&path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        disk.files.push(MemoryFile::default());
        disk.names.insert(path, place);
        Ok(Box::new(Writing { disk: Arc::clone(&self.disk), place }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn StoreFile>> {
        let disk = self.disk();
        disk.alive()?;
        let place = disk.place(&self.path(name))?;
        Ok(Box::new(Cursor::new(disk.files[place].bytes.clone())))
    }

    fn sync_file(&self, name: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.operation()?;
        let place = disk.place(&self.path(name))?;
        disk.files[place].durable = disk.files[place].bytes.len();
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.disk();
        disk.operation()?;
        let is_in = |path: &str| path.strip_prefix(&self.path).is_some_and(|rest| !rest.contains('/'));
        let MemoryDisk { names, durable, .. } = &mut *disk;
        durable.retain(|path, _| !is_in(path));
        durable.extend(names.iter().filter(|(path, _)| is_in(path)).map(|(path, place)| (path.clone(), *place)));
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.operation()?;
        let place = disk.names.remove(&self.path(from)).ok_or(io::ErrorKind::NotFound)?;
        disk.names.insert(self.path(to), place);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut disk = self.disk();
        disk.operation()?;
        disk.names.remove(&self.path(name)).map(|_| ()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn lock(&self, _: &str) -> io::Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }
}
