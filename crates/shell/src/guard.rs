//! What keeps hostile text from hurting: a size limit, a linear look at the nesting before anything is parsed, a
//! thread with a stack of its own, and a deadline.
//!
//! The parser bounds its own recursion for most constructs, but not for runs of `coproc`, `time` and `!`, and needs
//! time with the square of the number of braces that stay open. Both show in the text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use crate::lowering;
use crate::tree::{Parsed, Problem, ProblemKind, Span};

/// What reading one text may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseLimits {
    /// Longest text in bytes. Default 64 KiB (source: the design's input cap).
    pub text_bytes: usize,
    /// Brackets that may be open at once. Default 100, the depth at which the parser itself gives up.
    pub open_brackets: usize,
    /// `coproc`, `time` and `!` that may stand in front of one command. Default 64 (ours).
    pub prefix_words: usize,
    /// Time until the text is given up; texts that are small and plain are not timed. Default 50 ms (ours).
    pub deadline: Duration,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self {
            text_bytes: 64 * 1024,
            open_brackets: 100,
            prefix_words: 64,
            deadline: Duration::from_millis(50),
        }
    }
}

/// Stack of the reading thread: virtual memory, touched only as far as it is used. Ours.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// A text up to this size, with no more nesting than below, is read on the caller's stack and without a deadline. It
/// needs a few milliseconds at worst, so the answer does not depend on how busy the machine is. Ours.
const PLAIN_BYTES: usize = 16 * 1024;
const PLAIN_DEPTH: usize = 8;
const PLAIN_PREFIXES: usize = 8;
const PLAIN_OPENERS: usize = 64;

/// Reads shell text within the default [`ParseLimits`]. Answers a tree and problems for every text, and never panics.
///
/// ```
/// let parsed = checkrein_shell::parse("rm -rf {build,dist}");
/// assert!(parsed.problems.is_empty());
/// assert_eq!(checkrein_shell::outline::outline(&parsed.script), "(rm -rf build dist)");
/// ```
pub fn parse(text: &str) -> Parsed {
    parse_within(text, ParseLimits::default())
}

/// A shell that reads a text leaves null bytes out and runs what remains, so that is what counts.
fn without_null_bytes(text: &str, limits: ParseLimits) -> Parsed {
    let mut parsed = parse_within(&text.replace('\0', ""), limits);
    parsed.problems.push(Problem {
        kind: ProblemKind::Unsupported,
        span: Span { start: 0, end: text.len() },
        message: "the text holds null bytes, which a shell leaves out".to_owned(),
    });
    parsed
}

/// Reads shell text within `limits`. A text that exceeds one is answered by one opaque command and one problem.
pub fn parse_within(text: &str, limits: ParseLimits) -> Parsed {
    if text.len() > limits.text_bytes {
        return lowering::refusal(text, ProblemKind::TooLong, "the text is longer than the limit");
    }
    if text.contains('\0') {
        return without_null_bytes(text, limits);
    }
    let nesting = Nesting::of(text);
    if nesting.brackets > limits.open_brackets {
        return lowering::refusal(text, ProblemKind::TooDeep, "too many brackets are open at once");
    }
    if nesting.prefixes > limits.prefix_words {
        return lowering::refusal(
            text,
            ProblemKind::TooDeep,
            "too many prefix words stand in front of a command",
        );
    }
    if text.len() <= PLAIN_BYTES && nesting.is_plain() {
        read_here(text)
    } else {
        read_apart(text, limits.deadline)
    }
}

fn read_here(text: &str) -> Parsed {
    catch_unwind(AssertUnwindSafe(|| lowering::read(text))).unwrap_or_else(|_| parser_failed(text))
}

fn read_apart(text: &str, deadline: Duration) -> Parsed {
    let (sender, receiver) = sync_channel(1);
    let owned = text.to_owned();
    let thread =
        thread::Builder::new().name("shell-parser".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            // The receiver is gone when the deadline has passed: nobody is waiting for this any more.
            let _ = sender.send(read_here(&owned));
        });
    match thread {
        Ok(_detached) => match receiver.recv_timeout(deadline) {
            Ok(parsed) => parsed,
            Err(RecvTimeoutError::Timeout) => {
                lowering::refusal(text, ProblemKind::Deadline, "reading did not end before the deadline")
            }
            Err(RecvTimeoutError::Disconnected) => parser_failed(text),
        },
        Err(_) => parser_failed(text),
    }
}

fn parser_failed(text: &str) -> Parsed {
    lowering::refusal(text, ProblemKind::ParserFailed, "the parser failed")
}

/// How deep a text seems to be nested. Quotes are not looked at: a quote in a comment or a here-document would
/// hide the rest of the text, and expansions count inside double quotes too.
#[derive(Debug, Default, PartialEq, Eq)]
struct Nesting {
    /// Most brackets that are open at once.
    brackets: usize,
    /// Most prefix words on the way to one command, over all brackets that are open around it.
    prefixes: usize,
    /// Brackets and words that open something, closed or not.
    openers: usize,
}

impl Nesting {
    fn of(text: &str) -> Self {
        let mut nesting = Self::default();
        let (mut round, mut curly) = (0_usize, 0_usize);
        // Prefix words in front of the present command, for every open bracket.
        let mut runs = vec![0_usize];
        let mut on_the_way = 0_usize;
        for token in tokens(text) {
            let run = runs.last_mut();
            match token {
                "(" | "{" => {
                    if token == "(" {
                        round += 1;
                    } else {
                        curly += 1;
                    }
                    nesting.openers += 1;
                    nesting.brackets = nesting.brackets.max(round + curly);
                    runs.push(0);
                }
                ")" | "}" => {
                    let open = if token == ")" { &mut round } else { &mut curly };
                    *open = open.saturating_sub(1);
                    if runs.len() > 1 {
                        on_the_way -= runs.pop().unwrap_or_default();
                    }
                }
                "coproc" | "time" | "!" | "-p" | "--" => {
                    if let Some(run) = run {
                        *run += 1;
                        on_the_way += 1;
                    }
                    nesting.prefixes = nesting.prefixes.max(on_the_way);
                }
                word => {
                    if let Some(run) = run {
                        on_the_way -= std::mem::take(run);
                    }
                    if opens_compound(word) {
                        nesting.openers += 1;
                    }
                }
            }
        }
        nesting
    }

    fn is_plain(&self) -> bool {
        self.brackets <= PLAIN_DEPTH && self.prefixes <= PLAIN_PREFIXES && self.openers <= PLAIN_OPENERS
    }
}

fn opens_compound(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "elif"
            | "else"
            | "while"
            | "until"
            | "for"
            | "select"
            | "case"
            | "do"
            | "[["
            | "`"
            | "["
    )
}

/// The text cut into brackets and the words between them.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(|&byte| is_blank(byte)) {
            at += 1;
        }
        let from = at;
        let first = *bytes.get(at)?;
        at += 1;
        if !is_single(first) {
            while bytes.get(at).is_some_and(|&byte| !is_blank(byte) && !is_single(byte)) {
                at += 1;
            }
        }
        Some(text.get(from..at).unwrap_or_default())
    })
}

/// A backslash counts as a blank, so that continued lines stay one run.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\\')
}

fn is_single(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'{' | b'}' | b';' | b'&' | b'|' | b'`' | b'[')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_counted_over_brackets_of_both_kinds() {
        assert_eq!(Nesting::of("echo $(a ${b:-(c)}) {").brackets, 3);
        assert_eq!(Nesting::of(") } a) b)").brackets, 0);
        assert_eq!(Nesting::of("a)b)(").brackets, 1);
    }

    #[test]
    fn prefix_words_are_counted_through_brackets() {
        assert_eq!(Nesting::of("time ! coproc ls; time ls").prefixes, 3);
        assert_eq!(Nesting::of("time { ! ( coproc").prefixes, 3);
        assert_eq!(Nesting::of("time \\\n-p \\\n! ls").prefixes, 3);
        assert_eq!(Nesting::of("make time; echo !").prefixes, 1);
    }
}
