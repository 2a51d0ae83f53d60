//! The commands of sqlite3 that run a program are read by the beginnings of their names as the real sqlite3 reads them.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_facts::{HostPaths, RecordedWorld};
use checkrein_protocol::{AbsolutePath, Action, EffectKind};
use checkrein_testkit::not_run;

/// Commands of which some take a program and some do not.
const NAMES: &[&str] =
    &["shell", "system", "once", "output", "import", "open", "save", "log", "read", "echo", "show"];
/// What stands behind a name; each would make the file `mark`.
const ENDS: &[&str] =
    &["touch mark", "|touch mark", "'|touch mark'", "|sh -c 'touch mark'", "\"|sh -c 'touch mark'\" t"];

#[test]
fn the_beginnings_of_commands_run_what_the_real_program_runs() {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        return not_run("sqlite3 is not installed");
    }
    let mut ran = 0;
    for name in NAMES {
        for length in 1..=name.len() {
            for end in ENDS {
                let command = format!(".{} {end}", &name[..length]);
                let folder = tempfile::tempdir().unwrap();
                let mut real = Command::new("sqlite3");
                real.args(["-batch", ":memory:", &command, "select 1"]).current_dir(folder.path());
                real.stdin(Stdio::null()).output().unwrap();
                let did_run = folder.path().join("mark").exists();
                let quoted = command.replace('\\', "\\\\").replace('"', "\\\"");
                let text = format!("sqlite3 -batch :memory: \"{quoted}\" 'select 1'");
                let here = AbsolutePath::new(folder.path().to_str().unwrap()).unwrap();
                let world = RecordedWorld::complete(HostPaths::new(
                    AbsolutePath::new("/home/dev").unwrap(),
                    here.clone(),
                ));
                let foreseen = predict(&Action::command(text.clone(), here.clone()), &world)
                    .effects
                    .iter()
                    .any(|effect| {
                        effect.kind == EffectKind::FileCreate
                            && effect.target.path() == Some(&here.join("mark"))
                    });
                assert!(!did_run || foreseen, "{text} runs a program");
                ran += usize::from(did_run);
            }
        }
    }
    assert!(ran > 20, "only {ran} ran a program");
}
