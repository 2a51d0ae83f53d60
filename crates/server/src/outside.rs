//! Other machines: by which names the server is reached from them, how people log in there, and what pairs a phone. Keys of programs and links
//! for browsers of this machine count for nothing there.

mod doors;

pub(crate) use doors::router;

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use checkrein_protocol::Timestamp;
use tokio::sync::Semaphore;

use crate::certificate::Fingerprint;
use crate::devices::Role;
use crate::oidc::Oidc;
use crate::token::{Token, TokenDigest};

/// The name of the cookie there. Browsers take one of this name only over TLS, for this host alone.
pub(crate) const COOKIE: &str = "__Host-checkrein";
/// Where people log in with the password.
pub(crate) const LOGIN: &str = "/login";
/// The address of codes that pair a device, before the code.
pub(crate) const PAIR: &str = "/pair/";

/// How long a code pairs a device, in milliseconds.
const CODE: u64 = 5 * MINUTE;
/// How many codes wait to be used (ours); the one that was made first goes.
const CODES: usize = 8;
/// How many wrong passwords and codes a minute are looked at from one machine, and from all (ours).
const TRIES: usize = 5;
const TRIES_OF_ALL: usize = 30;
/// How many passwords are looked at at once (ours): each takes some 20 MB.
const AT_ONCE: usize = 2;
const MINUTE: u64 = 60_000;

/// By which door a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// From this machine.
    Local,
    /// From wherever, over TLS; at this address of ours.
    Outside(SocketAddr),
}

/// A code that pairs one device.
#[derive(Debug, Clone, Copy)]
struct Code {
    digest: TokenDigest,
    role: Role,
    until: u64,
}

/// What is known of the door for other machines.
#[derive(Debug)]
pub(crate) struct Outside {
    /// The folder of the server in the state directory.
    pub(crate) folder: PathBuf,
    /// Where it answers, as `https://HOST:PORT`.
    url: String,
    fingerprint: Fingerprint,
    /// By which names it is reached beside its address, in small letters.
    names: Vec<String>,
    codes: Mutex<VecDeque<Code>>,
    tries: Mutex<HashMap<IpAddr, VecDeque<u64>>>,
    /// Passwords that may still be looked at now, and issuers asked.
    pub(crate) hashing: Semaphore,
    /// Where people may log in by an issuer.
    pub(crate) oidc: Option<Oidc>,
}

impl Outside {
    /// The door at an address, reached by these names too.
    pub(crate) fn new(folder: PathBuf, url: String, fingerprint: Fingerprint, names: &[String]) -> Self {
        Self {
            folder,
            url,
            fingerprint,
            names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
            codes: Mutex::default(),
            tries: Mutex::default(),
            hashing: Semaphore::new(AT_ONCE),
            oidc: None,
        }
    }

    /// The same where people may log in by an issuer.
    pub(crate) fn with_oidc(self, oidc: Option<Oidc>) -> Self {
        Self { oidc, ..self }
    }

    /// Where it answers.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The fingerprint of its certificate.
    pub(crate) fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Whether a request is for this machine: for the address that it came to, or one of its names. Ports are not compared: what leads here
    /// may have another.
    pub(crate) fn is_own_host(&self, host: &str, own: SocketAddr) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        bare.parse::<IpAddr>().is_ok_and(|address| address == own.ip().to_canonical())
            || self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Returns a link that pairs one device within five minutes. It tells the fingerprint of the certificate, so that the page can show it
    /// beside that of the browser.
    pub(crate) fn code(&self, role: Role, now: Timestamp) -> std::io::Result<String> {
        let key = Token::random()?.short();
        let mut codes = lock(&self.codes);
        codes.push_back(Code { digest: TokenDigest::of(&key), role, until: now.0 + CODE });
        while codes.len() > CODES {
            codes.pop_front();
        }
        Ok(format!("{}{PAIR}{key}?certificate={}", self.url, self.fingerprint.in_link()))
    }

    /// Uses a code up; returns the role that it gives.
    pub(crate) fn redeem(&self, key: &str, now: Timestamp) -> Option<Role> {
        let digest = TokenDigest::of(key);
        let mut codes = lock(&self.codes);
        codes.retain(|code| now.0 < code.until);
        let place = codes.iter().position(|code| code.digest == digest)?;
        codes.remove(place).map(|code| code.role)
    }

    /// Counts a try from an address before it is looked at; whether it may be looked at. A right one is taken back by [`Self::was_right`].
    pub(crate) fn may_try(&self, from: IpAddr, now: Timestamp) -> bool {
        let mut tries = lock(&self.tries);
        tries.retain(|_, times| {
            times.retain(|at| now.0 < at + MINUTE);
            !times.is_empty()
        });
        let all: usize = tries.values().map(VecDeque::len).sum();
        let own = tries.get(&network(from)).map_or(0, VecDeque::len);
        if all >= TRIES_OF_ALL || own >= TRIES {
            return false;
        }
        tries.entry(network(from)).or_default().push_back(now.0);
        true
    }

    /// Takes back the last try from an address.
    pub(crate) fn was_right(&self, from: IpAddr) {
        if let Some(times) = lock(&self.tries).get_mut(&network(from)) {
            times.pop_back();
        }
    }
}

/// The machine at an address, as far as it is told by it: those of IPv6 have 64 bits to choose from.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(four) => IpAddr::V4(four),
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside() -> Outside {
        let fingerprint = Fingerprint::for_tests();
        let names = ["Desk.example".to_owned()];
        Outside::new(PathBuf::new(), "https://192.168.1.5:7717".to_owned(), fingerprint, &names)
    }

    #[test]
    fn only_what_was_bound_and_named_is_this_machine() {
        let (outside, own) = (outside(), SocketAddr::from(([192, 168, 1, 5], 7717)));
        for host in ["192.168.1.5", "192.168.1.5:7717", "192.168.1.5:443", "desk.example", "DESK.example:1"] {
            assert!(outside.is_own_host(host, own), "{host}");
        }
        for host in ["", "localhost", "127.0.0.1", "192.168.1.6", "evil.example", "desk.example.evil.example"]
        {
            assert!(!outside.is_own_host(host, own), "{host}");
        }
        let six: SocketAddr = "[fd00::5]:7717".parse().unwrap();
        assert!(outside.is_own_host("[fd00::5]:7717", six) && !outside.is_own_host("[fd00::6]:7717", six));
    }

    #[test]
    fn a_code_pairs_once_and_not_for_long() {
        let outside = outside();
        let link = outside.code(Role::Viewer, Timestamp(1)).unwrap();
        let key = link.split(PAIR).nth(1).unwrap().split('?').next().unwrap();
        assert_eq!(outside.redeem("", Timestamp(2)), None);
        assert_eq!(outside.redeem(key, Timestamp(2)), Some(Role::Viewer));
        assert_eq!(outside.redeem(key, Timestamp(2)), None);
        let link = outside.code(Role::Approver, Timestamp(1)).unwrap();
        let key = link.split(PAIR).nth(1).unwrap().split('?').next().unwrap();
        assert_eq!(outside.redeem(key, Timestamp(1 + CODE)), None);
    }

    #[test]
    fn who_tries_too_often_waits_and_others_do_not() {
        let outside = outside();
        let at = |last: u8| IpAddr::from([192, 168, 1, last]);
        let tried = (0..8).filter(|_| outside.may_try(at(9), Timestamp(1))).count();
        assert_eq!(tried, TRIES);
        assert!(outside.may_try(at(10), Timestamp(1)));
        outside.was_right(at(10));
        assert!(outside.may_try(at(9), Timestamp(1 + MINUTE)));
        // Addresses that one machine of IPv6 makes up are one; all together have a bound too.
        let six = |text: &str| text.parse::<IpAddr>().unwrap();
        let tried = (0..9).filter(|n| outside.may_try(six(&format!("fd00::{n}")), Timestamp(9 * MINUTE)));
        assert_eq!(tried.count(), TRIES);
        let tried = (0..60).filter(|last| outside.may_try(at(*last), Timestamp(20 * MINUTE))).count();
        assert_eq!(tried, TRIES_OF_ALL);
    }
}
