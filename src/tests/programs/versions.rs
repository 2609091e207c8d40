//! Programs that read what the resource remembers, where the tokens of their service are log positions, of which only the order counts.

use fencepost::checker::Options;
use fencepost::lease::{self, Lease, LeaseMessage, Lending};
use fencepost::model::fact::Leaving;
use fencepost::model::ids::ClientId;
use fencepost::model::mutation::CheckerMutation;
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe, Wanted};
use fencepost::model::resource::{Accepts, Version};
use fencepost::{Goal, Property, Scenario, Ticks};
use serde::{Deserialize, Serialize};

use super::agreed;
use super::laws::{names_have_no_meaning, on_walks};

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

/// When a client reads the version that its write names.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ReadAt {
    /// Before it asks for the lock.
    Before,
    /// When it has it.
    Inside,
    /// Before it asks, and once more after a refusal.
    Again,
}

/// Reads a version, and writes with it while it has the lock: compare-and-set.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Committing {
    /// To one key, if not to the whole.
    #[normal(skip = "a constant")]
    key: Option<u8>,
    #[normal(skip = "a constant")]
    reads: ReadAt,
}

impl Committing {
    async fn read(&self, lender: &Handle<Lease>) -> Version {
        match self.key {
            None => lender.read().await,
            Some(key) => lender.read_key(key).await,
        }
    }

    async fn write(&self, lender: &Handle<Lease>, version: Version) -> bool {
        match self.key {
            None => lender.write(version).await,
            Some(key) => lender.write_to(key, version).await,
        }
    }
}

impl Recipe<Lease> for Committing {
    const NAME: &'static str = "committing";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let before = self.read(lender).await;
        let lease = lender.deadline(Ticks::new(2));
        let LeaseMessage::Lent(loan) = lender.borrow().await else {
            drop(lease);
            lender.sleep(Ticks::new(1)).await;
            return Ok(Lap::Again);
        };
        lender.lease_until(&lease);
        lender.enter(lender.token(loan));
        let version = if self.reads == ReadAt::Inside { self.read(lender).await } else { before };
        lender.user().await;
        if !self.write(lender, version).await && self.reads == ReadAt::Again {
            let version = self.read(lender).await;
            self.write(lender, version).await;
        }
        lender.leave(Leaving::Done);
        lender.no_lease();
        Ok(Lap::Done)
    }
}

/// Messages may take any time, the lease does not wait for them.
fn committing(program: Committing, clients: u16, resource: Accepts) -> Scenario<Lease> {
    let scenario = lease::lock("committing").programs(program).wake_delay(0).scenario();
    let scenario = scenario.service(|lease| lease.grace = Ticks::new(1)).clients(clients).writes(1).resource(resource);
    scenario.promise(Property::NoLostUpdate).goal(Goal::WRITTEN)
}

/// As two of its tests want it.
pub(super) fn twice(resource: Accepts) -> Scenario<Lease> {
    committing(Committing { key: Some(2), reads: ReadAt::Again }, 2, resource).rounds(2)
}

/// A client that reads before it asks for the lock has read before each later holder writes. One that reads when it has the lock may read
/// what the next holder has written: its request is late, and its tenure over.
#[test]
fn compare_and_set_loses_no_update_if_the_version_was_read_before_the_lock_was_asked_for() {
    let lost = |key, reads, resource| {
        let all = agreed(lease::SERVICE.any(&committing(Committing { key, reads }, 2, resource)));
        let lost = all.iter().find(|(property, ..)| *property == Property::NoLostUpdate);
        lost.expect("it is promised").1
    };
    for key in [None, Some(2)] {
        assert_eq!(lost(key, ReadAt::Before, Accepts::All), "violated");
        assert_eq!(lost(key, ReadAt::Before, Accepts::Unchanged), "proven");
        assert_eq!(lost(key, ReadAt::Inside, Accepts::Unchanged), "violated");
        assert_eq!(lost(key, ReadAt::Again, Accepts::Unchanged), "violated");
    }
}

/// A count is followed by the next one, whatever log positions there are beside it.
#[test]
fn counts_of_writes_keep_their_numbers() {
    on_walks(&twice(Accepts::Unchanged), names_have_no_meaning);
    let mutation = Some(CheckerMutation::VersionsRenamed.into());
    let mutant = Scenario { mutation, ..twice(Accepts::Unchanged) };
    let noticed = std::panic::catch_unwind(|| on_walks(&mutant, names_have_no_meaning));
    assert!(noticed.is_err(), "the law does not notice that counts are renamed");
}

#[test]
fn a_token_is_not_compared_with_a_count() {
    let scenario = scenario(1, 1, Accepts::Unchanged);
    let error = lease::SERVICE.any(&scenario).check(&Options::default()).expect_err("it sends a token");
    let text = error.to_string();
    assert!(text.contains("`comparing`") && text.contains("Write with what `read` has returned"), "{text}");
}

#[test]
fn clients_that_send_log_positions_have_no_resource_that_counts() {
    let mixed = |clients| {
        let program = Committing { key: None, reads: ReadAt::Before };
        let scenario = lease::lock("mixed").program(ClientId(1), program).scenario();
        scenario.clients(clients).writes(1).resource(Accepts::Unchanged)
    };
    assert_eq!(mixed(1).validate(), Ok(()));
    let error = mixed(2).validate().expect_err("the second client is no program");
    assert!(error.to_string().contains("of which only the order counts"), "{error}");
}
