//! The way in: a session, the sequencer number if it must be known first, the key, the sequencer.

use super::super::ask;
use super::super::membership::{Membership, lease_from};
use super::super::monitor::Watching;
use super::{Contender, Phase, What};
use crate::ConsulMutation;
use crate::settings::{DeadSession, Letters, Sequencer, SessionUse, Waiting};
use crate::{Answer, Claim, Consul, Entry, Key, LOCK, Opaque, Request, Spelling, Target, Watch};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::Token;
use fencepost_model::process::{Context, Outbox};
use fencepost_model::time::Deadline;

impl Contender {
    /// Asks for a session if it has none, else for the lock.
    pub(super) fn attempt(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        if self.session.is_none() {
            return match settings.session {
                SessionUse::Shared => self.rest(),
                SessionUse::Own => self.create_session(context, out),
                SessionUse::ByName => self.call(What::Find, Request::FindSession, context, out),
            };
        }
        match settings.sequencer {
            Sequencer::Random => self.phase = Phase::Drawing,
            Sequencer::Version => {
                self.last = self.last.next();
                out.read(self.last);
                self.phase =
                    Phase::Calling { call: self.last, what: What::ReadVersion, give_up: self.give_up(context) };
            }
            // C-LCK-3: the Go client asks for a key only when a read says that it is free.
            _ if settings.waiting == Waiting::ReadThenWatch => {
                self.call(What::ReadFirst, Request::Get(LOCK), context, out);
            }
            _ => self.acquire(context, out),
        }
    }

    fn create_session(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let what = What::Create { until_if_created: lease_from(context) };
        self.call(what, Request::CreateSession(context.scenario.service.terms()), context, out);
    }

    /// A number that no other tenure has. A random choice decides whether it is lower or higher than the others.
    pub(super) fn draw(&mut self, option: u8, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let (clients, rounds) = (u32::from(context.scenario.clients), u32::from(context.scenario.rounds));
        let mine = u32::from(context.client().0 - 1) * rounds + u32::from(self.rounds);
        self.stake = Token::numbered(1 + u32::from(option) * clients * rounds + mine);
        self.acquire(context, out);
    }

    pub(super) fn acquire(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        self.acquire_for(What::Acquire, context, out);
    }

    pub(super) fn acquire_for(&mut self, what: What, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        let Some(session) = self.session else { return self.wait(context) };
        let value = match settings.sequencer {
            Sequencer::Random => Opaque::Number(self.stake),
            _ if settings.names_leader => Opaque::Name(context.client()),
            _ => Opaque::Empty,
        };
        let spelling = match settings.acquires_in {
            Letters::Small => Spelling::default(),
            Letters::Capitals => Spelling(1),
        };
        let key = if settings.queue.is_some() { Key::Contender(session.id) } else { LOCK };
        let claim = Claim { spelling, ..Claim::new(key, session.id, value, settings.flags) };
        self.call(what, Request::Acquire(claim), context, out);
    }

    /// Repeats an unanswered request on a new connection.
    pub(super) fn repeat(&mut self, what: What, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        match what {
            What::Create { .. }
            | What::Acquire
            | What::Find
            | What::ReadVersion
            | What::ReadFirst
            | What::LookWhoHasIt
            | What::Await => self.attempt(context, out),
            What::LineUp | What::AwaitTurn | What::Recheck => self.line_up(context, out),
            What::ReadBack => self.read_back(context, out),
            What::Release { is_inside } | What::LookToDelete { is_inside } => {
                self.send_release(is_inside, context, out);
            }
            What::Look | What::Remove | What::Destroy | What::Reassert => self.rest(),
        }
    }

    pub(super) fn hear(&mut self, what: What, answer: Answer, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let settings = &context.scenario.service;
        match (what, answer) {
            (What::Create { until_if_created }, Answer::Created(id)) => {
                self.session = Some(Membership::new(id, until_if_created, context));
                self.attempt(context, out);
            }
            (What::Find, Answer::Named(Some(id))) => {
                self.session = Some(Membership::new(id, None, context));
                self.attempt(context, out);
            }
            (What::Find, Answer::Named(None)) => self.create_session(context, out),
            (What::Acquire | What::Reassert, Answer::Done(true)) if !settings.sequencer.is_read_back() => {
                self.enter(self.stake, context, out);
            }
            (What::Acquire | What::Reassert, Answer::Done(true)) => {
                self.read_back(context, out);
            }
            (What::Acquire, Answer::InvalidSession) if !settings.ends_session => {
                if settings.dead_session == DeadSession::Recreate
                    && !context.is_mutated(ConsulMutation::DeadSessionKept)
                {
                    self.session = None;
                }
                self.wait(context);
            }
            // C-LCK-4: after a refusal it reads the key once. A free key then means a lock-delay, and it sleeps.
            (What::Acquire, Answer::Done(false)) if settings.waiting.is_watching() => {
                self.call(What::LookWhoHasIt, Request::Get(LOCK), context, out);
            }
            // C-LCK-3: it is no lock's key.
            (What::ReadFirst | What::Await, Answer::Found(entry)) if settings.refuses(&entry) => {
                self.fail(context, out);
            }
            // C-LCK-5: what the session has already is not asked for again.
            (What::ReadFirst | What::Await, Answer::Found(entry))
                if settings.waiting == Waiting::ReadThenWatch && self.is_mine(&entry) =>
            {
                match settings.sequencer.is_read_back() {
                    true => self.read_back(context, out),
                    false => self.enter(self.stake, context, out),
                }
            }
            (What::ReadFirst | What::Await, Answer::Found(Entry { session: None, .. }) | Answer::Absent)
                if settings.waiting == Waiting::ReadThenWatch =>
            {
                self.acquire(context, out);
            }
            (What::LookWhoHasIt | What::ReadFirst, Answer::Found(Entry { session: Some(_), modify, .. })) => {
                let watch = Watch { target: Target::Key(LOCK), index: modify, wait: settings.watch_wait };
                self.call(What::Await, Request::Watch(watch), context, out);
            }
            (What::Await, Answer::Found(Entry { session: Some(_), modify, .. }))
                if settings.waiting == Waiting::ReadThenWatch =>
            {
                let watch = Watch { target: Target::Key(LOCK), index: modify, wait: settings.watch_wait };
                self.call(What::Await, Request::Watch(watch), context, out);
            }
            // C-LCK-4, C-LE-1: a free key may be in its lock-delay.
            (What::LookWhoHasIt, Answer::Found(_) | Answer::Absent) => self.wait(context),
            (What::Await, Answer::Found(_) | Answer::Absent) if settings.waiting == Waiting::WatchThenRest => {
                self.wait(context);
            }
            (What::Await, Answer::Found(_) | Answer::Absent) => self.attempt(context, out),
            (What::ReadBack, Answer::Found(entry))
                if self.is_mine(&entry) || context.is_mutated(ConsulMutation::ReadBackUnchecked) =>
            {
                let token = settings.token(&entry);
                if settings.queue.is_some() {
                    self.stake = token;
                    return self.line_up(context, out);
                }
                self.enter(token, context, out);
            }
            (What::LineUp | What::AwaitTurn | What::Recheck, _) => self.hear_in_line(what, answer, context, out),
            // A create may be refused because of a check (C-SES-4), and any request while there is no leader.
            (
                What::Create { .. } | What::Find | What::Acquire | What::ReadFirst | What::LookWhoHasIt | What::Await,
                _,
            ) => {
                self.fail(context, out);
            }
            // It lost the lock before it could enter: the round ends, so the number of rounds bounds LockIndex.
            (What::ReadBack | What::Reassert, _) => {
                if answer == Answer::InvalidSession {
                    self.session = None;
                }
                self.rest();
            }
            (What::LookToDelete { is_inside }, Answer::Found(entry)) if self.is_mine(&entry) => {
                self.call(What::Release { is_inside }, Request::Delete(LOCK), context, out);
            }
            (What::Release { is_inside } | What::LookToDelete { is_inside }, _) => {
                if is_inside {
                    out.record(Fact::Left { client: context.client(), why: Leaving::Done });
                }
                self.finish(context, out);
            }
            // C-LCK-10: if the key is absent or in use, or has other flags, there is nothing to clean up.
            (What::Look, Answer::Found(entry @ Entry { session: None, modify, .. })) if !settings.refuses(&entry) => {
                let is_blind = context.is_mutated(ConsulMutation::CleanupUnconditional);
                let checked = Request::DeleteCas { key: LOCK, index: modify };
                self.call(What::Remove, if is_blind { Request::Delete(LOCK) } else { checked }, context, out);
            }
            (What::Look | What::Remove | What::Destroy | What::ReadVersion, _) => self.rest(),
        }
    }

    /// The number that the sequencer uses.
    fn read_back(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        let key = self.own_key(context);
        self.call(What::ReadBack, Request::Get(key), context, out);
    }

    /// It has not got the lock, and there is no reason to wait for it. C-LCK-2: the Go client's attempt is over then, and its session.
    fn fail(&mut self, context: &Context<'_, Consul>, out: &mut Outbox<Consul>) {
        if !context.scenario.service.ends_session {
            return self.wait(context);
        }
        self.end_session(out);
        self.rest();
    }

    /// Destroys its session, and does not wait for the answer.
    pub(super) fn end_session(&mut self, out: &mut Outbox<Consul>) {
        if let Some(session) = self.session.take() {
            ask(&mut self.last, Request::DestroySession(session.id), out);
        }
    }

    pub(super) fn wait(&mut self, context: &Context<'_, Consul>) {
        self.phase = Phase::Waiting { retry: Deadline(context.now + context.scenario.service.retry_every) };
    }

    /// C-LCK-6: the first query does not block; the following ones wait for the next change.
    pub(super) fn watch(
        &mut self,
        index: fencepost_model::ids::Index,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) {
        self.monitor = Watching::start(Target::Key(LOCK), index, &mut self.last, context, out);
    }
}
