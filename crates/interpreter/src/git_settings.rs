//! Settings of git that name code. Source: git-config(1), git-lfs-config(5).

/// Returns whether a setting names code that git runs, or a file with further settings; letters count in either case.
pub fn runs_code(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let fixed = [
        "core.pager",
        "core.editor",
        "sequence.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.hookspath",
        "core.gitproxy",
        "core.askpass",
        "core.alternaterefscommand",
        "diff.external",
        "interactive.difffilter",
        "gpg.program",
        "uploadpack.packobjectshook",
        "credential.helper",
        "include.path",
        "init.templatedir",
        "ssh.command",
        "sendemail.smtpserver",
        "imap.tunnel",
        "instaweb.httpd",
        "instaweb.browser",
        "web.browser",
        "receive.procreceiverefs",
        "trailer.command",
    ];
    let grouped = [
        ("alias.", ""),
        ("pager.", ""),
        ("filter.", ".clean"),
        ("filter.", ".smudge"),
        ("filter.", ".process"),
        ("diff.", ".textconv"),
        ("diff.", ".command"),
        ("merge.", ".driver"),
        ("difftool.", ".cmd"),
        ("difftool.", ".path"),
        ("mergetool.", ".cmd"),
        ("mergetool.", ".path"),
        ("gpg.", ".program"),
        ("gpg.", ".defaultkeycommand"),
        ("sendemail.", "cmd"),
        ("sendemail.", ".smtpserver"),
        ("man.", ".path"),
        ("url.ext::", ".insteadof"),
        ("url.ext::", ".pushinsteadof"),
        ("lfs.customtransfer.", ".path"),
        ("lfs.extension.", ".clean"),
        ("lfs.extension.", ".smudge"),
        ("credential.", ".helper"),
        ("includeif.", ".path"),
        ("browser.", ".cmd"),
        ("remote.", ".uploadpack"),
        ("remote.", ".receivepack"),
        ("remote.", ".vcs"),
        ("hook.", ".command"),
        ("trailer.", ".cmd"),
        ("trailer.", ".command"),
        ("submodule.", ".update"),
        ("protocol.ext", ".allow"),
        ("tar.", ".command"),
        ("man.", ".cmd"),
        ("guitool.", ".cmd"),
    ];
    fixed.contains(&key.as_str())
        || grouped.iter().any(|(start, end)| key.starts_with(start) && key.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::runs_code;

    #[test]
    fn settings_that_name_code_are_told_from_others() {
        assert!(runs_code("core.sshCommand") && runs_code("filter.x.smudge") && !runs_code("user.name"));
    }
}
