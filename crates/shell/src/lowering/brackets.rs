//! Where an opened bracket closes, for texts in which the parser did not look.
//!
//! Quotes, nested brackets, comments and `case` patterns are honoured; here-documents are not.

/// What is open while looking for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Parenthesis { cases: usize },
    Brace,
    Square,
    DoubleQuote,
    BackTick,
}

/// The position of the `)` that closes the `(` at `open`.
pub(super) fn closing_parenthesis(text: &str, open: usize, end: usize) -> Option<usize> {
    // `case` may be an argument; then its patterns must not swallow the closing bracket.
    close(text, open, end, Cases::Counted).or_else(|| close(text, open, end, Cases::Ignored))
}

/// The position of the `}` that closes the `{` at `open`.
pub(super) fn closing_brace(text: &str, open: usize, end: usize) -> Option<usize> {
    close(text, open, end, Cases::Counted)
}

/// The position of the `]` that closes the `[` at `open`.
pub(super) fn closing_square(text: &str, open: usize, end: usize) -> Option<usize> {
    close(text, open, end, Cases::Ignored)
}

/// Whether an unquoted operator (`;`, `&`, `|`, a redirection, a bracket that groups) stands in a stretch of words.
pub(super) fn holds_operator(text: &str, start: usize, end: usize) -> bool {
    let bytes = text.as_bytes().get(..end).unwrap_or_default();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let next = bytes.get(at + 1);
        at = match byte {
            b'\\' => at + 2,
            b'$' if next == Some(&b'\'') => end_of_escapes(bytes, at + 1) + 1,
            b'\'' | b'"' | b'`' => close(text, at, end, Cases::Ignored).unwrap_or(end) + 1,
            b'$' | b'<' | b'>' if next == Some(&b'(') => {
                closing_parenthesis(text, at + 1, end).unwrap_or(end) + 1
            }
            b'$' if next == Some(&b'{') => closing_brace(text, at + 1, end).unwrap_or(end) + 1,
            // An extended pattern: `@(a|b)`.
            b'(' if matches!(before, Some(b'?' | b'*' | b'+' | b'@' | b'!')) => {
                closing_parenthesis(text, at, end).unwrap_or(end) + 1
            }
            b'#' if starts_word(bytes, at) => {
                at + bytes.iter().skip(at).take_while(|&&skipped| skipped != b'\n').count()
            }
            b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => return true,
            _ => at + 1,
        };
    }
    false
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cases {
    Counted,
    Ignored,
}

fn close(text: &str, open: usize, end: usize, cases: Cases) -> Option<usize> {
    let bytes = text.as_bytes().get(..end)?;
    let mut stack: Vec<Open> = Vec::new();
    let mut at = open;
    while let Some(&byte) = bytes.get(at) {
        let top = stack.last().copied();
        let next = bytes.get(at + 1).copied();
        match (top, byte) {
            (_, b'\\') => at += 1,
            (Some(Open::BackTick), b'`')
            | (Some(Open::DoubleQuote), b'"')
            | (Some(Open::Parenthesis { cases: 0 }), b')')
            | (Some(Open::Brace), b'}')
            | (Some(Open::Square), b']') => {
                stack.pop();
            }
            (Some(Open::BackTick), _) => {}
            (_, b'`') => stack.push(Open::BackTick),
            (_, b'$') if next == Some(b'(') => {
                stack.push(Open::Parenthesis { cases: 0 });
                at += 1;
            }
            (_, b'$') if next == Some(b'{') => {
                stack.push(Open::Brace);
                at += 1;
            }
            (Some(Open::DoubleQuote), _) => {}
            (_, b'"') => stack.push(Open::DoubleQuote),
            (_, b'$') if next == Some(b'\'') => at = end_of_escapes(bytes, at + 1),
            (_, b'\'') => {
                at += 1;
                while bytes.get(at).is_some_and(|&quoted| quoted != b'\'') {
                    at += 1;
                }
            }
            (_, b'(') => stack.push(Open::Parenthesis { cases: 0 }),
            (None | Some(Open::Brace), b'{') => stack.push(Open::Brace),
            (None | Some(Open::Square), b'[') => stack.push(Open::Square),
            (Some(Open::Parenthesis { .. } | Open::Brace), b'#') if starts_word(bytes, at) => {
                while bytes.get(at).is_some_and(|&skipped| skipped != b'\n') {
                    at += 1;
                }
            }
            (Some(Open::Parenthesis { cases: open_cases }), b'c' | b'e')
                if cases == Cases::Counted && starts_word(bytes, at) =>
            {
                let open_cases = if is_word(bytes, at, b"case") {
                    open_cases + 1
                } else if is_word(bytes, at, b"esac") {
                    open_cases.saturating_sub(1)
                } else {
                    open_cases
                };
                stack.pop();
                stack.push(Open::Parenthesis { cases: open_cases });
            }
            (_, _) => {}
        }
        if stack.is_empty() {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Where a `$'...'` ends of which the quote stands there.
fn end_of_escapes(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at).filter(|byte| **byte != b'\'') {
        at += if byte == b'\\' { 2 } else { 1 };
    }
    at
}

fn starts_word(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_none_or(|before| matches!(before, b' ' | b'\t' | b'\n' | b';' | b'(' | b'|' | b'&'))
}

fn is_word(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    bytes.get(at..at + word.len()) == Some(word)
        && bytes
            .get(at + word.len())
            .is_none_or(|after| matches!(after, b' ' | b'\t' | b'\n' | b';' | b')' | b'|' | b'&'))
}

#[cfg(test)]
mod tests {
    use super::{closing_brace, closing_parenthesis, closing_square, holds_operator};

    #[test]
    fn brackets_close_where_the_shell_closes_them() {
        for (text, close) in [
            ("(a)", Some(2)),
            ("(a (b) c) d", Some(8)),
            ("(')' \")\" \\) `)`)", Some(15)),
            ("(\"$(echo \")\")\" )", Some(15)),
            ("(case x in a) ls;; (b) rm;; esac) z", Some(32)),
            ("(echo case )", Some(11)),
            ("(a # )\n)", Some(7)),
            ("(a#b)", Some(4)),
            ("(${x:-)})", Some(8)),
            ("($'a\\')')", Some(8)),
            ("((${#x}-1))", Some(10)),
            ("(never", None),
        ] {
            assert_eq!(closing_parenthesis(text, 0, text.len()), close, "{text}");
        }
        assert_eq!(closing_brace("{ a() { b; }; } c", 0, 17), Some(14));
        assert_eq!(closing_square("[a[1]+$(b ])]", 0, 13), Some(12));
    }

    #[test]
    fn operators_are_seen_outside_of_quotes_and_expansions() {
        for text in ["a; b", "a & b", "a|b", "<f", "a (b)", "x # c\n>y", "'a' \"b\" <<E"] {
            assert!(holds_operator(text, 0, text.len()), "{text}");
        }
        for text in ["a 'b;' \"c|\" \\;", "$(a; b) ${x:-;} `c|d` <(e; f)", "@(a|b) # c; d", "[k]=v {a,b} *"] {
            assert!(!holds_operator(text, 0, text.len()), "{text}");
        }
    }
}
