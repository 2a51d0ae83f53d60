//! What the state of a session keeps of governance: trust debt, tallies, the one ticket about the tier.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should panic")]
#![allow(clippy::float_cmp, reason = "the numbers are written down, not computed")]

mod support;

use checkrein_ledger::{Projection as _, first_prev};
use checkrein_protocol::{
    Amount, GovernanceRecord, Posture, Record, RecordBody, TallyIncrement, TallyKey, TallyWindow, TierLevel,
    Timestamp,
};

use checkrein_session::SessionState;
use support::review;

const WINDOW: TallyWindow = TallyWindow::Actions(10);

fn governed(verdict: &str, change: impl Fn(&mut GovernanceRecord)) -> RecordBody {
    let RecordBody::Review(mut record) = review("call", verdict, 1, vec![]) else { unreachable!("a review") };
    let mut governance = GovernanceRecord {
        ctq: 0.8,
        tier: Some(TierLevel::Two),
        fired: vec![],
        own: vec![],
        flag: None,
        posture: Posture::Normal,
        debt: None,
        asks_for_review: false,
        counted: vec![],
    };
    change(&mut governance);
    record.governance = Some(Box::new(governance));
    RecordBody::Review(record)
}

fn apply(state: &mut SessionState, seq: u64, body: RecordBody) {
    let at = Timestamp(seq * 1000);
    state.apply(&Record { seq, prev: first_prev(), at, body, hash: first_prev() });
}

fn counts(amount: u64) -> impl Fn(&mut GovernanceRecord) {
    move |governance| {
        governance.counted =
            vec![TallyIncrement { key: TallyKey(7), window: WINDOW, amount: Amount(amount), reset: false }];
    }
}

fn total(state: &SessionState) -> u64 {
    let history = state.history();
    history.tallies.first().map_or(0, |tally| tally.total(Timestamp(0), history.actions + 1).0)
}

#[test]
fn what_is_refused_does_not_count_and_what_was_asked_about_counts_when_it_ran() {
    let mut state = SessionState::default();
    apply(&mut state, 1, governed("ok", counts(1000)));
    assert_eq!(total(&state), 1000);
    apply(&mut state, 2, governed("block", counts(1000)));
    assert_eq!(total(&state), 1000);
    apply(&mut state, 3, governed("escalate", counts(500)));
    assert_eq!(total(&state), 1000);
    apply(&mut state, 4, support::outcome("call", false));
    assert_eq!(total(&state), 1500);
}

#[test]
fn debt_is_kept_with_its_moment_and_a_person_who_looked_at_the_tier_clears_it() {
    let mut state = SessionState::default();
    apply(&mut state, 1, governed("block", |governance| governance.debt = Some(2.0)));
    assert_eq!((state.trust().debt, state.trust().at), (2.0, Timestamp(1000)));
    apply(&mut state, 2, review("call", "ok", 1, vec![]));
    assert_eq!(state.trust().at, Timestamp(1000), "what adds nothing changes nothing");
    let asks = |governance: &mut GovernanceRecord| {
        governance.debt = Some(10.5);
        governance.asks_for_review = true;
    };
    apply(&mut state, 3, governed("block", asks));
    assert!(state.trust().review_asked);
    let closed =
        |ticket| RecordBody::ReviewClosed { ticket, note: "seen".to_owned(), by: "person".to_owned() };
    apply(&mut state, 4, closed(1));
    assert_eq!(state.trust().debt, 10.5, "another ticket is not about the tier");
    apply(&mut state, 5, closed(3));
    assert_eq!((state.trust().debt, state.trust().review_asked), (0.0, false));
}

#[test]
fn tallies_stay_few() {
    let mut state = SessionState::default();
    for number in 0..500 {
        let counted = |governance: &mut GovernanceRecord| {
            let key = TallyKey(number);
            governance.counted =
                vec![TallyIncrement { key, window: WINDOW, amount: Amount::ONE, reset: false }];
        };
        apply(&mut state, number + 1, governed("ok", counted));
    }
    assert_eq!(state.history().tallies.len(), checkrein_session::bounds::TALLIES);
}
