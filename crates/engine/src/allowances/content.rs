//! What a stopped call is told from others by: its text, the code that it runs, and what speaks against allowing it.

use std::path::Path;

use checkrein_facts::{Entry, FileText, World as _};
use checkrein_ledger::mask::holds_mask;
use checkrein_policy::{Decision, Digest, rules};
use checkrein_protocol::{
    AbsolutePath, Action, CodeRecord, Effect, EffectKind, Nature, ReviewRecord, Stake, Unliftable,
};
use checkrein_review::{Forecast, Review, VerdictKind};
use checkrein_world::{RealWorld, TextRead, TextRole};
use serde_json::Value as Json;

use crate::records::RECORDED_EFFECTS;

/// The greatest number of files of code that a record holds (ours).
const MOST_FILES: usize = 256;
/// What the program is called that masks what another one prints.
const OWN_PROGRAM: &str = "checkrein";
/// Files of git's own that hold names and numbers, which nothing runs.
const GIT_LISTS: [&str; 1] = ["packed-refs"];
/// Programs that do what a description, a state or an image says, which nobody reads.
const BY_DESCRIPTION: [&str; 20] = [
    "ansible",
    "ansible-playbook",
    "cdk",
    "docker",
    "docker-compose",
    "helm",
    "helmfile",
    "kubectl",
    "kustomize",
    "nerdctl",
    "oc",
    "packer",
    "podman",
    "pulumi",
    "sam",
    "serverless",
    "terraform",
    "terragrunt",
    "tofu",
    "vagrant",
];
/// Programs that run nothing of what stands in the files that they change.
const WRITERS: [&str; 12] =
    ["cat", "chmod", "cp", "echo", "install", "ln", "mv", "printf", "rm", "sed", "tee", "touch"];

/// What a call that was stopped is told from others by.
#[derive(Debug, Clone)]
pub(crate) struct StoppedCall {
    /// The digest of its text.
    pub(crate) digest: String,
    /// The files of code that it runs.
    pub(crate) code: Vec<CodeRecord>,
    /// What speaks against allowing it.
    pub(crate) unliftable: Vec<Unliftable>,
}

impl StoppedCall {
    /// Looks at what the review of a call read. `program` is this one, which a safer form may run: what was tried for such a form is not what
    /// the call itself runs.
    pub(crate) fn of(
        forecast: &Forecast<'_>,
        world: &RealWorld,
        review: &Review,
        program: Option<&Path>,
    ) -> Self {
        let action = forecast.action();
        let mut unliftable = barriers(review);
        let Code { files, is_unseen } = code(action, world, review, program);
        let by_description = review.programs.iter().any(|program| BY_DESCRIPTION.contains(&program.as_str()));
        if is_unseen || by_description || review.side_effects.effects.iter().any(brings_code) {
            unliftable.push(Unliftable::UnseenCode);
        }
        if forecast.rests_on_unseen_values() {
            unliftable.push(Unliftable::UnseenValue);
        }
        Self { digest: digest(action), code: files, unliftable }
    }
}

/// The digest of a call, without where it runs and without what beside a command says nothing about how it runs.
pub fn digest(action: &Action) -> String {
    let text = match action.shell_text() {
        Some(text) => {
            let beside = manner(action).into_iter().map(|(name, value)| format!("\u{0}{name} {value}"));
            std::iter::once(text.to_owned()).chain(beside).collect()
        }
        None => action.input.to_string(),
    };
    Digest::of(&format!("checkrein call 1\n{}\n{text}", action.tool.as_str())).to_string()
}

/// What beside a command decides nothing: words for people, and for how long and how much of it is waited for.
const BESIDE: [&str; 5] = ["description", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens"];

/// How a command is to be run, as far as its input says it: in the background, without the sandbox of the client, and whatever else is not
/// known to decide nothing. What is off is as if it were not there, and a call without a command has nothing beside it.
pub fn manner(action: &Action) -> Vec<(&str, &Json)> {
    let Some(command) = action.shell_field() else { return Vec::new() };
    let decides = |(name, value): &(&str, &Json)| {
        *name != command && !BESIDE.contains(name) && !matches!(value, Json::Null | Json::Bool(false))
    };
    let fields = action.input.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    let mut manner: Vec<(&str, &Json)> = fields.filter(decides).collect();
    manner.sort_by_key(|(name, _)| *name);
    manner
}

/// Whether a record shows the whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wholeness {
    /// It does, letter by letter.
    Whole,
    /// All but what is masked.
    Masked,
    /// Something is left out.
    CutShort,
}

/// Whether the record of a call that was stopped shows all of it: what is written down has its digest, or differs by masks alone.
pub fn wholeness(review: &ReviewRecord) -> Wholeness {
    let action = Action { tool: review.tool.clone(), input: review.input.clone(), cwd: AbsolutePath::root() };
    if review.digest.as_deref() == Some(digest(&action).as_str()) {
        return Wholeness::Whole;
    }
    let text = review.input.to_string();
    let is_cut = text.contains("[cut: ") || text.contains(" more values]");
    if holds_mask(&text) && !is_cut { Wholeness::Masked } else { Wholeness::CutShort }
}

/// What of a review itself speaks against allowing its call.
fn barriers(review: &Review) -> Vec<Unliftable> {
    let effects = &review.side_effects.effects;
    let is_of_user =
        |rule: &str, decision: Decision| decision >= Decision::Modify && rules::find(rule).is_none();
    let fired = || review.governance.fired.iter().filter(|fired| fired.verdict >= VerdictKind::Escalate);
    let is_tripwire = |rule: &str| fired().any(|fired| fired.name == rule);
    let own = |rule: &str, decision: Decision| is_of_user(rule, decision) && !is_tripwire(rule);
    let all = [
        (Unliftable::Guard, effects.iter().any(|effect| effect.kind == EffectKind::GuardTampering)),
        (Unliftable::FailedCheck, !review.failures.is_empty()),
        (Unliftable::Tripwire, fired().next().is_some()),
        (Unliftable::OwnRule, review.rules.iter().any(|finding| own(&finding.rule, finding.decision))),
        (Unliftable::CutShort, effects.len() > RECORDED_EFFECTS),
        (Unliftable::Critical, effects.iter().any(|effect| effect.stake == Stake::Critical)),
    ];
    all.into_iter().filter_map(|(reason, holds)| holds.then_some(reason)).collect()
}

/// Whether code comes with an effect that nobody sees beforehand: it comes from elsewhere, or a runner, compiler or test tool loads it.
fn brings_code(effect: &Effect) -> bool {
    match effect.kind {
        EffectKind::Opaque | EffectKind::RemoteCodeExecution => true,
        EffectKind::PackageInstall => effect.nature != Nature::Removal,
        EffectKind::ProcessSpawn => !matches!(effect.nature, Nature::Background | Nature::HoldsUp),
        EffectKind::FileRead
        | EffectKind::FileCreate
        | EffectKind::FileModify
        | EffectKind::FileDelete
        | EffectKind::PermissionChange
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::DataUpload
        | EffectKind::ProcessKill
        | EffectKind::SystemModification
        | EffectKind::PrivilegeEscalation
        | EffectKind::Persistence
        | EffectKind::VcsLocalLoss
        | EffectKind::VcsHistoryRewrite
        | EffectKind::VcsRemoteUpdate
        | EffectKind::InfrastructureChange
        | EffectKind::InfrastructureDestroy
        | EffectKind::DatastoreChange
        | EffectKind::DatastoreDestroy
        | EffectKind::Publish
        | EffectKind::GuardTampering => false,
    }
}

/// The code that a call runs, as far as it was read.
struct Code {
    files: Vec<CodeRecord>,
    is_unseen: bool,
}

fn code(action: &Action, world: &RealWorld, review: &Review, program: Option<&Path>) -> Code {
    // A tool of the client that runs no command runs no file either.
    if action.shell_text().is_none() && review.programs.is_empty() {
        return Code { files: Vec::new(), is_unseen: false };
    }
    let texts = world.texts_read();
    let counts: Vec<&TextRead> = texts
        .iter()
        .filter(|read| may_run(read, review) && !is_own_program(&read.path, review, program))
        .collect();
    let is_unseen = |read: &&TextRead| match (&read.text, read.role) {
        (FileText::Beginning(_), _) => true,
        (FileText::Unknown, TextRole::Code) => {
            !matches!(world.entry(&read.path), Entry::Missing | Entry::Directory)
        }
        (FileText::Whole(_), _) | (FileText::Unknown, TextRole::Text) => false,
    };
    let is_unseen = counts.iter().any(is_unseen);
    let mut files: Vec<CodeRecord> = counts.into_iter().filter_map(of_text).collect();
    files.sort();
    files.dedup();
    let is_longer = files.len() > MOST_FILES;
    files.truncate(MOST_FILES);
    Code { files, is_unseen: is_unseen || is_longer }
}

/// Whether this is the program beside the running one, which the call itself does not run: a form with masked output was tried.
fn is_own_program(path: &AbsolutePath, review: &Review, program: Option<&Path>) -> bool {
    let own = program.and_then(Path::parent).map(|folder| folder.join(OWN_PROGRAM));
    path.name() == Some(OWN_PROGRAM)
        && !review.programs.iter().any(|name| name == OWN_PROGRAM)
        && own.is_some_and(|own| std::fs::canonicalize(path.as_str()).is_ok_and(|path| path == own))
}

fn of_text(read: &TextRead) -> Option<CodeRecord> {
    match &read.text {
        FileText::Whole(text) | FileText::Beginning(text) => {
            Some(CodeRecord { path: read.path.clone(), digest: Digest::of(text).to_string() })
        }
        FileText::Unknown => None,
    }
}

/// Whether something of a text may be run: all that was read may, but for lists of git, and for what only programs read that write it and run
/// nothing.
fn may_run(read: &TextRead, review: &Review) -> bool {
    if read.role == TextRole::Code {
        return true;
    }
    let is_list = read.path.name().is_some_and(|name| GIT_LISTS.contains(&name));
    let only_writes = review.programs.iter().all(|program| WRITERS.contains(&program.as_str()));
    !(is_list || only_writes && is_written(&read.path, review))
}

fn is_written(path: &AbsolutePath, review: &Review) -> bool {
    let writes = |effect: &&Effect| effect.kind.file_change().is_some();
    review.side_effects.effects.iter().filter(writes).any(|effect| effect.target.path() == Some(path))
}

#[cfg(test)]
mod tests {
    use checkrein_protocol::ToolName;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_that_runs_in_another_manner_is_another_call() {
        let of = |beside: Json| {
            let mut input = json!({ "command": "make clean" });
            input.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
            digest(&Action { tool: ToolName("Bash".to_owned()), input, cwd: AbsolutePath::root() })
        };
        let plain = of(json!({}));
        for same in [
            json!({ "description": "Clean up", "timeout": 1000 }),
            json!({ "run_in_background": false, "dangerouslyDisableSandbox": null }),
        ] {
            assert_eq!(of(same.clone()), plain, "{same}");
        }
        let others = [
            json!({ "run_in_background": true }),
            json!({ "dangerouslyDisableSandbox": true }),
            json!({ "run_in_background": true, "dangerouslyDisableSandbox": true }),
            json!({ "sandbox_permissions": "require_escalated" }),
        ];
        let digests: std::collections::BTreeSet<String> =
            others.iter().map(|beside| of(beside.clone())).chain([plain]).collect();
        assert_eq!(digests.len(), others.len() + 1);
    }
}
