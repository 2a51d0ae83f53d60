//! `just`: which recipes run, and in which order.

use std::collections::BTreeSet;

use crate::interpreter::{Call, Exit, Input, Machine, Value};
use crate::path::AbsolutePath;

use super::{nearest, spawned};
use crate::programs::instructions::{instructions, instructions_coming_in};
use crate::world::Entry;

/// The justfiles that are looked for (just, "Quick Start").
pub(super) const FILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

/// The justfile of the user (just(1), "Global and User justfiles").
fn global_justfile(machine: &Machine<'_>) -> Option<AbsolutePath> {
    let home = machine.world().place().home.clone();
    let settings = machine.variable("XDG_CONFIG_HOME").and_then(|value| machine.one_path_through(&value));
    let settings = settings.unwrap_or_else(|| home.join(".config"));
    let files = [settings.join("just/justfile"), home.join("justfile"), home.join(".justfile")];
    files.into_iter().find(|file| !matches!(machine.entry(file), Entry::Missing))
}

/// Interprets a call of just.
pub(crate) fn just(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&[
        "-l",
        "--list",
        "-n",
        "--dry-run",
        "--show",
        "-s",
        "--summary",
        "--evaluate",
        "--dump",
        "--variables",
        "--fmt",
        "--choose",
        "--init",
    ]) {
        return Exit::unknown();
    }
    // just(1): `--command` runs all that stands behind it in place of a recipe.
    let is_command = |word: &Value| matches!(word.as_exact(), Some("-c" | "--command"));
    if let Some(at) = call.words.iter().position(is_command) {
        let words = call.words.get(at + 1..).unwrap_or_default();
        return machine.run_words(words, call.input.clone());
    }
    let named = arguments.value(&["-f", "--justfile"]).cloned();
    // just(1): `-` is what comes in.
    let comes_in = |file: &Value| matches!(file.as_exact(), Some("-" | "/dev/stdin" | "/dev/fd/0"));
    if named.as_ref().is_some_and(comes_in) {
        return match instructions_coming_in(machine, &call.input) {
            Some(text) => {
                let directory = machine.cwd().cloned().unwrap_or_else(AbsolutePath::root);
                run_text(machine, call, &directory, None, &text)
            }
            None => spawned(machine, "just", "the recipes could not be read"),
        };
    }
    let file = match &named {
        Some(file) => machine.one_path_through(file),
        None if arguments.has(&["-g", "--global-justfile"]) => global_justfile(machine),
        None => FILES
            .into_iter()
            .find_map(|name| nearest(machine, name).map(|(directory, _)| directory.join(name))),
    };
    if named.is_some() && file.is_none() {
        machine.unread("which justfile is read is not known");
    }
    let Some((file, text)) = file.and_then(|file| instructions(machine, &file).map(|text| (file, text)))
    else {
        return spawned(machine, "just", "the recipes could not be read");
    };
    let directory = file.parent().unwrap_or_else(AbsolutePath::root);
    run_text(machine, call, &directory, Some(file), &text)
}

/// Runs the recipes that a call names, out of the text of a justfile.
fn run_text(
    machine: &mut Machine<'_>,
    call: &Call,
    directory: &AbsolutePath,
    file: Option<AbsolutePath>,
    text: &str,
) -> Exit {
    let arguments = &call.arguments;
    let mut imported: BTreeSet<AbsolutePath> = file.into_iter().collect();
    let text = with_imports(machine, directory, text, &mut imported, 0);
    let place = match arguments.value(&["-d", "--working-directory"]) {
        Some(place) => {
            machine.one_path_through(place).map_or(Value::Unknown, |path| Value::exact(path.as_str()))
        }
        None => Value::exact(directory.as_str()),
    };
    let mut variables: Vec<(String, String)> = Vec::new();
    let mut words = Vec::new();
    for word in &arguments.operands {
        match word.as_exact().map(|text| (text, text.split_once('='))) {
            Some((_, Some((name, value)))) if words.is_empty() => {
                variables.push((name.to_owned(), value.to_owned()));
            }
            Some((text, _)) => words.push(text.to_owned()),
            None => return spawned(machine, "just", "which recipe runs is not known"),
        }
    }
    let recipes = parse_just(&text, &mut variables);
    let mut words = words.into_iter();
    let first = words.next().or_else(|| recipes.first().map(|recipe| recipe.name.clone()));
    let given: Vec<String> = words.collect();
    match first {
        // A recipe of a module, which stands in a file of its own.
        Some(name) if !recipes.iter().any(|recipe| recipe.name == name) && has_modules(&text) => {
            machine.unread(format!("`{name}` is a recipe of a file that is not read"));
            Exit::unknown()
        }
        Some(name) => {
            let mut run = BTreeSet::new();
            machine.inside(&place, |machine| {
                run_just(machine, &recipes, &variables, (name.as_str(), given.as_slice()), &mut run, 0)
            })
        }
        None => Exit::unknown(),
    }
}

/// The greatest depth of recipes before recipes, and of files that import others (ours).
const JUST_DEPTH: usize = 32;

/// A justfile with those that it imports in their places (just, "Imports"), each once.
fn with_imports(
    machine: &mut Machine<'_>,
    directory: &AbsolutePath,
    text: &str,
    imported_before: &mut BTreeSet<AbsolutePath>,
    depth: usize,
) -> String {
    let mut whole = String::new();
    for line in text.lines() {
        let imported = line.strip_prefix("import ").or_else(|| line.strip_prefix("import? "));
        let Some(name) = imported.map(|name| name.trim().trim_matches(['"', '\''])) else {
            whole.push_str(line);
            whole.push('\n');
            continue;
        };
        if depth >= JUST_DEPTH {
            machine.unread("the justfile imports more than is followed");
            return whole;
        }
        let path = match name.strip_prefix("~/") {
            Some(rest) => machine.world().place().home.join(rest),
            None => directory.join(name),
        };
        if !imported_before.insert(path.clone()) {
            continue;
        }
        if let Some(text) = instructions(machine, &path) {
            let below = path.parent().unwrap_or_else(AbsolutePath::root);
            whole.push_str(&with_imports(machine, &below, &text, imported_before, depth + 1));
        }
    }
    whole
}

/// Whether a justfile has modules: `mod name`, `mod? name`.
fn has_modules(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("mod ") || line.starts_with("mod? "))
}

/// A recipe of a justfile.
#[derive(Debug, Clone, PartialEq, Eq)]
struct JustRecipe {
    name: String,
    parameters: Vec<String>,
    before: Vec<String>,
    body: Vec<String>,
}

fn parse_just(text: &str, variables: &mut Vec<(String, String)>) -> Vec<JustRecipe> {
    let mut recipes: Vec<JustRecipe> = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            if let Some(recipe) = recipes.last_mut() {
                recipe.body.push(line.trim_start().to_owned());
            }
            continue;
        }
        let plain = line.trim();
        if plain.is_empty()
            || plain.starts_with(['#', '['])
            || plain.starts_with("set ")
            || plain.starts_with("import ")
            || plain.starts_with("mod ")
        {
            continue;
        }
        if let Some((name, meant)) = plain.strip_prefix("alias ").and_then(|rest| rest.split_once(":=")) {
            recipes.push(JustRecipe {
                name: name.trim().to_owned(),
                parameters: Vec::new(),
                before: vec![meant.trim().to_owned()],
                body: Vec::new(),
            });
            continue;
        }
        if let Some((name, value)) = plain.strip_prefix("export ").unwrap_or(plain).split_once(":=") {
            let value = value.trim();
            let text = value.strip_prefix(['"', '\'']).and_then(|value| value.strip_suffix(['"', '\'']));
            let command = value.strip_prefix('`').and_then(|value| value.strip_suffix('`'));
            let value = text.map(str::to_owned).or_else(|| command.map(|command| format!("$({command})")));
            if !variables.iter().any(|(known, _)| known == name.trim()) {
                variables
                    .push((name.trim().to_owned(), value.unwrap_or_else(|| "$(just-expression)".to_owned())));
            }
            continue;
        }
        if let Some((head, before)) = plain.split_once(':') {
            let mut words = head.trim_start_matches('@').split_whitespace();
            let Some(name) = words.next() else { continue };
            recipes.push(JustRecipe {
                name: name.to_owned(),
                parameters: words.map(str::to_owned).collect(),
                before: before
                    .split_whitespace()
                    .filter(|word| *word != "&&")
                    .map(|word| word.trim_matches(['(', ')']).to_owned())
                    .collect(),
                body: Vec::new(),
            });
        }
    }
    recipes
}

fn run_just(
    machine: &mut Machine<'_>,
    recipes: &[JustRecipe],
    variables: &[(String, String)],
    (name, given): (&str, &[String]),
    run: &mut BTreeSet<String>,
    depth: usize,
) -> Exit {
    if depth >= JUST_DEPTH {
        machine.unread("the justfile is too much to follow");
        return Exit::unknown();
    }
    let Some(recipe) = recipes.iter().find(|recipe| recipe.name == name) else {
        return if depth == 0 { Exit::failure() } else { Exit::silent() };
    };
    for before in &recipe.before {
        // Each runs once, however many need it (just, "Dependencies").
        if run.insert(before.clone()) {
            run_just(machine, recipes, variables, (before.as_str(), &[]), run, depth + 1);
        }
    }
    let mut bound = variables.to_vec();
    let mut rest = given.iter();
    for parameter in &recipe.parameters {
        let (name, default) =
            parameter.split_once('=').map_or((parameter.as_str(), None), |(name, value)| {
                (name, Some(value.trim_matches(['"', '\'']).to_owned()))
            });
        let value = if name.starts_with(['*', '+']) {
            Some(rest.by_ref().map(|word| checkrein_shell::quoted(word)).collect::<Vec<_>>().join(" "))
                .filter(|text| !text.is_empty())
                .or(default)
        } else {
            rest.next().cloned().or(default)
        };
        bound.insert(0, (name.trim_start_matches(['*', '+', '$']).to_owned(), value.unwrap_or_default()));
    }
    let lines: Vec<String> = recipe.body.iter().map(|line| interpolated(line, &bound)).collect();
    if let Some(interpreter) = lines.first().and_then(|line| line.strip_prefix("#!")) {
        return run_with(machine, interpreter, &lines.join("\n"));
    }
    let mut exit = Exit::silent();
    for line in lines {
        exit = machine.run_text(&Value::exact(line.trim_start_matches(['@', '-'])), Input::Inherited);
    }
    exit
}

/// Runs a recipe that names its interpreter in its first line (just, "Shebang Recipes").
fn run_with(machine: &mut Machine<'_>, interpreter: &str, code: &str) -> Exit {
    let mut words = interpreter.split_whitespace().filter(|word| !word.starts_with('-')).peekable();
    let name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let mut program = words.next().map(name).unwrap_or_default();
    if program == "env" {
        program = words.find(|word| !word.contains('=')).map(name).unwrap_or_default();
    }
    if ["sh", "bash", "zsh", "dash", "ksh", "ash"].contains(&program.as_str()) {
        return machine.run_text(&Value::exact(code), Input::Inherited);
    }
    let option = match program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.') {
        "python" | "pypy" | "fish" => "-c",
        "node" | "nodejs" | "bun" | "ruby" | "perl" | "lua" => "-e",
        "php" => "-r",
        "deno" => "eval",
        _ => return spawned(machine, "just", "the recipe is written in another language"),
    };
    // The first line is none of the code: what is no comment in every language would be read as a part of it.
    let code = code.split_once('\n').map_or("", |(_, code)| code);
    machine.run_words(&[Value::Exact(program), Value::exact(option), Value::exact(code)], Input::Inherited)
}

/// A line with `{{name}}` replaced.
fn interpolated(line: &str, variables: &[(String, String)]) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, next)) = after.split_once("}}") else {
            break;
        };
        let value = variables.iter().find(|(known, _)| known == name.trim()).map(|(_, value)| value.clone());
        out.push_str(&value.unwrap_or_else(|| "$(just-expression)".to_owned()));
        rest = next;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn justfiles_are_read() {
        let mut variables = Vec::new();
        let recipes = parse_just(
            "out := \"dist\"\n# c\nbuild target='app': clean\n    @echo {{target}}\n    cp x {{out}}/{{target}}\nclean:\n    rm -rf {{out}}\n",
            &mut variables,
        );
        assert_eq!(variables, [("out".to_owned(), "dist".to_owned())]);
        assert_eq!(recipes.len(), 2);
        assert_eq!(recipes[0].before, ["clean"]);
        assert_eq!(interpolated(&recipes[1].body[0], &variables), "rm -rf dist");
    }
}
