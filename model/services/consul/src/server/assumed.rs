//! Checks of assumptions against the servers' memory, step by step.

use super::Server;
use super::sessions::Row;
use crate::messages::{Answer, Checks, ConsulEvent, ConsulMessage, Request, Timer};
use crate::settings::{Requests, Restarts, Timers};
use crate::{Consul, ConsulFault};
use fencepost_model::assumption::{Execution, Moment};
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, ProcessId};
use fencepost_model::process::Message;
use fencepost_model::time::{Deadline, Instant, Ticks};
use fencepost_model::world::{Action, Envelope, Fault, World};

type Checked = Result<(), String>;
type ConsulExecution = Execution<Consul>;

fn server(world: &World<Consul>) -> &Server {
    &world.server.process
}

/// The time of the servers' clock after a step.
fn clock(moment: &Moment<'_, Consul>) -> Instant {
    moment.after.clock(ProcessId::Server)
}

fn wake(action: &Action<Consul>) -> Option<Timer> {
    match action {
        Action::Wake { process: ProcessId::Server, timer } => Some(*timer),
        _ => None,
    }
}

/// The request that a step delivers to the servers.
fn request(action: &Action<Consul>) -> Option<Request> {
    match action {
        Action::Deliver(Envelope {
            to: ProcessId::Server,
            message: Message::Service(ConsulMessage::Request(_, request)),
            ..
        }) => Some(*request),
        _ => None,
    }
}

fn refuse(is_wrong: bool, what: &str) -> Checked {
    if is_wrong { Err(what.to_owned()) } else { Ok(()) }
}

/// `pub(in …)` is written once for all.
macro_rules! checks {
    ($($(#[$doc:meta])* fn $name:ident($run:ident: &ConsulExecution $(, $argument:ident: $type:ty)*) $body:block)*) => {
        impl Server {
            $($(#[$doc])* pub(crate) fn $name($run: &ConsulExecution $(, $argument: $type)*) -> Checked $body)*
        }
    };
}

checks! {
    /// Each session has the TTL, and its timer is never further away than the multiple.
    fn sessions_have_ttl(run: &ConsulExecution, ttl: Option<Ticks>, multiplier: u8) {
        run.each(|moment| {
            for row in &server(moment.after).sessions {
                refuse(row.terms.ttl != ttl, &format!("the TTL of {} is another one", row.id))?;
                let Some(expires) = row.expires else { continue };
                let left = expires.0 - clock(moment);
                let most = ttl.map_or(Ticks::ZERO, |ttl| ttl.times(multiplier.into()));
                // A clock that jumps back extends the remaining time.
                let has_slipped = moment.after.server.skew < run.worlds()[0].server.skew;
                refuse(!has_slipped && left > most, &format!("{} expires in {left}", row.id))?;
            }
            Ok(())
        })
    }

    /// Each lock-delay has that length.
    fn lock_delays_are(run: &ConsulExecution, length: Ticks) {
        run.each(|moment| {
            let mut delays = server(moment.after).delays.iter().filter(|delay| !delay.is_timer());
            refuse(delays.any(|delay| delay.length != length), "a lock-delay has another length")
        })
    }

    /// Each session is bound to these checks.
    fn sessions_are_bound_to(run: &ConsulExecution, checks: Checks) {
        run.each(|moment| {
            let mut rows = server(moment.after).sessions.iter();
            refuse(rows.any(|row| row.terms.checks != checks), "a session is bound to other checks")
        })
    }

    /// A deadline about a silent node fires only after the node was silent for so long.
    fn silent_before(run: &ConsulExecution, length: Ticks, node_of: fn(Timer) -> Option<ClientId>) {
        run.each(|moment| {
            let Some(node) = wake(moment.action).and_then(node_of) else { return Ok(()) };
            let silent = server(moment.before).nodes.iter().find(|row| row.id == node).and_then(|row| row.silent);
            let Some(since) = silent else { return Err(format!("the node of {node} is not silent")) };
            let silence = since.elapsed(clock(moment));
            refuse(silence < length, &format!("the node of {node} was silent for {silence}"))
        })
    }

    /// A lock is granted when the log applies the acquire, and not when the request arrives.
    fn acquires_are_delayed(run: &ConsulExecution) {
        run.each(|moment| {
            let is_granted = moment.step.facts.iter().any(|fact| matches!(fact, Fact::Granted { fresh: true, .. }));
            let is_request = matches!(request(moment.action), Some(Request::Acquire(..)));
            refuse(is_granted && is_request, "the acquire is applied at once")
        })
    }

    /// A session still exists after the step in which its timer fires.
    fn expiry_is_delayed(run: &ConsulExecution) {
        run.each(|moment| match wake(moment.action) {
            Some(Timer::Expire(session)) => refuse(server(moment.after).row(session).is_none(), "the session ends at once"),
            _ => Ok(()),
        })
    }

    /// No time passes while there has been no leader for longer than the bound.
    fn outages_last_at_most(run: &ConsulExecution, most: Ticks) {
        run.each(|moment| {
            let Some(since) = server(moment.after).leaderless else { return Ok(()) };
            let is_passing = matches!(moment.action, Action::Advance(_));
            let outage = since.elapsed(clock(moment));
            refuse(is_passing && outage > most, &format!("there was no leader for {outage}"))
        })
    }

    /// An election restarts every TTL, or none.
    fn new_leaders_treat_timers(run: &ConsulExecution, timers: Timers) {
        run.each(|moment| {
            if !matches!(wake(moment.action), Some(Timer::Elect | Timer::ElectBehind)) {
                return Ok(());
            }
            let (before, after) = (server(moment.before), server(moment.after));
            let full = |row: &Row| row.terms.ttl.map(|ttl| {
                Deadline(clock(moment) + ttl.times(run.scenario.service.ttl_multiplier.into()))
            });
            let kept = |row: &Row| before.row(row.id).and_then(|row| row.expires);
            // A held request may renew a session in the same step.
            let rows = after.sessions.iter().filter(|row| before.held.is_empty() && before.row(row.id).is_some());
            for row in rows {
                let expected = if timers == Timers::StartAnew { full(row) } else { kept(row) };
                refuse(row.expires != expected, &format!("the TTL of {} is treated otherwise", row.id))?;
            }
            Ok(())
        })
    }

    /// The fate of requests that arrive while there is no leader.
    fn requests_without_leader_are(run: &ConsulExecution, requests: Requests) {
        run.each(|moment| {
            let has_errors = moment.step.sent.iter().any(|envelope| {
                matches!(envelope.message, Message::Service(ConsulMessage::Response(_, Answer::NoLeader)))
            });
            let is_without = request(moment.action).is_some() && !server(moment.before).has_leader();
            match requests {
                Requests::Refused => refuse(!server(moment.after).held.is_empty(), "a request is held"),
                // A client that reaches only a deposed leader gets the answer of that leader.
                Requests::Held => refuse(
                    is_without && has_errors && server(moment.before).deposed.is_none(),
                    "a request is answered with an error",
                ),
            }
        })
    }

    /// An election changes neither entries nor sessions.
    fn new_leaders_are_complete(run: &ConsulExecution) {
        run.each(|moment| {
            let is_election = matches!(wake(moment.action), Some(Timer::Elect | Timer::ElectBehind));
            let is_alone = server(moment.before).held.is_empty();
            refuse(is_election && is_alone && !has_the_same(moment), "the new leader has other entries or sessions")
        })
    }

    /// No time passes while a deposed leader has been unaware of it for longer than the bound.
    fn deposed_leaders_linger(run: &ConsulExecution, most: Ticks) {
        run.each(|moment| {
            let Some(deposed) = &server(moment.after).deposed else { return Ok(()) };
            let age = deposed.since.elapsed(clock(moment));
            refuse(matches!(moment.action, Action::Advance(_)) && age > most, &format!("it was deposed for {age}"))
        })
    }

    /// No deposed leader acknowledges a renewal.
    fn renewals_have_a_quorum(run: &ConsulExecution) {
        run.each(|moment| {
            let by_deposed = |fact: &Fact<Consul>| matches!(fact, Fact::Service(ConsulEvent::RenewedByDeposed(_)));
            refuse(moment.step.facts.iter().any(by_deposed), "a deposed leader acknowledges a renewal")
        })
    }

    /// A restart restarts lock-delays in full, or forgets them.
    fn restarts_are(run: &ConsulExecution, from: Restarts) {
        run.each(|moment| {
            if !is_restart(moment) {
                return Ok(());
            }
            let now = clock(moment);
            let pending = |world| {
                let delays = server(world).delays.iter().filter(|delay| !delay.is_timer() && !delay.until.is_due(now));
                delays.map(|delay| (delay.key, delay.length)).collect::<Vec<_>>()
            };
            match from {
                Restarts::FromSnapshot => refuse(!pending(moment.after).is_empty(), "a lock-delay survives"),
                Restarts::FromLog => {
                    refuse(pending(moment.before) != pending(moment.after), "a lock-delay is lost")?;
                    let mut delays = server(moment.after).delays.iter();
                    refuse(delays.any(|delay| delay.until.0 - now != delay.length), "a lock-delay does not restart")
                }
            }
        })
    }

    /// A restart changes neither entries nor sessions.
    fn restarts_lose_nothing(run: &ConsulExecution) {
        run.each(|moment| refuse(is_restart(moment) && !has_the_same(moment), "something committed is lost"))
    }

    /// The coordination entry names no other limit.
    fn limits_are_among(run: &ConsulExecution, limits: &[u8]) {
        run.each(|moment| {
            let limit = server(moment.after).slots().map(|slots| slots.limit);
            refuse(limit.is_some_and(|limit| !limits.contains(&limit)), "the entry says another limit")
        })
    }
}

fn is_restart(moment: &Moment<'_, Consul>) -> bool {
    matches!(moment.action, Action::Fault(Fault::Service(ConsulFault::Restart)))
}

/// Whether a step leaves all entries and sessions unchanged, except for timers.
fn has_the_same(moment: &Moment<'_, Consul>) -> bool {
    let (before, after) = (server(moment.before), server(moment.after));
    before.entries == after.entries && before.sessions().eq(after.sessions())
}
