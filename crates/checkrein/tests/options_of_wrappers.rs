//! Programs that run another program, or code that they are given: with each option that their own help names, and a value where it takes one, what runs is seen.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// Code that runs the words behind it.
const CODE_OF_NODE: &str =
    "-e 'require(\"child_process\").spawnSync(process.argv[1], process.argv.slice(2))' --";
const CODE_OF_PERL: &str = "-e 'exec @ARGV' --";
const CODE_OF_PYTHON: &str = "-c 'import subprocess, sys; subprocess.run(sys.argv[1:])'";

/// Each with the words that have to stand before the command.
const WRAPPERS: [(&str, &str); 27] = [
    ("chroot", "/"),
    ("chrt", "1"),
    ("choom", "-n 1 --"),
    ("cpulimit", "-l 10 --"),
    ("env", ""),
    ("fakeroot", ""),
    ("flock", "/tmp/lock"),
    ("ionice", ""),
    ("nice", ""),
    ("node", CODE_OF_NODE),
    ("nsenter", ""),
    ("parallel", ""),
    ("perl", CODE_OF_PERL),
    ("prlimit", ""),
    ("python3", CODE_OF_PYTHON),
    ("runuser", "-u dev --"),
    ("setarch", "x86_64"),
    ("setpriv", ""),
    ("setsid", ""),
    ("stdbuf", "-o0"),
    ("strace", ""),
    ("sudo", ""),
    ("systemd-run", ""),
    ("taskset", "1"),
    ("timeout", "5"),
    ("unshare", ""),
    ("xargs", ""),
];

/// Options by which a program is about a process that runs already, or takes a text for a shell: the words behind are no command.
const OTHERWISE: [(&str, &[&str]); 6] = [
    ("choom", &["-p", "--pid"]),
    ("env", &["-S", "--split-string"]),
    ("flock", &["-c", "--command"]),
    ("ionice", &["-p", "--pid", "-P", "--pgid", "-u", "--uid"]),
    ("prlimit", &["-p", "--pid"]),
    ("strace", &["-p", "--attach"]),
];

/// The options that a help text says to take a value: `-n, --adjustment=N`, `--fork <value>`.
fn options_with_values(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let heads = lines.map(|line| line.split("  ").next().unwrap_or(line));
    let takes = |head: &&str| {
        let last = head.rsplit([' ', '=']).next().unwrap_or_default();
        let is_value = last.starts_with('<') || last.chars().all(|letter| letter.is_ascii_uppercase());
        !head.contains("[=") && !head.contains("[<") && !last.is_empty() && is_value && last != *head
    };
    let words = heads.filter(takes).flat_map(|head| head.split([' ', ',', '=']));
    let options = words.filter(|word| word.starts_with('-') && word.len() > 1);
    options
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !matches!(*word, "--" | "--help" | "--version"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_value_of_an_option_is_not_taken_for_the_command() {
    let environment = TestEnvironment::new();
    std::fs::create_dir(environment.home().join("kept")).unwrap();
    let mut commands: Vec<String> = Vec::new();
    for (program, before) in WRAPPERS {
        let Ok(output) = Command::new(program).arg("--help").output() else { continue };
        let help = format!(
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let otherwise = OTHERWISE.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, all)| all);
        for option in options_with_values(&help).iter().filter(|option| !otherwise.contains(&option.as_str()))
        {
            let mut forms = vec![format!("{option} 1")];
            if option.starts_with("--") {
                forms.push(format!("{option}=1"));
            }
            commands.extend(forms.iter().map(|form| format!("{program} {form} {before} rm -rf ~/kept")));
        }
    }
    // `env`, `nice` and their like of GNU say so on each Linux.
    assert!(commands.len() > 20 || cfg!(not(target_os = "linux")), "{commands:?}");
    let mut lines = String::new();
    for (id, command) in commands.iter().enumerate() {
        let line = json!({ "id": id.to_string(), "command": command, "cwd": environment.project() });
        writeln!(lines, "{line}").unwrap();
    }
    environment.write("commands.jsonl", &lines);
    let answers = environment.succeed(&["check", "--json", "--batch", "commands.jsonl"]);
    let deletes = |answer: &Json| {
        let effects = answer["effects"].as_array().unwrap();
        let target = |effect: &Json| effect["target"].as_str().unwrap_or_default().ends_with("/kept");
        effects.iter().any(|effect| effect["kind"] == "file_delete" && target(effect))
    };
    let answers: Vec<Json> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), commands.len());
    let missed: Vec<&String> = commands
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| !deletes(answer))
        .map(|(command, _)| command)
        .collect();
    assert!(missed.is_empty(), "{missed:#?} of {}", commands.len());
}
