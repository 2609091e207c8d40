//! A request to the agent, and what comes of it.

use super::http::{HttpRequest, Reply};

/// Asks the agent, and waits for what comes of it.
pub fn send(base: &str, question: &HttpRequest) -> Reply {
    let http = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_global(Some(question.timeout))
        .build()
        .new_agent();
    let request = ureq::http::Request::builder()
        .method(question.method)
        .uri(format!("{base}{}", question.path))
        .body(question.body.clone());
    let request = match request {
        Ok(request) => request,
        Err(error) => return Reply::Refused(format!("{base}{}: {error}", question.path)),
    };
    let mut response = match http.run(request) {
        Ok(response) => response,
        Err(error) => return unanswered(base, &error),
    };
    let index = response.headers().get("X-Consul-Index").and_then(|value| value.to_str().ok()?.parse().ok());
    let status = response.status().as_u16();
    match response.body_mut().with_config().limit(64 << 20).read_to_vec() {
        Ok(body) => Reply::Answered { status, index, body },
        Err(error) => unanswered(base, &error),
    }
}

/// What the client knows of a request without an answer.
fn unanswered(base: &str, error: &ureq::Error) -> Reply {
    use std::io::ErrorKind;
    let why = format!("{base}: {error}");
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::BadUri(_) => Reply::Refused(why),
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => Reply::Refused(why),
        ureq::Error::Timeout(_) => Reply::Lost,
        ureq::Error::Io(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => Reply::Lost,
        _ => Reply::Closed(why),
    }
}
