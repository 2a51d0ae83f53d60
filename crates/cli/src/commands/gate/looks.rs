//! What gates look at. Gates that look together have it found out once.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::rc::Rc;

use checkrein_engine::environment::HostEnvironment;
use checkrein_engine::error::CommandError;
use checkrein_gates::Gate;
use checkrein_worktree::{
    ChangeBase, ChangedText, GitRepository, TextNow, changed_texts, guard_files, hidden_by_clone,
    is_known_path,
};

use super::longest;
use crate::terminal::plain;

/// What was read of a repository for some gates.
pub(super) struct Looks<'a> {
    repository: &'a GitRepository,
    is_wanted: &'a dyn Fn(&Path) -> bool,
    /// The longest text that one of the gates reads, in bytes.
    longest: u64,
    keeping: Keeping,
    seen: Vec<(ChangeBase, Rc<Vec<ChangedText>>)>,
    hidden: Option<Vec<String>>,
}

/// Whether what was read is wanted again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeping {
    ForOthers,
    Nothing,
}

impl<'a> Looks<'a> {
    /// Nothing was looked at yet.
    pub(super) fn new(
        repository: &'a GitRepository,
        is_wanted: &'a dyn Fn(&Path) -> bool,
        gates: &[Gate],
    ) -> Self {
        let keeping = if gates.len() > 1 { Keeping::ForOthers } else { Keeping::Nothing };
        let longest = gates.iter().map(|gate| longest(*gate)).max().unwrap_or_default();
        Self { repository, is_wanted, longest, keeping, seen: Vec::new(), hidden: None }
    }

    /// The repository.
    pub(super) fn repository(&self) -> &'a GitRepository {
        self.repository
    }

    /// Which files are looked at.
    pub(super) fn is_wanted(&self) -> &'a dyn Fn(&Path) -> bool {
        self.is_wanted
    }

    /// Returns the texts that changed. Those that are longer than a gate reads are not read.
    pub(super) fn changed(
        &mut self,
        base: &ChangeBase,
        longest: u64,
    ) -> Result<Rc<Vec<ChangedText>>, CommandError> {
        let known = self.seen.iter().find(|(seen, _)| seen == base).map(|(_, texts)| Rc::clone(texts));
        let texts = match known {
            Some(texts) => texts,
            None => Rc::new(changed_texts(self.repository, base, self.longest, self.is_wanted)?),
        };
        if self.keeping == Keeping::ForOthers && !self.seen.iter().any(|(seen, _)| seen == base) {
            self.seen.push((base.clone(), Rc::clone(&texts)));
        }
        let is_long =
            |text: &ChangedText| matches!(&text.now, TextNow::Bytes(bytes) if bytes.len() as u64 > longest);
        if !texts.iter().any(is_long) {
            return Ok(texts);
        }
        let shortened = texts.iter().map(|text| {
            let now =
                if is_long(text) { TextNow::NotRead("it is longer than 1 MiB") } else { text.now.clone() };
            ChangedText { now, ..text.clone() }
        });
        Ok(Rc::new(shortened.collect()))
    }

    /// Returns the new files that are in no change only since this clone hides them: nothing is passed over in silence.
    pub(super) fn hidden(&mut self) -> Result<Vec<String>, CommandError> {
        if let Some(hidden) = &self.hidden {
            return Ok(hidden.clone());
        }
        let is_guard = |path: &str| guard_files().any(|guard| guard == path || guard.starts_with(path));
        let mut hidden = hidden_by_clone(self.repository)?;
        hidden.retain(|path| (self.is_wanted)(Path::new(path)) && !is_guard(path));
        self.hidden = Some(hidden.clone());
        Ok(hidden)
    }
}

/// Which changed files a gate is to look at.
pub(super) fn wanted_paths(
    environment: &HostEnvironment,
    (workspace, repository): (&Path, &GitRepository),
    (base, paths, begun): (&ChangeBase, &[String], Option<u64>),
) -> Result<impl Fn(&Path) -> bool, CommandError> {
    let within = roots(environment, workspace, paths)?;
    for (root, given) in within.iter().zip(paths) {
        if !is_known_path(repository, base, root)? {
            return Err(CommandError::user(
                format!("`{}` is neither in the work tree nor in what it is compared with", plain(given)),
                "correct the path: a gate that looks at nothing would pass every time",
            ));
        }
    }
    let workspace = workspace.to_owned();
    Ok(move |path: &Path| {
        let is_within = within.is_empty() || within.iter().any(|root| path.starts_with(root));
        is_within && begun.is_none_or(|begun| changed_since(&workspace.join(path), begun))
    })
}

/// Whether a file changed at or after a time, by the clock of its file system; one that is gone or cannot be looked at counts.
fn changed_since(path: &Path, begun: u64) -> bool {
    let Ok(facts) = std::fs::symlink_metadata(path) else { return true };
    let (seconds, nanos) = (facts.ctime(), facts.ctime_nsec());
    // Kernels tell the time of changes to some milliseconds, some file systems to the second.
    let coarse = if nanos == 0 { 1000 } else { 20 };
    let changed = seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000).saturating_add(coarse);
    u64::try_from(changed).is_ok_and(|changed| changed >= begun)
}

/// The paths that were given, from the root of the work tree.
fn roots(
    environment: &HostEnvironment,
    workspace: &Path,
    paths: &[String],
) -> Result<Vec<String>, CommandError> {
    let root = workspace.to_string_lossy();
    paths
        .iter()
        .map(|given| {
            let path = environment.cwd.join(given);
            // The work tree may be known by another name than its real one.
            let real =
                std::fs::canonicalize(path.as_str()).unwrap_or_else(|_| Path::new(path.as_str()).to_owned());
            let below = real.strip_prefix(workspace).map(|below| below.to_string_lossy().into_owned());
            below.map_err(|_| {
                CommandError::user(
                    format!("`{}` is outside of the work tree `{}`", plain(given), plain(&root)),
                    "give paths of this repository",
                )
            })
        })
        .collect()
}
