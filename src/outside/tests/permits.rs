//! A slot of a persistent semaphore, at the RabbitMQ broker that `FENCEPOST_RABBITMQ` names.

use fencepost::model::time::Ticks;
use fencepost::rabbitmq::{Administration, Operation, Settings, SlotAdministrator, SlotTaker};
use fencepost_live::{LiveBroker, LiveError, hold, perform};

#[test]
fn a_slot_is_taken_at_a_real_broker() -> Result<(), LiveError> {
    let Ok(address) = std::env::var("FENCEPOST_RABBITMQ") else {
        eprintln!("skipped: FENCEPOST_RABBITMQ names no broker");
        return Ok(());
    };
    // 100 ticks a second, and a heartbeat value of 10 s.
    let broker = LiveBroker::new(&address, "outside-permits")?.heartbeat(10);
    let settings = |operation| Settings {
        administration: Administration { does: vec![vec![operation]], ..Administration::default() },
        retry_every: Ticks::new(100),
        ..Settings::default()
    };
    perform(&broker, SlotAdministrator::of(&settings(Operation::Create(3)), 0, 0))?;
    let held = hold(&broker, SlotTaker::of(&settings(Operation::Destroy), 0), |tenure| tenure.slot())?;
    assert_eq!(held.value, Some(1));
    perform(&broker, SlotAdministrator::of(&settings(Operation::Destroy), 0, 0))?;
    Ok(())
}
