//! The states of a scenario's space as bytes, for a search on disk and for other processes; and what a search is told from others by.

use std::hash::Hasher;
use std::ops::Range;
use std::sync::{Arc, MutexGuard};

use fencepost_model::hash::Fingerprinter;
use fencepost_model::inline_vec::InlineVec;
use fencepost_model::mutation::CheckerMutation;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;

use super::Worlds;
use crate::engine::cluster::{ClusterSearchError, Heard, Peers, Portable, Together, Told};
use crate::engine::disk::{DiskSearchError, put_number, search, take_number};
use crate::engine::{SearchPlan, SearchResult, SearchStore, Stored, search_together};
use crate::options::Options;
use crate::outcome::InternalError;
use crate::reduction::{Collapsed, Numbers, Pool};

/// Where a search is at home, if not in the memory of one process, and what tells it from others, as questions and answers.
pub(crate) enum Elsewhere {
    /// On disk.
    Store(SearchStore, Vec<(String, String)>),
    /// In several processes, of which this one may keep checkpoints; with what may cut the search, as questions and answers.
    Peers(Arc<dyn Peers>, Vec<(String, String)>, Vec<(String, String)>, Option<SearchStore>),
}

impl Elsewhere {
    /// Searches a space there.
    pub(crate) fn search<P: Service>(
        self,
        space: &Arc<Worlds<P>>,
        plan: &SearchPlan,
    ) -> Result<SearchResult, InternalError> {
        match self {
            Elsewhere::Store(store, identity) => search(space, plan, &store, identity).map_err(|error| match error {
                DiskSearchError::Store(error) => error.into(),
                DiskSearchError::Model(failure) => InternalError::of_panic(failure),
            }),
            Elsewhere::Peers(peers, identity, limits, store) => {
                let portable: Arc<dyn Portable<Collapsed>> = Arc::<Worlds<P>>::clone(space);
                search_together(space, plan, &Together { peers, identity, limits, portable, store }).map_err(|error| {
                    match error {
                        ClusterSearchError::Peers(why) => InternalError::Peers(why),
                        ClusterSearchError::Store(error) => error.into(),
                        ClusterSearchError::Model(failure) => InternalError::of_panic(failure),
                    }
                })
            }
        }
    }
}

/// What tells the search of a scenario from others.
///
/// # Errors
/// The scenario contains functions in Rust, which no file can name; a sentence says so.
pub(crate) fn identity<P: Service>(
    scenario: &Scenario<P>,
    options: &Options,
    leaves_out_unheard: bool,
) -> Result<Vec<(String, String)>, String> {
    if scenario.has_own_promises() || !scenario.own_properties.is_empty() || !scenario.own_goals.is_empty() {
        let reason =
            "the scenario is named as a file, and a file cannot contain a property or a goal that is defined in Rust";
        return Err(reason.to_owned());
    }
    let on = |switch: bool| if switch { "on" } else { "off" };
    let promises: Vec<String> = scenario.promises.iter().map(|promise| format!("`{}`", promise.property)).collect();
    let mutation = scenario.mutation.map_or_else(|| "none".to_owned(), |mutation| mutation.name());
    Ok([
        ("the scenario's name", format!("`{}`", scenario.name)),
        ("the list of promises", promises.join(", ")),
        ("--symmetry", on(options.symmetry).to_owned()),
        ("--unheard", on(!leaves_out_unheard).to_owned()),
        ("--partial-order", on(options.partial_order).to_owned()),
        ("the mutant", mutation),
        ("what the scenario says, as a digest,", digest(&scenario.to_toml())),
    ]
    .map(|(question, answer)| (question.to_owned(), answer))
    .into())
}

/// A hash of a text, in hexadecimal digits.
fn digest(text: &str) -> String {
    let mut hash = Fingerprinter::default();
    hash.write(text.as_bytes());
    format!("{:016x}", hash.finish())
}

impl<P: Service> Worlds<P> {
    fn locked_pool(&self) -> MutexGuard<'_, Pool<P>> {
        self.pool.lock().expect("no worker panics while it holds the pool")
    }

    /// A mutant: this number, if there is such a part here.
    fn part_at(&self, number: u64) -> Option<u32> {
        u32::try_from(number).ok().filter(|number| (*number as usize) < self.locked_pool().len())
    }
}

impl<P: Service> Stored for Worlds<P> {
    fn encode(&self, state: &Collapsed, to: &mut Vec<u8>) {
        let (fingerprint, parts) = state.numbers();
        to.extend(fingerprint.to_le_bytes());
        parts.iter().for_each(|part| put_number(u64::from(*part), to));
    }

    fn decode(&self, bytes: &[u8]) -> Option<Collapsed> {
        let (fingerprint, mut rest) = bytes.split_first_chunk()?;
        let mut parts = InlineVec::new();
        while !rest.is_empty() {
            parts.push(u32::try_from(take_number(&mut rest)?).ok()?);
        }
        Some(Collapsed::of(u64::from_le_bytes(*fingerprint), parts))
    }

    fn waiting(&self, state: Collapsed) -> Numbers {
        state.into_numbers()
    }

    fn parts(&self) -> u64 {
        self.locked_pool().len() as u64
    }

    fn write_parts(&self, parts: Range<u64>, to: &mut Vec<u8>) -> Result<(), String> {
        let number = |number: u64| u32::try_from(number).expect("parts are numbered by 32 bits");
        self.locked_pool().write(number(parts.start)..number(parts.end), to)
    }

    fn read_parts(&self, bytes: &[u8]) -> Result<(), String> {
        self.locked_pool().read(self.form.normal(), bytes)
    }

    fn counters(&self) -> Vec<u64> {
        self.form.samples().into()
    }

    fn restore(&self, counters: &[u64]) {
        if let Ok(samples) = counters.try_into() {
            self.form.restore_samples(samples);
        }
    }
}

impl<P: Service> Portable<Collapsed> for Worlds<P> {
    fn pack(&self, state: &Collapsed, told: &mut Told, parts: &mut Vec<u8>, to: &mut Vec<u8>) -> Result<(), String> {
        let (fingerprint, numbers) = state.numbers();
        to.extend(fingerprint.to_le_bytes());
        for number in numbers {
            let (place, is_new) = told.place(*number);
            if is_new {
                self.locked_pool().write(*number..*number + 1, parts)?;
            }
            put_number(place.into(), to);
        }
        Ok(())
    }

    fn learn(&self, parts: &[u8], heard: &mut Heard) -> Result<(), String> {
        self.locked_pool().read_any(self.form.normal(), parts, |number| heard.push(number))
    }

    fn unpack(&self, bytes: &[u8], heard: &Heard) -> Option<Collapsed> {
        let (fingerprint, mut rest) = bytes.split_first_chunk()?;
        let mut parts = InlineVec::new();
        while !rest.is_empty() {
            let place = take_number(&mut rest)?;
            let untranslated =
                self.scenario.is_mutated(CheckerMutation::PartsUntranslated).then(|| self.part_at(place));
            parts.push(untranslated.flatten().or_else(|| heard.number(place))?);
        }
        Some(Collapsed::of(u64::from_le_bytes(*fingerprint), parts))
    }

    fn counters(&self) -> Vec<u64> {
        self.form.samples().into()
    }

    fn add(&self, counters: &[u64]) {
        if let Ok(samples) = counters.try_into() {
            self.form.add_samples(samples);
        }
    }
}
