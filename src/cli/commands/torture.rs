//! `fencepost torture`: a test of the user's, with every fault at every request.

mod junit;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use clap::Args;
use fencepost_serve::torture::{Planned, Reached, TestedServer, Torture as Work, Trial, Tried};
use fencepost_serve::{Clock, Fault, FaultPlan, Settings, Timers};

use crate::args::{Common, some_time};
use crate::exit::{CommandError, Exit};
use crate::json::{TortureSummaryJson, TortureTrialJson, TortureViolationJson};
use crate::output::{say, say_json, write};
use crate::parallel::{in_parallel, progress};
use crate::supervisor::{stop_on_interrupt, was_interrupted};
use junit::{Case, junit};

#[derive(Args, Debug)]
pub struct Torture {
    /// The test: a program and its arguments. It finds the stand-in at CONSUL_HTTP_ADDR or ETCD_HTTP_ADDR, and reports to FENCEPOST_URL which client is inside
    #[arg(required = true, last = true, value_name = "CMD")]
    command: Vec<String>,
    /// The server that the test talks to: consul or etcd
    #[arg(long, default_value_t, value_name = "NAME")]
    server: TestedServer,
    /// What may happen to a request, as in a plan; may be repeated [default: lose-request, lose-answer, delay-answer 30s, delay-request 30s, status 500 "No cluster leader"; of etcd: status 503 "etcdserver: request timed out"]
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<Fault>,
    /// Two faults in one run, after every single one
    #[arg(long)]
    pairs: bool,
    /// N plans of two or three faults, drawn from --seed, after the others
    #[arg(long, default_value_t = 0, value_name = "N")]
    drawn: usize,
    /// Write the plans and their results to FILE as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Run the test once, under this fault plan, and report its result
    #[arg(long, value_name = "FILE", conflicts_with_all = ["faults", "pairs", "drawn", "junit"])]
    plan: Option<PathBuf>,
    /// The test may fail under a fault: only violated promises count
    #[arg(long)]
    accept_failure: bool,
    /// How time passes: real, scaled=100, manual or auto
    #[arg(long, default_value = "auto", value_name = "CLOCK")]
    clock: Clock,
    /// How late timers of sessions are, and the scan of etcd's leases: earliest, late=1s, pending=1s or seeded=1s
    #[arg(long, default_value = "earliest", value_name = "TIMERS")]
    timers: Timers,
    /// Where ids, jitter, lateness and the plans of --drawn are drawn from
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// A client with an address of its own, in CONSUL_HTTP_ADDR_NAME or ETCD_HTTP_ADDR_NAME; may be repeated
    #[arg(long = "client", value_name = "NAME")]
    clients: Vec<String>,
    /// How long the test may take, as 90s or 5m, or in seconds
    #[arg(long, default_value = "10s", value_name = "DURATION", value_parser = some_time)]
    patience: Duration,
    /// Stop after this time, as 90s or 5m, or in seconds
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    timeout: Option<Duration>,
}

pub fn run(torture: &Torture, common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    torture.server.has(&torture.faults).map_err(CommandError::Input)?;
    let work = Work {
        trial: Trial {
            server: torture.server,
            settings: Settings {
                clock: torture.clock,
                timers: torture.timers,
                seed: torture.seed,
                clients: torture.clients.clone(),
                ..Settings::default()
            },
            command: torture.command.clone(),
            patience: torture.patience,
            // Its output would stand between the JSON lines.
            is_heard: torture.plan.is_some() && !common.json,
        },
        faults: if torture.faults.is_empty() { torture.server.faults() } else { torture.faults.clone() },
        with_pairs: torture.pairs,
        accepts_failure: torture.accept_failure,
    };
    if let Some(file) = &torture.plan {
        let unreadable = |why: &dyn std::fmt::Display| CommandError::Input(format!("{}: {why}", file.display()));
        let plan = fs::read_to_string(file).map_err(|error| unreadable(&error))?;
        return once(&work, &plan.parse().map_err(|error| unreadable(&error))?, common);
    }
    let requests = work.baseline().map_err(|why| CommandError::Input(why.to_string()))?;
    let drawn = work.drawn(&requests, torture.drawn, torture.seed);
    let mut hunt = Hunt {
        work: &work,
        end: torture.timeout.map(|most| Instant::now() + most),
        common,
        cases: Vec::new(),
        reached: Reached::by_singles(&requests, &work.faults),
        is_cut: false,
    };
    let exit = hunt.all(&work.singles(&requests), &drawn, requests.len())?;
    if let Some(file) = &torture.junit {
        write(file, &junit(&hunt.cases, hunt.is_cut))?;
    }
    Ok(exit)
}

/// One run, and what is to be said of it.
fn once(work: &Work, plan: &FaultPlan, common: &Common) -> Result<Exit, CommandError> {
    let tried = work.trial.run(plan).map_err(CommandError::Input)?;
    let broken = work.broken(&tried);
    if common.json {
        let (broken, ended) = (broken.clone(), format!("{:?}", tried.ended));
        say_json(&TortureTrialJson { broken, ended, verdict: tried.run.verdict.json() });
    } else {
        say(&tried.run.verdict.to_string());
        broken.iter().for_each(|why| say(&format!("{why}\n")));
    }
    Ok(if broken.is_some() { Exit::Unexpected } else { Exit::AsExpected })
}

/// Plans, tried on all cores until one breaks something.
struct Hunt<'a> {
    work: &'a Work,
    end: Option<Instant>,
    common: &'a Common,
    /// Every plan that was tried.
    cases: Vec<Case>,
    /// What plans come to, so that no two pairs come to the same.
    reached: Reached,
    /// Whether it was stopped before the end.
    is_cut: bool,
}

impl Hunt<'_> {
    fn is_over(&self) -> bool {
        was_interrupted() || self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn all(&mut self, singles: &[Planned], drawn: &[Planned], requests: usize) -> Result<Exit, CommandError> {
        let began = Instant::now();
        let mut levels = vec!["single faults"];
        levels.extend(self.work.with_pairs.then_some("pairs"));
        levels.extend((!drawn.is_empty()).then_some("drawn plans"));
        let mut pairs = Vec::new();
        for upto in &levels {
            let level = match *upto {
                "single faults" => singles.to_vec(),
                "pairs" => std::mem::take(&mut pairs),
                _ => drawn.to_vec(),
            };
            let tried = self.level(&level, upto);
            for (planned, tried) in level.iter().zip(&tried) {
                // A plan that no worker has begun is at the end, or behind the first violation.
                let Some(tried) = tried else { continue };
                let tried = tried.as_ref().map_err(|why| CommandError::Input(why.clone()))?;
                let broken = self.work.broken(tried);
                self.cases.push(Case { plan: planned.plan.to_string(), broken: broken.clone() });
                if let Some(why) = broken {
                    return self.broken(planned, tried, &why, self.cases.len());
                }
                if *upto == "single faults" && self.work.with_pairs {
                    pairs.extend(self.work.pairs(planned, tried, &mut self.reached));
                }
            }
            self.is_cut = tried.iter().any(Option::is_none);
            if self.is_cut {
                return Ok(self.concluded(requests, upto, began));
            }
        }
        Ok(self.concluded(requests, levels.last().copied().unwrap_or_default(), began))
    }

    /// The runs of these plans; none for those that were not made any more.
    fn level(&self, plans: &[Planned], what: &str) -> Vec<Option<Result<Tried, String>>> {
        let bar = progress(plans.len(), what, self.common.quiet || self.common.json);
        let has_broken = AtomicBool::new(false);
        in_parallel(plans, &bar, |planned| {
            if has_broken.load(Relaxed) || self.is_over() {
                return None;
            }
            let tried = self.work.trial.run(&planned.plan);
            if tried.as_ref().is_ok_and(|tried| self.work.broken(tried).is_some()) {
                has_broken.store(true, Relaxed);
            }
            Some(tried)
        })
    }

    fn broken(&self, planned: &Planned, tried: &Tried, why: &str, count: usize) -> Result<Exit, CommandError> {
        let mut kept = None;
        if let Some(out) = &self.common.out {
            let path = out.join("torture.plan");
            let told: String = tried.run.verdict.to_string().lines().map(|line| format!("# {line}\n")).collect();
            write(&path, &format!("# {why}\n{told}{}", planned.plan))?;
            kept = Some(path.display().to_string());
        }
        if self.common.json {
            let plan = planned.plan.to_string();
            let verdict = tried.run.verdict.json();
            say_json(&TortureViolationJson { broken: why, plan, kept, plans: count, verdict });
            return Ok(Exit::Unexpected);
        }
        say(&format!(
            "{}\n{why}\nwith this plan, the first of {count} that breaks something:\n{}",
            tried.run.verdict, planned.plan
        ));
        match kept {
            Some(path) => {
                let server = match self.work.trial.server {
                    TestedServer::Consul => String::new(),
                    other @ TestedServer::Etcd => format!(" --server {other}"),
                };
                say(&format!(
                    "again: fencepost torture{server} --plan {path} -- {}\n",
                    self.work.trial.command.join(" ")
                ))
            }
            None => say("--out DIR keeps it; `torture --plan FILE -- CMD` tries it again\n"),
        }
        Ok(Exit::Unexpected)
    }

    fn concluded(&self, requests: usize, upto: &str, began: Instant) -> Exit {
        let plans = self.cases.len();
        if self.common.json {
            say_json(&TortureSummaryJson {
                broken: None,
                plans,
                pruned: self.reached.pruned(),
                requests,
                upto,
                is_complete: !self.is_cut,
            });
        } else {
            let cut = if self.is_cut { ", and then it was stopped" } else { "" };
            let seconds = began.elapsed().as_secs_f64();
            let pruned = match self.reached.pruned() {
                0 => String::new(),
                count => format!(", and {count} more that come to the same"),
            };
            say(&format!(
                "No violation in {plans} plans{pruned} for {requests} requests, up to {upto}{cut} ({seconds:.1} s).\n"
            ));
        }
        if self.is_cut { Exit::Undecided } else { Exit::AsExpected }
    }
}
