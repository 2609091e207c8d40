//! Checks a scenario file and prints the verdicts.
use fencepost_checker::{Options, check_any};
use fencepost_model::catalogue::AnyScenario;

fn main() {
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).expect("readable");
        let scenario = AnyScenario::from_toml(&text, &file).unwrap_or_else(|e| panic!("{e}"));
        let start = std::time::Instant::now();
        for outcome in check_any(&scenario, &Options::default()).expect("no internal error") {
            let f = outcome.finding;
            println!("{} {} {} [{}] states {} transitions {} depth {} never {:?} {:.2}s", f.scenario, f.property, f.verdict.word(), if f.is_as_expected() {"ok"} else {"UNEXPECTED"}, f.states, f.transitions, f.depth, f.never_taken, start.elapsed().as_secs_f64());
            if let fencepost_model::finding::Verdict::Vacuous{missing} = &f.verdict { println!("   missing {missing:?}"); }
            if let Some(story) = f.verdict.story() && std::env::var("STORY").is_ok() {
                for s in &story.steps { println!("  {:>3} {:60} {:?} rec {:?} in {:?} {:?}", s.at, s.label, s.facts, s.owners, s.inside, s.breaches); }
            }
        }
    }
}
