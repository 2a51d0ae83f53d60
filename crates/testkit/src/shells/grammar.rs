//! Makes programs of the shell. Loops count to two or read what is finite, functions call only functions with greater numbers, so nearly
//! every program ends.

mod flow;
mod simple;
mod values;
mod words;

use std::fmt::Write as _;

use super::chance::Chance;
use super::part::ProgramPart;
use super::run::RealShell;

/// Whether commands occur of which it cannot be known whether they succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Only commands with known answers: what is called certain must happen.
    None,
    /// Also programs that are not there.
    Some,
}

/// A program that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeProgram {
    /// Its number in its row.
    pub number: u64,
    /// The shell that it is for.
    pub shell: RealShell,
    /// Whether it holds commands of which the answer is not known.
    pub doubt: Doubt,
    /// Its parts.
    pub part: ProgramPart,
}

impl MadeProgram {
    /// The text with another part in place of its own.
    pub fn text_with(&self, part: &ProgramPart) -> String {
        format!("{}{}", prelude(self.doubt), part.text())
    }
}

/// The program of that number in the row of a seed, for one of these shells.
pub fn program(seed: u64, number: u64, shells: &[RealShell]) -> MadeProgram {
    let mut chance = Chance::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
    // Most agents run bash.
    let wanted = if chance.one_in(2) {
        RealShell::Bash
    } else {
        shells.get(chance.below(shells.len())).copied().unwrap_or(RealShell::Bash)
    };
    let shell =
        if shells.contains(&wanted) { wanted } else { shells.first().copied().unwrap_or(RealShell::Bash) };
    let doubt = if chance.one_in(3) { Doubt::Some } else { Doubt::None };
    let size = 3 + chance.below(18);
    let leaning = match chance.below(4) {
        0 => Leaning::Flow,
        1 => Leaning::Both,
        _ => Leaning::Values,
    };
    let mut maker =
        Maker { chance: &mut chance, shell, doubt, leaning, marks: 0, names: 0, left: size, from: 0 };
    let mut part = maker.list(size, 0);
    let last = maker.mark();
    part.parts.push(last);
    MadeProgram { number, shell, doubt, part }
}

/// The number of functions that a program may have.
const FUNCTIONS: usize = 4;

/// What stands in front of a program: without doubt every function is there, so that no call is one of a program that is not.
pub fn prelude(doubt: Doubt) -> String {
    match doubt {
        Doubt::Some => String::new(),
        Doubt::None => (1..=2 * FUNCTIONS + 2).fold(String::new(), |mut all, number| {
            let _ = writeln!(all, "f{number}() {{ :; }}");
            all
        }),
    }
}

/// What a program is mostly made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaning {
    /// Statements.
    Flow,
    /// Both.
    Both,
    /// Values and what is made of them.
    Values,
}

/// Makes the parts of a program.
struct Maker<'c> {
    chance: &'c mut Chance,
    shell: RealShell,
    doubt: Doubt,
    leaning: Leaning,
    marks: usize,
    names: usize,
    left: usize,
    /// Functions with smaller numbers may not be called here.
    from: usize,
}

impl Maker<'_> {
    /// Whether what only bash has may occur.
    fn is_bash(&self) -> bool {
        self.shell == RealShell::Bash
    }

    /// The next number of a mark.
    fn number(&mut self) -> usize {
        self.marks += 1;
        self.marks - 1
    }

    /// A command that writes a file of its own.
    fn mark(&mut self) -> ProgramPart {
        ProgramPart::leaf(format!("echo >M{}", self.number()))
    }
}
