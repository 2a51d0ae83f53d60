//! What keeps an agent in check: other guards, and the settings by which agents are bound.

use crate::path_pattern::name_matches;
use checkrein_protocol::AbsolutePath;

/// Programs that watch what agents do, as a program, a package or a folder of settings is called.
const GUARDS: &[&str] = &[
    "nah",
    "ccguard",
    "dcg",
    "destructive-command-guard",
    "destructive_command_guard",
    "cc-safety-net",
    "claude-code-safety-net",
    "claude-code-hooks",
    "percho",
    "shellfirm",
    "tirith",
];

/// Files by the end of their path by which agents are told what they may do and who looks on. Sources: the pages on hooks, permissions and
/// settings of Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI, Cline, Droid, Cursor, Windsurf, Kiro, OpenCode, Kilo, Amp, Devin and
/// the others named. Those that our own adapters read are held against this table by a test of theirs.
const SETTINGS: &[&str] = &[
    "/.claude/settings.json",
    "/.claude/settings.local.json",
    "/.claude.json",
    "/.codex/config.toml",
    "/.codex/hooks.json",
    "/.codex/managed_config.toml",
    "/.codex/requirements.toml",
    "/.gemini/settings.json",
    "/.qwen/settings.json",
    "/.cursor/hooks.json",
    "/.cursor/permissions.json",
    "/.cursor/cli-config.json",
    "/.cursor/cli.json",
    "/.cursor/sandbox.json",
    "/.gemini/.env",
    "/.qwen/.env",
    "/.qwen/trustedFolders.json",
    "/.opencode/package.json",
    "/.kilo/package.json",
    "/.kilocode/package.json",
    "/.config/amp/settings.json",
    "/.config/crush/crush.json",
    "/.openclaw/openclaw.json",
    "/.hermes/config.yaml",
    "/.factory/settings.json",
    "/.factory/settings.local.json",
    "/.factory/hooks.json",
    "/.factory/config.json",
    "/.factory/mcp.json",
    "/.cline/global-settings.json",
    "/.cline/data/globalState.json",
    "/.cline/data/global-settings.json",
    "/.copilot/permissions-config.json",
    "/.codeium/windsurf/mcp_config.json",
    "/.copilot/settings.json",
    "/.copilot/config.json",
    "/.windsurf/hooks.json",
    "/.codeium/windsurf/hooks.json",
    "/.codeium/hooks.json",
    "/.opencode/tui.json",
    "/.opencode/tui.jsonc",
    "/.kilo/tui.json",
    "/.kilo/tui.jsonc",
    "/.kilocode/tui.json",
    "/.kilocode/tui.jsonc",
    "/.gemini/config/hooks.json",
    "/.gemini/trustedFolders.json",
    "/kilo.json",
    "/kilo.jsonc",
    "/opencode.json",
    "/opencode.jsonc",
    "/.amp/settings.json",
    "/.config/devin/config.json",
    "/.augment/settings.json",
    "/.aider.conf.yml",
];

/// Folders of the same.
const FOLDERS: &[&str] = &[
    "/.claude/hooks/",
    "/.codex/hooks/",
    "/.codex/rules/",
    "/.gemini/hooks/",
    "/.gemini/policies/",
    "/.cursor/hooks/",
    "/.kiro/",
    "/.opencode/plugin/",
    "/.opencode/plugins/",
    "/.opencode/tool/",
    "/.opencode/tools/",
    "/.kilo/tool/",
    "/.kilo/tools/",
    "/.kilocode/tool/",
    "/.kilocode/tools/",
    "/.config/opencode/",
    "/.config/amp/plugins/",
    "/.config/goose/",
    "/.hermes/hooks/",
    "/.hermes/plugins/",
    "/.openclaw/hooks/",
    "/.openclaw/plugins/",
    "/.pi/agent/extensions/",
    "/.amazonq/cli-agents/",
    "/.claude/plugins/",
    "/.cline/hooks/",
    "/Documents/Cline/Hooks/",
    "/.cline/plugins/",
    "/.copilot/hooks/",
    "/.github/hooks/",
    "/.github/copilot/",
    "/.clinerules/hooks/",
    "/.cline/data/settings/",
    "/.copilot/installed-plugins/",
    "/.factory/worktree-setups/",
    "/.qwen/policies/",
    "/.factory/hooks/",
    "/.factory/plugins/",
    "/.windsurf/hooks/",
    "/.qwen/hooks/",
    "/.qwen/extensions/",
    "/.gemini/extensions/",
    "/.kilo/plugin/",
    "/.kilo/plugins/",
    "/.kilocode/plugin/",
    "/.kilocode/plugins/",
    "/.config/kilo/",
    "/.opencode/node_modules/",
    "/.kilo/node_modules/",
    "/.kilocode/node_modules/",
    "/.cache/opencode/node_modules/",
    "/.cache/opencode/packages/",
    "/.cache/opencode/bin/",
    "/.cache/kilo/node_modules/",
    "/.cache/kilo/packages/",
    "/.cache/kilo/bin/",
];

/// Folders in one of these that hold ordinary work.
const WORK: &[&str] = &["/.kiro/specs/"];

/// What a file has to do with watching an agent (`a guard of agents`); `None` when nothing.
pub fn watcher(path: &AbsolutePath) -> Option<&'static str> {
    if belongs_to_guard(path) {
        return Some("a guard of agents");
    }
    let text = path.as_str();
    let inside = |folder: &&str| {
        text.contains(*folder) || folder.strip_suffix('/').is_some_and(|bare| text.ends_with(bare))
    };
    let settings =
        SETTINGS.iter().any(|end| text.ends_with(end)) || FOLDERS.iter().any(inside) || is_profile(text);
    (settings && !WORK.iter().any(inside)).then_some("what an agent is allowed to do")
}

/// Whether a file is a profile of Codex: `NAME.config.toml` in its folder lies over the settings of the user (`codex --profile NAME`, help of 0.169).
fn is_profile(text: &str) -> bool {
    let Some((folder, name)) = text.rsplit_once('/') else { return false };
    folder.ends_with("/.codex") && name.ends_with(".config.toml")
}

/// The files in a folder by which agents are told what they may do, whether they are there or not; they go when the folder does.
pub fn watchers_below(folder: &AbsolutePath) -> impl Iterator<Item = AbsolutePath> + '_ {
    let own = folder.name().map(|name| format!("/{name}/")).unwrap_or_default();
    let below = SETTINGS.iter().chain(FOLDERS).filter_map(move |place| {
        let (above, below) = place.trim_end_matches('/').split_at_checked(own.len())?;
        (above == own && !own.is_empty()).then(|| folder.join(below))
    });
    below.filter(|place| watcher(place).is_some())
}

/// Whether the name of a program, a package or a process is that of a guard: `nah`, `nah-cli`, `nah@1.2`.
pub fn names_watcher(name: &str) -> bool {
    let base = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    GUARDS.iter().any(|guard| {
        base.strip_prefix(guard).is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with(['@', '=', '['])
                || ["-cli", "-hook", "-hooks", "-claude"].contains(&rest)
        })
    })
}

/// Whether a folder is called like a guard, or a pattern means it: `.na?`.
fn names_guard_folder(name: &str) -> bool {
    let spelled = name.chars().filter(|character| character.is_alphanumeric()).count();
    GUARDS
        .iter()
        .any(|guard| *guard == name || (spelled >= 2 && name.contains('?') && name_matches(name, guard)))
}

/// A folder of settings in a home or project, or the program where programs of a user or of the machine lie.
fn belongs_to_guard(path: &AbsolutePath) -> bool {
    let mut above = "";
    for part in path.parts() {
        let hidden = part.strip_prefix('.').map(|name| name.split('.').next().unwrap_or(name));
        let by_folder = matches!(above, ".config" | "share" | "state" | "lib");
        let by_program = matches!(above, "bin" | "sbin");
        if hidden.is_some_and(names_guard_folder) || ((by_folder || by_program) && names_watcher(part)) {
            return true;
        }
        above = part;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> bool {
        watcher(&AbsolutePath::new(path).unwrap()).is_some()
    }

    #[test]
    fn what_watches_agents_is_known() {
        for path in [
            "/home/dev/.nah",
            "/home/dev/.nah/trust.json",
            "/home/dev/.config/ccguard/rules.toml",
            "/home/dev/.local/bin/dcg",
            "/home/dev/proj/.claude/hooks/check.sh",
            "/home/dev/.cursor/hooks.json",
            "/home/dev/proj/.kiro/hooks/x.hook",
            "/home/dev/.na?",
            "/home/dev/proj/.github/hooks/guard.json",
            "/home/dev/proj/.clinerules/hooks/PreToolUse",
            "/home/dev/proj/.factory/settings.local.json",
            "/home/dev/.copilot/settings.json",
            "/home/dev/.codeium/windsurf/hooks.json",
            "/home/dev/.codeium/hooks.json",
            "/home/dev/proj/.opencode/tui.json",
            "/home/dev/.factory/plugins/installed_plugins.json",
            "/home/dev/.factory/plugins/x/hooks/hooks.json",
            "/home/dev/.codeium/windsurf/mcp_config.json",
            "/home/dev/.codex/work.config.toml",
            "/home/dev/.factory/config.json",
            "/home/dev/.copilot/permissions-config.json",
            "/home/dev/.copilot/installed-plugins/x/hooks.json",
            "/home/dev/.cline/data/globalState.json",
            "/home/dev/proj/.kilo/plugin/guard.js",
            "/home/dev/proj/opencode.json",
            "/home/dev/proj/.opencode/opencode.jsonc",
            "/home/dev/proj/kilo.json",
            "/home/dev/proj/.kilocode/kilo.jsonc",
        ] {
            assert!(found(path), "{path} watches");
        }
        for path in [
            "/home/dev/proj/nah/readme.md",
            "/home/dev/proj/tui.json",
            "/home/dev/proj/.claude/commands/test.md",
            "/home/dev/proj/.kiro/specs/login.md",
            "/home/dev/proj/src/dcg",
            "/home/dev/proj/app.config.toml",
            "/home/dev/.codex/sessions/2026/rollout.jsonl",
            "/home/dev/.codeium/windsurf/cascade/x.pb",
            "/home/dev/.nahual/x",
        ] {
            assert!(!found(path), "{path} does not");
        }
    }

    #[test]
    fn guards_are_known_as_packages() {
        for name in ["nah", "nah-cli", "nah@2.0", "/home/dev/.local/bin/nah", "crates/nah-cli"] {
            assert!(names_watcher(name), "{name}");
        }
        for name in ["nahmii", "hannah", "nah-sayers", "dcgan"] {
            assert!(!names_watcher(name), "{name}");
        }
    }
}
