//! Programs that print text for the shell that asks them: what prepares it for a tool, as the start-up files of most users have it.
//!
//! Such text is the program's own. It is not known, and runs no more than the program could have done itself.

use super::call::Call;
use super::value::Value;

/// How a program is asked for such text.
enum Asked {
    /// With options alone: an operand is a command that it runs, or a file that it prints.
    WithOptions,
    /// With one of these words first, and names behind it.
    With(&'static [&'static str]),
    /// With names.
    WithNames,
}

/// Programs, and how they are asked. From the documentation of each tool (the section on installing it into a shell).
const SETUPS: &[(&str, Asked)] = &[
    ("ssh-agent", Asked::WithOptions),
    ("dircolors", Asked::WithOptions),
    ("lesspipe", Asked::WithOptions),
    ("lesspipe.sh", Asked::WithOptions),
    ("tset", Asked::WithOptions),
    ("resize", Asked::WithOptions),
    ("gpg-agent", Asked::WithOptions),
    ("keychain", Asked::With(&["--eval"])),
    ("brew", Asked::With(&["shellenv"])),
    ("pyenv", Asked::With(&["init", "virtualenv-init"])),
    ("rbenv", Asked::With(&["init"])),
    ("nodenv", Asked::With(&["init"])),
    ("goenv", Asked::With(&["init"])),
    ("jenv", Asked::With(&["init"])),
    ("plenv", Asked::With(&["init"])),
    ("phpenv", Asked::With(&["init"])),
    ("swiftenv", Asked::With(&["init"])),
    ("fnm", Asked::With(&["env", "completions"])),
    ("volta", Asked::With(&["completions"])),
    ("mise", Asked::With(&["activate", "env", "completion"])),
    ("rtx", Asked::With(&["activate", "env"])),
    ("asdf", Asked::With(&["completion"])),
    ("direnv", Asked::With(&["hook", "export"])),
    ("conda", Asked::With(&["shell.bash", "shell.zsh", "shell.posix"])),
    ("mamba", Asked::With(&["shell", "completion"])),
    ("micromamba", Asked::With(&["shell", "completion"])),
    ("devbox", Asked::With(&["shellenv", "completion"])),
    ("devenv", Asked::With(&["print-dev-env"])),
    ("task", Asked::With(&["--completion"])),
    ("aws_completer", Asked::WithOptions),
    ("chezmoi", Asked::With(&["completion"])),
    ("pixi", Asked::With(&["shell-hook", "completion"])),
    ("opam", Asked::With(&["env", "config"])),
    ("luarocks", Asked::With(&["path"])),
    ("perlbrew", Asked::With(&["env"])),
    ("poetry", Asked::With(&["completions"])),
    ("pdm", Asked::With(&["venv", "completion"])),
    ("pip", Asked::With(&["completion"])),
    ("pip3", Asked::With(&["completion"])),
    ("uv", Asked::With(&["generate-shell-completion"])),
    ("uvx", Asked::With(&["--generate-shell-completion"])),
    ("pipenv", Asked::With(&["--completion"])),
    ("npm", Asked::With(&["completion"])),
    ("pnpm", Asked::With(&["completion"])),
    ("deno", Asked::With(&["completions"])),
    ("rustup", Asked::With(&["completions"])),
    ("gh", Asked::With(&["completion"])),
    ("glab", Asked::With(&["completion"])),
    ("kubectl", Asked::With(&["completion"])),
    ("helm", Asked::With(&["completion"])),
    ("kind", Asked::With(&["completion"])),
    ("k3d", Asked::With(&["completion"])),
    ("minikube", Asked::With(&["docker-env", "podman-env", "completion"])),
    ("docker-machine", Asked::With(&["env"])),
    ("docker", Asked::With(&["completion"])),
    ("podman", Asked::With(&["completion"])),
    ("starship", Asked::With(&["init", "completions"])),
    ("zoxide", Asked::With(&["init"])),
    ("atuin", Asked::With(&["init", "gen-completions"])),
    ("mcfly", Asked::With(&["init"])),
    ("navi", Asked::With(&["widget"])),
    ("fzf", Asked::With(&["--bash", "--zsh"])),
    ("thefuck", Asked::With(&["--alias"])),
    ("pay-respects", Asked::With(&["bash", "zsh"])),
    ("oh-my-posh", Asked::With(&["init"])),
    ("just", Asked::With(&["--completions"])),
    ("bw", Asked::With(&["completion"])),
    ("scw", Asked::With(&["autocomplete"])),
    ("flux", Asked::With(&["completion"])),
    ("argocd", Asked::With(&["completion"])),
    ("register-python-argcomplete", Asked::WithNames),
    ("register-python-argcomplete3", Asked::WithNames),
];

/// Whether a call prints text that prepares the shell which asks for it.
pub(super) fn prepares_shell(call: &Call) -> bool {
    let Some((_, asked)) = SETUPS.iter().find(|(name, _)| *name == call.program) else { return false };
    let words: Option<Vec<&str>> = call.words.iter().map(Value::as_exact).collect();
    let Some(words) = words else { return false };
    // A word stands in what is printed, where more than a name would be a command of its own.
    let are_names = words.iter().all(|word| word.chars().all(is_of_name));
    are_names
        && match asked {
            Asked::WithOptions => words.iter().all(|word| word.starts_with('-')),
            Asked::With(first) => words.first().is_some_and(|word| first.contains(word)),
            Asked::WithNames => true,
        }
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '@' | '+')
}
