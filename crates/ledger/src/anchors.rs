//! Heads: the last record of ledgers, written down outside them, so that cutting off the end of a ledger is found.
//!
//! There are two witnesses. The file `heads` of the state directory gets a line `session seq hash` with every durable
//! append, at the start of a session and every 64 records. Every start of a session anchors some of the newest heads in
//! its own ledger.

use std::collections::HashSet;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use checkrein_protocol::{RecordBody, RecordHash};

use crate::cache::Position;
use crate::error::LedgerError;
use crate::state_directory::{FolderName, StateDirectory, append_private};

/// How many heads of other ledgers a session start anchors (ours).
const ANCHORS: usize = 4;

/// How far back the file of heads is searched for other sessions, in bytes (ours).
const SEARCHED: u64 = 16 * 1024;

/// One line of the file of heads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) session: String,
    pub(crate) seq: u64,
    pub(crate) hash: RecordHash,
}

impl Head {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let head = Self {
            session: words.next()?.to_owned(),
            seq: words.next()?.parse().ok()?,
            hash: RecordHash(words.next()?.to_owned()),
        };
        (words.next().is_none() && !head.session.is_empty() && head.hash.as_str().len() == 64).then_some(head)
    }
}

/// Appends one head.
pub(crate) fn write(
    home: &StateDirectory,
    folder: &FolderName,
    seq: u64,
    hash: &RecordHash,
) -> Result<(), LedgerError> {
    write_named(home, folder.as_str(), seq, hash)
}

/// Appends the head of a chain that is no session.
pub(crate) fn write_named(
    home: &StateDirectory,
    name: &str,
    seq: u64,
    hash: &RecordHash,
) -> Result<(), LedgerError> {
    write_to(&home.heads(), name, seq, hash)
}

/// The longest list of heads that is read as a whole, by the verifier (ours).
const LONGEST: u64 = 256 * 1024 * 1024;

/// Appends a head to a file.
pub(crate) fn write_to(path: &Path, name: &str, seq: u64, hash: &RecordHash) -> Result<(), LedgerError> {
    let line = format!("{name} {seq} {}\n", hash.as_str());
    append_private(path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(LedgerError::write(path))
}

/// All heads of a file in the order of writing, and the numbers of lines that are none.
pub(crate) fn read_all(path: &Path) -> Result<(Vec<Head>, Vec<u64>), LedgerError> {
    let path = path.to_owned();
    let bytes = match checkrein_files::read(&path, LONGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
        Err(source) => return Err(LedgerError::Read { path, source }),
    };
    let mut heads = Vec::new();
    let mut broken = Vec::new();
    for (number, line) in (1..).zip(String::from_utf8_lossy(&bytes).lines()) {
        match Head::parse(line) {
            Some(head) => heads.push(head),
            None => broken.push(number),
        }
    }
    Ok((heads, broken))
}

/// Records that anchor the newest heads of ledgers other than `folder`. What cannot be read is left out: an anchor is a
/// witness, and its absence loses nothing that was recorded.
pub(crate) fn anchors(home: &StateDirectory, folder: &FolderName) -> Vec<RecordBody> {
    let mut known: HashSet<String> = HashSet::new();
    let mut anchors = Vec::new();
    for head in newest(home).into_iter().rev() {
        if anchors.len() == ANCHORS {
            break;
        }
        if head.session == folder.as_str() || known.contains(&head.session) {
            continue;
        }
        known.insert(head.session.clone());
        let state = std::path::Path::new(&head.session)
            .file_name()
            .and_then(FolderName::on_disk)
            .and_then(|other| Position::read(&home.session(&other)));
        let (seq, hash) = match state {
            Some(position) if position.seq >= head.seq => (position.seq, position.hash),
            Some(_) | None => (head.seq, head.hash),
        };
        anchors.push(RecordBody::Anchor { session: head.session, seq, hash });
    }
    anchors
}

/// The heads at the end of the file, in the order of writing.
fn newest(home: &StateDirectory) -> Vec<Head> {
    let mut bytes = Vec::new();
    let read = checkrein_files::open(home.heads()).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SEARCHED)))?;
        file.take(SEARCHED).read_to_end(&mut bytes)
    });
    if read.is_err() {
        return Vec::new();
    }
    // The first line may be cut; then it does not parse, or its session name is a tail of a name, which must not count.
    let whole =
        if bytes.len() as u64 == SEARCHED { bytes.iter().position(|byte| *byte == b'\n') } else { None };
    let text = bytes.get(whole.map_or(0, |cut| cut + 1)..).unwrap_or_default();
    String::from_utf8_lossy(text).lines().filter_map(Head::parse).collect()
}
