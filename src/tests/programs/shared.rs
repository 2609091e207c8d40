//! Tasks of a client that share cells and mailboxes: the verdicts of the same client in one task, and the laws of programs.

use fencepost::checker::{InternalError, Options};
use fencepost::lease::{self, Lease, LeaseMessage, Lending, SERVICE};
use fencepost::model::fact::Leaving;
use fencepost::model::ids::Index;
use fencepost::model::monitor::Observed;
use fencepost::model::normal::Normal;
use fencepost::model::program::{First, Gone, Handle, Lap, ProgramErrorKind, Recipe, Shared, Wanted, register_shared};
use fencepost::{Property, Scenario, Ticks, catalogue};
use serde::{Deserialize, Serialize};

use super::laws::{a_run_is_a_cache, names_have_no_meaning, on_walks, the_usual_laws_hold};
use super::{agreed, shipped, verdicts, words};

/// What the borrower tells the client: a loan, or that the lock is lent to another client.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Reply(Option<Index>);

impl Shared for Reply {
    const NAME: &'static str = "reply";
}

/// How the client wants a loan to end.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Ended {
    #[normal(skip = "no name")]
    gives_back: bool,
}

impl Shared for Ended {
    const NAME: &'static str = "ended";
}

/// The client of the lease in two tasks: this one enters and leaves, and the other one talks with the server.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct TwoTasks {
    lease: Ticks,
    retry_every: Ticks,
    last: Index,
}

impl Recipe<Lease> for TwoTasks {
    const NAME: &'static str = "two-tasks";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let lease = lender.deadline(self.lease);
        lender.spawn(Borrower { last: self.last, loan: None });
        let Reply(Some(loan)) = lender.receive::<Reply>().await else {
            drop(lease);
            lender.sleep(self.retry_every).await;
            return Ok(Lap::Again);
        };
        self.last = loan;
        if lease.is_over().await {
            lender.set(&Ended { gives_back: false });
            return Ok(Lap::Done);
        }
        lender.lease_until(&lease);
        let inside = lender.enter(lender.token(loan));
        let why = loop {
            match lender.select(lease.passed(), lender.user()).await {
                First::One(()) => break Leaving::Lapsed,
                First::Other(Wanted::Write) if lease.is_over().await => break Leaving::Lapsed,
                First::Other(Wanted::Write) => inside.send_write(),
                First::Other(Wanted::Release) => break Leaving::Done,
            }
        };
        inside.leave(why);
        lender.no_lease();
        lender.set(&Ended { gives_back: why == Leaving::Done });
        Ok(Lap::Done)
    }
}

#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Borrower {
    last: Index,
    loan: Option<Index>,
}

impl Recipe<Lease> for Borrower {
    const NAME: &'static str = "borrower";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        if let Some(loan) = self.loan {
            if lender.changed::<Ended>().await.gives_back {
                lender.give_back(loan);
            }
            return Ok(Lap::Done);
        }
        let mut answer = lender.borrow().await;
        loop {
            match answer {
                LeaseMessage::Lent(loan) if loan > self.last => {
                    self.loan = Some(loan);
                    lender.post(&Reply(Some(loan)));
                    return Ok(Lap::Again);
                }
                LeaseMessage::Busy => {
                    lender.post(&Reply(None));
                    return Ok(Lap::Done);
                }
                LeaseMessage::Lent(_) | LeaseMessage::Borrow | LeaseMessage::Return(_) => answer = lender.hear().await,
            }
        }
    }
}

fn in_two_tasks(name: &str) -> Scenario<Lease> {
    let scenario = shipped::<Lease>(name);
    let (lease, retry_every) = (scenario.service.lease, scenario.service.retry_every);
    scenario.programs(TwoTasks { lease, retry_every, last: Index::NONE })
}

#[test]
fn a_client_in_two_tasks_gets_the_verdicts_of_the_state_machine() {
    let name = "lease-one-tick-less";
    let machine = catalogue::named(name).expect("it is in the catalogue");
    let program = verdicts(SERVICE.any(&in_two_tasks(name)), &Options::default());
    assert_eq!(words(&program), words(&verdicts(&*machine, &Options::default())));
}

#[test]
fn the_laws_of_programs_hold_where_tasks_share_cells_and_mailboxes() {
    register_shared::<Reply>();
    let scenario = in_two_tasks("lease-one-tick-less");
    on_walks(&scenario, a_run_is_a_cache);
    on_walks(&scenario, names_have_no_meaning);
    on_walks(&scenario, the_usual_laws_hold);
    let crashing = scenario.budget(|budget| (budget.crashes, budget.restarts) = (1, 1)).rounds(2);
    on_walks(&crashing, a_run_is_a_cache);
    on_walks(&crashing, names_have_no_meaning);
}

/// A number, to see the order of messages.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Number(#[normal(skip = "no name")] u8);

impl Shared for Number {
    const NAME: &'static str = "number";
}

/// It posts messages, and panics if something about cells or mailboxes is not as it says.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Reader {
    #[normal(skip = "no name")]
    posts: u8,
}

impl Recipe<Lease> for Reader {
    const NAME: &'static str = "reader";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        assert!(lender.cell::<Number>().await.is_none(), "no task has set it in this round");
        lender.spawn(Poster { left: self.posts });
        // Whatever comes when the wait for it has been dropped stays in the mailbox.
        let mut received = Vec::new();
        while received.len() < usize::from(self.posts) {
            let tick = lender.sleep(Ticks::new(1));
            if let First::Other(Number(number)) = lender.select(tick, lender.receive::<Number>()).await {
                received.push(number);
            }
        }
        assert!(received.is_sorted_by(|one, other| one > other), "in order, each once: {received:?}");
        assert_eq!(lender.cell::<Number>().await.map(|Number(number)| number), Some(1), "what was set last");
        Err(Gone)
    }
}

/// It posts the numbers down to 1, and sets the cell to each.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Poster {
    #[normal(skip = "no name")]
    left: u8,
}

impl Recipe<Lease> for Poster {
    const NAME: &'static str = "poster";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        for _ in 0..2.min(self.left) {
            lender.post(&Number(self.left));
            lender.set(&Number(self.left));
            self.left -= 1;
        }
        lender.sleep(Ticks::new(1)).await;
        Ok(if self.left == 0 { Lap::Done } else { Lap::Again })
    }
}

/// Every run is looked at, and the program panics in none.
fn no_assertion_fails(scenario: &Scenario<Lease>) {
    let all = agreed(SERVICE.any(scenario));
    let no_panic = all.iter().find(|(property, ..)| *property == Property::NoPanic).expect("it is promised");
    // Vacuous: it never enters.
    assert!(["proven", "vacuous"].contains(&no_panic.1), "{all:?}");
}

fn reading(posts: u8) -> Scenario<Lease> {
    lease::lock("reading")
        .wake_delay(0)
        .programs(Reader { posts })
        .scenario()
        .clients(1)
        .rounds(2)
        .promise(Property::MutualExclusion)
}

#[test]
fn messages_come_in_order_and_once_and_a_round_that_is_given_up_forgets_them() {
    no_assertion_fails(&reading(5));
}

/// It waits for two things at once, and for both.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Joins;

impl Recipe<Lease> for Joins {
    const NAME: &'static str = "joins";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let late = lender.deadline(Ticks::new(3));
        let (answer, ()) = lender.join(lender.borrow(), lender.sleep(Ticks::new(4))).await;
        assert!(late.is_over().await, "the longer of the two counts");
        assert!(matches!(answer, LeaseMessage::Lent(_)), "no other client wants the lock");
        Ok(Lap::Done)
    }
}

#[test]
fn a_join_waits_for_both() {
    let scenario = lease::lock("joins").programs(Joins).scenario().clients(1).promise(Property::MutualExclusion);
    no_assertion_fails(&scenario);
}

/// Nothing receives what it posts.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Unread;

impl Recipe<Lease> for Unread {
    const NAME: &'static str = "unread";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        lender.post(&Number(1));
        lender.sleep(Ticks::new(1)).await;
        Ok(Lap::Again)
    }
}

#[test]
fn a_mailbox_that_nothing_empties_is_refused() {
    let scenario = lease::lock("unread").programs(Unread).scenario().clients(1).promise(Property::MutualExclusion);
    let error = SERVICE.any(&scenario).check(&Options::default()).expect_err("it is refused");
    let InternalError::Program(error) = error else { panic!("another error: {error}") };
    assert_eq!(error.kind, ProgramErrorKind::Unread("number"));
    assert!(error.to_string().contains("a cell keeps it: `set`"), "{error}");
}

/// A world with cells and mailboxes is written and read back; a type that is not known is named.
#[test]
fn what_tasks_share_is_written_and_read() {
    let scenario = reading(5);
    let (mut world, mut enabled, mut seen) = (scenario.observed(), Vec::new(), false);
    for _ in 0..6 {
        scenario.enabled(&world, &mut enabled);
        let Some(action) = enabled.first() else { break };
        world.step(&scenario, action);
        let text = serde_json::to_string(&world).expect("a world can be written");
        let read = serde_json::from_str(&text).expect("a world can be read");
        assert_eq!(world, read);
        if text.contains("[\"number\",") {
            seen = true;
            let unknown = serde_json::from_str::<Observed<Lease>>(&text.replace("[\"number\",", "[\"digit\","));
            let error = unknown.expect_err("the type is not known").to_string();
            assert!(error.contains("there is no shared type `digit` here"), "{error}");
        }
    }
    assert!(seen, "something was shared on the way");
}
