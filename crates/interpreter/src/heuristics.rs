//! Text that could not be read: what would run if another shell makes sense of it.

use checkrein_shell::{Block, Command, ProblemKind};

use super::machine::Machine;
use super::value::Value;

/// The greatest number of places in one text from which a command is tried (ours).
const PLACES: usize = 12;
/// What commands and bodies stand between.
const BOUNDS: [char; 9] = ['\n', ';', '|', '&', '{', '}', '(', ')', '`'];

impl Machine<'_> {
    /// Follows, as possible, the commands that a text seems to hold: from every word on that is the name of a program.
    pub fn run_what_may_be_meant(&mut self, text: &str) {
        if self.budget.guessing {
            return;
        }
        self.budget.guessing = true;
        let mut left = PLACES;
        for command in self.commands_in_quotes(text) {
            self.possibly(|machine| machine.in_subshell(|machine| machine.run_here(&command)));
        }
        for piece in text.split(BOUNDS) {
            let mut rest = piece.trim().trim_start_matches(['"', '\'']);
            while left > 0
                && let Some(word) = rest.split_whitespace().next()
            {
                // In another language a command is a text in quotes.
                let bare = word.trim_start_matches(['"', '\'', '\\']);
                let name = bare.rsplit('/').next().unwrap_or(bare);
                if self.knows(name) {
                    left -= 1;
                    let start = word.len() - bare.len();
                    let quote = word.get(..start).and_then(|quotes| quotes.chars().last());
                    let command = Value::exact(within(rest.get(start..).unwrap_or_default(), quote));
                    self.possibly(|machine| machine.in_subshell(|machine| machine.run_here(&command)));
                }
                rest = rest.get(word.len()..).unwrap_or_default().trim_start();
            }
        }
        self.budget.guessing = false;
    }

    /// The texts in quotes that are commands as a whole, with a mark of a shell in them that would cut them in two.
    fn commands_in_quotes(&self, text: &str) -> Vec<Value> {
        let mut found = Vec::new();
        for quote in ['"', '\''] {
            for piece in text.split(quote).skip(1) {
                let first = piece.split_whitespace().next().unwrap_or_default();
                let name = first.rsplit('/').next().unwrap_or(first);
                if piece.contains(BOUNDS)
                    && piece.len() > first.len()
                    && self.knows(name)
                    && found.len() < PLACES
                {
                    found.push(Value::exact(piece));
                }
            }
        }
        found
    }
}

/// What stands in quotes of which the first is left out already; without one, all but a quote at the end that closes nothing in it.
fn within(text: &str, quote: Option<char>) -> &str {
    match quote {
        Some(quote) if quote != '\\' => text.split(quote).next().unwrap_or(text),
        Some(_) | None => {
            let last = text.trim_end().chars().last().filter(|last| matches!(last, '"' | '\''));
            match last {
                Some(last) if text.matches(last).count() % 2 == 1 => text.trim_end().trim_end_matches(last),
                Some(_) | None => text,
            }
        }
    }
}

/// How much of a text runs before every shell surely refuses the rest; `None` where it may not refuse it. A quote or a bracket that is never closed, one that closes nothing, a
/// redirection without a file, as placeholders have it (`grep <PATTERN> | wc`), an operator with no command before it. Told by a look at the
/// letters alone, apart from the parser that did not understand the text; where a here-document or `case` makes that harder the answer is
/// `None`. A shell reads a line, and whatever that opens, before it runs it: so the lines in front of the broken one run, and nothing of that.
pub(super) fn reached(text: &str) -> Option<usize> {
    refusal(text).map(|refusal| refusal.reached)
}

/// What every shell surely refuses of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Refusal {
    /// How much of the text runs before.
    reached: usize,
    /// The byte that makes it so: what is never closed, or what stands where nothing like it may.
    place: usize,
}

/// Where the text stands, by line and column, for which every shell refuses all of a text, so that none runs any of it; `None` where one may
/// run something. Lines and columns count from 1, columns in characters.
pub fn refused_at(text: &str) -> Option<(usize, usize)> {
    if !has_broken(&checkrein_shell::parse(text).script) {
        return None;
    }
    let Refusal { reached, place } = refusal(text)?;
    let is_empty = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if !text.get(..reached)?.lines().all(is_empty) {
        return None;
    }
    let before = text.get(..place)?;
    let line = before.rsplit('\n').next().unwrap_or(before);
    Some((before.matches('\n').count() + 1, line.chars().count() + 1))
}

/// What is refused of a text, as [`reached`] tells it.
#[expect(clippy::match_same_arms, reason = "in the order in which they count")]
fn refusal(text: &str) -> Option<Refusal> {
    if text.replace("<<<", "").contains("<<") {
        return None;
    }
    // In arithmetic `#` begins no comment, so that what closes it closes it.
    if text.contains("((") && text.contains('#') {
        return None;
    }
    let has_branches = text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "case");
    let mut letters = text.char_indices().peekable();
    let mut open: Vec<(Open, usize)> = Vec::new();
    let mut starts_word = true;
    // Whether a command has to come next: at the beginning, and behind what joins two.
    let mut awaits = true;
    let mut complete = 0;
    while let Some((index, letter)) = letters.next() {
        let within = open.last().map(|(open, _)| *open);
        let mut awaits_next = false;
        match (within, letter) {
            (Some(Open::Single), '\'') => drop(open.pop()),
            (Some(Open::Single), _) => {}
            // Between back-ticks a backslash that is escaped escapes what follows once more.
            (_, '\\')
                if open.iter().any(|(open, _)| *open == Open::Back)
                    && letters.peek().is_some_and(|(_, next)| *next == '\\') =>
            {
                return None;
            }
            (_, '\\') => drop(letters.next()),
            (Some(Open::Dollar), '\'') => drop(open.pop()),
            (Some(Open::Dollar), _) => {}
            (Some(Open::Double), '"') | (Some(Open::Back), '`') | (Some(Open::Parameter), '}') => {
                open.pop();
            }
            (_, '`') => open.push((Open::Back, index)),
            (_, '$') => match letters.peek().map(|(_, next)| next) {
                Some('(') => {
                    letters.next();
                    open.push((Open::Bracket, index));
                    awaits_next = true;
                }
                Some('{') => {
                    letters.next();
                    open.push((Open::Parameter, index));
                }
                Some('\'') if within != Some(Open::Double) => {
                    letters.next();
                    open.push((Open::Dollar, index));
                }
                _ => {}
            },
            (_, '"') => open.push((Open::Double, index)),
            (Some(Open::Double), _) => {}
            (_, '\'') => open.push((Open::Single, index)),
            (Some(Open::Parameter), _) => {}
            (_, '#') if starts_word => {
                while letters.next_if(|(_, next)| *next != '\n').is_some() {}
                awaits_next = awaits;
            }
            (_, '(') => {
                open.push((Open::Bracket, index));
                awaits_next = true;
            }
            (Some(Open::Bracket), ')') => drop(open.pop()),
            (None, ')') if !has_branches => return Some(Refusal { reached: complete, place: index }),
            (_, '|' | '&') if awaits && !has_branches => {
                return Some(Refusal { reached: complete, place: index });
            }
            (_, '|' | '&') => {
                // `&&`, `||` and a pipe wait for a command, also over lines; `&` alone ends one.
                let is_joining =
                    letters.next_if(|(_, next)| *next == letter || *next == '&').is_some() || letter == '|';
                awaits_next = is_joining;
            }
            (_, '>' | '<') => {
                while letters.next_if(|(_, next)| matches!(next, '>' | '&' | '|')).is_some() {}
                while letters.next_if(|(_, next)| matches!(next, ' ' | '\t')).is_some() {}
                let is_file =
                    !matches!(letters.peek(), None | Some((_, '\n' | '|' | ';' | '&' | ')' | '<' | '>')));
                let is_substitution = || {
                    let mut ahead = letters.clone().map(|(_, next)| next);
                    matches!(ahead.next(), Some('<' | '>')) && ahead.next() == Some('(')
                };
                if !is_file && !is_substitution() {
                    return Some(Refusal { reached: complete, place: index });
                }
            }
            (None, '\n') if !awaits || complete == 0 && text[..index].trim().is_empty() => {
                complete = index + 1;
            }
            (_, letter) => awaits_next = awaits && letter.is_whitespace(),
        }
        awaits = awaits_next;
        starts_word = letter.is_whitespace() || matches!(letter, ';' | '|' | '&' | '(' | ')') || awaits;
    }
    open.first().map(|(_, place)| Refusal { reached: complete, place: *place })
}

/// What stands open in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `'...`
    Single,
    /// `$'...`
    Dollar,
    /// `"...`
    Double,
    /// `` `... ``
    Back,
    /// `${...`
    Parameter,
    /// `(...`, `$(...`, `<(...`
    Bracket,
}

/// Whether a parsed text holds a statement that the parser could not make sense of.
pub(super) fn has_broken(script: &Block) -> bool {
    script.iter().any(|statement| matches!(&statement.command, Command::Opaque(opaque) if opaque.reason == ProblemKind::Syntax))
}

#[cfg(test)]
mod tests {
    use super::{reached, refused_at};

    #[test]
    fn what_every_shell_refuses_is_told_by_its_letters() {
        for text in [
            "find . -name '*.txt",
            "echo \"abc",
            "grep \"OK\" <filename> | wc -l",
            "ps -fp <pid>",
            "<F11>",
            "cat <(unclosed",
            "echo $(unclosed",
            "echo \"$(un)closed",
            "echo `unclosed",
            "echo ${unclosed",
            "echo a)",
            "(& ./run) | cat",
            "| cat",
            "a && # why\n | b",
            "echo $'it\\'s",
            "echo a#(",
        ] {
            assert!(reached(text).is_some(), "{text}");
        }
        for text in [
            "echo 'closed' \"too\"",
            "sort < in > out",
            "make 2>&1 | tee log",
            "cat <<EOF\nit's\nEOF",
            "echo \"$(it's a')\"",
            "case x in a) b ;; esac",
            "echo ${x#(} ${y%)}",
            "sort < <(a)",
            "a &&\n b | # why\n c",
            "a & b",
            "a 2>&1 |& b",
            "echo $(# )\n)",
            "(# )\n)",
            "rm -rf ~ # don't",
            "echo a \\' b",
            "diff <(a) b",
            "if then",
        ] {
            assert_eq!(reached(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_no_shell_runs_is_told_with_its_place() {
        for (text, place) in [
            ("echo 'a", (1, 6)),
            ("\n  echo \u{e4} \"b $(c)", (2, 10)),
            ("ls | | cat", (1, 6)),
            ("echo a)", (1, 7)),
            ("cat <\nls", (1, 5)),
            ("echo $(ls\n'a'", (1, 6)),
        ] {
            assert_eq!(refused_at(text), Some(place), "{text}");
        }
        for text in ["ls\necho 'a", "echo 'a'", "if true; then", "", "echo a; fi"] {
            assert_eq!(refused_at(text), None, "{text}");
        }
    }

    #[test]
    fn the_lines_in_front_of_a_broken_one_run() {
        for (text, runs) in [
            ("{ rm a; }\necho 'abc", "{ rm a; }\n"),
            ("rm a\nrm b; echo 'abc\nrm c", "rm a\n"),
            ("echo '\n' \\\n | wc\nrm b\necho >", "echo '\n' \\\n | wc\nrm b\n"),
            ("rm a &&\necho 'abc", ""),
            ("rm $(\nls\n", ""),
            ("# why\nrm a\n)", "# why\nrm a\n"),
        ] {
            assert_eq!(reached(text).map(|end| &text[..end]), Some(runs), "{text}");
        }
    }
}
