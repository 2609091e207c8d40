//! What the signs in a story mean, in sentences: once, beside the story.

use fencepost_model::finding::{Held, Story};

/// A client with this bar or in this column: by the service's record, and by its own belief.
pub(crate) fn holds(held: Held) -> [&'static str; 2] {
    match held {
        Held::Lock => ["has the lock by the service's record", "believes that it has the lock"],
        Held::Slot => ["holds a slot by the service's record", "believes that it holds a slot"],
    }
}

/// The actions that every execution of the scenario begins with, if it has some.
pub(crate) fn beginning(story: &Story) -> Option<String> {
    (!story.begins_after.is_empty()).then(|| story.begins_after.join("; "))
}

/// The numbers in brackets, if the messages of the story have some.
pub(crate) fn numbers(story: &Story) -> Option<&'static str> {
    let is_numbered = |text: &str| {
        let number = text.strip_suffix(']').and_then(|text| text.rsplit_once('[')).map(|(_, number)| number);
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let sentence = "a number in brackets at the end of a message is the number of the request; its answer has the same";
    story.arrows.iter().any(|arrow| is_numbered(&arrow.text)).then_some(sentence)
}

/// The request that is answered at a step, or whose answer is lost there; none if the step before was its arrival.
pub(crate) fn request(story: &Story, place: usize) -> Option<&str> {
    let arrow = story.arrows.iter().find(|arrow| arrow.ended == Some(place))?;
    let request = arrow.answers.as_deref()?;
    let before = place.checked_sub(1).and_then(|before| story.steps.get(before));
    (!before.is_some_and(|before| before.label.ends_with(request))).then_some(request)
}

#[cfg(test)]
mod tests {
    use fencepost_model::finding::{Arrow, StoryStep};

    use super::*;

    fn story(before: &str, text: &str) -> Story {
        let step = |label: &str| StoryStep { label: label.to_owned(), ..StoryStep::default() };
        let arrow = Arrow {
            text: text.to_owned(),
            answers: Some("renew session 1.1 [3]".to_owned()),
            ended: Some(1),
            ..Arrow::default()
        };
        Story { steps: vec![step(before), step("an answer")], arrows: vec![arrow], ..Story::default() }
    }

    #[test]
    fn the_request_is_named_unless_it_arrived_in_the_step_before() {
        assert_eq!(request(&story("client 2 crashes", "renewed [3]"), 1), Some("renew session 1.1 [3]"));
        assert_eq!(request(&story("the server receives from client 1: renew session 1.1 [3]", ""), 1), None);
        assert_eq!(request(&story("client 2 crashes", "renewed [3]"), 0), None, "nothing arrives there");
    }

    #[test]
    fn numbers_are_explained_where_a_message_has_one() {
        assert!(numbers(&story("", "publish to A[1], mandatory [12]")).is_some());
        assert!(numbers(&story("", "publish to A[1], mandatory")).is_none());
        assert!(numbers(&story("", "B[x]")).is_none());
    }
}
