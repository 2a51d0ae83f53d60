//! The process at the other end of a connection. An agent may have come by the key of the server, where it is contained too; the process that
//! it sends the key from is still below it.

use std::fmt::Write as _;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;

use checkrein_engine::asking::{self, Asker, Sign};
use tokio::net::UnixStream;

/// The longest table of connections that is read, in bytes (ours).
const LONGEST: u64 = 16 * 1024 * 1024;

/// What is known of the other end.
#[derive(Debug, Clone)]
pub(crate) enum Peer {
    /// The address of its socket.
    Address(SocketAddr),
    /// Its process, where the kernel tells.
    Process(Option<i32>),
}

impl Peer {
    /// Who is at the other end of a connection by a socket in the file system.
    pub(crate) fn of_socket(stream: &UnixStream) -> Self {
        Self::Process(stream.peer_cred().ok().and_then(|peer| peer.pid()))
    }

    /// From where it comes, for the record.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Address(address) => address.ip().to_canonical().to_string(),
            Self::Process(_) => "socket".to_owned(),
        }
    }

    /// What speaks for it that the process is not one of a person; `None` where nothing does, and where the process is not found: that of
    /// another user, as an SSH daemon's, and one that hides what it has open.
    pub(crate) fn sign(&self, asker: Asker) -> Option<Sign> {
        let process = match self {
            Self::Address(address) => owner(*address),
            Self::Process(process) => *process,
        };
        asking::sign_of(process?, asker)
    }
}

/// The process of this user that has the socket with an address open.
fn owner(address: SocketAddr) -> Option<i32> {
    let user = fs::metadata("/proc/self").ok()?.uid();
    let inode = inode(address)?;
    let link = format!("socket:[{inode}]");
    let processes = fs::read_dir("/proc").ok()?;
    for process in processes.flatten() {
        let Some(number) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if process.metadata().is_ok_and(|facts| facts.uid() != user) {
            continue;
        }
        let open = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        if open
            .into_iter()
            .any(|file| fs::read_link(file.path()).is_ok_and(|to| to.as_os_str() == link.as_str()))
        {
            return Some(number);
        }
    }
    None
}

/// The number of the socket with a local address, from the tables of the kernel.
fn inode(address: SocketAddr) -> Option<u64> {
    let wanted = written(address);
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let text = checkrein_files::read_text(std::path::Path::new(table), LONGEST).ok()?;
        in_table(&text, &wanted)
    })
}

/// The address as the tables write it: IPv4, and the same as IPv6.
fn written(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    // Four bytes at a time, the last one first, as machines with the lower byte first keep them.
    let words = |bytes: &[u8]| {
        let mut text = String::new();
        for word in bytes.chunks_exact(4) {
            for byte in word.iter().rev() {
                let _ = write!(text, "{byte:02X}");
            }
        }
        text
    };
    match address.ip() {
        IpAddr::V4(four) => vec![
            format!("{}:{port:04X}", words(&four.octets())),
            format!("{}:{port:04X}", words(&four.to_ipv6_mapped().octets())),
        ],
        IpAddr::V6(six) => vec![format!("{}:{port:04X}", words(&six.octets()))],
    }
}

fn in_table(text: &str, wanted: &[String]) -> Option<u64> {
    text.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let local = fields.get(1)?;
        wanted.iter().any(|one| one == local).then(|| fields.get(9)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_process_at_the_other_end_is_found() {
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(listen) else { continue };
            let _near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (_far, peer) = listener.accept().unwrap();
            assert_eq!(owner(peer), i32::try_from(std::process::id()).ok(), "{listen}");
        }
        assert_eq!(owner(SocketAddr::from(([127, 0, 0, 9], 1))), None);
    }
}
