//! The lines of a certificate: JSON, one object a line, numbered by their order among lines of their kind.

use std::io;

use fencepost_model::monitor::Renaming;
use fencepost_model::properties::Property;
use fencepost_model::service::Service;
use fencepost_model::world::Action;
use serde::Serialize;

/// The format of the file.
pub(super) const FORMAT: u32 = 2;

/// The first line.
#[derive(Serialize)]
pub(super) struct CertificateHeader<'a> {
    pub(super) fencepost_certificate: u32,
    /// The version of the program that wrote it.
    pub(super) version: &'a str,
    pub(super) system: &'a str,
    /// The scenario as a TOML file, with the promises that are certified.
    pub(super) scenario: String,
}

/// Every other line.
#[derive(Serialize)]
#[serde(rename_all = "snake_case", bound = "")]
pub(super) enum CertificateLine<'a, P: Service, T: Serialize = ()> {
    /// A server, a client, a message, or a world without them.
    Server(&'a T),
    Client(&'a T),
    Message(&'a T),
    Frame(&'a T),
    /// How a successor becomes the world that stands for it.
    Witness(&'a Witness),
    /// The member that stands for the initial world, and its witness.
    Start(u32, u32),
    /// A world, as numbers of its server, its frame, its clients and its messages; then the target and the witness of each action that is
    /// enabled in it.
    Member(u32, u32, &'a [u32], &'a [u32], &'a [(u32, u32)]),
    /// A class of actions that is fair, as the shape of its actions.
    Class(&'a Action<P>),
    /// A promise about endless executions, and the client that it is about, if it is about one.
    Endless(Property, Option<u16>, Vec<LayerLine<'a>>),
    /// How many members and transitions there are.
    End(u64, u64),
}

/// How a world becomes the one that stands for it: clients change places first, if they do, then instants and numbers change.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub(super) struct Witness {
    /// For each place the place of the client that stands there afterwards; empty if all stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) order: Vec<usize>,
    #[serde(flatten)]
    pub(super) renaming: Renaming,
}

/// A component number for each member that counts, and for components with a cycle the class that is never taken in them.
#[derive(Serialize)]
pub(super) struct LayerLine<'a> {
    pub(super) component: &'a [Option<u32>],
    pub(super) missed: &'a [(u32, u16)],
}

/// Writes a line. It is a text first, as the lines of traces and stores are: so a service's types are compiled for one writer only.
pub(super) fn write(out: &mut dyn io::Write, line: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(line)?;
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}
