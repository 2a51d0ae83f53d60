//! What each line of a makefile says.

use super::lines::{compared, logical_lines, names_in, outside_brackets, without_comment};
use super::variables::{Definition, Flavor, Modifiers, Origin, Sign, Specific, Variable, parse_definition};
use super::{BEYOND, DEPTH, LOADED, Makefile, Rule};

#[derive(Debug, Clone, Copy)]
struct Branch {
    taken: bool,
    done: bool,
}

/// Whether a text holds something that only the shell can tell.
pub(in crate::programs::packages) fn is_unknown(text: &str) -> bool {
    text.contains("$(") || text.contains("${")
}

impl Makefile {
    /// Reads the text of a makefile; `include` answers the text of another by its name.
    pub(in crate::programs::packages) fn read(
        &mut self,
        text: &str,
        include: &dyn Fn(&str) -> Option<String>,
        depth: usize,
    ) {
        let mut branches: Vec<Branch> = Vec::new();
        let mut open: Option<Vec<usize>> = None;
        let mut lines = logical_lines(text, self.prefix_in(text)).into_iter();
        while let Some(line) = lines.next() {
            self.read_evaluated(include, depth);
            let prefix = self.recipe_prefix();
            let is_read = branches.iter().all(|branch| branch.taken);
            // Where no rule is open, a line that begins with a tab is one like others.
            if let (Some(recipe), Some(rules)) = (line.strip_prefix(prefix), &open) {
                if is_read {
                    for index in rules {
                        if let Some(rule) = self.rules.get_mut(*index) {
                            rule.recipe.push(recipe.to_owned());
                        }
                    }
                }
                continue;
            }
            let plain = without_comment(&line).trim().to_owned();
            let (modifiers, rest) = Modifiers::of(&plain);
            if modifiers.defines {
                let body = body_of_define(&mut lines);
                if is_read {
                    self.read_define(modifiers, rest, &body);
                    open = None;
                }
                continue;
            }
            let definition = parse_definition(rest);
            if plain.is_empty() || definition.is_none() && self.condition(&plain, &mut branches) || !is_read {
                continue;
            }
            if let Some(definition) = definition {
                let name = self.expand(&definition.name, None, 0).trim().to_owned();
                self.note_exported(modifiers, &name);
                self.define(&Definition { name, ..definition }, modifiers.origin());
                open = None;
                continue;
            }
            if modifiers.undefines {
                let name = self.expand(rest, None, 0);
                self.undefine(name.trim(), modifiers.origin());
                continue;
            }
            if let Some(exports) = modifiers.exports {
                let names = self.expand(rest, None, 0);
                if rest.is_empty() {
                    self.exports_all = exports;
                }
                for name in names.split_whitespace() {
                    self.exported.insert(name.to_owned(), exports);
                    // A name that is only exported is a variable from then on, and an empty one.
                    if !self.variables.contains_key(name) && !self.has_unknown_environment {
                        let empty =
                            Definition { name: name.to_owned(), sign: Sign::Later, value: String::new() };
                        self.define(&empty, Origin::File);
                    }
                }
                continue;
            }
            let first = plain.split_whitespace().next().unwrap_or_default();
            match first {
                "include" | "-include" | "sinclude" => {
                    self.read_included(plain.get(first.len()..).unwrap_or_default(), include, depth);
                }
                "load" | "-load" => {
                    self.run(LOADED.to_owned());
                }
                "vpath" => {}
                _ => open = self.rule(&plain),
            }
        }
        self.read_evaluated(include, depth);
    }

    /// Reads what `$(eval ...)` gave; whether it gave anything.
    pub(in crate::programs::packages) fn read_evaluated(
        &mut self,
        include: &dyn Fn(&str) -> Option<String>,
        depth: usize,
    ) -> bool {
        let texts = self.evaluated.take();
        let gave = !texts.is_empty();
        for text in texts {
            if depth < DEPTH {
                self.read(&text, include, depth + 1);
            } else {
                self.run(BEYOND.to_owned());
            }
        }
        gave
    }

    fn read_included(&mut self, names: &str, include: &dyn Fn(&str) -> Option<String>, depth: usize) {
        if depth >= DEPTH {
            self.run(BEYOND.to_owned());
            return;
        }
        let names = self.expand(names, None, 0);
        for name in names.split_whitespace() {
            let found = if name.contains(['*', '?', '[']) { self.names_of(name) } else { name.to_owned() };
            for name in found.split_whitespace() {
                self.included.push(name.to_owned());
                if let Some(text) = include(name) {
                    self.read(&text, include, depth + 1);
                }
            }
        }
    }

    fn read_define(&mut self, modifiers: Modifiers, head: &str, body: &[String]) {
        let (name, sign) = match head.rfind(['=']) {
            Some(_) => match parse_definition(head) {
                Some(definition) => (definition.name, definition.sign),
                None => return,
            },
            None => (head.to_owned(), Sign::Later),
        };
        let name = self.expand(&name, None, 0).trim().to_owned();
        self.note_exported(modifiers, &name);
        let value = body.join("\n");
        self.define(&Definition { name, sign, value }, modifiers.origin());
    }

    /// The letter with which lines of recipes begin.
    fn recipe_prefix(&self) -> char {
        self.held(".RECIPEPREFIX").and_then(|text| text.chars().next()).unwrap_or('\t')
    }

    /// The letter with which lines of recipes begin in a text that may say so itself.
    fn prefix_in(&self, text: &str) -> char {
        let said = text.lines().filter(|line| line.starts_with(".RECIPEPREFIX")).find_map(parse_definition);
        said.and_then(|definition| definition.value.chars().next()).unwrap_or_else(|| self.recipe_prefix())
    }

    fn note_exported(&mut self, modifiers: Modifiers, name: &str) {
        if let Some(exports) = modifiers.exports {
            self.exported.insert(name.to_owned(), exports);
        }
    }

    /// Reads a conditional directive. Answers whether the line was one.
    fn condition(&self, line: &str, branches: &mut Vec<Branch>) -> bool {
        let end = line.find([' ', '\t', '(', '"', '\'']).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let is_read = branches.iter().all(|branch| branch.taken);
        match word {
            "ifdef" | "ifndef" | "ifeq" | "ifneq" => {
                // What stands in a branch that is not taken is not looked at.
                let holds = is_read && self.holds(word, rest.trim());
                branches.push(Branch { taken: holds, done: holds || !is_read });
            }
            "else" => {
                let Some(branch) = branches.pop() else { return true };
                let is_read = branches.iter().all(|branch| branch.taken);
                let rest = rest.trim();
                let end = rest.find([' ', '\t', '(', '"', '\'']).unwrap_or(rest.len());
                let (word, rest) = rest.split_at(end);
                let taken = !branch.done && is_read && (word.is_empty() || self.holds(word, rest.trim()));
                branches.push(Branch { taken, done: branch.done || taken });
            }
            "endif" => {
                branches.pop();
            }
            _ => return false,
        }
        true
    }

    /// Whether a condition holds; where that is not known, as it is decided.
    fn holds(&self, word: &str, rest: &str) -> bool {
        match word {
            "ifdef" | "ifndef" => {
                let name = self.expand(rest, None, 0);
                let name = name.trim();
                let is_set = match self.variables.get(name) {
                    Some(variable) if variable.is_doubtful => self.decide(format!("set {name}"), true),
                    Some(variable) => !variable.text.is_empty(),
                    None if is_unknown(name) || self.has_unknown_environment => {
                        self.decide(format!("set {name}"), false)
                    }
                    None => false,
                };
                is_set == (word == "ifdef")
            }
            "ifeq" | "ifneq" => {
                let (left, right) = compared(rest);
                let (left, right) = (self.expand(&left, None, 0), self.expand(&right, None, 0));
                self.are_equal(left.trim(), right.trim()) == (word == "ifeq")
            }
            _ => false,
        }
    }

    /// Whether two texts are the same; what only the shell can tell is decided.
    fn are_equal(&self, left: &str, right: &str) -> bool {
        if left == right {
            return true;
        }
        let start = |text: &str| {
            let end = [text.find("$("), text.find("${")].into_iter().flatten().min();
            text.get(..end.unwrap_or(text.len())).unwrap_or_default().to_owned()
        };
        let (one, other) = (start(left), start(right));
        match (is_unknown(left), is_unknown(right)) {
            (false, false) => false,
            (true, false) if !right.starts_with(&one) => false,
            (false, true) if !left.starts_with(&other) => false,
            _ => self.decide(format!("{left} = {right}"), false),
        }
    }

    /// Whether a text is not empty, for functions that ask so.
    pub(super) fn says_something(&self, text: &str) -> bool {
        let text = text.trim();
        let is_only_unknown = is_unknown(text) && text.starts_with('$') && text.ends_with([')', '}']);
        if is_only_unknown { self.decide(format!("some {text}"), true) } else { !text.is_empty() }
    }

    /// Reads the head of a rule; the indices of the rules to which the recipe below belongs.
    fn rule(&mut self, line: &str) -> Option<Vec<usize>> {
        if let Some(colon) = outside_brackets(line, ':') {
            return self.rule_at(line, colon);
        }
        // The whole head may stand in a variable. What is left of it after that is not expanded again.
        let expanded = self.expand(line, None, 0);
        let colon = outside_brackets(&expanded, ':')?;
        let before = expanded.get(..colon)?.matches('$').count();
        self.rule_at(&expanded.replace('$', "$$"), colon + before)
    }

    /// The same, with the place of its colon.
    fn rule_at(&mut self, line: &str, colon: usize) -> Option<Vec<usize>> {
        let (targets, rest) = line.split_at_checked(colon)?;
        let is_grouped = targets.ends_with('&');
        let targets = self.expand(targets.trim_end_matches('&'), None, 0);
        let stands_alone = rest.starts_with("::");
        let rest = rest.trim_start_matches(':').trim_start();
        let names = names_in;
        let targets = names(&targets);
        let (modifiers, definition) = Modifiers::of(rest);
        if let Some(definition) = parse_definition(definition) {
            self.read_specific(targets, modifiers, definition);
            return None;
        }
        let (head, inline) = match outside_brackets(rest, ';') {
            Some(at) => (rest.get(..at)?, Some(rest.get(at + 1..)?.trim().to_owned())),
            None => (rest, None),
        };
        let head = self.expand(head, None, 0);
        let cut = |text: &str, sign: char| {
            let (left, right) = text.split_at(outside_brackets(text, sign)?);
            Some((left.to_owned(), right.get(1..)?.to_owned()))
        };
        let (pattern, prerequisites) = match cut(&head, ':') {
            Some((pattern, prerequisites)) => (Some(pattern.trim().to_owned()), prerequisites),
            None => (None, head),
        };
        let (prerequisites, before) =
            cut(&prerequisites, '|').unwrap_or_else(|| (prerequisites.clone(), String::new()));
        let (prerequisites, before) = (prerequisites.as_str(), before.as_str());
        if targets.iter().any(|target| target == ".PHONY") {
            self.phony.extend(names(prerequisites));
            return None;
        }
        let rule = Rule {
            targets,
            prerequisites: names(prerequisites),
            before: names(before),
            recipe: inline.into_iter().collect(),
            pattern,
            stands_alone,
        };
        if rule.targets.iter().any(|target| target == ".SUFFIXES") {
            self.suffixes.extend(rule.prerequisites.iter().cloned());
        }
        // An old form of pattern: `.c.o:` makes `%.o` of `%.c`, and `.c:` makes `%` of it.
        let old = match rule.targets.as_slice() {
            [only] if rule.prerequisites.is_empty() && !is_grouped => suffixes(only)
                .filter(|(from, to)| self.is_suffix(from) && (to.is_empty() || self.is_suffix(to))),
            _ => None,
        };
        if let Some((from, to)) = old {
            let (targets, prerequisites) = (vec![format!("%{to}")], vec![format!("%{from}")]);
            self.rules.push(Rule { targets, prerequisites, ..rule.clone() });
            self.rules.push(rule);
            return Some(vec![self.rules.len() - 2, self.rules.len() - 1]);
        }
        self.rules.push(rule);
        Some(vec![self.rules.len() - 1])
    }

    /// Whether make takes this for the ending of a name: by itself, or because the makefile says so (`.SUFFIXES:`).
    fn is_suffix(&self, ending: &str) -> bool {
        const ENDINGS: &str = ".out .a .ln .o .c .cc .C .cpp .p .f .F .m .r .y .l .ym .yl .s .S .mod .sym .def .h .info .dvi .tex \
            .texinfo .texi .txinfo .w .ch .web .sh .elc .el";
        ENDINGS.split_whitespace().any(|known| known == ending) || self.suffixes.contains(ending)
    }

    /// Keeps a definition that holds for some targets.
    fn read_specific(&mut self, targets: Vec<String>, modifiers: Modifiers, definition: Definition) {
        let name = self.expand(&definition.name, None, 0).trim().to_owned();
        // Make takes the variable that is there for that of the target, and forgets that it came from outside.
        if definition.sign == Sign::Unless && self.variables.contains_key(&name) {
            self.exported.insert(name, modifiers.exports.unwrap_or(false));
            return;
        }
        let (sign, value) = match definition.sign {
            // What is expanded at once is expanded where it is read.
            Sign::Now => (Sign::Now, self.expand(&definition.value, None, 0).replace('$', "$$")),
            Sign::Output => (Sign::Now, self.run(self.expand(&definition.value, None, 0)).replace('$', "$$")),
            Sign::Unless => (Sign::Later, definition.value),
            sign @ (Sign::Later | Sign::Append) => (sign, definition.value),
        };
        let is_stronger = |here: &&Variable| {
            matches!(here.origin, Origin::CommandLine | Origin::EnvironmentOverride) && !modifiers.overrides
        };
        // What is stronger stands in the place of the value for the target.
        let stronger = self.variables.get(&name).filter(is_stronger);
        let origin = stronger.map_or(modifiers.origin(), |here| here.origin);
        let definition = match stronger {
            Some(here) if here.flavor == Flavor::Recursive => {
                Definition { name, sign: Sign::Later, value: here.text.clone() }
            }
            Some(here) => Definition { name, sign: Sign::Now, value: here.text.replace('$', "$$") },
            None => Definition { name, sign, value },
        };
        let Modifiers { exports, is_private, .. } = modifiers;
        self.specific.push(Specific { targets, definition, origin, is_private, exports });
    }
}

/// The lines up to the `endef` that ends a definition, with those of definitions in it.
fn body_of_define(lines: &mut impl Iterator<Item = String>) -> Vec<String> {
    let (mut body, mut depth) = (Vec::new(), 1_usize);
    for line in lines {
        match line.split_whitespace().next() {
            Some("define") => depth += 1,
            Some("endef") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        body.push(line);
    }
    body
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
