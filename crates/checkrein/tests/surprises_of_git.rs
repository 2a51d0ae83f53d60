//! What the commands of git change, asked of the real one: nothing of it is a surprise.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// The user's own settings of git, and a repository that others would fetch from.
const SETUP: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost
git config --global protocol.file.allow always; git config --global advice.detachedHead false
git init -q --bare -b main ../remote.git
git init -q -b main ../library; (cd ../library; echo one > lib.c; git add -A; git commit -qm one)
git remote add first ../remote.git; git push -q first main; git remote remove first
echo note > note.txt; echo build > .gitignore; git add -A; git commit -qm base
";

/// The porcelain of git (`git help -a`, "Main Porcelain Commands" and "Ancillary Commands"), as a day of work uses it: each line goes on
/// where the one before stopped. What asks a user, a mail server or another system of version control is left out.
const DAY: &str = r"
git remote add origin ../remote.git
git fetch -q
git fetch -q origin main:fetched
git push -q -u origin main
git push -q --set-upstream origin main
git push -q
git branch topic
git branch --set-upstream-to=origin/main topic
git branch --unset-upstream topic
git branch --edit-description topic < /dev/null
git branch -m topic renamed
git branch -c renamed copied
git branch -d copied
git branch -D renamed
git branch -f moved HEAD~1
git branch --track tracking origin/main
git checkout -q -b work
git checkout -q --track -b other origin/main
git checkout -q main
git checkout -q -b second origin/main
git checkout -q --no-track -b third origin/main
git checkout -q -
git switch -q main
git switch -q -c fourth
git switch -q -c fifth --track origin/main
git switch -q --detach main
git switch -q main
git branch -D other second third fourth fifth tracking
echo more >> note.txt && git add note.txt
git restore --staged note.txt
git add -A && git restore --staged --worktree note.txt
touch README.md
touch -d yesterday README.md
touch -c none.txt
git checkout -- README.md
git checkout README.md
git restore README.md
git reset
git reset -q --hard
git status --short
git update-index --refresh
echo more >> note.txt
git commit -qam 'more'
git commit -q --amend -m 'yet more'
git commit -q --allow-empty -m 'empty'
git reset -q --soft HEAD~1
git reset -q --mixed HEAD~1
git add -p < /dev/null
git stash -q
git stash list
git stash pop -q
git stash push -q -m kept
git stash apply -q
git checkout -q -- .
git stash drop -q
echo new > new.txt
git add -N new.txt
git add new.txt
git mv new.txt newer.txt
git rm -q --cached newer.txt
git add newer.txt
git commit -qm newer
git rm -q newer.txt
git commit -qm without
git revert --no-edit HEAD
git switch -q -c side HEAD~2
echo side > side.txt && git add side.txt && git commit -qm side
git switch -q main
git merge -q --no-edit side
git cherry-pick --allow-empty --keep-redundant-commits side
git switch -q side
git rebase -q main
git switch -q main
git merge -q --ff-only side
git tag v1
git tag -a v2 -m two
git tag -d v1
git push -q origin v2
git push -q --tags
git push -q origin --delete v2
git pull -q
git pull -q --rebase
git fetch -q --all --prune --tags
git notes add -m note
git notes remove
git worktree add -q ../tree
git worktree add -q -b treed ../treed
git worktree list
git worktree lock ../tree
git worktree unlock ../tree
git worktree move ../tree ../tree2
git worktree remove ../tree2
git worktree prune
git submodule --quiet add ../library sub
git commit -qm sub
git submodule --quiet init
git submodule --quiet update
git submodule --quiet sync
git submodule --quiet deinit -f sub
git submodule --quiet update --init
git rm -q sub
git commit -qm 'no sub'
git sparse-checkout set src
git sparse-checkout disable
git bisect start
git bisect bad
git bisect good HEAD~2
git bisect reset
git format-patch -q -1 -o patches
git apply --check patches/*.patch || true
git archive -o a.tar HEAD
git bundle create a.bundle HEAD
git gc -q
git repack -q -d
git pack-refs --all
git prune
git maintenance run --quiet
git reflog expire --all --expire=now
git config core.abbrev 10
git config --unset core.abbrev
git config set core.abbrev 10 || git config core.abbrev 10
git config branch.main.description text
git config --global alias.st status
git remote rename origin upstream
git remote set-url upstream ../remote.git
git remote set-branches upstream main
git remote set-head upstream main
git remote add mirror ../remote.git
git remote prune upstream
git remote update
git remote remove mirror
git remote -v
git replace --list
git rerere status
git clean -fdq
git init -q
git clone -q ../remote.git clone
git clone -q --depth 1 file://$PWD/../remote.git shallow
git log --oneline -3
git show --stat HEAD
git diff HEAD~1
git blame README.md
git shortlog -s
git describe --always
git grep -n main
git ls-files
git check-ignore build || true
git verify-pack -v .git/objects/pack/*.idx
git fsck
git count-objects
git symbolic-ref HEAD
git update-ref refs/heads/made HEAD
git update-ref -d refs/heads/made
git switch -q --orphan empty
git switch -q main
";

#[test]
fn what_git_and_touch_really_change_had_been_predicted() {
    let environment = TestEnvironment::new();
    let shell = |text: &str| {
        let mut command = environment.command("bash");
        command.args(["-c", text]).env("GIT_EDITOR", "true").output().unwrap()
    };
    let made = shell(SETUP);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let hook = |event: &str, fields: Json| {
        // Apart from what happened before by more than a tick of the clock of the file system.
        sleep(Duration::from_millis(15));
        environment.answer_to(&environment.payload("s", event, fields))
    };
    hook("SessionStart", json!({ "source": "startup" }));
    let mut ran = 0;
    let mut failed = Vec::new();
    for (number, command) in DAY.lines().filter(|line| !line.is_empty()).enumerate() {
        let id = format!("call-{number}");
        let mut fields =
            json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id });
        hook("PreToolUse", fields.clone());
        sleep(Duration::from_millis(15));
        let done = shell(command);
        if done.status.success() {
            fields["tool_response"] = json!({ "stdout": "", "stderr": "" });
            hook("PostToolUse", fields);
            ran += 1;
        } else {
            failed.push(format!("{command}: {}", String::from_utf8_lossy(&done.stderr)));
        }
    }
    // What one git cannot do another can; most of it ran.
    assert!(ran * 10 >= (ran + failed.len()) * 9, "{failed:#?}");
    let mut found = Vec::new();
    for record in environment.records("s") {
        let body = &record["body"];
        for surprise in body["verification"]["surprises"].as_array().into_iter().flatten() {
            let number =
                body["action_id"].as_str().and_then(|id| id.strip_prefix("call-")?.parse::<usize>().ok());
            let command = number.and_then(|number| DAY.lines().filter(|line| !line.is_empty()).nth(number));
            found.push(format!("{}: {} {}", command.unwrap_or("?"), surprise["kind"], surprise["path"]));
        }
    }
    assert!(found.is_empty(), "{found:#?}\nnot done: {failed:#?}");
}
