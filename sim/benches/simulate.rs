//! How many actions per second the simulator takes, digest included.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fencepost::catalogue;
use fencepost::consul::Consul;
use fencepost_model::scenario::Scenario;
use fencepost_sim::{SchedulerKind, Settings, prepare, walk};

fn consul(name: &str) -> Scenario<Consul> {
    let found = catalogue::named(name);
    found.and_then(|scenario| scenario.of().cloned()).unwrap_or_else(|| panic!("{name} is in the catalogue"))
}

fn simulate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulate");
    for (label, clients, scheduler) in [
        ("realistic, 2 clients", 2, SchedulerKind::Realistic),
        ("realistic, 16 clients", 16, SchedulerKind::Realistic),
        ("realistic, 256 clients", 256, SchedulerKind::Realistic),
        ("uniform, 2 clients", 2, SchedulerKind::Uniform),
    ] {
        let refinement = if scheduler == SchedulerKind::Uniform { 1 } else { 1000 };
        let settings = Settings {
            seed: 7,
            scheduler,
            refinement,
            clients: Some(clients),
            rounds: Some(200),
            actions_max: 50_000,
            ..Settings::default()
        };
        let scenario = prepare(&consul("b01-no-fencing"), &settings);
        let actions = walk(&scenario, &settings).actions.len() as u64;
        group.throughput(Throughput::Elements(actions));
        group.bench_function(label, |bencher| {
            bencher.iter(|| walk(black_box(&scenario), black_box(&settings)).digest.hex())
        });
    }
    group.finish();
}

criterion_group!(benches, simulate);
criterion_main!(benches);
