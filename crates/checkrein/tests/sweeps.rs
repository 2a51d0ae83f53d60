//! What `git clean` takes, asked of the real git by its dry run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use support::{TestEnvironment, decision};

/// A repository below the work tree with a commit that is nowhere else, and a submodule, which `git clean` leaves alone.
const SETUP: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost
git config --global protocol.file.allow always
git init -q ../library; (cd ../library; echo one > lib.c; git add -A; git commit -qm one)
git submodule --quiet add ../library sub; git commit -qm sub
git init -q nested; (cd nested; echo x > x; git add x; git commit -qm only)
";

/// With `-f` twice repositories go too, and their history with them.
#[test]
fn repositories_that_a_sweep_takes_are_refused() {
    let environment = TestEnvironment::new();
    let bash = |text: &str| {
        let mut command = environment.command("bash");
        command.args(["-c", text]).current_dir(environment.project()).output().unwrap()
    };
    let made = bash(SETUP);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut refused = 0;
    for command in [
        "git clean -ffdx",
        "git clean -fdx",
        "git clean -ffd",
        "git clean -fd",
        "git clean -f -f -d nested",
        "git clean -f -d nested",
        "git clean -dff :/",
        "git clean -ffd 'nes*'",
        "git clean -ffd sub",
        "git clean -ff",
        "git clean --force --force -d .",
    ] {
        let said = String::from_utf8(bash(&command.replacen("clean", "clean -n", 1)).stdout).unwrap();
        let takes = said.lines().any(|line| line == "Would remove nested/");
        let answer = environment.bash("cleaning", command);
        assert_eq!(decision(&answer) == Some("deny"), takes, "{command}\n{said}\n{answer}");
        refused += usize::from(takes);
    }
    assert!(refused > 4, "the dry runs of git named no repository");
}
