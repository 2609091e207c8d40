//! The commands with their options, from the command line itself, and the exit codes.

use clap::{Arg, Command};

use super::{Reference, cell, code, reference};
use crate::exit::Exit;

/// The page of the commands.
pub fn page(command: Command) -> Reference {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let mut text = "# Commands and exit codes\n\n## Exit codes\n\n| code | meaning |\n|---|---|\n".to_owned();
    for exit in Exit::ALL {
        text += &format!("| `{}` | {} |\n", exit as u8, exit.about());
    }
    text += "\nSome commands have meanings of their own for 0, 1 and 3: they stand with the command.\n\n## Options of every command\n\n";
    let global: Vec<&Arg> = command.get_arguments().filter(|argument| argument.is_global_set()).collect();
    text += &options(&global);
    for below in shown(&command) {
        one(&mut text, below, "fencepost", 2);
    }
    reference("commands", "Commands and exit codes", text)
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn one(text: &mut String, command: &Command, above: &str, level: usize) {
    let name = format!("{above} {}", command.get_name());
    *text += &format!("{} `{name}`\n\n", "#".repeat(level));
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    *text += &format!("{}\n\n", escaped(&about));
    let usage = command.clone().render_usage().to_string();
    *text += &format!("```text\n{}\n```\n\n", usage.trim_start_matches("Usage: ").trim());
    let own = |argument: &&Arg| !argument.is_global_set() && !argument.is_hide_set() && argument.get_id() != "help";
    let own: Vec<&Arg> = command.get_arguments().filter(own).collect();
    if !own.is_empty() {
        *text += &options(&own);
    }
    if let Some(after) = command.get_after_help() {
        *text += &format!("{}\n\n", escaped(&after.to_string()));
    }
    shown(command).for_each(|below| one(text, below, &name, level + 1));
}

fn options(arguments: &[&Arg]) -> String {
    let mut text = "| option | meaning | default |\n|---|---|---|\n".to_owned();
    for argument in arguments {
        let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| code(value.get_name()))
            .collect();
        let takes = argument.get_action().takes_values() && !values.is_empty();
        let values = if takes { format!(": {}", values.join(", ")) } else { String::new() };
        let defaults: Vec<String> =
            argument.get_default_values().iter().map(|value| code(&value.to_string_lossy())).collect();
        let default = if argument.get_action().takes_values() { defaults.join(", ") } else { String::new() };
        text += &format!("| {} | {}{values} | {default} |\n", code(argument.to_string().trim()), cell(&escaped(&help)));
    }
    text + "\n"
}

/// Help is plain text: what Markdown would read as something else is escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut is_code = false;
    for c in text.chars() {
        is_code ^= c == '`';
        if !is_code && "*_<>[]#".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
