//! The patch text of `apply_patch`.

use crate::programs::text::patches;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatchStep {
    /// Makes it.
    Add(String),
    /// Changes it.
    Update(String),
    /// Changes it and gives it another path.
    Move(String, String),
    /// Removes it.
    Delete(String),
}

/// The steps of a patch in the grammar of `*** Begin Patch`, or of a unified diff; `None` when the text is neither.
pub(crate) fn parse(text: &str) -> Option<Vec<PatchStep>> {
    let steps = if text.contains("*** Begin Patch") { marked(text) } else { unified(text) };
    (!steps.is_empty()).then_some(steps)
}

/// Judges as a header also one with blanks in front of it, or with none behind the colon, whichever client may take it. Only within an update, lines
/// that begin with a blank or a sign are text of the file.
fn marked(text: &str) -> Vec<PatchStep> {
    let mut steps: Vec<PatchStep> = Vec::new();
    // A line ends at a line feed for some, at a carriage return alone for none.
    for line in text.split('\n') {
        let is_in_update = matches!(steps.last(), Some(PatchStep::Update(_) | PatchStep::Move(..)));
        if is_in_update && line.starts_with([' ', '+', '-']) {
            continue;
        }
        let Some(directive) = line.trim().strip_prefix("***").map(str::trim_start) else { continue };
        let after = |words: &str| directive.strip_prefix(words).map(str::trim);
        if let Some(path) = after("Add File:") {
            steps.push(PatchStep::Add(path.to_owned()));
        } else if let Some(path) = after("Update File:") {
            steps.push(PatchStep::Update(path.to_owned()));
        } else if let Some(path) = after("Delete File:") {
            steps.push(PatchStep::Delete(path.to_owned()));
        } else if let Some(goal) = after("Move to:")
            && let Some(PatchStep::Update(path)) = steps.last().cloned()
        {
            steps.pop();
            steps.push(PatchStep::Move(path, goal.to_owned()));
        }
    }
    steps
}

/// The files that a patch leaves, with their texts, as far as these are known: `now` tells what stands in a file. One into which a part does not
/// fit is left out. Source: codex-rs, `apply-patch/src/lib.rs` (`compute_replacements`, `seek_sequence`).
pub(super) fn left_files(text: &str, now: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    if !text.contains("*** Begin Patch") {
        return left_by_diff(text, now);
    }
    let mut files: Vec<(String, String)> = Vec::new();
    for section in sections(text) {
        let Section { step, body } = section;
        let (path, content) = match step {
            PatchStep::Add(path) => {
                let lines = body.iter().filter_map(|line| line.strip_prefix('+'));
                (path, Some(lines.flat_map(|line| [line, "\n"]).collect()))
            }
            PatchStep::Update(path) => {
                let before = known(&files, &path).or_else(|| now(&path));
                let content = before.and_then(|before| with_parts(&before, &body));
                (path, content)
            }
            PatchStep::Move(path, goal) => {
                let before = known(&files, &path).or_else(|| now(&path));
                (goal, before.and_then(|before| with_parts(&before, &body)))
            }
            PatchStep::Delete(path) => (path, None),
        };
        files.retain(|(file, _)| *file != path);
        files.extend(content.map(|content| (path, content)));
    }
    files
}

/// The text that an earlier step of the same patch left.
fn known(files: &[(String, String)], path: &str) -> Option<String> {
    files.iter().find(|(file, _)| file == path).map(|(_, text)| text.clone())
}

fn left_by_diff(text: &str, now: &dyn Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let one = |patch: patches::FilePatch| {
        let path = without_side(patch.new.as_deref()?).to_owned();
        let before = match patch.old.as_deref() {
            Some(old) => now(without_side(old))?,
            None => String::new(),
        };
        match patch.fit(&before) {
            patches::Fit::Exact(text) | patches::Fit::Shifted(text) => Some((path, text)),
            patches::Fit::Loose | patches::Fit::Fails => None,
        }
    };
    patches::read(text).into_iter().filter_map(one).collect()
}

/// A step of a marked patch with the lines that stand below it.
struct Section<'t> {
    step: PatchStep,
    body: Vec<&'t str>,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut all: Vec<Section<'_>> = Vec::new();
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let is_header = line.trim_start().starts_with("***");
        let is_text = match all.last().map(|section| &section.step) {
            Some(PatchStep::Update(_) | PatchStep::Move(..)) => line.starts_with([' ', '+', '-']),
            Some(PatchStep::Add(_) | PatchStep::Delete(_)) | None => false,
        };
        if is_text || !is_header {
            if let Some(section) = all.last_mut() {
                section.body.push(line);
            }
        } else if line.contains("Move to:") {
            let goal = line.split_once(':').map(|(_, goal)| goal.trim().to_owned()).unwrap_or_default();
            if let Some(section) = all.last_mut()
                && let PatchStep::Update(path) = &section.step
            {
                section.step = PatchStep::Move(path.clone(), goal);
            }
        } else if let Some(step) = marked(line).pop() {
            all.push(Section { step, body: Vec::new() });
        }
    }
    all
}

/// One part of an update: the lines that are sought in front of it, and what it takes out and puts in.
#[derive(Default)]
struct Part<'t> {
    context: Option<&'t str>,
    before: Vec<&'t str>,
    after: Vec<&'t str>,
}

fn parts<'t>(body: &[&'t str]) -> Vec<Part<'t>> {
    let mut all: Vec<Part<'t>> = Vec::new();
    for line in body {
        if let Some(context) = line.strip_prefix("@@") {
            let context = Some(context.trim()).filter(|context| !context.is_empty());
            all.push(Part { context, ..Part::default() });
            continue;
        }
        if all.is_empty() {
            all.push(Part::default());
        }
        let Some(part) = all.last_mut() else { continue };
        match line.split_at_checked(1) {
            Some(("-", rest)) => part.before.push(rest),
            Some(("+", rest)) => part.after.push(rest),
            Some((" ", rest)) => {
                part.before.push(rest);
                part.after.push(rest);
            }
            // An empty line is one of the file.
            Some(_) | None if line.is_empty() => {
                part.before.push("");
                part.after.push("");
            }
            Some(_) | None => {}
        }
    }
    all
}

/// A text after the parts of an update; `None` where one does not fit.
fn with_parts(text: &str, body: &[&str]) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut from = 0;
    for part in parts(body) {
        if let Some(context) = part.context {
            from = place_of(&lines, &[context], from)? + 1;
        }
        let (mut before, mut after) = (part.before.as_slice(), part.after.as_slice());
        if before.is_empty() {
            // Without a line that stood there, it goes to the end, or behind what was sought.
            let at = if part.context.is_some() && !after.is_empty() { from } else { lines.len() };
            lines.splice(at..at, after.iter().copied());
            continue;
        }
        let mut place = place_of(&lines, before, from);
        if place.is_none() && before.last() == Some(&"") {
            before = before.split_last()?.1;
            after = after.strip_suffix(&[""]).unwrap_or(after);
            place = place_of(&lines, before, from);
        }
        let at = place?;
        lines.splice(at..at + before.len(), after.iter().copied());
        from = at + after.len();
    }
    Some(lines.into_iter().flat_map(|line| [line, "\n"]).collect())
}

/// Where lines stand in a text from a line on: exactly, else without the blanks at their ends, else without those at both sides.
pub(super) fn place_of(lines: &[&str], sought: &[&str], from: usize) -> Option<usize> {
    let is_same: [fn(&str, &str) -> bool; 3] = [
        |one, other| one == other,
        |one, other| one.trim_end() == other.trim_end(),
        |one, other| one.trim() == other.trim(),
    ];
    is_same.into_iter().find_map(|is_same| {
        let fits = |at: &usize| {
            lines
                .get(*at..*at + sought.len())
                .is_some_and(|found| found.iter().zip(sought).all(|(one, other)| is_same(one, other)))
        };
        (from..lines.len()).find(fits)
    })
}

/// The steps of a diff. Of one by git, headers alone count too: a file is renamed, made or removed without a line of it.
fn unified(text: &str) -> Vec<PatchStep> {
    let mut steps = Vec::new();
    let mut old: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("--- ") {
            old = Some(file_name(name));
        } else if let (Some(name), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
            let is_there = |name: String| (name != "/dev/null").then_some(name);
            steps.extend(step(is_there(before), is_there(file_name(name))));
        }
    }
    for patch in patches::read(text) {
        let bare = |name: Option<String>| name.map(|name| without_side(&name).to_owned());
        if let Some(step) = step(bare(patch.old), bare(patch.new))
            && !steps.contains(&step)
        {
            steps.push(step);
        }
    }
    steps
}

/// What becomes of a file that is called so before and after.
fn step(before: Option<String>, after: Option<String>) -> Option<PatchStep> {
    match (before, after) {
        (None, None) => None,
        (None, Some(made)) => Some(PatchStep::Add(made)),
        (Some(gone), None) => Some(PatchStep::Delete(gone)),
        (Some(before), Some(after)) if before == after => Some(PatchStep::Update(after)),
        (Some(before), Some(after)) => Some(PatchStep::Move(before, after)),
    }
}

/// The path of a header line: without the time behind a tab and the `a/` and `b/` of git.
fn file_name(header: &str) -> String {
    let name = header.split('\t').next().unwrap_or_default().trim();
    without_side(&patches::unquoted(name)).to_owned()
}

fn without_side(name: &str) -> &str {
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_file_that_is_made_is_known() {
        let text =
            "*** Begin Patch\n*** Add File: a/b.json\n+{\n+}\n*** Update File: c\n@@\n+x\n*** End Patch";
        let none = |_: &str| None;
        assert_eq!(left_files(text, &none), [("a/b.json".to_owned(), "{\n}\n".to_owned())]);
        assert!(left_files("*** Add File: a\n+x", &none).is_empty());
    }

    #[test]
    fn the_text_of_a_file_that_is_changed_follows_from_what_it_held() {
        let now = |path: &str| (path == "a").then(|| "one\n  two\nthree\nfour\n".to_owned());
        let left = |body: &str| {
            left_files(&format!("*** Begin Patch\n*** Update File: {body}\n*** End Patch"), &now)
                .pop()
                .map(|(path, text)| format!("{path}: {text}"))
        };
        for (body, expected) in [
            ("a\n@@\n one\n-  two\n+2\n", Some("a: one\n2\nthree\nfour\n")),
            ("a\n-two\n+2", Some("a: one\n2\nthree\nfour\n")),
            ("a\n@@ three\n-four\n+4\n@@\n+5", Some("a: one\n  two\nthree\n4\n5\n")),
            ("a\n@@ one\n+1.5", Some("a: one\n1.5\n  two\nthree\nfour\n")),
            ("a\n*** Move to: b\n@@\n-one\n+1", Some("b: 1\n  two\nthree\nfour\n")),
            ("a\n@@\n-five\n+5", None),
            ("a\n@@ nine\n-one\n+1", None),
            ("c\n@@\n-one\n+1", None),
        ] {
            assert_eq!(left(body).as_deref(), expected, "{body}");
        }
        let diff = "--- a/a\n+++ b/a\n@@ -3,2 +3,2 @@\n three\n-four\n+4\n";
        assert_eq!(left_files(diff, &now), [("a".to_owned(), "one\n  two\nthree\n4\n".to_owned())]);
    }

    #[test]
    fn a_marked_patch_has_steps() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-*** Delete File: no\n+y\n*** Delete File: d.txt\n*** End Patch\n";
        assert_eq!(
            parse(text).unwrap(),
            [
                PatchStep::Add("a.txt".to_owned()),
                PatchStep::Move("b.txt".to_owned(), "c.txt".to_owned()),
                PatchStep::Delete("d.txt".to_owned())
            ]
        );
    }

    #[test]
    fn headers_are_judged_however_they_are_set() {
        for header in [
            " *** Delete File: b",
            "\t*** Delete File: b",
            "\u{a0}*** Delete File: b",
            "*** Delete File:b",
            "***  Delete File:  b ",
            "*** Delete File: b\r",
        ] {
            let text = format!("*** Begin Patch\n*** Add File: a\n+x\n{header}\n*** End Patch");
            assert_eq!(
                parse(&text).unwrap(),
                [PatchStep::Add("a".to_owned()), PatchStep::Delete("b".to_owned())],
                "{header:?}"
            );
        }
        let text = "*** Begin Patch\n*** Update File: a\n*** Move to:b\n@@\n *** Delete File: c\n-x\n+y\n*** End Patch";
        assert_eq!(
            parse(text).unwrap(),
            [PatchStep::Move("a".to_owned(), "b".to_owned())],
            "a line of the file is none"
        );
    }

    #[test]
    fn a_unified_diff_has_steps() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new\t2024\n--- a/old\n+++ /dev/null\n";
        assert_eq!(
            parse(text).unwrap(),
            [
                PatchStep::Update("x".to_owned()),
                PatchStep::Add("new".to_owned()),
                PatchStep::Delete("old".to_owned())
            ]
        );
        assert_eq!(parse("hello"), None);
    }

    #[test]
    fn headers_of_git_alone_are_steps() {
        for (text, expected) in [
            (
                "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
                PatchStep::Move("x".to_owned(), "y".to_owned()),
            ),
            ("diff --git a/x b/x\ndeleted file mode 100644\nindex 2..0\n", PatchStep::Delete("x".to_owned())),
            ("diff --git a/x b/x\nnew file mode 100644\nindex 0..2\n", PatchStep::Add("x".to_owned())),
            ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", PatchStep::Update("x".to_owned())),
            (
                "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nI\n",
                PatchStep::Update("x".to_owned()),
            ),
        ] {
            assert_eq!(parse(text).unwrap(), [expected], "{text}");
        }
    }
}
