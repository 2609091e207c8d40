//! What to choose by: a table of marks, services and questions; then each question with what the marks stand for.

use fencepost_model::finding::Finding;
use maud::{Markup, html};

use super::Texts;
use super::documents::verdict_line;
use super::overview::colour;
use crate::choice::{Choice, ChoiceAnswer, ChoiceQuestion, ChoiceService};
use crate::matrix::mark;

/// The part of the page; nothing if some answer is not among the findings.
pub(super) fn section(choice: &Choice, findings: &[Finding], texts: &Texts) -> Option<Markup> {
    let is_answered = !choice.questions.is_empty() && choice.is_answered_by(findings);
    is_answered.then(|| {
        html! {
            section #choice {
                h2 { "What to choose by " a.up href="#top" { "↑" } }
                p { (choice.about) " A – has its reason below. What is promised depends on the recipe as much as on the service." }
                (marks(choice, findings))
                @for (place, question) in choice.questions.iter().enumerate() {
                    details.question id={ "choice-" (place + 1) } {
                        summary { b { (question.title) } " " small { (question.about) } }
                        (answers(&choice.services, question, findings, texts))
                    }
                }
            }
        }
    })
}

/// All questions at a glance.
fn marks(choice: &Choice, findings: &[Finding]) -> Markup {
    html! {
        table.choice {
            thead { tr { th { "Question" } @for service in &choice.services { th.property { abbr title=(service.version) { (service.name) } } } } }
            tbody {
                @for (place, question) in choice.questions.iter().enumerate() {
                    tr {
                        td { a href={ "#choice-" (place + 1) } { (question.title) } }
                        @for service in &choice.services { td.verdict { (marks_of(question.answers.get(&service.key), findings)) } }
                    }
                }
            }
        }
    }
}

fn marks_of(answer: Option<&ChoiceAnswer>, findings: &[Finding]) -> Markup {
    let found = || answer.into_iter().flat_map(ChoiceAnswer::promises).filter_map(|promise| promise.find(findings));
    html! {
        @if found().next().is_none() { "–" }
        @for finding in found() {
            a class=(colour(finding)) href={ "#" (finding.scenario) "--" (finding.property.name()) } title=(finding.about) { (mark(&finding.verdict)) }
        }
    }
}

/// A card for each service.
fn answers(services: &[ChoiceService], question: &ChoiceQuestion, findings: &[Finding], texts: &Texts) -> Markup {
    html! {
        div.cards {
            @for service in services {
                div.card {
                    b { (service.name) } " " small { (service.version) }
                    @match question.answers.get(&service.key) {
                        None => p { "–" },
                        Some(ChoiceAnswer::None(why)) => p { (why) },
                        Some(ChoiceAnswer::Shown(promises)) => {
                            @for finding in promises.iter().filter_map(|promise| promise.find(findings)) {
                                p {
                                    b class=(colour(finding)) { (mark(&finding.verdict)) } " " (finding.about) br;
                                    small { (verdict_line(finding)) }
                                    @if let Some(server) = seen(finding, texts) { br; small { "seen on " (server) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The real server on which a violation was seen.
fn seen<'a>(finding: &Finding, texts: &'a Texts) -> Option<&'a str> {
    texts.get(&finding.scenario)?.seen.get(finding.property.name()).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::documents::Promise;
    use crate::export::tests::findings;

    fn choice(finding: &Finding) -> Choice {
        let service =
            |key: &str| ChoiceService { key: key.to_owned(), name: format!("The {key}"), version: "7 & 8".to_owned() };
        let promise = Promise { scenario: finding.scenario.clone(), property: finding.property };
        let answers = BTreeMap::from([
            ("one".to_owned(), ChoiceAnswer::Shown(vec![promise])),
            ("other".to_owned(), ChoiceAnswer::None("It has <no> queue.".to_owned())),
        ]);
        let question = ChoiceQuestion { title: "Is it safe?".to_owned(), about: "Always.".to_owned(), answers };
        Choice {
            about: "Read.".to_owned(),
            services: vec![service("one"), service("other")],
            questions: vec![question],
        }
    }

    #[test]
    fn each_service_has_its_marks_and_each_absence_its_reason() {
        let findings = findings();
        let finding = &findings[0];
        let seen = BTreeMap::from([(finding.property.name().to_owned(), "Server 7".to_owned())]);
        let text = crate::html::ScenarioText { seen, ..Default::default() };
        let texts = Texts::from([(finding.scenario.clone(), text)]);
        let html = section(&choice(finding), &findings, &texts).expect("it is answered").into_string();
        for words in [
            "<abbr title=\"7 &amp; 8\">The one</abbr>",
            "It has &lt;no&gt; queue.",
            "seen on Server 7",
            &format!("href=\"#{}--{}\"", finding.scenario, finding.property.name()),
        ] {
            assert!(html.contains(words), "{words}: {html}");
        }
        assert!(html.contains("<td class=\"verdict\">–</td>"), "{html}");
        assert!(section(&choice(finding), &[], &Texts::new()).is_none(), "nothing is said without a verdict");
    }
}
