//! Mistakes of users of etcd, which scenarios have to show what they break.

/// Values of settings that are mistakes of a client, or faults of a server, and no choice of an operator: the dotted path, and a word, `true` or `false`.
pub const MISTAKES: &[(&str, &str)] = &[
    // Locks of one process on one lease.
    ("service.shared_lease", "true"),
    // A user that never releases, a second lock below the first, and reads that are answered with those of others.
    ("service.leave", "abandon"),
    ("service.nested", "first"),
    ("service.reads", "reused-number"),
];
