//! `make` and `just`: which recipes run, and in which order.

use crate::interpreter::{Call, Exit, Input, Machine, Output, Status, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, Timestamp};

use super::makefile::{Automatic, BEYOND, LOADED, Makefile, Rule, matched};
use super::{nearest, spawned};
use crate::interpreter::strings::quoted_words;
use crate::programs::instructions::{instructions, not_read};

/// The greatest number of targets that one call makes (ours).
const TARGETS: usize = 256;

/// What make, or the shell of a recipe, makes something of in the value of a variable.
const ACTIVE: &[char] =
    &['$', '~', '*', '?', '[', '{', '`', ';', '|', '&', '<', '>', '(', ')', '\'', '"', '\\', '#', '!', '\n'];

/// Interprets a call of make.
pub(crate) fn make(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if call.arguments.has(&["-v", "--version", "-h", "--help"]) {
        return Exit::unknown();
    }
    // Options also come from the environment, in front of the others.
    for name in ["MAKEFLAGS", "GNUMAKEFLAGS"] {
        let Some(flags) = given(machine, name) else { continue };
        let Some(text) = flags.as_exact() else {
            if !matches!(flags.known_start().split_once(char::is_whitespace), None | Some(("", _)))
                || !flags.known_start().trim_start().starts_with("-j")
            {
                machine.opaque(format!("the options of `make` in `{name}` are not known"));
            }
            continue;
        };
        let mut words = flags_of_environment(text);
        if text.contains('$') {
            words.insert(0, Value::Exact(format!("--eval={}", expanded(text))));
        }
        if words.is_empty() {
            continue;
        }
        words.extend(call.words.iter().cloned());
        let without = vec![(name.to_owned(), Value::exact(""))];
        return machine
            .with_variables(without, |machine| machine.call_program(&call.program, &call.written, &words));
    }
    match call.arguments.value(&["-C", "--directory"]).cloned() {
        Some(directory) => machine.inside(&directory, |machine| make_here(machine, call)),
        None => make_here(machine, call),
    }
}

/// A line of a makefile that expands a text: what functions in it run, runs. Variables of the command line go to every recipe expanded, and
/// the variables that hold options are expanded as they are read (GNU make 4.4: `decode_env_switches`, "Communicating Variables to a
/// Sub-make").
fn expanded(text: &str) -> String {
    format!(".EXPANDED := {}", text.replace('\n', " "))
}

/// The value of a variable that the command itself sets for programs.
fn given(machine: &Machine<'_>, name: &str) -> Option<Value> {
    if machine.shell.variables.contains_key(name) { machine.variable(name) } else { None }
}

/// The words of `MAKEFLAGS`, without what make does not take from there: targets, and the options that its table of switches keeps to the
/// command line (`-C`, `-f`, `-o`, `-W`, `-h`).
fn flags_of_environment(text: &str) -> Vec<Value> {
    let mut words = Vec::new();
    let mut all = quoted_words(text).into_iter().enumerate();
    while let Some((place, word)) = all.next() {
        let word = if place == 0 && !word.starts_with('-') && !word.contains('=') {
            format!("-{word}")
        } else {
            word
        };
        let name = word.split('=').next().unwrap_or_default();
        if matches!(
            name,
            "-C" | "-f" | "-o" | "-W" | "--directory" | "--file" | "--makefile" | "--old-file" | "--what-if"
        ) {
            if name == word {
                all.next();
            }
        } else if word.contains('=')
            || word.starts_with('-') && !word.starts_with("-f") && !word.starts_with("-C")
        {
            words.push(Value::Exact(word));
        }
    }
    words
}

/// The texts of the makefiles that a call names, or of the one that lies here, with their names; `None` when one cannot be read.
fn makefiles(machine: &mut Machine<'_>, call: &Call, cwd: &AbsolutePath) -> Option<Vec<(String, String)>> {
    let named: Vec<Value> = call.arguments.values(&["-f", "--file", "--makefile"]).cloned().collect();
    let mut texts = Vec::new();
    for value in &named {
        let name = value.as_exact()?;
        let text = match (name, &call.input) {
            ("/dev/null", _) => Value::exact(""),
            ("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0", Input::Text(text)) => text.clone(),
            (
                "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0",
                Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown,
            ) => Value::Unknown,
            (name, _) => Value::Exact(instructions(machine, &cwd.join(name))?),
        };
        if let Value::Unknown = text {
            machine.unread("a makefile that comes in cannot be read");
        }
        texts.push((name.to_owned(), text.as_exact()?.to_owned()));
    }
    if named.is_empty() {
        let present = ["GNUmakefile", "makefile", "Makefile"]
            .into_iter()
            .find(|name| !matches!(machine.entry(&cwd.join(name)), Entry::Missing | Entry::Unknown));
        match present {
            Some(name) => texts.push((name.to_owned(), instructions(machine, &cwd.join(name))?)),
            // What a repository holds that this command has cloned is not known.
            None if came_over_network(machine, cwd).is_some() => return None,
            None if machine.entry(&cwd.join("Makefile")) == Entry::Missing => {}
            None => return None,
        }
    }
    Some(texts)
}

/// The address from which the makefile of a directory came in this command.
fn came_over_network(machine: &Machine<'_>, directory: &AbsolutePath) -> Option<String> {
    match machine.peek(&Value::exact(directory.join("Makefile").as_str())) {
        Output::Network(url) => Some(url),
        Output::Nothing
        | Output::Text(_)
        | Output::Secret(_)
        | Output::Local(_)
        | Output::Setup(_)
        | Output::Unknown => None,
    }
}

fn make_here(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let Some(cwd) = machine.cwd().cloned() else {
        return spawned(machine, "make", "which makefile is read is not known");
    };
    let mut makefile = Makefile::new(cwd.as_str());
    let mut goals = Vec::new();
    for word in &arguments.operands {
        match word.as_exact().map(|text| (text, text.split_once('='))) {
            Some((_, Some((name, value)))) => makefile.give(name, value),
            Some((goal, None)) => goals.push(goal.to_owned()),
            None => return spawned(machine, "make", "which target is made is not known"),
        }
    }
    for (name, value) in machine.exported_texts() {
        // The shell of the recipe reads what it says; a plain word stays the variable that it is.
        if name != "SHELL" && value.contains(ACTIVE) {
            makefile.inherit(&name, &value);
        }
    }
    let mut evaluated: Vec<Value> = arguments.values(&["--eval", "-E"]).cloned().collect();
    for text in arguments.operands.iter().filter_map(Value::as_exact) {
        if let Some((_, value)) = text.split_once('=').filter(|(_, value)| value.contains('$')) {
            evaluated.push(Value::Exact(expanded(value)));
        }
    }
    if let Some(Value::Exact(names)) =
        given(machine, "MAKEFILES").filter(|names| names.known_start().contains('$'))
    {
        evaluated.push(Value::Exact(expanded(&names)));
    }
    let Some(texts) = makefiles(machine, call, &cwd) else {
        if let Input::Network(url) = &call.input {
            machine.runs_from_network(&url.clone());
        } else if let Some(url) = came_over_network(machine, &cwd) {
            machine.runs_from_network(&url);
        }
        run_evaluated(machine, &evaluated, &mut makefile);
        return spawned(machine, "make", "the makefile could not be read");
    };
    let before = given(machine, "MAKEFILES");
    if texts.is_empty() && evaluated.is_empty() && before.is_none() {
        return Exit::failure();
    }
    run_evaluated(machine, &evaluated, &mut makefile);
    let before = before.unwrap_or_else(|| Value::exact(""));
    let before = before.as_exact().map_or_else(
        || {
            machine.opaque("which makefiles `MAKEFILES` names is not known");
            String::new()
        },
        str::to_owned,
    );
    let before: Vec<(String, String)> = before
        .split_whitespace()
        .filter_map(|name| Some((name.to_owned(), instructions(machine, &cwd.join(name))?)))
        .collect();
    let texts: Vec<(String, String)> = before.into_iter().chain(texts).collect();
    for (_, text) in &texts {
        let include = |name: &str| machine.text(&cwd.join(name)).as_exact().map(str::to_owned);
        makefile.read(text, &include, 0);
    }
    for name in makefile.included.clone() {
        let path = cwd.join(&name);
        if machine.text(&path).as_exact().is_none() {
            not_read(machine, &path);
        }
    }
    if goals.is_empty() {
        goals.extend(makefile.default_goal());
    }
    let mut run = MakeRun {
        machine,
        makefile: &makefile,
        cwd,
        always: arguments.has(&["-B", "--always-make"]),
        keeps_going: arguments.has(&["-k", "--keep-going", "-i", "--ignore-errors"]),
        only_says: arguments.has(&["-n", "--just-print", "--dry-run", "--recon", "-q", "--question"]),
        done: Vec::new(),
    };
    run.run_functions("");
    run.remake(texts.iter().map(|(name, _)| name.as_str()));
    for goal in goals {
        if run.build(&goal, 0).is_none() && !run.keeps_going {
            return Exit::failure();
        }
    }
    Exit::unknown()
}

/// Reads what `--eval` gives; what is not known of it is made to be run unread.
fn run_evaluated(machine: &mut Machine<'_>, texts: &[Value], makefile: &mut Makefile) {
    for text in texts {
        match text.as_exact() {
            Some(text) => makefile.read(text, &|_| None, 0),
            None => machine.unread("what `make --eval` reads and runs is not known"),
        }
    }
}

/// One run of make.
struct MakeRun<'m, 'w, 'f> {
    machine: &'m mut Machine<'w>,
    makefile: &'f Makefile,
    cwd: AbsolutePath,
    always: bool,
    keeps_going: bool,
    /// Recipes are printed, not run, but for those that run all the same.
    only_says: bool,
    done: Vec<(String, bool)>,
}

impl MakeRun<'_, '_, '_> {
    /// Runs what functions have run since it was asked last, but for what stands as a substitution in this text of the shell.
    fn run_functions(&mut self, shown: &str) {
        for command in self.makefile.take_ran() {
            if command == LOADED {
                self.machine.unread("the makefile loads an object, whose code runs");
            } else if command == BEYOND {
                self.machine.unread("the makefile is too much to follow");
            } else if !shown.contains(&format!("$({command})")) {
                self.run_line(&command);
            }
        }
    }

    /// Makes the makefiles themselves again where a rule says how, which happens before all else, also when recipes are only printed.
    fn remake<'n>(&mut self, read: impl Iterator<Item = &'n str>) {
        let names: Vec<String> =
            read.map(str::to_owned).chain(self.makefile.included.iter().cloned()).collect();
        let only_says = std::mem::replace(&mut self.only_says, false);
        for name in names {
            if self.makefile.names(&name) {
                self.build(&name, 0);
                self.done.retain(|(done, _)| *done != name);
            }
        }
        self.only_says = only_says;
    }

    fn run_line(&mut self, line: &str) -> Exit {
        run_line(self.machine, self.makefile, line)
    }

    /// Makes a target; whether something was done for it, or `None` when it fails.
    fn build(&mut self, target: &str, depth: usize) -> Option<bool> {
        if let Some((_, changed)) = self.done.iter().find(|(name, _)| name == target) {
            return Some(*changed);
        }
        if self.done.len() >= TARGETS || depth > TARGETS {
            self.machine.unread("the makefile has too many targets");
            return Some(true);
        }
        self.done.push((target.to_owned(), true));
        let (rules, stem) = self.rules_for(target);
        let here = self.entry(target);
        if rules.is_empty() {
            let changed = false;
            self.finish(target, changed);
            return if here == Entry::Missing { None } else { Some(changed) };
        }
        let mut prerequisites: Vec<String> = Vec::new();
        for rule in &rules {
            prerequisites.extend(rule.prerequisites.iter().map(|name| name.replacen('%', &stem, 1)));
        }
        let phony = self.makefile.phony.iter().any(|name| name == target);
        let mut stale = phony || self.always || here == Entry::Missing;
        for name in &prerequisites {
            let words: Vec<String> = if name.contains(['*', '?']) { Vec::new() } else { vec![name.clone()] };
            for word in words {
                match self.build(&word, depth + 1) {
                    Some(changed) => stale |= changed || self.is_newer(&word, target),
                    None => return None,
                }
            }
        }
        let recipe: Vec<String> = rules
            .iter()
            .find(|rule| !rule.recipe.is_empty())
            .map(|rule| rule.recipe.clone())
            .unwrap_or_default();
        if stale && !recipe.is_empty() {
            let automatic = Automatic { target: target.to_owned(), prerequisites, stem };
            if !self.run_recipe(&recipe, &automatic) {
                return None;
            }
        }
        // What is not there and has no recipe counts as made (`FORCE:`).
        let changed = stale && (!recipe.is_empty() || phony || here == Entry::Missing);
        self.finish(target, changed);
        Some(changed)
    }

    fn finish(&mut self, target: &str, changed: bool) {
        if let Some(entry) = self.done.iter_mut().find(|(name, _)| name == target) {
            entry.1 = changed;
        }
    }

    /// The rules for a target: those that name it, else the first pattern that fits.
    fn rules_for(&self, target: &str) -> (Vec<Rule>, String) {
        let named: Vec<&Rule> = self
            .makefile
            .rules
            .iter()
            .filter(|rule| rule.targets.iter().any(|name| name == target))
            .collect();
        if named.iter().any(|rule| !rule.recipe.is_empty())
            || self.makefile.phony.iter().any(|name| name == target)
        {
            let stem = named
                .iter()
                .find_map(|rule| rule.pattern.as_deref().and_then(|pattern| matched(pattern, target)))
                .unwrap_or_default();
            return (named.into_iter().cloned().collect(), stem);
        }
        let by_pattern = self.makefile.rules.iter().find_map(|rule| {
            let stem = rule
                .targets
                .iter()
                .filter(|name| name.contains('%'))
                .find_map(|pattern| matched(pattern, target))?;
            Some((rule.clone(), stem))
        });
        let mut rules: Vec<Rule> = named.into_iter().cloned().collect();
        match by_pattern {
            Some((rule, stem)) => {
                rules.insert(0, rule);
                (rules, stem)
            }
            // `.DEFAULT` makes what nothing else makes.
            None if rules.iter().all(|rule| rule.recipe.is_empty())
                && self.entry(target) == Entry::Missing =>
            {
                let default = self.makefile.rules.iter().filter(|rule| {
                    rule.targets.iter().any(|name| name == ".DEFAULT") && !rule.recipe.is_empty()
                });
                rules.extend(default.cloned());
                (rules, String::new())
            }
            None => (rules, String::new()),
        }
    }

    /// Runs a line with the variables that the makefile exports.
    fn run_line_with_exports(&mut self, line: &str) -> Exit {
        let exported: Vec<(String, Value)> = (self.makefile.environment_of_recipes().into_iter())
            .map(|(name, text)| {
                let is_known = !text.contains("$(") && !text.contains("${");
                (name, if is_known { Value::Exact(text) } else { Value::Unknown })
            })
            .collect();
        self.run_functions("");
        if exported.is_empty() {
            return self.run_line(line);
        }
        let makefile = self.makefile;
        self.machine.with_variables(exported, |machine| run_line(machine, makefile, line))
    }

    /// Runs a recipe, each line in a shell of its own; whether it went through.
    fn run_recipe(&mut self, recipe: &[String], automatic: &Automatic) -> bool {
        let whole = [recipe.join("\n")];
        let recipe = if self.makefile.names(".ONESHELL") { whole.as_slice() } else { recipe };
        for line in recipe {
            let expanded = self.makefile.expand(line, Some(automatic), 0);
            self.run_functions(&expanded);
            let prefixes = expanded.len() - expanded.trim_start_matches(['@', '-', '+', ' ', '\t']).len();
            let ignores = expanded.get(..prefixes).is_some_and(|marks| marks.contains('-'));
            let command = expanded.get(prefixes..).unwrap_or_default();
            if command.trim().is_empty() {
                continue;
            }
            // These run even when recipes are only printed.
            let is_held_back = self.only_says
                && !expanded.get(..prefixes).is_some_and(|marks| marks.contains('+'))
                && !line.contains("$(MAKE)")
                && !line.contains("${MAKE}");
            if is_held_back {
                continue;
            }
            let exit = self.run_line_with_exports(command);
            if exit.status == Status::Failure && !ignores && !self.keeps_going {
                return false;
            }
        }
        true
    }

    fn entry(&self, name: &str) -> Entry {
        self.machine.entry(&self.cwd.join(name))
    }

    fn is_newer(&self, name: &str, target: &str) -> bool {
        let time = |name: &str| match self.entry(name) {
            Entry::File(facts) => Some(facts.modified),
            Entry::Missing | Entry::Directory | Entry::Symlink(_) | Entry::Special | Entry::Unknown => None,
        };
        match (time(name), time(target)) {
            (Some(source), Some(made)) => source > made || source == Timestamp(0) && made == Timestamp(0),
            _ => self.makefile.phony.iter().any(|phony| phony == name),
        }
    }
}

/// Runs a line with the shell that the makefile names.
fn run_line(machine: &mut Machine<'_>, makefile: &Makefile, line: &str) -> Exit {
    let text = Value::exact(line);
    let shell = makefile.held("SHELL").map(|value| makefile.expand(&value, None, 0));
    let flags = makefile.held(".SHELLFLAGS").map(|value| makefile.expand(&value, None, 0));
    let shell = quoted_words(shell.as_deref().unwrap_or("/bin/sh"));
    let flags = quoted_words(flags.as_deref().unwrap_or("-c"));
    let is_shell = shell
        .last()
        .map(|word| word.rsplit('/').next().unwrap_or(word).trim_end_matches(".exe"))
        .is_some_and(|name| matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash"));
    let is_plain = flags.iter().all(|flag| flag.starts_with('-') || flag == "pipefail");
    if is_shell && is_plain || shell.iter().any(|word| word.contains("$(") || word.contains("${")) {
        return machine.run_text(&text, Input::Inherited);
    }
    let mut words: Vec<Value> = shell.into_iter().chain(flags).map(Value::Exact).collect();
    words.push(text);
    machine.run_words(&words, Input::Inherited)
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
    let named = arguments.value(&["-f", "--justfile"]).cloned();
    let file = match &named {
        Some(file) => machine.one_path_through(file),
        None => ["justfile", "Justfile", ".justfile"]
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
    let text = with_imports(machine, &directory, &text, 0);
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
            machine.inside(&place, |machine| run_just(machine, &recipes, &variables, &name, &given, 0))
        }
        None => Exit::unknown(),
    }
}

/// The greatest depth of recipes before recipes, and of files that import others (ours).
const JUST_DEPTH: usize = 32;

/// A justfile with those that it imports in their places (just, "Imports").
fn with_imports(machine: &mut Machine<'_>, directory: &AbsolutePath, text: &str, depth: usize) -> String {
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
        if let Some(text) = instructions(machine, &path) {
            let below = path.parent().unwrap_or_else(AbsolutePath::root);
            whole.push_str(&with_imports(machine, &below, &text, depth + 1));
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
    name: &str,
    given: &[String],
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
        run_just(machine, recipes, variables, before, &[], depth + 1);
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
        let is_shell = ["sh", "bash", "zsh", "dash"]
            .iter()
            .any(|shell| interpreter.split([' ', '/']).any(|part| part == *shell));
        return if is_shell {
            machine.run_text(&Value::exact(lines.join("\n")), Input::Inherited)
        } else {
            spawned(machine, "just", "the recipe is written in another language")
        };
    }
    let mut exit = Exit::silent();
    for line in lines {
        exit = machine.run_text(&Value::exact(line.trim_start_matches(['@', '-'])), Input::Inherited);
    }
    exit
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
