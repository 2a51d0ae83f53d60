//! Names that come out of an output of which nothing is known, on their way to a program that takes away what it is given: whatever the way,
//! it is known that they may be any file.

#![allow(clippy::unwrap_used)]

use checkrein_effects::predict;
use checkrein_facts::{HostPaths, RecordedWorld, VersionState};
use checkrein_protocol::{AbsolutePath, Action, Effect, EffectKind, Nature};

fn effects(command: &str) -> Vec<Effect> {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let place = HostPaths {
        home: home.clone(),
        user: None,
        workspace: workspace.clone(),
        temporary: vec![],
        guarded: vec![],
        expected: vec![],
    };
    let file = |world: RecordedWorld, path: &AbsolutePath| {
        world.with_file(path, "text\n", VersionState::NoRepository)
    };
    let world =
        RecordedWorld::complete(place).with_directory(&workspace).with_directory(&workspace.join("k"));
    let world = world.with_directory(&AbsolutePath::new("/tmp").unwrap());
    let world = file(world, &workspace.join("src/app.py"));
    let world = file(world, &workspace.join("h.db"));
    let world = file(world, &home.join("Documents/one.txt"));
    let world = file(world, &home.join("Documents/two.txt"));
    predict(&Action::command(command, workspace), &world).effects
}

/// What prints names that nobody knows beforehand.
const SOURCES: [&str; 5] = [
    "sqlite3 h.db 'select p from t'",
    "locate Documents",
    "curl -s https://x.example/l",
    "ssh host cat list",
    "wget -qO- https://x.example/l",
];

/// Ways from an output, `LIST`, to a program, `TAKE`, of which `@` is where the name stands.
const WAYS: [&str; 34] = [
    "LIST | xargs -I{} TAKE{}",
    "TAKE\"$(LIST)\"",
    "f=$(LIST); TAKE\"$f\"",
    "f=$(LIST); TAKE\"${f%.bak}\"",
    "f=$(LIST); n=f; TAKE\"${!n}\"",
    "f=$(LIST); declare -n r=f; TAKE\"$r\"",
    "set -- $(LIST); TAKE\"$1\"",
    "set -- $(LIST); while [ $# -gt 0 ]; do TAKE\"$1\"; shift; done",
    "g() { TAKE\"$1\"; }; g \"$(LIST)\"",
    "g() { TAKE\"$1\"; }; LIST | while read -r f; do g \"$f\"; done",
    "names() { LIST; }; for f in $(names); do TAKE\"$f\"; done",
    "LIST | while read -r f; do TAKE\"$f\"; done",
    "while read -r f; do TAKE\"$f\"; done < <(LIST)",
    "a=($(LIST)); TAKE\"${a[0]}\"",
    "mapfile -t a < <(LIST); for f in \"${a[@]}\"; do TAKE\"$f\"; done",
    "mapfile -d '' a < <(LIST); for f in \"${a[@]}\"; do TAKE\"$f\"; done",
    "h() { TAKE\"$2\"; }; mapfile -t -c1 -C h a < <(LIST)",
    "declare -A m; while read -r f; do m[$f]=1; done < <(LIST); for f in \"${!m[@]}\"; do TAKE\"$f\"; done",
    "select f in $(LIST); do TAKE\"$f\"; break; done",
    "printf -v f %s \"$(LIST)\"; TAKE\"$f\"",
    "LIST > l; xargs -I{} -a l TAKE{}",
    "LIST > l; xargs -I{} TAKE{} < l",
    "LIST > l; while read -r f; do TAKE\"$f\"; done < l",
    "LIST > l && TAKE$(<l)",
    "LIST > l && TAKE$(cat l)",
    "t=$(mktemp); LIST > \"$t\"; while read -r f; do TAKE\"$f\"; done < \"$t\"",
    "LIST > l; parallel -a l TAKE{}",
    "LIST | find -files0-from - -exec TAKE{} \\;",
    "TAKE\"$(LIST)/x\"",
    "TAKE\"$(LIST).bak\"",
    "for f in \"$(LIST)\"/*; do TAKE\"$f\"; done",
    "cd \"$(LIST)\" && TAKE* ",
    "cd \"$(LIST)\"; TAKE\"a b\"",
    "pushd \"$(LIST)\" && for f in *; do TAKE\"$f\"; done",
];

const TAKERS: [&str; 7] =
    ["rm -f ", "mv -t k ", "chmod -R 000 ", "truncate -s0 ", "sed -i d ", "cp /dev/null ", "ln -sfn x "];

fn is_noticed(command: &str) -> bool {
    effects(command).iter().any(|effect| {
        effect.nature == Nature::NamedByOutput
            && matches!(
                effect.kind,
                EffectKind::FileDelete | EffectKind::FileModify | EffectKind::PermissionChange
            )
    })
}

#[test]
fn no_way_loses_that_a_name_may_be_any() {
    let mut lost = Vec::new();
    for source in SOURCES {
        for way in WAYS {
            for taker in TAKERS {
                let command = way.replace("LIST", source).replace("TAKE", taker);
                if !is_noticed(&command) {
                    lost.push(command);
                }
            }
        }
    }
    assert!(
        lost.is_empty(),
        "{} of {}:\n{}",
        lost.len(),
        SOURCES.len() * WAYS.len() * TAKERS.len(),
        lost.join("\n")
    );
}

#[test]
fn names_that_are_known_are_not_any() {
    for command in [
        "set -- src/app.py; mv \"$@\" k/",
        "ls src | while read -r f; do chmod 644 \"src/$f\"; done",
        "v=$(sqlite3 h.db 'select 1'); mv src/app.py \"k/$v.py\"",
        "curl -s https://x.example/l > l; mv src/app.py k/",
        "v=$(curl -s https://x.example/version); echo \"$v\" > version.txt; sed -i s/a/b/ src/app.py",
        "curl -s https://x.example/l | while read -r u; do curl -sO \"$u\"; done",
    ] {
        assert!(!is_noticed(command), "{command}: {:#?}", effects(command));
    }
}

#[test]
fn lists_that_end_in_zeros_are_read() {
    for command in [
        "mapfile -d '' a < <(find ~/Documents -type f -print0); rm -f \"${a[@]}\"",
        "find ~/Documents -print0 | find -files0-from - -type f -delete",
        "find ~/Documents -type f -print0 > l; find -files0-from l -delete",
        "printf '%s\\0' ~/Documents/* | find -files0-from - -delete",
        "zsh -c 'print -N ~/Documents/*' | xargs -0 rm -f",
        "zsh -c 'print -l ~/Documents/*' | while read -r f; do rm -rf \"$f\"; done",
        "zsh -c 'print -rC1 -- ~/Documents/*' | xargs rm -f",
        "h() { rm -rf \"$2\"; }; mapfile -t -c1 -C h a < <(ls -d ~/Documents/*)",
        "mapfile -t -c 1 -C 'rm -f --' a < <(ls -d ~/Documents/*)",
    ] {
        let deleted: Vec<String> = effects(command)
            .iter()
            .filter(|effect| effect.kind == EffectKind::FileDelete)
            .filter_map(|effect| effect.target.text().map(str::to_owned))
            .collect();
        for name in ["one.txt", "two.txt"] {
            let is_there = deleted.iter().any(|path| path.ends_with(name) || path.contains("Documents/*"));
            assert!(is_there, "{command}: {name} is not in {deleted:?}");
        }
    }
}
