//! Makefiles: rules, variables and functions, as far as needed to know what runs: while the file is read, and for a target.
//!
//! | module | holds |
//! |---|---|
//! | `functions` | the functions |
//! | `lines` | lines, brackets, arguments, patterns |

mod functions;
mod lines;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

pub(super) use lines::matched;
use lines::{compared, logical_lines, matching, outside_brackets, without_comment};

/// The greatest depth of variables in variables and of included files (ours).
const DEPTH: usize = 16;
/// The greatest length of an expanded text, in bytes (ours).
const LENGTH: usize = 32 * 1024;

/// What stands in for a function that is not understood: a substitution whose output nobody knows.
const UNKNOWN: &str = "$(make-function-that-is-not-known)";

/// What stands in for the loading of an object, whose code nobody can read.
pub(super) const LOADED: &str = "make-loads-an-object";

/// What stands in where a bound was reached.
pub(super) const BEYOND: &str = "make-too-much-to-follow";

/// A makefile.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    /// Variables, unexpanded.
    variables: BTreeMap<String, String>,
    /// Variables whose value was expanded when it was read, so that what is added to them is too.
    simple: BTreeSet<String>,
    /// Variables of the command line, which win.
    given: BTreeMap<String, String>,
    /// Variables of the environment in which make, or the shell of a recipe, finds something to expand.
    environment: BTreeMap<String, String>,
    /// Variables that recipes find in their environment.
    exported: BTreeSet<String>,
    /// Whether they find all of them there.
    exports_all: bool,
    /// Commands that functions ran, until they are taken.
    ran: RefCell<Vec<String>>,
    /// Texts that `$(eval ...)` gave, until they are read.
    evaluated: RefCell<Vec<String>>,
    /// The other makefiles that it names.
    pub(super) included: Vec<String>,
    /// Rules in order.
    pub(super) rules: Vec<Rule>,
    /// Targets that are not files.
    pub(super) phony: Vec<String>,
    /// The working directory, for functions that name paths.
    directory: String,
}

/// A rule.
#[derive(Debug, Clone, Default)]
pub(super) struct Rule {
    /// What it makes, expanded; may hold `%`.
    pub(super) targets: Vec<String>,
    /// From what, expanded; may hold `%`.
    pub(super) prerequisites: Vec<String>,
    /// Lines of shell text, unexpanded, with their prefixes.
    pub(super) recipe: Vec<String>,
    /// For a static pattern rule, the pattern of the targets.
    pub(super) pattern: Option<String>,
}

/// The values of the automatic variables of one recipe.
#[derive(Debug, Clone, Default)]
pub(super) struct Automatic {
    pub(super) target: String,
    pub(super) prerequisites: Vec<String>,
    pub(super) stem: String,
}

impl Makefile {
    /// A makefile in a directory, with nothing in it.
    pub(super) fn new(directory: &str) -> Self {
        Self { directory: directory.to_owned(), ..Self::default() }
    }

    /// Sets a variable on the command line, as it is written there: `NAME=value`, `NAME:=value`.
    pub(super) fn give(&mut self, name: &str, value: &str) {
        let plain = name.trim_end_matches([':', '?', '+', '!']);
        let value = match name.get(plain.len()..) {
            Some("!") => self.run(self.expand(value, None, 0)).replace('$', "$$"),
            Some(sign) if sign.starts_with(':') => self.expand(value, None, 0).replace('$', "$$"),
            Some(_) | None => value.to_owned(),
        };
        self.given.insert(plain.to_owned(), value);
    }

    /// Sets a variable of the environment.
    pub(super) fn inherit(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// The commands that functions ran since they were taken last, in order.
    pub(super) fn take_ran(&self) -> Vec<String> {
        self.ran.take()
    }

    /// The value of a variable as it was given, unexpanded.
    pub(super) fn held(&self, name: &str) -> Option<String> {
        self.given
            .get(name)
            .or_else(|| self.variables.get(name))
            .or_else(|| self.environment.get(name))
            .cloned()
    }

    /// Whether a rule names this target.
    pub(super) fn names(&self, target: &str) -> bool {
        self.rules.iter().any(|rule| rule.targets.iter().any(|name| name == target))
    }

    /// Reads the text of a makefile; `include` answers the text of another by its name, `environment` a variable.
    pub(super) fn read(&mut self, text: &str, include: &dyn Fn(&str) -> Option<String>, depth: usize) {
        let mut skipping: Vec<Branch> = Vec::new();
        let mut open: Option<Vec<usize>> = None;
        let mut lines = logical_lines(text).into_iter();
        while let Some(line) = lines.next() {
            if depth < DEPTH {
                for text in self.evaluated.take() {
                    self.read(&text, include, depth + 1);
                }
            }
            // Where no rule is open, a line that begins with a tab is one like others.
            if let (Some(recipe), Some(rules)) = (line.strip_prefix('\t'), &open) {
                if skipping.iter().all(|branch| branch.taken) {
                    for index in rules {
                        if let Some(rule) = self.rules.get_mut(*index) {
                            rule.recipe.push(recipe.to_owned());
                        }
                    }
                }
                continue;
            }
            let plain = without_comment(&line).trim().to_owned();
            if plain.is_empty()
                || self.condition(&plain, &mut skipping)
                || !skipping.iter().all(|branch| branch.taken)
            {
                continue;
            }
            let mut plain = plain.as_str();
            self.note_exported(plain);
            while let Some(rest) = without_modifier(plain) {
                plain = rest;
            }
            if let Some(definition) = plain.strip_prefix("define ") {
                let name = definition.trim_end_matches(['=', ':', '?', '+']).trim().to_owned();
                let mut body = Vec::new();
                for inner in lines.by_ref() {
                    if inner.trim() == "endef" {
                        break;
                    }
                    body.push(inner);
                }
                self.variables.insert(name, body.join("\n"));
                continue;
            }
            let first = plain.split_whitespace().next().unwrap_or_default();
            if matches!(first, "include" | "-include" | "sinclude") {
                if depth >= DEPTH {
                    self.run(BEYOND.to_owned());
                    continue;
                }
                let names = self.expand(plain.get(first.len()..).unwrap_or_default(), None, 0);
                for name in names.split_whitespace() {
                    self.included.push(name.to_owned());
                    if let Some(text) = include(name) {
                        self.read(&text, include, depth + 1);
                    }
                }
                continue;
            }
            if first == "load" || first == "-load" {
                self.run(LOADED.to_owned());
                continue;
            }
            if self.assign(plain) {
                open = None;
                continue;
            }
            open = self.rule(plain);
        }
        if depth < DEPTH {
            for text in self.evaluated.take() {
                self.read(&text, include, depth + 1);
            }
        } else if !self.evaluated.take().is_empty() {
            self.run(BEYOND.to_owned());
        }
    }

    /// Remembers which variables recipes find in their environment (GNU make, "Communicating Variables to a Sub-make").
    fn note_exported(&mut self, line: &str) {
        match line.strip_prefix("export") {
            Some("") => self.exports_all = true,
            Some(rest) if rest.starts_with([' ', '\t']) => {
                let rest = rest.trim();
                let names = rest
                    .split_once('=')
                    .map_or(rest, |(name, _)| name.trim_end_matches([':', '?', '+', '!']));
                let names = names.trim().strip_prefix("define ").unwrap_or(names);
                self.exported.extend(names.split_whitespace().map(str::to_owned));
            }
            Some(_) | None => {}
        }
    }

    /// The variables that recipes find in their environment, expanded.
    pub(super) fn environment_of_recipes(&self) -> Vec<(String, String)> {
        let all = self.exports_all || self.names(".EXPORT_ALL_VARIABLES");
        let is_given = |name: &String| all || self.exported.contains(name) || self.given.contains_key(name);
        self.variables
            .keys()
            .chain(self.given.keys())
            .filter(|name| {
                is_given(name) && !matches!(name.as_str(), "SHELL" | "MAKEFLAGS" | "PATH" | "HOME")
            })
            .filter_map(|name| Some((name.clone(), self.expand(&self.held(name)?, None, 0))))
            .collect()
    }

    /// The target that is made when none is named.
    pub(super) fn default_goal(&self) -> Option<String> {
        if let Some(goal) = self.variables.get(".DEFAULT_GOAL") {
            return Some(self.expand(goal, None, 0).trim().to_owned());
        }
        let named = self.rules.iter().flat_map(|rule| &rule.targets);
        named
            .into_iter()
            .find(|name| !name.contains('%') && (!name.starts_with('.') || name.contains('/')))
            .cloned()
    }

    /// Expands variables and functions; `automatic` are the values of `$@` and its like inside a recipe.
    pub(super) fn expand(&self, text: &str, automatic: Option<&Automatic>, depth: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(rest.get(..at).unwrap_or_default());
            rest = rest.get(at + 1..).unwrap_or_default();
            if out.len() > LENGTH || depth > DEPTH {
                self.run(BEYOND.to_owned());
                out.push_str(UNKNOWN);
                return out;
            }
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
                    out.push_str(&self.reference(inner, automatic, depth + 1));
                }
                letter => {
                    rest = rest.get(letter.len_utf8()..).unwrap_or_default();
                    out.push_str(&self.variable(&letter.to_string(), automatic, depth + 1));
                }
            }
        }
        out.push_str(rest);
        out
    }

    fn reference(&self, inner: &str, automatic: Option<&Automatic>, depth: usize) -> String {
        if let Some((name, rest)) = inner.split_once([' ', '\t']) {
            if let Some(text) = self.function(name, rest.trim_start(), automatic, depth) {
                return text;
            }
            return UNKNOWN.to_owned();
        }
        if let Some((name, (from, to))) =
            inner.split_once(':').and_then(|(name, change)| Some((name, change.split_once('=')?)))
        {
            let value = self.variable(name, automatic, depth);
            let change = |word: &str| {
                if from.contains('%') {
                    matched(from, word).map_or_else(|| word.to_owned(), |stem| to.replacen('%', &stem, 1))
                } else {
                    word.strip_suffix(from).map_or_else(|| word.to_owned(), |start| format!("{start}{to}"))
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
            let first = automatic.prerequisites.first().cloned().unwrap_or_default();
            match name {
                "@" => return automatic.target.clone(),
                "<" => return first,
                "^" | "+" | "?" => return automatic.prerequisites.join(" "),
                "*" => return automatic.stem.clone(),
                "@D" => return directory(&automatic.target),
                "@F" => return file(&automatic.target),
                "<D" => return directory(&first),
                "<F" => return file(&first),
                _ => {}
            }
        }
        if let Some(value) = self.held(name) {
            return self.expand(&value, automatic, depth);
        }
        match name {
            "MAKE" => "make".to_owned(),
            "RM" => "rm -f".to_owned(),
            "CC" => "cc".to_owned(),
            "CXX" => "c++".to_owned(),
            "AR" => "ar".to_owned(),
            "CURDIR" | "PWD" => self.directory.clone(),
            "MAKEFILE_LIST" => "Makefile".to_owned(),
            "SHELL" => "/bin/sh".to_owned(),
            // What make does not know comes from the environment, as the shell would see it too.
            _ if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                format!("${{{name}-}}")
            }
            _ => String::new(),
        }
    }

    /// Reads a conditional directive. Answers whether the line was one.
    fn condition(&self, line: &str, branches: &mut Vec<Branch>) -> bool {
        let (word, rest) = line.split_once([' ', '(']).unwrap_or((line, ""));
        let holds = match word {
            "ifdef" | "ifndef" => {
                // Only asked for: nothing of it runs.
                let ran = self.ran.borrow().len();
                let value = self.variable(rest.trim(), None, 0);
                self.ran.borrow_mut().truncate(ran);
                (!value.starts_with("${") && !value.is_empty()) == (word == "ifdef")
            }
            "ifeq" | "ifneq" => {
                let (left, right) = compared(line.get(word.len()..).unwrap_or_default().trim());
                (self.expand(&left, None, 0).trim() == self.expand(&right, None, 0).trim())
                    == (word == "ifeq")
            }
            "else" => {
                if let Some(branch) = branches.pop() {
                    let rest = rest.trim();
                    let mut next = Branch { taken: !branch.done, done: true };
                    if !rest.is_empty() && !branch.done {
                        let mut inner = Vec::new();
                        self.condition(rest, &mut inner);
                        next = inner.pop().unwrap_or(next);
                    }
                    branches.push(next);
                }
                return true;
            }
            "endif" => {
                branches.pop();
                return true;
            }
            _ => return false,
        };
        branches.push(Branch { taken: holds, done: holds });
        true
    }

    /// Reads a variable. Answers whether the line was one.
    fn assign(&mut self, line: &str) -> bool {
        let Some(at) = line.find('=') else { return false };
        let left = line.get(..at).unwrap_or_default();
        let value = line.get(at + 1..).unwrap_or_default().trim().to_owned();
        let name = left.trim_end_matches([':', '?', '+', '!']).trim();
        let sign = left.get(left.trim_end_matches([':', '?', '+', '!']).len()..).unwrap_or_default();
        // A colon in the name means a rule with a value in it, or a variable for one target.
        if name.is_empty() || name.contains([':', ' ', '\t', '$', '(']) {
            return false;
        }
        let value = match sign {
            ":" | "::" | ":::" => {
                self.simple.insert(name.to_owned());
                self.expand(&value, None, 0).replace('$', "$$")
            }
            "!" => self.run(self.expand(&value, None, 0)).replace('$', "$$"),
            "?" if self.variables.contains_key(name) => return true,
            "+" if self.simple.contains(name) => {
                let more = self.expand(&value, None, 0).replace('$', "$$");
                format!("{} {more}", self.variables.get(name).map_or("", String::as_str))
            }
            "+" => match self.variables.get(name) {
                Some(before) => format!("{before} {value}"),
                None => value,
            },
            _ => value,
        };
        self.variables.insert(name.to_owned(), value);
        true
    }

    /// Reads the head of a rule; the indices of the rules to which the recipe below belongs.
    fn rule(&mut self, line: &str) -> Option<Vec<usize>> {
        let parts = outside_brackets(line, ';').map(|at| line.split_at(at));
        let (head, inline) = match parts {
            Some((head, inline)) if head.contains(':') => {
                (head, Some(inline.trim_start_matches(';').trim().to_owned()))
            }
            Some(_) | None => (line, None),
        };
        let expanded = self.expand(head, None, 0);
        let (targets, rest) = expanded.split_once(':')?;
        let rest = rest.trim_start_matches(':');
        if rest.contains('=') {
            // A variable for one target holds for all here: the recipe reads the same.
            let mut plain = rest.trim();
            self.note_exported(plain);
            while let Some(rest) = without_modifier(plain) {
                plain = rest;
            }
            self.assign(plain);
            return None;
        }
        let (pattern, prerequisites) = match rest.split_once(':') {
            Some((pattern, prerequisites)) => (Some(pattern.trim().to_owned()), prerequisites),
            None => (None, rest),
        };
        let names = |text: &str| {
            text.split_whitespace().filter(|word| *word != "|").map(str::to_owned).collect::<Vec<_>>()
        };
        let targets = names(targets);
        if targets.iter().any(|target| target == ".PHONY") {
            self.phony.extend(names(prerequisites));
            return None;
        }
        // An old form of pattern: `.c.o:` makes `%.o` of `%.c`, and `.c:` makes `%` of it.
        let old = match targets.as_slice() {
            [only] if prerequisites.trim().is_empty() => suffixes(only),
            _ => None,
        };
        if let Some((from, to)) = old {
            self.rules.push(Rule {
                targets: vec![format!("%{to}")],
                prerequisites: vec![format!("%{from}")],
                recipe: inline.iter().cloned().collect(),
                pattern: None,
            });
            self.rules.push(Rule { targets, recipe: inline.into_iter().collect(), ..Rule::default() });
            return Some(vec![self.rules.len() - 2, self.rules.len() - 1]);
        }
        self.rules.push(Rule {
            targets,
            prerequisites: names(prerequisites),
            recipe: inline.into_iter().collect(),
            pattern,
        });
        Some(vec![self.rules.len() - 1])
    }
}

/// The suffixes of a rule in the old form: of what, and what is made.
fn suffixes(target: &str) -> Option<(&str, &str)> {
    let inner = target.strip_prefix('.').filter(|inner| !inner.contains('/') && !inner.is_empty())?;
    if inner.chars().any(|letter| letter.is_ascii_uppercase()) && inner.len() > 2 {
        return None; // `.PHONY`, `.DEFAULT` and their like.
    }
    match inner.find('.') {
        Some(at) => Some((target.get(..=at)?, target.get(at + 1..)?)),
        None => Some((target, "")),
    }
}

#[derive(Debug, Clone, Copy)]
struct Branch {
    taken: bool,
    done: bool,
}

/// A line of a variable without the first word that only says how it is kept; `None` where there is none.
fn without_modifier(line: &str) -> Option<&str> {
    ["export ", "override ", "private "].iter().find_map(|word| line.strip_prefix(word)).map(str::trim_start)
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
            stem: String::new(),
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
        assert_eq!(made.expand("$(DESTDIR)/x", None, 0), "${DESTDIR-}/x");
        assert_eq!(matched("%.o", "a.o").as_deref(), Some("a"));
    }
}
