//! How many transitions per second the checker generates, on one thread, verdict included.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fencepost::catalogue;
use fencepost_checker::Options;

fn explore(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("explore");
    group.sample_size(10);
    for name in ["lease-just-enough", "b06-modify-index-cleanup", "consul-record", "consul-failover"] {
        let scenario = catalogue::named(name).expect("it is in the catalogue");
        let transitions = scenario.check(&Options::default()).expect("no internal error")[0].finding.transitions;
        group.throughput(Throughput::Elements(transitions));
        group.bench_with_input(BenchmarkId::from_parameter(name), &scenario, |bencher, scenario| {
            bencher.iter(|| black_box(scenario).check(&Options::default()).expect("no internal error"));
        });
    }
    group.finish();
}

criterion_group!(benches, explore);
criterion_main!(benches);
