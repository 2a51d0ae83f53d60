//! What a pattern of processes fits besides what it is meant for.

use crate::interpreter::expression::fits;
use crate::interpreter::process_lists::SHELLS;
use checkrein_facts::hook_line::{HOOK_PROGRAM, refusing_line};

/// Processes that have nothing in common: what fits all of them fits any.
const UNLIKE: [&str; 5] = ["sh", "node", "python3", "systemd", "kworker/0:1"];

/// What stands in the command line of clients and hardly in another (code.claude.com, "CLI reference").
const CLIENT_OPTIONS: [&str; 4] =
    ["settings", "permission-mode", "dangerously-skip-permissions", "mcp-config"];

/// What a pattern of processes is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// The names of processes (`pkill`).
    Names,
    /// The names, as a whole (`killall`, `pkill -x`).
    WholeNames,
    /// The command lines (`pkill -f`).
    Lines,
}

/// Whether a pattern fits processes of any kind.
pub(crate) fn is_everything(pattern: &str, by: Comparison) -> bool {
    by != Comparison::WholeNames && UNLIKE.iter().all(|name| fits(pattern, name))
}

/// Whether a pattern fits the shell that runs the command line of a hook, without which a client has no answer. The words by which
/// shared settings look for the program are left out: they are names of common folders.
pub(crate) fn is_shell_of_hook(pattern: &str, by: Comparison) -> bool {
    match by {
        Comparison::WholeNames => SHELLS.contains(&pattern),
        Comparison::Names => SHELLS.iter().any(|shell| fits(pattern, shell)),
        Comparison::Lines => {
            let call = format!("~/.local/bin/{HOOK_PROGRAM} claude");
            fits(pattern, &format!("/bin/sh -c {}", refusing_line(&call)))
                || CLIENT_OPTIONS.iter().any(|option| pattern.trim_start_matches('-').starts_with(option))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_compared_as_the_programs_do() {
        use Comparison::{Lines, Names, WholeNames};
        for (pattern, by) in [
            ("sh", Names),
            ("^bash$", Names),
            ("s", Names),
            ("dash", WholeNames),
            ("sh -c", Lines),
            ("exit 2", Lines),
            ("echo.*refused", Lines),
            (r"o=\$\(", Lines),
            ("--settings", Lines),
        ] {
            assert!(is_shell_of_hook(pattern, by), "{pattern} {by:?}");
        }
        for (pattern, by) in [
            ("fish", Names),
            ("bas", WholeNames),
            ("node server.js", Lines),
            ("vite|esbuild", Lines),
            ("cargo", Lines),
            ("npm run dev", Lines),
            ("python", Lines),
            ("server", Lines),
            ("manage.py", Lines),
            ("bash -c", Lines),
        ] {
            assert!(!is_shell_of_hook(pattern, by), "{pattern} {by:?}");
        }
        assert!(
            is_everything("", Names) && is_everything(".", Lines) && is_everything("[[:alpha:]]*", Names)
        );
        assert!(!is_everything("o", Names) && !is_everything(".*", WholeNames));
    }
}
