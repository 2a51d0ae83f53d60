//! What an agent writes to its error stream: passed on as it is, and looked through for errors of its provider (seed 001).
//!
//! Programs that the agent starts write there too. So a line counts only where it is one of the last, and where the stream of the agent itself
//! tells of no error, and the agent failed.

use crate::failure::ProviderError;

/// The longest line that is read, in bytes (ours).
const LONGEST: usize = 16 << 10;

/// So many further lines later an error is not what the agent ended with (ours).
const LAST: usize = 8;

/// Reads an error stream as it comes.
#[derive(Debug, Default)]
pub(crate) struct ErrorStream {
    line: Vec<u8>,
    error: Option<ProviderError>,
    since: usize,
}

impl ErrorStream {
    /// Some more bytes.
    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let room = LONGEST.saturating_sub(self.line.len());
            self.line.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
            if part.ends_with(b"\n") || part.ends_with(b"\r") {
                self.end_line();
            }
        }
    }

    /// There is nothing more to hear: the error that the agent ended with, as far as it tells.
    pub(crate) fn error(&mut self) -> Option<ProviderError> {
        self.end_line();
        self.error.clone().filter(|_| self.since <= LAST)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let error = ProviderError::of_message(text);
        if error.cause().is_some() {
            (self.error, self.since) = (Some(error), 0);
        } else {
            self.since += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureCause;

    fn cause(text: &str) -> Option<FailureCause> {
        let mut stream = ErrorStream::default();
        // However it comes.
        text.as_bytes().chunks(5).for_each(|piece| stream.hear(piece));
        stream.error().and_then(|error| error.cause())
    }

    // Source: seed 001-38
    #[test]
    fn the_error_that_an_agent_ends_with_is_found() {
        assert_eq!(cause("starting\nError: API Error: 529 overloaded\n"), Some(FailureCause::Capacity));
        assert_eq!(cause("You exceeded your current quota"), Some(FailureCause::Quota));
        assert_eq!(cause("invalid api key\r\n    at main (cli.js:1)\n"), Some(FailureCause::Authentication));
        assert_eq!(cause("TypeError: x is not a function\n"), None);
        assert_eq!(cause(""), None);
    }

    #[test]
    fn what_programs_of_the_agent_said_long_before_its_end_is_none() {
        let after = "working\n".repeat(LAST);
        assert_eq!(cause(&format!("connection refused\n{after}")), Some(FailureCause::Connection));
        assert_eq!(cause(&format!("connection refused\n{after}working\n")), None);
    }

    #[test]
    fn a_line_of_any_length_takes_bounded_memory() {
        let mut stream = ErrorStream::default();
        (0..1000).for_each(|_| stream.hear(&[b'x'; 4096]));
        assert!(stream.line.len() <= LONGEST);
        assert_eq!(stream.error(), None);
    }
}
