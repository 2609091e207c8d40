//! Workload 2, the lock service: our world, with its digest and its properties, beside a bare loop over the same machines; the same with
//! programs as clients; and what an action costs where there are many clients. `cargo bench -p fencepost-sim --bench lock_service`; with `--quick` it says the counts
//! only and takes a few seconds.

mod bare;
mod machines;
mod on_world;
mod program;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_sim::{Profile, RunSummary, Settings, prepare, summarize};

use self::machines::SECOND;
use self::on_world::LockService;
use self::program::LockClient;

/// The workload as a scenario, and how it is taken.
fn prepared(clients: u16, seconds: i64) -> (Scenario<LockService>, Settings) {
    let profile = "latency = [10, 100]\nlateness = 0\nstall = 0\nstall_every = 1000000000";
    let settings = Settings {
        refinement: SECOND,
        storm: seconds,
        profile: toml::from_str::<Profile>(profile).expect("a constant"),
        actions_max: u64::MAX,
        ends_with_storm: true,
        ..Settings::default()
    };
    let scenario = Scenario::<LockService>::new("lock-service")
        .clients(clients)
        .promise(Property::MutualExclusion)
        .promise(Property::SessionConsistency);
    (prepare(&scenario, &settings), settings)
}

/// A run with its digest and its properties.
fn on_world((scenario, settings): &(Scenario<LockService>, Settings), seed: u64) -> RunSummary {
    let summarize = summarize(scenario, &Settings { seed, ..settings.clone() });
    assert!(summarize.violations.is_empty(), "{:?}", summarize.violations);
    summarize
}

fn workload(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lock service");
    group.sample_size(20);
    for (clients, seconds) in [(16, 60), (64, 60), (1000, 4), (10_000, 2)] {
        let prepared = prepared(clients, seconds);
        let RunSummary { events, actions, .. } = on_world(&prepared, 1);
        let (bare_events, _) = bare::run(clients, seconds, 1);
        println!("{clients} clients, {seconds} s: {events} events, {actions} actions; bare: {bare_events} events");
        group.throughput(Throughput::Elements(events));
        group.bench_function(BenchmarkId::new("our world", clients), |bencher| {
            bencher.iter(|| on_world(black_box(&prepared), 1));
        });
        if clients == 16 {
            let (scenario, settings) = &prepared;
            // The program has durations in microseconds, and so comes after the refinement.
            let programs = (scenario.clone().programs(LockClient::default()), settings.clone());
            let RunSummary { events, actions, .. } = on_world(&programs, 1);
            println!("{clients} programs: {events} events, {actions} actions");
            group.throughput(Throughput::Elements(events));
            group.bench_function(BenchmarkId::new("our world, programs", clients), |bencher| {
                bencher.iter(|| on_world(black_box(&programs), 1));
            });
        }
        group.throughput(Throughput::Elements(bare_events));
        group.bench_function(BenchmarkId::new("bare loop", clients), |bencher| {
            bencher.iter(|| bare::run(clients, black_box(seconds), 1));
        });
    }
    group.finish();
}

criterion_group!(benches, workload);
criterion_main!(benches);
