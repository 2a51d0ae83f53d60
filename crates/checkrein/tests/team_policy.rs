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

use support::{TestEnvironment, decision};

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

    fn verdict(&self) -> Option<String> {
        // Running sessions keep the rules they began with, so each asks in one of its own.
        let session = format!("session-{}", self.asked.replace(self.asked.get() + 1));
        decision(&self.environment.bash(&session, "echo frobnicate")).map(str::to_owned)
    }
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

    team.sign(&format!("{STRICT}mode: enforce\n"));
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
    // The time of a signature has no parts of a second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    team.sign(STRICT);
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
    assert!(!done && said.contains("no policy of a team is pinned"), "{said}");
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
