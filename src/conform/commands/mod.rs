//! What a random sequence is made of: commands whose keys, sessions, nodes, checks and queries are places in small pools, so
//! that any sequence makes sense, and any part of it too.
//!
//! ```text
//! odds   how often which command comes up      rare    sequences, with what takes seconds
//! waits  what a blocking read waits for, and what wakes it
//! ```

mod odds;
mod rare;
mod waits;

use serde_json::Value;

pub use rare::{Rarities, SECOND_NODE, sequence};
pub use waits::disturbance;

/// One command.
#[derive(Clone, Debug)]
pub enum Command {
    /// Create a session, and put its id into this place of the pool.
    Create { place: usize, requested: Value },
    /// Create one with a body that may be anything.
    CreateRaw(&'static str),
    /// Do something with a session: `info`, `renew` or `destroy`.
    Session(&'static str, Who),
    /// List sessions, of a node or all.
    Sessions(Option<&'static str>),
    /// Put, with whatever parameters.
    Put { key: usize, how: PutCondition, flags: Option<&'static str>, value: Content },
    /// Read one key, with these parameters.
    Get(usize, &'static str),
    /// Read what is below a prefix, with these parameters.
    List(usize, &'static str),
    /// Delete a key, perhaps if at an index.
    Delete(usize, Option<At>),
    /// Delete what is below a prefix.
    DeleteTree(usize),
    /// Several operations at once.
    Transaction(Vec<Verb>),
    /// Register a node, with a service or a check.
    Register { node: &'static str, service: bool, check: Option<(&'static str, Option<&'static str>, bool)> },
    /// Register a node with an id, so that it takes away the node that had it.
    Identify { node: &'static str, id: &'static str },
    /// Deregister a node, a service, or a check.
    Deregister { node: &'static str, service: Option<&'static str>, check: Option<&'static str> },
    /// The checks of a node.
    Health(&'static str),
    /// A node with its services.
    Node(&'static str),
    /// Create a prepared query, and put its id into this place of the pool.
    Query { place: usize, name: &'static str, session: Option<Who> },
    /// Change one.
    Requery { place: usize, name: &'static str, session: Option<Who> },
    /// Read or delete one.
    OneQuery(&'static str, usize),
    /// List all.
    Queries,
    /// Something else: method, url and body as they are.
    Raw(&'static str, &'static str, &'static str),
    /// Do something with a check that the agent keeps.
    AgentCheck(AgentAct),
    /// The server is restarted.
    Restart,
    /// The node of the second agent fails.
    NodeFails,
    /// It is back.
    NodeReturns,
    /// Create a session at the second agent, and put its id into this place of the pool.
    CreateThere { place: usize, requested: Value },
    /// A value with this many bytes.
    Large(usize, usize),
    /// A transaction with this number of reads.
    Many(usize, usize),
}

/// What becomes of a check that the agent keeps.
#[derive(Copy, Clone, Debug)]
pub enum AgentAct {
    /// It is registered, and passing.
    Register,
    /// It passes.
    Pass,
    /// It is a warning.
    Warn,
    /// It is critical.
    Fail,
    /// It is removed.
    Deregister,
}

/// What a read waits for.
#[derive(Copy, Clone, Debug)]
pub enum Target {
    /// A key.
    Key(usize),
    /// The entries below a prefix.
    Entries(usize),
    /// The names of the keys below a prefix.
    Keys(usize),
    /// A session.
    Session(usize),
    /// The sessions of a node, or all.
    Sessions(Option<&'static str>),
    /// The checks of a node.
    Checks(&'static str),
    /// A node with its services.
    Node(&'static str),
    /// All prepared queries.
    Queries,
    /// One.
    Query(usize),
}

/// A session, as a request names it.
#[derive(Copy, Clone, Debug)]
pub enum Who {
    /// The one in this place of the pool.
    Pool(usize),
    /// The same in capital letters. C-SES-20.
    Capitals(usize),
    /// An unused id.
    Nobody,
    /// No id.
    Malformed,
    /// The empty text.
    Empty,
}

/// The condition under which a value is put.
#[derive(Copy, Clone, Debug)]
pub enum PutCondition {
    /// The text, unchanged.
    Plain,
    /// If at an index.
    Cas(At),
    /// For a session.
    Acquire(Who),
    /// Of a session.
    Release(Who),
    /// With both.
    Both,
    /// With an index that is no number.
    NotANumber,
}

/// An index.
#[derive(Copy, Clone, Debug)]
pub enum At {
    /// That of the key, the node, the service or the check.
    Present,
    /// 0.
    Zero,
    /// One that is long past.
    Past,
    /// One that is far ahead.
    Future,
}

/// A value.
#[derive(Copy, Clone, Debug)]
pub enum Content {
    /// The empty text.
    Empty,
    /// A short text.
    Text(&'static str),
    /// Bytes that are no text.
    Bytes,
}

/// An operation of a transaction.
#[derive(Clone, Debug)]
pub struct Verb {
    pub verb: &'static str,
    pub key: usize,
    pub who: Who,
    pub at: At,
    pub value: Content,
    pub flags: u64,
    /// A node, a check of it, and a status.
    pub check: (&'static str, &'static str, &'static str),
    /// Whether the node has another address, the service another port and tags, and the check belongs to the service.
    pub is_other: bool,
}

/// How large the pools of sessions and queries are.
pub const POOL: usize = 3;
/// Keys, below the tree of the sequence: the first three come up most. C-KV-3: any text, and letter case counts.
pub const KEYS: [&str; 8] = ["a", "a/b", "a/ü ?", "A", "a/", "a%2Fb", "a/b/c/d/e", ".lock"];
/// Prefixes; the first is empty, the others are below the tree.
pub const PREFIXES: [Option<&str>; 8] =
    [None, Some(""), Some("a"), Some("a/"), Some("a/b"), Some("zz"), Some("A"), Some("a/b/c")];
const NODES: [&str; 2] = ["fencepost-n1", "fencepost-n2"];
const CHECKS: [&str; 3] = ["c1", "c2", "c3"];
