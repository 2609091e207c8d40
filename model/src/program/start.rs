//! Which program a client runs, and how a scenario says so.

use super::kind::{self, encode};
use super::lap_script::LapScript;
use super::{Programmable, Recipe};
use crate::ids::ClientId;
use crate::programs::ScenarioProgram;
use crate::properties::Property;
use crate::scenario::{Scenario, SettingError};

/// The program that a client runs at its start.
#[derive(Copy, Clone)]
pub(super) struct Start<'a>(&'a ScenarioProgram);

impl<'a> Start<'a> {
    /// The program of a client, if it runs one.
    pub(super) fn of(programs: &'a [ScenarioProgram], client: ClientId) -> Option<Self> {
        ScenarioProgram::of(programs, client).map(Start)
    }

    /// How many ticks of the scenario are one of the program's.
    pub(super) fn factor(self) -> i64 {
        self.0.factor
    }

    /// The lap that begins with the value that the scenario has.
    pub(super) fn script<S: Programmable>(self) -> LapScript<S> {
        let kind = kind::find(&self.0.name).expect("validation refuses programs that are not known");
        LapScript::head(kind, self.0.head.clone())
    }
}

impl<S: Programmable> Scenario<S> {
    /// Has a client run a recipe. Its panics are violations of [`Property::NoPanic`], which is promised from now on.
    ///
    /// # Panics
    /// Another recipe has the same name.
    pub fn program<R: Recipe<S>>(self, client: ClientId, recipe: R) -> Self {
        self.with_program(Some(client), &recipe)
    }

    /// Has every client that wants the lock, and for which no program is given, run a recipe.
    ///
    /// # Panics
    /// Another recipe has the same name.
    pub fn programs<R: Recipe<S>>(self, recipe: R) -> Self {
        self.with_program(None, &recipe)
    }

    fn with_program<R: Recipe<S>>(mut self, client: Option<ClientId>, recipe: &R) -> Self {
        let kind = kind::of::<S, R>();
        self.programs.retain(|program| program.client != client);
        self.programs.push(ScenarioProgram {
            client,
            name: kind.name.to_owned(),
            package: kind.package.to_owned(),
            head: encode(recipe),
            factor: 1,
        });
        if !self.promises.iter().any(|promise| promise.property == Property::NoPanic) {
            self = self.promise(Property::NoPanic);
        }
        self
    }

    /// The participants after the first `others` that run programs: third parties, which want no lock.
    pub fn third_parties(&self, others: u16) -> Vec<ClientId> {
        let mut all: Vec<ClientId> = self.programs.iter().filter_map(|program| program.client).collect();
        all.retain(|client| client.0 > others);
        all.sort();
        all
    }

    /// The same validation where third parties may run programs, too, numbered after `others` participants: the contenders, and what
    /// the settings bring along.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn validate_programs_with_third_parties(&self, others: u16) -> Result<(), SettingError> {
        for (place, program) in self.programs.iter().enumerate() {
            let wrong = |message| Err(SettingError::at(&format!("program.{place}.client"), message));
            match program.client {
                Some(client) if client.0 > self.clients && client.0 <= others => {
                    return wrong(format!("{client} is a participant of the settings, and runs no program"));
                }
                Some(client)
                    if client.0 > others + 1
                        && !self.programs.iter().any(|other| other.client == Some(ClientId(client.0 - 1))) =>
                {
                    return wrong(format!("third parties are numbered from {}, without gaps", others + 1));
                }
                _ => {}
            }
        }
        let third_parties = u16::try_from(self.third_parties(others).len()).unwrap_or(u16::MAX);
        self.validate_programs_of(others.saturating_add(third_parties))
    }

    /// Looks for programs that are not known here, or that cannot begin: for the validation of services that have programs.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn validate_programs(&self) -> Result<(), SettingError> {
        self.validate_programs_of(self.clients)
    }

    /// The same where participants that are no contenders may run programs, too: with the number of all of them.
    ///
    /// # Errors
    /// The first mistake found.
    pub fn validate_programs_of(&self, participants: u16) -> Result<(), SettingError> {
        for (place, program) in self.programs.iter().enumerate() {
            let wrong =
                |field: &str, message: String| Err(SettingError::at(&format!("program.{place}.{field}"), message));
            if program.client.is_some_and(|client| !(1..=participants).contains(&client.0)) {
                return wrong("client", format!("the scenario has clients from 1 to {participants}"));
            }
            if self.programs[..place].iter().any(|other| other.client == program.client) {
                return wrong("client", "it runs another program already".to_owned());
            }
            if !(1..=1_000_000).contains(&program.factor) {
                return wrong("factor", "it refines the clock: use 1 or more".to_owned());
            }
            let Some(kind) = kind::find::<S>(&program.name) else {
                let known = kind::names::<S>().join("`, `");
                let known = if known.is_empty() { "none is".to_owned() } else { format!("there are `{known}`") };
                let message = format!(
                    "the program `{}` of the crate `{}` is not known here ({known}): run this where that crate registers it",
                    program.name, program.package
                );
                return wrong("name", message);
            };
            if let Err(error) = kind.visited(&program.head, &mut super::names::NoVisitor) {
                return wrong("head", format!("`{}` cannot begin with this: {error}", program.name));
            }
        }
        Ok(())
    }
}
