//! Files that a text or an option names, whose content becomes a part of what a program prints: a preprocessor, a template, a language of
//! configuration, a document.

use crate::interpreter::{Call, Machine, Value};
use crate::path::AbsolutePath;

use super::{path, sources, texts};

/// Programs that print what they are told to include (the manual of each: cpp 12, gpp 2.28, filepp 1.8; gomplate 4, `file.Read`; Template Toolkit 3,
/// `INSERT`; mustache(1); ytt 0.50; Jsonnet 0.20, `importstr`; Dhall 1.42, `as Text`; Nickel 1.9; Nix 2.24, `builtins.readFile`; KCL 0.11; Helm 3,
/// `--set-file`; Terraform 1.9, `file`; Ansible 10, `lookup`; groff 1.23, soelim; mandoc(1); Pandoc 3, `--template`; Asciidoctor 2, `include`; Docutils
/// 0.21, `raw`; libxml2 2.12, `--noent`, `--xinclude`; `PlantUML` 1.2024, `!include`; Tera, minijinja 2).
const INCLUDING: &[&str] = &[
    "cpp",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "tcc",
    "gpp",
    "filepp",
    "gomplate",
    "tpage",
    "ttree",
    "mustache",
    "ytt",
    "jsonnet",
    "dhall",
    "dhall-to-json",
    "nickel",
    "nix",
    "nix-instantiate",
    "kcl",
    "helm",
    "terraform",
    "tofu",
    "packer",
    "ansible",
    "soelim",
    "mandoc",
    "pandoc",
    "asciidoctor",
    "asciidoc",
    "rst2html",
    "rst2html.py",
    "rst2html5",
    "rst2latex",
    "xmllint",
    "xsltproc",
    "plantuml",
    "tera",
    "minijinja-cli",
    "j2",
    "jinja2",
    "mako-render",
];
/// Options that name where files are, or what opens a door, and print nothing (gcc(1), ansible(1), helm(1)).
const USED: &[&str] = &[
    "-I",
    "-L",
    "-i",
    "--private-key",
    "--key-file",
    "--vault-password-file",
    "--kubeconfig",
    "--kube-ca-file",
    "--keyring",
    "--key",
    "-key",
    "--cert",
    "--ca-file",
    "--registry-config",
    "--ssh-key",
];

/// Reads the credentials outside the workspace that a call prints by including them.
pub(super) fn run(machine: &mut Machine<'_>, call: &Call, program: &str) {
    let prints = match program {
        "kubectl" => is_dry(call),
        // Its other commands send charts, and are judged by that.
        "helm" => {
            call.program.ends_with(" template")
                || call.words.iter().any(|word| word.as_exact() == Some("template"))
        }
        _ => INCLUDING.contains(&program),
    };
    if !prints {
        return;
    }
    let workspace = machine.world().place().workspace.clone();
    let mut found: Vec<AbsolutePath> = Vec::new();
    let mut all: Vec<String> = sources(machine, call);
    let mut behind = "";
    for word in call.words.iter().filter_map(Value::as_exact) {
        let is_used = USED.contains(&behind)
            || USED.iter().any(|option| option.starts_with("--") && word.starts_with(&format!("{option}=")));
        behind = word;
        if !is_used {
            all.push(word.to_owned());
        }
    }
    // The words are among the texts again, and what comes in.
    all.extend(
        texts(call).into_iter().filter(|text| !call.words.iter().any(|word| word.as_exact() == Some(text))),
    );
    for text in &all {
        let is_between = |c: char| {
            c.is_whitespace()
                || matches!(c, '"' | '\'' | '(' | ')' | '[' | ']' | '{' | '}' | '=' | ',' | ';' | '<' | '>')
        };
        for piece in text.split(is_between) {
            let piece = piece.strip_prefix("include::").or_else(|| piece.strip_prefix('@')).unwrap_or(piece);
            let piece = piece.strip_prefix("file://").unwrap_or(piece);
            if !piece.starts_with(['/', '~']) {
                continue;
            }
            let place = machine.one_path_through(&path(machine, piece));
            found.extend(place.filter(|place| {
                !place.is_within(&workspace) && machine.names_secret(&Value::exact(place.as_str()))
            }));
        }
    }
    for file in found.iter().take(8) {
        drop(machine.read(&Value::exact(file.as_str())));
    }
}

/// Whether a call only prints what it would send (kubectl 1.31, `--dry-run`, `-o`).
fn is_dry(call: &Call) -> bool {
    let has = |start: &str| call.words.iter().any(|word| word.known_start().starts_with(start));
    has("--dry-run") && (has("-o") || has("--output"))
}
