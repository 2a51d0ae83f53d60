//! What is read of a program of the shell, held against what the real shells do with it.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

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
