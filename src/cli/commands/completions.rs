//! `fencepost completions`: a script by which a shell completes commands, options and names of scenarios.

use std::env;
use std::ffi::OsStr;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::{Shell, generate};
use fencepost::catalogue;

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::say;

/// Write a completion script for a shell
///
/// The script completes commands, options and their values; words that are no option are completed as files. In bash the first word
/// after a command that takes scenarios is completed with the names of the catalogue as well.
///
/// bash: fencepost completions bash > ~/.local/share/bash-completion/completions/fencepost
///
/// zsh: fencepost completions zsh > DIR/_fencepost, where DIR is in $fpath
///
/// fish: fencepost completions fish > ~/.config/fish/completions/fencepost.fish
#[derive(Args, Debug)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// `command`: the whole command line.
pub fn run(completions: &Completions, mut command: Command, common: &Common) -> Result<Exit, CommandError> {
    if common.json {
        return Err(CommandError::Input("--json: a script is no JSON object; leave the option out".to_owned()));
    }
    // The other shells would complete no files any more where names are possible.
    if completions.shell == Shell::Bash {
        command = with_names(command);
    }
    let mut script = Vec::new();
    generate(completions.shell, &mut command, program(), &mut script);
    say(&String::from_utf8(script).expect("a script is text"));
    Ok(Exit::AsExpected)
}

/// The name by which this program was called: one with recipes of its own has another name.
fn program() -> String {
    let called = env::args_os().next();
    let name = called.as_deref().map(Path::new).and_then(Path::file_stem).and_then(OsStr::to_str);
    name.unwrap_or("fencepost").to_owned()
}

/// The arguments that are scenarios, by their names in the commands. The script tells the first word after a command apart from the
/// others, and not the second from the first: `b` of `diff` would list every name twice.
const SCENARIOS: [&str; 3] = ["target", "targets", "a"];

/// The command line with the names of scenarios as the values of arguments that take scenarios. It is for scripts only: such an
/// argument can be a hazard or a file as well.
fn with_names(command: Command) -> Command {
    let names: Vec<&str> = catalogue::files().map(|(name, _)| name).collect();
    let named = |argument: Arg| {
        // One with a default value takes something else, too.
        let is_scenario = SCENARIOS.contains(&argument.get_id().as_str()) && argument.get_default_values().is_empty();
        if is_scenario { argument.value_parser(PossibleValuesParser::new(names.clone())) } else { argument }
    };
    command.mut_subcommands(|command| command.mut_args(&named))
}
