//! What the real make runs is seen, and what is called certain is run: which definition of a variable holds (environment, command line, file),
//! which branch is read, which recipes run. Proved by GNU make 4; where it is not there, nothing is.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_facts::VersionState;
use checkrein_protocol::{Certainty, EffectKind, Target};
use checkrein_testkit::world::{bare, command, path};

/// A makefile (and others below it) with a command that runs it.
#[derive(Debug, Clone)]
struct Case {
    files: Vec<(String, String)>,
    command: String,
}

impl Case {
    fn new(makefile: &str, command: &str) -> Self {
        Self { files: vec![("Makefile".to_owned(), makefile.to_owned())], command: command.to_owned() }
    }

    fn with(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    /// The files that the real programs made.
    fn made(&self, folder: &Path) -> BTreeSet<String> {
        for (name, text) in &self.files {
            let place = folder.join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        Command::new("sh")
            .args(["-c", &self.command])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let names = walked(folder, "");
        names.into_iter().filter(|name| self.files.iter().all(|(given, _)| given != name)).collect()
    }

    /// The files that are predicted to be made: those that may, those that will, and whether something is not known.
    fn predicted(&self) -> (BTreeSet<String>, BTreeSet<String>, bool) {
        let mut world = bare();
        for (name, text) in &self.files {
            world = world.with_file(&path(name), text, VersionState::TrackedClean);
        }
        let start = format!("{}/", path("").as_str().trim_end_matches('/'));
        let (mut possible, mut certain, mut is_unknown) = (BTreeSet::new(), BTreeSet::new(), false);
        for effect in predict(&command(&self.command), &world).effects {
            match (&effect.kind, &effect.target) {
                (EffectKind::FileCreate | EffectKind::FileModify, Target::Path(made)) => {
                    let name = made.as_str().strip_prefix(&start).unwrap_or(made.as_str()).to_owned();
                    if effect.certainty == Certainty::Certain {
                        certain.insert(name.clone());
                    }
                    possible.insert(name);
                }
                (EffectKind::Opaque, _) => is_unknown = true,
                _ => {}
            }
        }
        (possible, certain, is_unknown)
    }

    /// What is wrong in what is predicted, in words.
    fn mistake(&self) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let made = self.made(folder.path());
        let (possible, certain, is_unknown) = self.predicted();
        let lost: Vec<&String> = made.difference(&possible).collect();
        let untrue: Vec<&String> = certain.difference(&made).collect();
        let is_right = (lost.is_empty() || is_unknown) && untrue.is_empty();
        (!is_right).then(|| {
            let files = self
                .files
                .iter()
                .map(|(name, text)| ["# ", name, "\n", text, "\n"].concat())
                .collect::<Vec<_>>()
                .concat();
            format!("{files}$ {}\nlost {lost:?}, not true {untrue:?}\n", self.command)
        })
    }
}

fn walked(folder: &Path, start: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().filter_map(Result::ok) {
        let name = format!("{start}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            names.insert(name.clone());
            names.extend(walked(&entry.path(), &format!("{name}/")));
        } else {
            names.insert(name);
        }
    }
    names
}

fn is_there() -> bool {
    let is_there = Command::new("make")
        .arg("--version")
        .output()
        .is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).contains("GNU Make 4"));
    if !is_there {
        checkrein_testkit::not_run("there is no GNU make 4 here");
    }
    is_there
}

fn all_are_right(cases: impl IntoIterator<Item = Case>) {
    if !is_there() {
        return;
    }
    let mistakes: Vec<String> = cases.into_iter().filter_map(|case| case.mistake()).collect();
    assert!(mistakes.is_empty(), "{} are wrong:\n{}", mistakes.len(), mistakes.join("\n"));
}

/// Definitions of `X`, each with a mark of its own.
const DEFINITIONS: &[&str] = &[
    "",
    "X = touch later",
    "X := touch now",
    "X ::= touch twice",
    "X ?= touch unless",
    "X += added",
    "X != echo touch output",
    "override X = touch override",
    "override X += overriding",
    "override X ?= touch overriding_unless",
    "export X = touch exported",
    "export X ?= touch exported_unless",
    "export X",
    "unexport X",
    "define X\ntouch lines\nendef",
    "define X +=\ntouch more_lines\nendef",
    "override define X\ntouch overriding_lines\nendef",
    "undefine X",
    "override undefine X",
    "ifdef X\nX = touch was_set\nendif",
    "ifndef X\nX = touch was_not_set\nendif",
    "ifeq ($(X),)\nX = touch was_empty\nelse\nY = touch was_not_empty\nendif",
    "ifeq ($(origin X),environment)\nY = touch environment\nelse ifeq ($(origin X),command line)\nY = touch command_line\nelse\nY = touch $(origin X)\nendif",
    "ifneq '$(filter touch,$(X))' ''\nY = touch filtered\nendif",
    "all: X = touch specific",
    "all: X ?= touch specific_unless",
    "all: X += specific_added",
    "all: override X = touch specific_override",
    "all: export X = touch specific_exported",
    "%l: X = touch of_pattern",
    "all: private X = touch private",
    "$(eval X = touch evaluated)",
    "N = X\n$(N) = touch named",
];

/// What recipes do with them.
const RECIPES: &[&str] = &[
    "-$(X)\n\t$(Y)",
    "$$X",
    "sh -c \"$$X\"",
    "$(value X)",
    "$(if $(X),touch some,touch none)",
    "$(or $(X),touch default)",
    "$(and $(X),touch both)",
    "[ \"$(origin X)\" = file ] && touch from_file || touch $(subst $() ,_,$(origin X))",
    "$(MAKE) -f sub.mk",
    "@-$(X)",
];

const ENVIRONMENTS: &[&str] =
    &["", "X='touch given' ", "export X='touch given'; ", "env X='touch given' ", "X= "];

const CALLS: &[&str] = &[
    "make",
    "make X='touch commanded'",
    "make X+=more",
    "make X?='touch commanded_unless'",
    "make X:='touch commanded_now'",
    "make -e",
    "MAKEFLAGS=e make",
    "make MAKEFLAGS=e",
    "make -e X='touch commanded'",
];

fn of_variables(stride: usize) -> impl Iterator<Item = Case> {
    let count = DEFINITIONS.len().pow(2) * RECIPES.len() * ENVIRONMENTS.len() * CALLS.len();
    // Two definitions for a target of which one holds where there is none, and the raw text of what is added for one: nobody asks so.
    let is_usual = |case: &Case| {
        let text = &case.files[0].1;
        let is_twice = text.contains("all: X ?=") && text.matches("l: ").count() > 1;
        !is_twice && (!text.contains("$(value X)") || !text.contains("all: X +="))
    };
    let one = |number: usize| {
        let mut left = number;
        let mut one_of = |all: &[&'static str]| {
            let one = all[left % all.len()];
            left /= all.len();
            one
        };
        let (call, environment, recipe) = (one_of(CALLS), one_of(ENVIRONMENTS), one_of(RECIPES));
        let (first, second) = (one_of(DEFINITIONS), one_of(DEFINITIONS));
        Case::new(&format!("{first}\n{second}\nall:\n\t{recipe}\n"), &format!("{environment}{call}"))
            .with("sub.mk", "X ?= touch of_sub\nall:\n\t$(X)\n")
    };
    (0..count).step_by(stride).map(one).filter(is_usual)
}

#[test]
fn the_definition_that_holds_is_followed() {
    all_are_right(of_variables(1201));
}

/// What makefiles hold beside variables.
const OTHERS: &[(&str, &str)] = &[
    // Which recipe is that of a target.
    ("all:\n\ttouch first\nall:\n\ttouch second\n", "make"),
    ("all::\n\ttouch first\nall::\n\ttouch second\n", "make"),
    ("all: a b\na:\n\ttouch $@\nb:\n\ttouch $@\n", "make"),
    ("all: a\nall: b\na b:\n\ttouch $@\n", "make"),
    ("%: %.in\n\ttouch $@\nall: x\nx.in:\n\ttouch x.in\n", "make all"),
    ("all: x.b\n.SECONDARY:\n%.b: %.a\n\ttouch $@\n%.a:\n\ttouch $@\n", "make"),
    ("all: x.b\n%.b: %.missing\n\ttouch wrong\n%.b:\n\ttouch $@\n", "make"),
    ("all: xy.b\n%.b:\n\ttouch long\nx%.b:\n\ttouch short\n", "make"),
    ("all: d/lx.b\nl%.b: r%.a\n\tmkdir -p d; touch $@ $*\nd/rx.a:\n\tmkdir -p d; touch $@\n", "make"),
    ("T = a b\nall: $(T)\n$(T): %: %.c\n\ttouch $@\n%.c:\n\ttouch $@\n", "make"),
    ("all: a | b\n\ttouch of_$^_$|\na b:\n\ttouch $@\n", "make"),
    ("all: ; touch inline\n\ttouch next\n", "make"),
    (".DEFAULT_GOAL := other\nall:\n\ttouch all\nother:\n\ttouch other\n", "make"),
    (".DEFAULT:\n\ttouch default_$@\nall: x\n", "make"),
    (".PHONY: clean\nclean:\n\ttouch clean\n", "make clean && make clean"),
    ("x:\n\ttouch x\n", "touch x; make; touch y"),
    (".SUFFIXES: .in .out\nall: x.out\n.in.out:\n\ttouch $@\nx.in:\n\ttouch $@\n", "make"),
    (".env.x:\n\ttouch plain\nall: .env.x\n", "make all"),
    ("x y &: \n\ttouch x y\nall: x y\n", "make all"),
    // Lines of a recipe.
    ("all:\n\t@touch a\n\t-false\n\t+touch b\n\tfalse\n\ttouch c\n", "make"),
    ("all:\n\t@touch a\n\tfalse\n\t+touch b\n", "make -i"),
    ("all:\n\ttouch a\n\t+touch b\n", "make -n"),
    ("define body\n@touch a\n-false\n@touch b\nendef\nall:\n\t$(body)\n", "make"),
    ("define body\ntouch $(1)\ntouch $(2)\nendef\nall:\n\t$(call body,a,b)\n", "make"),
    (".ONESHELL:\nall:\n\tx=a\n\ttouch $$x\n\t@touch b\n", "make"),
    (".RECIPEPREFIX = >\nall:\n>touch a\n>touch b\n", "make"),
    ("all:\n\ttouch a \\\n\t  b\n", "make"),
    ("all: # touch x\n\ttouch a # touch b\n", "make"),
    ("X = a\\\n  b\nall:\n\ttouch $(X)\n", "make"),
    ("X := $(shell echo '#')\nall:\n\ttouch a\n", "make"),
    ("all:\n\tx=1; touch $${x}a\n\ttouch $${x}b\n", "make"),
    ("all:\n\ttouch $$X.a\n", "X=5; make"),
    ("all:\n\ttouch $$X.a\n", "X=5 make"),
    ("all:\n\ttouch $$X.a\n", "export X=5; make"),
    // Other makefiles.
    ("include other.mk\nall: more\n", "printf 'more:\\n\\ttouch more\\n' > other.mk; make all"),
    ("-include missing.mk\nall:\n\ttouch a\n", "make"),
    (
        "all:\n\t$(MAKE) -C sub X=given\n",
        "mkdir sub; printf 'X = own\\nall:\\n\\ttouch $(X)\\n' > sub/Makefile; make",
    ),
    (
        "all:\n\t$(MAKE) -C sub\n",
        "mkdir sub; printf 'X = own\\nall:\\n\\ttouch $(X)\\n' > sub/Makefile; make X=given",
    ),
    (
        "export X = exported\nall:\n\tcd sub && $(MAKE)\n",
        "mkdir sub; printf 'X ?= own\\nall:\\n\\ttouch $(X)\\n' > sub/Makefile; make",
    ),
    ("all:\n\t$(MAKE) -C sub\n", "mkdir sub; printf 'all:\\n\\ttouch a\\n' > sub/Makefile; make -n"),
    ("all:\n\tmake -C sub\n", "mkdir sub; printf 'all:\\n\\ttouch a\\n' > sub/Makefile; make X='a b'"),
    // Conditionals and functions.
    ("ifeq ($(shell echo a),a)\nX = yes\nelse\nX = no\nendif\nall:\n\ttouch $(X)\n", "make"),
    ("ifneq ($(shell echo a),a)\nX = yes\nelse\nX = no\nendif\nall:\n\ttouch $(X)\n", "make"),
    (
        "ifeq (a,b)\nifeq ($(shell touch wrong),)\nX = y\nendif\nelse\nX = x\nendif\nall:\n\ttouch $(X)\n",
        "make",
    ),
    ("ifeq ($(wildcard *.none),)\nX = none\nelse\nX = some\nendif\nall:\n\ttouch $(X)\n", "make"),
    ("ifneq ($(wildcard Makefile),)\nX = some\nelse\nX = none\nendif\nall:\n\ttouch $(X)\n", "make"),
    ("all:\n\ttouch $(if $(shell true),some,none)\n", "make"),
    ("all:\n\ttouch $(if $(shell echo a),some,none)\n", "make"),
    ("all:\n\ttouch $(if $(findstring a,$(shell echo ba)),some,none)\n", "make"),
    ("X := $(foreach x,a b,$(x).o)\nall:\n\ttouch $(X)\n", "make"),
    ("f = $(x)_$(1)\nX := $(foreach x,a b,$(call f,$(x)))\nall:\n\ttouch $(X)\n", "make"),
    ("define T\n$(1):\n\ttouch $$@\nendef\n$(foreach x,a b,$(eval $(call T,$(x))))\nall: a b\n", "make all"),
    ("all:\n\t$(eval X := late)touch $(X)\n\ttouch $(X)2\n", "make"),
    ("X = a b c\nall:\n\ttouch $(wordlist 2,3,$(X)) $(join a b,c d) $(X:%=%.o) $(X:c=d)\n", "make"),
    ("map = $(foreach x,$(2),$(call $(1),$(x)))\nof = $(1).m\nall:\n\ttouch $(call map,of,a b)\n", "make"),
    ("all:\n\ttouch $(call patsubst,%.a,%.b,x.a)\n", "make"),
    (
        "X = $(filter %.c,a.c b.o) $(filter-out %.c,a.c b.o) $(sort b a b) $(strip  x  y )\nall:\n\ttouch $(X)\n",
        "make",
    ),
    ("all: a.x\n.SECONDEXPANSION:\nall: $$(addsuffix .y,b)\n%.x %.y:\n\ttouch $@\n", "make"),
    ("all:\n\ttouch $(MAKECMDGOALS).g\n", "make all"),
    ("override X += b\nall:\n\ttouch $(X)\n", "make X=a"),
    ("SHELL = /bin/bash\nall:\n\t[[ a == a ]] && touch a\n", "make"),
    // What make knows by itself.
    ("all: x.o\n", "touch x.c; CC='touch compiled; true' make"),
    ("", "touch x.c; CC='touch compiled; true' make x.o"),
    ("", "touch x.sh; make x"),
    ("", "touch x.c; make -r x.o CC='touch compiled; true'"),
    ("CC ?= touch mine; true\nall: x.o\n", "touch x.c; CC='touch compiled; true' make"),
];

#[test]
fn the_recipes_that_run_are_seen() {
    all_are_right(OTHERS.iter().map(|(makefile, command)| Case::new(makefile, command)));
}
