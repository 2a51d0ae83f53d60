//! Programs that print text for the shell that asks them: what prepares it for a tool, as the start-up files of most users have it.
//!
//! Such text is the program's own. It is not known, and runs no more than the program could have done itself.

use super::call::Call;
use super::value::Value;

/// A program, and the words by which it is asked; one of them, or its absence where the list is empty. From the documentation of each tool
/// (the section on installing it into a shell).
const SETUPS: &[(&str, &[&str])] = &[
    ("ssh-agent", &[]),
    ("gpg-agent", &["--daemon"]),
    ("keychain", &["--eval"]),
    ("dircolors", &[]),
    ("lesspipe", &[]),
    ("lesspipe.sh", &[]),
    ("tset", &["-s"]),
    ("resize", &[]),
    ("brew", &["shellenv"]),
    ("port", &["shellenv"]),
    ("pyenv", &["init", "virtualenv-init"]),
    ("rbenv", &["init"]),
    ("nodenv", &["init"]),
    ("goenv", &["init"]),
    ("jenv", &["init"]),
    ("plenv", &["init"]),
    ("phpenv", &["init"]),
    ("tfenv", &["init"]),
    ("swiftenv", &["init"]),
    ("fnm", &["env", "completions"]),
    ("nodebrew", &["setup"]),
    ("volta", &["completions"]),
    ("mise", &["activate", "env", "completion"]),
    ("rtx", &["activate", "env"]),
    ("asdf", &["completion"]),
    ("direnv", &["hook"]),
    ("conda", &["shell.bash", "shell.zsh", "shell.posix"]),
    ("mamba", &["shell"]),
    ("micromamba", &["shell"]),
    ("pixi", &["shell-hook", "completion"]),
    ("opam", &["env", "config"]),
    ("luarocks", &["path"]),
    ("perlbrew", &["env"]),
    ("hatch", &["env"]),
    ("poetry", &["completions"]),
    ("pdm", &["venv", "completion", "--pep582"]),
    ("pip", &["completion"]),
    ("pip3", &["completion"]),
    ("uv", &["generate-shell-completion"]),
    ("uvx", &["--generate-shell-completion"]),
    ("pipenv", &["--completion"]),
    ("register-python-argcomplete", &[]),
    ("register-python-argcomplete3", &[]),
    ("npm", &["completion"]),
    ("pnpm", &["completion"]),
    ("deno", &["completions"]),
    ("rustup", &["completions"]),
    ("gh", &["completion"]),
    ("glab", &["completion"]),
    ("hub", &["alias"]),
    ("kubectl", &["completion"]),
    ("helm", &["completion"]),
    ("kind", &["completion"]),
    ("k3d", &["completion"]),
    ("minikube", &["docker-env", "podman-env", "completion"]),
    ("docker-machine", &["env"]),
    ("docker", &["completion"]),
    ("podman", &["completion"]),
    ("starship", &["init", "completions"]),
    ("zoxide", &["init"]),
    ("atuin", &["init", "gen-completions"]),
    ("mcfly", &["init"]),
    ("navi", &["widget"]),
    ("fzf", &["--bash", "--zsh"]),
    ("thefuck", &["--alias"]),
    ("pay-respects", &["bash", "zsh"]),
    ("oh-my-posh", &["init"]),
    ("just", &["--completions"]),
    ("task", &["--completion"]),
    ("bw", &["completion"]),
    ("vault", &["-autocomplete-install"]),
    ("scw", &["autocomplete"]),
    ("flux", &["completion"]),
    ("argocd", &["completion"]),
];

/// Whether a call prints text that prepares the shell which asks for it.
pub(super) fn prepares_shell(call: &Call) -> bool {
    let Some((_, ways)) = SETUPS.iter().find(|(name, _)| *name == call.program) else { return false };
    let mut words = call.words.iter().map(Value::as_exact);
    ways.is_empty() || words.next().flatten().is_some_and(|word| ways.contains(&word))
}
