//! The scenarios of the lease, in the order in which they are checked and shown.

fencepost_model::scenarios! {
    "../scenarios/";
    "lease-just-enough",
    "lease-one-tick-less",
    "lease-duplicates",
    "lease-no-lateness",
    "lease-duplicates-at-once",
    "lease-late-write",
    "lease-late-write-fenced",
    "lease-late-write-forgotten",
    "lease-pause-before-grant",
    "lease-endless",
}
