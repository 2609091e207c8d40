//! Mistakes of electors and faults of stores, which scenarios have to show what they break.

/// Values of settings that are mistakes of a client, or faults of a server, and no choice of an operator: the dotted path, and a word, `true` or `false`.
pub const MISTAKES: &[(&str, &str)] = &[
    // Faults of a store.
    ("service.validates", "false"),
    ("service.create_overwrites", "true"),
    ("service.delete_ignores_version", "true"),
    // The write names no version; the loss is heard, and nothing follows; an error counts as a success.
    ("service.conditional", "false"),
    ("service.callback", "ignored"),
    ("service.callback", "silent"),
    ("service.work", "unasked"),
    ("service.work_ends", "false"),
    ("service.holds_on_error", "true"),
    // Two candidates with one identity.
    ("service.identity", "shared"),
];
