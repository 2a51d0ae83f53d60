//! Text that could not be read: what would run if another shell makes sense of it.

use super::machine::Machine;
use super::value::Value;

/// The greatest number of places in one text from which a command is tried (ours).
const PLACES: usize = 12;
/// What commands and bodies stand between.
const BOUNDS: [char; 9] = ['\n', ';', '|', '&', '{', '}', '(', ')', '`'];

impl Machine<'_> {
    /// Follows, as possible, the commands that a text seems to hold: from every word on that is the name of a program.
    pub(crate) fn run_what_may_be_meant(&mut self, text: &str) {
        if self.guessing {
            return;
        }
        self.guessing = true;
        let mut left = PLACES;
        for piece in text.split(BOUNDS) {
            let mut rest = piece.trim().trim_start_matches(['"', '\'']);
            while left > 0
                && let Some(word) = rest.split_whitespace().next()
            {
                let name = word.rsplit('/').next().unwrap_or(word);
                if crate::catalogue::find(name, self.catalogue).is_some() {
                    left -= 1;
                    let command = Value::exact(rest);
                    self.possibly(|machine| machine.in_subshell(|machine| machine.run_here(&command)));
                }
                rest = rest.get(word.len()..).unwrap_or_default().trim_start();
            }
        }
        self.guessing = false;
    }
}

/// Whether every shell surely refuses a text, so that nothing of it runs: a quote that is never closed, or a redirection without a file, as
/// placeholders have it (`grep <PATTERN> | wc`). Told by a look at the letters alone, apart from the parser that did not understand the text;
/// where a substitution or a here-document makes that harder the answer is no.
pub(super) fn is_surely_refused(text: &str) -> bool {
    if text.contains("<<") || text.contains("$(") || text.contains('`') || text.contains("$'") {
        return false;
    }
    let mut letters = text.chars().peekable();
    let mut quote = None;
    let mut starts_word = true;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"') | None, '\\') => drop(letters.next()),
            (None, '\'' | '"') => quote = Some(letter),
            // What a comment holds is not read.
            (None, '#') if starts_word => return false,
            (None, '>' | '<') => {
                while letters.next_if(|next| matches!(next, '>' | '&' | '|')).is_some() {}
                while letters.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
                if matches!(letters.peek(), None | Some('\n' | '|' | ';' | '&' | ')' | '<' | '>')) {
                    return true;
                }
            }
            (Some(_) | None, _) => {}
        }
        starts_word = letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '(');
    }
    quote.is_some()
}

#[cfg(test)]
mod tests {
    use super::is_surely_refused;

    #[test]
    fn what_every_shell_refuses_is_told_by_its_letters() {
        for text in
            ["find . -name '*.txt", "echo \"abc", "grep \"OK\" <filename> | wc -l", "ps -fp <pid>", "<F11>"]
        {
            assert!(is_surely_refused(text), "{text}");
        }
        for text in [
            "echo 'closed' \"too\"",
            "sort < in > out",
            "make 2>&1 | tee log",
            "cat <<EOF\nit's\nEOF",
            "echo \"$(it's)\"",
            "rm -rf ~ # don't",
            "echo a \\' b",
            "diff <(a) b",
            "if then",
        ] {
            assert!(!is_surely_refused(text), "{text}");
        }
    }
}
