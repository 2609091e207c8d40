//! `fencepost schema`: JSON Schemas of scenario files, for editors, and of the lines of `--json`, for programs.

use clap::Args;
use fencepost::catalogue::CATALOGUE;
use serde_json::Value;

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json;
use crate::output::say;

#[derive(Args, Debug)]
pub struct Schema {
    /// Only scenarios of this system and of others of the same service: errors then name the field [default: all]
    system: Option<String>,
    /// The lines that commands print with --json instead, of one command or of all
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with = "system")]
    json_lines: Option<String>,
}

pub fn run(schema: &Schema, common: &Common) -> Result<Exit, CommandError> {
    let value = match schema.json_lines.as_deref() {
        None => of_scenarios(schema.system.as_deref())?,
        Some("") => json::schema(None),
        Some(command) if json::commands().any(|known| known == command) => json::schema(Some(command)),
        Some(command) => {
            let known: Vec<&str> = json::commands().collect();
            let message =
                format!("`{command}` is no command that prints JSON lines; there are `{}`", known.join("`, `"));
            return Err(CommandError::Input(message));
        }
    };
    let text = if common.json { serde_json::to_string(&value) } else { serde_json::to_string_pretty(&value) };
    say(&format!("{}\n", text.expect("plain data can be written")));
    Ok(Exit::AsExpected)
}

fn of_scenarios(system: Option<&str>) -> Result<Value, CommandError> {
    let Some(system) = system else { return Ok(CATALOGUE.schema()) };
    let service = CATALOGUE.service(system).ok_or_else(|| {
        let known: Vec<&str> = CATALOGUE.systems().collect();
        CommandError::Input(format!("there is no system `{system}`; there are `{}`", known.join("`, `")))
    })?;
    Ok(service.schema("/definitions"))
}
