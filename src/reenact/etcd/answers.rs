//! An answer of the gateway, compared with the one of the model.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fencepost_etcd::{Key, Request, Response, Shown};
use fencepost_live::Reply;
use fencepost_model::ids::{Index, RawId};
use serde_json::Value;

use super::revisions::Revisions;
use super::stage::Stage;
use super::watch::Watched;

/// What came of a request.
#[derive(Clone, Debug)]
pub(super) enum Heard {
    /// An answer, or none.
    Reply(Reply),
    /// What a watch has shown.
    Watched(Watched),
}

/// A key with its create revision, as the server has it.
type Created = (Key, i64);

/// Whether an answer is the one of the model.
pub(super) fn is_same(
    request: &Request,
    heard: &Heard,
    model: Response,
    stage: &Stage<'_>,
    revisions: &mut Revisions,
) -> bool {
    let (status, body) = match heard {
        Heard::Watched(watched) => return is_same_watch(*watched, model),
        Heard::Reply(Reply::Answered { status, body, .. }) => {
            (*status, serde_json::from_slice(body).unwrap_or(Value::Null))
        }
        // The client hears of an error.
        Heard::Reply(Reply::Refused(_) | Reply::Closed(_) | Reply::Lost) => return model == Response::Failed,
    };
    // E-GEN-8, and a member without a leader.
    if status >= 500 {
        return model == Response::Failed;
    }
    match (request, model) {
        // E-LS-1: an id that exists is as good.
        (Request::Grant(..), Response::Granted) => matches!(status, 200 | 412),
        // E-LS-6: a lease that is gone has no TTL.
        (Request::Renew(_), Response::Renewed) => number(&body["result"]["TTL"]).is_some_and(|ttl| ttl > 0),
        (Request::Renew(_), Response::NoLease) => {
            body["result"].is_object() && number(&body["result"]["TTL"]).unwrap_or(0) <= 0
        }
        (Request::Revoke(_) | Request::Txn(..), Response::NoLease) => status == 404,
        (Request::Revoke(_) | Request::Delete(_), Response::Done) => status == 200,
        (Request::Txn(compare, _), Response::Txn { created, oldest }) if status == 200 => {
            let Some(answers) = body["responses"].as_array() else { return false };
            let reads: Vec<&Value> = answers.iter().filter_map(|answer| answer.get("response_range")).collect();
            let [own, first] = reads[..] else { return false };
            let own = read(own, stage).map(|found| found.filter(|(key, _)| *key == compare.key));
            let is_same_own = own.is_ok_and(|own| is_same_revision(created, own.map(|(_, at)| at), revisions));
            is_same_own && read(first, stage).is_ok_and(|first| is_same_key(oldest, first, revisions))
        }
        (Request::Txn(..), Response::Key(shown)) if status == 200 => {
            let mut answers = body["responses"].as_array().into_iter().flatten();
            let Some(own) = answers.find_map(|answer| answer.get("response_range")) else { return false };
            read(own, stage).is_ok_and(|own| is_same_key(shown, own, revisions))
        }
        (Request::Newest(_) | Request::Get(_) | Request::First { .. }, Response::Found(shown, at)) if status == 200 => {
            let Some(revision) = number(&body["header"]["revision"]) else { return false };
            revisions.note_read(at, revision);
            read(&body, stage).is_ok_and(|found| is_same_key(shown, found, revisions))
        }
        (Request::Holder, Response::Holder(holder)) if status == 200 => read(&body, stage).is_ok_and(|found| {
            let client = found.and_then(|(key, _)| match key {
                Key::Of(lease) | Key::Below(lease) => Some(lease.raw().creator),
                Key::Stranger => None,
            });
            client == holder
        }),
        _ => false,
    }
}

fn is_same_watch(watched: Watched, model: Response) -> bool {
    match model {
        Response::Deleted => watched == Watched::Deleted,
        Response::Compacted => watched == Watched::Compacted,
        Response::Disconnected => watched == Watched::Broken,
        _ => false,
    }
}

fn is_same_revision(model: Option<Index>, server: Option<i64>, revisions: &mut Revisions) -> bool {
    match (model, server) {
        (Some(model), Some(server)) => revisions.meet(model, server),
        (None, None) => true,
        _ => false,
    }
}

fn is_same_key(model: Option<Shown>, server: Option<Created>, revisions: &mut Revisions) -> bool {
    match (model, server) {
        (Some(model), Some((key, created))) => model.key == key && revisions.meet(model.created, created),
        (None, None) => true,
        _ => false,
    }
}

/// The first key of a read; an error if it is not of this execution.
fn read(range: &Value, stage: &Stage<'_>) -> Result<Option<Created>, ()> {
    let Some(entry) = range["kvs"].get(0) else { return Ok(None) };
    let key = text(&entry["key"]).ok_or(())?;
    let created = number(&entry["create_revision"]).ok_or(())?;
    Ok(Some((stage.known(&key).ok_or(())?, created)))
}

/// E-GEN-4: 64-bit numbers are strings.
pub(super) fn number(value: &Value) -> Option<i64> {
    value.as_str()?.parse().ok()
}

/// The text that bytes of the gateway stand for.
pub(super) fn text(value: &Value) -> Option<String> {
    String::from_utf8(STANDARD.decode(value.as_str()?).ok()?).ok()
}
