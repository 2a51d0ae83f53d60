//! The input of a tool call, and effects in the making.

use std::collections::BTreeSet;
use std::rc::Rc;

use checkrein_protocol::is_same_name;
use serde_json::Value as Json;

use super::addresses;
use crate::action::Action;
use crate::effect::{Certainty, Depth, Effect, EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::known_hosts;
use crate::interpreter::{Last, resolve, secret_behind_links};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places;
use crate::programs::decoded_address;
use crate::world::{Entry, FileText, World};
use checkrein_facts::entry_of_process_itself;

/// The names under which clients and servers pass the path of a file, in one of their spellings: `target_file` is `targetFile` too.
pub(crate) const PATH_KEYS: &[&str] = &[
    "file_path",
    "path",
    "notebook_path",
    "target_notebook",
    "absolute_path",
    "target_file",
    "filename",
    "file",
    "dir_path",
    "directory_path",
    "directory",
    "folder",
    "folder_path",
];

/// The usual names of what is moved or copied.
pub(crate) const SOURCE_KEYS: &[&str] = &[
    "source",
    "source_path",
    "source_file",
    "from",
    "from_path",
    "old_path",
    "old_file_path",
    "src",
    "src_path",
    "original_path",
];

/// The usual names of where it goes.
const GOAL_KEYS: &[&str] = &[
    "destination",
    "destination_path",
    "destination_file",
    "to",
    "to_path",
    "new_path",
    "new_file_path",
    "dst",
    "dst_path",
    "dest",
    "dest_path",
    "target",
    "target_path",
];

/// The files in which projects keep their secrets (ours, as for the masks of outputs).
const SETTINGS: [&str; 3] = [".env", ".env.local", ".env.production"];

/// A tool call being turned into effects.
pub(crate) struct ToolCall<'a> {
    action: &'a Action,
    world: &'a dyn World,
    effects: Vec<Effect>,
}

impl<'a> ToolCall<'a> {
    pub(crate) fn new(action: &'a Action, world: &'a dyn World) -> Self {
        Self { action, world, effects: Vec::new() }
    }

    pub(crate) fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    /// The name of the tool.
    pub(crate) fn tool(&self) -> &'a str {
        self.action.tool.as_str()
    }

    /// The call itself.
    pub(crate) fn action(&self) -> &'a Action {
        self.action
    }

    /// What is moved or copied, and where it goes: each pair, since which of several fields counts is not known.
    pub(crate) fn ends(&self) -> Vec<(&'a str, &'a str)> {
        let goals = self.texts(GOAL_KEYS);
        let from = self.texts(SOURCE_KEYS);
        let from = if from.is_empty() { self.texts(PATH_KEYS) } else { from };
        from.into_iter().flat_map(|from| goals.iter().map(move |to| (from, *to))).collect()
    }

    /// Where something goes that is moved or copied.
    pub(crate) fn goal(&self) -> Option<&'a str> {
        self.text(GOAL_KEYS)
    }

    /// All places where something may go.
    pub(crate) fn goals(&self) -> Vec<&'a str> {
        self.texts(GOAL_KEYS)
    }

    /// A text of the input, under the first of the names that has one.
    pub(crate) fn text(&self, keys: &[&str]) -> Option<&'a str> {
        text_of(&self.action.input, keys)
    }

    /// All texts under the names: single ones and those of lists.
    pub(crate) fn texts(&self, keys: &[&str]) -> Vec<&'a str> {
        let mut found = Vec::new();
        for value in values_of(&self.action.input, keys) {
            match value {
                Json::String(text) => found.push(text.as_str()),
                Json::Array(items) => found.extend(items.iter().filter_map(item_text)),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => {}
            }
        }
        found.retain(|text| !text.is_empty());
        found
    }

    /// What stands anywhere in the input and can be nothing but a path of this machine, under whatever name.
    pub(crate) fn rooted_texts(&self) -> Vec<&'a str> {
        let all = texts_within(&self.action.input, &|_| true);
        all.into_iter().filter(|text| is_rooted(text) && !text.contains('\n')).collect()
    }

    /// Changes, as it may be, each path of the guard that stands in the input.
    pub(crate) fn reach_guard(&mut self) {
        let mut texts: Vec<String> = self.rooted_texts().into_iter().map(str::to_owned).collect();
        texts.extend(super::mcp::paths_in_folders(&self.action.input));
        if texts.is_empty() {
            return;
        }
        let guarded = self.world.guarded();
        for text in texts {
            let path = self.path(&text, Last::Follow);
            if guarded.iter().any(|guarded| path.is_within(&guarded.path)) {
                self.add_as(EffectKind::FileModify, Target::Path(path), |effect| {
                    effect.certainty = Certainty::Possible;
                    effect.note = "what the tool does with the file is not known".into();
                });
            }
        }
    }

    /// Changes, as it may be, each place in the input from which something runs later by itself: what can be nothing but a path, and what
    /// stands in fields for what comes out (`outputs`). What is copied from a place is not written there.
    pub(crate) fn reach_persistence(&mut self, outputs: &[&str]) {
        // Where nothing says where it goes, it is no copy.
        let sources = if self.goals().is_empty() { Vec::new() } else { self.texts(SOURCE_KEYS) };
        let mut texts = self.rooted_texts();
        texts.extend(outputs.iter().filter(|text| !text.contains("://") && !text.contains('\n')));
        // Words about a path go on behind it.
        texts.retain(|text| {
            !sources.contains(text) && !text.rsplit('/').next().unwrap_or_default().contains(' ')
        });
        let paths: BTreeSet<AbsolutePath> = texts.iter().map(|text| self.path(text, Last::Follow)).collect();
        for path in paths {
            if places::persistence(&path, self.home()).is_some() {
                self.add_as(EffectKind::FileModify, Target::Path(path), |effect| {
                    effect.certainty = Certainty::Possible;
                    effect.note = "what the tool does with the file is not known".into();
                });
            }
        }
    }

    /// Shows what fits among the credentials that a directory holds, where it is known for some.
    pub(crate) fn search_credentials(&mut self, text: &str) {
        let path = self.path(text, Last::Follow);
        if let Some(what) = places::credential_directory(&path) {
            self.add_as(EffectKind::SecretRead, Target::Path(path), |effect| {
                effect.depth = Depth::Recursive;
                effect.note = format!("shows what fits among {what}");
            });
        }
    }

    /// Whether something stands at the path that a text means.
    pub(crate) fn stands(&self, text: &str) -> bool {
        !matches!(self.entry(&self.path(text, Last::Keep)), Entry::Missing | Entry::Unknown)
    }

    /// Whether a file with credentials stands at the path that a text means.
    pub(crate) fn is_credential(&self, text: &str) -> bool {
        let path = self.path(text, Last::Follow);
        places::credential(&path, self.home()).is_some() && matches!(self.entry(&path), Entry::File(_))
    }

    /// Whether a secret stands in the input: one by its form, or the value of a setting of the project.
    pub(crate) fn holds_secret(&self) -> bool {
        let input = &self.action.input;
        super::handed::secret(input).is_some() || super::handed::known(input, &self.secret_settings())
    }

    /// The lists of settings of the project and of the directory where the call is made, as far as they can be read.
    pub(crate) fn secret_settings(&self) -> Vec<Rc<str>> {
        let mut directories = vec![&self.world.place().workspace, &self.action.cwd];
        directories.dedup();
        let files = directories.into_iter().flat_map(|directory| SETTINGS.map(|name| directory.join(name)));
        files.filter_map(|path| self.settings_in(&path)).collect()
    }

    fn settings_in(&self, path: &AbsolutePath) -> Option<Rc<str>> {
        match self.world.text(path) {
            FileText::Whole(text) | FileText::Beginning(text) => Some(Rc::from(text.as_str())),
            FileText::Unknown => None,
        }
    }

    /// The home directory of the user.
    pub(crate) fn home(&self) -> &'a AbsolutePath {
        &self.world.place().home
    }

    /// Whether a directory stands at the path that a text means.
    pub(crate) fn is_directory(&self, text: &str) -> bool {
        self.entry(&self.path(text, Last::Follow)) == Entry::Directory
    }

    /// Whether nothing is known of a part of what it does.
    pub(crate) fn is_opaque(&self) -> bool {
        self.effects.iter().any(|effect| effect.kind == EffectKind::Opaque)
    }

    /// What stands at a path.
    pub(crate) fn entry(&self, path: &AbsolutePath) -> Entry {
        entry_of_process_itself(path, &self.action.cwd).unwrap_or_else(|| self.world.entry(path))
    }

    /// The path that a text means: from the working directory, `~` is the home, symbolic links as the kernel takes them.
    pub(crate) fn path(&self, text: &str, last: Last) -> AbsolutePath {
        resolve(&|path| self.entry(path), &AbsolutePath::root(), &self.written(text), last)
    }

    /// The same path as it is written, without following links.
    fn written(&self, text: &str) -> String {
        let home = &self.world.place().home;
        let decoded = addresses::file_path(text).or_else(|| self.unescaped(text));
        let text = decoded.as_deref().unwrap_or(text);
        // Some servers expand what a shell would.
        let at_home = HOMES.iter().find_map(|name| text.strip_prefix(name));
        if let Some(rest) = at_home.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            return format!("{home}{rest}");
        }
        match text.strip_prefix('~') {
            Some("") => home.as_str().to_owned(),
            Some(rest) if rest.starts_with('/') => format!("{}{rest}", home.as_str()),
            // The home of the user by their name.
            Some(rest) if home.name().is_some_and(|user| rest.split('/').next() == Some(user)) => {
                let below = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default();
                format!("{home}{below}")
            }
            Some(_) | None if text.starts_with('/') => text.to_owned(),
            Some(_) | None => format!("{}/{text}", self.action.cwd.as_str()),
        }
    }

    /// A path whose escapes a server takes out: what it names then can be nothing else, and nothing stands under the name as it is written.
    fn unescaped(&self, text: &str) -> Option<String> {
        if !self.action.tool.as_str().starts_with("mcp__") {
            return None;
        }
        let plain = plain_path(text)?;
        let literal = self.action.cwd.join(text);
        (self.entry(&literal) == Entry::Missing).then_some(plain)
    }

    /// Adds a certain effect on the target alone.
    pub(crate) fn add(&mut self, kind: EffectKind, target: Target) {
        self.add_as(kind, target, |_| {});
    }

    /// Adds an effect, with what is special about it.
    pub(crate) fn add_as(&mut self, kind: EffectKind, target: Target, special: impl FnOnce(&mut Effect)) {
        let mut effect = Effect { cause: self.action.tool.as_str().to_owned(), ..Effect::new(kind, target) };
        special(&mut effect);
        self.effects.push(effect);
    }

    /// Reads a file, or those that a pattern means: whatever lies in the directory above its first sign may be among them.
    pub(crate) fn read(&mut self, text: &str) {
        let address = addresses::file_path(text);
        let text = address.as_deref().unwrap_or(text);
        let path = self.path(text, Last::Follow);
        if let Some(directory) = above_pattern(text).filter(|_| self.entry(&path) == Entry::Missing) {
            let path = self.path(directory, Last::Follow);
            self.add_as(EffectKind::FileRead, Target::Path(path), |effect| effect.depth = Depth::Recursive);
            self.search_credentials(directory);
            return;
        }
        self.add(EffectKind::FileRead, Target::Path(path));
        self.read_behind_links(text);
    }

    /// Reads what a text names, where it is an absolute path of a credential, alone or behind a scheme of a server's own.
    pub(crate) fn read_credential(&mut self, text: &str) {
        let Some(named) = addresses::path_behind_scheme(text) else { return };
        let path = self.path(&named, Last::Follow);
        if places::credential(&path, self.home()).is_some() {
            self.read(&named);
        }
    }

    /// Reads a secret that is known by the name of a link to it.
    pub(crate) fn read_behind_links(&mut self, text: &str) {
        let written = self.written(text);
        let entry = |path: &AbsolutePath| self.entry(path);
        let home = &self.world.place().home;
        if let Some(path) = secret_behind_links(&entry, &AbsolutePath::root(), &written, home) {
            self.add(EffectKind::FileRead, Target::Path(path));
        }
    }

    /// Makes a file, or overwrites the one that is there.
    pub(crate) fn write(&mut self, text: &str) {
        let path = self.path(text, Last::Follow);
        let kind = match self.entry(&path) {
            Entry::Missing => EffectKind::FileCreate,
            Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => {
                EffectKind::FileModify
            }
        };
        self.add(kind, Target::Path(path));
    }

    /// Removes a file or a directory.
    pub(crate) fn delete(&mut self, text: &str, depth: Depth) {
        let path = self.path(text, Last::Keep);
        self.add_as(EffectKind::FileDelete, Target::Path(path), |effect| effect.depth = depth);
    }

    /// Moves a file to another place.
    pub(crate) fn relocate(&mut self, from: &str, to: &str) {
        let source = self.path(from, Last::Keep);
        let mut goal = self.path(to, Last::Follow);
        if let (Entry::Directory, Some(name)) = (self.entry(&goal), source.name()) {
            goal = goal.join(name);
        }
        self.add_as(EffectKind::FileDelete, Target::Path(source), |effect| {
            effect.depth = Depth::Recursive;
            effect.nature = Nature::Moved;
            effect.note = format!("moved to `{goal}`");
        });
        self.write(goal.as_str());
    }

    /// Talks to the host of an address; one that hands out credentials gives a secret.
    pub(crate) fn fetch(&mut self, address: &str) {
        if addresses::file_path(address).is_some() {
            self.read(address);
            return;
        }
        let reach = known_hosts::reach(address);
        self.add_as(EffectKind::NetworkRequest, Target::Host(address.to_owned()), |effect| {
            effect.reach = Some(reach);
        });
        if reach == NetworkReach::External && self.carries_secret(address) {
            self.add_as(EffectKind::DataUpload, Target::Host(address.to_owned()), |effect| {
                effect.reach = Some(NetworkReach::External);
                effect.severity = Severity::High;
                effect.note = "the address carries a secret".into();
            });
        }
        if known_hosts::is_metadata_service(address) {
            self.add_as(EffectKind::SecretRead, Target::Host(address.to_owned()), |effect| {
                effect.note = "the metadata service hands out credentials".into();
            });
        }
    }

    /// Whether more comes of asking for an address than what stands there: it hands out credentials, or is sent a secret.
    pub(crate) fn is_grave_address(&self, address: &str) -> bool {
        known_hosts::is_metadata_service(address)
            || known_hosts::reach(address) == NetworkReach::External && self.carries_secret(address)
    }

    /// Whether an address is sent a secret with what it says.
    fn carries_secret(&self, address: &str) -> bool {
        carries_secret(address)
            || super::handed::token_in(address).is_some()
            || super::handed::known(&Json::from(address), &self.secret_settings())
    }

    /// Asks a service that the user has connected.
    pub(crate) fn ask_service(&mut self, name: &str) {
        self.add_as(EffectKind::NetworkRequest, Target::Host(name.to_owned()), |effect| {
            effect.reach = Some(NetworkReach::Known);
        });
    }

    /// Does something of which nothing is known.
    pub(crate) fn opaque(&mut self, note: &str) {
        let tool = self.tool().to_owned();
        self.add_as(EffectKind::Opaque, Target::Service(tool), |effect| {
            effect.certainty = Certainty::Possible;
            effect.note = note.into();
        });
    }
}

/// Whether an address holds what looks like a token, or the name of a variable that would be one.
fn carries_secret(address: &str) -> bool {
    const NAMES: &[&str] = &["TOKEN", "SECRET", "PASSWORD", "API_KEY", "APIKEY", "CREDENTIAL", "PRIVATE"];
    let Some((_, query)) = address.split_once('?') else { return false };
    // A value may hold pairs of its own, in percent escapes.
    let query = percent_encoding::percent_decode_str(query).decode_utf8_lossy();
    query.split(['&', '=', ';']).any(|value| {
        let token = super::handed::begins_like_token(value);
        let variable =
            value.starts_with('$') && NAMES.iter().any(|name| value.to_ascii_uppercase().contains(name));
        token || variable
    })
}

/// A text of an object, under the first of the names that has one.
pub(crate) fn text_of<'a>(input: &'a Json, keys: &[&str]) -> Option<&'a str> {
    texts_of(input, keys).next()
}

/// All texts of an object that stand under one of the names.
pub(crate) fn texts_of<'a>(input: &'a Json, keys: &[&str]) -> impl Iterator<Item = &'a str> + use<'a> {
    let values = values_of(input, keys).into_iter();
    values.filter_map(Json::as_str).filter(|text| !text.is_empty())
}

/// What stands in an object under one of the names however it is spelled, in the order of the names.
pub(crate) fn values_of<'a>(input: &'a Json, names: &[&str]) -> Vec<&'a Json> {
    let Some(fields) = input.as_object() else { return Vec::new() };
    let of_name = |name: &&str| {
        let found = fields.iter().filter(|(field, _)| is_same_name(field, name));
        found.map(|(_, value)| value).collect::<Vec<_>>()
    };
    names.iter().flat_map(of_name).collect()
}

/// How deep objects within objects are looked through: no reader of calls takes any that are deeper than 128, and each of the texts that are
/// unfolded may be as deep again.
pub(crate) const DEPTH: usize = 1_280;

/// The texts that stand anywhere in an input under a name that is meant, also within lists and objects.
pub(crate) fn texts_within<'a>(input: &'a Json, is_meant: &dyn Fn(&str) -> bool) -> Vec<&'a str> {
    texts_where(input, &|name, _, _| Some(is_meant(name)))
}

/// The texts that stand anywhere in an input and are meant. `is_meant` is told the name of a field, its value, and whether what it stands in is
/// meant; where it gives nothing, the field is left out with all that is in it.
pub(crate) fn texts_where<'a>(
    input: &'a Json,
    is_meant: &dyn Fn(&str, &Json, bool) -> Option<bool>,
) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut open = vec![(input, false, DEPTH)];
    while let Some((value, is_named, depth)) = open.pop() {
        match value {
            Json::String(text) if is_named && !text.is_empty() => found.push(text.as_str()),
            Json::Array(items) if depth > 0 => {
                open.extend(items.iter().rev().map(|item| (item, is_named, depth - 1)));
            }
            Json::Object(fields) if depth > 0 => {
                open.extend(
                    fields.iter().rev().filter_map(|(name, value)| {
                        Some((value, is_meant(name, value, is_named)?, depth - 1))
                    }),
                );
            }
            Json::Null
            | Json::Bool(_)
            | Json::Number(_)
            | Json::String(_)
            | Json::Array(_)
            | Json::Object(_) => {}
        }
    }
    found
}

/// Whether a path can be nothing else.
pub(crate) fn is_rooted(path: &str) -> bool {
    begins_at_root(path) || plain_path(path).is_some()
}

fn begins_at_root(path: &str) -> bool {
    let is_home =
        |name: &&str| path.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    path == "~"
        || ["/", "~/"].iter().any(|beginning| path.starts_with(beginning))
        || HOMES.iter().any(is_home)
        || addresses::file_path(path).is_some_and(|path| begins_at_root(&path))
}

/// How the home directory is written where variables are taken in: by shells, by `expandvars` of Python, by editors (VS Code's "Variables
/// Reference"), by PowerShell and by `cmd`.
const HOMES: &[&str] = &[
    "$HOME",
    "${HOME}",
    "${env:HOME}",
    "${userHome}",
    "$env:HOME",
    "$Env:HOME",
    "%HOME%",
    "%USERPROFILE%",
    "$env:USERPROFILE",
    "$Env:USERPROFILE",
    "${env:USERPROFILE}",
];

/// How often escapes are taken out at most (ours): a path may pass through two readers of addresses.
const READERS: usize = 3;

/// A path without the escapes of an address; `None` where it has none, or is not one that can be nothing else.
fn plain_path(text: &str) -> Option<String> {
    if !text.contains('%') || text.contains('\n') || text.starts_with("file:") {
        return None;
    }
    let mut plain = text.to_owned();
    for _ in 0..READERS {
        let next = decoded_address(&plain);
        if next == plain {
            break;
        }
        plain = next;
    }
    (plain != text && begins_at_root(&plain)).then_some(plain)
}

/// The text of an item of a list: itself, or its path when it is an object (`{"path": "a.txt"}`).
fn item_text(item: &Json) -> Option<&str> {
    item.as_str().or_else(|| text_of(item, PATH_KEYS))
}

/// The directory above the first sign of a pattern: `a/b` of `a/b/*.rs`, `.` of `*.rs`; `None` of what is none.
fn above_pattern(text: &str) -> Option<&str> {
    let sign = text.find(['*', '?', '[', '{'])?;
    match text.get(..sign)?.rsplit_once('/') {
        Some(("", _)) => Some("/"),
        Some((directory, _)) => Some(directory),
        None => Some("."),
    }
}
