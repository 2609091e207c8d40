//! The program takes its steps, and what is around it carries out what it does.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant as Moment};

use fencepost_model::fact::{Fact, Leaving};
use fencepost_model::ids::{Call, ProcessId};
use fencepost_model::process::{Client, Context, Input, Message, Outbox, Process};
use fencepost_model::program::{Program, Programmable, UserCommand};
use fencepost_model::resource::{Version, Write, WriteTarget};
use fencepost_model::scenario::Scenario;
use fencepost_model::service::{Service, ServiceMessage};
use fencepost_model::time::{Instant, Ticks};

use crate::calls::{CALLS_MAX, renumber};
use crate::server::{Conversation, Event, LiveServer, Post, UserRequest};
use crate::{LiveError, Resource, Tenure};

/// After this number of steps the states that the program has been in are forgotten: a tenure may last for months.
const STEPS_MAX: u32 = 500;

/// How long the last requests, which the recipe does not wait for, may take.
const FAREWELL: Duration = Duration::from_secs(5);

type Heard<L> = <<L as LiveServer>::Conversation as Conversation>::Heard;
type OwnCommand<L> = <<L as LiveServer>::Service as Service>::Command;

/// The user's code, and its thread once the client is inside.
pub(crate) struct User<'scope, T, W> {
    pub(crate) work: Option<W>,
    pub(crate) thread: Option<ScopedJoinHandle<'scope, T>>,
}

pub(crate) struct Driver<'a, L: LiveServer> {
    server: &'a L,
    scenario: Scenario<L::Service>,
    conversation: L::Conversation,
    resource: &'a mut dyn Resource,
    events: Sender<Event<Heard<L>>>,
    inbox: Receiver<Event<Heard<L>>>,
    /// When the clock began.
    begin: Moment,
    /// What the program is told next.
    queue: VecDeque<Input<L::Service>>,
    /// What the user's code has asked for, in order.
    user_requests: VecDeque<UserRequest>,
    is_finished: bool,
    tenure: Option<Arc<Tenure>>,
    pub(crate) left: Option<Leaving>,
    /// What the recipe has said of itself.
    pub(crate) said: Vec<<L::Service as Service>::Event>,
}

impl<'a, L: LiveServer> Driver<'a, L> {
    pub(crate) fn new(server: &'a L, scenario: Scenario<L::Service>, resource: &'a mut dyn Resource) -> Self {
        let (events, inbox) = channel();
        Driver {
            server,
            scenario,
            conversation: server.converse(Post(events.clone())),
            resource,
            events,
            inbox,
            begin: Moment::now(),
            queue: VecDeque::from([Input::Command(L::Service::command(UserCommand::Acquire))]),
            user_requests: VecDeque::new(),
            is_finished: false,
            tenure: None,
            left: None,
            said: Vec::new(),
        }
    }

    /// Why a recipe that was never inside ended its round, as far as it is known.
    pub(crate) fn refusal(&self) -> String {
        let heard = self.conversation.refusal().map(str::to_owned);
        self.said.last().map(ToString::to_string).or(heard).unwrap_or_else(|| "it ended its round".to_owned())
    }

    /// Goes on until the round is over, or for a number of steps: then the state is returned.
    pub(crate) fn go_on<'scope, T: Send + 'scope, W: FnOnce(&Tenure) -> T + Send + 'scope>(
        &mut self,
        state: Option<&str>,
        scope: &'scope Scope<'scope, '_>,
        user: &mut User<'scope, T, W>,
    ) -> Result<Option<String>, LiveError> {
        let mut program: Program<L::Service> = match state {
            Some(text) => serde_json::from_str(text).expect("it was written here"),
            None => Program::at_start(&self.scenario, self.server.client()).expect("every client runs the recipe"),
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
    fn next(&mut self, program: &Program<L::Service>) -> Result<Option<Input<L::Service>>, LiveError> {
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
            if offered.contains(&L::Service::command(UserCommand::Acquire)) {
                return Ok(None);
            }
            let due = self.user_requests.iter().enumerate().find_map(|(place, request)| {
                wanted::<L>(*request).filter(|command| offered.contains(command)).map(|command| (place, command))
            });
            if let Some((place, command)) = due {
                self.user_requests.remove(place);
                return Ok(Some(Input::Command(command)));
            }
            let release = L::Service::command(UserCommand::Release);
            if self.is_finished && offered.contains(&release) {
                return Ok(Some(Input::Command(release)));
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
    fn offered(&self, program: &Program<L::Service>, now: Instant) -> Vec<OwnCommand<L>> {
        let mut offered = Vec::new();
        program.commands(&self.context(now), &mut |command| offered.push(command));
        offered
    }

    fn context(&self, now: Instant) -> Context<'_, L::Service> {
        Context { scenario: &self.scenario, now, me: ProcessId::from(self.server.client()) }
    }

    /// The number of ticks that are over.
    fn now(&self) -> Instant {
        let ticks = self.begin.elapsed().as_nanos() / self.server.tick().as_nanos();
        Instant::START + Ticks::new(i64::try_from(ticks).expect("years of ticks"))
    }

    /// When a tick begins.
    fn moment(&self, at: Instant) -> Moment {
        let ticks = u128::try_from(at.ticks()).unwrap_or(0);
        let nanoseconds = u64::try_from(ticks * self.server.tick().as_nanos()).unwrap_or(u64::MAX);
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

    fn hear(&mut self, event: Event<Heard<L>>) -> Result<(), LiveError> {
        match event {
            Event::UserRequest(request) => self.user_requests.extend(wanted::<L>(request).map(|_| request)),
            Event::Finished => self.is_finished = true,
            Event::Heard(heard) => {
                let from = ProcessId::Server;
                let told = self.conversation.hear(heard)?;
                self.queue
                    .extend(told.into_iter().map(Message::Service).map(|message| Input::Message { from, message }));
            }
        }
        Ok(())
    }

    /// Takes a step of the program, and carries out what it does.
    fn step(&mut self, program: &mut Program<L::Service>, input: Input<L::Service>) -> Result<(), LiveError> {
        let mut out = Outbox::new();
        program.on(input, &self.context(self.now()), &mut out);
        let mut newest = Call(0);
        for (_, message) in out.messages() {
            match *message {
                Message::Service(message) => {
                    newest = newest.max(message.call().unwrap_or(Call(0)));
                    self.conversation.send(message)?;
                }
                Message::Write(write) => {
                    let Write { token, target, .. } = write;
                    let accepted = match target {
                        WriteTarget::Whole => self.resource.write(token),
                        WriteTarget::Key(key) => self.resource.write_to(key, token),
                        WriteTarget::Work(item) => self.resource.handle_item(item, token),
                        WriteTarget::Entry(item) => self.resource.finish_item(item, token),
                        WriteTarget::WorkAndEntry(item) => self.resource.complete_item(item, token),
                    }?;
                    if let Some(to) = write.call {
                        self.resource_says(Message::Written { to, accepted });
                    }
                }
                Message::Read(to) => {
                    let version = Version::new(self.resource.version()?);
                    self.resource_says(Message::Version { to, version });
                }
                Message::ReadKey { call: to, key } => {
                    let version = Version::new(self.resource.version_of(key)?);
                    self.resource_says(Message::Version { to, version });
                }
                Message::NextItem { call: to, takes } => {
                    let item = self.resource.next_item(takes)?;
                    self.resource_says(Message::QueueItem { to, item });
                }
                other => return Err(LiveError::Unsupported(other.to_string())),
            }
        }
        for fact in out.facts() {
            match fact {
                Fact::Entered { token, .. } => {
                    let (slot, events) = (program.belief().slot, self.events.clone());
                    // The driver is gone once the round is over: nothing is asked of the recipe any more.
                    let ask = move |request| drop(events.send(Event::UserRequest(request)));
                    self.tenure = Some(Arc::new(Tenure::new(*token, slot, ask)));
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
                Fact::Service(said) if self.tenure.is_none() => self.said.push(*said),
                _ => {}
            }
        }
        if newest.0 > CALLS_MAX {
            self.conversation.renumber(&renumber(program));
        }
        Ok(())
    }

    fn resource_says(&mut self, message: Message<L::Service>) {
        self.queue.push_back(Input::Message { from: ProcessId::Resource, message });
    }

    /// Waits until what was sent has arrived: who exits at once would not have sent it.
    pub(crate) fn farewell(&mut self) {
        let end = Moment::now() + FAREWELL;
        self.conversation.part();
        while self.conversation.is_unfinished()
            && let Ok(event) = self.inbox.recv_timeout(end.saturating_duration_since(Moment::now()))
        {
            if let Event::Heard(heard) = event {
                // No program is told of it.
                let _ = self.conversation.hear(heard);
            }
        }
    }

    /// Tells the user's code that the tenure is over.
    pub(crate) fn lose(&self) {
        self.tenure.iter().for_each(|tenure| tenure.lose());
    }
}

/// What the user's code wants, as a command to the client; none: clients of the service have no such command.
fn wanted<L: LiveServer>(request: UserRequest) -> Option<OwnCommand<L>> {
    match request {
        UserRequest::Write => Some(L::Service::command(UserCommand::Write)),
        UserRequest::Verification => L::Service::verification(),
    }
}

/// Sees to it that the driver hears of the end of the user's code, also when it panics.
struct Finished<H>(Sender<Event<H>>);

impl<H> Drop for Finished<H> {
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
