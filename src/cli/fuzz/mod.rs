//! Damaged input: valid files of every kind, mutated at random, read and used by what the commands use. Nothing may panic, and
//! what is refused must be refused with the file's name and a place in it.
//!
//! The mutations are the same in every run. `FENCEPOST_FUZZ_CASES` says how many there are of each kind, `FENCEPOST_FUZZ_SEED`
//! which ones.

mod logs;
mod manifests;
mod mutate;
mod profiles;
mod scenarios;
mod stores;
mod traces;

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use self::mutate::{Edit, Mutator};

/// The number of mutated files of each kind, unless `FENCEPOST_FUZZ_CASES` says how many, as `.ci/run` does.
const CASES: u32 = 500;

/// What using a mutated file came to: the error's message, if it was refused.
type Refused = Result<(), String>;

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    env::var(name).ok()?.parse().ok()
}

/// Uses mutations of these files, `share` of the number of cases. `places` are words of which one names a place.
fn fuzz(name: &str, share: u32, files: &[Vec<u8>], places: &[&str], mut used: impl FnMut(&[u8]) -> Refused) {
    let cases = number("FENCEPOST_FUZZ_CASES").unwrap_or(CASES).div_ceil(share);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number::<u64>("FENCEPOST_FUZZ_SEED").unwrap_or(0).to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let mutator = Mutator::new(files);
    let (mut accepted, mut refused) = (0u32, 0u32);
    let used = std::cell::RefCell::new(&mut used);
    let counts = std::cell::RefCell::new((&mut accepted, &mut refused));
    let result = runner.run(&(any::<u16>(), vec(any::<Edit>(), 1..4)), |(file, edits)| {
        let mutated = mutator.mutate(usize::from(file), &edits);
        let outcome = catch_unwind(AssertUnwindSafe(|| (**used.borrow_mut())(&mutated)));
        let mut counts = counts.borrow_mut();
        match outcome {
            Ok(Ok(())) => *counts.0 += 1,
            Ok(Err(message)) => {
                *counts.1 += 1;
                let names_file = message.contains("fuzzed");
                let names_place = places.iter().any(|place| message.contains(place));
                prop_assert!(names_file && names_place, "no file or no place in: {message}");
            }
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it panics");
                let text = String::from_utf8_lossy(&mutated);
                let shown: String = text.chars().take(3_000).collect();
                return Err(TestCaseError::fail(format!("{said}\n{shown}")));
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
    assert!(accepted > 0 && refused > 0, "{name}: {accepted} accepted, {refused} refused: the mutations test nothing");
}
