//! Reading lines within bounds.

use std::io::{self, BufRead};

/// How much is kept of the beginning and of the end of a line that is too long, in bytes (ours).
const PART: usize = 4 * 1024;

/// A line as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadLine {
    /// The whole line with its end, in the buffer.
    Whole,
    /// The line is longer than may be held; its beginning, its end without what ends it, and its length in bytes.
    TooLong { head: Vec<u8>, tail: Vec<u8>, length: u64 },
    /// There are no more.
    End,
}

/// Reads the next line into the buffer, as far as it is no longer than `most` bytes.
pub(crate) fn next_line(input: &mut impl BufRead, most: usize, buffer: &mut Vec<u8>) -> io::Result<ReadLine> {
    buffer.clear();
    // One large line does not hold its memory for ever.
    buffer.shrink_to(1024 * 1024);
    let mut length = 0_u64;
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    loop {
        let read = match input.fill_buf() {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = read.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let piece = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
        let count = piece.len();
        length += count as u64;
        if head.is_empty() && buffer.len() + count <= most {
            buffer.extend_from_slice(piece);
        } else if head.is_empty() {
            buffer.extend_from_slice(piece);
            head = buffer.get(..PART.min(buffer.len())).unwrap_or_default().to_vec();
            tail = buffer.get(buffer.len().saturating_sub(PART)..).unwrap_or_default().to_vec();
            *buffer = Vec::new();
        } else {
            tail.extend_from_slice(piece);
            tail.drain(..tail.len().saturating_sub(PART));
        }
        let is_end = count == 0;
        input.consume(count);
        if end.is_none() && !is_end {
            continue;
        }
        return Ok(if !head.is_empty() {
            ReadLine::TooLong { head, tail: tail.trim_ascii_end().to_vec(), length }
        } else if buffer.is_empty() {
            ReadLine::End
        } else {
            ReadLine::Whole
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_come_with_their_ends_and_long_ones_in_parts() {
        let text = format!("a\r\n\n{}\nlast", "x".repeat(100_000));
        let mut input = BufReader::with_capacity(16, text.as_bytes());
        let mut buffer = Vec::new();
        let mut next = |buffer: &mut Vec<u8>| next_line(&mut input, 1000, buffer).unwrap();
        assert_eq!((next(&mut buffer), &buffer[..]), (ReadLine::Whole, &b"a\r\n"[..]));
        assert_eq!((next(&mut buffer), &buffer[..]), (ReadLine::Whole, &b"\n"[..]));
        let ReadLine::TooLong { head, tail, length } = next(&mut buffer) else { panic!("it is too long") };
        assert_eq!(length, 100_001);
        assert!(head.starts_with(b"xxx") && tail.ends_with(b"xxx") && tail.len() < PART + 1);
        assert_eq!((next(&mut buffer), &buffer[..]), (ReadLine::Whole, &b"last"[..]));
        assert_eq!(next(&mut buffer), ReadLine::End);
    }
}
