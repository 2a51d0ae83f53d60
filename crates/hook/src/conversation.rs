//! What a hook and a process that stays say to each other: frames of bytes on a socket of the file system, each side within its time.
//!
//! The process that stays begins with a number that nobody had before. The hook answers with one of its own, a code, and its question; the answer
//! is a code and what it is over. Both codes are over both numbers, so that nothing of another conversation fits.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use checkrein_clients::HookOutput;

/// The length of the numbers, in bytes (ours).
pub(crate) const NONCE: usize = 16;

/// The longest frame that is read, in bytes (ours): a payload, and an environment as long as systems allow.
const LONGEST_FRAME: usize = 4 * 1024 * 1024;

/// A connection, with the time that what is said next may take.
#[derive(Debug)]
pub(crate) struct Conversation {
    stream: UnixStream,
    until: Instant,
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
struct Peer {
    process: i32,
    user: u32,
}

#[cfg(target_os = "linux")]
fn peer_of(stream: &UnixStream) -> Option<Peer> {
    let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
    Some(Peer { process: peer.pid.as_raw_pid(), user: peer.uid.as_raw() })
}

/// Systems that do not tell which file a process runs have nobody to ask.
#[cfg(not(target_os = "linux"))]
fn peer_of(_: &UnixStream) -> Option<Peer> {
    None
}

impl Conversation {
    /// Connects without waiting for anybody.
    #[cfg(target_os = "linux")]
    pub(crate) fn with(path: &Path) -> io::Result<Self> {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

        let address = SocketAddrUnix::new(path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &address)?;
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false)?;
        Ok(Self::of(stream))
    }

    /// Systems that do not tell which file a process runs have nobody to ask.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn with(_: &Path) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(crate) fn of(stream: UnixStream) -> Self {
        Self { stream, until: Instant::now() }
    }

    /// What is said and heard from now on may take this long.
    pub(crate) fn give(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }

    /// The process at the other end, where the kernel tells.
    pub(crate) fn process(&self) -> Option<i32> {
        peer_of(&self.stream).map(|peer| peer.process)
    }

    /// Whether the other end is of the user of this process.
    pub(crate) fn is_with_own_user(&self) -> bool {
        peer_of(&self.stream).is_some_and(|peer| peer.user == rustix::process::geteuid().as_raw())
    }

    /// Says parts as one frame.
    pub(crate) fn say(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        let length = u32::try_from(length).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut frame = length.to_le_bytes().to_vec();
        parts.iter().for_each(|part| frame.extend_from_slice(part));
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write_all(&frame)
    }

    /// Says these bytes as they are.
    pub(crate) fn say_exactly(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write_all(bytes)
    }

    /// The next frame.
    pub(crate) fn hear(&mut self) -> io::Result<Vec<u8>> {
        let length: [u8; 4] = self.hear_exactly()?;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        if length > LONGEST_FRAME {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let mut bytes = vec![0; length];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The next so many bytes.
    pub(crate) fn hear_exactly<const LENGTH: usize>(&mut self) -> io::Result<[u8; LENGTH]> {
        let mut bytes = [0; LENGTH];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// A byte at a time from somebody slow must not take longer than all at once.
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            self.stream.set_read_timeout(Some(self.left()?))?;
            match self.stream.read(rest) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What a hook asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// The client, by its name.
    pub(crate) client: String,
    /// The working directory of the hook.
    pub(crate) directory: String,
    /// The variables of the hook.
    pub(crate) variables: BTreeMap<String, String>,
    /// What the client wrote to the hook.
    pub(crate) payload: Vec<u8>,
}

impl Request {
    pub(crate) fn written(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.payload.len() + 4096);
        put(&mut bytes, self.client.as_bytes());
        put(&mut bytes, self.directory.as_bytes());
        put(&mut bytes, &self.payload);
        for (name, value) in &self.variables {
            put(&mut bytes, name.as_bytes());
            put(&mut bytes, value.as_bytes());
        }
        bytes
    }

    pub(crate) fn read(mut bytes: &[u8]) -> Option<Self> {
        let client = take_text(&mut bytes)?;
        let directory = take_text(&mut bytes)?;
        let payload = take(&mut bytes)?.to_vec();
        let mut variables = BTreeMap::new();
        while !bytes.is_empty() {
            variables.insert(take_text(&mut bytes)?, take_text(&mut bytes)?);
        }
        Some(Self { client, directory, variables, payload })
    }
}

/// What it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The hook has to decide by itself; nothing was done and nothing recorded.
    NotTaken,
    /// What the client gets, and what did not work on the way.
    Given { output: HookOutput, remarks: Vec<String> },
}

const NOT_TAKEN: u8 = 0;
const GIVEN: u8 = 1;
const REFUSED: u8 = 2;

impl Answer {
    pub(crate) fn written(&self) -> Vec<u8> {
        match self {
            Self::NotTaken => vec![NOT_TAKEN],
            Self::Given { output, remarks } => {
                let mut bytes = vec![if output.refusal.is_some() { REFUSED } else { GIVEN }];
                put(&mut bytes, &output.object);
                if let Some(reason) = &output.refusal {
                    put(&mut bytes, reason.as_bytes());
                }
                remarks.iter().for_each(|remark| put(&mut bytes, remark.as_bytes()));
                bytes
            }
        }
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, mut rest) = bytes.split_first()?;
        if *kind == NOT_TAKEN {
            return rest.is_empty().then_some(Self::NotTaken);
        }
        let object = take(&mut rest)?.to_vec();
        let refusal = match *kind {
            GIVEN => None,
            REFUSED => Some(take_text(&mut rest)?),
            _ => return None,
        };
        let mut remarks = Vec::new();
        while !rest.is_empty() {
            remarks.push(take_text(&mut rest)?);
        }
        Some(Self::Given { output: HookOutput { object, refusal }, remarks })
    }
}

fn put(bytes: &mut Vec<u8>, field: &[u8]) {
    // No field is longer than a frame may be.
    bytes.extend_from_slice(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(field);
}

fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (field, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    *bytes = rest;
    Some(field)
}

fn take_text(bytes: &mut &[u8]) -> Option<String> {
    String::from_utf8(take(bytes)?.to_vec()).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_that_was_cut() {
        let request = Request {
            client: "claude".to_owned(),
            directory: "/home/dev/project".to_owned(),
            variables: [("HOME", "/home/dev"), ("EMPTY", "")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            payload: b"{\"a\":1}".to_vec(),
        };
        let written = request.written();
        assert_eq!(Request::read(&written), Some(request.clone()));
        let whole = (0..written.len()).filter(|end| Request::read(&written[..*end]).is_some()).count();
        // Behind the payload each pair of variables may be the last.
        assert_eq!(whole, 2);
        let output = HookOutput { object: b"{}\n".to_vec(), refusal: None };
        let refused = HookOutput { object: Vec::new(), refusal: Some("no".to_owned()) };
        for answer in [
            Answer::NotTaken,
            Answer::Given { output: output.clone(), remarks: Vec::new() },
            Answer::Given { output, remarks: vec!["not recorded".to_owned()] },
            Answer::Given { output: refused, remarks: Vec::new() },
        ] {
            assert_eq!(Answer::read(&answer.written()), Some(answer));
        }
        assert_eq!(Answer::read(b""), None);
        assert_eq!(Answer::read(&[7, 0, 0, 0, 0]), None);
        assert_eq!(Answer::read(&[NOT_TAKEN, 1]), None);
    }

    #[test]
    fn a_slow_side_has_no_more_time_than_a_quick_one() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let slow = std::thread::spawn(move || {
            while far.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let mut conversation = Conversation::of(near);
        conversation.give(Duration::from_millis(100));
        let begun = Instant::now();
        assert!(conversation.hear_exactly::<1024>().is_err());
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        drop(conversation);
        slow.join().unwrap();
    }
}
