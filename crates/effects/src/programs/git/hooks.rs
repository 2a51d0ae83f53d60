//! Which hooks a subcommand fires (source: githooks(5) of git 2.47). Those of `commit` and `push` are fired where these are followed.

use crate::path::AbsolutePath;
use crate::world::{Entry, Listing, VersionState};

use super::Git;

/// Subcommands that write the index, which `post-index-change` tells.
const INDEX: &[&str] = &[
    "add",
    "am",
    "apply",
    "checkout",
    "cherry-pick",
    "commit",
    "merge",
    "mv",
    "pull",
    "read-tree",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "status",
    "switch",
    "update-index",
];

/// Subcommands that change references, which `reference-transaction` tells.
const REFERENCES: &[&str] = &[
    "am",
    "bisect",
    "branch",
    "checkout",
    "cherry-pick",
    "clone",
    "commit",
    "fetch",
    "merge",
    "notes",
    "pull",
    "push",
    "rebase",
    "remote",
    "replace",
    "reset",
    "revert",
    "stash",
    "switch",
    "symbolic-ref",
    "tag",
    "update-ref",
    "worktree",
];

/// The hooks that some subcommands fire beside those.
const OWN: &[(&[&str], &[&str])] = &[
    (&["am"], &["applypatch-msg", "pre-applypatch", "post-applypatch", "post-rewrite"]),
    (&["merge", "pull"], &["pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge"]),
    (&["cherry-pick", "revert"], &["prepare-commit-msg", "commit-msg", "post-commit"]),
    (&["rebase"], &["pre-rebase", "post-checkout", "prepare-commit-msg", "post-commit", "post-rewrite"]),
    (&["checkout", "switch", "clone", "worktree"], &["post-checkout"]),
    (&["commit"], &["post-rewrite"]),
    (&["gc", "fetch", "maintenance"], &["pre-auto-gc"]),
    (&["send-email"], &["sendemail-validate"]),
    (&["p4"], &["p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit"]),
    (
        &["receive-pack"],
        &["pre-receive", "update", "proc-receive", "post-receive", "post-update", "push-to-checkout"],
    ),
];

impl Git<'_, '_> {
    /// Whether what `core.hooksPath` names in a file of settings are the hooks of the project, as they are committed: then they run for
    /// everybody who works on it. A setting for all repositories names a folder of each of them.
    pub(super) fn has_committed_hooks(&self, value: &str, file: &AbsolutePath) -> bool {
        if matches!(value, "" | "/dev/null" | ".git/hooks") {
            return true;
        }
        let machine = &*self.machine;
        // The work tree stands beside the folder in which the settings of one repository lie; those for all stand beside no such folder.
        let directory = file.parent().filter(|above| above.name() == Some(".git"));
        let Some(root) = directory.and_then(|directory| directory.parent()) else { return false };
        let folder = root.join(value);
        let Listing::Names(names) = machine.children(&folder) else { return false };
        !names.is_empty()
            && names.iter().all(|name| {
                let hook = folder.join(name);
                machine.entry(&hook) == Entry::Directory
                    || machine.world().version(&hook) == VersionState::TrackedClean
                        && !machine.is_of_session(&hook)
            })
    }

    /// Runs the hooks that a subcommand fires and that this command has made, or has pointed git to. Those that stand there already are the
    /// user's own.
    pub(super) fn fire_hooks(&mut self, name: &str) {
        let own = OWN.iter().filter(|(names, _)| names.contains(&name)).flat_map(|(_, hooks)| hooks.iter());
        let index = INDEX.contains(&name).then_some(&"post-index-change");
        let references = REFERENCES.contains(&name).then_some(&"reference-transaction");
        let hooks: Vec<&str> = own.chain(index).chain(references).copied().collect();
        if hooks.is_empty() {
            return;
        }
        let Some(directory) = self.hooks_directory() else { return };
        let is_pointed_to = self.settings.given_code().iter().any(|(key, _)| key == "core.hookspath");
        for hook in hooks {
            let path = directory.join(hook);
            let is_there = matches!(self.machine.entry(&path), Entry::File(_) | Entry::Symlink(_));
            let is_new = self.machine.world().entry(&path) == Entry::Missing
                || self.machine.is_written_here(&path)
                || is_pointed_to;
            if is_there && is_new {
                self.run_hook_at(&path);
            }
        }
    }
}
