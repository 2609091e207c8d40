//! Connections: requests in, answers out, and connections that go wrong on purpose.

use std::fmt;
use std::time::Duration;

use fencepost_conform::HttpRequest;
use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::{Bytes, Incoming as Body};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::answer_stream::AnswerStream;
use super::driver::{Driver, Heard};
use crate::stand_in::{Answer, Backend, Incoming, NAMELESS, RequestOutcome};

/// How long a client may take for the head of a request, and how long for its body.
const PATIENCE: Duration = Duration::from_secs(30);

/// Serves every connection to a socket. A client that connects is `name`, or gives its name with each request.
pub(super) async fn accept<B: Backend + 'static>(listener: TcpListener, name: Option<String>, driver: Driver<B>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::task::spawn_local(serve(stream, name.clone(), driver.clone()));
            }
            // Too many open files, mostly: some will be closed.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Serves one connection to its end, whatever that is.
async fn serve<B: Backend + 'static>(stream: TcpStream, name: Option<String>, driver: Driver<B>) {
    // Small answers are not kept back.
    let _ = stream.set_nodelay(true);
    let name = name.as_deref();
    let service = service_fn(|request| Box::pin(answer(request, name, &driver)));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .serve_connection(TokioIo::new(stream), service);
    let ended = std::future::poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let is_reset = ended.is_err_and(|error| {
        let source = std::error::Error::source(&error);
        source.and_then(|source| source.downcast_ref::<Ended>()).is_some_and(|ended| *ended == Ended::Reset)
    });
    let stream = connection.into_parts().io.into_inner();
    if is_reset {
        // Closing it now sends a reset in place of the end.
        let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    }
}

/// How a connection ends without an answer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    Closed,
    Reset,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Ended::Reset { "reset on purpose" } else { "closed on purpose" })
    }
}

impl std::error::Error for Ended {}

async fn answer<B: Backend>(
    request: Request<Body>,
    name: Option<&str>,
    driver: &Driver<B>,
) -> Result<Response<AnswerBody<B>>, Ended> {
    let (head, body) = request.into_parts();
    let body = match timeout(PATIENCE, Limited::new(body, B::BODY_MAX).collect()).await {
        Ok(Ok(body)) => body.to_bytes().to_vec(),
        Ok(Err(_)) => return Ok(whole(B::error(413, "the body is too large, or was cut off"))),
        Err(_) => return Ok(whole(B::error(408, "the body took too long"))),
    };
    let said = head.headers.get("X-Fencepost-Client").and_then(|name| name.to_str().ok());
    let client = said.or(name).filter(|name| !name.is_empty()).unwrap_or(NAMELESS).to_owned();
    let url = head.uri.path_and_query().map_or("/", |url| url.as_str()).to_owned();
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).map(str::to_owned);
    let has_token = head.headers.contains_key("X-Consul-Token") || head.headers.contains_key(AUTHORIZATION);
    let question = HttpRequest { method: head.method.as_str().to_owned(), url, body };
    match driver.ask(Incoming { client, question, content_type, has_token }).await {
        Heard::GoesOn(first, more) => {
            let (head, first) = parts(first);
            Ok(head.map(|()| Either::Right(more.from(first))))
        }
        Heard::Over(RequestOutcome::Answer(answer) | RequestOutcome::Message(answer)) => Ok(whole(answer)),
        Heard::Over(RequestOutcome::End) => Ok(whole(Answer::complete())),
        Heard::Over(RequestOutcome::Close) => Err(Ended::Closed),
        Heard::Over(RequestOutcome::Reset) => Err(Ended::Reset),
    }
}

/// A body that is known, or one that goes on.
type AnswerBody<B> = Either<Full<Bytes>, AnswerStream<B>>;

fn whole<B: Backend>(answer: Answer) -> Response<AnswerBody<B>> {
    let (head, body) = parts(answer);
    head.map(|()| Either::Left(Full::new(Bytes::from(body))))
}

/// Status and headers, and the body beside them.
fn parts(answer: Answer) -> (Response<()>, Vec<u8>) {
    let mut response = Response::new(());
    *response.status_mut() = hyper::StatusCode::from_u16(answer.status).unwrap_or_default();
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value)) {
            response.headers_mut().insert(name, value);
        }
    }
    (response, answer.body)
}
