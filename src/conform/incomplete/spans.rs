//! Requests in time: each was carried out at some instant between when it was sent and when it was answered.

/// Between two instants, in nanoseconds.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Span {
    pub(super) sent: i64,
    pub(super) received: i64,
}

impl Span {
    /// Whether it was over before another one began.
    pub(super) fn is_before(self, other: Span) -> bool {
        self.received < other.sent
    }
}

/// Spans, sorted, with the latest end of all up to each.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    sorted: Vec<(i64, i64)>,
}

impl Spans {
    pub(super) fn of(spans: impl IntoIterator<Item = Span>) -> Spans {
        let mut sorted: Vec<(i64, i64)> = spans.into_iter().map(|span| (span.sent, span.received)).collect();
        sorted.sort_unstable();
        let mut latest = i64::MIN;
        for (_, received) in &mut sorted {
            latest = latest.max(*received);
            *received = latest;
        }
        Spans { sorted }
    }

    /// Whether one of them may lie between two instants.
    pub(super) fn may_lie(&self, from: i64, to: i64) -> bool {
        let began = self.sorted.partition_point(|(sent, _)| *sent <= to);
        began.checked_sub(1).is_some_and(|last| self.sorted[last].1 >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, Spans};

    #[test]
    fn spans_lie_between_two_instants_as_a_look_at_each_of_them_says() {
        let span = |sent: i64, received: i64| Span { sent, received };
        let all = [span(5, 6), span(1, 20), span(30, 31), span(2, 3), span(40, i64::MAX)];
        let spans = Spans::of(all);
        for from in 0..50 {
            for to in from..50 {
                let naive = all.iter().any(|span| span.sent <= to && span.received >= from);
                assert_eq!(spans.may_lie(from, to), naive, "{from}..{to}");
            }
        }
    }
}
