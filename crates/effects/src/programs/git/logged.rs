//! What git writes into its logs of references (gitrevisions(7), git-reflog(1)) when a subcommand moves `HEAD`, a branch or the stash: by that
//! an entry is known as that of the call, where nobody tells when the call ended.

use crate::interpreter::{LoggedMessage, Value};

use super::Git;
use super::options::Words;

impl Git<'_, '_> {
    /// Remembers what a subcommand is to write into the logs of its repository, as far as its words say it (tried with git 2.47).
    pub(super) fn note_logged(&mut self, name: &str, words: &Words) {
        let Some(directory) = self.repository_directory() else { return };
        if name == "push" {
            self.note_pushed(words);
        }
        if let ("symbolic-ref", Some("HEAD"), Some(target)) = (name, words.operand(0), words.operand(1)) {
            self.machine.overlay().announce(&directory.join("HEAD"), format!("ref: {target}\n"));
        }
        let branch = self.cwd.as_ref().and_then(|cwd| self.machine.world().repository(cwd)?.branch);
        let has_moved = self.machine.overlay().has_logged(&directory);
        for message in logged(name, words, branch.filter(|_| !has_moved).as_deref()) {
            self.machine.overlay().log(&directory, message);
        }
    }
}

/// The messages of the entries, with those that are only written sometimes. `from` is the branch that is checked out, where that is known.
fn logged(name: &str, words: &Words, from: Option<&str>) -> Vec<LoggedMessage> {
    let of = |reference: &str, text: &str| LoggedMessage::Start(format!("{reference}\t{text}"));
    let several = |text: &str| LoggedMessage::Several(text.to_owned());
    let operand = words.operand(0);
    let made = |branch: Option<&str>| {
        let texts = ["branch: Created from ", "branch: Reset to "];
        let all =
            branch.into_iter().flat_map(|name| texts.map(|text| of(&format!("refs/heads/{name}"), text)));
        all.collect::<Vec<_>>()
    };
    let given = |options: &[&str]| words.arguments.value(options).and_then(|name| name.as_exact());
    match name {
        "commit" => committed(words),
        "reset" => vec![LoggedMessage::Whole(format!("reset: moving to {}", operand.unwrap_or("HEAD")))],
        "checkout" | "switch" => {
            let new = given(&["-b", "-B", "-c", "-C", "--create", "--force-create"]);
            let to = new.or(operand);
            let moved = match (from, to.filter(|to| *to != "-")) {
                (Some(from), Some(to)) => {
                    LoggedMessage::Whole(format!("checkout: moving from {from} to {to}"))
                }
                (None | Some(_), _) => of("HEAD", "checkout: moving from "),
            };
            // A branch that is checked out and set anew moves `HEAD` as well.
            let reset = new.map(|_| of("HEAD", "branch: Reset to "));
            [vec![moved], made(to), reset.into_iter().collect()].concat()
        }
        "branch" => {
            let renamed = |reference: &str| LoggedMessage::Several(format!("{reference}\tBranch: renamed "));
            let new = words.operands().last().and_then(|name| name.as_exact());
            let renamed = new.map(|name| [renamed("HEAD"), renamed(&format!("refs/heads/{name}"))]);
            [made(operand), renamed.into_iter().flatten().collect()].concat()
        }
        "worktree" => made(given(&["-b", "-B"])),
        "merge" => operand.map(|name| of("HEAD", &format!("merge {name}: "))).into_iter().collect(),
        "rebase" => vec![several("rebase")],
        "cherry-pick" => vec![several("cherry-pick: ")],
        "revert" => vec![several("revert: ")],
        "am" => vec![several("am: "), several("am")],
        "update-ref" if !words.has("--stdin") => {
            let message = given(&["-m"]).unwrap_or_default();
            let reference = words.arguments.operand(0);
            let moved = |reference: &str| LoggedMessage::Whole(format!("{reference}\t{message}"));
            let written = reference.filter(|_| !words.any(&["-d", "--delete"])).map(moved);
            written.into_iter().chain(from.map(|_| moved("HEAD"))).collect()
        }
        "symbolic-ref" => {
            let message = given(&["-m"]).unwrap_or_default();
            words
                .operands()
                .get(1)
                .map(|_| LoggedMessage::Whole(format!("HEAD\t{message}")))
                .into_iter()
                .collect()
        }
        "filter-branch" => vec![LoggedMessage::Whole("filter-branch: rewrite".to_owned())],
        // No log is what tells of a bisection: git notes it in files of its own.
        "bisect" => vec![several("HEAD\tcheckout: moving from "), several("BISECT_LOG\t")],
        "tag" => tagged(words).into_iter().collect(),
        "remote" if operand == Some("update") => vec![several("fetch"), several("remote update")],
        "remote" if operand == Some("rename") => vec![several("remote: renamed ")],
        "pull" => vec![several("pull")],
        "fetch" => vec![several("fetch")],
        "stash" => vec![
            LoggedMessage::Whole("reset: moving to HEAD".to_owned()),
            of("refs/stash", "WIP on "),
            of("refs/stash", "On "),
        ],
        _ => Vec::new(),
    }
}

/// What an annotated tag says of itself: its object tells what a log would.
fn tagged(words: &Words) -> Option<LoggedMessage> {
    let said = ["-a", "--annotate", "-s", "--sign", "-u", "--local-user", "-m", "--message", "-F", "--file"];
    let tag = words.operand(0).filter(|_| words.any(&said))?;
    let message = words.arguments.value(&["-m", "--message"]).and_then(|message| message.as_exact());
    let subject = message.and_then(|message| message.lines().next()).unwrap_or_default();
    Some(LoggedMessage::Start(format!("refs/tags/{tag}\ttag: {subject}")))
}

impl Git<'_, '_> {
    /// Remembers what a push writes into the logs of where branches of a remote stand, for each that is pushed by its name.
    fn note_pushed(&mut self, words: &Words) {
        const NOTED: &str = "update by push";
        let Some(directory) = self.repository_directory() else { return };
        let named = words.operands().first().or_else(|| words.arguments.value(&["--repo"]));
        let remote =
            named.map_or_else(|| Some(self.default_remote()), |name| name.as_exact().map(str::to_owned));
        let Some(remote) = remote else { return };
        let branch = self.present_branch();
        let place = |reference: &Value| {
            let text = reference.as_exact()?.trim_start_matches('+');
            let to = text.rsplit_once(':').map_or(text, |(_, to)| to);
            let to =
                if to == "HEAD" { branch.as_deref()? } else { to.strip_prefix("refs/heads/").unwrap_or(to) };
            (!to.contains('*')).then(|| format!("refs/remotes/{remote}/{to}\t{NOTED}"))
        };
        let references = words.operands_from(1);
        let all: Option<Vec<String>> = match (references, &branch) {
            _ if words.any(&["--all", "--branches", "--mirror"]) => None,
            ([], branch) => {
                branch.as_ref().map(|branch| vec![format!("refs/remotes/{remote}/{branch}\t{NOTED}")])
            }
            (references, _) => references.iter().map(place).collect(),
        };
        let messages = match all {
            Some(all) => all.into_iter().map(LoggedMessage::Whole).collect(),
            // Which they are is not known.
            None => vec![LoggedMessage::Several(NOTED.to_owned())],
        };
        for message in messages {
            self.machine.overlay().log(&directory, message);
        }
    }
}

/// A commit is logged with the first line of its message, after what sort of commit it is.
fn committed(words: &Words) -> Vec<LoggedMessage> {
    let given = words.arguments.values(&["-m", "--message"]).next().and_then(|text| text.as_exact());
    let subject = given.and_then(|text| text.trim().lines().next());
    let sorts: &[&str] = if words.has("--amend") {
        &["commit (amend)"]
    } else {
        &["commit", "commit (initial)", "commit (merge)"]
    };
    let message = |sort: &&str| match subject {
        Some(subject) => LoggedMessage::Whole(format!("{sort}: {}", subject.trim_end())),
        None => LoggedMessage::Start(format!("{sort}: ")),
    };
    sorts.iter().map(message).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_logged_is_known_by_the_words() {
        let start = |text: &str| LoggedMessage::Start(text.to_owned());
        let whole = |text: &str| LoggedMessage::Whole(text.to_owned());
        for (text, from, expected) in [
            ("commit -qam one", None, Some(whole("commit: one"))),
            ("commit --amend -m two", None, Some(whole("commit (amend): two"))),
            ("commit --amend --no-edit", None, Some(start("commit (amend): "))),
            ("reset --hard HEAD~1", None, Some(whole("reset: moving to HEAD~1"))),
            ("reset", None, Some(whole("reset: moving to HEAD"))),
            ("switch -c topic", None, Some(start("refs/heads/topic\tbranch: Created from "))),
            ("switch -c topic", Some("main"), Some(whole("checkout: moving from main to topic"))),
            ("checkout other", None, Some(start("HEAD\tcheckout: moving from "))),
            ("checkout -", Some("main"), Some(start("HEAD\tcheckout: moving from "))),
            ("merge topic", None, Some(start("HEAD\tmerge topic: "))),
            ("update-ref refs/heads/topic HEAD~1", None, Some(whole("refs/heads/topic\t"))),
            ("symbolic-ref HEAD refs/heads/topic", None, Some(whole("HEAD\t"))),
            ("symbolic-ref HEAD", None, None),
            ("remote update", None, Some(LoggedMessage::Several("fetch".to_owned()))),
            ("remote rename a b", None, Some(LoggedMessage::Several("remote: renamed ".to_owned()))),
            ("status", None, None),
        ] {
            let mut parts = text.split_whitespace();
            let name = parts.next().unwrap_or_default();
            let values: Vec<Value> = parts.map(Value::exact).collect();
            let known = logged(name, &Words::of(name, &values), from);
            assert!(expected.iter().all(|message| known.contains(message)), "{text}: {known:?}");
            assert_eq!(known.is_empty(), expected.is_none(), "{text}: {known:?}");
        }
    }
}
