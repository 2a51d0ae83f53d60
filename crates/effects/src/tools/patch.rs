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

/// The files that a patch in the grammar of `*** Begin Patch` makes, with the text that they get.
pub(super) fn added_files(text: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut is_added = false;
    for line in text.split('\n').filter(|_| text.contains("*** Begin Patch")) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            files.push((path.trim().to_owned(), String::new()));
            is_added = true;
        } else if line.trim_start().starts_with("***") {
            is_added = false;
        } else if let (true, Some(added), Some((_, content))) =
            (is_added, line.strip_prefix('+'), files.last_mut())
        {
            content.push_str(added);
            content.push('\n');
        }
    }
    files
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
        assert_eq!(added_files(text), [("a/b.json".to_owned(), "{\n}\n".to_owned())]);
        assert!(added_files("*** Add File: a\n+x").is_empty());
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
