//! The gate of secrets over changed files: what is masked in records is a credential here.

use checkrein_gates::{CodeOrigin, FindingWeight, Gate, examine_secrets};
use checkrein_ledger::mask::{MaskKey, ShownText, mask_text};
use checkrein_worktree::ChangedText;

use super::{before_of, take, text_of};
use crate::api::gates::GateAnswer;

/// Files that are lists of settings by the ends of their names: there the name before a value tells too.
const LISTS: [&str; 6] = [".properties", ".ini", ".cfg", ".conf", ".tfvars", ".envrc"];

/// Looks at one changed file.
pub(super) fn examine(file: &ChangedText, answer: &mut GateAnswer) {
    let Some(text) = text_of(file, Gate::Secrets, answer) else { return };
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let is_list = name.starts_with(".env") || LISTS.iter().any(|end| name.ends_with(end));
    let shown = if is_list { ShownText::List } else { ShownText::Anything };
    // The digits of a mask are left out below, so that nothing can be guessed from them.
    let key = MaskKey::new([0; MaskKey::LENGTH]).for_reader(shown, Vec::new());
    let masked = |text: &str| {
        let masked = mask_text(text, &key);
        (masked.matches("[masked:").count() > text.matches("[masked:").count())
            .then(|| without_digits(&masked))
    };
    let weight = match CodeOrigin::of_path(&file.path) {
        CodeOrigin::Product => FindingWeight::Error,
        CodeOrigin::Tests => FindingWeight::Warning,
    };
    let findings = examine_secrets(&text, before_of(file).as_deref(), weight, masked);
    take(answer, Gate::Secrets, &file.path, &text, findings);
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
