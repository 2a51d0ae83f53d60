//! The patch text of `apply_patch`.

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatchStep<'a> {
    /// Makes it.
    Add(&'a str),
    /// Changes it.
    Update(&'a str),
    /// Changes it and gives it another path.
    Move(&'a str, &'a str),
    /// Removes it.
    Delete(&'a str),
}

/// The steps of a patch in the grammar of `*** Begin Patch`, or of a unified diff; `None` when the text is neither.
pub(crate) fn parse(text: &str) -> Option<Vec<PatchStep<'_>>> {
    let steps = if text.contains("*** Begin Patch") { marked(text) } else { unified(text) };
    (!steps.is_empty()).then_some(steps)
}

/// Reads headers as leniently as any client does: Codex takes blanks in front of one, OpenCode none behind the colon. Only within an update, lines
/// that begin with a blank or a sign are text of the file.
fn marked(text: &str) -> Vec<PatchStep<'_>> {
    let mut steps: Vec<PatchStep<'_>> = Vec::new();
    // A line ends at a line feed for some, at a carriage return alone for none.
    for line in text.split('\n') {
        let is_in_update = matches!(steps.last(), Some(PatchStep::Update(_) | PatchStep::Move(..)));
        if is_in_update && line.starts_with([' ', '+', '-']) {
            continue;
        }
        let Some(directive) = line.trim().strip_prefix("***").map(str::trim_start) else { continue };
        let after = |words: &str| directive.strip_prefix(words).map(str::trim);
        if let Some(path) = after("Add File:") {
            steps.push(PatchStep::Add(path));
        } else if let Some(path) = after("Update File:") {
            steps.push(PatchStep::Update(path));
        } else if let Some(path) = after("Delete File:") {
            steps.push(PatchStep::Delete(path));
        } else if let Some(goal) = after("Move to:")
            && let Some(PatchStep::Update(path)) = steps.last().cloned()
        {
            steps.pop();
            steps.push(PatchStep::Move(path, goal));
        }
    }
    steps
}

fn unified(text: &str) -> Vec<PatchStep<'_>> {
    let mut steps = Vec::new();
    let mut old: Option<&str> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("--- ") {
            old = Some(file_name(name));
        } else if let (Some(name), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
            let after = file_name(name);
            steps.push(match (before, after) {
                ("/dev/null", made) => PatchStep::Add(made),
                (gone, "/dev/null") => PatchStep::Delete(gone),
                (before, after) if before == after => PatchStep::Update(after),
                (before, after) => PatchStep::Move(before, after),
            });
        }
    }
    steps
}

/// The path of a header line: without the time behind a tab and the `a/` and `b/` of git.
fn file_name(header: &str) -> &str {
    let name = header.split('\t').next().unwrap_or_default().trim();
    name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_patch_has_steps() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-*** Delete File: no\n+y\n*** Delete File: d.txt\n*** End Patch\n";
        assert_eq!(
            parse(text).unwrap(),
            [PatchStep::Add("a.txt"), PatchStep::Move("b.txt", "c.txt"), PatchStep::Delete("d.txt")]
        );
    }

    #[test]
    fn headers_are_read_as_leniently_as_any_client_does() {
        for header in [
            " *** Delete File: b",
            "\t*** Delete File: b",
            "\u{a0}*** Delete File: b",
            "*** Delete File:b",
            "***  Delete File:  b ",
            "*** Delete File: b\r",
        ] {
            let text = format!("*** Begin Patch\n*** Add File: a\n+x\n{header}\n*** End Patch");
            assert_eq!(parse(&text).unwrap(), [PatchStep::Add("a"), PatchStep::Delete("b")], "{header:?}");
        }
        let text = "*** Begin Patch\n*** Update File: a\n*** Move to:b\n@@\n *** Delete File: c\n-x\n+y\n*** End Patch";
        assert_eq!(parse(text).unwrap(), [PatchStep::Move("a", "b")], "a line of the file is none");
    }

    #[test]
    fn a_unified_diff_has_steps() {
        let text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new\t2024\n--- a/old\n+++ /dev/null\n";
        assert_eq!(
            parse(text).unwrap(),
            [PatchStep::Update("x"), PatchStep::Add("new"), PatchStep::Delete("old")]
        );
        assert_eq!(parse("hello"), None);
    }
}
