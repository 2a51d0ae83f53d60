//! What settings mean: which name code that git runs, and which say where things come from and go.

use crate::effect::NetworkReach;
use crate::interpreter::{Value, known_hosts};

/// Whether the value of a setting that could run anything is one of the programs that people set it to.
pub(in super::super) fn is_harmless_program(key: &str, value: &str) -> bool {
    const PROGRAMS: &[&str] = &[
        "",
        "true",
        "false",
        "cat",
        "less",
        "more",
        "most",
        "vim",
        "vi",
        "nvim",
        "nano",
        "emacs",
        "emacsclient",
        "micro",
        "hx",
        "helix",
        "code",
        "cursor",
        "subl",
        "zed",
        "delta",
        "bat",
        "diff-so-fancy",
        "gpg",
        "gpg2",
        "ssh",
        "ssh-keygen",
        "op-ssh-sign",
        "cache",
        "osxkeychain",
        "manager",
        "manager-core",
        "libsecret",
        "wincred",
        "gh",
        "difft",
        "ed",
        "kak",
        "notepad",
        "input",
        "simple",
        "rebase",
        "checkout",
        "merge",
        "none",
        "git-lfs",
        "msmtp",
        "sendmail",
    ];
    let key = key.to_ascii_lowercase();
    if key.starts_with("alias.") {
        return !value.starts_with('!');
    }
    if key == "core.hookspath" {
        return value == "/dev/null"
            || value.is_empty()
            || [".githooks", ".husky", ".husky/_", ".hooks", ".git/hooks", ".git-hooks"].contains(&value);
    }
    if key.starts_with("sendemail.") && key.ends_with("smtpserver") && !value.starts_with('/') {
        return true;
    }
    if key == "submodule.update" || key.ends_with(".path") && key.starts_with("include") {
        return false;
    }
    if key.starts_with("filter.lfs.") && value.starts_with("git-lfs ") || value == "!gh auth git-credential" {
        return true;
    }
    let plain = !value.contains(['`', '$', ';', '|', '&', '<', '>', '(', '!', '\n', ':'])
        && !value.to_ascii_lowercase().contains("command");
    let program = value.split_whitespace().next().unwrap_or_default();
    plain
        && PROGRAMS.contains(&program.rsplit('/').next().unwrap_or_default())
        && !value.split_whitespace().any(|word| word == "-c" || word == "-S")
}

/// The address that a setting puts in the place of others, where it is one of a host that is not known (`url.BASE.insteadOf`).
pub(super) fn foreign_base(key: &str) -> Option<&str> {
    let base = key.strip_prefix("url.")?;
    let (base, name) = base.rsplit_once('.')?;
    let is_rewrite = ["insteadof", "pushinsteadof"].iter().any(|known| name.eq_ignore_ascii_case(known));
    let is_address = base.contains("://") || base.contains('@');
    (is_rewrite && is_address && known_hosts::reach(base) == NetworkReach::External).then_some(base)
}

/// Whether a setting names a file to which git adds what it does.
pub(super) fn names_trace(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.strip_prefix("trace2.")
        .is_some_and(|key| matches!(key, "normaltarget" | "perftarget" | "eventtarget"))
}

/// Whether a setting has git take any certificate: `http.sslVerify`, `http.<url>.sslVerify` (git-config(1)).
pub(super) fn stops_checking(name: &str, value: &Value) -> bool {
    let name = name.to_ascii_lowercase();
    let is_off = |text: &str| matches!(text.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off");
    name.starts_with("http.")
        && (name.ends_with(".sslverify") || name.ends_with(".proxysslverify"))
        && value.as_exact().is_some_and(is_off)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_settings_is_told_from_taste() {
        assert!(is_harmless_program("core.editor", "code --wait"));
        assert!(!is_harmless_program("core.editor", "vim -c :!evil"));
        assert!(!is_harmless_program("core.sshCommand", "ssh -o ProxyCommand=evil"));
        assert!(!is_harmless_program("credential.helper", "store"));
        assert!(!is_harmless_program("core.hooksPath", "/tmp/evil"));
    }
}
