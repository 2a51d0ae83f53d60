//! What a call reaches by fields that no table of its tool knows: a folder and a name beside each other, addresses of files, texts of patches,
//! and words that say what is done.

use std::collections::HashSet;

use checkrein_protocol::{folded, is_same_name, is_working_directory};
use serde_json::Value as Json;

use crate::effect::NetworkReach;
use crate::interpreter::known_hosts;

use super::names::{Deed, deed_of, words_of};
use crate::tools::call::{is_rooted, texts_within};
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
    keys(input, 4, &mut names);
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
    all.retain(|text| {
        text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:")) && !text.contains('\n')
    });
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
        || replaces_collection(input, 6)
        || is_deletion_elsewhere(input)
}

/// Whether it is a request to another machine that takes something away there.
fn is_deletion_elsewhere(input: &Json) -> bool {
    let is_method = |name: &str| METHODS.contains(&folded(name).as_str());
    let is_address = |name: &str| ["url", "uri", "endpoint", "address"].contains(&folded(name).as_str());
    texts_within(input, &is_method).iter().any(|method| method.eq_ignore_ascii_case("delete"))
        && texts_within(input, &is_address).iter().any(|url| known_hosts::reach(url) != NetworkReach::Local)
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
