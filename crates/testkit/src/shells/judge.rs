//! Compares what a real shell reached with what was foreseen, and makes what differs smaller.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use checkrein_facts::RecordedWorld;
use checkrein_protocol::{AbsolutePath, Action, Certainty, Depth, Effect, EffectKind, Severity, Target};

use super::grammar::{Doubt, MadeProgram, program};
use super::part::ProgramPart;
use super::run::{self, Reached, RealShell};
use super::scene;

/// How a reading failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellFault {
    /// The shell did these things, and nothing was foreseen of it.
    Missed(Vec<String>),
    /// These things were called certain, and the shell did not do them.
    Invented(Vec<String>),
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramFinding {
    /// The reading holds.
    Holds,
    /// The reading says that it did not see all of it, and what it saw holds.
    Unread,
    /// The shell did not end in time.
    Endless,
    /// The reading is wrong.
    Wrong(ShellFault),
}

/// A text to be run, and the command that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellTrial {
    /// The shell that runs it.
    pub shell: RealShell,
    /// What it runs.
    pub text: String,
    /// The command that is read.
    pub read: String,
    /// Whether it holds commands of which the answer is not known: nothing is certain then.
    pub doubt: Doubt,
}

impl ShellTrial {
    /// What a shell runs, read as what it is.
    pub fn new(shell: RealShell, text: &str, doubt: Doubt) -> Self {
        Self { shell, text: text.to_owned(), read: shell.carrying(text), doubt }
    }
}

/// A fault with the smallest program that shows it.
#[derive(Debug, Clone)]
pub struct Report {
    /// The number of the program.
    pub number: u64,
    /// The shell.
    pub shell: RealShell,
    /// The smallest program found that shows the fault.
    pub text: String,
    /// The fault.
    pub fault: ShellFault,
    /// What was foreseen of that program, as text.
    pub foreseen: Vec<String>,
}

/// What came of the programs of one shell.
#[derive(Debug, Clone, Default)]
pub struct ProgramCount {
    /// Programs that were run.
    pub programs: usize,
    /// Programs of which the reading says that it did not see all.
    pub unread: usize,
    /// Programs that did not end in time.
    pub endless: usize,
    /// Programs that did something that was not foreseen.
    pub missed: usize,
    /// Programs that did not do what was called certain.
    pub invented: usize,
    /// Programs that were read wrongly once, and rightly when they ran again.
    pub unsteady: usize,
}

/// What came of a row of programs: the counts of each shell, and the faults that were made small.
pub type RowOutcome = (Vec<(RealShell, ProgramCount)>, Vec<Report>);

/// What reads a program: its effects in a world.
pub type ProgramReader<'r> = &'r dyn Fn(&Action, &RecordedWorld) -> Vec<Effect>;

/// Holds a reader against the real shells.
pub struct Judge<'r> {
    /// Where the shells run; gone afterwards is what they leave, not the folder.
    folder: PathBuf,
    reader: ProgramReader<'r>,
}

/// Programs that are run at once.
const BATCH: usize = 250;

/// Programs that are tried to make one smaller.
const TRIES: usize = 6000;

impl<'r> Judge<'r> {
    /// A judge that lets shells run in a folder.
    pub fn new(folder: &Path, reader: ProgramReader<'r>) -> Self {
        Self { folder: folder.to_owned(), reader }
    }

    /// What comes of each trial.
    ///
    /// # Errors
    /// When a shell cannot be started or the folder cannot be used.
    pub fn findings(&self, trials: &[ShellTrial]) -> io::Result<Vec<ProgramFinding>> {
        let mut findings = Vec::new();
        for some in trials.chunks(BATCH) {
            let batch = run::new_batch(&self.folder)?;
            let foreseen: Vec<Foreseen> = some
                .iter()
                .enumerate()
                .map(|(number, trial)| self.foreseen(&trial.read, &run::place(&batch, number)))
                .collect();
            let programs: Vec<(RealShell, String)> =
                some.iter().map(|trial| (trial.shell, trial.text.clone())).collect();
            let reached = run::run(&batch, &programs)?;
            findings.extend(some.iter().zip(foreseen).zip(reached).map(|((trial, foreseen), reached)| {
                match reached {
                    Some(reached) => foreseen.compared(&reached, trial.doubt),
                    None => ProgramFinding::Endless,
                }
            }));
        }
        Ok(findings)
    }

    /// What is foreseen of one trial, as text.
    pub fn told(&self, trial: &ShellTrial) -> Vec<String> {
        self.foreseen(&trial.read, &self.folder).told
    }

    /// Runs the programs of a row, a batch at a time, as long as `more` of the next number says so. Of what was missed, and of what was untrue, so many are made small.
    ///
    /// # Errors
    /// When a shell cannot be started or the folder cannot be used.
    pub fn row(
        &self,
        seed: u64,
        first: u64,
        shells: &[RealShell],
        most: (usize, usize),
        mut more: impl FnMut(u64) -> bool,
    ) -> io::Result<RowOutcome> {
        let mut counts: Vec<(RealShell, ProgramCount)> =
            shells.iter().map(|shell| (*shell, ProgramCount::default())).collect();
        let mut reports: Vec<Report> = Vec::new();
        let mut number = first;
        let (mut missed, mut invented) = (0, 0);
        while more(number) {
            let mut programs = Vec::new();
            while programs.len() < BATCH && more(number) {
                programs.push(program(seed, number, shells));
                number += 1;
            }
            let trials: Vec<ShellTrial> = programs
                .iter()
                .map(|program| {
                    ShellTrial::new(program.shell, &program.text_with(&program.part), program.doubt)
                })
                .collect();
            let findings = self.findings(&trials)?;
            for ((program, trial), finding) in programs.iter().zip(&trials).zip(findings) {
                let Some((_, count)) = counts.iter_mut().find(|(shell, _)| *shell == program.shell) else {
                    continue;
                };
                count.programs += 1;
                match finding {
                    ProgramFinding::Holds => {}
                    ProgramFinding::Unread => count.unread += 1,
                    ProgramFinding::Endless => count.endless += 1,
                    ProgramFinding::Wrong(_)
                        if !matches!(
                            self.findings(std::slice::from_ref(trial))?.as_slice(),
                            [ProgramFinding::Wrong(_)]
                        ) =>
                    {
                        count.unsteady += 1;
                    }
                    ProgramFinding::Wrong(fault) => {
                        let (all, small, most) = match fault {
                            ShellFault::Missed(_) => (&mut count.missed, &mut missed, most.0),
                            ShellFault::Invented(_) => (&mut count.invented, &mut invented, most.1),
                        };
                        *all += 1;
                        *small += 1;
                        if *small <= most {
                            let report = self.shrunk(program, fault)?;
                            if !reports.iter().any(|known| {
                                known.shell == report.shell && shape(&known.text) == shape(&report.text)
                            }) {
                                reports.push(report);
                            }
                        }
                    }
                }
            }
        }
        Ok((counts, reports))
    }

    /// The smallest program that shows the same sort of fault.
    fn shrunk(&self, program: &MadeProgram, fault: ShellFault) -> io::Result<Report> {
        let (mut part, mut fault) = (program.part.clone(), fault);
        let trial =
            |part: &ProgramPart| ShellTrial::new(program.shell, &program.text_with(part), program.doubt);
        let mut tries = 0;
        'smaller: while tries < TRIES {
            let smaller = part.smaller();
            for some in smaller.chunks(40) {
                tries += some.len();
                let trials: Vec<ShellTrial> = some.iter().map(trial).collect();
                let findings = self.findings(&trials)?;
                let found = some.iter().zip(findings).find_map(|(one, finding)| match finding {
                    ProgramFinding::Wrong(found) if same(&found, &fault) => Some((one, found)),
                    _ => None,
                });
                if let Some((one, found)) = found {
                    part = one.clone();
                    fault = found;
                    continue 'smaller;
                }
            }
            break;
        }
        let mut last = trial(&part);
        // What stands in front is left out where nothing needs it.
        let bare = ShellTrial::new(program.shell, &part.text(), program.doubt);
        if !calls_a_function(&bare.text)
            && let [ProgramFinding::Wrong(found)] = self.findings(std::slice::from_ref(&bare))?.as_slice()
            && same(found, &fault)
        {
            last = bare;
        }
        let foreseen = self.told(&last);
        Ok(Report { number: program.number, shell: program.shell, text: last.text, fault, foreseen })
    }

    fn foreseen(&self, read: &str, place: &Path) -> Foreseen {
        let here = AbsolutePath::root().join(&place.to_string_lossy());
        Foreseen::of(&(self.reader)(&Action::command(read, here.clone()), &scene::world(&here)), &here)
    }
}

fn same(one: &ShellFault, other: &ShellFault) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Whether one of the functions in front of every program may be called.
fn calls_a_function(text: &str) -> bool {
    text.as_bytes().windows(2).any(|two| matches!(two, [b'f', digit] if digit.is_ascii_digit()))
}

/// A text without its numbers.
fn shape(text: &str) -> String {
    text.chars().filter(|character| !character.is_ascii_digit()).collect()
}

/// What is foreseen of a program.
struct Foreseen {
    made: BTreeSet<String>,
    removed: BTreeSet<String>,
    /// Folders that go with all that is in them.
    removed_whole: Vec<String>,
    certain_made: BTreeSet<String>,
    certain_removed: BTreeSet<String>,
    /// Whether something of high severity could not be read, or what is written or removed is not known by name.
    unread: bool,
    /// All of it as text.
    told: Vec<String>,
}

impl Foreseen {
    fn of(effects: &[Effect], here: &AbsolutePath) -> Self {
        let mut foreseen = Self {
            made: BTreeSet::new(),
            removed: BTreeSet::new(),
            removed_whole: Vec::new(),
            certain_made: BTreeSet::new(),
            certain_removed: BTreeSet::new(),
            unread: false,
            told: Vec::new(),
        };
        let below = format!("{}/", here.as_str());
        for effect in effects {
            if !matches!(effect.kind, EffectKind::FileRead | EffectKind::ProcessSpawn) {
                let target = effect.target.text().unwrap_or("?").replace(&below, "");
                foreseen.told.push(format!(
                    "{} {target} {:?} {}",
                    effect.kind.name(),
                    effect.certainty,
                    effect.note
                ));
            }
            let certain = effect.certainty == Certainty::Certain;
            match (effect.kind, &effect.target) {
                (EffectKind::FileCreate | EffectKind::FileModify, Target::Path(path)) => {
                    let Some(name) = path.as_str().strip_prefix(&below) else { continue };
                    foreseen.made.insert(name.to_owned());
                    if certain && is_mark(name) {
                        foreseen.certain_made.insert(name.to_owned());
                    }
                }
                (EffectKind::FileDelete, Target::Path(path)) => {
                    let Some(name) = path.as_str().strip_prefix(&below) else {
                        foreseen.removed_whole.push(String::new());
                        continue;
                    };
                    if effect.depth == Depth::Recursive {
                        foreseen.removed_whole.push(format!("{name}/"));
                    }
                    foreseen.removed.insert(name.to_owned());
                    if certain && scene::has(name) {
                        foreseen.certain_removed.insert(name.to_owned());
                    }
                }
                (EffectKind::FileCreate | EffectKind::FileModify | EffectKind::FileDelete, _) => {
                    foreseen.unread = true;
                }
                (EffectKind::Opaque, _) if effect.severity >= Severity::High => foreseen.unread = true,
                _ => {}
            }
        }
        // What is made and removed again does not show.
        let (made, removed) = (&foreseen.made, &foreseen.removed);
        foreseen.certain_made.retain(|name| !removed.contains(name));
        foreseen.certain_removed.retain(|name| !made.contains(name));
        foreseen
    }

    fn compared(&self, reached: &Reached, doubt: Doubt) -> ProgramFinding {
        let unforeseen = reached.removed.iter().filter(|name| {
            !self.removed.contains(*name)
                && !self.removed_whole.iter().any(|folder| name.starts_with(folder.as_str()))
        });
        let missed: Vec<String> = reached
            .made
            .difference(&self.made)
            .cloned()
            .chain(unforeseen.map(|name| format!("without {name}")))
            .collect();
        if !missed.is_empty() && !self.unread {
            return ProgramFinding::Wrong(ShellFault::Missed(missed));
        }
        let invented: Vec<String> = self
            .certain_made
            .difference(&reached.made)
            .cloned()
            .chain(self.certain_removed.difference(&reached.removed).map(|name| format!("without {name}")))
            .collect();
        if doubt == Doubt::None && !invented.is_empty() {
            return ProgramFinding::Wrong(ShellFault::Invented(invented));
        }
        if self.unread { ProgramFinding::Unread } else { ProgramFinding::Holds }
    }
}

/// Whether a file is one that nothing but a mark makes.
fn is_mark(name: &str) -> bool {
    name.rsplit('/').next().is_some_and(|name| name.starts_with('M'))
}
