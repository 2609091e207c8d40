//! The store, as it is asked and as it answers.

use super::*;

#[test]
fn c_kv_2_values_have_at_most_half_a_mebibyte() {
    let mut talk = Talk::new();
    assert_eq!(talk.put("/v1/kv/k", "x".repeat(524_288)).class, Class::Put);
    let expected = talk.put("/v1/kv/k", "x".repeat(524_289));
    assert_eq!((expected.status, expected.class), (413, Class::TooLarge));
}

#[test]
fn c_kv_3_keys_are_any_text_percent_decoded_and_case_counts() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/d%2F", "1");
    talk.put("/v1/kv/d", "2");
    talk.put("/v1/kv/D", "3");
    talk.put(&format!("/v1/kv/{}", "long".repeat(1250)), "4");
    let names = plain(&talk.get("/v1/kv/d?keys").body);
    assert_eq!(names, json!(["d", "d/"]));
    assert_eq!(plain(&talk.get("/v1/kv/?keys").body).as_array().unwrap().len(), 4);
}

#[test]
fn c_kv_4_deletions() {
    let mut talk = Talk::new();
    for key in ["a/1", "a/2", "ab", "b"] {
        talk.put(&format!("/v1/kv/{key}"), "x");
    }
    assert_eq!(talk.ask("DELETE", "/v1/kv/nothing", "").class, Class::DeletedAbsent);
    assert_eq!(talk.ask("DELETE", "/v1/kv/a?recurse&cas=1", "").status, 400);
    assert_eq!(talk.ask("DELETE", "/v1/kv/a?recurse", "").class, Class::TreeDeleted);
    assert_eq!(plain(&talk.get("/v1/kv/?keys").body), json!(["b"]), "a prefix is a string");
    talk.ask("DELETE", "/v1/kv/?recurse", "");
    assert_eq!(plain(&talk.get("/v1/kv/?keys").body), json!([]));
}

#[test]
fn c_kv_5_separators_cut_names_and_raw_is_ignored_with_recurse() {
    let mut talk = Talk::new();
    for key in ["app/a/1", "app/a/2", "app/b", "app2/x"] {
        talk.put(&format!("/v1/kv/{key}"), "v");
    }
    for word in ["separator", "seperator"] {
        assert_eq!(plain(&talk.get(&format!("/v1/kv/app/?keys&{word}=/")).body), json!(["app/a/", "app/b"]));
    }
    assert_eq!(plain(&talk.get("/v1/kv/app?keys&separator=/").body), json!(["app/", "app2/"]));
    assert_eq!(talk.get("/v1/kv/app?recurse&raw").class, Class::Listed);
    assert_eq!(talk.get("/v1/kv/app/b?raw").body, BodyShape::Raw(b"v".to_vec()));
    assert_eq!(talk.get("/v1/kv/none?keys").status, 404);
}

#[test]
fn c_kv_6_an_empty_value_is_null_and_a_free_key_has_no_session() {
    let mut talk = Talk::new();
    talk.put("/v1/kv/k?flags=18446744073709551615", "");
    let entry = talk.entry("k");
    assert_eq!((&entry["Value"], &entry["Flags"]), (&json!(null), &json!(u64::MAX)));
    assert!(entry.get("Session").is_none());
    talk.put("/v1/kv/k", "hello");
    assert_eq!(talk.entry("k")["Value"], "aGVsbG8=");
}

#[test]
fn c_gen_8_reads_are_sorted() {
    let mut talk = Talk::new();
    for key in ["b", "a/z", "a", "B"] {
        talk.put(&format!("/v1/kv/{key}"), "x");
    }
    assert_eq!(plain(&talk.get("/v1/kv/?keys").body), json!(["B", "a", "a/z", "b"]));
    let (first, second) = (talk.session(&json!({})), talk.session(&json!({})));
    let list = plain(&talk.get("/v1/session/list").body);
    assert_eq!((&list[0]["ID"], &list[1]["ID"]), (&json!(first), &json!(second)));
}

#[test]
fn c_ld_14_a_second_delay_is_cut_short_by_the_timer_of_the_first() {
    let mut talk = Talk::new();
    talk.node("ext", &["c1"]);
    let mine = talk.session(&json!({"Node": "ext", "NodeChecks": ["c1"], "LockDelay": "10s"}));
    let (other, third) = (talk.session(&json!({"LockDelay": "30s"})), talk.session(&json!({})));
    talk.acquire("k", &mine);
    talk.txn(&json!([
        {"Check": {"Verb": "set", "Check": {"Node": "ext", "CheckID": "c1", "Status": "critical"}}},
        {"KV": {"Verb": "lock", "Key": "k", "Session": other}},
    ]));
    talk.pass(4);
    talk.destroy(&other);
    talk.pass(5);
    assert_eq!(talk.acquire("k", &third).class, Class::AcquireDelayed);
    talk.pass(1);
    assert_eq!(talk.acquire("k", &third).class, Class::Acquired, "after 6 of 30 seconds");
}

#[test]
fn c_kv_26_numbers_are_digits_and_nothing_else() {
    let mut talk = Talk::new();
    for text in ["%2B1", "+1", "-1", "0x1", "1_0", "%201", "1%20", "", "18446744073709551616"] {
        assert_eq!(talk.put(&format!("/v1/kv/k?flags={text}"), "x").class, Class::BadNumber, "{text}");
        assert_eq!(talk.put(&format!("/v1/kv/k?cas={text}"), "x").class, Class::BadNumber, "{text}");
    }
    assert_eq!(talk.get("/v1/kv/k?index=%2B1").class, Class::BadIndex);
    talk.put("/v1/kv/k?flags=00012", "x");
    assert_eq!(talk.entry("k")["Flags"], json!(12));
}
