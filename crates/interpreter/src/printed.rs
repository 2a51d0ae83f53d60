//! Secrets in what a call prints that nothing else takes in: it goes into the conversation.
//!
//! Files are told where they are read. Here belong variables that hold a secret by their names, and what an archive of files carries.

use std::collections::VecDeque;

use crate::effect::{Effect, EffectKind, NetworkReach, Target};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Entry, Listing};
use crate::{environment, filters, known_hosts};

use super::call::{Call, Input};
use super::draft::Draft;
use super::exit::{Exit, Output};
use super::machine::Machine;
use super::pattern::{Letters, Pattern};
use super::secrets::{is_secret_name, owner, variable_of};
use super::shell::VariableContent;
use super::statements::Done;
use super::value::Value;

/// The place of a secret that is a whole list of variables.
pub const ALL_VARIABLES: &str = "$*";

/// How many variables with secrets are named (ours).
const NAMED: usize = 8;

/// How many names below a directory are looked at (ours).
const LOOKED_AT: usize = 1000;

/// How many secrets below a directory are told apart (ours).
const FOUND: usize = 16;

/// Directories in which no project keeps what its people have to keep secret, and of which there are many files.
const SKIPPED: &[&str] = &[".git", "node_modules", "target", ".venv", "venv", "__pycache__", "vendor"];

impl Machine<'_> {
    /// What is left of an output when only lines that fit stay. Variables of another machine or container are not known here.
    fn narrowed(&mut self, call: &Call, output: Output) -> Output {
        let list = match (&call.input, &output) {
            (Input::Secret(read), Output::Secret(place)) if read == place => Some(place.clone()),
            // Out of a file that holds them.
            (Input::Inherited, Output::Secret(place)) if place == ALL_VARIABLES => Some(place.clone()),
            _ => None,
        };
        if let Some(place) = list {
            if (filters::hides_values(call) || self.is_masker(call)) && self.is_by_lines(&place) {
                return Output::Unknown;
            }
            // What reads no input has the list out of a file, or makes it.
            if call.input != Input::Inherited && !filters::keeps_lines(call) {
                self.flow.reshaped.insert(place);
            }
        }
        match &output {
            Output::Secret(_) if self.away.is_some() && variable_of(&output).is_some() => Output::Unknown,
            Output::Secret(place)
                if place == ALL_VARIABLES
                    && call.input == Input::Secret(ALL_VARIABLES.to_owned())
                    && self.listed_secrets(call).is_empty() =>
            {
                Output::Unknown
            }
            _ => output,
        }
    }

    /// Whether a list of secrets still has one name with its value in each line.
    fn is_by_lines(&self, place: &str) -> bool {
        if self.flow.reshaped.contains(place) {
            return false;
        }
        if place == ALL_VARIABLES {
            let has_lines = |name: &String| self.world.variable(name).is_some_and(|text| text.contains('\n'));
            return !self.secrets_of_environment().iter().any(has_lines);
        }
        AbsolutePath::new(place).is_some_and(|path| {
            self.text(&path).as_exact().is_some_and(|text| places::is_list_of_settings(&path, text))
        })
    }

    /// The secret whose value a call puts into its output, as it got it: in the text that it passes on, or in its words.
    fn revealed(&self, call: &Call, output: &Output) -> Option<Output> {
        match output {
            Output::Text(value) if *value != Value::Unknown => {
                let made = || match &call.input {
                    Input::Text(read) if filters::reshapes(call) => self.secret_held(read),
                    _ => None,
                };
                self.secret_held(value).or_else(made)
            }
            Output::Text(_) | Output::Setup(_) | Output::Unknown | Output::Local(_) => {
                let read = match &call.input {
                    Input::Text(value) if filters::only_passes(call) || call.program == "tee" => Some(value),
                    _ => None,
                };
                let shown = filters::shows_words(call).then_some(&call.words).into_iter().flatten();
                read.into_iter().chain(shown).find_map(|value| self.secret_held(value))
            }
            Output::Nothing | Output::Network(_) | Output::Secret(_) => None,
        }
    }

    /// Adds the secrets that a program prints, and says in its answer which it carries.
    pub(super) fn tell(&mut self, call: &Call, exit: &mut Exit) {
        let output = std::mem::replace(&mut exit.output, Output::Nothing);
        let output = match self.revealed(call, &output) {
            Some(Output::Secret(place)) if !filters::hides_all(call) => self.carry_secret(place),
            _ if matches!(output, Output::Secret(_)) => output,
            _ => environment::printed(call).unwrap_or(output),
        };
        exit.output = self.narrowed(call, output);
        let found = match exit.output {
            Output::Text(_) => None,
            _ => filters::found_secret(self, call),
        };
        let outer = std::mem::replace(&mut self.call.cause, call.program.clone());
        if let Some(secret) = found {
            self.note_found_lines(&secret);
            exit.output = secret;
        }
        self.note_printed(call, &exit.output);
        self.call.cause = outer;
    }

    /// As [`Machine::tell`], for what a built-in answered.
    pub(super) fn told(&mut self, name: &str, rest: &[Value], mut done: Done) -> Done {
        let is_text = matches!(done.output, Output::Text(_)) && !self.flow.secret_texts.is_empty();
        if is_text || matches!(done.output, Output::Secret(_)) {
            let call = self.call_of(name, name, rest);
            let mut exit = Exit { status: done.status, output: done.output };
            self.tell(&call, &mut exit);
            done.output = exit.output;
        }
        done
    }

    /// Adds the secrets that a call prints, when nothing takes in what it writes.
    fn note_printed(&mut self, call: &Call, output: &Output) {
        if self.is_kept() || self.away.is_some() {
            return;
        }
        if call.program == "ps" && shows_environments(call) && self.flow.sweep.screens == 0 {
            self.add_variables(&self.secrets_of_environment(), "of the processes that it lists");
        }
        if self.is_listened_to() {
            return;
        }
        if variable_of(output) == Some(&ALL_VARIABLES[1..]) {
            self.note_shown_settings("printenv", &[]);
            self.add_variables(&self.listed_secrets(call), "among the variables that it prints");
        } else if let Some(name) = variable_of(output) {
            if filters::shows_lines(call) && !self.is_assigned(name) {
                self.add_variables(&[name.to_owned()], "the value is printed");
            }
        } else if filters::shows_lines(call) {
            self.note_found(output);
        }
    }

    /// Adds the variables whose secrets a connection that the shell opened carries to a host that they do not belong to.
    pub(super) fn note_sent(&mut self, output: &Output, address: &str) {
        let Some(name) = variable_of(output) else { return };
        let host = address.split(':').next().unwrap_or(address);
        if known_hosts::reach(address) == NetworkReach::Local || owner(name).has(host) == Some(true) {
            return;
        }
        let names =
            if name == &ALL_VARIABLES[1..] { self.secrets_of_environment() } else { vec![name.to_owned()] };
        self.add_variables(&names, "it is sent along");
    }

    /// Adds the secret that a shell shows because it shows the commands that it runs.
    pub(super) fn note_traced(&mut self, secret: &Output) {
        self.note_let_out(secret, "the shell shows the commands that it runs");
    }

    /// Adds the file of which a secret goes to another machine.
    pub fn note_file_sent(&mut self, secret: &Output) {
        if variable_of(secret).is_none() {
            self.note_let_out(secret, "it is sent along");
        }
    }

    /// Adds a secret that comes out in another way than on the standard output: on the standard error, or in a request.
    pub(super) fn note_let_out(&mut self, secret: &Output, note: &str) {
        match variable_of(secret) {
            Some(name) => self.add_variables(&[name.to_owned()], note),
            None => {
                if let Output::Secret(place) = secret {
                    let target = AbsolutePath::new(place).map_or(Target::Unknown, Target::Path);
                    if !self.is_told(&target) {
                        self.add(Draft::new(EffectKind::SecretRead, target).note(note));
                    }
                }
            }
        }
    }

    /// Adds the secret of a file whose content is in an output, when nothing takes that in.
    fn note_found(&mut self, output: &Output) {
        let Output::Secret(place) = output else { return };
        // What goes to a file is told where that is read.
        if self.is_listened_to() || self.is_kept() || !self.flow.carried.contains(place) {
            return;
        }
        let target = AbsolutePath::new(place).map_or(Target::Unknown, Target::Path);
        if !self.is_told(&target) {
            let draft = Draft::new(EffectKind::SecretRead, target);
            self.add(draft.possible().note("it is among what is printed"));
        }
    }

    /// The same of a search whose lines are known to hold the secret, though it came by the file among others.
    fn note_found_lines(&mut self, output: &Output) {
        let Output::Secret(place) = output else { return };
        if self.is_listened_to() || self.is_kept() {
            return;
        }
        let target = AbsolutePath::new(place).map_or(Target::Unknown, Target::Path);
        let is_read = |effect: &Effect| effect.kind == EffectKind::SecretRead && effect.target == target;
        if !self.findings.effects.iter().any(|effect| is_read(effect) && effect.nature != Nature::SweptAlong)
        {
            let draft = Draft::new(EffectKind::SecretRead, target);
            self.add(draft.possible().note("it is among what is printed"));
        }
    }

    /// Whether an output carries the secret of a file of which nothing was said so far: a search, or an archive, came by it.
    pub(super) fn is_untold(&self, output: &Output) -> bool {
        let Output::Secret(place) = output else { return false };
        let target = AbsolutePath::new(place).map_or(Target::Unknown, Target::Path);
        self.flow.carried.contains(place) && !self.is_told(&target)
    }

    /// Whether it was said already that a secret is read.
    fn is_told(&self, target: &Target) -> bool {
        self.findings
            .effects
            .iter()
            .any(|effect| effect.kind == EffectKind::SecretRead && effect.target == *target)
    }

    fn add_variables(&mut self, names: &[String], note: &str) {
        for name in names.iter().take(NAMED) {
            let target = Target::Service(format!("${name}"));
            if !self.is_told(&target) {
                self.add(Draft::new(EffectKind::SecretRead, target).note(note));
            }
        }
    }

    /// The variables with secrets that a list of all of them shows after a call has chosen its lines.
    fn listed_secrets(&self, call: &Call) -> Vec<String> {
        let mut names = self.secrets_of_environment();
        names.retain(|name| filters::may_show(call, &format!("{name}=")));
        names
    }

    /// The variables of the environment that hold a secret by their names.
    fn secrets_of_environment(&self) -> Vec<String> {
        let mut names = self.world.variable_names();
        names.retain(|name| is_secret_name(name) && !self.is_assigned(name));
        names
    }

    /// Whether the action itself gave a variable its value, or took it away.
    fn is_assigned(&self, name: &str) -> bool {
        self.shell
            .variables
            .get(name)
            .is_some_and(|variable| !matches!(variable.content, VariableContent::Unknown))
    }

    /// A secret among the files that an archive of something carries, which its reader then has. `excluded` are patterns of names that
    /// are left out.
    pub fn packed(&mut self, source: &Value, excluded: &[String]) -> Option<Output> {
        if self.away.is_some() {
            return None;
        }
        let aims = self.paths_through(source);
        let found = aims
            .iter()
            .find_map(|aim| self.credentials_within(aim.target.path()?, excluded).into_iter().next())?;
        Some(self.carry(&found))
    }

    /// The output that carries a secret on, which is told when it is printed.
    pub fn carry(&mut self, path: &AbsolutePath) -> Output {
        let place = path.as_str().to_owned();
        self.flow.carried.insert(place.clone());
        Output::Secret(place)
    }

    /// The secrets at or below a path, by a bounded search that begins at the top; `excluded` as above.
    pub fn credentials_within(&self, root: &AbsolutePath, excluded: &[String]) -> Vec<AbsolutePath> {
        let place = self.world.place();
        // Elsewhere on the machine a name says little: certificates and examples are called like keys.
        let is_own = |path: &AbsolutePath| path.is_within(&place.home) || path.is_within(&place.workspace);
        let is_secret = |path: &AbsolutePath| {
            let known = if is_own(path) {
                places::credential(path, &place.home)
            } else {
                places::machine_credential(path).filter(|_| places::secrecy(path) == places::Secrecy::Proof)
            };
            self.holds_secret(path)
                || known.is_some()
                    && !self.tree.is_new(path)
                    && matches!(self.entry(path), Entry::File(_))
                    && !places::is_for_tests(path, self.world)
        };
        let is_excluded = |path: &AbsolutePath| {
            let name = path.name().unwrap_or_default();
            let below = path.relative_to(root).unwrap_or_default();
            excluded.iter().any(|pattern| {
                let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
                let fits = |text: &str| Pattern::new(pattern).matches(text, Letters::Exact) == Some(true);
                fits(name) || fits(below)
            })
        };
        let mut found = Vec::new();
        let mut open = VecDeque::from([root.clone()]);
        let mut looked_at = 0;
        while let Some(path) = open.pop_front() {
            looked_at += 1;
            if looked_at > LOOKED_AT || found.len() >= FOUND {
                break;
            }
            let is_root = path == *root;
            if !is_root && (is_excluded(&path) || path.name().is_some_and(|name| SKIPPED.contains(&name))) {
                continue;
            }
            if is_secret(&path) {
                found.push(path);
            } else if self.entry(&path) == Entry::Directory {
                match self.children(&path) {
                    Listing::Names(names) => open.extend(names.iter().map(|name| path.join(name))),
                    Listing::Unknown => open.extend(places::sought_in(&path, &place.home)),
                }
            }
        }
        // What was copied into a directory is not always among its names.
        let put_there = self.flow.sources.iter().filter(|(_, output)| output.as_secret().is_some());
        for path in put_there.filter_map(|(path, _)| AbsolutePath::new(path)) {
            if found.len() < FOUND && path.is_within(root) && !is_excluded(&path) && !found.contains(&path) {
                found.push(path);
            }
        }
        found
    }
}

/// Whether `ps` shows the environments of processes: `e` among its options without a dash, `-E` on macOS.
fn shows_environments(call: &Call) -> bool {
    let mut is_value = false;
    call.words.iter().filter_map(Value::as_exact).any(|word| {
        if std::mem::take(&mut is_value) {
            return false;
        }
        // The next word is a list, a name or a format.
        is_value = matches!(
            word,
            "-o" | "-O"
                | "-C"
                | "-p"
                | "-u"
                | "-U"
                | "-t"
                | "-g"
                | "-G"
                | "-q"
                | "-s"
                | "o"
                | "O"
                | "p"
                | "U"
                | "t"
                | "k"
        );
        let is_cluster = !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphabetic());
        word == "-E"
            || is_cluster && word.contains('e') && !word.contains(['o', 'O'])
            || word.split([',', '=']).any(|column| column == "environ")
    })
}
