//! One run of both: the electors of the package and the clients of the model are told the same at the same instants. What they do then
//! must be the same. The world of the model has the clock and the store.

mod moves;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, Index};
use fencepost_model::process::{Message, Process as _};
use fencepost_model::scenario::Scenario;
use fencepost_model::time::{Instant, Ticks};
use fencepost_model::world::{Action, Envelope, Fault, Step, World};
use fencepost_observed_lease::{
    Command, LeaseEvent, LeaseFault, ObservedLease, ObservedLeaseMessage, OperatorAction, OperatorKind, Response,
    Settings, Timer,
};
use serde_json::{Value, json};

use moves::NextMove;

use super::package::PythonPackage;
use super::schedule::{Draw, ElectionSchedule, Fate, FateEnd, ModelForm};
use super::wire::{WireRequest, identity};

type Sent = Envelope<ObservedLease>;

/// Where the two part.
#[derive(Debug)]
pub struct Difference {
    /// When, in ticks.
    pub at: i64,
    /// Both histories up to there, which are the same, and what each does then.
    pub story: String,
}

/// How often something has happened.
pub type Tally = BTreeMap<&'static str, u64>;

/// What a run has shown, if both do the same.
#[derive(Debug, Default)]
pub struct Agreement {
    /// How often what has happened.
    pub tally: Tally,
    /// When which elector has led, in ticks: its callbacks.
    pub tenures: Vec<(u16, i64, Option<i64>)>,
    /// When the last write of each client was acknowledged, in ticks.
    pub acknowledged: BTreeMap<u16, i64>,
}

/// What happens next to a client, or to the store.
enum Due {
    Start,
    Arrival(Sent, Fate),
    Return(Sent, Fate),
    Wake,
    Operator(OperatorKind),
}

/// What the comparison knows of one client.
#[derive(Default)]
struct Watched {
    fates: VecDeque<Fate>,
    late: VecDeque<i64>,
    /// When its attempt began, on its wall clock in milliseconds.
    began: i64,
    /// What it has read in this attempt.
    read: Option<Value>,
    /// What the body of its request records.
    writes: Value,
    /// The content that it has observed, and since when.
    observed: Option<(Index, i64)>,
}

struct SideBySide<'a> {
    schedule: &'a ElectionSchedule,
    scenario: Scenario<ObservedLease>,
    world: World<ObservedLease>,
    package: &'a mut PythonPackage,
    agenda: BTreeMap<(i64, u64), (ClientId, Due)>,
    order: Draw,
    clients: Vec<Watched>,
    /// What the writes have recorded, by version.
    contents: BTreeMap<Index, Value>,
    story: String,
    shown: Agreement,
}

/// Runs both.
pub fn compare(
    package: &mut PythonPackage,
    schedule: &ElectionSchedule,
    form: ModelForm,
    change: fn(&mut Settings),
) -> Result<Agreement, Difference> {
    let scenario = schedule.scenario(form, change);
    let clients = schedule.electors.iter().map(|plan| Watched {
        fates: plan.fates.clone(),
        late: plan.late.clone(),
        ..Watched::default()
    });
    let mut run = SideBySide {
        schedule,
        world: scenario.initial(),
        scenario,
        package,
        agenda: BTreeMap::new(),
        order: Draw(schedule.order),
        clients: clients.collect(),
        contents: BTreeMap::new(),
        story: String::new(),
        shown: Agreement::default(),
    };
    let ended = run.go_on();
    let shown = run.shown;
    package.forget();
    ended.map(|()| shown)
}

impl SideBySide<'_> {
    fn plan(&mut self, at: i64, client: ClientId, due: Due) {
        // What happens at one instant happens in any order.
        let order = self.order.next();
        self.agenda.insert((at, order), (client, due));
    }

    fn now(&self) -> i64 {
        self.world.now.ticks()
    }

    fn count(&mut self, what: &'static str) {
        *self.shown.tally.entry(what).or_default() += 1;
    }

    fn tell_story(&mut self, line: &str) {
        let now = self.now() * self.schedule.tick;
        writeln!(self.story, "{:>4}.{:03} s  {line}", now / 1000, now % 1000).expect("a text grows");
    }

    fn step(&mut self, action: &Action<ObservedLease>) -> Step<ObservedLease> {
        if let Action::Advance(_) = action {
        } else {
            self.tell_story(&action.to_string());
        }
        let step = self.scenario.step(&mut self.world, action);
        for fact in &step.facts {
            match fact {
                Fact::Cut { .. } | Fact::Panicked { .. } => panic!("{fact}\n{}", self.story),
                Fact::Granted { fresh: true, .. } => self.count("acquired"),
                Fact::Service(LeaseEvent::TakenOver { .. }) => self.count("taken over"),
                Fact::Service(LeaseEvent::Refused { .. }) => self.count("conflict"),
                _ => {}
            }
        }
        step
    }

    fn go_on(&mut self) -> Result<(), Difference> {
        for (place, elector) in self.schedule.electors.iter().enumerate() {
            self.plan(elector.starts, ClientId::of(place), Due::Start);
        }
        for (at, kind) in &self.schedule.operator {
            self.plan(*at, ClientId(0), Due::Operator(*kind));
        }
        while let Some(((at, _), (client, due))) = self.agenda.pop_first() {
            if at > self.schedule.ends {
                break;
            }
            if at > self.now() {
                self.step(&Action::Advance(Ticks::new(at - self.now())));
            }
            match due {
                Due::Operator(kind) => {
                    self.step(&Action::Operator(OperatorAction(kind)));
                    self.count("operator");
                }
                Due::Arrival(envelope, fate) => self.arrive(client, envelope, fate),
                Due::Start => {
                    let step = self.step(&Action::Command { client, command: Command::Run });
                    let order = self.start(client);
                    self.follow(client, &step, order)?;
                }
                Due::Return(envelope, fate) => self.answer(client, envelope, fate)?,
                Due::Wake => {
                    let timer = self.wakes(client).filter(|(at, _)| *at <= self.world.now).expect("it is due").1;
                    let step = self.step(&Action::Wake { process: client.into(), timer });
                    self.follow(client, &step, json!({ "do": "wake" }))?;
                }
            }
        }
        Ok(())
    }

    /// The order that starts an elector of the package.
    fn start(&self, client: ClientId) -> Value {
        let plan = &self.schedule.electors[client.place()];
        let [lease, renew_deadline, retry_period] = plan.terms.map(|ticks| {
            // The package takes floats, too; only whole numbers get to a Lease.
            let milliseconds = ticks * self.schedule.tick;
            if milliseconds % 1000 == 0 { json!(milliseconds / 1000) } else { json!(milliseconds as f64 / 1000.0) }
        });
        json!({
            "do": "start",
            "identity": identity(client),
            "lock": self.schedule.lock.name(),
            "lease": lease,
            "renew_deadline": renew_deadline,
            "retry_period": retry_period,
            "ahead": plan.ahead * self.schedule.tick,
        })
    }

    /// The first deadline of a client.
    fn wakes(&self, client: ClientId) -> Option<(Instant, Timer)> {
        let mut first = None;
        self.world.clients[client.place()].process.wakes(&self.scenario, &mut |timer, at| {
            if first.is_none_or(|(other, _)| at < other) {
                first = Some((at, timer));
            }
        });
        first
    }

    /// A request arrives at the store.
    fn arrive(&mut self, client: ClientId, envelope: Sent, fate: Fate) {
        let fails = matches!(fate.end, FateEnd::Error { .. });
        if fails {
            self.step(&Action::Fault(Fault::Service(LeaseFault::Fail(client))));
            self.count("error");
        }
        let step = self.step(&Action::Deliver(envelope));
        if fails {
            self.step(&Action::Fault(Fault::Service(LeaseFault::Recover(client))));
        }
        let answer = step.sent.iter().copied().next().expect("the store answers");
        if let Message::Service(ObservedLeaseMessage::Response(_, Response::Written(version))) = answer.message {
            self.count("written");
            self.contents.insert(version, self.clients[client.place()].writes.clone());
        }
        match fate.end {
            FateEnd::AnswerLost => self.count("answer lost"),
            _ => self.plan(self.now() + fate.delays[1], client, Due::Return(answer, fate)),
        }
    }

    /// An answer arrives at a client.
    fn answer(&mut self, client: ClientId, envelope: Sent, fate: Fate) -> Result<(), Difference> {
        let Message::Service(ObservedLeaseMessage::Response(_, response)) = envelope.message else {
            unreachable!("the store answers")
        };
        let (now, content) = (self.now(), |version: Index| self.contents[&version].clone());
        let error = match fate.end {
            FateEnd::Error { status, is_page } => Some((status, is_page)),
            _ => None,
        };
        let mut order = self.schedule.lock.answer(response, error, content);
        order["do"] = json!("answer");
        match response {
            Response::Found(Some(shown)) => {
                let read = self.contents[&shown.content].clone();
                let client = &mut self.clients[client.place()];
                client.read = Some(read);
                if client.observed.is_none_or(|(content, _)| content != shown.content) {
                    client.observed = Some((shown.content, now));
                }
            }
            Response::Written(version) => {
                self.clients[client.place()].observed = Some((version, now));
                self.shown.acknowledged.insert(client.0, now);
            }
            _ => {}
        }
        let step = self.step(&Action::Deliver(envelope));
        self.follow(client, &step, order)
    }

    /// Both have been told the same: what the client of the model has done is compared with what the package's elector does.
    fn follow(&mut self, client: ClientId, step: &Step<ObservedLease>, mut order: Value) -> Result<(), Difference> {
        let (modelled, sent) = self.move_of(client, step);
        order["elector"] = json!(client.0);
        order["now"] = json!(self.now() * self.schedule.tick);
        let told = self.package.tell(&order);
        let real = self.real(&told);
        if modelled != real {
            let mut story = std::mem::take(&mut self.story);
            writeln!(story, "client {} of the model: {modelled:?}\nthe package:          {real:?}", client.0)
                .expect("a text grows");
            return Err(Difference { at: self.now(), story });
        }
        for callback in &real.callbacks {
            self.called(client, callback);
        }
        match (real.next, sent) {
            (NextMove::Answer(request), Some(envelope)) => {
                if let Some(body) = &told.body {
                    self.clients[client.place()].writes = self.schedule.lock.content(body);
                }
                self.request(client, &request, envelope);
            }
            (NextMove::Sleep(length), _) => {
                let late = self.clients[client.place()].late.pop_front().unwrap_or(0);
                self.plan(self.now() + length / self.schedule.tick + late, client, Due::Wake);
            }
            _ => {}
        }
        Ok(())
    }

    fn request(&mut self, client: ClientId, request: &WireRequest, envelope: Sent) {
        let fate = self.clients[client.place()].fates.pop_front().unwrap_or(Fate::PLAIN);
        let what = match request {
            WireRequest::Get => "GET",
            WireRequest::Create(_) => "POST",
            WireRequest::Update(..) => "PUT",
        };
        self.count(what);
        match fate.end {
            FateEnd::Lost => self.count("lost"),
            _ => self.plan(self.now() + fate.delays[0], client, Due::Arrival(envelope, fate)),
        }
    }

    fn called(&mut self, client: ClientId, callback: &str) {
        let now = self.now();
        if callback == "started" {
            self.count("started");
            return self.shown.tenures.push((client.0, now, None));
        }
        self.count("stopped");
        let mut tenures = self.shown.tenures.iter_mut().rev();
        tenures.find(|(of, ..)| *of == client.0).expect("it has started").2 = Some(now);
    }
}
