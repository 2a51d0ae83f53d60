//! What a condition lets run is seen, however it is written. Which conditions let nothing run is asked of the real programs.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_testkit::world::{bare, command};

/// A language: its program with the option for code, how it makes a file, and the forms in which a condition `C` stands before an action `A`.
struct Spoken {
    program: &'static str,
    option: &'static str,
    action: &'static str,
    forms: &'static [&'static str],
}

const LANGUAGES: [Spoken; 5] = [
    Spoken {
        program: "perl",
        option: "-e",
        action: "mkdir('reached')",
        forms: &[
            "A if C",
            "A unless C",
            "do { A; exit } while C",
            "do { A; exit } until C",
            "do { A; exit } while (C);",
            "if (C) { A }",
            "unless (C) { A }",
            "if (C) { } else { A }",
            "if (C) { } elsif (1) { A }",
            "if (1) { } elsif (C) { A }",
            "C && A",
            "C and A",
            "C ? A : 1",
        ],
    },
    Spoken {
        program: "node",
        option: "-e",
        action: "require('fs').mkdirSync('reached')",
        forms: &[
            "if (C) A",
            "if (C) { A }",
            "if (C) { } else { A }",
            "if (!(C)) { A }",
            "do { A; process.exit() } while (C)",
            "C && A",
            "(C) ? A : 1",
            "for (; C; ) { A; break }",
            "while (C) { A; break }",
        ],
    },
    Spoken {
        program: "python3",
        option: "-c",
        action: "os.mkdir('reached')",
        forms: &[
            "import os\nif C: A",
            "import os\nif C: pass\nelse: A",
            "import os\nif C: pass\nelif True: A",
            "import os\nif not C: A",
            "import os\nwhile C: A; break",
            "import os\nwhile C: break\nelse: A",
            "import os\nC and A",
            "import os\nA if C else None",
        ],
    },
    Spoken {
        program: "ruby",
        option: "-e",
        action: "Dir.mkdir('reached')",
        forms: &[
            "A if C",
            "A unless C",
            "begin; A; exit; end while C",
            "if C then A end",
            "if C\nelse A end",
            "unless C then A end",
            "C && A",
        ],
    },
    Spoken {
        program: "php",
        option: "-r",
        action: "mkdir('reached')",
        forms: &[
            "if (C) { A; }",
            "if (C) { } else { A; }",
            "do { A; exit; } while (C);",
            "switch (C) { case 0: A; }",
            "switch (C) { default: A; }",
            "C && A;",
        ],
    },
];

const CONDITIONS: [&str; 14] = [
    "0",
    "1",
    "false",
    "true",
    "False",
    "True",
    "FALSE",
    "null",
    "nil",
    "None",
    "undefined",
    "''",
    "'0'",
    "'false'",
];

#[test]
fn whatever_a_condition_of_perl_lets_run_is_seen() {
    assert!(asked_and_reached("perl").is_none_or(|(asked, reached)| asked > 150 && reached > 50));
}

#[test]
fn whatever_a_condition_of_javascript_lets_run_is_seen() {
    assert!(asked_and_reached("node").is_none_or(|(asked, reached)| asked > 100 && reached > 30));
}

#[test]
fn whatever_a_condition_of_python_lets_run_is_seen() {
    assert!(asked_and_reached("python3").is_none_or(|(asked, reached)| asked > 100 && reached > 20));
}

#[test]
fn whatever_a_condition_of_ruby_lets_run_is_seen() {
    assert!(asked_and_reached("ruby").is_none_or(|(asked, reached)| asked > 90 && reached > 20));
}

#[test]
fn whatever_a_condition_of_php_lets_run_is_seen() {
    assert!(asked_and_reached("php").is_none_or(|(asked, reached)| asked > 80 && reached > 20));
}

/// How many texts were asked of a program, and how many of them did something, all of which was seen; `None` where it is not here.
fn asked_and_reached(program: &str) -> Option<(usize, usize)> {
    let language = LANGUAGES.iter().find(|language| language.program == program).unwrap();
    if !is_here(program) {
        println!("did not run: {program} is not here");
        return None;
    }
    let (mut asked, mut reached) = (0, 0);
    for form in language.forms {
        for condition in CONDITIONS {
            let code = form.replace('A', "\u{1}").replace('C', condition).replace('\u{1}', language.action);
            asked += 1;
            if !makes_it(language, &code) {
                continue;
            }
            reached += 1;
            let quoted = code.replace('\'', r"'\''");
            let text = format!("{program} {} '{quoted}'", language.option);
            let effects = predict(&command(&text), &bare()).effects;
            let names_it = |text: &str| text.ends_with("/reached");
            let is_seen = effects.iter().any(|effect| effect.target.text().is_some_and(names_it));
            assert!(is_seen, "{code}: {effects:?}");
        }
    }
    Some((asked, reached))
}

fn is_here(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Whether the real program makes the directory.
fn makes_it(language: &Spoken, code: &str) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let mut run = Command::new(language.program);
    run.args([language.option, code]).current_dir(directory.path()).stdin(Stdio::null());
    run.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    directory.path().join("reached").exists()
}
