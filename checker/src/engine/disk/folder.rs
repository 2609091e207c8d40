//! Where a store lies: a folder of the file system, or one in memory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that contains a store or one of its searches. Names are those of entries, without a path.
pub trait StoreFolder: Send + Sync {
    /// Where it is, for messages.
    fn place(&self) -> String;

    /// A folder in it, which need not exist.
    fn below(&self, name: &str) -> Arc<dyn StoreFolder>;

    /// Creates the folder and those above it, where they do not exist.
    ///
    /// # Errors
    /// As the file system says.
    fn make(&self) -> io::Result<()>;

    /// The names of its entries, in order; none if there is no such folder.
    ///
    /// # Errors
    /// As the file system says.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Begins a new file.
    ///
    /// # Errors
    /// There is one with that name; or as the file system says.
    fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>>;

    /// Opens a file to read it.
    ///
    /// # Errors
    /// As the file system says.
    fn open(&self, name: &str) -> io::Result<Box<dyn StoreFile>>;

    /// Returns when the contents of a file survive a loss of power.
    ///
    /// # Errors
    /// As the file system says.
    fn sync_file(&self, name: &str) -> io::Result<()>;

    /// Returns when the names of its entries survive a loss of power.
    ///
    /// # Errors
    /// As the file system says.
    fn sync(&self) -> io::Result<()>;

    /// Gives a file another name, and takes the place of the file that had it.
    ///
    /// # Errors
    /// As the file system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// As the file system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Keeps other processes out until what it returns is dropped, or the process ends.
    ///
    /// # Errors
    /// Another process has it ([`io::ErrorKind::WouldBlock`]); or as the file system says.
    fn lock(&self, name: &str) -> io::Result<Box<dyn Send>>;
}

/// A file that is read.
pub trait StoreFile: Read + Seek + Send {}

impl<T: Read + Seek + Send> StoreFile for T {}

/// A folder of the file system.
#[derive(Clone, Debug)]
pub(super) struct DiskFolder {
    pub(super) path: PathBuf,
}

impl StoreFolder for DiskFolder {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn below(&self, name: &str) -> Arc<dyn StoreFolder> {
        Arc::new(DiskFolder { path: self.path.join(name) })
    }

    fn make(&self) -> io::Result<()> {
        let missing: Vec<&Path> = self.path.ancestors().take_while(|folder| !folder.exists()).collect();
        fs::create_dir_all(&self.path)?;
        // A new name is in the folder above it.
        let above = missing.iter().filter_map(|folder| folder.parent());
        above.filter(|_| cfg!(unix)).try_for_each(|folder| match folder.as_os_str().is_empty() {
            true => File::open(".")?.sync_all(),
            false => File::open(folder)?.sync_all(),
        })
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
        let mut names = entries.map(name).collect::<io::Result<Vec<String>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(OpenOptions::new().write(true).create_new(true).open(self.path.join(name))?))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn StoreFile>> {
        Ok(Box::new(File::open(self.path.join(name))?))
    }

    fn sync_file(&self, name: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.path.join(name))?.sync_all()
    }

    fn sync(&self) -> io::Result<()> {
        // Only there a folder can be opened like a file.
        if cfg!(unix) { File::open(&self.path)?.sync_all() } else { Ok(()) }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn lock(&self, name: &str) -> io::Result<Box<dyn Send>> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(self.path.join(name))?;
        file.try_lock()?;
        Ok(Box::new(file))
    }
}
