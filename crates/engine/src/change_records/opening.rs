//! Opening a change: what its command would do is predicted, and all that the protocol wants has to be there.

use std::time::Instant;

use checkrein_facts::{History, HostPaths, World as _};
use checkrein_ledger::mask::mask_body;
use checkrein_policy::on_production;
use checkrein_protocol::{
    AbsolutePath, Action, ActionId, Certainty, Effect, EffectKind, RecordBody, RuledOut, Stake, VerdictKind,
};
use checkrein_session::SessionState;

use super::record::{ChangeActor, ChangeRecord, command_digest};
use super::store;
use crate::adjudication::Surface;
use crate::checkpoint::masked;
use crate::context::Context;
use crate::error::CommandError;
use crate::session_ledger::mask_key;
use crate::text::plain_name;
use crate::unhooked::{check, looked_at};

/// The longest text of a command, an issue or a verification, in bytes (ours).
const LONGEST: usize = 16 * 1024;
/// The greatest number of commands of a rollback (ours).
const MOST_COMMANDS: usize = 32;

/// What a change is opened with.
#[derive(Debug, Clone)]
pub struct Opening {
    /// Where it is tracked.
    pub issue: String,
    /// The command.
    pub command: String,
    /// The commands that take it back.
    pub rollback: Vec<String>,
    /// The command that succeeds when the change works.
    pub verification: String,
    /// Who opens it.
    pub by: ChangeActor,
}

/// Predicts what the command of a change would do in a directory, and writes the change down.
///
/// # Errors
///
/// Something that the protocol wants is missing, nothing of the command is on production, or no record may let it pass.
pub fn open(
    context: &Context,
    opening: Opening,
    directory: &AbsolutePath,
) -> Result<ChangeRecord, CommandError> {
    let Opening { issue, command, rollback, verification, by } = opening;
    demand(context, "issue", "--issue REF", [&issue])?;
    demand(context, "command", "-- COMMAND", [&command])?;
    demand(context, "rollback", "--rollback COMMAND", rollback.iter())?;
    demand(context, "verification", "--verify COMMAND", [&verification])?;
    let there = Action::command(command.as_str(), directory.clone());
    let within = context.at(&there);
    let context = within.as_ref().unwrap_or(context);
    looks_only(context, &verification, directory)?;
    let state = SessionState::default();
    let (_, record, _) =
        looked_at(context, &there, &state, ActionId(String::new()), (Instant::now(), Surface::Check));
    let config = context.policy().config();
    let Some(found) = on_production(&record.effects, config) else {
        return Err(CommandError::user(
            format!("nothing that `{command}` changes is on production, so it needs no change record"),
            "`production` in the configuration names what is production; `checkrein check 'COMMAND'` shows the effects",
        ));
    };
    // That it is on production without a record is what the record is for.
    let against = record.unliftable.iter().find(|reason| {
        **reason != checkrein_protocol::Unliftable::Production && reason.rules_out() == RuledOut::All
    });
    if let Some(reason) = against {
        return Err(CommandError::user(
            format!("a change record cannot let `{command}` pass: {}", reason.why()),
            reason.instead(),
        ));
    }
    let key = mask_key(context.environment(), config).map_err(|error| {
        CommandError::user(error.to_string(), "`checkrein doctor` examines the installation")
    })?;
    let mut body = RecordBody::Review(Box::new(record));
    mask_body(&mut body, &key);
    let RecordBody::Review(record) = body else {
        return Err(CommandError::user("the effects cannot be masked", "report this as a defect"));
    };
    let (effects, code) = (record.effects, record.code.unwrap_or_default());
    let environment = context.environment();
    let digest = command_digest(&there).unwrap_or_default();
    let record = ChangeRecord {
        id: store::fresh_id(environment, &digest)?,
        at: environment.now(),
        by,
        issue,
        command,
        directory: directory.clone(),
        site: masked(context, &found.site),
        effects,
        code,
        rollback,
        verification,
    };
    store::write(environment, &record)?;
    Ok(record)
}

/// An error where something that the protocol wants is missing, too long, or holds a secret: a record is read by others.
fn demand<'a>(
    context: &Context,
    what: &str,
    option: &str,
    texts: impl IntoIterator<Item = &'a String>,
) -> Result<(), CommandError> {
    let texts: Vec<&String> = texts.into_iter().collect();
    if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
        return Err(CommandError::user(
            format!("a change of production needs its {what}"),
            format!("give it with `{option}`; `checkrein change open --help` shows an example"),
        ));
    }
    if texts.len() > MOST_COMMANDS || texts.iter().any(|text| text.len() > LONGEST) {
        return Err(CommandError::user(
            format!("the {what} is too long to be kept"),
            "put the commands into a script, and name that",
        ));
    }
    if texts.iter().any(|text| masked(context, text) != **text) {
        return Err(CommandError::user(
            format!("the {what} holds a secret, which a record must not"),
            "put the secret into a variable or a file, and name that",
        ));
    }
    Ok(())
}

/// An error where the verification does more than look: it runs whenever somebody wants to know.
fn looks_only(context: &Context, verification: &str, directory: &AbsolutePath) -> Result<(), CommandError> {
    let action = Action::command(verification, directory.clone());
    let review = check(context, &action, None);
    let config = context.policy().config();
    let changes = on_production(&review.side_effects.effects, config).is_some();
    let world = context.world(History::default());
    let other = review.side_effects.effects.iter().find(|effect| changes_for_good(effect, world.place()));
    if review.verdict.kind >= VerdictKind::Escalate || changes || other.is_some() {
        let reason = match other {
            _ if changes => "it changes production itself".to_owned(),
            Some(effect) => {
                let what = effect.target.text().map(|text| format!(" `{}`", plain_name(text)));
                masked(context, &format!("it {}{}", effect.kind.verb(), what.unwrap_or_default()))
            }
            None => masked(context, &review.reasoning.primary),
        };
        return Err(CommandError::user(
            format!("`{verification}` cannot verify a change: {reason}"),
            "name a command that only looks, such as `curl --fail https://example.com/health`",
        ));
    }
    Ok(())
}

/// Whether something is certainly otherwise after an effect. Tests and builds make files of their own, and what is made again is nobody's loss.
fn changes_for_good(effect: &Effect, place: &HostPaths) -> bool {
    let is_lost = match effect.stake {
        Stake::Nothing | Stake::Regenerable => false,
        Stake::Recoverable | Stake::Unsaved | Stake::Critical => true,
    };
    let changes = match effect.kind {
        EffectKind::FileModify | EffectKind::FileDelete | EffectKind::PermissionChange => {
            is_lost && effect.target.path().is_none_or(|path| !place.is_temporary(path))
        }
        EffectKind::ProcessKill
        | EffectKind::SystemModification
        | EffectKind::Persistence
        | EffectKind::VcsLocalLoss
        | EffectKind::VcsHistoryRewrite
        | EffectKind::VcsRemoteUpdate
        | EffectKind::InfrastructureChange
        | EffectKind::InfrastructureDestroy
        | EffectKind::DatastoreChange
        | EffectKind::DatastoreDestroy
        | EffectKind::Publish
        | EffectKind::GuardTampering => true,
        EffectKind::FileRead
        | EffectKind::FileCreate
        | EffectKind::SecretRead
        | EffectKind::NetworkRequest
        | EffectKind::DataUpload
        | EffectKind::RemoteCodeExecution
        | EffectKind::PackageInstall
        | EffectKind::ProcessSpawn
        | EffectKind::PrivilegeEscalation
        | EffectKind::Opaque => false,
    };
    changes && effect.certainty == Certainty::Certain
}
