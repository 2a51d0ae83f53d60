#![allow(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::*;
use crate::commands::watch::input::Press;
use crate::commands::watch::state::tests::{call, session};

/// A busy moment: sessions in every state, and calls with every verdict.
fn busy() -> WatchState {
    let mut state = WatchState::new(Switch::Off);
    let halted = SessionRow {
        project: "a-project-with-a-long-name".to_owned(),
        prompt: "日本語のプロンプト and a long tail of words that nobody sees on a narrow terminal"
            .to_owned(),
        tokens: "1.2M".to_owned(),
        cost: "~$12.34".to_owned(),
        blocks: 3,
        ..session("4f3cbead-0000-4000-8000-000000000001", "halted")
    };
    let waiting = SessionRow {
        agent: "codex".to_owned(),
        tokens: String::new(),
        cost: String::new(),
        prompt: String::new(),
        ..session("blog", "waiting")
    };
    let first =
        SessionRow { issues: "stuck_loop resource_throttling".to_owned(), ..session("shop", "working") };
    state.take_sessions(vec![first, halted, waiting, session("game", "at rest")], 1_090_000);
    let verdicts =
        [VerdictKind::Ok, VerdictKind::Nudge, VerdictKind::Escalate, VerdictKind::Block, VerdictKind::Halt];
    state.take_calls(
        (0..40).zip(verdicts.into_iter().cycle()).map(|(seq, verdict)| call(seq, verdict)).collect(),
    );
    state
}

fn drawn_in(state: &mut WatchState, width: u16, height: u16, palette: Palette) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, state, palette)).unwrap();
    terminal.backend().buffer().clone()
}

fn drawn(state: &mut WatchState, width: u16, height: u16) -> String {
    let buffer = drawn_in(state, width, height, Palette::Colours);
    let mut terminal = TestBackend::new(width, height);
    let cells = buffer.content().iter().enumerate().map(|(place, cell)| {
        let place = u16::try_from(place).unwrap();
        (place % width, place / width, cell)
    });
    ratatui::backend::Backend::draw(&mut terminal, cells).unwrap();
    terminal.to_string()
}

fn keys(state: &mut WatchState, text: &str) {
    text.chars().for_each(|letter| drop(state.press(Press::Character(letter))));
}

#[test]
fn the_sessions_and_the_newest_calls_are_shown() {
    insta::assert_snapshot!("sessions_80x24", drawn(&mut busy(), 80, 24));
    insta::assert_snapshot!("sessions_120x40", drawn(&mut busy(), 120, 40));
    insta::assert_snapshot!("sessions_40x24", drawn(&mut busy(), 40, 24));
}

#[test]
fn one_call_is_told() {
    let mut state = busy();
    state.press(Press::Enter);
    state.press(Press::Enter);
    let text = format!(
        "2026-11-24 12:30:01  record 39\nhalt  Bash rm -rf /\n  {}\n\u{1b}[1mwhy\u{1b}[0m  it is everything",
        "decision block, mode enforce, ".repeat(4)
    );
    state.show_details(text);
    insta::assert_snapshot!("details_80x24", drawn(&mut state, 80, 24));
    insta::assert_snapshot!("details_120x40", drawn(&mut state, 120, 40));
}

#[test]
fn questions_stand_in_front() {
    let mut state = busy();
    keys(&mut state, "h");
    insta::assert_snapshot!("halt_80x24", drawn(&mut state, 80, 24));
    keys(&mut state, "n");
    let plan: Vec<String> =
        (0..60).map(|count| format!("  create   /home/dev/shop/src/file-{count}")).collect();
    let question = DialogKind::Question("Do it? What is there now is saved first.".to_owned());
    state.ask("Undo", format!("snapshot 17\n{}", plan.join("\n")), question);
    insta::assert_snapshot!("undo_80x24", drawn(&mut state, 80, 24));
    state.press(Press::Last);
    let end = drawn(&mut state, 80, 24);
    assert!(end.contains("file-59") && end.contains("[y/n]"), "{end}");
    state.press(Press::Up);
    assert!(!drawn(&mut state, 80, 24).contains("file-59"), "a key up moves at once from the end");
}

#[test]
fn the_keys_and_an_empty_list_are_told() {
    let mut state = WatchState::new(Switch::Off);
    insta::assert_snapshot!("empty_80x24", drawn(&mut state, 80, 24));
    keys(&mut state, "?");
    insta::assert_snapshot!("help_80x24", drawn(&mut state, 80, 24));
}

#[test]
fn no_size_is_too_small() {
    let states = || {
        let mut details = busy();
        details.press(Press::Enter);
        details.press(Press::Enter);
        details.show_details("word ".repeat(500));
        let mut asking = busy();
        keys(&mut asking, "h");
        let mut help = busy();
        keys(&mut help, "?");
        let mut filtering = busy();
        keys(&mut filtering, "/shop");
        let mut calls = busy();
        calls.press(Press::Enter);
        [busy(), details, asking, help, filtering, calls, WatchState::new(Switch::On)]
    };
    for width in [0, 1, 2, 3, 5, 10, 20, 39, 40, 63, 64, 99, 100, 300] {
        for height in [0, 1, 2, 3, 4, 6, 11, 12, 24, 100] {
            for mut state in states() {
                drawn_in(&mut state, width, height, Palette::Colours);
            }
        }
    }
}

#[test]
fn verdicts_have_colours_unless_nobody_wants_them() {
    let colours = |palette| {
        let buffer = drawn_in(&mut busy(), 80, 24, palette);
        let mut found: Vec<String> = buffer.content().iter().map(|cell| format!("{:?}", cell.fg)).collect();
        found.sort();
        found.dedup();
        found
    };
    assert_eq!(colours(Palette::Plain), ["Reset"]);
    assert_eq!(colours(Palette::Colours), ["Cyan", "Green", "Red", "Reset", "Yellow"]);
}

#[test]
fn what_agents_write_cannot_speak_to_the_terminal() {
    let mut state = busy();
    state.press(Press::Enter);
    state.show_details("Bash printf '\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m'".to_owned());
    let buffer = drawn_in(&mut state, 80, 24, Palette::Colours);
    assert!(buffer.content().iter().all(|cell| !cell.symbol().chars().any(char::is_control)));
}

#[test]
fn no_key_in_the_footer_is_cut_at_any_width() {
    let mut state = busy();
    let whole = "? help  q quit  h halt  u undo  enter calls  r resume  / filter  a all";
    for width in 8..=80 {
        let shown = fitting(whole, width);
        assert!(shown.chars().count() <= width && whole.starts_with(&shown), "{width}: {shown}");
        assert!(shown.split("  ").all(|key| whole.split("  ").any(|known| known == key)), "{width}: {shown}");
    }
    // At the width of half a screen a session can still be halted.
    assert!(drawn(&mut state, 40, 24).contains("h halt"), "{}", drawn(&mut state, 40, 24));
}
