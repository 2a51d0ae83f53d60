//! The gate of completeness over changed files.

use checkrein_gates::{CodeOrigin, FindingKind, FindingWeight, GateText, SourceLanguage, examine_file};
use checkrein_worktree::{ChangedText, TextNow};

use super::{changed_lines, entry};
use crate::api::gates::{GateAnswer, GateFindingEntry, NotExamined};

/// Looks at one changed file.
pub(super) fn examine(file: &ChangedText, answer: &mut GateAnswer) {
    let not_examined =
        |cause: &str, fails: bool| NotExamined { path: file.path.clone(), cause: cause.to_owned(), fails };
    let is_code = SourceLanguage::of_file(&file.path, "").is_some();
    let bytes = match &file.now {
        TextNow::Bytes(bytes) => bytes,
        TextNow::NotRead(cause) => return answer.not_examined.push(not_examined(cause, is_code)),
        TextNow::Gone => {
            if is_code && CodeOrigin::of_path(&file.path) == CodeOrigin::Tests {
                answer.findings.push(GateFindingEntry {
                    path: file.path.clone(),
                    line: 1,
                    kind: FindingKind::WeakenedTest.name().to_owned(),
                    weight: FindingWeight::Warning.name().to_owned(),
                    function: String::new(),
                    text: "the file is gone".to_owned(),
                    seen: FindingKind::WeakenedTest.seen().to_owned(),
                    advice: FindingKind::WeakenedTest.advice().to_owned(),
                });
            }
            return;
        }
    };
    let text = String::from_utf8_lossy(bytes);
    let Some(language) = SourceLanguage::of_file(&file.path, &text) else {
        return answer.not_examined.push(not_examined("no grammar reads it", false));
    };
    if text.contains('\0') {
        return answer.not_examined.push(not_examined("it is not text", true));
    }
    let before = file.before.as_ref().map(|bytes| String::from_utf8_lossy(bytes));
    let changed = before.as_ref().map(|before| changed_lines(before, &text));
    let examined = examine_file(GateText {
        language,
        text: &text,
        before: before.as_deref(),
        changed: changed.as_deref(),
        origin: CodeOrigin::of_path(&file.path),
    });
    answer.files += 1;
    answer.functions += examined.functions;
    answer.allowed += examined.allowed;
    answer.findings.extend(examined.findings.into_iter().map(|finding| entry(&file.path, finding)));
}
