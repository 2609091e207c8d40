//! Which server a test talks to.

use std::fmt;
use std::io;
use std::str::FromStr;

use crate::faults::{Fault, FaultPlan, Rule};
use crate::http::Server;
use crate::settings::Settings;

/// The server that a test talks to; the stand-in is one.
///
/// ```
/// use fencepost_serve::torture::TestedServer;
///
/// assert_eq!("etcd".parse(), Ok(TestedServer::Etcd));
/// assert_eq!(TestedServer::Etcd.variable(), "ETCD_HTTP_ADDR");
/// ```
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum TestedServer {
    /// A Consul agent.
    #[default]
    Consul,
    /// An etcd server, behind its JSON gateway.
    Etcd,
}

impl TestedServer {
    /// All of them.
    pub const ALL: [TestedServer; 2] = [TestedServer::Consul, TestedServer::Etcd];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            TestedServer::Consul => "consul",
            TestedServer::Etcd => "etcd",
        }
    }

    /// The variable in which a test finds its address.
    pub fn variable(self) -> &'static str {
        match self {
            TestedServer::Consul => "CONSUL_HTTP_ADDR",
            TestedServer::Etcd => "ETCD_HTTP_ADDR",
        }
    }

    /// What may happen to a request, unless it is said.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn faults(self) -> Vec<Fault> {
        let error = match self {
            TestedServer::Consul => "status 500 \"No cluster leader\"",
            TestedServer::Etcd => "status 503 \"etcdserver: request timed out\"",
        };
        let faults = ["lose-request", "lose-answer", "delay-answer 30s", "delay-request 30s", error];
        faults.map(|fault| fault.parse().expect("the faults are constants")).to_vec()
    }

    /// Whether it has every one of these faults.
    ///
    /// # Errors
    /// The first one that another server has.
    pub fn has(self, faults: &[Fault]) -> Result<(), String> {
        let plan: FaultPlan = faults.iter().map(|fault| Rule::once("*", "*", 1, "*", *fault)).collect();
        plan.suits(self.name())
    }

    /// A stand-in for it, at a free port.
    pub(super) fn start(self, settings: Settings) -> io::Result<Server> {
        match self {
            TestedServer::Consul => Server::start(settings, "127.0.0.1:0"),
            TestedServer::Etcd => Server::start_etcd(settings, "127.0.0.1:0"),
        }
    }
}

impl FromStr for TestedServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || TestedServer::ALL.map(TestedServer::name).join(" and ");
        let found = TestedServer::ALL.into_iter().find(|server| server.name() == text);
        found.ok_or_else(|| format!("`{text}`: there are {}", names()))
    }
}

impl fmt::Display for TestedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::TestedServer;

    #[test]
    fn each_server_has_its_own_faults_and_not_those_of_the_other() {
        for (server, other) in [(TestedServer::Consul, TestedServer::Etcd), (TestedServer::Etcd, TestedServer::Consul)]
        {
            assert_eq!(server.has(&server.faults()), Ok(()));
            assert!(other.has(&server.faults()).is_err());
        }
    }
}
