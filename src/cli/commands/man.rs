//! `fencepost man`: manual pages, one for the program and one for each command.

use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::json::WrittenJson;
use crate::output::{say, say_json, write};

/// Write manual pages into a folder: one for the program, and one for each command
///
/// `man -M` wants the folder above: `fencepost man --out pages/man1`, then `man -M pages fencepost-check`.
#[derive(Args, Debug)]
pub struct Man {}

/// `command`: the whole command line.
pub fn run(_: &Man, command: Command, common: &Common) -> Result<Exit, CommandError> {
    let Some(out) = &common.out else {
        return Err(CommandError::Input("man: say where the pages go: --out DIR".to_owned()));
    };
    let mut command = command.disable_help_subcommand(true);
    command.build();
    for page in pages(&command) {
        let file = out.join(page.get_filename());
        let mut text = Vec::new();
        page.render(&mut text).expect("memory can be written");
        write(&file, &String::from_utf8(text).expect("a page is text"))?;
        let file = file.display().to_string();
        if common.json {
            say_json(&WrittenJson { file: &file });
        } else if !common.quiet {
            say(&format!("{file}\n"));
        }
    }
    Ok(Exit::AsExpected)
}

/// The page of a command, and those of the commands below it.
fn pages(command: &Command) -> Vec<Page> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set()).flat_map(pages);
    [Page::new(command.clone())].into_iter().chain(below).collect()
}
