//! Where a broker is, and as which user it is talked to.

use amq_protocol::uri::{AMQPScheme, AMQPUri};

use crate::BrokerError;

/// The address of a broker, with a user and a virtual host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BrokerAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) virtual_host: String,
}

impl BrokerAddress {
    /// Reads an address like `amqp://user:password@127.0.0.1:5672/vhost`. Without a user it is guest, without a virtual host `/`,
    /// without a port 5672; `amqp://` may be left out.
    ///
    /// # Errors
    /// [`BrokerError::Address`]: it is no such address, or one of a connection with TLS, which is not spoken here.
    pub fn parse(text: &str) -> Result<Self, BrokerError> {
        let failure = |why: String| BrokerError::Address { address: text.to_owned(), why };
        let whole = if text.contains("://") { text.to_owned() } else { format!("amqp://{text}") };
        let uri: AMQPUri = whole.parse().map_err(failure)?;
        if uri.scheme == AMQPScheme::AMQPS {
            return Err(failure("TLS is not spoken here: use an address that begins with amqp://".to_owned()));
        }
        Ok(BrokerAddress {
            host: uri.authority.host,
            port: uri.authority.port,
            user: uri.authority.userinfo.username,
            password: uri.authority.userinfo.password,
            // `amqp://host/` names the virtual host whose name is empty.
            virtual_host: if uri.vhost.is_empty() { "/".to_owned() } else { uri.vhost },
        })
    }

    /// The same broker as another user.
    #[must_use]
    pub fn as_user(&self, user: &str, password: &str) -> Self {
        BrokerAddress { user: user.to_owned(), password: password.to_owned(), ..self.clone() }
    }

    /// Host and port.
    pub fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_their_defaults() {
        let plain = BrokerAddress::parse("127.0.0.1:18750").expect("an address");
        assert_eq!(plain, BrokerAddress::parse("amqp://guest:guest@127.0.0.1:18750/").expect("an address"));
        assert_eq!(plain.authority(), "127.0.0.1:18750");
        let whole = BrokerAddress::parse("amqp://ours:secret@localhost/locks").expect("an address");
        assert_eq!((whole.user.as_str(), whole.password.as_str()), ("ours", "secret"));
        assert_eq!((whole.port, whole.virtual_host.as_str()), (5672, "locks"));
        assert_eq!(plain.as_user("ours", "secret").user, "ours");
    }

    #[test]
    fn what_is_no_address_is_said() {
        for (text, part) in [("amqps://127.0.0.1", "TLS"), ("http://127.0.0.1", "scheme"), ("amqp://[", "")] {
            let error = BrokerAddress::parse(text).expect_err(text).to_string();
            assert!(error.contains(part) && error.starts_with(text), "{error}");
        }
    }
}
