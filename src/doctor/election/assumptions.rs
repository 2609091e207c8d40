//! What verdicts on an election rest on.

use super::question::ElectionQuestion;
use crate::promise::Promise;

pub(super) fn assumptions(question: &ElectionQuestion, promise: Promise) -> Vec<String> {
    let mut list = vec![
        format!(
            "a client stands still for at most {} at a time, as often as it likes: its deadlines fire that late",
            question.pause
        ),
        format!(
            "a message that arrives takes at most {}: {} on the network, and the pause of the client that sends or hears it",
            question.message(),
            question.latency
        ),
        "the store answers each request, loses nothing and shows no earlier record; no operator touches the lease"
            .to_owned(),
        "identities are unique (OL-K-17), and all clients have these settings".to_owned(),
        match question.drift.0 {
            0 => "all clocks run equally fast; how far they are apart does not matter (OL-K-15)".to_owned(),
            _ => format!(
                "clocks of leaders are slower than those of contenders by at most {}: {} over retry period and renew deadline",
                question.drift,
                question.drift.of(crate::rounding::sum(question.retry_period, question.renew_deadline))
            ),
        },
    ];
    match promise {
        Promise::KeepsLease => {
            list.push("for this promise no link is cut and no message is lost; any number of contenders, see reports/docs/doctor.md".to_owned());
        }
        _ => {
            list.push("links to the store may be cut at any time, and heal; a cut loses what is on its way".to_owned());
            list.push(
                "an answer that hangs for longer, and arrives, is OL-6: only a timeout of requests bounds that (OL-K-13)".to_owned(),
            );
            list.push(format!(
                "the work stops within {} when it is told to, and not before; its writes carry no token",
                question.stop_time
            ));
            list.push(
                "any number of clients and rounds: a violation takes a leader and one that takes over, see reports/docs/doctor.md".to_owned(),
            );
        }
    }
    list
}
