//! Drives a stand-in: by the clock, and by clients that wait for answers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use super::answer_stream::AnswerStream;
use super::server::StandInRun;
use crate::clock::Clock;
use crate::stand_in::{Answer, Backend, Incoming, RequestOutcome, StandIn, Ticket};

/// With a clock that is `auto`: how long nothing must have arrived before it jumps. A client that is between two requests is not
/// seen to be so; this gives it time to send the second one.
const QUIET: Duration = Duration::from_millis(3);

/// A stand-in, shared by its connections.
pub(super) struct Driver<B: Backend>(Rc<Shared<B>>);

impl<B: Backend> Clone for Driver<B> {
    fn clone(&self) -> Self {
        Driver(Rc::clone(&self.0))
    }
}

struct Shared<B: Backend> {
    inner: RefCell<Inner<B>>,
    /// Something may be due at another time than before.
    changed: Notify,
    began: Instant,
    clock: Clock,
    news: Arc<Mutex<Vec<&'static str>>>,
}

struct Inner<B: Backend> {
    stand_in: StandIn<B>,
    waiters: BTreeMap<Ticket, Waiter>,
    /// How many requests have arrived, and messages of answers that go on: a client may act on each.
    arrivals: u64,
}

/// Who waits for something on a request.
enum Waiter {
    /// For the answer, or its first message.
    First(oneshot::Sender<Begun>),
    /// For further messages.
    More(mpsc::UnboundedSender<RequestOutcome>),
}

/// The first that is heard on a request.
enum Begun {
    Over(RequestOutcome),
    GoesOn(Answer, mpsc::UnboundedReceiver<RequestOutcome>),
}

/// What comes of a request.
pub(super) enum Heard<B: Backend> {
    /// It has ended.
    Over(RequestOutcome),
    /// Its answer goes on; the first message has the status and the headers.
    GoesOn(Answer, AnswerStream<B>),
}

impl<B: Backend> Driver<B> {
    pub(super) fn new(stand_in: StandIn<B>, news: Arc<Mutex<Vec<&'static str>>>) -> Self {
        let clock = stand_in.settings.clock;
        let inner = RefCell::new(Inner { stand_in, waiters: BTreeMap::new(), arrivals: 0 });
        Driver(Rc::new(Shared { inner, changed: Notify::new(), began: Instant::now(), clock, news }))
    }

    /// A request arrives; waits until it ends, or its answer begins.
    pub(super) async fn ask(&self, incoming: Incoming) -> Heard<B> {
        let (sender, receiver) = oneshot::channel();
        let ticket = {
            let mut inner = self.0.inner.borrow_mut();
            if let Some(now) = self.0.clock.after(self.0.began.elapsed()) {
                inner.stand_in.pass(now);
            }
            inner.arrivals += 1;
            let ticket = inner.stand_in.arrive(incoming);
            inner.waiters.insert(ticket, Waiter::First(sender));
            ticket
        };
        self.hand_out();
        self.0.changed.notify_one();
        // The connection may go while this waits: then no client wants the answer any more.
        let gone = Forget { driver: self.clone(), ticket };
        match receiver.await {
            Ok(Begun::GoesOn(first, more)) => Heard::GoesOn(first, AnswerStream::new(more, gone)),
            Ok(Begun::Over(outcome)) => Heard::Over(outcome),
            Err(_) => Heard::Over(RequestOutcome::Close),
        }
    }

    /// Gives answers that are ready to the clients that wait for them.
    fn hand_out(&self) {
        let mut inner = self.0.inner.borrow_mut();
        for (ticket, outcome) in inner.stand_in.ready() {
            // A client that has gone in the meantime does not hear it.
            let goes_on = match (inner.waiters.remove(&ticket), outcome) {
                (Some(Waiter::First(waiter)), RequestOutcome::Message(first)) => {
                    let (sender, more) = mpsc::unbounded_channel();
                    waiter.send(Begun::GoesOn(first, more)).is_ok().then_some(sender)
                }
                (Some(Waiter::First(waiter)), outcome) => {
                    let _ = waiter.send(Begun::Over(outcome));
                    None
                }
                (Some(Waiter::More(waiter)), outcome) => {
                    let is_message = matches!(outcome, RequestOutcome::Message(_));
                    waiter.send(outcome).is_ok().then_some(waiter).filter(|_| is_message)
                }
                (None, _) => None,
            };
            if let Some(waiter) = goes_on {
                inner.arrivals += 1;
                inner.waiters.insert(ticket, Waiter::More(waiter));
            }
        }
        let news = inner.stand_in.news();
        if !news.is_empty() {
            self.0.news.lock().expect("no thread panics while it is locked").extend(news);
        }
    }

    /// Lets time pass.
    pub(super) async fn run(self) {
        loop {
            match self.0.clock {
                Clock::Real | Clock::Scaled(_) => self.wait_for_deadline().await,
                Clock::Manual => self.0.changed.notified().await,
                Clock::Auto => self.wait_for_quiet().await,
            }
            self.hand_out();
        }
    }

    async fn wait_for_deadline(&self) {
        let now = self.0.clock.after(self.0.began.elapsed()).unwrap_or(0);
        let next = self.0.inner.borrow().stand_in.next_deadline();
        match next {
            Some(next) if next <= now => self.0.inner.borrow_mut().stand_in.pass(now),
            Some(next) => {
                let until = self.0.clock.real(next - now);
                // Whichever comes first.
                let _ = timeout(until, self.0.changed.notified()).await;
            }
            None => self.0.changed.notified().await,
        }
    }

    async fn wait_for_quiet(&self) {
        let before = self.0.inner.borrow().arrivals;
        if !self.0.inner.borrow().stand_in.all_wait() {
            return self.0.changed.notified().await;
        }
        sleep(QUIET).await;
        let has_jumped = {
            let mut inner = self.0.inner.borrow_mut();
            inner.arrivals == before && inner.stand_in.jump()
        };
        if !has_jumped && self.0.inner.borrow().arrivals == before {
            self.0.changed.notified().await;
        }
    }

    /// The end.
    pub(super) fn end(&self) -> StandInRun {
        StandInRun::of(&self.0.inner.borrow().stand_in)
    }
}

/// Forgets a request when its connection goes.
pub(super) struct Forget<B: Backend> {
    driver: Driver<B>,
    ticket: Ticket,
}

impl<B: Backend> Drop for Forget<B> {
    fn drop(&mut self) {
        let mut inner = self.driver.0.inner.borrow_mut();
        if inner.waiters.remove(&self.ticket).is_some() {
            inner.stand_in.forget(self.ticket);
            drop(inner);
            self.driver.0.changed.notify_one();
        }
    }
}
