//! Patterns mean what the programs take them for that read them.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(clippy::disallowed_methods, reason = "the programs are asked")]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use checkrein_glob::{Glob, Style};

/// The files that patterns are tried on.
const FILES: [&str; 14] =
    ["a", "b", "ab", "a[b", ".a", "c/a", "c/b", "c/.b", "c/c/a", "c/c/ab", ".c/a", "ba/a", "ba/ab/b", "-"];

/// What patterns are put together from.
const PIECES: [&str; 14] =
    ["*", "?", "a", "b", "c", "/", "/", "[ab]", "[!a]", "[a-b]", ".", "**/", "[^]a]", "[]a]"];

/// As many patterns, the same in every run, of pieces that are wanted.
fn patterns(count: usize, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut number = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        usize::try_from(number % below as u64).unwrap()
    };
    let mut all = BTreeSet::new();
    while all.len() < count {
        let length = 1 + next(5);
        let pattern: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
        let is_path = !pattern.starts_with('/') && !pattern.ends_with('/') && !pattern.contains("//");
        if is_path && pattern != "." && !pattern.contains("..") && is_wanted(&pattern) {
            all.insert(pattern);
        }
    }
    all.into_iter().collect()
}

fn lay_out(folder: &Path) {
    for file in FILES {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
}

/// The files that a pattern means here.
fn meant(pattern: &str, is_meant: impl Fn(&str) -> bool) -> (String, BTreeSet<String>) {
    (pattern.to_owned(), FILES.iter().filter(|file| is_meant(file)).map(|file| (*file).to_owned()).collect())
}

/// What a program writes, given this; `None` where there is no such program.
fn output(command: &mut Command, input: &str) -> Option<String> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Some(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
}

/// Lines of a pattern and a file, as sets of files.
fn by_pattern(patterns: &[String], lines: &str) -> Vec<(String, BTreeSet<String>)> {
    let pairs: Vec<(&str, &str)> = lines.lines().filter_map(|line| line.split_once('\t')).collect();
    let files = |pattern: &String| {
        let of = pairs.iter().filter(|(of, file)| of == pattern && FILES.contains(file));
        of.map(|(_, file)| (*file).to_owned()).collect()
    };
    patterns.iter().map(|pattern| (pattern.clone(), files(pattern))).collect()
}

#[test]
fn names_are_those_that_bash_finds() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    // Two stars are ours, and so is a class that may take the dot of a hidden name.
    let patterns = patterns(400, |pattern| {
        !pattern.contains("**") && !pattern.starts_with('[') && !pattern.contains("/[")
    });
    let script = r#"shopt -s nullglob; while IFS= read -r p; do for f in $p; do printf '%s\t%s\n' "$p" "$f"; done; done"#;
    let input = patterns.join("\n") + "\n";
    let Some(found) = output(
        Command::new("bash").args(["-c", script]).env("LC_ALL", "C.UTF-8").current_dir(folder.path()),
        &input,
    ) else {
        return checkrein_testkit::not_run("there is no bash");
    };
    // What is no pattern for bash is a word, which it does not look for.
    let (ours, theirs): (Vec<_>, Vec<_>) = patterns
        .iter()
        .map(|pattern| meant(pattern, |file| Glob::new(pattern, Style::Shell).matches(file)))
        .zip(by_pattern(&patterns, &found))
        .filter(|(one, _)| one.0.contains(['*', '?', '[']))
        .unzip();
    assert_eq!(ours, theirs);
}

#[test]
fn texts_are_those_that_find_finds() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    let patterns = patterns(200, |_| true);
    let mut find = Command::new("find");
    find.args([".", "-type", "f", "-printf", ""]).current_dir(folder.path());
    for (number, pattern) in patterns.iter().enumerate() {
        let whole = format!("./{pattern}");
        find.args([",", "-type", "f", "-path", &whole, "-printf", &format!("{number}\\t%P\\n")]);
    }
    let Some(found) = output(&mut find, "") else { return checkrein_testkit::not_run("there is no find") };
    let numbers: Vec<String> = (0..patterns.len()).map(|number| number.to_string()).collect();
    for (pattern, (_, theirs)) in patterns.iter().zip(by_pattern(&numbers, &found)) {
        let whole = Glob::new(&format!("./{pattern}"), Style::Find);
        assert_eq!(meant(pattern, |file| whole.matches(&format!("./{file}"))).1, theirs, "{pattern}");
    }
}

#[test]
fn ignored_is_what_git_ignores() {
    let folder = tempfile::tempdir().unwrap();
    let patterns = patterns(300, |_| true);
    let git = |arguments: &[&str], input: &str| {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1");
        output(&mut git, input)
    };
    if git(&["init", "-q"], "").is_none() {
        return checkrein_testkit::not_run("there is no git");
    }
    let mut questions = String::new();
    for (number, pattern) in patterns.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        fs::create_dir(&place).unwrap();
        fs::write(place.join(".gitignore"), format!("{pattern}\n")).unwrap();
        questions.extend(FILES.iter().map(|file| format!("{number}/{file}\n")));
    }
    let ignored = git(&["check-ignore", "--no-index", "--stdin"], &questions).unwrap();
    let ignored: BTreeSet<&str> = ignored.lines().collect();
    for (number, pattern) in patterns.iter().enumerate() {
        let glob = Glob::new(pattern, Style::Gitignore);
        let fits = |path: &str| {
            glob.matches(if pattern.contains('/') { path } else { path.rsplit('/').next().unwrap() })
        };
        // What lies in something ignored is, too.
        let ours = meant(pattern, |file| {
            let ends = file.match_indices('/').map(|(end, _)| end).chain([file.len()]);
            ends.into_iter().any(|end| fits(&file[..end]))
        });
        let theirs = meant(pattern, |file| ignored.contains(format!("{number}/{file}").as_str()));
        assert_eq!(ours, theirs);
    }
}

#[test]
fn paths_are_those_that_git_takes_them_for() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    // That `**/` may stand for no directory is ours: git has it so only with `:(glob)`.
    let patterns = patterns(60, |pattern| !pattern.contains("**"));
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(arguments)
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1");
        output(&mut git, "")
    };
    if git(&["init", "-q"]).is_none() {
        return checkrein_testkit::not_run("there is no git");
    }
    for pattern in &patterns {
        let listed = git(&["ls-files", "-o", "--", pattern]).unwrap();
        let theirs = meant(pattern, |file| listed.lines().any(|line| line == file));
        let glob = Glob::new(pattern, Style::Pathspec);
        assert_eq!(meant(pattern, |file| glob.matches(file) || Path::new(file).starts_with(pattern)), theirs);
    }
}
