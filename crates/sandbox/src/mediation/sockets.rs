//! Connections: the address is read once, judged, and connected to here, with the caller's own socket.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, Shutdown, SocketAddrUnix, sockopt};

use super::caller::{Caller, Follow};
use super::{Answer, AttemptedAction, Mediator, path_of};
use crate::process_tree;

/// A socket for connections over the network.
pub(super) const TCP: &str = "a TCP socket";

/// A kind of socket in words.
pub(super) fn kind(family: u64, kind: u64) -> &'static str {
    let inet = [libc::AF_INET, libc::AF_INET6].iter().any(|known| family == u64::from(known.unsigned_abs()));
    let is = |known: libc::c_int| kind & 0xf == u64::from(known.unsigned_abs());
    if inet && is(libc::SOCK_STREAM) {
        TCP
    } else if inet && is(libc::SOCK_DGRAM) {
        "a UDP socket"
    } else if inet {
        "a raw socket"
    } else if family == u64::from(libc::AF_UNIX.unsigned_abs()) {
        "a local socket for datagrams"
    } else {
        "a socket of that family"
    }
}

/// What an address names.
enum Address {
    Internet(SocketAddr),
    File(Vec<u8>),
    Abstract(Vec<u8>),
    /// No address: an end to a connection.
    Nothing,
}

impl Mediator {
    pub(super) fn connect(&self, caller: &Caller) -> Answer {
        let (socket, address) = match read(caller) {
            Ok(read) => read,
            Err(error) => return Answer::Fails(error),
        };
        match address {
            Address::Internet(address) if self.allows(address) => connect(caller, socket, address),
            Address::Internet(address) => {
                self.refuse(caller, AttemptedAction::Connect(address), Errno::ACCESS)
            }
            Address::File(path) => self.connect_file(caller, &socket, &path),
            // Whose it is cannot be told.
            Address::Abstract(name) => {
                let name = PathBuf::from(format!("@{}", String::from_utf8_lossy(&name)));
                self.refuse(caller, AttemptedAction::Local(name), Errno::ACCESS)
            }
            Address::Nothing => rustix::net::connect_unspec(&socket).into(),
        }
    }

    /// A socket in the file system may be connected to where it may be written to, and where a process of the command listens: behind
    /// those of others, as that of a terminal multiplexer, are programs that do what they are told outside of the scope. One that is named
    /// itself is meant.
    fn connect_file(&self, caller: &Caller, socket: &OwnedFd, path: &[u8]) -> Answer {
        let target = match caller.target(libc::AT_FDCWD, path, Follow::Links) {
            Ok(target) => target,
            Err(error) => return Answer::Fails(error),
        };
        let real = path_of(target.as_fd()).unwrap_or_else(|| std::ffi::OsStr::from_bytes(path).into());
        if !self.scope.may_write(&real) {
            return self.refuse(caller, AttemptedAction::Local(real), Errno::ACCESS);
        }
        let held = format!("/proc/self/fd/{}", target.as_raw_fd());
        let connected = caller.acting(|| rustix::net::connect(socket, &SocketAddrUnix::new(held)?));
        let is_named = self.scope.write.contains(&real);
        // Who listens is known by the connection alone. Nothing has gone through it yet.
        if connected.is_ok() && !is_named && !is_answered_by_the_command(socket) {
            let _ = rustix::net::shutdown(socket, Shutdown::Both);
            return self.refuse(caller, AttemptedAction::Local(real), Errno::ACCESS);
        }
        connected.into()
    }

    /// A name for a socket: the kernel judges those in the file system, we those of the network.
    pub(super) fn bind(&self, caller: &Caller) -> Answer {
        let (socket, address) = match read(caller) {
            Ok(read) => read,
            Err(error) => return Answer::Fails(error),
        };
        match address {
            Address::Internet(address) if self.scope.network.allows_listening(address) => {
                rustix::net::bind(&socket, &address).into()
            }
            Address::Internet(address) => {
                self.refuse(caller, AttemptedAction::Listen(address), Errno::ACCESS)
            }
            Address::Nothing => match sockopt::socket_domain(&socket) {
                // What has no family is taken for every address of this one; the other one does not take it.
                Ok(AddressFamily::INET) => {
                    let everywhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
                    self.refuse(caller, AttemptedAction::Listen(everywhere), Errno::ACCESS)
                }
                Ok(AddressFamily::INET6) => Answer::Fails(Errno::AFNOSUPPORT),
                Ok(_) | Err(_) => Answer::GoOn,
            },
            // Should the caller put another socket or address there now, Landlock lets none of the network through.
            Address::File(_) | Address::Abstract(_) => Answer::GoOn,
        }
    }

    /// Who listens without a name gets one that the whole network can reach.
    pub(super) fn listen(&self, caller: &Caller) -> Answer {
        let socket = match caller.descriptor(caller.number(0)) {
            Ok(socket) => socket,
            Err(error) => return Answer::Fails(error),
        };
        let name = rustix::net::getsockname(&socket).ok().and_then(|name| SocketAddr::try_from(name).ok());
        match name {
            Some(address) if !self.scope.network.allows_listening(address) => {
                self.refuse(caller, AttemptedAction::Listen(address), Errno::ACCESS)
            }
            _ => rustix::net::listen(&socket, caller.number(1)).into(),
        }
    }

    fn allows(&self, address: SocketAddr) -> bool {
        !self.is_limited() || self.scope.network.allows(address, &self.resolved)
    }
}

/// Whether a process that the command started listens at the other end of a connection, itself or by this process, which listens for it.
fn is_answered_by_the_command(socket: &OwnedFd) -> bool {
    listener(socket).is_some_and(|process| {
        process == rustix::process::getpid().as_raw_nonzero().get() || process_tree::is_below(process)
    })
}

/// The number of the process that listens at the other end; `None` for one that cannot be seen from here, as in another container.
#[expect(unsafe_code, reason = "the safe crates take the number for one that is never 0")]
fn listener(socket: &OwnedFd) -> Option<i32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(size_of::<libc::ucred>()).ok()?;
    // SAFETY: the kernel writes at most `length` bytes into a structure of that size, in which every value is valid.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    (result == 0 && peer.pid > 0).then_some(peer.pid)
}

fn read(caller: &Caller) -> Result<(OwnedFd, Address), Errno> {
    let length = usize::try_from(caller.argument(2)).unwrap_or(usize::MAX);
    // As large as any address is.
    if !(2..=128).contains(&length) {
        return Err(Errno::INVAL);
    }
    let bytes = caller.memory(caller.argument(1), length)?;
    let socket = caller.descriptor(caller.number(0))?;
    let family = sockopt::socket_domain(&socket)?;
    Ok((socket, address(family, &bytes)?))
}

fn address(family: AddressFamily, bytes: &[u8]) -> Result<Address, Errno> {
    let named =
        bytes.get(..2).and_then(|pair| pair.try_into().ok()).map(u16::from_ne_bytes).ok_or(Errno::INVAL)?;
    if named == AddressFamily::UNSPEC.as_raw() {
        return Ok(Address::Nothing);
    }
    let port =
        || bytes.get(2..4).and_then(|pair| pair.try_into().ok()).map(u16::from_be_bytes).ok_or(Errno::INVAL);
    let range = |from: usize, to: usize| bytes.get(from..to).ok_or(Errno::INVAL);
    if family == AddressFamily::UNIX {
        let path = range(2, bytes.len())?;
        return Ok(match path.split_first() {
            None => Address::Nothing,
            Some((0, name)) => Address::Abstract(name.to_vec()),
            Some(_) => Address::File(path.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()),
        });
    }
    if named == AddressFamily::INET.as_raw() {
        let four: [u8; 4] = range(4, 8)?.try_into().map_err(|_| Errno::INVAL)?;
        return Ok(Address::Internet(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(four)), port()?)));
    }
    if named == AddressFamily::INET6.as_raw() {
        let six: [u8; 16] = range(8, 24)?.try_into().map_err(|_| Errno::INVAL)?;
        return Ok(Address::Internet(SocketAddr::new(IpAddr::V6(Ipv6Addr::from(six)), port()?)));
    }
    Err(Errno::AFNOSUPPORT)
}

/// Connects the caller's socket. One that waits is waited for in a thread of its own, so that others are answered meanwhile.
fn connect(caller: &Caller, socket: OwnedFd, address: SocketAddr) -> Answer {
    let waits = rustix::fs::fcntl_getfl(&socket).is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK));
    if !waits {
        return rustix::net::connect(&socket, &address).into();
    }
    let later = caller.again();
    let started = std::thread::Builder::new().name("connect".to_owned()).spawn(move || {
        later.answer(rustix::net::connect(&socket, &address).into());
    });
    if started.is_ok() { Answer::Later } else { Answer::Fails(Errno::AGAIN) }
}
