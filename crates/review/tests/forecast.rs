//! An action is interpreted once, however often it is judged; and a verdict only becomes stricter.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]

use std::cell::Cell;

use checkrein_facts::{
    Branches, Committed, Entry, FileText, History, HostPaths, Listing, RecordedWorld, Repository, Right,
    VersionState, World,
};
use checkrein_policy::Policy;
use checkrein_protocol::{AbsolutePath, Timestamp};
use checkrein_review::{
    DirectoryReach, Escalation, Forecast, ReviewCache, Saved, Size, TimeToLive, VerdictKind, review,
};
use checkrein_testkit::world::{command, path, project};
use proptest::prelude::*;

/// A world that counts how often a file is read, which only interpreting does.
struct Counting {
    world: RecordedWorld,
    read: Cell<usize>,
}

impl World for Counting {
    fn place(&self) -> &HostPaths {
        self.world.place()
    }
    fn history(&self) -> &History {
        self.world.history()
    }
    fn now(&self) -> Timestamp {
        self.world.now()
    }
    fn entry(&self, path: &AbsolutePath) -> Entry {
        self.world.entry(path)
    }
    fn children(&self, directory: &AbsolutePath) -> Listing {
        self.world.children(directory)
    }
    fn branches(&self, directory: &AbsolutePath) -> Option<Branches> {
        self.world.branches(directory)
    }
    fn text(&self, path: &AbsolutePath) -> FileText {
        self.read.set(self.read.get() + 1);
        self.world.text(path)
    }
    fn repository(&self, path: &AbsolutePath) -> Option<Repository> {
        self.world.repository(path)
    }
    fn version(&self, path: &AbsolutePath) -> VersionState {
        self.world.version(path)
    }
    fn committed(&self, repository: &AbsolutePath, revision: &str, path: &str) -> Committed {
        self.world.committed(repository, revision, path)
    }
    fn members(&self, archive: &AbsolutePath) -> Listing {
        self.world.members(archive)
    }
    fn is_same_file(&self, path: &AbsolutePath, other: &AbsolutePath) -> bool {
        self.world.is_same_file(path, other)
    }
    fn allows(&self, path: &AbsolutePath, right: Right) -> bool {
        self.world.allows(path, right)
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.world.variable(name)
    }
    fn confiner(&self) -> Option<AbsolutePath> {
        self.world.confiner()
    }
    fn masker(&self) -> Option<AbsolutePath> {
        self.world.masker()
    }
    fn tool_output(&self) -> checkrein_protocol::ToolOutput {
        self.world.tool_output()
    }
}

fn world() -> Counting {
    let world = project()
        .with_file(&path("clean.sh"), "rm notes.md\n", VersionState::TrackedClean)
        .with_file(&path("notes.md"), "only here\n", VersionState::Untracked);
    Counting { world, read: Cell::new(0) }
}

fn saved() -> Saved {
    let mut saved = Saved::default();
    saved.add(AbsolutePath::new("/home/dev/proj/notes.md").unwrap(), DirectoryReach::Itself);
    saved
}

#[test]
fn an_action_is_interpreted_once_however_often_it_is_judged() {
    let (world, policy, action) = (world(), Policy::default(), command("sh clean.sh"));
    let forecast = Forecast::of(&action, &world, &policy);
    assert_eq!(world.read.get(), 0, "nothing is interpreted before it is asked for");
    let before = forecast.judge(&Saved::default());
    let once = world.read.get();
    assert!(once > 0, "the script was read");
    let after = forecast.judge(&saved());
    assert_eq!(world.read.get(), once);
    assert_ne!(after.side_effects, before.side_effects, "what is saved weighs less");
    assert_eq!(before, review(&action, &world, &policy));
}

// Source: seed 002-56
#[test]
fn what_a_cache_found_out_is_not_found_out_again() {
    let (world, policy, action) = (world(), Policy::default(), command("sh clean.sh"));
    let mut cache = ReviewCache::new(TimeToLive(1_000), Size(8));
    let forecast = Forecast::of(&action, &world, &policy);
    let first = cache.judge(&forecast);
    let once = world.read.get();
    assert_eq!(forecast.judge(&Saved::default()), first);
    assert_eq!(world.read.get(), once);
}

fn kind() -> impl Strategy<Value = VerdictKind> {
    prop::sample::select(vec![
        VerdictKind::Ok,
        VerdictKind::Nudge,
        VerdictKind::Escalate,
        VerdictKind::Block,
        VerdictKind::Halt,
    ])
}

proptest! {
    #[test]
    fn a_verdict_only_becomes_stricter(
        text in prop::sample::select(vec!["ls", "rm notes.md", "rm -rf ~", "git push --force"]),
        kinds in prop::collection::vec(kind(), 0..8),
    ) {
        let mut found = review(&command(text), &world(), &Policy::default());
        for at_least in kinds {
            let before = found.clone();
            let changed = found.escalate(Escalation::new(at_least, "because").instead("something else"));
            prop_assert_eq!(found.verdict.kind, before.verdict.kind.max(at_least));
            if changed {
                prop_assert!(found.reasoning.primary == "because" && found.rewrite.is_none());
            } else {
                prop_assert_eq!(&found, &before);
            }
        }
    }
}
