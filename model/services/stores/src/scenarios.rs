//! The scenarios of the stores, in the order in which they are checked and shown.

fencepost_model::scenarios! {
    "../scenarios/";
    "b33-check-then-push",
    "b33-conditional-return",
    "b33-unconditional-return",
    "b34-atomic",
    "b34-step-by-step",
    "b34-timestamps-late",
    "b34-timestamps-skewed",
    "b35-expiry",
    "b35-new-record",
    "b35-no-expiry",
    "b35-non-reentrant",
    "b35-recorded-ttl",
    "b35-same-record",
    "b47-anonymous-node",
    "b47-named-by-session",
    "ranks-refused",
    "ranks-refused-in-steps",
    "records-expire-no-sooner",
}
