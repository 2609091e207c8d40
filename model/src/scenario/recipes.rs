//! What reading a file asks of a service about its recipes, as data, so that the code around it is compiled once.

use toml::Table;

use super::file::{settings_from_toml, table};
use crate::service::{Service, Settings as _};
use crate::time::Ticks;
use crate::units::Duration;

/// The recipes of a service.
pub(super) struct Recipes {
    /// Names and settings in TOML.
    pub(super) texts: &'static [(&'static str, &'static str)],
    /// The length of their tick; none: their durations have no length.
    pub(super) tick: Option<Duration>,
    /// Reads settings in TOML, changes each of their durations, and returns all settings.
    pub(super) change: Change,
}

type Change = fn(&str, &mut dyn FnMut(&mut Ticks)) -> Table;

impl Recipes {
    pub(super) fn of<P: Service>() -> Self {
        Recipes { texts: P::RECIPES, tick: P::RECIPE_TICK, change: change::<P> }
    }
}

fn change<P: Service>(text: &str, durations: &mut dyn FnMut(&mut Ticks)) -> Table {
    let mut settings = settings_from_toml::<P>(text).expect("recipes are tested");
    settings.durations(durations);
    table(&settings)
}
