//! Mistakes of lockers, which scenarios have to show what they break.

/// Values of settings that are mistakes of a client, or faults of a server, and no choice of an operator: the dotted path, and a word, `true` or `false`.
pub const MISTAKES: &[(&str, &str)] = &[
    // The lease is counted from when its answer came.
    ("service.validity", "from-answer"),
];
