//! What a call reaches by fields that no table of its tool knows: a folder and a name beside each other, addresses of files, texts of patches,
//! and words that say what is done.

use std::collections::HashSet;

use checkrein_protocol::{folded, is_same_name, is_working_directory};
use serde_json::Value as Json;

use crate::effect::NetworkReach;
use crate::interpreter::known_hosts;

use super::names::{Deed, deed_of, words_of};
use crate::tools::addresses;
use crate::tools::call::{DEPTH, is_rooted, texts_within};
use crate::tools::is_place;
use crate::tools::patch::{self, PatchStep};

/// How many folders and names are put together at most (ours).
const FOLDERS: usize = 8;
const NAMES: usize = 64;
/// How long a name within a folder is at most (ours).
const LENGTH: usize = 256;
/// Fields that hold the name of a file within a folder (ours).
const NAMED: &[&str] = &[
    "name",
    "filename",
    "file",
    "basename",
    "relativepath",
    "relpath",
    "subpath",
    "entry",
    "filepath",
    "path",
    "key",
];

/// The paths that folders and names come to which stand beside each other: `{"dir": "/home/dev/.codex", "name": "hooks.json"}`, also where the
/// names are keys (`{"root": "/home/dev", "files": {".bashrc": ...}}`).
pub(super) fn paths_in_folders(input: &Json) -> Vec<String> {
    let Some(fields) = input.as_object() else { return Vec::new() };
    let is_folder = |name: &str| is_working_directory(name) || is_place(name) || folded(name) == "base";
    let folders = fields.iter().filter(|(name, _)| is_folder(name)).filter_map(|(_, value)| value.as_str());
    let folders: Vec<&str> = folders.filter(|text| is_rooted(text)).take(FOLDERS).collect();
    if folders.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<&str> =
        texts_within(input, &|name| NAMED.iter().any(|known| is_same_name(known, name)));
    keys(input, DEPTH, &mut names);
    let is_name = |name: &&str| {
        !name.is_empty() && name.len() <= LENGTH && !is_rooted(name) && !name.contains(['\n', ':', '*', '{'])
    };
    let names: HashSet<&str> = names.into_iter().filter(is_name).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.truncate(NAMES);
    let join = |folder: &&str| {
        let folder = folder.trim_end_matches('/').to_owned();
        names.iter().map(move |name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    folders.iter().flat_map(join).collect()
}

/// The keys of the objects within an object that can be names of files.
fn keys<'a>(value: &'a Json, depth: usize, found: &mut Vec<&'a str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Json::Object(fields) => {
            found.extend(fields.keys().map(String::as_str).filter(|key| key.contains(['.', '/'])));
            fields.values().for_each(|value| keys(value, depth, found));
        }
        Json::Array(items) => items.iter().for_each(|value| keys(value, depth, found)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// The texts in an input that are addresses of files of this machine.
pub(super) fn file_addresses(input: &Json) -> Vec<&str> {
    let mut all = texts_within(input, &|_| true);
    all.retain(|text| addresses::file_path(text).is_some());
    all
}

/// Directories at the root of a machine in which somebody's files lie (hier(7), and macOS).
const ROOTS: &[&str] = &["home", "root", "etc", "usr", "var", "srv", "opt", "Users", "private", "mnt"];

/// The steps of all texts in an input that are patches, under whatever name.
pub(super) fn patch_steps(input: &Json) -> Vec<PatchStep> {
    let is_patch = |text: &&str| {
        text.contains("*** Begin Patch")
            || text.starts_with("--- ")
            || text.contains("\n--- ")
            || text.contains("diff --git ")
    };
    let texts = texts_within(input, &|_| true).into_iter().filter(is_patch);
    let mut steps = Vec::new();
    for step in texts.filter_map(patch::parse).flatten() {
        // Behind the sign of a side the path of a diff may begin at the root.
        let rooted = |path: &str| {
            let first = path.split('/').next().unwrap_or_default();
            (path.contains('/') && ROOTS.contains(&first)).then(|| format!("/{path}"))
        };
        match &step {
            PatchStep::Add(path) | PatchStep::Update(path) => {
                steps.extend(rooted(path).map(PatchStep::Update));
            }
            PatchStep::Delete(path) => steps.extend(rooted(path).map(PatchStep::Delete)),
            PatchStep::Move(from, to) => {
                steps.extend(rooted(from).map(PatchStep::Delete));
                steps.extend(rooted(to).map(PatchStep::Update));
            }
        }
        steps.push(step);
    }
    steps
}

/// Fields that name a place at a service, so that what is about files is not about those of this machine (ours; GitHub, GitLab, S3).
const ELSEWHERE: &[&str] =
    &["owner", "repo", "repository", "projectid", "bucket", "channel", "spaceid", "driveid"];

/// Whether an input names a place at a service.
pub(super) fn names_place_elsewhere(input: &Json) -> bool {
    input
        .as_object()
        .is_some_and(|fields| fields.keys().any(|name| ELSEWHERE.contains(&folded(name).as_str())))
}

/// Whether an input names a text that is looked for.
pub(super) fn looks_for_text(input: &Json) -> bool {
    const SOUGHT: &[&str] = &["pattern", "query", "regex", "regexp", "searchterm", "text"];
    input.as_object().is_some_and(|fields| fields.keys().any(|name| SOUGHT.contains(&folded(name).as_str())))
}

/// Fields that hold a word for what is done (ours; `operation` of Mongo's servers, `action` of many).
const OPERATIONS: &[&str] = &["operation", "op", "action", "operationtype", "operationname"];
/// Fields that hold the method of a request (ours).
const METHODS: &[&str] = &["method", "httpmethod", "requestmethod", "verb"];
/// Stages of a pipeline of Mongo that put what comes out in the place of a collection (its manual, "$out", "$merge").
const REPLACING: &[&str] = &["$out", "$merge"];

/// Whether a field says that something is destroyed: by a word for what is done, or by a stage that replaces a collection.
pub(super) fn says_destruction(input: &Json) -> bool {
    let is_operation = |name: &str| OPERATIONS.contains(&folded(name).as_str());
    let is_word = |text: &&str| {
        text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-. ".contains(c))
    };
    let told = texts_within(input, &is_operation).into_iter().filter(is_word);
    told.into_iter().any(|text| deed_of(&words_of(text)) == Some(Deed::Destroy))
        || replaces_collection(input, DEPTH)
        || is_deletion_elsewhere(input)
}

/// Whether it is a request to another machine that takes something away there.
fn is_deletion_elsewhere(input: &Json) -> bool {
    let is_method = |name: &str| METHODS.contains(&folded(name).as_str());
    let is_address = |name: &str| ["url", "uri", "endpoint", "address"].contains(&folded(name).as_str());
    let is_elsewhere = |url: &str| known_hosts::reach(url) != NetworkReach::Local;
    texts_within(input, &is_method).iter().any(|method| method.eq_ignore_ascii_case("delete"))
        && (texts_within(input, &is_address).into_iter().any(is_elsewhere)
            || addresses::web_addresses(input).iter().any(|url| is_elsewhere(url)))
}

/// Whether an input spells out a request that takes something away, under whatever names: its method and a place, or both in one text.
pub(super) fn asks_deletion(input: &Json) -> bool {
    let texts = texts_within(input, &|_| true);
    let is_address = |text: &str| text.starts_with('/') || text.contains("://");
    let is_here = |text: &str| text.contains("://") && known_hosts::reach(text) == NetworkReach::Local;
    let in_one = texts.iter().filter_map(|text| text.strip_prefix("DELETE "));
    let in_one: Vec<&str> = in_one.map(str::trim_start).filter(|rest| is_address(rest)).collect();
    let is_method = |name: &str| METHODS.contains(&folded(name).as_str());
    let is_told = texts.contains(&"DELETE")
        || texts_within(input, &is_method).iter().any(|method| method.eq_ignore_ascii_case("delete"));
    let places: Vec<&str> = texts.iter().copied().filter(|text| is_address(text)).collect();
    let is_asked = |places: &[&str]| !places.is_empty() && !places.iter().any(|place| is_here(place));
    is_asked(&in_one) || is_told && is_asked(&places)
}

/// Whether a text of an input is a mutation of GraphQL with a field that takes something away (GraphQL, October 2021, "Language").
pub(super) fn deletes_by_mutation(input: &Json) -> bool {
    const KEPT: &[&str] =
        &["content", "contents", "text", "body", "message", "description", "comment", "newstring"];
    let is_meant = |name: &str| !KEPT.contains(&folded(name).as_str());
    texts_within(input, &is_meant).into_iter().any(is_deleting_mutation)
}

/// Whether a document of GraphQL has a mutation whose fields take something away.
fn is_deleting_mutation(text: &str) -> bool {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join(" ");
    let begins = ["mutation", "query", "fragment", "subscription", "{"];
    if !begins.iter().any(|word| text.trim_start().starts_with(word)) {
        return false;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mutations = text.match_indices("mutation").map(|(at, word)| (at, at + word.len()));
    let mutations = mutations.filter(|(start, end)| {
        !text.get(..*start).is_some_and(|before| before.ends_with(is_part))
            && !text.get(*end..).is_some_and(|behind| behind.starts_with(is_part))
    });
    mutations.into_iter().any(|(_, end)| {
        let Some(open) = text.get(end..).and_then(|rest| rest.find('{')).map(|at| end + at) else {
            return false;
        };
        let (mut depth, mut word) = (0_usize, String::new());
        for letter in text.get(open..).unwrap_or_default().chars() {
            if is_part(letter) {
                word.push(letter);
                continue;
            }
            // A field of the mutation itself; one behind a colon is meant by another name.
            if depth == 1 && !word.is_empty() && deed_of(&words_of(&word)) == Some(Deed::Destroy) {
                return true;
            }
            word.clear();
            match letter {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    })
}

/// Whether a pipeline within an input has a stage that replaces a collection.
fn replaces_collection(value: &Json, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value {
        Json::Object(fields) => fields
            .iter()
            .any(|(name, value)| REPLACING.contains(&name.as_str()) || replaces_collection(value, depth)),
        Json::Array(items) => items.iter().any(|item| replaces_collection(item, depth)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}
