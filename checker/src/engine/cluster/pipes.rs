//! Processes of a search as threads of one, for laws and tests: each with its own space, connected by sockets of this machine.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::Peers;

/// What is searched, as questions and answers.
type Search = Vec<(String, String)>;

/// One of several processes. Their searches begin when all of them connect.
struct Pipes {
    process: usize,
    listener: TcpListener,
    /// Where each process is met.
    addresses: Arc<Vec<SocketAddr>>,
    /// What the first process searches, one search after another.
    searches: Arc<Mutex<Vec<Search>>>,
    connected: Mutex<usize>,
}

/// What a process says that ends, in place of its name.
const ENDED: u8 = u8::MAX;

impl Pipes {
    /// Whether the next search is the same as that of the other processes.
    fn agrees(&self, search: &[(String, String)]) -> bool {
        let mut count = self.connected.lock().expect("no thread panics while it holds this");
        let mut searches = self.searches.lock().expect("no thread panics while it holds this");
        if searches.len() == *count {
            searches.push(search.to_vec());
        }
        *count += 1;
        searches[*count - 1] == search
    }

    /// Connects to another process under a name, and waits until it has heard that.
    fn call(&self, other: usize, name: u8) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(self.addresses[other])?;
        stream.write_all(&[name])?;
        stream.read_exact(&mut [0])?;
        Ok(stream)
    }

    fn streams(&self) -> io::Result<Vec<Option<TcpStream>>> {
        let mut streams: Vec<Option<TcpStream>> = (0..self.addresses.len()).map(|_| None).collect();
        for (other, stream) in streams.iter_mut().enumerate().take(self.process) {
            *stream = Some(self.call(other, u8::try_from(self.process).map_err(io::Error::other)?)?);
        }
        for _ in self.process + 1..self.addresses.len() {
            let (mut met, _) = self.listener.accept()?;
            let mut name = [0];
            met.read_exact(&mut name)?;
            if name[0] == ENDED {
                return Err(io::Error::other("another process ended"));
            }
            met.write_all(&[0])?;
            streams[usize::from(name[0])] = Some(met);
        }
        Ok(streams)
    }
}

impl Peers for Pipes {
    fn processes(&self) -> usize {
        self.addresses.len()
    }

    fn process(&self) -> usize {
        self.process
    }

    fn connect(&self, search: &[(String, String)]) -> Result<Vec<Option<TcpStream>>, String> {
        let agrees = self.agrees(search);
        let streams = self.streams().map_err(|error| error.to_string())?;
        if agrees { Ok(streams) } else { Err("another search".to_owned()) }
    }
}

impl Drop for Pipes {
    /// Those that still wait for this process hear that it ended.
    fn drop(&mut self) {
        for other in 0..self.process {
            let told = TcpStream::connect(self.addresses[other]).and_then(|mut stream| stream.write_all(&[ENDED]));
            // It may have ended before.
            drop(told);
        }
    }
}

/// Runs the same in several processes, each with its peers, and returns what each of them came to.
///
/// # Errors
/// This machine has no socket left.
pub(crate) fn in_processes<T: Send>(processes: usize, run: impl Fn(Arc<dyn Peers>) -> T + Sync) -> io::Result<Vec<T>> {
    let bind = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listeners = (0..processes).map(bind).collect::<io::Result<Vec<_>>>()?;
    let addresses = Arc::new(listeners.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?);
    let searches = Arc::default();
    let peers = |(process, listener)| -> Arc<dyn Peers> {
        let (addresses, searches) = (Arc::clone(&addresses), Arc::clone(&searches));
        Arc::new(Pipes { process, listener, addresses, searches, connected: Mutex::new(0) })
    };
    let peers: Vec<Arc<dyn Peers>> = listeners.into_iter().enumerate().map(peers).collect();
    let run = &run;
    Ok(thread::scope(|scope| {
        let threads: Vec<_> = peers.into_iter().map(|peers| scope.spawn(move || run(peers))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a process ends")).collect()
    }))
}
