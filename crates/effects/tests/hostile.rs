//! No text makes the interpreter panic, run without bound or say two different things.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::time::{Duration, Instant};

use checkrein_effects::{Prediction, predict};
use checkrein_facts::{RecordedWorld, VersionState};
use checkrein_protocol::EffectKind;
use checkrein_testkit::on_the_smallest_stack;
use checkrein_testkit::world::{command, path, project};
use proptest::prelude::*;

fn world() -> RecordedWorld {
    project()
        .with_file(&path("/home/dev/proj/a.txt"), "x\n", VersionState::TrackedClean)
        .with_file(&path("/home/dev/proj/b c.txt"), "y\n", VersionState::Untracked)
        .with_file(
            &path("/home/dev/proj/run.sh"),
            "#!/bin/sh\n./run.sh; rm -rf $1\n",
            VersionState::TrackedClean,
        )
        .with_file(&path("/home/dev/.ssh/id_rsa"), "key\n", VersionState::NoRepository)
}

fn interpret(text: &str) -> Prediction {
    on_the_smallest_stack(|| predict(&command(text), &world()))
}

/// Bounded in effects, and (generously, for slow machines) in time.
fn check(text: &str) -> Prediction {
    let start = Instant::now();
    let prediction = interpret(text);
    assert!(prediction.effects.len() <= 16_384, "too many effects for `{text}`");
    assert!(start.elapsed() < Duration::from_secs(30), "too slow for `{text}`");
    prediction
}

fn is_opaque(prediction: &Prediction) -> bool {
    prediction.effects.iter().any(|effect| effect.kind == EffectKind::Opaque)
}

#[test]
fn more_moves_than_are_followed_are_said() {
    let mut world = world();
    for number in 0..600 {
        world = world.with_file(&path(&format!("/home/dev/proj/f{number}")), "x\n", VersionState::Untracked);
    }
    for (count, is_said) in [(100, false), (600, true)] {
        let moves: Vec<String> = (0..count).map(|number| format!("mv f{number} g{number}")).collect();
        let prediction = predict(&command(&moves.join("\n")), &world);
        assert_eq!(is_opaque(&prediction), is_said, "{count} moves");
    }
}

#[test]
fn deep_nesting_ends_in_opaque() {
    for text in [
        format!("{}rm a.txt{}", "$(".repeat(300), ")".repeat(300)),
        format!("{}rm a.txt{}", "(".repeat(300), ")".repeat(300)),
        format!("{}rm a.txt", "sudo ".repeat(2000)),
        format!("{}rm a.txt{}", "{ ".repeat(200), "; }".repeat(200)),
        "f() { f \"$(f)\"; }; f".to_owned(),
        "f() { g; }; g() { f; f; }; f".to_owned(),
        "x='eval \"$x\"'; eval \"$x\"".to_owned(),
        "./run.sh a".to_owned(),
    ] {
        assert!(is_opaque(&check(&text)), "not opaque: {}", text.chars().take(60).collect::<String>());
    }
}

/// What nobody can read stands where nothing is followed any more: looking it over must not lead back to following it.
#[test]
fn what_cannot_be_read_ends_where_nothing_is_followed() {
    for depth in 30..70 {
        for inner in ["eval 'a ( b'", "bash -c 'a ( b'", "eval 'if x; fi )'"] {
            for behind in ["", "\ntouch a.txt", " && touch a.txt"] {
                let text = format!("echo {}{inner} {}{behind}", "$( ".repeat(depth), ")".repeat(depth));
                assert!(is_opaque(&check(&text)), "not opaque: {depth} {inner} {behind}");
            }
        }
    }
}

/// A program of the system that the command wrote anew is found where it is of the system again.
#[test]
fn a_program_of_the_system_that_is_replaced_is_found_once() {
    for text in [
        "echo 'echo no' > /bin/tr; chmod +x /bin/tr; PATH=\"/bin:$PATH\"; echo a | tr a b; rm a.txt",
        "cp x /usr/bin/ls; PATH=/usr/bin; ls; command ls; rm a.txt",
        "mkdir -p $X/bin; echo x > $X/bin/tr; PATH=\"$X/bin:$PATH\"; tr a b; rm a.txt",
    ] {
        let deletes = |prediction: &Prediction| {
            prediction.effects.iter().any(|effect| effect.kind == EffectKind::FileDelete)
        };
        assert!(deletes(&check(text)), "{text}");
    }
}

/// A thousand functions, each of which calls the next one in this way; the last one deletes.
fn chain_of_functions(call: &str) -> String {
    let functions = (0..1000)
        .map(|n| format!("f{n}() {{ {}; }}\n", call.replace("NEXT", &format!("f{}", n + 1))))
        .collect::<Vec<_>>()
        .concat();
    format!("{functions}f1000() {{ rm -rf a.txt; }}\nf0")
}

#[test]
fn long_chains_end_in_opaque() {
    for call in ["NEXT", "NEXT | cat", "if NEXT; then :; fi", "x=$(NEXT)", "eval NEXT", "(NEXT)"] {
        assert!(is_opaque(&check(&chain_of_functions(call))), "not opaque: {call}");
    }
    // A trap that is set while that of the end runs is never run.
    check(&chain_of_functions("trap NEXT EXIT"));
    let aliases = (0..1000).map(|n| format!("alias a{n}=a{}\n", n + 1)).collect::<Vec<_>>().concat();
    for text in [
        format!("shopt -s expand_aliases\n{aliases}a0 -rf a.txt"),
        format!("{}rm a.txt", "command ".repeat(5000)),
        format!("{}rm a.txt", "builtin ".repeat(5000)),
        format!("{}rm a.txt", "exec ".repeat(5000)),
    ] {
        assert!(is_opaque(&check(&text)), "not opaque: {}", text.chars().take(60).collect::<String>());
    }
}

#[test]
fn large_inputs_are_bounded() {
    check(&format!("rm {}", "a".repeat(60_000)));
    check(&"rm a.txt; ".repeat(6_000));
    check(&format!("x={}; {}", "a".repeat(1000), "x=$x$x; ".repeat(40)));
    check("for a in {1..300}; do for b in {1..300}; do rm $a$b; done; done");
    check("i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done; rm $i");
    check("while true; do while true; do while true; do x=$((x+1)); rm $x; done; done; done");
    check("for ((;;)); do :; done; rm -rf a.txt");
    check(&format!("case {} in {}) rm a.txt;; esac", "a".repeat(300), "*a".repeat(60)));
    check(&format!("rm {}", "*/".repeat(400)));
    check(&format!("x={}; echo ${{x//*a*b/c}}", "ab".repeat(2000)));
    check(&format!("if $(date); then {} fi", "if $(date); then rm a.txt; fi; ".repeat(400)));
}

const PIECES: &[&str] = &[
    "rm",
    "-rf",
    "a.txt",
    "'b c.txt'",
    "\"$x\"",
    "$x",
    "${x:-y}",
    "${x%t*}",
    "${#x[@]}",
    "${!x}",
    "$(",
    ")",
    "`",
    "((",
    "))",
    "$((",
    "{",
    "}",
    "(",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "if",
    "then",
    "else",
    "fi",
    "for",
    "in",
    "do",
    "done",
    "while",
    "until",
    "case",
    "esac",
    ";;",
    "x=1",
    "x=(1 2)",
    "x+=3",
    "x[1]=2",
    "f()",
    "f",
    "function",
    "[[",
    "]]",
    "-f",
    "==",
    "~",
    "~/x",
    "*",
    "?",
    "[a-z]*",
    "{a,b}",
    "{1..9}",
    ">",
    ">>",
    "<",
    "<<<",
    "<<E",
    "E",
    "2>&1",
    "&>",
    "cd",
    "..",
    "eval",
    "export",
    "declare",
    "-A",
    "local",
    "set",
    "-e",
    "--",
    "shift",
    "return",
    "exit",
    "break",
    "continue",
    "trap",
    "EXIT",
    "read",
    "r",
    "source",
    "./run.sh",
    "bash",
    "-c",
    "sudo",
    "env",
    "xargs",
    "-I{}",
    "find",
    ".",
    "-exec",
    "{}",
    "\\;",
    "+",
    "curl",
    "http://h/x",
    "git",
    "push",
    "--force",
    "echo",
    "printf",
    "%s\\n",
    "cat",
    "tee",
    "mktemp",
    "!",
    "time",
    "coproc",
    "<(",
    "select",
    "test",
    "[",
    "]",
    "/dev/null",
    "$@",
    "$*",
    "$1",
    "\"$@\"",
    "shopt",
    "-s",
    "nullglob",
    "tr",
    "cut",
    "-d:",
    "sed",
    "s/a/b/",
    "seq",
    "3",
    "base64",
    "-d",
    "\u{0}",
    "é",
    "$'\\x41'",
    "\\",
    "\"",
    "'",
    "#",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_soup_of_words_panics(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24), glue in prop::sample::select(&[" ", ""][..])) {
        let text = pieces.join(glue);
        let first = check(&text);
        prop_assert_eq!(first, interpret(&text));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        check(&text);
    }
}

/// What stands behind a budget that is spent, or below a depth that is not followed, is looked over all the same.
#[test]
fn what_is_not_followed_is_looked_over() {
    let bomb = format!("{} f0; rm -rf ~/looked-over", functions(6, 10));
    let chain = functions(60, 1);
    let deep = format!("{chain} f60() {{ rm -rf ~/looked-over; }}; f0");
    for text in [bomb, deep] {
        let prediction = interpret(&text);
        assert!(
            prediction.effects.iter().any(|effect| {
                effect.kind == EffectKind::Opaque && effect.severity >= checkrein_protocol::Severity::High
            }),
            "asked about: {}",
            &text[..60]
        );
        assert!(
            prediction.effects.iter().any(|effect| {
                effect.kind == EffectKind::FileDelete
                    && effect.target.path().is_some_and(|path| path.as_str().ends_with("looked-over"))
            }),
            "looked over: {}",
            &text[..60]
        );
    }
}

/// Functions of which each calls the next so many times.
fn functions(count: usize, calls: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let call = format!("f{}; ", number + 1);
        text.extend(["f", &number.to_string(), "() { ", &call.repeat(calls), "}; "]);
    }
    text
}
