//! The generator of shell programs and its judge: the same for the same seed, and no wrong reading gets past.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::Path;

use checkrein_facts::RecordedWorld;
use checkrein_protocol::{Action, Effect, EffectKind, Target};
use checkrein_testkit::not_run;
use checkrein_testkit::shells::part::{Form, ProgramPart};
use checkrein_testkit::shells::{
    Doubt, Judge, ProgramFinding, RealShell, ShellFault, ShellTrial, kept, program,
};

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(Path::new("/var/tmp")).unwrap()
}

/// Foresees the marks that stand in the text as a word of their own, whatever becomes of them.
fn by_words(action: &Action, _: &RecordedWorld) -> Vec<Effect> {
    let command = action.shell_text().unwrap_or_default();
    let is_mark = |word: &&str| word.len() > 1 && word.starts_with('M');
    let words = command.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(is_mark);
    words.map(|word| Effect::new(EffectKind::FileCreate, Target::Path(action.cwd.join(word)))).collect()
}

#[test]
fn programs_are_the_same_for_the_same_seed() {
    let text = |seed: u64, number: u64| {
        let program = program(seed, number, &RealShell::ALL);
        program.text_with(&program.part)
    };
    for number in 0..200 {
        assert_eq!(text(7, number), text(7, number));
    }
    let same = (0..200).filter(|number| text(7, *number) == text(8, *number)).count();
    assert!(same < 5, "{same} programs are those of another seed");
}

#[test]
fn parts_are_left_out_one_by_one() {
    let list = ProgramPart::list(vec![
        ProgramPart::leaf("one"),
        ProgramPart::around(&["eval ", ""], vec![ProgramPart::leaf("it's")]).with(Form::Quoted),
    ]);
    assert_eq!(list.text(), "one\neval 'it'\\''s'");
    let smaller: Vec<String> = list.smaller().iter().map(ProgramPart::text).collect();
    assert_eq!(
        smaller,
        [
            ":",
            "one",
            "eval 'it'\\''s'",
            "eval 'it'\\''s'",
            "one",
            ":\neval 'it'\\''s'",
            "one\n:",
            "one\nit's",
            "one\neval ':'"
        ]
    );
}

#[test]
fn a_wrong_reading_is_found_and_made_small() {
    if !RealShell::Bash.is_here() {
        return not_run("bash is not installed");
    }
    let folder = scratch();
    let judge = Judge::new(folder.path(), &by_words);
    let trial = |text: &str| ShellTrial::new(RealShell::Bash, text, Doubt::None);
    let missed = |names: &[&str]| {
        ProgramFinding::Wrong(ShellFault::Missed(names.iter().map(|name| (*name).to_owned()).collect()))
    };
    let invented = ProgramFinding::Wrong(ShellFault::Invented(vec!["M1".to_owned()]));
    let found = judge
        .findings(&[
            trial("echo >M0; echo >M1"),
            trial("x=1; echo >M$x"),
            trial("rm -f K1"),
            trial("false && echo >M1"),
            trial("while :; do :; done"),
        ])
        .unwrap();
    assert_eq!(
        found,
        [ProgramFinding::Holds, missed(&["M1"]), missed(&["without K1"]), invented, ProgramFinding::Endless]
    );

    let (counts, reports) = judge.row(1, 0, &[RealShell::Bash], (2, 2), |number| number < 50).unwrap();
    let (_, count) = &counts[0];
    assert!(count.missed + count.invented > 10, "{count:?}");
    for report in &reports {
        assert!(report.text.len() < 120, "not small: {}", report.text);
        assert!(kept::page(report).contains("```expect"));
    }
}
