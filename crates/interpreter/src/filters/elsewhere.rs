//! What is printed out of the names of files outside the workspace, where these are too many to be listed one by one: who is given it as
//! words may change any of these files.

use std::ops::Range;

use crate::effect::Target;
use crate::path::AbsolutePath;
use crate::world::{Entry, PathPattern};
use crate::{Call, Input, Machine, Output, Value};

use super::PASSING;
use super::lines::Lines;
use super::lists;
use super::showing::{self, Showing};

/// Programs that are given files and print their names, each with something about the file.
const NAMING: &[&str] = &[
    "b2sum",
    "b3sum",
    "cksum",
    "exiftool",
    "file",
    "getfacl",
    "getfattr",
    "gstat",
    "identify",
    "ls",
    "lsattr",
    "md5sum",
    "namei",
    "readlink",
    "realpath",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shasum",
    "stat",
    "sum",
    "wc",
];
/// The greatest number of words that are looked at (ours).
const WORDS: usize = 1024;

/// The greatest number of names of a known text that are looked up (ours).
const NAMES: usize = 64;

/// The greatest number of patterns that are kept for the commands inside a call (ours).
const AROUND: usize = 16;

/// What a call prints that was given names outside the workspace, by its words or on its input; `printed` are names that its code was seen
/// to print. `None` where no such name is among them.
pub(crate) fn named(
    machine: &Machine<'_>,
    call: &Call,
    output: &Output,
    printed: &[Value],
) -> Option<Output> {
    if !machine.tells_names() {
        return None;
    }
    let is_open = *output == Output::Unknown;
    // What a program read of many files it may print behind their names; who only passes it on prints what stands in them.
    let is_content = matches!(output, Output::Local(place) if place.contains(['*', '?', '[']) && Lines::of(output).is_none());
    // `awk` knows the names of what it reads.
    let says_names =
        |word: &Value| word.as_exact().is_some_and(|text| text.contains("FILENAME") || text.contains("ARGV"));
    let passes_on = PASSING.contains(&call.program.as_str()) && !call.words.iter().any(says_names);
    if !is_open && (!is_content || passes_on) {
        return None;
    }
    let mut patterns: Vec<String> = Vec::new();
    if showing::showing(call) != Showing::Nothing {
        match &call.input {
            Input::Text(Value::Glob(text)) => patterns.extend(outside_of_text(machine, text)),
            Input::Text(Value::Exact(text)) => patterns.extend(outside_of_names(machine, text)),
            input => patterns.extend(outside_of_list(machine, &Output::from_input(input))),
        }
    }
    let is_naming = NAMING.contains(&call.program.as_str());
    let looks_below = lists::looks_below(call);
    for word in call.words.iter().take(WORDS) {
        match word {
            Value::Glob(_) => patterns.extend(outside(machine, word)),
            Value::Exact(text) if is_naming && text.starts_with('/') => {
                patterns.extend(outside(machine, word));
            }
            Value::Exact(text)
                if looks_below && !text.starts_with('-') && machine.is_directory(word) == Some(true) =>
            {
                patterns.extend(
                    outside(machine, word).map(|place| format!("{}/**", place.trim_end_matches('/'))),
                );
            }
            Value::Exact(_) | Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => {}
        }
    }
    // Without a name it lists where it stands.
    if is_open && is_naming && call.words.iter().all(|word| word.known_start().starts_with('-')) {
        patterns.extend(outside(machine, &Value::Glob("*".to_owned())));
    }
    for value in printed {
        patterns.extend(outside(machine, value));
    }
    let whole = patterns.into_iter().reduce(|left, right| around(&left, &right))?;
    Some(Lines::of_names_elsewhere(&whole))
}

/// What is printed of words among which are patterns of names outside the workspace; `None` where there are none.
pub(crate) fn made_of(machine: &Machine<'_>, words: &[Value]) -> Option<Output> {
    let patterns = words.iter().take(WORDS).filter(|word| matches!(word, Value::Glob(_)));
    let whole =
        patterns.filter_map(|word| outside(machine, word)).reduce(|left, right| around(&left, &right))?;
    Some(Lines::of_names_elsewhere(&whole))
}

impl Machine<'_> {
    /// The patterns of names outside the workspace that a word of the running command of which nothing is known may be.
    pub(crate) fn names_elsewhere(&self) -> impl Iterator<Item = &str> {
        let words = self.substituted().iter().filter_map(Lines::elsewhere);
        words.chain(self.call.around.iter().map(String::as_str).filter(|pattern| {
            !self.substituted().iter().any(|output| Lines::elsewhere(output) == Some(pattern))
        }))
    }

    /// Whether a word of the running command of which nothing is known may be a name outside the workspace.
    pub fn may_name_elsewhere(&self) -> bool {
        self.names_elsewhere().next().is_some()
    }

    /// Keeps for the commands inside a call which names its words may be, until [`Machine::leave_around`].
    pub(crate) fn surround(&mut self, words: &[Output]) -> Range<usize> {
        let start = self.call.around.len();
        let patterns: Vec<String> = words.iter().filter_map(Lines::elsewhere).map(str::to_owned).collect();
        for pattern in patterns {
            self.keep_around(pattern);
        }
        start..self.call.around.len()
    }

    /// Keeps for the commands inside a call which names may come in on its input, as [`Machine::surround`] does those of its words.
    pub(crate) fn surround_with_input(&mut self) -> Range<usize> {
        let start = self.call.around.len();
        let input = self.input.clone();
        self.keep_names_of(&input);
        start..self.call.around.len()
    }

    fn keep_names_of(&mut self, input: &Input) {
        let pattern = match input {
            Input::Text(Value::Glob(text)) => outside_of_text(self, text),
            Input::Text(Value::Exact(text)) => outside_of_names(self, text),
            input => outside_of_list(self, &Output::from_input(input)),
        };
        pattern.into_iter().for_each(|pattern| self.keep_around(pattern));
    }

    /// Ends what [`Machine::surround`] began.
    pub(crate) fn leave_around(&mut self, added: Range<usize>) {
        let end = added.end.min(self.call.around.len());
        if added.start < end {
            self.call.around.drain(added.start..end);
        }
    }

    /// Runs `work`, what it writes being taken in by the running program itself.
    pub fn told_to_program<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.position.telling += 1;
        let answer = work(self);
        self.position.telling -= 1;
        answer
    }

    /// Whether somebody takes in the names that are written at the present point.
    pub(super) fn tells_names(&self) -> bool {
        self.is_listened_to() || self.is_kept() || self.position.telling > 0
    }

    /// Keeps, for the rest of the running program, which names outside the workspace it was told by another that it started: a name that it
    /// puts together afterwards may be any of them. Who follows a text that is known needs only the lists that are too long for that.
    pub fn take_in_lists(&mut self, output: &Output) {
        if let Some(pattern) = Lines::elsewhere(output).map(str::to_owned) {
            self.keep_around(pattern);
        }
    }

    /// The same for who does not follow texts: names that are known count too.
    pub fn take_in_names(&mut self, output: &Output) {
        self.keep_names_of(&output.clone().into_input());
    }

    /// Keeps from here on which names the arguments of the shell may be.
    pub(crate) fn keep_arguments_elsewhere(&mut self) {
        let patterns: Vec<String> = self.names_elsewhere().map(str::to_owned).collect();
        for pattern in patterns {
            self.keep_around(pattern);
        }
    }

    fn keep_around(&mut self, pattern: String) {
        if self.call.around.len() < AROUND && !self.call.around.contains(&pattern) {
            self.call.around.push(pattern);
        }
    }
}

/// The pattern of what the words of a text name, as [`outside`] says of one.
fn outside_of_text(machine: &Machine<'_>, text: &str) -> Option<String> {
    let words = text.split_whitespace().take(WORDS).map(Value::of_pattern);
    words.filter_map(|word| outside(machine, &word)).reduce(|left, right| around(&left, &right))
}

/// The same of a text that is known, for the names of what is there: whatever prints them in another order or form prints them, and so
/// does what takes more of them than are followed one by one.
fn outside_of_names(machine: &Machine<'_>, text: &str) -> Option<String> {
    let is_there =
        |path: &String| AbsolutePath::new(path).is_some_and(|path| machine.entry(&path) != Entry::Missing);
    let words = text.split_whitespace().take(NAMES).filter(|word| !word.starts_with('-')).map(Value::exact);
    let places = words.filter_map(|word| outside(machine, &word)).filter(is_there);
    places.reduce(|left, right| around(&left, &right))
}

/// The pattern of what a list of names holds, where that lies outside the workspace.
fn outside_of_list(machine: &Machine<'_>, list: &Output) -> Option<String> {
    if let Some(pattern) = Lines::elsewhere(list) {
        return Some(pattern.to_owned());
    }
    let (Output::Local(place), Some(_)) = (list, Lines::of(list)) else { return None };
    let place = place.trim_end_matches(['?', ':', ' ', '/']);
    outside(machine, &Value::exact(place)).map(|place| format!("{}/**", place.trim_end_matches('/')))
}

/// The pattern of what a word names, where that lies outside the workspace and is not temporary.
fn outside(machine: &Machine<'_>, word: &Value) -> Option<String> {
    let place = machine.world().place();
    let is_outside = |path: &AbsolutePath| !path.is_within(&place.workspace) && !place.is_temporary(path);
    machine.paths(word).into_iter().find_map(|aim| match aim.target {
        Target::Glob(pattern) => {
            let base = PathPattern::new(&pattern)?.base;
            is_outside(&base).then_some(pattern)
        }
        Target::Path(path) => is_outside(&path).then(|| path.as_str().to_owned()),
        Target::Host(_)
        | Target::Process(_)
        | Target::Service(_)
        | Target::Reference(_)
        | Target::Unknown => None,
    })
}

/// A pattern that holds what both name: what lies anywhere below the directory that they share.
fn around(left: &str, right: &str) -> String {
    if left == right {
        return left.to_owned();
    }
    let directory = |text: &str| {
        let fixed = text.split(['*', '?', '[']).next().unwrap_or_default().to_owned();
        fixed.rsplit_once('/').map_or(String::new(), |(directory, _)| directory.to_owned())
    };
    let (left, right) = (directory(left), directory(right));
    let shared: Vec<&str> =
        left.split('/').zip(right.split('/')).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    if left == right { format!("{left}/*") } else { format!("{}/**", shared.join("/")) }
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn two_patterns_lie_in_the_directory_that_they_share() {
        for (left, right, both) in [
            ("/h/d/a*", "/h/d/a*", "/h/d/a*"),
            ("/h/d/a*", "/h/d/b", "/h/d/*"),
            ("/h/d/*", "/h/e/*", "/h/**"),
            ("/h/d/e/*", "/h/d/*", "/h/d/**"),
            ("/a/*", "/b/*", "/**"),
        ] {
            assert_eq!(around(left, right), both, "{left} {right}");
        }
    }
}
