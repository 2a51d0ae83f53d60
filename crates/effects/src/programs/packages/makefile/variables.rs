//! The variables of makefiles: from where each comes, which of two definitions holds, what recipes find in their environment.

use std::collections::BTreeMap;

use super::lines::matched;
use super::{Automatic, Makefile};

/// From where the value of a variable comes, the weakest first (GNU make, "The `origin` Function"; `enum variable_origin`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::programs::packages) enum Origin {
    Default,
    Environment,
    File,
    EnvironmentOverride,
    CommandLine,
    Override,
}

impl Origin {
    /// The word that `$(origin ...)` has for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Environment => "environment",
            Self::File => "file",
            Self::EnvironmentOverride => "environment override",
            Self::CommandLine => "command line",
            Self::Override => "override",
        }
    }
}

/// When the text of a variable is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::programs::packages) enum Flavor {
    /// When the variable is used.
    Recursive,
    /// It was, when the variable was defined.
    Simple,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::programs::packages) struct Variable {
    pub(super) text: String,
    pub(super) flavor: Flavor,
    pub(super) origin: Origin,
    /// Whether it is only known that it may be set.
    pub(super) is_doubtful: bool,
    /// Whether it is said of this one, as that of a target, that recipes find it in their environment.
    pub(super) exports: Option<bool>,
}

/// The sign of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=`
    Later,
    /// `:=`, `::=`, `:::=`
    Now,
    /// `+=`
    Append,
    /// `?=`
    Unless,
    /// `!=`
    Output,
}

/// A definition as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) sign: Sign,
    pub(super) value: String,
}

/// A definition that holds for some targets and what is made for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Specific {
    pub(super) targets: Vec<String>,
    pub(super) definition: Definition,
    pub(super) origin: Origin,
    pub(super) is_private: bool,
    pub(super) exports: Option<bool>,
}

/// What stands before a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Modifiers {
    pub(super) exports: Option<bool>,
    pub(super) overrides: bool,
    pub(super) is_private: bool,
    pub(super) defines: bool,
    pub(super) undefines: bool,
}

impl Modifiers {
    /// The modifiers at the start of a line, and what follows them.
    pub(super) fn of(line: &str) -> (Self, &str) {
        let (mut modifiers, mut rest) = (Self::default(), line.trim_start());
        loop {
            // A variable may have the name of a modifier.
            if parse_definition(rest).is_some_and(|definition| !definition.name.contains([' ', '\t'])) {
                return (modifiers, rest);
            }
            let (word, behind) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
            match word {
                "export" => modifiers.exports = Some(true),
                "unexport" => modifiers.exports = Some(false),
                "override" => modifiers.overrides = true,
                "private" => modifiers.is_private = true,
                "define" => modifiers.defines = true,
                "undefine" => modifiers.undefines = true,
                _ => return (modifiers, rest),
            }
            rest = behind.trim_start();
            if modifiers.defines || modifiers.undefines {
                return (modifiers, rest);
            }
        }
    }

    pub(super) fn origin(self) -> Origin {
        if self.overrides { Origin::Override } else { Origin::File }
    }
}

/// The definition that a line is, where it is one (GNU make: `parse_variable_definition`).
pub(super) fn parse_definition(line: &str) -> Option<Definition> {
    let line = line.trim_start();
    let mut at = 0;
    let mut name_end = None;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        let letter = rest.chars().next()?;
        let sign = [
            (":::=", Sign::Now),
            ("::=", Sign::Now),
            (":=", Sign::Now),
            ("+=", Sign::Append),
            ("?=", Sign::Unless),
            ("!=", Sign::Output),
            ("=", Sign::Later),
        ]
        .into_iter()
        .find(|(sign, _)| rest.starts_with(sign));
        if let Some((written, sign)) = sign {
            let name = line.get(..name_end.unwrap_or(at))?.trim_end();
            let value = rest.get(written.len()..)?.trim_start().to_owned();
            return (!name.is_empty()).then(|| Definition { name: name.to_owned(), sign, value });
        }
        match letter {
            ':' | '#' => return None,
            ' ' | '\t' => {
                name_end.get_or_insert(at);
                at += 1;
            }
            _ if name_end.is_some() => return None,
            '$' if rest.get(1..).is_some_and(|next| next.starts_with(['(', '{'])) => {
                at += 2 + super::lines::matching(rest.get(1..)?)?;
            }
            _ => at += letter.len_utf8(),
        }
    }
    None
}

impl Makefile {
    /// Sets a variable on the command line, as it is written there: `NAME=value`, `NAME:=value`.
    pub(in crate::programs::packages) fn give(&mut self, word: &str) {
        if let Some(definition) = parse_definition(word) {
            let name = self.expand(&definition.name, None, 0);
            self.define(&Definition { name: name.clone(), ..definition }, Origin::CommandLine);
            // What is handed on is the value of now, whatever the makefile makes of it.
            if let Some(variable) = self.variables.get(&name) {
                self.given.insert(name, variable.clone());
            }
        }
    }

    /// Sets a variable of the environment; `None` stands for a value that only the shell of a recipe can tell.
    pub(in crate::programs::packages) fn inherit(&mut self, name: &str, value: Option<&str>) {
        let text = value.map_or_else(|| format!("$${{{name}-}}"), str::to_owned);
        let is_doubtful = value.is_none();
        self.inherited.insert(name.to_owned());
        self.came.insert(name.to_owned());
        // The shell of recipes is none that the environment names.
        if !matches!(name, "SHELL" | "MAKEFLAGS" | "MAKELEVEL" | "CURDIR" | "MAKEFILE_LIST") {
            let origin = Origin::Environment;
            let variable = Variable { text, flavor: Flavor::Recursive, origin, is_doubtful, exports: None };
            self.variables.insert(name.to_owned(), variable);
        }
    }

    /// Says that what the environment holds is stronger than what the makefile says (`-e`).
    pub(in crate::programs::packages) fn let_environment_win(&mut self) {
        self.environment_wins = true;
    }

    /// Carries out a definition, unless one that is stronger holds.
    pub(super) fn define(&mut self, definition: &Definition, origin: Origin) {
        if definition.sign != Sign::Unless {
            self.strengthen(&definition.name);
        }
        let before = self.variables.get(&definition.name);
        if before.is_some_and(|before| before.origin > origin) {
            // What it runs, runs all the same.
            self.defined(definition, before);
            return;
        }
        if let Some((text, flavor, is_doubtful)) = self.defined(definition, before) {
            let variable = Variable { text, flavor, origin, is_doubtful, exports: None };
            self.variables.insert(definition.name.clone(), variable);
        }
    }

    /// Where the environment wins, that shows only once the file says something of a variable (GNU make: `define_variable_in_set`).
    fn strengthen(&mut self, name: &str) {
        if let Some(variable) = self.variables.get_mut(name)
            && variable.origin == Origin::Environment
            && self.environment_wins
        {
            variable.origin = Origin::EnvironmentOverride;
        }
    }

    /// The text that a definition gives a variable; `None` where it leaves it as it is.
    fn defined(&self, definition: &Definition, before: Option<&Variable>) -> Option<(String, Flavor, bool)> {
        let Definition { name, sign, value } = definition;
        Some(match (sign, before) {
            (Sign::Later, _) | (Sign::Append | Sign::Unless, None) => {
                (value.clone(), Flavor::Recursive, false)
            }
            (Sign::Now, _) => (self.expand(value, None, 0), Flavor::Simple, false),
            (Sign::Output, _) => (self.run(self.expand(value, None, 0)), Flavor::Simple, false),
            (Sign::Unless, Some(before)) if before.is_doubtful => {
                (format!("$${{{name}-{value}}}"), Flavor::Recursive, false)
            }
            (Sign::Unless, Some(_)) => return None,
            (Sign::Append, Some(before)) => {
                let more = match before.flavor {
                    Flavor::Simple => self.expand(value, None, 0),
                    Flavor::Recursive => value.clone(),
                };
                let parts = [before.text.as_str(), more.as_str()];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                (parts.join(" "), before.flavor, before.is_doubtful)
            }
        })
    }

    /// Takes a variable away, unless it comes from where the file cannot reach.
    pub(super) fn undefine(&mut self, name: &str, origin: Origin) {
        self.strengthen(name);
        if self.variables.get(name).is_some_and(|variable| variable.origin <= origin) {
            self.variables.remove(name);
            self.inherited.remove(name);
        }
    }

    /// Puts the definitions into force that hold for a target; the variables as they were before, where any changed.
    pub(in crate::programs::packages) fn enter(
        &mut self,
        target: &str,
        is_private: bool,
    ) -> Option<BTreeMap<String, Variable>> {
        let of_pattern = |one: &&Specific| {
            one.targets.iter().any(|name| name.contains('%') && matched(name, target).is_some())
        };
        let of_target = |one: &&Specific| one.targets.iter().any(|name| name == target);
        let mut changed: BTreeMap<String, Variable> = self.variables.clone();
        let mut is_changed = false;
        for holding in [
            self.specific.iter().filter(of_pattern).collect::<Vec<_>>(),
            self.specific.iter().filter(of_target).collect(),
        ] {
            let mut origins: BTreeMap<&str, Origin> = BTreeMap::new();
            // The last definition says who sees the variable.
            let last: BTreeMap<&str, bool> =
                holding.iter().map(|one| (one.definition.name.as_str(), one.is_private)).collect();
            for one in &holding {
                let name = one.definition.name.as_str();
                let is_weaker = origins.get(name).is_some_and(|origin| *origin > one.origin);
                if is_weaker || last.get(name).is_some_and(|last| *last != is_private) {
                    continue;
                }
                origins.insert(name, one.origin);
                if let Some((text, flavor, is_doubtful)) = self.defined(&one.definition, changed.get(name)) {
                    let variable =
                        Variable { text, flavor, origin: one.origin, is_doubtful, exports: one.exports };
                    changed.insert(name.to_owned(), variable);
                    is_changed = true;
                }
            }
        }
        if !is_changed {
            return None;
        }
        let before = std::mem::replace(&mut self.variables, changed);
        if self.global.is_none() {
            self.global = Some(before.clone());
        }
        Some(before)
    }

    /// Puts the variables back as they were before a target was entered.
    pub(in crate::programs::packages) fn leave(&mut self, before: Option<BTreeMap<String, Variable>>) {
        if let Some(before) = before {
            if self.global.as_ref() == Some(&before) {
                self.global = None;
            }
            self.variables = before;
        }
    }

    /// What recipes find otherwise in their environment than make did, expanded; `None` for what is gone from it (GNU make, "Communicating
    /// Variables to a Sub-make").
    pub(in crate::programs::packages) fn environment_of_recipes(
        &self,
        automatic: &Automatic,
    ) -> Vec<(String, Option<String>)> {
        let all = self.exports_all || self.names(".EXPORT_ALL_VARIABLES");
        let is_handed =
            |name: &str, variable: &Variable| match variable.exports.or(self.exported.get(name).copied()) {
                Some(said) => said,
                None => match variable.origin {
                    Origin::Default => false,
                    Origin::Environment | Origin::EnvironmentOverride | Origin::CommandLine => true,
                    Origin::File | Origin::Override => all || self.inherited.contains(name),
                },
            };
        let is_name = |name: &str| {
            name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
                && !name.starts_with(|letter: char| letter.is_ascii_digit())
        };
        let is_kept = |name: &str| {
            matches!(name, "SHELL" | "MAKEFLAGS" | "MAKELEVEL" | "CURDIR" | "MAKEFILE_LIST" | "MAKEFILES")
        };
        let mut environment: Vec<(String, Option<String>)> = Vec::new();
        for (name, variable) in self.variables.iter().filter(|(name, _)| is_name(name) && !is_kept(name)) {
            // Where the variable of a target is not handed on, that of all targets may be.
            let of_all = self.global.as_ref().and_then(|global| global.get(name));
            if let Some(of_all) = of_all.filter(|of_all| *of_all != variable)
                && !is_handed(name, variable)
                && is_handed(name, of_all)
            {
                environment.push((name.clone(), Some(self.expand(&of_all.text, Some(automatic), 0))));
                continue;
            }
            // What came from the environment goes there as it came.
            let came = matches!(variable.origin, Origin::Environment | Origin::EnvironmentOverride);
            if is_handed(name, variable) && !came {
                let value = self.expand(&format!("$({name})"), Some(automatic), 0);
                environment.push((name.clone(), Some(value)));
            }
        }
        let is_gone = |name: &&String| {
            !is_kept(name) && self.variables.get(*name).is_none_or(|variable| !is_handed(name, variable))
        };
        let said: Vec<String> = environment.iter().map(|(name, _)| name.clone()).collect();
        let is_gone = |name: &&String| is_gone(name) && !said.contains(name);
        environment.extend(self.came.iter().filter(is_gone).map(|name| (name.clone(), None)));
        environment
    }

    /// The variables of the command line, as `MAKEFLAGS` hands them to another make.
    pub(in crate::programs::packages) fn given_in_flags(&self) -> String {
        let written = |(name, variable): (&String, &Variable)| {
            let sign = if variable.flavor == Flavor::Simple { ":=" } else { "=" };
            let mut text = format!(" {name}{sign}");
            for letter in variable.text.chars() {
                if letter.is_whitespace() || matches!(letter, '\\' | '\'' | '"') {
                    text.push('\\');
                }
                text.push(letter);
            }
            text
        };
        let given: String = self.given.iter().map(written).collect();
        if given.is_empty() { given } else { format!(" --{given}") }
    }
}

/// The variables that make has by itself (GNU make 4.3: `make -p -f /dev/null`; `default_variables`).
pub(super) const DEFAULTS: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("ARFLAGS", "rv"),
    ("AS", "as"),
    ("CC", "cc"),
    ("CXX", "g++"),
    ("CO", "co"),
    ("CPP", "$(CC) -E"),
    ("CTANGLE", "ctangle"),
    ("CWEAVE", "cweave"),
    ("F77", "$(FC)"),
    ("F77FLAGS", "$(FFLAGS)"),
    ("FC", "f77"),
    ("GET", "get"),
    ("LD", "ld"),
    ("LEX", "lex"),
    ("LINT", "lint"),
    ("M2C", "m2c"),
    ("MAKE", "$(MAKE_COMMAND)"),
    ("MAKE_COMMAND", "make"),
    ("MAKE_HOST", "x86_64-pc-linux-gnu"),
    ("MAKE_VERSION", "4.3"),
    ("MAKEINFO", "makeinfo"),
    ("OBJC", "cc"),
    ("OUTPUT_OPTION", "-o $@"),
    ("PC", "pc"),
    ("RM", "rm -f"),
    ("TANGLE", "tangle"),
    ("TEX", "tex"),
    ("TEXI2DVI", "texi2dvi"),
    ("WEAVE", "weave"),
    ("YACC", "yacc"),
    (".SHELLFLAGS", "-c"),
    ("COMPILE.c", "$(CC) $(CFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c"),
    ("COMPILE.cc", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c"),
    ("COMPILE.C", "$(COMPILE.cc)"),
    ("COMPILE.cpp", "$(COMPILE.cc)"),
    ("COMPILE.f", "$(FC) $(FFLAGS) $(TARGET_ARCH) -c"),
    ("COMPILE.s", "$(AS) $(ASFLAGS) $(TARGET_MACH)"),
    ("COMPILE.S", "$(CC) $(ASFLAGS) $(CPPFLAGS) $(TARGET_MACH) -c"),
    ("LINK.c", "$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.cc", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.C", "$(LINK.cc)"),
    ("LINK.cpp", "$(LINK.cc)"),
    ("LINK.f", "$(FC) $(FFLAGS) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.o", "$(CC) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.s", "$(CC) $(ASFLAGS) $(LDFLAGS) $(TARGET_MACH)"),
    ("LEX.l", "$(LEX) $(LFLAGS) -t"),
    ("YACC.y", "$(YACC) $(YFLAGS)"),
];

/// The rules that make has by itself for programs of common languages, in its order (GNU make 4.3: `default_suffix_rules`).
pub(in crate::programs::packages) const RULES: &str = "\
%: %.o
\t$(LINK.o) $^ $(LOADLIBES) $(LDLIBS) -o $@
%: %.c
\t$(LINK.c) $^ $(LOADLIBES) $(LDLIBS) -o $@
%: %.cc
\t$(LINK.cc) $^ $(LOADLIBES) $(LDLIBS) -o $@
%: %.C
\t$(LINK.C) $^ $(LOADLIBES) $(LDLIBS) -o $@
%: %.cpp
\t$(LINK.cpp) $^ $(LOADLIBES) $(LDLIBS) -o $@
%: %.f
\t$(LINK.f) $^ $(LOADLIBES) $(LDLIBS) -o $@
%: %.s
\t$(LINK.s) $^ $(LOADLIBES) $(LDLIBS) -o $@
%: %.sh
\tcat $< >$@
\tchmod a+x $@
%.o: %.c
\t$(COMPILE.c) $(OUTPUT_OPTION) $<
%.o: %.cc
\t$(COMPILE.cc) $(OUTPUT_OPTION) $<
%.o: %.C
\t$(COMPILE.C) $(OUTPUT_OPTION) $<
%.o: %.cpp
\t$(COMPILE.cpp) $(OUTPUT_OPTION) $<
%.o: %.f
\t$(COMPILE.f) $(OUTPUT_OPTION) $<
%.o: %.s
\t$(COMPILE.s) -o $@ $<
%.o: %.S
\t$(COMPILE.S) -o $@ $<
%.c: %.y
\t$(YACC.y) $<
\tmv -f y.tab.c $@
%.c: %.l
\t$(LEX.l) $< > $@
%.dvi: %.tex
\t$(TEX) $<
";
