//! Saving the whole workspace: when a session starts, every now and then, and before what cannot be seen through.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use checkrein_policy::Snapshots;
use checkrein_protocol::{RecordBody, SnapshotRecord};
use checkrein_review::{Review, VerdictKind, is_opaque};
use checkrein_snapshot::{
    CaptureBounds, CaptureOptions, CaptureRequest, Circumstances, EarlierWorkspace, FileTime, LimitExceeded,
    Mounts, Outlook, Retention, SessionPlace, SnapshotError, SnapshotId, SnapshotReason, Store, Unchanged,
    WorkspaceCapture,
};
use serde_json::json;

use super::words::told;
use super::{NOT_SAVED, ignoring, is_unclear, masked, run_by_git, store};
use crate::context::Context;
use crate::environment::HostEnvironment;
use crate::retention::Carry;

/// How far a snapshot of the workspace goes that keeps a session or an action waiting (ours): the goal is 100,000 files in 3 s.
const START: CaptureBounds =
    CaptureBounds { entries: 250_000, bytes: 4 * 1024 * 1024 * 1024, time: Duration::from_secs(4) };

/// The same before an action: what has been seen before is not read again, so this is much (ours).
const BEFORE: Duration = Duration::from_millis(500);

/// How old the last look may be before an action of which nobody knows what it changes, where a look takes its time (ours). Elsewhere there is
/// a look before each of them.
const RECENT: Duration = Duration::from_mins(1);

/// The greatest file that is read while such an action waits, when it was not seen before, in bytes (ours).
const LARGEST_WAITED_FOR: u64 = 16 * 1024 * 1024;

/// A session that was written to within this time is alive, and what was saved for it stays, in milliseconds (ours).
const LIVE: u64 = 24 * 60 * 60 * 1_000;

/// Into how many threads the work is divided at most (ours).
const THREADS: usize = 4;

/// Saves the workspace when a session starts; what is to be recorded about it.
pub(crate) fn at_start(context: &Context, place: SessionPlace) -> Option<RecordBody> {
    let settings = &context.policy().config().snapshots;
    if !settings.enabled || !settings.session_start {
        return None;
    }
    context.work_tree()?;
    let started = Instant::now();
    let taken = take(
        context,
        (Reach { bounds: START, largest: u64::MAX }, &[]),
        Unchanged::Reuse,
        SnapshotReason::SessionStart,
        "the session starts",
        Some(place),
    );
    Some(match taken {
        Ok(WorkspaceCapture::Whole(id) | WorkspaceCapture::Same(id)) => RecordBody::Event {
            name: "checkrein.snapshot".to_owned(),
            fields: json!({
                "id": id,
                "new": matches!(taken, Ok(WorkspaceCapture::Whole(_))),
                "elapsed_ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            }),
        },
        Ok(WorkspaceCapture::Over(over)) => failure("bound", &too_large(over)),
        Err(error) => failure("unwritable", &error.to_string()),
    })
}

/// Clears away what is older, more or larger than is kept, so that nobody has to think of it. A failure leaves more than is needed.
pub(crate) fn clear_away(context: &Context) -> Option<RecordBody> {
    let settings = &context.policy().config().snapshots;
    let store = store(context.environment(), context.workspace()).with_lock_wait(Duration::from_millis(50));
    if !settings.enabled || store.last_look().is_none() {
        return None;
    }
    let retention = retention(context.environment(), settings);
    let going = store.expendable(&retention).ok().filter(|going| !going.is_empty())?;
    let pruned = store.prune(&going, retention.since).ok()?;
    Some(RecordBody::Event {
        name: "checkrein.snapshots_pruned".to_owned(),
        fields: json!({ "snapshots": pruned.snapshots, "bytes": pruned.bytes }),
    })
}

/// Clears away what is old in the stores of all workspaces, or only counts it: a workspace to which nobody comes back would keep for ever what was
/// saved of it. The newest snapshot of each stays. Nothing is begun after `until`.
pub(crate) fn clear_away_elsewhere(
    environment: &HostEnvironment,
    settings: &Snapshots,
    carry: Carry,
    until: Option<Instant>,
) -> u64 {
    let retention = retention(environment, settings);
    let stores = environment.state.root().join("snapshots");
    let mut count = 0;
    for folder in std::fs::read_dir(&stores).into_iter().flatten().flatten() {
        if until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        let Some(store) = Store::in_folder(&folder.path()) else { continue };
        let store =
            store.with_vault(environment.state.vault().clone()).with_lock_wait(Duration::from_millis(50));
        // Opening a store costs; that of a name is enough to see that it holds something old.
        if !store.holds_older_than(retention.since) {
            continue;
        }
        let going = store.expendable(&retention).unwrap_or_default();
        count += match carry {
            Carry::Look => going.len() as u64,
            Carry::Out if going.is_empty() => 0,
            Carry::Out => {
                store.prune(&going, retention.since).map_or(0, |pruned| pruned.snapshots.len() as u64)
            }
        };
    }
    count
}

/// How much is kept.
pub fn retention(environment: &HostEnvironment, settings: &Snapshots) -> Retention {
    let now = environment.now().0;
    let live = checkrein_session::sessions(&environment.state)
        .unwrap_or_default()
        .into_iter()
        .filter(|session| session.last.is_some_and(|last| now.saturating_sub(last.0) < LIVE))
        .map(|session| session.folder.as_str().to_owned())
        .collect();
    Retention {
        since: now.saturating_sub(settings.retention_days.saturating_mul(24 * 60 * 60 * 1_000)),
        count: settings.retention_count,
        bytes: settings.retention_megabytes.saturating_mul(1024 * 1024),
        live,
    }
}

/// The workspace before an action.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The snapshot from which the action is taken back.
    pub(crate) snapshot: Option<SnapshotRecord>,
    /// The snapshot that shows the workspace as it is before the action, when there was a look.
    pub(crate) looked: Option<SnapshotId>,
    /// What could not be saved, each one clause.
    pub(crate) gaps: Vec<String>,
}

/// Whether the workspace is saved although it is not time for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// It waits for its time.
    None,
    /// The action destroys what could not be saved for it alone.
    Loss,
}

/// Saves the workspace before an action, when it is time for that or the action cannot be seen through. `review` is that of the action when
/// nothing is saved, `saved` what was saved for it already; that nothing stands at the places `absent` is written down where nothing was.
pub(crate) fn before(
    context: &Context,
    (review, urgency): (&Review, Urgency),
    (reason, place): (&str, &SessionPlace),
    saved: Option<SnapshotRecord>,
    absent: &[CaptureRequest],
) -> Kept {
    let settings = &context.policy().config().snapshots;
    let effects = &review.side_effects.effects;
    let is_unclear = is_unclear(review);
    let changes = is_unclear || effects.iter().any(|effect| effect.kind.is_mutating());
    let is_refused = review.verdict.kind >= VerdictKind::Block && saved.is_none();
    if !settings.enabled || !changes || is_refused {
        return Kept { snapshot: saved, ..Kept::default() };
    }
    let interval = Duration::from_secs(settings.interval_minutes.saturating_mul(60));
    let last = store(context.environment(), context.workspace()).last_look();
    let is_older = |than: Duration| {
        last.is_none_or(|(at, _)| SystemTime::now().duration_since(at).is_ok_and(|age| age > than))
    };
    let outlook = last.map(|(_, outlook)| outlook);
    let is_due = is_older(interval)
        || urgency == Urgency::Loss && outlook != Some(Outlook::TooLarge)
        || is_unclear
            && match outlook {
                Some(Outlook::Quick) => true,
                Some(Outlook::Slow) => is_older(RECENT),
                // It is tried again when that is due anyway.
                Some(Outlook::TooLarge) | None => false,
            };
    if !is_due || context.work_tree().is_none() {
        return Kept { snapshot: saved, ..Kept::default() };
    }
    let bounds = match outlook {
        Some(Outlook::Quick | Outlook::Slow) => CaptureBounds { time: BEFORE, ..START },
        Some(Outlook::TooLarge) | None => {
            CaptureBounds { time: Duration::from_millis(settings.max_ms), ..START }
        }
    };
    let started = Instant::now();
    let (unchanged, occasion) = if is_unclear && saved.is_none() {
        (Unchanged::Repeat, SnapshotReason::BeforeAction)
    } else {
        (Unchanged::Reuse, SnapshotReason::Interval)
    };
    let largest = match outlook {
        Some(Outlook::Quick | Outlook::Slow) => LARGEST_WAITED_FOR,
        Some(Outlook::TooLarge) | None => u64::MAX,
    };
    let reach = Reach { bounds, largest };
    let mut beside = if is_opaque(review) { run_by_git(context.workspace()) } else { Vec::new() };
    if occasion == SnapshotReason::BeforeAction {
        beside.extend_from_slice(absent);
    }
    match take(context, (reach, &beside), unchanged, occasion, reason, Some(place.clone())) {
        Ok(WorkspaceCapture::Whole(id) | WorkspaceCapture::Same(id)) => {
            let snapshot = saved.or_else(|| {
                let listed = store(context.environment(), context.workspace()).snapshot(id).ok()?;
                Some(SnapshotRecord {
                    id: id.0,
                    entries: listed.snapshot.entries,
                    bytes: listed.snapshot.bytes,
                    elapsed_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
                    not_saved: told(&listed.snapshot.skipped),
                    begun: None,
                })
            });
            Kept { snapshot, looked: Some(id), gaps: Vec::new() }
        }
        Ok(WorkspaceCapture::Over(over)) => {
            Kept { snapshot: saved, looked: None, gaps: vec![too_large(over)] }
        }
        Err(error) => {
            Kept { snapshot: saved, looked: None, gaps: vec![format!("the workspace {NOT_SAVED}{error}")] }
        }
    }
}

/// Saves the workspace while an agent works that asks nobody: what its next call finds. `None` where that would keep it waiting.
pub(crate) fn keep(context: &Context, place: SessionPlace) -> Option<SnapshotId> {
    let settings = &context.policy().config().snapshots;
    context.work_tree().filter(|_| settings.enabled)?;
    let store = store(context.environment(), context.workspace());
    if let None | Some((_, Outlook::TooLarge)) = store.last_look() {
        return None;
    }
    let reach = Reach { bounds: CaptureBounds { time: BEFORE, ..START }, largest: LARGEST_WAITED_FOR };
    let (occasion, reason) = (SnapshotReason::Interval, "the agent goes on, and asks nobody");
    match take(context, (reach, &[]), Unchanged::Reuse, occasion, reason, Some(place)).ok()? {
        WorkspaceCapture::Whole(id) | WorkspaceCapture::Same(id) => Some(id),
        WorkspaceCapture::Over(_) => None,
    }
}

/// The workspace as it stood when a call began that was heard of later, from what was kept before it.
pub(crate) fn earlier(
    context: &Context,
    bases: &[SnapshotId],
    moment: FileTime,
) -> Result<Option<EarlierWorkspace>, SnapshotError> {
    let reach = Reach { bounds: CaptureBounds { time: BEFORE, ..START }, largest: LARGEST_WAITED_FOR };
    within(context, reach, |store, options| store.earlier_workspace(bases, moment, options))
}

/// How far a snapshot of the workspace goes.
#[derive(Clone, Copy)]
struct Reach {
    bounds: CaptureBounds,
    /// The greatest file that is read, in bytes, should more be configured.
    largest: u64,
}

fn take(
    context: &Context,
    (reach, beside): (Reach, &[CaptureRequest]),
    unchanged: Unchanged,
    occasion: SnapshotReason,
    reason: &str,
    place: Option<SessionPlace>,
) -> Result<WorkspaceCapture, SnapshotError> {
    let circumstances =
        Circumstances { at: context.environment().now().0, occasion, reason: masked(context, reason), place };
    within(context, reach, |store, options| {
        store.take_workspace(beside, options, unchanged, |captured| captured.described(circumstances))
    })
}

/// What `take` does with the store of the workspace and the options under which it is saved.
fn within<Taken>(
    context: &Context,
    reach: Reach,
    take: impl FnOnce(&Store, &CaptureOptions<'_>) -> Result<Taken, SnapshotError>,
) -> Result<Taken, SnapshotError> {
    let store = store(context.environment(), context.workspace());
    let root = store.workspace().to_str().and_then(checkrein_protocol::AbsolutePath::new);
    let ignoring = ignoring(context.environment(), root.as_ref().unwrap_or(context.workspace()));
    let own = [PathBuf::from(context.environment().state_path.as_str())];
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS);
    let largest = context.policy().config().snapshots.largest_file_megabytes.saturating_mul(1024 * 1024);
    let manner = CaptureOptions {
        bounds: reach.bounds,
        largest: Some(largest.min(reach.largest)),
        spared: &own,
        mounts: Mounts::Skip,
        ignoring: Some(&ignoring),
        threads: NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
        seen: None,
    };
    take(&store, &manner)
}

fn too_large(over: LimitExceeded) -> String {
    let what = match over {
        LimitExceeded::Entries => "it has too many files",
        LimitExceeded::Bytes => "it is too large",
        LimitExceeded::Time => "it would have taken too long",
    };
    format!("the workspace {NOT_SAVED}{what}; `checkrein snapshot create` saves it without bounds")
}

fn failure(kind: &str, detail: &str) -> RecordBody {
    RecordBody::Failure {
        stage: "snapshot".to_owned(),
        kind: kind.to_owned(),
        detail: detail.to_owned(),
        verdict: VerdictKind::Ok,
    }
}
