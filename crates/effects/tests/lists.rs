//! Lists of names of the workspace on their way through filters.

#![allow(clippy::unwrap_used)]

use checkrein_effects::predict;
use checkrein_facts::{GuardedPath, HostPaths, RecordedWorld, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectKind, Nature};

/// Whether what a command overwrites may be any file.
fn is_anywhere(command: &str) -> bool {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let settings = workspace.join(".claude/settings.json");
    let place = HostPaths {
        home,
        user: None,
        workspace: workspace.clone(),
        temporary: vec![],
        guarded: vec![GuardedPath { path: settings.clone(), role: "the settings".to_owned() }],
        expected: vec![],
    };
    let world = RecordedWorld::complete(place)
        .with_directory(&workspace)
        .with_file(&settings, "{\"hooks\": {\"timeout\": 5}}", VersionState::NoRepository)
        .with_file(&workspace.join("src/app.py"), "print(1)", VersionState::NoRepository);
    let effects = predict(&Action::command(command, workspace), &world).effects;
    effects.iter().any(|effect| {
        effect.kind == EffectKind::GuardTampering
            || effect.kind == EffectKind::FileModify && effect.nature == Nature::NamedByOutput
    })
}

const CONSUMERS: &[&str] = &[
    "LIST | xargs sed -i s/a/b/",
    "LIST | xargs -n1 cp /dev/null",
    "sed -i s/a/b/ $(LIST)",
    "LIST | while read -r f; do truncate -s0 \"$f\"; done",
];
/// Programs that list names of the workspace alone, one in each line.
const LISTS: &[&str] = &[
    "rg -l print src",
    "rg --files -g '*.py'",
    "rg -l print -t py",
    "fd -e py",
    "git diff --name-only",
    "git diff --name-only HEAD~1 --diff-filter=ACM",
    "git log --name-only --pretty=format:",
    "git grep -l print",
];
const KEEPING: &[&str] = &[
    "cat",
    "sort -u",
    "head -3",
    "tail -n +2",
    "grep -v test",
    "grep -E 'a|b'",
    "uniq",
    "shuf",
    "tr '\\0' '\\n'",
    "sed -n '/x/p'",
    "sed /x/d",
    "sed 's|^|./|'",
    "awk 'NR>1'",
    "awk '!seen[$0]++'",
];
const LOSING: &[&str] = &[
    "sed 's|src|../../home|'",
    "sed 's/^/\\//'",
    "sed 's|.*|/home/dev/other|'",
    "sed -n 's|.*|/x|p'",
    "sed 's/src//'",
    "tr R /",
    "tr -d a",
    "awk '{print \"../x\"}'",
    "awk '{print \"/\" $1}'",
    "cut -c2-",
    "cut -d/ -f2-",
    "grep -o '/.*'",
    "grep -on x",
    "tail -c 9",
    "rev",
    "base64",
];

#[test]
fn lists_of_the_workspace_are_kept_by_filters_that_choose_and_lost_by_those_that_rewrite() {
    for list in LISTS {
        for consumer in CONSUMERS {
            let direct = consumer.replace("LIST", list);
            assert!(!is_anywhere(&direct), "{direct}");
            for filter in KEEPING {
                let command = consumer.replace("LIST", &format!("{list} | {filter}"));
                assert!(!is_anywhere(&command), "{command}");
            }
            for filter in LOSING {
                let command = consumer.replace("LIST", &format!("{list} | {filter}"));
                assert!(is_anywhere(&command), "{command}");
            }
        }
    }
}

#[test]
fn what_is_no_list_of_the_workspace_alone_names_any_file() {
    for list in [
        "rg -uul timeout",
        "rg --files .claude",
        "rg -l hooks .claude/settings.json",
        "rg -l x -g '*' -g '*.json'",
        "rg -l x /",
        "rg -l x ..",
        "rg --no-filename x",
        "rg -n x",
        "rg --pre cat -l x",
        "git grep --no-index -l timeout",
        "git grep -l --untracked --no-exclude-standard x",
        "git grep -l timeout",
        "git grep -h x",
        "git diff --name-only --no-index a /etc",
        "git log --name-only",
        "git ls-files --format=/etc/x",
        "git -C / diff --name-only",
        "fd -u . .claude",
        "fd -H",
        "du -a .claude | cut -f2",
        "du -a | cut -f2",
        "tree -afi | grep settings",
        "grep -rc timeout . | cut -d: -f1",
        "grep -rn timeout . | cut -d: -f1 | uniq",
        "grep -r timeout . | awk -F: '{print $1}'",
        "rg -n print src | cut -d: -f3",
        "grep -rhP notes .",
        "grep -rhoP '/var.*' .",
    ] {
        for consumer in CONSUMERS {
            let command = consumer.replace("LIST", list);
            assert!(is_anywhere(&command), "{command}");
        }
    }
}

#[test]
fn names_are_taken_out_of_lines() {
    for list in [
        "grep -rn print src | cut -d: -f1 | sort -u",
        "grep -r print src | awk -F: '{print $1}'",
        "rg -n print src | cut -d: -f1",
        "du -a src | cut -f2",
        "git status --porcelain | awk '{print $2}'",
        "git status --porcelain | cut -c4-",
        "git diff --name-status | awk '{print $NF}'",
    ] {
        for consumer in CONSUMERS {
            let command = consumer.replace("LIST", list);
            assert!(!is_anywhere(&command), "{command}");
        }
    }
}
