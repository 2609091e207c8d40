//! Rules of which no answer tells, and why.

/// Each rule without a class of answers, with the reason. What a run with `--members`, or a lease that ends by itself, shows of them is told apart.
pub const UNTOLD: &[(&str, &[&str])] = &[
    (
        "a client's, not the server's: its programs are held against the model elsewhere",
        &["E-CC-1", "E-CC-2", "E-CC-3", "E-CC-4", "E-CC-5", "E-CC-6", "E-CC-32", "E-LS-4", "E-T-6", "E-T-7", "E-T-8"],
    ),
    ("exercised in crowds; an answer does not tell whether the key or the lease of its caller was there", &["E-CC-15"]),
    (
        "exercised by transactions; an answer does not tell which keys were missing, or what was not given",
        &["E-TXN-2", "E-TXN-3"],
    ),
    ("a lease must end by itself: crowds with pauses tell of it", &["E-LS-2", "E-LS-5", "E-T-1"]),
    (
        "several members: --members tells of it",
        &[
            "E-GEN-1", "E-GEN-8", "E-KV-10", "E-LD-1", "E-LD-2", "E-LD-5", "E-LD-6", "E-LS-11", "E-T-2", "E-T-5",
            "E-W-7",
        ],
    ),
    ("what was refused would have to come before a restart: members would differ from then on", &["E-GEN-9"]),
    ("between election and promotion is a millisecond", &["E-LD-3"]),
    (
        "a loop that is stuck while raft goes on needs a delayed fsync, which needs ptrace",
        &["E-LD-7", "E-LD-8", "E-LD-9", "E-T-3", "E-T-4"],
    ),
    ("a thousand leases are needed", &["E-LD-4"]),
    ("no backup is restored", &["E-LD-10"]),
    ("there are no users, no quota, no learner and no proxy", &["E-AU-1", "E-GEN-10", "E-GEN-11", "E-LS-14"]),
    ("a member would have to fall behind by a snapshot", &["E-W-8"]),
    ("the wall clock of the machine would have to jump", &["E-LS-10"]),
    ("a revoke that fails, or that comes within microseconds of a renewal", &["E-LS-7", "E-LS-12"]),
    ("checkpoints are an option, and come every five minutes", &["E-LS-13"]),
    ("the server process dies of it", &["E-GEN-5"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::etcd::{Class, UNTOLD};
    use crate::tally::{AnswerClass, Histogram};

    /// What answers tell of is tested, and what is left out has a reason.
    #[test]
    fn no_rule_that_a_class_tells_of_is_listed_as_left_out_and_each_of_those_has_a_reason() {
        let (tested, left_out) = Class::PAGE.split_once("## Cited, and left out").expect("two parts");
        let is_stated = |page: &str, rule: &str| page.lines().any(|line| line.starts_with(&format!("- **{rule}**")));
        for class in Class::ALL {
            for rule in class.also().iter().copied().chain([class.rule()]) {
                assert!(is_stated(tested, rule) && !is_stated(left_out, rule), "{rule}");
            }
        }
        let (left_out, _) = left_out.split_once("Of rules that are tested").expect("the rest is about parts of rules");
        for item in left_out.split("- **E-").skip(1) {
            assert!(item.contains("Left out: "), "E-{item}");
        }
    }

    #[test]
    fn each_rule_without_a_class_has_one_reason_and_no_other_has() {
        let untold = Histogram::<Class>::default().unexercised(&[]).untold;
        let with_reason: Vec<&str> = UNTOLD.iter().flat_map(|(_, rules)| rules.iter().copied()).collect();
        let (untold, reasons): (BTreeSet<&str>, BTreeSet<&str>) =
            (untold.into_iter().collect(), with_reason.iter().copied().collect());
        assert_eq!(untold, reasons);
        assert_eq!(with_reason.len(), reasons.len(), "a rule has two reasons");
    }
}
