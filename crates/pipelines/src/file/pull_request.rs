//! Pull requests of a file.

use checkrein_policy::Fault;
use checkrein_policy::yaml::YamlEntry;

use super::PullRequestStep;
use super::fields::{bad, find, is_inside, template, text, unfit, word};
use crate::endpoint::EndpointTrust;
use crate::forge::{ForgeAccess, ForgeForm};

/// The keys of a pull request besides those that every step has.
pub(super) const KEYS: &[&str] = &["remote", "into", "question", "credential", "forge", "api"];

pub(super) fn read(
    entry: &YamlEntry,
    entries: &[YamlEntry],
    trust: EndpointTrust,
    faults: &mut Vec<Fault>,
) -> Option<PullRequestStep> {
    let Some(path) = entry.value.scalar().filter(|path| is_inside(path)) else {
        faults.push(bad("pull_request", &entry.value, "the path of a file below the worktree"));
        return None;
    };
    let mut name = |key: &str| {
        let name = text(entries, key, faults)?;
        if is_reference(&name) {
            return Some(name);
        }
        let node = find(entries, key)?;
        faults.push(bad(key, &node.value, "a name of git: letters, digits, `-`, `_`, `.` and `/`"));
        None
    };
    let remote = name("remote").unwrap_or_else(|| "origin".to_owned());
    let into = name("into");
    let forge = forge(entries, trust, into.is_some(), faults);
    let question = find(entries, "question").and_then(|question| template(question, faults));
    Some(PullRequestStep { text: path.to_owned(), remote, into, forge, question })
}

/// The API of a forge; `None` where no credential for one is named.
fn forge(
    entries: &[YamlEntry],
    trust: EndpointTrust,
    has_target: bool,
    faults: &mut Vec<Fault>,
) -> Option<ForgeAccess> {
    let form = word(entries, "forge", &ForgeForm::WORDS, faults);
    let api = text(entries, "api", faults);
    let Some(credential) = text(entries, "credential", faults) else {
        for key in ["forge", "api"] {
            if let Some(entry) = find(entries, key) {
                faults.push(unfit(&entry.value, format!("`{key}` is for `credential`, which is missing")));
            }
        }
        return None;
    };
    let node = find(entries, "credential")?;
    if !has_target {
        faults.push(unfit(&node.value, "the API of a forge has to be told `into` which branch"));
    }
    match ForgeAccess::read(form, api, credential, trust) {
        Ok(access) => Some(access),
        Err(message) => {
            faults.push(unfit(&node.value, message));
            None
        }
    }
}

/// Whether a text is a plain name of a remote or a branch, which no program takes for an option.
fn is_reference(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    !name.is_empty() && name.len() <= 100 && !name.starts_with(['-', '.', '/']) && name.chars().all(is_plain)
}
