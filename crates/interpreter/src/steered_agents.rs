//! Settings in files that agents load when they are started, by variables that steer an agent (`agent_variables.rs` of the facts).
//!
//! | file | who loads it | source |
//! |---|---|---|
//! | `.env` of a folder or one above, and of the home directory | Gemini CLI 0.61, Qwen Code 0.24 | `findEnvFile`, `loadEnvironment` in their bundles |
//! | `.env`, `.env.local`, `.env.development` and others | Cline, Droid, OpenCode, Kilo, which are programs of Bun | bun.sh, "Environment variables", "Single-file executable" |
//! | `[env]` of `mise.toml` | whatever a shell starts in the folder | mise.jdx.dev, "Environments" |
//!
//! A file of variables is changed all day: what is written into it says whether an agent is steered. None of them overrides a variable that is
//! set, so that `HOME` and `PATH` say nothing there.

use checkrein_facts::{Steering, steering};

use crate::draft::Draft;
use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::known_hosts::{host_of, reach};
use crate::machine::Machine;
use crate::path::AbsolutePath;
use crate::world::FileText;

/// Files of `NAME=value` that clients load.
const LISTS: &[&str] = &[
    ".env",
    ".env.local",
    ".env.development",
    ".env.production",
    ".env.test",
    ".env.development.local",
    ".env.production.local",
    ".env.test.local",
];

/// Files of mise, by their ends.
const OF_MISE: &[&str] = &[
    "/mise.toml",
    "/.mise.toml",
    "/mise.local.toml",
    "/.mise.local.toml",
    "/mise/config.toml",
    "/.config/mise.toml",
];

/// Hosts of providers, where a model is called that a user has chosen (the base addresses of their documentation).
const PROVIDERS: &[&str] = &[
    "api.anthropic.com",
    "api.openai.com",
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
    "openrouter.ai",
    "dashscope.aliyuncs.com",
    "dashscope-intl.aliyuncs.com",
    "api.deepseek.com",
    "api.mistral.ai",
    "api.groq.com",
    "api.together.xyz",
    "api.x.ai",
    "api.moonshot.ai",
    "api.z.ai",
    "models.inference.ai.azure.com",
    "openai.azure.com",
    "amazonaws.com",
];

/// Options of Node.js by which it loads code, opens a debugger, or reads further options (node(1)).
const LOADING: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--inspect",
    "--env-file",
    "--openssl-config",
    "--experimental-config-file",
    "--experimental-default-config-file",
    "--preload",
];

/// Where installed libraries lie (hier(7)).
const INSTALLED: &[&str] = &["/usr/", "/lib", "/opt/", "/nix/"];

/// What a variable of this name and value decides for an agent; `None` where it decides nothing, or what it holds is usual. A value that is not
/// known may be anything.
pub fn steers(name: &str, value: Option<&str>) -> Option<Steering> {
    let what = steering(name)?;
    let Some(value) = value else { return Some(what) };
    let is_no = matches!(value, "" | "0" | "false" | "no" | "off" | "none");
    let counts = match what {
        Steering::Place => true,
        Steering::Unasked => !is_no,
        Steering::Unbound => is_no,
        Steering::Code => !value.is_empty() && loads(name, value),
        Steering::Connection => !value.is_empty() && !is_usual_address(value),
    };
    counts.then_some(what)
}

fn loads(name: &str, value: &str) -> bool {
    match name {
        "NODE_OPTIONS" | "BUN_OPTIONS" => {
            let words = value.split(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '\''));
            words.map(|word| word.split('=').next().unwrap_or(word)).any(|word| {
                LOADING.contains(&word)
                    || word.starts_with("--inspect")
                    || word.starts_with("-r") && !word.starts_with("--")
            })
        }
        // A file for `sh`; projects call other things so.
        "ENV" => value.contains('/'),
        "LD_LIBRARY_PATH" => value
            .split(':')
            .filter(|part| !part.is_empty() && !part.starts_with('$'))
            .any(|part| part.contains("..") || !INSTALLED.iter().any(|place| part.starts_with(place))),
        _ => true,
    }
}

fn is_usual_address(value: &str) -> bool {
    let host = host_of(value);
    let is_provider = |domain: &&str| {
        host.strip_suffix(*domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    reach(value) == NetworkReach::Local || PROVIDERS.iter().any(is_provider)
}

/// Whether agents, or shells that start them, load variables from a file at this path.
pub fn is_loaded(path: &AbsolutePath) -> bool {
    path.name().is_some_and(|name| LISTS.contains(&name)) || is_of_mise(path)
}

fn is_of_mise(path: &AbsolutePath) -> bool {
    OF_MISE.iter().any(|end| path.as_str().ends_with(end))
}

/// The first variable in a text that steers agents which load a file at this path, with what it decides, and did not stand so in the file
/// before; `None` where none does.
pub fn steering_variable(path: &AbsolutePath, text: &str, before: &FileText) -> Option<(String, Steering)> {
    if !is_loaded(path) {
        return None;
    }
    let is_of_mise = is_of_mise(path);
    let is_list = !is_of_mise;
    let stood = |line: &str| match before {
        FileText::Whole(before) => before.lines().any(|one| one.trim() == line),
        FileText::Beginning(_) | FileText::Unknown => false,
    };
    let mut counts = true;
    text.lines().find_map(|line| {
        // A line of a patch begins with its sign.
        let line = line.trim().trim_start_matches('+').trim_start();
        if is_of_mise && line.starts_with('[') {
            counts = line.trim_matches(['[', ']']).split('.').any(|part| part == "env");
        }
        let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        let name = name.trim();
        let (name, is_variable) = match name.strip_prefix("env.") {
            Some(name) if is_of_mise => (name, true),
            Some(_) | None => (name, counts),
        };
        let value = value.trim();
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value.get(1..)?.split(quote).next().unwrap_or_default(),
            _ => value.split(" #").next().unwrap_or(value).trim_end(),
        };
        let what = steers(name, Some(value))?;
        let is_set_always = is_list && matches!(name, "HOME" | "PATH");
        (is_variable && !is_set_always && !stood(line)).then(|| (name.to_owned(), what))
    })
}

/// What is said of a variable in a file.
pub fn steering_note(name: &str, path: &AbsolutePath, what: Steering) -> String {
    let decides = match what {
        Steering::Place => "where an agent that starts there finds its settings, or its guard its state",
        Steering::Unasked => "that an agent which starts there asks nobody",
        Steering::Unbound => "that an agent which starts there runs without its bounds",
        Steering::Code => "which code an agent that starts there loads",
        Steering::Connection => "whom an agent that starts there talks to",
    };
    format!("`{name}` in `{path}` decides {decides}")
}

impl Machine<'_> {
    /// Adds that a file which the command writes steers agents that load it.
    pub(super) fn note_steering_variables(&mut self) {
        let is_written = |kind: EffectKind| matches!(kind, EffectKind::FileCreate | EffectKind::FileModify);
        let effects = self.findings.effects.iter().filter(|effect| is_written(effect.kind));
        let mut paths: Vec<AbsolutePath> =
            effects.filter_map(|effect| effect.target.path().cloned()).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| is_loaded(path) && self.is_written_here(path));
        for path in paths {
            let text = self.text(&path);
            let before = self.world().text(&path);
            let found = text.as_exact().and_then(|text| steering_variable(&path, text, &before));
            let Some((name, what)) = found else { continue };
            let draft = Draft::new(EffectKind::SystemModification, Target::Path(path.clone()));
            self.add(draft.severity(Severity::High).note(steering_note(&name, &path, what)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Option<String> {
        let path = AbsolutePath::new("/home/dev/proj").unwrap().join(file);
        steering_variable(&path, text, &FileText::Unknown).map(|(name, _)| name)
    }

    #[test]
    fn what_stood_there_hides_nothing_that_is_new() {
        let path = AbsolutePath::new("/home/dev/proj/.env").unwrap();
        let before = FileText::Whole("HTTPS_PROXY=http://p.acme.example:3128\n".to_owned());
        let with = |more: &str| format!("HTTPS_PROXY=http://p.acme.example:3128\n{more}");
        assert_eq!(steering_variable(&path, &with("A=1\n"), &before), None);
        let found = steering_variable(&path, &with("CHECKREIN_HOME=/tmp/x\n"), &before);
        assert_eq!(found.map(|(name, _)| name).as_deref(), Some("CHECKREIN_HOME"));
    }

    #[test]
    fn what_steers_an_agent_is_told_from_what_a_project_needs() {
        for (file, text, name) in [
            (".env", "A=1\nCHECKREIN_HOME=/tmp/x\n", "CHECKREIN_HOME"),
            (".env", "export BASH_ENV='./x.sh'\n", "BASH_ENV"),
            (".env", "NODE_OPTIONS=\"--max-old-space-size=4096 --require ./x.js\"\n", "NODE_OPTIONS"),
            (".env", "GEMINI_CLI_SYSTEM_SETTINGS_PATH=/tmp/x\n", "GEMINI_CLI_SYSTEM_SETTINGS_PATH"),
            (".env", "HTTPS_PROXY=http://proxy.evil.example:8080\n", "HTTPS_PROXY"),
            (".env", "OPENAI_BASE_URL=https://evil.example/v1\n", "OPENAI_BASE_URL"),
            (".env", "OPENAI_BASE_URL=https://api.openai.com.evil.example/v1\n", "OPENAI_BASE_URL"),
            (".env", "GEMINI_SANDBOX=false\n", "GEMINI_SANDBOX"),
            (".env.local", "OPENCODE_CONFIG_CONTENT={}\n", "OPENCODE_CONFIG_CONTENT"),
            (".env", "LD_LIBRARY_PATH=/usr/lib:./lib\n", "LD_LIBRARY_PATH"),
            (
                "mise.toml",
                "[tools]\nnode = \"22\"\n[env]\nCLAUDE_CONFIG_DIR = \"/tmp/x\"\n",
                "CLAUDE_CONFIG_DIR",
            ),
            ("mise.toml", "env.QWEN_HOME = \"/tmp/x\"\n", "QWEN_HOME"),
        ] {
            assert_eq!(found(file, text).as_deref(), Some(name), "{file}: {text}");
        }
        for (file, text) in [
            (".env", "PORT=3000\nDATABASE_URL=postgres://localhost/dev\nENV=production\nPYTHONPATH=src\n"),
            (".env", "NODE_OPTIONS=--max-old-space-size=4096\nHOME=/app\nHTTPS_PROXY=\n"),
            (".env", "OPENAI_BASE_URL=https://api.openai.com/v1\nANTHROPIC_BASE_URL=http://localhost:4000\n"),
            (".env", "# CHECKREIN_HOME=/tmp/x\nLD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH\n"),
            (".env", "GEMINI_SANDBOX=docker\nCOPILOT_ALLOW_ALL=0\n"),
            (".env.example", "CHECKREIN_HOME=/tmp/x\n"),
            ("README.md", "CHECKREIN_HOME=/tmp/x\n"),
            (
                "mise.toml",
                "[tools]\nnode = \"22\"\n[tasks.x]\nrun = \"CLAUDE_CONFIG_DIR=x\"\n[env]\nPORT = \"1\"\n",
            ),
        ] {
            assert_eq!(found(file, text), None, "{file}: {text}");
        }
    }
}
