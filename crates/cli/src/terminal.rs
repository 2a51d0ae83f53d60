//! What people see: standard output and error, colour, tables, questions.
//!
//! Results go to standard output, everything else to standard error. Colour only where a terminal reads and `NO_COLOR` is not set.

mod dialogue;

mod unseen;

pub use unseen::{qr_code, typed_unseen};

use std::env;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::api::{self, Remark};
use crate::phrases;
use anstyle::{AnsiColor, Style};
use checkrein_engine::diagnostics::Diagnostic;
pub use checkrein_engine::text::{counted, cut, plain, plain_name};
use checkrein_hook::remarks;
use checkrein_review::VerdictKind;
use comfy_table::{ContentArrangement, Table, presets};
pub(crate) use dialogue::in_dialogue;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::OutputModes;

/// Whether remarks are JSON.
static REMARKS_ARE_JSON: AtomicBool = AtomicBool::new(false);

/// Has everything that is said on standard error be JSON: for commands whose answer goes there too.
pub fn remark_in_json() {
    REMARKS_ARE_JSON.store(true, Ordering::Relaxed);
}

/// Whether a passing line stands where the next remark would begin.
static IS_PASSING: AtomicBool = AtomicBool::new(false);

/// Shows a line on standard error that the next one, or a remark, takes the place of. Only where a terminal reads.
pub fn show_passing(text: &str) {
    IS_PASSING.store(true, Ordering::Relaxed);
    // One that goes on in the next row could not be taken away again.
    let line = brief(text, width().saturating_sub(1));
    drop(write!(io::stderr().lock(), "{TAKE_AWAY}{line}"));
}

/// Takes the passing line away, if there is one.
pub fn hide_passing() {
    if IS_PASSING.swap(false, Ordering::Relaxed) {
        drop(write!(io::stderr().lock(), "{TAKE_AWAY}"));
    }
}

/// Goes to the beginning of the row and empties it.
const TAKE_AWAY: &str = "\r\x1b[K";

/// Says something beside the results.
pub fn log(text: &str) {
    if dialogue::heard(text) {
        return;
    }
    hide_passing();
    if REMARKS_ARE_JSON.load(Ordering::Relaxed) {
        let remark = Remark { text: text.strip_prefix("checkrein: ").unwrap_or(text).to_owned() };
        remarks::log(&api::line(&remark).unwrap_or_default());
    } else {
        remarks::log(&placed(&wrapped(text), says_raw()));
    }
}

/// Whether an agent's terminal is passed on through ours, which then moves to the beginning of a line only where it is told to.
fn says_raw() -> bool {
    let terminal = rustix::termios::tcgetattr(io::stderr());
    terminal.is_ok_and(|terminal| !terminal.output_modes.contains(OutputModes::OPOST))
}

/// A remark as the terminal takes it: on lines of its own, also beside what an agent has just written there.
fn placed(text: &str, is_raw: bool) -> String {
    if is_raw { format!("\r\n{}\r", text.replace('\n', "\r\n")) } else { text.to_owned() }
}

/// Writes down what did not work on the way.
pub fn log_all(diagnostics: &[Diagnostic]) {
    diagnostics.iter().for_each(|one| log(&format!("checkrein: {one}")));
}

/// Writes an answer where standard output belongs to another program.
pub fn answer_aside(line: &str) {
    remarks::log(line);
}

/// Writes a result for people: lines that are longer than the terminal are broken between words, wherever they come from.
pub fn print(text: &str) {
    print_exact(&wrapped(text));
}

/// Writes a result as it is, for programs or to be copied: JSON, a difference, a secret. A reader that has gone away (`| head`) is no failure.
pub fn print_exact(text: &str) {
    if dialogue::heard(text) {
        return;
    }
    let mut output = io::stdout().lock();
    drop(
        output
            .write_all(text.as_bytes())
            .and_then(|()| if text.ends_with('\n') { Ok(()) } else { output.write_all(b"\n") }),
    );
}

/// Whether nobody reads standard output any more: the other end of the pipe is closed (`| head`), or the terminal is gone.
pub fn reader_is_gone() -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let output = rustix::stdio::stdout();
    let mut looked = [PollFd::new(&output, PollFlags::empty())];
    let is_ended = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
    poll(&mut looked, Some(&now)).is_ok_and(|count| count > 0)
        && looked.iter().any(|one| one.revents().intersects(is_ended))
}

/// The end of a long text at which reading begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// The first line.
    Beginning,
    /// The last one: what is newest stands there.
    End,
}

/// Writes a result that may be longer than the terminal is high: there a pager shows it, `$PAGER` or `less`.
pub fn page(text: &str) {
    page_from(text, ReadFrom::Beginning);
}

/// The same from one end of it.
pub fn page_from(text: &str, from: ReadFrom) {
    let text = &wrapped(text);
    let height =
        io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(io::stdout()).ok()).flatten();
    let is_longer =
        height.is_some_and(|size| size.ws_row > 0 && text.lines().count() >= usize::from(size.ws_row));
    if !is_longer || !is_paged(text, from) {
        print_exact(text);
    }
}

/// Whether a pager took the text.
fn is_paged(text: &str, from: ReadFrom) -> bool {
    let chosen = env::var("PAGER").ok().filter(|value| !value.trim().is_empty());
    let pager = chosen.unwrap_or_else(|| "less".to_owned());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    // `less` and `more` know this word; what another pager makes of it is not known.
    if from == ReadFrom::End && program.rsplit('/').next() == Some("less") {
        command.arg("+G");
    }
    // Ends by itself where all fits, keeps colours and the text on the screen; what the user set goes first.
    if env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Who leaves before the end has seen enough.
        drop(input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n")));
    }
    child.wait().is_ok()
}

/// Whether standard output is read by a user who sees colours.
pub fn has_colour() -> bool {
    io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The text in a style, where colours are seen.
pub fn styled(text: &str, style: Style) -> String {
    if has_colour() { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
}

/// Bold text.
pub fn bold(text: &str) -> String {
    styled(text, Style::new().bold())
}

/// Text that steps back.
pub fn dim(text: &str) -> String {
    styled(text, Style::new().dimmed())
}

/// The name of a verdict in its colour, as the configuration and JSON have it.
pub fn verdict(verdict: VerdictKind) -> String {
    in_its_colour(verdict.name(), verdict)
}

/// What became of a call, in the colour of its verdict.
pub fn verdict_word(verdict: VerdictKind) -> String {
    in_its_colour(phrases::verdict_word(verdict), verdict)
}

/// Words about a verdict in its colour.
pub fn in_its_colour(words: &str, verdict: VerdictKind) -> String {
    let colour = match verdict {
        VerdictKind::Ok => AnsiColor::Green,
        VerdictKind::Nudge => AnsiColor::Cyan,
        VerdictKind::Escalate => AnsiColor::Yellow,
        VerdictKind::Block | VerdictKind::Halt => AnsiColor::Red,
    };
    styled(words, Style::new().fg_color(Some(colour.into())).bold())
}

/// A mark that says whether something is well.
pub fn mark(well: Health) -> String {
    let (text, colour) = match well {
        Health::Well => ("ok", AnsiColor::Green),
        Health::Noted => ("..", AnsiColor::Cyan),
        Health::Doubtful => ("--", AnsiColor::Yellow),
        Health::Broken => ("!!", AnsiColor::Red),
    };
    styled(text, Style::new().fg_color(Some(colour.into())).bold())
}

/// How something is found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it should be.
    Well,
    /// As it should be; what the client itself leaves open.
    Noted,
    /// Works, but a user should know.
    Doubtful,
    /// Does not protect.
    Broken,
}

/// A table with a head, as wide as the terminal at most. Where it is too narrow for it only the last column is broken, between words; where
/// that does not do, each row is a paragraph.
pub fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    table_at(head, rows, width())
}

/// Whether a table fits the terminal with each row on one line.
pub fn fits(head: &[&str], rows: &[Vec<String>]) -> bool {
    natural(&widths(head, rows)) <= width()
}

/// The widths of the columns of a table.
fn widths(head: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| shown_length(cell));
        cells.chain(head.get(column).map(|title| title.len())).max().unwrap_or_default()
    };
    (0..head.len()).map(of).collect()
}

/// How wide a table is with columns of these widths: a column has a blank on each side.
fn natural(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + 2).sum()
}

fn table_at(head: &[&str], rows: Vec<Vec<String>>, width: usize) -> String {
    let widths = widths(head, &rows);
    let natural = natural(&widths);
    let before_last = natural - widths.last().map_or(0, |width| width + 2);
    let last = rows.iter().filter_map(|row| row.get(head.len().saturating_sub(1)));
    let longest = last.flat_map(|cell| cell.split(' ')).map(shown_length).max().unwrap_or_default();
    if natural <= width {
        grid(head, rows)
    } else if before_last + LAST.max(longest) < width {
        broken_grid(head, &rows, &widths, width)
    } else {
        paragraphs(head, &rows, width)
    }
}

/// The narrowest last column that is still read with ease, in characters (ours).
const LAST: usize = 40;

fn grid(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head.iter().map(|title| dim(title)));
    rows.into_iter().for_each(|row| {
        table.add_row(row);
    });
    table.trim_fmt()
}

/// The same where the last column is broken between words; a word that is longer than its column, such as a path, stays whole.
fn broken_grid(head: &[&str], rows: &[Vec<String>], widths: &[usize], width: usize) -> String {
    let (_, before_last) = widths.split_last().unwrap_or((&0, &[]));
    let margin: usize = 1 + before_last.iter().map(|width| width + 2).sum::<usize>();
    let titles: Vec<String> = head.iter().map(|title| dim(title)).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::from(" ");
        for (place, cell) in row.iter().enumerate() {
            line.push_str(cell);
            if let Some(width) = before_last.get(place) {
                line.push_str(&" ".repeat((width + 2).saturating_sub(shown_length(cell))));
            }
        }
        broken_at(&line, width, &|_| margin)
    };
    std::iter::once(&titles).chain(rows).map(line).collect::<Vec<_>>().join("\n")
}

/// The width that output has, in characters: that of the terminal, else what `COLUMNS` says, else the usual one. A file or a pipe is read by
/// somebody too.
pub fn width() -> usize {
    let terminal = || {
        let size = io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(io::stdout()).ok());
        size.flatten().map(|size| believable(usize::from(size.ws_col)))
    };
    let said = || env::var("COLUMNS").ok().and_then(|said| said.trim().parse().ok()).map(believable);
    terminal().or_else(said).unwrap_or(USUAL)
}

/// What a terminal that tells no width, or one that holds no two words, is taken to have: as wide as the oldest ones (ours).
const USUAL: usize = 80;

/// The narrowest width that is believed (ours).
const NARROWEST: usize = 20;

fn believable(width: usize) -> usize {
    if width < NARROWEST { USUAL } else { width }
}

/// A text in lines that fit the width of the terminal, each with the indentation of the line that it is from.
pub fn wrapped(text: &str) -> String {
    wrapped_at(text, width())
}

/// A text in lines that fit the width of the terminal; what goes on begins at column `margin`.
pub fn hanging(text: &str, margin: usize) -> String {
    broken_at(text, width(), &|_| margin)
}

/// A text whose lines are broken between words where they are longer than `width` characters; what goes on is as far in as its line, and
/// two more. A word that is longer than that stays whole.
pub(crate) fn wrapped_at(text: &str, width: usize) -> String {
    broken_at(text, width, &|line| line.chars().take_while(|c| *c == ' ').count() + 2)
}

/// A text whose lines are broken between words; how far in a line goes on is asked for each.
fn broken_at(text: &str, width: usize, margin_of: &dyn Fn(&str) -> usize) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let margin = margin_of(line);
        let mut now = String::new();
        let mut length = 0;
        for word in pieces(line, width.saturating_sub(margin)) {
            let more = shown_length(word.trim_end());
            if more > 0 && length > margin && length + more > width {
                lines.push(now.trim_end().to_owned());
                now = " ".repeat(margin);
                length = margin;
            }
            now.push_str(word);
            length += shown_length(word);
        }
        lines.push(now.trim_end().to_owned());
    }
    lines.join("\n")
}

/// What a command of ours begins with where a text names one.
const OURS: &str = "`checkrein ";

/// The words of a line with the spaces behind them. A command of ours that fits into a line is one of them, so that it can be copied, and so
/// is a number with its unit.
fn pieces(line: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let word = rest.find(' ').map_or(rest.len(), |space| space + 1);
        let command = rest.trim_start_matches('(').strip_prefix(OURS).and_then(|inside| {
            let end = rest.len() - inside.len() + inside.find('`')? + 1;
            let end = rest.get(end..)?.find(' ').map_or(rest.len(), |space| end + space + 1);
            rest.get(..end).filter(|piece| shown_length(piece.trim_end()) <= most).map(str::len)
        });
        let (piece, behind) = rest.split_at(command.unwrap_or_else(|| word + unit_behind(rest, word)));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// How long the unit is, with the space behind it, that follows a number at the beginning of a text; 0 where the first word is not a number,
/// or is the last of its line.
fn unit_behind(text: &str, word: usize) -> usize {
    let (number, behind) = text.split_at(word);
    // Two blanks begin a new column.
    let is_number = number.trim_end().parse::<f64>().is_ok() && !behind.starts_with(' ');
    let end = behind.find(' ').map_or(behind.len(), |space| space + 1);
    let unit = behind.get(..end).unwrap_or_default();
    let bare = unit.trim_end().trim_end_matches([',', ';', ')', '.']);
    if is_number && (SIZES.contains(&bare) || TIMES.contains(&bare)) { unit.len() } else { 0 }
}

/// The units in which sizes are written.
const SIZES: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];

/// The units in which times are written.
const TIMES: [&str; 4] = ["ms", "s", "min", "h"];

/// One line of a text, cut between two words to about a width in characters: no word is broken but one that is longer than that itself.
pub fn brief(text: &str, width: usize) -> String {
    let short = cut(text, width);
    let is_cut = short.len() != text.len();
    match short.strip_suffix('…').filter(|_| is_cut) {
        Some(kept) => {
            let follows = text.get(kept.len()..).and_then(|rest| rest.chars().next());
            let ends_word = follows.is_none_or(char::is_whitespace);
            let end = if ends_word { Some(kept.len()) } else { kept.rfind(' ') };
            let end = end.filter(|end| *end * 2 > kept.len()).unwrap_or(kept.len());
            format!("{} …", kept.get(..end).unwrap_or(kept).trim_end())
        }
        None => short,
    }
}

/// How many characters are seen: escapes of colours are not.
pub fn shown_length(text: &str) -> usize {
    let mut inside = false;
    let seen = text.chars().filter(|c| {
        let begins = *c == '\u{1b}';
        let is_seen = !inside && !begins;
        inside = begins || inside && *c != 'm';
        is_seen
    });
    seen.count()
}

/// Rows one after another, the last cell below the others. Numbers have the title of their column in front.
fn paragraphs(head: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(head)
            .filter(|(cell, _)| !cell.is_empty())
            .map(|(cell, title)| if is_figure(cell) { format!("{title} {cell}") } else { cell.clone() });
        let mut cells: Vec<String> = cells.collect();
        let last = if row.last().is_some_and(|cell| !cell.is_empty()) { cells.pop() } else { None };
        lines.push(wrapped_at(&cells.join("  "), width));
        lines.extend(last.map(|last| wrapped_at(&format!("  {last}"), width)));
    }
    lines.join("\n")
}

/// Whether a cell says nothing without the title of its column: a number, or several, such as `0 / 1 / 2`, also with a unit of size.
fn is_figure(cell: &str) -> bool {
    let is_number = |part: &str| part.parse::<f64>().is_ok() || SIZES.contains(&part);
    cell == "unknown" || cell.split(['/', ' ']).filter(|part| !part.is_empty()).all(is_number)
}

/// What a user answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// Yes.
    Yes,
    /// No, or nothing.
    No,
    /// Standard input is not a terminal, so nobody was asked.
    Nobody,
}

/// Asks a user for yes or no.
pub fn confirm(question: &str) -> Reply {
    if let Some(reply) = dialogue::asked(question) {
        return reply;
    }
    let input = io::stdin();
    if !input.is_terminal() {
        return Reply::Nobody;
    }
    let mut error = io::stderr().lock();
    drop(write!(error, "{question} [y/N] ").and_then(|()| error.flush()));
    let mut line = String::new();
    let is_read = input.lock().read_line(&mut line).is_ok();
    if is_read && matches!(line.trim(), "y" | "Y" | "yes" | "Yes") { Reply::Yes } else { Reply::No }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_words_stay_whole() {
        let text =
            "why  this deletes the only copy of `notes/plan.md`\n  and a-word-that-is-longer-than-the-line";
        let wrapped = wrapped_at(text, 24);
        let lines: Vec<&str> = wrapped.lines().collect();
        assert_eq!(
            lines,
            [
                "why  this deletes the",
                "  only copy of",
                "  `notes/plan.md`",
                "  and",
                "    a-word-that-is-longer-than-the-line"
            ]
        );
        assert_eq!(wrapped_at(text, 200), text);
        assert_eq!(broken_at("why    one two", 11, &|_| 7), "why    one\n       two");
        assert_eq!(
            wrapped_at("\u{1b}[1mbold\u{1b}[0m word", 9),
            "\u{1b}[1mbold\u{1b}[0m word",
            "colours have no width"
        );
    }

    #[test]
    fn a_command_to_copy_stays_on_one_line() {
        let text = "done: tell the agent; `checkrein allow --forget e3cd` takes it back";
        let lines = "done: tell the agent;\n  `checkrein allow --forget e3cd`\n  takes it back";
        assert_eq!(wrapped_at(text, 36), lines);
        // What fits into no line is broken, and so are other words in back-ticks.
        assert_eq!(wrapped_at(text, 24).lines().count(), 4);
        assert_eq!(
            wrapped_at("it ran `git push origin main` then", 22),
            "it ran `git push\n  origin main` then"
        );
        assert_eq!(pieces("a (`checkrein log --here`), b `checkrein log", 80).len(), 5);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(wrapped_at("it took 45 ms then", 10), "it took\n  45 ms\n  then");
        assert_eq!(wrapped_at("lasted 27.8 s, and", 12), "lasted\n  27.8 s,\n  and");
        // A number that counts, and one that ends its column, go as words do.
        assert_eq!(wrapped_at("there were 45 calls", 13), "there were 45\n  calls");
        assert_eq!(pieces("45  ms", 80).len(), 3);
        assert!(is_figure("10.3 kB") && is_figure("3 / 4") && !is_figure("3 files"));
    }

    #[test]
    fn a_width_that_nobody_set_is_not_believed() {
        assert_eq!([0, 1, 19, 20, 79, 200].map(believable), [80, 80, 80, 20, 79, 200]);
    }

    #[test]
    fn the_last_column_is_broken_between_words_only() {
        let rows = [["ls", "ok", "created /srv/a-path-that-is-longer-than-its-column and more"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let text = broken_grid(&["call", "is", "seen"], &rows, &[4, 2, 60], 30);
        let expected = [
            " call  is  seen",
            " ls    ok  created",
            "           /srv/a-path-that-is-longer-than-its-column",
            "           and more",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_text_is_cut_between_words() {
        assert_eq!(brief("one two three", 20), "one two three");
        assert_eq!(brief("one two three", 10), "one two …");
        assert_eq!(brief("one two three", 8), "one two …");
        assert_eq!(brief("one two\nthree", 20), "one two …");
        assert_eq!(brief("a-word-that-is-long", 8), "a-word- …");
    }

    #[test]
    fn no_line_of_a_table_is_longer_than_the_terminal_and_no_word_is_broken() {
        let head = ["time", "name", "what", "why"];
        let cells = [
            "2026-11-22 10:11:12",
            "a-name",
            "a sentence in words",
            "a reason of which there is much to say",
        ];
        let words: Vec<&str> = cells.iter().flat_map(|cell| cell.split(' ')).collect();
        for count in 1..=cells.len() {
            for repeated in 1..6 {
                let mut row: Vec<String> = cells.iter().take(count).map(|cell| (*cell).to_owned()).collect();
                if let Some(last) = row.last_mut() {
                    *last = vec![last.clone(); repeated].join(" ");
                }
                for width in [40, 60, 80, 120] {
                    let text = table_at(&head[..count], vec![row.clone(), row.clone()], width);
                    for line in text.lines() {
                        assert!(shown_length(line) <= width, "{width}: {line:?}");
                        let is_known = |word: &str| words.contains(&word) || head.contains(&word);
                        assert!(line.split_whitespace().all(is_known), "{line:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_that_is_too_wide_becomes_two_paragraphs() {
        let head = ["began", "answers", "worktree", "call", "why"];
        let row = ["2026-11-22", "7", "", "Bash ls", "a reason in several words"];
        let text = paragraphs(&head, &[row.map(str::to_owned).to_vec()], 20);
        assert_eq!(text, "2026-11-22  answers\n  7  Bash ls\n  a reason in\n    several words");
        assert_eq!(
            ["7", "0 / 1 / 2", "unknown", "2026-11-22", "12 B"].map(is_figure),
            [true, true, true, false, true]
        );
    }
}
