//! What becomes of a review by what is saved; pure.

use checkrein_facts::{RecordedWorld, VersionState};
use checkrein_policy::Policy;
use checkrein_testkit::world::{command, path, project};

use super::*;

fn world() -> RecordedWorld {
    project().with_directory(&path("notes")).with_file(
        &path("notes/today.md"),
        "only here\n",
        VersionState::Untracked,
    )
}

/// The review of `rm -rf notes` without anything saved, and the one that counts.
fn judged(protected: &Protected) -> (Review, Review) {
    let action = command("rm -rf notes");
    let (world, policy) = (world(), Policy::default());
    let forecast = Forecast::of(&action, &world, &policy);
    let unprotected = forecast.judge(&Saved::default());
    (unprotected.clone(), protected.judge(&forecast, unprotected))
}

fn saved(incomplete: Option<&str>) -> Protected {
    let mut saved = Saved::default();
    saved.add(path("notes"), DirectoryReach::Tree);
    Protected::Saved {
        saved,
        note: "`notes` was saved first".to_owned(),
        left: vec!["`socket` is not saved".to_owned()],
        incomplete: incomplete.map(str::to_owned),
        record: None,
    }
}

#[test]
fn what_is_saved_runs_with_a_note_instead_of_a_question() {
    let (before, after) = judged(&saved(None));
    assert_eq!(before.verdict.kind, VerdictKind::Escalate, "{before:?}");
    assert_eq!(after.verdict.kind, VerdictKind::Nudge);
    assert!(after.message().contains("was saved first") && after.failures == ["`socket` is not saved"]);
}

#[test]
fn where_nothing_is_saved_the_review_stays() {
    let (before, after) = judged(&Protected::Nothing);
    assert_eq!(before, after);
    let (before, after) = judged(&Protected::Left(vec!["too much".to_owned()]));
    assert_eq!(
        (after.verdict, after.failures.as_slice()),
        (before.verdict, ["too much".to_owned()].as_slice())
    );
}

#[test]
fn what_cannot_be_saved_is_said_where_a_person_is_asked() {
    let (before, after) = judged(&Protected::Lost(Lost::of("it is too much".to_owned(), &[])));
    assert!(after.verdict.kind >= before.verdict.kind.max(VerdictKind::Escalate));
    assert!(after.reasoning.primary.contains("it is too much"));
}
