//! What a statement of PowerShell calls: by a variable, an alias, `Get-Command`, a script that is dot-sourced, a method of an item; and the
//! parameters that a table is splatted into.
//!
//! Sources: `about_Operators` ("Call operator"), `about_Splatting`, `about_Aliases`, `about_Scopes` ("Dot sourcing"), `about_Redirection`;
//! `System.IO.FileSystemInfo.Delete` and `System.IO.StreamReader` of .NET 8.

use checkrein_glob::{Glob, Style};

use crate::effect::Depth;
use crate::interpreter::{Input, Value};

use super::Reader;
use super::table::{CMDLETS, Deed};
use super::text::{closed, cut, words};

/// How the command of a statement is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calling {
    /// By its name.
    Plain,
    /// By whatever stands behind `&`.
    Operator,
}

/// Cmdlets that give a name to a command (Microsoft.PowerShell.Utility).
const NAMING: &[&str] = &["set-alias", "new-alias", "sal", "nal"];
/// Cmdlets that run a member or a block for each item.
const FOR_EACH: &[&str] = &["foreach-object", "foreach", "%"];
/// Classes whose objects read the file that they are made with, by the ends of their names.
const READING: &[&str] = &["io.streamreader", "io.filestream", "streamreader", "io.binaryreader"];

/// The pairs of a table, `@{Path = 'x'; Recurse = $true}`, as parameters.
pub(super) fn parameters(value: &str) -> Option<Vec<String>> {
    let inner = value.trim().strip_prefix("@{")?.strip_suffix('}')?;
    let mut found = Vec::new();
    for pair in cut(inner, &[';', '\n']) {
        let (name, value) = pair.split_once('=')?;
        found.push(format!("-{}", name.trim().trim_matches(['"', '\''])));
        // What is switched on has no value of its own.
        let value = value.trim();
        if !value.eq_ignore_ascii_case("$true") {
            found.push(value.to_owned());
        }
    }
    Some(found)
}

impl Reader<'_, '_> {
    /// The words of a command with the pairs of tables in the place of `@name`.
    pub(super) fn splatted(&self, words: Vec<String>) -> Vec<String> {
        let table = |word: &String| {
            let name = word.strip_prefix('@')?.to_ascii_lowercase();
            self.tables.iter().rev().find(|(known, _)| *known == name).map(|(_, pairs)| pairs.clone())
        };
        words.into_iter().flat_map(|word| table(&word).unwrap_or_else(|| vec![word])).collect()
    }

    /// The name of the command that the first word of a statement calls.
    pub(super) fn called(&self, first: &str, calling: Calling) -> String {
        let is_expression = first.starts_with('(') || first.starts_with('$') || calling == Calling::Operator;
        let resolved = if is_expression { self.command_named(first) } else { None };
        let name = resolved.unwrap_or_else(|| {
            let plain = first.trim_matches(['(', '"', '\'', '@']);
            let is_script = is_script(plain);
            if is_script { plain } else { plain.rsplit('\\').next().unwrap_or(plain) }.to_owned()
        });
        let lower = if is_script(&name) { name } else { name.to_ascii_lowercase() };
        let alias = self.aliases.iter().rev().find(|(known, _)| *known == lower);
        alias.map_or(lower, |(_, command)| command.clone())
    }

    /// The command that an expression comes to. Of several that fit a pattern the gravest counts.
    fn command_named(&self, expression: &str) -> Option<String> {
        let value = match self.value(expression) {
            Value::Exact(text) => return Some(text),
            Value::Glob(pattern) => pattern.to_ascii_lowercase(),
            Value::AnyOf(_) | Value::Between { .. } | Value::Unknown => return None,
        };
        let pattern = Glob::new(&value, Style::Find);
        let fits = |name: &&&str| pattern.matches(name);
        let of_deed = |wanted: Deed| {
            let rows = CMDLETS.iter().filter(move |(_, deed)| *deed == wanted);
            rows.flat_map(|(names, _)| names.iter()).find(fits)
        };
        of_deed(Deed::Removes).or_else(|| of_deed(Deed::Writes)).map(|name| (*name).to_owned())
    }

    /// Takes up that a command is given another name; whether this was such a call.
    pub(super) fn note_alias(&mut self, name: &str, rest: &[&str]) -> bool {
        if !NAMING.contains(&name) {
            return false;
        }
        let behind = |option: &str| {
            let at = rest.iter().position(|word| word.eq_ignore_ascii_case(option))?;
            rest.get(at + 1).copied()
        };
        let mut plain = rest.iter().filter(|word| !word.starts_with('-')).copied();
        let alias = behind("-name").or_else(|| plain.next());
        let command = behind("-value").or_else(|| plain.next());
        if let (Some(alias), Some(command)) = (alias, command) {
            let bare = |word: &str| word.trim_matches(['"', '\'']).to_ascii_lowercase();
            let command = self.called(command, Calling::Plain);
            self.aliases.push((bare(alias), command));
        }
        true
    }

    /// Follows a script of PowerShell that is called or dot-sourced.
    pub(super) fn script(&mut self, name: &str, depth: usize) {
        let text = self.machine.read(&self.value(name)).into_text();
        match text.as_exact() {
            Some(text) => {
                let text = text.to_owned();
                self.text(&text, depth - 1);
            }
            None => self.machine.opaque(format!("what `{name}` holds is not known")),
        }
    }

    /// Removes the items whose method `Delete` is called: `(Get-Item x).Delete()`, `$file.Delete()`.
    pub(super) fn methods_of_items(&mut self, statement: &str) {
        let lower = statement.to_ascii_lowercase();
        let Some(before) = lower.find(".delete(").and_then(|at| statement.get(..at)) else { return };
        let before = before.trim();
        if before.ends_with(']') || before.contains("]::") {
            return;
        }
        let targets = match before.strip_suffix(')') {
            Some(inside) => {
                let Some((_, inner)) = inside.rsplit_once('(') else { return };
                match self.items_of(inner) {
                    Some(items) => items,
                    // The object is made of a path: `([IO.FileInfo] 'x')`.
                    None => words(inner).last().map(|word| self.value(word)).into_iter().collect(),
                }
            }
            None => words(before).last().map(|word| self.items(word)).unwrap_or_default(),
        };
        for target in targets.iter().filter(|target| **target != Value::Unknown) {
            self.machine.possibly(|machine| machine.delete(target, Depth::Recursive));
        }
    }

    /// Removes what goes through a pipeline where its method is called for each: `ForEach-Object Delete`.
    pub(super) fn member_of_each(&mut self, name: &str, rest: &[&str], listed: &[Value]) {
        if !FOR_EACH.contains(&name) || !rest.iter().any(|word| word.eq_ignore_ascii_case("delete")) {
            return;
        }
        for target in listed {
            self.machine.possibly(|machine| machine.delete(target, Depth::Recursive));
        }
    }

    /// Reads the file that an object is made with: `New-Object IO.StreamReader 'x'`.
    pub(super) fn object_made(&mut self, name: &str, rest: &[&str]) {
        if name != "new-object" {
            return;
        }
        let text = rest.join(" ");
        let (class, behind) = match text.split_once('(') {
            Some((class, behind)) => (class.to_owned(), closed(behind).to_owned()),
            None => (
                rest.first().copied().unwrap_or_default().to_owned(),
                rest.get(1..).unwrap_or_default().join(" "),
            ),
        };
        self.read_by(&class, &behind);
    }

    /// Reads the first of what an object of a reading class is made of.
    pub(super) fn read_by(&mut self, class: &str, given: &str) {
        let class = class.trim().trim_matches(['[', ']']).to_ascii_lowercase();
        if !READING.iter().any(|known| class.ends_with(known)) {
            return;
        }
        let Some(file) = words(given).first().map(|word| self.value(word)) else { return };
        let command = [Value::exact("cat"), file];
        self.machine.possibly(|machine| machine.run_words(&command, Input::Inherited));
    }

    /// Writes the file that the output of a command is sent to, and answers the words without that.
    pub(super) fn redirected(&mut self, words: Vec<String>, depth: usize) -> Vec<String> {
        let Some(at) = words.iter().position(|word| {
            matches!(word.trim_start_matches(['1', '*']), ">" | ">>")
                || word.strip_prefix('>').is_some_and(|rest| {
                    rest.starts_with(char::is_alphanumeric) || rest.starts_with(['~', '/', '.', '$'])
                })
        }) else {
            return words;
        };
        let word = words.get(at).map(String::as_str).unwrap_or_default();
        let attached = word.trim_start_matches(['1', '*']).trim_start_matches('>');
        let target = if attached.is_empty() { words.get(at + 1).map(String::as_str) } else { Some(attached) };
        if let Some(target) = target.filter(|target| !target.eq_ignore_ascii_case("$null")) {
            let target = self.value(target);
            self.write(&target, depth);
        }
        words.into_iter().take(at).collect()
    }
}

/// Whether a word names a script or a module of PowerShell.
pub(super) fn is_script(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    [".ps1", ".psm1"].iter().any(|end| lower.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_become_parameters() {
        let found = parameters("@{Path = \"$HOME/x\"; Recurse = $true}");
        assert_eq!(found, Some(vec!["-Path".to_owned(), "\"$HOME/x\"".to_owned(), "-Recurse".to_owned()]));
        assert_eq!(parameters("'a'"), None);
    }
}
