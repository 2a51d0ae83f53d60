//! After a call: what really changed, against what was predicted.
//!
//! Before a call nothing is done but what is done anyway: its review is in the ledger, with its time and its effects. Afterwards this
//! module looks at the workspace within bounds, compares, and says what else may have been the cause. A surprise is a reason to
//! mend the catalogue and to trust opaque calls less; it is no proof.

mod saved;
mod untold;

use std::borrow::Cow;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use checkrein_effects::predict_with;
use checkrein_facts::History;
use checkrein_ledger::{
    FolderName, LedgerFile, last,
    mask::{MaskKey, mask_text},
};

use checkrein_protocol::{
    AbsolutePath, ActionId, CallDisposition, CallProgress, Change, ChangeKind, DoubtRecord, Effect,
    EffectKind, Nature, ObservedExtent, Outcome, PathState, Record, RecordBody, ReviewRecord,
    SuccessReporting, SurpriseRecord, Timestamp, VerificationRecord,
};
use checkrein_session::{SessionLedger, calls_not_run};

use checkrein_review::{
    ActionCompletion, Aftermath, Comparison, DoubtChange, Knowledge, OtherCause, SurpriseKind, compare,
    doubt_change,
};
use checkrein_snapshot::{FileTime, SnapshotId};
use checkrein_world::changes::{
    Before, ChangeScan, Coverage, Memory, Novelty, PICTURE_LIMIT, Picture, ScanBounds, ScanRequest, look,
    real_path, standing,
};

use crate::checkpoint;
use crate::context::Context;
use crate::records::RECORDED_EFFECTS;
use crate::session_ledger;
use crate::text::call;
use crate::text::cut;

use saved::Saved;
pub(crate) use untold::look_after_untold;

/// How many surprises of one action are written down in full (ours); the number of the others is written too.
const RECORDED_SURPRISES: usize = 32;

/// How long a call that never ended counts as still running, in milliseconds (ours): the longest time-out of a client's shell.
pub(crate) const RUNNING_FOR: u64 = 10 * 60 * 1_000;

/// What is taken off the time of the review: the clocks of file systems tick up to every 10 ms (ours).
pub(crate) const TICK: u64 = 10;

/// What is taken off the start of a call as its client tells it, in milliseconds (ours).
const START_SLACK: u64 = 1_000;

/// In how many of the newest records the review of a call and the calls beside it are looked for, few first (ours).
const RECORDS: [usize; 3] = [8, 64, 512];

/// How many other sessions are asked what they were doing, and how many of their newest records are read (ours).
const OTHER_SESSIONS: usize = 16;
const OTHER_RECORDS: usize = 32;

/// Takes the first picture of the workspace, so that the first call already can be told what is gone after it.
pub(crate) fn take_picture(context: &Context, ledger: &SessionLedger) {
    let (Some(workspace), Ok(key)) =
        (context.work_tree(), session_ledger::mask_key(context.environment(), context.policy().config()))
    else {
        return;
    };
    // Nothing has changed since a moment that is still to come.
    let never = Timestamp(u64::MAX);
    let stored = stored(ledger);
    let before = Before::picture(stored.as_ref());
    let look = look_around(context, &workspace, &workspace, never, &before, &key);
    store(context, ledger, &look);
}

/// What was seen after a call; `None` for calls that cannot change files.
pub(crate) fn verify(
    context: &mut Context,
    ledger: &SessionLedger,
    id: &ActionId,
    outcome: &Outcome,
) -> Option<VerificationRecord> {
    let manner = Manner::of(outcome)?;
    let at = context.environment().now();
    let Some(found) = Found::newest(ledger, id) else {
        return Some(not_at_all("no review of this call was found"));
    };
    if let Some(snapshot) = &found.review.snapshot
        && !checkpoint::store(context.environment(), context.workspace()).holds(SnapshotId(snapshot.id))
    {
        context.snapshot_gone = Some(snapshot.id);
    }
    let Ok(key) = session_ledger::mask_key(context.environment(), context.policy().config()) else {
        return Some(not_at_all("the key for masking cannot be read"));
    };
    match manner {
        Manner::Reported => {
            keep_footprint(context, context.workspace(), &found, at, &[]);
            Some(reported(outcome, &found, &key))
        }
        // Whether a tool of somebody else can change anything is what its review said.
        Manner::SeenIfItMay if !found.review.effects.iter().any(may_change) => None,
        Manner::Seen | Manner::SeenIfItMay => Some(match context.work_tree() {
            None => {
                keep_footprint(context, context.workspace(), &found, at, &[]);
                not_at_all("the workspace is a home directory or one that everybody writes to")
            }
            Some(workspace) => seen(context, ledger, outcome, &found, &workspace, &key),
        }),
    }
}

/// What changed since then, where nothing is known of what was predicted: all of it is a surprise. `None` for calls after which nobody looks.
pub(crate) fn unreviewed(
    context: &Context,
    ledger: &SessionLedger,
    outcome: &Outcome,
    since: Timestamp,
) -> Option<VerificationRecord> {
    let (Manner::Seen | Manner::SeenIfItMay) = Manner::of(outcome)? else { return None };
    let workspace = context.work_tree()?;
    let key = session_ledger::mask_key(context.environment(), context.policy().config()).ok()?;
    let near = real_path(&outcome.action.cwd);
    let look = look_around(context, &workspace, &near, since, &Before::picture(None), &key);
    store(context, ledger, &look);
    let mut record = written(&look.coverage);
    record.gaps.push("no review of this call was found".to_owned());
    let surprises = look.changes.iter().take(RECORDED_SURPRISES).map(|change| SurpriseRecord {
        kind: SurpriseKind::Unpredicted(change.kind).into(),
        path: masked(&change.path, &key).to_string(),
        predicted: String::new(),
    });
    record.surprises = surprises.collect();
    record.more_surprises = look.changes.len().saturating_sub(RECORDED_SURPRISES) as u64;
    if !record.surprises.is_empty() {
        record.programs = vec![outcome.action.tool.as_str().to_owned()];
        record.call = cut(outcome.action.shell_text().unwrap_or_default(), 200);
    }
    Some(record)
}

/// Keeps what an action left behind that something was saved for, so that what somebody changes from now on is told apart from it when
/// it is taken back. A failure leaves that to the clock.
fn keep_footprint(
    context: &Context,
    workspace: &AbsolutePath,
    found: &Found,
    at: Timestamp,
    others: &[PathBuf],
) {
    let Some(snapshot) = &found.review.snapshot else { return };
    let file_time = |milliseconds: u64| {
        Some(FileTime {
            seconds: i64::try_from(milliseconds / 1_000).ok()?,
            nanoseconds: u32::try_from(milliseconds % 1_000 * 1_000_000).ok()?,
        })
    };
    // Our clock is cut to milliseconds, that of the file system is not.
    let (since, at) = (file_time(found.at.0.saturating_sub(TICK)), file_time(at.0 + 1));
    let (Some(since), Some(at)) = (since, at) else { return };
    let kept = checkpoint::store(context.environment(), workspace).keep_footprint(
        SnapshotId(snapshot.id),
        &found.review.action_id.0,
        since,
        at,
        others,
    );
    if let Err(error) = kept {
        context.environment().diagnostics.add(format!("what the call left behind was not kept: {error}"));
    }
}

fn not_at_all(why: &str) -> VerificationRecord {
    VerificationRecord { gaps: vec![why.to_owned()], ..VerificationRecord::default() }
}

/// How the effects of a call come to light.
enum Manner {
    /// By looking at the workspace.
    Seen,
    /// The same, when something was predicted.
    SeenIfItMay,
    /// By what the client says of its own tool.
    Reported,
}

impl Manner {
    fn of(outcome: &Outcome) -> Option<Self> {
        let action = &outcome.action;
        if action.shell_text().is_some() {
            return Some(Self::Seen);
        }
        if action.tool.as_str().starts_with("mcp__") {
            return Some(Self::SeenIfItMay);
        }
        (!outcome.reported.is_empty()).then_some(Self::Reported)
    }
}

/// The review of a call.
pub(crate) struct Found {
    /// When it was given, or earlier, when the call may have begun.
    at: Timestamp,
    /// Its number in the ledger.
    number: u64,
    pub(crate) review: Box<ReviewRecord>,
}

impl Found {
    /// The newest review of this call among the newest records.
    pub(crate) fn newest(ledger: &SessionLedger, id: &ActionId) -> Option<Self> {
        RECORDS.iter().find_map(|count| {
            let records = last(&ledger.path(), *count).ok()?;
            records.into_iter().rev().find_map(|record| match record.body {
                RecordBody::Review(review) if review.action_id == *id => {
                    let begun = review.snapshot.as_ref().and_then(|snapshot| snapshot.begun);
                    Some(Self { at: begun.unwrap_or(record.at), number: record.seq, review })
                }
                _ => None,
            })
        })
    }
}

/// What the client says of its own tool, against what was predicted.
fn reported(outcome: &Outcome, found: &Found, key: &MaskKey) -> VerificationRecord {
    let changes: Vec<Change> = outcome
        .reported
        .iter()
        .map(|change| Change { path: masked(&real_place(&change.path), key), kind: change.kind })
        .collect();
    let effects = found.review.effects.as_slice();
    let mut standings = standings(effects, since(found.at, None, found.at));
    // What the client says that it changed has changed, also where the call ran before its review.
    standings.retain(|(path, _)| !changes.iter().any(|change| change.path == *path));
    let ending = if outcome.failed { ActionCompletion::Failed } else { ActionCompletion::Succeeded };
    let comparison = compare(&Aftermath { effects, changes: &changes, standings: &standings, ending });
    let mut record = VerificationRecord { looked: ObservedExtent::Reported, ..VerificationRecord::default() };
    write_comparison(&mut record, &comparison, found, OtherCause::NoneKnown, &[]);
    record
}

/// What the workspace shows, against what was predicted.
fn seen(
    context: &Context,
    ledger: &SessionLedger,
    outcome: &Outcome,
    found: &Found,
    workspace: &AbsolutePath,
    key: &MaskKey,
) -> VerificationRecord {
    let now = context.environment().now();
    let since = since(found.at, outcome.duration_ms, now);
    let near = real_path(&outcome.action.cwd);
    let stored = stored(ledger);
    let snapshot = found.review.snapshot.as_ref().map(|record| SnapshotId(record.id));
    let saved = snapshot.and_then(|id| Saved::of(context, id, workspace));
    let names = |relative: &str| saved.as_ref()?.names(relative);
    let before = Before { picture: stored.as_ref(), names: &names };
    let mut look = look_around(context, workspace, &near, since, &before, key);
    if look.changes.iter().any(|change| change.kind == ChangeKind::Modified) {
        // A file of several names got one more from us when it was saved.
        let naming = checkpoint::store(context.environment(), context.workspace()).naming_times();
        look.changes.retain(|change| {
            change.kind != ChangeKind::Modified || !naming.explain(Path::new(change.path.as_str()))
        });
    }
    store(context, ledger, &look);
    let others: Vec<PathBuf> =
        look.changes.iter().map(|change| PathBuf::from(change.path.as_str())).collect();
    keep_footprint(context, context.workspace(), found, now, &others);
    let changes: Vec<Change> = look
        .changes
        .iter()
        .map(|change| Change { path: masked(&change.path, key), kind: change.kind })
        .collect();
    let mut effects = predicted(context, outcome, found);
    let own = effects.len();
    let standings = standings(&effects, since);
    let is_over = outcome.progress == CallProgress::Finished && outcome.success == SuccessReporting::Told;
    let ending =
        if outcome.failed || !is_over { ActionCompletion::Failed } else { ActionCompletion::Succeeded };
    let aftermath = |effects: &[Effect]| {
        compare(&Aftermath { effects, changes: &changes, standings: &standings, ending })
    };
    let mut comparison = aftermath(&effects);
    let mut others = Others::default();
    if !comparison.surprises.is_empty() {
        others = Others::beside(context, ledger, found, workspace, since, now);
        effects.extend(others.effects.iter().cloned());
        // What another call was to change is no surprise, and what it left undone is none of this one.
        let joint = aftermath(&effects);
        comparison = Comparison {
            surprises: joint
                .surprises
                .into_iter()
                .filter(|one| one.kind != SurpriseKind::Missing || comparison.surprises.contains(one))
                .collect(),
            expected: joint.expected,
        };
    }
    let mut record = written(&look.coverage);
    if own >= RECORDED_EFFECTS && !comparison.surprises.is_empty() {
        record.looked = ObservedExtent::Partly;
        record
            .gaps
            .push("more was predicted than is written down, so nothing can be told from it".to_owned());
        comparison.surprises.clear();
    }
    if !is_over {
        record.looked = ObservedExtent::Partly;
        // A client may tell that a call ended without telling how.
        let gap = match outcome.progress {
            CallProgress::Running => "the call goes on in the background",
            CallProgress::Finished => "the client does not tell whether the call succeeded",
        };
        record.gaps.push(gap.to_owned());
    }
    if !comparison.surprises.is_empty() && look.coverage.memory == Memory::Partial {
        record.gaps.push("what is gone may have gone before this call".to_owned());
    }
    let other = if others.causes.is_empty() { OtherCause::NoneKnown } else { OtherCause::Possible };
    let history = if comparison.surprises.is_empty() { History::default() } else { history(ledger) };
    write_comparison(&mut record, &comparison, found, other, &history.created);
    if !comparison.surprises.is_empty() {
        record.other_causes = others.causes;
    }
    record
}

/// The effects that were predicted for what ran.
fn predicted(context: &Context, outcome: &Outcome, found: &Found) -> Vec<Effect> {
    let mut effects = found.review.effects.clone();
    if found.review.rewrite.is_some() {
        // Something else ran than what was reviewed and written down.
        let world = context.world(History::default());
        effects.extend(predict_with(&outcome.action, &world, context.policy().catalogue()).effects);
    }
    effects
}

/// The moment from which on a change belongs to a call: its review, or its start as the client tells it, whichever is later. A user
/// may have thought about it for a while in between.
pub(crate) fn since(reviewed: Timestamp, duration_ms: Option<u64>, now: Timestamp) -> Timestamp {
    let reviewed = reviewed.0.saturating_sub(TICK);
    let started = duration_ms.map_or(0, |took| now.0.saturating_sub(took).saturating_sub(START_SLACK));
    Timestamp(reviewed.max(started))
}

fn standings(effects: &[Effect], since: Timestamp) -> Vec<(AbsolutePath, PathState)> {
    let files = effects.iter().filter(|effect| {
        matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify | EffectKind::FileDelete)
    });
    files
        .filter_map(|effect| effect.target.path())
        .map(|path| {
            // A path that was masked cannot be looked at any more.
            let is_masked = path.as_str().contains("[masked:");
            (path.clone(), if is_masked { PathState::Unknown } else { standing(path, since) })
        })
        .collect()
}

/// What else ran at the same time.
#[derive(Default)]
struct Others {
    effects: Vec<Effect>,
    causes: Vec<String>,
}

impl Others {
    fn beside(
        context: &Context,
        ledger: &SessionLedger,
        found: &Found,
        workspace: &AbsolutePath,
        since: Timestamp,
        now: Timestamp,
    ) -> Self {
        let mut others = Self::default();
        let records = last(&ledger.path(), 64).unwrap_or_default();
        others.take(&records, Some(found.number), since, now, "in this session");
        for path in busy_ledgers(context, ledger.folder(), since) {
            let records = last(&path, OTHER_RECORDS).unwrap_or_default();
            let here: Vec<Record> =
                records.into_iter().filter(|record| concerns(record, workspace)).collect();
            others.take(&here, None, since, now, "in another session");
        }
        others
    }

    /// Takes up the calls among these records that ran at or after `since`.
    fn take(&mut self, records: &[Record], own: Option<u64>, since: Timestamp, now: Timestamp, place: &str) {
        let not_run = calls_not_run(records);
        for (position, record) in records.iter().enumerate() {
            let RecordBody::Review(review) = &record.body else { continue };
            let is_refused = review.disposition() == CallDisposition::Refused;
            let refused = is_refused || not_run.contains(&review.action_id);
            if refused || Some(record.seq) == own || !review.effects.iter().any(may_change) {
                continue;
            }
            let ended = records.iter().skip(position).find_map(|later| match &later.body {
                RecordBody::Outcome(outcome) if outcome.action_id == review.action_id => Some(later.at),
                _ => None,
            });
            let ran_meanwhile = match ended {
                _ if lingers(review) => true,
                Some(ended) => ended >= since,
                None => now.0.saturating_sub(record.at.0) < RUNNING_FOR,
            };
            if ran_meanwhile {
                self.effects.extend(review.effects.iter().cloned());
                self.causes.push(format!("`{}` ran {place}", cut(&call(review), 60)));
            }
        }
    }
}

/// Whether something of a call may go on when its outcome is told.
pub(crate) fn lingers(review: &ReviewRecord) -> bool {
    review.input.get("run_in_background").and_then(serde_json::Value::as_bool) == Some(true)
        || review
            .effects
            .iter()
            .any(|effect| effect.kind == EffectKind::ProcessSpawn && effect.nature == Nature::Background)
}

/// Whether a record is about this workspace.
fn concerns(record: &Record, workspace: &AbsolutePath) -> bool {
    let place = match &record.body {
        RecordBody::Review(review) => AbsolutePath::new(&review.cwd),
        RecordBody::Outcome(_) => return true,
        _ => None,
    };
    place.is_some_and(|place| real_path(&place).is_within(workspace))
}

/// The ledgers of other sessions that were written to lately, newest first.
fn busy_ledgers(context: &Context, own: &FolderName, since: Timestamp) -> Vec<LedgerFile> {
    ledgers_since(context, own, Timestamp(since.0.saturating_sub(RUNNING_FOR)), OTHER_SESSIONS)
}

/// The ledgers of at most so many other sessions that were written to at or after a time, newest first.
pub(crate) fn ledgers_since(
    context: &Context,
    own: &FolderName,
    oldest: Timestamp,
    most: usize,
) -> Vec<LedgerFile> {
    let mut busy: Vec<(u64, LedgerFile)> = Vec::new();
    for entry in fs::read_dir(context.environment().state.sessions()).into_iter().flatten().flatten() {
        let Some(folder) = FolderName::on_disk(&entry.file_name()).filter(|folder| folder != own) else {
            continue;
        };
        let path = SessionLedger::of_folder(&context.environment().state, folder).path();
        let modified = fs::metadata(&path).and_then(|facts| facts.modified()).ok();
        let modified = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified = modified.and_then(|time| u64::try_from(time.as_millis()).ok()).unwrap_or(0);
        if modified >= oldest.0 {
            busy.push((modified, path));
        }
    }
    busy.sort_by(|(one, a), (other, b)| (other, b.path()).cmp(&(one, a.path())));
    busy.truncate(most);
    busy.into_iter().map(|(_, path)| path).collect()
}

/// Whether an effect changes something, or may without its being known.
fn may_change(effect: &Effect) -> bool {
    effect.kind.is_mutating() || Knowledge::of(std::slice::from_ref(effect)) == Knowledge::Opaque
}

/// Puts a comparison into a record.
fn write_comparison(
    record: &mut VerificationRecord,
    comparison: &Comparison,
    found: &Found,
    other: OtherCause,
    own: &[AbsolutePath],
) {
    let review = found.review.as_ref();
    let DoubtChange { points, ceiling } =
        doubt_change(comparison, Knowledge::of(&review.effects), other, own);
    record.doubt = (points != 0).then_some(DoubtRecord { points, ceiling });
    record.expected = comparison.expected as u64;
    let surprises = comparison.surprises.iter().take(RECORDED_SURPRISES).map(|surprise| SurpriseRecord {
        kind: surprise.kind.into(),
        path: surprise.path.to_string(),
        predicted: surprise.predicted.clone(),
    });
    record.surprises = surprises.collect();
    record.more_surprises = comparison.surprises.len().saturating_sub(RECORDED_SURPRISES) as u64;
    if !record.surprises.is_empty() {
        record.programs = suspects(review);
        record.call = cut(&call(review), 200);
    }
}

/// The programs that may have caused a surprise: those that were said to be unknown, else all.
fn suspects(review: &ReviewRecord) -> Vec<String> {
    let unread = review.effects.iter().filter(|effect| effect.kind == EffectKind::Opaque);
    let mut names: Vec<String> = unread.map(|effect| effect.cause.clone()).collect();
    names.retain(|name| !name.is_empty() && review.programs.contains(name));
    if names.is_empty() {
        names.extend(review.programs.iter().filter(|name| !name.is_empty()).cloned());
    }
    if names.is_empty() {
        names.push(review.tool.as_str().to_owned());
    }
    names.dedup();
    names
}

fn written(coverage: &Coverage) -> VerificationRecord {
    VerificationRecord {
        looked: if coverage.gaps.is_empty() { ObservedExtent::Whole } else { ObservedExtent::Partly },
        gaps: coverage.gaps.clone(),
        entries: coverage.entries as u64,
        left_out: coverage.left_out.iter().map(ToString::to_string).collect(),
        ..VerificationRecord::default()
    }
}

fn look_around(
    context: &Context,
    workspace: &AbsolutePath,
    near: &AbsolutePath,
    since: Timestamp,
    before: &Before<'_>,
    key: &MaskKey,
) -> ChangeScan {
    let environment = context.environment();
    // The client writes its own answers to permission questions there; its settings have a watch of their own.
    let written = environment.client.places.written.iter().map(|file| workspace.join(file));
    let spared: Vec<AbsolutePath> = written.chain([real_path(&environment.state_path)]).collect();
    let ground = ScanRequest {
        root: workspace,
        near,
        spared: &spared,
        home: &environment.home,
        configuration: environment.variables.get("XDG_CONFIG_HOME").map(String::as_str),
        now: environment.now(),
        bounds: ScanBounds::default(),
    };
    look(&ground, since, before, &|name| masked_text(name, key))
}

fn history(ledger: &SessionLedger) -> History {
    ledger.state().map(|state| state.history()).unwrap_or_default()
}

/// The picture of the last look of this session.
fn stored(ledger: &SessionLedger) -> Option<Picture> {
    let path = picture_path(ledger);
    let length = usize::try_from(fs::metadata(&path).ok()?.len()).ok()?;
    if length > PICTURE_LIMIT {
        return None;
    }
    let kept = checkrein_files::read(&path, PICTURE_LIMIT as u64).ok()?;
    Picture::from_bytes(&ledger.path().vault().open(kept, &picture_purpose(ledger)).ok()?)
}

/// Keeps a picture for the next look. In place: a torn one is told by its sum and counts as none.
fn store(context: &Context, ledger: &SessionLedger, look: &ChangeScan) {
    if look.novelty == Novelty::Same {
        return;
    }
    let Some(bytes) = look.picture.to_bytes() else { return };
    // It holds the names of the files of the project.
    let bytes = match ledger.path().vault().seal(&bytes, &picture_purpose(ledger)) {
        Ok(bytes) => bytes,
        Err(error) => {
            context.environment().diagnostics.add(format!("no picture of the workspace was kept: {error}"));
            return;
        }
    };
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = checkrein_files::open_with(&mut options, picture_path(ledger))
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes));
    if let Err(error) = written {
        context.environment().diagnostics.add(format!("no picture of the workspace was kept: {error}"));
    }
}

/// What a picture is bound to.
fn picture_purpose(ledger: &SessionLedger) -> Vec<u8> {
    format!("{}/picture", ledger.folder().as_str()).into_bytes()
}

fn picture_path(ledger: &SessionLedger) -> PathBuf {
    ledger.directory().join("picture")
}

/// The path with its directory resolved, as targets are named.
fn real_place(path: &AbsolutePath) -> AbsolutePath {
    match (path.parent(), path.name()) {
        (Some(parent), Some(name)) => real_path(&parent).join(name),
        _ => path.clone(),
    }
}

/// The path as records show it.
fn masked(path: &AbsolutePath, key: &MaskKey) -> AbsolutePath {
    match masked_text(path.as_str(), key) {
        Some(text) => AbsolutePath::root().join(&text),
        None => path.clone(),
    }
}

fn masked_text(text: &str, key: &MaskKey) -> Option<String> {
    match mask_text(text, key) {
        Cow::Owned(masked) => Some(masked),
        Cow::Borrowed(_) => None,
    }
}
