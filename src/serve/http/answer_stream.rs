//! The body of an answer that goes on: a chunk for each message, until it is complete, the client goes away, or the connection is
//! closed on purpose.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::mpsc::UnboundedReceiver;

use super::connection::Ended;
use super::driver::Forget;
use crate::stand_in::{Backend, RequestOutcome};

/// What comes behind the first message, which is the first chunk.
pub(super) struct AnswerStream<B: Backend> {
    first: Option<Bytes>,
    more: UnboundedReceiver<RequestOutcome>,
    /// The request is forgotten when the connection goes, and this with it.
    _gone: Forget<B>,
}

impl<B: Backend> AnswerStream<B> {
    pub(super) fn new(more: UnboundedReceiver<RequestOutcome>, gone: Forget<B>) -> Self {
        AnswerStream { first: None, more, _gone: gone }
    }

    /// With the first chunk.
    pub(super) fn from(self, first: Vec<u8>) -> Self {
        AnswerStream { first: Some(first.into()), ..self }
    }
}

impl<B: Backend> Unpin for AnswerStream<B> {}

impl<B: Backend> Body for AnswerStream<B> {
    type Data = Bytes;
    type Error = Ended;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Ended>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        self.more.poll_recv(context).map(|next| match next {
            Some(RequestOutcome::Message(message) | RequestOutcome::Answer(message)) => {
                Some(Ok(Frame::data(message.body.into())))
            }
            Some(RequestOutcome::End) => None,
            Some(RequestOutcome::Reset) => Some(Err(Ended::Reset)),
            Some(RequestOutcome::Close) | None => Some(Err(Ended::Closed)),
        })
    }
}
