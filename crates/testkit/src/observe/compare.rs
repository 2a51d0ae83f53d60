//! Holds what was seen against what was predicted.

use checkrein_glob::{Glob, Style};
use checkrein_protocol::{
    AbsolutePath, Certainty, Depth, Effect, EffectKind, FileChange, Footprint, Severity, Target,
};

use super::fixture::UsePlace;
use super::trace::Trace;
use super::tree::{SeenChange, SeenTree};

/// What is predicted of a use.
#[derive(Debug, Clone, Default)]
pub struct UsePrediction {
    /// The effects.
    pub effects: Vec<Effect>,
    /// The names of the programs that it follows.
    pub programs: Vec<String>,
}

/// What was seen of a use.
#[derive(Debug, Clone)]
pub struct UseObservation {
    /// What stood in its home directory before.
    pub before: SeenTree,
    /// And after.
    pub after: SeenTree,
    /// What was traced; nothing when nobody traced.
    pub trace: Trace,
    /// The exit status.
    pub status: i32,
}

/// How prediction and observation differ, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DisagreementKind {
    /// Something was deleted, written or given another mode, and nothing was predicted of it.
    Unsound,
    /// A secret was read, and nothing was predicted of it.
    Secret,
    /// Something was made, and nothing was predicted of it.
    Made,
    /// What was called certain did not happen, although the use succeeded.
    Untrue,
    /// A host was to be reached, and nothing was predicted of it.
    Connects,
    /// A program was started that the prediction does not follow.
    Runs,
    /// Much more was predicted than happened.
    Loose,
}

impl DisagreementKind {
    /// All of them, the worst first.
    pub const ALL: [Self; 7] =
        [Self::Unsound, Self::Secret, Self::Made, Self::Untrue, Self::Connects, Self::Runs, Self::Loose];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsound => "unsound",
            Self::Secret => "secret",
            Self::Made => "made",
            Self::Untrue => "untrue",
            Self::Connects => "connects",
            Self::Runs => "runs",
            Self::Loose => "loose",
        }
    }

    /// Whether a use that differs in this way does not agree.
    pub fn is_fault(self) -> bool {
        match self {
            Self::Unsound | Self::Secret | Self::Made | Self::Untrue | Self::Connects => true,
            Self::Runs | Self::Loose => false,
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Disagreement {
    /// Of which sort.
    pub kind: DisagreementKind,
    /// What was seen or not seen: `deleted a.txt`.
    pub what: String,
}

/// Whether the prediction says that it does not see all.
pub fn is_unread(prediction: &UsePrediction) -> bool {
    prediction.effects.iter().any(|effect| match effect.kind {
        EffectKind::Opaque => effect.severity >= Severity::Medium,
        kind => kind == EffectKind::RemoteCodeExecution,
    })
}

/// Why a use is not run: what it is predicted to do beyond its folder.
pub fn leaves(prediction: &UsePrediction, place: &UsePlace) -> Option<String> {
    let folder = AbsolutePath::root().join(&place.folder.to_string_lossy());
    prediction.effects.iter().find_map(|effect| {
        let is_elsewhere = match effect.kind {
            EffectKind::SystemModification
            | EffectKind::PrivilegeEscalation
            | EffectKind::ProcessKill
            | EffectKind::PackageInstall
            | EffectKind::InfrastructureChange
            | EffectKind::InfrastructureDestroy
            | EffectKind::Publish
            | EffectKind::VcsRemoteUpdate => true,
            kind if kind.is_mutating() => match &effect.target {
                Target::Path(path) => is_outside(path.as_str(), &folder),
                Target::Glob(pattern) => is_outside(pattern, &folder),
                Target::Host(_)
                | Target::Process(_)
                | Target::Service(_)
                | Target::Reference(_)
                | Target::Unknown => false,
            },
            _ => false,
        };
        is_elsewhere.then(|| format!("{} {}", effect.kind.name(), effect.target.text().unwrap_or("?")))
    })
}

fn is_outside(text: &str, folder: &AbsolutePath) -> bool {
    let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/", "/tmp/"];
    !harmless.iter().any(|place| text.starts_with(place))
        && !AbsolutePath::new(text).is_some_and(|path| path.is_within(folder))
}

/// How they differ.
pub fn compared(prediction: &UsePrediction, seen: &UseObservation, place: &UsePlace) -> Vec<Disagreement> {
    let effects = &prediction.effects;
    let unread = is_unread(prediction);
    let with_git = prediction.programs.iter().any(|program| program == "git")
        || seen.trace.started.iter().any(|path| path.ends_with("/git"));
    let mut found = Vec::new();
    let mut add = |kind, what: String| found.push(Disagreement { kind, what });
    let changes = seen.before.changes(&seen.after);
    if !unread {
        for (change, path) in &changes {
            if is_own_affair(*change, path, place) || with_git && is_data_of_git(path, &seen.before) {
                continue;
            }
            // Who fails may take away what it was writing: what was there is lost either way.
            let is_cleared = *change == SeenChange::Deleted
                && seen.status != 0
                && effects.iter().any(|effect| explains(effect, SeenChange::Written, path));
            if !is_cleared && !effects.iter().any(|effect| explains(effect, *change, path)) {
                let kind = match change {
                    SeenChange::Created => DisagreementKind::Made,
                    SeenChange::Written | SeenChange::Deleted | SeenChange::Mode => DisagreementKind::Unsound,
                };
                add(kind, format!("{} {}", change.name(), shown(path, place)));
            }
        }
        for path in &seen.trace.read {
            let Some(path) = AbsolutePath::new(path) else { continue };
            let is_secret = [".ssh/id_rsa", ".netrc"].iter().any(|name| path == place.home.join(name));
            // A program that logs in somewhere looks for the name and password there.
            let told = |effect: &Effect| {
                effect.kind == EffectKind::NetworkRequest && path.name() == Some(".netrc")
                    || matches!(
                        effect.kind,
                        EffectKind::FileRead | EffectKind::SecretRead | EffectKind::DataUpload
                    ) && reaches(effect, &path)
            };
            if is_secret && !effects.iter().any(told) {
                add(DisagreementKind::Secret, format!("read {}", shown(&path, place)));
            }
        }
        for address in &seen.trace.reached {
            let told = |effect: &Effect| {
                matches!(
                    effect.kind,
                    EffectKind::NetworkRequest
                        | EffectKind::DataUpload
                        | EffectKind::PackageInstall
                        | EffectKind::Publish
                        | EffectKind::VcsRemoteUpdate
                )
            };
            if !effects.iter().any(told) {
                add(DisagreementKind::Connects, format!("connected to {address}"));
            }
        }
        for path in &seen.trace.started {
            let name = path.rsplit('/').next().unwrap_or_default();
            if !prediction.programs.iter().any(|known| known == name) {
                add(DisagreementKind::Runs, format!("started {name}"));
            }
        }
    }
    if seen.status == 0 {
        for effect in effects.iter().filter(|effect| effect.certainty == Certainty::Certain) {
            if is_untrue(effect, effects, seen, place) {
                let path = effect.target.path().map(|path| shown(path, place)).unwrap_or_default();
                add(DisagreementKind::Untrue, format!("{} {path}", effect.kind.name()));
            }
        }
    }
    for effect in effects {
        let is_change = matches!(effect.kind, EffectKind::FileDelete | EffectKind::FileModify);
        let is_wide = match &effect.target {
            Target::Path(path) => effect.depth == Depth::Recursive && place.project.is_within(path),
            Target::Unknown => true,
            Target::Glob(_)
            | Target::Host(_)
            | Target::Process(_)
            | Target::Service(_)
            | Target::Reference(_) => false,
        };
        if is_change && is_wide && changes.len() < 2 {
            let target = effect.target.path().map_or("?".to_owned(), |path| shown(path, place));
            add(DisagreementKind::Loose, format!("{} {target}", effect.kind.name()));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// A path as a user would write it who stands in the project.
fn shown(path: &AbsolutePath, place: &UsePlace) -> String {
    match (path.relative_to(&place.project), path.relative_to(&place.home)) {
        (Some("" | "."), _) => ".".to_owned(),
        (Some(name), _) => name.to_owned(),
        (None, Some(name)) => format!("~/{name}"),
        (None, None) => path.as_str().to_owned(),
    }
}

/// What programs make and keep for themselves: a hidden name in the home directory, save what makes something run later.
fn is_own_affair(change: SeenChange, path: &AbsolutePath, place: &UsePlace) -> bool {
    let first = path.relative_to(&place.home).and_then(|rest| rest.split('/').next());
    let runs_later =
        |name: &str| ["rc", "profile", "login", "logout", "ssh", "env"].iter().any(|end| name.ends_with(end));
    change == SeenChange::Created && first.is_some_and(|name| name.starts_with('.') && !runs_later(name))
}

/// Whether a path is of the data of a repository, save what makes git run something in one that was there.
fn is_data_of_git(path: &AbsolutePath, before: &SeenTree) -> bool {
    let mut parts = path.parts().skip_while(|part| *part != ".git").skip(1);
    let first = parts.next();
    let is_new = std::iter::successors(Some(path.clone()), AbsolutePath::parent)
        .find(|above| above.name() == Some(".git"))
        .is_some_and(|repository| !before.has(&repository));
    first.is_some() && (is_new || !matches!(first, Some("hooks" | "config")))
}

/// Whether an effect says that such a change may come.
fn explains(effect: &Effect, change: SeenChange, path: &AbsolutePath) -> bool {
    let fits = match effect.kind.file_change() {
        Some(FileChange::Delete) => change != SeenChange::Created,
        Some(FileChange::Create | FileChange::Modify) => change != SeenChange::Deleted,
        Some(FileChange::Permissions) => change == SeenChange::Mode,
        None => {
            let fits = match effect.kind.footprint() {
                Footprint::None => false,
                Footprint::Changes => change != SeenChange::Deleted,
                Footprint::Removes => true,
            };
            // What is aimed at no file says that some files may differ, and not which.
            if fits && !matches!(effect.target, Target::Path(_) | Target::Glob(_)) {
                return true;
            }
            fits
        }
    };
    let is_on_the_way = change == SeenChange::Created
        && match &effect.target {
            Target::Path(target) => target.is_within(path),
            Target::Glob(pattern) => AbsolutePath::new(pattern).is_some_and(|target| target.is_within(path)),
            _ => false,
        };
    fits && (reaches(effect, path) || is_on_the_way)
}

/// Whether an effect reaches a path.
fn reaches(effect: &Effect, path: &AbsolutePath) -> bool {
    match &effect.target {
        Target::Path(target) => match effect.depth {
            Depth::Single => path == target,
            Depth::Recursive => path.is_within(target),
        },
        Target::Glob(pattern) => {
            let glob = Glob::new(pattern.trim_end_matches('/'), Style::Setting);
            match effect.depth {
                Depth::Single => glob.matches(path.as_str()),
                Depth::Recursive => glob.or_below().matches(path.as_str()),
            }
        }
        Target::Unknown => true,
        Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => false,
    }
}

/// Whether something was called certain and did not happen.
fn is_untrue(effect: &Effect, effects: &[Effect], seen: &UseObservation, place: &UsePlace) -> bool {
    let Some(path) = effect.target.path().filter(|path| path.is_within(&place.home)) else { return false };
    // To add nothing changes nothing.
    if effect.only_adds() || path.as_str().contains("$$") || path.parts().any(|part| part == ".git") {
        return false;
    }
    let is_also = |change: FileChange| {
        effects.iter().any(|other| other.kind.file_change() == Some(change) && reaches(other, path))
    };
    match effect.kind.file_change() {
        Some(FileChange::Create | FileChange::Modify | FileChange::Permissions) => {
            !is_also(FileChange::Delete) && !seen.before.is_touched(&seen.after, path)
        }
        Some(FileChange::Delete) => {
            seen.before.has(path)
                && seen.after.has(path)
                && !is_also(FileChange::Create)
                && !is_also(FileChange::Modify)
        }
        None => false,
    }
}
