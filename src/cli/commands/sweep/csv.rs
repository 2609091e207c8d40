//! A store as a table for other programs: a line for each run.

use std::io::Write;

use super::plan::Jobs;
use super::store::Store;
use crate::exit::CommandError;

/// Writes a line for each run: the settings that vary, the seed, what the run came to, and for each promise at which step it broke.
///
/// # Errors
/// The store cannot be read, or the table not be written.
pub fn export(store: &Store, jobs: &Jobs, to: impl Write) -> Result<(), CommandError> {
    let wrong = |error: csv::Error| CommandError::Input(format!("the table cannot be written: {error}"));
    let mut table = csv::Writer::from_writer(to);
    let promises = jobs.promises();
    let names = jobs.settings.first().map(|setting| setting.names.iter().map(|name| split(name).0).collect());
    let names: Vec<&str> = names.unwrap_or_default();
    let columns = ["seed", "actions", "ticks", "at_rest", "digest"];
    let promised = promises.iter().map(|property| property.name());
    table.write_record(names.into_iter().chain(columns).chain(promised)).map_err(wrong)?;
    store.for_each(jobs, |run| {
        let setting = jobs.settings.get(run.setting).map(|setting| setting.names.as_slice()).unwrap_or_default();
        let mut line: Vec<String> = setting.iter().map(|name| split(name).1.to_owned()).collect();
        line.extend([run.seed.to_string(), run.actions.to_string(), run.ticks.to_string()]);
        line.extend([u8::from(run.is_at_rest).to_string(), run.digest]);
        for property in &promises {
            let broken = run.violations.iter().find(|broken| broken.property == property.name());
            line.push(broken.map(|broken| broken.step.to_string()).unwrap_or_default());
        }
        table.write_record(&line).map_err(wrong)
    })?;
    table.flush().map_err(|error| wrong(error.into()))
}

/// Name and value of a setting: `ttl = 1`, or `no ttl`.
fn split(setting: &str) -> (&str, &str) {
    setting.split_once(" = ").unwrap_or((setting.strip_prefix("no ").unwrap_or(setting), "none"))
}
