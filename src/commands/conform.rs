//! `fencepost conform`: the model held against a real Consul agent.

use std::path::PathBuf;

use clap::Args;
use fencepost::conform::{Consul, Exchange, hunt};

use super::output::say;
use super::parallel::progress;
use super::{Common, Exit, Trouble};

#[derive(Args, Debug)]
pub struct Conform {
    /// Where an agent listens, as http://127.0.0.1:8500; everything in it is removed, again and again
    #[arg(long, value_name = "URL", required_unless_present = "recorded", conflicts_with = "recorded")]
    consul: Option<String>,
    /// A log of requests and answers to be judged
    #[arg(long, value_name = "FILE")]
    recorded: Option<PathBuf>,
    /// How many answers to compare
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    commands: u64,
    /// From which seed commands are drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Go on although somebody has put something into the agent, and remove it
    #[arg(long)]
    wipe: bool,
}

pub fn run(conform: &Conform, common: &Common) -> Result<Exit, Trouble> {
    let Some(address) = &conform.consul else { return Err(Trouble::Input("not yet".to_owned())) };
    let input = |trouble: fencepost::conform::Trouble| Trouble::Input(trouble.0);
    let consul = Consul::connect(address).map_err(input)?;
    if let Some(contents) = consul.contents().map_err(input)?.filter(|_| !conform.wipe) {
        return Err(Trouble::Input(format!(
            "the agent is in use: it has {contents}. Everything in it would be removed; --wipe says that it may be"
        )));
    }
    let bar = progress(usize::try_from(conform.commands).unwrap_or(usize::MAX), "answers compared", common.quiet);
    let found = hunt(&consul, conform.seed, conform.commands, &mut |count| bar.set_position(count)).map_err(input)?;
    bar.finish_and_clear();
    if let Some(exchanges) = &found.difference {
        say(&transcript(exchanges));
        return Ok(Exit::Unexpected);
    }
    say(&found.tally.table());
    Ok(Exit::AsExpected)
}

/// A short list of curl-like lines with both answers.
fn transcript(exchanges: &[Exchange]) -> String {
    let mut text = String::new();
    for exchange in exchanges {
        let question = &exchange.question;
        let body = String::from_utf8_lossy(&question.body);
        text += &format!("curl -X {} '{}'", question.method, question.url);
        if !body.is_empty() {
            text += &format!(" -d '{}'", body.chars().take(300).collect::<String>());
        }
        text += &format!(
            "\n    {} {}\n",
            exchange.reply.status,
            String::from_utf8_lossy(&exchange.reply.body).replace('\n', "").replace("    ", "")
        );
        if let Some(difference) = &exchange.difference {
            text += &format!("    differs: {difference}\n    the model: {:?}\n", exchange.expected);
        }
    }
    text
}
