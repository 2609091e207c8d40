//! Certificates of a program that works off a queue: that each item is handled once, and that each is eventually handled.

use fencepost::checker::Options;
use fencepost::lease::{self, Lease, LeaseMessage, Lending, SERVICE};
use fencepost::model::action_kind::ActionKind;
use fencepost::model::fact::Leaving;
use fencepost::model::normal::Normal;
use fencepost::model::program::{Gone, Handle, Lap, Recipe};
use fencepost::model::scenario::UNLIMITED;
use fencepost::{AnyScenario, Property, Ticks};
use serde::{Deserialize, Serialize};

use crate::{accepted, findings, refused};

/// Completes one item per tenure.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
#[normal(crate = fencepost::model)]
struct Clerk;

impl Recipe<Lease> for Clerk {
    const NAME: &'static str = "clerk";

    async fn lap(&mut self, lender: &Handle<Lease>) -> Result<Lap, Gone> {
        let LeaseMessage::Lent(loan) = lender.borrow().await else {
            lender.sleep(Ticks::new(1)).await;
            return Ok(Lap::Again);
        };
        lender.enter(lender.token(loan));
        if let Some(item) = lender.next_item().await {
            lender.complete_item(item, lender.token(loan)).await;
        }
        lender.leave(Leaving::Done);
        lender.give_back(loan);
        Ok(Lap::Done)
    }
}

#[test]
fn a_queue_that_is_worked_off_has_a_certificate() {
    let scenario = lease::lock("clerks").programs(Clerk).message_delay(0).wake_delay(0).server_delay(0).scenario();
    let mut scenario = scenario.rounds(UNLIMITED).work_items(2);
    scenario.fairness.weak.push(ActionKind::Command);
    let scenario = scenario.promise(Property::HandledOnce).promise(Property::EveryItemHandled);
    let scenario: &dyn AnyScenario = SERVICE.any(&scenario);
    let mut out = Vec::new();
    let written = scenario.certify(&findings(scenario), &Options::default(), &mut out);
    written.unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8(out).expect("text");
    let audited = accepted(&text);
    assert_eq!(audited.promises, [Property::NoPanic, Property::HandledOnce, Property::EveryItemHandled]);
    // Without its proof, or with that of another promise, nothing is shown.
    let kept: String =
        text.lines().filter(|line| !line.contains("{\"endless\":")).map(|line| format!("{line}\n")).collect();
    assert_ne!(kept, text);
    refused(&kept, "`every-item-handled` is promised, and has no proof");
}
