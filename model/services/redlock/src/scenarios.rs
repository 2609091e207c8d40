//! The scenarios of Redlock, in the order in which they are checked and shown.

fencepost_model::scenarios! {
    "../scenarios/";
    "b44-amnesia",
    "b44-clock-jump",
    "b44-delayed-restart",
    "b44-fsync",
    "b44-late-answers",
    "b44-validity-unchecked",
    "b45-async-copy",
    "b45-quorum",
    "b45-split",
    "redlock-no-fault",
    "redlock-late-unlock",
    "redlock-restart-delayed",
    "redlock-restart-from-disk",
    "copied-lock-heals",
}
