//! What a program cannot ask of the store in its scenario: what the normal form of a world would not keep apart, and candidates without a
//! controller.

use super::LeaseSaying;
use crate::messages::{CANDIDATES_MAX, Request, RowEnd};
use crate::settings::RowClock;
use crate::{ObservedLease, ROW};
use fencepost_model::ids::ClientId;
use fencepost_model::process::Context;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Settings as _;
use fencepost_model::time::{StartTime, Ticks};

pub(super) fn refuses(context: &Context<'_, ObservedLease>, saying: &LeaseSaying) -> Option<String> {
    let LeaseSaying::Ask(request) = saying else { return None };
    match *request {
        Request::Take { until, now } => row(context, [until.from, now]),
        Request::Extend(_) => row(context, [None; 2]),
        Request::Unlock(until) => row(context, [until.from, None]).or_else(|| least(context, until)),
        Request::Nominate(number) => candidate(context, number).or_else(|| own(context, number)),
        Request::Withdraw(number) => candidate(context, number),
        Request::Candidates => candidate(context, 1),
        Request::Get | Request::Create(_) | Request::Put(..) | Request::PutItem(..) | Request::Delete(_) => None,
    }
}

/// The store compares times of clients with each other: none may be older than the normal form remembers when it arrives.
fn row(context: &Context<'_, ObservedLease>, times: [Option<StartTime>; 2]) -> Option<String> {
    let (scenario, client) = (context.scenario, context.client());
    if scenario.system != ROW {
        return Some(format!("it asks for a row, and the system is `{}`: write `{ROW}`", scenario.system));
    }
    let oldest = times.into_iter().flatten().map(|time| time.0).min()?;
    let settings = &scenario.service;
    if settings.row_clock != RowClock::Client {
        return Some("it sends a time of its own, and `service.row_clock` is not `client`".to_owned());
    }
    let way = scenario.synchrony.message_delay.unwrap_or_default();
    let age = context.now + settings.ahead(client) - oldest;
    (age + way >= settings.longest()).then(|| {
        format!(
            "a time that it read {age} ago is too old: the settings of the scenario name durations up to {} only, less the delay of messages",
            settings.longest() - Ticks::new(1)
        )
    })
}

/// The store counts a least time from the beginning of the row.
fn least(context: &Context<'_, ObservedLease>, until: RowEnd) -> Option<String> {
    let longest = context.scenario.service.longest();
    (until.from.is_none() && until.length >= longest).then(|| {
        let up_to = longest - Ticks::new(1);
        format!(
            "a least time of {} is too long: the settings of the scenario name durations up to {up_to} only",
            until.length
        )
    })
}

fn candidate(context: &Context<'_, ObservedLease>, number: u8) -> Option<String> {
    let scenario = context.scenario;
    if scenario.third_parties(scenario.clients).is_empty() {
        return Some("only a controller looks at candidates: add one as a third party".to_owned());
    }
    let most = u16::from(CANDIDATES_MAX).min(scenario.clients);
    let is_one = number > 0 && u16::from(number) <= most;
    (!is_one).then(|| format!("there are candidates 1 to {most}, and no candidate {number}"))
}

/// Candidates have an order, so that they are not interchangeable: each says what it is in its value at the start.
fn own(context: &Context<'_, ObservedLease>, number: u8) -> Option<String> {
    let (scenario, me) = (context.scenario, context.client());
    if u16::from(number) != me.0 {
        return Some(format!("{me} is candidate {}, and not {number}", me.0));
    }
    let other = (1..=scenario.clients).map(ClientId).filter(|other| *other != me);
    let is_alike = other.into_iter().any(|other| head(scenario, other) == head(scenario, me));
    is_alike.then(|| {
        "candidates are not interchangeable: give each client a program of its own, with its identity".to_owned()
    })
}

/// With what the program of a client begins.
fn head(scenario: &Scenario<ObservedLease>, client: ClientId) -> Option<(&str, &str)> {
    let own = scenario.programs.iter().find(|program| program.client == Some(client));
    let program = own.or_else(|| scenario.programs.iter().find(|program| program.client.is_none()))?;
    Some((&program.name, &program.head))
}
