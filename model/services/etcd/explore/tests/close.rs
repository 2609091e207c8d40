//! `Close` waits no longer than T for its revoke (E-CC-6). No property of the kernel sees a client that does nothing: this is one of Rust.

use fencepost_checker::Options;
use fencepost_etcd::{Command, Etcd, Leave};
use fencepost_etcd_explore::SERVICE;
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::process::{Client, Context};
use fencepost_model::properties::{Level, Memory, View};
use fencepost_model::scenario::Scenario;
use fencepost_model::world::Action;

const CLIENT: ClientId = ClientId(1);

/// T after the client has left for the first time, its user may ask for the lock again.
fn is_free_again(view: &View<'_, Etcd>, memory: &mut Memory) -> Result<(), String> {
    let [has_left, waited, rounds, _] = memory;
    if *rounds == 0 && view.facts.iter().any(|fact| matches!(fact, Fact::Left { .. })) {
        (*has_left, *rounds) = (1, 1);
    }
    let context = Context { scenario: view.scenario, now: view.after.now, me: ProcessId::Client(CLIENT) };
    view.after.clients[CLIENT.place()].process.commands(&context, &mut |command| {
        if command == Command::Acquire {
            *has_left = 0;
        }
    });
    match view.action {
        Action::Advance(ticks) if *has_left == 1 => {
            *waited += u32::try_from(ticks.count()).expect("time goes on");
            let limit = view.scenario.service.ttl.count();
            // At the very instant its deadline may be about to fire.
            if i64::from(*waited) > limit { Err(format!("it waits for {waited} ticks")) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

#[test]
fn e_cc_6_close_waits_no_longer_than_t_for_its_revoke() {
    for (limits_close, expected) in [(false, "violated"), (true, "proven")] {
        let scenario = Scenario::<Etcd>::new("closes").message_delay(0).wake_delay(0).server_delay(0);
        // It does not unlock: the answer to that is waited for without a limit (E-CC-14).
        let scenario = scenario.clients(1).rounds(2).budget(|budget| budget.losses = 1).service(|settings| {
            (settings.limits_close, settings.leave) = (limits_close, Leave::Abandon);
        });
        let scenario = scenario.own_property("free-again", Level::Belief, is_free_again);
        let outcome = SERVICE.any(&scenario).check(&Options::default()).expect("no internal error").remove(0);
        assert_eq!(outcome.finding.verdict.word(), expected, "limits_close: {limits_close}");
    }
}
