//! Mistakes of clients of Consul, which scenarios have to show what they break.

/// Values of settings that are mistakes of a client, or faults of a server, and no choice of an operator: the dotted path, and a word, `true` or `false`.
pub const MISTAKES: &[(&str, &str)] = &[
    // It spells the session's id differently in an acquire.
    ("service.acquires_in", "capitals"),
    // It acquires with a session that it knows to be gone.
    ("service.dead_session", "reuse"),
    // It works on after it was told that the lock is lost.
    ("service.belief", "none"),
    // It deletes the key, whosever it is.
    ("service.unlock", "delete"),
    // The processes that its shell has started go on.
    ("service.job.killed", "shell"),
];
