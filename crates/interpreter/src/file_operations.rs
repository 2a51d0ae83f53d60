//! Reading, writing, making and removing files: effects that follow from what stands there, and notes of what stands there then.

use checkrein_glob::{Glob, Style};

use crate::effect::{Depth, EffectKind, Severity, Target};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places;
use crate::world::{Entry, Listing, Right};

use super::brought::Brought;
use super::descriptors::number_of;
use super::devices::{Device, device};
use super::draft::{AimedTarget, Draft, Upload};
use super::exit::Output;
use super::git_store::Commitment;
use super::machine::{Machine, socket_host};
use super::value::Value;

/// What is wanted of a file that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interest {
    /// Its text.
    Text,
    /// Its text, as code that is run.
    Code,
    /// What sort of file it is.
    Sort,
}

/// What is said of a repository that goes as it came.
const CLONED: &str = "the repository was cloned or made by the same command";

impl Machine<'_> {
    /// Adds that a file is read, or a secret when it is one, and answers what reading it gives, its text where it is known.
    pub fn read(&mut self, value: &Value) -> Output {
        self.read_with(value, Interest::Text)
    }

    /// As [`Machine::read`], of a file that is run as code.
    pub fn read_code(&mut self, value: &Value) -> Output {
        self.read_with(value, Interest::Code)
    }

    /// As [`Machine::read`], without looking at the text: for the many programs for which only matters what sort of file it is.
    pub fn skim(&mut self, value: &Value) -> Output {
        self.read_with(value, Interest::Sort)
    }

    /// What reading a file would give, without the effect.
    pub fn peek(&self, value: &Value) -> Output {
        self.look(value, Interest::Text)
    }

    /// As [`Machine::peek`], as far as is wanted.
    pub(super) fn look(&self, value: &Value, interest: Interest) -> Output {
        self.paths_through(value)
            .iter()
            .fold(Output::Nothing, |all, aim| all.followed_by(self.look_at(aim, interest).1))
    }

    /// The code in a file that comes in on the standard input or through a substitution: read as far as one that is named.
    pub fn code_coming_in(&self, place: &str) -> Option<Value> {
        match self.code(&AbsolutePath::new(place)?) {
            Value::Exact(text) if !text.contains('\0') => Some(Value::Exact(text)),
            Value::Between { prefix, suffix } if !prefix.is_empty() => {
                Some(Value::Between { prefix, suffix })
            }
            Value::Exact(_) | Value::Between { .. } | Value::AnyOf(_) | Value::Glob(_) | Value::Unknown => {
                None
            }
        }
    }

    fn read_with(&mut self, value: &Value, interest: Interest) -> Output {
        let mut all = Output::Nothing;
        for aim in self.paths_through(value).into_iter().chain(self.secrets_behind_links(value)) {
            if let (Interest::Text, Some(path)) = (interest, aim.target.path()) {
                self.rest_on_text(&path.clone());
            }
            let (kind, output) = self.look_at(&aim, interest);
            if let Some(path) = aim.target.path().filter(|path| device(path) == Some(Device::Network)) {
                self.host(&Value::exact(socket_host(path.as_str())), Upload::No);
            }
            if let Some(kind) = kind {
                let there = aim
                    .target
                    .path()
                    .is_none_or(|path| self.is_disturbed() || self.entry(path) != Entry::Missing);
                let can_be_swept = matches!(
                    (&aim.target, kind),
                    (Target::Path(_), EffectKind::SecretRead) | (Target::Glob(_), EffectKind::FileRead)
                );
                let target = aim.target.clone();
                if let (EffectKind::SecretRead, Target::Path(path)) = (kind, &target) {
                    let is_shown = self.shows_content(path);
                    *self.flow.shown_secrets.entry(path.clone()).or_insert(false) |= is_shown;
                }
                let mut draft = Draft::at(kind, aim);
                match self.swept() {
                    Some(nature) if can_be_swept => draft = draft.nature(nature),
                    Some(_) => {}
                    None => self.note_shown(&target),
                }
                self.add(if there { draft } else { draft.possible() });
            }
            all = all.followed_by(output);
        }
        self.call.gathered =
            std::mem::replace(&mut self.call.gathered, Output::Nothing).followed_by(all.clone());
        all
    }

    /// The effect that reading a target is, if it is one, and what it gives.
    fn look_at(&self, aim: &AimedTarget, interest: Interest) -> (Option<EffectKind>, Output) {
        let home = &self.world.place().home;
        match &aim.target {
            Target::Path(path) => {
                if let Some(output) = self.flow.ends.get(path.as_str()) {
                    return (None, output.clone());
                }
                if let Some(number) = number_of(path) {
                    return (None, self.descriptor_output(number));
                }
                match device(path) {
                    Some(Device::Nothing) if path.as_str() == "/dev/null" => return (None, Output::Nothing),
                    Some(Device::Nothing) => return (None, Output::Unknown),
                    Some(Device::Network) => return (None, Output::Network(path.as_str().to_owned())),
                    Some(Device::System) | None => {}
                }
                let text = path.as_str().to_owned();
                // Elsewhere only the credentials of the machine are known by their place; what a project keeps there is not of here.
                let secret = match self.away {
                    None => places::credential(path, home).is_some() || self.is_second_name_of_secret(path),
                    Some(_) => places::machine_credential(path).is_some(),
                };
                let is_for_tests = || {
                    !self.tree.is_known(path)
                        && !self.tree.is_disturbed()
                        && places::is_for_tests(path, self.world)
                };
                if secret && !self.tree.is_new(path) && !is_for_tests() {
                    return (Some(EffectKind::SecretRead), Output::Secret(text));
                }
                let held = match interest {
                    Interest::Text => self.text(path),
                    Interest::Code => self.code(path),
                    Interest::Sort => Value::Unknown,
                };
                let output = match (self.source(path), held) {
                    (Some(source), _) => source,
                    (None, Value::Unknown) => Output::Local(text),
                    (None, known) => Output::Text(known),
                };
                // A secret that the command wrote to holds what it held, too.
                let was_there = || self.away.is_none() && self.world.entry(path) != Entry::Missing;
                let kind = if secret && !is_for_tests() && was_there() {
                    EffectKind::SecretRead
                } else {
                    EffectKind::FileRead
                };
                (Some(kind), output)
            }
            Target::Glob(pattern) if is_secret_pattern(pattern, home) => {
                (Some(EffectKind::SecretRead), Output::Secret(pattern.clone()))
            }
            Target::Glob(pattern) => match self.secret_among(pattern) {
                Some(path) => (Some(EffectKind::SecretRead), Output::Secret(path.as_str().to_owned())),
                None => (Some(EffectKind::FileRead), Output::Local(pattern.clone())),
            },
            Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => (Some(EffectKind::FileRead), Output::Unknown),
        }
    }

    /// Whether a file has a second name (a hard link) that is known for a secret: beside it, or at the top of the workspace.
    fn is_second_name_of_secret(&self, path: &AbsolutePath) -> bool {
        let place = self.world.place();
        let beside = path.parent();
        let directories = beside.iter().chain([&place.workspace]);
        // For a file with one name nothing more is looked at.
        if !self.world.is_same_file(path, path) {
            return false;
        }
        directories.flat_map(|directory| places::sought_in(directory, &place.home)).any(|secret| {
            secret != *path
                && !self.tree.is_known(path)
                && self.world.is_same_file(path, &secret)
                && !places::is_for_tests(&secret, self.world)
        })
    }

    /// A secret that is known by name and that a pattern takes, where the names of the directory cannot be listed.
    fn secret_among(&self, pattern: &str) -> Option<AbsolutePath> {
        let (directory, name) = pattern.rsplit_once('/')?;
        if directory.contains(['*', '?', '[']) {
            return None;
        }
        let directory = AbsolutePath::new(if directory.is_empty() { "/" } else { directory })?;
        if matches!(self.children(&directory), Listing::Names(_)) {
            return None;
        }
        let takes_hidden = name.starts_with('.') || name == "**" || self.shell.options.dotglob;
        let glob = Glob::new(name, Style::Shell);
        places::sought_in(&directory, &self.world.place().home).into_iter().find(|path| {
            path.name().is_some_and(|name| (takes_hidden || !name.starts_with('.')) && glob.matches(name))
                && matches!(self.entry(path), Entry::File(_))
                && !self.tree.is_new(path)
                && !places::is_for_tests(path, self.world)
        })
    }

    /// Whether a pattern of paths reaches credentials.
    pub fn names_secret(&self, pattern: &Value) -> bool {
        let home = &self.world.place().home;
        let behind = self.secrets_behind_links(pattern);
        self.paths_through(pattern).iter().chain(&behind).any(|aim| match &aim.target {
            Target::Glob(pattern) => is_secret_pattern(pattern, home),
            Target::Path(path) => places::credential(path, home).is_some(),
            Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_)
            | Target::Unknown => false,
        })
    }

    /// Adds that a file is created or modified, whichever the tree says; nothing for `/dev/null` and the like.
    pub fn write(&mut self, value: &Value) {
        self.write_text(value, &Value::Unknown);
    }

    /// As [`Machine::write`], remembering what is known of the text that the file holds afterwards.
    pub fn write_text(&mut self, value: &Value, text: &Value) {
        self.tell_by_path(value, &Output::Text(text.clone()));
        self.put_text(value, text);
    }

    /// As [`Machine::write_text`], where what goes to the standard output by its path is told in another way.
    pub(super) fn put_text(&mut self, value: &Value, text: &Value) {
        for aim in self.paths_through(value) {
            self.write_aim(aim, text.clone());
        }
    }

    pub(super) fn write_aim(&mut self, aim: AimedTarget, text: Value) {
        let Some(path) = aim.target.path().cloned() else {
            self.add(Draft::at(EffectKind::FileModify, aim));
            return;
        };
        if self.flow.ends.contains_key(path.as_str()) {
            return;
        }
        // The path of a descriptor is what that leads to, opened once more.
        if let Some(source) = number_of(&path).and_then(|number| self.opened_to_read(number)) {
            return self.write_aim(AimedTarget { target: Target::Path(source), ..aim }, text);
        }
        if let Some(number) = number_of(&path)
            && let Some(super::descriptors::Sink::Files { aims, .. }) =
                self.descriptor(number).map(|opening| opening.sink)
        {
            for aim in aims {
                let Some(file) = aim.target.path() else { continue };
                let held = self.text(file);
                let text = if held.as_exact() == Some("") { text.clone() } else { held.join(&text) };
                let text = if text.as_exact().is_some() { text } else { Value::Unknown };
                self.remember_written(&aim.target, text);
            }
            return;
        }
        match device(&path) {
            Some(Device::Nothing) => return,
            Some(Device::Network) => {
                self.host(&Value::exact(socket_host(path.as_str())), Upload::Yes);
                return;
            }
            Some(Device::System) => {
                self.add(Draft::at(EffectKind::SystemModification, aim).irreversible());
                return;
            }
            None => {}
        }
        let parent = path.parent().map(|parent| self.entry(&parent));
        let draft = match self.entry(&path) {
            Entry::Missing if matches!(parent, Some(Entry::Missing)) => {
                Draft::at(EffectKind::FileCreate, aim).possible()
            }
            Entry::Missing => Draft::at(EffectKind::FileCreate, aim),
            Entry::Directory => Draft::at(EffectKind::FileModify, aim).possible(),
            Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                Draft::at(EffectKind::FileModify, aim)
            }
        };
        self.remember_written(&draft.target, text);
        self.add(draft);
        if let Some(file) = self.second_names.get(path.as_str()).cloned() {
            let draft = Draft::new(EffectKind::FileModify, Target::Path(file)).possible();
            self.add(draft.note("through a second name of it"));
        }
    }

    /// Remembers what a file holds after it was written.
    pub fn remember_written(&mut self, target: &Target, text: Value) {
        let Some(path) = target.path() else { return };
        if self.away.is_some() {
            return;
        }
        let text = self.kept(text);
        if !self.is_unsure() {
            self.flow.sources.remove(path.as_str());
        }
        if self.is_unsure() {
            let known = self.text(path).join(&text);
            if matches!(self.entry(path), Entry::File(_)) {
                self.tree.file(path, known);
            } else {
                self.tree.perhaps_file(path, text);
            }
        } else {
            self.tree.file(path, text);
        }
    }

    /// Remembers that version control wrote a file as a revision holds it.
    pub fn remember_checkout(&mut self, path: &AbsolutePath, from: Commitment) {
        if self.away.is_some() {
            return;
        }
        if self.is_unsure() {
            self.tree.perhaps_checkout(self.world, path, from);
        } else {
            self.tree.checkout(path, from);
        }
    }

    /// Remembers that a symbolic link may stand at a path that nothing else is said of.
    pub fn remember_link(&mut self, path: &AbsolutePath, points_to: &str) {
        if self.away.is_none() {
            self.bring(path, Brought::Link);
            self.tree.perhaps_link(path, points_to);
        }
    }

    /// Does something that changes files, of which is known that what they tell others to do stays as it was: nothing, where they are new.
    pub fn keep_texts<T>(&mut self, values: &[Value], work: impl FnOnce(&mut Self) -> T) -> T {
        let mut kept = Vec::new();
        for value in values {
            for path in self.paths_through(value).into_iter().filter_map(|aim| aim.target.path().cloned()) {
                match self.entry(&path) {
                    Entry::File(_) => kept.push((self.text(&path), path)),
                    Entry::Missing => kept.push((Value::exact(""), path)),
                    Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {}
                }
            }
        }
        let done = work(self);
        if self.away.is_none() {
            for (text, path) in kept {
                // What may not have been made may not be there.
                if matches!(self.entry(&path), Entry::File(_)) {
                    self.tree.file(&path, text);
                }
            }
        }
        done
    }

    /// Adds that a file is made when it is not there. One that is gets other times, which is told where somebody looks afterwards.
    pub fn touch(&mut self, value: &Value) {
        for aim in self.paths_through(value) {
            let there = aim
                .target
                .path()
                .is_some_and(|path| !matches!(self.entry(path), Entry::Missing | Entry::Unknown));
            if there {
                self.renew_times(aim);
            } else {
                self.write_aim(aim, Value::exact(""));
            }
        }
    }

    /// Adds that a file of the workspace gets other times, and keeps its content.
    pub fn renew_times(&mut self, aim: AimedTarget) {
        if self.away.is_none() && aim.target.path().is_some_and(|path| self.is_plain_file(path)) {
            self.add(
                Draft::at(EffectKind::FileModify, aim)
                    .possible()
                    .severity(Severity::Low)
                    .nature(Nature::Appended)
                    .note("only its times change"),
            );
        }
    }

    /// Whether a path is that of a file of the workspace that nothing but people and their tools read.
    fn is_plain_file(&self, path: &AbsolutePath) -> bool {
        path.relative_to(&self.world.place().workspace)
            .is_some_and(|below| !below.split('/').any(|part| part.starts_with('.')))
            && matches!(self.entry(path), Entry::File(_))
            && !self.tree.is_known(path)
    }

    /// Adds that a directory is made, with its missing parents; nothing when it is there already.
    pub fn make_directory(&mut self, value: &Value) {
        for aim in self.paths_through(value) {
            let Some(path) = aim.target.path().cloned() else {
                self.add(Draft::at(EffectKind::FileCreate, aim));
                continue;
            };
            match self.entry(&path) {
                Entry::Directory => {}
                Entry::Missing | Entry::Unknown => {
                    self.add(Draft::at(EffectKind::FileCreate, aim));
                    if self.away.is_none() {
                        self.tree.directory(self.world, &path);
                    }
                }
                Entry::File(_) | Entry::Symlink(_) | Entry::Special => {
                    self.add(Draft::at(EffectKind::FileCreate, aim).possible());
                }
            }
        }
    }

    /// Whether a directory can be made for certain: its name is known, and what it goes into is there, or made with it.
    pub fn can_make(&self, value: &Value, parents: bool) -> bool {
        let aims = self.paths_through(value);
        let [aim] = aims.as_slice() else { return false };
        let (Some(path), Some(text)) = (aim.target.path(), value.as_exact()) else { return false };
        // What a name leads back from has to be a directory, too.
        if text.split('/').skip_while(|part| matches!(*part, "" | "." | "..")).any(|part| part == "..") {
            return false;
        }
        // A link that leads nowhere stands in the way, also above.
        let ends = text.char_indices().filter(|(at, letter)| *letter == '/' && *at > 0).map(|(at, _)| at);
        let is_in_the_way = |end| self.is_dangling(&Value::exact(text.get(..end).unwrap_or_default()));
        if ends.chain([text.trim_end_matches('/').len()]).any(is_in_the_way) {
            return false;
        }
        match self.entry(path) {
            Entry::Directory if parents => return true,
            Entry::Missing => {}
            Entry::Directory | Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                return false;
            }
        }
        let Some(parent) = path.parent() else { return false };
        self.is_own_directory(&parent, parents)
    }

    /// Whether a word names nothing, or files that the user surely can remove.
    pub fn can_remove(&self, value: &Value) -> bool {
        let aims = self.paths(value);
        let can = |path: &AbsolutePath| match self.entry(path) {
            Entry::Missing => self.is_settled(),
            // Among temporary files those of others stay; whose they are is not known.
            Entry::File(_) | Entry::Symlink(_) => path.parent().is_some_and(|parent| {
                !self.world.place().temporary.contains(&parent) && self.is_own_directory(&parent, false)
            }),
            Entry::Directory | Entry::Special | Entry::Unknown => false,
        };
        value.as_exact().is_some_and(|text| !text.ends_with('/'))
            && aims.iter().all(|aim| aim.target.path().is_some_and(can))
    }

    /// Whether a directory is there, or can be made with `parents`, and lies where the user writes.
    fn is_own_directory(&self, directory: &AbsolutePath, parents: bool) -> bool {
        let place = self.world.place();
        let is_own = directory.is_within(&place.workspace)
            || directory.is_within(&place.home)
            || self.is_temporary(directory)
            || self.tree.is_new(directory);
        is_own
            && match self.entry(directory) {
                Entry::Directory => self.may(directory, Right::Write) && self.may(directory, Right::Enter),
                Entry::Missing if parents => {
                    directory.parent().is_some_and(|above| self.is_own_directory(&above, parents))
                }
                Entry::Missing | Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    false
                }
            }
    }

    /// Whether a file can be opened for writing; `None` when that is not known.
    pub(super) fn can_open_to_write(&self, value: &Value) -> Option<bool> {
        if value.as_exact()?.ends_with('/') {
            return Some(false);
        }
        let aims = self.paths_through(value);
        let [aim] = aims.as_slice() else { return None };
        let path = aim.target.path()?;
        if matches!(path.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
            || path.as_str().starts_with("/dev/fd/")
            || self.flow.ends.contains_key(path.as_str())
        {
            return Some(true);
        }
        if ["/dev/", "/proc/", "/sys/"].iter().any(|special| path.as_str().starts_with(special)) {
            return None;
        }
        let parent = path.parent()?;
        match (self.entry(path), self.entry(&parent)) {
            (Entry::Directory, _) => Some(false),
            (_, Entry::Missing | Entry::File(_)) if !self.tree.is_disturbed() && self.away.is_none() => {
                Some(false)
            }
            (Entry::Missing, Entry::Directory) => self.is_own_directory(&parent, false).then_some(true),
            (Entry::File(facts), _) if facts.mode & 0o200 != 0 => {
                (self.is_own_directory(&parent, false) && self.may(path, Right::Write)).then_some(true)
            }
            (Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Missing | Entry::Unknown, _) => {
                None
            }
        }
    }

    /// Adds that a symbolic link is made.
    pub fn make_link(&mut self, value: &Value, points_to: &Value) {
        for aim in self.paths(value) {
            let Some(path) = aim.target.path().cloned() else {
                self.add(Draft::at(EffectKind::FileCreate, aim));
                continue;
            };
            let kind = match self.entry(&path) {
                Entry::Missing => EffectKind::FileCreate,
                Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                    EffectKind::FileModify
                }
            };
            self.add(Draft::at(kind, aim));
            self.bring(&path, Brought::Link);
            if self.away.is_some() {
                continue;
            }
            if points_to.as_exact().is_none() {
                self.tree.link_somewhere(&path, points_to);
            }
            match points_to.as_exact() {
                Some(text) if self.is_unsure() => self.tree.perhaps_link(&path, text),
                Some(text) => self.tree.link(&path, text),
                None if self.is_unsure() => self.tree.perhaps_gone(&path),
                None => self.tree.doubtful(&path),
            }
        }
    }

    /// Whether what is asked about is the history of a repository that git made in this command, where nothing was before, and that
    /// nothing else was brought into since.
    fn is_fresh_repository(&self, path: &AbsolutePath) -> bool {
        let Some(root) = path.parent().filter(|_| path.name() == Some(".git")) else { return false };
        let is_absent = |place: &AbsolutePath| self.world.entry(place) == Entry::Missing;
        if !is_absent(path) || !is_absent(&root) {
            return false;
        }
        let concerned = self.findings.effects.iter().filter(|effect| {
            effect.target.path().is_some_and(|place| *place == root || place.is_within(path))
                && matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify)
        });
        let mut is_made = false;
        for effect in concerned {
            let by_git = effect.cause == "git" && effect.kind == EffectKind::FileCreate;
            if !by_git && effect.nature != Nature::EmptyDirectory {
                return false;
            }
            is_made |= by_git;
        }
        is_made
    }

    /// Whether a directory is there because git cloned it in this command.
    pub(crate) fn is_cloned_here(&self, directory: &AbsolutePath) -> bool {
        self.tree.is_new(directory)
            && self.findings.effects.iter().any(|effect| {
                effect.cause == "git"
                    && effect.kind == EffectKind::FileCreate
                    && effect.depth == Depth::Recursive
                    && effect.target.path() == Some(directory)
            })
    }

    /// Whether a file that the command wrote to was there before, and was not moved away: what was added to it stands behind what it held.
    fn holds_more_than_was_written(&self, path: &AbsolutePath) -> bool {
        self.tree.is_written(path)
            && matches!(self.world.entry(path), Entry::File(_))
            && !self.tree.is_hidden(path)
            && !self.tree.moves().has_moved(path)
    }

    /// Adds that a path is removed. What is known to be missing is possible only: it may be gone or there by then.
    pub fn delete(&mut self, value: &Value, depth: Depth) {
        for aim in self.paths(value) {
            self.delete_aim(aim, depth);
        }
    }

    /// As [`Machine::delete`], for a target that is known already.
    pub fn delete_aim(&mut self, aim: AimedTarget, depth: Depth) {
        let Some(path) = aim.target.path().cloned() else {
            self.add(Draft::at(EffectKind::FileDelete, aim).depth(depth).irreversible());
            return;
        };
        match device(&path) {
            Some(Device::Nothing | Device::Network) => return,
            Some(Device::System) | None => {}
        }
        if !self.is_unsure() {
            self.second_names.remove(path.as_str());
        }
        if let (Depth::Recursive, Some(source)) = (depth, self.mounts.get(path.as_str()).cloned()) {
            // What is mounted here goes where it really is.
            for aim in self.paths(&Value::Exact(source)) {
                self.delete_aim(aim, depth);
            }
            return;
        }
        let entry = self.entry(&path);
        let draft = Draft::at(EffectKind::FileDelete, aim).depth(depth).irreversible();
        match entry {
            Entry::Missing if self.is_fresh_repository(&path) => {
                self.add(draft.nature(Nature::ClonedBySameCommand).note(CLONED));
            }
            Entry::Missing => {
                self.add(draft.possible().nature(Nature::NotThere).note("nothing is there now"));
            }
            Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                let fresh = self.tree.is_new(&path) && !self.holds_more_than_was_written(&path);
                self.add(if fresh && self.is_fresh_repository(&path) {
                    draft.nature(Nature::ClonedBySameCommand).note(CLONED)
                } else if fresh {
                    draft.nature(Nature::MadeBySameCommand).note("made by the same command")
                } else {
                    draft
                });
                if self.away.is_none() {
                    if self.is_unsure() {
                        self.tree.perhaps_gone(&path);
                    } else {
                        self.flow.sources.remove(path.as_str());
                        self.forget_origin(&path);
                        self.tree.gone(&path);
                    }
                }
            }
        }
    }
}

/// Whether a pattern of absolute paths reaches credentials: by its directory, or by a telling name.
fn is_secret_pattern(pattern: &str, home: &AbsolutePath) -> bool {
    let name = &in_small_letters(pattern.rsplit('/').next().unwrap_or_default());
    let fixed = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    let directory = fixed.rsplit_once('/').map_or("", |(directory, _)| directory);
    let Some(directory) = AbsolutePath::new(&format!("{directory}/")) else { return false };
    if name.ends_with(".pub") {
        return false;
    }
    let stand_in = name.replace(['*', '?', '[', ']'], "");
    let named = directory.join(&stand_in);
    places::credential_directory(&directory).is_some()
        || !stand_in.is_empty()
            && (places::credential(&named, home).is_some() || places::credential_directory(&named).is_some())
}

/// A name with each class that is one letter in both sizes (`[kK]`) written as the small one.
fn in_small_letters(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut rest = letters.as_slice();
    let mut all = String::new();
    while let Some((first, behind)) = rest.split_first() {
        if let ['[', small, capital, ']', behind @ ..] = rest
            && small.is_ascii_lowercase()
            && *capital == small.to_ascii_uppercase()
        {
            all.push(*small);
            rest = behind;
        } else {
            all.push(*first);
            rest = behind;
        }
    }
    all
}
