//! The hazards that no log of requests to Consul shows, each with the reason. A hazard has a row in a table, or a reason here.

/// A hazard, and why a log does not show it. `LOGS.md` has the same table.
pub const UNSEEN: [(&str, &str); 18] = [
    ("B-08", "what a resource compares a token with is not in the log of the lock's server"),
    ("B-09", "a log has one clock: a client whose clock is slow looks like one that is late (B-01)"),
    (
        "B-12",
        "a log tells clients apart and not their processes: a child that works on looks like a client that gave the lock back first (B-17), or like one without a lock",
    ),
    (
        "B-26",
        "Consul refuses an acquire for a session that has ended (B-15); the hazard is one of queues in which each client has a key of its own, and no key says who holds the lock",
    ),
    ("B-33", "the recipe takes and returns tokens in lists, which Consul does not have"),
    ("B-34", "the recipe ranks clients in a sorted set, which Consul does not have"),
    ("B-35", "the holders' records of the recipe have dates of their own, and no sessions"),
    ("B-36", "of RabbitMQ: its log is judged, and not its clients"),
    ("B-37", "of RabbitMQ clusters: the log is that of one node"),
    ("B-38", "of RabbitMQ: its log is judged, and not its clients"),
    ("B-39", "of RabbitMQ clusters: the log is that of one node"),
    ("B-40", "of RabbitMQ: its log is judged, and not its clients"),
    ("B-41", "of RabbitMQ: its log is judged, and not its clients"),
    ("B-42", "of RabbitMQ: its log is judged, and not its clients"),
    ("B-43", "of RabbitMQ: its log is judged, and not its clients"),
    ("B-44", "of Redis: Redlock takes several servers that know nothing of each other"),
    ("B-45", "of stores that copy without a quorum: their grants are in no log of Consul, whose leader needs one"),
    ("B-47", "of ZooKeeper: the recipe queues up with nodes that the server numbers"),
];
