//! The rest of the handle of Consul at a real agent: what the model says of lists, flags, transactions and the catalogue is what the agent says.

use fencepost_consul::{
    Behavior, CatalogApi, CheckKind, Checks, Committed, Consul, HttpApi, Key, LOCK, LOCK_FLAGS, Opaque, Operation,
    Plain, Prefix, SEMAPHORE_FLAGS, Status, Terms,
};
use fencepost_live::{Agent, perform};
use fencepost_model::ids::{Index, RawId};
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use fencepost_model::time::Ticks;
use serde::{Deserialize, Serialize};

use crate::agents::benches;

/// A session with a TTL of 12 s, and the checks.
fn terms(checks: impl IntoIterator<Item = CheckKind>) -> Terms {
    Terms {
        ttl: Some(Ticks::new(2_400)),
        lock_delay: Ticks::new(400),
        behavior: Behavior::Delete,
        checks: checks.into_iter().collect(),
    }
}

/// It asks for everything, and panics if an answer is another than the model's.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
struct Tour;

const THIRD: Key = Key::Named(3);
const SEVENTH: Key = Key::Named(7);

impl Recipe<Consul> for Tour {
    const NAME: &'static str = "tour";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        assert!(consul.has_leader().await?);
        let session = consul.create_session(terms([])).await?;
        let info = consul.session_info(session).await?.expect("it is alive");
        assert_eq!((info.id, info.terms), (session, terms([])), "C-SES-16");
        assert!(consul.session_list().await?.ids.contains(&session));

        // C-KV-21: keys and entries of a prefix, by name.
        consul.put(SEVENTH, Opaque::Empty).await?;
        assert!(consul.acquire(THIRD, session, Opaque::Foreign.flagged(7)).await?);
        let keys = consul.keys(Prefix::NAMED).await?;
        assert_eq!((&keys.keys[..], keys.more), (&[THIRD, SEVENTH][..], 0));
        let tree = consul.tree(Prefix::NAMED).await?;
        let sessions: Vec<_> = tree.rows.iter().map(|row| (row.key, row.session)).collect();
        assert_eq!(sessions, [(THIRD, Some(session)), (SEVENTH, None)]);
        let values: Vec<_> = tree.rows.iter().map(|row| row.value).collect();
        assert_eq!(values, [Some(Plain::Foreign), Some(Plain::Empty)]);
        assert_eq!(tree.index, tree.rows[0].modify, "the newest one's");
        let entry = consul.get(THIRD).await?.expect("it is there");
        assert_eq!((entry.flags, entry.value, entry.lock_index), (7, Opaque::Foreign, 1));

        // C-BLK-1, C-CON-3: blocking queries, with and without `?consistent`.
        let read = consul.get_consistent(THIRD).await?.expect("it is there");
        let same =
            consul.watch_consistent(THIRD, Index::numbered(read.modify.raw() - 1), None).await?.expect("it is there");
        assert_eq!(same, read);
        let waited = consul.watch_keys(Prefix::NAMED, keys.index, Some(Ticks::new(20))).await?;
        assert_eq!(waited.keys, keys.keys, "nothing has changed when the wait is over");

        // C-LCK-3, C-SEM-4: the flags of the Go client.
        consul.put(LOCK, Opaque::Empty.flagged(LOCK_FLAGS)).await?;
        assert_eq!(consul.get(LOCK).await?.expect("it is there").flags, LOCK_FLAGS);
        consul.put(LOCK, Opaque::Empty.flagged(SEMAPHORE_FLAGS)).await?;
        let lock = consul.get(LOCK).await?.expect("it is there");
        assert_eq!(lock.flags, SEMAPHORE_FLAGS);

        // C-TXN-3: all or nothing.
        let set = Operation::Set { key: LOCK, value: Plain::Foreign, flags: 0 };
        let check = |index| Operation::CheckIndex { key: LOCK, index };
        let stale = Index::numbered(lock.modify.raw() - 1);
        assert_eq!(consul.transaction(&[set, check(stale)]).await?, Committed::RolledBack(1));
        assert_eq!(consul.transaction(&[check(lock.modify), set]).await?, Committed::All);
        assert_eq!(consul.get(LOCK).await?.expect("it is there").value, Opaque::Foreign);

        // C-KV-17: a recursive delete ignores locks; the session lives on.
        assert!(consul.delete_tree(Prefix::NAMED).await?);
        assert!(consul.keys(Prefix::NAMED).await?.keys.is_empty());
        assert!(consul.session_info(session).await?.is_some());
        consul.destroy_session(session).await?;
        assert_eq!(consul.session_info(session).await?, None);
        let error = consul.acquire(LOCK, session, Opaque::Empty).await.expect_err("C-KV-10");
        assert_eq!((error.status(), error.body()), (Some(500), "invalid session"));
        Ok(Lap::Done)
    }
}

#[test]
fn the_handle_of_consul_gets_the_answers_of_the_model() {
    for bench in benches() {
        perform(&bench.agent, Tour).unwrap_or_else(|error| panic!("{}: {error}", bench.base));
    }
}

/// A health checker: it sets the checks of its own node, and its session ends with them.
#[derive(Clone, Debug, Normal, Serialize, Deserialize)]
struct HealthChecker;

impl Recipe<Consul> for HealthChecker {
    const NAME: &'static str = "health-checker";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        let (me, check) = (consul.me(), CheckKind::NodeCheck);
        consul.set_check(me, check, Status::Passing).await?;
        assert_eq!(consul.node_health(me).await?.status(check), Some(Status::Passing));
        assert!(consul.nodes().await?.nodes.contains(&me));
        let session = consul.create_session(terms([check])).await?;
        assert!(consul.node_sessions(me).await?.ids.contains(&session));
        // C-INV-5: a warning ends no session, and a critical check does.
        consul.set_check(me, check, Status::Warning).await?;
        assert!(consul.session_info(session).await?.is_some());
        consul.set_check(me, check, Status::Critical).await?;
        assert_eq!(consul.session_info(session).await?, None);
        let error = consul.create_session(terms([check])).await.expect_err("C-SES-11");
        assert_eq!(error.status(), Some(500));
        // C-INV-7.
        consul.set_check(me, check, Status::Passing).await?;
        let session = consul.create_session(terms([check])).await?;
        consul.deregister_check(me, check).await?;
        assert_eq!(consul.session_info(session).await?, None);
        assert_eq!(consul.node_health(me).await?.status(check), None);
        // C-INV-6.
        let session = consul.create_session(Terms { checks: Checks::default(), ..terms([]) }).await?;
        consul.deregister_node(me).await?;
        assert_eq!(consul.session_info(session).await?, None);
        assert!(!consul.nodes().await?.nodes.contains(&me));
        Ok(Lap::Done)
    }
}

#[test]
fn a_program_changes_the_checks_of_a_node_and_sessions_end_with_them() {
    for bench in benches() {
        let node = bench.key.replace('/', "-");
        let agent: Agent = bench.agent.clone().node(&node);
        perform(&agent, HealthChecker).unwrap_or_else(|error| panic!("{}: {error}", bench.base));
    }
}
