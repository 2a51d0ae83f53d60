//! What the pages show is what the programs print: each `console` block of them is run, in order, in a project of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::path::Path;

use support::{TestEnvironment, repository};

/// A project with something to lose: a branch that the remote has, an edited file, and notes that are nowhere else.
fn project() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("src/cart.py", "total = 0\n");
    environment.git(&["add", "."]);
    environment.commit("the cart");
    let remote = environment.home().join("remote.git");
    environment.git(&["init", "--quiet", "--bare", remote.to_str().unwrap()]);
    environment.git(&["checkout", "--quiet", "-b", "discount"]);
    environment.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    environment.git(&["push", "--quiet", "--set-upstream", "origin", "discount"]);
    environment.write("src/cart.py", "total = 1\n");
    environment.write("notes.md", "do not lose this\n");
    fs::write(environment.home().join("diary.md"), "nor this\n").unwrap();
    environment
}

#[test]
fn every_rule_that_a_page_names_exists() {
    let page = |path: &Path| fs::read_to_string(path).unwrap();
    let rules = page(&repository().join("docs/reference/rules.md"));
    let known: Vec<&str> = rules.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(known.contains(&"confirm_upload"), "{known:?}");
    let mut pages: Vec<_> =
        fs::read_dir(repository().join("docs")).unwrap().map(|file| file.unwrap().path()).collect();
    pages.push(repository().join("README.md"));
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    for path in pages {
        let text = page(&path);
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let is_rule =
            |word: &&str| ["confirm_", "prevent_", "warn_"].iter().any(|start| word.starts_with(start));
        for rule in words.filter(is_rule) {
            assert!(known.contains(&rule), "`{rule}` in {} is not a rule", path.display());
        }
    }
}

/// The text of a page with the output below each command of its `console` blocks replaced by what the command prints now.
fn as_printed(page: &str) -> String {
    let mut shown = Vec::new();
    let mut environment = None;
    for line in page.lines() {
        match (line, &environment) {
            ("```console", _) => {
                shown.push(line.to_owned());
                environment = Some(project());
            }
            ("```", Some(_)) => {
                shown.push(line.to_owned());
                environment = None;
            }
            (_, None) => shown.push(line.to_owned()),
            (_, Some(environment)) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    shown.push(line.to_owned());
                    shown.extend(printed(environment, command).lines().map(str::to_owned));
                }
            }
        }
    }
    shown.join("\n") + "\n"
}

/// What a command prints, with the folders of the test under the names that a reader knows.
fn printed(environment: &TestEnvironment, command: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_checkrein")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let output = environment
        .command("sh")
        .args(["-c", command])
        .current_dir(environment.project())
        .env("PATH", path)
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    text.replace(environment.project().to_str().unwrap(), "~/shop")
        .replace(environment.home().to_str().unwrap(), "~")
}

// Source: seed 004-91
#[test]
fn the_pages_show_what_is_printed() {
    let update = std::env::var_os("UPDATE_PAGES").is_some();
    let pages = fs::read_dir(repository().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut shown = 0;
    for page in pages.chain([repository().join("README.md")]) {
        if page.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&page).unwrap();
        let now = as_printed(&text);
        shown += text.matches("```console").count();
        if update {
            fs::write(&page, &now).unwrap();
        } else {
            assert_eq!(text, now, "{}: `UPDATE_PAGES=1` writes what is printed", page.display());
        }
    }
    assert!(shown > 0, "no page shows anything");
}
