//! The program takes its steps, and what is around it carries out what it does.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant as Moment};

use fencepost_consul::{Command, Consul, ConsulMessage, Request};
use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Call, ProcessId};
use fencepost_model::process::{Client, Context, Input, Message, Outbox, Process};
use fencepost_model::program::Program;
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};

use crate::calls::{CALLS_MAX, renumber};
use crate::http::{Reply, answer, question};
use crate::names::SessionIds;
use crate::wire::send;
use crate::{Agent, LiveError, Resource, Tenure};

/// What the driver waits for.
pub(crate) enum Event {
    /// What came of this request.
    Reply(u64, Reply),
    /// The user's code wants a write.
    Write,
    /// The user's code has returned, or panicked.
    Finished,
}

/// After this number of steps the states that the program has been in are forgotten: a tenure may last for months.
const STEPS_MAX: u32 = 500;

/// How long the last requests, which the recipe does not wait for, may take.
const FAREWELL: Duration = Duration::from_secs(5);

/// The user's code, and its thread once the client is inside.
pub(crate) struct User<'scope, T, W> {
    pub(crate) work: Option<W>,
    pub(crate) thread: Option<ScopedJoinHandle<'scope, T>>,
}

pub(crate) struct Driver<'a> {
    agent: &'a Agent,
    scenario: Scenario<Consul>,
    names: SessionIds,
    resource: &'a mut dyn Resource,
    events: Sender<Event>,
    inbox: Receiver<Event>,
    /// When the clock began.
    begin: Moment,
    /// Requests under way, by their number here: the program's number, and what was asked.
    requests: BTreeMap<u64, (Call, Request)>,
    /// How many requests are under way that change something.
    unheard: usize,
    /// The number of the newest request.
    asked: u64,
    /// What the program is told next.
    queue: VecDeque<Input<Consul>>,
    /// Writes that the user has asked for.
    writes: u32,
    is_finished: bool,
    tenure: Option<Arc<Tenure>>,
    pub(crate) left: Option<Leaving>,
    /// The last answer that may have made the recipe give up.
    pub(crate) refusal: Option<String>,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(agent: &'a Agent, scenario: Scenario<Consul>, resource: &'a mut dyn Resource) -> Self {
        let (events, inbox) = channel();
        Driver {
            agent,
            scenario,
            names: SessionIds::new(agent.client),
            resource,
            events,
            inbox,
            begin: Moment::now(),
            requests: BTreeMap::new(),
            unheard: 0,
            asked: 0,
            queue: VecDeque::from([Input::Command(Command::Acquire)]),
            writes: 0,
            is_finished: false,
            tenure: None,
            left: None,
            refusal: None,
        }
    }

    /// Goes on until the round is over, or for a number of steps: then the state is returned.
    pub(crate) fn go_on<'scope, T: Send + 'scope, W: FnOnce(&Tenure) -> T + Send + 'scope>(
        &mut self,
        state: Option<&str>,
        scope: &'scope Scope<'scope, '_>,
        user: &mut User<'scope, T, W>,
    ) -> Result<Option<String>, LiveError> {
        let mut program: Program<Consul> = match state {
            Some(text) => serde_json::from_str(text).expect("it was written here"),
            None => Program::at_start(&self.scenario, self.agent.client).expect("every client runs the recipe"),
        };
        for _ in 0..STEPS_MAX {
            let Some(input) = self.next(&program)? else { return Ok(None) };
            self.step(&mut program, input)?;
            if let (Some(tenure), Some(work)) = (&self.tenure, user.work.take_if(|_| self.tenure.is_some())) {
                let (tenure, events) = (Arc::clone(tenure), self.events.clone());
                user.thread = Some(scope.spawn(move || {
                    let _finished = Finished(events);
                    work(&tenure)
                }));
            }
        }
        Ok(Some(serde_json::to_string(&program).expect("a state can be written")))
    }

    /// What the program is told next: waits for it. None: the round is over.
    fn next(&mut self, program: &Program<Consul>) -> Result<Option<Input<Consul>>, LiveError> {
        loop {
            if let Some(input) = self.queue.pop_front() {
                return Ok(Some(input));
            }
            match program.choices() {
                0 => {}
                options => return Ok(Some(Input::Choice(random(options)?))),
            }
            let now = self.now();
            let offered = self.offered(program, now);
            if offered.contains(&Command::Acquire) {
                return Ok(None);
            }
            if self.writes > 0 && offered.contains(&Command::Write) {
                self.writes -= 1;
                return Ok(Some(Input::Command(Command::Write)));
            }
            if self.is_finished && offered.contains(&Command::Release) {
                return Ok(Some(Input::Command(Command::Release)));
            }
            let mut due = None;
            program.wakes(&self.scenario, &mut |timer, at| {
                if due.is_none_or(|(_, other)| at < other) {
                    due = Some((timer, at));
                }
            });
            match due {
                Some((timer, at)) if at <= now => return Ok(Some(Input::Wake(timer))),
                due => self.wait(due.map(|(_, at)| at))?,
            }
        }
    }

    /// What its user may ask of it.
    fn offered(&self, program: &Program<Consul>, now: Instant) -> Vec<Command> {
        let mut offered = Vec::new();
        program.commands(&self.context(now), &mut |command| offered.push(command));
        offered
    }

    fn context(&self, now: Instant) -> Context<'_, Consul> {
        Context { scenario: &self.scenario, now, me: ProcessId::from(self.agent.client) }
    }

    /// The number of ticks that are over.
    fn now(&self) -> Instant {
        let ticks = self.begin.elapsed().as_nanos() / self.agent.tick.as_nanos();
        Instant::START + Ticks::new(i64::try_from(ticks).expect("years of ticks"))
    }

    /// When a tick begins.
    fn moment(&self, at: Instant) -> Moment {
        let ticks = u128::try_from(at.ticks()).unwrap_or(0);
        let nanoseconds = u64::try_from(ticks * self.agent.tick.as_nanos()).unwrap_or(u64::MAX);
        self.begin + Duration::from_nanos(nanoseconds)
    }

    /// Waits for events, no longer than until this instant. They are heard at the beginning of the next tick.
    fn wait(&mut self, until: Option<Instant>) -> Result<(), LiveError> {
        let event = match until {
            None => self.inbox.recv().ok(),
            Some(at) => {
                let left = self.moment(at).saturating_duration_since(Moment::now());
                self.inbox.recv_timeout(left).ok()
            }
        };
        let Some(event) = event else { return Ok(()) };
        let next = self.moment(self.now() + Ticks::new(1));
        thread::sleep(next.saturating_duration_since(Moment::now()));
        self.hear(event)?;
        while let Ok(event) = self.inbox.try_recv() {
            self.hear(event)?;
        }
        Ok(())
    }

    fn hear(&mut self, event: Event) -> Result<(), LiveError> {
        match event {
            Event::Write => self.writes += 1,
            Event::Finished => self.is_finished = true,
            Event::Reply(number, reply) => {
                let Some((call, request)) = self.requests.remove(&number) else { return Ok(()) };
                self.unheard -= usize::from(changes(&request));
                if let Some(answer) = answer(&request, &reply, self.agent, &mut self.names)? {
                    if let Reply::Refused(why) = reply {
                        self.refusal = Some(why);
                    } else if self.tenure.is_none() {
                        self.refusal = Some(format!("the last answer was: {request}: {answer}"));
                    }
                    let message = Message::Service(ConsulMessage::Response(call, answer));
                    self.queue.push_back(Input::Message { from: ProcessId::Server, message });
                }
            }
        }
        Ok(())
    }

    /// Takes a step of the program, and carries out what it does.
    fn step(&mut self, program: &mut Program<Consul>, input: Input<Consul>) -> Result<(), LiveError> {
        let mut out = Outbox::new();
        program.on(input, &self.context(self.now()), &mut out);
        let mut newest = Call(0);
        for (_, message) in out.messages() {
            match *message {
                Message::Service(ConsulMessage::Request(call, request)) => {
                    newest = newest.max(call);
                    self.ask(call, request)?;
                }
                Message::Write(write) => {
                    let accepted = self.resource.write(write.token)?;
                    if let Some(to) = write.call {
                        self.resource_says(Message::Written { to, accepted });
                    }
                }
                Message::Read(to) => {
                    let version = fencepost_model::ids::Token(self.resource.version()?);
                    self.resource_says(Message::Version { to, version });
                }
                other => return Err(LiveError::Unsupported(other.to_string())),
            }
        }
        for fact in out.facts() {
            match fact {
                Fact::Entered { token, .. } => {
                    self.tenure = Some(Arc::new(Tenure::new(*token, self.events.clone())));
                }
                Fact::Left { why, .. } => {
                    self.left = Some(*why);
                    if *why != Leaving::Done {
                        self.lose();
                    }
                }
                Fact::Panicked { .. } => {
                    return Err(LiveError::Panicked(Client::panic(program).unwrap_or_default()));
                }
                Fact::Cut { .. } => return Err(LiveError::LapTooLong),
                _ => {}
            }
        }
        if newest.0 > CALLS_MAX {
            let named = renumber(program);
            // What the program does not wait for has no number any more.
            for (call, _) in self.requests.values_mut() {
                *call = named.get(call).copied().unwrap_or(Call(0));
            }
        }
        Ok(())
    }

    fn resource_says(&mut self, message: Message<Consul>) {
        self.queue.push_back(Input::Message { from: ProcessId::Resource, message });
    }

    /// Sends a request in a thread of its own: each has its own connection, as in the model.
    fn ask(&mut self, call: Call, request: Request) -> Result<(), LiveError> {
        let question = question(&request, self.agent, &self.names)?;
        self.asked += 1;
        self.requests.insert(self.asked, (call, request));
        self.unheard += usize::from(changes(&request));
        let (number, base, events) = (self.asked, self.agent.base.clone(), self.events.clone());
        thread::spawn(move || {
            // The driver is gone once the round is over: no program waits for this answer any more.
            let _ = events.send(Event::Reply(number, send(&base, &question)));
        });
        Ok(())
    }

    /// Waits for the last requests that change something: who exits at once would not have sent them.
    pub(crate) fn farewell(&mut self) {
        let end = Moment::now() + FAREWELL;
        while self.unheard > 0
            && let Ok(event) = self.inbox.recv_timeout(end.saturating_duration_since(Moment::now()))
        {
            if let Event::Reply(number, _) = event
                && let Some((_, request)) = self.requests.remove(&number)
            {
                self.unheard -= usize::from(changes(&request));
            }
        }
    }

    /// Tells the user's code that the tenure is over.
    pub(crate) fn lose(&self) {
        self.tenure.iter().for_each(|tenure| tenure.lose());
    }
}

/// Whether the request changes anything at the agent.
fn changes(request: &Request) -> bool {
    !matches!(
        request,
        Request::Get(_)
            | Request::GetConsistent(_)
            | Request::List
            | Request::Before(_)
            | Request::FindSession
            | Request::Watch(_)
    )
}

/// Sees to it that the driver hears of the end of the user's code, also when it panics.
struct Finished(Sender<Event>);

impl Drop for Finished {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Finished);
    }
}

/// A number below `options`.
fn random(options: u8) -> Result<u8, LiveError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| LiveError::Chance(error.to_string()))?;
    let number = u64::from_le_bytes(bytes) % u64::from(options);
    Ok(u8::try_from(number).expect("below a number of eight bits"))
}
