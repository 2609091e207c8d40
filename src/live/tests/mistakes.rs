//! What goes wrong is told as it is.

use std::net::TcpListener;

use fencepost_consul::{Consul, HttpApi, LOCK, Opaque};
use fencepost_live::{Agent, LiveError, hold};
use fencepost_model::ids::Token;
use fencepost_model::normal::Normal;
use fencepost_model::program::{Gone, Handle, Lap, Recipe};
use serde::{Deserialize, Serialize};

use crate::agents::{benches, go_lock};

#[test]
fn an_agent_that_is_not_there_makes_the_recipe_give_up() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its address");
    let error = hold(&Agent::new(&port.to_string(), "nowhere"), go_lock(), |_| ()).expect_err("no agent listens");
    assert!(matches!(&error, LiveError::GaveUp(why) if why.contains(&port.to_string())), "{error}");
}

/// Writes to the protected resource as soon as it is inside.
#[derive(Clone, PartialEq, Debug, Normal, Serialize, Deserialize)]
struct Writer {
    panics: bool,
}

impl Recipe<Consul> for Writer {
    const NAME: &'static str = "writer-at-once";

    async fn lap(&mut self, consul: &Handle<Consul>) -> Result<Lap, Gone> {
        consul.put(LOCK, Opaque::Number(Token::numbered(7))).await?;
        let read = consul.get(LOCK).await?.ok_or(Gone)?;
        assert!(!self.panics, "the value is {:?}", read.value);
        consul.enter(read.modify_token());
        consul.send_write(read.modify_token());
        Ok(Lap::Done)
    }
}

#[test]
fn a_write_without_a_resource_is_an_error() {
    for bench in benches() {
        let error = hold(&bench.agent, Writer { panics: false }, |_| ()).expect_err("there is no resource");
        assert!(matches!(error, LiveError::NoResource), "{error}");
    }
}

#[test]
fn a_panic_of_the_recipe_is_told_with_its_place() {
    for bench in benches() {
        let error = hold(&bench.agent, Writer { panics: true }, |_| ()).expect_err("it panics");
        let text = error.to_string();
        assert!(text.contains("the value is Number(Token(7))") && text.contains("mistakes.rs"), "{text}");
    }
}

#[test]
fn a_refusal_that_the_model_does_not_know_is_shown() {
    let bench = benches().remove(0);
    // A name without a key.
    let error = hold(&Agent::new(&bench.base, ""), Writer { panics: false }, |_| ()).expect_err("there is no key");
    let LiveError::Answer { status, body, .. } = &error else { panic!("{error}") };
    assert_eq!((*status, body.as_str()), (400, "Missing key name"));
}
