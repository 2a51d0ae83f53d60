//! What git fetches from elsewhere, and where it writes that: files and names of revisions bear the mark of it.

use super::Git;
use super::options::Words;
use super::remotes::is_address;
use crate::interpreter::Value;

impl Git<'_, '_> {
    /// The address from which the work tree, or what it is made of, came with this command.
    fn origin_of(&self, words: &Words) -> Option<String> {
        let repository = self.repository_directory()?;
        let revisions = words.operands().iter().filter_map(Value::as_exact);
        let fetched =
            { revisions }.find_map(|revision| self.machine.address_of_revision(&repository, revision));
        fetched.or_else(|| self.machine.address_at(&repository))
    }

    /// Marks the files that a call writes out of a revision which came from elsewhere, and the revisions that it fetches.
    pub(super) fn mark_origin(&mut self, name: &str, words: &Words) {
        let around = self.cwd.as_ref().and_then(|cwd| self.machine.address_at(cwd));
        if let Some(address) = around {
            // A repository that was cloned here is marked as a whole; what is checked out beside it is not.
            let place = (name == "worktree" && words.operand(0) == Some("add"))
                .then(|| words.operands().get(1).and_then(|place| self.located(place)));
            if let Some(place) = place.flatten() {
                self.machine.remember_tree(&place, &address);
            }
            return;
        }
        match name {
            "fetch" | "pull" => {
                let remote = words.operands().first().cloned();
                let Some(address) = self.strange_address(remote.as_ref()) else { return };
                self.mark_revisions(remote.as_ref(), words.operands_from(1), &address);
                if let ("pull", Some(root)) = (name, self.root()) {
                    self.machine.remember_tree(&root, &address);
                }
            }
            "remote" if matches!(words.operand(0), Some("add" | "update")) => {
                let remote = words.operands().get(1).cloned();
                // Where the settings do not have it yet, the call says it.
                let place = if words.operand(0) == Some("add") { 2 } else { 1 };
                if let Some(address) = self.strange_address(words.operands().get(place)) {
                    self.mark_revisions(remote.as_ref(), &[], &address);
                }
            }
            "subtree" => {
                let prefix = words.arguments.value(&["-P", "--prefix"]).cloned();
                let named = words.operands().iter().find_map(|word| {
                    word.as_exact().filter(|text| is_address(text))?;
                    self.strange_address(Some(word))
                });
                if let (Some(prefix), Some(root)) = (prefix, self.root())
                    && let Some(address) = named.or_else(|| self.origin_of(words))
                    && let Some(prefix) = prefix.as_exact()
                {
                    self.machine.remember_tree(&root.join(prefix), &address);
                }
            }
            "worktree" if words.operand(0) == Some("add") => {
                let place = words.operands().get(1).and_then(|place| self.located(place));
                if let (Some(place), Some(address)) = (place, self.origin_of(words)) {
                    self.machine.remember_tree(&place, &address);
                }
            }
            "checkout" | "switch" | "merge" | "reset" | "rebase" | "cherry-pick" | "restore"
            | "read-tree" | "checkout-index" | "branch" | "tag" | "update-ref" => {
                let Some(address) = self.origin_of(words) else { return };
                // Another name of it, in any of the words.
                let names = words.operands().iter().chain(words.arguments.values(&["-b", "-B", "-c", "-C"]));
                let names: Vec<String> = names.filter_map(Value::as_exact).map(str::to_owned).collect();
                if let Some(repository) = self.repository_directory() {
                    self.machine.remember_revisions(&repository, names, &address);
                }
                if let (Some(root), false) = (self.root(), matches!(name, "branch" | "tag" | "update-ref")) {
                    self.machine.remember_tree(&root, &address);
                }
            }
            _ => {}
        }
    }

    /// Remembers under which names is known what a fetch brings: `FETCH_HEAD`, those of the remote, and those that it is told.
    fn mark_revisions(&mut self, remote: Option<&Value>, references: &[Value], address: &str) {
        let Some(repository) = self.repository_directory() else { return };
        let told = references.iter().filter_map(Value::as_exact).filter_map(|text| text.split_once(':'));
        let mut names: Vec<String> = told
            .map(|(_, to)| to.trim_start_matches("refs/heads/").trim_end_matches("/*").to_owned())
            .collect();
        names.retain(|name| !name.is_empty());
        names.push("FETCH_HEAD".to_owned());
        names.extend(remote.and_then(Value::as_exact).filter(|name| !is_address(name)).map(str::to_owned));
        self.machine.remember_revisions(&repository, names, address);
    }
}
