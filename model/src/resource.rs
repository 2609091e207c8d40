//! The protected resource: it takes writes, and may compare a write's token with the highest token it has seen.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::Fact;
use crate::ids::{Call, ClientId, Tenure, Token};
use crate::mutation::{KernelMutation, Mutation};
use crate::normal::Normal;
use crate::service::Service;

/// The check that the resource applies to writes.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Accepts {
    /// None: every write is accepted. There is no fencing.
    #[default]
    All,
    /// Fencing: a token lower than the highest token seen is refused.
    NotLower,
    /// Strict fencing: a token must be higher than every token seen, so a token serves for one write.
    Greater,
    /// Compare-and-set: a write names the version that its client read before it asked for the lock. It is accepted if
    /// there was no write since.
    Unchanged,
}

/// A write to the resource.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Normal, Serialize, Deserialize)]
pub struct Write {
    /// The value that the resource compares.
    pub token: Token,
    /// Ghost: the tenure in which it was sent. The world stamps it, and only properties read it.
    pub tenure: Tenure,
    /// The call of the response, if the client waits for one.
    pub call: Option<Call>,
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write")?;
        match (self.token, self.tenure) {
            (Token(0), Tenure(0)) => Ok(()),
            (Token(0), tenure) => write!(f, " ({tenure})"),
            (token, Tenure(0)) => write!(f, " ({token})"),
            (token, tenure) => write!(f, " ({token}, {tenure})"),
        }?;
        self.call.map_or(Ok(()), |call| write!(f, " [{}]", call.0))
    }
}

/// The resource's memory.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Resource {
    /// The highest token seen, or the number of writes; not kept if nothing is compared.
    pub highest: Token,
}

impl Resource {
    /// Judges a write and remembers its token; returns the fact.
    pub fn judge<P: Service>(
        &mut self,
        from: ClientId,
        write: Write,
        accepts: Accepts,
        mutation: Option<Mutation>,
    ) -> Fact<P> {
        let is_accepted = match accepts {
            Accepts::All => true,
            Accepts::NotLower if mutation == Some(KernelMutation::ResourceRefusesEqualTokens.into()) => {
                write.token > self.highest
            }
            Accepts::NotLower if mutation == Some(KernelMutation::ResourceIgnoresTokens.into()) => true,
            Accepts::NotLower => write.token >= self.highest,
            Accepts::Greater => write.token > self.highest,
            Accepts::Unchanged => write.token == self.highest,
        };
        let Write { token, tenure, .. } = write;
        if !is_accepted {
            if mutation == Some(KernelMutation::ResourceForgets.into()) {
                self.highest = Token::default();
            }
            return Fact::WriteRefused { client: from, token, tenure };
        }
        self.highest = match accepts {
            Accepts::All => self.highest,
            Accepts::NotLower | Accepts::Greater => self.highest.max(token),
            Accepts::Unchanged => self.highest.next(),
        };
        Fact::Written { client: from, token, tenure }
    }
}
