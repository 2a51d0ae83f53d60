//! Words against a real bash: what a command is given, as we say it and as bash gives it.
//!
//! Every text is made of pure expansions, runs with an empty environment and an empty `PATH` in a directory that is thrown away, and
//! so can touch nothing. What we call known must be exactly what bash produced; what we call unknown may be anything, but must be
//! rare.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use checkrein_effects::predict;
use checkrein_facts::History;
use checkrein_protocol::{AbsolutePath, Action, Timestamp};
use checkrein_world::{RealWorld, WorldInputs};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many texts are compared.
const TEXTS: usize = 600;

/// Of the words at least so many of a hundred have to be known.
const KNOWN: usize = 90;

/// What stands before the words, the same for both.
const PREAMBLE: &str = "x=hello; y='a b'; z=; n=7; list=(one 'two three' four); declare -A map=([key]=value); \
                        file=/usr/local/lib/archive.tar.gz; ref=x; set -- first 'second word' third";

/// Single pieces of words: one of each form that does not ask anything outside.
const PIECES: &[&str] = &[
    "plain",
    "-flag",
    "a/b",
    "'single $x'",
    "\"double $x\"",
    "$'tab\\there \\x41'",
    "\\$x",
    "\\ ",
    "\"in \\\"ner\\\"\"",
    "$x",
    "$y",
    "\"$y\"",
    "$z",
    "\"$z\"",
    "$unset",
    "\"$unset\"",
    "${x}y",
    "${z:-default}",
    "${z-default}",
    "${unset-default}",
    "${unset:-'two words'}",
    "${unset:-two words}",
    "${x:+'a  b'c}",
    "${x:+other}",
    "${unset:+other}",
    "${#x}",
    "${#y}",
    "${x:1:2}",
    "${x: -2}",
    "${x:2}",
    "${file##*/}",
    "${file#*/}",
    "${file%.*}",
    "${file%%.*}",
    "${file%/*}",
    "${file/l/L}",
    "${file//l/L}",
    "${file/#\\/usr/root}",
    "${x/%lo/p}",
    "${x^}",
    "${x^^}",
    "${x,,}",
    "${!ref}",
    "${list[0]}",
    "${list[1]}",
    "\"${list[1]}\"",
    "${list[@]}",
    "\"${list[@]}\"",
    "\"${list[*]}\"",
    "${list[-1]}",
    "${#list[@]}",
    "${list[@]:1}",
    "\"${list[@]:1:1}\"",
    "\"${list[@]/o/0}\"",
    "${map[key]}",
    "$1",
    "$2",
    "\"$2\"",
    "$@",
    "\"$@\"",
    "$*",
    "\"$*\"",
    "$#",
    "\"${@:2}\"",
    "${@: -1}",
    "$((n+1))",
    "$((n*2%5))",
    "$((n>3?10:20))",
    "$((2**5))",
    "$((0x1f))",
    "{a,b}",
    "{a,b}{c,d}",
    "{1..3}",
    "{c..a}",
    "{01..03}",
    "{1..9..4}",
    "pre{x,y}post",
    "{only}",
    "~",
    "~/docs",
    "*.txt",
    "?.md",
    "[ab]*",
    "nomatch*",
    "*",
    "sub/*",
    "\"*.txt\"",
    "$(echo inner)",
    "\"$(echo 'x  y')\"",
    "$(printf '%s-%s' a b)",
    "`echo old`",
    "\"$(echo one; echo two)\"",
    "$(echo 'two words')",
    "${x@U}",
    "''",
    "\"\"",
    "=",
    "x=y",
    "#",
    "a#b",
];

#[test]
fn words_are_those_of_a_real_bash() {
    let ground = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(ground.path()).unwrap();
    for name in ["a.txt", "b.txt", "c.md", ".hidden", "sp ace.txt", "sub/deep.txt", "home/docs"] {
        let path = top.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let mut known = 0;
    let mut words = 0;
    let mut differences = Vec::new();
    for text in texts() {
        let real = real_words(&text, &top);
        let ours = our_words(&text, &top);
        let same_number = ours.len() == real.len();
        // A word that is not known may stand for several, or for none.
        let agrees = if same_number {
            ours.iter().zip(&real).all(|(ours, real)| ours.as_ref().is_none_or(|ours| ours == real))
        } else {
            ours.iter().any(Option::is_none)
        };
        if !agrees {
            differences.push(format!("{text}\n    bash {real:?}\n    ours {ours:?}"));
        }
        if same_number {
            known += ours.iter().filter(|word| word.is_some()).count();
        }
        words += real.len();
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert!(words > TEXTS, "the texts hold words");
    assert!(known * 100 >= words * KNOWN, "{known} of {words} words are known");
}

/// Texts of one to three words of one to three pieces each; each form stands alone once as well.
fn texts() -> Vec<String> {
    let alone = PIECES.iter().map(|piece| (*piece).to_owned());
    let word =
        proptest::collection::vec(proptest::sample::select(PIECES), 1..4).prop_map(|pieces| pieces.concat());
    let text = proptest::collection::vec(word, 1..4).prop_map(|words| words.join(" "));
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let made = (0..TEXTS).map(|_| text.new_tree(&mut runner).unwrap().current());
    alone.chain(made).collect()
}

fn real_words(text: &str, directory: &Path) -> Vec<String> {
    let script =
        format!("PATH=; argv() {{ [ $# -eq 0 ] || printf '%s\\0' \"$@\"; }}; {PREAMBLE}; argv {text}");
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &script])
        .current_dir(directory)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", directory.join("home"))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.split_terminator('\0').map(str::to_owned).collect()
}

fn our_words(text: &str, directory: &Path) -> Vec<Option<String>> {
    let workspace = AbsolutePath::new(directory.to_str().unwrap()).unwrap();
    let world = RealWorld::new(WorldInputs {
        home: workspace.join("home"),
        user: None,
        workspace: workspace.clone(),
        temporary: Vec::new(),
        guarded: Vec::new(),
        expected: Vec::new(),
        variables: Arc::new(BTreeMap::new()),
        history: History::default(),
        now: Timestamp(0),
        confiner: || None,
        masker: || None,
        tool_output: checkrein_protocol::ToolOutput::Shown,
    });
    let prediction = predict(&Action::command(format!("{PREAMBLE}; argv {text}"), workspace), &world);
    let command = prediction.commands.into_iter().find(|command| command.program == "argv");
    command.unwrap_or_else(|| panic!("{text}: no call was seen")).words
}
