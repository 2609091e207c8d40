//! A stand-in with its sockets.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};

use tokio::runtime;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::connection;
use super::driver::Driver;
use crate::consul::ConsulBackend;
use crate::etcd::EtcdBackend;
use crate::judge::Verdict;
use crate::leases::LeaseBackend;
use crate::settings::Settings;
use crate::stand_in::{Backend, Seen, StandIn};

/// Where a stand-in listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// For all clients.
    pub all: SocketAddr,
    /// For each named client, its own: a connection there is that client's.
    pub clients: Vec<(String, SocketAddr)>,
}

/// What a stand-in leaves behind.
#[derive(Clone, Debug)]
pub struct StandInRun {
    /// What broke, if anything.
    pub verdict: Verdict,
    /// The run; that of a Consul agent, as `fencepost conform --recorded` reads it. Empty, if it was not recorded.
    pub record: String,
    /// The requests, in the order in which they arrived.
    pub requests: Vec<Seen>,
}

impl StandInRun {
    pub(super) fn of<B: Backend>(stand_in: &StandIn<B>) -> StandInRun {
        StandInRun { verdict: stand_in.verdict(), record: stand_in.recorded(), requests: stand_in.requests().to_vec() }
    }
}

/// A stand-in that listens, in a thread of its own.
#[derive(Debug)]
pub struct Server {
    addresses: Addresses,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<StandInRun>>,
    news: Arc<Mutex<Vec<&'static str>>>,
}

impl Server {
    /// A Consul agent that listens at an address, and at a free port of the same host for each client that is named.
    ///
    /// # Errors
    /// The address is no address, or is in use; or the plan has a fault that no Consul agent has.
    pub fn start(settings: Settings, listen: &str) -> io::Result<Server> {
        Server::start_as::<ConsulBackend>(settings, listen)
    }

    /// The same of an API server that has leases.
    ///
    /// # Errors
    /// The address is no address, or is in use; or the plan has a fault that no API server has.
    pub fn start_leases(settings: Settings, listen: &str) -> io::Result<Server> {
        Server::start_as::<LeaseBackend>(settings, listen)
    }

    /// The same of an etcd server.
    ///
    /// # Errors
    /// The address is no address, or is in use; or the plan has a fault that no etcd server has.
    pub fn start_etcd(settings: Settings, listen: &str) -> io::Result<Server> {
        Server::start_as::<EtcdBackend>(settings, listen)
    }

    fn start_as<B: Backend + 'static>(settings: Settings, listen: &str) -> io::Result<Server> {
        settings.plan.suits(B::NAME).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        let bind = |address: &str| {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            io::Result::Ok((listener.local_addr()?, listener))
        };
        let (all, listener) = bind(listen)?;
        let mut listeners = vec![(None, listener)];
        let mut clients = Vec::new();
        for name in &settings.clients {
            let (address, listener) = bind(&SocketAddr::new(all.ip(), 0).to_string())?;
            clients.push((name.clone(), address));
            listeners.push((Some(name.clone()), listener));
        }
        let (stop, stopped) = oneshot::channel();
        let (is_up, up) = mpsc::channel();
        let news = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&news);
        let thread = thread::Builder::new().name("stand-in".to_owned()).spawn(move || {
            let runtime = match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    // The caller hears it, and no verdict is asked for.
                    let _ = is_up.send(Err(error));
                    return StandInRun::of(&StandIn::<B>::new(settings));
                }
            };
            let local = LocalSet::new();
            local.block_on(&runtime, async move {
                let driver = Driver::new(StandIn::<B>::new(settings), heard);
                let serving = listeners.into_iter().try_for_each(|(name, listener)| {
                    let listener = tokio::net::TcpListener::from_std(listener)?;
                    tokio::task::spawn_local(connection::accept(listener, name, driver.clone()));
                    Ok(())
                });
                let _ = is_up.send(serving);
                tokio::task::spawn_local(driver.clone().run());
                // Dropping the other end is as good as stopping.
                let _ = stopped.await;
                driver.end()
            })
        })?;
        match up.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(io::Error::other("the stand-in's thread ended at once")),
        }
        Ok(Server { addresses: Addresses { all, clients }, stop: Some(stop), thread: Some(thread), news })
    }

    /// The address for all clients.
    pub fn address(&self) -> SocketAddr {
        self.addresses.all
    }

    /// All of its addresses.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// The notices for its caller since the last call, each once.
    pub fn news(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.news.lock().expect("no thread panics while it is locked"))
    }

    /// Stops it.
    pub fn stop(mut self) -> StandInRun {
        drop(self.stop.take());
        let thread = self.thread.take().expect("it is stopped once");
        thread.join().expect("the model's panics are caught where a request is carried out")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there has been printed.
            let _ = thread.join();
        }
    }
}
