//! What git makes of the text of its configuration when it writes a setting, to the letter (tried with git 2.47): by that a file is known as
//! the call left it. Where a text is not written as git writes, nothing is said. The same of files that it brings from a revision, and of
//! references of which it keeps no log.

use crate::interpreter::Value;
use crate::path::AbsolutePath;
use crate::world::{Entry, FileText};

use super::Git;
use super::options::Words;
use super::settings::shared_by_work_trees;
use super::settings_text::{
    follows, header, renamed_remote, with, with_one_more, without, without_all, without_remote,
    without_section,
};

impl Git<'_, '_> {
    /// Remembers what the configuration of the repository holds after a subcommand that writes into it by the way.
    pub(super) fn announce_own_settings(&mut self, name: &str, words: &Words) {
        let Some(file) = self.repository_directory().map(|directory| directory.join("config")) else {
            return;
        };
        let Some(before) = self.machine.announced_text(&file).as_exact().map(str::to_owned) else { return };
        let after = match name {
            "sparse-checkout" => {
                self.announce_sparse(words);
                after_sparse(&before, words)
            }
            "remote" => after_remote(&before, words),
            "branch" => self.after_branch(&before, words),
            "checkout" | "switch" => self.after_tracking(&before, words),
            _ => None,
        };
        if let Some(after) = after {
            self.machine.overlay().announce(&file, after);
        }
    }

    /// Remembers what the files hold in which git keeps which directories of a sparse work tree are chosen.
    fn announce_sparse(&mut self, words: &Words) {
        let Some(directory) = self.repository_directory() else { return };
        let file = directory.join("config.worktree");
        let before = match self.machine.entry(&file) {
            Entry::Missing => Some(String::new()),
            Entry::File(_) => self.machine.announced_text(&file).as_exact().map(str::to_owned),
            Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => None,
        };
        let is_plain = !words.any(&["--no-cone", "--sparse-index", "--no-sparse-index", "--stdin"]);
        let given: &[(&str, &str, &str)] = match words.operand(0) {
            Some("set") if is_plain => {
                &[("core", "sparseCheckout", "true"), ("core", "sparseCheckoutCone", "true")]
            }
            Some("disable") => &[
                ("core", "sparseCheckout", "false"),
                ("core", "sparseCheckoutCone", "false"),
                ("index", "sparse", "false"),
            ],
            Some(_) | None => return,
        };
        let after = before.and_then(|before| {
            given.iter().try_fold(before, |text, (section, key, value)| with(&text, section, key, value))
        });
        if let Some(after) = after {
            self.machine.overlay().announce(&file, after);
        }
        let is_one_level = |name: &&str| {
            !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '*', '?', '[', '\\', '"'])
        };
        let names = words.operands_from(1).iter().map(|name| name.as_exact().filter(is_one_level));
        let names: Option<std::collections::BTreeSet<&str>> = names.collect();
        if let (Some(names), Some("set")) = (names, words.operand(0)) {
            let chosen: Vec<String> = names.iter().map(|name| format!("/{name}/\n")).collect();
            let text = format!("/*\n!/*/\n{}", chosen.concat());
            self.machine.overlay().announce(&directory.join("info/sparse-checkout"), text);
        }
    }

    /// What the configuration holds after `git branch`.
    fn after_branch(&self, before: &str, words: &Words) -> Option<String> {
        let first = words.operand(0);
        if words.any(&["-m", "-M", "--move"]) {
            let (old, new) = match (first, words.operand(1), words.operand(2)) {
                (Some(old), Some(new), None) => (old.to_owned(), new),
                (Some(new), None, None) => (self.present_branch()?, new),
                _ => return None,
            };
            return Some(
                before.replace(&header(&format!("branch.{old}")), &header(&format!("branch.{new}"))),
            );
        }
        if words.any(&["-d", "-D", "--delete"]) {
            let names: Option<Vec<&str>> = words.operands().iter().map(Value::as_exact).collect();
            let names = names.filter(|_| !words.any(&["-r", "--remotes"]))?;
            let mut text = before.to_owned();
            for name in names {
                text = without_section(&text, &format!("branch.{name}"))?;
            }
            return Some(text);
        }
        let branch = || first.map(str::to_owned).or_else(|| self.present_branch());
        if words.has("--unset-upstream") {
            let section = format!("branch.{}", branch()?);
            let text = without_all(before, &section, "remote")?;
            return without_all(&text, &section, "merge").or(Some(text));
        }
        let upstream = words.arguments.value(&["-u", "--set-upstream-to"])?;
        self.following(before, &branch()?, upstream.as_exact()?)
    }

    /// What the configuration holds after a branch was begun at one of a remote, which it follows then.
    fn after_tracking(&self, before: &str, words: &Words) -> Option<String> {
        let given = words.arguments.value(&["-b", "-B", "-c", "-C", "--create", "--force-create"]);
        let start = words.operand(0).filter(|_| !words.has("--no-track"))?;
        let short = || start.strip_prefix("origin/").filter(|_| words.any(&["-t", "--track"]));
        let is_plain = ["branch.autosetupmerge", "branch.autosetuprebase"]
            .iter()
            .all(|key| self.settings.exact(key).is_none());
        let branch = given.and_then(Value::as_exact).or_else(short).filter(|_| is_plain)?;
        let (remote, _) = self.followed(before, start).filter(|(remote, _)| remote != ".")?;
        start.strip_prefix(remote.as_str()).and_then(|_| self.following(before, branch, start))
    }

    /// The remote and the branch of it that stand behind the name of a branch, `.` for a branch of the repository itself.
    fn followed(&self, before: &str, upstream: &str) -> Option<(String, String)> {
        let directory = self.repository_directory()?;
        let shared = shared_by_work_trees(self.machine, &directory);
        let upstream = upstream.strip_prefix("refs/").unwrap_or(upstream);
        let upstream =
            upstream.strip_prefix("remotes/").or_else(|| upstream.strip_prefix("heads/")).unwrap_or(upstream);
        let is_head = self.machine.entry(&shared.join("refs/heads").join(upstream)) != Entry::Missing;
        let is_packed = |name: &str| {
            let packed = self.machine.text(&shared.join("packed-refs"));
            packed.as_exact().is_some_and(|text| text.lines().any(|line| line.ends_with(&format!(" {name}"))))
        };
        if is_head || is_packed(&format!("refs/heads/{upstream}")) {
            return Some((".".to_owned(), upstream.to_owned()));
        }
        let (remote, branch) = upstream.split_once('/')?;
        // Only where the branches of the remote lie where git puts them by itself.
        let usual = format!("\tfetch = +refs/heads/*:refs/remotes/{remote}/*");
        before.lines().any(|line| line == usual).then(|| (remote.to_owned(), branch.to_owned()))
    }

    /// The text with a branch that follows another one.
    fn following(&self, before: &str, branch: &str, upstream: &str) -> Option<String> {
        let (remote, merge) = self.followed(before, upstream)?;
        follows(before, branch, &remote, &merge)
    }

    /// Remembers what files hold that `git restore --source` brings from a revision.
    pub(super) fn announce_restored(&mut self, name: &str, words: &Words) {
        let is_in_tree = !words.any(&["-S", "--staged"]) || words.any(&["-W", "--worktree"]);
        let source = words.arguments.value(&["-s", "--source"]).and_then(Value::as_exact);
        let (Some(source), Some(root), Some(cwd)) =
            (source.filter(|_| name == "restore" && is_in_tree), self.root(), self.cwd.clone())
        else {
            return;
        };
        let Some(revision) = self.meaning(source) else { return };
        for operand in words.operands() {
            let path = operand.as_exact().map(|text| cwd.join(text));
            let below = path.as_ref().and_then(|path| path.relative_to(&root));
            let (Some(path), Some(below)) = (&path, below) else { continue };
            if let FileText::Whole(text) = self.machine.world().committed_text(&root, &revision, below) {
                self.machine.overlay().announce(path, text);
            }
        }
    }

    /// Remembers what a file of settings holds after `git config` has changed it in some way.
    pub(super) fn announce_setting(&mut self, file: &AbsolutePath, change: SettingChange<'_>) {
        let before = self.machine.announced_text(file);
        let Some(before) = before.as_exact() else { return };
        let apart =
            |name: &str| name.rsplit_once('.').map(|(section, key)| (section.to_owned(), key.to_owned()));
        let after = match change {
            SettingChange::Set { name, value } => apart(name)
                .zip(value.as_exact())
                .and_then(|((section, key), value)| with(before, &section, &key, value)),
            SettingChange::Add { name, value } => apart(name)
                .zip(value.as_exact())
                .and_then(|((section, key), value)| with_one_more(before, &section, &key, value)),
            SettingChange::Unset { name } => {
                apart(name).and_then(|(section, key)| without(before, &section, &key))
            }
            SettingChange::UnsetAll { name } => {
                apart(name).and_then(|(section, key)| without_all(before, &section, &key))
            }
            SettingChange::RemoveSection { name } => without_section(before, name),
            SettingChange::RenameSection { name, to } => {
                to.as_exact().map(|to| before.replace(&header(name), &header(to)))
            }
        };
        if let Some(after) = after {
            self.machine.overlay().announce(file, after);
        }
    }

    /// Remembers where references point to that a subcommand sets and git keeps no log of.
    pub(super) fn announce_references(&mut self, name: &str, words: &Words) {
        let (reference, to) = match (name, words.operand(0)) {
            // What is said of a tag stands in an object of its own.
            ("tag", Some(tag))
                if !words.any(&[
                    "-d",
                    "--delete",
                    "-a",
                    "--annotate",
                    "-s",
                    "--sign",
                    "-u",
                    "--local-user",
                    "-m",
                    "--message",
                    "-F",
                    "--file",
                    "-v",
                    "--verify",
                    "-l",
                    "--list",
                ]) =>
            {
                (format!("refs/tags/{tag}"), words.operand(1).unwrap_or("HEAD"))
            }
            ("update-ref", Some(reference))
                if reference.starts_with("refs/") && !words.any(&["-d", "--stdin"]) =>
            {
                let Some(to) = words.operand(1) else { return };
                (reference.to_owned(), to)
            }
            _ => return,
        };
        let (Some(directory), Some(meaning)) = (self.repository_directory(), self.meaning(to)) else {
            return;
        };
        let shared = shared_by_work_trees(self.machine, &directory);
        self.machine.overlay().point(&shared.join(&reference), &directory, meaning);
    }
}

/// What the configuration holds after `git sparse-checkout`, which keeps its settings in a file of the work tree alone.
fn after_sparse(before: &str, words: &Words) -> Option<String> {
    matches!(words.operand(0), Some("set" | "init" | "add"))
        .then(|| with(before, "extensions", "worktreeConfig", "true"))
        .flatten()
}

/// What `git config` does to a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum SettingChange<'a> {
    /// A setting has one value.
    Set { name: &'a str, value: &'a Value },
    /// It has one more value.
    Add { name: &'a str, value: &'a Value },
    /// It has lost its only value.
    Unset { name: &'a str },
    /// It has lost all its values.
    UnsetAll { name: &'a str },
    /// A section is gone.
    RemoveSection { name: &'a str },
    /// A section has another name.
    RenameSection { name: &'a str, to: &'a Value },
}

/// What the configuration holds after `git remote`.
fn after_remote(before: &str, words: &Words) -> Option<String> {
    let verb = words.operand(0)?;
    let options: Vec<&str> = words.arguments.options.iter().map(|(name, _)| name.as_str()).collect();
    let section = format!("remote.{}", words.operand(1)?);
    match (verb, words.operand(2), words.operand(3), options.as_slice()) {
        ("add", Some(url), None, []) => with(before, &section, "url", url).and_then(|text| {
            let remote = words.operand(1)?;
            with(&text, &section, "fetch", &format!("+refs/heads/*:refs/remotes/{remote}/*"))
        }),
        ("remove" | "rm", None, None, []) => without_remote(before, words.operand(1)?),
        ("rename", Some(new), None, []) => renamed_remote(before, words.operand(1)?, new),
        ("set-url", Some(url), None, []) => with(before, &section, "url", url),
        ("set-url", Some(url), None, ["--push"]) => with(before, &section, "pushurl", url),
        ("set-url", Some(url), None, ["--add"]) => with_one_more(before, &section, "url", url),
        ("set-url", Some(url), None, ["--add", "--push"] | ["--push", "--add"]) => {
            with_one_more(before, &section, "pushurl", url)
        }
        ("set-branches", Some(_), _, [] | ["--add"]) => {
            let remote = words.operand(1)?;
            let branches: Option<Vec<&str>> = words.operands_from(2).iter().map(Value::as_exact).collect();
            let kept =
                if options.is_empty() { without_all(before, &section, "fetch")? } else { before.to_owned() };
            branches?.into_iter().try_fold(kept, |text, branch| {
                let refspec = format!("+refs/heads/{branch}:refs/remotes/{remote}/{branch}");
                with_one_more(&text, &section, "fetch", &refspec)
            })
        }
        _ => None,
    }
}
