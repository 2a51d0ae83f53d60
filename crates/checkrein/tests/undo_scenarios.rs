//! What `undo` promises, on scenarios that chance makes: files with several names here and elsewhere, calls that write, empty, remove, move,
//! close and replace them, and a user who changes something in between. Where `undo` ends with status 0, every name that the user did not
//! touch holds what it held, with its mode. Where it does not, it ends with status 1 and names what is left. What the user wrote stays,
//! and what they closed stays closed.
//!
//! `CHECKREIN_SCENARIOS=FIRST..END` tries these seeds instead, `CHECKREIN_SCENARIO_FOLDER` says below what folder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use checkrein_testkit::shells::Chance;
use serde_json::json;
use support::{TestEnvironment, decision, shell_call};

/// The seeds that are tried where nobody says which.
const SEEDS: std::ops::Range<u64> = 0..48;

/// Longer than what clocks are apart.
const PAUSE: Duration = Duration::from_millis(45);

/// The names that files may have, as they are seen from the project.
const INSIDE: [&str; 4] = ["a", "b", "d/c", "d/e"];
const OUTSIDE: [&str; 2] = ["../out/x", "../out/deep/y"];

/// What stands at a name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Standing {
    text: String,
    mode: u32,
    number: u64,
}

type Picture = BTreeMap<&'static str, Standing>;

struct Scenario {
    environment: TestEnvironment,
    chance: Chance,
    /// What was done, for whoever reads of a fault.
    story: String,
    /// The names that the user touched, with all other names of the file at that time.
    touched: BTreeSet<&'static str>,
    /// The texts that only the user wrote, and the names under which each must still be.
    written: BTreeMap<&'static str, String>,
    /// The modes that the user gave.
    closed: BTreeMap<&'static str, u32>,
    /// Whether the client tells how calls end, of which some are not reached; else it never does, and its turns end.
    tells_ends: bool,
}

impl Scenario {
    fn path(&self, name: &str) -> PathBuf {
        self.environment.project().join(name)
    }

    fn run(&mut self, who: &str, command: &str) {
        writeln!(self.story, "  {who}: {command}").unwrap();
        let mut bash = self.environment.command("bash");
        bash.args(["-c", command]).stdin(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    }

    fn picture(&self) -> Picture {
        let look = |name: &&'static str| {
            let path = self.path(name);
            let facts = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
            let mode = facts.permissions().mode() & 0o7777;
            Some((*name, Standing { text: read(&path, mode), mode, number: facts.ino() }))
        };
        INSIDE.iter().chain(&OUTSIDE).filter_map(look).collect()
    }

    fn make(seed: u64) -> Self {
        let folder = std::env::var("CHECKREIN_SCENARIO_FOLDER").unwrap_or_else(|_| "/tmp".to_owned());
        let mut scenario = Self {
            environment: TestEnvironment::within(folder),
            chance: Chance::new(seed),
            story: format!("seed {seed}\n"),
            touched: BTreeSet::new(),
            written: BTreeMap::new(),
            closed: BTreeMap::new(),
            tells_ends: seed % 3 != 2,
        };
        let mut setup = "mkdir -p d ../out/deep".to_owned();
        let mut made = BTreeSet::new();
        for file in ["first", "second"] {
            let mut first = None;
            for name in INSIDE.iter().chain(&OUTSIDE) {
                if !scenario.chance.one_in(2) || made.contains(name) {
                    continue;
                }
                match first {
                    None => write!(setup, "; printf 'the {file} text\\nof two lines\\n' > {name}").unwrap(),
                    Some(first) => write!(setup, "; ln {first} {name}").unwrap(),
                }
                first.get_or_insert(*name);
                made.insert(*name);
            }
        }
        scenario.run("setup", &setup);
        if scenario.chance.one_in(2) {
            scenario
                .run("setup", "git add -A; git -c user.name=d -c user.email=d@localhost commit -qm second");
        }
        // Where the store lies on another file system, files get no name in it.
        if scenario.chance.one_in(4) && Path::new("/dev/shm").is_dir() {
            let local = scenario.environment.home().join(".local");
            fs::create_dir_all(&local).unwrap();
            let state = PathBuf::from("/dev/shm").join(scenario.environment.home().file_name().unwrap());
            fs::create_dir_all(&state).unwrap();
            std::os::unix::fs::symlink(&state, local.join("state")).unwrap();
            scenario.story.push_str("  the store lies on another file system\n");
        }
        scenario
    }

    /// One thing that a call does.
    fn deed(&mut self) -> String {
        let name = self.chance.pick(&INSIDE);
        let number = self.chance.below(1000);
        match self.chance.below(14) {
            0 | 1 => format!("echo new{number} > {name}"),
            2 => format!(": > {name}"),
            3 | 4 => format!("rm -f {name}"),
            5 => format!("mv {name} z{number}"),
            6 => format!("chmod 600 {name}"),
            7 => format!("sed -i s/the/a/ {name}"),
            8 => format!("cp README.md {name}"),
            9 => format!("echo more{number} >> {name}"),
            10 => format!("truncate -s4 {name}"),
            11 => format!("rm -f {name}; echo again{number} > {name}"),
            12 => format!("mv {name} {}", self.chance.pick(&INSIDE)),
            _ => format!("ln -f README.md {name}"),
        }
    }

    /// Something that the agent did before, of which the end is told where ends are.
    fn begin(&mut self) {
        let call = shell_call("first", "ls", json!({}));
        self.environment.answer_to(&self.environment.payload("s", "PreToolUse", call));
        if self.tells_ends {
            self.tell_end("first", "ls");
        } else {
            self.story.push_str("  (ends are never told)\n");
        }
    }

    fn tell_end(&self, id: &str, command: &str) {
        let ended = json!({ "tool_response": { "stdout": "", "stderr": "", "interrupted": false } });
        let after = self.environment.payload("s", "PostToolUse", shell_call(id, command, ended));
        self.environment.answer_to(&after);
    }

    /// A call of the agent, whose end is told or not.
    fn call(&mut self, number: usize) {
        let deeds: Vec<String> = (0..=self.chance.below(2)).map(|_| self.deed()).collect();
        let command = deeds.join("; ");
        let id = format!("call {number}");
        let before = self.environment.payload("s", "PreToolUse", shell_call(&id, &command, json!({})));
        let answer = self.environment.answer_to(&before);
        if matches!(decision(&answer), Some("deny" | "ask")) {
            return;
        }
        thread::sleep(PAUSE);
        self.run("call", &command);
        thread::sleep(PAUSE);
        if !self.tells_ends {
            // What is looked at then is what the call left.
            self.environment.answer_to(&self.environment.payload("s", "Stop", json!({})));
        } else if self.chance.one_in(2) {
            self.tell_end(&id, &command);
            self.story.push_str("  (its end is told)\n");
        }
        thread::sleep(PAUSE);
    }

    /// Something that the user does by themselves.
    fn user(&mut self, number: usize) {
        let all: Vec<&'static str> = INSIDE.iter().chain(&OUTSIDE).copied().collect();
        let name = self.chance.pick(&all);
        let name = *all.iter().find(|one| **one == name).unwrap();
        let before = self.picture();
        let is_there = before.contains_key(name);
        let command = match self.chance.below(7) {
            0 | 1 => format!("echo mine{number} > {name}"),
            2 => format!("echo mine{number} >> {name}"),
            3 => format!("chmod 600 {name}"),
            4 => format!("chmod 400 {name}"),
            5 => format!("rm -f {name}"),
            _ => format!("echo mine{number} > ../aside; mv ../aside {name}"),
        };
        if !is_there && !command.contains("mine") || !self.path(name).parent().unwrap().is_dir() {
            return;
        }
        self.run("user", &command);
        thread::sleep(PAUSE);
        let after = self.picture();
        for name in all {
            if before.get(name) == after.get(name) {
                continue;
            }
            self.touched.insert(name);
            self.written.remove(name);
            self.closed.remove(name);
            if let Some(found) = after.get(name) {
                if before.get(name).is_none_or(|old| old.text != found.text) {
                    self.written.insert(name, found.text.clone());
                }
                if before.get(name).is_some_and(|old| old.mode != found.mode) {
                    self.closed.insert(name, found.mode);
                }
            }
        }
    }

    /// What later calls did to what the user had made is theirs: what counts is what was there before `undo`.
    fn forget_overwritten(&mut self, now: &Picture) {
        self.written.retain(|name, text| now.get(name).is_some_and(|found| found.text == *text));
        self.closed.retain(|name, mode| now.get(name).is_some_and(|found| found.mode == *mode));
    }

    fn undo(&mut self, arguments: &[&str]) -> (bool, String) {
        let output = self.environment.checkrein(&[&["undo", "--yes"], arguments].concat());
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        writeln!(self.story, "  undo {arguments:?}: {}\n{said}", output.status).unwrap();
        (output.status.success(), said)
    }

    /// What is wrong after all was taken back; `None` when nothing is.
    fn fault(&self, before: &Picture, is_done: bool, said: &str) -> Option<String> {
        let now = self.picture();
        for (name, old) in before.iter().filter(|(name, _)| !self.touched.contains(*name)) {
            let found = now.get(name);
            // One file has one mode, which may be that of the user.
            let is_theirs = |found: &Standing| {
                self.touched.iter().any(|name| now.get(name).is_some_and(|one| one.number == found.number))
            };
            if found
                .is_some_and(|found| found.text == old.text && (found.mode == old.mode || is_theirs(found)))
            {
                continue;
            }
            if is_done {
                return Some(format!("status 0, but {name} was {old:?} and is {found:?}"));
            }
            // Any name of the file names it.
            let names = before.iter().filter(|(_, other)| other.number == old.number).map(|(name, _)| *name);
            let is_named = |name: &str| {
                // Below the directory of the user, the way from there names it.
                let is_word = said.split_whitespace().any(|word| word == name);
                let name = name.trim_start_matches("../");
                is_word || said.contains(&format!("/{name}")) || said.contains(&format!("`{name}`"))
            };
            if !names.clone().any(is_named) && !said.contains("could be taken back is older") {
                return Some(format!("{name} was {old:?} and is {found:?}, and nobody says so"));
            }
        }
        for (name, text) in &self.written {
            let readme = fs::read_to_string(self.path("README.md")).unwrap_or_default();
            if readme != *text && !now.values().any(|found| found.text == *text) {
                return Some(format!("what the user wrote at {name} is gone: {:?}", now.get(name)));
            }
        }
        for (name, mode) in &self.closed {
            if now.get(name).is_some_and(|found| found.mode & !mode != 0) {
                return Some(format!("what the user closed is open: {name} is {:?}", now.get(name)));
            }
        }
        None
    }

    /// Plays one scenario; what is wrong.
    fn play(seed: u64) -> Option<String> {
        let mut scenario = Self::make(seed);
        scenario.begin();
        let before = scenario.picture();
        thread::sleep(PAUSE);
        let calls = 1 + scenario.chance.below(2);
        for number in 0..calls {
            scenario.call(number);
            if scenario.chance.one_in(2) {
                scenario.user(number);
            }
        }
        thread::sleep(PAUSE);
        let now = scenario.picture();
        scenario.forget_overwritten(&now);
        let (mut is_done, mut all_said) = (true, String::new());
        for _ in 0..calls {
            let (done, said) = scenario.undo(&[]);
            // Where nothing is left to take back, nothing was lost that could be.
            is_done &= done || said.contains("nothing that was saved in this project is left");
            all_said.push_str(&said);
        }
        let mut fault = scenario.fault(&before, is_done, &all_said);
        if fault.is_none() {
            fault = scenario.advised(&before, &all_said);
        }
        let state = PathBuf::from("/dev/shm").join(scenario.environment.home().file_name().unwrap());
        drop(fs::remove_dir_all(state));
        fault.map(|fault| format!("{fault}\n{}", scenario.story))
    }

    /// Follows the advice that was printed: it must do something, and what it says of itself must hold.
    fn advised(&mut self, before: &Picture, said: &str) -> Option<String> {
        let advice: BTreeSet<&str> = said
            .split('`')
            .filter(|one| one.starts_with("checkrein undo ") && one.contains("--force"))
            .collect();
        if advice.is_empty() || advice.len() > 1 {
            return None;
        }
        let arguments: Vec<&str> = advice.iter().next()?.split(' ').skip(2).collect();
        let (is_done, said) = self.undo(&arguments);
        if said.contains("nothing to do") {
            return Some("the advice does nothing".to_owned());
        }
        // The user wanted all of it back.
        self.written.clear();
        self.closed.clear();
        let is_whole = is_done && before.len() > 1 && self.touched.is_empty();
        let text = self.fault(before, is_whole && self.is_only_call(&arguments), &said);
        text.filter(|fault| !fault.contains("nobody says so"))
    }

    /// Whether the call that arguments name was the only one.
    fn is_only_call(&self, _arguments: &[&str]) -> bool {
        self.story.matches("  call: ").count() == 1
    }
}

/// What a file holds, also where it is closed to its owner.
fn read(path: &Path, mode: u32) -> String {
    fs::read_to_string(path).unwrap_or_else(|_| format!("closed: {mode:o}"))
}

#[test]
fn what_undo_promises_holds_whatever_happens() {
    let wanted = std::env::var("CHECKREIN_SCENARIOS").ok();
    let range = wanted.as_deref().and_then(|range| {
        let (first, end) = range.split_once("..")?;
        Some(first.parse().ok()?..end.parse().ok()?)
    });
    let range = range.unwrap_or(SEEDS);
    let next = AtomicU64::new(range.start);
    let faults: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut faults = Vec::new();
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= range.end {
                            return faults;
                        }
                        faults.extend(Scenario::play(seed));
                    }
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}
