//! The stand-in held against the model by what holds real agents: over sockets, with random commands and blocking queries. With
//! `FENCEPOST_COMMANDS=200000` more of them, and with it the scripts that take real time.

use std::env;

use fencepost_conform::{Consul, LATENESS, hunt, judge, read, timed, watches};
use fencepost_serve::{Server, Settings};

#[test]
fn random_commands_are_answered_as_the_model_says_and_the_run_is_possible() {
    let asked = env::var("FENCEPOST_COMMANDS").ok().and_then(|commands| commands.parse().ok());
    let commands = asked.unwrap_or(1_200);
    let mut settings = Settings { is_recorded: asked.is_none(), ..Settings::default() };
    settings.options.session_ttl_min = 1_000_000_000;
    let server = Server::start(settings, "127.0.0.1:0").expect("a free port");
    let consul = Consul::connect(&format!("http://{}", server.address())).expect("it answers");
    consul.make_room(fencepost_conform::Removal::Nothing).expect("it is empty");
    let found = hunt(&consul, 7, commands, &mut |_| {}).expect("it answers");
    let differs = found.difference.and_then(|exchanges| exchanges.last().cloned());
    assert!(differs.is_none(), "{differs:?}");
    assert!(found.tally.total() >= commands);
    let watched = watches(&consul, 7, if asked.is_some() { 300 } else { 4 }).expect("it answers");
    assert!(watched.is_ok(), "{watched:?}");
    if asked.is_some() {
        let slow = timed(&consul, LATENESS).expect("it answers");
        judge(&slow, None).unwrap_or_else(|objection| panic!("{objection}"));
        eprintln!("{}\n{watched:?}", found.tally.table(true));
    }
    let run = server.stop();
    if asked.is_none() {
        let possible = judge(&read(&run.record).expect("a log"), None);
        let possible = possible.unwrap_or_else(|objection| panic!("{objection}\n{}", run.record));
        assert!(possible.lines as u64 >= commands);
    }
}
