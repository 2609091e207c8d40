//! `fencepost schema`: the JSON Schema of scenario files, for editors.

use clap::Args;
use fencepost::catalogue::CATALOGUE;

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::say;

#[derive(Args, Debug)]
pub struct Schema {
    /// Only scenarios of this system and of others of the same service: errors then name the field [default: all]
    system: Option<String>,
}

pub fn run(schema: &Schema, common: &Common) -> Result<Exit, CommandError> {
    let value = match schema.system.as_deref() {
        None => CATALOGUE.schema(),
        Some(system) => {
            let service = CATALOGUE.service(system).ok_or_else(|| {
                let known: Vec<&str> = CATALOGUE.systems().collect();
                CommandError::Input(format!("there is no system `{system}`; there are `{}`", known.join("`, `")))
            })?;
            service.schema("/definitions")
        }
    };
    let text = if common.json { serde_json::to_string(&value) } else { serde_json::to_string_pretty(&value) };
    say(&format!("{}\n", text.expect("plain data can be written")));
    Ok(Exit::AsExpected)
}
