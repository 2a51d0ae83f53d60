//! What a call did whose end nobody tells: git's own logs, what is staged, and what the words of the call say it leaves tell it from what a
//! person did since.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

const SETUP: &str = r"
set -e
git config --global user.name dev; git config --global user.email dev@localhost; git config --global init.defaultBranch main
printf 'one\n' > a; printf 'b1\n' > b; git add -A; git commit -qm second
echo two > a; git commit -qam third; git branch other HEAD~1; git tag first HEAD~2
git remote add origin ../elsewhere; git -c core.logAllRefUpdates=false update-ref refs/remotes/origin/topic HEAD~1
git config branch.main.remote origin; git config branch.main.merge refs/heads/main
printf 'staged\n' > c; git add c; printf 'changed\n' > b; printf 'mine\n' > .git/COMMIT_EDITMSG
printf 'log\n' > app.log; chmod 644 app.log
";

/// Files with their modes, and what git says.
type Picture = BTreeMap<String, (u32, Vec<u8>)>;

fn picture(environment: &TestEnvironment) -> Picture {
    let places = vec![environment.project(), environment.home().join(".gitconfig")];
    let files = support::picture::picture(places).into_iter();
    let mut found: Picture = files.map(|(path, what)| (path.to_string_lossy().into_owned(), what)).collect();
    let staged = environment.command("git").args(["ls-files", "--stage"]).output().unwrap().stdout;
    found.insert("what is staged".to_owned(), (0, staged));
    found
}

fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    run(&environment, SETUP);
    environment
}

fn run(environment: &TestEnvironment, command: &str) {
    let mut child = environment.command("bash");
    let output = child.args(["-c", command]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

fn begin(environment: &TestEnvironment, command: &str) {
    let payload = environment.payload("s", "PreToolUse", shell_call("call", command, json!({})));
    let answer = environment.answer_to(&payload);
    assert!(!matches!(decision(&answer), Some("deny" | "ask")), "{command}: {answer}");
    run(environment, command);
}

/// What `undo` says, and what differs from `before` after it.
fn undone(environment: &TestEnvironment, before: &Picture, options: &[&str]) -> (Vec<String>, String) {
    let output = environment.checkrein(&[&["undo", "--yes"], options].concat());
    let after = picture(environment);
    let names = before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (names.cloned().collect(), said)
}

#[test]
fn what_a_call_did_to_a_repository_goes_back_without_its_end() {
    for command in [
        "git commit -qm agent",
        "git commit -qam agent && git checkout -q other",
        "git commit -qam 'agent: all of it'",
        "git commit -q --amend --no-edit",
        "git reset -q",
        "git reset -q --hard",
        "git reset -q --hard HEAD~1",
        "git checkout -q -b topic",
        "git stash -q",
        "git stash -q && git stash pop -q",
        "git stash -q && git switch -q other",
        "git add -A",
        "git restore --staged c",
        "git rm -q a",
        "git mv a d",
        "git branch -m main trunk",
        "git gc -q",
        "git pack-refs --all",
    ] {
        let environment = project();
        let before = picture(&environment);
        begin(&environment, command);
        assert!(picture(&environment) != before, "{command}: changed nothing");
        let (differs, said) = undone(&environment, &before, &["--remove-new"]);
        assert!(differs.is_empty(), "{command}: {differs:?}\n{said}");
    }
}

/// What git notes of it goes too, though nobody permits to remove what is new.
#[test]
fn what_git_noted_goes_with_what_it_was_about() {
    let setup = "git checkout -q -- b; git reset -q; rm c; git checkout -q -b side HEAD~1; echo side > a
        git commit -qam side; git checkout -q main; printf \"$(git rev-parse HEAD~2)\n\" > .git/ORIG_HEAD";
    for command in [
        "git merge -q side || true",
        "git cherry-pick side || true",
        "git reset -q --hard HEAD~1",
        "git remote rename origin up",
        "git stash -q; git rebase -q HEAD~1 side; true",
    ] {
        for note in ["", "; rm .git/ORIG_HEAD"] {
            let environment = project();
            run(&environment, &format!("{setup}{note}"));
            let before = picture(&environment);
            begin(&environment, command);
            assert!(picture(&environment) != before, "{command}: changed nothing");
            let (differs, said) = undone(&environment, &before, &[]);
            assert!(differs.is_empty(), "{command}{note}: {differs:?}\n{said}");
        }
    }
}

/// A commit on top, another branch, another reset: the last entries of the logs are not those of the call.
#[test]
fn what_a_person_moved_since_stays_without_an_end() {
    for (command, person) in [
        ("git commit -qm agent", "git commit -q --allow-empty -m person"),
        ("git commit -qam agent", "git reset -q --soft HEAD~1 && git commit -q -m person"),
        ("git reset -q --hard HEAD~1", "git reset -q --hard HEAD~1"),
        ("git checkout -q -b topic", "git commit -qm person"),
        ("git stash -q", "git commit -q --allow-empty -m person"),
        ("git reset -q", "git checkout -q -b mine"),
        ("git checkout -q -b topic", "git branch mine"),
        ("git switch -q --detach", "git switch -q -c mine"),
    ] {
        let environment = project();
        let before = picture(&environment);
        begin(&environment, command);
        run(&environment, person);
        let later = picture(&environment);
        let (_, said) = undone(&environment, &before, &["--remove-new"]);
        let after = picture(&environment);
        let references = |one: &Picture| -> Picture {
            let is_one = |name: &str| name.contains("/.git/refs/heads") || name.contains("/.git/logs/HEAD");
            one.iter().filter(|(name, _)| is_one(name)).map(|(name, at)| (name.clone(), at.clone())).collect()
        };
        let (later, after) = (references(&later), references(&after));
        let is_kept = later.iter().all(|(name, at)| after.get(name) == Some(at));
        assert!(is_kept, "{command}, then {person}: {said}");
    }
}

/// What only the index holds may be a person's.
#[test]
fn what_a_person_staged_since_stays_without_an_end() {
    for command in ["git reset -q", "git add b", "git restore --staged c"] {
        let environment = project();
        begin(&environment, command);
        run(&environment, "echo only here > b; git add b; echo later > b");
        let later = picture(&environment).get("what is staged").cloned();
        let (_, said) = undone(&environment, &Picture::new(), &[]);
        assert!(picture(&environment).get("what is staged").cloned() == later, "{command}: {said}");
    }
}

#[test]
fn what_a_call_was_to_set_goes_back_without_its_end() {
    for (command, person, place) in [
        ("git config user.name 'Some Body'", "git config user.name person", ".git/config"),
        ("git config core.editor vi", "git config core.pager less", ".git/config"),
        ("git config --unset branch.main.merge", "git config branch.main.merge refs/heads/x", ".git/config"),
        ("git remote add backup ../backup", "git remote set-url backup ../mine", ".git/config"),
        ("git remote remove origin", "git remote add origin ../mine", ".git/config"),
        ("git remote set-url origin ../mine", "git remote set-url origin ../theirs", ".git/config"),
        ("git remote set-url --push origin ../mine", "git config user.name person", ".git/config"),
        ("git remote set-url --add origin ../mine", "git config user.name person", ".git/config"),
        ("git remote set-branches origin main", "git config user.name person", ".git/config"),
        ("git branch -u origin/topic", "git branch --unset-upstream", ".git/config"),
        ("git branch -u origin/topic other", "git branch --unset-upstream other", ".git/config"),
        ("git branch --set-upstream-to=other", "git config user.name person", ".git/config"),
        ("git branch --unset-upstream", "git branch -u origin/topic", ".git/config"),
        ("git config --unset-all branch.main.merge", "git config user.name person", ".git/config"),
        ("git config --remove-section branch.main", "git config user.name person", ".git/config"),
        ("git config --rename-section branch.main branch.x", "git config user.name person", ".git/config"),
        ("git config --add branch.main.merge two", "git config user.name person", ".git/config"),
        ("git config set --append branch.main.merge two", "git config user.name person", ".git/config"),
        ("git config --replace-all branch.main.merge two", "git config user.name person", ".git/config"),
        ("git config core.editor 'vim \"x\\y\"'", "git config user.name person", ".git/config"),
        ("git config user.name a && git config user.email b", "git config user.name c", ".git/config"),
        ("git config user.name a; git config --unset core.bare", "git config user.name c", ".git/config"),
        ("git tag -f first", "git tag -f first other", ".git/refs/tags/first"),
        (
            "git tag -f first HEAD~1 && git tag -f first other~0",
            "git tag -f first HEAD",
            ".git/refs/tags/first",
        ),
        ("git update-ref refs/tags/first HEAD", "git tag -f first other", ".git/refs/tags/first"),
        (
            "git sparse-checkout set src",
            "echo person >> .git/info/sparse-checkout",
            ".git/info/sparse-checkout",
        ),
        ("git tag -f -a -m again first", "git tag -f -a -m mine first", ".git/refs/tags/first"),
        ("git tag -f -m again first HEAD~1", "git tag -f first other", ".git/refs/tags/first"),
        ("git bisect start HEAD HEAD~2 > /dev/null", "git commit -q --allow-empty -m person", ".git/HEAD"),
        ("chmod 600 app.log", "chmod 400 app.log", "app.log"),
        ("chmod go-r app.log", "chmod u-w app.log", "app.log"),
        ("chmod -w app.log", "chmod a-r app.log", "app.log"),
        ("chmod 700 src", "chmod 500 src", "src"),
        ("echo more | tee -a app.log", "echo person >> app.log", "app.log"),
        ("git restore --source=HEAD~1 a", "echo person >> a", "a"),
        ("git diff > app.log", "echo person >> app.log", "app.log"),
        ("git diff --staged > a", "echo person >> a", "a"),
        ("git diff > b.patch && git checkout -q -- b", "echo person >> b.patch", "b.patch"),
        ("git diff > b.patch && git apply -R b.patch", "echo person >> b.patch", "b.patch"),
        ("git diff --staged > c.patch && git apply -R --index c.patch", "echo person >> c.patch", "c.patch"),
        ("sed -i '1i header' a", "echo person >> a", "a"),
    ] {
        for person in [None, Some(person)] {
            let environment = project();
            let before = picture(&environment);
            begin(&environment, command);
            assert!(picture(&environment) != before, "{command}: changed nothing");
            person.iter().for_each(|person| run(&environment, person));
            let later = picture(&environment);
            let (differs, said) = undone(&environment, &before, &[]);
            match person {
                None => assert!(differs.is_empty(), "{command}: {differs:?}\n{said}"),
                Some(person) => {
                    let name = environment.project().join(place).to_string_lossy().into_owned();
                    let after = picture(&environment);
                    assert!(after.get(&name) == later.get(&name), "{command}, then {person}: {said}");
                }
            }
        }
    }
}

/// The times in the logs are those of the commits that were written anew.
#[test]
fn what_filter_branch_rewrote_goes_back_without_its_end() {
    let command = "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch --msg-filter 'sed s/second/2/' -- --all > /dev/null 2>&1";
    for person in [None, Some("git commit -q --allow-empty -m person")] {
        let environment = project();
        run(&environment, "git commit -qam all; git tag noted HEAD~1");
        let before = picture(&environment);
        let payload = environment.payload("s", "PreToolUse", shell_call("call", command, json!({})));
        let answer = environment.answer_to(&payload);
        assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
        run(&environment, command);
        assert!(picture(&environment) != before, "{command}: changed nothing");
        person.iter().for_each(|person| run(&environment, person));
        let later = picture(&environment);
        let (differs, said) = undone(&environment, &before, &[]);
        let branch = environment.project().join(".git/refs/heads/main").to_string_lossy().into_owned();
        match person {
            None => assert!(differs.is_empty(), "{differs:?}\n{said}"),
            Some(_) => assert!(picture(&environment).get(&branch) == later.get(&branch), "{said}"),
        }
    }
}

/// Commands of which the words say what they leave, or from where they take it, and a file that each of them writes.
const FORESEEN: [(&str, &str); 26] = [
    ("cp v u", "u"),
    ("cp large u", "u"),
    ("cp -r d/. e", "e/a"),
    ("cp d/* e/", "e/a"),
    ("cp v new", "new"),
    ("cp -r d copied", "copied/a"),
    ("mv v u", "u"),
    ("mv large u", "u"),
    ("mv d/a e/a", "e/a"),
    ("mv d moved; mv moved/a u", "u"),
    ("rm -r e; mv d e", "e/a"),
    ("mv u t; mv v u; mv t v", "u"),
    ("cat large > u", "u"),
    ("dd if=large of=u status=none", "u"),
    ("tee u < v > /dev/null", "u"),
    ("install v u", "u"),
    ("echo x > u", "u"),
    ("sed -i s/one/1/ u", "u"),
    ("sed s/one/1/ u > t && mv t u", "u"),
    ("find . -maxdepth 1 -name large -exec cp {} u \\;", "u"),
    ("python3 -c \"import shutil; shutil.copy('large', 'u')\"", "u"),
    ("git checkout -- tracked", "tracked"),
    ("git checkout -q HEAD -- tracked", "tracked"),
    ("git stash -q", "tracked"),
    ("rm -r e; echo x > e", "e"),
    ("rm -r e; ln -s v e", "e"),
];

/// Somebody may have copied just the text there that stands in another file of the workspace, or that version control holds.
#[test]
fn what_a_person_wrote_since_stays_wherever_it_stands_too() {
    let setup = "printf 'one\\n' > tracked; git add tracked; git -c user.name=d -c user.email=d@l commit -qm two; echo more >> tracked;
        mkdir d e; echo da > d/a; echo ea > e/a; printf 'one u\\n' > u; printf 'one v\\n' > v; head -c 400000 /dev/urandom > large;
        printf 'theirs\\n' > other; printf '*.log\\nlarge\\n' > .gitignore; printf 'theirs in a log\\n' > x.log";
    let persons = ["cat other", "cat x.log", "git show HEAD:README.md"];
    for ((command, place), person) in FORESEEN.into_iter().zip(persons.into_iter().cycle()) {
        for person in [None, Some(person)] {
            let environment = project();
            run(&environment, setup);
            let before = picture(&environment);
            begin(&environment, command);
            let path = environment.project().join(place);
            if let Some(person) = person {
                run(&environment, &format!("rm -f {place}; mkdir -p $(dirname {place}); {person} > {place}"));
            }
            let theirs = person.map(|_| fs::read(&path).unwrap());
            let (differs, said) = undone(&environment, &before, &["--remove-new"]);
            match theirs {
                None => assert!(differs.is_empty(), "{command}: {differs:?}\n{said}"),
                // What is new they permitted to remove.
                Some(_) if !before.contains_key(&path.to_string_lossy().into_owned()) => {}
                Some(theirs) => {
                    assert_eq!(fs::read(&path).ok(), Some(theirs), "{command}, then {person:?}: {said}");
                    assert!(said.contains("`--force`"), "{command}, then {person:?}: {said}");
                }
            }
        }
    }
}

#[test]
fn what_is_written_through_a_link_goes_back_without_an_end() {
    let environment = project();
    symlink("app.log", environment.project().join("latest")).unwrap();
    let before = picture(&environment);
    begin(&environment, "echo more >> latest; chmod 600 latest");
    let (differs, said) = undone(&environment, &before, &[]);
    assert!(differs.is_empty(), "{differs:?}\n{said}");
}

/// Git keeps a tree of what it wrote with the marks of the conflicts.
#[test]
fn a_merge_that_came_to_conflicts_goes_back_without_an_end() {
    let conflict =
        "git checkout -q -b theirs HEAD~1; echo theirs > a; git commit -qam theirs; git checkout -q main";
    let merge = "git stash -q && git merge -q theirs >/dev/null || true";
    for person in [None, Some("printf 'two, theirs\n' > a")] {
        let environment = project();
        run(&environment, &format!("git stash -q; {conflict}; git stash pop -q --index"));
        let before = picture(&environment);
        begin(&environment, merge);
        let merged = fs::read_to_string(environment.project().join("a")).unwrap();
        assert!(merged.contains("<<<<<<<") && environment.project().join(".git/MERGE_HEAD").exists());
        person.iter().for_each(|person| run(&environment, person));
        let (differs, said) = undone(&environment, &before, &["--remove-new"]);
        let name = environment.project().join("a").to_string_lossy().into_owned();
        // Who has begun to settle it keeps that.
        let stays: Vec<String> = person.iter().map(|_| name.clone()).collect();
        let differs: Vec<String> = differs.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        assert_eq!(differs, stays, "{said}");
    }
}

/// A remote on this machine to which others push, a second address without a name, and two stashes.
const REMOTES: &str = "
    git add -A; git commit -qm all; git init -q --bare ../up.git; git remote remove origin; git remote add up ../up.git
    git push -q up main other:topic; git push -q -u up main; git init -q --bare ../far.git; git push -q ../far.git main
    git clone -q ../up.git ../colleague; cd ../colleague; git commit -q --allow-empty -m theirs; git push -q origin main; cd ../project
    git commit -q --amend -m amended; echo first > a; git stash -q; echo second > a; git stash -q";

/// What the call did beside the branches of the repository, what a person did since, and what of that stays.
const BESIDE: [(&str, &str, &str); 12] = [
    ("git push -q --force up main", "git -C ../colleague push -qf origin main", "../up.git/refs/heads/main"),
    ("git push -q up +main", "git -C ../colleague push -qf origin main", "../up.git/refs/heads/main"),
    (
        "git push -q -f ../far.git main",
        "git -C ../colleague push -qf ../far.git main",
        "../far.git/refs/heads/main",
    ),
    ("git push -q up :topic", "git -C ../colleague push -qf origin HEAD:topic", "../up.git/refs/heads/topic"),
    ("git fetch -q up", "git push -qf up main", "../up.git/refs/heads/main"),
    ("git remote update", "git commit -q --allow-empty -m person", ".git/refs/heads/main"),
    ("git stash drop -q", "echo third > a; git stash -q", ".git/refs/stash"),
    ("git stash pop -q", "git checkout -q a; echo third > a; git stash -q", ".git/refs/stash"),
    ("git stash drop -q stash@{1}", "git branch mine", ".git/refs/heads/mine"),
    ("git update-ref refs/heads/other HEAD~2", "git branch -qf other main", ".git/refs/heads/other"),
    ("git symbolic-ref HEAD refs/heads/other", "git symbolic-ref HEAD refs/heads/mine", ".git/HEAD"),
    ("git checkout -q -B main HEAD~1", "git commit -q --allow-empty -m person", ".git/refs/heads/main"),
];

/// Forced pushes are asked about, so that the user may have pushed themselves; what was pushed stands here all the same.
#[test]
fn what_a_call_did_with_remotes_and_stashes_goes_back_without_its_end() {
    for (command, person, place) in BESIDE {
        for person in [None, Some(person)] {
            let environment = project();
            run(&environment, REMOTES);
            let beside = |environment: &TestEnvironment| {
                ["../up.git/refs/heads/main", "../far.git/refs/heads/main", "../up.git/refs/heads/topic"]
                    .map(|name| fs::read(environment.project().join(name)).ok())
            };
            let (before, there) = (picture(&environment), beside(&environment));
            let payload = environment.payload("s", "PreToolUse", shell_call("call", command, json!({})));
            let answer = environment.answer_to(&payload);
            assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
            run(&environment, command);
            person.iter().for_each(|person| run(&environment, person));
            let kept = fs::read(environment.project().join(place)).ok();
            let (differs, said) = undone(&environment, &before, &["--remove-new"]);
            match person {
                None => {
                    assert!(differs.is_empty(), "{command}: {differs:?}\n{said}");
                    assert_eq!(beside(&environment), there, "{command}: {said}");
                }
                Some(person) => {
                    let after = fs::read(environment.project().join(place)).ok();
                    assert!(kept.is_some() && after == kept, "{command}, then {person}: {said}");
                }
            }
        }
    }
}
