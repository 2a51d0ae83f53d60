//! Where a secret goes that a command reads: into a file only where something that takes it writes one.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use checkrein_facts::{RecordedWorld, VersionState};
use checkrein_policy::{Policy, VerdictKind};
use checkrein_protocol::{AbsolutePath, Action};
use checkrein_testkit::world::{path, project};

/// Writers that take nothing of the secret.
const APART: [&str; 7] = [
    "echo x > a",
    "printf '%s' x >> a",
    "ls > list.txt",
    "cp README.md copy.md",
    "date | tee now.txt",
    "mkdir -p out && touch out/a",
    "sed -i s/a/b/ README.md",
];

/// Writers that take it.
const TAKING: [&str; 8] = [
    "cat .env > a",
    "cat .env >> a",
    "cp .env a",
    "cat .env | tee a",
    "sort -o a .env",
    "tar cf a.tar .env",
    "base64 .env > a",
    "grep KEY .env > a",
];

/// How commands stand beside each other.
const ORDERS: [&str; 5] = ["{1}; {2}", "{2}; {1}", "{1} && {2}", "{2} && {1}", "{2}; {1}; {2}"];

fn world() -> RecordedWorld {
    let masker = path("/opt/checkrein");
    let mut world = project()
        .with_file(&path("/home/dev/proj/.env"), "A=1\nAPI_KEY=abcdef123456\n", VersionState::Ignored)
        .with_file(&path("/home/dev/proj/README.md"), "a\n", VersionState::TrackedClean)
        .with_program(&masker, "");
    world.masker = Some(masker);
    world
}

/// What is decided about a command, and why.
fn judged(command: &str) -> (VerdictKind, String) {
    let action = Action::command(command, AbsolutePath::new("/home/dev/proj").unwrap());
    let review = checkrein_review::review(&action, &world(), &Policy::default());
    let why = review.reasoning.all.iter().find(|reason| reason.contains("`/home/dev/proj/.env`")).cloned();
    (review.verdict.kind, why.unwrap_or_default())
}

#[test]
fn a_file_that_is_written_beside_a_secret_is_nothing_to_it() {
    let alone = judged("cat .env");
    assert_eq!(alone.0, VerdictKind::Nudge, "{alone:?}");
    for order in ORDERS {
        for writer in APART {
            let command = order.replace("{1}", writer).replace("{2}", "cat .env");
            let (verdict, why) = judged(&command);
            assert!(!why.contains("into another file"), "{command}: {why}");
            assert!(why.contains("would go to the model provider"), "{command}: {why}");
            // `sed` changes a file of the project, which is a matter of its own.
            assert_eq!(verdict, alone.0, "{command}: {why}");
        }
    }
}

#[test]
fn a_file_that_takes_a_secret_is_named_wherever_it_is_written() {
    for order in ORDERS {
        for writer in TAKING {
            for reader in ["ls", "echo x > b", "cat .env"] {
                let command = order.replace("{1}", writer).replace("{2}", reader);
                let (verdict, why) = judged(&command);
                assert!(why.contains("into another file"), "{command}: {why}");
                assert_eq!(verdict, VerdictKind::Escalate, "{command}: {why}");
            }
        }
    }
}
