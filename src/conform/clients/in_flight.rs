//! Writes of what a lock protects that were not answered yet when their client gave the lock back: nothing keeps them from coming after those of
//! the next holder, for a release is followed by no lock-delay (C-LD-6).

use super::super::log::Episode;
use super::beliefs::{BeliefInterval, Stopped};
use super::findings::{Finding, Kind};
use super::hazards::{Act, Evidence, omissions};
use super::protected::{Protection, is_accepted};
use super::seconds;
use super::tenures::Tenure;

/// Each such write, if another client acquired the lock before the answer.
pub(super) fn in_flight(
    episode: &Episode,
    tenures: &[Tenure],
    beliefs: &[BeliefInterval],
    protection: &Protection<'_>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (place, (one, mine)) in tenures.iter().zip(beliefs).enumerate() {
        let Stopped::GaveBack(number) = mine.stopped else { continue };
        let Some(release) = episode.lines.iter().find(|line| line.number == number) else { continue };
        for line in &episode.lines {
            let is_its = line.client.is_some() && line.client == one.client && is_accepted(line);
            let is_open = one.began.1 <= line.sent && line.sent <= release.sent && release.sent < line.received;
            let Some(written) = protection.write_of(line).filter(|_| is_its && is_open && line.number != number) else {
                continue;
            };
            let is_next = |two: &&Tenure| {
                two.key == one.key
                    && two.limit.is_none()
                    && one.is_of_other(two)
                    && release.sent <= two.began.0
                    && two.began.1 < line.received
            };
            let Some(next) = tenures.iter().find(is_next) else { continue };
            let sentence = format!(
                "{} {written} at {} (line {}), had no answer when it gave `{}` back (line {number}), nor when {} acquired it at {} (line {})",
                one.who(),
                seconds(line.sent),
                line.number,
                one.key,
                next.who(),
                seconds(next.began.0),
                next.line
            );
            let others = [next];
            let evidence = Evidence {
                episode,
                tenures,
                tenure: one,
                belief: mine,
                others: &others,
                write: Some(line),
                act: Act::Left,
            };
            let omissions = omissions(&evidence);
            let during = (release.sent, line.received.min(next.ended.0).max(next.began.1));
            findings.push(Finding { during, kind: Kind::InFlight(place, line.number), sentence, omissions });
        }
    }
    findings
}
