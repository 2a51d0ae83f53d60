//! Names that are too many to be listed, printed by one program and given to another: what is changed of them is what the pattern says.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use checkrein_effects::{predict, program_names};
use checkrein_facts::{HostPaths, RecordedWorld, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectKind, Target};

fn world() -> (RecordedWorld, AbsolutePath) {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let place = HostPaths {
        home: home.clone(),
        user: None,
        workspace: workspace.clone(),
        temporary: vec![AbsolutePath::new("/tmp").unwrap()],
        guarded: vec![],
        expected: vec![],
    };
    let mut world = RecordedWorld::complete(place).with_directory(&workspace);
    for number in 0..260 {
        world = world
            .with_file(&home.join(&format!("d{number}")), "x", VersionState::NoRepository)
            .with_file(&workspace.join(&format!("p/{number}.py")), "x", VersionState::TrackedClean);
    }
    (world, workspace)
}

/// What a command changes of the names of a pattern: kinds of effects.
fn changed(
    world: &RecordedWorld,
    workspace: &AbsolutePath,
    command: &str,
    pattern: &str,
) -> BTreeSet<EffectKind> {
    predict(&Action::command(command, workspace.clone()), world)
        .effects
        .into_iter()
        .filter(|effect| effect.kind.file_change().is_some() && effect.kind != EffectKind::FileCreate)
        .filter(|effect| matches!(&effect.target, Target::Glob(text) if text == pattern))
        .map(|effect| effect.kind)
        .collect()
}

/// Ways by which names come to be the last words of a program.
const WAYS: &[&str] = &[
    "PROGRAM $(LIST)",
    "LIST | xargs PROGRAM",
    "LIST | xargs -I{} PROGRAM {}",
    "LIST | while read -r f; do PROGRAM \"$f\"; done",
    "for f in $(LIST); do PROGRAM \"$f\"; done",
    "x=$(LIST); PROGRAM $x",
    "LIST > names.txt; xargs PROGRAM < names.txt",
    "f() { PROGRAM \"$@\"; }; f $(LIST)",
    "set -- $(LIST); PROGRAM \"$@\"",
    "LIST | xargs sh -c 'PROGRAM \"$@\"' _",
    "LIST | sort | head -50 | xargs PROGRAM",
    "LIST | rev | rev | xargs PROGRAM",
];
/// Programs that print the names of a pattern, with something beside them or without.
const LISTS: &[&str] = &[
    "ls -d ~/*",
    "stat -c %n ~/*",
    "realpath ~/*",
    "sha1sum ~/* | cut -c43-",
    "wc -l ~/* | awk '{print $2}'",
    "file ~/* | cut -d: -f1",
    "echo ~/* | tr ' ' '\\n'",
    "some-list ~/*",
    "python3 -c 'import glob, os; print(\"\\n\".join(glob.glob(os.path.expanduser(\"~/*\"))))'",
    "perl -e 'print join(\"\\n\", glob(\"$ENV{HOME}/*\"))'",
];

#[test]
fn every_program_changes_names_of_a_list_as_it_changes_names_of_the_pattern() {
    let (world, workspace) = world();
    let mut seen = 0;
    for name in program_names() {
        for options in ["", " -R 000"] {
            let program = format!("{name}{options}");
            let direct = changed(&world, &workspace, &format!("{program} ~/*"), "/home/dev/*");
            if direct.is_empty() {
                continue;
            }
            seen += 1;
            let listed = changed(&world, &workspace, &format!("{program} $(ls -d ~/*)"), "/home/dev/*");
            assert!(listed.is_superset(&direct), "{program}: {direct:?}, of a list {listed:?}");
        }
    }
    assert!(seen > 50, "only {seen} programs change what they are given");
}

#[test]
fn names_stay_those_of_the_pattern_by_whatever_way_they_come() {
    let (world, workspace) = world();
    let programs = ["mv -t k", "chmod 000", "chown 1:1", "gzip", "setfacl -b", "shred -u", "sed -i d"];
    for (row, list) in LISTS.iter().enumerate() {
        for (column, way) in WAYS.iter().enumerate() {
            // Each list goes each way, and each program comes with each of both.
            if let Some(program) = programs.get((row + column) % programs.len()) {
                let command = way.replace("LIST", list).replace("PROGRAM", program);
                assert!(!changed(&world, &workspace, &command, "/home/dev/*").is_empty(), "{command}");
            }
        }
    }
}

#[test]
fn names_of_the_workspace_stay_in_it() {
    let (world, workspace) = world();
    for program in ["mv -t k", "chmod 644", "rm"] {
        for list in
            ["ls p/*.py", "ls -d p/*", "ls p/*.py | sort", "echo p/*.py", "printf '%s\\n' p/*.py | head -300"]
        {
            for way in WAYS.iter().filter(|way| !way.contains("rev")) {
                let command = way.replace("LIST", list).replace("PROGRAM", program);
                let effects = predict(&Action::command(&command, workspace.clone()), &world).effects;
                let leads_out = |target: &Target| match target {
                    Target::Path(path) => !path.is_within(&workspace),
                    Target::Glob(text) => !text.starts_with("/home/dev/proj/"),
                    Target::Unknown => list.starts_with("ls") && !list.contains('|') && program == "rm",
                    Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => false,
                };
                let outside = effects
                    .iter()
                    .find(|effect| effect.kind.file_change().is_some() && leads_out(&effect.target));
                assert!(outside.is_none(), "{command}: {outside:?}");
            }
        }
    }
}
