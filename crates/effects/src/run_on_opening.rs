//! Settings of a project that run commands as soon as somebody opens it, enters its directory or commits to it.
//!
//! What is written into them runs later, in the name of the user: commands in the text that reach out of the workspace count as possible.
//! Whether such a file is one that runs something is said by its place (`persistence` in `checkrein_facts`), or, where most of what stands
//! in it runs nothing, by a word in it.

use crate::effect::{Effect, EffectKind, NetworkReach, Severity};
use crate::interpreter::known_hosts;
use crate::interpreter::{Draft, Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::programs::follow_unread_text;
use crate::world::World;

/// What of a file runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All that stands in it may.
    Whole,
    /// The same, once this word stands in it.
    With(&'static str),
    /// What stands behind this word, up to the next word that ends so: the rest runs elsewhere.
    Behind(&'static str, &'static str),
    /// What stands between these two, each time: commands whose output a model is given.
    Between(&'static str, &'static str),
    /// All of it, on a machine of others that is given the secrets of the repository.
    Elsewhere,
}

/// Files by the end of their path.
///
/// Sources: containers.dev ("Lifecycle scripts": `initializeCommand` runs on the host, all others in the container); code.visualstudio.com
/// ("Tasks", `runOn`); zed.dev ("Tasks", "Language servers"); docs.helix-editor.com ("Languages"); direnv(1); mise.jdx.dev ("Hooks");
/// `exrc` in the manuals of Vim and Neovim; jetpack.io ("init_hook"); pre-commit.com; lefthook.dev; JetBrains ("Run configurations",
/// "File watchers"); code.claude.com ("Hooks in skills and agents", "Slash commands", "Plugins reference"); cursor.com
/// and developers.openai.com ("Plugins"); geminicli.com ("Extensions"); opencode.ai ("Commands"); geminicli.com ("Custom
/// commands"); docs.factory.ai ("Custom droids", "Hooks").
const FILES: &[(&str, Part)] = &[
    ("/devcontainer.json", Part::Behind("initializeCommand", "Command\"")),
    ("/.devcontainer.json", Part::Behind("initializeCommand", "Command\"")),
    ("/.vscode/tasks.json", Part::Whole),
    (".code-workspace", Part::With("folderOpen")),
    ("/.zed/tasks.json", Part::Whole),
    ("/.zed/settings.json", Part::Whole),
    ("/.helix/config.toml", Part::Whole),
    ("/.helix/languages.toml", Part::Whole),
    ("/.idea/workspace.xml", Part::Whole),
    ("/.idea/watcherTasks.xml", Part::Whole),
    (".run.xml", Part::Whole),
    ("/.envrc", Part::Whole),
    ("/mise.toml", Part::With("hooks")),
    ("/.mise.toml", Part::With("hooks")),
    ("/mise.local.toml", Part::With("hooks")),
    ("/.mise.local.toml", Part::With("hooks")),
    ("/mise/config.toml", Part::With("hooks")),
    ("/devbox.json", Part::With("init_hook")),
    // A line that begins with `import` is run by every Python that finds the file (Python, "site").
    (".pth", Part::With("import")),
    // Emacs ("Safe File Variables"): once it is taken for safe, it runs whenever a file there is opened.
    ("/.dir-locals.el", Part::With("eval")),
    ("/.dir-locals-2.el", Part::With("eval")),
    ("/.exrc", Part::Whole),
    ("/.nvimrc", Part::Whole),
    ("/.lvimrc", Part::Whole),
    ("/.nvim.lua", Part::Whole),
    ("/.lazy.lua", Part::Whole),
    ("/lefthook.yml", Part::Whole),
    ("/.lefthook.yml", Part::Whole),
    ("/.pre-commit-config.yaml", Part::Whole),
    ("/mcp.json", Part::With("mcpServers")),
    ("/.claude-plugin/plugin.json", Part::With("hooks")),
    ("/.claude-plugin/plugin.json", Part::With("Servers\"")),
    ("/.cursor-plugin/plugin.json", Part::With("hooks")),
    ("/.cursor-plugin/plugin.json", Part::With("Servers\"")),
    ("/.codex-plugin/plugin.json", Part::With("hooks")),
    ("/.codex-plugin/plugin.json", Part::With("Servers\"")),
    ("/.factory-plugin/plugin.json", Part::With("hooks")),
    ("/gemini-extension.json", Part::With("Servers\"")),
    ("/qwen-extension.json", Part::With("Servers\"")),
    // The hooks of a plugin, or of an extension, where its manifest names no other file.
    ("/hooks/hooks.json", Part::With("\"command\"")),
];
/// Directories whose files run.
const INSIDE: &[(&str, Part)] = &[
    ("/.idea/runConfigurations/", Part::Whole),
    ("/.husky/", Part::Whole),
    ("/.github/workflows/", Part::Elsewhere),
    ("/.gitea/workflows/", Part::Elsewhere),
    // Hooks of an agent's helpers and skills run when these are used, and no hook of others before them; commands run where they are called.
    ("/.claude/agents/", Part::With("hooks:")),
    ("/.claude/skills/", Part::With("hooks:")),
    ("/.claude/skills/", Part::Between("!`", "`")),
    ("/.factory/droids/", Part::With("hooks:")),
    ("/.factory/skills/", Part::With("hooks:")),
    ("/.factory/commands/", Part::Between("!`", "`")),
    ("/.claude/commands/", Part::Between("!`", "`")),
    ("/.opencode/command/", Part::Between("!`", "`")),
    ("/.opencode/commands/", Part::Between("!`", "`")),
    ("/.kilo/command/", Part::Between("!`", "`")),
    ("/.kilocode/command/", Part::Between("!`", "`")),
    ("/.gemini/commands/", Part::Between("!{", "}")),
    ("/.qwen/commands/", Part::Between("!{", "}")),
];

/// Programs that send what a line gives them.
const SENDERS: &[&str] = &["curl", "wget", "nc ", "ncat", "Invoke-WebRequest", "Invoke-RestMethod", "fetch("];

/// What a workflow does with its repository and the secrets of it that is not ordinary. Source: docs.github.com, "Security hardening for GitHub
/// Actions" (`pull_request_target`, secrets as a whole, sending them).
fn told_by_workflow(text: &str) -> Option<&'static str> {
    let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    // Plainly sent they are what a deployment needs; whoever hides them has something to hide.
    let sends = |line: &str| {
        ["base64", "xxd", "openssl enc", "rev "].iter().any(|coder| line.contains(coder))
            && SENDERS.iter().any(|sender| line.contains(sender))
            && line
                .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\''))
                .any(|word| word.contains("://") && known_hosts::reach(word) == NetworkReach::External)
    };
    // What is published to a branch of its own is pushed so; the branch that all others begin at is not.
    let forces = |line: &str| {
        let words = || line.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&'));
        let is_main =
            |word: &str| matches!(word.rsplit(['/', ':', '+']).next(), Some("main" | "master" | "trunk"));
        let is_forced =
            |word: &str| matches!(word, "-f" | "--force" | "--force-with-lease") || word.starts_with('+');
        line.contains("git push") && words().any(is_main) && words().any(is_forced)
    };
    let checks_out = bare.contains("github.event.pull_request.head") || bare.contains("github.head_ref");
    if bare.contains("toJSON(secrets)") || bare.contains("toJson(secrets)") {
        Some("takes all secrets of the repository at once")
    } else if bare.contains("${{secrets.") && text.lines().any(sends) {
        Some("sends secrets of the repository to another host, encoded")
    } else if bare.contains("pull_request_target") && checks_out {
        Some("runs what strangers propose with the secrets of the repository")
    } else if text.lines().any(forces) {
        Some("rewrites the main branch of the repository on the server")
    } else {
        None
    }
}

/// Directories of hooks of git that a project has.
const HOOKS: &[&str] = &["/.husky/", "/.git/hooks/", "/.githooks/"];

/// The hooks of the project that a command wrote, with their texts.
pub(crate) fn hooks(machine: &Machine<'_>) -> Vec<(AbsolutePath, String)> {
    let written = machine
        .effects_since(0)
        .filter(|effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify))
        .filter_map(|effect| effect.target.path().cloned())
        .filter(|path| is_hook(path, machine.world()));
    let text_of = |path: AbsolutePath| match machine.text(&path) {
        Value::Exact(text) => Some((path, text)),
        Value::AnyOf(_) | Value::Glob(_) | Value::Between { .. } | Value::Unknown => None,
    };
    written.filter_map(text_of).collect()
}

/// Whether a file is a hook of git that the project has.
pub(crate) fn is_hook(path: &AbsolutePath, world: &dyn World) -> bool {
    HOOKS.iter().any(|place| path.as_str().contains(place)) && path.is_within(&world.place().workspace)
}

/// Marks a hook that does no more than the tasks of the project do when they are called by name.
pub(crate) fn note_tasks(effect: &mut Effect, hook: &AbsolutePath) {
    let is_write = matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify);
    if is_write && effect.nature == Nature::Ordinary && effect.target.path() == Some(hook) {
        effect.nature = Nature::SettingThatRunsNothing;
        "a hook that only reads, or runs tasks of the project".clone_into(&mut effect.note);
    }
}

/// Whether a text of TOML names code behind a key outside its tables. One that cannot be read may, where the word stands in it.
pub fn names_code(text: &str, key: &str) -> bool {
    match text.parse::<toml::Table>() {
        Ok(table) => match table.get(key) {
            None => false,
            Some(toml::Value::Array(names)) => !names.is_empty(),
            Some(toml::Value::String(name)) => !name.is_empty(),
            Some(_) => true,
        },
        Err(_) => text.contains(key),
    }
}

/// Whether a file is one of which the client of the session runs what it names.
pub(crate) fn is_run_by_client(world: &dyn World, path: &AbsolutePath) -> bool {
    world.run_by_client().iter().any(|one| path.name() == Some(one.file.as_str()))
}

/// Adds that the client of the session would run what a file names that is written with this text; `None` for a text that is not known.
pub(crate) fn follow_client(machine: &mut Machine<'_>, path: &AbsolutePath, text: Option<&str>) {
    let all = machine.world().run_by_client();
    for one in all.iter().filter(|one| path.name() == Some(one.file.as_str())) {
        if text.is_some_and(|text| !names_code(text, &one.key)) {
            continue;
        }
        let note = format!("{} runs what its `{}` names when it is started there", one.client, one.key);
        for aim in machine.paths_through(&Value::exact(path.as_str())) {
            let draft = Draft::at(EffectKind::Persistence, aim).severity(Severity::High);
            machine.add(draft.note(&note));
        }
    }
}

/// Adds what the settings that a command wrote would run.
pub(crate) fn settle(machine: &mut Machine<'_>) {
    let world = machine.world();
    let read_by_client: Vec<AbsolutePath> = machine
        .effects_since(0)
        .filter(|effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify))
        .filter_map(|effect| effect.target.path().cloned())
        .filter(|path| is_run_by_client(world, path))
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    for path in read_by_client {
        let text = machine.text(&path);
        follow_client(machine, &path, if let Value::Exact(text) = &text { Some(text) } else { None });
    }
    let mut written: Vec<AbsolutePath> = machine
        .effects_since(0)
        .filter(|effect| matches!(effect.kind, EffectKind::FileCreate | EffectKind::FileModify))
        .filter_map(|effect| effect.target.path().cloned())
        .filter(is_meant)
        .collect();
    written.sort();
    written.dedup();
    for path in written {
        if let Value::Exact(text) = machine.text(&path) {
            follow(machine, &path, &text);
        }
    }
}

/// Adds what a text would run that is written into a file of a project.
pub(crate) fn follow(machine: &mut Machine<'_>, path: &AbsolutePath, text: &str) {
    if path.is_within(&machine.world().place().workspace) {
        parts_of(path).for_each(|part| follow_part(machine, path, text, part));
    }
}

fn follow_part(machine: &mut Machine<'_>, path: &AbsolutePath, text: &str, part: Part) {
    let running = match part {
        Part::Whole | Part::Elsewhere => text.to_owned(),
        Part::With(word) if text.contains(word) => text.to_owned(),
        Part::Behind(word, end) => match text.split_once(word) {
            // Its own name ends so, too, and stands in quotes.
            Some((_, behind)) => format!("\"{word}{}", behind.split(end).next().unwrap_or_default()),
            None => return,
        },
        Part::With(_) => return,
        Part::Between(open, close) => {
            let pieces = text.split(open).skip(1).filter_map(|piece| piece.split(close).next());
            pieces.collect::<Vec<_>>().join("\n")
        }
    };
    // What an editor hands to a shell without quotes: `:!make`, `":sh make"`.
    let handed = text.lines().filter_map(|line| line.split_once('!').or_else(|| line.split_once(":sh ")));
    let handed = handed.map(|(_, behind)| behind.trim_end_matches(['"', '\'', ',']));
    let running = handed.fold(running, |whole, command| format!("{whole}\n{command}"));
    if matches!(part, Part::With(_) | Part::Behind(..)) {
        for aim in machine.paths_through(&Value::exact(path.as_str())) {
            let draft = Draft::at(EffectKind::Persistence, aim);
            machine.add(draft.note("runs commands when the project is opened"));
        }
    }
    let directory = path.parent().unwrap_or_else(AbsolutePath::root);
    if part == Part::Elsewhere {
        if let Some(note) = told_by_workflow(&running) {
            for aim in machine.paths_through(&Value::exact(path.as_str())) {
                machine.add(Draft::at(EffectKind::Persistence, aim).severity(Severity::High).note(note));
            }
        }
        return;
    }
    machine.inside(&Value::exact(directory.as_str()), |machine| follow_unread_text(machine, &running));
}

/// Whether anything in a file may run when its project is opened.
pub(crate) fn is_meant(path: &AbsolutePath) -> bool {
    parts_of(path).next().is_some()
}

/// The parts of a file that run, each by itself.
fn parts_of(path: &AbsolutePath) -> impl Iterator<Item = Part> + '_ {
    let text = path.as_str();
    let by_end = FILES.iter().filter(|(end, _)| text.ends_with(end));
    by_end.chain(INSIDE.iter().filter(|(place, _)| text.contains(place))).map(|(_, part)| *part)
}
