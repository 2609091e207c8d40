//! The messages in the body of a watch (E-W-1, E-GEN-6). A server reads them up to the first one that is wrong; if none is before that, the answer is an
//! error.

use fencepost_etcd::mvcc::WatchRange;
use serde_json::{Deserializer, Value};

use super::decode::NoCall;
use super::fields::Fields;

/// A message of a client on the stream of its watches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum WatchMessage {
    /// A watch of keys begins.
    Create {
        /// The keys, and from when on.
        range: WatchRange,
        /// Whether it is told of progress from time to time (E-W-6).
        notifies: bool,
    },
    /// The watch with an id ends.
    Cancel(i64),
    /// The client asks for progress.
    Progress,
    /// It asks for nothing.
    Nothing,
}

/// The messages of a body.
pub(super) fn watch_messages(body: &[u8]) -> Result<Vec<WatchMessage>, NoCall> {
    let mut messages = Vec::new();
    for value in Deserializer::from_slice(body).into_iter::<Value>() {
        let read = value.map_err(|error| NoCall::Bad(error.to_string())).and_then(|value| message(&value));
        match read {
            Ok(message) => messages.push(message),
            Err(NoCall::Bad(why)) if messages.is_empty() => return Err(NoCall::BadStream(why)),
            Err(NoCall::Bad(_)) => break,
            Err(other) => return Err(other),
        }
    }
    Ok(messages)
}

fn message(value: &Value) -> Result<WatchMessage, NoCall> {
    let fields = Fields::of(value)?;
    let asked = ["create_request", "cancel_request", "progress_request"].map(|name| fields.get(name));
    match asked {
        [None, None, None] => Ok(WatchMessage::Nothing),
        [Some(create), None, None] => created(&Fields::of(create)?),
        [None, Some(cancel), None] => Ok(WatchMessage::Cancel(Fields::of(cancel)?.number("watch_id")?)),
        [None, None, Some(progress)] => Fields::of(progress).map(|_| WatchMessage::Progress),
        _ => Err(NoCall::Beyond("of several requests in one message a real server takes any".to_owned())),
    }
}

fn created(fields: &Fields<'_>) -> Result<WatchMessage, NoCall> {
    let mut range = WatchRange {
        key: fields.text("key")?,
        end: fields.text("range_end")?,
        start: fields.number("start_revision")?,
        previous: fields.is("prev_kv")?,
        id: fields.number("watch_id")?,
        ..WatchRange::default()
    };
    for filter in fields.list("filters")? {
        match (filter.as_str(), filter.as_u64()) {
            (Some("NOPUT"), _) | (_, Some(0)) => range.no_put = true,
            (Some("NODELETE"), _) | (_, Some(1)) => range.no_delete = true,
            // A number that no filter has filters nothing.
            (None, Some(_)) => {}
            _ => return Err(NoCall::Bad(format!("unknown value {filter} for enum WatchCreateRequest_FilterType"))),
        }
    }
    // No message here is so large that it would come in parts.
    fields.is("fragment")?;
    Ok(WatchMessage::Create { range, notifies: fields.is("progress_notify")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(range: WatchRange) -> WatchMessage {
        WatchMessage::Create { range, notifies: false }
    }

    #[test]
    fn e_w_1_the_messages_of_a_body_are_read_up_to_the_first_one_that_is_wrong() {
        let one = || create(WatchRange { key: "a".into(), ..WatchRange::default() });
        for (rest, more) in [
            ("", vec![]),
            (" and more", vec![]),
            (r#"{"create_request":{"key":"a"}}{"progress_request":{}}"#, vec![]),
            (r#"{"progressRequest":{}}{}{"cancel_request":{"watch_id":"7"}}"#, {
                vec![WatchMessage::Progress, WatchMessage::Nothing, WatchMessage::Cancel(7)]
            }),
        ] {
            let read = watch_messages(format!(r#"{{"create_request":{{"key":"YQ=="}}}}{rest}"#).as_bytes());
            assert_eq!(read, Ok([vec![one()], more].concat()), "{rest}");
        }
        assert_eq!(watch_messages(b""), Ok(Vec::new()));
    }

    #[test]
    fn what_a_watch_asks_for_is_read_in_both_forms() {
        let asked = r#"{"createRequest":{"key":"YQ==","rangeEnd":"Yg==","startRevision":"3","prevKv":true,"filters":["NOPUT",1,7],"watchId":5}}"#;
        let range = WatchRange {
            key: "a".into(),
            end: "b".into(),
            start: 3,
            previous: true,
            no_put: true,
            no_delete: true,
            id: 5,
            ..WatchRange::default()
        };
        assert_eq!(watch_messages(asked.as_bytes()), Ok(vec![create(range)]));
    }

    #[test]
    fn a_first_message_that_is_wrong_is_an_error_and_two_in_one_are_refused() {
        for body in ["{", "[]", "7", r#"{"create_request":{"key":"a"}}"#, r#"{"create_request":{"filters":["X"]}}"#] {
            assert!(matches!(watch_messages(body.as_bytes()), Err(NoCall::BadStream(_))), "{body}");
        }
        let two = br#"{"create_request":{},"cancel_request":{}}"#;
        assert!(matches!(watch_messages(two), Err(NoCall::Beyond(_))));
    }
}
