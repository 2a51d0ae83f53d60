//! What git makes of the text of its configuration when it writes a setting, to the letter (tried with git 2.47): by that a file is known as
//! the call left it. Where a text is not written as git writes, nothing is said. The same of files that it brings from a revision.

use crate::interpreter::Value;

use crate::world::FileText;

use super::Git;
use super::options::Words;

impl Git<'_, '_> {
    /// Remembers what the configuration of the repository holds after a subcommand that writes into it by the way.
    pub(super) fn announce_own_settings(&mut self, name: &str, words: &Words) {
        let Some(file) = self.repository_directory().map(|directory| directory.join("config")) else {
            return;
        };
        let Some(before) = self.machine.announced_text(&file).as_exact().map(str::to_owned) else { return };
        let after = match (name, words.operand(0), words.operand(1), words.operand(2)) {
            ("remote", Some("add"), Some(remote), Some(url)) if words.arguments.options.is_empty() => {
                let section = format!("remote.{remote}");
                with(&before, &section, "url", url).and_then(|text| {
                    with(&text, &section, "fetch", &format!("+refs/heads/*:refs/remotes/{remote}/*"))
                })
            }
            ("remote", Some("remove" | "rm"), Some(remote), None) => without_remote(&before, remote),
            ("branch", Some(old), Some(new), None) if words.any(&["-m", "-M", "--move"]) => {
                Some(before.replace(&header(&format!("branch.{old}")), &header(&format!("branch.{new}"))))
            }
            _ => None,
        };
        if let Some(after) = after {
            self.machine.overlay().announce(&file, after);
        }
    }

    /// Remembers what files hold that `git restore --source` brings from a revision.
    pub(super) fn announce_restored(&mut self, name: &str, words: &Words) {
        let is_in_tree = !words.any(&["-S", "--staged"]) || words.any(&["-W", "--worktree"]);
        let source = words.arguments.value(&["-s", "--source"]).and_then(Value::as_exact);
        let (Some(source), Some(root), Some(cwd)) =
            (source.filter(|_| name == "restore" && is_in_tree), self.root(), self.cwd.clone())
        else {
            return;
        };
        let Some(revision) = self.meaning(source) else { return };
        for operand in words.operands() {
            let path = operand.as_exact().map(|text| cwd.join(text));
            let below = path.as_ref().and_then(|path| path.relative_to(&root));
            let (Some(path), Some(below)) = (&path, below) else { continue };
            if let FileText::Whole(text) = self.machine.world().committed_text(&root, &revision, below) {
                self.machine.overlay().announce(path, text);
            }
        }
    }

    /// Remembers what a file of settings holds after `git config` has set or unset one.
    pub(super) fn announce_setting(
        &mut self,
        file: &crate::path::AbsolutePath,
        name: &str,
        value: Option<&Value>,
    ) {
        let before = self.machine.announced_text(file);
        let (Some(before), Some((section, key))) = (before.as_exact(), name.rsplit_once('.')) else { return };
        let after = match value {
            None => without(before, section, key),
            Some(value) => value.as_exact().and_then(|value| with(before, section, key, value)),
        };
        if let Some(after) = after {
            self.machine.overlay().announce(file, after);
        }
    }
}

/// The line with which a section begins.
fn header(section: &str) -> String {
    match section.split_once('.') {
        Some((section, part)) => {
            format!("[{section} \"{}\"]", part.replace('\\', "\\\\").replace('"', "\\\""))
        }
        None => format!("[{section}]"),
    }
}

/// A value as git writes it; `None` for one that has more to it than quotes.
fn written(value: &str) -> Option<String> {
    if value.contains(['\n', '\t', '\u{8}', '"', '\\']) {
        return None;
    }
    let is_quoted = value.starts_with(' ') || value.ends_with(' ') || value.contains(['#', ';']);
    Some(if is_quoted { format!("\"{value}\"") } else { value.to_owned() })
}

/// The lines of each section of a name: where its header stands, and where the next begins.
fn places(lines: &[&str], section: &str) -> Vec<(usize, usize)> {
    let header = header(section);
    let starts = lines.iter().enumerate().filter(|(_, line)| line.trim_end() == header);
    let end = |start: usize| {
        let next = lines.iter().enumerate().skip(start + 1).find(|(_, line)| line.starts_with('['));
        next.map_or(lines.len(), |(end, _)| end)
    };
    starts.map(|(start, _)| (start, end(start))).collect()
}

/// Whether a line sets a key.
fn sets(line: &str, key: &str) -> bool {
    let name = line.trim().split(['=', ' ', '\t']).next().unwrap_or_default();
    name.eq_ignore_ascii_case(key)
}

/// The text with a setting: in the place of the one of its name, else behind the others of its section, else in a new section at the end.
fn with(text: &str, section: &str, key: &str, value: &str) -> Option<String> {
    let line = format!("\t{key} = {}", written(value)?);
    let is_ended = text.is_empty() || text.ends_with('\n');
    let mut lines: Vec<&str> = text.lines().collect();
    let header = header(section);
    match places(&lines, section).as_slice() {
        _ if !is_ended => return None,
        [] => lines.extend([header.as_str(), line.as_str()]),
        [(start, end)] => {
            let own: Vec<usize> =
                (start + 1..*end).filter(|at| lines.get(*at).is_some_and(|line| sets(line, key))).collect();
            match own.as_slice() {
                [] => lines.insert(*end, &line),
                [at] => *lines.get_mut(*at)? = &line,
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(lines.join("\n") + "\n")
}

/// The text without a setting, and without its section where nothing else is in it.
fn without(text: &str, section: &str, key: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let all = places(&lines, section);
    let [(start, end)] = all.as_slice() else { return None };
    let (start, end) = (*start, *end);
    let mut own = (start + 1..end).filter(|at| lines.get(*at).is_some_and(|line| sets(line, key)));
    let (at, more) = (own.next()?, own.next());
    if more.is_some() {
        return None;
    }
    if end - start == 2 {
        lines.drain(start..end);
    } else {
        lines.remove(at);
    }
    let text = lines.join("\n");
    Some(if text.is_empty() { text } else { text + "\n" })
}

/// The text without a remote, and without what branches say of following it.
fn without_remote(text: &str, remote: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    match places(&lines, &format!("remote.{remote}")).as_slice() {
        [] => {}
        [(start, end)] => drop(lines.drain(start..end)),
        _ => return None,
    }
    let mut kept = lines.join("\n") + "\n";
    let follows = format!("\tremote = {remote}");
    while let Some(at) = kept.lines().position(|line| line == follows) {
        let header = kept.lines().take(at).filter(|line| line.starts_with("[branch ")).last()?.to_owned();
        let branch = header.strip_prefix("[branch \"")?.strip_suffix("\"]")?.to_owned();
        let section = format!("branch.{branch}");
        kept = without(&kept, &section, "remote")?;
        if let Some(text) = without(&kept, &section, "merge") {
            kept = text;
        }
    }
    Some(if kept == "\n" { String::new() } else { kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = /a\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn settings_are_written_as_git_does() {
        assert_eq!(
            with(TEXT, "core", "bare", "true").as_deref(),
            Some(TEXT.replace("false", "true").as_str())
        );
        assert_eq!(
            with(TEXT, "core", "editor", "vi").as_deref(),
            Some(TEXT.replace("false\n", "false\n\teditor = vi\n").as_str())
        );
        assert_eq!(
            with(TEXT, "user", "name", "A; B").as_deref(),
            Some(format!("{TEXT}[user]\n\tname = \"A; B\"\n").as_str())
        );
        assert_eq!(with(TEXT, "user", "name", "a\"b"), None);
        assert_eq!(
            without(TEXT, "core", "bare").as_deref(),
            Some(TEXT.replace("[core]\n\tbare = false\n", "").as_str())
        );
        assert_eq!(without(TEXT, "core", "editor"), None);
        assert_eq!(without_remote(TEXT, "origin").as_deref(), Some("[core]\n\tbare = false\n"));
    }
}
