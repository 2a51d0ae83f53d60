//! What git writes into its logs of references (gitrevisions(7), git-reflog(1)) when a subcommand moves `HEAD`, a branch or the stash: by that
//! an entry is known as that of the call, where nobody tells when the call ended.

use crate::interpreter::LoggedMessage;

use super::Git;
use super::options::Words;

impl Git<'_, '_> {
    /// Remembers what a subcommand is to write into the logs of its repository, as far as its words say it (tried with git 2.47).
    pub(super) fn note_logged(&mut self, name: &str, words: &Words) {
        let Some(directory) = self.repository_directory() else { return };
        for message in logged(name, words) {
            self.machine.overlay().log(&directory, message);
        }
    }
}

/// The messages of the entries, with those that are only written sometimes.
fn logged(name: &str, words: &Words) -> Vec<LoggedMessage> {
    let start = |text: &str| LoggedMessage::Start(text.to_owned());
    let several = |text: &str| LoggedMessage::Several(text.to_owned());
    let revision = words.operand(0);
    match name {
        "commit" => committed(words),
        "reset" => {
            vec![LoggedMessage::Whole(format!("reset: moving to {}", revision.unwrap_or("HEAD")))]
        }
        "checkout" | "switch" => {
            vec![start("checkout: moving from "), start("branch: Created from ")]
        }
        "worktree" => vec![start("branch: Created from ")],
        "fetch" => vec![several("fetch")],
        "branch" => {
            vec![start("branch: Created from "), start("branch: Reset to "), several("Branch: renamed ")]
        }
        "merge" => vec![start("merge ")],
        "rebase" => vec![several("rebase")],
        "cherry-pick" => vec![several("cherry-pick: ")],
        "revert" => vec![several("revert: ")],
        "am" => vec![several("am: ")],
        "pull" => vec![several("pull")],
        "stash" => {
            vec![LoggedMessage::Whole("reset: moving to HEAD".to_owned()), start("WIP on "), start("On ")]
        }
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
        for (text, whole, starts) in [
            ("commit -qam one", Some("commit: one"), None),
            ("commit --amend -m two", Some("commit (amend): two"), None),
            ("commit --amend --no-edit", None, Some("commit (amend): ")),
            ("reset --hard HEAD~1", Some("reset: moving to HEAD~1"), None),
            ("reset", Some("reset: moving to HEAD"), None),
            ("switch -c topic", None, Some("branch: Created from ")),
            ("status", None, None),
        ] {
            let mut parts = text.split_whitespace();
            let name = parts.next().unwrap_or_default();
            let values: Vec<Value> = parts.map(Value::exact).collect();
            let known = logged(name, &Words::of(name, &values));
            let whole = whole.map(|text| LoggedMessage::Whole(text.to_owned()));
            let starts = starts.map(|text| LoggedMessage::Start(text.to_owned()));
            assert!(whole.iter().chain(&starts).all(|message| known.contains(message)), "{text}: {known:?}");
            assert_eq!(known.is_empty(), whole.is_none() && starts.is_none(), "{text}: {known:?}");
        }
    }
}
