//! The forms of the table, run with the real programs on lists of settings that are made up.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{Arguments, Input};

use super::*;

/// Calls that leave nothing of the values, as a shell would hand them over.
const HIDING: &[&[&str]] = &[
    &["cut", "-d=", "-f1"],
    &["cut", "-d", "=", "-f", "1"],
    &["cut", "-f1", "-d="],
    &["cut", "--delimiter==", "--fields=1"],
    &["cut", "-s", "-d=", "-f1"],
    &["awk", "-F=", "{print $1}"],
    &["awk", "-F", "=", "{ print $1 }"],
    &["awk", "-F=", "!/^#/ {print $1}"],
    &["awk", "-F=", "/KEY/ && NF>1 { print $1; }"],
    &["awk", "BEGIN{FS=\"=\"} {print $1}"],
    &["sed", "s/=.*//"],
    &["sed", "s/=.*$//"],
    &["sed", "-e", "s/=.*/=***/"],
    &["sed", "-E", "s/[[:space:]]*=.*/=<hidden>/"],
    &["sed", "/^#/d;s/=.*//"],
    &["sed", "-n", "s/=.*//p"],
    &["sed", "-n", "s/^\\([A-Z_]*\\)=.*/\\1/p"],
    &["sed", "-nE", "s/^([A-Za-z0-9_]+)=.*/\\1/p"],
    &["sed", "s|=.*||"],
    &["grep", "-o", "^[A-Z_]*"],
    &["grep", "-oE", "^[A-Za-z_][A-Za-z0-9_]*"],
    &["grep", "-o", "^[^=]*"],
    &["grep", "-oE", "^[^=#]+="],
    &["grep", "-oP", "^\\w+(?==)"],
    &["egrep", "-o", "^[[:alnum:]_]+"],
];

/// Calls that look like those, and leave something.
const SHOWING: &[&[&str]] = &[
    &["cut", "-d=", "-f2"],
    &["cut", "-d=", "-f1-"],
    &["cut", "-d=", "-f1,2"],
    &["cut", "-c1-20"],
    &["awk", "-F=", "{print $2}"],
    &["awk", "-F=", "{print $1, $2}"],
    &["awk", "{print $1}"],
    &["awk", "-F=", "{print $1} {print}"],
    &["sed", "s/=/ /"],
    &["sed", "s/=\\(.*\\)/ \\1/"],
    &["sed", "s/=.*/&/"],
    &["sed", "s/^\\([A-Z_]*\\)=.*/\\1/"],
    &["sed", "-n", "s/^\\([A-Z_]*=.*\\)=.*/\\1/p"],
    &["sed", "s/^PORT=.*//"],
    &["sed", "p;s/=.*//"],
    &["sed", "/KEY/s/=.*//"],
    &["grep", "-o", "[A-Za-z0-9]*"],
    &["grep", "-o", "^[A-Z_=a-z0-9]*"],
    &["grep", "-oE", "^[!-~]+"],
    &["grep", "-o", "^.*"],
    &["grep", "-oE", "^[A-Z_]+=.*"],
    &["grep", "-oE", "^[^#]+"],
    &["grep", "KEY"],
];

fn call(words: &[&str]) -> Call {
    Call {
        program: words[0].to_owned(),
        written: words[0].to_owned(),
        words: words[1..].iter().map(|word| Value::exact(*word)).collect(),
        input: Input::Unknown,
        arguments: Arguments::default(),
    }
}

/// What the real program prints of a text; `None` where it is not installed or has no such option.
#[expect(clippy::disallowed_methods, reason = "the real program is asked")]
fn printed(words: &[&str], text: &str) -> Option<String> {
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    if output.status.code().is_none_or(|code| code > 1) {
        return None;
    }
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Lists of settings whose values are of all sorts. No letter of a value (`q`, `Q`, `7`, `~`) stands in a name.
fn lists() -> Vec<String> {
    let names = ["A", "API_KEY", "port", "Db_Host", "export TOKEN", "X1"];
    let values = [
        "q",
        "qqqq",
        "QQQQ",
        "7777",
        "qQ7~",
        "qq=QQ==77",
        "\"qq QQ\"",
        "'q 7'",
        "~q/Q:7@q.q",
        "q#Q",
        "qq=",
        "",
        "q\\Q",
        "QQ_KEY=77",
    ];
    let mut all = Vec::new();
    for shift in 0..values.len() {
        let lines = names
            .iter()
            .enumerate()
            .map(|(index, name)| format!("{name}={}\n", values[(index + shift) % values.len()]));
        all.push(std::iter::once("# a remark\n\n".to_owned()).chain(lines).collect());
    }
    all
}

fn shows_value(text: &str) -> bool {
    text.contains(['q', 'Q', '7', '~'])
}

#[test]
fn what_is_said_to_hide_values_does_so_in_the_real_program() {
    let mut ran = 0;
    for words in HIDING {
        assert!(hides_values(&call(words)), "{words:?}");
        for list in lists() {
            if let Some(text) = printed(words, &list) {
                ran += 1;
                assert!(!shows_value(&text), "{words:?} of {list:?} prints {text:?}");
            }
        }
    }
    assert!(ran > 100, "{ran}");
}

#[test]
fn what_shows_values_in_the_real_program_is_not_said_to_hide_them() {
    for words in SHOWING {
        assert!(!hides_values(&call(words)), "{words:?}");
        let shown: Vec<bool> =
            lists().iter().filter_map(|list| printed(words, list)).map(|text| shows_value(&text)).collect();
        assert!(shown.is_empty() || shown.contains(&true), "{words:?} shows nothing after all");
    }
}

#[test]
fn whole_lines_are_told_from_other_forms() {
    for words in [&["sort", "-u"] as &[&str], &["grep", "-v", "^#"], &["head", "-n", "3"], &["cat"], &["tac"]]
    {
        assert!(keeps_lines(&call(words)), "{words:?}");
    }
    for words in [
        &["rev"] as &[&str],
        &["tr", "=", " "],
        &["base64"],
        &["grep", "-o", "x.*"],
        &["head", "-c", "9"],
        &["cat", "-A"],
        &["fold", "-w3"],
        &["head", "-9c"],
        &["tail", "+9c"],
        &["tac", "-s", "="],
        // They write to a file, of which nobody knows who shows it.
        &["sort", "-o", "file"],
        &["sort", "-ofile"],
        &["sort", "-uofile"],
        &["sort", "--output=file"],
        &["uniq", "list", "file"],
    ] {
        assert!(!keeps_lines(&call(words)), "{words:?}");
    }
}

/// Words that may stand behind the programs that pass lines on.
const OPTIONS: &[&str] = &[
    "",
    "-n",
    "-n2",
    "-2",
    "-qn2",
    "-c9",
    "-9c",
    "-qc9",
    "+2",
    "+9c",
    "-u",
    "-r",
    "-ru",
    "-k2",
    "-t=",
    "-z",
    "-zu",
    "-d",
    "-c",
    "-w3",
    "-f1",
    "-s",
    "-s=",
    "-b",
    "-A",
    "-E",
    "-o",
    "-v",
    "-i",
    "-H",
    "-h",
    "-x",
    "--color=always",
    "--bytes=9",
    "--lines=2",
    "--separator==",
    "--only-matching",
    "-e=",
];

/// What the table says of each program with each of these options and each pair of them is held against the real program: where lines stay
/// whole, each line that comes out ends in one that went in.
#[test]
fn lines_that_are_called_whole_are_whole() {
    const LIST: &str = "PORT=3000\nAPI_KEY=abc=def 123\nDB_PASSWORD=\"correct horse\"\nAPI_KEY=abc=def 123\n";
    let mut tried = 0;
    for program in ["cat", "sort", "uniq", "tac", "head", "tail", "grep"] {
        for (one, other) in OPTIONS.iter().flat_map(|one| OPTIONS.iter().map(move |other| (one, other))) {
            let options = [one, other].into_iter().filter(|word| !word.is_empty()).copied();
            let pattern = if program == "grep" { &["=", "-"][..] } else { &[] };
            let words: Vec<&str> =
                std::iter::once(program).chain(options).chain(pattern.iter().copied()).collect();
            if !keeps_lines(&call(&words)) {
                continue;
            }
            let Some(output) = printed(&words, LIST) else { continue };
            tried += 1;
            // `head -v` puts the name of the file above.
            for line in output.lines().filter(|line| !line.starts_with("==>")) {
                assert!(LIST.lines().any(|whole| line.ends_with(whole)), "{words:?}: {line}");
            }
        }
    }
    assert!(tried > 100, "{tried}");
}
