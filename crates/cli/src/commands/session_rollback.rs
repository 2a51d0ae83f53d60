//! `checkrein session rollback` goes back to what stood before an action of a session: it takes back that action and every later one,
//! newest first, each in the way of `checkrein undo`. An action that was taken back already is no step.

mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use checkrein_ledger::{Durability, lines};
use checkrein_patterns::ActionNumber;
use checkrein_protocol::{ActionId, RecordBody, RollbackRecord, RollbackStage};
use checkrein_session::SessionLedger;
use checkrein_snapshot::{Listed, Prepared, RestoreAction, SnapshotId, Step};

use self::made::{Made, made_since};
use super::name_choice::NamedKind;
use super::restore::git::{directory_of, in_words, kept as kept_of_git};
use super::restore::{
    FORCED, New, Permissions, RestoreConsent, RestoreContext, RestoreTerms, SHOWN, Unfinished, carry_out,
    held,
};
use super::session_choice::only_folder;
use super::stopped_calls::record_number;
use super::undo::{Opened, Stories, grounds, is_action, session as session_of};
use super::{ExitStatus, OutputForm, unconfirmed};
use crate::api;
use crate::terminal::{Reply, confirm, dim, hanging, log, plain, plain_name, print, print_exact, wrapped};
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::rollback::{RECORDED, Session, recorded, set_back, would_set_back};

/// Who goes back here, as it is recorded.
const BY: &str = "person";

/// The column at which a line about what stays goes on.
const GOES_ON: usize = 4;

/// Takes back an action of a session and every later one. What changed before it stays.
pub fn rollback_session(
    environment: &HostEnvironment,
    session: &str,
    before: &str,
    (consent, new): (RestoreConsent, New),
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let ledger = SessionLedger::of_folder(&environment.state, only_folder(environment, session)?);
    let before = action_number(&ledger, before)?;
    let state = ledger.state()?;
    let unknown = || {
        CommandError::user(
            "the session has no workspace on record",
            "`checkrein snapshot list` lists what is saved",
        )
    };
    let workspace = state.workspace().cloned().ok_or_else(unknown)?;
    let config = checkrein_engine::config_files::load(environment, &workspace)?.config;
    // What version control holds is asked where the session worked, wherever the user stands.
    let mut environment = environment.clone();
    environment.cwd = workspace.clone();
    let environment = &environment;
    let grounds = grounds(environment, workspace.clone(), Unfinished::by(consent))?;
    let known =
        Session { environment, config: &config, workspace: &workspace, ledger: &ledger, state: &state };
    let depth = config.interventions.checkpoint_rollback.max_rollback_depth;
    known.has_way(before, depth).map_err(|why| {
        CommandError::user(
            format!("there is no way back: {why}"),
            "`checkrein snapshot list` lists what is saved",
        )
    })?;
    let mut rollback = Rollback {
        environment,
        session: ledger.folder().as_str().to_owned(),
        before,
        since: actions_since(&ledger, before)?,
        grounds: &grounds,
        stories: Stories::default(),
        made: made_since(&ledger, before)?,
        new,
        workspace: PathBuf::from(workspace.as_str()),
    };
    let plan = rollback.plan()?;
    if output == OutputForm::Text {
        rollback.show(&plan);
    }
    let is_empty = plan.steps.is_empty() && plan.of_git.is_empty() && plan.made.is_empty();
    if !is_empty && consent == RestoreConsent::Ask {
        match confirm("Do it? What is there now is saved first.") {
            Reply::Yes => {}
            reply @ (Reply::No | Reply::Nobody) => return unconfirmed(reply, output),
        }
    }
    if is_empty || consent == RestoreConsent::ShowOnly {
        if output == OutputForm::Json {
            print_exact(&told(&rollback.proposal(&plan))?);
        }
        let is_kept = plan.kept.values().any(|(step, _)| step.deed != RestoreAction::Remove)
            || !plan.git_kept.is_empty()
            || !plan.made_kept.is_empty();
        return Ok(if (is_kept || is_empty) && consent != RestoreConsent::ShowOnly {
            ExitStatus::Failed
        } else {
            ExitStatus::Done
        });
    }
    let record = rollback.go(&plan)?;
    ledger.append(environment.now(), RecordBody::Rollback(Box::new(record.clone())), Durability::Durable)?;
    match output {
        OutputForm::Json => print_exact(&told(&record)?),
        OutputForm::Text => {
            print(&wrapped(&plain(&record.text)));
            // The newest first: each restores what stood before the step that it was saved for.
            let back: Vec<String> =
                record.saved_as.iter().rev().map(|id| format!("`checkrein snapshot restore {id}`")).collect();
            if !back.is_empty() {
                print(&wrapped(&format!("to take it back: {}", back.join(", then "))));
            }
            record.left.iter().for_each(|left| log(&format!("not as it was: {}", plain(left))));
        }
    }
    let is_done = record.stage == RollbackStage::Done && record.left.is_empty();
    Ok(if is_done { ExitStatus::Done } else { ExitStatus::Failed })
}

/// A way back that is under way.
struct Rollback<'a> {
    environment: &'a HostEnvironment,
    session: String,
    before: ActionNumber,
    /// The ids of the action and of every later one.
    since: BTreeSet<String>,
    grounds: &'a [RestoreContext],
    stories: Stories,
    /// Files that actions made where nothing stood.
    made: Vec<Made>,
    /// What happens to what is new and was changed since.
    new: New,
    workspace: PathBuf,
}

/// What a way back would do, as far as it can be known before anything is done.
#[derive(Default)]
struct Plan {
    /// For each place the step of the oldest action.
    steps: BTreeMap<PathBuf, (SnapshotId, Step)>,
    /// What stays, with the reason.
    kept: BTreeMap<PathBuf, (Step, String)>,
    /// What of repositories stays, in the words of git, with the reason.
    git_kept: BTreeMap<String, String>,
    /// What happens to repositories, in the words of git: what the oldest action says of each name holds.
    of_git: BTreeMap<String, String>,
    /// What goes that an action made and no snapshot knows.
    made: Vec<PathBuf>,
    /// What of that stays, with the reason.
    made_kept: BTreeMap<PathBuf, String>,
    /// The repositories that were pushed to: what is there belongs to others.
    remotes: BTreeSet<PathBuf>,
    /// What is said beside.
    remarks: BTreeSet<String>,
}

impl Rollback<'_> {
    /// The snapshots of the actions that are to be taken back, newest first, each with its workspace. Those that never ran or were taken
    /// back already are left out.
    fn open(&mut self) -> Result<Vec<(usize, Listed)>, CommandError> {
        let mut found = Vec::new();
        for (index, ground) in self.grounds.iter().enumerate() {
            let store = Opened::at(ground)?;
            for one in &store.all {
                let action = one.snapshot.place.as_ref().and_then(|place| place.action.as_ref());
                // What was only made is known from the records too, each file by itself.
                let is_meant = is_action(one)
                    && !one.snapshot.is_mark()
                    && session_of(one) == Some(self.session.as_str())
                    && action.is_some_and(|action| self.since.contains(action));
                if is_meant && !store.is_undone(one) && self.stories.of(self.environment, one).may_have_run()
                {
                    found.push((index, one.clone()));
                }
            }
        }
        found.sort_by_key(|(_, one)| std::cmp::Reverse((one.snapshot.at, one.id)));
        Ok(found)
    }

    /// What going back would do. An older action has a say about what stays only where no newer one touched the place.
    fn plan(&mut self) -> Result<Plan, CommandError> {
        let mut plan = Plan::default();
        // What a newer action gives back of a repository is as an older one left it by then.
        let mut given_back = BTreeSet::new();
        for (index, snapshot) in self.open()? {
            let Some(ground) = self.grounds.get(index) else { continue };
            let store = Opened::at(ground)?;
            let (mut prepared, remotes) = store.prepare(self.environment, &mut self.stories, &snapshot)?;
            plan.remarks.extend(remotes);
            let all = prepared.steps().to_vec();
            let terms = self.terms(ground, &snapshot);
            let left = terms.sort(&mut prepared, held(self.environment))?.left;
            plan.remotes.extend(self.stories.remotes(self.environment, &snapshot));
            // What was pushed stays, as a remark of its own says.
            let stays = |(step, _): &&(Step, String)| {
                let path = step.path.as_path();
                step.deed != RestoreAction::Remove
                    && !given_back.contains(path)
                    && !plan.remotes.iter().any(|remote| path.starts_with(remote))
            };
            let of_git_kept: Vec<&(Step, String)> = left.iter().filter(stays).collect();
            for (what, why) in kept_of_git(&snapshot, &of_git_kept) {
                plan.git_kept.entry(what).or_insert_with(|| way_on(why, &snapshot));
            }
            let kept: BTreeMap<PathBuf, String> = left
                .iter()
                .filter(|(step, _)| directory_of(&snapshot, step).is_none())
                .map(|(step, why)| (step.path.as_path().to_owned(), way_on(why, &snapshot)))
                .collect();
            let done: BTreeSet<PathBuf> =
                prepared.steps().iter().map(|step| step.path.as_path().to_owned()).collect();
            plan.of_git.extend(of_git(&prepared, &snapshot));
            for step in all {
                let path = step.path.as_path().to_owned();
                let is_told_by_git = done.contains(&path) && directory_of(&snapshot, &step).is_some();
                if is_told_by_git {
                    given_back.insert(path.clone());
                }
                if plan.kept.contains_key(&path) || is_told_by_git {
                    continue;
                }
                if done.contains(&path) || plan.steps.contains_key(&path) {
                    plan.steps.insert(path, (snapshot.id, step));
                } else if let Some(why) = kept.get(&path) {
                    plan.kept.insert(path, (step, why.clone()));
                }
            }
            let unsaved = prepared.unsaved().iter();
            plan.remarks.extend(unsaved.map(|one| {
                format!("cannot be saved before: {}: {}", one.path.as_path().display(), one.reason)
            }));
        }
        for one in &self.made {
            if plan.steps.contains_key(&one.path) || plan.kept.contains_key(&one.path) {
                continue;
            }
            match one.objection(self.new) {
                None => plan.made.push(one.path.clone()),
                Some(why) => {
                    plan.made_kept.insert(one.path.clone(), why.to_owned());
                }
            }
        }
        Ok(plan)
    }

    /// Saves and removes what actions made and no snapshot knows.
    fn remove_made(&self, plan: &Plan, reason: &str) -> Result<Option<SnapshotId>, CommandError> {
        let meant: Vec<&Made> = self.made.iter().filter(|one| plan.made.contains(&one.path)).collect();
        let (Some(ground), false) = (self.grounds.first(), meant.is_empty()) else { return Ok(None) };
        let when = (self.environment.now().0, reason.to_owned());
        made::remove(&ground.store, &ground.manner(), &meant, when).map(Some)
    }

    /// Takes back one action after another, and puts down what was done.
    fn go(&mut self, plan: &Plan) -> Result<RollbackRecord, CommandError> {
        let (mut snapshots, mut saved_as, mut left) = (Vec::new(), Vec::new(), Vec::new());
        let mut changed: BTreeMap<PathBuf, &'static str> = BTreeMap::new();
        let mut changed_in_git: BTreeMap<String, String> = BTreeMap::new();
        let mut kept: BTreeMap<PathBuf, String> = plan.made_kept.clone();
        let mut git_kept: BTreeMap<String, String> = BTreeMap::new();
        let reason = format!("before going back to what stood before action {}", self.before.0);
        match self.remove_made(plan, &reason) {
            Ok(None) => {}
            Ok(Some(saved)) => {
                saved_as.push(saved.0);
                changed.extend(plan.made.iter().map(|path| (path.clone(), RestoreAction::Remove.name())));
            }
            Err(error) => left.push(error.to_string()),
        }
        for (index, snapshot) in self.open()? {
            let Some(ground) = self.grounds.get(index) else { continue };
            let store = Opened::at(ground)?;
            let (mut prepared, _) = store.prepare(self.environment, &mut self.stories, &snapshot)?;
            let sorted = self.terms(ground, &snapshot).sort(&mut prepared, held(self.environment))?;
            let is_meant = |(step, _): &&(Step, String)| {
                let path = step.path.as_path();
                step.deed != RestoreAction::Remove
                    && !plan.remotes.iter().any(|remote| path.starts_with(remote))
            };
            let (git_left, files_left): (Vec<_>, Vec<_>) = sorted
                .left
                .iter()
                .filter(is_meant)
                .partition(|(step, _)| directory_of(&snapshot, step).is_some());
            for (what, why) in kept_of_git(&snapshot, &git_left) {
                git_kept.entry(what).or_insert_with(|| way_on(why, &snapshot));
            }
            for (step, why) in files_left {
                kept.entry(step.path.as_path().to_owned()).or_insert_with(|| way_on(why, &snapshot));
            }
            let steps: Vec<Step> = prepared.steps().to_vec();
            let git = of_git(&prepared, &snapshot);
            match carry_out(self.environment, ground, &snapshot, prepared, reason.clone()) {
                Ok(None) => {}
                Ok(Some(restored)) => {
                    snapshots.push(snapshot.id.0);
                    saved_as.push(restored.saved_as.0);
                    let of_files = steps.iter().filter(|step| directory_of(&snapshot, step).is_none());
                    changed.extend(of_files.map(|step| (step.path.as_path().to_owned(), step.deed.name())));
                    changed_in_git.extend(git);
                    kept.extend(
                        restored.left.into_iter().map(|(path, why)| (path.as_path().to_owned(), why)),
                    );
                }
                Err(error) => {
                    // What is older can only be right on top of this one.
                    left.push(format!("snapshot {}: {error}; no older action is taken back", snapshot.id));
                    break;
                }
            }
        }
        left.extend(kept.iter().map(|(path, why)| format!("{}: {why}", self.shown(path))));
        left.extend(git_kept.iter().map(|(what, why)| format!("of git, {what}: {why}")));
        left.truncate(RECORDED);
        let of_files = changed.iter().map(|(path, deed)| format!("{deed} {}", self.shown(path)));
        let words: Vec<String> = of_files.chain(changed_in_git.into_values()).collect();
        let stage = if words.is_empty() { RollbackStage::NotDone } else { RollbackStage::Done };
        let mut record =
            RollbackRecord { snapshots, saved_as, left, ..recorded(self.before, stage, BY, &words) };
        record.text = if words.is_empty() {
            let why = record.left.first().map_or("nothing changed", String::as_str);
            format!("Nothing was set back: {why}.")
        } else {
            set_back(&record, &words)
        };
        Ok(record)
    }

    /// What a user is told who only looks.
    fn proposal(&self, plan: &Plan) -> RollbackRecord {
        let steps = plan.steps.values().map(|(_, step)| self.in_words(step));
        let steps = steps.chain(plan.made.iter().map(|path| self.removal(path)));
        let words: Vec<String> = steps.chain(plan.of_git.values().cloned()).collect();
        let of: BTreeSet<u64> = plan.steps.values().map(|(of, _)| of.0).collect();
        let kept = plan.kept.iter().map(|(path, (_, why))| (path, why)).chain(&plan.made_kept);
        let left = kept.map(|(path, why)| format!("{}: {why}", self.shown(path)));
        let left = left.chain(plan.git_kept.iter().map(|(what, why)| format!("of git, {what}: {why}")));
        RollbackRecord {
            snapshots: of.into_iter().collect(),
            left: left.take(RECORDED).collect(),
            text: would_set_back(&self.session, self.before, &words),
            ..recorded(self.before, RollbackStage::Proposed, BY, &words)
        }
    }

    fn terms<'a>(&mut self, ground: &'a RestoreContext, snapshot: &'a Listed) -> RestoreTerms<'a> {
        let moment = self.stories.of(self.environment, snapshot).moment();
        let permissions = Permissions { new: self.new, ..Permissions::default() };
        RestoreTerms { ground, snapshot, moment, permissions }
    }

    fn show(&self, plan: &Plan) {
        for (of, step) in plan.steps.values().take(SHOWN) {
            print(&format!(
                "  {}{}",
                plain_name(&self.in_words(step)),
                dim(&format!("  from snapshot {of}"))
            ));
        }
        for line in plan.of_git.values().take(SHOWN) {
            print(&format!("  {}", plain(line)));
        }
        for path in plan.made.iter().take(SHOWN) {
            let why = dim("  made by the session");
            print(&format!("  {}{why}", plain_name(&self.removal(path))));
        }
        match plan.steps.len().max(plan.made.len()).max(plan.of_git.len()) {
            0 => print("nothing that is saved changed since then; nothing to do"),
            count if count > SHOWN => print(&format!("  and {} more", count - SHOWN)),
            _ => {}
        }
        let kept = plan.kept.iter().map(|(path, (_, why))| (path, why)).chain(&plan.made_kept);
        for (path, why) in kept.take(SHOWN) {
            let line = format!("  stays {}{}", plain_name(&self.shown(path)), dim(&format!("  {why}")));
            print(&hanging(&line, GOES_ON));
        }
        if plan.kept.len() > SHOWN {
            print(&format!("  and {} more stay as they are", plan.kept.len() - SHOWN));
        }
        for (what, why) in &plan.git_kept {
            print(&hanging(
                &format!("  stays of git: {}{}", plain_name(what), dim(&format!("  {why}"))),
                GOES_ON,
            ));
        }
        plan.remarks.iter().for_each(|one| log(&plain(one)));
    }

    /// A change in words, with the path as it is seen from the workspace.
    fn in_words(&self, step: &Step) -> String {
        format!("{} {}", step.deed.name(), self.shown(step.path.as_path()))
    }

    fn removal(&self, path: &Path) -> String {
        format!("{} {}", RestoreAction::Remove.name(), self.shown(path))
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }
}

/// Why something stays, with the command that brings it back where an option of `undo` would.
fn way_on(why: &str, snapshot: &Listed) -> String {
    match why.strip_suffix(FORCED) {
        Some(why) => format!("{why}; `checkrein undo {} --force` puts it back all the same", snapshot.id),
        None => why.to_owned(),
    }
}

/// What the steps of one action do to repositories, in the words of git, each under the name that it is about.
fn of_git(prepared: &Prepared, snapshot: &Listed) -> BTreeMap<String, String> {
    let steps: Vec<&Step> =
        prepared.steps().iter().filter(|step| directory_of(snapshot, step).is_some()).collect();
    in_words(prepared, snapshot, &steps).into_iter().map(|line| (line.about, line.words)).collect()
}

/// The ids of an action and of every later one.
fn actions_since(ledger: &SessionLedger, before: ActionNumber) -> Result<BTreeSet<String>, CommandError> {
    let reviews = lines(&ledger.path())?.filter_map(|line| match line.ok()?.record?.body {
        RecordBody::Review(review) => Some(review.action_id.0),
        _ => None,
    });
    let earlier = usize::try_from(before.0.saturating_sub(1)).unwrap_or(usize::MAX);
    Ok(reviews.skip(earlier).collect())
}

/// A rollback of a session as it is recorded.
fn told(record: &impl serde::Serialize) -> Result<String, CommandError> {
    let fields = api::recorded(record).as_object().cloned().unwrap_or_default();
    api::pretty(&api::sessions::SessionRollback(fields))
}

/// The number of an action of a session, from its number or the beginning of its name.
fn action_number(ledger: &SessionLedger, text: &str) -> Result<ActionNumber, CommandError> {
    let is_number = !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    if let (true, Ok(number)) = (is_number, text.parse()) {
        return Ok(ActionNumber(number));
    }
    let reviews = lines(&ledger.path())?.filter_map(|line| {
        let record = line.ok()?.record?;
        match record.body {
            RecordBody::Review(review) => Some((record.seq, review.action_id)),
            _ => None,
        }
    });
    let all: Vec<(u64, ActionId)> = reviews.collect();
    let found = match record_number(text) {
        // `SESSION:NUMBER`, as `log` shows records.
        Some((session, number)) if ledger.folder().as_str().starts_with(session) => {
            all.iter().zip(1..).find(|((seq, _), _)| *seq == number)
        }
        Some(_) | None => {
            let id = NamedKind::Action.newest_or_only(text, all.iter().map(|(_, id)| id.as_str()))?;
            all.iter().zip(1..).find(|((_, one), _)| one.as_str() == id)
        }
    };
    found.map(|(_, number)| ActionNumber(number)).ok_or_else(|| NamedKind::Action.unknown(text))
}
