//! `Observe` and `Leader` as programs at a real etcd server, beside a running election, and beside the server's own `observe`.

use std::io::{BufRead, BufReader};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fencepost_etcd::{
    Etcd, EtcdApi, EtcdElection, EtcdEvent, EtcdObserve, EtcdObserver, EtcdQuery, EtcdSession, EtcdValue, EventCursor,
    Key, KeyRange, Observation, ObserverKind, WatchApi, leader,
};
use fencepost_live::{LiveEtcd, hold, perform};
use fencepost_model::ids::{ClientId, Index};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::etcd::{bench, terms};

/// How many leaders there are, one after the other.
const LEADERS: u8 = 3;

/// How many values each proclaims beside its name.
const VALUES: u8 = 2;

/// A leader that proclaims a value from time to time while it leads.
#[derive(Clone, PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
struct Speaker;

impl Recipe<Etcd> for Speaker {
    const NAME: &'static str = "speaker";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        let pause = Ticks::new(40);
        let session = EtcdSession::open(client, &terms()).await?;
        let mut election = EtcdElection::campaign_with(client, session, EtcdValue::Name(client.me())).await?;
        while let Some(step) = election.wait {
            election.wait(client, step).await?;
        }
        let tenure = client.enter(election.created.token());
        for number in 1..=VALUES {
            client.sleep(pause).await;
            assert!(election.proclaim_with(client, EtcdValue::Number(number)).await?, "it leads");
        }
        client.sleep(pause).await;
        client.user().await;
        tenure.leave(fencepost_model::fact::Leaving::Done);
        election.resign(client).await?;
        session.close(client, &terms()).await;
        Ok(Lap::Done)
    }
}

/// Listens to `Observe` until each leader has said its last value.
#[derive(Clone, PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
struct Listener {
    observe: EtcdObserve,
    heard: u8,
}

impl Recipe<Etcd> for Listener {
    const NAME: &'static str = "listener";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        if let Some(told) = self.observe.step(client).await {
            client.send(EtcdQuery::Observed(told));
            self.heard += u8::from(told.shown.value == EtcdValue::Number(VALUES));
        }
        Ok(if self.heard == LEADERS || self.observe == EtcdObserve::Closed { Lap::Done } else { Lap::Again })
    }
}

/// What the recipe was told, in order: who leads, and its value.
fn told(events: &[EtcdEvent]) -> Vec<Observation> {
    let observed = events.iter().filter_map(|event| match event {
        EtcdEvent::Observed { told, .. } => Some(*told),
        _ => None,
    });
    observed.collect()
}

/// The server's own `observe`, until each leader has said its last value: the texts of the values.
fn observe_at_server(address: &str, name: &str) -> Vec<String> {
    let base = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let body = json!({ "name": STANDARD.encode(name) }).to_string();
    let answer = ureq::post(format!("{base}/v3/election/observe")).send(body).expect("it answers");
    let (mut values, mut last) = (Vec::new(), 0);
    for line in BufReader::new(answer.into_body().into_reader()).lines() {
        let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let value = line["result"]["kv"]["value"].as_str().expect("a value");
        let value = String::from_utf8(STANDARD.decode(value).expect("bytes")).expect("text");
        last += u8::from(value == VALUES.to_string());
        values.push(value);
        if last == LEADERS {
            break;
        }
    }
    values
}

/// Each leader is told, with its values in order and up to the last one; the first leader with all of them, for it was waited for.
fn is_complete(values: &[String]) {
    let all = |client: &str| [client.to_owned(), "1".to_owned(), "2".to_owned()];
    let mut leaders = values.split_inclusive(|value| *value == VALUES.to_string());
    let first = leaders.next().expect("the first leader");
    assert_eq!(first, all(&first[0]), "{values:?}");
    let others: Vec<&[String]> = leaders.collect();
    assert_eq!(others.len(), usize::from(LEADERS) - 1, "{values:?}");
    for values in others {
        assert!(all(&values[0]).ends_with(values), "{values:?}");
    }
}

fn text(value: EtcdValue) -> String {
    match value {
        EtcdValue::Name(client) => format!("client {}", client.0),
        EtcdValue::Number(number) => number.to_string(),
        other => panic!("{other}"),
    }
}

/// E-CC-23, E-CC-30.
#[test]
fn an_observer_is_told_each_leader_and_each_value() {
    let Some((address, name)) = bench() else { return };
    let observed = thread::scope(|scope| {
        let (address, name) = (&address, &name);
        let at = |client: u16| LiveEtcd::new(address, name).client(client);
        let observed = scope.spawn(move || perform(&at(9), Listener::default()));
        let at_server = scope.spawn(move || observe_at_server(address, name));
        // Both find no key, and wait for the first one.
        thread::sleep(Duration::from_millis(300));
        for client in 1..=u16::from(LEADERS) {
            scope.spawn(move || hold(&at(client), Speaker, |_| ()).expect("the server is there"));
        }
        is_complete(&at_server.join().expect("it does not panic"));
        observed.join().expect("it does not panic").expect("the server is there")
    });
    let observed = told(&observed);
    is_complete(&observed.iter().map(|told| text(told.shown.value)).collect::<Vec<_>>());
    // In the order of revisions, and of create revisions.
    for pair in observed.windows(2) {
        assert!(pair[0].revision < pair[1].revision && pair[0].shown.created <= pair[1].shown.created, "{pair:?}");
    }
}

/// E-CC-23: `Leader` finds none, and then the one that leads; `Observe` begins with it.
#[test]
fn a_leader_is_read_with_its_value() {
    let Some((address, name)) = bench() else { return };
    let at = |client: u16| LiveEtcd::new(&address, &name).client(client);
    let reads = |kind| perform(&at(2), EtcdObserver::by(kind)).expect("the server is there");
    assert!(matches!(reads(ObserverKind::Leader)[..], [EtcdEvent::Read { holder: None, .. }]));
    hold(&at(1), Speaker, |_| {
        for kind in [ObserverKind::Leader, ObserverKind::LocalCopy] {
            assert!(matches!(reads(kind)[..], [EtcdEvent::Read { holder: Some(_), .. }]), "{kind:?}");
        }
        let mut observer = EtcdObserver::by(ObserverKind::Observe);
        observer.values = Some(1);
        let observed = told(&perform(&at(2), observer).expect("the server is there"));
        assert!(matches!(observed[..], [Observation { shown, .. }] if shown.value != EtcdValue::Empty), "{observed:?}");
    })
    .expect("the server is there");
}

/// What a program may ask of values and events, in one round: each answer is that of the model.
#[derive(Clone, PartialEq, Eq, Debug, Default, Normal, Serialize, Deserialize)]
struct Tour;

impl Recipe<Etcd> for Tour {
    const NAME: &'static str = "tour-of-events";

    async fn lap(&mut self, client: &Handle<Etcd>) -> Result<Lap, Gone> {
        let session = EtcdSession::orphaned(client, &terms()).await?;
        let (lease, key) = (session.lease, Key::Of(session.lease));
        let (none, start) = client.first_create(false).await?;
        assert_eq!(none, None);
        let name = EtcdValue::Name(ClientId(1));
        let put = client.put_value_if_created(key, Index::NONE, lease, name).await?.expect("it is there");
        assert_eq!((put.key, put.value), (key, name));
        // The compare fails, and the key is read.
        let found = client.put_value_if_created(key, Index::NONE, lease, EtcdValue::Number(7)).await?;
        assert_eq!(found, Some(put));
        client.put(key, Some(lease), EtcdValue::Number(8)).await?;
        client.put(key, None, EtcdValue::Empty).await?;
        client.delete(key).await?;
        // Its history: once below the prefix, and once of the key from the second event on.
        let mut cursor = EventCursor::at(start);
        let mut all = Vec::new();
        for _ in 0..4 {
            let event = client.next_event(KeyRange::Prefix, cursor).await?;
            cursor = event.cursor();
            all.push(event);
        }
        let values: Vec<_> = all.iter().map(|event| (event.shown.value, event.is_delete)).collect();
        assert_eq!(
            values,
            [(name, false), (EtcdValue::Number(8), false), (EtcdValue::Empty, false), (EtcdValue::Empty, true)]
        );
        assert!(all[..3].iter().all(|event| event.shown == fencepost_etcd::Shown { value: event.shown.value, ..put }));
        let second = client.next_event(KeyRange::One(key), EventCursor::after(all[0].revision)).await?;
        assert_eq!(second, all[1]);
        assert_eq!(leader(client).await?, None);
        session.close(client, &terms()).await;
        Ok(Lap::Done)
    }
}

#[test]
fn values_and_events_are_those_of_the_model() {
    let Some((address, name)) = bench() else { return };
    perform(&LiveEtcd::new(&address, &name), Tour).expect("the answers of the model");
}
