//! The configuration of a Consul agent, as a file in JSON: client libraries' test suites start an agent with one.

use std::net::IpAddr;

use fencepost_conform::nanoseconds;
use serde_json::{Map, Value};

use crate::settings::Settings;

/// What a configuration said besides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Configured {
    /// Where to listen, if it says so.
    pub listen: Option<String>,
    /// Fields that mean nothing to a stand-in.
    pub ignored: Vec<String>,
}

impl Settings {
    /// Takes over what a Consul configuration says: `node_name`, `node_id`, `datacenter`, `node_meta`, `session_ttl_min`, `ports.http`, and
    /// `client_addr` or `bind_addr`.
    ///
    /// # Errors
    /// It is no JSON object, or one of these fields is not what it should be.
    ///
    /// ```
    /// use fencepost_serve::Settings;
    ///
    /// let mut settings = Settings::default();
    /// let text = r#"{"node_name": "here", "bind_addr": "127.0.0.1", "ports": {"http": 8500}, "connect": {}}"#;
    /// let configured = settings.configure(text)?;
    /// assert_eq!(configured.listen.as_deref(), Some("127.0.0.1:8500"));
    /// assert_eq!((settings.node.as_str(), &configured.ignored[..]), ("here", &["connect".to_owned()][..]));
    /// # Ok::<(), String>(())
    /// ```
    pub fn configure(&mut self, text: &str) -> Result<Configured, String> {
        let fields: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut ignored = Vec::new();
        let (mut port, mut address, mut bind) = (None, None, None);
        for (name, value) in &fields {
            let text = || value.as_str().map(str::to_owned).ok_or_else(|| format!("{name}: {value} is no text"));
            match name.as_str() {
                "node_name" => self.node = text()?,
                "node_id" => self.node_id = text()?,
                "datacenter" => self.datacenter = text()?.to_lowercase(),
                "client_addr" => address = Some(text()?),
                "bind_addr" => bind = Some(text()?),
                "session_ttl_min" => {
                    self.options.session_ttl_min = nanoseconds(&text()?).map_err(|why| format!("{name}: {why}"))?;
                }
                "node_meta" => {
                    let meta = serde_json::from_value(value.clone());
                    self.node_meta = meta.map_err(|_| format!("{name}: {value} is no object of texts"))?;
                }
                "ports" => port = port_of(value, &mut ignored)?,
                _ => ignored.push(name.clone()),
            }
        }
        if self.node.is_empty() {
            return Err("node_name: it is empty".to_owned());
        }
        let host = address.or(bind).unwrap_or_else(|| "127.0.0.1".to_owned());
        let host: IpAddr = host.parse().map_err(|_| format!("client_addr or bind_addr: {host} is no IP address"))?;
        let listen = port.map(|port| std::net::SocketAddr::new(host, port).to_string());
        Ok(Configured { listen, ignored })
    }
}

/// The port of the HTTP API; the others are not listened to.
fn port_of(ports: &Value, ignored: &mut Vec<String>) -> Result<Option<u16>, String> {
    let mut found = None;
    for (name, port) in ports.as_object().into_iter().flatten() {
        if name == "http" {
            let port = port.as_u64().and_then(|port| u16::try_from(port).ok());
            found = Some(port.ok_or("ports.http: a number up to 65535")?);
        } else {
            ignored.push(format!("ports.{name}"));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn the_configuration_of_the_go_clients_test_suite_is_understood() {
        let text = r#"{"node_name": "node-1", "node_id": "e38bee8c-0000", "performance": {"raft_multiplier": 1}, "bootstrap": true,
            "server": true, "data_dir": "/tmp/x", "log_level": "debug", "bind_addr": "127.0.0.1",
            "ports": {"dns": 11, "http": 12, "https": 13, "server": 16}, "session_ttl_min": "1s", "node_meta": {"zone": "a"}}"#;
        let mut settings = Settings::default();
        let configured = settings.configure(text).expect("a configuration");
        assert_eq!(configured.listen.as_deref(), Some("127.0.0.1:12"));
        assert!(configured.ignored.contains(&"ports.dns".to_owned()));
        assert_eq!((settings.node_id.as_str(), settings.options.session_ttl_min), ("e38bee8c-0000", 1_000_000_000));
        assert_eq!(settings.node_meta["zone"], "a");
        for (text, part) in [
            (r#"{"node_meta": {"zone": 1}}"#, "no object of texts"),
            ("[]", "expected a map"),
            (r#"{"node_name": 1}"#, "no text"),
            (r#"{"ports": {"http": 70000}}"#, "ports.http"),
            (r#"{"bind_addr": "here"}"#, "no IP address"),
            (r#"{"session_ttl_min": "soon"}"#, "session_ttl_min: invalid"),
        ] {
            let error = Settings::default().configure(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
