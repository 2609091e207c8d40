//! How many events per second the simulator takes where clients run programs, beside the state machine, digest included. Time that
//! passes is no event.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fencepost::catalogue;
use fencepost::consul::{Consul, GoLock};
use fencepost_model::scenario::Scenario;
use fencepost_sim::{SchedulerKind, Settings, prepare, summarize};

/// The paused holder, without fencing.
fn machine() -> Scenario<Consul> {
    let found = catalogue::named("b01-no-fencing");
    found.and_then(|scenario| scenario.of().cloned()).expect("it is in the catalogue")
}

/// The same with the Go client's lock.
fn program() -> Scenario<Consul> {
    let scenario = machine();
    let mut lock = GoLock::with(scenario.service.terms(), 1);
    (lock.wait, lock.retry_every) = (scenario.service.retry_every, scenario.service.retry_every);
    scenario.programs(lock)
}

fn programs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("programs");
    group.sample_size(10);
    for (label, scenario) in [("16 machines", machine()), ("16 programs", program())] {
        let settings = Settings {
            seed: 7,
            scheduler: SchedulerKind::Realistic,
            refinement: 1000,
            clients: Some(16),
            rounds: Some(200),
            actions_max: 200_000,
            ..Settings::default()
        };
        let scenario = prepare(&scenario, &settings);
        group.throughput(Throughput::Elements(summarize(&scenario, &settings).events));
        group.bench_function(label, |bencher| {
            bencher.iter(|| summarize(black_box(&scenario), black_box(&settings)).digest)
        });
    }
    group.finish();
}

criterion_group!(benches, programs);
criterion_main!(benches);
