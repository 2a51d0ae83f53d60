//! What package managers and build tools run: scripts of a project, tools that a project holds, recipes.
//!
//! | module | holds |
//! |---|---|
//! | `declared` | which packages a project names |
//! | `life_cycle` | scripts that a package manager runs by itself |
//! | `make` | `make`: which recipes run, and in which order |
//! | `makefile` | makefiles: rules, variables, functions |
//! | `manifest_fields` | fields of a manifest that are set and taken away |
//! | `just` | `just`: the same for justfiles |
//! | `tasks`, `yaml` | other files of tasks, with their runners |
//!
//! A script that can be read is interpreted. One that cannot be read is the project's own, which its owner runs every day: a
//! process worth naming, not an unknown danger.

mod declared;
mod just;
mod life_cycle;
mod make;
mod makefile;
mod manifest_fields;
mod tasks;
mod yaml;

pub(crate) use just::just;
pub(crate) use life_cycle::life_cycle;
pub(crate) use make::make;
pub(crate) use manifest_fields::manifest_fields;
pub(crate) use tasks::{follow_unread_text, keep_what_reaches_out, tasks};
pub(crate) use yaml::document as yaml_document;

use serde_json::Value as Json;

use super::instructions::not_read;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Inheritance, Input, Machine, Value};
use crate::path::AbsolutePath;
use crate::world::Entry;
use checkrein_shell::quoted;

/// Whether a file of this name holds tasks that are run by their names.
pub(crate) fn is_task_file(name: &str) -> bool {
    name == "package.json"
        || make::FILES.contains(&name)
        || just::FILES.contains(&name)
        || tasks::are_in(name)
        // Foreman: one for each stage (`-f`).
        || name.starts_with("Procfile.")
}

/// Runs a script of `package.json`: `npm run x`, `npm test`, `yarn x`, `bun run x`.
pub(crate) fn script(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let (manager, subcommand) = call.program.rsplit_once(' ').unwrap_or((call.program.as_str(), ""));
    let manager = manager.split(' ').next().unwrap_or(manager).to_owned();
    let named_by_subcommand = match subcommand {
        "test" | "t" | "tst" => Some("test"),
        "start" | "stop" | "restart" | "build" | "dev" | "lint" => Some(subcommand),
        _ => None,
    };
    let (name, rest) = match named_by_subcommand {
        Some(name) => (Value::exact(name), arguments.operands.as_slice()),
        None => match arguments.operands.split_first() {
            Some((name, rest)) => (name.clone(), rest),
            None => return Exit::unknown(),
        },
    };
    // bun.sh, "bun run -": the code comes through standard input.
    if manager == "bun" && name.as_exact() == Some("-") {
        return super::shells::code_input(machine, call);
    }
    let (own, rest) = own_options(&manager, rest);
    let named: Vec<Value> =
        arguments.values(&["-w", "--workspace"]).chain(&own.workspaces).cloned().collect();
    let in_all = own.in_all || arguments.has(&["-ws", "--workspaces"]);
    if manager == "npm" && (in_all || !named.is_empty()) {
        let Some(places) = workspaces(machine, &named) else {
            return spawned(machine, &call.program, "runs a script in several packages");
        };
        let mut exit = Exit::silent();
        for place in places {
            exit = machine.inside(&place, |machine| run_script(machine, call, &manager, &name, &rest));
        }
        return exit;
    }
    if arguments.has(&[
        "-w",
        "--workspace",
        "-ws",
        "--workspaces",
        "--filter",
        "-F",
        "-r",
        "--recursive",
        "--all",
    ]) {
        return spawned(machine, &call.program, "runs a script in several packages");
    }
    let directory = arguments.value(&["--prefix", "-C", "--dir", "--cwd"]).cloned().or(own.directory);
    let work = |machine: &mut Machine<'_>| run_script(machine, call, &manager, &name, &rest);
    match directory {
        Some(directory) => machine.inside(&directory, work),
        None => work(machine),
    }
}

/// What npm takes for itself of the words behind the name of a script.
#[derive(Debug, Default)]
struct OwnOptions {
    workspaces: Vec<Value>,
    in_all: bool,
    directory: Option<Value>,
}

/// Takes the options of npm out of the words behind the name of a script: all in front of `--`. Other managers hand them on.
fn own_options(manager: &str, words: &[Value]) -> (OwnOptions, Vec<Value>) {
    let mut own = OwnOptions::default();
    if manager != "npm" {
        return (own, words.to_vec());
    }
    let mut rest = Vec::new();
    let mut left = words.iter();
    while let Some(word) = left.next() {
        let text = word.as_exact().unwrap_or_default();
        let (option, value) =
            text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
        let mut value = || value.map(Value::exact).or_else(|| left.next().cloned());
        match option {
            "--" => {
                rest.extend(left.cloned());
                break;
            }
            "-w" | "--workspace" => own.workspaces.extend(value()),
            "-ws" | "--workspaces" => own.in_all = true,
            "--prefix" | "-C" => own.directory = value(),
            "-s" | "--silent" | "--if-present" | "--ignore-scripts" | "--foreground-scripts" => {}
            _ => rest.push(word.clone()),
        }
    }
    (own, rest)
}

/// The directories of the packages that are named by place or name, or of all that the project lists; `None` where they cannot be told.
fn workspaces(machine: &Machine<'_>, named: &[Value]) -> Option<Vec<Value>> {
    let (root, text) = nearest(machine, "package.json")?;
    let package = manifest(&text);
    let listed = package.get("workspaces")?;
    let listed = listed.as_array().or_else(|| listed.get("packages")?.as_array())?;
    let mut places: Vec<AbsolutePath> = Vec::new();
    for pattern in listed {
        let pattern = root.join(pattern.as_str()?.trim_start_matches("./").trim_end_matches('/'));
        for found in machine.paths_of(pattern.as_str())? {
            let place = AbsolutePath::new(&found)?;
            if machine.entry(&place.join("package.json")) != Entry::Missing && !places.contains(&place) {
                places.push(place);
            }
        }
    }
    let is_meant = |place: &AbsolutePath, word: &Value| {
        let Some(word) = word.as_exact() else { return true };
        let name = manifest(&machine.text(&place.join("package.json")));
        // A directory above packages stands for all of them.
        place.is_within(&root.join(word.trim_end_matches('/')))
            || name.get("name").and_then(Json::as_str) == Some(word)
    };
    let chosen =
        places.into_iter().filter(|place| named.is_empty() || named.iter().any(|word| is_meant(place, word)));
    Some(chosen.map(|place| Value::exact(place.as_str())).collect())
}

/// Runs a script or tool that stands in the place of a subcommand: `yarn lint`, `pnpm build`, `bun file.ts`. Without one, yarn installs.
pub(crate) fn named_script(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if call.program == "bun"
        && let Some(code) = arguments.value(&["-e", "--eval", "-p", "--print"])
    {
        return super::code(machine, call, code);
    }
    let Some((name, rest)) = arguments.operands.split_first() else {
        if call.program == "yarn" && arguments.options.is_empty() {
            let draft = Draft::new(EffectKind::PackageInstall, Target::Service("project".to_owned()))
                .severity(Severity::Low);
            machine.add(draft.note("into the project"));
            life_cycle(machine, call);
        }
        return Exit::unknown();
    };
    if arguments.has(&["--filter", "-F", "-r", "--recursive"]) {
        return spawned(machine, &call.program, "runs a script in several packages");
    }
    let work = |machine: &mut Machine<'_>| {
        if let Some(agent) = super::agents::of_file(name) {
            let words: Vec<Value> = [Value::exact(agent)].into_iter().chain(rest.iter().cloned()).collect();
            return machine.run_words(&words, call.input.clone());
        }
        run_script(machine, call, &call.program, name, rest)
    };
    match arguments.value(&["-C", "--dir", "--cwd"]).cloned() {
        Some(directory) => machine.inside(&directory, work),
        None => work(machine),
    }
}

fn run_script(machine: &mut Machine<'_>, call: &Call, manager: &str, name: &Value, rest: &[Value]) -> Exit {
    let Some(name) = name.as_exact() else {
        return spawned(machine, &call.program, "which script runs is not known");
    };
    let Some((directory, text)) = nearest(machine, "package.json") else {
        return spawned(machine, &call.program, "the scripts of the project could not be read");
    };
    let package = manifest(&text);
    if text.as_exact().is_none() {
        not_read(machine, &directory.join("package.json"));
    }
    let find = |name: &str| {
        package.get("scripts").and_then(|scripts| scripts.get(name)).and_then(Json::as_str).map(str::to_owned)
    };
    let Some(command) = find(name) else {
        if package.is_null() {
            return spawned(machine, &call.program, "the scripts of the project could not be read");
        }
        if manager == "npm" {
            return if name == "start" {
                spawned(machine, &call.program, "runs server.js")
            } else {
                Exit::failure()
            };
        }
        // yarn, pnpm and bun also take the name of a tool, bun that of a file.
        let mut words = vec![Value::exact(name)];
        words.extend(rest.iter().cloned());
        return project_words(machine, &call.program, &words, &call.input);
    };
    let mut exit = Exit::silent();
    let place = Value::exact(directory.as_str());
    let steps = [find(&format!("pre{name}")), Some(command), find(&format!("post{name}"))];
    for (index, step) in steps.into_iter().enumerate() {
        let Some(step) = step else { continue };
        let mut text = Value::exact(step);
        if index == 1 {
            for word in rest.iter().filter(|word| word.as_exact() != Some("--")) {
                let quoted = word.as_exact().map_or_else(|| word.clone(), |word| Value::exact(quoted(word)));
                text = text.followed_by(&Value::exact(" ")).followed_by(&quoted);
            }
        }
        exit = machine.inside(&place, |machine| machine.run_text(&text, Input::Inherited));
    }
    exit
}

/// Runs a tool by name that is downloaded when the project does not hold it: `npx x`, `uvx x`, `pipx run x`.
pub(crate) fn runner(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let packages: Vec<Value> =
        arguments.values(&["-p", "--package", "--from", "--with", "--spec"]).cloned().collect();
    if let Some(text) = arguments.value(&["-c", "--call"]).cloned() {
        for package in &packages {
            machine.effect(EffectKind::PackageInstall, package);
        }
        return machine.run_text(&text, Input::Inherited);
    }
    let Some((first, rest)) = arguments.operands.split_first() else {
        return Exit::unknown();
    };
    let Some(text) = first.as_exact() else {
        machine.opaque("which tool is downloaded and run is not known");
        return Exit::unknown();
    };
    // `pnpm dlx -c 'a && b'`
    if text.contains(char::is_whitespace) {
        for package in &packages {
            machine.effect(EffectKind::PackageInstall, package);
        }
        return machine
            .run_text(&crate::interpreter::strings::joined(&arguments.operands, " "), Input::Inherited);
    }
    let name = tool_name(text);
    // What the project names is fetched by its own installation, not by this call.
    let are_declared = !packages.is_empty()
        && packages.iter().all(|package| package.as_exact().is_some_and(|text| is_dependency(machine, text)));
    let is_local = are_declared
        || packages.is_empty()
            && (held_tool(machine, &name)
                || is_dependency(machine, text)
                || arguments.has(&["--no-install", "--no"]));
    let known = machine.knows(&name);
    if !is_local {
        let wanted: Vec<Value> = if packages.is_empty() { vec![first.clone()] } else { packages };
        for package in wanted {
            let target = package.as_exact().map_or(Target::Unknown, |text| Target::Service(text.to_owned()));
            let draft =
                Draft::new(EffectKind::PackageInstall, target).note("downloads a package and runs its code");
            let is_template = known || call.program.ends_with(" create") || name.starts_with("create-");
            // A tool of the usual registry is what such runners are for; one from an address is not.
            let is_named = package
                .as_exact()
                .is_some_and(|text| !text.contains("://") && !is_repository(&call.program, text));
            machine.add(if is_template || is_named { draft } else { draft.severity(Severity::High) });
        }
    }
    if !known {
        if let Some(file) = is_local.then(|| held_file(machine, &name)).flatten() {
            // It is of the project, and only what it changes says something.
            machine.as_arranged(|machine| {
                machine.run_file(&Value::exact(file.as_str()), rest);
            });
        }
        super::loaded_by_custom(
            machine,
            &Call { program: name.clone(), words: rest.to_vec(), ..call.clone() },
        );
        machine.note_words_for_others(rest);
        return spawned(machine, &name, "");
    }
    let mut words = vec![Value::exact(name)];
    words.extend(rest.iter().cloned());
    machine.run_words(&words, call.input.clone())
}

/// Whether a runner of npm packages takes a name for a repository: `owner/name`, `github:owner/name`. Source: npm-package-arg, README.
fn is_repository(program: &str, name: &str) -> bool {
    const HOSTS: &[&str] = &["github:", "gist:", "gitlab:", "bitbucket:", "git+ssh:", "git@"];
    let is_of_npm = ["npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun"]
        .iter()
        .any(|runner| program.split(' ').next() == Some(*runner));
    let is_path = name.starts_with(['@', '.', '/', '~']);
    is_of_npm
        && (HOSTS.iter().any(|host| name.starts_with(host))
            || !is_path && name.split('@').next().is_some_and(|bare| bare.matches('/').count() == 1))
}

/// `concurrently`: each operand is a command, or names scripts of the project (`npm:build`).
pub(crate) fn side_by_side(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let commands = call.arguments.operands.iter().chain(call.arguments.values(&["--teardown"]));
    for command in commands.cloned().collect::<Vec<_>>() {
        let named = command.as_exact().and_then(|text| text.split_once(':')).filter(|(manager, name)| {
            matches!(*manager, "npm" | "yarn" | "pnpm" | "bun" | "node" | "deno") && !name.contains(' ')
        });
        match named.map(|(manager, name)| (manager.to_owned(), name.to_owned())) {
            Some((manager, name)) if name.contains('*') => {
                spawned(machine, &manager, "runs several scripts of the project");
            }
            Some((manager, name)) => {
                let words = [manager.as_str(), "run", name.as_str()].map(Value::exact);
                machine.run_words(&words, Input::Inherited);
            }
            None => {
                machine.run_text(&command, Input::Inherited);
            }
        }
    }
    Exit::unknown()
}

/// `npm-run-all`, `run-s`, `run-p`: each operand is a script of the project with its arguments, or a pattern for several.
pub(crate) fn scripts_by_name(machine: &mut Machine<'_>, call: &Call) -> Exit {
    for operand in call.arguments.operands.clone() {
        let text = operand.as_exact().unwrap_or_default();
        if text.is_empty() || text.contains(['*', '{']) {
            spawned(machine, &call.program, "runs several scripts of the project");
            continue;
        }
        let words = ["npm", "run"].into_iter().chain(text.split_whitespace());
        let words: Vec<Value> = words.map(Value::exact).collect();
        machine.run_words(&words, Input::Inherited);
    }
    Exit::unknown()
}

/// `pm2 start`: a text with blanks is given to a shell, a file of code to the interpreter of its language, and other names are programs.
pub(crate) fn kept_running(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let words = call.arguments.operands.clone();
    match call.arguments.value(&["--interpreter"]).filter(|value| value.as_exact() != Some("none")) {
        Some(interpreter) => {
            let words: Vec<Value> = std::iter::once(interpreter.clone()).chain(words).collect();
            machine.run_words(&words, Input::Inherited)
        }
        None => project_words(machine, &call.program, &words, &Input::Inherited),
    }
}

/// Runs a command in the environment of the project: `uv run x`, `poetry run x`, `bundle exec x`, `cargo x`.
pub(crate) fn project_command(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if let Some(module) = call.arguments.value(&["-m", "--module"]).cloned() {
        let mut words = vec![Value::exact("python"), Value::exact("-m"), module];
        words.extend(call.arguments.operands.iter().cloned());
        return machine.run_words(&words, call.input.clone());
    }
    for package in call.arguments.values(&["--with"]).cloned().collect::<Vec<_>>() {
        machine.effect(EffectKind::PackageInstall, &package);
    }
    // pixi 0.40, "pixi run": with `--clean-env` nothing of the environment is handed on.
    let is_clean = call.arguments.has(&["--clean-env"]);
    let inheritance = if is_clean { Inheritance::OfTheUser } else { Inheritance::Everything };
    machine.with_inheritance(inheritance, |machine| {
        if tasks(machine, call) {
            return Exit::unknown();
        }
        project_words(machine, &call.program, &call.arguments.operands, &call.input)
    })
}

/// Runs words as a command of the project: what the catalogue knows and scripts are followed, other names are the project's own tools.
fn project_words(machine: &mut Machine<'_>, cause: &str, words: &[Value], input: &Input) -> Exit {
    let Some((first, rest)) = words.split_first() else {
        return Exit::unknown();
    };
    let Some(name) = first.as_exact() else {
        machine.opaque("which command runs is not known");
        return Exit::unknown();
    };
    // `uv run -` reads a script of Python (docs.astral.sh/uv, "Running scripts").
    if matches!(name, "-" | "/dev/stdin") && cause.starts_with("uv") {
        return machine.run_words(&[Value::exact("python3"), Value::exact("-")], input.clone());
    }
    // Most of those that run a command give one word with blanks in it to a shell (Yarn 4, "yarn exec"; pnpm 9, "pnpm exec", `--shell-mode`;
    // Bundler 2, "bundle exec"; pixi 0.40, "pixi run"; pm2 5, "start"). A program has no such name for the others.
    if name.contains(char::is_whitespace) {
        let text = crate::interpreter::strings::joined(words, " ");
        return machine.run_text(&text, input.clone());
    }
    let interpreter = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("py" | "pyw") => Some("python"),
        Some("js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "mts") => Some("node"),
        Some("rb") => Some("ruby"),
        _ => None,
    };
    if let Some(interpreter) = interpreter {
        let mut whole = vec![Value::exact(interpreter), first.clone()];
        whole.extend(rest.iter().cloned());
        return machine.run_words(&whole, input.clone());
    }
    if name.contains('/') || machine.knows(name.rsplit('/').next().unwrap_or(name)) {
        return machine.run_words(words, input.clone());
    }
    spawned(machine, &format!("{cause} {name}"), "a tool of the project")
}

/// What a manifest says. The package managers read over a mark of the byte order at its start.
pub(super) fn manifest(text: &Value) -> Json {
    let text = text.as_exact().unwrap_or_default();
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or(Json::Null)
}

/// Names a process that runs the project's own code.
fn spawned(machine: &mut Machine<'_>, name: &str, note: &str) -> Exit {
    machine.add(Draft::new(EffectKind::ProcessSpawn, Target::Process(name.to_owned())).note(note));
    Exit::unknown()
}

/// The nearest file of a name from the working directory upward, with its directory and text.
fn nearest(machine: &Machine<'_>, name: &str) -> Option<(AbsolutePath, Value)> {
    let mut next = machine.cwd().cloned();
    while let Some(directory) = next {
        let path = directory.join(name);
        match machine.entry(&path) {
            Entry::File(_) | Entry::Symlink(_) => return Some((directory, machine.text(&path))),
            Entry::Unknown => return None,
            Entry::Missing | Entry::Directory | Entry::Special => next = directory.parent(),
        }
    }
    None
}

/// Whether the project holds a tool of that name.
fn held_tool(machine: &Machine<'_>, name: &str) -> bool {
    held_file(machine, name).is_some()
}

/// The tool of that name that the project holds.
fn held_file(machine: &Machine<'_>, name: &str) -> Option<AbsolutePath> {
    let mut next = machine.cwd().cloned();
    while let Some(directory) = next {
        for place in ["node_modules/.bin", ".venv/bin", "venv/bin"] {
            let file = directory.join(place).join(name);
            if !matches!(machine.entry(&file), Entry::Missing | Entry::Unknown) {
                return Some(file);
            }
        }
        next = directory.parent();
    }
    None
}

/// Whether the project asks for the package, or for one whose tool has that name.
fn is_dependency(machine: &Machine<'_>, package: &str) -> bool {
    let name = bare_name(package);
    std::iter::once(name)
        .chain(TOOLS.iter().filter(|(_, tool)| *tool == name).map(|(package, _)| *package))
        .any(|name| declared::is_declared(machine, name))
}

/// The name of a package without its version: `@scope/name@1.2` -> `@scope/name`, `ruff==0.4` -> `ruff`.
fn bare_name(package: &str) -> &str {
    let package = package.split(['=', '<', '>', '~', '[']).next().unwrap_or(package);
    let version = package.get(1..).and_then(|rest| rest.find('@')).map_or(package.len(), |at| at + 1);
    package.get(..version).unwrap_or(package)
}

/// The name of the tool that a package is called after: `@scope/name@1.2` -> `name`, `ruff==0.4` -> `ruff`.
fn tool_name(package: &str) -> String {
    let plain = package.split("==").next().unwrap_or(package);
    let plain = match plain.get(1..).and_then(|rest| rest.find('@')) {
        Some(at) => plain.get(..=at).unwrap_or(plain),
        None => plain,
    };
    let plain = plain.strip_prefix("npm:").unwrap_or(plain);
    if let Some((_, tool)) = TOOLS.iter().find(|(package, _)| *package == plain) {
        return (*tool).to_owned();
    }
    if plain.starts_with('@') {
        plain.rsplit('/').next().unwrap_or(plain).to_owned()
    } else {
        plain.to_owned()
    }
}

/// Packages whose tool has another name (`bin` in `package.json`, `entry_points` of a wheel).
const TOOLS: &[(&str, &str)] = &[
    ("@11ty/eleventy", "eleventy"),
    ("@angular/cli", "ng"),
    ("@aws-amplify/cli", "amplify"),
    ("@azure/static-web-apps-cli", "swa"),
    ("@babel/cli", "babel"),
    ("@capacitor/cli", "cap"),
    ("@changesets/cli", "changeset"),
    ("@cloudflare/wrangler", "wrangler"),
    ("@docusaurus/core", "docusaurus"),
    ("@google/clasp", "clasp"),
    ("@ionic/cli", "ionic"),
    ("@mikro-orm/cli", "mikro-orm"),
    ("@nestjs/cli", "nest"),
    ("@railway/cli", "railway"),
    ("@redocly/cli", "redocly"),
    ("@salesforce/cli", "sf"),
    ("@sanity/cli", "sanity"),
    ("@sentry/cli", "sentry-cli"),
    ("@shopify/cli", "shopify"),
    ("@vue/cli", "vue"),
    ("ansible-core", "ansible"),
    ("aws-cdk", "cdk"),
    ("aws-sam-cli", "sam"),
    ("awscli", "aws"),
    ("awscli-local", "awslocal"),
    ("azure-cli", "az"),
    ("azure-functions-core-tools", "func"),
    ("b2-sdk-cli", "b2"),
    ("cdktf-cli", "cdktf"),
    ("chokidar-cli", "chokidar"),
    ("cpy-cli", "cpy"),
    ("del-cli", "del"),
    ("dotenv-cli", "dotenv"),
    ("eas-cli", "eas"),
    ("empty-trash-cli", "empty-trash"),
    ("expo-cli", "expo"),
    ("firebase-tools", "firebase"),
    ("fkill-cli", "fkill"),
    ("httpie", "http"),
    ("linode-cli", "linode-cli"),
    ("localtunnel", "lt"),
    ("make-dir-cli", "make-dir"),
    ("move-file-cli", "move-file"),
    ("netlify-cli", "netlify"),
    ("npm-check-updates", "ncu"),
    ("npm-run-all", "run-s"),
    ("python-openstackclient", "openstack"),
    ("sequelize-cli", "sequelize"),
    ("trash-cli", "trash"),
    ("typescript", "tsc"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_after_their_tool() {
        assert_eq!(tool_name("@vue/cli@5"), "vue");
        assert_eq!(tool_name("@scope/tool@5"), "tool");
        assert_eq!(tool_name("prettier@3.1.0"), "prettier");
        assert_eq!(tool_name("ruff==0.4.1"), "ruff");
        assert_eq!(tool_name("create-next-app"), "create-next-app");
        assert_eq!(tool_name("del-cli@5"), "del");
    }
}
