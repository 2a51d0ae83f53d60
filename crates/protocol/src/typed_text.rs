//! What a shell gets of a text that is typed into it.

/// The lines that a shell reads of a typed text: what a terminal and the line editor make of the keys in it (termios(3), readline(3)). A line with a
/// key that moves in it, or brings back another, becomes one of which nobody knows what it runs.
pub fn typed_lines(text: &str) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    let mut is_known = true;
    for letter in text.replace("\r\n", "\n").chars() {
        let Some(line) = lines.last_mut() else { continue };
        match letter {
            // The Return of a terminal ends a line as well, and so does ^O, which runs it.
            '\n' | '\r' | '\u{f}' => {
                if !is_known {
                    UNKNOWN_LINE.clone_into(line);
                }
                is_known = true;
                lines.push(String::new());
            }
            '\t' => line.push(letter),
            // Backspace, as both of its keys send it.
            '\u{8}' | '\u{7f}' => {
                line.pop();
            }
            // ^C and ^U take the line away.
            '\u{3}' | '\u{15}' => {
                line.clear();
                is_known = true;
            }
            // ^W takes the last word away.
            '\u{17}' => {
                let kept = line.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
                line.truncate(kept);
            }
            // ^D ends the input, ^G and ^L change nothing.
            '\u{4}' | '\u{7}' | '\u{c}' => {}
            letter if letter.is_control() => is_known = false,
            letter => line.push(letter),
        }
    }
    if let Some(line) = lines.last_mut().filter(|_| !is_known) {
        UNKNOWN_LINE.clone_into(line);
    }
    lines.join("\n")
}

/// A line whose command comes from elsewhere.
const UNKNOWN_LINE: &str = "eval \"$(cat)\"";

#[cfg(test)]
mod tests {
    use super::{UNKNOWN_LINE, typed_lines};

    #[test]
    fn keys_are_what_the_terminal_makes_of_them() {
        for (typed, read) in [
            ("ls\n", "ls\n"),
            ("rm -rf ~\r", "rm -rf ~\n"),
            ("rm -rf ~\r\nls", "rm -rf ~\nls"),
            ("rm -rf ~/x\u{7f}\u{7f}\r", "rm -rf ~\n"),
            ("rm -rf ~ x\u{17}\r", "rm -rf ~ \n"),
            ("echo x\u{15}ls\r", "ls\n"),
            ("if (x) {\n", "if (x) {\n"),
            ("a\tb", "a\tb"),
        ] {
            assert_eq!(typed_lines(typed), read, "{typed:?}");
        }
        assert_eq!(typed_lines("echo rm -rf ~\u{1}\u{1b}d\nls"), format!("{UNKNOWN_LINE}\nls"));
        assert_eq!(typed_lines("\u{1b}[A\r"), format!("{UNKNOWN_LINE}\n"));
    }
}
