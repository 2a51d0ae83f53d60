//! Tools that type into a terminal, or into a program that an earlier call left open.
//!
//! What is typed into one of them is a conversation: a line may come in pieces, and a later line rests on the directory and the variables of
//! earlier ones. So all of it is read anew, and what comes to it counts.

use checkrein_facts::{TERMINAL_BYTES, TERMINALS, TerminalMemory, TypedTerminal};
use checkrein_protocol::{TerminalDeed, TerminalUse, folded, typed_lines};
use serde_json::Value as Json;

use crate::action::Action;

use super::call::{texts_of, values_of};
use super::mcp::types_into_programs;
use super::runners::begins_with_program;

/// Fields that hold what is typed, and those that name where, in any spelling (the tools of Copilot, Droid, OpenCode, Desktop Commander and
/// iTerm; ours).
const TYPED: &[&str] = &["input", "text", "keys", "data", "command", "chars", "characters"];
const TERMINALS_NAMED: &[&str] = &[
    "terminalid",
    "shellid",
    "sessionid",
    "terminal",
    "processid",
    "pid",
    "ptyid",
    "paneid",
    "pane",
    "session",
    "sessionname",
    "id",
];

/// What a call types, and where.
pub(crate) struct Typing {
    terminal: String,
    text: String,
}

/// How a program gets what is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listener {
    /// It is a shell.
    Shell,
    /// It was opened by this command.
    Opened(String),
    /// It is not known, and may be an interpreter or the client of a database: what such a one would do is possible.
    Guessed(&'static str),
}

/// One way in which what is typed may be read: shell texts with it and without it.
pub(crate) struct Conversation {
    pub(crate) listener: Listener,
    pub(crate) now: String,
    pub(crate) earlier: String,
}

/// What is typed, and in which ways it may be read.
pub(crate) struct Heard {
    pub(crate) used: TerminalUse,
    pub(crate) ways: Vec<Conversation>,
    /// What is not known of it; `None` where all is.
    pub(crate) not_known: Option<&'static str>,
}

/// The interpreters that are asked about what nobody knows the listener of.
const GUESSES: [&str; 3] = ["python3", "node", "psql"];

/// What stands for the directory that lines which nobody remembers may have changed.
const FORGOTTEN: &str = "cd \"$(cat)\"\n";

/// What a call types; `None` where it types nothing.
pub(crate) fn typing(action: &Action) -> Option<Typing> {
    if !types_into_programs(action) {
        return None;
    }
    let given = values_of(&action.input, TYPED).into_iter();
    let mut text: Vec<String> = given.filter_map(pressed).filter(|text| !text.is_empty()).collect();
    // `{"letter": "C"}` is the key with Control.
    let letter = texts_of(&action.input, &["letter", "control", "character"]).next();
    let letter = letter.filter(|letter| letter.len() == 1).and_then(|letter| letter.bytes().next());
    text.extend(letter.map(|letter| char::from(letter & 0x1f).to_string()));
    (!text.is_empty()).then(|| Typing { terminal: terminal(&action.input), text: text.join("\n") })
}

/// What a text, or a list of texts and names of keys, sends.
fn pressed(given: &Json) -> Option<String> {
    match given {
        Json::String(text) => {
            // `tmux send-keys` takes the name of the key behind the text.
            let named = text.strip_suffix("Enter").or_else(|| text.strip_suffix("C-m"));
            Some(named.map_or_else(|| text.clone(), |text| format!("{}\r", text.trim_end())))
        }
        Json::Array(keys) => Some(keys.iter().filter_map(Json::as_str).map(key).collect()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => None,
    }
}

/// What a key sends by its name in tmux(1); anything else is text.
fn key(name: &str) -> &str {
    match name {
        "Enter" | "C-m" | "KPEnter" | "Return" => "\r",
        "Space" => " ",
        "Tab" => "\t",
        "BSpace" => "\u{7f}",
        "C-c" => "\u{3}",
        "C-d" => "\u{4}",
        "C-u" => "\u{15}",
        "Up" | "Down" | "Left" | "Right" | "Home" | "End" | "Escape" => "\u{1b}",
        text => text,
    }
}

impl Typing {
    /// Whether it is keys alone that end, stop or clear what is there (^C, ^D, ^G, ^L, ^Q, ^S, ^U, ^Z, ^\\).
    pub(crate) fn is_signal(&self) -> bool {
        self.text.chars().all(|key| "\u{3}\u{4}\u{7}\u{c}\u{11}\u{13}\u{15}\u{1a}\u{1c}".contains(key))
    }
}

/// What a call calls its terminal; empty where it calls it nothing.
pub(crate) fn terminal(input: &Json) -> String {
    let named = |wanted: &&str| {
        let found = input.as_object()?.iter().find(|(name, _)| folded(name) == **wanted)?;
        match found.1 {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => Some(number.to_string()),
            Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
        }
    };
    TERMINALS_NAMED.iter().find_map(named).unwrap_or_default()
}

/// What is heard of it by whom, after all that was typed there before.
pub(crate) fn heard(typing: Typing, terminals: &[TypedTerminal]) -> Heard {
    let Typing { terminal, text } = typing;
    let known = terminals.iter().find(|known| known.name == terminal);
    let is_opened = |known: &&TypedTerminal| !known.opened.is_empty();
    let openings: Vec<&TypedTerminal> = match known.filter(is_opened) {
        Some(own) => vec![own],
        // Which of those that no call named it is, nobody says.
        None => terminals.iter().filter(|known| known.name.is_empty()).filter(is_opened).collect(),
    };
    let before = known.map_or("", |known| known.typed.as_str());
    let (earlier, now) = (typed_lines(before), typed_lines(&format!("{before}{text}")));
    let is_forgotten = known.is_some_and(|known| known.memory == TerminalMemory::Newest);
    let beginning = if is_forgotten { FORGOTTEN } else { "" };
    let mut ways = Vec::new();
    // A prompt of an interpreter is left by a word, and then the shell behind it listens.
    let is_for_shell = openings.is_empty() || begins_with_program(&now);
    if is_for_shell && reads_as_shell(&now) {
        let lines = |lines: &str| format!("{beginning}{lines}");
        ways.push(Conversation { listener: Listener::Shell, now: lines(&now), earlier: lines(&earlier) });
    }
    let given = |listener: Listener, program: &str| {
        let lines = |lines: &str| {
            here_document(program, &format!("{}{lines}", if is_shell(program) { beginning } else { "" }))
        };
        Conversation { listener, now: lines(&now), earlier: lines(&earlier) }
    };
    ways.extend(openings.iter().map(|known| given(Listener::Opened(known.opened.clone()), &known.opened)));
    if openings.is_empty() {
        ways.extend(GUESSES.map(|program| given(Listener::Guessed(program), program)));
    }
    let last = now.rsplit('\n').next().unwrap_or_default();
    let not_known = if known.is_none() && !terminal.is_empty() && terminals.len() >= TERMINALS {
        Some("what was typed there before is not remembered")
    } else if last.len() > TERMINAL_BYTES {
        Some("the line is too long to be remembered until it ends")
    } else {
        None
    };
    let kept = text.len().saturating_sub(4 * TERMINAL_BYTES);
    let kept = (kept..text.len()).find(|place| text.is_char_boundary(*place)).unwrap_or_default();
    let text = text.get(kept..).unwrap_or_default().to_owned();
    Heard { used: TerminalUse { terminal, deed: TerminalDeed::Typed, text }, ways, not_known }
}

/// Whether a shell could run what is typed: a text that it cannot read runs nothing, unless it only looks so to us.
fn reads_as_shell(text: &str) -> bool {
    checkrein_shell::parse(text).problems.is_empty() || begins_with_program(text)
}

fn is_shell(command: &str) -> bool {
    let words = command.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    words.into_iter().any(|word| matches!(word, "sh" | "bash" | "zsh" | "dash" | "ksh" | "ssh"))
}

/// A command that reads lines as if they were typed into it.
fn here_document(command: &str, lines: &str) -> String {
    let mut end = "END".to_owned();
    while lines.lines().any(|line| line == end) {
        end.push('_');
    }
    format!("{{ {command}\n}} <<'{end}'\n{lines}\n{end}\n")
}

#[cfg(test)]
mod tests {
    use super::{FORGOTTEN, Listener, Typing, heard};
    use checkrein_facts::{TerminalMemory, TypedTerminal};

    fn typed(terminal: &str, text: &str) -> Typing {
        Typing { terminal: terminal.to_owned(), text: text.to_owned() }
    }

    fn terminal(name: &str, opened: &str, typed: &str) -> TypedTerminal {
        TypedTerminal {
            name: name.to_owned(),
            opened: opened.to_owned(),
            typed: typed.to_owned(),
            memory: TerminalMemory::Whole,
        }
    }

    #[test]
    fn pieces_of_one_terminal_are_one_text() {
        let known = [terminal("s1", "", "rm -rf "), terminal("s2", "", "cd x\r")];
        let ways = heard(typed("s1", "~\u{7f}.\r"), &known).ways;
        let shell = ways.iter().find(|way| way.listener == Listener::Shell).unwrap();
        assert_eq!((shell.now.as_str(), shell.earlier.as_str()), ("rm -rf .\n", "rm -rf "));
        let ways = heard(typed("s2", "ls\n"), &known).ways;
        assert!(ways.iter().any(|way| way.now == "cd x\nls\n" && way.earlier == "cd x\n"));
    }

    #[test]
    fn who_opened_it_hears_it_and_others_are_guessed() {
        let known = [terminal("s1", "python3", ""), terminal("", "node", "")];
        let listeners = |name: &str| -> Vec<Listener> {
            heard(typed(name, "x = {\n"), &known).ways.into_iter().map(|way| way.listener).collect()
        };
        assert_eq!(listeners("s1"), [Listener::Opened("python3".to_owned())]);
        assert_eq!(listeners("s9"), [Listener::Opened("node".to_owned())]);
        assert!(heard(typed("s1", "END\n"), &known).ways[0].now.ends_with("<<'END_'\nEND\n\nEND_\n"));
        let guessed = heard(typed("s1", "if (x) {\n"), &[]).ways;
        assert!(guessed.iter().all(|way| matches!(way.listener, Listener::Guessed(_))));
    }

    #[test]
    fn what_is_not_remembered_is_said() {
        let mut known: Vec<TypedTerminal> =
            (0..6).map(|number| terminal(&number.to_string(), "", "ls\n")).collect();
        assert_eq!(heard(typed("0", "ls\n"), &known).not_known, None);
        assert!(heard(typed("7", "ls\n"), &known).not_known.is_some());
        assert!(heard(typed("0", &"x".repeat(5000)), &known).not_known.is_some());
        known[0].memory = TerminalMemory::Newest;
        assert!(heard(typed("0", "ls\n"), &known).ways[0].now.starts_with(FORGOTTEN));
    }
}
