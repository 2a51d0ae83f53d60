//! Where the server listens: loopback or a unix socket for this machine, and any address for others, by TLS alone.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::PathBuf;

use checkrein_engine::error::CommandError;

use crate::devices::Role;

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A port of this machine that no other machine reaches; port 0 is any free one.
    Loopback(SocketAddr),
    /// A socket in the file system, readable by its owner.
    Unix(PathBuf),
}

/// All doors of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doors {
    /// That for this machine.
    pub local: Address,
    /// That for other machines.
    pub outside: Option<OutsideDoor>,
}

/// The door for other machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideDoor {
    /// Where it listens.
    pub address: SocketAddr,
    /// By which address it is reached.
    pub reached: IpAddr,
    /// By which names.
    pub names: Vec<String>,
    /// Whether a code that pairs a device is made at the start.
    pub pairing: Pairing,
}

/// Whether a code that pairs a device is made at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// It is, and gives this role.
    Offered(Role),
    /// It is not.
    None,
}

impl OutsideDoor {
    /// A door at any address, `IP:PORT`.
    ///
    /// # Errors
    ///
    /// The text is not an address with a port, or it means all addresses of a machine that has none in a network.
    pub fn parse(text: &str, names: Vec<String>, pairing: Pairing) -> Result<Self, AddressError> {
        let address: SocketAddr = text.parse().map_err(|_| AddressError::Unreadable(text.to_owned()))?;
        let reached = if address.ip().is_unspecified() {
            own_address().ok_or(AddressError::NoNetwork)?
        } else {
            address.ip()
        };
        Ok(Self { address, reached, names, pairing })
    }

    /// A door at the address of this machine in its network.
    ///
    /// # Errors
    ///
    /// It has none.
    pub fn in_network(port: u16, names: Vec<String>, pairing: Pairing) -> Result<Self, AddressError> {
        let reached = own_address().ok_or(AddressError::NoNetwork)?;
        Ok(Self { address: SocketAddr::new(reached, port), reached, names, pairing })
    }
}

/// The address of this machine in its network: from which it would reach others. Nothing is sent for that.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // An address for documentation (RFC 5737), which no machine has.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_unspecified() && !address.is_loopback()).then_some(address)
}

/// Why a text is not an address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressError {
    /// It is neither `IP:PORT` nor `unix:PATH`.
    Unreadable(String),
    /// Other machines could reach it.
    NotLoopback(SocketAddr),
    /// This machine has no address by which others reach it.
    NoNetwork,
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
                write!(formatter, "`{address}` can be reached from other machines, which need TLS")
            }
            Self::NoNetwork => formatter.write_str("this machine has no address in a network"),
        }
    }
}

impl std::error::Error for AddressError {}

impl From<AddressError> for CommandError {
    fn from(error: AddressError) -> Self {
        let hint = match &error {
            AddressError::Unreadable(_) => "use `127.0.0.1:PORT`, `[::1]:PORT` or `unix:PATH`",
            AddressError::NotLoopback(_) => {
                "add `--tls`, or use `checkrein serve --lan`; `ssh -L PORT:127.0.0.1:PORT HOST` needs neither"
            }
            AddressError::NoNetwork => "name an address with `--listen IP:PORT --tls`",
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
