//! What a stand-in that answers for long must not run out of.

use serde_json::json;

use crate::bench::Bench;

#[test]
fn ids_in_capital_letters_do_not_use_anything_up() {
    let mut bench = Bench::new();
    let kept = bench.session("a", "", "0s").to_uppercase();
    assert!(bench.acquire("a", "kept", &kept));
    for _ in 0..400 {
        let session = bench.session("a", "", "0s");
        let capitals = session.to_uppercase();
        assert!(bench.acquire("a", "lead", &capitals));
        // C-SES-20: the holder is compared as it is written.
        assert!(!bench.acquire("a", "lead", &session) || session == capitals);
        bench.put("a", &format!("/v1/session/destroy/{capitals}"), "");
    }
    assert_eq!(bench.get("/v1/kv/kept")[0]["Session"], kept.as_str());
}

#[test]
fn checks_that_come_and_go_do_not_use_anything_up() {
    let mut bench = Bench::new();
    for number in 0..100 {
        let check = json!({"CheckID": format!("c{number}"), "Name": "c", "Status": "passing"});
        let node = json!({"Node": "n", "Address": "::1", "Check": check});
        bench.put("a", "/v1/catalog/register", &node.to_string());
        bench.put("a", "/v1/catalog/deregister", &json!({"Node": "n", "CheckID": format!("c{number}")}).to_string());
    }
}
