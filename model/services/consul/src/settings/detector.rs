//! `--vary detector=none,gossip,ttl,both`: the mechanism that ends the session of a silent client.

use toml::{Table, Value};

use fencepost_model::scenario::{AliasMeaning, AxisAlias, put};

/// Names of axes for these settings.
pub const ALIASES: &[AxisAlias] = &[
    AxisAlias { name: "renewal", meaning: AliasMeaning::Setting("renew_every") },
    AxisAlias {
        name: "detector",
        meaning: AliasMeaning::Choice { words: &["none", "gossip", "ttl", "both"], apply: detect },
    },
];

/// Removes the settings that a detector does not have, and settings that depend on them: without a TTL there is no
/// lease.
fn detect(table: &mut Table, word: &str, settings: &mut Vec<String>) {
    let key = |keys: [&str; 2]| keys.map(str::to_owned);
    let checks = ["service", "health", "checks"].map(str::to_owned);
    if matches!(word, "none" | "gossip") {
        let needs_ttl = ["ttl =", "no ttl", "renew_every", "self-limiting", "suspending"];
        for name in settings.iter_mut().filter(|name| name.starts_with("belief")) {
            *name = name.replace("self-limiting", "until-told").replace("suspending", "until-told");
        }
        settings.retain(|name| !needs_ttl.iter().any(|word| name.contains(word)));
        for keys in [["service", "ttl"], ["service", "renew_every"]] {
            put(table, &key(keys), None);
        }
        let belief = table.get("service").and_then(|service| service.get("belief")).and_then(Value::as_str);
        if matches!(belief, Some("self-limiting" | "suspending")) {
            put(table, &key(["service", "belief"]), Some(Value::String("until-told".to_owned())));
        }
    }
    let has_gossip = matches!(word, "gossip" | "both");
    let gossip = has_gossip.then(|| Value::Array(vec![Value::String("serf-health".to_owned())]));
    put(table, &checks, gossip);
}
