//! The rules of a server that a run has not exercised, so that no reader takes a rule for tested that never came up. A class of answers tells
//! of one rule, and of those that no such answer comes without.

use std::collections::BTreeSet;
use std::fmt;

use super::tally::{AnswerClass, Histogram};

/// The rules that a run has not exercised, in the order of their page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unexercised {
    /// Some answer tells of them, and none came up.
    pub never: Vec<&'static str>,
    /// No class of answers tells whether they were exercised: rules of time, of clusters, of clients.
    pub untold: Vec<&'static str>,
}

impl<C: AnswerClass> Histogram<C> {
    /// The rules that no answer of this histogram tells of. `shown` are those that the run has exercised by other means.
    pub fn unexercised(&self, shown: &[&str]) -> Unexercised {
        let told = |seen: bool| -> BTreeSet<&'static str> {
            let classes = self.iter().filter(|(_, count)| *count > 0 || !seen);
            classes.flat_map(|(class, _)| class.also().iter().copied().chain([class.rule()])).collect()
        };
        let (seen, all) = (told(true), told(false));
        let open = rules(C::PAGE).into_iter().filter(|rule| !seen.contains(rule) && !shown.contains(rule));
        let (never, untold) = open.partition(|rule| all.contains(rule));
        Unexercised { never, untold }
    }
}

/// The rules that a page states: each begins an item, as `- **C-KV-1**`.
fn rules(page: &'static str) -> Vec<&'static str> {
    let heads = page.lines().filter_map(|line| line.strip_prefix("- **"));
    let names = heads.filter_map(|head| head.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next());
    // F-1 is a flaw of a text, and no rule of a server.
    names.filter(|name| name.matches('-').count() > 1).collect()
}

impl fmt::Display for Unexercised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, rules) in [
            ("Rules that answers tell of, and that this run never exercised", &self.never),
            ("Rules that no class of answers tells of", &self.untold),
        ] {
            if !rules.is_empty() {
                writeln!(f, "{what}: {}.", by_family(rules))?;
            }
        }
        Ok(())
    }
}

/// `C-KV-1, 2; C-LD-3`.
fn by_family(rules: &[&str]) -> String {
    let mut text = String::new();
    let mut last = "";
    for rule in rules {
        let (family, number) = rule.rsplit_once('-').unwrap_or((rule, ""));
        match (family == last, text.is_empty()) {
            (true, _) => text += &format!(", {number}"),
            (false, true) => text += rule,
            (false, false) => text += &format!("; {rule}"),
        }
        last = family;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{amqp, consul, etcd};

    fn check<C: AnswerClass>(known: &str) {
        let page = rules(C::PAGE);
        assert!(page.contains(&known));
        for class in C::ALL {
            // A few answers are of no rule.
            let told = class.also().iter().copied().chain([class.rule()]).filter(|rule| !rule.is_empty());
            told.for_each(|rule| assert!(page.contains(&rule), "{class:?}: {rule}"));
        }
        let none = Histogram::<C>::default().unexercised(&[]);
        assert_eq!(none.never.len() + none.untold.len(), page.len(), "every rule is named");
    }

    #[test]
    fn every_rule_of_a_page_that_no_answer_tells_of_is_named() {
        check::<consul::Class>("C-KV-8");
        check::<amqp::Class>("R-Q-12");
        check::<etcd::Class>("E-TXN-1");
        assert_eq!(
            rules("- **F-1** a flaw\n- **R-Q-81 Probe** a rule\n- **R-Q-79a** another\n"),
            ["R-Q-81", "R-Q-79a"]
        );
    }

    #[test]
    fn a_rule_that_came_up_or_was_shown_is_not_named() {
        let mut tally = Histogram::<consul::Class>::default();
        let never = |tally: &Histogram<consul::Class>, shown: &[&str]| tally.unexercised(shown).never;
        assert!(never(&tally, &[]).contains(&"C-KV-8") && never(&tally, &[]).contains(&"C-SES-17"));
        tally.count(consul::Class::PutHeld);
        tally.count(consul::Class::SessionFound);
        let open = never(&tally, &["C-KV-9"]);
        assert!(["C-KV-8", "C-SES-16", "C-SES-17", "C-KV-9"].iter().all(|rule| !open.contains(rule)), "{open:?}");
        // No answer tells how long a timer is, and a script of a live run shows it.
        let untold = |shown: &[&str]| tally.unexercised(shown).untold.contains(&"C-TTL-2");
        assert!(untold(&[]) && !untold(&["C-TTL-2"]));
    }

    #[test]
    fn rules_are_listed_by_family() {
        let open = Unexercised { never: vec!["C-KV-1", "C-KV-2", "C-LD-3"], untold: Vec::new() };
        assert_eq!(
            open.to_string(),
            "Rules that answers tell of, and that this run never exercised: C-KV-1, 2; C-LD-3.\n"
        );
    }
}
