use super::*;

fn fits(style: Style, pattern: &str, text: &str) -> bool {
    Glob::new(pattern, style).matches(text)
}

/// Pairs of pattern and text that fit, and pairs that do not.
fn check(style: Style, yes: &[(&str, &str)], no: &[(&str, &str)]) {
    for (pattern, text) in yes {
        assert!(fits(style, pattern, text), "{style:?} {pattern} {text}");
    }
    for (pattern, text) in no {
        assert!(!fits(style, pattern, text), "{style:?} {pattern} {text}");
    }
}

#[test]
fn names_fit_as_in_a_shell() {
    check(
        Style::Shell,
        &[
            ("*", "a"),
            ("*.log", "x.log"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[!a]", "b"),
            ("[!]a]", "b"),
            ("[]a]", "]"),
            ("[", "["),
            (".*", ".git"),
            ("*a*b", "xaab"),
            ("a\\b", "a\\b"),
        ],
        &[
            ("*", ".git"),
            ("?git", ".git"),
            ("*.git", ".git"),
            ("a/*", "a/.git"),
            ("*.log", "x.txt"),
            ("a?c", "ac"),
            ("a?c", "a/c"),
            ("*", "a/b"),
            ("[a-c]x", "dx"),
            ("[!a]", "a"),
            ("[!]a]", "]"),
            ("[", "x"),
        ],
    );
}

#[test]
fn two_stars_cross_directories_in_a_shell() {
    check(
        Style::Shell,
        &[
            ("**/*.pyc", "a.pyc"),
            ("**/*.pyc", "a/b/c.pyc"),
            ("**/*.pyc", ".hidden/c.pyc"),
            ("a/**", "a"),
            ("a/**", "a/b/c"),
            ("**", "a/b"),
            ("**", ".git/x"),
            ("a/**", "a/.git"),
            ("a/**/b", "a/b"),
            ("a/**/**/b", "a/x/y/b"),
        ],
        &[
            ("**/*.pyc", "a/b/c.py"),
            ("**/*.pyc", "a/.pyc"),
            ("a/**", "ab"),
            ("a/**/b", "ab"),
            ("a/**/b", "a/xb"),
        ],
    );
}

#[test]
fn ignored_paths_fit_as_in_git() {
    check(
        Style::Gitignore,
        &[
            ("*.log", ".log"),
            ("all/**", "all/x/y"),
            ("a/**/z", "a/z"),
            ("**/deep", "x/y/deep"),
            ("a\\*", "a*"),
            ("[\\]]", "]"),
            ("[a-c]?.x", "b1.x"),
            ("**", "a/b"),
        ],
        &[
            ("all/**", "all"),
            ("a\\*", "ab"),
            ("[a", "[a"),
            ("[a/b]", "a"),
            ("a\\", "a\\"),
            ("doc/*.txt", "doc/d/a.txt"),
        ],
    );
}

#[test]
fn texts_fit_as_in_find() {
    check(
        Style::Find,
        &[
            ("*.pyc", "a.pyc"),
            ("./src/*.py", "./src/x/y.py"),
            ("[a-c][!0-5]", "b7"),
            ("a\\*b", "a*b"),
            ("*", ""),
            ("*a*b", "aaaab"),
            ("a[/]b", "a/b"),
            ("[", "["),
        ],
        &[("*.pyc", "A.PYC"), ("[a-c][!0-5]", "b3"), ("a\\*b", "axb"), ("", "x"), ("**/x", "x")],
    );
}

#[test]
fn paths_that_git_is_given_cross_slashes() {
    check(
        Style::Pathspec,
        &[("*.py", "a/b.py"), ("src/*", "src/a/b"), ("**/x.py", "x.py"), ("a[bc]*", "ab/d")],
        &[("*.py", "a.pyc"), ("src/*", "source/a")],
    );
}

#[test]
fn settings_cover_what_lies_below() {
    let covers = |pattern: &str, path: &str| Glob::new(pattern, Style::Setting).or_below().matches(path);
    for (pattern, path) in [
        ("/p/src", "/p/src/a/b.rs"),
        ("/p/src", "/p/src"),
        ("/p/src/**", "/p/src"),
        ("/p/src/**", "/p/src/a/b"),
        ("/p/*.md", "/p/README.md"),
        ("/p/**/test_*.py", "/p/a/b/test_x.py"),
        ("/p/**/test_*.py", "/p/test_x.py"),
        ("/p/**/test_*.py", "/p/test_x.py/below"),
        ("/p/?", "/p/é"),
        ("/p/[a]", "/p/[a]"),
        ("", "/p"),
    ] {
        assert!(covers(pattern, path), "{pattern} {path}");
    }
    for (pattern, path) in [
        ("/p/src", "/p/source"),
        ("/p/src/a", "/p/src"),
        ("/p/*.md", "/p/docs"),
        ("/p/a?c", "/p/ac"),
        ("/p/[a]", "/p/a"),
    ] {
        assert!(!covers(pattern, path), "{pattern} {path}");
    }
}

#[test]
fn what_goes_along_is_meant_with_what_lies_in_it() {
    let meant = |pattern: &str, path: &str| Glob::new(pattern, Style::Carried).or_below().matches(path);
    for (pattern, path) in [
        ("data", "data/deep/a"),
        ("data/*.csv", "data/a.csv"),
        ("**/*.csv", "data/deep/a.csv"),
        ("**/*.csv", "a.csv"),
        ("**.csv", "data/deep/a.csv"),
        ("data/**", "data/deep/a"),
        ("a**z", "a/b/z"),
        ("*", "any/thing"),
    ] {
        assert!(meant(pattern, path), "{pattern} {path}");
    }
    for (pattern, path) in [
        ("*.txt", "notes.md"),
        ("data/*.csv", "data/deep/a.csv"),
        ("a?c", "a/c"),
        ("at", "data"),
        ("data/**", "data"),
    ] {
        assert!(!meant(pattern, path), "{pattern} {path}");
    }
}

#[test]
fn words_know_only_the_star() {
    check(
        Style::Word,
        &[
            ("DELETE", "DELETE"),
            ("*.json", "a.json"),
            ("refs/*/x", "refs/heads/a/x"),
            ("a?[b]", "a?[b]"),
            ("**", ""),
        ],
        &[("DELETE", "DELETED"), ("x*x", "x"), ("a?", "ab")],
    );
}

#[test]
fn no_pattern_is_slow() {
    let text = "a".repeat(2_000);
    for style in [
        Style::Shell,
        Style::Gitignore,
        Style::Pathspec,
        Style::Find,
        Style::Setting,
        Style::Carried,
        Style::Word,
    ] {
        assert!(!fits(style, &format!("{}b", "*a".repeat(200)), &text));
        assert!(!fits(style, &format!("{}x", "**/".repeat(200)), &"d/".repeat(500)));
    }
}
