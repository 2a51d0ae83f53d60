//! What code in languages that nothing here follows does to files: which of its functions take them away, write and read them, and which
//! files stand beside.
//!
//! Texts in quotes that a function is given, and the names that the code itself gives to such texts, are paths. What a function is given
//! otherwise is not known: then the code takes away, or writes, something that nobody can name.
//!
//! | module | holds |
//! |---|---|
//! | `families` | the functions of each language |
//! | `operands` | texts in quotes, names, and what stands between them |

mod families;
mod operands;

use crate::effect::Depth;
use crate::interpreter::{Machine, Value};

pub(super) use operands::is_home_named;

use families::{Deed, Family};
use operands::{Operands, Piece};

/// The greatest number of calls in one text that are looked at (ours).
const CALLS: usize = 64;
/// The greatest number of paths of one call (ours).
const PATHS: usize = 16;

/// What counts of the files that code reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// They may be shown, as a line of code shows what it reads.
    Shown,
    /// They stay in the program.
    Kept,
}

/// What code takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Nothing, as far as its functions are known.
    Nothing,
    /// What stands beside the functions.
    Named,
    /// Something that is not known.
    Unknown,
}

/// Adds, as possible, what code in a language does to the files that it names; `None` where nothing is known of the language.
pub(super) fn files(machine: &mut Machine<'_>, language: &str, text: &str, reads: Reads) -> Option<Taken> {
    let family = families::of(language)?;
    let home = machine.world().place().home.as_str().to_owned();
    let text = &super::starters::with_home_put_in(text, &home);
    let pieces = operands::pieces(text, family);
    let mut taken = Taken::Nothing;
    for word in text.split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_./".contains(letter))) {
        machine.note_guard_looked_up(&Value::exact(word));
    }
    for (found, deed) in calls(&pieces, family).into_iter().take(CALLS) {
        let given = found.given(&pieces, family, &home);
        if deed.changes(&given) {
            machine.possibly(Machine::may_change_guard_looked_up);
        }
        match deed {
            Deed::Delete | Deed::DeleteOther => {
                let is_meant = deed == Deed::Delete || !given.paths.is_empty();
                if given.is_unknown && (is_meant || given.names_home) {
                    taken = Taken::Unknown;
                } else if is_meant && taken == Taken::Nothing {
                    taken = Taken::Named;
                }
                each(machine, &given, |machine, path| machine.delete(path, Depth::Recursive));
            }
            Deed::Move => each(machine, &given, |machine, path| {
                machine.delete(path, Depth::Recursive);
            }),
            Deed::Open if given.is_to_write => each(machine, &given, write),
            Deed::Write => each(machine, &given, write),
            Deed::Open | Deed::Read if reads == Reads::Shown => {
                each(machine, &given, |machine, path| drop(machine.read(path)));
            }
            Deed::Open | Deed::Read => {}
        }
    }
    Some(taken)
}

impl Deed {
    /// Whether it changes what it is given.
    fn changes(self, given: &Operands) -> bool {
        match self {
            Self::Delete | Self::DeleteOther | Self::Move | Self::Write => true,
            Self::Open => given.is_to_write,
            Self::Read => false,
        }
    }
}

fn each(machine: &mut Machine<'_>, given: &Operands, work: impl Fn(&mut Machine<'_>, &Value)) {
    for path in given.paths.iter().take(PATHS) {
        // A star in a path is hardly ever its name: a function for patterns found it.
        let path = Value::of_pattern(path.as_str());
        machine.possibly(|machine| work(machine, &path));
    }
}

fn write(machine: &mut Machine<'_>, path: &Value) {
    machine.write(path);
}

/// Where the name of a function stands.
struct Found {
    piece: usize,
    start: usize,
    end: usize,
}

impl Found {
    fn given(&self, pieces: &[Piece], family: &Family, home: &str) -> Operands {
        operands::given(pieces, family, (self.piece, self.start, self.end), home)
    }
}

/// The functions of a family that a text names, in order.
fn calls(pieces: &[Piece], family: &Family) -> Vec<(Found, Deed)> {
    let mut found = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let Piece::Code(code) = piece else { continue };
        for (deed, names) in family.functions {
            for name in *names {
                for (start, _) in code.match_indices(name) {
                    let end = start + name.len();
                    if stands_alone(code, start, end, name) {
                        found.push((Found { piece: index, start, end }, *deed));
                    }
                }
            }
        }
    }
    found.sort_by_key(|(found, _)| (found.piece, found.start, std::cmp::Reverse(found.end)));
    // The longest of names that begin at the same place.
    found.dedup_by_key(|(found, _)| (found.piece, found.start));
    found
}

/// Whether no letter of a longer name stands around a name.
fn stands_alone(code: &str, start: usize, end: usize, name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let before = code.get(..start).and_then(|before| before.chars().last());
    let behind = code.get(end..).and_then(|behind| behind.chars().next());
    let begins = name.starts_with(is_letter);
    let ends = name.ends_with(is_letter);
    !(begins && before.is_some_and(|c| is_letter(c) || c == '-')
        || ends && behind.is_some_and(|c| is_letter(c) || c == '-'))
}

#[cfg(test)]
mod tests;
