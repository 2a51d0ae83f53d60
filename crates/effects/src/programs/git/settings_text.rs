//! The text of a configuration of git after git has changed it (tried with git 2.47). `None` where that is not known to the letter.

/// The line with which a section begins.
pub(super) fn header(section: &str) -> String {
    match section.split_once('.') {
        Some((section, part)) => {
            format!("[{section} \"{}\"]", part.replace('\\', "\\\\").replace('"', "\\\""))
        }
        None => format!("[{section}]"),
    }
}

/// A value as git writes it.
fn written(value: &str) -> String {
    let is_quoted = value.starts_with(' ') || value.ends_with(' ') || value.contains(['#', ';', '\r']);
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    if is_quoted { format!("\"{escaped}\"") } else { escaped }
}

/// A text whose lines each hold one thing: a header, a setting, a comment or nothing.
struct Lines<'a> {
    lines: Vec<&'a str>,
    /// Whether comments or empty lines stand in it, which git leaves or takes along by rules of its own.
    has_gaps: bool,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        let is_ended = text.is_empty() || text.ends_with('\n');
        let is_single = |line: &&str| {
            let is_alone = !line.starts_with('[') || line.trim_end().ends_with(']');
            is_alone && !line.ends_with('\\')
        };
        let has_gaps = lines.iter().any(|line| is_gap(line));
        (is_ended && lines.iter().all(is_single)).then_some(Self { lines, has_gaps })
    }

    /// The lines of each section of a name: where its header stands, and behind its last setting.
    fn places(&self, section: &str) -> Vec<(usize, usize)> {
        let header = header(section);
        let starts = self.lines.iter().enumerate().filter(|(_, line)| line.trim_end() == header);
        let end = |start: usize| {
            let own =
                self.lines.iter().enumerate().skip(start + 1).take_while(|(_, line)| !line.starts_with('['));
            own.filter(|(_, line)| !is_gap(line)).last().map_or(start + 1, |(last, _)| last + 1)
        };
        starts.map(|(start, _)| (start, end(start))).collect()
    }

    /// The places of a key in the lines of a section.
    fn own(&self, (start, end): (usize, usize), key: &str) -> Vec<usize> {
        (start + 1..end).filter(|at| self.lines.get(*at).is_some_and(|line| sets(line, key))).collect()
    }

    fn into_text(self) -> String {
        let text = self.lines.join("\n");
        if text.is_empty() { text } else { text + "\n" }
    }
}

fn is_gap(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with(['#', ';'])
}

/// Whether a line sets a key.
fn sets(line: &str, key: &str) -> bool {
    let name = line.trim().split(['=', ' ', '\t']).next().unwrap_or_default();
    name.eq_ignore_ascii_case(key)
}

/// The text with a setting: in the place of the one of its name, else behind the others of its section, else in a new section at the end.
pub(super) fn with(text: &str, section: &str, key: &str, value: &str) -> Option<String> {
    let lines = Lines::of(text)?;
    let own = match lines.places(section).as_slice() {
        [] => Vec::new(),
        [place] => lines.own(*place, key),
        _ => return None,
    };
    match own.as_slice() {
        [] => with_one_more(text, section, key, value),
        [at] => {
            let mut lines = lines;
            let line = format!("\t{key} = {}", written(value));
            *lines.lines.get_mut(*at)? = &line;
            Some(lines.into_text())
        }
        _ => None,
    }
}

/// The text with one more value of a setting.
pub(super) fn with_one_more(text: &str, section: &str, key: &str, value: &str) -> Option<String> {
    let mut lines = Lines::of(text)?;
    let (header, line) = (header(section), format!("\t{key} = {}", written(value)));
    match lines.places(section).as_slice() {
        [] => lines.lines.extend([header.as_str(), line.as_str()]),
        [(_, end)] => lines.lines.insert(*end, &line),
        _ => return None,
    }
    Some(lines.into_text())
}

/// The text without a setting that has one value, and without its section where nothing else is in it.
pub(super) fn without(text: &str, section: &str, key: &str) -> Option<String> {
    let lines = Lines::of(text)?;
    let places = lines.places(section);
    let [place] = places.as_slice() else { return None };
    (lines.own(*place, key).len() == 1).then(|| without_all(text, section, key))?
}

/// The text without all values of a setting, and without its section where nothing else is in it.
pub(super) fn without_all(text: &str, section: &str, key: &str) -> Option<String> {
    let mut lines = Lines::of(text)?;
    let all = lines.places(section);
    let [(start, end)] = all.as_slice() else { return None };
    let own = lines.own((*start, *end), key);
    if own.is_empty() {
        return None;
    }
    if own.len() == end - start - 1 {
        // Whether the header goes where comments stand around it is not said.
        if lines.has_gaps {
            return None;
        }
        lines.lines.drain(*start..*end);
    } else {
        for at in own.into_iter().rev() {
            lines.lines.remove(at);
        }
    }
    Some(lines.into_text())
}

/// The text without a section, of which there may be none.
pub(super) fn without_section(text: &str, section: &str) -> Option<String> {
    let mut lines = Lines::of(text)?;
    let places = lines.places(section);
    if places.is_empty() {
        return Some(text.to_owned());
    }
    if lines.has_gaps {
        return None;
    }
    for (start, end) in places.into_iter().rev() {
        lines.lines.drain(start..end);
    }
    Some(lines.into_text())
}

/// The text without a remote, and without what branches say of following it.
pub(super) fn without_remote(text: &str, remote: &str) -> Option<String> {
    let mut kept = without_section(text, &format!("remote.{remote}"))?;
    let follows = format!("\tremote = {remote}");
    while let Some(section) = branch_with(&kept, &follows) {
        kept = without(&kept, &section, "remote")?;
        if let Some(text) = without(&kept, &section, "merge") {
            kept = text;
        }
    }
    Some(kept)
}

/// The text with another name of a remote: what is fetched from it is set anew, and branches follow it under its new name.
pub(super) fn renamed_remote(text: &str, old: &str, new: &str) -> Option<String> {
    let (section, place) = (format!("remote.{new}"), format!(":refs/remotes/{old}/"));
    let mut kept = text.replace(&header(&format!("remote.{old}")), &header(&section));
    let lines = Lines::of(&kept)?;
    let places = lines.places(&section);
    let [place_of_section] = places.as_slice() else { return None };
    let values: Option<Vec<String>> = lines
        .own(*place_of_section, "fetch")
        .into_iter()
        .map(|at| Some(lines.lines.get(at)?.split_once('=')?.1.trim().to_owned()))
        .collect();
    let values = values?;
    if !values.is_empty() {
        kept = without_all(&kept, &section, "fetch").filter(|text| text.contains(&header(&section)))?;
    }
    for value in values {
        let value = value.replacen(&place, &format!(":refs/remotes/{new}/"), 1);
        kept = with_one_more(&kept, &section, "fetch", &value)?;
    }
    for key in ["remote", "pushRemote"] {
        while let Some(section) = branch_with(&kept, &format!("\t{key} = {old}")) {
            kept = with(&kept, &section, key, new)?;
        }
    }
    Some(kept)
}

/// The text with a branch that follows one of a remote.
pub(super) fn follows(text: &str, branch: &str, remote: &str, merge: &str) -> Option<String> {
    let section = format!("branch.{branch}");
    let text = with(text, &section, "remote", remote)?;
    let text = without_all(&text, &section, "merge").unwrap_or(text);
    with_one_more(&text, &section, "merge", &format!("refs/heads/{merge}"))
}

/// The section of the first branch in which a line stands.
fn branch_with(text: &str, line: &str) -> Option<String> {
    let at = text.lines().position(|one| one == line)?;
    let header = text.lines().take(at).filter(|line| line.starts_with('[')).last()?;
    let branch = header.strip_prefix("[branch \"")?.strip_suffix("\"]")?;
    Some(format!("branch.{branch}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = /a\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn settings_are_written_as_git_does() {
        let is = |found: Option<String>, from: &str, to: &str| {
            assert_eq!(found.as_deref(), Some(TEXT.replacen(from, to, 1).as_str()), "{from} {to}");
        };
        is(with(TEXT, "core", "bare", "true"), "false", "true");
        is(with(TEXT, "core", "editor", "vi"), "false\n", "false\n\teditor = vi\n");
        is(with_one_more(TEXT, "core", "bare", "true"), "false\n", "false\n\tbare = true\n");
        is(with(TEXT, "core", "editor", "a\"b\\"), "false\n", "false\n\teditor = a\\\"b\\\\\n");
        is(without(TEXT, "core", "bare"), "[core]\n\tbare = false\n", "");
        is(without_section(TEXT, "core"), "[core]\n\tbare = false\n", "");
        is(follows(TEXT, "main", "origin", "x"), "heads/main", "heads/x");
        assert_eq!(with(TEXT, "user", "name", "A; B"), Some(format!("{TEXT}[user]\n\tname = \"A; B\"\n")));
        assert_eq!(without(TEXT, "core", "editor"), None);
        assert_eq!(without_remote(TEXT, "origin").as_deref(), Some("[core]\n\tbare = false\n"));
        assert_eq!(renamed_remote(TEXT, "origin", "up"), Some(TEXT.replace("origin", "up")));
    }

    #[test]
    fn what_stands_between_settings_stays_where_it_is() {
        let text = "# mine\n[core]\n\tbare = false\n\n# more\n[user]\n\tname = a\n";
        assert_eq!(
            with(text, "core", "editor", "vi"),
            Some(text.replace("false\n", "false\n\teditor = vi\n"))
        );
        assert_eq!(without(text, "core", "bare"), None);
        assert_eq!(with("[a] b = c\n", "a", "b", "d"), None);
    }
}
