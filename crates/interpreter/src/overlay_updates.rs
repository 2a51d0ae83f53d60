//! What handlers note down about the file tree without an effect of its own, and what they ask of it.

use crate::effect::{EffectKind, Severity, Target};
use crate::filters::Lines;
use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Entry, FileText, Listing, PastDeed};

use super::draft::{AimedTarget, Draft};
use super::exit::Output;
use super::glob::Matches;
use super::machine::Machine;
use super::secrets;
use super::value::Value;

/// The greatest number of entries of a tree that are copied one by one (ours).
const COPIED: usize = 512;

/// The greatest number of printed names that are kept of one call (ours).
const NAMED: usize = 64;

/// Where the programs of the system are.
const SYSTEM_PROGRAMS: [&str; 6] =
    ["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

impl Machine<'_> {
    /// Remembers that what stands at `from`, with everything below it, stands at `to` now (also). Without an effect.
    pub fn remember_copy(&mut self, from: &AbsolutePath, to: &AbsolutePath) {
        let mut left = COPIED;
        let name = match self.copies.get(from.as_str()) {
            Some(name) => Some(name.clone()),
            None => system_program(from).or_else(|| guard_program(from)).map(str::to_owned),
        };
        if guard_program(from).is_some() && guard_program(to).is_none() {
            self.add(
                Draft::new(EffectKind::GuardTampering, Target::Path(from.clone()))
                    .possible()
                    .severity(Severity::High)
                    .note("gives a program of the guard another name"),
            );
        }
        if let Some(name) = name {
            self.copies.insert(to.as_str().to_owned(), name);
        }
        self.copy_entry(from, to, &mut left);
        if let Some(Value::Exact(text)) = self.tree.told(from) {
            self.tree.announce(to, text);
        }
    }

    /// Remembers that what stands at a place has the mode that it was given at another one, where that says all of it.
    pub fn carry_mode(&mut self, from: &AbsolutePath, to: &AbsolutePath) {
        let given = self.mode_given(from).filter(|mode| mode.bytes().all(|digit| digit.is_ascii_digit()));
        if let Some(mode) = given {
            self.tree.change_mode(to, &mode);
        }
    }

    /// Adds that a program of the guard goes by way of an output into files: a copy under another name, as [`Machine::remember_copy`].
    pub(super) fn note_guard_copied(&mut self, output: &Output, aims: &[AimedTarget]) {
        let Output::Local(place) = output else { return };
        let Some(from) = AbsolutePath::new(place) else { return };
        let Some(name) = guard_program(&from).map(str::to_owned) else { return };
        if self.entry(&from) == Entry::Directory {
            return;
        }
        for path in
            aims.iter().filter_map(|aim| aim.target.path()).filter(|path| guard_program(path).is_none())
        {
            if path.as_str().starts_with("/dev/") {
                continue;
            }
            self.copies.insert(path.as_str().to_owned(), name.clone());
            self.add(
                Draft::new(EffectKind::GuardTampering, Target::Path(from.clone()))
                    .possible()
                    .severity(Severity::High)
                    .note("gives a program of the guard another name"),
            );
        }
    }

    /// The same of code that read a program of the guard before, and now writes something of which nothing is known.
    pub fn note_guard_read_before(&mut self, value: &Value) {
        let read = self.effects_since(0).find_map(|effect| {
            let path = effect.target.path().filter(|_| effect.kind == EffectKind::FileRead)?;
            guard_program(path).is_some().then(|| Output::Local(path.as_str().to_owned()))
        });
        if let Some(output) = read {
            let aims = self.paths_through(value);
            self.note_guard_copied(&output, &aims);
        }
    }

    fn copy_entry(&mut self, from: &AbsolutePath, to: &AbsolutePath, left: &mut usize) {
        let Some(rest) = left.checked_sub(1) else {
            self.remember_doubt(to);
            return;
        };
        *left = rest;
        match self.entry(from) {
            Entry::File(_) => {
                let (text, source) = (self.text(from), self.source(from).or_else(|| self.secret_at(from)));
                self.remember_written(&Target::Path(to.clone()), text);
                if let Some(source) = source {
                    self.flow.sources.insert(to.as_str().to_owned(), source);
                }
            }
            Entry::Symlink(text) if self.away.is_none() && self.is_unsure() => {
                self.tree.perhaps_link(to, &text);
            }
            Entry::Symlink(text) if self.away.is_none() => self.tree.link(to, &text),
            Entry::Directory => match self.children(from) {
                Listing::Names(names) => {
                    self.remember_directory(to);
                    for name in names {
                        self.copy_entry(&from.join(&name), &to.join(&name), left);
                    }
                }
                Listing::Unknown => self.remember_doubt(to),
            },
            Entry::Special if from.as_str() == "/dev/null" => {
                self.remember_written(&Target::Path(to.clone()), Value::exact(""));
            }
            Entry::Missing | Entry::Symlink(_) | Entry::Special | Entry::Unknown => self.remember_doubt(to),
        }
    }

    /// Adds that a file is written with what came from elsewhere, a download for instance.
    pub fn write_from(&mut self, value: &Value, content: &Output) {
        self.flow.into_files |= matches!(content, Output::Secret(_));
        let text = match content {
            Output::Nothing => Value::exact(""),
            content => content.clone().into_text(),
        };
        self.tell_by_path(value, content);
        self.put_text(value, &text);
        if matches!(content, Output::Local(_)) {
            let aims = self.paths_through(value);
            self.note_guard_copied(content, &aims);
        }
        let is_secret = secrets::variable_of(content).is_some() || self.is_untold(content);
        if matches!(content, Output::Network(_)) || is_secret {
            let aims = self.paths_through(value);
            self.remember_source(&aims, content);
        }
    }

    /// Remembers that a file which was written holds a secret.
    pub fn keep_secret(&mut self, file: &Value, secret: &Output) {
        let aims = self.paths_through(file);
        self.remember_source(&aims, secret);
    }

    /// Reads an archive by a program that takes it apart: which of its members that shows is found out by their names, so a secret that was
    /// packed in is not yet among what is read.
    pub fn open_archive(&mut self, archive: &Value) -> Output {
        let before = self.call.gathered.clone();
        let read = self.read(archive);
        let is_packed_in = |output: &Output| {
            let aims = self.paths_through(archive);
            let is_itself = |place: &String| {
                aims.iter().any(|aim| aim.target.path().is_some_and(|path| path.as_str() == place))
            };
            matches!(output, Output::Secret(place) if !is_itself(place))
        };
        if !is_packed_in(&read) {
            return read;
        }
        let place = self.one_path_through(archive);
        let opened = place.map_or(Output::Unknown, |path| Output::Local(path.as_str().to_owned()));
        self.call.gathered = before.followed_by(opened.clone());
        opened
    }

    /// The secret that a file is by its place, which stays one under another name.
    fn secret_at(&mut self, path: &AbsolutePath) -> Option<Output> {
        let is_secret = places::credential(path, &self.world.place().home).is_some()
            && !self.tree.is_known(path)
            && !places::is_for_tests(path, self.world);
        is_secret.then(|| self.carry(path))
    }

    /// Whether a file holds what the same command decoded, and nobody has read.
    pub fn is_veiled(&self, value: &Value) -> bool {
        self.paths_through(value)
            .iter()
            .any(|aim| aim.target.path().is_some_and(|path| self.source(path) == Some(Output::Unknown)))
    }

    /// Remembers a new file or directory at a target, without an effect.
    pub(crate) fn remember_made(&mut self, target: &Target, directory: bool) {
        let Some(path) = target.path() else { return };
        if directory {
            self.remember_directory(path);
        } else {
            self.remember_written(target, Value::exact(""));
        }
    }

    /// Keeps with a variable that its value came out of a substitution.
    pub(crate) fn keep_origin(&mut self, name: &str) {
        let origin = self.call.substituted.last().cloned();
        if let (Some(origin), Some(variable)) = (origin, self.shell.variables.get_mut(name))
            && variable.content == super::shell::VariableContent::Scalar(Value::Unknown)
        {
            variable.origin = Some(origin);
        }
    }

    /// Keeps with a variable where a value that is not known came from.
    pub(crate) fn set_origin(&mut self, name: &str, origin: Output) {
        if let Some(variable) = self.shell.variables.get_mut(name) {
            variable.origin = Some(origin);
        }
    }

    /// Runs `work`, some of whose words came out of this output.
    pub fn with_words_from<T>(&mut self, output: &Output, work: impl FnOnce(&mut Self) -> T) -> T {
        let telling = matches!(output, Output::Network(_) | Output::Secret(_) | Output::Local(_));
        let before = self.call.substituted.len();
        let outside = usize::from(
            matches!(output, Output::Text(Value::Unknown | Value::Between { .. })) || self.is_unread(output),
        );
        self.note_captured(output);
        self.call.from_output += outside;
        if telling {
            self.call.substituted.push(output.clone());
        }
        let answer = work(self);
        self.call.substituted.truncate(before);
        self.call.from_output -= outside;
        answer
    }

    /// Whether a path is the end of a process substitution that carries what a commit holds.
    pub fn is_committed(&self, file: &Value) -> bool {
        file.as_exact().is_some_and(|path| self.flow.committed_ends.contains(path))
    }

    /// Whether a word of the running command of which nothing is known came out of a program: it may name any file.
    pub(super) fn is_named_by_output(&self) -> bool {
        self.call.from_output > 0 || self.flow.has_unread_words
    }

    /// Keeps that words, or the text of a file, come out of this output.
    pub(crate) fn note_captured(&mut self, output: &Output) {
        self.flow.has_unread_words |= self.is_unread(output);
    }

    /// Whether what is in an output may be any name: what a program of which nothing is known prints, what comes over the network, and what
    /// stands in a file that could not be read. Names outside the workspace, too many to be listed, are no better known.
    fn is_unread(&self, output: &Output) -> bool {
        matches!(output, Output::Unknown | Output::Network(_))
            || Lines::elsewhere(output).is_some()
            || self.is_list_in_file(output)
    }

    /// Whether an output is what stands in a file that could not be read, or what a program made of one: it may name any file. What this
    /// action itself has put into a file is not meant.
    fn is_list_in_file(&self, output: &Output) -> bool {
        let Output::Local(place) = output else { return false };
        match Lines::of(output) {
            Some(Lines::Names | Lines::Fields) => return false,
            // Behind the name stands what is in a file.
            Some(Lines::Prefixed | Lines::Loose) => return true,
            None => {}
        }
        AbsolutePath::new(place).is_some_and(|path| {
            !place.starts_with("/proc/")
                && !place.contains(['*', '?', '['])
                && !self.tree.is_known(&path)
                && matches!(self.entry(&path), Entry::File(_) | Entry::Missing | Entry::Directory)
        })
    }

    /// The existing paths that a pattern stands for, written as it is; `None` where they are not known.
    pub fn paths_of(&self, pattern: &str) -> Option<Vec<String>> {
        match self.glob(pattern) {
            Matches::These(paths) => Some(paths),
            Matches::Unknown => None,
        }
    }

    /// Whether the command itself made or changed a file.
    pub fn is_written_here(&self, path: &AbsolutePath) -> bool {
        self.tree.is_written(path)
    }

    /// Whether the command made what stands at a path, where nothing was before.
    pub fn is_made_here(&self, path: &AbsolutePath) -> bool {
        self.world().entry(path) == Entry::Missing && self.entry(path) == Entry::Directory
    }

    /// Whether the command made a file where nothing was before.
    pub fn is_new_file(&self, path: &AbsolutePath) -> bool {
        self.world().entry(path) == Entry::Missing && matches!(self.entry(path), Entry::File(_))
    }

    /// Whether the command wrote a file, or may have, of which it is not known what it holds.
    pub fn is_written_unread(&self, path: &AbsolutePath) -> bool {
        self.tree.is_written(path) && self.text(path).alternatives().is_none()
            || self.tree.is_perhaps_written_unread(path)
    }

    /// As [`Machine::is_written_unread`], for the place of an input.
    pub fn is_written_here_unread(&self, place: &str) -> bool {
        AbsolutePath::new(place).is_some_and(|path| self.is_written_unread(&path))
    }

    /// Whether this call or an earlier one of the session made or changed a file.
    pub fn is_of_session(&self, path: &AbsolutePath) -> bool {
        let history = self.world().history();
        let wrote = |deed: &PastDeed| match deed {
            PastDeed::Wrote(written) => written == path,
            PastDeed::Replaced(_) | PastDeed::Installed(_) | PastDeed::Pushed => false,
        };
        self.has_touched(path)
            || history.created.contains(path)
            || history.recent.iter().flat_map(|action| &action.deeds).any(wrote)
    }

    /// Whether a file was written, or came where it is, after the session began, by whatever way. What is as it was committed when the session
    /// began is as it was, however it came back.
    pub fn came_in_session(&self, path: &AbsolutePath) -> bool {
        let world = self.world();
        let Some(began) = &world.history().began else { return false };
        if world.changed_since(path, began.at) != Some(true) {
            return false;
        }
        let was_committed = || {
            let commit = began.commit.as_ref()?;
            let root = world.repository(path)?.root;
            let then = world.committed_text(&root, commit, path.relative_to(&root)?);
            match (then, world.text(path)) {
                (FileText::Whole(then), FileText::Whole(now)) => Some(then == now),
                _ => None,
            }
        };
        was_committed() != Some(true)
    }

    /// Whether an earlier call of the session installed a package.
    pub(crate) fn was_installed(&self, package: &str) -> bool {
        let installed = |deed: &PastDeed| match deed {
            PastDeed::Installed(name) => {
                name.split_once('@').map_or(name.as_str(), |(name, _)| name) == package || name == package
            }
            PastDeed::Wrote(_) | PastDeed::Replaced(_) | PastDeed::Pushed => false,
        };
        self.world().history().recent.iter().flat_map(|action| &action.deeds).any(installed)
    }

    /// Whether the session made or changed something below a directory, as far as its history reaches.
    pub(crate) fn holds_work_of_session(&self, directory: &AbsolutePath) -> bool {
        let history = self.world().history();
        let wrote = |deed: &PastDeed| match deed {
            PastDeed::Wrote(written) => written.is_within(directory),
            PastDeed::Replaced(_) | PastDeed::Installed(_) | PastDeed::Pushed => false,
        };
        self.tree.changes_below(directory)
            || history.created.iter().any(|path| path.is_within(directory))
            || history.recent.iter().flat_map(|action| &action.deeds).any(wrote)
    }

    /// Whether the command itself says where the home directory is.
    pub fn moves_home(&self) -> bool {
        self.shell.variables.contains_key("HOME") || self.shell.variables.contains_key("ZDOTDIR")
    }

    /// Whether the catalogue describes a program of that name.
    pub fn knows(&self, program: &str) -> bool {
        self.table.entry(program, self.catalogue).is_some()
    }

    /// What the substitutions in the words of the running command carry, as far as it is more than text.
    pub fn substituted(&self) -> &[Output] {
        &self.call.substituted
    }

    /// Notes that the running call prints the name of a file, of which something is known.
    pub fn note_printed_name(&mut self, name: &Value) {
        if self.call.named.len() < NAMED && !self.call.named.contains(name) {
            self.call.named.push(name.clone());
        }
    }

    /// Counts a secret among what the words of the running command carry: a program takes it from the environment by its name.
    pub fn hand_over(&mut self, secret: Output) {
        self.call.substituted.push(secret);
    }

    /// Remembers what a file holds, of which the effect is told already.
    pub fn hold(&mut self, aim: &AimedTarget, text: Value) {
        self.remember_written(&aim.target, text);
    }

    /// Remembers that files are made whose paths begin so.
    pub fn remember_names(&mut self, beginning: &Value) {
        if let Some(path) = self.one_path_through(beginning)
            && self.names_made.len() < COPIED
        {
            self.names_made.push(path.as_str().to_owned());
        }
    }

    /// Whether a file may be one of those of which only the beginning of the name is known.
    pub(super) fn is_among_made(&self, path: &AbsolutePath) -> bool {
        !self.tree.is_written(path) && self.names_made.iter().any(|start| path.as_str().starts_with(start))
    }

    /// Remembers a directory, without an effect.
    pub fn remember_directory(&mut self, path: &AbsolutePath) {
        if self.away.is_some() {
            return;
        }
        if self.is_unsure() {
            if self.entry(path) == Entry::Missing {
                self.tree.doubtful(path);
            }
        } else {
            self.tree.directory(self.world, path);
        }
    }

    /// Remembers that it is not known what stands at a path, without an effect.
    pub fn remember_doubt(&mut self, path: &AbsolutePath) {
        if self.away.is_none() {
            self.tree.doubtful(path);
        }
    }

    /// What mode the command gave what stands at a path, in the words of `chmod`; `None` where it gave none that is known.
    pub fn mode_given(&self, path: &AbsolutePath) -> Option<String> {
        self.tree.mode_given(path).map(str::to_owned)
    }

    /// Remembers that something unknown was put into a directory, without an effect.
    pub fn remember_doubt_below(&mut self, directory: &AbsolutePath) {
        if self.away.is_none() {
            if self.entry(directory) != Entry::Directory {
                self.tree.doubtful(directory);
            }
            self.tree.disturb();
        }
    }

    /// What a directory holds, as the command has changed it so far: `None` when it cannot be listed within `limit`
    /// entries. Directories come before what is in them; symbolic links are not followed.
    pub fn walk(&self, root: &AbsolutePath, limit: usize) -> Option<Vec<(AbsolutePath, Entry)>> {
        let mut found = Vec::new();
        let mut open = vec![root.clone()];
        while let Some(directory) = open.pop() {
            let Listing::Names(names) = self.children(&directory) else { return None };
            for name in names {
                let path = directory.join(&name);
                let entry = self.entry(&path);
                match entry {
                    Entry::Directory => open.push(path.clone()),
                    Entry::Unknown => return None,
                    Entry::Missing | Entry::File(_) | Entry::Symlink(_) | Entry::Special => {}
                }
                found.push((path, entry));
                if found.len() > limit {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Remembers that a directory is shown at a second place too: what happens there happens to it.
    pub fn remember_mount(&mut self, source: &Value, place: &Value) {
        let path = |machine: &Self, value: &Value| {
            machine.paths_through(value).into_iter().find_map(|aim| aim.target.path().cloned())
        };
        if let (Some(source), Some(place)) = (path(self, source), path(self, place))
            && source != place
            && !self.mounts.contains_key(source.as_str())
        {
            self.tree.link(&place, source.as_str());
            self.mounts.insert(place.as_str().to_owned(), source.as_str().to_owned());
        }
    }

    /// Whether "nothing is there" can be relied on: nothing ran of which it is not known what it changed.
    pub fn is_settled(&self) -> bool {
        !self.tree.is_disturbed() && self.position.doubt == 0 && self.away.is_none()
    }

    /// Whether a word names something that is known not to be there.
    pub fn is_certainly_missing(&self, value: &Value) -> bool {
        let aims = self.paths_through(value);
        self.is_settled()
            && !aims.is_empty()
            && aims.iter().all(|aim| aim.target.path().is_some_and(|path| self.entry(path) == Entry::Missing))
    }

    /// Whether a word names a symbolic link that is known to lead nowhere.
    pub fn is_dangling(&self, value: &Value) -> bool {
        let aims = self.paths(value);
        let is_link = |aim: &AimedTarget| {
            aim.target.path().is_some_and(|path| matches!(self.entry(path), Entry::Symlink(_)))
        };
        self.is_certainly_missing(value) && aims.iter().all(is_link)
    }

    /// Whether the word is known to name a directory, through symbolic links.
    pub fn is_directory(&self, value: &Value) -> Option<bool> {
        let mut aims = self.paths_through(value).into_iter();
        let (Some(aim), None) = (aims.next(), aims.next()) else { return None };
        match self.entry(aim.target.path()?) {
            Entry::Directory => Some(true),
            Entry::Missing | Entry::File(_) | Entry::Special => Some(false),
            Entry::Symlink(_) | Entry::Unknown => None,
        }
    }
}

/// The name of a program of the guard, where a path leads to one: wherever it lies, and whatever name it is called by.
pub(super) fn guard_program(path: &AbsolutePath) -> Option<&str> {
    path.name().filter(|name| matches!(*name, "checkrein" | "checkrein-hook"))
}

/// The name of a program of the system; `None` for files elsewhere.
pub(super) fn system_program(path: &AbsolutePath) -> Option<&str> {
    let (directory, name) = path.as_str().rsplit_once('/')?;
    SYSTEM_PROGRAMS.contains(&directory).then_some(name)
}
