//! All commands of fencepost for a recipe of one's own, in three lines: `cargo run -p fencepost-cli --example own_recipe -- check
//! scenario.toml`.

use fencepost::Ticks;
use fencepost::lease::{Lease, LeaseMessage, Lending};
use fencepost::model::fact::Leaving;
use fencepost::model::normal::Normal;
use fencepost::model::program::{First, Gone, Handle, Lap, Recipe, Wanted};
use fencepost_cli::{programs, run_with};
use serde::{Deserialize, Serialize};

/// A borrower that may count its lease from the answer. The lender has counted for longer then.
#[derive(Clone, PartialEq, Eq, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct OwnRecipe {
    lease: Ticks,
    counts_from_answer: bool,
}

impl Recipe<Lease> for OwnRecipe {
    const NAME: &'static str = "own-recipe";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let mut lease = lender.deadline(self.lease);
        let LeaseMessage::Lent(loan) = lender.borrow().await else {
            lender.sleep(Ticks::new(1)).await;
            return Ok(Lap::Again);
        };
        if self.counts_from_answer {
            lease = lender.deadline(self.lease);
        }
        if lease.is_over().await {
            return Ok(Lap::Done);
        }
        lender.lease_until(&lease);
        lender.enter(lender.token(loan));
        let why = loop {
            match lender.select(lease.passed(), lender.user()).await {
                First::One(()) => break Leaving::Lapsed,
                First::Other(Wanted::Release) => break Leaving::Done,
                First::Other(Wanted::Write) => {}
            }
        };
        lender.leave(why);
        lender.no_lease();
        if why == Leaving::Done {
            lender.give_back(loan);
        }
        Ok(Lap::Done)
    }
}

fn main() -> std::process::ExitCode {
    run_with(programs![OwnRecipe])
}
