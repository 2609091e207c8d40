//! What happens to the electors in one run: everything that is not theirs to decide. A seed draws it, and it can be shrunk.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};

use fencepost_model::scenario::Scenario;
use fencepost_model::time::Ticks;
use fencepost_observed_lease::ObservedLease;
use fencepost_observed_lease::{ClientTerms, OperatorKind, Settings, as_programs};

/// The object that has the record.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LockObject {
    /// `LeaseLock`.
    Lease,
    /// `ConfigMapLock`.
    ConfigMap,
}

/// One elector.
#[derive(Clone, Debug)]
pub struct ElectorPlan {
    /// When it starts, in ticks.
    pub starts: i64,
    /// `lease_duration`, `renew_deadline`, `retry_period`, in ticks.
    pub terms: [i64; 3],
    /// How far its wall clock is ahead, in ticks.
    pub ahead: i64,
    /// What becomes of its requests, one after the other; later ones are served at once.
    pub fates: VecDeque<Fate>,
    /// By how much its sleeps are too long, in ticks, one after the other.
    pub late: VecDeque<i64>,
}

/// What becomes of a request.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Fate {
    /// How long it takes to the store, and its answer back, in ticks.
    pub delays: [i64; 2],
    /// What the store makes of it.
    pub end: FateEnd,
}

/// How the store answers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FateEnd {
    /// It serves it.
    Served,
    /// It does nothing, and answers with this status: with a Status object, or with a page of HTML.
    Error { status: u16, is_page: bool },
    /// The request is lost, and the elector waits for ever.
    Lost,
    /// The request is served, and the answer is lost.
    AnswerLost,
}

impl Fate {
    /// A request that is served at once.
    pub const PLAIN: Fate = Fate { delays: [0, 0], end: FateEnd::Served };

    /// A request that fails after this time.
    pub const fn fails_after(ticks: i64) -> Fate {
        Fate { delays: [0, ticks], end: FateEnd::Error { status: 500, is_page: false } }
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct ElectionSchedule {
    /// A tick, in milliseconds.
    pub tick: i64,
    /// The object.
    pub lock: LockObject,
    /// The electors.
    pub electors: Vec<ElectorPlan>,
    /// What the operator does, and when, in ticks.
    pub operator: Vec<(i64, OperatorKind)>,
    /// When the run ends, in ticks.
    pub ends: i64,
    /// Decides the order of what happens at one instant.
    pub order: u64,
}

/// The client of the model that is held against the package.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ModelForm {
    /// The program `PythonElector`.
    Program,
    /// The state machine with the settings of the recipe `python`.
    StateMachine,
}

impl LockObject {
    /// As `elector.py` names it.
    pub fn name(self) -> &'static str {
        match self {
            LockObject::Lease => "lease",
            LockObject::ConfigMap => "config-map",
        }
    }
}

impl ElectorPlan {
    /// One that starts at once, with these durations.
    pub fn new(terms: [i64; 3]) -> Self {
        ElectorPlan { starts: 0, terms, ahead: 0, fates: VecDeque::new(), late: VecDeque::new() }
    }
}

impl ElectionSchedule {
    /// The scenario in the model, with something changed in the settings of its clients.
    pub fn scenario(&self, form: ModelForm, change: fn(&mut Settings)) -> Scenario<ObservedLease> {
        let mut settings = Settings::of_recipe("python").expect("it ships with the service");
        let terms = self.electors.iter().map(|elector| {
            let [lease, renew_deadline, retry_period] = elector.terms.map(Ticks::new);
            ClientTerms { lease, renew_deadline, retry_period }
        });
        settings.terms = terms.collect();
        settings.operator = vec![OperatorKind::Delete, OperatorKind::Relabel];
        change(&mut settings);
        let clients = u16::try_from(self.electors.len()).expect("a few");
        let scenario = Scenario::new("python-elector").clients(clients).service(|of| *of = settings);
        let scenario = scenario.budget(|budget| budget.operator = u8::MAX).allow("store_errors", u8::MAX);
        scenario.validate().expect("the settings are valid");
        match form {
            ModelForm::Program => as_programs(&scenario).expect("the settings are those of a program"),
            ModelForm::StateMachine => scenario,
        }
    }

    /// The schedule of a seed.
    pub fn drawn(seed: u64) -> Self {
        let draw = &mut Draw(seed);
        // A quarter of a second has an exact binary fraction, as the package counts in floats.
        let second = 4;
        let lock = if draw.below(3) == 0 { LockObject::ConfigMap } else { LockObject::Lease };
        let terms = |draw: &mut Draw| match draw.below(10) {
            0..3 => [15, 10, 2],
            3..5 => [4, 2, 1],
            5 => [3, 2, 1],
            6 => [5, 4, 2],
            7 => [7, 6, 1],
            8 => [10, 9, 2],
            _ => [12, 5, 4],
        };
        let common = terms(draw).map(|seconds| seconds * second);
        let lease = common[0];
        // Mostly none, then short ones, and some as long as a lease.
        let delays_max = [0, 0, 1, second, lease / 2, lease + 2][usize::try_from(draw.below(6)).expect("small")];
        let faults = draw.below(4);
        let count = [1, 2, 2, 2, 3, 3][usize::try_from(draw.below(6)).expect("small")];
        let electors = (0..count).map(|place| {
            let mut elector = ElectorPlan::new(common);
            if draw.below(5) == 0 {
                elector.terms = terms(draw).map(|seconds| seconds * second);
            }
            if lock == LockObject::ConfigMap && draw.below(3) == 0 {
                // Only this object takes durations that are no whole seconds.
                elector.terms = elector.terms.map(|ticks| ticks + ticks / 8);
            }
            elector.starts = if place == 0 { 0 } else { draw.signed(lease + 3) };
            elector.ahead = if draw.below(3) == 0 { draw.signed(2 * lease) } else { 0 };
            elector.fates = fates(draw, delays_max, faults);
            let is_late = draw.below(4) == 0;
            elector.late =
                (0..40).map(|_| if is_late && draw.below(4) == 0 { draw.signed(second) } else { 0 }).collect();
            elector
        });
        let electors = electors.collect();
        let ends = lease * 4 + draw.signed(lease);
        let kinds = [OperatorKind::Delete, OperatorKind::Relabel];
        let actions = [0, 0, 1, 3][usize::try_from(draw.below(4)).expect("small")];
        let operator = (0..actions).map(|_| (draw.signed(ends), kinds[usize::from(draw.below(2) == 0)])).collect();
        ElectionSchedule { tick: 1000 / second, lock, electors, operator, ends, order: draw.next() }
    }

    /// Smaller schedules, the boldest first.
    pub fn smaller(&self) -> Vec<ElectionSchedule> {
        let mut found = Vec::new();
        let mut offer = |change: &dyn Fn(&mut ElectionSchedule)| {
            let mut smaller = self.clone();
            change(&mut smaller);
            found.push(smaller);
        };
        for place in (0..self.electors.len()).rev().filter(|_| self.electors.len() > 1) {
            offer(&|schedule| drop(schedule.electors.remove(place)));
        }
        for place in 0..self.operator.len() {
            offer(&|schedule| {
                schedule.operator.remove(place);
            });
        }
        for (place, elector) in self.electors.iter().enumerate() {
            if elector.starts > 0 {
                offer(&|schedule| schedule.electors[place].starts = 0);
            }
            if elector.ahead > 0 {
                offer(&|schedule| schedule.electors[place].ahead = 0);
            }
            if elector.late.iter().any(|late| *late > 0) {
                offer(&|schedule| schedule.electors[place].late.clear());
            }
            if elector.fates.iter().any(|fate| *fate != Fate::PLAIN) {
                offer(&|schedule| schedule.electors[place].fates.clear());
            }
            for (number, fate) in elector.fates.iter().enumerate().filter(|(_, fate)| **fate != Fate::PLAIN) {
                offer(&|schedule| schedule.electors[place].fates[number] = Fate::PLAIN);
                if fate.delays != [0, 0] {
                    offer(&|schedule| schedule.electors[place].fates[number].delays = [0, 0]);
                }
            }
        }
        found
    }
}

/// Without what is plain.
impl Display for ElectionSchedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ElectionSchedule { tick, lock, electors, operator, ends, order } = self;
        writeln!(f, "{lock:?}, ticks of {tick} ms, until {ends}, order {order}, operator {operator:?}")?;
        for (place, ElectorPlan { starts, terms, ahead, fates, late }) in electors.iter().enumerate() {
            writeln!(f, "  client {}: from {starts}, {terms:?}, its wall clock {ahead} ahead", place + 1)?;
            for (number, fate) in (1..).zip(fates).filter(|(_, fate)| **fate != Fate::PLAIN) {
                writeln!(f, "    request {number}: {fate:?}")?;
            }
            for (number, late) in (1..).zip(late).filter(|(_, late)| **late > 0) {
                writeln!(f, "    sleep {number}: too long by {late}")?;
            }
        }
        Ok(())
    }
}

/// What becomes of the requests of one elector: single faults, and spells of them.
fn fates(draw: &mut Draw, delays_max: i64, faults: u64) -> VecDeque<Fate> {
    let mut spell = 0;
    let mut fates = VecDeque::new();
    for _ in 0..60 {
        let delays = [draw.signed(delays_max + 1), draw.signed(delays_max + 1)];
        if spell == 0 && faults > 0 && draw.below(16) < faults {
            spell = if draw.below(2) == 0 { 1 } else { 1 + draw.below(9) };
        }
        let end = match spell {
            0 => FateEnd::Served,
            _ => match draw.below(40) {
                0 => FateEnd::Lost,
                1 => FateEnd::AnswerLost,
                2..24 => FateEnd::Error { status: 500, is_page: false },
                24..30 => FateEnd::Error { status: 503, is_page: true },
                30..35 => FateEnd::Error { status: 404, is_page: true },
                _ => FateEnd::Error { status: 409, is_page: false },
            },
        };
        spell = spell.saturating_sub(1);
        fates.push_back(Fate { delays, end });
    }
    fates
}

/// SplitMix64.
pub struct Draw(pub u64);

impl Draw {
    /// Any number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below another one.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn signed(&mut self, limit: i64) -> i64 {
        let limit = u64::try_from(limit).expect("not negative");
        i64::try_from(self.below(limit)).expect("below a limit of 63 bits")
    }
}
