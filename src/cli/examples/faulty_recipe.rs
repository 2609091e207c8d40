//! Recipes that are wrong, and what the commands say of each: `cargo run -p fencepost-cli --example faulty_recipe -- check scenario.toml`.
//! The head of the program in the scenario names the mistake.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use fencepost::Ticks;
use fencepost::lease::{Lease, Lending};
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe};
use fencepost_cli::{programs, run_with};
use serde::{Deserialize, Serialize};

/// What is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
#[serde(rename_all = "kebab-case")]
enum RecipeMistake {
    /// It asks the operating system what time it is.
    ReadsClock,
    /// It counts in a static how often it ran.
    CountsInStatic,
    /// It keeps something that its text leaves out.
    HidesValue,
    /// It panics.
    Panics,
    /// It begins lap after lap, and waits for nothing.
    NeverWaits,
}

/// A recipe with a mistake.
#[derive(Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct FaultyRecipe {
    mistake: RecipeMistake,
    #[serde(skip)]
    #[normal(skip = "this is the mistake")]
    hidden: Hidden,
}

/// A number that is not encoded.
#[derive(Debug, Default)]
struct Hidden(std::sync::Mutex<Cell<u32>>);

static RUNS: AtomicU32 = AtomicU32::new(0);

impl Recipe<Lease> for FaultyRecipe {
    const NAME: &'static str = "faulty-recipe";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        if self.mistake != RecipeMistake::NeverWaits {
            lender.borrow().await;
        }
        let ticks = match self.mistake {
            #[allow(clippy::disallowed_methods, reason = "this is the mistake")]
            RecipeMistake::ReadsClock => {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is after 1970");
                i64::from(now.subsec_nanos() / 100 % 1_000)
            }
            RecipeMistake::CountsInStatic => i64::from(RUNS.fetch_add(1, Ordering::Relaxed) % 3),
            RecipeMistake::HidesValue => {
                let hidden = self.hidden.0.lock().expect("no thread panics while it holds the lock");
                hidden.set(hidden.get() + 1);
                1
            }
            RecipeMistake::Panics => panic!("the lock is gone"),
            RecipeMistake::NeverWaits => return Ok(Lap::Again),
        };
        lender.sleep(Ticks::new(1 + ticks)).await;
        Ok(Lap::Again)
    }
}

fn main() -> std::process::ExitCode {
    run_with(programs![FaultyRecipe])
}
