//! The agents that the tests drive.

use fencepost_reenact::Agent;
use fencepost_serve::{Clock, Server, Settings};

/// An agent.
pub struct Bench {
    pub agent: Agent,
    /// Ends with the test.
    _server: Option<Server>,
}

/// The stand-in with sessions of short TTLs; and the real agent, if there is one.
pub fn benches() -> Vec<Bench> {
    let mut settings = Settings { clock: Clock::Real, ..Settings::default() };
    settings.options.session_ttl_min = 1_000_000_000;
    let server = Server::start(settings, "127.0.0.1:0").expect("a free port");
    let stand_in = Agent::connect(&server.address().to_string(), None).expect("an agent");
    let mut benches = vec![Bench { agent: stand_in, _server: Some(server) }];
    match std::env::var("FENCEPOST_CONSUL") {
        Ok(address) => benches.push(Bench { agent: Agent::connect(&address, None).expect("an agent"), _server: None }),
        Err(_) => eprintln!("skipped: no real agent, for FENCEPOST_CONSUL names none; the stand-in answers"),
    }
    benches
}

#[test]
fn an_agent_without_short_ttls_is_refused_with_a_way_out() {
    let server =
        Server::start(Settings { clock: Clock::Real, ..Settings::default() }, "127.0.0.1:0").expect("a free port");
    let error = Agent::connect(&server.address().to_string(), None).expect_err("its sessions last for 10 s");
    assert!(error.0.contains("session_ttl_min is 10s") && error.0.contains("session_ttl_min = \"1s\""), "{error}");
    let error = Agent::connect("http://127.0.0.1:1", None).expect_err("there is no agent");
    assert!(error.0.contains("127.0.0.1:1"), "{error}");
}
