//! Code on the standard input is read as far as code in a file that is named.

#![allow(clippy::unwrap_used)]

use checkrein_effects::predict;
use checkrein_facts::{FileText, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectKind, Severity};
use checkrein_testkit::world::bare;

#[test]
fn what_stands_behind_much_harmless_code_is_seen() {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let long = |line: &str, last: &str| format!("{}{last}\n", line.repeat(FileText::LIMIT / line.len() + 9));
    let world = bare()
        .with_directory(&home.join("papers"))
        .with_file(
            &workspace.join("a.py"),
            &long("x = 1\n", "__import__('os').system('rm -rf ~/papers')"),
            VersionState::Untracked,
        )
        .with_file(
            &workspace.join("a.js"),
            &long("let x;\n", "require('child_process').execSync('rm -rf ~/papers')"),
            VersionState::Untracked,
        )
        .with_file(
            &workspace.join("a.pl"),
            &long("my $x = 1;\n", "system('rm -rf ~/papers');"),
            VersionState::Untracked,
        )
        .with_file(
            &workspace.join("a.fish"),
            &long("echo hello\n", "rm -rf ~/papers"),
            VersionState::Untracked,
        )
        .with_file(
            &workspace.join("a.sql"),
            &long("INSERT INTO t VALUES (1);\n", "DROP DATABASE production;"),
            VersionState::Untracked,
        );
    // A shell is followed for so many commands, and says so behind them.
    let takes_or_says = |command: &str, kind: EffectKind| {
        predict(&Action::command(command, workspace.clone()), &world).effects.iter().any(|effect| {
            effect.kind == kind || effect.kind == EffectKind::Opaque && effect.severity >= Severity::High
        })
    };
    for (program, file) in [("python3", "a.py"), ("node", "a.js"), ("perl", "a.pl"), ("fish", "a.fish")] {
        for command in
            [format!("{program} {file}"), format!("{program} < {file}"), format!("cat {file} | {program}")]
        {
            assert!(takes_or_says(&command, EffectKind::FileDelete), "{command}");
        }
    }
    for command in ["psql -f a.sql", "psql < a.sql", "cat a.sql | mysql", "sqlite3 x.db '.read a.sql'"] {
        assert!(takes_or_says(command, EffectKind::DatastoreDestroy), "{command}");
    }
}
