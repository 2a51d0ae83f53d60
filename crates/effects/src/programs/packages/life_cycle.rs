//! Scripts of a project that its package manager runs by itself: when it installs, packs, publishes, or counts up the version.

use serde_json::Value as Json;

use crate::effect::{EffectKind, Severity};
use crate::interpreter::{Call, Input, Machine, Value};

use super::nearest;

/// When scripts run: for the project alone, or whatever else is named too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Only when nothing is named: what is named is installed without them.
    Alone,
    /// Always.
    Always,
    /// Only when something is named.
    Named,
}

/// One row: managers, their subcommands, when, and the scripts in order.
type Row = (&'static [&'static str], &'static [&'static str], When, &'static [&'static str]);

/// What `npm install` runs: npm "scripts", "Life Cycle Operation Order".
const INSTALL: &[&str] = &[
    "preinstall",
    "install",
    "postinstall",
    "prepublish",
    "preprepare",
    "prepare",
    "postprepare",
    "dependencies",
];

/// All rows: npm "scripts" (11), yarn 1 and yarn "lifecycle scripts", pnpm "scripts", bun "lifecycle scripts".
const ROWS: &[Row] = &[
    (
        &["npm", "cnpm"],
        &[
            "install",
            "i",
            "in",
            "ins",
            "inst",
            "isntall",
            "add",
            "ci",
            "clean-install",
            "ic",
            "install-clean",
            "link",
            "ln",
        ],
        When::Alone,
        INSTALL,
    ),
    (
        &["npm", "cnpm"],
        &["install-test", "it", "install-ci-test", "cit"],
        When::Alone,
        &[
            "preinstall",
            "install",
            "postinstall",
            "prepublish",
            "preprepare",
            "prepare",
            "postprepare",
            "dependencies",
            "pretest",
            "test",
            "posttest",
        ],
    ),
    (&["npm", "cnpm", "pnpm", "yarn", "bun"], &["pack"], When::Always, &["prepack", "prepare", "postpack"]),
    (
        &["npm", "cnpm", "pnpm", "yarn", "bun"],
        &["publish"],
        When::Always,
        &["prepublishOnly", "prepack", "prepare", "postpack", "publish", "postpublish"],
    ),
    (&["npm", "cnpm"], &["version", "verison"], When::Named, &["preversion", "version", "postversion"]),
    (&["yarn"], &["version"], When::Always, &["preversion", "version", "postversion"]),
    (
        &["yarn"],
        &["", "install", "add", "remove", "upgrade", "upgrade-interactive", "import"],
        When::Always,
        &["preinstall", "install", "postinstall", "prepublish", "prepare"],
    ),
    (
        &["pnpm"],
        &["install", "i", "link", "ln", "install-test", "it", "fetch"],
        When::Alone,
        &["pnpm:devPreinstall", "preinstall", "install", "postinstall", "prepublish", "prepare"],
    ),
    (
        &["bun"],
        &["install", "i"],
        When::Alone,
        &["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"],
    ),
];

/// Runs the scripts of the project that this call of a package manager runs by itself, as far as they can be read.
///
/// A tool in them that is not known is one of the project, as it is when the manager runs what the packages themselves bring.
pub(crate) fn life_cycle(machine: &mut Machine<'_>, call: &Call) {
    let (manager, subcommand) = call.program.split_once(' ').unwrap_or((call.program.as_str(), ""));
    let manager = if manager == "yarnpkg" { "yarn" } else { manager };
    let arguments = &call.arguments;
    let names_something = !arguments.operands.is_empty();
    let row = ROWS.iter().find(|(managers, subcommands, when, _)| {
        managers.contains(&manager)
            && subcommands.contains(&subcommand)
            && match when {
                When::Alone => !names_something,
                When::Always => true,
                When::Named => names_something,
            }
    });
    let Some((.., scripts)) = row else { return };
    if arguments.has(&[
        "--ignore-scripts",
        "-g",
        "--global",
        "--dry-run",
        "--package-lock-only",
        "--lockfile-only",
        "--help",
        "-h",
        "--version",
    ]) {
        return;
    }
    let new_version = (subcommand == "version").then(|| arguments.operand(0)).flatten().map(str::to_owned);
    let work = |machine: &mut Machine<'_>| {
        if let Some(new_version) = &new_version {
            note_version(machine, new_version);
        }
        run_scripts(machine, scripts);
    };
    match arguments.value(&["--prefix", "-C", "--dir", "--cwd"]).cloned() {
        Some(directory) => machine.inside(&directory, work),
        None => work(machine),
    }
}

/// Remembers what the manifest and the lock file hold after `npm version`, which writes the new version where the old one stands.
fn note_version(machine: &mut Machine<'_>, wanted: &str) {
    for (name, places) in [("package.json", 1), ("package-lock.json", 2), ("npm-shrinkwrap.json", 2)] {
        let Some(path) = machine.one_path_through(&Value::exact(name)) else { continue };
        let text = machine.announced_text(&path);
        let Some(text) = text.as_exact() else { continue };
        let manifest: Json = super::manifest(&Value::exact(text));
        let Some(old) = manifest.get("version").and_then(Json::as_str) else { continue };
        let Some(new) = version_after(old, wanted) else { continue };
        let written = ["\"version\": ", "\"version\":"].into_iter().find_map(|key| {
            let (then, now) = (format!("{key}\"{old}\""), format!("{key}\"{new}\""));
            text.contains(&then).then(|| text.replacen(&then, &now, places))
        });
        if let Some(written) = written {
            machine.overlay().announce(&path, written);
        }
    }
}

/// The version that `npm version` makes of another; `None` of those with more than three numbers, and for words that are not read here.
fn version_after(old: &str, wanted: &str) -> Option<String> {
    let numbers = |text: &str| -> Option<[u64; 3]> {
        let parts: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
        parts?.try_into().ok()
    };
    let [major, minor, patch] = numbers(old)?;
    Some(match wanted {
        "major" => format!("{}.0.0", major.checked_add(1)?),
        "minor" => format!("{major}.{}.0", minor.checked_add(1)?),
        "patch" => format!("{major}.{minor}.{}", patch.checked_add(1)?),
        other => {
            let [major, minor, patch] = numbers(other.strip_prefix('v').unwrap_or(other))?;
            format!("{major}.{minor}.{patch}")
        }
    })
}

fn run_scripts(machine: &mut Machine<'_>, scripts: &[&str]) {
    let Some((directory, text)) = nearest(machine, "package.json") else { return };
    if text.as_exact().is_none() {
        crate::programs::instructions::not_read(machine, &directory.join("package.json"));
    }
    let package: Json = super::manifest(&text);
    let place = Value::exact(directory.as_str());
    for name in scripts {
        let script = package.get("scripts").and_then(|scripts| scripts.get(*name)).and_then(Json::as_str);
        let Some(text) = script.map(Value::exact) else { continue };
        let before = machine.effect_count();
        machine.inside(&place, |machine| machine.run_text(&text, Input::Inherited));
        machine.amend(before, |effect| {
            if effect.kind == EffectKind::Opaque && effect.severity < Severity::High {
                effect.kind = EffectKind::ProcessSpawn;
                effect.severity = Severity::Low;
            }
        });
    }
}
