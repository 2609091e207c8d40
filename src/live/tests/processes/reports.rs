//! What processes say of themselves: from when to when they were inside.

use std::time::Duration;

/// A time inside, by the clock of the machine.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ReportedTenure {
    pub client: u16,
    pub from: Duration,
    pub until: Duration,
}

/// A time in which more were inside than may be.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Overlap {
    pub from: Duration,
    pub until: Duration,
}

/// When more than `limit` were inside.
pub fn overlaps(tenures: &[ReportedTenure], limit: usize) -> Vec<Overlap> {
    let mut instants: Vec<Duration> = tenures.iter().flat_map(|tenure| [tenure.from, tenure.until]).collect();
    instants.sort_unstable();
    instants.dedup();
    let mut overlaps: Vec<Overlap> = Vec::new();
    for pair in instants.windows(2) {
        let inside = tenures.iter().filter(|tenure| tenure.from <= pair[0] && pair[1] <= tenure.until).count();
        match overlaps.last_mut() {
            _ if inside <= limit => {}
            Some(last) if last.until == pair[0] => last.until = pair[1],
            _ => overlaps.push(Overlap { from: pair[0], until: pair[1] }),
        }
    }
    overlaps
}

#[test]
fn times_with_too_many_inside_are_found() {
    let seconds = Duration::from_secs;
    let tenure = |client, from, until| ReportedTenure { client, from: seconds(from), until: seconds(until) };
    let all = [tenure(1, 1, 5), tenure(2, 3, 7), tenure(3, 4, 6), tenure(1, 7, 8)];
    assert_eq!(overlaps(&all, 1), [Overlap { from: seconds(3), until: seconds(6) }]);
    assert_eq!(overlaps(&all, 2), [Overlap { from: seconds(4), until: seconds(5) }]);
    assert_eq!(overlaps(&all, 3), []);
}
