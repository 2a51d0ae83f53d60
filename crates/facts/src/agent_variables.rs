//! Variables that steer an agent: where it finds its settings and hooks, whether it asks, what code it loads, and whom it talks to.
//!
//! One table for whoever reads a variable: on the command line of an agent, in a file that agents load when they start, in settings that give
//! variables to whatever starts later. The names are those that the programs of the clients hold (`process.env` in the bundles of Gemini CLI 0.61
//! and Qwen Code 0.24; the strings of Claude Code 2.1.197, Codex 0.169, Copilot CLI 1.0.102, Cline 3.0.65, Droid 0.225, OpenCode 1.18 and Kilo 7.7),
//! and those of the documentation of the others.

/// What a variable decides for an agent that starts with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steering {
    /// Where its settings or its data lie, what they say, or where its guard keeps its state.
    Place,
    /// That it asks nobody or calls no hooks; a plain no leaves it as it is.
    Unasked,
    /// That something which bounds it is off, by a plain no.
    Unbound,
    /// Which code it, or the shell of its hooks, loads.
    Code,
    /// Whom it talks to, or by way of whom.
    Connection,
}

struct Row {
    /// Whose it is, for whoever reads or checks the table; nothing for one of all clients.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is for whoever reads or checks the table"))]
    client: &'static str,
    what: Steering,
    names: &'static [&'static str],
}

const fn row(client: &'static str, what: Steering, names: &'static [&'static str]) -> Row {
    Row { client, what, names }
}

const TABLE: &[Row] = &[
    row(
        "",
        Steering::Place,
        &["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "CHECKREIN_HOME", "CHECKREIN_RUN"],
    ),
    // bash(1), sh(1), node(1).
    row("", Steering::Code, &["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "NODE_OPTIONS", "BUN_OPTIONS"]),
    // git(1): programs that git runs.
    row(
        "",
        Steering::Code,
        &[
            "GIT_SSH_COMMAND",
            "GIT_SSH",
            "GIT_EXTERNAL_DIFF",
            "GIT_PROXY_COMMAND",
            "GIT_ASKPASS",
            "GIT_PAGER",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
        ],
    ),
    // node(1).
    row("", Steering::Unbound, &["NODE_TLS_REJECT_UNAUTHORIZED"]),
    row(
        "",
        Steering::Connection,
        &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"],
    ),
    row(
        "claude",
        Steering::Place,
        &["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MANAGED_SETTINGS_PATH", "CLAUDE_CODE_REMOTE_SETTINGS_PATH"],
    ),
    row("claude", Steering::Unasked, &["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "IS_SANDBOX"]),
    row(
        "claude",
        Steering::Code,
        &["CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_CODE_PLUGIN_SEED_DIR"],
    ),
    row(
        "claude",
        Steering::Connection,
        &[
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_AWS_BASE_URL",
            "ANTHROPIC_BEDROCK_BASE_URL",
            "ANTHROPIC_BEDROCK_MANTLE_BASE_URL",
            "ANTHROPIC_FOUNDRY_BASE_URL",
            "ANTHROPIC_VERTEX_BASE_URL",
            "CLAUDE_CODE_API_BASE_URL",
            "CLAUDE_CODE_HTTP_PROXY",
            "CLAUDE_CODE_HTTPS_PROXY",
            "CLAUDE_CODE_PROXY_URL",
        ],
    ),
    row("codex", Steering::Place, &["CODEX_HOME", "CODEX_SQLITE_HOME"]),
    row("codex", Steering::Connection, &["OPENAI_BASE_URL", "CODEX_EXEC_SERVER_URL"]),
    row(
        "gemini",
        Steering::Place,
        &[
            "GEMINI_CLI_HOME",
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
            "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
            "GEMINI_SYSTEM_MD",
        ],
    ),
    row("gemini", Steering::Unasked, &["GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_YOLO"]),
    row("gemini", Steering::Unbound, &["GEMINI_SANDBOX"]),
    row(
        "gemini",
        Steering::Code,
        &[
            "GEMINI_SANDBOX_PROXY_COMMAND",
            "GEMINI_SANDBOX_IMAGE",
            "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND",
            "GEMINI_CLI_IDE_SERVER_STDIO_ARGS",
        ],
    ),
    row(
        "gemini",
        Steering::Connection,
        &["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT"],
    ),
    row(
        "qwen",
        Steering::Place,
        &[
            "QWEN_HOME",
            "QWEN_RUNTIME_DIR",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH",
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
            "QWEN_CODE_TRUSTED_FOLDERS_PATH",
            "QWEN_CODE_MCP_APPROVALS_PATH",
            "QWEN_SYSTEM_MD",
            "QWEN_SYSTEM_IDENTITY_MD",
        ],
    ),
    row("qwen", Steering::Unbound, &["QWEN_SANDBOX"]),
    row(
        "qwen",
        Steering::Code,
        &[
            "QWEN_SANDBOX_PROXY_COMMAND",
            "QWEN_SANDBOX_IMAGE",
            "QWEN_CODE_IDE_SERVER_STDIO_COMMAND",
            "QWEN_CODE_IDE_SERVER_STDIO_ARGS",
            "QWEN_CODE_MANAGED_NPM_ROOT",
        ],
    ),
    row("qwen", Steering::Unasked, &["QWEN_TLS_INSECURE"]),
    row("qwen", Steering::Connection, &["QWEN_UPDATE_BASE_URL", "DASHSCOPE_PROXY_BASE_URL"]),
    row("copilot", Steering::Place, &["COPILOT_HOME"]),
    row("copilot", Steering::Code, &["COPILOT_CLI_DIST_DIR", "COPILOT_PKG_CACHE_HOME"]),
    row("copilot", Steering::Unasked, &["COPILOT_ALLOW_ALL"]),
    row(
        "cline",
        Steering::Place,
        &[
            "CLINE_DIR",
            "CLINE_DATA_DIR",
            "CLINE_GLOBAL_SETTINGS_PATH",
            "CLINE_MCP_SETTINGS_PATH",
            "CLINE_PROVIDER_SETTINGS_PATH",
            "CLINE_SANDBOX_DATA_DIR",
            "CLINE_TOOL_APPROVAL_DIR",
        ],
    ),
    row("cline", Steering::Unasked, &["CLINE_HOOKS_DIR", "CLINE_TOOL_APPROVAL_MODE"]),
    row(
        "cline",
        Steering::Code,
        &["CLINE_JS_RUNTIME_PATH", "CLINE_WRAPPER_PATH", "CLINE_CONNECT_HOOK_COMMAND"],
    ),
    row("cline", Steering::Connection, &["CLINE_API_BASE_URL"]),
    row(
        "droid",
        Steering::Place,
        &[
            "FACTORY_HOME_OVERRIDE",
            "FACTORY_PROFILE_DIR",
            "FACTORY_RUNTIME_SETTINGS_PATH",
            "FACTORY_ORG_MANAGED_SETTINGS_LOCAL_PATH",
            "FACTORY_ORG_MANAGED_SETTINGS_URL",
        ],
    ),
    row(
        "droid",
        Steering::Code,
        &["FACTORY_NPM_MODULES_DIR", "FACTORY_RIPGREP_PATH", "FACTORY_KEYTAR_PATH", "TERMINAL_SHELL"],
    ),
    row("droid", Steering::Connection, &["FACTORY_API_BASE_URL", "FACTORY_RELAY_BASE_URL"]),
    row(
        "opencode",
        Steering::Place,
        &[
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_DIR",
            "OPENCODE_CONFIG_CONTENT",
            "OPENCODE_TUI_CONFIG",
            "OPENCODE_TEST_HOME",
            "OPENCODE_TEST_MANAGED_CONFIG_DIR",
        ],
    ),
    row(
        "opencode",
        Steering::Unasked,
        &["OPENCODE_PURE", "OPENCODE_YOLO", "OPENCODE_PERMISSION", "OPENCODE_DISABLE_PROJECT_CONFIG"],
    ),
    row(
        "kilo",
        Steering::Place,
        &[
            "KILO_CONFIG",
            "KILO_CONFIG_DIR",
            "KILO_CONFIG_CONTENT",
            "KILO_TUI_CONFIG",
            "KILO_TEST_HOME",
            "KILO_TEST_MANAGED_CONFIG_DIR",
        ],
    ),
    row("kilo", Steering::Unasked, &["KILO_PURE", "KILO_PERMISSION", "KILO_DISABLE_PROJECT_CONFIG"]),
    row("kilo", Steering::Code, &["KILO_BWRAP_PATH"]),
    row("kilo", Steering::Connection, &["KILO_API_URL"]),
    row("cursor", Steering::Place, &["CURSOR_CONFIG_DIR"]),
    row("kiro", Steering::Place, &["KIRO_HOME"]),
    row(
        "others",
        Steering::Place,
        &[
            "HERMES_HOME",
            "OPENCLAW_HOME",
            "OPENCLAW_CONFIG_PATH",
            "AMP_SETTINGS_FILE",
            "GOOSE_CONFIG_DIR",
            "PI_CODING_AGENT_DIR",
        ],
    ),
    row("others", Steering::Unasked, &["HERMES_YOLO_MODE", "ALTIMATE_CLI_YOLO"]),
];

/// Beginnings of names by which every program loads code (ld.so(8), dyld(1)), or bash takes functions, by which git is given settings
/// (git-config(1), `GIT_CONFIG_COUNT`), and of those of the guard.
const BEGINNINGS: &[(&str, Steering)] = &[
    ("LD_", Steering::Code),
    ("DYLD_", Steering::Code),
    ("BASH_FUNC_", Steering::Code),
    ("GIT_CONFIG_KEY_", Steering::Code),
    ("CHECKREIN_", Steering::Place),
];

/// What a variable of this name decides for an agent; `None` for one that no agent heeds so.
pub fn steering(name: &str) -> Option<Steering> {
    let row = TABLE.iter().find(|row| row.names.contains(&name)).map(|row| row.what);
    row.or_else(|| BEGINNINGS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, what)| *what))
}

/// The names of the table that decide one of these, of all clients.
pub fn steering_names(what: &[Steering]) -> impl Iterator<Item = &'static str> + '_ {
    TABLE.iter().filter(|row| what.contains(&row.what)).flat_map(|row| row.names.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_name_stands_once_and_each_client_has_a_place() {
        let mut seen = BTreeSet::new();
        for name in TABLE.iter().flat_map(|row| row.names) {
            assert!(seen.insert(name), "{name} stands twice");
        }
        for client in [
            "claude", "codex", "gemini", "qwen", "copilot", "cline", "droid", "opencode", "kilo", "cursor",
            "kiro",
        ] {
            assert!(TABLE.iter().any(|row| row.client == client && row.what == Steering::Place), "{client}");
        }
    }

    #[test]
    fn variables_of_projects_steer_nobody() {
        for name in [
            "PORT",
            "DATABASE_URL",
            "NODE_ENV",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GEMINI_MODEL",
            "PYTHONPATH",
        ] {
            assert_eq!(steering(name), None, "{name}");
        }
        assert_eq!(steering("LD_PRELOAD"), Some(Steering::Code));
        assert_eq!(steering("CHECKREIN_ANYTHING"), Some(Steering::Place));
        assert!(steering_names(&[Steering::Unbound]).any(|name| name == "GEMINI_SANDBOX"));
    }
}
