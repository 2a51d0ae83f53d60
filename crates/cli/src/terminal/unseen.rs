//! What a terminal shows to a camera, and what it does not show of what is typed.

use std::io;

use fast_qr::{ECL, QRBuilder};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::{has_colour, log};

/// How many light modules stand around a code; cameras want four, and two were seen to do.
const MARGIN: usize = 2;

/// A text as a QR code, two modules a character; none where it is too long for one.
pub fn qr_code(text: &str) -> Option<String> {
    let code = QRBuilder::new(text).ecl(ECL::L).build().ok()?;
    let side = code.size + 2 * MARGIN;
    let is_dark = |row: usize, column: usize| {
        let within = MARGIN..MARGIN + code.size;
        within.contains(&row) && within.contains(&column) && code[row - MARGIN][column - MARGIN].value()
    };
    // In its own colours where there are any; else as on a dark ground, which most terminals have.
    let (begin, end) = if has_colour() { ("\u{1b}[38;5;231;48;5;16m", "\u{1b}[0m") } else { ("", "") };
    let mut shown = String::new();
    for row in (0..side).step_by(2) {
        shown.push_str(begin);
        for column in 0..side {
            let lower = row + 1 >= side || is_dark(row + 1, column);
            shown.push(match (is_dark(row, column), lower) {
                (false, false) => '█',
                (false, true) => '▀',
                (true, false) => '▄',
                (true, true) => ' ',
            });
        }
        shown.push_str(end);
        shown.push('\n');
    }
    shown.pop();
    Some(shown)
}

/// Asks for a line at the terminal that it does not show.
pub fn typed_unseen(words: &str) -> io::Result<String> {
    log(words);
    let before = tcgetattr(io::stdin())?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(io::stdin(), OptionalActions::Now, &silent)?;
    let mut text = String::new();
    let read = io::stdin().read_line(&mut text);
    tcsetattr(io::stdin(), OptionalActions::Now, &before)?;
    read?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_a_square_that_a_camera_reads() {
        let link =
            format!("https://192.168.100.200:7717/pair/{}?certificate={}", "a".repeat(32), "b".repeat(64));
        let code = qr_code(&link).unwrap();
        let rows: Vec<&str> = code.lines().collect();
        let wide = rows[0].chars().count();
        assert!(wide <= 60 && rows.len() == wide.div_ceil(2), "{wide} by {}", rows.len());
        // The corners are light, and behind them a finder begins: seven dark modules.
        assert!(rows[0].chars().all(|one| one == '█'), "{code}");
        assert!(rows[1].starts_with("██ ▄▄▄▄▄ █"), "{code}");
        assert_eq!(qr_code(&"x".repeat(5000)), None);
    }
}
