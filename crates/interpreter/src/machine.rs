//! The state of one interpretation, and what a program handler may ask of it.

mod effects;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::walks::Choice;
use crate::effect::{Effect, EffectKind, Severity, Target};
use crate::guarded::PARENT;
use crate::path::AbsolutePath;
use crate::places::{self, SystemPlace};
use crate::world::{Entry, Listing, World};
use checkrein_catalogue::UserCatalogue;

use super::ambient::{is_of_bash, is_set_by_shells};
use super::bounds::Bounds;
use super::call::Input;
pub(crate) use super::draft::{Draft, Upload};
pub(crate) use super::exit::Output;
use super::overlay::{Overlay, Untracked};
use super::programs::Programs;
use super::remote::RemoteContext;
use super::resolve::{Last, resolve};
use super::scan::SCANNED;
use super::shell::{Departure, Shell, ShellDirectory, Speech, VariableContent};
use super::sweeps::Sweep;
use super::value::Value;
use super::ways::Left;
pub(super) use effects::socket_host;

/// The greatest number of steps of one interpretation (ours).
const STEPS: usize = 20_000;
/// The greatest number of effects of one interpretation (ours).
const EFFECTS: usize = 4096;
/// The greatest number of program calls that are listed (ours).
const COMMANDS: usize = 256;

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
    pub(super) effects: Vec<Effect>,
    pub(super) known: HashMap<Effect, usize>,
    pub(super) problems: Vec<String>,
    pub(super) programs: Vec<String>,
    pub(super) commands: Vec<RunCommand>,
    /// How many undecided branches are around the present point.
    pub(super) doubt: usize,
    /// How many of these are not followed with a state of their own, so that what they change is in doubt at once.
    pub(super) unsure: usize,
    /// How many conditions are around the present point: failures in them do not end the shell.
    pub(super) conditions: usize,
    /// How many conditions are around the substitution that is running, whose failures some shells overlook for that.
    pub(super) outer_conditions: usize,
    /// How many commands around the present point take in what is written.
    pub(super) listening: usize,
    /// How many other standard outputs than the first are in place around the present point.
    pub(super) standard_outputs: usize,
    /// What was written to standard outputs that lie further out, with which of them.
    pub(super) passed: Vec<(usize, Output)>,
    /// How many redirections around the present point keep what is written in a file.
    pub(super) keeping: usize,
    /// States left behind by ways that went elsewhere.
    pub(super) left: Vec<Left>,
    /// How many subshells are around the present point.
    pub(super) subshells: usize,
    /// The tree at the beginning of the pipeline of which this is a later part: what the earlier ones changed since may not be done yet.
    pub(super) before_pipeline: Option<Overlay>,
    /// The functions that are running, innermost last.
    pub(super) calls: Vec<String>,
    /// How many texts are being run inside one another.
    pub(super) texts: usize,
    /// What the running commands read on their standard input.
    pub input: Input,
    /// Set by what fails only because something is not there now: what would run otherwise is followed as a mere possibility.
    pub absent: Option<Absence>,
    /// Whether an arithmetic expression was in error.
    pub(super) arithmetic_failed: bool,
    /// Whether what is followed at the present point rests on something that is not there now.
    pub(super) supposing: usize,
    /// Whether an expansion failed, so that the command does not run.
    pub(super) failed: bool,
    /// How many commands that were left for the end of a shell are running.
    pub(crate) exiting: usize,
    /// How many substitutions ran.
    pub(super) substitutions: usize,
    /// Where the shell was before a `cd` of which it is not known whether it succeeds.
    pub(crate) came_from: Option<Departure>,
    /// How many variables were asked for that nothing here has set.
    pub(crate) unseen: usize,
    /// Where the content of written files came from, when that matters, by path.
    pub(super) sources: BTreeMap<String, Output>,
    /// Directories that are shown at a second place, by that place.
    pub(super) mounts: BTreeMap<String, String>,
    /// Values of secrets that the words of this command held, with where they are from.
    pub(super) secret_texts: Vec<(String, Output)>,
    /// Secrets that the shell was given to keep, by the built-in that lists them.
    pub(super) listed_again: BTreeMap<String, Output>,
    /// Places to which the words of the present call only open the way for another program.
    pub(super) opened: Vec<AbsolutePath>,
    /// Lists of secrets that something has turned into another form.
    pub(super) reshaped: BTreeSet<String>,
    /// Secrets among the files of which archives and searches put the content into an output.
    pub(super) carried: BTreeSet<String>,
    /// Names of programs of the system that were copied, by the path of the copy.
    pub(super) copies: BTreeMap<String, String>,
    /// The machine or container in which effects happen, when not here.
    pub(super) away: Option<RemoteContext>,
    /// The program that is running, for explanations.
    pub(super) cause: String,
    /// What the running call has read so far.
    pub(super) gathered: Output,
    /// Outputs of the substitutions in the words of the running command that are not text.
    pub(super) substituted: Vec<Output>,
    /// How many programs are running for words that came out of an output of which nothing is known.
    pub(super) from_output: usize,
    /// Words of the running command whose text is not sure, with the reason: variables that are not set, for instance.
    pub(super) hollow: Vec<(Value, String)>,
    /// What comes out of the ends of process substitutions and open descriptors, by path.
    pub(super) ends: BTreeMap<String, Output>,
    /// Those of them that carry what a commit holds.
    pub(super) committed_ends: BTreeSet<String>,
    /// How many calls printed what a commit holds, or what the shell holds.
    pub commits_shown: usize,
    /// What git was given of secrets.
    pub stored: super::git_store::GitStore,
    /// The archives that the action made: where they are, of what, and which names are left out.
    pub archives_made: Vec<(AbsolutePath, Vec<Value>, Vec<String>)>,
    /// Archives that earlier actions made, each with the place of a secret that is in it.
    pub archives_kept: Vec<(AbsolutePath, String)>,
    /// Beginnings of paths of files that this command makes, and of which it is not known how many there are and what they hold.
    pub(crate) names_made: Vec<String>,
    /// Archives that this command made with other names than those of the files.
    pub renamed_archives: Vec<AbsolutePath>,
    /// Whether what runs is a trap: `BASH_COMMAND` stays that of the command around it.
    pub(super) trapped: usize,
    /// Whether one of the words of the running command may be several, or none.
    pub(crate) loose: bool,
    /// The host to which the standard output goes, when it is a connection.
    pub(super) outlet: Option<String>,
    /// Whether the running command decodes what nobody has read.
    pub(super) veiled: bool,
    /// Whether a file is being opened only to add at its end.
    pub(super) appending: bool,
    /// How many commands around the present point are ended from outside after a while.
    pub(super) limited: usize,
    /// What the kernel keeps the running command within; `None` when nothing does.
    pub bounds: Option<Bounds>,
    pub(super) steps: usize,
    /// The step at which the innermost loop is cut short.
    pub(super) limit: usize,
    /// How many texts that are only looked over are around the present point.
    pub(super) scanning: usize,
    /// How many steps were spent on looking over.
    pub(super) scanned: usize,
    /// How many texts of the shell were looked over.
    pub(super) scanned_texts: usize,
    /// The functions of which the bodies were looked over.
    pub(super) scanned_functions: Vec<String>,
    /// The aliases that are being expanded.
    pub(super) aliases_running: Vec<String>,
    pub(super) depth: usize,
    /// Whether a budget is spent, so that nothing more is followed.
    pub(super) exhausted: bool,
    /// How many names were made for temporary files.
    pub(crate) names: usize,
    /// Whether commands are being guessed from a text that could not be read.
    pub(super) guessing: bool,
    /// What `sh` is taken for at the present point; `None` where it may be either.
    pub(super) reads_as: Option<super::shell::Speech>,
    /// Whether shells of this command show what they read or run (`set -x`, `bash -v`).
    pub shows_commands: bool,
    /// The file of settings whose variables the shell holds, since it was sourced.
    pub(super) settings_held: Option<String>,
    /// The last list that was printed in an order that is not known.
    pub unordered: Option<String>,
    /// Walks of which only a pattern is known, by that pattern, and by what they choose.
    pub walks: BTreeMap<String, Choice>,
    /// What is known of how secrets are shown that are read.
    pub(super) sweep: Sweep,
    /// Secrets that were read, and whether anything of what they hold was shown.
    pub(super) shown_secrets: BTreeMap<AbsolutePath, bool>,
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
            effects: Vec::new(),
            known: HashMap::new(),
            problems: Vec::new(),
            programs: Vec::new(),
            commands: Vec::new(),
            doubt: 0,
            unsure: 0,
            conditions: 0,
            outer_conditions: 0,
            listening: 0,
            standard_outputs: 0,
            passed: Vec::new(),
            keeping: 0,
            left: Vec::new(),
            subshells: 0,
            before_pipeline: None,
            calls: Vec::new(),
            texts: 0,
            input: Input::Inherited,
            absent: None,
            arithmetic_failed: false,
            supposing: 0,
            failed: false,
            exiting: 0,
            substitutions: 0,
            came_from: None,
            unseen: 0,
            sources: BTreeMap::new(),
            mounts: BTreeMap::new(),
            secret_texts: Vec::new(),
            listed_again: BTreeMap::new(),
            opened: Vec::new(),
            reshaped: BTreeSet::new(),
            carried: BTreeSet::new(),
            copies: BTreeMap::new(),
            away: None,
            cause: String::new(),
            gathered: Output::Nothing,
            substituted: Vec::new(),
            from_output: 0,
            hollow: Vec::new(),
            ends: BTreeMap::new(),
            committed_ends: BTreeSet::new(),
            commits_shown: 0,
            stored: super::git_store::GitStore::default(),
            archives_made: Vec::new(),
            archives_kept: Vec::new(),
            names_made: Vec::new(),
            renamed_archives: Vec::new(),
            trapped: 0,
            loose: false,
            outlet: None,
            veiled: false,
            appending: false,
            limited: 0,
            bounds: None,
            steps: 0,
            limit: STEPS,
            scanning: 0,
            scanned: 0,
            scanned_texts: 0,
            scanned_functions: Vec::new(),
            aliases_running: Vec::new(),
            depth: 0,
            exhausted: false,
            names: 0,
            guessing: false,
            reads_as: None,
            shows_commands: false,
            settings_held: None,
            unordered: None,
            walks: BTreeMap::new(),
            sweep: Sweep::NONE,
            shown_secrets: BTreeMap::new(),
        };
        machine.recall_secrets();
        machine
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

    /// What stands at a path, as the command has changed it so far; symbolic links are not followed in the last part.
    pub fn entry(&self, path: &AbsolutePath) -> Entry {
        if self.away.is_some() {
            return Entry::Unknown;
        }
        self.own_entry(path).unwrap_or_else(|| self.tree.entry(self.world, path))
    }

    /// The file tree, as the command has changed it so far.
    pub fn overlay(&mut self) -> &mut Overlay {
        &mut self.tree
    }

    /// Which files at a path version control does not track any more; `None` when the command changed nothing about that.
    pub fn untracked(&self, path: &AbsolutePath) -> Option<Untracked> {
        self.tree.untracked(path)
    }

    /// What a name of a revision means since the command moved it; the outer `None` when it did not.
    pub fn moved_revision(&self, name: &str) -> Option<Option<&str>> {
        self.tree.moved_revision(name)
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
        match self.ends.get(path.as_str()) {
            Some(Output::Text(text)) => text.clone(),
            Some(_) => Value::Unknown,
            None if self.away.is_some() => Value::Unknown,
            None => self.tree.text(self.world, path),
        }
    }

    /// The value of a variable of the shell or the environment; `None` when it is not set.
    pub fn variable(&self, name: &str) -> Option<Value> {
        let name = self.shell.referred(name);
        let is_kept = matches!(name, "HOME" | "IFS" | "PATH") && !self.shell.variables.contains_key(name);
        if self.scanning > 0 && !is_kept {
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

    /// What the environment says about a variable that the shell did not touch.
    pub(super) fn environment(&self, name: &str) -> Option<Value> {
        if self.away.is_some() {
            return Some(Value::Unknown);
        }
        let place = self.world.place();
        match name {
            "HOME" => Some(Value::exact(place.home.as_str())),
            "PWD" => Some(self.cwd_value()),
            "HISTFILE" => {
                let file =
                    self.world.variable(name).unwrap_or_else(|| format!("{}/.bash_history", place.home));
                Some(Value::Exact(file))
            }
            "USER" | "LOGNAME" => self.world.variable(name).or_else(|| place.user.clone()).map(Value::Exact),
            "BASH" if self.shell.speech == Speech::Posix => self.world.variable(name).map(Value::Exact),
            "BASH" | "SHELL" => Some(self.world.variable(name).map_or_else(shells, Value::Exact)),
            // As `$$`: which process is meant matters, not its number.
            "PPID" => Some(self.world.variable(name).map_or(Value::exact(PARENT), Value::Exact)),
            "IFS" => Some(Value::exact(" \t\n")),
            _ => match self.world.variable(name) {
                Some(text) => Some(Value::Exact(text)),
                None if self.shell.speech == Speech::Posix && is_of_bash(name) => None,
                None => is_set_by_shells(name).then_some(Value::Unknown),
            },
        }
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

    /// Whether changes at the present point may not happen, without a state of their own for either way.
    pub(super) fn is_unsure(&self) -> bool {
        self.unsure > 0 || self.shell.doubts.any()
    }

    /// Whether it is not sure that the present point is reached.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.doubt > 0 || self.shell.doubts.any()
    }

    /// Whether something ran of which it is not known what it changed.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.tree.is_disturbed() || self.away.is_some()
    }

    /// Whether another command takes in what is written at the present point.
    pub fn is_listened_to(&self) -> bool {
        self.listening > 0
    }

    /// Whether what is written at the present point ends in a file.
    pub fn is_kept(&self) -> bool {
        self.keeping > 0
    }

    /// The host to which what is written at the present point goes, when the shell has joined it to a connection.
    pub fn outlet(&self) -> Option<&str> {
        self.outlet.as_deref()
    }

    /// Whether the exit status decides what comes next.
    pub(crate) fn is_asked(&self) -> bool {
        self.conditions > 0
    }

    /// Whether a file lies in a directory for temporary files.
    pub(super) fn is_temporary(&self, path: &AbsolutePath) -> bool {
        self.world.place().temporary.iter().any(|temporary| path.is_within(temporary))
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
        self.doubt = self.doubt.saturating_add(1);
        self.unsure = self.unsure.saturating_add(1);
        let answer = work(self);
        self.unsure = self.unsure.saturating_sub(1);
        self.doubt = self.doubt.saturating_sub(1);
        answer
    }

    /// Runs `work` so that its effects happen on another machine or in a container: the files there are not known, what
    /// it changes there is a change of infrastructure.
    pub fn elsewhere<T>(&mut self, place: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let away = self.away.replace(RemoteContext::lasting(place));
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

    /// Runs `work` under another name for explanations: `git clean`.
    pub fn caused_by<T>(&mut self, cause: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.cause, cause.to_owned());
        let answer = work(self);
        self.cause = outer;
        answer
    }

    /// The running program, as effects name it.
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Names the running call for explanations: `git clean`. The name holds until the call is over.
    pub fn set_cause(&mut self, cause: &str) {
        cause.clone_into(&mut self.cause);
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
        if self.scanning > 0 {
            self.scanned = self.scanned.saturating_add(1);
            return self.scanned <= SCANNED;
        }
        self.steps = self.steps.saturating_add(1);
        if self.steps > STEPS {
            self.give_up();
        }
        !self.exhausted
    }

    /// Stops following, and says so. What is left is looked over.
    pub(super) fn give_up(&mut self) {
        if self.exhausted {
            return;
        }
        self.exhausted = true;
        self.tree.disturb();
        self.problems.push("the command is too much to follow".to_owned());
        self.effects.push(Effect {
            severity: Severity::High,
            cause: self.cause.clone(),
            note: "too much to follow".to_owned(),
            ..Effect::new(EffectKind::Opaque, Target::Unknown)
        });
    }

    /// Writes a program call into the list.
    pub(crate) fn list_command(&mut self, program: &str, words: &[Value]) {
        if !self.programs.iter().any(|known| known == program) && self.programs.len() < COMMANDS {
            self.programs.push(program.to_owned());
        }
        if self.commands.len() < COMMANDS {
            self.commands.push(RunCommand {
                program: program.to_owned(),
                words: words.iter().map(|word| word.as_exact().map(str::to_owned)).collect(),
            });
        }
    }
}

/// What may stand in `$BASH` and `$SHELL`.
fn shells() -> Value {
    Value::one_of(["/bin/bash", "/usr/bin/bash", "/bin/zsh", "/bin/sh"].map(str::to_owned).to_vec())
}
