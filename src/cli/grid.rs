//! Every combination of some settings, each searched to the end.

use std::path::Path;
use std::sync::Arc;

use fencepost::AnyScenario;
use fencepost::checker::Options;
use fencepost::model::finding::{Finding, Search, Searched};
use fencepost::model::scenario::{Axis, Varied};

use crate::args::Common;
use crate::exit::CommandError;
use crate::findings::keep;
use crate::parallel::{in_parallel, progress};
use crate::supervisor::Watch;

/// Searches them, on all cores. With a folder, the traces of what breaks lie below it, in a folder for each combination.
pub fn search(
    scenario: &dyn AnyScenario,
    axes: &[Axis],
    watch: &Arc<Watch>,
    out: Option<&Path>,
    common: &Common,
) -> Result<Search, CommandError> {
    let settings: Vec<(usize, Varied<Box<dyn AnyScenario>>)> = scenario.vary(axes).into_iter().enumerate().collect();
    let bar = progress(settings.len(), "settings", common.quiet || common.json);
    let results = in_parallel(&settings, &bar, |(place, varied)| -> Result<Searched, CommandError> {
        let names = varied.settings.clone();
        let scenario = match &varied.scenario {
            Ok(scenario) => scenario,
            Err(error) => return Ok(Searched { settings: names, found: Err(error.message.clone()) }),
        };
        let supervisor: Arc<Watch> = Arc::clone(watch);
        let outcomes = scenario.check(&Options { supervisor, ..Options::default() })?;
        let folder = out.map(|out| out.join(format!("{}-{}", scenario.name(), place + 1)));
        let findings = outcomes.into_iter().map(|outcome| keep(outcome, folder.as_deref()));
        Ok(Searched { settings: names, found: Ok(findings.collect::<Result<Vec<Finding>, CommandError>>()?) })
    });
    Ok(Search {
        is_of_points: false,
        title: String::new(),
        scenario: scenario.name().to_owned(),
        settings: results.into_iter().collect::<Result<_, CommandError>>()?,
    })
}

/// Whether a search stopped early, or a verdict is vacuous.
pub fn is_undecided(search: &Search) -> bool {
    search.settings.iter().flat_map(|searched| searched.found.iter().flatten()).any(Finding::is_undecided)
}
