//! Programs that read what the resource remembers, where the tokens of their service are log positions, of which only the order counts.

use fencepost::lease::{self, Lease, LeaseMessage, Lending};
use fencepost::model::fact::Leaving;
use fencepost::model::ids::Token;
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe, Wanted};
use fencepost::model::resource::Accepts;
use fencepost::{Property, Scenario, Ticks};
use serde::{Deserialize, Serialize};

use super::agreed;

/// Before it asks for the lock it reads what the resource remembers, and once more when it has written: it was the only one to write if
/// that is its own token.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Comparing;

impl Recipe<Lease> for Comparing {
    const NAME: &'static str = "comparing";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let before = lender.read().await;
        let LeaseMessage::Lent(loan) = lender.borrow().await else {
            lender.sleep(Ticks::new(1)).await;
            return Ok(Lap::Again);
        };
        let token = lender.token(loan);
        lender.enter(token);
        let mut last = before;
        while lender.user().await == Wanted::Write {
            if lender.write(token).await {
                last = lender.read().await;
                assert!(last != before, "its own token is not one from before");
                assert!(Token::from(last) >= token, "what was accepted is remembered");
            }
        }
        assert!(lender.read().await >= last, "the resource forgets nothing");
        lender.leave(Leaving::Done);
        lender.give_back(loan);
        Ok(Lap::Done)
    }
}

pub(super) fn scenario(clients: u16, rounds: u8, resource: Accepts) -> Scenario<Lease> {
    let scenario = lease::lock("versions").programs(Comparing).promise(Property::MutualExclusion).scenario();
    scenario.clients(clients).rounds(rounds).writes(1).resource(resource)
}

#[test]
fn a_token_that_is_read_from_the_resource_is_renamed_as_tokens_are() {
    for (clients, rounds, resource) in [(1, 3, Accepts::NotLower), (2, 1, Accepts::NotLower), (2, 1, Accepts::Greater)]
    {
        let all = agreed(lease::SERVICE.any(&scenario(clients, rounds, resource)));
        let no_panic = all.iter().find(|(property, ..)| *property == Property::NoPanic).expect("it is promised");
        assert_eq!(no_panic.1, "proven", "{clients} {resource:?}: {all:?}");
    }
}

#[test]
fn counts_of_writes_are_not_compared_with_log_positions() {
    let error = scenario(1, 1, Accepts::Unchanged).validate().expect_err("tokens of the lease are log positions");
    assert!(error.to_string().contains("of which only the order counts"), "{error}");
}
