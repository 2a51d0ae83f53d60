//! Lines out of a stream, within a bound.

use std::io::{self, BufRead};

/// The longest line that passes, in bytes (ours): what editors and agents send is shorter, files of 50 MB among it.
pub(crate) const LONGEST: usize = 64 * 1024 * 1024;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A line with its end; the last one may have none.
    Line(Vec<u8>),
    /// The beginning of a line that is longer than any may be; the rest of it is gone.
    TooLong(Vec<u8>),
    /// Nothing comes any more.
    End,
}

/// Reads the next line. Memory is what the line needs, and at most the bound.
pub(crate) fn next(input: &mut impl BufRead, longest: usize) -> io::Result<Read> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let part = match input.fill_buf() {
            Ok(part) => part,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if part.is_empty() {
            return Ok(match (is_too_long, line.is_empty()) {
                (true, _) => Read::TooLong(line),
                (false, true) => Read::End,
                (false, false) => Read::Line(line),
            });
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(part.len(), |end| end + 1);
        let room = longest.saturating_sub(line.len());
        line.extend_from_slice(part.get(..length.min(room)).unwrap_or_default());
        is_too_long |= length > room;
        input.consume(length);
        if end.is_some() {
            return Ok(if is_too_long { Read::TooLong(line) } else { Read::Line(line) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn all(text: &[u8], longest: usize, buffer: usize) -> Vec<Read> {
        let mut input = BufReader::with_capacity(buffer, text);
        let mut found = Vec::new();
        loop {
            match next(&mut input, longest).unwrap() {
                Read::End => return found,
                read => found.push(read),
            }
        }
    }

    #[test]
    fn lines_come_whole_however_they_are_read() {
        for buffer in [1, 2, 3, 64] {
            let line = |text: &[u8]| Read::Line(text.to_vec());
            assert_eq!(
                all(b"a\r\n\nbc\nd", 8, buffer),
                [line(b"a\r\n"), line(b"\n"), line(b"bc\n"), line(b"d")]
            );
            let found = all(b"123456789\nab\n1234567\n12345678", 8, buffer);
            let expected =
                [Read::TooLong(b"12345678".to_vec()), line(b"ab\n"), line(b"1234567\n"), line(b"12345678")];
            assert_eq!(found, expected);
        }
    }
}
