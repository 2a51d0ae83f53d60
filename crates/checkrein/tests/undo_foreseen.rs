//! What a call leaves whose end nobody tells, where that can be worked out beforehand, or recognised afterwards as nobody's work: it goes back
//! without `--force` and `--remove-new`. What a person wrote into the same place stays.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::json;
use support::picture::Picture;
use support::terminal::typed;
use support::{TestEnvironment, decision, shell_call};

const SETUP: &str = r#"
printf 'one\nthree\ntwo\n' > list; printf 'theirs\n' > other; printf 'name,count\nb,2\na,1\n' > table.csv
mkdir -p logs photos conf; seq 300 > logs/long.log; echo short > logs/short.log; : > logs/empty.log
printf 'first' > photos/a.jpg; printf 'second' > photos/b.jpg; ln -s a.jpg photos/link; printf 'env: prod\n' > conf/prod; ln -s prod conf/current
printf '{\n  "name": "app",\n  "version": "1.0.0",\n  "scripts": {\n    "test": "true"\n  },\n  "files": [],\n  "size": 15\n}\n' > package.json
mkdir made; echo packed > made/list; echo run > made/run; tar -czf made.tgz -C made list run; python3 -m zipfile -c made.zip made/list made/run
printf "const fs = require('fs');\nconst p = JSON.parse(fs.readFileSync('package.json'));\np.version = '1.2.4';\nfs.writeFileSync('package.json', JSON.stringify(p, null, 2) + '\\\\n');\n" > bump; mkdir scripts; mv bump scripts/bump.js
gzip -c made/list > other.gz; rm -r made
for packer in bzip2 xz zstd lz4; do command -v $packer > /dev/null && $packer -c other > packed.$packer; done; sleep 0.05
"#;

fn picture(environment: &TestEnvironment) -> Picture {
    support::picture::picture(vec![environment.project()])
}

fn run(environment: &TestEnvironment, command: &str) {
    let mut child = environment.command("bash");
    let output = child.args(["-c", command]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    run(&environment, SETUP);
    environment
}

fn begin(environment: &TestEnvironment, command: &str) {
    let payload = environment.payload("s", "PreToolUse", shell_call("call", command, json!({})));
    let answer = environment.answer_to(&payload);
    assert_ne!(decision(&answer), Some("deny"), "{command}: {answer}");
    run(environment, command);
}

fn undone(environment: &TestEnvironment) -> String {
    let output = environment.checkrein(&["undo", "--yes"]);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

fn differs(one: &Picture, other: &Picture) -> Vec<PathBuf> {
    let names: Vec<&PathBuf> = one.keys().chain(other.keys()).collect();
    let mut names: Vec<PathBuf> =
        names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// Each call goes back as a whole. Where a person wrote into a place since, that stays, and the rest goes back.
fn all_go_back(rows: &[(&str, &str)]) {
    let mut failed = Vec::new();
    for (command, place) in rows {
        let environment = project();
        let program = command.split(' ').next().unwrap();
        let is_there =
            environment.command("bash").args(["-c", "command -v \"$0\" > /dev/null", program]).status();
        if !program.contains('=') && !is_there.unwrap().success() {
            continue;
        }
        let before = picture(&environment);
        begin(&environment, command);
        assert!(picture(&environment) != before, "{command}: changed nothing");
        let said = undone(&environment);
        let differs = differs(&before, &picture(&environment));
        if !differs.is_empty() {
            failed.push(format!("{command}: {differs:?}\n{said}"));
        }
        let environment = project();
        begin(&environment, command);
        let path = environment.project().join(place);
        assert!(path.exists(), "{command}: {place} is not there");
        run(&environment, &format!("rm -f {place}; echo 'work of a person' > {place}"));
        let said = undone(&environment);
        if fs::read_to_string(&path).ok().as_deref() != Some("work of a person\n") {
            failed.push(format!("{command}: what a person wrote to {place} is gone\n{said}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn what_is_a_copy_of_what_comes_back_goes() {
    all_go_back(&[
        ("cp -b other list", "list~"),
        ("cp --backup=numbered other list", "list.~1~"),
        ("cp -b --suffix=.orig other list", "list.orig"),
        ("mv -b other list", "list~"),
        ("mv --suffix=.save -b other list", "list.save"),
        ("install -b -m 644 other list", "list~"),
        ("gzip -9 logs/long.log logs/short.log", "logs/short.log.gz"),
        ("find logs -type f -exec gzip {} \\;", "logs/long.log.gz"),
        ("tar --remove-files -cf photos.tar photos", "photos.tar"),
        ("tar --remove-files -czf photos.tgz photos/a.jpg photos/b.jpg", "photos.tgz"),
    ]);
}

/// What compressors other than gzip pack is not unpacked for that: the sums in it tell what it is of.
#[test]
fn what_a_compressor_made_of_what_is_known_goes_back() {
    all_go_back(&[
        ("bzip2 logs/short.log logs/long.log", "logs/long.log.bz2"),
        ("xz logs/short.log", "logs/short.log.xz"),
        ("zstd -q --rm logs/long.log", "logs/long.log.zst"),
        ("lz4 -q --rm logs/short.log logs/short.log.lz4", "logs/short.log.lz4"),
        ("gzip -c other > list", "list"),
        ("bzip2 -c other > list", "list"),
        ("zstd -qcf other > list", "list"),
        ("tar -czf list photos && rm -r photos", "list"),
        ("tar -cf list photos conf", "list"),
        ("bzip2 -dc packed.bzip2 > list", "list"),
        ("xz -dc packed.xz > list", "list"),
        ("zstd -qdc packed.zstd > list", "list"),
        ("lz4 -qdc packed.lz4 > list", "list"),
    ]);
}

/// A user may have packed something else, under the name that the call gives.
#[test]
fn what_a_person_packed_stays() {
    for (packer, place) in [
        ("bzip2", "short.log.bz2"),
        ("xz", "short.log.xz"),
        ("zstd -q --rm", "short.log.zst"),
        ("gzip", "short.log.gz"),
    ] {
        let environment = project();
        begin(&environment, &format!("{packer} logs/short.log || true"));
        let place = environment.project().join("logs").join(place);
        if !place.exists() {
            continue;
        }
        run(
            &environment,
            &format!("rm logs/short.log.*; echo mine > logs/short.log; {packer} logs/short.log"),
        );
        let theirs = fs::read(&place).unwrap();
        let said = undone(&environment);
        assert_eq!(fs::read(&place).ok(), Some(theirs), "{packer}: {said}");
        let back = fs::read_to_string(environment.project().join("logs/short.log"));
        assert_eq!(back.unwrap(), "short\n", "{packer}: {said}");
    }
}

/// Where two files are each a packed copy of what the other one held, none of them shows that nothing is lost.
#[test]
fn what_is_made_of_each_other_is_not_looked_through() {
    let environment = project();
    begin(&environment, "gzip -c list > one; gzip -c other > list; mv one other");
    let output = environment.checkrein(&["undo", "--yes"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code().is_some() && said.contains("keep"), "{said}");
    let output = environment.checkrein(&["undo", "--yes", "--force"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(environment.project().join("other")).unwrap(), "theirs\n");
}

/// Nothing goes that is the only copy: what it is a copy of has to come back as well.
#[test]
fn what_is_a_copy_of_what_stays_away_stays() {
    for (command, place, copy) in [
        ("cp -b other list", "list", "list~"),
        ("gzip logs/short.log", "logs/short.log", "logs/short.log.gz"),
        ("tar --remove-files -cf photos.tar photos/a.jpg photos/b.jpg", "photos/a.jpg", "photos.tar"),
    ] {
        let environment = project();
        begin(&environment, command);
        let left = fs::read(environment.project().join(copy)).unwrap();
        run(&environment, &format!("mkdir -p photos; echo 'work of a person' > {place}"));
        let said = undone(&environment);
        assert_eq!(fs::read(environment.project().join(copy)).ok(), Some(left), "{command}: {said}");
        let text = fs::read_to_string(environment.project().join(place)).unwrap();
        assert_eq!(text, "work of a person\n", "{command}: {said}");
    }
}

#[test]
fn what_came_out_of_an_archive_that_stays_goes_back() {
    all_go_back(&[
        ("tar -xzf made.tgz", "list"),
        ("tar -xzf made.tgz", "run"),
        ("tar -xzf made.tgz --strip-components=0 list", "list"),
        ("unzip -qo made.zip", "list"),
        ("gunzip -f other.gz", "other"),
    ]);
}

#[test]
fn what_truncate_leaves_is_worked_out() {
    all_go_back(&[
        ("truncate -s +10 list", "list"),
        ("truncate -s -5 list", "list"),
        ("truncate -s 5 list", "list"),
        ("truncate -s 1K list", "list"),
        ("truncate -s %8 list", "list"),
    ]);
}

#[test]
fn what_dd_leaves_is_worked_out() {
    all_go_back(&[
        ("dd if=/dev/zero of=list bs=1 count=2 conv=notrunc status=none", "list"),
        ("dd if=/dev/zero of=list bs=1k count=3 status=none", "list"),
        ("dd if=other of=list bs=1 seek=3 conv=notrunc status=none", "list"),
        ("dd if=other of=list bs=1 seek=3 count=2 status=none", "list"),
        ("dd if=other of=list bs=1 seek=30 status=none", "list"),
        ("dd if=logs/long.log of=list bs=4 count=2 skip=1 status=none", "list"),
        ("dd if=logs/long.log of=list bs=4 count=2 skip=1 seek=2 status=none", "list"),
        ("dd if=other of=list bs=1 count=5 oflag=append conv=notrunc status=none", "list"),
        ("dd if=other of=list conv=ucase,notrunc ibs=2 count=3 status=none", "list"),
        ("dd if=/dev/null of=list bs=1 seek=5 status=none", "list"),
        ("dd if=other of=list iflag=skip_bytes,count_bytes skip=2 count=3 status=none", "list"),
        ("text=abc; printf $text | dd of=list bs=1 seek=2 conv=notrunc status=none", "list"),
    ]);
}

#[test]
fn what_filters_and_code_write_is_worked_out() {
    all_go_back(&[
        ("tac list > new && mv new list", "list"),
        ("paste -sd, list > new && mv new list", "list"),
        ("out=$(mktemp) && sort list > \"$out\" && mv \"$out\" list", "list"),
        (
            "out=$(mktemp); cut -d, -f1 table.csv > \"$out\"; mv \"$out\" table.csv; chmod 644 table.csv",
            "table.csv",
        ),
        ("jq '.version = \"2.0.0\"' package.json > new && mv new package.json", "package.json"),
        (
            "jq 'del(.scripts.test) | .files += [\"a\"]' package.json > new && mv new package.json",
            "package.json",
        ),
        ("npm version patch --no-git-tag-version > /dev/null", "package.json"),
        ("npm version 3.0.1 --no-git-tag-version > /dev/null", "package.json"),
        ("for f in list fresh; do echo more >> \"$f\"; done", "fresh"),
        ("sed -i 's/env/ENV/' conf/current", "conf/current"),
        ("node -e \"require('fs').appendFileSync('list', '- three\\n')\"", "list"),
        ("python3 -c \"open('list', 'a').write('four\\n')\"", "list"),
        ("python3 -c \"f = open('list', 'w'); f.write('done\\n'); f.close()\"", "list"),
        (ATOMIC, "list"),
        ("perl -e 'open(F, \">>\", \"list\"); print F \"four\\n\"; close F'", "list"),
    ]);
}

#[test]
fn what_code_makes_of_json_is_worked_out() {
    all_go_back(&[
        (
            "python3 -c \"import json; d = json.load(open('package.json')); d['version'] = '3'; json.dump(d, open('package.json', 'w'), indent=2)\"",
            "package.json",
        ),
        (
            "python3 -c \"import json; d = json.loads(open('package.json').read()); d['new'] = ['a', 1]; open('package.json', 'w').write(json.dumps(d))\"",
            "package.json",
        ),
        ("node scripts/bump.js", "package.json"),
        (
            "node -e \"const fs = require('fs'); const p = JSON.parse(fs.readFileSync('package.json', 'utf8')); p.scripts.lint = 'eslint .'; fs.writeFileSync('package.json', JSON.stringify(p, null, 2));\"",
            "package.json",
        ),
    ]);
}

/// Byte code tells of which source it was made, and whoever has the source has it again.
#[test]
fn byte_code_of_what_stands_beside_it_goes_back() {
    for command in ["python3 -m compileall -q src", "python3 -m py_compile src/a.py"] {
        let environment = project();
        let tag = "import sys; print(sys.implementation.cache_tag)";
        let tag = environment.command("python3").args(["-c", tag]).output().unwrap().stdout;
        let name = format!("src/__pycache__/a.{}.pyc", String::from_utf8_lossy(&tag).trim());
        environment.write("src/a.py", "a = 1\n");
        environment.write("src/b.py", "b = 1\n");
        environment.write(".gitignore", "__pycache__/\n");
        environment.write(&name, "not byte code\n");
        let before = picture(&environment);
        begin(&environment, command);
        assert!(picture(&environment) != before, "{command}: changed nothing");
        let said = undone(&environment);
        assert_eq!(differs(&before, &picture(&environment)), Vec::<PathBuf>::new(), "{command}: {said}");
        begin(&environment, command);
        environment.write(&name, "what somebody wrote\n");
        let said = undone(&environment);
        let text = fs::read_to_string(environment.project().join(&name)).unwrap();
        assert_eq!(text, "what somebody wrote\n", "{command}: {said}");
    }
}

/// The way in which careful programs write a file.
const ATOMIC: &str = "python3 - <<'EOF'
import os, tempfile
def atomic_write(path, text):
    fd, tmp = tempfile.mkstemp(dir=os.path.dirname(path) or '.')
    with os.fdopen(fd, 'w') as f:
        f.write(text)
    os.replace(tmp, path)
atomic_write('list', 'done\\n')
atomic_write('conf/status', '# ok\\n')
EOF";

#[test]
fn what_git_writes_again_goes() {
    all_go_back(&[
        ("git update-server-info; rm other", ".git/info/refs"),
        (
            "git -c user.name=d -c user.email=d@localhost commit -qm two --allow-empty; git reset -q --hard HEAD~1; git reflog delete HEAD@{0}",
            "other",
        ),
        ("git reflog expire --expire=now --all && git gc -q --prune=now; rm other", ".git/info/refs"),
    ]);
}

/// A call that failed left everything as it was: what came later is not taken for what it did.
#[test]
fn a_call_that_changed_nothing_is_not_offered_after_later_work() {
    let environment = project();
    let call = |event: &str, id: &str, command: &str, more| {
        environment.answer_to(&environment.payload("s", event, shell_call(id, command, more)))
    };
    let done = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
    call("PreToolUse", "first", "rm other", json!({}));
    run(&environment, "rm other");
    call("PostToolUse", "first", "rm other", done.clone());
    let fails = "git reset -q --soft HEAD~9";
    call("PreToolUse", "second", fails, json!({}));
    call("PostToolUseFailure", "second", fails, json!({ "error": "exit 128" }));
    let commits = "git add list; git -c user.name=d -c user.email=d@localhost commit -qm later";
    call("PreToolUse", "third", commits, json!({}));
    run(&environment, commits);
    call("PostToolUse", "third", commits, done);
    let said = undone(&environment);
    assert_eq!(
        fs::read_to_string(environment.project().join("other")).ok().as_deref(),
        Some("theirs\n"),
        "{said}"
    );
    let head = environment.command("git").args(["log", "-1", "--format=%s"]).output().unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&head), "later\n", "{said}");
}

/// Where just that stands which the call was to leave, that shows that it ran, though a user was asked about it.
#[test]
fn what_stands_as_foreseen_shows_that_a_call_ran() {
    for (command, person) in [
        ("echo 'export A=2' > ~/.profile", "echo 'export A=3' > ~/.profile"),
        ("tee -a ~/.profile <<< 'export A=2'", "echo 'export A=3' >> ~/.profile"),
        ("chmod 600 ~/.profile", "chmod 400 ~/.profile"),
    ] {
        for person in [None, Some(person)] {
            let environment = project();
            let profile = environment.home().join(".profile");
            run(&environment, "echo 'export A=1' > ~/.profile; chmod 644 ~/.profile");
            let facts =
                |profile: &PathBuf| (fs::read(profile).unwrap(), fs::metadata(profile).unwrap().mode());
            let before = facts(&profile);
            begin(&environment, command);
            person.iter().for_each(|person| run(&environment, person));
            let later = facts(&profile);
            let said = undone(&environment);
            let wanted = if person.is_none() { before } else { later };
            assert_eq!(facts(&profile), wanted, "{command}, then {person:?}: {said}");
        }
    }
}

/// So do the logs of git, in a repository of which a user was asked about.
#[test]
fn what_logs_tell_shows_that_a_call_ran() {
    let setup = "git config --global user.name dev; git config --global user.email dev@localhost
        git init -q ../other; cd ../other; mkdir src; echo one > src/one; git add -A; git commit -qm first; sleep 0.05";
    let call = "cd ../other && git rm -rq src && git commit -qm gone";
    for person in [None, Some("git -C ../other commit -q --allow-empty -m person")] {
        let environment = project();
        run(&environment, setup);
        let other = environment.home().join("other");
        let branch = || {
            let mut git = environment.command("git");
            let output = git.args(["-C"]).arg(&other).args(["log", "-1", "--format=%s"]).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        begin(&environment, call);
        person.iter().for_each(|person| run(&environment, person));
        let later = branch();
        let said = undone(&environment);
        let wanted = if person.is_none() { "first\n".to_owned() } else { later };
        assert_eq!(branch(), wanted, "{person:?}: {said}");
        assert_eq!(fs::read_to_string(other.join("src/one")).unwrap(), "one\n", "{person:?}: {said}");
    }
}

/// What is kept for lack of an end is asked about by itself, once the rest is done.
#[test]
fn what_is_kept_for_lack_of_an_end_is_asked_about() {
    for (answers, wanted, status) in
        [("y\ny\n", "before", 0), ("y\nn\n", "in between", 1), ("n\n", "after", 1)]
    {
        let environment = project();
        let code = "import random; open('list', 'w').write(str(random.random()))";
        begin(&environment, &format!("rm other; python3 -c \"{code}\""));
        let program = env!("CARGO_BIN_EXE_checkrein");
        let said = typed(&environment, &format!("{program} undo"), answers);
        let list = fs::read_to_string(environment.project().join("list")).unwrap();
        let found = match (list.starts_with("one"), environment.project().join("other").exists()) {
            (true, true) => "before",
            (false, true) => "in between",
            _ => "after",
        };
        assert_eq!(found, wanted, "{answers:?}: {said}");
        assert!(said.contains(&format!("status:{status}")), "{answers:?}: {said}");
        assert_eq!(said.contains("Put that back too?"), answers.starts_with('y'), "{answers:?}: {said}");
    }
}
