//! Several clients of etcd at the same time: how many crowds there are, and what came of them.

use fencepost_conform::ConformError;
use fencepost_conform::etcd::{
    EtcdCluster, EtcdCrowd, EtcdExchange, EtcdOrder, EtcdPace, EtcdPossible, EtcdScript, EtcdServer, TRIES, crowd,
    crowd_of_cluster, order, shrink,
};

use super::Conform;
use super::etcd::lateness;
use crate::args::Common;
use crate::exit::CommandError;
use crate::parallel::progress;

/// The number of calls at the same time for which there is one slow crowd, and the highest number of slow crowds: each takes seven seconds.
const CALLS_PER_SLOW_CROWD: u64 = 600;
const SLOW_CROWDS_MAX: u64 = 8;

/// The number of calls at the same time for which there is one crowd about locks and elections, which takes two seconds.
const CALLS_PER_QUEUES: u64 = 120;

/// What came of calls at the same time.
pub struct Crowds {
    pub possible: EtcdPossible,
    /// All of them, if there will be a log.
    pub exchanged: Vec<EtcdCrowd>,
    /// The first one of which no order is possible.
    pub impossible: Option<Differing>,
    pub undecided: u64,
}

/// A crowd of which no order is possible.
pub struct Differing {
    pub crowd: EtcdCrowd,
    /// The call that none gets past.
    pub exchange: EtcdExchange,
    /// The number of calls before some were left out.
    pub drawn: usize,
}

/// Where crowds go.
pub struct CrowdPlace<'a> {
    pub server: &'a EtcdServer,
    pub cluster: Option<&'a EtcdCluster>,
}

impl CrowdPlace<'_> {
    fn crowd(&self, script: &EtcdScript) -> Result<EtcdCrowd, ConformError> {
        match self.cluster {
            Some(cluster) => crowd_of_cluster(cluster, script),
            None => crowd(self.server, script),
        }
    }
}

pub fn concurrent(conform: &Conform) -> u64 {
    conform.concurrent.unwrap_or(conform.commands / 2)
}

/// Several clients at the same time, with pauses and without.
pub fn crowded(
    at: &CrowdPlace<'_>,
    conform: &Conform,
    possible: EtcdPossible,
    common: &Common,
) -> Result<Crowds, CommandError> {
    let concurrent = concurrent(conform);
    let mut crowds = Crowds { possible, exchanged: Vec::new(), impossible: None, undecided: 0 };
    if concurrent == 0 {
        return Ok(crowds);
    }
    let slow = (concurrent / CALLS_PER_SLOW_CROWD).clamp(1, SLOW_CROWDS_MAX);
    let busy = concurrent.div_ceil(EtcdPace::Busy.total() as u64);
    let bar = progress(usize::try_from(concurrent).unwrap_or(usize::MAX), "concurrent answers", common.quiet);
    let of = |pace: EtcdPace, count: u64| (0..count).map(move |number| (number, pace));
    let queues = of(EtcdPace::Queues, concurrent.div_ceil(CALLS_PER_QUEUES));
    let members = of(EtcdPace::Members, if at.cluster.is_some() { (4 * slow).max(4) } else { 0 });
    let paces = of(EtcdPace::Slow, slow).chain(members).chain(queues).chain(of(EtcdPace::Busy, busy));
    for (number, pace) in paces {
        let script = EtcdScript::drawn(conform.seed, number, pace);
        let found = at.crowd(&script).map_err(|error| CommandError::Input(error.0))?;
        if conform.record.is_some() {
            crowds.exchanged.push(found.clone());
        }
        match order(&found, lateness(conform)) {
            EtcdOrder::Possible { exchanges, ended } => crowds.possible.add(&exchanges, ended),
            EtcdOrder::Impossible { exchange, .. } => {
                crowds.impossible = Some(shrunk(at, conform, &script, (found, *exchange))?);
                break;
            }
            EtcdOrder::Undecided => crowds.undecided += 1,
        }
        bar.inc(if pace == EtcdPace::Busy { pace.total() as u64 } else { 0 });
    }
    bar.finish_and_clear();
    Ok(crowds)
}

/// The smallest crowd that was found without some calls of one that differs, and still differs.
fn shrunk(
    at: &CrowdPlace<'_>,
    conform: &Conform,
    script: &EtcdScript,
    first: (EtcdCrowd, EtcdExchange),
) -> Result<Differing, CommandError> {
    let smaller = shrink(script, TRIES, &mut |script| {
        let found = at.crowd(script)?;
        Ok(match order(&found, lateness(conform)) {
            EtcdOrder::Impossible { exchange, .. } => Some((found, *exchange)),
            _ => None,
        })
    });
    let (crowd, exchange) = smaller.map_err(|error: ConformError| CommandError::Input(error.0))?.unwrap_or(first);
    Ok(Differing { crowd, exchange, drawn: script.count() })
}
