//! What git itself writes into the configuration of a repository while it does something else: remotes, branches, submodules.

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::Draft;
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::world::{Entry, FileText, Listing};

use super::Git;
use super::options::Words;

impl Git<'_, '_> {
    /// Adds that the configuration of the repository changes, where a subcommand does that by the way (source: the manual of each; the
    /// real git is asked in `surprises_of_git.rs`).
    pub(super) fn note_own_settings(&mut self, name: &str, words: &Words) {
        let Some(directory) = self.repository_directory().filter(|_| self.sets_something(name, words)) else {
            return;
        };
        let draft = Draft::new(EffectKind::FileModify, Target::Path(directory.join("config")));
        self.machine.add(
            draft
                .possible()
                .severity(Severity::Low)
                .nature(Nature::KeptByVersionControl)
                .note("git writes down what belongs to a branch, remote or submodule"),
        );
    }

    fn sets_something(&self, name: &str, words: &Words) -> bool {
        let verb = words.operand(0).unwrap_or_default();
        let tracks = words.any(&["-t", "--track"]);
        match name {
            "push" => words.any(&["-u", "--set-upstream"]),
            "fetch" | "pull" => words.has("--set-upstream"),
            "remote" => {
                matches!(verb, "add" | "rename" | "remove" | "rm" | "set-url" | "set-branches")
            }
            "branch" => {
                words.operands().len() > 1
                    || tracks
                    || words.any(&[
                        "-u",
                        "--set-upstream-to",
                        "--unset-upstream",
                        "--edit-description",
                        "-m",
                        "-M",
                        "--move",
                        "-c",
                        "-C",
                        "--copy",
                        "-d",
                        "-D",
                        "--delete",
                    ])
            }
            "checkout" | "switch" if words.before_dashes.is_none() => {
                let makes = words.any(&["-b", "-B", "-c", "-C", "--create", "--force-create"]);
                tracks
                    || makes && !words.operands().is_empty()
                    || !makes && words.operands().len() == 1 && self.is_branch_of_remote_alone(verb)
            }
            "worktree" => verb == "add",
            "submodule" => {
                matches!(verb, "add" | "init" | "update" | "sync" | "deinit" | "set-url" | "absorbgitdirs")
            }
            "sparse-checkout" => matches!(verb, "init" | "set" | "add" | "disable" | "reapply"),
            _ => false,
        }
    }

    /// Whether a name is that of a branch which only a remote has: going to it makes one here that follows it.
    fn is_branch_of_remote_alone(&self, name: &str) -> bool {
        let Some(directory) = self.repository_directory().filter(|_| !name.is_empty()) else { return false };
        let packed = match self.machine.world().text(&directory.join("packed-refs")) {
            FileText::Whole(text) => text,
            FileText::Beginning(_) | FileText::Unknown => String::new(),
        };
        let is_there = |reference: &str| {
            let is_packed = || packed.lines().any(|line| line.ends_with(&format!(" {reference}")));
            self.machine.entry(&directory.join(reference)) != Entry::Missing || is_packed()
        };
        if is_there(&format!("refs/heads/{name}")) {
            return false;
        }
        let is_of_remote = |path: &AbsolutePath| match self.machine.children(path) {
            Listing::Names(remotes) => {
                remotes.iter().any(|remote| is_there(&format!("refs/remotes/{remote}/{name}")))
            }
            Listing::Unknown => false,
        };
        is_of_remote(&directory.join("refs/remotes"))
            || packed
                .lines()
                .any(|line| line.contains(" refs/remotes/") && line.ends_with(&format!("/{name}")))
    }
}
