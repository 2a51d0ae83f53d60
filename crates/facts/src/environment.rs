//! Variables of the environment that lead the guard itself.

/// Whether a variable decides where the guard finds its places, which code its command line runs, or whether the client runs it at all:
/// Claude Code 2.1 puts every hook behind `CLAUDE_CODE_SHELL_PREFIX`, and calls none with `CLAUDE_CODE_SIMPLE`.
pub fn leads_guard(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "CLAUDE_CONFIG_DIR",
        "BASH_ENV",
        "ENV",
        "SHELLOPTS",
        "IFS",
        "CLAUDE_CODE_SHELL",
        "CLAUDE_CODE_SHELL_PREFIX",
        "CLAUDE_CODE_SIMPLE",
        "CLAUDE_CODE_SAFE_MODE",
    ];
    NAMES.contains(&name)
        || ["CHECKREIN_", "LD_", "DYLD_", "BASH_FUNC_"].iter().any(|start| name.starts_with(start))
}
