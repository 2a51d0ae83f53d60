//! What `undo` and `snapshot restore` have in common: showing what would be done, asking, doing it, telling how it went.

mod compiled;
mod differences;
mod generated;
pub(super) mod git;
mod left_out;
mod rest;
mod sorting;

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use checkrein_facts::{History, VersionState, World};
use checkrein_ledger::{Durability, FolderName};
use checkrein_protocol::{AbsolutePath, RecordBody};
use checkrein_session::SessionLedger;
use checkrein_shell::quoted;

use checkrein_snapshot::{
    ActionEndTime, CaptureBounds, CaptureOptions, EntryKind, Ignoring, Interrupted, LimitExceeded, Listed,
    Mounts, Node, OtherNames, Preparation, Prepared, Request, RestoreAction, Restored, Since, Skipped,
    SnapshotId, Step, Store,
};
use checkrein_world::find_workspace;
use serde_json::json;

use self::generated::Generated;
use self::sorting::Sorted;
use super::story::at_home;
use super::{ExitStatus, OutputForm, for_people_only, unconfirmed};
use crate::api::{self, saved};
use crate::render::time;
use crate::terminal::{
    Reply, bold, confirm, dim, hanging, log, plain, plain_name, print, print_exact, wrapped,
};
use checkrein_engine::checkpoint;
use checkrein_engine::context::Context;
use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_engine::rules;
use checkrein_engine::sparing::Sparing;
pub use left_out::gone;
pub use sorting::{FORCED, Weight};

/// How many steps are shown one by one (ours); `--json` shows all.
pub(super) const SHOWN: usize = 40;

/// What is told to a restore that a user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Permissions {
    /// Whether the question is answered already.
    pub consent: RestoreConsent,
    /// What happens to what was changed since.
    pub changed: Changed,
    /// What happens to what is new.
    pub new: New,
    /// What happens to the places of the guard.
    pub guard: GuardPlaces,
}

/// Whether a user has said yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RestoreConsent {
    /// They are asked.
    #[default]
    Ask,
    /// They have.
    Given,
    /// Nothing is done, only shown.
    ShowOnly,
}

/// What happens to what somebody changed after the action that is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Changed {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is put back like the rest.
    Overwrite,
}

/// What happens to what was not there at the time and is not known to be made by the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum New {
    /// It stays.
    #[default]
    Keep,
    /// It goes.
    Remove,
}

/// What happens to the places of the guard: its configuration, the settings of clients that call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GuardPlaces {
    /// They stay as they are.
    #[default]
    Spare,
    /// A user wants them put back like the rest.
    PutBack,
}

impl Permissions {
    /// Refuses what only a user may permit when somebody else does.
    pub fn check(&self, environment: &HostEnvironment, command: &str) -> Result<(), CommandError> {
        match self.guard {
            GuardPlaces::Spare => Ok(()),
            GuardPlaces::PutBack => for_people_only(environment, &format!("{command} --with-guard-files")),
        }
    }
}

/// What becomes of a restore that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// It is finished first: something is about to be restored.
    Finish,
    /// It is told, for whoever only looks.
    Tell,
}

impl Unfinished {
    /// For a command that does something, or only shows what it would do.
    pub fn by(consent: RestoreConsent) -> Self {
        match consent {
            RestoreConsent::Given | RestoreConsent::Ask => Self::Finish,
            RestoreConsent::ShowOnly => Self::Tell,
        }
    }
}

/// A workspace with its snapshots.
pub struct RestoreContext {
    /// Where.
    pub workspace: AbsolutePath,
    /// Its snapshots.
    pub store: Store,
    /// Where a user stands in a repository inside it: only actions that were about something there are meant.
    within: Option<PathBuf>,
    own: Vec<PathBuf>,
    ignoring: Ignoring,
    sparing: Sparing,
    environment: HostEnvironment,
    generated: Generated,
    /// Whether a restore that was interrupted was finished here.
    has_finished: bool,
}

impl RestoreContext {
    /// The workspace around the working directory of this process.
    pub fn open(environment: &HostEnvironment, unfinished: Unfinished) -> Result<Self, CommandError> {
        Self::at(environment, find_workspace(&environment.cwd), unfinished)
    }

    /// A workspace. A restore that was interrupted is told, or finished first.
    pub fn at(
        environment: &HostEnvironment,
        workspace: AbsolutePath,
        unfinished: Unfinished,
    ) -> Result<Self, CommandError> {
        let store = checkpoint::store(environment, &workspace);
        let real =
            store.workspace().to_str().and_then(AbsolutePath::new).unwrap_or_else(|| workspace.clone());
        let ignoring = checkpoint::ignoring(environment, &real);
        let sparing = Sparing::of(environment, &real);
        let own = vec![PathBuf::from(environment.state_path.as_str())];
        let environment_here = environment.clone();
        let generated = Generated::default();
        let mut ground = Self {
            workspace,
            store,
            within: None,
            own,
            ignoring,
            sparing,
            environment: environment_here,
            generated,
            has_finished: false,
        };
        if let Some(begun) = ground.store.interrupted() {
            match unfinished {
                Unfinished::Finish => {
                    ground.finish(environment, &begun)?;
                    ground.has_finished = true;
                }
                Unfinished::Tell => log(&format!(
                    "a restore of snapshot {} was interrupted; the next `undo` or `snapshot restore` finishes it",
                    begun.of
                )),
            }
        }
        Ok(ground)
    }

    /// The same, of which only actions count that were about something in a directory.
    #[must_use]
    pub fn only_within(self, directory: PathBuf) -> Self {
        Self { within: Some(directory), ..self }
    }

    /// Whether all of it is meant.
    pub fn is_meant_as_a_whole(&self) -> bool {
        self.within.is_none()
    }

    /// Whether the action of a snapshot is meant: it had something saved there where the user stands.
    pub fn means(&self, snapshot: &Listed) -> bool {
        self.within.as_ref().is_none_or(|within| {
            snapshot.snapshot.roots.iter().any(|root| root.path.as_path().starts_with(within))
        })
    }

    fn finish(&self, environment: &HostEnvironment, begun: &Interrupted) -> Result<(), CommandError> {
        log(&format!("a restore of snapshot {} was interrupted; finishing it", begun.of));
        let request = request(environment, format!("finishing the restore of snapshot {}", begun.of));
        let finished = self.store.finish(begun, &self.manner(), request)?;
        log(&format!("{} left and now done", count(finished.done, "step was", "steps were")));
        for (path, why) in &finished.left {
            log(&format!("not as it was: {}: {}", plain_name(&path.as_path().to_string_lossy()), plain(why)));
        }
        Ok(())
    }

    /// Whether the place of a step is ignored by version control, so that nobody looks there for changes.
    pub fn ignores(&self, step: &Step) -> bool {
        let node = step.then.as_ref().or(step.now.as_ref());
        let is_ignored = |place: &Path| {
            let is_file = place == step.path.as_path() && !node.is_some_and(Node::is_directory);
            self.ignoring.ignores(place, if is_file { EntryKind::File } else { EntryKind::Directory })
        };
        let workspace = self.store.workspace();
        step.path.as_path().ancestors().take_while(|place| *place != workspace).any(is_ignored)
    }

    /// What stands now, in work trees and in what version control holds of them.
    pub(super) fn world(&self) -> impl World + use<> {
        Context::open(self.environment.clone(), &self.environment.cwd).world(History::default())
    }

    /// How the present is captured.
    pub fn manner(&self) -> CaptureOptions<'_> {
        CaptureOptions {
            bounds: CaptureBounds::NONE,
            largest: None,
            spared: &self.own,
            mounts: Mounts::Enter,
            ignoring: Some(&self.ignoring),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            seen: None,
        }
    }

    /// What it takes to go back.
    pub fn prepare(
        &self,
        of: SnapshotId,
        paths: &[PathBuf],
        moment: ActionEndTime,
    ) -> Result<Box<Prepared>, CommandError> {
        match self.store.prepare(of, paths, &self.manner(), moment)? {
            Preparation::Ready(prepared) => Ok(prepared),
            Preparation::Over(LimitExceeded::Entries | LimitExceeded::Bytes | LimitExceeded::Time) => {
                Err(CommandError::user(
                    "what is there now is too large to be saved first",
                    "go back to single paths: `checkrein snapshot restore SNAPSHOT PATH`",
                ))
            }
        }
    }
}

/// What is gone back to, and under which terms.
pub struct RestoreTerms<'a> {
    /// Where.
    pub ground: &'a RestoreContext,
    /// To what.
    pub snapshot: &'a Listed,
    /// When the action ended that is taken back, if it is one.
    pub moment: ActionEndTime,
    /// What a user permits.
    pub permissions: Permissions,
}

/// Tells whether version control holds what stands at the path of a step.
pub(super) fn held(environment: &HostEnvironment) -> impl Fn(&Step) -> bool + use<> {
    let world = Context::open(environment.clone(), &environment.cwd).world(History::default());
    move |step| {
        let path = step.path.as_path().to_str().and_then(AbsolutePath::new);
        path.is_some_and(|path| world.version(&path) == VersionState::TrackedClean)
    }
}

/// Shows what would be done, asks, and does it. `passed_over` is said first: what was looked at before, and why it is left.
pub fn restore(
    environment: &HostEnvironment,
    mut prepared: Box<Prepared>,
    case: &RestoreTerms<'_>,
    passed_over: &[String],
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let (ground, snapshot) = (case.ground, case.snapshot);
    let sorted = case.sort(&mut prepared, held(environment))?;
    let steps = prepared.steps().to_vec();
    if output == OutputForm::Text {
        passed_over.iter().for_each(|one| print(&wrapped(one)));
        show(environment, &prepared, &sorted, case, passed_over);
    }
    // What nothing is done to is as safe as it was.
    let is_touched = |path: &std::path::Path| {
        let is_replaced = |step: &&Step| matches!(step.deed, RestoreAction::Replace | RestoreAction::Remove);
        let is_near = |step: &Step| {
            let place = step.path.as_path();
            place.starts_with(path) || path.starts_with(place)
        };
        steps.iter().filter(is_replaced).any(is_near)
    };
    let unsaved: Vec<String> = prepared
        .unsaved()
        .iter()
        .filter(|one| is_touched(one.path.as_path()))
        .map(|one| format!("{}: {}", one.path.as_path().display(), one.reason))
        .collect();
    let lost = case.lost_objects(None)?;
    if lost > 0 && output == OutputForm::Text {
        print(&format!(
            "  {:<8} {} of git that the repository has no more",
            "create",
            count(lost, "object", "objects")
        ));
    }
    if steps.is_empty() && lost == 0 {
        let status = tell(environment, case, &steps, &sorted, None, output)?;
        // Whoever waits for work to come back learns that none did. Where everything is as a snapshot has it, that is what was wanted.
        let takes_back = case.moment != ActionEndTime::None && !ground.has_finished;
        let is_nothing = takes_back && sorted.left.is_empty() && sorted.made_again.is_empty();
        let status = if is_nothing { ExitStatus::Failed } else { status };
        return rest::ask(environment, case, &sorted, status, output);
    }
    for one in &unsaved {
        log(&format!("cannot be saved before: {}", plain(one)));
    }
    match case.permissions.consent {
        RestoreConsent::Given => {}
        RestoreConsent::ShowOnly => return tell(environment, case, &steps, &sorted, None, output),
        RestoreConsent::Ask => match confirm("Do it? What is there now is saved first.") {
            Reply::Yes => {}
            reply @ (Reply::No | Reply::Nobody) => return unconfirmed(reply, output),
        },
    }
    let reason = format!("before going back to snapshot {}", snapshot.id);
    let restored = carry_out(environment, ground, snapshot, prepared, reason)?;
    if restored.is_none() && lost > 0 {
        give_objects_back(ground, snapshot)?;
        if output == OutputForm::Json {
            return tell(environment, case, &steps, &sorted, None, output);
        }
        print(&format!("{} given back", count(lost, "object is", "objects are")));
        return Ok(ExitStatus::Done);
    }
    if restored.is_some()
        && steps.iter().any(|step| ground.sparing.touched_by(step).is_some())
        && rules::distrust(environment, &ground.workspace)?
    {
        log(
            "the rules that came back were trusted once and are not trusted by that; `checkrein trust` trusts them",
        );
    }
    let status = tell(environment, case, &steps, &sorted, restored.as_ref(), output)?;
    rest::ask(environment, case, &sorted, status, output)
}

/// Does what was planned, and writes down that it was; `None` when there was nothing to do.
pub(super) fn carry_out(
    environment: &HostEnvironment,
    ground: &RestoreContext,
    snapshot: &Listed,
    prepared: Box<Prepared>,
    reason: String,
) -> Result<Option<Restored>, CommandError> {
    let steps = prepared.steps().len();
    let restored = prepared.carry_out(request(environment, reason))?;
    if let Some(restored) = &restored {
        give_objects_back(ground, snapshot)?;
        record(environment, snapshot, restored, steps);
    }
    Ok(restored)
}

/// Gives repositories back the objects that their references stand for again.
fn give_objects_back(ground: &RestoreContext, snapshot: &Listed) -> Result<(), CommandError> {
    for objects in object_directories(snapshot) {
        ground.store.give_objects_back(&objects)?;
    }
    Ok(())
}

/// The objects of the repositories of which a snapshot holds the references.
fn object_directories(snapshot: &Listed) -> impl Iterator<Item = PathBuf> {
    snapshot.snapshot.roots.iter().filter_map(|root| {
        let path = root.path.as_path();
        let is_references = path.file_name().is_some_and(|name| name == "refs");
        path.parent().filter(|_| is_references).map(|directory| directory.join("objects"))
    })
}

impl RestoreTerms<'_> {
    /// How many objects of git are gone that were kept with the snapshot; with a period only those that went then.
    pub(super) fn lost_objects(&self, went: Option<&RangeInclusive<u64>>) -> Result<usize, CommandError> {
        let mut lost = 0;
        for objects in object_directories(self.snapshot) {
            lost += self.ground.store.lost_objects(&objects, went)?;
        }
        Ok(lost)
    }
}

fn request(environment: &HostEnvironment, reason: String) -> Request {
    Request { at: environment.now().0, reason, place: None }
}

/// Writes into the ledger of the session that its work was taken back: history is kept, with what was done about it.
fn record(environment: &HostEnvironment, snapshot: &Listed, restored: &Restored, steps: usize) {
    let Some(place) = &snapshot.snapshot.place else { return };
    let Some(folder) = FolderName::on_disk(place.session.as_ref()) else { return };
    let body = RecordBody::Event {
        name: "checkrein.restored".to_owned(),
        fields: json!({
            "snapshot": snapshot.id,
            "saved_as": restored.saved_as,
            "action": place.action,
            "sequence": place.sequence,
            "steps": steps,
            "left": restored.left.len(),
        }),
    };
    let ledger = SessionLedger::of_folder(&environment.state, folder);
    if let Err(error) = ledger.append(environment.now(), body, Durability::Durable) {
        log(&format!("not recorded: {error}"));
    }
}

/// The column at which the name of a place begins, and what does not fit its line goes on.
const PLACE: usize = 11;

/// How what is said of a remote on this disk begins.
pub(super) const REMOTE: &str = "the remote `";

fn show(
    environment: &HostEnvironment,
    prepared: &Prepared,
    sorted: &Sorted,
    case: &RestoreTerms<'_>,
    said: &[String],
) {
    let print = |line: &str| print(&hanging(line, PLACE));
    let snapshot = case.snapshot;
    print(&format!(
        "{} {}  {}  {}{}",
        bold("snapshot"),
        snapshot.id,
        dim(&time(snapshot.snapshot.at)),
        plain(&snapshot.snapshot.reason),
        dim(&elsewhere(environment, case.ground)),
    ));
    let (of_git, files): (Vec<&Step>, Vec<&Step>) =
        prepared.steps().iter().partition(|step| git::directory_of(snapshot, step).is_some());
    for step in files.iter().take(SHOWN) {
        let others = prepared.other_names(step).map(others_in_words).unwrap_or_default();
        print(&format!(
            "  {:<8} {}{}{}",
            step.deed.name(),
            path(environment, step),
            dim(&detail(step)),
            dim(others)
        ));
    }
    if files.len() > SHOWN {
        print(&format!("  and {} more", files.len() - SHOWN));
    }
    git::in_words(prepared, snapshot, &of_git)
        .iter()
        .for_each(|line| print(&format!("  {}", plain_name(&line.words))));
    // Where a remote on this disk was named before, it is not said again.
    let is_said = said.iter().any(|line| line.starts_with(REMOTE));
    if !is_said && git::touches_remotes(snapshot, &of_git) {
        print(&format!("  {}", git::REMOTE_STAYS));
    }
    let (kept_of_git, kept): (Vec<_>, Vec<_>) =
        sorted.left.iter().partition(|(step, _)| git::directory_of(snapshot, step).is_some());
    for (step, why) in kept.iter().take(SHOWN) {
        print(&format!("  {:<8} {}  {}", "keep", path(environment, step), dim(why)));
    }
    if kept.len() > SHOWN {
        print(&format!("  and {} more are kept", kept.len() - SHOWN));
    }
    for (what, why) in git::kept(snapshot, &kept_of_git) {
        print(&format!("  {:<8} of git: {}  {}", "keep", plain_name(&what), dim(why)));
    }
    for top in sorted.made_again.iter().take(SHOWN) {
        let top = plain_name(&top.to_string_lossy());
        let when = match case.moment {
            ActionEndTime::Open(_) | ActionEndTime::Followed(_) => {
                "may have changed since, as nobody was told when the action ended"
            }
            ActionEndTime::None | ActionEndTime::At(_) | ActionEndTime::Ended(_) => "changed since",
        };
        let why = format!("{when}, and something makes it again; `--force` puts it back");
        print(&format!("  {:<8} {top}  {}", "keep", dim(&why)));
    }
    // Each line names what its place needs, and one command takes all of it.
    let options = sorted.needed.options();
    if sorted.needed != case.permissions && case.moment != ActionEndTime::None {
        let is_later = kept.iter().any(|(step, _)| step.since == Since::Later);
        let what = if is_later && sorted.needed.changed == Changed::Overwrite {
            "all that is kept, and writes over what was changed since"
        } else if sorted.stays.is_empty() {
            "what is kept"
        } else {
            "the rest of what is kept"
        };
        let command = command_at(environment, case.ground, &format!("undo {}{options}", snapshot.id));
        print(&format!("  {command} takes back {what}"));
    }
    gone(snapshot).iter().for_each(|one| log(one));
    if matches!(case.moment, ActionEndTime::Ended(_) | ActionEndTime::Open(_) | ActionEndTime::Followed(_)) {
        left_out::changed(snapshot, &case.ground.own).iter().for_each(|one| log(one));
    }
}

/// Where a workspace is, when a user stands somewhere else.
pub fn elsewhere(environment: &HostEnvironment, ground: &RestoreContext) -> String {
    if ground.workspace == find_workspace(&environment.cwd) {
        return String::new();
    }
    let here = std::path::Path::new(environment.cwd.as_str());
    let there = std::path::Path::new(ground.workspace.as_str());
    format!("  in `{}`", plain(&there.strip_prefix(here).unwrap_or(there).to_string_lossy()))
}

/// A command about the snapshots of a workspace, as it works where the user stands.
pub fn command_at(environment: &HostEnvironment, ground: &RestoreContext, command: &str) -> String {
    if ground.workspace == find_workspace(&environment.cwd) {
        return format!("`checkrein {command}`");
    }
    let there = Path::new(ground.workspace.as_str());
    let there = there.strip_prefix(environment.cwd.as_str()).unwrap_or(there);
    format!("`cd {} && checkrein {command}`", quoted(&plain(&there.to_string_lossy())))
}

/// What becomes of the other names of a file that is put back under one.
fn others_in_words(fate: OtherNames) -> &'static str {
    match fate {
        OtherNames::Joined => "  one file with its other names",
        OtherNames::JoinedAsTheyAre => {
            "  one file with its other names, of which mode or times were changed since, and stay"
        }
        OtherNames::JoinedClosed => {
            "  one file with its other names, of which the mode stays: nobody was told when the action ended, so somebody may have closed them since; `--force` puts it back too"
        }
        OtherNames::Written => "  and under its other names, one file with them",
        OtherNames::WrittenClosed => {
            "  and under its other names, of which the mode stays: nobody was told when the action ended, so somebody may have closed them since; `--force` puts it back too"
        }
        OtherNames::Changed => "  as a file of its own: its other names were changed since, and stay",
        OtherNames::ChangedLater => {
            "  as a file of its own: its other names were changed since, when the action had left them as they were, and stay"
        }
        OtherNames::Doubtful => {
            "  as a file of its own: nobody was told when the action ended, so its other names may have been changed since; `--force` puts it back under them too"
        }
        OtherNames::NotFound(_) => {
            "  as a file of its own: its other names were not found, and may hold what the action wrote"
        }
    }
}

/// A place as it is seen from where the user is.
fn path(environment: &HostEnvironment, step: &Step) -> String {
    let path = step.path.as_path();
    let below = path.strip_prefix(environment.cwd.as_str()).ok().filter(|rest| !rest.as_os_str().is_empty());
    match below {
        Some(rest) => plain_name(&rest.to_string_lossy()),
        None => at_home(environment, &plain_name(&path.to_string_lossy())),
    }
}

fn detail(step: &Step) -> String {
    match (&step.then, &step.now) {
        (Some(Node::File { length, .. }), Some(Node::File { length: now, .. })) if length != now => {
            format!("  {now} -> {length} bytes")
        }
        (Some(Node::File { length, .. }), None) => format!("  {length} bytes"),
        (Some(Node::Directory { .. }), None) => "  directory".to_owned(),
        (Some(Node::Symlink { .. }), _) => "  link".to_owned(),
        (Some(Node::Pipe { .. }), _) => "  named pipe".to_owned(),
        _ => String::new(),
    }
}

fn tell(
    environment: &HostEnvironment,
    case: &RestoreTerms<'_>,
    steps: &[Step],
    sorted: &Sorted,
    restored: Option<&Restored>,
    output: OutputForm,
) -> Result<ExitStatus, CommandError> {
    let snapshot = case.snapshot;
    let left: Vec<(String, String)> = restored
        .iter()
        .flat_map(|restored| &restored.left)
        .map(|(path, why)| (path.as_path().to_string_lossy().into_owned(), why.clone()))
        .collect();
    match output {
        OutputForm::Json => {
            let step = |step: &Step| saved::RestoreStep {
                path: step.path.as_path().to_string_lossy().into_owned(),
                deed: step.deed.name().to_owned(),
            };
            let kept = sorted.left.iter().map(|(one, why)| saved::KeptStep {
                path: one.path.as_path().to_string_lossy().into_owned(),
                deed: one.deed.name().to_owned(),
                why: why.clone(),
            });
            let left = left.iter().map(|(path, why)| saved::LeftOut { path: path.clone(), why: why.clone() });
            print_exact(&api::pretty(&saved::RestoreAnswer {
                snapshot: api::recorded(&snapshot.id),
                steps: steps.iter().map(step).collect(),
                kept: kept.collect(),
                saved_as: api::recorded(&restored.map(|restored| restored.saved_as)),
                left: left.collect(),
            })?);
        }
        OutputForm::Text => {
            match restored {
                Some(restored) => print(&format!(
                    "{} done; {} takes {} back",
                    count(restored.done, "step", "steps"),
                    command_at(environment, case.ground, &format!("snapshot restore {}", restored.saved_as)),
                    if restored.done == 1 { "it" } else { "them" },
                )),
                None if steps.is_empty() && sorted.left.is_empty() && sorted.made_again.is_empty() => {
                    print("everything that was saved is as it was; nothing to do");
                }
                None => {}
            }
            for (path, why) in &left {
                log(&format!("not as it was: {}: {}", plain_name(path), plain(why)));
            }
        }
    }
    let is_lost =
        |one: &Skipped| one.reason.leaves_out_content() && one.path.as_path().symlink_metadata().is_err();
    let is_done = left.is_empty()
        && !sorted.keeps_copies
        && !snapshot.snapshot.skipped.iter().any(is_lost)
        && sorted
            .left
            .iter()
            .all(|(step, _)| step.deed == RestoreAction::Remove || step.since == Since::Later);
    Ok(if is_done { ExitStatus::Done } else { ExitStatus::Failed })
}

/// A number of things in words.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
