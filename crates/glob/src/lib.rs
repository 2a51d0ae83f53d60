//! Patterns of names and paths: one reader and one matcher for all who write them differently.
//!
//! What the signs of a pattern mean depends on who reads it, so each of them is a [`Style`]. The reader turns a pattern into signs that
//! mean the same everywhere. The matcher follows all ways through them at once, so that its work is bounded by the product of the lengths,
//! whatever the pattern. Patterns of bash with `@(...)` and the like are those of the interpreter (`interpreter/src/pattern.rs`),
//! which also has texts of which only a part is known.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod ignore;
mod read;

/// Who reads a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A shell that looks for files. `*`, `?` and `[...]` stay within a name and leave a dot at its beginning alone. `**` as a whole name
    /// stands for any number of names, hidden ones too, and at the end also for none. Nothing is escaped: quotes are gone by then.
    Shell,
    /// Git that reads `.gitignore`: as a shell, but a dot is no exception, `\` escapes, and what stands before a `**` at the end is not meant.
    Gitignore,
    /// Git that is given paths: `*`, `?` and `[...]` cross slashes, `**/` may stand for no directory, `\` escapes.
    Pathspec,
    /// `find` and others that compare whole texts: `*`, `?` and `[...]` cross slashes, `\` escapes.
    Find,
    /// Paths in our settings: `*` and `?` stay within a name, `**` as a whole name stands for any number of names.
    Setting,
    /// Files that go along into a worktree: as [`Style::Setting`], but two stars cross slashes wherever they stand, and what stands before
    /// them at the end is not meant.
    Carried,
    /// Words in the catalogue: `*` stands for any text, and nothing else is a sign.
    Word,
}

/// A pattern that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    signs: Vec<Sign>,
    dots: Dots,
}

/// Whether a dot at the beginning of a name has to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dots {
    /// It has.
    Written,
    /// It is a character like others.
    Plain,
}

/// What stands at one place of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sign {
    /// This character.
    Character(char),
    /// Any one character.
    One(Reach),
    /// Any text, also none.
    Many(Reach),
    /// One character that these ranges hold, or do not hold.
    Class { ranges: Vec<(char, char)>, holds: bool, reach: Reach },
    /// Any number of directories, each with its slash; also none.
    Directories,
    /// The end, or a slash and anything behind it.
    Below,
    /// Nothing fits here: the pattern is not well formed.
    Never,
}

/// How far a sign goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// It stops at a slash.
    Name,
    /// It does not.
    Path,
}

impl Reach {
    fn takes(self, character: char) -> bool {
        self == Self::Path || character != '/'
    }
}

impl Glob {
    /// Reads a pattern. Every text is one; what is not well formed fits nothing, or itself where its readers have it so.
    pub fn new(pattern: &str, style: Style) -> Self {
        let dots = if style == Style::Shell { Dots::Written } else { Dots::Plain };
        Self { signs: read::read(pattern, style), dots }
    }

    /// The same, and everything below what it means.
    #[must_use]
    pub fn or_below(mut self) -> Self {
        if self.signs.last() != Some(&Sign::Below) {
            self.signs.push(Sign::Below);
        }
        self
    }

    /// Whether the pattern means this text as a whole.
    pub fn matches(&self, text: &str) -> bool {
        // The places in the pattern that the text so far can have led to, in order.
        let (mut open, mut next) = (Vec::with_capacity(4), Vec::with_capacity(4));
        self.enter(0, &mut open);
        let mut begins = true;
        for character in text.chars() {
            next.clear();
            let is_hidden = begins && character == '.' && self.dots == Dots::Written;
            for place in &open {
                self.step(*place, character, is_hidden, &mut next);
            }
            if next.is_empty() {
                return false;
            }
            std::mem::swap(&mut open, &mut next);
            begins = character == '/';
        }
        let is_end = |place: &usize| {
            let rest = self.signs.get(*place..).unwrap_or_default();
            rest.is_empty() || rest == [Sign::Below]
        };
        open.iter().any(is_end)
    }

    /// Where a character leads from one place. Places come in order and lead to none before themselves, so `next` stays in order, too.
    fn step(&self, place: usize, character: char, is_hidden: bool, next: &mut Vec<usize>) {
        let goes_on = match self.signs.get(place) {
            Some(Sign::Character(wanted)) => character == *wanted && (!is_hidden || self.begins_name(place)),
            Some(Sign::One(reach)) => reach.takes(character) && !is_hidden,
            Some(Sign::Class { ranges, holds, reach }) => {
                let held = ranges.iter().any(|(low, high)| (*low..=*high).contains(&character));
                reach.takes(character) && held == *holds && (!is_hidden || self.begins_name(place))
            }
            Some(Sign::Many(reach)) => {
                if reach.takes(character) && (!is_hidden || *reach == Reach::Path) {
                    self.enter(place, next);
                }
                false
            }
            Some(Sign::Directories) => {
                stay(place, next);
                character == '/'
            }
            Some(Sign::Below) => {
                // Once the slash is there, anything follows.
                if character == '/' {
                    stay(place + 1, next);
                }
                false
            }
            Some(Sign::Never) => false,
            None => {
                // Behind the end is only what lies below.
                if self.signs.last() == Some(&Sign::Below) {
                    stay(place, next);
                }
                false
            }
        };
        if goes_on {
            self.enter(place + 1, next);
        }
    }

    /// Opens a place, and those behind it that may stand for nothing.
    fn enter(&self, place: usize, open: &mut Vec<usize>) {
        let mut place = place;
        loop {
            stay(place, open);
            match self.signs.get(place) {
                Some(Sign::Many(_) | Sign::Directories) => place += 1,
                Some(_) | None => return,
            }
        }
    }

    /// Whether a name begins at this place of the pattern.
    fn begins_name(&self, place: usize) -> bool {
        let before = place.checked_sub(1).and_then(|before| self.signs.get(before));
        matches!(before, None | Some(Sign::Character('/') | Sign::Directories))
    }
}

/// Opens a place, unless it is open.
fn stay(place: usize, open: &mut Vec<usize>) {
    if open.last().is_none_or(|last| *last < place) {
        open.push(place);
    }
}

#[cfg(test)]
mod tests;
