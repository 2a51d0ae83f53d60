//! What goes through the pipelines of PowerShell: items that a cmdlet lists, texts, what a variable holds.

use crate::interpreter::Value;

use super::Reader;
use super::table::{CMDLETS, Deed};
use super::text::{closed, words};

/// For how many items a block is followed (ours); for more it is said that not all were.
const ITEMS: usize = 64;

/// The cmdlet that lists what lies in a directory, with its aliases; the others that list give the item itself.
const LISTS_CHILDREN: &[&str] = &["get-childitem", "gci", "ls", "dir"];

impl Reader<'_, '_> {
    /// The items that a cmdlet lists.
    pub(super) fn listed(&self, name: &str, paths: Vec<Value>, rest: &[&str]) -> Vec<Value> {
        let paths = if paths.is_empty() { vec![Value::exact(".")] } else { paths };
        if name == "split-path" && !rest.iter().any(|word| word.to_ascii_lowercase().starts_with("-leaf")) {
            let above = |path: &Value| {
                path.as_exact()
                    .and_then(|text| text.trim_end_matches('/').rsplit_once('/'))
                    .map(|(above, _)| Value::exact(above))
            };
            return paths.iter().filter_map(above).collect();
        }
        if !LISTS_CHILDREN.contains(&name) {
            return paths;
        }
        let depth = if recurses(rest) { "/**" } else { "/*" };
        filtered(&paths, rest).unwrap_or_else(|| {
            let is_file = |path: &Value| self.machine.is_directory(path) == Some(false);
            paths.into_iter().map(|path| if is_file(&path) { path } else { below(&path, depth) }).collect()
        })
    }

    /// Keeps what a variable is given of files: `$old = Get-ChildItem x`, `$old = 'a', 'b'`.
    pub(super) fn note_items(&mut self, name: &str, value: &str) {
        if let Some(items) = self.items_of(value) {
            self.held.push((name.to_owned(), items));
        }
    }

    /// The files that an expression comes to: what a cmdlet lists, texts, what a variable holds; `None` where it is something else.
    pub(super) fn items_of(&self, expression: &str) -> Option<Vec<Value>> {
        let bare = expression.trim().trim_start_matches('@').trim_start_matches('(').trim_end_matches(')');
        let words = words(bare);
        let (first, rest) = words.split_first()?;
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        let command = first.to_ascii_lowercase();
        let is_listing =
            |(names, deed): &(&[&str], Deed)| *deed == Deed::Lists && names.contains(&command.as_str());
        if CMDLETS.iter().any(is_listing) {
            return Some(self.listed(&command, self.paths(&rest), &rest));
        }
        let is_items = words.iter().all(|word| word.starts_with(['\'', '"', '$']));
        is_items.then(|| words.iter().flat_map(|word| self.items(word)).collect())
    }

    /// The items of an element that is a listing in parentheses, or a member of each: `(Get-ChildItem x).FullName`.
    pub(super) fn items_in_parentheses(&self, element: &str) -> Option<Vec<Value>> {
        let inner = element.trim().strip_prefix('(')?;
        let inside = closed(inner);
        let behind = inner.get(inside.len()..)?.strip_prefix(')')?.trim();
        let is_member = behind.strip_prefix('.').is_some_and(|name| name.chars().all(char::is_alphanumeric));
        if behind.is_empty() || is_member { self.items_of(inside) } else { None }
    }

    /// The files that a word stands for: a text, or what a variable holds.
    pub(super) fn items(&self, word: &str) -> Vec<Value> {
        let name = word.strip_prefix('$').map(str::to_ascii_lowercase);
        let held = name.and_then(|name| self.held.iter().rev().find(|(known, _)| *known == name));
        held.map_or_else(|| vec![self.value(word)], |(_, items)| items.clone())
    }

    /// A block once for each of the items that it is run for, with the item in the place of its variable: `ForEach-Object { rm $_ }`,
    /// `foreach ($file in Get-ChildItem x) { rm $file }` (about_Foreach, `about_PSItem`).
    pub(super) fn with_items_put_in(&mut self, element: &str, block: &str, listed: &[Value]) -> Vec<String> {
        let lower = element.trim_start().to_ascii_lowercase();
        let of_loop = lower.strip_prefix("foreach").map(str::trim_start).filter(|rest| rest.starts_with('('));
        let (variables, items) = if of_loop.is_some() {
            let head = element.split_once('(').map_or("", |(_, behind)| closed(behind));
            let Some((variable, among)) = head.split_once(" in ") else { return vec![block.to_owned()] };
            let name = variable.trim().trim_start_matches('$').to_ascii_lowercase();
            let items = self.items_of(among).unwrap_or_default();
            (vec![format!("${name}")], items)
        } else {
            (vec!["$_".to_owned(), "$psitem".to_owned()], listed.to_vec())
        };
        let texts: Vec<String> = items
            .iter()
            .filter_map(|item| match item {
                Value::Exact(text) | Value::Glob(text) => Some(text.clone()),
                Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => None,
            })
            .take(ITEMS)
            .collect();
        if items.len() > ITEMS {
            self.machine.unread("a block runs for more items than are looked at");
        }
        if texts.is_empty() {
            return vec![block.to_owned()];
        }
        texts.iter().map(|text| put_in(block, &variables, text)).collect()
    }
}

/// A block with a path in the place of a variable, and of what an item says of its path.
fn put_in(block: &str, variables: &[String], path: &str) -> String {
    let mut out = String::with_capacity(block.len());
    let mut rest = block;
    while let Some(at) = rest.find('$') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let end = behind
            .char_indices()
            .skip(1)
            .find(|(_, letter)| !(letter.is_alphanumeric() || *letter == '_'))
            .map_or(behind.len(), |(at, _)| at);
        let (name, mut left) = behind.split_at(end);
        if variables.contains(&name.to_ascii_lowercase()) {
            let member = [".FullName", ".PSPath", ".Path", ".Name"]
                .iter()
                .find(|member| left.to_ascii_lowercase().starts_with(&member.to_ascii_lowercase()));
            left = member.and_then(|member| left.get(member.len()..)).unwrap_or(left);
            out.push_str(path);
        } else {
            out.push_str(name);
        }
        rest = left;
    }
    out.push_str(rest);
    out
}

/// What a listing of directories finds where it is told the names (Microsoft.PowerShell.Management, "Get-ChildItem": `-Filter`, `-Include`,
/// `-Recurse`).
fn filtered(directories: &[Value], rest: &[&str]) -> Option<Vec<Value>> {
    let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
    let at = rest.iter().position(|word| is(word, "-filter") || is(word, "-include"))?;
    let names = rest.get(at + 1..)?.iter().take_while(|word| !word.starts_with('-'));
    let between = if recurses(rest) { "/**/" } else { "/" };
    let found: Vec<Value> = names
        .map(|name| name.trim_matches(['"', '\'']))
        .flat_map(|name| {
            directories.iter().filter_map(Value::as_exact).map(move |directory| {
                let directory = directory.trim_end_matches('/');
                Value::Glob(format!("{directory}{between}{name}"))
            })
        })
        .collect();
    (!found.is_empty()).then_some(found)
}

/// Whether a listing goes into directories.
fn recurses(rest: &[&str]) -> bool {
    rest.iter().any(|word| word.eq_ignore_ascii_case("-recurse") || word.eq_ignore_ascii_case("-r"))
}

/// What lies in a directory that is listed, to this depth.
fn below(directory: &Value, depth: &str) -> Value {
    match directory {
        Value::Exact(text) if !text.contains('*') => {
            Value::Glob(format!("{}{depth}", text.trim_end_matches('/')))
        }
        other => other.clone(),
    }
}
