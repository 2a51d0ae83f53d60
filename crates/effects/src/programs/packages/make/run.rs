//! Which recipes of a makefile run, and in which order.

use crate::interpreter::strings::quoted_words;
use crate::interpreter::{Exit, Input, Machine, Output, Status, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, Timestamp};

use super::super::makefile::{
    Automatic, BEYOND, LOADED, Makefile, Rule, commands_of, is_unknown, matched, names_in,
};

/// The greatest number of targets that one call makes (ours).
const TARGETS: usize = 256;
/// The greatest number of implicit rules of which one is the prerequisite of the next (ours).
const CHAIN: usize = 4;

/// What stands for the name of a file that only the shell knows.
const UNNAMED: &str = "file-of-make";

/// How make was called, as far as it decides what runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    /// Everything counts as out of date.
    pub(super) always: bool,
    pub(super) keeps_going: bool,
    pub(super) ignores_errors: bool,
    /// Recipes are printed, not run, but for those that run all the same.
    pub(super) only_says: bool,
    pub(super) environment_wins: bool,
}

impl Manner {
    /// The letters by which another make that a recipe starts learns of it.
    fn letters(self) -> String {
        let letters = [
            (self.always, 'B'),
            (self.keeps_going, 'k'),
            (self.ignores_errors, 'i'),
            (self.only_says, 'n'),
            (self.environment_wins, 'e'),
        ];
        letters.into_iter().filter_map(|(is_set, letter)| is_set.then_some(letter)).collect()
    }
}

/// One run of make.
pub(super) struct MakeRun<'m, 'w> {
    pub(super) machine: &'m mut Machine<'w>,
    pub(super) makefile: Makefile,
    pub(super) cwd: AbsolutePath,
    pub(super) manner: Manner,
    done: Vec<(String, bool)>,
}

/// The rules by which a target is made: each group has one recipe, and the stem of its pattern.
type Groups = Vec<(Vec<Rule>, String)>;

impl<'m, 'w> MakeRun<'m, 'w> {
    pub(super) fn new(
        machine: &'m mut Machine<'w>,
        makefile: Makefile,
        cwd: AbsolutePath,
        manner: Manner,
    ) -> Self {
        Self { machine, makefile, cwd, manner, done: Vec::new() }
    }

    /// Makes the goals.
    pub(super) fn run(&mut self, goals: &[String]) -> Exit {
        for goal in goals {
            if self.build(goal, 0).is_none() && !self.manner.keeps_going {
                return Exit::failure();
            }
        }
        Exit::unknown()
    }

    /// Runs what functions have run since it was asked last, but for what stands as a substitution in this text of the shell.
    fn run_functions(&mut self, shown: &str) {
        for command in self.makefile.take_ran() {
            if command == LOADED {
                self.machine.unread("the makefile loads an object, whose code runs");
            } else if command == BEYOND {
                self.machine.unread("the makefile is too much to follow");
            } else if !shown.contains(&format!("$({command})")) {
                run_line(self.machine, &self.makefile, &command);
            }
        }
    }

    /// Makes the makefiles themselves again where a rule says how, which happens before all else, also when recipes are only printed.
    /// Whether one was made: then all of them are read again.
    pub(super) fn remake(&mut self, read: &[String]) -> bool {
        self.run_functions("");
        let mut was_made = false;
        let names: Vec<String> = read.iter().cloned().chain(self.makefile.included.iter().cloned()).collect();
        let only_says = std::mem::replace(&mut self.manner.only_says, false);
        for name in names {
            let is_made = self.makefile.names(&name) || self.implicit(&name, 0).is_some();
            // What hangs on nothing and stands alone is not made for this.
            let stands_alone = |rule: &Rule| {
                rule.stands_alone && rule.prerequisites.is_empty() && rule.targets.contains(&name)
            };
            let stands_alone = self.makefile.rules.iter().any(stands_alone);
            if is_made && !stands_alone {
                was_made |= self.build(&name, 0) == Some(true);
                self.done.retain(|(done, _)| *done != name);
            }
        }
        self.manner.only_says = only_says;
        was_made
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
        if is_unknown(target) && !self.makefile.names(target) {
            self.build_any(target, depth);
            return Some(true);
        }
        let groups = self.rules_for(target);
        if groups.is_empty() {
            let changed = false;
            self.finish(target, changed);
            return if self.entry(target) == Entry::Missing { None } else { Some(changed) };
        }
        let before = self.makefile.enter(target, false);
        let mut answer = Some(false);
        for (rules, stem) in groups {
            let changed = self.build_by(target, &rules, &stem, depth);
            answer = changed.and_then(|changed| answer.map(|others| others || changed));
            if answer.is_none() {
                break;
            }
        }
        self.makefile.leave(before);
        self.finish(target, answer.unwrap_or(true));
        answer
    }

    /// Makes what only the shell can name: the names that it is seen to print, and whatever the makefile says how to make that may be
    /// called so.
    fn build_any(&mut self, name: &str, depth: usize) {
        let start = name.split(['$']).next().unwrap_or_default().to_owned();
        let end = name.rsplit([')', '}']).next().unwrap_or_default().to_owned();
        let command = name.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
        let output = command.map_or(Output::Unknown, |command| {
            let Self { machine, makefile, .. } = self;
            machine.output_of(|machine| run_line(machine, makefile, command))
        });
        if let Output::Text(Value::Exact(text)) = &output {
            for name in text.split_whitespace() {
                self.build_perhaps(name, depth);
            }
        }
        let is_known = output != Output::Unknown;
        let own = self.makefile.rules.iter().take(self.makefile.own_rules);
        let fits = |target: &String| {
            // What a function makes of names of files are names of files.
            target.contains('%')
                || is_unknown(target)
                || target.starts_with(&start)
                    && target.ends_with(&end)
                    && !target.starts_with('.')
                    && !self.makefile.phony.contains(target)
                    && (!is_known || target.contains(['.', '/']))
        };
        let rules: Vec<Rule> =
            own.filter(|rule| !rule.recipe.is_empty() && rule.targets.iter().all(&fits)).cloned().collect();
        for rule in rules {
            let Some(target) = rule.targets.first().cloned() else { continue };
            if target.contains('%') || is_unknown(&target) {
                self.run_for_unnamed(&rule, &target);
            } else {
                self.build_perhaps(&target, depth);
            }
        }
    }

    /// Makes a target that may not be asked for.
    fn build_perhaps(&mut self, target: &str, depth: usize) {
        let Self { machine, makefile, cwd, manner, done } = self;
        machine.possibly(|machine| {
            let mut run = MakeRun::new(machine, makefile.clone(), cwd.clone(), *manner);
            run.done.clone_from(done);
            run.build(target, depth + 1)
        });
    }

    /// Runs the recipe of a pattern for a file whose name is not known.
    fn run_for_unnamed(&mut self, rule: &Rule, target: &str) {
        let Self { machine, makefile, cwd, manner, .. } = self;
        machine.possibly(|machine| {
            let mut run = MakeRun::new(machine, makefile.clone(), cwd.clone(), *manner);
            let name = |name: &str| if is_unknown(name) { UNNAMED.to_owned() } else { put_in(name, UNNAMED) };
            let automatic = Automatic {
                target: name(target),
                prerequisites: rule.prerequisites.iter().map(|one| name(one)).collect(),
                before: Vec::new(),
                stem: UNNAMED.to_owned(),
            };
            run.run_recipe(&rule.recipe, &automatic)
        });
    }

    /// Makes a target by the rules of one group.
    fn build_by(&mut self, target: &str, rules: &[Rule], stem: &str, depth: usize) -> Option<bool> {
        let here = self.entry(target);
        let mut automatic =
            Automatic { target: target.to_owned(), stem: stem.to_owned(), ..Automatic::default() };
        for rule in rules {
            let names = |names: &[String]| names.iter().map(|name| put_in(name, stem)).collect::<Vec<_>>();
            let (prerequisites, before) = (names(&rule.prerequisites), names(&rule.before));
            let prerequisites = self.expanded_again(prerequisites, &automatic);
            automatic.prerequisites.extend(prerequisites);
            let before = self.expanded_again(before, &automatic);
            automatic.before.extend(before);
        }
        let phony = self.makefile.phony.iter().any(|name| name == target);
        let mut stale = phony || self.manner.always || here == Entry::Missing;
        // What stands alone and hangs on nothing is made each time.
        stale |= rules.iter().any(|rule| rule.stands_alone) && automatic.prerequisites.is_empty();
        for name in
            automatic.prerequisites.iter().filter(|name| is_unknown(name) || !name.contains(['*', '?']))
        {
            let changed = self.build(name, depth + 1)?;
            stale |= changed || self.is_newer(name, target);
        }
        for name in &automatic.before {
            self.build(name, depth + 1)?;
        }
        // The last recipe for a target is the one that counts.
        let recipe = rules.iter().rev().find(|rule| !rule.recipe.is_empty()).map(|rule| rule.recipe.clone());
        let recipe = recipe.unwrap_or_default();
        if stale && !recipe.is_empty() {
            let before = self.makefile.enter(target, true);
            let went_through = self.run_recipe(&recipe, &automatic);
            self.makefile.leave(before);
            if !went_through {
                return None;
            }
        }
        // What is not there and has no recipe counts as made (`FORCE:`).
        Some(stale && (!recipe.is_empty() || phony || here == Entry::Missing))
    }

    /// The names of prerequisites, expanded a second time where the makefile says so.
    fn expanded_again(&mut self, names: Vec<String>, automatic: &Automatic) -> Vec<String> {
        let text = names.join(" ");
        if !text.contains('$') || !self.makefile.names(".SECONDEXPANSION") {
            return names;
        }
        let text = self.makefile.expand(&text, Some(automatic), 0);
        self.run_functions("");
        names_in(&text)
    }

    fn finish(&mut self, target: &str, changed: bool) {
        if let Some(entry) = self.done.iter_mut().find(|(name, _)| name == target) {
            entry.1 = changed;
        }
    }

    /// The rules for a target: those that name it, and the pattern that fits where these have no recipe.
    fn rules_for(&self, target: &str) -> Groups {
        let named: Vec<Rule> = (self.makefile.rules.iter())
            .filter(|rule| rule.targets.iter().any(|name| name == target))
            .cloned()
            .collect();
        let stem = |rule: &Rule| rule.pattern.as_deref().and_then(|pattern| matched(pattern, target));
        let alone: Groups = (named.iter().filter(|rule| rule.stands_alone))
            .map(|rule| (vec![rule.clone()], stem(rule).unwrap_or_default()))
            .collect();
        if !alone.is_empty() {
            return alone;
        }
        let with_recipe = named.iter().rposition(|rule| !rule.recipe.is_empty());
        if let Some(place) = with_recipe {
            // What the rule with the recipe hangs on comes first.
            let mut rules = named;
            let first = rules.remove(place);
            let stem = stem(&first).unwrap_or_default();
            let others = rules.into_iter().map(|rule| Rule { recipe: Vec::new(), ..rule });
            return vec![(std::iter::once(first).chain(others).collect(), stem)];
        }
        if self.makefile.phony.iter().any(|name| name == target) {
            return vec![(named, String::new())];
        }
        if let Some((rule, stem)) = self.implicit(target, 0) {
            return vec![(std::iter::once(rule).chain(named).collect(), stem)];
        }
        let default = self
            .makefile
            .rules
            .iter()
            .rev()
            .find(|rule| rule.targets.iter().any(|name| name == ".DEFAULT") && !rule.recipe.is_empty());
        let unnamed =
            self.makefile.rules.iter().filter(|rule| rule.targets.iter().any(|name| is_unknown(name)));
        let unnamed: Groups = unnamed.map(|rule| (vec![rule.clone()], String::new())).collect();
        if named.is_empty() && !unnamed.is_empty() && self.entry(target) == Entry::Missing {
            return unnamed;
        }
        match default.filter(|_| named.is_empty() && self.entry(target) == Entry::Missing) {
            // `.DEFAULT` makes what nothing else makes.
            Some(rule) => vec![(vec![Rule { prerequisites: Vec::new(), ..rule.clone() }], String::new())],
            None if named.is_empty() => Vec::new(),
            None => vec![(named, String::new())],
        }
    }

    /// The pattern rule by which a target is made: of those whose prerequisites exist, the one with the shortest stem; else one whose
    /// prerequisites can be made the same way (GNU make, "Implicit Rule Search Algorithm").
    fn implicit(&self, target: &str, chain: usize) -> Option<(Rule, String)> {
        let directory = target.rfind('/').and_then(|at| target.get(..=at)).unwrap_or_default();
        let mut fitting: Vec<(Rule, String)> = Vec::new();
        let is_pattern = |rule: &&Rule| rule.pattern.is_none() && !rule.recipe.is_empty();
        for rule in self.makefile.rules.iter().filter(is_pattern) {
            for pattern in rule.targets.iter().filter(|name| name.contains('%')) {
                let name = target.get(directory.len()..).unwrap_or_default();
                if let Some(stem) = matched(pattern, target) {
                    fitting.push((rule.clone(), stem));
                } else if let (Some(stem), false) = (matched(pattern, name), pattern.contains('/')) {
                    let moved = |name: &String| {
                        let directory = if name.contains('%') { directory } else { "" };
                        format!("{directory}{}", put_in(name, &stem))
                    };
                    let prerequisites = rule.prerequisites.iter().map(moved).collect();
                    fitting.push((Rule { prerequisites, ..rule.clone() }, format!("{directory}{stem}")));
                }
            }
        }
        fitting.sort_by_key(|(_, stem)| stem.len());
        // What only the shell can name, or is expanded again, is not known yet.
        let exists = |name: &str| {
            name.contains('$') || self.entry(name) != Entry::Missing || self.makefile.mentions(name)
        };
        let needs = |(rule, stem): &(Rule, String)| {
            rule.prerequisites.iter().chain(&rule.before).map(|name| put_in(name, stem)).collect::<Vec<_>>()
        };
        let direct = fitting.iter().find(|one| needs(one).iter().all(|name| exists(name)));
        let chained = || {
            let can_be_made =
                |name: &String| exists(name) || chain < CHAIN && self.implicit(name, chain + 1).is_some();
            // A rule for everything is no step on the way.
            let is_step = |(rule, _): &&(Rule, String)| rule.targets.iter().all(|name| name != "%");
            fitting.iter().filter(is_step).find(|one| needs(one).iter().all(can_be_made))
        };
        direct.or_else(chained).cloned()
    }

    /// Runs a recipe, each line in a shell of its own; whether it went through.
    fn run_recipe(&mut self, recipe: &[String], automatic: &Automatic) -> bool {
        let whole = [recipe.join("\n")];
        let is_one_shell = self.makefile.names(".ONESHELL");
        let recipe = if is_one_shell { whole.as_slice() } else { recipe };
        for line in recipe {
            let known = self.makefile.decided().len();
            let text = self.expanded(line, automatic);
            // Where a function asked what is not known, the line may read otherwise.
            let other = self.makefile.otherwise(known);
            let other = other.map(|other| other.expand(line, Some(automatic), 0));
            let other = other.or_else(|| self.expanded_after(line, automatic)).filter(|other| *other != text);
            let went_through = match other {
                None => self.run_expanded(line, &text, automatic, is_one_shell),
                Some(other) => {
                    for text in [text, other] {
                        self.run_doubtful(line, &text, automatic, is_one_shell);
                    }
                    true
                }
            };
            if !went_through {
                return false;
            }
        }
        true
    }

    fn run_doubtful(&mut self, line: &str, text: &str, automatic: &Automatic, is_one_shell: bool) {
        let Self { machine, makefile, cwd, manner, .. } = self;
        machine.possibly(|machine| {
            let mut run = MakeRun::new(machine, makefile.clone(), cwd.clone(), *manner);
            run.run_expanded(line, text, automatic, is_one_shell)
        });
    }

    /// A line of a recipe, expanded, with the patterns in functions looked up.
    fn expanded(&mut self, line: &str, automatic: &Automatic) -> String {
        self.run_functions("");
        let text = self.makefile.expand(line, Some(automatic), 0);
        let patterns = self.makefile.patterns_to_look_at();
        let text = if patterns.is_empty() {
            text
        } else {
            self.makefile.take_ran();
            for pattern in patterns {
                if let Some(names) = names_of(self.machine, &self.cwd, &pattern) {
                    self.makefile.find(pattern, names);
                }
            }
            let text = self.makefile.expand(line, Some(automatic), 0);
            self.makefile.forget_names();
            text
        };
        self.run_functions(&text);
        text
    }

    /// The line as it expands after what it evaluates itself is read; `None` where it evaluates nothing.
    fn expanded_after(&mut self, line: &str, automatic: &Automatic) -> Option<String> {
        if !self.makefile.read_evaluated(&|_| None, 0) {
            return None;
        }
        let text = self.makefile.expand(line, Some(automatic), 0);
        self.makefile.forget_evaluated();
        Some(text)
    }

    /// Runs an expanded line of a recipe; whether it went through.
    fn run_expanded(&mut self, line: &str, text: &str, automatic: &Automatic, is_one_shell: bool) -> bool {
        const SIGNS: &[char] = &['@', '-', '+', ' ', '\t'];
        let marks =
            |text: &str| text.get(..text.len() - text.trim_start_matches(SIGNS).len()).map(str::to_owned);
        let of_line = marks(line).unwrap_or_default();
        let commands = if is_one_shell {
            let plain: Vec<&str> = text.split('\n').map(|line| line.trim_start_matches(SIGNS)).collect();
            vec![plain.join("\n")]
        } else {
            commands_of(text)
        };
        let of_text = marks(text).filter(|_| is_one_shell).unwrap_or_default();
        for command in commands {
            let signs = format!("{of_line}{of_text}{}", marks(&command).unwrap_or_default());
            let command = command.trim_start_matches(SIGNS);
            // These run even when recipes are only printed.
            let is_held_back = self.manner.only_says
                && !signs.contains('+')
                && !line.contains("$(MAKE)")
                && !line.contains("${MAKE}");
            if command.trim().is_empty() || is_held_back {
                continue;
            }
            let exit = self.run_with_exports(command, automatic);
            let ignores = signs.contains('-') || self.manner.ignores_errors || self.makefile.names(".IGNORE");
            if exit.status == Status::Failure && !ignores && !self.manner.keeps_going {
                return false;
            }
        }
        true
    }

    /// Runs a command with the variables that the makefile exports.
    fn run_with_exports(&mut self, command: &str, automatic: &Automatic) -> Exit {
        let value = |text: String| {
            let is_known = !text.contains("$(") && !text.contains("${");
            if is_known { Value::Exact(text) } else { Value::Unknown }
        };
        let environment = self.makefile.environment_of_recipes(automatic).into_iter();
        let mut environment: Vec<(String, Option<Value>)> =
            environment.map(|(name, text)| (name, text.map(value))).collect();
        self.run_functions("");
        // Where the environment wins, variables go by it alone.
        let given = if self.manner.environment_wins { String::new() } else { self.makefile.given_in_flags() };
        let flags = format!("{}{given}", self.manner.letters());
        let flags = Some(flags).filter(|flags| !flags.is_empty());
        environment.push(("MAKEFLAGS".to_owned(), flags.map(Value::Exact)));
        let makefile = &self.makefile;
        self.machine.in_environment(environment, |machine| run_line(machine, makefile, command))
    }

    fn entry(&self, name: &str) -> Entry {
        self.machine.entry(&self.cwd.join(name))
    }

    fn is_newer(&self, name: &str, target: &str) -> bool {
        // What this action has changed is newer than what it has not.
        let is_changed = |name: &str| self.machine.has_changed_within(&self.cwd.join(name));
        if is_changed(name) && self.entry(name) != Entry::Directory && !is_changed(target) {
            return true;
        }
        // Which time a program gave it is not known: `touch -d`, `cp -p` and archives set one of the past.
        if is_changed(target) && !is_changed(name) {
            return true;
        }
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

/// The name of a prerequisite, with the stem in the place of its sign.
fn put_in(name: &str, stem: &str) -> String {
    name.replacen('%', stem, 1)
}

/// The names in a directory that a pattern stands for, as `$(wildcard ...)` answers them; `None` where that is not known.
pub(super) fn names_of(machine: &Machine<'_>, cwd: &AbsolutePath, pattern: &str) -> Option<String> {
    if pattern.contains("$(") || pattern.contains("${") {
        return None;
    }
    if !pattern.contains(['*', '?', '[']) {
        return match machine.entry(&cwd.join(pattern)) {
            Entry::Unknown => None,
            Entry::Missing => Some(String::new()),
            Entry::File(_) | Entry::Directory | Entry::Symlink(_) | Entry::Special => {
                Some(pattern.to_owned())
            }
        };
    }
    machine.paths_of(pattern).map(|paths| paths.join(" "))
}

/// Runs a line with the shell that the makefile names.
fn run_line(machine: &mut Machine<'_>, makefile: &Makefile, line: &str) -> Exit {
    let text = Value::exact(line);
    let shell = makefile.expand("$(SHELL)", None, 0);
    let flags = makefile.expand("$(.SHELLFLAGS)", None, 0);
    let (shell, flags) = (quoted_words(&shell), quoted_words(&flags));
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
