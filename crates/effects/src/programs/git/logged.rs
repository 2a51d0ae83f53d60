//! What git writes into its logs of references (gitrevisions(7), git-reflog(1)) when a subcommand moves `HEAD`, a branch or the stash: by that
//! an entry is known as that of the call, where nobody tells when the call ended.

use crate::interpreter::LoggedMessage;

use super::Git;
use super::options::Words;

impl Git<'_, '_> {
    /// Remembers what a subcommand is to write into the logs of its repository, as far as its words say it (tried with git 2.47).
    pub(super) fn note_logged(&mut self, name: &str, words: &Words) {
        let Some(directory) = self.repository_directory() else { return };
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
            [vec![moved], made(to)].concat()
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
        "am" => vec![several("am: ")],
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
    use crate::interpreter::Value;

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
