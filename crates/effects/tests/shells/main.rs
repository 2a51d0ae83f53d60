//! What is read of a program of the shell, held against what the real shells do with it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use checkrein_effects::predict;
use checkrein_facts::{HostPaths, RecordedWorld};
use checkrein_protocol::{AbsolutePath, Action};

mod oracle;
mod programs;

/// Every program must have been foreseen. Without the shells nothing is known, which is a failure and no success.
#[test]
fn what_the_shells_reach_was_foreseen() {
    let folder = tempfile::tempdir().unwrap();
    let count = oracle::run(folder.path(), 20_26, 0, |number| number < 400).unwrap();
    let wrong: Vec<String> = count
        .reports
        .iter()
        .map(|report| {
            format!("program {} ({:?}): {:?}\n{}", report.number, report.language, report.fault, report.text)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(count.programs, 400);
    assert!(count.unread < 40, "{} of 400 could not be read", count.unread);
}

/// The judge itself: a reading that leaves something out, or adds something, is found.
#[test]
fn the_judge_sees_what_was_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let compared = |text, read| {
        oracle::compared(folder.path(), text, read, programs::Language::Bash, programs::Doubt::None).unwrap()
    };
    let both = "echo >M0\necho >M1";
    assert_eq!(compared(both, both), oracle::Finding::Holds);
    let missed = oracle::Fault::Missed(vec!["M1".to_owned()]);
    assert_eq!(compared(both, "echo >M0"), oracle::Finding::Wrong(missed));
    let invented = oracle::Fault::Invented(vec!["M1".to_owned()]);
    assert_eq!(compared("echo >M0", both), oracle::Finding::Wrong(invented));
}

/// Text that every shell refuses is not asked about as if it could run: so nothing of it may run, in any of them. What a shell runs although
/// it looks much the same must have been foreseen.
#[test]
fn what_is_said_to_be_refused_runs_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let starts = [
        "echo >M0",
        "{ echo >M0; }",
        "if true; then echo >M0; fi",
        "(echo >M0)",
        "x=M0; echo >$x",
        "echo 'a' >M0",
    ];
    let joints = ["; ", " && ", " || ", " | ", " & ", "\n"];
    let ends = [
        "echo 'abc",
        "echo \"abc",
        "ls <path> | wc",
        "ps <pid>",
        "grep <word> f; echo",
        "<key>",
        "# don't",
        "cat <<E\nit's\nE",
        "echo \"$(echo 'a')\"",
        "echo \\'",
    ];
    let mut held = 0;
    for (start, joint, end) in starts
        .iter()
        .flat_map(|start| joints.iter().map(move |joint| (start, joint)))
        .flat_map(|(start, joint)| ends.iter().map(move |end| (start, joint, end)))
    {
        let text = format!("{start}{joint}{end}");
        for language in [programs::Language::Bash, programs::Language::Posix] {
            let found =
                oracle::compared(folder.path(), &text, &text, language, programs::Doubt::None).unwrap();
            assert!(!matches!(found, oracle::Finding::Wrong(_)), "{language:?}: {found:?}\n{text}");
            held += usize::from(found == oracle::Finding::Holds);
        }
    }
    assert!(held > 600, "only {held} of 720 were read as a whole or said to be refused");
}

/// Where a home directory stands in a word is for the real shell to say.
#[test]
fn home_directories_stand_where_the_shell_puts_them() {
    let home = AbsolutePath::root().join("scratch/home");
    let place = HostPaths::new(home.clone(), AbsolutePath::root().join("scratch"));
    let world = RecordedWorld::complete(place);
    let heads = ["", "a=", "_b2=", "2a=", "--to=", "a-b=", "a=b=", "a=b:", "c:", "'q'=", "a=\"\""];
    let tails = ["~/M", "~/x:~/M", "b:~/M", "~:~/M", "\\~/M", "'~'/M"];
    for word in heads.iter().flat_map(|head| tails.iter().map(move |tail| format!("{head}{tail}"))) {
        // As an operand, and as the value of a variable.
        for text in [format!("printf '%s' {word}"), format!("v={word}; printf '%s' \"$v\"")] {
            let output =
                std::process::Command::new("bash").args(["-c", &text]).env("HOME", home.as_str()).output();
            let said = String::from_utf8(output.unwrap().stdout).unwrap();
            let prediction = predict(&Action::command(format!("rm -- \"$({text})\""), home.clone()), &world);
            let targets: Vec<&str> =
                prediction.effects.iter().filter_map(|effect| effect.target.text()).collect();
            let expected = home.join(&said);
            assert_eq!(targets, [expected.as_str()], "{text}");
        }
    }
}
