#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use checkrein_protocol::SessionId;

use super::*;

/// A session for tests; the first letters of the name are its project.
pub(in crate::commands::watch) fn session(name: &str, condition: &'static str) -> SessionRow {
    SessionRow {
        folder: FolderName::of(&SessionId(name.to_owned())),
        project: name.to_owned(),
        place: format!("~/work/{name}"),
        prompt: "make the parser accept comments".to_owned(),
        agent: "claude".to_owned(),
        condition,
        halt: (condition == "halted").then_some(HaltScope::Session),
        last: 1_000_000,
        calls: 143,
        nudges: 2,
        questions: 1,
        blocks: 0,
        tokens: "48k".to_owned(),
        cost: "$1.20".to_owned(),
        issues: String::new(),
    }
}

/// A line of the log for tests.
pub(in crate::commands::watch) fn call(seq: u64, verdict: VerdictKind) -> CallRow {
    CallRow {
        seq,
        clock: "12:30:01".to_owned(),
        verdict: Some(verdict),
        answer: (verdict == VerdictKind::Escalate).then_some("yes"),
        what: format!("Bash cargo test --package number-{seq}"),
        result: "1.2 s".to_owned(),
    }
}

fn state() -> WatchState {
    let mut state = WatchState::new(Switch::Off);
    state.take_sessions(["shop", "blog", "game"].map(|name| session(name, "working")).to_vec(), 1_012_000);
    state.take_calls((1..=5).map(|seq| call(seq, VerdictKind::Ok)).collect());
    state
}

fn name(state: &WatchState) -> Option<&str> {
    state.selected().map(|row| row.folder.as_str())
}

fn keys(state: &mut WatchState, text: &str) -> Option<Request> {
    text.chars().map(|letter| state.press(Press::Character(letter))).last().flatten()
}

#[test]
fn a_selected_session_stays_selected_while_the_list_changes() {
    let mut state = state();
    assert_eq!(name(&state), Some("shop"));
    assert_eq!(state.press(Press::Down), Some(Request::ReadCalls));
    assert_eq!(name(&state), Some("blog"));
    state.take_sessions(["blog", "shop", "new"].map(|name| session(name, "working")).to_vec(), 0);
    assert_eq!((name(&state), state.place()), (Some("blog"), Some(0)));
    state.take_sessions(["shop", "new"].map(|name| session(name, "working")).to_vec(), 0);
    assert_eq!(name(&state), Some("shop"), "what stands in its line now");
    state.take_sessions(Vec::new(), 0);
    assert_eq!(name(&state), None);
    assert_eq!(keys(&mut state, "u"), None);
    assert_eq!(state.message, "no session is selected");
}

#[test]
fn the_ends_of_the_list_hold() {
    let mut state = state();
    state.press(Press::Up);
    assert_eq!(name(&state), Some("shop"));
    keys(&mut state, "jjjjj");
    assert_eq!(name(&state), Some("game"));
    state.press(Press::First);
    assert_eq!(name(&state), Some("shop"));
    state.press(Press::Last);
    assert_eq!(name(&state), Some("game"));
}

#[test]
fn the_filter_takes_every_letter_and_escape_clears_it() {
    let mut state = state();
    keys(&mut state, "/gq");
    assert_eq!((state.filter.as_str(), state.selected()), ("gq", None), "`q` is a letter here");
    state.press(Press::Erase);
    assert_eq!(state.shown().len(), 3, "all of them are working");
    keys(&mut state, "AM");
    assert_eq!(name(&state), Some("game"), "however it is written");
    state.press(Press::Enter);
    assert_eq!((state.typing, state.shown().len()), (Switch::Off, 1));
    state.press(Press::Back);
    assert_eq!((state.filter.as_str(), state.shown().len()), ("", 3));
}

#[test]
fn calls_are_gone_through_from_the_newest_and_told() {
    let mut state = state();
    state.press(Press::Enter);
    assert_eq!((&state.view, state.call_place()), (&View::Calls, Some(4)));
    state.press(Press::Up);
    // The chosen one stays chosen while others come.
    state.take_calls((2..=9).map(|seq| call(seq, VerdictKind::Ok)).collect());
    assert_eq!(state.press(Press::Enter), Some(Request::Tell(4)));
    state.show_details("what is known".to_owned());
    assert_eq!(state.detailed(), Some(4));
    state.press(Press::Back);
    assert_eq!((&state.view, state.call_place()), (&View::Calls, Some(2)));
    // At the end the newest is followed.
    state.press(Press::Last);
    state.take_calls((2..=12).map(|seq| call(seq, VerdictKind::Ok)).collect());
    assert_eq!(state.call_place(), Some(10));
    state.press(Press::Back);
    assert_eq!(state.view, View::Sessions);
}

#[test]
fn nothing_is_halted_or_resumed_without_a_yes() {
    let mut state = state();
    let folder = state.selected().unwrap().folder.clone();
    keys(&mut state, "h");
    assert!(state.dialog.as_ref().unwrap().page.text.starts_with("Halt session shop in ~/work/shop?"));
    assert_eq!(keys(&mut state, "x"), None, "another key is not an answer");
    assert_eq!(state.press(Press::Enter), None);
    assert_eq!(keys(&mut state, "n"), None);
    assert_eq!((&state.dialog, state.message.as_str()), (&None, "nothing was done"));
    assert_eq!(keys(&mut state, "hy"), Some(Request::Begin(Act::Halt(folder.clone()))));

    keys(&mut state, "r");
    assert_eq!(state.message, "the session is not halted");
    state.take_sessions(vec![session("shop", "halted")], 0);
    keys(&mut state, "h");
    assert_eq!(state.message, "the session is halted already; `r` resumes it");
    assert_eq!(keys(&mut state, "ry"), Some(Request::Begin(Act::Resume(folder, HaltScope::Session))));
}

#[test]
fn a_command_at_work_is_answered_and_its_result_is_closed() {
    let mut state = state();
    let folder = state.selected().unwrap().folder.clone();
    assert_eq!(keys(&mut state, "u"), Some(Request::Begin(Act::Undo(folder))));
    state.ask("Undo", "working...".to_owned(), DialogKind::Busy);
    assert_eq!((keys(&mut state, "qy"), state.press(Press::Back)), (None, None), "it is waited for");
    state.ask("Undo", "snapshot 1".to_owned(), DialogKind::Question("Do it?".to_owned()));
    assert_eq!(state.press(Press::Back), Some(Request::Answer(Reply::No)));
    assert_eq!(keys(&mut state, "y"), Some(Request::Answer(Reply::Yes)));
    state.ask("Undo", "1 step done".to_owned(), DialogKind::Result);
    assert_eq!((state.press(Press::Enter), state.dialog), (Some(Request::Read), None));
}

#[test]
fn the_end_can_always_be_asked_for() {
    let mut state = state();
    assert_eq!(keys(&mut state, "q"), Some(Request::Quit));
    for view in ["/", "?", "h"] {
        keys(&mut state, view);
        assert_eq!(state.press(Press::Interrupt), Some(Request::Quit));
    }
    assert_eq!(state.press(Press::Suspend), Some(Request::Suspend));
}
