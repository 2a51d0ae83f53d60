//! `sed`: in-place editing, and the commands of a script that write files or run commands.

use crate::effect::EffectKind;
use crate::interpreter::filters::{Editor, edit_takes_values_away};
use crate::interpreter::{Call, Exit, Input, Machine, Value};

use super::{Content, edit_in_place, keeps_names, leaves_names, with_edited_texts};
use crate::programs::instructions::instructions;

/// `sed`
pub(crate) fn sed(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let mut scripts: Vec<Value> = arguments.values(&["-e", "--expression"]).cloned().collect();
    for file in arguments.values(&["-f", "--file"]) {
        machine.read(file);
        let text = machine.one_path_through(file).and_then(|path| instructions(machine, &path));
        scripts.push(text.map_or(Value::Unknown, Value::Exact));
    }
    let mut files: &[Value] = &arguments.operands;
    if scripts.is_empty() {
        let Some((script, rest)) = files.split_first() else { return Exit::unknown() };
        scripts.push(script.clone());
        files = rest;
    }
    // BSD sed takes the suffix as the next word: `sed -i '' s/a/b/ file`.
    let bsd =
        arguments.has(&["-i"]) && scripts.first().and_then(Value::as_exact) == Some("") && !files.is_empty();
    if bsd
        && arguments.values(&["-e", "--expression", "-f", "--file"]).next().is_none()
        && let Some((script, rest)) = files.split_first()
    {
        scripts = vec![script.clone()];
        files = rest;
    }
    // What a script edits goes back into the file, unless it puts lines elsewhere; one in a file may do that.
    let may_go = arguments.has(&["-f", "--file", "--debug"]);
    let extended = arguments.has(&["-E", "-r", "--regexp-extended"]);
    let editor = if extended { Editor::ExtendedSed } else { Editor::Sed };
    let known: Option<Vec<&str>> = scripts.iter().map(Value::as_exact).collect();
    let is_plain = !arguments.has(&["-n", "--quiet", "--silent", "-z", "--null-data", "--follow-symlinks"]);
    let leaves_names_alone = known.is_some_and(|scripts| {
        edit_takes_values_away(editor, &scripts)
            || is_plain
                && arguments.has(&["-i", "--in-place", "-I"])
                && leaves_names(machine, files, editor, &scripts)
    });
    let mut content = if may_go { Content::MayGo } else { Content::Kept };
    for script in &scripts {
        // `w /dev/stdout` prints, and another name hides what is secret from who reads the file next.
        let keeps = |text: &str| !text.contains("/dev/") && keeps_names(text);
        if !leaves_names_alone && !script.as_exact().is_some_and(keeps) {
            content = Content::MayGo;
        }
        let known = match script {
            Value::Between { prefix, suffix } => format!("{prefix}{HOLE}{suffix}"),
            script => script.as_exact().unwrap_or_default().to_owned(),
        };
        for act in acts(&known) {
            content = Content::MayGo;
            match act {
                Act::Write(file) => machine.write(&filled(&file)),
                Act::Read(file) => {
                    machine.read(&filled(&file));
                }
                Act::Run(command) if command.is_empty() => {
                    machine.unread("`sed` runs lines of its input as commands");
                }
                Act::Run(command) => {
                    machine.run_text(&filled(&command), Input::Unknown);
                }
            }
        }
    }
    let in_place = arguments.has(&["-i", "--in-place", "-I"]);
    if in_place {
        let suffix = arguments.value(&["-i", "--in-place", "-I"]).cloned();
        let known: Option<Vec<&str>> = scripts.iter().map(Value::as_exact).collect();
        let known = known.filter(|_| is_plain).unwrap_or_default();
        // Without a script that is known nothing is worked out.
        let edited: &[Value] = if known.is_empty() { &[] } else { files };
        with_edited_texts(machine, edited, editor, &known, |machine| {
            if arguments.has(&["--follow-symlinks"]) {
                files.iter().for_each(|file| machine.effect(EffectKind::FileModify, file));
            } else {
                edit_in_place(machine, files, suffix.as_ref(), content);
            }
        });
        return Exit::silent();
    }
    for file in files {
        machine.read(file);
    }
    Exit::unknown()
}

/// Stands for a part of a script that is not known: a letter that no script holds, and no command.
const HOLE: char = '\u{f8ff}';

/// A word of a script, parts of which may not be known.
fn filled(word: &str) -> Value {
    let mut parts = word.split(HOLE);
    let first = Value::exact(parts.next().unwrap_or_default());
    parts.fold(first, |before, part| before.followed_by(&Value::Unknown).followed_by(&Value::exact(part)))
}

/// What a script does besides editing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Act {
    Write(String),
    Read(String),
    /// A command; empty when lines of the input are run.
    Run(String),
}

fn acts(script: &str) -> Vec<Act> {
    let mut reader = Reader { rest: script.chars().peekable() };
    let mut found = Vec::new();
    while let Some(c) = reader.command() {
        match c {
            'w' | 'W' => found.push(Act::Write(reader.line())),
            'r' | 'R' => found.push(Act::Read(reader.line())),
            'e' => found.push(Act::Run(reader.line())),
            's' => reader.substitution(&mut found),
            'y' => {
                if let Some(delimiter) = reader.rest.next() {
                    reader.until(delimiter);
                    reader.until(delimiter);
                }
            }
            'a' | 'i' | 'c' => {
                reader.text();
            }
            'b' | 't' | 'T' | ':' => {
                reader.label();
            }
            '#' => {
                reader.line();
            }
            _ => {}
        }
    }
    found.retain(|act| {
        *act != Act::Write("/dev/stdout".to_owned()) && *act != Act::Write("/dev/stderr".to_owned())
    });
    found
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Reader<'_> {
    /// The next command letter, behind its addresses.
    fn command(&mut self) -> Option<char> {
        loop {
            match self.rest.next()? {
                '/' => self.until('/'),
                '\\' => {
                    let delimiter = self.rest.next()?;
                    self.until(delimiter);
                }
                c if c.is_whitespace() || c.is_ascii_digit() || ";{},$!~+".contains(c) => {}
                // Flags of an address: `/x/I`.
                'I' | 'M' => {}
                c => return Some(c),
            }
        }
    }

    fn until(&mut self, delimiter: char) {
        let mut in_class = false;
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => {
                    self.rest.next();
                }
                '[' if !in_class => {
                    in_class = true;
                    // A bracket right behind the beginning stands for itself.
                    if self.rest.peek() == Some(&'^') {
                        self.rest.next();
                    }
                    if self.rest.peek() == Some(&']') {
                        self.rest.next();
                    }
                }
                ']' => in_class = false,
                c if c == delimiter && !in_class => return,
                _ => {}
            }
        }
    }

    fn until_plain(&mut self, delimiter: char) {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => {
                    self.rest.next();
                }
                c if c == delimiter => return,
                _ => {}
            }
        }
    }

    fn substitution(&mut self, found: &mut Vec<Act>) {
        let Some(delimiter) = self.rest.next() else { return };
        self.until(delimiter);
        self.until_plain(delimiter);
        while let Some(c) = self.rest.peek().copied() {
            match c {
                'w' => {
                    self.rest.next();
                    found.push(Act::Write(self.line()));
                    return;
                }
                'e' => {
                    self.rest.next();
                    found.push(Act::Run(String::new()));
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => {
                    self.rest.next();
                }
                _ => return,
            }
        }
    }

    fn line(&mut self) -> String {
        let mut text = String::new();
        for c in self.rest.by_ref() {
            if c == '\n' {
                break;
            }
            text.push(c);
        }
        text.trim().to_owned()
    }

    /// The text of `a`, `i`, `c`: to the end of the line, or of the last continued line.
    fn text(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => {
                    self.rest.next();
                }
                '\n' => return,
                _ => {}
            }
        }
    }

    fn label(&mut self) {
        for c in self.rest.by_ref() {
            if c == '\n' || c == ';' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_searched_for_acts() {
        assert_eq!(acts("s/a/b/g; 3,5d"), []);
        assert_eq!(acts("s/w/e/"), []);
        assert_eq!(acts("s|x|y|w out.txt"), [Act::Write("out.txt".to_owned())]);
        assert_eq!(acts("/e w/s/a/b/e"), [Act::Run(String::new())]);
        assert_eq!(
            acts("1e rm -rf x\n$!w log"),
            [Act::Run("rm -rf x".to_owned()), Act::Write("log".to_owned())]
        );
        assert_eq!(acts("/x/a\\\nwrite me\ns/[/]w x/y/"), []);
        assert_eq!(acts("w /dev/stdout"), []);
        assert_eq!(acts(":a;N;$!ba;s/\\n/ /g"), []);
    }
}
