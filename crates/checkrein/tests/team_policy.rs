//! The policy of a team: signed by somebody, pinned by a user, in force only as it was signed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, shell_call};

/// A rule that nobody has by default.
const STRICT: &str = "governance:\n  tripwires:\n    - {id: no_frobnicate, condition: 'action.command.contains(\"frobnicate\")', on_fail: {decision: block, reason: the team forbids it}}\n";

struct Team {
    environment: TestEnvironment,
    key: String,
    policy: PathBuf,
    asked: Cell<u32>,
}

impl Team {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let secret = environment.home().join("secret.key");
        let made = environment.checkrein(&["policy", "key", "--to", secret.to_str().unwrap()]);
        assert!(made.status.success(), "{made:?}");
        assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
        let folder = environment.home().join("team");
        fs::create_dir(&folder).unwrap();
        let team =
            Self { environment, key: String::new(), policy: folder.join("policy.yaml"), asked: Cell::new(0) };
        let key = team.sign(STRICT);
        Self { key, ..team }
    }

    fn run(&self, words: &[&str]) -> (bool, String) {
        let output = self.environment.checkrein(words);
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.success(), text)
    }

    /// Publishes a policy; the public key.
    fn sign(&self, text: &str) -> String {
        fs::write(&self.policy, text).unwrap();
        let secret = self.environment.home().join("secret.key");
        let (done, said) =
            self.run(&["policy", "sign", self.policy.to_str().unwrap(), "--key", secret.to_str().unwrap()]);
        assert!(done, "{said}");
        said.lines().find_map(|line| line.strip_prefix("public key: ")).unwrap().to_owned()
    }

    fn pin(&self) -> (bool, String) {
        self.run(&["policy", "pin", self.policy.to_str().unwrap(), "--key", &self.key, "--yes"])
    }

    /// A policy that is signed after the last one: the time of a signature has no parts of a second.
    fn sign_later(&self, text: &str) -> String {
        std::thread::sleep(std::time::Duration::from_millis(1100));
        self.sign(text)
    }

    /// One of the files that are kept of what is pinned.
    fn kept(&self, name: &str) -> PathBuf {
        self.environment.home().join(".config/checkrein/team").join(name)
    }

    /// What the hook says when a session begins.
    fn begin(&self, session: &str) -> String {
        let start = self.environment.payload(session, "SessionStart", json!({ "source": "startup" }));
        self.environment.answer_to(&start).to_string()
    }

    /// What `doctor` finds about the policy of the team.
    fn findings(&self) -> Vec<Json> {
        let output = self.environment.checkrein(&["--json", "doctor"]);
        let diagnosis: Json = serde_json::from_slice(&output.stdout).unwrap();
        let all = diagnosis["findings"].as_array().unwrap().clone();
        all.into_iter().filter(|finding| finding["check"] == "team policy").collect()
    }

    /// Makes what an agent would make that wants another policy to count: a text, a key of its own, and a pin that fits both.
    fn forge(&self) {
        let (folder, text) = (self.environment.home().join("forged"), "mode: observe\n");
        let forger = Self::in_folder(&self.environment, &folder);
        let digest = hex_of_sha256(text);
        let pin = fs::read_to_string(self.kept("pin.json")).unwrap();
        let mut pin: Json = serde_json::from_str(&pin).unwrap();
        pin["key"] = forger.into();
        pin["digest"] = digest.into();
        fs::write(self.kept("policy.yaml"), text).unwrap();
        fs::write(self.kept("pin.json"), pin.to_string()).unwrap();
    }

    /// The public key of somebody else.
    fn in_folder(environment: &TestEnvironment, folder: &std::path::Path) -> String {
        fs::create_dir_all(folder).unwrap();
        let secret = folder.join("secret.key");
        let said = environment.succeed(&["policy", "key", "--to", secret.to_str().unwrap()]);
        said.lines().find_map(|line| line.strip_prefix("public key: ")).unwrap().to_owned()
    }

    fn verdict(&self) -> Option<String> {
        // Running sessions keep the rules they began with, so each asks in one of its own.
        let session = format!("session-{}", self.asked.replace(self.asked.get() + 1));
        decision(&self.environment.bash(&session, "echo frobnicate")).map(str::to_owned)
    }
}

/// As the guard writes the digest of a text.
fn hex_of_sha256(text: &str) -> String {
    let mut sum = Command::new("sh");
    let output = sum.args(["-c", "printf %s \"$1\" | sha256sum", "sh", text]).output().unwrap();
    let digits = String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap().to_owned();
    format!("sha256:{digits}")
}

#[test]
fn a_pin_that_is_lost_or_forged_is_told_and_put_back_by_an_update() {
    for is_forged in [false, true] {
        let team = Team::new();
        assert!(team.pin().0);
        assert!(!team.begin("before").contains("pinned"));
        let findings = team.findings();
        assert!(findings.len() == 1 && findings[0]["health"] == "ok", "{findings:?}");
        if is_forged {
            team.forge();
        } else {
            fs::remove_file(team.kept("pin.json")).unwrap();
        }
        let wanted = if is_forged { "another key is the one to trust" } else { "does not count any more" };
        let said = team.begin("after");
        assert!(said.contains(wanted) && said.contains("checkrein policy update"), "{said}");
        assert!(!team.begin("again").contains(wanted), "it is told once");
        let findings = team.findings();
        assert!(findings.iter().any(|one| one["health"] == "broken"), "{findings:?}");
        assert!(findings[0]["detail"].as_str().unwrap().contains(wanted), "{findings:?}");

        let (done, said) = team.run(&["policy", "update", "--yes"]);
        assert!(done && said.contains("was written anew"), "{said}");
        assert_eq!(team.verdict().as_deref(), Some("deny"));
        let findings = team.findings();
        assert!(findings.len() == 1 && findings[0]["health"] == "ok", "{findings:?}");
    }
}

#[test]
fn what_a_call_did_to_the_pin_is_put_back_at_its_end() {
    let team = Team::new();
    assert!(team.pin().0);
    team.begin("one");
    let before = ["pin.json", "policy.yaml"].map(|name| fs::read_to_string(team.kept(name)).unwrap());
    let changes: [&dyn Fn(); 3] = [
        &|| fs::remove_file(team.kept("pin.json")).unwrap(),
        &|| fs::remove_dir_all(team.kept("")).unwrap(),
        &|| team.forge(),
    ];
    for change in changes {
        team.environment.bash("one", "ls");
        change();
        let end = shell_call("call", "ls", json!({ "tool_response": { "stdout": "", "stderr": "" } }));
        let said =
            team.environment.answer_to(&team.environment.payload("one", "PostToolUse", end)).to_string();
        assert!(said.contains("was put back"), "{said}");
        let after = ["pin.json", "policy.yaml"].map(|name| fs::read_to_string(team.kept(name)).unwrap());
        assert_eq!(after, before);
    }
    // What the user does by the command stays, also while a call runs.
    team.environment.bash("one", "ls src");
    assert!(team.run(&["policy", "unpin", "--yes"]).0);
    let end = shell_call("call", "ls src", json!({ "tool_response": { "stdout": "", "stderr": "" } }));
    team.environment.answer_to(&team.environment.payload("one", "PostToolUse", end));
    assert!(!team.kept("pin.json").exists());
}

#[test]
fn a_pin_that_nobody_made_is_told_too() {
    let team = Team::new();
    team.begin("before");
    fs::create_dir_all(team.kept("")).unwrap();
    let text = "mode: observe\n";
    let pin = json!({ "source": "/x", "key": team.key, "digest": hex_of_sha256(text), "signed": "2026-01-01T00:00:00Z" });
    fs::write(team.kept("policy.yaml"), text).unwrap();
    fs::write(team.kept("pin.json"), pin.to_string()).unwrap();
    let said = team.begin("after");
    assert!(said.contains("a policy counts that you did not pin"), "{said}");
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(!done && said.contains("you did not pin") && said.contains("policy unpin"), "{said}");
    assert!(team.run(&["policy", "unpin", "--yes"]).0);
    assert!(team.findings().is_empty());
}

#[test]
fn an_update_writes_a_kept_text_anew_that_was_lost_or_changed() {
    let team = Team::new();
    assert!(team.pin().0);
    for change in [None, Some("mode: observe\n")] {
        match change {
            None => fs::remove_file(team.kept("policy.yaml")).unwrap(),
            Some(text) => fs::write(team.kept("policy.yaml"), text).unwrap(),
        }
        let findings = team.findings();
        assert!(findings.iter().any(|one| one["health"] == "broken"), "{findings:?}");
        let (done, said) = team.run(&["policy", "update", "--yes"]);
        assert!(done && said.contains("was written anew"), "{said}");
        assert_eq!(fs::read_to_string(team.kept("policy.yaml")).unwrap(), STRICT);
        assert_eq!(team.verdict().as_deref(), Some("deny"));
    }
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(done && said.contains("is the newest") && !said.contains("anew"), "{said}");
}

#[test]
fn pinning_confirms_nothing_of_the_users_own_configuration() {
    let team = Team::new();
    let own = team.environment.configure("config.yaml", "mode: enforce\n");
    team.begin("one");
    fs::write(&own, "mode: observe\n").unwrap();
    let waits = || {
        let shown = team.environment.checkrein(&["doctor"]);
        String::from_utf8_lossy(&shown.stdout).contains("than you confirmed")
    };
    assert!(waits());
    for words in [&["policy", "update", "--yes"][..], &["policy", "unpin", "--yes"]] {
        assert!(team.pin().0);
        assert!(waits(), "pinning confirms what the user never saw");
        assert!(team.run(words).0);
        assert!(waits(), "{words:?} confirms what the user never saw");
    }
}

#[test]
fn a_policy_of_which_it_is_not_known_that_it_is_newer_is_refused() {
    let team = Team::new();
    let signature = team.policy.with_extension("yaml.sig");
    let second = || fs::read_to_string(&signature).unwrap().lines().nth(2).unwrap().to_owned();
    let other = format!("{STRICT}mode: enforce\n");
    // Two texts of one second.
    let found = (0..20).any(|_| {
        team.sign(STRICT);
        assert!(team.pin().0);
        let first = second();
        team.sign(&other);
        second() == first
    });
    assert!(found, "no two signatures came within a second");
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(!done && said.contains("was signed in the second of the policy in force"), "{said}");
    assert_eq!(fs::read_to_string(team.kept("policy.yaml")).unwrap(), STRICT);

    // A time of which nothing can be said, where nothing else tells what was pinned.
    team.sign_later(&other);
    let pin = fs::read_to_string(team.kept("pin.json")).unwrap();
    let mut pin: Json = serde_json::from_str(&pin).unwrap();
    pin["signed"] = "yesterday".into();
    fs::write(team.kept("pin.json"), pin.to_string()).unwrap();
    fs::remove_file(team.environment.state().join("team-policy.json")).unwrap();
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(!done && said.contains("`yesterday` is not a time"), "{said}");
    assert!(team.pin().0, "on purpose it is taken");
}

#[test]
fn addresses_are_fetched_over_tls_alone_and_within_bounds() {
    let team = Team::new();
    for place in ["http://127.0.0.1:9/policy.yaml", "file:///policy.yaml", "ftp://127.0.0.1/policy.yaml"] {
        let (done, said) = team.run(&["policy", "pin", place, "--key", &team.key, "--yes"]);
        assert!(!done && said.contains("an address begins with https://"), "{place}: {said}");
    }
    let tools = team.environment.home().join("tools");
    fs::create_dir(&tools).unwrap();
    let curl = |text: &str| {
        fs::write(tools.join("curl"), format!("#!/bin/sh\n{text}\n")).unwrap();
        assert!(Command::new("chmod").arg("755").arg(tools.join("curl")).status().unwrap().success());
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
        let mut pin = team.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        pin.env("PATH", path).args(["policy", "pin", "https://example.com/policy.yaml", "--yes", "--key"]);
        let output = pin.arg(&team.key).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (done, said) = curl("exec yes");
    assert!(!done && said.contains("so it is not a policy"), "{said}");
    let (done, said) = curl("echo 'no such host' >&2; exit 6");
    assert!(!done && said.contains("no such host"), "{said}");
    let folder = team.policy.parent().unwrap().display().to_string();
    let (done, said) = curl(&format!(
        "echo \"$*\" > {folder}/asked; for last; do :; done; exec cat {folder}/\"${{last##*/}}\""
    ));
    assert!(done, "{said}");
    let asked = fs::read_to_string(team.policy.parent().unwrap().join("asked")).unwrap();
    assert!(asked.starts_with("-q --proto =https --proto-redir =https "), "{asked}");
    assert!(asked.contains("--max-time 30"), "{asked}");
}

#[test]
fn a_policy_counts_as_it_was_signed_and_not_otherwise() {
    let team = Team::new();
    assert_ne!(team.verdict().as_deref(), Some("deny"));
    let (done, said) = team.pin();
    assert!(done, "{said}");
    assert_eq!(team.verdict().as_deref(), Some("deny"), "the policy of the team is in force");

    // Where it came from may change: what was checked stays.
    fs::write(&team.policy, "mode: observe\n").unwrap();
    assert_eq!(team.verdict().as_deref(), Some("deny"));
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(!done && said.contains("not for this text"), "{said}");
    assert_eq!(team.verdict().as_deref(), Some("deny"));

    // What lies with the user is compared with what was checked.
    let kept = team.environment.home().join(".config/checkrein/team/policy.yaml");
    fs::write(&kept, "mode: observe\n").unwrap();
    let changing = team.environment.bash("damaged", "touch new");
    assert!(
        decision(&changing).is_some(),
        "with a text that nobody signed nothing changes unasked: {changing}"
    );
    let output = team.environment.checkrein(&["config", "check"]);
    assert!(!output.status.success());

    team.sign_later(&format!("{STRICT}mode: enforce\n"));
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(done, "{said}");
    assert_eq!(team.verdict().as_deref(), Some("deny"));
    assert!(team.environment.checkrein(&["config", "check"]).status.success());
}

#[test]
fn another_key_an_older_policy_and_one_that_names_others_are_refused() {
    let team = Team::new();
    let other = format!("ed25519:{}", "ab".repeat(32));
    let (done, said) = team.run(&["policy", "pin", team.policy.to_str().unwrap(), "--key", &other, "--yes"]);
    assert!(!done && said.contains("another key"), "{said}");

    let older = fs::read_to_string(team.policy.with_extension("yaml.sig")).unwrap();
    team.sign_later(STRICT);
    assert!(team.pin().0);
    fs::write(team.policy.with_extension("yaml.sig"), older).unwrap();
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(!done && said.contains("before the policy that is in force"), "{said}");

    fs::write(&team.policy, "governance:\n  blueprints: [\"other.yaml\"]\n").unwrap();
    let secret = team.environment.home().join("secret.key");
    let (done, said) =
        team.run(&["policy", "sign", team.policy.to_str().unwrap(), "--key", secret.to_str().unwrap()]);
    assert!(!done && said.contains("names other files"), "{said}");
}

#[test]
fn it_can_be_done_without_again() {
    let team = Team::new();
    let (done, said) = team.run(&["policy", "update", "--yes"]);
    assert!(!done && said.contains("no team policy is pinned"), "{said}");
    assert!(team.pin().0);
    let (done, said) = team.run(&["policy", "unpin", "--yes"]);
    assert!(done, "{said}");
    assert_ne!(team.verdict().as_deref(), Some("deny"));
}

#[test]
fn an_agent_neither_pins_nor_changes_what_is_pinned() {
    let team = Team::new();
    assert!(team.pin().0);
    for command in [
        "echo 'mode: observe' > ~/.config/checkrein/team/policy.yaml",
        "rm ~/.config/checkrein/team/pin.json",
        "checkrein policy unpin --yes",
        "checkrein policy pin /srv/other.yaml --key ed25519:00 --yes",
        "mv ~/.config/checkrein/team /tmp",
    ] {
        assert_eq!(decision(&team.environment.bash("agent", command)), Some("deny"), "{command}");
    }
}

#[test]
fn what_a_user_sets_otherwise_than_the_team_is_told() {
    let team = Team::new();
    team.sign(&format!("{STRICT}limits:\n  dollars: 5\naudit:\n  retention_days: 90\n"));
    assert!(team.pin().0);
    let said = |words: &[&str]| team.run(words).1;
    assert!(!said(&["config", "show", "limits"]).contains("overrides it"));
    assert_eq!(team.findings().len(), 1);
    // The same value is no other one.
    team.environment.configure("config.yaml", "limits:\n  dollars: 50\naudit:\n  retention_days: 90\n");
    let told = "the policy of the team says limits.dollars = 5";
    for words in
        [&["config", "show", "limits"] as &[&str], &["config", "show"], &["config", "check"], &["doctor"]]
    {
        let text = said(words);
        assert!(
            text.contains(told) && text.contains("config.yaml:2 overrides it with 50"),
            "{words:?}: {text}"
        );
        assert!(!text.contains("says audit.retention_days"), "{words:?}: {text}");
    }
    assert!(!said(&["config", "show", "audit"]).contains("overrides it"));
    let findings = team.findings();
    assert!(findings.iter().any(|one| one["health"] == "doubtful"), "{findings:?}");
    let shown: Json = serde_json::from_str(&said(&["config", "show", "--json"])).unwrap();
    assert_eq!(shown["overridden"][0]["key"], "limits.dollars", "{shown}");
}
