//! The file of hosts: a line for each process, as `host:port`. Empty lines and those that begin with `#` are left out.

use std::fs;
use std::path::Path;

/// The address of each process.
///
/// # Errors
/// The file cannot be read or a line is no address; a sentence says which.
pub(super) fn addresses(file: &Path) -> Result<Vec<String>, String> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{name} cannot be read: {error}"))?;
    let lines = text.lines().map(str::trim).zip(1..);
    let mut addresses: Vec<String> = Vec::new();
    for (address, line) in lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#')) {
        let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(1..))) || address.contains(char::is_whitespace) {
            return Err(format!("{name}, line {line}: `{address}` is no address, as host:port"));
        }
        if addresses.iter().any(|other| other == address) {
            return Err(format!("{name}, line {line}: {address} is named twice"));
        }
        addresses.push(address.to_owned());
    }
    if addresses.is_empty() {
        return Err(format!("{name} names no process: a line for each, as host:port"));
    }
    Ok(addresses)
}
