//! Gates before a push of the agent, where the configuration asks for them: what no remote has yet is looked at before `git push` runs.
//!
//! A push that no gate looked at does not pass: neither one of another repository, nor one in a call that changes files first.

use std::path::Path;
use std::time::Duration;

use checkrein_protocol::{AbsolutePath, Effect, EffectKind, SiteKind};
use checkrein_review::{Review, VerdictKind};

use crate::context::Context;
use crate::gate_process::{GateSpan, GateTask};
use crate::text::plain_name;

/// How long all gates may take together: below the time of the hook (ours).
const TIME: Duration = Duration::from_secs(7);

/// How many findings are named.
const NAMED: usize = 3;

/// The folder of git.
const GIT: &str = ".git";

/// What gates say about a push.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum PushGates {
    /// Nothing is pushed, or no gate is asked for.
    #[default]
    NotAsked,
    /// All passed.
    Passed,
    /// They found something, or could not look; the reason.
    Stopped(String),
}

/// Has the gates look at what a call pushes.
pub(crate) fn look(context: &Context, review: &Review) -> PushGates {
    let gates = &context.policy().config().gates.before_push;
    // What does not run anyway needs no gate.
    let pushes = review.side_effects.effects.iter().any(is_push);
    if gates.is_empty() || !pushes || review.verdict.kind >= VerdictKind::Block {
        return PushGates::NotAsked;
    }
    if let Some(other) = review.side_effects.effects.iter().find(|effect| is_change_beside(effect)) {
        let place = other.target.path().map(ToString::to_string).unwrap_or_default();
        return PushGates::Stopped(format!(
            "it also changes `{}`, so that no gate sees what it pushes",
            plain_name(&place)
        ));
    }
    let workspace = context.workspace();
    if let Some(elsewhere) =
        review.side_effects.effects.iter().find_map(|effect| repository_beside(effect, workspace))
    {
        return PushGates::Stopped(format!(
            "it pushes from `{}`, and gates look at the project of the session only",
            plain_name(&elsewhere)
        ));
    }
    let environment = context.environment();
    let mut found: Vec<String> = Vec::new();
    let task = GateTask { gates, workspace, span: GateSpan::Unpushed, time: TIME };
    let reports = environment.gates.run(&task, environment.program.as_deref());
    for (gate, report) in gates.iter().zip(reports) {
        match report {
            Err(cause) => found.push(format!("gate {gate} did not run: {}", plain_name(&cause))),
            Ok(report) => {
                let before = found.len();
                let errors = report.findings.iter().filter(|finding| finding.weight == "error");
                found.extend(errors.map(|finding| {
                    format!("{}:{}: {}", plain_name(&finding.path), finding.line, finding.seen)
                }));
                let unread = report.not_examined.iter().filter(|file| file.fails);
                found.extend(unread.map(|file| {
                    format!("`{}` was not read: {}", plain_name(&file.path), plain_name(&file.cause))
                }));
                found.extend(report.not_run.iter().map(|one| {
                    format!(
                        "gate {gate} did not look at {}: {}",
                        plain_name(&one.what),
                        plain_name(&one.cause)
                    )
                }));
                if !report.passed && found.len() == before {
                    found.push(format!("gate {gate} did not pass and does not say why"));
                }
            }
        }
    }
    if found.is_empty() {
        return PushGates::Passed;
    }
    let more = found.len().saturating_sub(NAMED);
    found.truncate(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    PushGates::Stopped(format!("{}{more}", found.join("; ")))
}

/// Whether an effect brings commits of here to a remote: what git pushes names the branches that it changes there.
fn is_push(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::VcsRemoteUpdate | EffectKind::VcsHistoryRewrite)
        && effect.sites.iter().any(|site| site.kind == SiteKind::Branch)
}

/// Whether a call changes a file besides what git keeps: it could be committed before the push, after the gates looked.
fn is_change_beside(effect: &Effect) -> bool {
    let is_of_git = |path: &AbsolutePath| path.to_string().split('/').any(|part| part == GIT);
    effect.kind.is_mutating()
        && !effect.nature.is_of_remote()
        && effect.target.path().is_some_and(|path| !is_of_git(path))
}

/// The repository that a call works in, where it is another than that of the workspace.
fn repository_beside(effect: &Effect, workspace: &AbsolutePath) -> Option<String> {
    let own = workspace.join(GIT);
    // A worktree has a file there, and keeps its commits elsewhere.
    if effect.nature.is_of_remote() || !Path::new(own.as_str()).is_dir() {
        return None;
    }
    let path = effect.target.path().filter(|path| path.name() == Some(GIT) && **path != own)?;
    Some(path.to_string())
}
