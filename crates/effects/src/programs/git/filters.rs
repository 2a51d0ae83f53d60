//! `git filter-branch` and its like: rewriting every commit, with shell text that runs for each of them.

use crate::interpreter::{Exit, Input, Value};

use super::Git;
use super::options::Words;

/// What standard input a filter of `git filter-branch` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fed {
    /// None.
    Nothing,
    /// Something of the commit: its message, its parents, its tag, its tree and parents as words.
    Commit,
}

/// The options of `git filter-branch` that are shell text, in the order in which they run: all but `--subdirectory-filter`, which is the name
/// of a directory (git-filter-branch(1), "OPTIONS"; the script of git 2.47 evaluates each).
const FILTERS: &[(&str, Fed)] = &[
    ("--setup", Fed::Nothing),
    ("--env-filter", Fed::Nothing),
    ("--tree-filter", Fed::Nothing),
    ("--index-filter", Fed::Nothing),
    ("--parent-filter", Fed::Commit),
    ("--msg-filter", Fed::Commit),
    ("--commit-filter", Fed::Commit),
    ("--tag-name-filter", Fed::Commit),
];

/// Options of `git filter-repo` that are Python text, run for each commit, blob, tag or name (git-filter-repo(1), "CALLBACKS").
const CALLBACKS: &[&str] = &[
    "--filename-callback",
    "--file-info-callback",
    "--message-callback",
    "--name-callback",
    "--email-callback",
    "--refname-callback",
    "--blob-callback",
    "--commit-callback",
    "--tag-callback",
    "--reset-callback",
    "--done-callback",
];

/// Runs `filter-branch` or `filter-repo`.
pub(super) fn filter(git: &mut Git<'_, '_>, name: &str, words: &Words) -> Exit {
    if words.any(&["--dry-run", "--analyze"]) && name == "filter-repo" {
        return Exit::silent();
    }
    git.rewrite_all("every commit gets a new name");
    git.name_repository();
    if name == "filter-branch" {
        run_filters(git, words);
    } else {
        run_callbacks(git, words);
    }
    git.change_tree("tracked files become what the rewritten commit holds");
    Exit::silent()
}

/// Runs the filters where git runs all of them: in a directory of its own, `.git-rewrite/t` unless `-d` says otherwise.
fn run_filters(git: &mut Git<'_, '_>, words: &Words) {
    let given = words.arguments.value(&["-d"]).cloned();
    let directory = match (&given, git.root()) {
        (Some(given), _) => git.absolute(given).followed_by(&Value::exact("/t")),
        (None, Some(root)) => Value::exact(root.join(".git-rewrite/t").as_str()),
        (None, None) => Value::Unknown,
    };
    for (option, fed) in FILTERS {
        let input = match fed {
            Fed::Nothing => Input::Text(Value::exact("")),
            Fed::Commit => Input::Unknown,
        };
        for text in words.arguments.values(&[option]).cloned().collect::<Vec<_>>() {
            git.machine.possibly(|machine| {
                machine.inside(&directory, |machine| machine.run_text(&text, input.clone()))
            });
        }
    }
}

fn run_callbacks(git: &mut Git<'_, '_>, words: &Words) {
    for text in words.arguments.values(CALLBACKS).cloned().collect::<Vec<_>>() {
        let program = [Value::exact("python3"), Value::exact("-c"), text];
        git.machine.possibly(|machine| machine.run_words(&program, Input::Inherited));
    }
}
