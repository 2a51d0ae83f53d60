//! From the text of code to its tree, by a parser of its language. A limit of size, a linear look at what may nest, a
//! thread with a stack of its own, and a deadline keep hostile text from doing harm.
//!
//! No type of a parser leaves the two modules below.

mod javascript;
mod python;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use crate::token::Language;
use crate::tree::SyntaxTree;

/// How deep a tree is looked at (ours).
const DEPTH: usize = 150;
/// How often something that may nest may stand in a text; beyond that the stack below might not do (ours).
const OPENERS: usize = 48_000;
/// What is read on the stack of the caller: so few, and so short a text, that no nesting in it can hurt (ours).
const PLAIN_OPENERS: usize = 100;
const PLAIN_BYTES: usize = 4 * 1024;
/// The stack of the reading thread: virtual memory, touched only as far as it is used (ours).
const STACK_BYTES: usize = 256 * 1024 * 1024;
/// When reading is given up; hundreds of times what the longest text needs (ours).
const DEADLINE: Duration = Duration::from_millis(400);

/// How deep a reader is in a tree, and whether it left something out.
#[derive(Default)]
struct Nesting {
    depth: usize,
    is_cut: bool,
}

impl Nesting {
    /// Goes one deeper; `false` where that is too deep, which cuts the tree there.
    fn enter(&mut self) -> bool {
        let is_within = self.depth < DEPTH;
        self.is_cut |= !is_within;
        self.depth += usize::from(is_within);
        is_within
    }

    /// Comes back from where [`Self::enter`] went.
    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// What is wrong with the tree: what the parser says, else that something is cut.
    fn problem(&self, parsing: Option<&'static str>) -> Option<&'static str> {
        parsing.or(self.is_cut.then_some("is nested too deeply"))
    }
}

/// The tree of code; `None` when the language has no parser here.
pub fn parse(text: &str, language: Language) -> Option<SyntaxTree> {
    let parser = match language {
        Language::Python => python::read,
        Language::JavaScript => javascript::read,
        Language::Perl | Language::Ruby | Language::Php | Language::Lua | Language::R => return None,
    };
    let openers = openers(text);
    if openers > OPENERS {
        return Some(broken("is nested too deeply"));
    }
    if openers <= PLAIN_OPENERS && text.len() <= PLAIN_BYTES {
        return Some(read_here(text, parser));
    }
    Some(read_apart(text, parser))
}

fn read_here(text: &str, parser: fn(&str) -> SyntaxTree) -> SyntaxTree {
    catch_unwind(AssertUnwindSafe(|| parser(text))).unwrap_or_else(|_| broken("cannot be read"))
}

fn read_apart(text: &str, parser: fn(&str) -> SyntaxTree) -> SyntaxTree {
    let (sender, receiver) = sync_channel(1);
    let owned = text.to_owned();
    let thread =
        thread::Builder::new().name("code-parser".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            // The receiver is gone when the deadline has passed: nobody is waiting for this any more.
            let _ = sender.send(read_here(&owned, parser));
        });
    match thread {
        Ok(_detached) => receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| broken("cannot be read in time")),
        Err(_) => broken("cannot be read"),
    }
}

fn broken(problem: &'static str) -> SyntaxTree {
    SyntaxTree { statements: Vec::new(), problem: Some(problem) }
}

/// How often something stands in a text that a parser may have to go one level deeper for. Texts and comments are not
/// told from code: what looks like one may not be, and a count that is too high only costs an answer.
fn openers(text: &str) -> usize {
    let mut count = 0;
    let mut word = 0;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphabetic() {
            continue;
        }
        if at > word && bytes.get(word..at).is_some_and(is_prefix_word) {
            count += 1;
        }
        word = at + 1;
        if matches!(
            byte,
            b'(' | b'[' | b'{' | b'!' | b'~' | b'-' | b'+' | b'<' | b'=' | b'?' | b':' | b'*' | b'&' | b'|'
        ) {
            count += 1;
        }
    }
    count
}

/// Words that stand in front of what they nest.
fn is_prefix_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"new"
            | b"typeof"
            | b"void"
            | b"delete"
            | b"await"
            | b"yield"
            | b"do"
            | b"else"
            | b"not"
            | b"lambda"
            | b"async"
            | b"throw"
            | b"keyof"
            | b"unique"
            | b"readonly"
            | b"infer"
            | b"asserts"
            | b"extends"
            | b"import"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that nest as deeply as their length allows, or make a parser go back often.
    fn hostile() -> Vec<String> {
        let many = |open: &str, middle: &str, close: &str, count: usize| {
            format!("{}{middle}{}", open.repeat(count), close.repeat(count))
        };
        let mut all = Vec::new();
        for count in [50, 400, 11_000] {
            for (open, close) in [
                ("(", ")"),
                ("[", "]"),
                ("{", "}"),
                ("(a,", ")"),
                ("(a=", ")"),
                ("a(", ")"),
                ("a?", ":b"),
                ("!", ""),
                ("- ", ""),
                ("not ", ""),
                ("new ", ""),
                ("typeof ", ""),
                ("await ", ""),
                ("a=>", ""),
                ("async(a)=>", ""),
                ("(a)=>(", ")"),
                ("async(", ")"),
                ("`${", "}`"),
                ("f'{", "}'"),
                ("<a>", "</a>"),
                ("a<", ""),
                ("f<a<b>(", ")"),
                ("if(a)", ""),
                ("if(a){}else ", ""),
                ("do ", ""),
                ("a:", ""),
                ("for(;;)", ""),
                ("lambda:", ""),
                ("a**", ""),
                ("a.", ""),
                ("a+", ""),
                ("a,", ""),
                ("a and ", ""),
                ("a if b else ", ""),
                ("a=", ""),
                ("function(){", "}"),
                ("class A{static{", "}}"),
                ("({a:", "})"),
                ("try{", "}finally{}"),
                ("import(", ")"),
                ("/", "/"),
                ("@a ", ""),
                ("yield ", ""),
                ("(x:(", ")=>x)"),
                ("a as (", ")"),
                ("let a:{b:", "}"),
                ("if a:\n ", ""),
                ("match a:\n case [", "]"),
            ] {
                if open.len().saturating_mul(count) <= 64 * 1024 {
                    all.push(many(open, "a", close, count));
                    all.push(open.repeat(count));
                }
            }
        }
        all
    }

    #[test]
    fn hostile_nesting_is_read_or_refused() {
        for text in hostile() {
            for language in [Language::Python, Language::JavaScript] {
                assert!(parse(&text, language).is_some());
            }
        }
    }

    #[test]
    fn nesting_is_counted_by_what_opens_it() {
        assert_eq!(openers("print('a', b)"), 1);
        assert_eq!(openers("new new Foo"), 2);
        assert_eq!(openers("newer()"), 1);
        assert_eq!(openers("a ? b : c"), 2);
    }

    #[test]
    fn other_languages_have_no_parser() {
        assert!(parse("1", Language::Perl).is_none());
    }
}
