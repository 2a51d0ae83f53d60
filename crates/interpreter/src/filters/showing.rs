//! What programs show of the files that they read.

use crate::expression::{Dialect, Expression, LetterCase};
use crate::path::AbsolutePath;
use crate::places;
use crate::{Call, Value};

use super::searching::Search;
use super::{settings, shapes};

/// What a call shows of what it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Showing {
    /// All of it, or nobody knows what.
    Everything,
    /// Lines that fit a pattern that does not ask for secrets.
    ChosenLines,
    /// The names of settings, without their values, where each line is one.
    Names,
    /// Nothing: it goes to other files.
    Kept,
    /// Nothing: it goes to a file beside it whose name says that it is secret.
    KeptByName,
    /// Numbers, sums and names only.
    Nothing,
}

/// Programs that tell how much there is, or whether it is the same, whatever their options.
const MEASURING: &[&str] = &[
    "wc",
    "cksum",
    "sum",
    "md5",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "b2sum",
    "b3sum",
    "stat",
    "du",
    "ls",
];

/// Programs that tell where two files differ, by lines or bytes of them.
const COMPARING: &[&str] = &["diff", "gdiff", "cmp", "colordiff"];

/// Programs that copy what they are given to other files, and print names at most.
const COPYING: &[&str] = &["cp", "mv", "install", "ln"];

/// Programs that print lines that fit a pattern, with the options of `grep`.
pub(super) const SEARCHING: &[&str] = &[
    "grep", "egrep", "fgrep", "rgrep", "zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep", "lzgrep", "rg", "ag",
    "ack", "ugrep",
];

/// What a call shows of the files that it reads and of its input.
pub(crate) fn showing(call: &Call) -> Showing {
    let program = call.program.as_str();
    // The list of files may be the content of one.
    let reads_names =
        || call.words.iter().any(|word| word.as_exact().is_none_or(|text| text.starts_with("--files0-from")));
    if MEASURING.contains(&program) {
        let checks = call.arguments_written().any(|text| matches!(text, "-c" | "--check"));
        // What a list of sums says is printed where it is wrong.
        let lists_lines = checks && program.ends_with("sum");
        return if lists_lines || program == "wc" && reads_names() {
            Showing::Everything
        } else {
            Showing::Nothing
        };
    }
    if COMPARING.contains(&program) {
        return if says_only_whether(call) { Showing::Nothing } else { Showing::Everything };
    }
    if COPYING.contains(&program) {
        return if is_told_by_its_name(call) { Showing::KeptByName } else { Showing::Kept };
    }
    if shapes::tells_shape(call) {
        return Showing::Nothing;
    }
    if settings::hides_values(call) {
        return Showing::Names;
    }
    if SEARCHING.contains(&program) {
        return of_search(&Search::new(call), program);
    }
    if program == "agrep" && call.arguments_written().any(|text| is_cluster_with(text, &['l', 'c', 's'])) {
        return Showing::Nothing;
    }
    Showing::Everything
}

/// Whether a comparison tells only that two files differ, or where, and nothing of what stands there (diffutils, `-q`; `cmp` without `-l`
/// and `-b`).
fn says_only_whether(call: &Call) -> bool {
    if call.program == "cmp" {
        let tells_bytes = |word: &Value| {
            word.as_exact().is_none_or(|text| match text.strip_prefix("--") {
                Some(long) => long.starts_with('v') || long.starts_with('p'),
                None => text.starts_with('-') && text.contains(['l', 'b']),
            })
        };
        !call.words.iter().any(tells_bytes)
    } else {
        let briefly = |word: &Value| {
            word.as_exact().is_some_and(|text| is_cluster_with(text, &['q']) || text == "--brief")
        };
        call.words.iter().any(briefly)
    }
}

/// Whether what a call copies one file to lies in the project under a name that says that it is secret, so that whoever reads the copy is
/// told then: `cp .env .env.backup`.
fn is_told_by_its_name(call: &Call) -> bool {
    let operands: Option<Vec<&str>> =
        call.words.iter().map(|word| word.as_exact().filter(|text| !text.starts_with('-'))).collect();
    let Some([_, to]) = operands.as_deref() else { return false };
    let is_below = !to.starts_with(['/', '~']) && !to.split('/').any(|part| part == "..");
    let root = AbsolutePath::root();
    is_below && places::credential(&root.join(to), &root).is_some()
}

/// Whether lines of what a call reads are among what it prints, whichever.
pub(crate) fn shows_lines(call: &Call) -> bool {
    match showing(call) {
        Showing::Everything => true,
        Showing::ChosenLines | Showing::Names | Showing::Kept | Showing::KeptByName | Showing::Nothing => {
            false
        }
    }
}

/// Whether a call prints a line that begins in this way, when it comes by it; what follows is not known.
pub(crate) fn may_show(call: &Call, beginning: &str) -> bool {
    match showing(call) {
        Showing::Nothing | Showing::Kept | Showing::KeptByName => false,
        Showing::Everything | Showing::ChosenLines | Showing::Names
            if !SEARCHING.contains(&call.program.as_str()) =>
        {
            true
        }
        Showing::Everything | Showing::ChosenLines | Showing::Names => {
            let search = Search::new(call);
            // What stands around a line that fits is printed too.
            search.is_strange() || search.fits(beginning).is_none_or(|fits| fits != search.inverted)
        }
    }
}

/// Whether a call prints names of files: those that there are, or of which the content fits.
pub(super) fn names_files(call: &Call) -> bool {
    if MEASURING.contains(&call.program.as_str()) {
        return true;
    }
    let is_search = SEARCHING.contains(&call.program.as_str());
    let search = Search::new(call);
    is_search && (search.names || search.other_names && call.program != "rg")
}

/// Whether a word is a cluster of letters with one of these among them: `-il`.
fn is_cluster_with(text: &str, letters: &[char]) -> bool {
    text.strip_prefix('-').is_some_and(|cluster| {
        !cluster.is_empty() && cluster.chars().all(char::is_alphabetic) && cluster.contains(letters)
    })
}

fn of_search(search: &Search, program: &str) -> Showing {
    if search.obscure {
        return Showing::Everything;
    }
    // `rg -L` follows links.
    let names = search.names || search.other_names && program != "rg";
    if search.quiet || names || search.count {
        return Showing::Nothing;
    }
    if search.inverted || search.patterns.is_empty() {
        return Showing::Everything;
    }
    let dialect = match (search.fixed, search.extended || program == "rg" || search.perl) {
        (true, _) => Dialect::Fixed,
        (false, true) => Dialect::Extended,
        (false, false) => Dialect::Basic,
    };
    let harmless = search
        .patterns
        .iter()
        .all(|pattern| pattern.as_exact().is_some_and(|text| !asks_for_secrets(text, dialect)));
    if harmless { Showing::ChosenLines } else { Showing::Everything }
}

/// Words of which the name of a secret is made.
const SECRET_WORDS: &[&str] = &[
    "key",
    "keys",
    "apikey",
    "apikeys",
    "pass",
    "passwd",
    "password",
    "passwords",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "token",
    "tokens",
    "credential",
    "credentials",
    "creds",
    "bearer",
    "akia",
    "asia",
    "ghp",
    "gho",
    "sk",
    "xoxb",
    "xoxp",
];

/// Lines that say nothing. A pattern that fits one of them is not looking for something.
const MEANINGLESS: &[&str] =
    &["ZQ_XJ=9f8Qz1Kx7Lw0Rv5Yt3", "zq-xj: \"e3b0c44298fc1c149afbf4c8996fb924\"", "#"];

/// Lines that hold secrets, for patterns that write their names in another way: `p.ssw`.
const SECRETS: &[&str] =
    &["PASSWORD=", "password=", "SECRET=", "secret=", "TOKEN=", "token=", "_KEY=", "_key=", "AKIA", "ghp_"];

/// Whether the lines that fit a pattern are presumably secrets, or all sorts of lines.
///
/// What a file of secrets holds is not looked at: it would have to be kept with the other facts of the review.
fn asks_for_secrets(pattern: &str, dialect: Dialect) -> bool {
    if pattern.is_empty() || words(pattern).any(|word| SECRET_WORDS.contains(&word.as_str())) {
        return true;
    }
    let is_plain = dialect == Dialect::Fixed
        || pattern
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '/' | ':' | ',' | '@'));
    // One line is one pattern.
    pattern.split('\n').any(|line| {
        let Some(expression) = Expression::new(line, dialect, LetterCase::Ignored) else { return true };
        let fits = |text: &&str| expression.matches(text) != Some(false);
        line.is_empty() || MEANINGLESS.iter().any(&fits) || !is_plain && SECRETS.iter().any(&fits)
    })
}

/// The words of a text in small letters, also those that only a capital sets apart: `accessToken`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut all: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && was_small) {
            all.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    all.push(word);
    all.into_iter().filter(|word| !word.is_empty())
}

impl Call {
    /// The words whose text is known.
    fn arguments_written(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(Value::as_exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_are_for_secrets_or_for_anything_are_told_from_those_for_something() {
        for pattern in [
            "foo",
            "needle text",
            "TODO",
            "'/bin/ksh'",
            "fn main(",
            "messages.",
            "^import .*react",
            "keyboard",
            "California",
            "word",
        ] {
            assert!(!asks_for_secrets(pattern, Dialect::Basic), "{pattern}");
        }
        for pattern in [
            "",
            ".",
            "^",
            ".*",
            "=",
            "a*",
            "[0-9]",
            "[A-Z]",
            "KEY",
            "api_key",
            "accessToken",
            "password",
            "p.ssword",
            "foo\\|.*",
            "foo\n",
            "e",
        ] {
            assert!(asks_for_secrets(pattern, Dialect::Basic), "{pattern}");
        }
    }
}
