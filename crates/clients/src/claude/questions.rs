//! When Claude Code asks a user, and when not.
//!
//! What version 2.1 does with the `ask` of a hook was found out by trying it in every mode:
//!
//! | mode | most calls | calls that change places that the client itself counts as sensitive |
//! |---|---|---|
//! | `default`, `acceptEdits` | a user is asked | a user is asked |
//! | `plan` | a user is asked | the same, but when permissions can be bypassed: **they run** |
//! | `bypassPermissions` | a user is asked | **they run** |
//! | `auto` | a user is asked | a model decides |
//! | `dontAsk` | a user is asked | refused, with the advice to try in another way |
//!
//! Without a user (`-p`) an asked call is refused with our own text, but for those that run.

use std::collections::BTreeMap;

use checkrein_protocol::{AbsolutePath, Effect, PermissionMode, Target, ToolName};

use crate::questions::{Answerer, Question, Questions};

/// Names without a dot in front that Claude Code 2.1.197 counts as sensitive, from its own list.
const SENSITIVE: [&str; 5] =
    ["bunfig.toml", "lefthook.yml", "lefthook.yaml", "gradle-wrapper.properties", "pyrightconfig.json"];

/// The directories of that list, for what lies above a workspace.
const SENSITIVE_DIRECTORIES: [&str; 9] =
    [".git", ".vscode", ".idea", ".claude", ".husky", ".cargo", ".devcontainer", ".yarn", ".mvn"];

/// Where `git filter-branch` has each commit while its filters run (git-filter-branch(1), `-d`). The client does not look into filters.
const SCRATCH: &str = ".git-rewrite";

/// What becomes of a question about a call.
pub(super) fn questions(question: &Question<'_>) -> Questions {
    match question.permission_mode {
        Some(PermissionMode::DontAsk) => return Questions::NotWanted,
        // In a mode that is not known nobody may be there.
        Some(mode @ PermissionMode::Other) => return Questions::Decided(mode),
        Some(mode @ (PermissionMode::BypassPermissions | PermissionMode::Auto | PermissionMode::Plan))
            if changes_sensitive_places(question) =>
        {
            return Questions::Decided(mode);
        }
        None
        | Some(
            PermissionMode::Default
            | PermissionMode::AcceptEdits
            | PermissionMode::BypassPermissions
            | PermissionMode::Auto
            | PermissionMode::Plan,
        ) => {}
    }
    let entrypoint = question.variables.get("CLAUDE_CODE_ENTRYPOINT");
    if entrypoint.is_some_and(|name| name.starts_with("sdk-")) {
        Questions::AskedOfProgram("--permission-prompt-tool")
    } else if answerer(question.variables) == Answerer::User && shows_what_changes(question.tool) {
        Questions::AskedUnexplained
    } else {
        Questions::Asked
    }
}

/// Who answers its questions: it says how it was started.
pub(super) fn answerer(variables: &BTreeMap<String, String>) -> Answerer {
    match variables.get("CLAUDE_CODE_ENTRYPOINT").map(String::as_str) {
        Some("cli") => Answerer::User,
        Some(_) | None => Answerer::NotKnown,
    }
}

/// Whether the terminal shows for a tool what would change in a file, and no reason beside it (seen with 2.1.197).
fn shows_what_changes(tool: &ToolName) -> bool {
    matches!(tool.as_str(), "Write" | "Edit" | "MultiEdit" | "NotebookEdit")
}

/// Whether a call changes a place about which some modes of the client ask nobody. Its own list is long and changes, so every name
/// that begins with a dot counts, and what is not known. The client goes by the words of the call: what git does inside its repository it
/// does not see (`git push --force` and `git gc --prune=now` are asked about in all of these modes, seen with 2.1.197). A file in there that
/// is known, such as the configuration, counts all the same: that was not tried.
fn changes_sensitive_places(question: &Question<'_>) -> bool {
    let grounds = [question.workspace, question.home];
    let names_repository = question.shell_text.is_none_or(names_repository);
    let names_scratch = question.shell_text.is_none_or(|text| text.contains(SCRATCH));
    let is_seen = |effect: &Effect, path: &str| {
        let is_inside = effect.cause == "git" && path.ends_with("/.git");
        let is_scratch = path.contains(&format!("/{SCRATCH}/"));
        // What may be among that which an archive brings stands nowhere in the call.
        !effect.is_by_chance() && (!is_inside || names_repository) && (!is_scratch || names_scratch)
    };
    question.effects.iter().filter(|effect| effect.kind.is_mutating()).any(|effect| match &effect.target {
        Target::Path(path) => is_seen(effect, path.as_str()) && is_sensitive(path.as_str(), &grounds),
        Target::Glob(text) => is_seen(effect, text) && is_sensitive(text, &grounds),
        Target::Unknown => true,
        Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => false,
    })
}

/// Whether a command names the directory of a repository, in whatever way a shell lets it be written together.
fn names_repository(command: &str) -> bool {
    let plain: String = command.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let is_named =
        plain.match_indices(".git").any(|(at, found)| plain.get(at + found.len()..).is_some_and(is_end));
    is_named || plain.contains(['$', '`', '*', '?', '[', '{'])
}

/// `grounds` are the workspace and the home directory: how these are called themselves says little.
fn is_sensitive(path: &str, grounds: &[&AbsolutePath]) -> bool {
    let inside = |ground: &&AbsolutePath| {
        path.strip_prefix(ground.as_str()).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let own = grounds.iter().find_map(inside).unwrap_or(path);
    // The client's own worktrees are no sensitive place for it.
    let above = path.strip_suffix(own).unwrap_or_default().replace("/.claude/worktrees", "");
    let odd = |name: &str| {
        let number = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
        let is_short = name.split_once('~').is_some_and(|(_, rest)| number(rest));
        name.starts_with('.') || name.ends_with(['.', ' ']) || is_short
    };
    let is_one_of = |name: &str, list: &[&str]| list.iter().any(|one| one.eq_ignore_ascii_case(name));
    own.split('/').any(odd)
        || own.rsplit('/').next().is_some_and(|name| is_one_of(name, &SENSITIVE))
        || above.split('/').any(|name| is_one_of(name, &SENSITIVE_DIRECTORIES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_does_in_its_repository_is_not_seen_by_the_client() {
        for hidden in ["git push --force origin main", "git gc --prune=now", "git add .gitignore .github/x"] {
            assert!(!names_repository(hidden), "{hidden}");
        }
        for seen in
            ["git config -f .git/config a.b c", "git --git-dir='.g'it push", "git -C $D gc", "git -C .gi? gc"]
        {
            assert!(names_repository(seen), "{seen}");
        }
    }

    #[test]
    fn what_the_client_decides_about_by_itself_is_sensitive_and_the_rest_is_not() {
        let (workspace, home) = (AbsolutePath::new("/h/.trees/p").unwrap(), AbsolutePath::new("/h").unwrap());
        let grounds = [&workspace, &home];
        let sensitive = |path: &str| is_sensitive(path, &grounds);
        // Each of these ran in the real client, although its hook asked.
        for path in [
            ".git/config",
            ".git",
            ".husky/pre-push",
            ".npmrc",
            "a~1",
            "a.",
            "d/.../z",
            "bunfig.toml",
            ".idea/x",
        ] {
            assert!(sensitive(&format!("/h/.trees/p/{path}")), "{path}");
        }
        for path in
            ["/h/.bashrc", "/h/.config/git/config", "/h/.claude/CLAUDE.md", "/x/.mcp.json", "/x/Lefthook.YML"]
        {
            assert!(sensitive(path), "{path}");
        }
        // About each of these the client asked.
        for path in [
            "/h/.trees/p/src/a.rs",
            "/h/.trees/p",
            "/h/other/out",
            "/etc/x",
            "/h/.trees/p/package.json",
            "/h/x~",
        ] {
            assert!(!sensitive(path), "{path}");
        }
        let inside = AbsolutePath::new("/h/p/.git/tree").unwrap();
        assert!(
            is_sensitive("/h/p/.git/tree/a.rs", &[&inside, &home]),
            "what lies above counts for the client too"
        );
        let own = AbsolutePath::new("/h/p/.claude/worktrees/w").unwrap();
        assert!(!is_sensitive("/h/p/.claude/worktrees/w/a.rs", &[&own, &home]));
        assert!(is_sensitive("/h/.trees/p2/a", &grounds), "the neighbour is not the workspace");
    }
}
