//! What the script language of vim and its kin does to files, and what it runs: functions and commands, by their names.

use crate::effect::Depth;
use crate::interpreter::{Call, Input, Machine, Output, Value};
use crate::tools::begins_with_program;

/// What a function does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Writes a file: the argument of this index.
    Write(usize),
    /// Removes a file, or a directory with all that is in it when the second argument says so.
    Delete,
    /// Moves the first file to the second.
    Move,
    /// Copies the first file to the second.
    Copy,
    /// Makes a directory.
    MakeDirectory,
    /// Runs the first argument in a shell.
    Run,
    /// Runs a function of a library or of another language.
    Unread,
}

/// Functions that reach beyond the editor: `:help function-list` of Vim 9.1, and of Neovim 0.11.
const FUNCTIONS: &[(&str, Act)] = &[
    ("writefile", Act::Write(1)),
    ("delete", Act::Delete),
    ("rename", Act::Move),
    ("filecopy", Act::Copy),
    ("mkdir", Act::MakeDirectory),
    ("system", Act::Run),
    ("systemlist", Act::Run),
    ("job_start", Act::Run),
    ("jobstart", Act::Run),
    ("term_start", Act::Run),
    ("termopen", Act::Run),
    ("ch_logfile", Act::Write(0)),
    ("term_dumpwrite", Act::Write(1)),
    ("libcall", Act::Unread),
    ("libcallnr", Act::Unread),
    ("luaeval", Act::Unread),
    ("perleval", Act::Unread),
    ("rubyeval", Act::Unread),
    ("pyeval", Act::Unread),
    ("py3eval", Act::Unread),
    ("pyxeval", Act::Unread),
    ("mzeval", Act::Unread),
];

/// Commands whose rest is code of another language, with the program that runs such.
const LANGUAGES: &[(&[&str], &str, &str)] = &[
    (&["lua"], "lua", "-e"),
    (&["python", "py", "python3", "py3", "pythonx", "pyx"], "python3", "-c"),
    (&["perl", "pe"], "perl", "-e"),
    (&["ruby", "rub"], "ruby", "-e"),
];

/// Commands whose rest is a command of the shell, whatever they do with its output.
const SHELLS: &[&str] = &["r !", "r!", "read !", "read!", "terminal ", "term ", "ter "];
/// Those whose command gets the text of the buffer.
const HANDED: &[&str] = &["w !", "write !"];
/// Commands that read a file into the buffer; those that open one do too.
const READ_INTO: &[&str] = &["r ", "read "];

/// The file that a command of the editor brings into the buffer.
pub(super) fn brought(text: &str) -> Option<&str> {
    let line = text.trim_start_matches(|c: char| c.is_ascii_digit() || " :%,$.".contains(c));
    let file = READ_INTO.iter().chain(OPENED).find_map(|word| line.strip_prefix(word))?.trim();
    (!file.is_empty() && !file.starts_with(['!', '+'])).then_some(file)
}

/// Commands that open a file to change it (`:help edit-files`, `:help arglist`, `:help opening-window`).
const OPENED: &[&str] = &[
    "e ", "edit ", "e! ", "edit! ", "sp ", "split ", "vs ", "vsplit ", "vsp ", "tabe ", "tabedit ",
    "tabnew ", "new ", "vnew ", "ene ", "find ", "fin ", "sf ", "sfind ", "drop ", "args ", "arga ",
    "argadd ", "arge ", "argedit ", "n ", "next ", "n! ", "next! ",
];

/// The file that a command of the editor opens, so that it is what a later `:w` writes to.
pub(super) fn opened(text: &str) -> Option<&str> {
    let line = text.trim_start_matches([':', ' ']);
    let line = line.strip_prefix("silent! ").or_else(|| line.strip_prefix("silent ")).unwrap_or(line);
    let file = OPENED.iter().find_map(|word| line.strip_prefix(word))?.trim();
    (!file.is_empty() && !file.starts_with(['!', '+', '#', '%'])).then_some(file)
}

/// What is sent to an editor that runs already, as far as it leads out of the editor: keys behind a colon are a command of its own, others may be
/// typed into a terminal that it shows (`--remote-send`, `--remote-expr`: `:help clientserver` of Vim, `:help remote` of Neovim).
pub(super) fn sent(machine: &mut Machine<'_>, call: &Call) {
    let texts = |option: &'static str| {
        call.arguments.values(&[option]).filter_map(Value::as_exact).map(str::to_owned).collect::<Vec<_>>()
    };
    for expression in texts("--remote-expr") {
        machine.possibly(|machine| machine.cut_loose(|machine| run(machine, &expression, &Input::Inherited)));
    }
    for keys in texts("--remote-send") {
        for line in lines_of_keys(&keys) {
            machine.possibly(|machine| {
                machine.cut_loose(|machine| match line.split_once(':') {
                    Some((_, command)) => run_command(machine, command),
                    None if begins_with_program(&line) => {
                        machine.run_text(&Value::exact(line.as_str()), Input::Inherited);
                    }
                    None => {}
                });
            });
        }
    }
}

/// The lines that keys come to, without the keys that only lead to another mode.
fn lines_of_keys(keys: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut rest = keys;
    while let Some(letter) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|inner| inner.split_once('>'));
        let named =
            named.filter(|(name, _)| !name.is_empty() && name.len() <= 12 && !name.contains([' ', '<']));
        let (key, behind) = match named {
            Some((name, behind)) => (name.to_ascii_lowercase(), behind),
            None => (letter.to_string(), rest.get(letter.len_utf8()..).unwrap_or_default()),
        };
        let last = lines.last_mut();
        match (key.as_str(), last) {
            ("cr" | "enter" | "return" | "nl" | "\r" | "\n", _) => lines.push(String::new()),
            ("space", Some(line)) => line.push(' '),
            ("bar", Some(line)) => line.push('|'),
            ("lt", Some(line)) => line.push('<'),
            ("bslash", Some(line)) => line.push('\\'),
            (_, Some(line)) if named.is_none() => line.push(letter),
            (_, Some(_) | None) => {}
        }
        rest = behind;
    }
    lines.retain(|line| !line.trim().is_empty());
    lines
}

/// Carries out what a command line of the editor does by functions and other languages, with a text in the buffer.
pub(super) fn run(machine: &mut Machine<'_>, text: &str, buffer: &Input) {
    for (name, act) in FUNCTIONS {
        for arguments in calls(text, name) {
            carry_out(machine, *act, &arguments);
        }
    }
    let line = text.trim_start_matches(|c: char| c.is_ascii_digit() || " :%,$.".contains(c));
    let line = ["silent! ", "silent ", "sil! ", "sil ", "noautocmd "]
        .iter()
        .fold(line, |line, word| line.strip_prefix(word).unwrap_or(line));
    // `exe "!ls"` carries out a text, and `au VimLeave * !ls` a command later.
    let behind_execute = ["exe ", "exec ", "execute "].iter().find_map(|word| line.strip_prefix(word));
    if let Some(Some(inner)) = behind_execute.map(|rest| arguments(rest).into_iter().next().flatten()) {
        run_command(machine, &inner);
    }
    if ["au ", "aut ", "auto ", "autocmd ", "au! ", "autocmd! "].iter().any(|word| line.starts_with(word)) {
        let later = line.splitn(4, char::is_whitespace).nth(3).unwrap_or_default();
        let later = later.trim_start_matches("++once ").trim_start_matches("++nested ");
        machine.possibly(|machine| run_command(machine, later));
    }
    if matches!(line, "w !sh" | "w !bash" | "write !sh" | "write !bash") {
        machine.unread("the editor hands its text to a shell");
    }
    if let Some(command) = SHELLS.iter().find_map(|start| line.strip_prefix(start)) {
        machine.run_text(&Value::exact(command), Input::Inherited);
    }
    if let Some(command) = HANDED.iter().find_map(|start| line.strip_prefix(start)) {
        machine.run_text(&Value::exact(command), buffer.clone());
    }
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if let Some((_, program, option)) = LANGUAGES.iter().find(|(words, ..)| words.contains(&word)) {
        let words = [*program, *option, rest].map(Value::exact);
        machine.run_words(&words, Input::Inherited);
    }
}

/// The greatest number of lines of a file of commands that are carried out (ours).
const LINES: usize = 2_000;

/// Carries out the commands that stand in a file: `:source`, `-S`, `-u`.
pub(super) fn source(machine: &mut Machine<'_>, program: &str, file: &Value) {
    let Output::Text(Value::Exact(text)) = machine.read_code(file) else {
        machine.opaque(format!("`{program}` runs code of its own"));
        return;
    };
    for (place, line) in text.lines().enumerate() {
        if place == LINES {
            machine.unread(format!("`{program}` runs more lines of a file than are looked at"));
            break;
        }
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('"') {
            machine.possibly(|machine| run_command(machine, line));
        }
    }
}

/// What stands for the keys that a user would type: the input, and the file of `-s`. As `ex`, or with `-e`, each line is a command; else a
/// command stands behind a colon.
pub(super) fn typed(machine: &mut Machine<'_>, call: &Call) -> Vec<Value> {
    const EDITORS: &[&str] = &["vi", "vim", "nvim", "view", "ex", "gvim", "rvim", "rview", "nvi", "vimdiff"];
    if !EDITORS.contains(&call.program.as_str()) {
        return Vec::new();
    }
    let is_ex = call.program == "ex" || call.arguments.has(&["-e", "-E", "-es", "-Es", "-se"]);
    let keys = call.words.windows(2).find_map(|pair| match pair {
        [option, file] if !is_ex && option.as_exact() == Some("-s") => Some(file.clone()),
        _ => None,
    });
    let is_input = |file: &Value| matches!(file.as_exact(), Some("-" | "/dev/stdin" | "/dev/fd/0"));
    // With `-` the input is the text that is edited.
    let edits_input = call.words.iter().any(|word| word.as_exact() == Some("-"));
    let text = match keys {
        Some(file) if !is_input(&file) => match machine.read_code(&file) {
            Output::Text(text) => text,
            _ => Value::Unknown,
        },
        Some(_) | None if edits_input => return Vec::new(),
        Some(_) | None => match &call.input {
            Input::Inherited => return Vec::new(),
            Input::Text(text) => text.clone(),
            Input::Local(file) => match machine.read_code(&Value::exact(file)) {
                Output::Text(text) => text,
                _ => Value::Unknown,
            },
            Input::Network(_) | Input::Secret(_) | Input::Unknown => Value::Unknown,
        },
    };
    let Some(text) = text.as_exact() else {
        machine.unread(format!("`{}` carries out what comes in, which is not known", call.program));
        return Vec::new();
    };
    let lines = text.split(['\n', '\r']).take(LINES);
    if is_ex {
        return lines.filter(|line| !line.trim().is_empty()).map(Value::exact).collect();
    }
    // `!!` filters the line through a program.
    let behind = |line: &str| {
        let command = line.split_once(':').map(|(_, command)| command.to_owned());
        command.or_else(|| line.split_once("!!").map(|(_, command)| format!("!{command}")))
    };
    lines.filter_map(behind).map(Value::exact).collect()
}

/// Carries out one command of the editor, also one of the shell.
fn run_command(machine: &mut Machine<'_>, text: &str) {
    let plain =
        text.trim_start_matches([':', ' ']).trim_start_matches("silent ").trim_start_matches("silent! ");
    match plain.strip_prefix('!') {
        Some(command) => {
            machine.run_text(&Value::exact(command), Input::Inherited);
        }
        None => run(machine, plain, &Input::Inherited),
    }
}

fn carry_out(machine: &mut Machine<'_>, act: Act, arguments: &[Option<String>]) {
    let value = |machine: &Machine<'_>, index: usize| match arguments.get(index) {
        Some(Some(text)) => Value::Exact(match text.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", machine.world().place().home),
            None => text.clone(),
        }),
        Some(None) | None => Value::Unknown,
    };
    let first = value(machine, 0);
    match act {
        Act::Write(index) => {
            let file = value(machine, index);
            if file.as_exact().is_some() {
                machine.write(&file);
            } else {
                machine.opaque("the editor writes to a file whose name is not known");
            }
        }
        Act::Delete => {
            let is_recursive = arguments.get(1).is_some_and(|flags| flags.as_deref() == Some("rf"));
            machine.delete(&first, if is_recursive { Depth::Recursive } else { Depth::Single });
        }
        Act::Move => {
            let words = [Value::exact("mv"), first, value(machine, 1)];
            machine.run_words(&words, Input::Inherited);
        }
        Act::Copy => {
            let words = [Value::exact("cp"), first, value(machine, 1)];
            machine.run_words(&words, Input::Inherited);
        }
        Act::MakeDirectory => machine.make_directory(&first),
        Act::Run => {
            machine.run_text(&first, Input::Inherited);
        }
        Act::Unread => machine.opaque("the editor runs code of another language"),
    }
}

/// The arguments of each call of a function in a text: those that are one text in quotes, by their value.
fn calls(text: &str, name: &str) -> Vec<Vec<Option<String>>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(name)).map(|at| at + from) {
        from = at + name.len();
        let is_part = text
            .get(..at)
            .and_then(|before| before.chars().last())
            .is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | '#' | ':' | '.'));
        let behind = text.get(from..).unwrap_or_default();
        if let (false, Some(inner)) = (is_part, behind.strip_prefix('(')) {
            found.push(arguments(inner));
        }
    }
    found
}

/// The arguments up to the bracket that closes them.
fn arguments(text: &str) -> Vec<Option<String>> {
    let mut parts: Vec<Option<String>> = vec![None];
    let mut depth = 0_usize;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' => {
                let mut literal = String::new();
                while let Some(next) = letters.next() {
                    match next {
                        '\\' if letter == '"' => literal.extend(letters.next()),
                        next if next == letter => break,
                        next => literal.push(next),
                    }
                }
                if depth == 0
                    && let Some(last) = parts.last_mut()
                {
                    *last = Some(literal);
                }
            }
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => break,
            },
            ',' if depth == 0 => parts.push(None),
            _ => {}
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_to_lines() {
        for (keys, lines) in [
            (":!ls -l<CR>", &[":!ls -l"][..]),
            ("<Esc>:w<CR>:!ls<Enter>", &[":w", ":!ls"]),
            ("<C-\\><C-N>:e<Space>x<CR>", &[":e x"]),
            ("ls -l\r", &["ls -l"]),
            (":echo 1 < 2<CR>", &[":echo 1 < 2"]),
            ("<Esc>", &[]),
        ] {
            assert_eq!(super::lines_of_keys(keys), lines, "{keys}");
        }
    }

    #[test]
    fn calls_are_found_with_their_texts() {
        let literal = |text: &str| Some(text.to_owned());
        assert_eq!(calls("call writefile(['a', \"b)\"], '/x')", "writefile"), [vec![None, literal("/x")]]);
        assert_eq!(calls("call delete('a', 'rf') | q", "delete"), [vec![literal("a"), literal("rf")]]);
        assert!(calls("call bufdelete(1) | undelete(2)", "delete").is_empty());
    }
}
