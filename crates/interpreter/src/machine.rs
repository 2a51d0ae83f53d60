//! The state of one interpretation, and what a program handler may ask of it.

mod budget;
mod effects;
mod findings;
mod position;
mod running_call;
mod secret_flow;

pub(crate) use budget::Budget;
pub(crate) use findings::Findings;
pub(crate) use position::Position;
pub use running_call::RunningCall;
pub use secret_flow::SecretFlow;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::walks::Choice;
use crate::effect::{Effect, EffectKind, Severity, Target};
use crate::guarded::PARENT;
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places::{self, SystemPlace};
use crate::world::{Entry, Last, Listing, Right, World, resolve};
use checkrein_catalogue::UserCatalogue;

use super::ambient::{InShell, in_shell, is_of_bash, is_set_by_shells};
use super::call::{Call, Input};
pub(crate) use super::draft::{Draft, Upload};
use super::exit::Exit;
pub(crate) use super::exit::Output;
use super::git_store::{FetchSource, Untracked};
use super::index_changes::{Happened, IndexChange, IndexChanges};
use super::overlay::Overlay;
use super::pattern_links::PatternReach;
use super::programs::Programs;
use super::remote::{OTHER_HOME, PlaceSort, RemoteContext};
use super::scan::SCANNED;
use super::shell::{Departure, Shell, ShellDirectory, Speech, VariableContent};
use super::traps::Occasions;
use super::value::Value;
use super::ways::Left;
pub(super) use effects::socket_host;

/// The greatest number of steps of one interpretation (ours).
const STEPS: usize = 20_000;
/// The greatest number of steps in code of other languages (ours).
const CODE: usize = 720_000;
/// The greatest number of effects of one interpretation (ours).
const EFFECTS: usize = 4096;
/// The greatest number of program calls that are listed (ours).
const COMMANDS: usize = 256;
/// The greatest number of words of a program call that are listed (ours).
const WORDS: usize = 256;
/// The longest word of a program call that is listed, in bytes (ours).
const WORD: usize = 4096;
/// How many bytes the texts of all effects take at most (ours).
const TOLD: usize = 1024 * 1024;

/// A program that is run, with the words that are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCommand {
    /// The basename of the program.
    pub program: String,
    /// The words behind it; `None` where the text is not known.
    pub words: Vec<Option<String>>,
}

/// What is not there now, so that something failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// A file or directory that was asked for.
    Path,
    /// What stands at a path as it is known, though the command may have made, changed or removed it by then.
    Changed,
    /// A variable that nothing here has set: the shell may have it from elsewhere.
    Variable,
    /// The directory that was to be entered.
    Directory(ShellDirectory),
}

/// The state of one interpretation.
pub struct Machine<'w> {
    pub(super) world: &'w dyn World,
    pub(super) catalogue: &'w UserCatalogue,
    /// The programs that it may call.
    pub(super) table: &'w dyn Programs,
    /// The shell that is followed.
    pub shell: Shell,
    pub(super) tree: Overlay,
    /// What the interpretation found out so far.
    pub(crate) findings: Findings,
    /// What is around the present point.
    pub(crate) position: Position,
    /// States left behind by ways that went elsewhere.
    pub(super) left: Vec<Left>,
    /// What the interpretation has used up of its bounds.
    pub(crate) budget: Budget,
    /// What the running commands read on their standard input.
    pub input: Input,
    /// Set by what fails only because something is not there now: what would run otherwise is followed as a mere possibility.
    pub absent: Option<Absence>,
    /// What is known of the call that is running.
    pub call: RunningCall,
    /// Where the shell was before a `cd` of which it is not known whether it succeeds.
    pub(crate) came_from: Option<Departure>,
    /// How many variables were asked for that nothing here has set.
    pub(crate) unseen: usize,
    /// How often an answer rested on a file that the command may have made, changed or removed by then.
    pub(crate) presumed_files: usize,
    /// Files that the command wrote, of a text that rests on such.
    pub(crate) presumed_texts: BTreeSet<String>,
    /// Whether the running program asked for a file that may be taken in more than one way.
    pub(crate) asked_open: Cell<bool>,
    /// Where secrets went, and what is told of texts that carry them.
    pub flow: SecretFlow,
    /// Directories that are shown at a second place, by that place.
    pub(super) mounts: BTreeMap<String, String>,
    /// Names of programs of the system that were copied, by the path of the copy.
    pub(super) copies: BTreeMap<String, String>,
    /// Files that the command gave a second name, by that name: what is written there changes them.
    pub(super) second_names: BTreeMap<String, AbsolutePath>,
    /// The machine or container in which effects happen, when not here.
    pub(super) away: Option<RemoteContext>,
    /// Whether what is started at the present point has no process above it that leads here, and a terminal of its own: nothing tells later
    /// from where it was started.
    pub(super) cut_loose: bool,
    /// Beginnings of paths of files that this command makes, and of which it is not known how many there are and what they hold.
    pub(crate) names_made: Vec<String>,
    /// Archives that this command made with other names than those of the files.
    pub renamed_archives: Vec<AbsolutePath>,
    /// Whether what runs is a trap: `BASH_COMMAND` stays that of the command around it.
    pub(super) trapped: usize,
    /// What happened so far that makes traps run.
    pub(super) occasions: Occasions,
    /// Variables that declarations told the shell to keep, since the running command began.
    pub(super) kept_variables: BTreeSet<String>,
    /// Whether one of the words of the running command may be several, or none.
    pub(crate) loose: bool,
    /// How many names were made for temporary files.
    pub(crate) names: usize,
    /// How many shells were started that read what the caller types.
    pub(crate) open_shells: usize,
    /// Whether a variable may hold what is typed later, which nobody reviews.
    pub(crate) reads_typed: bool,
    /// The last list that was printed in an order that is not known.
    pub unordered: Option<String>,
    /// Walks of which only a pattern is known, by that pattern, and by what they choose.
    pub walks: BTreeMap<String, Choice>,
    /// What the names of patterns are that programs make.
    pub reach: PatternReach,
}

impl<'w> Machine<'w> {
    /// A machine in a directory of a world, with nothing done yet.
    pub fn new(
        world: &'w dyn World,
        catalogue: &'w UserCatalogue,
        table: &'w dyn Programs,
        cwd: &AbsolutePath,
    ) -> Self {
        let cwd = resolve(&|path| world.entry(path), &AbsolutePath::root(), cwd.as_str(), Last::Follow);
        let mut machine = Self {
            world,
            catalogue,
            table,
            shell: Shell::new(cwd),
            tree: Overlay::default(),
            findings: Findings::default(),
            position: Position::default(),
            left: Vec::new(),
            budget: Budget::default(),
            input: Input::Inherited,
            absent: None,
            call: RunningCall::default(),
            came_from: None,
            unseen: 0,
            presumed_files: 0,
            presumed_texts: BTreeSet::new(),
            asked_open: Cell::new(false),
            flow: SecretFlow::default(),
            mounts: BTreeMap::new(),
            copies: BTreeMap::new(),
            second_names: BTreeMap::new(),
            away: None,
            cut_loose: false,
            names_made: Vec::new(),
            renamed_archives: Vec::new(),
            trapped: 0,
            occasions: Occasions::default(),
            kept_variables: BTreeSet::new(),
            loose: false,
            names: 0,
            open_shells: 0,
            reads_typed: false,
            unordered: None,
            walks: BTreeMap::new(),
            reach: PatternReach::default(),
        };
        machine.recall_secrets();
        machine
    }

    /// Whether this action has, or may have, made or changed what stands at a path, its times or its mode.
    pub fn is_changed_here(&self, path: &AbsolutePath) -> bool {
        self.tree.is_known(path) || self.tree.is_disturbed() || self.has_changed_within(path)
    }

    /// The facts that the interpretation rests on. Ask [`Machine::entry`] and [`Machine::children`] for the file tree.
    pub fn world(&self) -> &dyn World {
        self.world
    }

    /// The working directory; `None` when it is not known.
    pub fn cwd(&self) -> Option<&AbsolutePath> {
        match &self.shell.cwd {
            ShellDirectory::Here(path) => Some(path),
            ShellDirectory::OneOf(_) | ShellDirectory::Below(_) | ShellDirectory::Unknown => None,
        }
    }

    /// Whether this runs on another machine or in a container.
    pub fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// What stands at a path, as the command has changed it so far; symbolic links are not followed in the last part.
    pub fn entry(&self, path: &AbsolutePath) -> Entry {
        if self.away.is_some() {
            return Entry::Unknown;
        }
        self.note_open(path);
        self.own_entry(path).unwrap_or_else(|| self.tree.entry(self.world, path))
    }

    /// Notes that somebody asked for a file that may be taken in more than one way.
    fn note_open(&self, path: &AbsolutePath) {
        if !self.asked_open.get() && self.tree.is_open(path) {
            self.asked_open.set(true);
        }
    }

    /// The file tree, as the command has changed it so far.
    pub fn overlay(&mut self) -> &mut Overlay {
        &mut self.tree
    }

    /// Whether the command made, changed or removed what stands at a path.
    pub fn has_touched(&self, path: &AbsolutePath) -> bool {
        self.tree.is_known(path)
    }

    /// Which files at a path version control does not track any more; `None` when the command changed nothing about that.
    pub fn untracked(&self, path: &AbsolutePath) -> Option<Untracked> {
        self.tree.untracked(path)
    }

    /// What the command changed so far about which files version control tracks.
    pub fn index_changes(&self) -> &IndexChanges {
        self.tree.index_changes()
    }

    /// Remembers a change of the list of tracked files, which may not happen where the present point may not be reached.
    pub fn change_index(&mut self, change: IndexChange) {
        let is_sure = !self.is_unsure() && !self.is_in_doubt();
        self.tree.change_index(change, if is_sure { Happened::Surely } else { Happened::Maybe });
    }

    /// What a name of a revision means since the command moved it; the outer `None` when it did not.
    pub fn moved_revision(&self, name: &str) -> Option<Option<&str>> {
        self.tree.moved_revision(name)
    }

    /// From where the command brought objects into a repository.
    pub fn fetched(&self, repository: &AbsolutePath) -> &[FetchSource] {
        self.tree.fetched(repository)
    }

    /// Whether version control does not track some files at or below a path any more.
    pub fn untracks_below(&self, path: &AbsolutePath) -> bool {
        self.tree.untracks_below(path)
    }

    /// The names in a directory, as the command has changed it so far.
    pub fn children(&self, directory: &AbsolutePath) -> Listing {
        if self.away.is_some() { Listing::Unknown } else { self.tree.children(self.world, directory) }
    }

    /// The text of a file, as the command has changed it so far.
    pub fn text(&self, path: &AbsolutePath) -> Value {
        self.held_in(path, |tree| tree.text(self.world, path))
    }

    /// The text of a file to the letter, where the command is known to have written it so.
    pub fn announced_text(&self, path: &AbsolutePath) -> Value {
        self.tree.told(path).unwrap_or_else(|| self.text(path))
    }

    /// The text of a file that is run as code, which is read further: of a longer one what it begins with.
    pub fn code(&self, path: &AbsolutePath) -> Value {
        self.held_in(path, |tree| tree.code(self.world, path))
    }

    fn held_in(&self, path: &AbsolutePath, ask: impl FnOnce(&Overlay) -> Value) -> Value {
        match self.flow.ends.get(path.as_str()) {
            Some(Output::Text(text)) => text.clone(),
            Some(_) => Value::Unknown,
            None if self.away.is_some() => Value::Unknown,
            None if path.as_str() == "/dev/null" => Value::exact(""),
            None => {
                self.note_open(path);
                ask(&self.tree)
            }
        }
    }

    /// Whether the user has a right to a file or directory that is there, for certain: nothing here took it away.
    pub fn may(&self, path: &AbsolutePath, right: Right) -> bool {
        let covers = |target: &Target| match target {
            Target::Path(changed) => path.is_within(changed),
            Target::Glob(_) | Target::Unknown => true,
            Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => false,
        };
        let is_changed = self.findings.effects.iter().any(|effect| {
            effect.kind == EffectKind::PermissionChange
                && effect.nature != Nature::LetsRun
                && covers(&effect.target)
        });
        if is_changed || self.away.is_some() {
            return false;
        }
        // What this command made has the rights that it was made with.
        let says_rights = |made: &RunCommand| match made.program.as_str() {
            "umask" => !made.words.is_empty(),
            "mkdir" | "install" => made.words.iter().any(|word| {
                word.as_ref().is_none_or(|word| word.starts_with("-m") || word.starts_with("--m"))
            }),
            _ => false,
        };
        if self.tree.is_new(path) {
            !self.findings.commands.iter().any(says_rights)
        } else {
            self.world.allows(path, right)
        }
    }

    /// The value of a variable of the shell or the environment; `None` when it is not set.
    pub fn variable(&self, name: &str) -> Option<Value> {
        let name = self.shell.referred(name);
        let is_kept = matches!(name, "HOME" | "IFS" | "PATH") && !self.shell.variables.contains_key(name);
        if self.budget.scanning > 0 && !is_kept {
            return Some(Value::Unknown);
        }
        match self.shell.variables.get(name).map(|variable| &variable.content) {
            Some(VariableContent::Scalar(value)) => Some(value.clone()),
            Some(VariableContent::List(items)) => items.get(&0).cloned(),
            Some(VariableContent::Map(_) | VariableContent::Unknown) => Some(Value::Unknown),
            Some(VariableContent::Unset) => None,
            None => self.environment(name),
        }
    }

    /// The value of a variable, unless the shell has it as whoever started it gave it, whatever that is.
    pub fn given_variable(&self, name: &str) -> Option<Value> {
        let is_touched = self.shell.variables.contains_key(self.shell.referred(name));
        self.variable(name).filter(|_| is_touched || self.away.is_some() || self.budget.scanning > 0)
    }

    /// The variables that hold one known text which the user's environment does not give them, with their texts.
    pub fn set_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.shell.variables.iter().filter_map(|(name, variable)| match &variable.content {
            VariableContent::Scalar(Value::Exact(text)) => {
                let is_users = self.world.variable(name).as_deref() == Some(text.as_str());
                (!is_users).then_some((name.as_str(), text.as_str()))
            }
            _ => None,
        })
    }

    /// What the environment says about a variable that the shell did not touch.
    pub(super) fn environment(&self, name: &str) -> Option<Value> {
        if let Some(away) = &self.away {
            let is_machine = away.sort == PlaceSort::Machine;
            return Some(if is_machine && name == "HOME" {
                Value::exact(OTHER_HOME)
            } else {
                Value::Unknown
            });
        }
        let place = self.world.place();
        match name {
            "HOME" => Some(Value::exact(place.home.as_str())),
            "PWD" => Some(self.cwd_value()),
            "HISTFILE" => {
                // Only a shell that somebody types into sets it.
                let usual = || Value::one_of(vec![format!("{}/.bash_history", place.home), String::new()]);
                Some(self.world.variable(name).map_or_else(usual, Value::Exact))
            }
            "USER" | "LOGNAME" => self.world.variable(name).or_else(|| place.user.clone()).map(Value::Exact),
            "BASH" if self.shell.speech == Speech::Posix => self.world.variable(name).map(Value::Exact),
            "BASH" | "SHELL" => Some(self.world.variable(name).map_or_else(shells, Value::Exact)),
            // As `$$`: which process is meant matters, not its number.
            "PPID" => Some(self.world.variable(name).map_or(Value::exact(PARENT), Value::Exact)),
            "IFS" => Some(Value::exact(" \t\n")),
            _ => match self.world.variable(name) {
                Some(text) => Some(match in_shell(name) {
                    InShell::Same => Value::Exact(text),
                    InShell::PerhapsNothing => Value::one_of(vec![text, String::new()]),
                    InShell::Otherwise => Value::Unknown,
                }),
                None if self.shell.speech == Speech::Posix && is_of_bash(name) => None,
                None => is_set_by_shells(name).then_some(Value::Unknown),
            },
        }
    }

    /// Whether a variable may not be set, although it has a value where it is.
    pub(super) fn is_perhaps_unset(&self, name: &str) -> bool {
        self.shell.perhaps_unset.contains(name) || self.is_perhaps_in_shell(name)
    }

    /// Whether a variable that the command did not set is one of the hook's environment which the agent's shell may hold otherwise.
    pub(super) fn is_perhaps_in_shell(&self, name: &str) -> bool {
        !self.shell.variables.contains_key(name)
            && in_shell(name) != InShell::Same
            && self.away.is_none()
            && self.world.variable(name).is_some()
    }

    /// The working directory as a text.
    pub fn cwd_value(&self) -> Value {
        if let Some(path) = &self.shell.logical {
            return Value::exact(path.as_str());
        }
        match &self.shell.cwd {
            ShellDirectory::Here(path) => Value::exact(path.as_str()),
            ShellDirectory::OneOf(paths) => {
                Value::one_of(paths.iter().map(|path| path.as_str().to_owned()).collect())
            }
            ShellDirectory::Below(path) => {
                Value::Between { prefix: path.as_str().to_owned(), suffix: String::new() }
            }
            ShellDirectory::Unknown => Value::Unknown,
        }
    }

    /// Whether changes at the present point may not happen, without a state of their own for either way. Behind something that may have left
    /// there is one for the way that goes on and one for the way that went.
    pub(super) fn is_unsure(&self) -> bool {
        self.position.unsure > 0
    }

    /// Whether it is not sure that the present point is reached.
    pub fn is_in_doubt(&self) -> bool {
        self.position.doubt > 0 || self.shell.doubts.any()
    }

    /// Whether something ran of which it is not known what it changed.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.tree.is_disturbed() || self.away.is_some()
    }

    /// Whether another command takes in what is written at the present point.
    pub fn is_listened_to(&self) -> bool {
        self.position.listening > 0
    }

    /// Whether what is written at the present point ends in a file.
    pub fn is_kept(&self) -> bool {
        self.position.keeping > 0
    }

    /// Whether something takes in what is written at the present point, or shows it: it does not go to `/dev/null`.
    pub fn is_shown(&self) -> bool {
        !self.position.discarding || self.is_listened_to()
    }

    /// Whether nothing of what a call prints can be seen at the end: it goes to `/dev/null`, or through commands that tell only numbers of it,
    /// or whether there is any. What the call runs itself may print elsewhere.
    pub fn hides_what_it_prints(&self, call: &Call) -> bool {
        let is_same = |hidden: &Call| hidden.words == call.words && call.program.starts_with(&hidden.program);
        !self.is_kept() && (!self.is_shown() || self.flow.hidden.as_ref().is_some_and(is_same))
    }

    /// The host to which what is written at the present point goes, when the shell has joined it to a connection.
    pub fn outlet(&self) -> Option<&str> {
        self.flow.outlet.as_deref()
    }

    /// Whether the exit status decides what comes next.
    pub(crate) fn is_asked(&self) -> bool {
        self.position.conditions > 0
    }

    /// Whether a file lies in a directory for temporary files.
    pub(super) fn is_temporary(&self, path: &AbsolutePath) -> bool {
        let place = self.world.place();
        place.is_temporary(path) || place.temporary.contains(path)
    }

    /// Whether a file lies where programs of a user may write: below a home or temporary directory, with added software and data.
    fn is_within_reach(&self, path: &AbsolutePath) -> bool {
        let place = self.world.place();
        let in_home = std::iter::successors(path.parent(), AbsolutePath::parent)
            .any(|above| above == place.home || places::is_home_of_somebody(&above));
        let by_system = matches!(
            places::system_place(path),
            Some(SystemPlace::Local | SystemPlace::State | SystemPlace::Kernel | SystemPlace::Device)
        );
        in_home || by_system || path.as_str().starts_with("/dev/") || self.is_temporary(path)
    }

    /// Runs `work` so that its effects are possible only.
    pub fn possibly<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.position.doubt = self.position.doubt.saturating_add(1);
        self.position.unsure = self.position.unsure.saturating_add(1);
        let answer = work(self);
        self.position.unsure = self.position.unsure.saturating_sub(1);
        self.position.doubt = self.position.doubt.saturating_sub(1);
        answer
    }

    /// Runs `work` so that its effects happen on another machine or in a container: the files there are not known, what
    /// it changes there is a change of infrastructure.
    pub fn elsewhere<T>(&mut self, place: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        self.away_in(RemoteContext::machine(place), work)
    }

    /// The same in another place of any sort.
    pub fn away_in<T>(&mut self, place: RemoteContext, work: impl FnOnce(&mut Self) -> T) -> T {
        let away = self.away.replace(place);
        let mut shell = Shell::new(AbsolutePath::root());
        shell.cwd = ShellDirectory::Unknown;
        shell.doubts = self.shell.doubts;
        let shell = std::mem::replace(&mut self.shell, shell);
        let tree = self.tree.clone();
        let answer = work(self);
        self.tree = tree;
        self.shell = shell;
        self.away = away;
        answer
    }

    /// Runs `work` where nothing tells later from where it was started: in a terminal that a server holds, as a unit of the system.
    pub fn cut_loose<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.cut_loose, true);
        let answer = work(self);
        self.cut_loose = outer;
        answer
    }

    /// Whether this runs where nothing tells later from where it was started.
    pub fn is_cut_loose(&self) -> bool {
        self.cut_loose
    }

    /// Runs `work` under another name for explanations: `git clean`.
    pub fn caused_by<T>(&mut self, cause: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.call.cause, cause.to_owned());
        let answer = work(self);
        self.call.cause = outer;
        answer
    }

    /// The running program, as effects name it.
    pub fn cause(&self) -> &str {
        &self.call.cause
    }

    /// Names the running call for explanations: `git clean`. The name holds until the call is over.
    pub fn set_cause(&mut self, cause: &str) {
        cause.clone_into(&mut self.call.cause);
    }

    /// Adds that code which comes from a host is run.
    pub fn runs_from_network(&mut self, url: &str) {
        let host = Value::exact(url);
        self.effect(EffectKind::RemoteCodeExecution, &host);
    }

    /// Runs `work` in another working directory (`git -C`, `make -C`).
    pub fn inside<T>(&mut self, directory: &Value, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.shell.cwd.clone(), self.shell.logical.take());
        self.shell.cwd = self.directory(directory);
        let answer = work(self);
        (self.shell.cwd, self.shell.logical) = outer;
        answer
    }

    /// Counts a step. Answers whether work may go on; when the budget is spent, that is an opaque effect.
    pub(super) fn step(&mut self) -> bool {
        if self.budget.scanning > 0 {
            self.budget.scanned = self.budget.scanned.saturating_add(1);
            return self.budget.scanned <= SCANNED;
        }
        self.budget.steps = self.budget.steps.saturating_add(1);
        if self.budget.steps > STEPS {
            self.give_up();
        }
        !self.budget.exhausted
    }

    /// Counts steps in code of other languages than that of the shell; whether more may follow. The bound is one for all code of the command,
    /// also of programs that code starts.
    pub fn works_on_code(&mut self, steps: usize) -> bool {
        self.budget.code = self.budget.code.saturating_add(steps);
        self.budget.code < CODE
    }

    /// How many steps were taken so far; it grows wherever a command runs in another one.
    pub fn steps_taken(&self) -> usize {
        self.budget.steps.saturating_add(self.budget.scanned)
    }

    /// Runs something, and says whether it left a shell of this machine open that reads what the caller types. A shell counts once, for the
    /// innermost that asks.
    pub fn opens_shell(&mut self, run: impl FnOnce(&mut Self) -> Exit) -> (Exit, bool) {
        let before = self.open_shells;
        let exit = run(self);
        let opened = self.open_shells > before;
        self.open_shells = before;
        (exit, opened)
    }

    /// Whether a bound was reached, so that what is left is only looked over.
    pub fn has_given_up(&self) -> bool {
        self.budget.exhausted
    }

    /// Stops following, and says so. What is left is looked over.
    pub(super) fn give_up(&mut self) {
        if self.budget.exhausted {
            return;
        }
        self.budget.exhausted = true;
        self.tree.disturb();
        self.findings.problems.push("the command is too much to follow".to_owned());
        self.findings.effects.push(Effect {
            severity: Severity::High,
            cause: self.call.cause.clone(),
            note: "too much to follow".to_owned(),
            ..Effect::new(EffectKind::Opaque, Target::Unknown)
        });
    }

    /// Whether the program call before the running one is of this program: what comes in through a pipe comes straight from it.
    pub fn follows_upon(&self, program: &str) -> bool {
        let mut calls = self.findings.commands.iter().rev();
        self.findings.commands.len() < COMMANDS && calls.nth(1).is_some_and(|call| call.program == program)
    }

    /// Writes a program call into the list.
    pub(crate) fn list_command(&mut self, program: &str, words: &[Value]) {
        if !self.findings.programs.iter().any(|known| known == program)
            && self.findings.programs.len() < COMMANDS
        {
            self.findings.programs.push(program.to_owned());
        }
        if self.findings.commands.len() < COMMANDS {
            self.findings.commands.push(RunCommand { program: program.to_owned(), words: listed(words) });
        }
    }
}

/// What may stand in `$BASH` and `$SHELL`.
fn shells() -> Value {
    Value::one_of(["/bin/bash", "/usr/bin/bash", "/bin/zsh", "/bin/sh"].map(str::to_owned).to_vec())
}

/// Words as they are listed. What is long, or stands behind many, is not known.
fn listed(words: &[Value]) -> Vec<Option<String>> {
    let text = |word: &Value| word.as_exact().filter(|text| text.len() <= WORD).map(str::to_owned);
    let more = (words.len() > WORDS).then_some(None);
    words.iter().take(WORDS).map(text).chain(more).collect()
}
