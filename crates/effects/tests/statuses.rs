//! What is called a success or a failure for certain is one: asked of the real bash and dash, as a user without rights over everything, for
//! commands with operands of every kind.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_facts::{Entry, FileText, HostPaths, RecordedWorld, Right, VersionState};
use checkrein_protocol::{AbsolutePath, Action, EffectKind, Severity, Target};

/// Commands that answer of themselves how they went, with the options that change what they answer.
const COMMANDS: &[&str] = &[
    // Built-ins of the shells.
    ":",
    "true",
    "false",
    "[ -e",
    "[ -d",
    "[ -f",
    "[ -s",
    "[ -r",
    "[ -w",
    "[ -x",
    "[ -L",
    "[ ! -e",
    "[ ! -r",
    "test -O",
    "test -G",
    "test -k",
    "test -n",
    "test",
    "cd",
    "cd -P",
    "cd -L",
    "cd -e",
    "cd --",
    "pushd",
    "pushd -n",
    "builtin cd",
    "command cd",
    "popd",
    "dirs",
    "pwd",
    "echo",
    "printf",
    "printf %s",
    "printf -v x",
    "printf -v x -P f",
    "printf -v x -- -P",
    "printf -v x -v y a",
    "printf -v x -v",
    "printf -v x -",
    "printf %d",
    "read",
    "read -r x <",
    "mapfile -t x <",
    "read x <",
    "export",
    "export x=",
    "declare",
    "declare -n r=",
    "declare -x",
    "readonly",
    "local",
    "unset",
    "unset -f",
    "set",
    "set --",
    "shopt -s",
    "shift",
    "eval",
    "eval :",
    ".",
    "source",
    "builtin",
    "command",
    "command -v",
    "hash",
    "type",
    "alias",
    "unalias",
    "let x=1",
    "getopts ab x",
    "wait",
    "umask",
    "ulimit -n",
    "jobs",
    "times",
    "trap : ",
    "trap",
    "exec 5<",
    "exec 5>>",
    "exec 6<>",
    ": <",
    ": >>",
    ": >|",
    "kill -0",
    "enable",
    "compgen -f",
    "history",
    "help",
    "caller",
    "bg",
    "fg",
    "disown",
    "complete",
    "bind",
    // Programs.
    "mkdir",
    "mkdir -p",
    "mkdir -p --",
    "mkdir -p -m 700",
    "mkdir -m zz -p",
    "mkdir -pv",
    "rmdir",
    "rmdir -p",
    "rmdir --ignore-fail-on-non-empty",
    "rm",
    "rm -f",
    "rm -rf",
    "rm -d",
    "rm -fd",
    "rm -fi",
    "rm -f --",
    "rm --force",
    "rm --preserve-root=all -rf",
    "touch",
    "touch -c",
    "touch -a",
    "touch -r",
    "ln -s",
    "ln -sf",
    "ln",
    "ln -sfn",
    "cp",
    "cp -r",
    "cp -f",
    "cp -n",
    "cp -u",
    "mv",
    "mv -f",
    "mv -n",
    "cat",
    "head",
    "head -n1",
    "tail",
    "tail -c1",
    "wc",
    "wc -l",
    "sort",
    "sort -c",
    "uniq",
    "cut -c1",
    "tr a",
    "tac",
    "rev",
    "nl",
    "od",
    "fold",
    "paste",
    "join",
    "comm",
    "ls",
    "ls -d",
    "ls -la",
    "stat",
    "stat -c %s",
    "file",
    "du",
    "du -s",
    "df",
    "readlink",
    "readlink -f",
    "readlink -e",
    "realpath",
    "realpath -e",
    "realpath -m",
    "basename",
    "dirname",
    "chmod +x",
    "chmod 644",
    "chmod -R u+r",
    "chmod -f 644",
    "chown 61311",
    "chgrp 61311",
    "truncate -s0",
    "truncate -c -s0",
    "tee",
    "tee -a",
    "dd if=/dev/null status=none of=",
    "install",
    "install -d",
    "install -m 600 f",
    "sync",
    "sleep 0",
    "date",
    "date -r",
    "date +%s",
    "id",
    "id -u",
    "whoami",
    "hostname",
    "uname",
    "nproc",
    "env",
    "env true",
    "nice true",
    "nohup true",
    "timeout 5 true",
    "timeout 5 cat",
    "xargs true",
    "xargs -r rm -f",
    "xargs cat",
    "find",
    "find -H",
    "find -L",
    "grep x",
    "grep -q a",
    "grep -r a",
    "grep -c a",
    "sed -n p",
    "sed -i s/a/b/",
    "awk 1",
    "diff f",
    "diff -q f",
    "cmp f",
    "cmp -s f",
    "md5sum",
    "sha256sum -c",
    "cksum",
    "seq",
    "yes | head -n1",
    "expr",
    "factor",
    "mktemp",
    "mktemp -d",
    "mktemp -p",
    "mkfifo",
    "mknod",
    "link f",
    "unlink",
    "split",
    "shuf",
    "tsort",
    "expand",
    "base64",
    "base64 -d",
    "numfmt",
    "printenv",
    "tty",
    "logname",
    "groups",
    "which",
    "command -p cat",
    "test -e",
    "busybox",
];

/// What they are given.
const OPERANDS: &[&str] = &[
    "",
    "f",
    "empty",
    "d",
    "d/",
    "full",
    "full/a",
    "closed",
    "closed/",
    "closed/x",
    "closed/..",
    "no",
    "no/",
    "no/such",
    "f/",
    "f/x",
    "f/..",
    "lf",
    "ld",
    "ld/",
    "ld/..",
    "dangling",
    "loop",
    "locked",
    "sealed",
    "sealed/a",
    "sealed/new",
    ".",
    "./",
    "..",
    "../..",
    "/",
    "~",
    "~/",
    "~root",
    "/root",
    "/root/x",
    "/etc",
    "/etc/shadow",
    "/etc/passwd",
    "/etc/passwd/x",
    "/lost+found",
    "/etc/ssl/private",
    "/dev/null",
    "/proc/1/cwd",
    "''",
    "-",
    "--",
    "-zz",
    "--help",
    "--nosuch",
    "f no",
    "no f",
    "f d",
    "d f",
    "f f",
    "d no/such",
    "full d",
    "f sealed",
    "closed d",
    "f closed/x",
    "f new",
    "new f",
    "x ]",
    "f ]",
    "d ]",
    "no ]",
    "closed/x ]",
    "/root/x ]",
    "locked ]",
    "'' ]",
    "1",
    "abc",
    "1a=2",
    "HOME",
    "x",
    "-m zz q",
    "-m 0 q/r",
    "-p",
    "-v q",
    "q/r/s",
    "q",
    "\"$PWD\"",
    "*",
    "f*",
    "no*",
    "ful?/*",
    "{f,no}",
    "$UNSET",
    "\"$UNSET\"",
    "$(echo f)",
    "f 2>closed/x",
    "f >sealed/new",
    "f >/dev/full",
    "f <no",
    "f </root/x",
    "-P f",
    "-e f",
    "-r full",
    "full no",
    "sealed no",
    ". full",
    ".git",
    ".git .gitignore",
    ".gitignore",
    ".gitignore/..",
];

/// Where the files of the scene are, in the world.
fn project() -> AbsolutePath {
    AbsolutePath::new("/scratch/home/proj").unwrap()
}

const FILES: &[&str] =
    &["f", "empty", "full/a", "full/b", "locked", "sealed/a", ".gitignore", ".git/config", ".git/HEAD"];
const DIRECTORIES: &[&str] = &["d", "full", "closed", "sealed", ".git"];
const LINKS: &[(&str, &str)] = &[("lf", "f"), ("ld", "d"), ("dangling", "nowhere"), ("loop", "loop")];

fn world() -> RecordedWorld {
    let root = AbsolutePath::root();
    let project = project();
    let mut world = RecordedWorld::complete(HostPaths::new(project.parent().unwrap(), project.clone()));
    for directory in DIRECTORIES {
        world = world.with_directory(&project.join(directory));
    }
    for file in FILES {
        let text = if *file == "empty" { "" } else { "a\n" };
        world = world.with_file(&project.join(file), text, VersionState::Untracked);
    }
    for (link, target) in LINKS {
        world.entries.insert(project.join(link), Entry::Symlink((*target).to_owned()));
    }
    for directory in ["root", "etc/ssl/private", "lost+found", "dev", "proc", "usr/bin", "tmp"] {
        world = world.with_directory(&root.join(directory));
    }
    for file in ["etc/shadow", "etc/passwd"] {
        world = world.with_file(&root.join(file), "root:x:0:0::/root:/bin/sh\n", VersionState::NoRepository);
    }
    for special in ["dev/null", "dev/full"] {
        world.entries.insert(root.join(special), Entry::Special);
    }
    for unknown in ["closed/x", "/root/x", "/proc/1/cwd"] {
        world.entries.insert(project.join(unknown), Entry::Unknown);
    }
    for closed in ["closed", "/root", "/etc/ssl/private", "/lost+found"] {
        world
            .denied
            .extend([Right::Read, Right::Write, Right::Enter].map(|right| (project.join(closed), right)));
    }
    for sealed in ["sealed", "/", "/etc", "/etc/passwd", "/etc/shadow", "locked"] {
        world.denied.push((project.join(sealed), Right::Write));
    }
    for secret in ["locked", "/etc/shadow"] {
        world.denied.push((project.join(secret), Right::Read));
        world.texts.insert(project.join(secret), FileText::Unknown);
    }
    world
}

/// The user that the shells run as, where that can be chosen.
const USER: u32 = 61311;

/// The lines of a shell that make the files of the scene where it stands; what others own is made before.
fn made() -> String {
    let mut script = String::from(
        "mkdir d full sealed .git; printf 'a\\n' >f; : >empty; cp f full/a; cp f full/b; cp f sealed/a; cp f .gitignore; cp f .git/config; cp f .git/HEAD\n",
    );
    for (link, target) in LINKS {
        writeln!(script, "ln -s {target} {link}").unwrap();
    }
    script.push_str("chmod 555 sealed\n");
    script
}

/// Which marks the shell reaches with each of the forms.
fn reached(shell: &str, forms: &[String]) -> Vec<BTreeSet<char>> {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let top = folder.path();
    fs::set_permissions(top, fs::Permissions::from_mode(0o755)).unwrap();
    let mut script = format!(
        "exec 9>\"$1\"/marks; mkdir -p \"$1\"/template/home/proj; cd \"$1\"/template/home/proj\n{}",
        made()
    );
    for (number, form) in forms.iter().enumerate() {
        let quoted = text_of(form).replace('\'', "'\\''");
        let mut marks = String::new();
        for (name, mark) in MARKS {
            write!(marks, "{name}='echo {number}{mark} >&9' ").unwrap();
        }
        // Each in a copy of its own, since some change what is there.
        writeln!(
            script,
            "cp -a \"$1\"/template \"$1\"/{number}; cd \"$1\"/{number}/home/proj; install -d -m 0 closed; install -m 0 f locked; HOME=$1/{number}/home {marks}timeout -k.1 .4 {shell} -c '{quoted}' </dev/null >/dev/null 2>&1"
        )
        .unwrap();
    }
    // What nobody may enter could not be removed.
    script.push_str("chmod -R u+rwx \"$1\"\n");
    let mut bash = Command::new("bash");
    let path = top.join("script");
    fs::write(&path, script).unwrap();
    fs::write(top.join("marks"), "").unwrap();
    if is_root(top) {
        for place in [top.to_owned(), path.clone(), top.join("marks")] {
            chown(place, Some(USER), Some(USER)).unwrap();
        }
        bash.uid(USER).gid(USER);
    }
    let status = bash
        .args(["--norc", "--noprofile"])
        .arg(&path)
        .arg(top)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(top)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.code().is_some());
    let mut all = vec![BTreeSet::new(); forms.len()];
    for line in fs::read_to_string(top.join("marks")).unwrap().lines() {
        let (number, mark) = line.split_at(line.len() - 1);
        all[number.parse::<usize>().unwrap()].insert(mark.chars().next().unwrap());
    }
    all
}

fn is_root(place: &Path) -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata(place).unwrap()) == 0
}

/// Variables with what runs where a form succeeds, fails, and behind it.
const MARKS: &[(&str, char)] = &[("S", 's'), ("F", 'f'), ("E", 'e')];

fn text_of(form: &str) -> String {
    format!("if {form}\nthen eval \"$S\"; else eval \"$F\"; fi; eval \"$E\"")
}

/// What is foreseen of a form: marks that may be reached; `None` where the reading says that it did not see all.
fn foreseen(shell: &str, form: &str, world: &RecordedWorld) -> Option<BTreeSet<char>> {
    let deletes = |mark: char| format!("rm -rf /etc/mark-{mark}");
    let text = format!("if {form}\nthen {}; else {}; fi; {}", deletes('s'), deletes('f'), deletes('e'));
    let quoted = text.replace('\'', "'\\''");
    let command = if shell == "bash" { text } else { format!("{shell} -c '{quoted}'") };
    let prediction = predict(&Action::command(command, project()), world);
    let mut marks = BTreeSet::new();
    for effect in prediction.effects {
        match (effect.kind, &effect.target) {
            (EffectKind::FileDelete, Target::Path(path)) => {
                let mark = path.as_str().strip_prefix("/etc/mark-").and_then(|mark| mark.chars().next());
                marks.extend(mark);
            }
            (EffectKind::Opaque, _) if effect.severity >= Severity::High => return None,
            _ => {}
        }
    }
    Some(marks)
}

fn forms() -> Vec<String> {
    COMMANDS
        .iter()
        .flat_map(|command| {
            OPERANDS.iter().map(move |operand| {
                if command.ends_with('=') {
                    format!("{command}{operand}")
                } else {
                    format!("{command} {operand}")
                }
            })
        })
        .collect()
}

#[test]
fn what_is_called_certain_is_so() {
    let mut world = world();
    for mark in ["s", "f", "e"] {
        world = world.with_file(
            &AbsolutePath::new(&format!("/etc/mark-{mark}")).unwrap(),
            "a\n",
            VersionState::NoRepository,
        );
    }
    let all = forms();
    // All of them take minutes: every few of them here, and where that is asked for others (`3/19`: every 19th from the third on).
    let (first, step) = std::env::var("CHECKREIN_STATUSES")
        .ok()
        .and_then(|text| {
            let (first, step) = text.split_once('/').unwrap_or(("0", &text));
            Some((first.parse().ok()?, step.parse().ok()?))
        })
        .unwrap_or((0, 97));
    let mut wrong = Vec::new();
    for (number, shell) in ["bash", "dash"].into_iter().enumerate() {
        let tried = Command::new(shell).args(["-c", ":"]).stdin(Stdio::null()).status();
        if !tried.is_ok_and(|status| status.success()) {
            checkrein_testkit::not_run(&format!("`{shell}` cannot be started"));
            continue;
        }
        let forms: Vec<String> = all.iter().skip(first + number).step_by(step).cloned().collect();
        let reached: Vec<BTreeSet<char>> =
            forms.chunks(400).flat_map(|forms| reached(shell, forms)).collect();
        // A few run too long or end the shell; where most leave no mark, nothing was asked of it.
        let ran = reached.iter().filter(|marks| !marks.is_empty()).count();
        assert!(
            ran * 2 > forms.len(),
            "did not run: only {ran} of {} forms left a mark in {shell}",
            forms.len()
        );
        for (form, reached) in forms.iter().zip(reached) {
            if let Some(foreseen) = foreseen(shell, form, &world)
                && !reached.is_subset(&foreseen)
            {
                wrong.push(format!("{shell}: {form}: {reached:?} of {foreseen:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
