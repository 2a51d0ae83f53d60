//! What an assignment in front of a built-in or a function leaves behind: asked of bash, of bash as POSIX wants it, and of dash.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::process::Command;

use checkrein_effects::predict;
use checkrein_facts::{HostPaths, RecordedWorld, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectKind};

const FUNCTIONS: &str = "f_export() { export x; }; f_readonly() { readonly x; }; f_set() { x=5; }; f_none() { :; }; \
                         f_value() { export x=6; }; f_eval() { eval x=9; }; f_unset() { unset x; }; f_outer() { f_export; }; ";
const OF_BASH: &str =
    "f_global() { declare -g x=4; }; f_local() { local x=6; }; f_printf() { printf -v x 3; }; ";
const BEFORE: &[&str] = &["", "x=1; ", "export x=1; "];
const COMMANDS: &[&str] = &[
    "export x",
    "export x=6",
    "export y=6",
    "readonly x",
    "readonly x=6",
    "command export x",
    "command export x=6",
    "eval :",
    "eval x=8",
    "eval export x",
    "command eval x=8",
    ":",
    "true",
    "unset x",
    "set -- a",
    "shift 0",
    "cd .",
    "trap : USR1",
    "test 1",
    "command :",
    "umask 022",
    "pwd",
    "getopts a x -a",
    "getopts a z -a",
    "f_export",
    "f_readonly",
    "f_set",
    "f_none",
    "f_value",
    "f_eval",
    "f_unset",
    "f_outer",
];
const COMMANDS_OF_BASH: &[&str] = &[
    "builtin export x",
    "builtin readonly x",
    "declare x",
    "declare -x x",
    "declare x=7",
    "declare -g x",
    "printf -v x 3",
    "printf -v z 3",
    "let x=3",
    "let x+=3",
    "let z=3",
    "read x <<< 9",
    "read z <<< 9",
    "builtin eval x=4",
    "builtin let x=4",
    "builtin printf -v x 5",
    "builtin :",
    "mapfile x <<< 4",
    "f_global",
    "f_local",
    "f_printf",
];

#[test]
fn what_an_assignment_in_front_of_a_command_leaves_behind_is_foreseen() {
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
    let marker = workspace.join("marker");
    let world = RecordedWorld::complete(place).with_directory(&workspace).with_file(
        &marker,
        "x",
        VersionState::Untracked,
    );
    let shells: [(&[&str], bool); 3] =
        [(&["bash", "--norc"], true), (&["bash", "--posix"], true), (&["dash"], false)];
    let mut asked = 0;
    for (shell, is_bash) in shells {
        let Some((program, options)) = shell.split_first() else { continue };
        let run = |text: &str| {
            let output = Command::new(program).args(options).args(["-c", text]).env_clear().output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        if run("echo here").as_deref() != Some("here") {
            continue;
        }
        let own: &[&str] = if is_bash { COMMANDS_OF_BASH } else { &[] };
        for command in COMMANDS.iter().chain(own) {
            for before in BEFORE {
                let functions = format!("{FUNCTIONS}{}", if is_bash { OF_BASH } else { "" });
                let text = format!("{functions}{before}x=2 {command} >/dev/null 2>&1; ");
                let Some(left) = run(&format!("{text}echo \"${{x-none}}\"")).filter(|left| !left.is_empty())
                else {
                    continue;
                };
                asked += 1;
                let guarded = format!("{text}[ \"${{x-none}}\" = {left} ] && rm marker");
                let quoted = guarded.replace('\'', "'\\''");
                let whole = format!("{} -c '{quoted}'", shell.join(" "));
                let effects = predict(&Action::command(&whole, workspace.clone()), &world).effects;
                let is_seen = effects.iter().any(|effect| {
                    effect.kind == EffectKind::FileDelete && effect.target.path() == Some(&marker)
                });
                assert!(is_seen, "{whole}");
            }
        }
    }
    if asked == 0 {
        checkrein_testkit::not_run("neither bash nor dash is here");
    }
}
