//! The known hazards that a log may show, as a table: what tells that a hazard is the cause, the scenario that breaks in the same way, and one
//! that holds. The first rows are the most specific: the first that a log shows is the nearest hazard.
//!
//! ```text
//! evidence  what a row looks at      endings  how a tenure ended      habits  what its client did, and left out
//! servers   those that led           tokens   the LockIndex as one    stuck   what does not end, in a table of its own
//! stuck_slots  its rows about slots  unseen  hazards without a row, with the reason
//! ```

mod endings;
mod evidence;
mod habits;
mod servers;
mod stuck;
mod stuck_slots;
mod tokens;
mod unseen;

pub(super) use evidence::Evidence;
pub(super) use stuck::stuck;
pub use unseen::UNSEEN;

/// What led to a finding: a step of the recipe that was left out, or what another client or a setting did. With the hazard that it is, and a
/// scenario that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Omission {
    /// What was left out, or done, in a sentence.
    pub sentence: String,
    /// The hazard.
    pub hazard: &'static str,
    /// The scenario that breaks as this log does.
    pub scenario: &'static str,
    /// The scenario that holds, because nothing is left out.
    pub mended: &'static str,
}

/// What a client did that is wrong.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Act {
    /// It came in where there was no place.
    Entered,
    /// It acted as the holder, and was none any more.
    Stayed,
    /// It acted after it had given the lock back, or knew of its loss.
    Returned,
    /// It gave the lock back before the answer to its write.
    Left,
}

/// A row of the table.
struct Row {
    hazard: &'static str,
    scenario: &'static str,
    mended: &'static str,
    /// What it is a cause of.
    of: &'static [Act],
    /// What the log shows of it, in a sentence; none: it does not.
    sign: fn(&Evidence<'_>) -> Option<String>,
}

const fn row(
    hazard: &'static str,
    [scenario, mended]: [&'static str; 2],
    of: &'static [Act],
    sign: fn(&Evidence<'_>) -> Option<String>,
) -> Row {
    Row { hazard, scenario, mended, of, sign }
}

const COME: &[Act] = &[Act::Entered, Act::Stayed];
const STAY: &[Act] = &[Act::Stayed];
const RETURN: &[Act] = &[Act::Returned];
const ACT: &[Act] = &[Act::Stayed, Act::Returned, Act::Left];
const LEAVE: &[Act] = &[Act::Left];

const ROWS: [Row; 27] = [
    row("B-10", ["b10-session-by-name", "b10-own-session"], COME, habits::shared_session),
    row("B-28", ["b28-ignore-conflict", "b28-refuse-conflict"], COME, habits::other_limit),
    row("B-32", ["b32-count-then-register", "b32-compare-and-set"], COME, habits::counted_first),
    row("B-29", ["b29-plain-delete", "b29-destroy"], STAY, endings::entry_deleted),
    row("B-46", ["b46-plain-delete", "b46-compare-and-delete"], STAY, endings::deleted_by_late_client),
    row("B-46", ["b46-plain-delete", "b46-compare-and-delete"], STAY, endings::released_by_another),
    row("B-16", ["b16-delete-held-key", "b16-no-delete"], STAY, endings::key_deleted),
    row("B-18", ["b18-serf-health", "b18-no-checks"], STAY, endings::node_failed),
    row("B-19", ["b19-reap", "b19-no-reap"], STAY, endings::node_removed),
    row("B-23", ["b23-default-read", "b23-consistent-read"], STAY, servers::shown_by_a_former_leader),
    row("B-25", ["b25-unbounded", "b25-quorum"], STAY, servers::renewed_by_a_former_leader),
    row("B-24", ["b24-no-term-check", "b24-term-check"], STAY, servers::ended_by_a_former_leader),
    row("B-05", ["b05-ignore-jeopardy", "b05-suspend-in-jeopardy"], STAY, habits::worked_on_in_jeopardy),
    row("B-03", ["b03-async-write", "b03-ack-before-release"], LEAVE, habits::left_a_write_open),
    row("B-06", ["b06-lock-index-cleanup", "b06-modify-index-cleanup"], ACT, tokens::cleaned_up),
    row("B-07", ["b07-lock-index", "b07-create-index"], ACT, tokens::went_with_its_session),
    row("B-13", ["b13-give-up", "b13-retry-then-stop"], STAY, habits::gave_up_renewing),
    row("B-01", ["b01-no-fencing", "b01-fencing"], STAY, habits::did_not_renew),
    row("B-01", ["b01-one-pause", "b01-pause-bounded"], STAY, habits::was_silent),
    row("B-27", ["b27-no-delay", "b27-self-limiting"], STAY, endings::slot_without_delay),
    row("B-22", ["b22-raw-5000", "b22-five-seconds"], STAY, endings::delay_in_nanoseconds),
    row("B-22", ["b22-ninety-seconds", "b22-ninety-is-sixty"], STAY, endings::delay_above_limit),
    row("B-02", ["b02-delay-too-short", "b02-delay-long-enough"], STAY, endings::delay_too_short),
    row("B-17", ["b17-release-then-stop", "b17-stop-then-release"], RETURN, habits::released_first),
    row("B-04", ["b04-check-then-write", "b04-transaction"], STAY, habits::looked_then_wrote),
    row("B-11", ["b11-patient", "b11-impatient"], STAY, habits::did_not_look),
    row("B-01", ["b01-no-fencing", "b01-fencing"], ACT, habits::not_fenced),
];

/// What the log shows of hazards, the nearest first.
pub(super) fn omissions(evidence: &Evidence<'_>) -> Vec<Omission> {
    let told = ROWS.iter().filter(|row| row.of.contains(&evidence.act)).filter_map(|row| {
        let Row { hazard, scenario, mended, sign, .. } = *row;
        Some(Omission { sentence: sign(evidence)?, hazard, scenario, mended })
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::stuck::STUCK;
    use super::{ROWS, UNSEEN};

    /// What a scenario of the catalogue says of itself.
    fn scenario(name: &str) -> String {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../model/services/consul/scenarios");
        fs::read_to_string(format!("{folder}/{name}.toml")).expect("a scenario of the catalogue")
    }

    /// The properties that a scenario expects to be so.
    fn expected(text: &str, verdict: &str) -> Vec<String> {
        let promises = text.split("[[promise]]").skip(1);
        let is_so = promises.filter(|promise| promise.contains(&format!("expect = \"{verdict}\"")));
        let property = |promise: &str| {
            let line = promise.lines().find_map(|line| line.strip_prefix("property = "));
            line.expect("a property").to_owned()
        };
        is_so.map(property).collect()
    }

    /// The hazard, the scenario that breaks and the one that holds, of each row of both tables.
    fn rows() -> Vec<[&'static str; 3]> {
        let rows = ROWS.iter().map(|row| [row.hazard, row.scenario, row.mended]);
        rows.chain(STUCK.iter().map(|row| [row.hazard, row.scenario, row.mended])).collect()
    }

    /// B-01 to B-47 are the hazards of `facts/hazards.md`.
    #[test]
    fn each_hazard_has_a_row_or_a_reason() {
        let seen: BTreeSet<&str> = rows().iter().map(|[hazard, ..]| *hazard).collect();
        let unseen: BTreeSet<&str> = UNSEEN.iter().map(|(hazard, _)| *hazard).collect();
        assert_eq!(unseen.len(), UNSEEN.len(), "a hazard has one reason");
        assert_eq!(seen.intersection(&unseen).collect::<Vec<_>>(), [&""; 0], "a hazard with a row needs no reason");
        let told: Vec<String> = seen.union(&unseen).map(|hazard| (*hazard).to_owned()).collect();
        let all: Vec<String> = (1..=47).map(|number| format!("B-{number:02}")).collect();
        assert_eq!(told, all);
    }

    #[test]
    fn the_page_has_the_reasons() {
        let page = include_str!("../../LOGS.md");
        for (hazard, reason) in UNSEEN {
            assert!(page.contains(&format!("| {hazard} | {reason} |")), "{hazard}: {reason}");
        }
    }

    #[test]
    fn the_scenarios_of_each_row_name_its_hazard_and_one_breaks_what_the_other_keeps() {
        for [hazard, breaks, holds] in rows() {
            let [broken, mended] = [breaks, holds].map(scenario);
            for text in [&broken, &mended] {
                assert!(text.contains(&format!("hazard = \"{hazard}\"")), "{hazard} {breaks}");
            }
            let (violated, proven) = (expected(&broken, "violated"), expected(&mended, "proven"));
            assert!(violated.iter().any(|property| proven.contains(property)), "{violated:?} {proven:?} {breaks}");
        }
    }
}
