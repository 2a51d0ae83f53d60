//! Names that are too many to be listed, printed by one program and given to another: what is changed of them is what the pattern says.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use checkrein_effects::{predict, program_names};
use checkrein_facts::{HostPaths, RecordedWorld, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectKind, FileChange, Nature, Target};

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
    // A program of git changes its work tree and nothing beside it, so names from elsewhere stand for as much of that as they may mean.
    for name in program_names().filter(|name| !name.starts_with("git-")) {
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

/// A home with few names or with many, with a workspace in it that has a few.
fn world_with(names: usize) -> (RecordedWorld, AbsolutePath) {
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
    let mut world = RecordedWorld::complete(place).with_directory(&workspace.join("k"));
    for number in 0..names {
        world = world.with_file(&home.join(&format!("f{number}")), "x", VersionState::NoRepository);
    }
    for name in ["src/app.py", "src/main.py", "src/first"] {
        world = world.with_file(&workspace.join(name), "x", VersionState::TrackedClean);
    }
    world =
        world.with_file(&workspace.join("list.txt"), "src/app.py\nsrc/main.py\n", VersionState::TrackedClean);
    (world, workspace)
}

/// Whether a command takes something from files outside the workspace, or from files of which only the output of a program knows.
fn takes_elsewhere(world: &RecordedWorld, workspace: &AbsolutePath, command: &str) -> bool {
    let effects = predict(&Action::command(command, workspace.clone()), world).effects;
    effects.iter().any(|effect| {
        let takes = effect.kind.file_change().is_some_and(|change| change != FileChange::Create);
        let is_outside = match &effect.target {
            Target::Path(path) => !path.is_within(workspace) && !path.as_str().starts_with("/dev/"),
            Target::Glob(text) => !text.starts_with("/home/dev/proj/"),
            Target::Unknown => effect.nature == Nature::NamedByOutput,
            Target::Host(_) | Target::Process(_) | Target::Service(_) | Target::Reference(_) => false,
        };
        takes && is_outside
    })
}

/// What takes something from the files that a list names.
const TAKERS: &[&str] = &[
    "LIST | xargs rm -rf",
    "LIST | xargs -I{} mv {} k/",
    "LIST | xargs mv -t k",
    "LIST | xargs chmod -R 000",
    "LIST | xargs -I{} chown 1:1 {}",
    "LIST | xargs chgrp 1",
    "LIST | xargs setfacl -m u::-",
    "LIST | xargs gzip -r",
    "LIST | xargs -n1 truncate -s0",
    "LIST | xargs -I{} cp /dev/null {}",
    "LIST | xargs -I{} ln -sfn x {}",
    "LIST | xargs -I{} dd if=/dev/null of={}",
    "LIST | xargs -P4 -n9 shred -u",
    "LIST | xargs sed -i d",
    "LIST | xargs sh -c 'mv \"$@\" k/' _",
    "LIST | while read -r f; do mv \"$f\" k/; done",
    "LIST | while read -r f; do : > \"$f\"; done",
    "for f in $(LIST); do chmod 000 \"$f\"; done",
    "mv $(LIST) k/",
    "LIST | parallel mv {} k/",
];
/// Lists of the names of the home directory, and what is put in front of them.
const OF_HOME: &[&str] = &[
    "cd ~ && ls",
    "cd ~ && ls -A | sort",
    "cd ~ && stat -c %n *",
    "cd ~ && python3 -c \"import os;print(*os.listdir(),sep=chr(10))\"",
    "ls ~ | awk -v h=$HOME '{print h\"/\"$0}'",
    "ls ~ | perl -pe 's#^#$ENV{HOME}/#'",
    "ls -A ~ | sed \"s#^#$HOME/#\"",
    "ls ~ | while read f; do echo ~/$f; done",
    "ls ~ | xargs -I{} echo ~/{}",
    "for f in $(ls ~); do echo ~/$f; done",
    "printf '%q\\n' ~/*",
    "{ set -- ~/*; printf '%s\\n' \"$@\"; }",
    "compgen -G \"$HOME/*\"",
    "locate $HOME",
    "ls -d ~/* | awk 1",
    "ls -d ~/* | shuf",
    "ls -d ~/* | tee l",
    "find ~ -type f",
    "some-list",
];
/// Lists of names of the workspace.
const OF_WORKSPACE: &[&str] = &[
    "git ls-files",
    "git diff --name-only HEAD~1",
    "ls src/*.py",
    "find . -name '*.py'",
    "find src k -name '*.py'",
    "grep -rl x src",
    "rg -l x",
    "cat list.txt",
    "stat -c %n src/*",
    "wc -l src/*.py | awk '{print $2}'",
    "ls src | awk '{print \"src/\"$0}'",
];
/// Filters that leave names of a list names of that list.
const FILTERS: &[&str] = &[
    "sort -u",
    "head -3",
    "awk 1",
    "awk 'length > 3'",
    "awk 'NR > 1 && !/first/ {print $1}'",
    "shuf",
    "tee /dev/stderr",
    "pv -l",
    "sed 's/first/last/'",
    "sed 's#^#./#'",
    "perl -ne 'print if /py$/'",
    "grep -vf list.txt",
    "column -t",
];

#[test]
fn whatever_takes_from_files_takes_from_those_that_an_output_names() {
    for names in [3, 300] {
        let (world, workspace) = world_with(names);
        for (row, list) in OF_HOME.iter().enumerate() {
            for (column, taker) in TAKERS.iter().enumerate() {
                // In a substitution the shell goes nowhere, and many names take time.
                let stays = list.starts_with("cd") && taker.contains("$(LIST)");
                if stays || names > 3 && (row + column) % 5 != 0 {
                    continue;
                }
                let command = taker.replace("LIST", list);
                assert!(takes_elsewhere(&world, &workspace, &command), "of {names}: {command}");
            }
        }
    }
}

#[test]
fn names_of_the_workspace_name_nothing_elsewhere_behind_filters() {
    let (world, workspace) = world_with(3);
    for (row, list) in OF_WORKSPACE.iter().enumerate() {
        for taker in TAKERS {
            let command = taker.replace("LIST", list);
            assert!(!takes_elsewhere(&world, &workspace, &command), "{command}");
        }
        for (column, filter) in FILTERS.iter().enumerate() {
            if let Some(taker) = TAKERS.get((row + column) % TAKERS.len()) {
                let command = taker.replace("LIST", &format!("{list} | {filter}"));
                assert!(!takes_elsewhere(&world, &workspace, &command), "{command}");
            }
        }
    }
}
