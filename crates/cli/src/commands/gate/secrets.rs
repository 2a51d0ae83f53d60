//! The gate of secrets over changed files: what is masked in records is a credential here.

use std::collections::HashSet;

use checkrein_gates::{CodeOrigin, FindingWeight, Gate, GateFinding, examine_secrets};
use checkrein_ledger::mask::{MaskKey, ShownText, mask_text};
use checkrein_worktree::{ChangedText, CommittedLines, TextNow, TextPlace};

use super::places::is_same;
use super::{before_of, take, text_of};
use crate::api::gates::GateAnswer;

/// Files that are lists of settings by the ends of their names: there the name before a value tells too.
const LISTS: [&str; 6] = [".properties", ".ini", ".cfg", ".conf", ".tfvars", ".envrc"];

/// Looks at one changed file.
pub(super) fn examine(file: &ChangedText, answer: &mut GateAnswer) {
    let Some(text) = text_of(file, Gate::Secrets, answer) else { return };
    let before = before_of(file);
    let findings = found(&file.path, &text, before.as_deref());
    take(answer, Gate::Secrets, (&file.path, &text, before.as_deref()), findings);
}

/// Looks at the lines that a commit of the branch added: they go with it, also where a later commit takes them away.
pub(super) fn examine_lines(added: &CommittedLines, changed: &[ChangedText], answer: &mut GateAnswer) {
    let at = |place| changed.iter().find(move |file| file.path == added.path && file.place == place);
    let now = at(TextPlace::Disk).or_else(|| at(TextPlace::Commit));
    let now = match now.map(|file| &file.now) {
        Some(TextNow::Bytes(bytes)) => String::from_utf8_lossy(bytes),
        Some(TextNow::Gone | TextNow::NotRead(_)) | None => "".into(),
    };
    // What still lies on disk was looked at there, with what allows it.
    let kept: HashSet<&str> = now.lines().collect();
    let added = CommittedLines {
        lines: added.lines.iter().filter(|(_, line)| !kept.contains(line.as_str())).cloned().collect(),
        ..added.clone()
    };
    let lines: Vec<&str> = added.lines.iter().map(|(_, line)| line.as_str()).collect();
    let text = lines.join("\n");
    let known = answer.findings.len();
    take(answer, Gate::Secrets, (&added.path, &text, None), found(&added.path, &text, None));
    let commit: String = added.commit.chars().take(12).collect();
    for mut finding in answer.findings.split_off(known) {
        if answer.findings.iter().any(|other| is_same(other, &finding)) {
            continue;
        }
        finding.line =
            added.lines.get(finding.line.saturating_sub(1)).map_or(finding.line, |(line, _)| *line);
        finding.seen =
            format!("{} (in the commit {commit} of the branch, whose history goes with it)", finding.seen);
        answer.findings.push(finding);
    }
}

fn found(path: &str, text: &str, before: Option<&str>) -> Vec<GateFinding> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_list = name.starts_with(".env") || LISTS.iter().any(|end| name.ends_with(end));
    let shown = if is_list { ShownText::List } else { ShownText::Anything };
    // The digits of a mask are left out below, so that nothing can be guessed from them.
    let key = MaskKey::new([0; MaskKey::LENGTH]).for_reader(shown, Vec::new());
    let masked = |text: &str| {
        let masked = mask_text(text, &key);
        (masked.matches("[masked:").count() > text.matches("[masked:").count())
            .then(|| without_digits(&masked))
    };
    let weight = match CodeOrigin::of_path(path) {
        CodeOrigin::Product => FindingWeight::Error,
        CodeOrigin::Tests => FindingWeight::Warning,
    };
    examine_secrets(text, before, weight, masked)
}

/// A masked text with `[masked:KIND]` in place of `[masked:KIND:DIGITS]`.
fn without_digits(masked: &str) -> String {
    let mut parts = masked.split("[masked:");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("[masked:");
        match part.split_once(']') {
            Some((inside, rest)) => {
                text.push_str(inside.split(':').next().unwrap_or_default());
                text.push(']');
                text.push_str(rest);
            }
            None => text.push_str(part),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_shown_without_their_digits() {
        assert_eq!(without_digits("a [masked:token:0123abcd] b"), "a [masked:token] b");
        assert_eq!(without_digits("a [masked:"), "a [masked:");
    }
}
