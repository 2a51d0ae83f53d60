//! What runs because something in front of it failed is seen. Which commands fail is asked of the real bash.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_protocol::EffectKind;
use checkrein_testkit::world::{bare, command};

/// Built-ins that end and tell how it went.
const NAMES: [&str; 43] = [
    ":", "[", "alias", "bg", "bind", "builtin", "caller", "cd", "command", "compgen", "complete", "compopt",
    "declare", "dirs", "disown", "echo", "enable", "eval", "export", "false", "fg", "getopts", "hash",
    "jobs", "let", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readonly", "set", "shift", "shopt",
    "test", "times", "trap", "true", "type", "ulimit", "umask", "unset",
];

/// What they are given.
const ARGUMENTS: [&str; 40] = [
    "",
    "-z",
    "--help",
    "--",
    "nosuch",
    "1",
    "-1",
    "abc",
    "-p nosuch",
    "-f nosuch",
    "-F nosuch",
    "UID=1",
    "'a b'",
    "x=1",
    "-o nosuch",
    "+o nosuch",
    "-o errexit",
    "999",
    "022",
    "+9",
    "%1",
    "-v",
    "-v 1a x",
    "-v UID x",
    "-v x y",
    "-u 99 x",
    "x NOSUCH",
    "x INT",
    "-s nosuch",
    "-s extglob",
    "-a x=1",
    "-Z x",
    "abc -eq 0 ]",
    "abc -eq 0",
    "'' -lt 1",
    "1 -eq 1 ]",
    "-x x",
    "x",
    "-n x",
    "1a=2",
];

/// Others that fail, each in its own way.
const OTHERS: [&str; 27] = [
    "readonly q=1; (q=2)",
    "f() { true; }; unset f; f",
    "cd -z",
    "pushd -z",
    "popd +9",
    "$(false)",
    "`false`",
    "x=$(false)",
    "! $(true)",
    "readonly q=1; unset q",
    "readonly q=1; export q=2",
    "readonly q=1; declare q=2",
    "[[ abc =~ \"^a\" ]]",
    "[[ abc =~ a\\.c ]]",
    "[ '' -eq 0 ]",
    "test abc -lt 5",
    "[ 1 -eq 1x ]",
    "exit --help; false",
    "exec --bad; false",
    "exec -z true; false",
    "unalias nosuch",
    "unset -v UID",
    "trap --help",
    "set --help",
    "set -C; : > /dev/null/x",
    "shopt -q nosuch",
    "cd /nosuch/directory",
];

fn forms() -> Vec<String> {
    let built_in =
        NAMES.iter().flat_map(|name| ARGUMENTS.iter().map(move |arguments| format!("{name} {arguments}")));
    built_in.chain(OTHERS.iter().map(|form| (*form).to_owned())).collect()
}

/// Which of the texts run what follows `||`, in bash.
fn failed(forms: &[String]) -> Vec<bool> {
    let mut script = String::new();
    for (number, form) in forms.iter().enumerate() {
        let quoted = format!("{form} || echo {number} >&9").replace('\'', "'\\''");
        writeln!(script, "( eval '{quoted}' ) </dev/null >/dev/null 2>&1").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let bash = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &format!("exec 9>&1\n{script}")])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder.path())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut ran = vec![false; forms.len()];
    for number in String::from_utf8_lossy(&bash.stdout).lines().filter_map(|line| line.parse::<usize>().ok())
    {
        ran[number] = true;
    }
    ran
}

#[test]
fn what_runs_after_a_failure_is_seen() {
    let world = bare();
    let forms = forms();
    let ran = failed(&forms);
    assert!(
        ran.iter().filter(|ran| **ran).count() > 400,
        "bash ran only {:?}",
        ran.iter().filter(|ran| **ran).count()
    );
    let lost: Vec<&String> = (forms.iter().zip(ran).filter(|(_, ran)| *ran).map(|(form, _)| form))
        .filter(|form| {
            let text = format!("{form} || rm -rf /etc/ssl");
            let prediction = predict(&command(&text), &world);
            !prediction
                .effects
                .iter()
                .any(|effect| matches!(effect.kind, EffectKind::FileDelete | EffectKind::Opaque))
        })
        .collect();
    assert!(lost.is_empty(), "{} are lost: {lost:#?}", lost.len());
}
