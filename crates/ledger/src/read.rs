//! Reading ledgers: from the beginning, from the end, and by the name of an action.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use checkrein_vault::Vault;

use checkrein_protocol::{Record, RecordBody};

use crate::error::LedgerError;
use crate::hash_chain::{opened, record};
use crate::ledger_file::LedgerFile;

/// One line of a ledger file.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Its text without the line feed; what is not UTF-8 is replaced.
    pub text: String,
    /// The record; `None` when the line is none.
    pub record: Option<Record>,
}

/// The longest line of a ledger, in bytes (ours): more than the hook takes, of which long texts are cut besides.
pub(crate) const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// How much of the end of a ledger is read for its last records (ours).
pub(crate) const LONGEST_END: u64 = 6 * 1024 * 1024;

/// Reads the next line with its end into `line`, and says how long it is; a line that is longer than any record is an error, and is not
/// read on.
pub(crate) fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    let count = reader.take(LONGEST_LINE).read_until(b'\n', line)?;
    if count as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it holds a line that is longer than any record",
        ));
    }
    Ok(count)
}

/// The lines of a ledger from its beginning; one line is in memory at a time. An unfinished last line is left out.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    vault: Vault,
    reader: BufReader<File>,
    number: u64,
    position: u64,
    failed: bool,
    cut: bool,
    wanted: Option<String>,
}

/// Opens a ledger for reading.
pub fn lines(file: &LedgerFile) -> Result<Lines, LedgerError> {
    lines_from(file, 0)
}

/// Opens a ledger for reading from a [`Lines::position`] on, for who looks at it again and again; lines are counted from
/// there. A file that has become shorter is another one, and is read from its beginning.
pub fn lines_from(ledger: &LedgerFile, position: u64) -> Result<Lines, LedgerError> {
    let path = ledger.path();
    let mut file = checkrein_files::open(path).map_err(LedgerError::read(path))?;
    let length = file.metadata().map_err(LedgerError::read(path))?.len();
    let position = if position <= length { position } else { 0 };
    file.seek(SeekFrom::Start(position)).map_err(LedgerError::read(path))?;
    Ok(Lines {
        path: path.to_owned(),
        vault: ledger.vault().clone(),
        reader: BufReader::with_capacity(64 * 1024, file),
        number: 0,
        position,
        failed: false,
        cut: false,
        wanted: None,
    })
}

impl Lines {
    /// Only the lines that hold a text; the others are passed over without being parsed, which is much faster.
    #[must_use]
    pub fn holding(mut self, text: &str) -> Self {
        self.wanted = Some(text.to_owned());
        self
    }

    /// Whether the file ended in the middle of a line, which was left out; known once the last line was read.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Where the last line that was read ends, in bytes.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn is_wanted(&self, line: &[u8]) -> bool {
        let holds = |text: &String| std::str::from_utf8(line).is_ok_and(|line| line.contains(text.as_str()));
        self.wanted.as_ref().is_none_or(holds)
    }
}

impl Iterator for Lines {
    type Item = Result<Line, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let mut bytes = Vec::new();
        loop {
            if let Err(source) = read_line(&mut self.reader, &mut bytes) {
                self.failed = true;
                return Some(Err(LedgerError::Read { path: self.path.clone(), source }));
            }
            if !bytes.ends_with(b"\n") {
                self.cut = !bytes.is_empty();
                return None;
            }
            self.number += 1;
            self.position += bytes.len() as u64;
            // What is looked for stands in what was sealed.
            let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            if let Some(Ok(clear)) = opened(text, &self.vault) {
                bytes = clear.into_bytes();
            }
            if self.is_wanted(&bytes) {
                break;
            }
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let record = record(text, &self.vault);
        Some(Ok(Line { number: self.number, text: String::from_utf8_lossy(text).into_owned(), record }))
    }
}

/// The last `count` records, oldest first; fewer when these are very long. Reads from the end of the file, no further than needed.
pub fn last(ledger: &LedgerFile, count: usize) -> Result<Vec<Record>, LedgerError> {
    let path = ledger.path();
    let file = checkrein_files::open(path).map_err(LedgerError::read(path))?;
    Ok(end(&file, count, ledger.vault()).map_err(LedgerError::read(path))?.0)
}

/// The last `count` records of an open ledger, and the length of the file up to the end of the last of them, in bytes.
pub(crate) fn end(file: &File, count: usize, vault: &Vault) -> io::Result<(Vec<Record>, u64)> {
    // The first is small: most ask for a few records, and a hook touches each page of a block.
    let mut block_size = 8 * 1024_u64;
    let mut start = file.metadata()?.len();
    // Blocks from the end to the front; a line is whole once the line feed before it is known.
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    let mut line_feeds = 0;
    let end = start;
    while start > 0 && line_feeds <= count + 1 && end - start < LONGEST_END {
        let size = start.min(block_size);
        block_size = (block_size * 2).min(128 * 1024);
        start -= size;
        let mut block = vec![0; usize::try_from(size).unwrap_or(0)];
        file.read_exact_at(&mut block, start)?;
        line_feeds += block.split(|byte| *byte == b'\n').count() - 1;
        blocks.push(block);
    }
    blocks.reverse();
    let mut bytes = if blocks.len() == 1 { blocks.remove(0) } else { blocks.concat() };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    bytes.truncate(whole);
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    if start > 0 && !lines.is_empty() {
        lines.remove(0);
    }
    let skip = lines.len().saturating_sub(count);
    let records = lines.into_iter().skip(skip).filter_map(|line| record(line, vault)).collect();
    Ok((records, start + whole as u64))
}

/// The records of actions of which the id begins with `prefix`: reviews and outcomes, in order.
pub fn find(ledger: &LedgerFile, prefix: &str) -> Result<Vec<Line>, LedgerError> {
    let mut found = Vec::new();
    for line in lines(ledger)? {
        let line = line?;
        let id = line.record.as_ref().and_then(|record| match &record.body {
            RecordBody::Review(review) => Some(&review.action_id),
            RecordBody::Outcome(outcome) => Some(&outcome.action_id),
            RecordBody::Unanswered(unanswered) => Some(&unanswered.action_id),
            RecordBody::Unreviewed(unreviewed) => Some(&unreviewed.action_id),
            RecordBody::Told { action_id, .. } => Some(action_id),
            RecordBody::SessionStarted { .. }
            | RecordBody::Prompt { .. }
            | RecordBody::Event { .. }
            | RecordBody::Issue(_)
            | RecordBody::IssueEnded { .. }
            | RecordBody::Intervention(_)
            | RecordBody::Rollback(_)
            | RecordBody::Usage(_)
            | RecordBody::Marked { .. }
            | RecordBody::Message { .. }
            | RecordBody::Condensed
            | RecordBody::Halted { .. }
            | RecordBody::ReviewClosed { .. }
            | RecordBody::Resumed { .. }
            | RecordBody::ConfigChanged { .. }
            | RecordBody::Failure { .. }
            | RecordBody::Retention { .. }
            | RecordBody::Anchor { .. }
            | RecordBody::Repaired { .. }
            | RecordBody::Unknown => None,
        });
        if id.is_some_and(|id| id.as_str().starts_with(prefix)) {
            found.push(line);
        }
    }
    Ok(found)
}
