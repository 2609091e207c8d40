//! `fencepost doctor`: settings in, answer out, both in seconds.

mod ask;
mod assumed;
mod configured;
mod election;
mod etcd;
mod exact;
mod files;
mod judging;
mod lock;
pub(crate) mod manifest;
mod story;
mod tell;
mod values;

use clap::{Args, Subcommand};

use crate::args::Common;
use crate::exit::{CommandError, Exit};

/// Are these settings safe, and what should change?
///
/// Durations have units: 15s, 7.5s, 200ms. What is not said is as the recipe has it. Settings also come from a configuration, with --from or
/// --consul-lock; options say what it does not have, and come before what it has. Without a system and a configuration, it asks on a
/// terminal. No configuration says how long clients pause and messages travel: without --pause, --latency and --drift these are taken as
/// 0, and the answer begins with a warning.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Doctor {
    #[command(subcommand)]
    other: Option<OtherQuestion>,
    #[command(flatten)]
    lock: lock::LockSettings,
}

#[derive(Subcommand, Debug)]
enum OtherQuestion {
    /// Leader election with client-go, as Kubernetes and its controllers do it
    ///
    /// Settings are options; or flags of a program, with --flags; or stand in a manifest, with --from. What is not said is as the recipe has
    /// it, or the program. Links to the API server may be cut at any time, and heal. Without --pause, --latency, --drift and --stop-time
    /// these are taken as 0, and the answer begins with a warning.
    ClientGo(Box<election::ElectionSettings>),
    /// A session of etcd's Go client, with the mutex or the election on it
    ///
    /// A holder that stops by its own clock, before its lease can end, is judged with its margin; one that waits for Done, or looks at nothing, works
    /// beside its successor. Links to etcd may be cut at any time. Without --pause, --latency and --drift these are taken as 0, and the answer
    /// begins with a warning.
    Etcd(Box<etcd::SessionSettings>),
    /// Any scenario as it stands: every service, and programs of your own
    ///
    /// Each promise is searched with the clients, rounds and faults that the file has. Then each duration, and each number and flag of the
    /// value with which a program begins, is changed alone, until the verdict is another one: how much room there is, or what repairs it.
    /// Nothing is said about values between those that were searched.
    Scenario(exact::ExactSettings),
}

pub fn run(doctor: &Doctor, common: &Common) -> Result<Exit, CommandError> {
    match &doctor.other {
        Some(OtherQuestion::ClientGo(settings)) => election::run(settings, common),
        Some(OtherQuestion::Etcd(settings)) => etcd::run(settings, common),
        Some(OtherQuestion::Scenario(settings)) => exact::run(settings, common),
        None => lock::run(&doctor.lock, common),
    }
}
