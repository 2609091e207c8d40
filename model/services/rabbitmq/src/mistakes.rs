//! Mistakes of clients of RabbitMQ, which scenarios have to show what they break.

/// Values of settings that are mistakes of a client, or faults of a server, and no choice of an operator: the dotted path, and a word, `true` or `false`.
pub const MISTAKES: &[(&str, &str)] = &[
    // It publishes into the void, and takes no answer, or an error, for an answer.
    ("service.probe", "publish-unchecked"),
    ("service.probe", "passive-careless"),
    ("service.silence", "absent"),
    ("service.after_refusal", "goes-on"),
];
