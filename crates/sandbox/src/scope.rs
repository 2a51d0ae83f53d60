//! What a confined command may do, as a value.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use crate::error::SuperviseError;

/// What a command may write, read and talk to, and how much it may use.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Files and directories (with all below) that may be changed; real paths.
    pub write: Vec<PathBuf>,
    /// What may be read.
    pub read: ReadScope,
    /// Directories of ours whose files nobody may lock; real paths.
    pub kept: Vec<PathBuf>,
    /// Directories of which a command sees nothing where it has a view of the file system of its own: keys by which people are known.
    pub hidden: Vec<PathBuf>,
    /// What may be talked to.
    pub network: Network,
    /// How much may be used.
    pub limits: ResourceLimits,
}

impl Scope {
    /// Whether the command has to look up names.
    pub fn looks_up_names(&self) -> bool {
        self.network.endpoints().iter().any(Endpoint::is_name)
    }

    /// Whether a real path may be changed.
    pub fn may_write(&self, path: &Path) -> bool {
        self.write.iter().any(|root| path.starts_with(root))
    }
}

impl Scope {
    /// Whether a real path may be read, as far as this scope goes.
    pub fn may_read(&self, path: &Path) -> bool {
        match &self.read {
            ReadScope::All => true,
            ReadScope::Only(roots) => {
                self.may_write(path)
                    || roots.iter().cloned().chain(system_paths()).any(|root| path.starts_with(root))
            }
        }
    }
}

/// What may be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReadScope {
    /// Everything that the user may read.
    #[default]
    All,
    /// These paths, what may be written, and what programs of the system need.
    Only(Vec<PathBuf>),
}

/// What may be talked to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// Nothing.
    #[default]
    Nothing,
    /// This machine.
    Loopback,
    /// These.
    Only(Vec<Endpoint>),
    /// This machine and these.
    LoopbackAnd(Vec<Endpoint>),
    /// Everything.
    Open,
}

impl Network {
    /// From the words of the command line: `none`, `loopback`, `open`, or endpoints, also after `loopback`. No word is `none`.
    pub fn of_words(words: &[String]) -> Result<Self, SuperviseError> {
        match words {
            [] => Ok(Self::Nothing),
            [word] if word == "none" => Ok(Self::Nothing),
            [word] if word == "loopback" => Ok(Self::Loopback),
            [word] if word == "open" => Ok(Self::Open),
            words => {
                let named = words.iter().filter(|word| *word != "loopback");
                let endpoints = named.map(|word| word.parse()).collect::<Result<Vec<_>, _>>()?;
                Ok(if endpoints.len() < words.len() {
                    Self::LoopbackAnd(endpoints)
                } else {
                    Self::Only(endpoints)
                })
            }
        }
    }

    /// The hosts and ports that are named.
    pub fn endpoints(&self) -> &[Endpoint] {
        match self {
            Self::Only(endpoints) | Self::LoopbackAnd(endpoints) => endpoints,
            Self::Nothing | Self::Loopback | Self::Open => &[],
        }
    }

    /// Whether this machine is within it, whatever the port.
    pub fn holds_loopback(&self) -> bool {
        match self {
            Self::Loopback | Self::LoopbackAnd(_) | Self::Open => true,
            Self::Nothing | Self::Only(_) => false,
        }
    }

    /// Whether TCP to an address is within it.
    pub fn allows(&self, address: SocketAddr, resolved: &[SocketAddr]) -> bool {
        let ip = real_address(address.ip());
        // Who connects to no address in particular reaches this machine.
        let is_here = ip.is_loopback() || ip.is_unspecified();
        let is_known =
            || resolved.iter().any(|known| known.port() == address.port() && real_address(known.ip()) == ip);
        match self {
            Self::Nothing => false,
            Self::Loopback => is_here,
            Self::Only(_) => is_known(),
            Self::LoopbackAnd(_) => is_here || is_known(),
            Self::Open => true,
        }
    }

    /// Whether others may be listened for at an address: only where nobody but this machine reaches it.
    pub fn allows_listening(&self, address: SocketAddr) -> bool {
        match self {
            Self::Nothing | Self::Only(_) => false,
            Self::Loopback | Self::LoopbackAnd(_) => real_address(address.ip()).is_loopback(),
            Self::Open => true,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => formatter.write_str("none"),
            Self::Loopback => formatter.write_str("loopback"),
            Self::Open => formatter.write_str("open"),
            Self::Only(endpoints) | Self::LoopbackAnd(endpoints) => {
                let here = self.holds_loopback().then(|| "loopback".to_owned());
                let names: Vec<String> =
                    here.into_iter().chain(endpoints.iter().map(ToString::to_string)).collect();
                formatter.write_str(&names.join(","))
            }
        }
    }
}

/// An IPv4 address that is written as an IPv6 one is the IPv4 one.
fn real_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// A host and a port of TCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// Its addresses now; none when the name is not known.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        (self.host.as_str(), self.port).to_socket_addrs().map(Iterator::collect).unwrap_or_default()
    }

    /// Whether the host is a name, which the command has to look up.
    pub fn is_name(&self) -> bool {
        self.host.parse::<IpAddr>().is_err()
    }
}

impl FromStr for Endpoint {
    type Err = SuperviseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || SuperviseError::Malformed { what: "a HOST:PORT", text: text.to_owned() };
        let (host, port) = text.rsplit_once(':').ok_or_else(malformed)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().map_err(|_| malformed())?;
        if host.is_empty() || port == 0 {
            return Err(malformed());
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

/// How much a command with all its children may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceLimits {
    /// Resident memory of all processes together; no limit when `None`.
    pub memory: Option<Bytes>,
    /// Processor time of each process.
    pub processor: Option<Duration>,
    /// Time by the clock.
    pub time: Option<Duration>,
    /// Processes at one time, with those that ended and that nobody has waited for.
    pub processes: u32,
    /// The length of each file that is written.
    pub file: Option<Bytes>,
}

/// Enough for a build on every processor of a large machine, few for a fork bomb (ours).
const PROCESSES: u32 = 512;

impl ResourceLimits {
    /// How many threads there may be for each process that there may be (ours).
    pub const THREADS_FOR_EACH_PROCESS: u32 = 16;

    /// How many threads there may be at least, for programs of few processes (ours).
    pub const FEWEST_THREADS: u32 = 64;

    /// Threads of all processes at one time. What is meant is the end of the numbers that the machine has.
    pub fn threads(&self) -> u32 {
        self.processes.saturating_mul(Self::THREADS_FOR_EACH_PROCESS).max(Self::FEWEST_THREADS)
    }
}

impl Default for ResourceLimits {
    fn default() -> Self {
        Self { memory: None, processor: None, time: None, processes: PROCESSES, file: None }
    }
}

/// A number of bytes, written `512M`, `2G`, `100k` (powers of 1024) or plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl Bytes {
    /// With less memory no program starts (ours).
    pub const LEAST_MEMORY: Self = Self(1 << 20);

    /// So many times 1024 times 1024.
    pub fn of_megabytes(count: u64) -> Self {
        Self(count.saturating_mul(1 << 20))
    }
}

impl FromStr for Bytes {
    type Err = SuperviseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || SuperviseError::Malformed { what: "an amount of memory", text: text.to_owned() };
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = text.get(digits.len()..).unwrap_or_default().to_ascii_lowercase();
        let shift = match unit.trim_end_matches("ib").trim_end_matches('b') {
            "" => 0,
            "k" => 10,
            "m" => 20,
            "g" => 30,
            "t" => 40,
            _ => return Err(malformed()),
        };
        let number: u64 = digits.parse().map_err(|_| malformed())?;
        number.checked_mul(1 << shift).filter(|bytes| *bytes > 0).map(Self).ok_or_else(malformed)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes >= 10 << 30 => write!(formatter, "{} GB", bytes >> 30),
            bytes if bytes >= 1 << 20 => write!(formatter, "{} MB", bytes >> 20),
            bytes => write!(formatter, "{} KB", bytes >> 10),
        }
    }
}

/// A time, written `90`, `90s`, `5m` or `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(pub Duration);

impl FromStr for Period {
    type Err = SuperviseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let malformed = || SuperviseError::Malformed { what: "a time", text: text.to_owned() };
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match text.get(digits.len()..).unwrap_or_default() {
            "" | "s" => 1.0,
            "ms" => 0.001,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(malformed()),
        };
        let number: f64 = digits.parse().map_err(|_| malformed())?;
        let time = Duration::try_from_secs_f64(number * factor).map_err(|_| malformed())?;
        if time.is_zero() { Err(malformed()) } else { Ok(Self(time)) }
    }
}

/// What programs of the system need to read.
pub(crate) fn system_paths() -> impl Iterator<Item = PathBuf> {
    [
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/etc",
        "/opt",
        "/nix/store",
        "/proc",
        "/sys",
        "/dev",
        "/run/systemd/resolve",
    ]
    .into_iter()
    .map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_are_read_in_powers_of_1024() {
        let read = |text: &str| text.parse::<Bytes>().ok().map(|bytes| bytes.0);
        assert_eq!(read("512M"), Some(512 << 20));
        assert_eq!(read("2GiB"), Some(2 << 30));
        assert_eq!(read("4096"), Some(4096));
        assert_eq!([read("0"), read("much"), read("-1M"), read("99999999999G")], [None; 4]);
    }

    #[test]
    fn endpoints_are_a_host_and_a_port() {
        let read = |text: &str| text.parse::<Endpoint>().ok().map(|endpoint| endpoint.to_string());
        assert_eq!(read("crates.io:443").as_deref(), Some("crates.io:443"));
        assert_eq!(read("[::1]:80").as_deref(), Some("[::1]:80"));
        assert_eq!(
            [read("crates.io"), read(":80"), read("host:0"), read("host:http")],
            [None, None, None, None]
        );
    }

    #[test]
    fn an_ipv4_address_in_ipv6_clothes_is_not_another_address() {
        let dressed = "[::ffff:127.0.0.1]:80".parse().unwrap();
        assert!(Network::Loopback.allows(dressed, &[]));
        let abroad = "[::ffff:192.0.2.1]:80".parse().unwrap();
        assert!(!Network::Loopback.allows(abroad, &[]));
    }

    #[test]
    fn no_address_in_particular_is_this_machine_for_who_connects_and_everybody_for_who_listens() {
        for anywhere in ["0.0.0.0:80", "[::]:80", "[::ffff:0.0.0.0]:80"].map(|text| text.parse().unwrap()) {
            assert!(Network::Loopback.allows(anywhere, &[]) && !Network::Loopback.allows_listening(anywhere));
        }
        assert!(Network::Loopback.allows_listening("[::1]:80".parse().unwrap()));
    }

    #[test]
    fn this_machine_and_hosts_go_together() {
        let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let both = Network::of_words(&words("loopback,192.0.2.1:443")).unwrap();
        assert_eq!(both.to_string(), "loopback,192.0.2.1:443");
        let known = ["192.0.2.1:443".parse().unwrap()];
        let allows = |address: &str| both.allows(address.parse().unwrap(), &known);
        assert!(allows("127.0.0.1:1") && allows("192.0.2.1:443"));
        assert!(!allows("192.0.2.1:80") && !allows("192.0.2.2:443"));
        assert!(both.allows_listening("127.0.0.1:8080".parse().unwrap()));
        let only = Network::of_words(&words("192.0.2.1:443")).unwrap();
        assert!(!only.allows("127.0.0.1:1".parse().unwrap(), &known) && !only.holds_loopback());
        assert!(Network::of_words(&words("open,loopback")).is_err());
    }

    #[test]
    fn a_sibling_with_the_same_beginning_is_not_inside() {
        let scope = Scope { write: vec!["/srv/app".into()], ..Scope::default() };
        assert!(scope.may_write(Path::new("/srv/app/x")));
        assert!(!scope.may_write(Path::new("/srv/application")));
    }
}
