//! How the state looks on a terminal of any size.

use ansi_to_tui::IntoText as _;
use checkrein_protocol::VerdictKind;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row, Table, TableState, Wrap};

use super::state::{CallRow, Dialog, DialogKind, Page, SessionRow, View, WatchState};
use crate::commands::Switch;
use crate::phrases;
use crate::terminal::{cut, plain, shown_length, wrapped_at};

/// Whether colours are shown; bold, dim and reversed text always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Palette {
    Colours,
    Plain,
}

/// The width from which the list has all its columns, and that from which it has the agent and the cost (ours).
const WIDE: u16 = 100;
const USUAL: u16 = 64;

/// The height below which only the part in hand is shown (ours).
const LOW: u16 = 12;

/// Draws everything. Texts that were scrolled beyond their end are set back to it.
pub(super) fn draw(frame: &mut Frame<'_>, state: &mut WatchState, palette: Palette) {
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    frame.render_widget(title(state), head);
    frame.render_widget(footer(state, foot.width), foot);
    match state.view.clone() {
        View::Help(mut page) => {
            draw_page(frame, body, "Keys", &mut page);
            state.view = View::Help(page);
        }
        View::Details(mut page) => {
            draw_page(frame, body, "Details", &mut page);
            state.view = View::Details(page);
        }
        view @ (View::Sessions | View::Calls) => {
            let is_calls = view == View::Calls;
            if body.height < LOW {
                if is_calls {
                    draw_calls(frame, body, state, palette);
                } else {
                    draw_sessions(frame, body, state, palette);
                }
            } else {
                let rows = u16::try_from(state.shown().len()).unwrap_or(u16::MAX);
                let height = rows.saturating_add(3).clamp(5, body.height / 2);
                let [above, below] =
                    Layout::vertical([Constraint::Length(height), Constraint::Min(0)]).areas(body);
                draw_sessions(frame, above, state, palette);
                draw_calls(frame, below, state, palette);
            }
        }
    }
    if let Some(mut dialog) = state.dialog.take() {
        draw_dialog(frame, body, &mut dialog);
        state.dialog = Some(dialog);
    }
}

fn title(state: &WatchState) -> Line<'static> {
    let shown = state.shown().len();
    let what = if state.all == Switch::On { "recorded" } else { "running" };
    let sessions = if shown == 1 { "session" } else { "sessions" };
    let filter = match (&state.filter, state.typing) {
        (text, Switch::Off) if text.is_empty() => String::new(),
        (text, _) => format!(", filter `{text}`"),
    };
    Line::from(vec![
        Span::styled("checkrein watch", Style::new().add_modifier(Modifier::BOLD)),
        dim(format!("  {shown} {what} {sessions}{filter}")),
    ])
}

fn footer(state: &WatchState, width: u16) -> Line<'static> {
    if state.typing == Switch::On {
        return Line::from(format!("/{}\u{2588}", state.filter));
    }
    if !state.message.is_empty() {
        return Line::styled(state.message.clone(), Style::new().add_modifier(Modifier::BOLD));
    }
    let keys = match (&state.view, state.dialog.as_ref().map(|dialog| &dialog.kind)) {
        (_, Some(DialogKind::Confirm(_) | DialogKind::Question(_))) => "y yes  n no  up/down scroll",
        (_, Some(DialogKind::Busy)) => "working...",
        (_, Some(DialogKind::Result)) => "enter close  up/down scroll",
        (View::Help(_), None) => "esc back  up/down scroll  q quit",
        (View::Details(_), None) => "esc back  up/down scroll  h halt  u undo  q quit",
        (View::Sessions, None) => "? help  q quit  h halt  u undo  enter calls  r resume  / filter  a all",
        (View::Calls, None) => "? help  q quit  h halt  u undo  enter details  esc back  r resume",
    };
    dim(fitting(keys, usize::from(width))).into()
}

/// As many keys as fit a width, the first ones first; no key is cut, and the help has all of them.
fn fitting(keys: &str, width: usize) -> String {
    let mut shown = String::new();
    for key in keys.split("  ") {
        let gap = if shown.is_empty() { "" } else { "  " };
        if shown_length(&shown) + gap.len() + shown_length(key) > width {
            break;
        }
        shown.push_str(gap);
        shown.push_str(key);
    }
    shown
}

fn draw_sessions(frame: &mut Frame<'_>, area: Rect, state: &WatchState, palette: Palette) {
    let rows = state.shown();
    let block = block("Sessions", state.view == View::Sessions);
    if rows.is_empty() {
        let text = match (state.all, state.filter.is_empty()) {
            (_, false) => "no session fits the filter; esc clears it",
            (Switch::On, true) => "no session is recorded yet",
            (Switch::Off, true) => "no session is running; `a` shows those of the past",
        };
        frame.render_widget(Paragraph::new(text).block(block).wrap(Wrap { trim: true }), area);
        return;
    }
    let (head, widths): (&[&str], Vec<Constraint>) = if area.width >= WIDE {
        let widths = [8, 5, 7, 6, 16, 8, 12].map(Constraint::Length);
        let names =
            &["state", "age", "agent", "calls", "hint/asked/stop", "tokens", "cost", "project", "prompt"];
        (names, [&widths[..], &[Constraint::Max(20), Constraint::Fill(1)]].concat())
    } else if area.width >= USUAL {
        let widths = [8, 5, 6, 5, 7, 6, 7].map(Constraint::Length);
        let names = &["state", "age", "agent", "calls", "h/a/s", "tokens", "cost", "project, prompt"];
        (names, [&widths[..], &[Constraint::Fill(1)]].concat())
    } else {
        let widths = [8, 5].map(Constraint::Length);
        (&["state", "age", "project, prompt"], [&widths[..], &[Constraint::Fill(1)]].concat())
    };
    let table_rows: Vec<Row<'_>> =
        rows.iter().map(|row| session_row(row, state.now, area.width, palette)).collect();
    let selected = Style::new().add_modifier(Modifier::REVERSED);
    let table = Table::new(table_rows, widths)
        .header(Row::new(head.iter().copied()).style(Style::new().add_modifier(Modifier::DIM)))
        .row_highlight_style(selected)
        .block(block);
    let mut place = TableState::new().with_selected(state.place());
    frame.render_stateful_widget(table, area, &mut place);
}

fn session_row(row: &SessionRow, now: u64, width: u16, palette: Palette) -> Row<'static> {
    let colour = match row.condition {
        "halted" => Some(Color::Red),
        "waiting" => Some(Color::Yellow),
        "working" => Some(Color::Green),
        _ => None,
    };
    let state = Cell::from(Span::styled(row.condition, bold(colour, palette)));
    let age = Cell::from(short_age(row.last, now));
    let prompt = if row.prompt.is_empty() { String::new() } else { format!("\"{}\"", row.prompt) };
    let name = Cell::from(Line::from(vec![Span::raw(format!("{} ", row.project)), dim(prompt.clone())]));
    if width < USUAL {
        return Row::new(vec![state, age, name]);
    }
    let counts = [(row.nudges, Color::Cyan), (row.questions, Color::Yellow), (row.blocks, Color::Red)];
    let mut risky = Vec::new();
    for (count, colour) in counts {
        if !risky.is_empty() {
            risky.push(Span::raw("/"));
        }
        let style = if count > 0 { bold(Some(colour), palette) } else { Style::new() };
        risky.push(Span::styled(count.to_string(), style));
    }
    let agent = Cell::from(row.agent.clone());
    let calls = Cell::from(row.calls.to_string());
    let risky = Cell::from(Line::from(risky));
    let spent = [Cell::from(row.tokens.clone()), Cell::from(row.cost.clone())];
    let [tokens, cost] = spent;
    let mut columns = vec![state, age, agent, calls, risky, tokens, cost];
    if width >= WIDE {
        columns.push(Cell::from(row.project.clone()));
        columns.push(Cell::from(dim(prompt)));
    } else {
        columns.push(name);
    }
    Row::new(columns)
}

fn draw_calls(frame: &mut Frame<'_>, area: Rect, state: &WatchState, palette: Palette) {
    let name = state.selected().map_or_else(
        || "Calls".to_owned(),
        |row| {
            let issues = if row.issues.is_empty() { String::new() } else { format!("  {}", row.issues) };
            format!("{}  {}{issues}", cut(row.folder.as_str(), 8), row.place)
        },
    );
    let is_in_hand = state.view == View::Calls;
    let block = block(&cut(&name, usize::from(area.width.saturating_sub(4))), is_in_hand);
    let rows = state.calls().iter().map(|call| call_row(call, area.width, palette));
    let mark = if area.width >= USUAL { 14 } else { 8 };
    let table = Table::new(rows, [Constraint::Length(8), Constraint::Length(mark), Constraint::Fill(1)])
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED))
        .block(block);
    // The newest line is seen also while nothing is selected here.
    let height = usize::from(area.height.saturating_sub(2));
    let offset = state.calls().len().saturating_sub(height);
    let mut place = match state.call_place().filter(|_| is_in_hand) {
        Some(place) => TableState::new().with_offset(offset.min(place)).with_selected(place),
        None => TableState::new().with_offset(offset),
    };
    frame.render_stateful_widget(table, area, &mut place);
}

fn call_row(call: &CallRow, width: u16, palette: Palette) -> Row<'static> {
    let verdict = match call.verdict {
        Some(verdict) => {
            Span::styled(phrases::verdict_word(verdict), bold(Some(verdict_colour(verdict)), palette))
        }
        None => dim("-".to_owned()),
    };
    let answer = call.answer.filter(|_| width >= USUAL).map(|answer| format!(": {answer}"));
    let mark = Line::from(vec![verdict, Span::raw(answer.unwrap_or_default())]);
    let result = if call.result.is_empty() { String::new() } else { format!("  {}", call.result) };
    let what = Line::from(vec![Span::raw(call.what.clone()), dim(result)]);
    Row::new(vec![Cell::from(dim(call.clock.clone())), Cell::from(mark), Cell::from(what)])
}

/// The colour of a verdict, as in the other commands.
fn verdict_colour(verdict: VerdictKind) -> Color {
    match verdict {
        VerdictKind::Ok => Color::Green,
        VerdictKind::Nudge => Color::Cyan,
        VerdictKind::Escalate => Color::Yellow,
        VerdictKind::Block | VerdictKind::Halt => Color::Red,
    }
}

fn draw_page(frame: &mut Frame<'_>, area: Rect, title: &str, page: &mut Page) {
    let block = block(title, true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    draw_text(frame, inner, page);
}

/// Draws the part of a text that fits.
fn draw_text(frame: &mut Frame<'_>, area: Rect, page: &mut Page) {
    let width = usize::from(area.width.max(1));
    let text = wrapped_at(&page.text, width);
    let height: usize = text.lines().map(|line| shown_length(line).div_ceil(width).max(1)).sum();
    page.top = page.top.min(height.saturating_sub(usize::from(area.height)));
    // Commands style what they say; a text that cannot be read so is shown as it is, without control characters.
    let styled = text.into_text().unwrap_or_else(|_| Text::from(plain(&text)));
    let top = u16::try_from(page.top).unwrap_or(u16::MAX);
    frame.render_widget(Paragraph::new(styled).wrap(Wrap { trim: false }).scroll((top, 0)), area);
}

fn draw_dialog(frame: &mut Frame<'_>, area: Rect, dialog: &mut Dialog) {
    let width = area.width.saturating_sub(4).clamp(1, 90).min(area.width);
    let inner = usize::from(width.saturating_sub(4).max(1));
    let text = wrapped_at(&dialog.page.text, inner);
    let lines: usize = text.lines().map(|line| shown_length(line).div_ceil(inner).max(1)).sum();
    let is_asking = matches!(dialog.kind, DialogKind::Confirm(_) | DialogKind::Question(_));
    let height =
        u16::try_from(lines + 2 + if is_asking { 2 } else { 0 }).unwrap_or(u16::MAX).min(area.height);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    frame.render_widget(Clear, place);
    let block = block(&dialog.title, true).padding(ratatui::widgets::Padding::horizontal(1));
    let content = block.inner(place);
    frame.render_widget(block, place);
    if !is_asking {
        return draw_text(frame, content, &mut dialog.page);
    }
    let [above, below] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(content);
    let [above, _] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(above);
    draw_text(frame, above, &mut dialog.page);
    let question = match &dialog.kind {
        DialogKind::Question(question) if shown_length(question) + 6 <= inner => format!("{question} [y/n]"),
        DialogKind::Question(_) | DialogKind::Confirm(_) | DialogKind::Busy | DialogKind::Result => {
            "[y/n]".to_owned()
        }
    };
    frame.render_widget(Line::styled(question, Style::new().add_modifier(Modifier::BOLD)), below);
}

fn block(title: &str, is_in_hand: bool) -> Block<'static> {
    let style = if is_in_hand { Modifier::BOLD } else { Modifier::DIM };
    Block::bordered()
        .title(Span::styled(format!(" {title} "), Style::new().add_modifier(style)))
        .border_style(Style::new().add_modifier(if is_in_hand { Modifier::empty() } else { Modifier::DIM }))
}

fn dim(text: String) -> Span<'static> {
    Span::styled(text, Style::new().add_modifier(Modifier::DIM))
}

fn bold(colour: Option<Color>, palette: Palette) -> Style {
    let style = Style::new().add_modifier(Modifier::BOLD);
    match (colour, palette) {
        (Some(colour), Palette::Colours) => style.fg(colour),
        (Some(_), Palette::Plain) | (None, _) => style,
    }
}

/// How long ago a moment was, in a few characters.
fn short_age(then: u64, now: u64) -> String {
    let seconds = now.saturating_sub(then) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests;
