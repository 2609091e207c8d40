//! `fencepost record`: a proxy in front of a Consul agent that writes a log of requests and answers.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use fencepost_conform::{CLIENT_HEADER, Recorder};

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::supervisor::{stop_on_interrupt, was_interrupted};

#[derive(Args, Debug)]
pub struct Record {
    /// Where to listen for clients, as 127.0.0.1:8501
    #[arg(long, value_name = "ADDRESS")]
    listen: String,
    /// The Consul agent behind it, as http://127.0.0.1:8500
    #[arg(long, value_name = "URL")]
    upstream: String,
    /// The log, as `conform --recorded` reads it
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
}

/// Records until it is interrupted.
pub fn run(record: &Record, common: &Common) -> Result<Exit, CommandError> {
    stop_on_interrupt();
    let input = |error: fencepost_conform::ConformError| CommandError::Input(error.0);
    let recorder = Recorder::bind(&record.listen, &record.upstream).map_err(input)?;
    let address = recorder.address().map_err(input)?;
    let log =
        File::create(&record.log).map_err(|error| CommandError::Input(format!("{}: {error}", record.log.display())))?;
    if !common.quiet {
        eprintln!("listening on http://{address}; a client may give its name in the header {CLIENT_HEADER}");
    }
    let log: Box<dyn Write + Send> = Box::new(log);
    recorder.run(log, &was_interrupted).map_err(input)?;
    Ok(Exit::AsExpected)
}
