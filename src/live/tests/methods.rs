//! The handle of RabbitMQ: what the model's broker says to its methods is what a real one says.

use std::env;

use fencepost_live::{LiveBroker, perform};
use fencepost_model::normal::Normal;
use fencepost_model::process::Message;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::scenario::Scenario;
use fencepost_model::world::Action;
use fencepost_rabbitmq::{
    AmqpApi, AmqpError, Ask, Confirmation, Name, Problem, QueueProperties, RabbitMq, RabbitmqMessage, Request,
};
use fencepost_sim::{Settings, ready, walk};
use serde::{Deserialize, Serialize};

/// It asks for everything, and panics if an answer is another than expected.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
struct Tour;

const SHARED: QueueProperties = QueueProperties { durable: true, ..PLAIN };
const EXCLUSIVE: QueueProperties = QueueProperties { exclusive: true, ..PLAIN };
const PLAIN: QueueProperties = QueueProperties {
    exclusive: false,
    durable: false,
    auto_delete: false,
    keeps: fencepost_rabbitmq::Keeps::All,
    expires: None,
};

impl Recipe<RabbitMq> for Tour {
    const NAME: &'static str = "tour-of-methods";

    async fn lap(&mut self, broker: &Handle<RabbitMq>) -> Result<Lap, Gone> {
        let ours = broker.connect().await;
        let mut first = ours.channel();
        let queue = Name::Lock;

        // R-Q-8, R-Q-11, R-Q-17: a queue that is not there.
        assert_eq!(first.declare_passive(broker, queue).await, Err(AmqpError::Channel(Problem::NoQueue)));
        assert!(first.is_closed(), "R-Q-29");
        first.reopen(broker).await?;
        assert_eq!(first.delete(broker, queue, false).await, Ok(0));
        assert_eq!(first.publish(broker, queue, true).await, Ok(Confirmation::Returned));

        // R-Q-4, R-Q-17: one that is.
        assert_eq!(first.declare(broker, queue, SHARED).await, Ok(0));
        assert_eq!(first.publish(broker, queue, true).await, Ok(Confirmation::Ack));
        assert_eq!(first.declare(broker, queue, SHARED).await, Ok(1));
        let other = first.declare(broker, queue, PLAIN).await;
        assert!(matches!(other, Err(AmqpError::Channel(Problem::NotAlike(_)))), "R-Q-2: {other:?}");
        first.reopen(broker).await?;

        // A delivery that is not acknowledged is not there for another channel, until it is put back.
        let mut second = ours.open_channel(broker, 2, true).await?;
        let delivery = first.get(broker, queue).await?.expect("it was published");
        assert!(second.get(broker, queue).await?.is_none());
        first.put_back(broker, delivery);
        let delivery = loop {
            if let Some(delivery) = first.get(broker, queue).await? {
                break delivery;
            }
        };
        first.ack(broker, delivery);
        assert!(first.get(broker, queue).await?.is_none());
        assert_eq!(second.declare_passive(broker, queue).await, Ok(0));

        // R-Q-13.
        assert_eq!(second.publish(broker, queue, true).await, Ok(Confirmation::Ack));
        assert_eq!(second.delete(broker, queue, true).await, Err(AmqpError::Channel(Problem::NotEmpty)));
        second.reopen(broker).await?;

        // R-Q-35: an exclusive queue is its connection's, and not its channel's.
        assert_eq!(second.declare(broker, Name::Holder(1), EXCLUSIVE).await, Ok(0));
        second.close(broker).await?;
        assert_eq!(first.declare_passive(broker, Name::Holder(1)).await, Ok(0), "R-Q-36");
        let theirs = broker.connect().await;
        let mut third = theirs.channel();
        let looked = third.declare_passive(broker, Name::Holder(1)).await;
        assert_eq!(looked, Err(AmqpError::Channel(Problem::Locked)), "R-Q-9");
        third.reopen(broker).await?;
        assert_eq!(third.publish(broker, Name::Holder(1), true).await, Ok(Confirmation::Ack), "R-Q-23");

        // R-Q-30: what ends a connection.
        let twice = theirs.open_channel(broker, 1, true).await;
        assert_eq!(twice.err(), Some(AmqpError::Connection(Some(Problem::OpenTwice))));

        // R-Q-37: with it go its exclusive queues; the others stay.
        ours.close(broker).await?;
        let last = broker.connect().await;
        let mut fourth = last.channel();
        let looked = fourth.declare_passive(broker, Name::Holder(1)).await;
        assert_eq!(looked, Err(AmqpError::Channel(Problem::NoQueue)));
        fourth.reopen(broker).await?;
        assert_eq!(fourth.delete(broker, queue, false).await, Ok(1));
        last.hang_up(broker);
        Ok(Lap::Done)
    }
}

#[test]
fn the_methods_get_these_answers_from_the_model() {
    let scenario = Scenario::<RabbitMq>::new("tour").clients(1).programs(Tour);
    for seed in 0..5 {
        let settings = Settings { seed, ..Settings::default() };
        let run = walk(&ready(&scenario, &settings), &settings);
        assert_eq!(run.violations, [], "seed {seed}");
        let is_last = |action: &Action<RabbitMq>| match action {
            Action::Deliver(envelope) => matches!(
                envelope.message,
                Message::Service(RabbitmqMessage::Request(Ask {
                    request: Request::Delete { if_empty: false, .. },
                    ..
                }))
            ),
            _ => false,
        };
        assert_eq!(run.actions.iter().filter(|action| is_last(action)).count(), 2, "seed {seed}: it came to its end");
    }
}

#[test]
fn the_methods_get_these_answers_from_a_real_broker() {
    let Ok(address) = env::var("FENCEPOST_RABBITMQ") else {
        return eprintln!("skipped: no real broker, for FENCEPOST_RABBITMQ names none");
    };
    let name = format!("fencepost-tour-{}", std::process::id());
    let broker =
        LiveBroker::new(&address, &name).expect("an address").tick(crate::agents::TICK).client(1).heartbeat(10);
    perform(&broker, Tour).expect("the answers of the model");
}
