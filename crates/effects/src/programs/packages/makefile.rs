//! Makefiles: rules, variables and functions, as far as needed to know what runs: while the file is read, and for a target.
//!
//! | module | holds |
//! |---|---|
//! | `functions` | the functions |
//! | `lines` | lines, brackets, arguments, patterns |
//! | `reading` | what each line of the text says |
//! | `variables` | which definition of a variable holds |

mod functions;
mod lines;
mod reading;
mod variables;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

pub(super) use lines::{commands_of, matched, names_in};
pub(super) use reading::is_unknown;
pub(super) use variables::RULES;

use lines::matching;
use variables::{DEFAULTS, Flavor, Origin, Specific, Variable};

/// The greatest depth of variables in variables and of included files (ours).
const DEPTH: usize = 16;
/// The greatest length of an expanded text, in bytes (ours).
const LENGTH: usize = 32 * 1024;
/// The greatest number of expansions of one makefile (ours): most of them may be empty, so that no text grows.
const STEPS: usize = 256 * 1024;
/// How many bytes of an expanded text count as one more expansion (ours).
const BYTES: usize = 256;

/// What stands in for a function that is not understood: a substitution whose output nobody knows.
const UNKNOWN: &str = "$(make-function-that-is-not-known)";

/// What stands in for the loading of an object, whose code nobody can read.
pub(super) const LOADED: &str = "make-loads-an-object";

/// What stands in where a bound was reached.
pub(super) const BEYOND: &str = "make-too-much-to-follow";

/// A makefile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Makefile {
    variables: BTreeMap<String, Variable>,
    /// Variables of the command line, as it set them.
    given: BTreeMap<String, Variable>,
    /// The expansions so far.
    steps: Cell<usize>,
    /// The endings that `.SUFFIXES` names.
    suffixes: BTreeSet<String>,
    /// Variables that make found in its environment.
    came: BTreeSet<String>,
    /// Those of them that it still marks so.
    inherited: BTreeSet<String>,
    /// Whether these are stronger than what the makefile says.
    environment_wins: bool,
    /// Whether what the environment holds beside them is not known.
    has_unknown_environment: bool,
    /// Variables of which it is said whether recipes find them in their environment.
    exported: BTreeMap<String, bool>,
    /// Whether they find all of them there.
    exports_all: bool,
    /// Definitions that hold for some targets.
    specific: Vec<Specific>,
    /// The variables as they are for all targets, while those of one hold.
    global: Option<BTreeMap<String, Variable>>,
    /// What functions put in, the innermost last.
    bound: RefCell<Vec<(String, String)>>,
    /// Commands that functions ran, until they are taken.
    ran: RefCell<Vec<String>>,
    /// Texts that `$(eval ...)` gave, until they are read.
    evaluated: RefCell<Vec<String>>,
    /// How the questions came out whose answer is not known, in the order in which they were met.
    decisions: RefCell<Vec<(String, bool)>>,
    /// How those are to come out that are met first.
    forced: Vec<bool>,
    /// The names that patterns stand for, as far as somebody looked.
    found: BTreeMap<String, String>,
    /// Patterns that were asked about, and nobody had looked.
    asked: RefCell<BTreeSet<String>>,
    /// The other makefiles that it names.
    pub(super) included: Vec<String>,
    /// Rules in order.
    pub(super) rules: Vec<Rule>,
    /// How many of them stand in the makefile, in front of those that make has by itself.
    pub(super) own_rules: usize,
    /// Targets that are not files.
    pub(super) phony: Vec<String>,
    /// The working directory, for functions that name paths.
    directory: String,
}

/// A rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rule {
    /// What it makes, expanded; may hold `%`.
    pub(super) targets: Vec<String>,
    /// From what, expanded; may hold `%`.
    pub(super) prerequisites: Vec<String>,
    /// What has to be there before, whatever its age.
    pub(super) before: Vec<String>,
    /// Lines of shell text, unexpanded, with their prefixes.
    pub(super) recipe: Vec<String>,
    /// For a static pattern rule, the pattern of the targets.
    pub(super) pattern: Option<String>,
    /// Whether the rule stands for itself beside others for the same target (`::`).
    pub(super) stands_alone: bool,
}

/// The values of the automatic variables of one recipe.
#[derive(Debug, Clone, Default)]
pub(super) struct Automatic {
    pub(super) target: String,
    pub(super) prerequisites: Vec<String>,
    pub(super) before: Vec<String>,
    pub(super) stem: String,
}

impl Makefile {
    /// A makefile in a directory, with nothing in it but what make has by itself.
    pub(super) fn new(directory: &str) -> Self {
        let own = |(name, text): &(&str, &str)| {
            let variable = Variable {
                text: (*text).to_owned(),
                flavor: Flavor::Recursive,
                origin: Origin::Default,
                is_doubtful: false,
                exports: None,
            };
            ((*name).to_owned(), variable)
        };
        let mut variables: BTreeMap<String, Variable> = DEFAULTS.iter().map(own).collect();
        for (name, text) in
            [("CURDIR", directory), ("MAKEFILE_LIST", "Makefile"), ("SHELL", "/bin/sh"), ("MAKEFLAGS", "")]
        {
            let variable = Variable {
                text: text.replace('$', "$$"),
                flavor: Flavor::Recursive,
                origin: Origin::File,
                is_doubtful: false,
                exports: None,
            };
            variables.insert(name.to_owned(), variable);
        }
        Self { directory: directory.to_owned(), variables, ..Self::default() }
    }

    /// Says what is to be made.
    pub(super) fn give_goals(&mut self, goals: &[String]) {
        let variable = Variable {
            text: goals.join(" "),
            flavor: Flavor::Simple,
            origin: Origin::File,
            is_doubtful: false,
            exports: None,
        };
        self.variables.insert("MAKECMDGOALS".to_owned(), variable);
    }

    /// Says that the environment may hold any other variable.
    pub(super) fn inherit_unknown(&mut self) {
        self.has_unknown_environment = true;
    }

    /// The commands that functions ran since they were taken last, in order.
    pub(super) fn take_ran(&self) -> Vec<String> {
        self.ran.take()
    }

    /// The value of a variable as it was given, unexpanded.
    pub(super) fn held(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|variable| variable.text.clone())
    }

    /// Whether a rule names this target.
    pub(super) fn names(&self, target: &str) -> bool {
        self.rules.iter().any(|rule| rule.targets.iter().any(|name| name == target))
    }

    /// Whether a name stands in the makefile, so that it ought to exist or to be made.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.names(name)
            || self.rules.iter().any(|rule| {
                !rule.targets.iter().any(|target| target.contains('%'))
                    && rule.prerequisites.iter().chain(&rule.before).any(|one| one == name)
            })
    }

    /// The target that is made when none is named.
    pub(super) fn default_goal(&self) -> Option<String> {
        if self.variables.contains_key(".DEFAULT_GOAL") {
            let goal = self.expand("$(.DEFAULT_GOAL)", None, 0).trim().to_owned();
            if !goal.is_empty() {
                return Some(goal);
            }
        }
        let named = self.rules.iter().flat_map(|rule| &rule.targets);
        named
            .into_iter()
            .find(|name| !name.contains('%') && (!name.starts_with('.') || name.contains('/')))
            .cloned()
    }

    /// Says the answer to a question that is not known: as it was given before, as it is forced, or the usual one.
    fn decide(&self, question: String, usual: bool) -> bool {
        let mut decisions = self.decisions.borrow_mut();
        if let Some((_, answer)) = decisions.iter().find(|(known, _)| *known == question) {
            return *answer;
        }
        let answer = self.forced.get(decisions.len()).copied().unwrap_or(usual);
        decisions.push((question, answer));
        answer
    }

    /// How the questions came out so far.
    pub(super) fn decided(&self) -> Vec<bool> {
        self.decisions.borrow().iter().map(|(_, answer)| *answer).collect()
    }

    /// The same makefile, in which the questions that are met come out in this way, the first ones first.
    pub(super) fn deciding(&self, forced: Vec<bool>) -> Self {
        Self { forced, ..self.clone() }
    }

    /// How the questions were forced to come out that were met first.
    pub(super) fn forced_before(&self) -> Vec<bool> {
        self.forced.clone()
    }

    /// The same makefile, in which what was asked since so many questions comes out otherwise; `None` where nothing was asked.
    pub(super) fn otherwise(&self, known: usize) -> Option<Self> {
        let decided = self.decided();
        if decided.len() <= known {
            return None;
        }
        let forced = decided.iter().enumerate().map(|(place, answer)| (place < known) == *answer).collect();
        let other = Self { forced, ..self.clone() };
        other.decisions.borrow_mut().truncate(known);
        Some(other)
    }

    /// Forgets which names patterns stand for: a recipe may make others.
    pub(super) fn forget_names(&mut self) {
        self.found.clear();
        self.asked.take();
    }

    /// Forgets what `$(eval ...)` gave and nobody has read.
    pub(super) fn forget_evaluated(&mut self) {
        self.evaluated.take();
    }

    /// Forgets how its questions came out, so that two readings can be compared.
    pub(super) fn forget_decisions(&mut self) {
        self.decisions.take();
        self.forced.clear();
        self.steps.take();
    }

    /// The patterns that were asked about and that nobody has looked at.
    pub(super) fn patterns_to_look_at(&self) -> BTreeSet<String> {
        self.asked.take()
    }

    /// Says which names a pattern stands for.
    pub(super) fn find(&mut self, pattern: String, names: String) {
        self.found.insert(pattern, names);
    }

    /// Expands variables and functions; `automatic` are the values of `$@` and its like inside a recipe.
    pub(super) fn expand(&self, text: &str, automatic: Option<&Automatic>, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        self.step(text.len());
        while let Some(at) = rest.find('$') {
            out.push_str(rest.get(..at).unwrap_or_default());
            rest = rest.get(at + 1..).unwrap_or_default();
            let is_beyond = out.len() > LENGTH || depth > DEPTH || self.step(0) > STEPS;
            let Some(next) = rest.chars().next() else { break };
            match next {
                '$' => {
                    out.push('$');
                    rest = rest.get(1..).unwrap_or_default();
                }
                '(' | '{' => {
                    let Some(end) = matching(rest) else {
                        out.push('$');
                        continue;
                    };
                    let inner = rest.get(1..end).unwrap_or_default();
                    rest = rest.get(end + 1..).unwrap_or_default();
                    if is_beyond {
                        out.push_str(&self.beyond());
                    } else {
                        out.push_str(&self.reference(inner, automatic, depth + 1));
                    }
                }
                letter => {
                    rest = rest.get(letter.len_utf8()..).unwrap_or_default();
                    if is_beyond {
                        out.push_str(&self.beyond());
                    } else {
                        out.push_str(&self.variable(&letter.to_string(), automatic, depth + 1));
                    }
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// Counts an expansion of a text of this length; how many there were.
    fn step(&self, length: usize) -> usize {
        let steps = self.steps.get().saturating_add(1 + length / BYTES);
        self.steps.set(steps);
        steps
    }

    /// What a reference stands for that is beyond a bound, which is said.
    fn beyond(&self) -> String {
        self.run(BEYOND.to_owned());
        UNKNOWN.to_owned()
    }

    fn reference(&self, inner: &str, automatic: Option<&Automatic>, depth: usize) -> String {
        if let Some((name, rest)) = inner.split_once([' ', '\t']) {
            if let Some(text) = self.function(name, rest.trim_start(), automatic, depth) {
                return text;
            }
            return UNKNOWN.to_owned();
        }
        let change = lines::outside_brackets(inner, ':')
            .map(|at| inner.split_at(at))
            .and_then(|(name, change)| Some((name, change.get(1..)?.split_once('=')?)));
        if let Some((name, (from, to))) = change {
            let value = self.variable(&self.expand(name, automatic, depth), automatic, depth);
            let (from, to) = (self.expand(from, automatic, depth), self.expand(to, automatic, depth));
            let change = |word: &str| {
                if from.contains('%') {
                    matched(&from, word).map_or_else(|| word.to_owned(), |stem| to.replacen('%', &stem, 1))
                } else {
                    word.strip_suffix(from.as_str())
                        .map_or_else(|| word.to_owned(), |start| format!("{start}{to}"))
                }
            };
            return value.split_whitespace().map(change).collect::<Vec<_>>().join(" ");
        }
        let name = self.expand(inner, automatic, depth);
        self.variable(&name, automatic, depth)
    }

    fn variable(&self, name: &str, automatic: Option<&Automatic>, depth: usize) -> String {
        if let Some(automatic) = automatic {
            let directory =
                |path: &str| path.rsplit_once('/').map_or(".", |(directory, _)| directory).to_owned();
            let file = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
            let each = |part: &dyn Fn(&str) -> String| {
                automatic.prerequisites.iter().map(|path| part(path)).collect::<Vec<_>>().join(" ")
            };
            let first = automatic.prerequisites.first().cloned().unwrap_or_default();
            match name {
                "@" => return automatic.target.clone(),
                "<" => return first,
                "^" | "?" => {
                    let mut once: Vec<&str> = Vec::new();
                    for name in &automatic.prerequisites {
                        if !once.contains(&name.as_str()) {
                            once.push(name);
                        }
                    }
                    return once.join(" ");
                }
                "+" => return automatic.prerequisites.join(" "),
                "|" => return automatic.before.join(" "),
                "*" => return automatic.stem.clone(),
                "@D" => return directory(&automatic.target),
                "@F" => return file(&automatic.target),
                "<D" => return directory(&first),
                "<F" => return file(&first),
                "*D" => return directory(&automatic.stem),
                "*F" => return file(&automatic.stem),
                "^D" | "+D" | "?D" => return each(&directory),
                "^F" | "+F" | "?F" => return each(&file),
                _ => {}
            }
        }
        if let Some((_, value)) = self.bound.borrow().iter().rev().find(|(bound, _)| bound == name) {
            self.step(value.len());
            return value.clone();
        }
        match self.variables.get(name) {
            Some(Variable { text, flavor: Flavor::Simple, .. }) => {
                self.step(text.len());
                text.clone()
            }
            Some(Variable { text, flavor: Flavor::Recursive, .. }) => self.expand(text, automatic, depth),
            // What make does not know comes from the environment, as the shell would see it too.
            None if self.has_unknown_environment
                && !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') =>
            {
                format!("${{{name}-}}")
            }
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn makefile(text: &str) -> Makefile {
        let mut makefile = Makefile::new("/p");
        makefile.read(text, &|_| None, 0);
        makefile
    }

    #[test]
    fn rules_and_variables_are_read() {
        let text = "OUT ?= build\nSRC := a.c b.c\nOBJ = $(SRC:.c=.o)\n.PHONY: all clean\nall: $(OUT)/app # comment\n$(OUT)/app: $(OBJ)\n\t@mkdir -p $(@D)\n\tcc -o $@ $^\nclean:\n\trm -rf $(OUT) \\\n\t  dist\n";
        let made = makefile(text);
        assert_eq!(made.default_goal().as_deref(), Some("all"));
        assert_eq!(made.phony, ["all", "clean"]);
        let app = &made.rules[1];
        assert_eq!(app.prerequisites, ["a.o", "b.o"]);
        let automatic = Automatic {
            target: "build/app".to_owned(),
            prerequisites: app.prerequisites.clone(),
            ..Automatic::default()
        };
        assert_eq!(made.expand(&app.recipe[0], Some(&automatic), 0), "@mkdir -p build");
        assert_eq!(made.expand(&app.recipe[1], Some(&automatic), 0), "cc -o build/app a.o b.o");
        assert_eq!(made.expand(&made.rules[2].recipe[0], None, 0), "rm -rf build \\\n  dist");
    }

    #[test]
    fn conditions_and_functions() {
        let made = makefile(
            "ifeq ($(MODE),release)\nFLAGS = -O2\nelse\nFLAGS = -g\nendif\nFILES = $(patsubst %.c,%.o,$(wildcard *.c))\n",
        );
        assert_eq!(made.expand("$(FLAGS)", None, 0), "-g");
        assert_eq!(made.expand("$(FILES)", None, 0), "*.o");
        assert_eq!(made.expand("$(shell git rev-parse HEAD) $$HOME", None, 0), "$(git rev-parse HEAD) $HOME");
        assert_eq!(made.expand("$(DESTDIR)/x", None, 0), "/x");
        assert_eq!(matched("%.o", "a.o").as_deref(), Some("a"));
    }

    #[test]
    fn what_grows_without_becoming_longer_ends() {
        let doubled: Vec<String> = (0..10)
            .map(|number| format!("V{number} = {}\n", format!("$(V{})", number + 1).repeat(20)))
            .collect();
        let words = (0..1000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
        let nested = format!("W = {words}\nL = $(foreach a,$(W),$(foreach b,$(W),$(foreach c,$(W),)))\n");
        for (text, expanded) in [(doubled.concat(), "$(V0); rm -rf dist"), (nested, "$(L); rm -rf dist")] {
            let made = makefile(&text);
            assert!(made.expand(expanded, None, 0).ends_with("; rm -rf dist"));
            assert!(made.take_ran().contains(&BEYOND.to_owned()));
        }
    }

    #[test]
    fn many_commands_are_said_to_be_too_many() {
        let made = makefile("");
        for number in 0..1000 {
            made.expand(&format!("$(shell echo {number})"), None, 0);
        }
        assert!(made.take_ran().contains(&BEYOND.to_owned()));
    }

    #[test]
    fn many_definitions_and_rules_of_one_kind_are_read() {
        let own: Vec<String> = (0..20_000).map(|number| format!("all: V{number} = x\n")).collect();
        let mut made = makefile(&own.concat());
        assert!(made.enter("all", false).is_some());
        let old: Vec<String> = (0..20_000).map(|number| format!(".zz.y{number}:\n")).collect();
        assert_eq!(makefile(&old.concat()).rules.len(), 20_000);
        assert_eq!(makefile(".SUFFIXES: .zz .yy\n.zz.yy:\n\tx\n").rules[1].targets, ["%.yy"]);
    }
}
