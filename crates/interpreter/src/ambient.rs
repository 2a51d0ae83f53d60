//! Variables that a shell or its client sets by itself: the environment of the hook does not have to have them.

/// What bash and zsh set or give a meaning to (source: the manual of bash, "Bourne Shell Variables" and "Bash Variables"; `zshparam`),
/// terminals, and what Claude Code sets for the shell that it starts.
const SET: &[&str] = &[
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_CMDS",
    "BASH_COMMAND",
    "BASH_COMPAT",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_LOADABLES_PATH",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "BASHOPTS",
    "BASHPID",
    "CHILD_MAX",
    "COLUMNS",
    "COMP_CWORD",
    "COMP_KEY",
    "COMP_LINE",
    "COMP_POINT",
    "COMP_TYPE",
    "COMP_WORDBREAKS",
    "COMP_WORDS",
    "COMPREPLY",
    "COPROC",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "EXECIGNORE",
    "FCEDIT",
    "FUNCNAME",
    "FUNCNEST",
    "GLOBIGNORE",
    "GROUPS",
    "HISTCMD",
    "HISTCONTROL",
    "HISTFILESIZE",
    "HISTIGNORE",
    "HISTSIZE",
    "HISTTIMEFORMAT",
    "HOSTFILE",
    "HOSTNAME",
    "HOSTTYPE",
    "IGNOREEOF",
    "INPUTRC",
    "INSIDE_EMACS",
    "LINENO",
    "LINES",
    "MACHTYPE",
    "MAILCHECK",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "OSTYPE",
    "PIPESTATUS",
    "POSIXLY_CORRECT",
    "PPID",
    "PROMPT_COMMAND",
    "PROMPT_DIRTRIM",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "RANDOM",
    "READLINE_ARGUMENT",
    "READLINE_LINE",
    "READLINE_MARK",
    "READLINE_POINT",
    "REPLY",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "TIMEFORMAT",
    "TMOUT",
    "UID",
    "auto_resume",
    "histchars",
    "argv",
    "cdpath",
    "fignore",
    "fpath",
    "funcstack",
    "GID",
    "EGID",
    "KEYBOARD_HACK",
    "LISTMAX",
    "LOGCHECK",
    "NULLCMD",
    "READNULLCMD",
    "SPROMPT",
    "status",
    "TTY",
    "TTYIDLE",
    "USERNAME",
    "WORDCHARS",
    "ZSH_NAME",
    "ZSH_VERSION",
    "ZSH_ARGZERO",
    "TERM",
    "TERM_PROGRAM",
    "COLORTERM",
    "_",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SSE_PORT",
    "GIT_EDITOR",
];

/// Variables that bash keeps as arrays by itself (source: the manual of bash, "Bash Variables").
const ARRAYS: &[&str] = &[
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_CMDS",
    "BASH_LINENO",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_VERSINFO",
    "COMP_WORDS",
    "COPROC",
    "DIRSTACK",
    "FUNCNAME",
    "GROUPS",
    "PIPESTATUS",
];

/// Whether a shell keeps an array of that name by itself.
pub(super) fn is_array_of_shells(name: &str) -> bool {
    ARRAYS.contains(&name)
}

/// Whether a variable may have a value in the shell although nobody set it.
pub(super) fn is_set_by_shells(name: &str) -> bool {
    SET.contains(&name) || name.starts_with("CLAUDE_CODE_")
}

/// What the shell of the agent holds of a variable that the hook finds in its own environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InShell {
    /// The same.
    Same,
    /// The same or nothing: it is set for hooks alone.
    PerhapsNothing,
    /// Something else, or nothing: shells set it anew, or clients do for the shells that they start.
    Otherwise,
}

/// Variables that a shell takes over as it finds them, although it may also set them (tried with bash 5.2).
const TAKEN_OVER: &[&str] = &[
    "HISTCONTROL",
    "HISTFILESIZE",
    "HISTIGNORE",
    "HISTSIZE",
    "HISTTIMEFORMAT",
    "HOSTFILE",
    "HOSTNAME",
    "HOSTTYPE",
    "INPUTRC",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "MACHTYPE",
    "OSTYPE",
    "TIMEFORMAT",
    "USERNAME",
];

/// What clients set for the shells that they start, so that nothing waits for a key and little is coloured (seen with Claude Code 2.1.197:
/// `AI_AGENT` and `GIT_EDITOR`; the others serve the same, ours).
const FOR_SHELLS: &[&str] = &[
    "AGENT",
    "AI_AGENT",
    "FORCE_COLOR",
    "GIT_EDITOR",
    "GIT_PAGER",
    "GIT_SEQUENCE_EDITOR",
    "GIT_TERMINAL_PROMPT",
    "NO_COLOR",
    "PAGER",
];

/// Members of a payload, which Factory Droid sets for its hooks as variables (seen: `cwd`, `session_id`, `tool_name`; the others are members
/// of payloads too).
const OF_PAYLOADS: &[&str] = &[
    "cwd",
    "hook_event_name",
    "message",
    "permission_mode",
    "prompt",
    "session_id",
    "tool_input",
    "tool_name",
    "tool_response",
    "transcript_path",
];

/// How the variables begin that clients set for themselves, their hooks and their shells.
const OF_CLIENTS: &[&str] = &[
    "CLAUDE",
    "CLINE_",
    "CODEX_",
    "COPILOT_",
    "CURSOR_",
    "DROID_",
    "FACTORY_",
    "GEMINI_",
    "KILO",
    "KIRO_",
    "OPENCODE",
    "QWEN_",
    "WINDSURF_",
];

/// How the variables end that users set for clients, which hand them on as they are.
const OF_USERS: &[&str] =
    &["_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_CONFIG_DIR", "_HOME", "_MODEL", "_TOKEN"];

/// What the shell of the agent holds of a variable of the hook's environment.
pub(super) fn in_shell(name: &str) -> InShell {
    let is_of_client = OF_CLIENTS.iter().any(|start| name.starts_with(start));
    if OF_PAYLOADS.contains(&name) || is_of_client && name.ends_with("_PROJECT_DIR") {
        InShell::PerhapsNothing
    } else if is_of_client && !OF_USERS.iter().any(|end| name.ends_with(end))
        || FOR_SHELLS.contains(&name)
        || is_set_by_shells(name) && !TAKEN_OVER.contains(&name)
    {
        InShell::Otherwise
    } else {
        InShell::Same
    }
}

/// Whether it is bash that sets this variable, and a shell that knows no more than POSIX does not (source: the manual of dash 0.5.12).
pub(super) fn is_of_bash(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "COPROC",
        "DIRSTACK",
        "EPOCHREALTIME",
        "EPOCHSECONDS",
        "EUID",
        "FUNCNAME",
        "GROUPS",
        "HISTCMD",
        "HOSTNAME",
        "HOSTTYPE",
        "MACHTYPE",
        "MAPFILE",
        "OSTYPE",
        "PIPESTATUS",
        "RANDOM",
        "REPLY",
        "SECONDS",
        "SHELLOPTS",
        "SHLVL",
        "SRANDOM",
        "UID",
    ];
    name.starts_with("BASH") || name.starts_with("COMP_") || OTHERS.contains(&name)
}
