//! `fencepost explore`: the state space of a scenario in a browser.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use clap::Args;

use crate::args::Common;
use crate::exit::{CommandError, Exit};
use crate::output::say;
use crate::supervisor::serve_until_interrupted;
use crate::target;

#[derive(Args, Debug)]
pub struct Explore {
    /// A scenario or scenario file
    target: String,
    /// Where browsers find it, on this machine only
    #[arg(long, default_value = "127.0.0.1:3000", value_name = "ADDRESS:PORT")]
    address: SocketAddr,
}

pub fn run(explore: &Explore, common: &Common) -> Result<Exit, CommandError> {
    let scenario = target::one(&explore.target, common)?;
    let address = explore.address;
    if !address.ip().is_loopback() {
        return Err(CommandError::Input(format!("--address {address}: it would be open to others; use 127.0.0.1")));
    }
    if Path::new("ui").exists() {
        return Err(CommandError::Input(
            "the Explorer would serve the folder `ui` that is here; start it from another one".to_owned(),
        ));
    }
    // The Explorer panics when it cannot bind: so try first.
    drop(TcpListener::bind(address).map_err(|error| CommandError::Input(format!("--address {address}: {error}")))?);
    serve_until_interrupted();
    say(&format!("{} is at http://{address}/ until Ctrl-C\n", scenario.name()));
    scenario.browse(address);
    Ok(Exit::AsExpected)
}
