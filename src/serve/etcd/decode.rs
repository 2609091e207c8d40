//! A body as a call of the model (E-GEN-4).

use fencepost_etcd::mvcc::{DeleteRange, EtcdCall, EtcdRefusal, LeaderKey, Put, RangeRead, SortBy, Sorted};
use serde_json::Value;

use super::fields::Fields;
use super::transactions::transaction;
use super::watch_body::{WatchMessage, watch_messages};

/// What a request asks for.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Decoded {
    /// A call. An id of 0 is one that the server chooses.
    Call(EtcdCall),
    /// A stream of watches, with all that is asked of it.
    Watches(Vec<WatchMessage>),
    /// The leaders of an election, for as long as its caller listens.
    Observer(String),
    /// The version of the server.
    Version,
    /// Whether it is well.
    Health,
}

/// Why a request is no call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoCall {
    /// There is no such path.
    NotFound,
    /// etcd has it, and the stand-in does not.
    Beyond(String),
    /// The body is wrong.
    Bad(String),
    /// The body of a stream is.
    BadStream(String),
    /// It is refused by its form.
    Refused(EtcdRefusal),
    /// There is no leader key in it (E-GEN).
    NoLeaderKey,
}

/// What a request asks for.
///
/// # Errors
/// It is no call.
pub(super) fn decode(url: &str, body: &[u8]) -> Result<Decoded, NoCall> {
    let path = url.split('?').next().unwrap_or_default();
    match path {
        "/version" => return Ok(Decoded::Version),
        "/health" => return Ok(Decoded::Health),
        _ => {}
    }
    let rest = path.strip_prefix("/v3/").or_else(|| path.strip_prefix("/v3beta/")).ok_or(NoCall::NotFound)?;
    if rest == "watch" {
        return watch_messages(body).map(Decoded::Watches);
    }
    let fields = Fields::read(body).map_err(|why| of_stream(rest, why))?;
    let call = match rest {
        "kv/range" => EtcdCall::Range(range(&fields)?),
        "kv/put" => EtcdCall::Put(put(&fields)?),
        "kv/deleterange" => EtcdCall::Delete(delete(&fields)?),
        "kv/txn" => EtcdCall::Txn(transaction(&fields)?),
        "kv/compaction" => EtcdCall::Compact(fields.number("revision")?),
        "lease/grant" => EtcdCall::Grant { id: fields.number("ID")?, ttl: fields.number("TTL")? },
        "lease/keepalive" if has_several(body) => {
            return Err(NoCall::Beyond(format!("{path}: several messages in one body are no part of the stand-in")));
        }
        "lease/keepalive" => EtcdCall::Renew(fields.number("ID").map_err(|why| of_stream(rest, why))?),
        "lease/revoke" | "kv/lease/revoke" => EtcdCall::Revoke(fields.number("ID")?),
        "lease/timetolive" | "kv/lease/timetolive" => {
            EtcdCall::TimeToLive { id: fields.number("ID")?, keys: fields.is("keys")? }
        }
        "lease/leases" | "kv/lease/leases" => EtcdCall::Leases,
        "lock/lock" => EtcdCall::Lock { name: fields.text("name")?, lease: fields.number("lease")? },
        "lock/unlock" => EtcdCall::Unlock { key: fields.text("key")? },
        "election/campaign" => {
            let (name, lease) = (fields.text("name")?, fields.number("lease")?);
            EtcdCall::Campaign { name, lease, value: fields.text("value")? }
        }
        "election/proclaim" => EtcdCall::Proclaim { leader: leader(&fields)?, value: fields.text("value")? },
        "election/resign" => EtcdCall::Resign(leader(&fields)?),
        "election/leader" => EtcdCall::Leader { name: fields.text("name")? },
        // E-GEN-6: a single message, though its answer is a stream.
        "election/observe" => return Ok(Decoded::Observer(fields.text("name")?)),
        other if ["maintenance/", "cluster/", "auth/"].iter().any(|part| other.starts_with(part)) => {
            return Err(NoCall::Beyond(format!("{path} is no part of the stand-in")));
        }
        _ => return Err(NoCall::NotFound),
    };
    Ok(Decoded::Call(call))
}

/// E-GEN-6: what is wrong with a stream is said in another way.
fn of_stream(path: &str, why: NoCall) -> NoCall {
    match why {
        NoCall::Bad(why) if path == "lease/keepalive" => NoCall::BadStream(why),
        other => other,
    }
}

/// Whether a body is a stream of several messages (E-GEN-6).
fn has_several(body: &[u8]) -> bool {
    serde_json::Deserializer::from_slice(body).into_iter::<Value>().take_while(Result::is_ok).nth(1).is_some()
}

pub(super) fn range(fields: &Fields<'_>) -> Result<RangeRead, NoCall> {
    Ok(RangeRead {
        key: fields.text("key")?,
        end: fields.text("range_end")?,
        limit: fields.number("limit")?,
        revision: fields.number("revision")?,
        sorted: fields.one_of(
            "sort_order",
            &[("NONE", Sorted::Unsaid), ("ASCEND", Sorted::Ascending), ("DESCEND", Sorted::Descending)],
        )?,
        by: fields.one_of(
            "sort_target",
            &[
                ("KEY", SortBy::Key),
                ("VERSION", SortBy::Version),
                ("CREATE", SortBy::Created),
                ("MOD", SortBy::Modified),
                ("VALUE", SortBy::Value),
            ],
        )?,
        keys_only: fields.is("keys_only")?,
        count_only: fields.is("count_only")?,
        min_modified: fields.number("min_mod_revision")?,
        max_modified: fields.number("max_mod_revision")?,
        min_created: fields.number("min_create_revision")?,
        max_created: fields.number("max_create_revision")?,
    })
}

pub(super) fn put(fields: &Fields<'_>) -> Result<Put, NoCall> {
    Ok(Put {
        key: fields.text("key")?,
        value: fields.text("value")?,
        lease: fields.number("lease")?,
        previous: fields.is("prev_kv")?,
        ignore_value: fields.is("ignore_value")?,
        ignore_lease: fields.is("ignore_lease")?,
    })
}

pub(super) fn delete(fields: &Fields<'_>) -> Result<DeleteRange, NoCall> {
    Ok(DeleteRange { key: fields.text("key")?, end: fields.text("range_end")?, previous: fields.is("prev_kv")? })
}

fn leader(fields: &Fields<'_>) -> Result<LeaderKey, NoCall> {
    let leader = Fields::of(fields.get("leader").ok_or(NoCall::NoLeaderKey)?)?;
    let (name, key) = (leader.text("name")?, leader.text("key")?);
    Ok(LeaderKey { name, key, created: leader.number("rev")?, lease: leader.number("lease")? })
}

#[cfg(test)]
mod tests {
    use fencepost_etcd::mvcc::Compared;

    use super::*;

    fn call(path: &str, body: &str) -> Result<EtcdCall, NoCall> {
        match decode(path, body.as_bytes())? {
            Decoded::Call(call) => Ok(call),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn e_gen_4_numbers_names_and_what_is_not_given() {
        let grant = EtcdCall::Grant { id: 7, ttl: 50 };
        assert_eq!(call("/v3/lease/grant", r#"{"TTL":"50","ID":7}"#), Ok(grant.clone()));
        assert_eq!(call("/v3beta/lease/grant", r#"{"TTL":50,"ID":"7"} and more"#), Ok(grant));
        assert_eq!(call("/v3/lease/grant", r#"{"ttl":50,"id":7}"#), Ok(EtcdCall::Grant { id: 0, ttl: 0 }));
        assert_eq!(call("/v3/lease/leases", ""), Ok(EtcdCall::Leases));
        let snake = call("/v3/kv/range", r#"{"key":"YQ==","range_end":"Yg==","sort_target":"CREATE"}"#);
        let camel = call("/v3/kv/range", r#"{"key":"YQ==","rangeEnd":"Yg==","sortTarget":2}"#);
        let read = RangeRead { key: "a".into(), end: "b".into(), by: SortBy::Created, ..RangeRead::default() };
        assert_eq!((snake, camel), (Ok(EtcdCall::Range(read.clone())), Ok(EtcdCall::Range(read))));
    }

    #[test]
    fn e_gen_6_observe_takes_one_message_and_what_is_wrong_with_it_is_an_error_of_a_call() {
        let observed = |body: &str| decode("/v3/election/observe", body.as_bytes());
        for (body, name) in [(r#"{"name":"bg=="}{"name":7}"#, "n"), ("{}", ""), ("", ""), ("null", "")] {
            assert_eq!(observed(body), Ok(Decoded::Observer(name.to_owned())), "{body}");
        }
        for body in ["{", "[]", "7", r#"{"name":7}"#, r#"{"name":"n"}"#] {
            assert!(matches!(observed(body), Err(NoCall::Bad(_))), "{body}");
        }
    }

    #[test]
    fn e_txn_3_the_operand_of_another_target_is_none() {
        let body =
            r#"{"compare":[{"key":"YQ==","target":"MOD","version":3}],"success":[{"requestPut":{"key":"YQ=="}}]}"#;
        let Ok(EtcdCall::Txn(txn)) = call("/v3/kv/txn", body) else { panic!("a transaction") };
        assert_eq!(txn.compare[0].compared, Compared::Modified(0));
        assert!(matches!(&txn.success[..], [EtcdCall::Put(put)] if put.key == "a"));
    }

    #[test]
    fn what_is_no_call_says_why() {
        assert_eq!(call("/v3/kv/nothing", "{}"), Err(NoCall::NotFound));
        assert_eq!(call("/v3/election/resign", "{}"), Err(NoCall::NoLeaderKey));
        assert_eq!(call("/v3/kv/txn", r#"{"success":[{}]}"#), Err(NoCall::Refused(EtcdRefusal::KeyNotFound)));
        for (path, body) in
            [("/v3/kv/put", "{"), ("/v3/kv/put", r#"{"key":"a"}"#), ("/v3/lease/grant", r#"{"TTL":"x"}"#)]
        {
            assert!(matches!(call(path, body), Err(NoCall::Bad(_))), "{path} {body}");
        }
        assert!(matches!(call("/v3/lease/keepalive", r#"{"ID":"x"}"#), Err(NoCall::BadStream(_))));
        for (path, body) in [("/v3/maintenance/status", "{}"), ("/v3/kv/range", r#"{"sort_target":9}"#)] {
            assert!(matches!(call(path, body), Err(NoCall::Beyond(_))), "{path} {body}");
        }
    }
}
