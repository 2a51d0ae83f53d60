//! Where the server listens: loopback or a unix socket. Other addresses need TLS, which the server does not speak.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use checkrein_engine::error::CommandError;

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port of this machine that no other machine reaches; port 0 is any free one.
    Loopback(SocketAddr),
    /// A socket in the file system, readable by its owner.
    Unix(PathBuf),
}

/// Why a text is not an address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressError {
    /// It is neither `IP:PORT` nor `unix:PATH`.
    Unreadable(String),
    /// Other machines could reach it.
    NotLoopback(SocketAddr),
}

impl Address {
    /// Reads `127.0.0.1:PORT`, `[::1]:PORT`, `localhost:PORT` or `unix:PATH`.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        // The name is not looked up: what it leads to is up to others.
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address: SocketAddr = numeric
            .as_deref()
            .unwrap_or(text)
            .parse()
            .map_err(|_| AddressError::Unreadable(text.to_owned()))?;
        if address.ip().is_loopback() {
            Ok(Self::Loopback(address))
        } else {
            Err(AddressError::NotLoopback(address))
        }
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(text) => write!(formatter, "`{text}` is not an address"),
            Self::NotLoopback(address) => {
                write!(
                    formatter,
                    "`{address}` can be reached from other machines, and the server does not speak TLS"
                )
            }
        }
    }
}

impl std::error::Error for AddressError {}

impl From<AddressError> for CommandError {
    fn from(error: AddressError) -> Self {
        let hint = match &error {
            AddressError::Unreadable(_) => "use `127.0.0.1:PORT`, `[::1]:PORT` or `unix:PATH`",
            AddressError::NotLoopback(_) => {
                "listen on `127.0.0.1:PORT`; `ssh -L PORT:127.0.0.1:PORT HOST` reaches it from elsewhere"
            }
        };
        Self::user(error.to_string(), hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_listened_to() {
        for text in ["127.0.0.1:0", "127.1.2.3:80", "[::1]:8080", "localhost:9"] {
            assert!(matches!(Address::parse(text), Ok(Address::Loopback(_))), "{text}");
        }
        assert_eq!(Address::parse("unix:/run/x"), Ok(Address::Unix("/run/x".into())));
        for text in ["0.0.0.0:80", "[::]:80", "192.168.1.2:80", "[::ffff:10.0.0.1]:80"] {
            assert!(matches!(Address::parse(text), Err(AddressError::NotLoopback(_))), "{text}");
        }
        for text in ["", "127.0.0.1", "example.org:80", "unix:", "127.0.0.1:99999", "localhost:x"] {
            assert!(matches!(Address::parse(text), Err(AddressError::Unreadable(_))), "{text}");
        }
    }
}
