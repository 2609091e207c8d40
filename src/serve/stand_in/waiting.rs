//! What is not answered yet.

use std::collections::VecDeque;

use fencepost_conform::{HttpRequest, Watch};

use super::{Answer, Ticket};

/// A request on its way through the stand-in.
#[derive(Clone, Debug)]
pub struct Journey {
    pub(crate) ticket: Ticket,
    pub(crate) client: String,
    pub(crate) question: HttpRequest,
    pub(crate) content_type: Option<String>,
    pub(crate) sent: i64,
    pub(crate) fate: Fate,
}

/// What becomes of its answer.
#[derive(Clone, Debug)]
pub(crate) enum Fate {
    /// The client gets it.
    Answered,
    /// No client does.
    Lost,
    /// The client gets it so much later.
    Delayed(i64),
    /// The client gets another one.
    Instead(Answer),
}

/// Why a request is not answered yet.
#[derive(Clone, Debug)]
pub(crate) enum Waiting {
    /// It is a blocking query.
    Parked {
        journey: Journey,
        /// What wakes it; where the model has no word for that, any other answer than the last.
        watch: Option<Watch>,
        index: u64,
        /// When it is answered in any case. C-BLK-2.
        until: i64,
        /// What it would be answered then. C-BLK-1: what was computed last.
        last: Answer,
    },
    /// The server holds it until something else happens there.
    Held { journey: Journey },
    /// It is answered message by message, for as long as its connection is open.
    Streams {
        journey: Journey,
        /// How long each message is under way.
        delay: i64,
        /// The messages that are, and when they arrive; none: the end.
        messages: VecDeque<(i64, Option<Answer>)>,
    },
    /// It has not reached the server.
    OnItsWay { until: i64, journey: Journey },
    /// Its answer has not reached the client.
    OnItsWayBack { until: i64, journey: Journey, answer: Answer },
    /// A client has said that it sleeps.
    Asleep { until: i64, journey: Journey },
    /// Nothing will ever come.
    Silent { client: String },
}

impl Waiting {
    /// When it ends by itself.
    pub(crate) fn until(&self) -> Option<i64> {
        match self {
            Waiting::Parked { until, .. }
            | Waiting::OnItsWay { until, .. }
            | Waiting::OnItsWayBack { until, .. }
            | Waiting::Asleep { until, .. } => Some(*until),
            Waiting::Streams { messages, .. } => messages.front().map(|(until, _)| *until),
            Waiting::Held { .. } | Waiting::Silent { .. } => None,
        }
    }

    /// The waiting client.
    pub(crate) fn client(&self) -> &str {
        match self {
            Waiting::Parked { journey, .. }
            | Waiting::Held { journey }
            | Waiting::Streams { journey, .. }
            | Waiting::OnItsWay { journey, .. }
            | Waiting::OnItsWayBack { journey, .. }
            | Waiting::Asleep { journey, .. } => &journey.client,
            Waiting::Silent { client } => client,
        }
    }
}
