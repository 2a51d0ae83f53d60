//! The gate of phantoms over changed files.

use checkrein_gates::{
    Ecosystem, Gate, KnownPackages, OnDisk, PackageFile, SourceLanguage, code_of, examine_imports,
    examine_manifest, read_packages,
};
use checkrein_worktree::{ChangedText, GitRepository};

use super::packages::{WorkTreeDisk, known, list_before};
use super::places::PlacedTexts;
use super::{before_of, changed_lines, take, text_of};
use crate::api::gates::{GateAnswer, NotExamined, NotRun};
use checkrein_engine::error::CommandError;

/// Looks at all changed files.
pub(super) fn examine(
    repository: &GitRepository,
    changed: PlacedTexts<'_>,
    answer: &mut GateAnswer,
) -> Result<(), CommandError> {
    let known = known(repository, answer)?;
    let disk = WorkTreeDisk::of(repository.work_tree());
    let mut unknown: Vec<(Ecosystem, String)> = Vec::new();
    for file in changed.own() {
        examine_one(file, &known, &disk, &mut unknown, answer);
    }
    unknown.sort();
    unknown.dedup();
    answer.not_run.extend(unknown.into_iter().map(|(ecosystem, name)| NotRun {
        what: format!("`{name}`"),
        cause: format!("no manifest says which packages of {} there are", ecosystem.name()),
    }));
    Ok(())
}

fn examine_one(
    file: &ChangedText,
    known: &KnownPackages,
    disk: &dyn OnDisk,
    unknown: &mut Vec<(Ecosystem, String)>,
    answer: &mut GateAnswer,
) {
    let kind = PackageFile::of_path(&file.path);
    let is_code = SourceLanguage::of_file(&file.path, "").is_some();
    let is_manifest = matches!(kind, Some(PackageFile::Manifest(_)));
    if !is_manifest && !is_code {
        return;
    }
    let Some(text) = text_of(file, Gate::Phantoms, answer) else { return };
    let held = before_of(file);
    let whole = (file.path.as_str(), &*text, held.as_deref());
    let not_examined =
        |cause: &str, fails| NotExamined { path: file.path.clone(), cause: cause.to_owned(), fails };
    if let Some(file_kind @ PackageFile::Manifest(ecosystem)) = kind {
        // One that cannot be read was said already.
        let Ok(now) = read_packages(&file.path, file_kind, &text) else { return };
        let before = list_before(&file.path, file_kind, held.as_deref());
        let findings = examine_manifest(&file.path, ecosystem, &now, before.as_ref(), known, disk);
        return take(answer, Gate::Phantoms, whole, findings);
    }
    let Some(language) = SourceLanguage::of_file(&file.path, &text) else { return };
    let Some(ecosystem) = Ecosystem::of_language(language) else {
        return answer.not_examined.push(not_examined("imports of its language are not read", false));
    };
    let changed = held.as_ref().map(|before| changed_lines(before, &text));
    let code = code_of(&file.path, &text);
    match examine_imports(&file.path, language, &code, changed.as_deref(), known, disk) {
        Some(found) => {
            unknown.extend(found.unknown.into_iter().map(|name| (ecosystem, name)));
            take(answer, Gate::Phantoms, whole, found.findings);
        }
        None => answer.not_examined.push(not_examined("it could not be read as code", true)),
    }
}
