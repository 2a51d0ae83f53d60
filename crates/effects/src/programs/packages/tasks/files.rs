//! How the file of each runner writes its tasks.

use std::cell::Cell;

use checkrein_glob::{Glob, Style};
use serde_json::Value as Json;

use super::super::yaml;
use super::{Asked, Step, Task};

/// The greatest length of all that is put into the tasks of a file, in bytes (ours): each variable may hold others twice.
pub(super) const LENGTH: usize = 1024 * 1024;
/// The greatest length of one value in it, in bytes (ours).
const ONE: usize = 32 * 1024;

/// The greatest number of names that one stands for, and of references in one text (ours).
pub(super) const REFERENCES: usize = 32;

pub(super) type Tasks = Option<(Vec<Task>, Vec<String>)>;

/// What stands in for an expression that is not followed: a substitution whose output nobody knows.
const EXPRESSION: &str = "$(task-expression)";

/// What stands in for a value that is beyond the bound.
const BEYOND: &str = "$(task-too-much-to-follow)";

fn text_of(value: &Json) -> Option<&str> {
    value.as_str()
}

/// The texts of a list, or the only one.
fn texts_of(value: Option<&Json>) -> Vec<String> {
    match value {
        Some(Json::String(text)) => vec![text.clone()],
        Some(Json::Array(items)) => items.iter().filter_map(text_of).map(str::to_owned).collect(),
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => Vec::new(),
    }
}

fn entries(value: Option<&Json>) -> impl Iterator<Item = (&String, &Json)> {
    value.and_then(Json::as_object).into_iter().flatten()
}

fn names(tasks: &[Task]) -> impl Iterator<Item = &String> {
    tasks.iter().map(|task| &task.name)
}

/// The first operand that names a task; what follows it is handed to that.
fn first_named(tasks: &[Task], asked: &Asked) -> (Vec<String>, Vec<String>) {
    match asked.operands.iter().position(|name| names(tasks).any(|known| known == name)) {
        Some(place) => {
            let rest = asked.operands.iter().skip(place + 1).chain(&asked.rest);
            (asked.operands.get(place).cloned().into_iter().collect(), rest.cloned().collect())
        }
        None => (Vec::new(), Vec::new()),
    }
}

/// Hands words on to the text of a step.
fn with_words(text: &str, words: &[String]) -> String {
    let words = words.iter().map(|word| format!(" {}", checkrein_shell::quoted(word)));
    std::iter::once(text.to_owned()).chain(words).collect()
}

/// Text with each `{{...}}` put in.
fn filled(text: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, next)) = after.split_once("}}") else { break };
        let name = name.trim().trim_matches('-').trim();
        out.push_str(&value(name).unwrap_or_else(|| EXPRESSION.to_owned()));
        rest = next;
    }
    out + rest
}

/// `Taskfile.yml`
pub(super) fn taskfile(text: &str, asked: &Asked) -> Tasks {
    let file = yaml::document(text)?;
    let left = Cell::new(LENGTH);
    let variables = |of: Option<&Json>, known: &[(String, String)]| -> Vec<(String, String)> {
        let mut all = known.to_vec();
        for (name, value) in entries(of) {
            let value = match (value, value.get("sh").and_then(text_of)) {
                (_, Some(command)) => format!("$({})", filled(command, &looked_up(&all, asked, &left))),
                (Json::String(text), None) => filled(text, &looked_up(&all, asked, &left)),
                (_, None) => EXPRESSION.to_owned(),
            };
            all.push((name.clone(), value));
        }
        all
    };
    let global = variables(file.get("vars"), &[]);
    let mut tasks = Vec::new();
    for (name, task) in entries(file.get("tasks")) {
        let known = variables(task.get("vars"), &global);
        let of_call = |call: &Json| variables(call.get("vars"), &known);
        let steps = match task {
            Json::String(_) | Json::Array(_) => Some(task),
            _ => task.get("cmds").or_else(|| task.get("cmd")),
        };
        let mut one = Task { name: name.clone(), ..Task::default() };
        let directory = task.get("dir").and_then(text_of);
        one.directory = directory.map(|directory| filled(directory, &looked_up(&known, asked, &left)));
        for (name, value) in entries(file.get("env")).chain(entries(task.get("env"))) {
            if let Some(command) = value.get("sh").and_then(text_of) {
                one.steps.push(Step::Text(filled(command, &looked_up(&known, asked, &left))));
            }
            let value = value
                .as_str()
                .map_or_else(|| EXPRESSION.to_owned(), |text| filled(text, &looked_up(&known, asked, &left)));
            one.variables.push((name.clone(), value));
        }
        // What says whether the task has to run is a command itself.
        for key in ["preconditions", "status", "if"] {
            let said = match task.get(key) {
                Some(Json::Array(items)) => items.iter().collect(),
                Some(one) => vec![one],
                None => Vec::new(),
            };
            for command in
                said.into_iter().filter_map(|said| said.get("sh").and_then(text_of).or_else(|| text_of(said)))
            {
                one.steps.push(Step::Text(filled(command, &looked_up(&known, asked, &left))));
            }
        }
        for alias in texts_of(task.get("aliases")) {
            let steps = vec![Step::Task(name.clone())];
            tasks.push(Task { name: alias, steps, ..Task::default() });
        }
        let deps = match task.get("deps") {
            Some(Json::Array(items)) => items.clone(),
            _ => Vec::new(),
        };
        let called = deps.iter().map(|dep| (dep, true));
        let written: Vec<&Json> = match steps {
            Some(Json::Array(items)) => items.iter().collect(),
            Some(step) => vec![step],
            None => Vec::new(),
        };
        for (step, is_dependency) in called.chain(written.into_iter().map(|step| (step, false))) {
            let call = step.get("task").or_else(|| step.get("defer").and_then(|step| step.get("task")));
            let command =
                step.get("cmd").or_else(|| step.get("defer")).and_then(text_of).or_else(|| text_of(step));
            match (call.and_then(text_of), command) {
                (Some(task), _) if step.get("vars").is_some() => {
                    // What is handed to a task is put in where it is called.
                    let of_call = of_call(step);
                    one.steps.extend(steps_of(&file, task, &of_call, asked, &left));
                }
                (Some(task), _) => one.steps.push(Step::Task(task.trim_start_matches(':').to_owned())),
                (None, Some(task)) if is_dependency => one.steps.push(Step::Task(task.to_owned())),
                (None, Some(command)) => {
                    // `for: { var: NAME, as: ITEM }`
                    let each = step.get("for");
                    let called = each.and_then(|each| each.get("as")).and_then(text_of).unwrap_or("ITEM");
                    for item in items_of(step, &known) {
                        let mut known = known.clone();
                        known.extend(item.map(|item| (called.to_owned(), item)));
                        one.steps.push(Step::Text(filled(command, &looked_up(&known, asked, &left))));
                    }
                }
                (None, None) => {}
            }
        }
        if is_beyond(&one) {
            one.steps.push(Step::Unread(format!("`{name}` puts in more than is followed")));
        }
        tasks.push(one);
    }
    let mut chosen: Vec<String> = asked.operands.clone();
    if chosen.is_empty() {
        chosen.push("default".to_owned());
    }
    for name in &chosen {
        // A star in the name of a task stands for any text.
        let fits = |task: &&String| task.contains('*') && Glob::new(task, Style::Shell).matches(name);
        let is_known = names(&tasks).any(|known| known == name);
        let fitting = names(&tasks).find(fits).cloned().filter(|_| !is_known);
        if let Some(task) = fitting {
            tasks.push(Task { name: name.clone(), steps: vec![Step::Task(task)], ..Task::default() });
        }
    }
    for name in
        chosen.iter().filter(|name| !names(&tasks).any(|known| known == *name)).cloned().collect::<Vec<_>>()
    {
        let is_included = entries(file.get("includes")).next().is_some();
        if is_included {
            let what = format!("`{name}` is a task of a file that is not read");
            tasks.push(Task { name, steps: vec![Step::Unread(what)], ..Task::default() });
        }
    }
    Some((tasks, chosen))
}

/// What a step is done for, each by itself: `None` where it is done once.
fn items_of(step: &Json, known: &[(String, String)]) -> Vec<Option<String>> {
    match step.get("for") {
        None => vec![None],
        Some(Json::Array(items)) => {
            let texts = items.iter().take(REFERENCES);
            texts.map(|item| Some(text_of(item).unwrap_or(EXPRESSION).to_owned())).collect()
        }
        Some(each) => {
            let name = each.get("var").and_then(text_of);
            let list = name.and_then(|name| known.iter().rev().find(|(known, _)| known == name));
            let split = each.get("split").and_then(text_of);
            match list {
                Some((_, text)) if !text.contains(['$', '`']) => {
                    let parts: Vec<&str> = match split {
                        Some(sign) => text.split(sign).collect(),
                        None => text.split_whitespace().collect(),
                    };
                    parts.into_iter().take(REFERENCES).map(|part| Some(part.to_owned())).collect()
                }
                Some(_) | None => vec![Some(EXPRESSION.to_owned())],
            }
        }
    }
}

/// The steps of a task of a Taskfile that is called with variables of its own.
fn steps_of(
    file: &Json,
    name: &str,
    known: &[(String, String)],
    asked: &Asked,
    left: &Cell<usize>,
) -> Vec<Step> {
    let task = file.get("tasks").and_then(|tasks| tasks.get(name));
    let commands = match task {
        Some(Json::String(_) | Json::Array(_)) => texts_of(task),
        _ => texts_of(task.and_then(|task| task.get("cmds").or_else(|| task.get("cmd")))),
    };
    let plain = commands.iter().map(|text| {
        let is_paid = pay(left, text.len() + 1);
        Step::Text(if is_paid { filled(text, &looked_up(known, asked, left)) } else { BEYOND.to_owned() })
    });
    plain.chain([Step::Task(name.to_owned())]).collect()
}

/// Takes so many bytes from what is left, unless they are too many.
fn pay(left: &Cell<usize>, bytes: usize) -> bool {
    let rest = left.get().checked_sub(bytes).filter(|_| bytes <= ONE);
    left.set(rest.unwrap_or(left.get()));
    rest.is_some()
}

/// Whether something was put into a task that is beyond the bound.
fn is_beyond(task: &Task) -> bool {
    let of_steps = task.steps.iter().filter_map(|step| match step {
        Step::Text(text) | Step::Words(text) | Step::Code(_, text) => Some(text),
        Step::Task(_) | Step::Unread(_) => None,
    });
    let values = task.variables.iter().map(|(_, value)| value);
    of_steps.chain(values).chain(&task.directory).any(|text| text.contains(BEYOND))
}

/// The value of a variable of a Taskfile; `None` for an expression. What is put in is taken from what is left.
fn looked_up<'a>(
    known: &'a [(String, String)],
    asked: &'a Asked,
    left: &'a Cell<usize>,
) -> impl Fn(&str) -> Option<String> + 'a {
    move |expression: &str| {
        let name = expression.strip_prefix('.')?;
        if name == "CLI_ARGS" {
            let words = asked.rest.join(" ");
            return Some(if pay(left, words.len()) { words } else { BEYOND.to_owned() });
        }
        if matches!(name, "ROOT_DIR" | "TASKFILE_DIR" | "USER_WORKING_DIR") {
            return Some(".".to_owned());
        }
        if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            return None;
        }
        let all = asked.given.iter().rev().chain(known.iter().rev());
        Some(match all.clone().find(|(known, _)| known == name) {
            Some((_, value)) if pay(left, value.len()) => value.clone(),
            Some(_) => BEYOND.to_owned(),
            // What the file does not say comes from the environment.
            None => format!("${{{name}-}}"),
        })
    }
}

/// Events of composer whenever it changes packages (getcomposer.org, "Scripts", "Event names").
const OF_PACKAGES: &[&str] = &[
    "pre-autoload-dump",
    "post-autoload-dump",
    "init",
    "pre-command-run",
    "pre-operations-exec",
    "pre-pool-create",
    "pre-file-download",
    "post-file-download",
    "pre-package-install",
    "post-package-install",
    "pre-package-update",
    "post-package-update",
    "pre-package-uninstall",
    "post-package-uninstall",
];

/// `composer.json`: scripts that are named, and those that run when packages are installed.
pub(super) fn composer(text: &str, asked: &Asked) -> Tasks {
    let file: Json = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let scripts = file.get("scripts");
    let mut tasks = Vec::new();
    for (name, value) in entries(scripts) {
        let mut variables = Vec::new();
        let steps = texts_of(Some(value)).into_iter().filter_map(|text| {
            if let Some((name, value)) = text.strip_prefix("@putenv ").and_then(|text| text.split_once('=')) {
                variables.push((name.trim().to_owned(), value.trim().to_owned()));
                return None;
            }
            if let Some(task) = text.strip_prefix('@') {
                let (word, rest) = task.split_once(' ').unwrap_or((task, ""));
                return match word {
                    "php" | "composer" => Some(Step::Text(task.to_owned())),
                    "putenv" => None,
                    _ if scripts.is_some_and(|scripts| scripts.get(word).is_some()) => {
                        Some(Step::Task(word.to_owned()))
                    }
                    _ => Some(Step::Text(format!("{word} {rest}"))),
                };
            }
            // A method of a class, which nobody reads.
            let is_method = text.contains("::") && !text.contains(' ');
            (!is_method).then_some(Step::Text(text))
        });
        let steps = steps.collect();
        tasks.push(Task { name: name.clone(), steps, variables, ..Task::default() });
    }
    let of_command: &[&str] = match asked.operands.first().map(String::as_str) {
        Some("install" | "i") => &["pre-install-cmd", "post-install-cmd"],
        Some("update" | "u" | "upgrade" | "require" | "r" | "remove" | "rm") => {
            &["pre-update-cmd", "post-update-cmd"]
        }
        Some("dump-autoload" | "dumpautoload") => &["pre-autoload-dump", "post-autoload-dump"],
        Some(_) | None => &[],
    };
    let of_packages = if of_command.iter().any(|name| name.ends_with("-cmd")) { OF_PACKAGES } else { &[] };
    let events = of_command.iter().chain(of_packages);
    if !of_command.is_empty() {
        return Some((tasks, events.map(|name| (*name).to_owned()).collect()));
    }
    let (chosen, rest) = first_named(&tasks, asked);
    Some((handing(tasks, &chosen, &rest), chosen))
}

/// The tasks, with words handed to the steps of those that are chosen.
fn handing(mut tasks: Vec<Task>, chosen: &[String], words: &[String]) -> Vec<Task> {
    for task in tasks.iter_mut().filter(|task| chosen.contains(&task.name)) {
        for step in &mut task.steps {
            if let Step::Text(text) | Step::Words(text) = step {
                *text = with_words(text, words);
            }
        }
    }
    tasks
}

/// `.pre-commit-config.yaml`: the hooks that stand in it, with what they start.
pub(super) fn hooks(text: &str, asked: &Asked) -> Tasks {
    let file = yaml::document(text)?;
    let wanted = asked.operands.get(1).filter(|name| !name.starts_with('-'));
    let mut tasks = Vec::new();
    for repository in file.get("repos").and_then(Json::as_array).into_iter().flatten() {
        if repository.get("repo").and_then(text_of) != Some("local") {
            continue;
        }
        for hook in repository.get("hooks").and_then(Json::as_array).into_iter().flatten() {
            let id = hook.get("id").and_then(text_of).unwrap_or_default();
            let Some(entry) = hook.get("entry").and_then(text_of) else { continue };
            let is_command = !matches!(
                hook.get("language").and_then(text_of),
                Some("pygrep" | "fail" | "docker_image" | "docker")
            );
            if wanted.is_some_and(|wanted| wanted != id) || !is_command {
                continue;
            }
            let steps = vec![Step::Words(with_words(entry, &texts_of(hook.get("args"))))];
            tasks.push(Task { name: id.to_owned(), steps, ..Task::default() });
        }
    }
    let chosen = names(&tasks).cloned().collect();
    Some((tasks, chosen))
}

/// `lefthook.yml`: the commands, scripts and jobs of a hook.
pub(super) fn lefthook(text: &str, asked: &Asked) -> Tasks {
    let file = yaml::document(text)?;
    let Some(hook) = asked.operands.get(1) else { return Some((Vec::new(), Vec::new())) };
    let said = file.get(hook);
    let commands = entries(said.and_then(|hook| hook.get("commands"))).map(|(_, command)| command);
    let jobs = said.and_then(|hook| hook.get("jobs")).and_then(Json::as_array).into_iter().flatten();
    let texts = commands.chain(jobs).filter_map(|command| command.get("run")).filter_map(text_of);
    // The names of files that are put in (`{staged_files}`) are those of the project.
    let place = |text: &str| {
        let names = ["{staged_files}", "{push_files}", "{all_files}", "{files}"];
        names.into_iter().fold(text.to_owned(), |text, name| text.replace(name, "."))
    };
    let steps: Vec<Step> = texts.map(|text| Step::Text(place(text))).collect();
    Some((vec![Task { name: hook.clone(), steps, ..Task::default() }], vec![hook.clone()]))
}

/// `Rakefile`: what stands outside of tasks runs when it is read, the block of a task when that is made.
pub(super) fn rakefile(text: &str, asked: &Asked) -> Tasks {
    let mut outside = String::new();
    let mut tasks: Vec<Task> = Vec::new();
    let mut spaces: Vec<(usize, String)> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let plain = line.trim_start();
        let indent = line.len() - plain.len();
        let (word, head) = plain.split_once([' ', '(']).unwrap_or((plain, ""));
        if word == "namespace" && plain.trim_end().ends_with("do") {
            spaces.push((indent, word_of(head)));
        } else if plain.trim_end() == "end" && spaces.last().is_some_and(|(at, _)| *at == indent) {
            spaces.pop();
        } else if matches!(word, "task" | "file" | "multitask") {
            let space: String = spaces.iter().flat_map(|(_, name)| [name.as_str(), ":"]).collect();
            let (name, before) = head_of_rake(head);
            let mut code = String::new();
            if let Some((_, inner)) =
                plain.split_once(" do ").filter(|(_, inner)| inner.trim_end().ends_with(" end"))
            {
                code.push_str(inner.trim_end().trim_end_matches("end"));
            } else if let (true, Some((_, inner))) = (plain.trim_end().ends_with('}'), plain.rsplit_once('{'))
            {
                code.push_str(inner.trim_end().trim_end_matches('}'));
            } else if plain.trim_end().ends_with("do") || plain.contains(" do |") {
                // A block that does not end where it began is written in a way that is not read.
                loop {
                    let inner = lines.next()?;
                    if inner.trim() == "end" && inner.len() - inner.trim_start().len() == indent {
                        break;
                    }
                    code.push_str(inner);
                    code.push('\n');
                }
            }
            // A name is looked for in the space of the task first.
            let names = before.into_iter().flat_map(|name| [format!("{space}{name}"), name]);
            let mut steps: Vec<Step> = names.map(Step::Task).collect();
            if !code.trim().is_empty() {
                steps.push(Step::Code("ruby", format!("require 'rake'\n{outside}\n{code}")));
            }
            tasks.push(Task { name: format!("{space}{name}"), steps, ..Task::default() });
        } else if word != "desc" {
            outside.push_str(line);
            outside.push('\n');
        }
    }
    let mut chosen: Vec<String> =
        asked.operands.iter().map(|name| name.split('[').next().unwrap_or(name).to_owned()).collect();
    if chosen.is_empty() {
        chosen.push("default".to_owned());
    }
    // Whatever is asked for, even a task that is not there: the file is read first.
    if !outside.trim().is_empty() {
        let steps = vec![Step::Code("ruby", format!("require 'rake'\n{outside}"))];
        tasks.push(Task { name: READING.to_owned(), steps, ..Task::default() });
        chosen.insert(0, READING.to_owned());
    }
    Some((tasks, chosen))
}

/// What stands for the reading of a file among the names of its tasks: no task is called so.
const READING: &str = "(reading)";

/// The first word of a text, without the signs of a symbol or string.
fn word_of(text: &str) -> String {
    let text = text.trim_start_matches([':', '"', '\'', ' ', '(']);
    let end = text.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '-' | '/' | '.'));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default().to_owned()
}

/// The name of a task of rake, and the tasks before it: `name: [:a, :b]`, `:name => 'a'`.
fn head_of_rake(head: &str) -> (String, Vec<String>) {
    let head = head.split(" do").next().unwrap_or(head);
    let name = word_of(head);
    let before = head.split_once("=>").or_else(|| head.split_once(": ")).map_or("", |(_, before)| before);
    let before = before.split('{').next().unwrap_or(before).trim_matches([' ', '[', ']', ')']);
    let plain = |name: &str| name.trim_matches([':', '"', '\'', '[', ']', '(', ')']).to_owned();
    let before =
        before.split([',', ' ']).map(plain).filter(|name| !name.is_empty() && name != "do").collect();
    (name, before)
}

/// `pyproject.toml`: scripts of pdm, poe, hatch and rye.
pub(super) fn pyproject(text: &str, asked: &Asked) -> Tasks {
    let file = text.parse::<toml::Table>().ok()?;
    let tool = file.get("tool");
    let table = |path: &[&str]| {
        path.iter().try_fold(tool?, |value, name| value.get(name)).and_then(toml::Value::as_table)
    };
    let mut tasks = Vec::new();
    let of_hatch = table(&["hatch", "envs"]).into_iter().flatten();
    let of_hatch =
        of_hatch.filter_map(|(_, environment)| environment.get("scripts").and_then(toml::Value::as_table));
    let of_pixi = file.get("tasks").and_then(toml::Value::as_table);
    let all = [
        table(&["pdm", "scripts"]),
        table(&["poe", "tasks"]),
        table(&["rye", "scripts"]),
        table(&["pixi", "tasks"]),
        of_pixi,
    ];
    for (name, value) in all.into_iter().flatten().chain(of_hatch).flatten() {
        tasks.push(Task { name: name.clone(), steps: steps_of_script(value), ..Task::default() });
    }
    // `hatch run environment:script`
    let mut asked = asked.clone();
    for operand in &mut asked.operands {
        if let Some((_, script)) =
            operand.split_once(':').filter(|(_, script)| names(&tasks).any(|known| known == script))
        {
            *operand = script.to_owned();
        }
    }
    let (chosen, rest) = first_named(&tasks, &asked);
    Some((handing(tasks, &chosen, &rest), chosen))
}

fn steps_of_script(value: &toml::Value) -> Vec<Step> {
    match value {
        toml::Value::String(text) => vec![Step::Text(text.clone())],
        toml::Value::Array(items) => items.iter().flat_map(steps_of_script).collect(),
        toml::Value::Table(table) => {
            let text = ["cmd", "shell"].into_iter().find_map(|key| table.get(key));
            let list = ["composite", "sequence"].into_iter().find_map(|key| table.get(key));
            match (text, list) {
                (Some(toml::Value::Array(words)), _) => {
                    let words = words.iter().filter_map(toml::Value::as_str).map(checkrein_shell::quoted);
                    vec![Step::Words(words.collect::<Vec<_>>().join(" "))]
                }
                (Some(value), _) => steps_of_script(value),
                (None, Some(toml::Value::Array(items))) => {
                    let one = |item: &toml::Value| match item {
                        toml::Value::String(text) if !text.contains(' ') => vec![Step::Task(text.clone())],
                        other => steps_of_script(other),
                    };
                    items.iter().flat_map(one).collect()
                }
                (None, _) => Vec::new(),
            }
        }
        toml::Value::Integer(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_) => Vec::new(),
    }
}

/// `deno.json`, or the scripts of `package.json`.
pub(super) fn deno(text: &str, asked: &Asked) -> Tasks {
    let plain: String = text
        .trim_start_matches('\u{feff}')
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    let file: Json = serde_json::from_str(&plain).ok()?;
    let mut tasks = Vec::new();
    for (name, value) in entries(file.get("tasks")).chain(entries(file.get("scripts"))) {
        let before = texts_of(value.get("dependencies")).into_iter().map(Step::Task);
        let command = value.get("command").and_then(text_of).or_else(|| text_of(value));
        let steps = before.chain(command.map(|text| Step::Text(text.to_owned()))).collect();
        tasks.push(Task { name: name.clone(), steps, ..Task::default() });
    }
    let asked = Asked { operands: asked.operands.iter().skip(1).cloned().collect(), ..asked.clone() };
    let (chosen, rest) = first_named(&tasks, &asked);
    Some((handing(tasks, &chosen, &rest), chosen))
}

/// `.cargo/config.toml`: aliases.
pub(super) fn cargo(text: &str, asked: &Asked) -> Tasks {
    let file = text.parse::<toml::Table>().ok()?;
    let aliases = file.get("alias").and_then(toml::Value::as_table);
    let words = |value: &toml::Value| match value {
        toml::Value::Array(words) => words
            .iter()
            .filter_map(toml::Value::as_str)
            .map(checkrein_shell::quoted)
            .collect::<Vec<_>>()
            .join(" "),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let one = |(name, value): (&String, &toml::Value)| Task {
        name: name.clone(),
        steps: vec![Step::Words(format!("cargo {}", words(value)))],
        ..Task::default()
    };
    let tasks: Vec<Task> = aliases.into_iter().flatten().map(one).collect();
    let (chosen, rest) = first_named(&tasks, asked);
    Some((handing(tasks, &chosen, &rest), chosen))
}
