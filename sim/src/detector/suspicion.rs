//! How long a suspicion lasts: the fewer confirm it, the longer (Lifeguard's local health aware suspicion).

use super::Node;
use super::settings::DetectorSettings;

/// A suspicion, at one member, that another one has failed.
#[derive(Clone, Debug)]
pub(super) struct Suspicion {
    began: i64,
    /// The shortest that it may last, and the longest.
    span: (i64, i64),
    /// How many others are expected to confirm it.
    expected: usize,
    /// Who accused, and who confirmed.
    accusers: Vec<Node>,
}

impl Suspicion {
    /// A suspicion in a pool of this size.
    pub(super) fn new(settings: &DetectorSettings, members: usize, accuser: Node, now: i64) -> Self {
        // The nominal time is reached two probe intervals earlier than by all who would probe in vain.
        let wanted = usize::try_from(settings.suspicion_mult - 2).unwrap_or(0);
        let expected = if settings.lifeguard && members >= wanted + 2 { wanted } else { 0 };
        let shortest = settings.suspicion_mult * decades(members) * settings.probe_interval / 1000;
        let longest = if expected > 0 { settings.suspicion_max_mult * shortest } else { shortest };
        Suspicion { began: now, span: (shortest, longest), expected, accusers: vec![accuser] }
    }

    /// Notes another accuser; false if that changes nothing.
    pub(super) fn confirm(&mut self, accuser: Node) -> bool {
        let is_news = self.accusers.len() <= self.expected && !self.accusers.contains(&accuser);
        if is_news {
            self.accusers.push(accuser);
        }
        is_news
    }

    /// The instant at which it becomes a verdict if no member confirms or refutes it.
    pub(super) fn due(&self) -> i64 {
        let (shortest, longest) = self.span;
        if self.expected == 0 {
            return self.began + shortest;
        }
        let confirmations = self.accusers.len() - 1;
        let part = libm::log(confirmations as f64 + 1.0) / libm::log(self.expected as f64 + 1.0);
        #[expect(clippy::cast_possible_truncation, reason = "a span of at most 10^11")]
        let wait = libm::floor(longest as f64 - part * (longest - shortest) as f64) as i64;
        self.began + wait.max(shortest)
    }
}

/// The decimal logarithm of the size of a pool in thousandths, and at least 1000.
fn decades(members: usize) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
    let thousandths = (libm::log10(members.max(1) as f64) * 1000.0) as i64;
    thousandths.max(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// memberlist's `TestSuspicion_remainingSuspicionTime` has such a table; these are worked out from its formula.
    #[test]
    fn confirmations_shorten_a_suspicion_logarithmically() {
        let settings = DetectorSettings { suspicion_mult: 5, ..DetectorSettings::default() };
        let mut suspicion = Suspicion::new(&settings, 100, 7, 1000);
        assert_eq!(suspicion.due(), 1000 + 60_000, "6 · 5 · log10(100) · 1 s");
        assert!(!suspicion.confirm(7), "who has accused confirms nothing");
        let dues: Vec<i64> = (0..3)
            .map(|other| {
                assert!(suspicion.confirm(other));
                suspicion.due() - 1000
            })
            .collect();
        assert_eq!(dues, [35_000, 20_375, 10_000]);
        assert!(!suspicion.confirm(9), "three are enough");
    }

    #[test]
    fn a_pool_too_small_for_confirmation_does_not_wait_for_any() {
        let due = |members| Suspicion::new(&DetectorSettings::default(), members, 1, 0).due();
        assert_eq!([due(2), due(3)], [4000, 4000]);
        assert_eq!(due(4), 24_000);
        let plain = DetectorSettings { lifeguard: false, ..DetectorSettings::default() };
        assert_eq!(Suspicion::new(&plain, 1000, 1, 0).due(), 12_000);
    }
}
