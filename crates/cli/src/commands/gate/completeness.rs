//! The gate of completeness over changed files.

use std::borrow::Cow;

use checkrein_gates::{
    CodeOrigin, Gate, GateText, SourceLanguage, TestText, code_of, examine_file, examine_test_setup,
    examine_tests, sift,
};
use checkrein_worktree::{ChangedText, TextNow};

use super::places::PlacedTexts;
use super::{changed_lines, entry, take_allowed};
use crate::api::gates::{GateAnswer, NotExamined};

/// Looks at one changed file.
pub(super) fn examine(file: &ChangedText, answer: &mut GateAnswer) {
    let not_examined =
        |cause: &str, fails: bool| NotExamined { path: file.path.clone(), cause: cause.to_owned(), fails };
    let is_code = SourceLanguage::of_file(&file.path, "").is_some();
    let bytes = match &file.now {
        TextNow::Bytes(bytes) => bytes,
        TextNow::NotRead(cause) => return answer.not_examined.push(not_examined(cause, is_code)),
        // What its tests checked is compared over all files.
        TextNow::Gone => return,
    };
    let text = String::from_utf8_lossy(bytes);
    let Some(language) = SourceLanguage::of_file(&file.path, &text) else {
        return answer.not_examined.push(not_examined("no grammar reads it", false));
    };
    let text = code_of(&file.path, &text);
    if text.contains('\0') {
        return answer.not_examined.push(not_examined("it is not text", true));
    }
    let before = file.before.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
    let before = before.as_ref().map(|before| code_of(&file.path, before));
    let changed = before.as_ref().map(|before| changed_lines(before, &text));
    let examined = examine_file(GateText {
        language,
        text: &text,
        changed: changed.as_deref(),
        origin: CodeOrigin::of_path(&file.path),
    });
    answer.files += 1;
    answer.functions += examined.functions;
    answer.findings.extend(examined.findings.into_iter().map(|finding| entry(&file.path, finding)));
    take_allowed(answer, (&file.path, &text, before.as_deref()), &examined.allowed);
}

/// Compares the tests of all changed files with what they were: what one file lost, another may have.
pub(super) fn compare_tests(changed: PlacedTexts<'_>, answer: &mut GateAnswer) {
    struct Texts<'t> {
        file: &'t ChangedText,
        language: SourceLanguage,
        before: Option<Cow<'t, str>>,
        now: Option<Cow<'t, str>>,
    }
    fn code<'t>(file: &ChangedText, bytes: &'t [u8]) -> Cow<'t, str> {
        match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => code_of(&file.path, text),
            Cow::Owned(text) => Cow::Owned(code_of(&file.path, &text).into_owned()),
        }
    }
    let texts: Vec<Texts<'_>> = changed
        .whole()
        .filter_map(|file| {
            let now = match &file.now {
                TextNow::Bytes(bytes) => Some(code(file, bytes)),
                TextNow::Gone => None,
                // It fails the gate, or is no code.
                TextNow::NotRead(_) => return None,
            };
            let before = file.before.as_ref().map(|bytes| code(file, bytes));
            let shown = now.as_deref().or(before.as_deref()).unwrap_or_default();
            let language = SourceLanguage::of_file(&file.path, shown)?;
            Some(Texts { file, language, before, now })
        })
        .collect();
    let compared: Vec<TestText<'_>> = texts
        .iter()
        .map(|one| TestText {
            language: one.language,
            before: one.before.as_deref(),
            now: one.now.as_deref(),
            origin: CodeOrigin::of_path(&one.file.path),
        })
        .collect();
    for (one, examined) in texts.iter().zip(examine_tests(&compared)) {
        answer.findings.extend(examined.findings.into_iter().map(|finding| entry(&one.file.path, finding)));
        if changed.is_own(one.file) {
            let text = one.now.as_deref().unwrap_or_default();
            take_allowed(answer, (&one.file.path, text, one.before.as_deref()), &examined.allowed);
        }
    }
}

/// Compares the settings of test runners with what they were.
pub(super) fn compare_test_setups(changed: PlacedTexts<'_>, answer: &mut GateAnswer) {
    for file in changed.own() {
        let TextNow::Bytes(bytes) = &file.now else { continue };
        let now = String::from_utf8_lossy(bytes);
        let before = file.before.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
        let found = examine_test_setup(&file.path, before.as_deref(), &now);
        if found.is_empty() {
            continue;
        }
        let left = sift(Gate::Completeness, &now, found);
        answer.findings.extend(left.findings.into_iter().map(|finding| entry(&file.path, finding)));
        take_allowed(answer, (&file.path, &now, before.as_deref()), &left.allowed);
    }
}
