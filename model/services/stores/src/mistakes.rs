//! Mistakes of members, which scenarios have to show what they break.

/// Values of settings that are mistakes of a client, or faults of a server, and no choice of an operator: the dotted path, and a word, `true` or `false`.
pub const MISTAKES: &[(&str, &str)] = &[
    // It gives back what may have been taken by another one since.
    ("service.give_back", "unconditional"),
    ("service.nodes", "anonymous"),
];
