//! Code of the project that a tool loads by itself: tests, settings that are code, sources of what is built, the program that it serves.
//!
//! Read is what the session may have written: what version control holds as it is was there before, and its tool counts as running code of
//! the project. What such code does within the workspace is what code of a project does; what reaches out of it counts, as possible.
//!
//! | module | holds |
//! |---|---|
//! | `compose` | services of a compose file |
//! | `table` | which tool loads what |
//! | `tests_within` | how tests are called that no line of their file calls |
//! | `written` | what is loaded by its name, at the time it is written |

mod compose;
mod table;
mod tests_within;
mod written;

use crate::interpreter::{Call, Input, Machine, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, Listing};

use checkrein_scripts::Language;

use super::compiled::{look_over_source, may_be_of_session};
use super::disclosing_code::look_over as look_over_code;
use super::packages::{follow_unread_text, keep_what_reaches_out};
use table::{Loader, Named};
pub(crate) use written::{follow_cell, follow_written, is_loaded};

/// The greatest number of files of one call that are followed (ours).
const FILES: usize = 8;
/// The greatest number of names that are looked at for them (ours).
const NAMES: usize = 512;
/// How deep directories are searched (ours).
const DEPTH: usize = 3;

/// Follows the code of the project that a tool loads by itself.
pub(crate) fn loaded(machine: &mut Machine<'_>, call: &Call) {
    let had_given_up = machine.has_given_up();
    follow_all(machine, call);
    // That it was too much is not what code of the project does.
    if machine.has_given_up() && !had_given_up {
        machine.unread(format!("`{}` loads more code than can be followed", call.program));
    }
}

fn follow_all(machine: &mut Machine<'_>, call: &Call) {
    compose::services(machine, call);
    run_module(machine, call);
    for loader in table::of(call) {
        let files = files(machine, call, loader);
        for path in files.into_iter().take(FILES) {
            follow_possibly(machine, &path);
        }
    }
}

/// Follows a file that a tool may load. What it does within the workspace is what code of a project does.
fn follow_possibly(machine: &mut Machine<'_>, path: &AbsolutePath) {
    let before = machine.effect_count();
    machine.possibly(|machine| follow(machine, path));
    keep_what_reaches_out(machine, before);
    hands_out(machine, path);
}

/// Adds what code that a tool loads takes from the person and hands to strangers: no project needs that to be built or tested.
fn hands_out(machine: &mut Machine<'_>, path: &AbsolutePath) {
    let text = machine.text(path);
    let Some(text) = text.as_exact() else { return };
    let language = match language_of(path) {
        Some(Reading::Tests) => Language::of("python3"),
        Some(Reading::Interpreter(interpreter)) => Language::of(interpreter),
        Some(Reading::ShellTests | Reading::Source(_) | Reading::Commands) | None => None,
    };
    look_over_code(machine, text, language, machine.effect_count());
}

/// Follows the code that a program which nothing is written about loads: what the table says of it, and files that are called as its
/// settings are by custom: `x.config.js`, `.xrc.cjs`, `xfile.js`, `x.conf.py`, `Xfile` (cosmiconfig, "`searchPlaces`"; Rake and its kin).
pub(crate) fn loaded_by_custom(machine: &mut Machine<'_>, call: &Call) {
    loaded(machine, call);
    let name = call.program.rsplit('/').next().unwrap_or_default();
    let name = name.split(['@', ' ']).next().unwrap_or_default();
    let name = name.trim_end_matches("-cli").to_lowercase();
    let Some(cwd) = machine.cwd().cloned().filter(|_| name.len() > 1) else { return };
    let Listing::Names(names) = machine.children(&cwd) else { return };
    let found: Vec<AbsolutePath> = names
        .into_iter()
        .take(NAMES)
        .filter(|file| is_setting_of(&file.to_lowercase(), &name))
        .map(|file| cwd.join(&file))
        .filter(|path| matches!(machine.entry(path), Entry::File(_)) && may_be_of_session(machine, path))
        .take(FILES)
        .collect();
    for path in found {
        follow_possibly(machine, &path);
    }
}

/// Whether a file is called as the settings of a program are by custom, both in lower case.
fn is_setting_of(file: &str, program: &str) -> bool {
    const ENDINGS: &[&str] = &["js", "cjs", "mjs", "ts", "cts", "mts", "py", "rb"];
    let file = file.strip_prefix('.').unwrap_or(file);
    let Some(rest) = file.strip_prefix(program) else { return false };
    if rest == "file" {
        return true;
    }
    let kinds = [".config.", "-config.", ".conf.", "_conf.", "rc.", "file.", ".setup."];
    kinds.iter().filter_map(|kind| rest.strip_prefix(kind)).any(|ending| ENDINGS.contains(&ending))
}

/// Follows the module that a profiler runs as Python does: `coverage run -m pytest`.
fn run_module(machine: &mut Machine<'_>, call: &Call) {
    if !table::PROFILERS.contains(&call.program.as_str()) {
        return;
    }
    let Some(at) = call.words.iter().position(|word| word.as_exact() == Some("-m")) else { return };
    let before = machine.effect_count();
    let behind = call.words.get(at..).unwrap_or_default().iter().cloned();
    let words: Vec<Value> = std::iter::once(Value::exact("python3")).chain(behind).collect();
    machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
    keep_what_reaches_out(machine, before);
}

/// The files that a tool loads and that the session may have written.
fn files(machine: &Machine<'_>, call: &Call, loader: &Loader) -> Vec<AbsolutePath> {
    let mut found = Vec::new();
    let mut left = NAMES;
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let mut named = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let attached = word.split_once('=').filter(|(option, _)| loader.options.contains(option));
        if let Some((_, value)) = attached {
            named.push(value);
        } else if loader.options.contains(word) {
            named.extend(words.get(at + 1).copied());
        }
    }
    let variable = loader.variable.and_then(|name| machine.variable(name));
    named.extend(variable.as_ref().and_then(Value::as_exact));
    // What no grammar has sorted yet is looked at as well: only files that are there count.
    let operands = words.iter().enumerate().filter(|(at, word)| {
        // The word behind the program says what to do, also where a directory of the project is called so.
        let is_deed = *at == 0 && loader.is_deed(&call.program, word)
            || call.program.split(' ').any(|part| part == **word);
        !word.starts_with('-') && !is_deed
    });
    let operands: Vec<String> = operands.map(|(_, word)| (*word).to_owned()).collect();
    let mut places = Vec::new();
    let all = named.into_iter().map(str::to_owned).chain(operands);
    for text in all {
        // `tests/test_a.py::test_b`
        let text = text.split("::").next().unwrap_or_default().trim_end_matches("/...");
        let candidates = match loader.named {
            Named::Files => vec![text.to_owned()],
            Named::Modules => module_files(text),
        };
        for candidate in candidates {
            let Some(path) = machine.one_path_through(&Value::exact(candidate.as_str())) else { continue };
            match machine.entry(&path) {
                Entry::File(_) if language_of(&path).is_some() => found.push(path),
                Entry::Directory => places.push(path),
                Entry::File(_) | Entry::Symlink(_) | Entry::Special | Entry::Missing | Entry::Unknown => {}
            }
        }
    }
    let is_told = !found.is_empty() || !places.is_empty();
    let cwd = machine.cwd().cloned();
    if let Some(cwd) = &cwd {
        for name in loader.files {
            found.push(cwd.join(name));
        }
        // What a named file of the project belongs to lies beside and above it: `pytest tests/unit/test_a.py` reads `tests/conftest.py`.
        let above = |path: &AbsolutePath| {
            std::iter::successors(path.parent(), AbsolutePath::parent)
                .take_while(|place| place != cwd && place.is_within(cwd))
                .take(DEPTH)
                .collect::<Vec<_>>()
        };
        let settings: Vec<AbsolutePath> = found
            .iter()
            .flat_map(above)
            .flat_map(|place| loader.files.iter().map(move |name| place.join(name)))
            .collect();
        found.extend(settings);
        if !is_told {
            places.extend(loader.places.iter().map(|place| cwd.join(place)));
        }
    }
    for place in places {
        for name in loader.files {
            found.push(place.join(name));
        }
        if !loader.tests.is_empty() {
            search(machine, &place, loader, DEPTH, &mut left, &mut found);
        }
    }
    found.sort();
    found.dedup();
    found.retain(|path| matches!(machine.entry(path), Entry::File(_)) && may_be_of_session(machine, path));
    found
}

/// The files of a directory that are called like tests.
fn search(
    machine: &Machine<'_>,
    directory: &AbsolutePath,
    loader: &Loader,
    depth: usize,
    left: &mut usize,
    found: &mut Vec<AbsolutePath>,
) {
    let Listing::Names(names) = machine.children(directory) else { return };
    for name in names {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = directory.join(&name);
        if loader.tests.iter().any(|(start, end)| name.starts_with(start) && name.ends_with(end)) {
            found.push(path);
        } else if depth > 1
            && !name.starts_with('.')
            && !matches!(name.as_str(), "node_modules" | "target" | "vendor" | "dist" | "build" | "venv")
            && !name.contains('.')
            && machine.entry(&path) == Entry::Directory
        {
            search(machine, &path, loader, depth - 1, left, found);
        }
    }
}

/// The files that may hold a module of Python: `a.b:app`.
fn module_files(text: &str) -> Vec<String> {
    if text.ends_with(".py") || text.contains('/') || text == "." {
        return vec![text.to_owned()];
    }
    let module = text.split([':', '(']).next().unwrap_or_default().replace('.', "/");
    if module.is_empty() {
        return Vec::new();
    }
    vec![text.to_owned(), format!("{module}.py"), format!("{module}/__init__.py"), format!("src/{module}.py")]
}

/// How code is read, by the ending of its file.
enum Reading {
    /// By an interpreter that is followed.
    Interpreter(&'static str),
    /// As tests of Python.
    Tests,
    /// As tests of a shell.
    ShellTests,
    /// As source of a compiler.
    Source(String),
    /// For commands in it.
    Commands,
}

fn language_of(path: &AbsolutePath) -> Option<Reading> {
    let name = path.name()?;
    let (_, ending) = name.rsplit_once('.').unwrap_or(("", name));
    if name.ends_with(".gradle.kts") {
        return Some(Reading::Source("gradle".to_owned()));
    }
    Some(match ending {
        "py" => Reading::Tests,
        "js" | "cjs" | "mjs" | "ts" | "cts" | "mts" | "jsx" | "tsx" | "Jakefile" | "sequelizerc" => {
            Reading::Interpreter("node")
        }
        "rb" | "rake" | "Rakefile" | "rakefile" | "ru" | "gemspec" | "podspec" | "irbrc" | "pryrc"
        | "Gemfile" | "Guardfile" | "Capfile" | "Fastfile" | "Pluginfile" | "Podfile" | "Vagrantfile"
        | "Dangerfile" | "Brewfile" | "Thorfile" | "thor" | "Berksfile" => Reading::Interpreter("ruby"),
        "php" => Reading::Interpreter("php"),
        "lua" => Reading::Interpreter("lua"),
        "pl" | "t" | "pm" => Reading::Interpreter("perl"),
        "bats" => Reading::ShellTests,
        "sh" | "envrc" => Reading::Interpreter("bash"),
        "c" | "cc" | "cpp" | "cxx" | "go" | "rs" | "zig" | "nim" | "cr" | "swift" | "v" | "odin" | "d"
        | "java" | "kt" | "kts" | "scala" | "groovy" | "exs" | "ex" | "jl" | "hs" | "ml" | "dart" | "cs"
        | "fsx" | "clj" | "el" | "gradle" | "sbt" => Reading::Source(ending.to_owned()),
        "yml" | "yaml" | "toml" | "cmake" | "build" | "ini" | "cfg" | "CMakeLists.txt" | "txt" | "mk"
        | "json" | "jsonc" | "tf" | "tofu" | "hcl" | "xml" | "props" | "targets" | "nix" | "conf"
        | "tape" | "lintstagedrc" | "releaserc" | "versionrc" | "latexmkrc" => Reading::Commands,
        "Snakefile" | "SConstruct" | "BUILD" | "WORKSPACE" | "bazel" | "BUCK" | "TARGETS" | "Tiltfile" => {
            Reading::Commands
        }
        ending if ending.ends_with("proj") => Reading::Commands,
        _ => return None,
    })
}

fn follow(machine: &mut Machine<'_>, path: &AbsolutePath) {
    let file = Value::exact(path.as_str());
    let text = machine.text(path);
    match (language_of(path), text.as_exact()) {
        (Some(Reading::Tests), Some(text)) => {
            let code = format!("{text}\n{}", tests_within::calls(text));
            let words = [Value::exact("python3"), Value::exact("-c"), Value::Exact(code)];
            machine.run_words(&words, Input::Inherited);
        }
        (Some(Reading::ShellTests), Some(text)) => {
            let text = Value::Exact(tests_within::of_bats(text));
            machine.run_text(&text, Input::Inherited);
        }
        (Some(Reading::Source(language)), Some(text)) => look_over_source(machine, &language, text),
        (Some(Reading::Commands), Some(text)) => follow_unread_text(machine, text),
        (Some(Reading::Interpreter(interpreter)), _) => {
            machine.run_words(&[Value::exact(interpreter), file], Input::Inherited);
        }
        // `Xfile` of a tool that nobody knows is Ruby more often than anything else.
        (None, Some(_)) if path.name().is_some_and(|name| name.ends_with("file")) => {
            machine.run_words(&[Value::exact("ruby"), file], Input::Inherited);
        }
        (Some(_) | None, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::is_setting_of;

    #[test]
    fn settings_are_told_by_their_names() {
        for file in ["x.config.js", ".xrc.cjs", "xfile.mjs", "x.conf.py", "xfile", "x-config.js"] {
            assert!(is_setting_of(file, "x"), "{file}");
        }
        for file in ["x.js", "xy.config.js", "x.config.json", "config.js", "xfiles"] {
            assert!(!is_setting_of(file, "x"), "{file}");
        }
    }
}
