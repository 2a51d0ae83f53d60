//! Files in which clients name MCP servers: a server is put behind the gateway, and back, by a change of its command alone.
//!
//! The words of the command move as they are written, so that what comes back is what stood there, byte for byte. The program becomes
//! `checkrein`, and the words `mcp --name NAME --` and the old program come before its arguments. Where there were no arguments the name is
//! written `--name=NAME`: by this the list goes again.

mod read;

use std::fmt::Write as _;
use std::ops::Range;

use crate::adapter::{ClientPath, SettingsScope};
use crate::error::SettingsError;

/// A file in which a client names MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct ServerFile {
    /// Whom it is for.
    pub scope: SettingsScope,
    /// Where it is.
    pub place: ClientPath,
    /// How servers are written down in it.
    pub form: ServerForm,
}

/// How servers are written down.
#[derive(Debug, Clone, Copy)]
pub enum ServerForm {
    /// JSON, with comments where the client reads these: objects of servers behind these keys, `*` for every one. A server has `command` and
    /// `args`.
    Json(&'static [&'static [&'static str]]),
    /// The same, and `command` is a list with all words.
    JsonWords(&'static [&'static [&'static str]]),
    /// TOML: tables below `mcp_servers`, with `command` and `args`.
    Toml,
}

/// A server in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedServer {
    /// The name that the client has for it.
    pub name: String,
    /// How its calls go.
    pub way: ServerWay,
}

/// How the calls of a server go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerWay {
    /// Through the gateway.
    Gateway,
    /// Directly to a process that the client starts.
    Direct,
    /// To an address: the client signs in there by itself.
    Remote,
    /// Nobody can tell: why.
    Unclear(&'static str),
}

/// A text as it is written in a file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    range: Range<usize>,
    value: String,
}

/// A list of texts in a file: from bracket to bracket.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WrittenList {
    range: Range<usize>,
    items: Vec<Written>,
}

/// How the command of a server is written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WrittenCommand {
    /// A program, and a list of its arguments where there is one. `between` is what stands between the two where we write the list.
    Program {
        program: Written,
        arguments: Option<WrittenList>,
        between: &'static str,
    },
    /// One list.
    Words(WrittenList),
    Remote,
    Unclear(&'static str),
}

/// A server as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WrittenServer {
    name: String,
    command: WrittenCommand,
}

/// One change of a text.
type Edit = (Range<usize>, String);

/// The word of the command line of the gateway.
const GATEWAY: &str = "mcp";

impl ServerForm {
    /// Returns the servers that a file names, in their order. An empty text names none. Fails where it cannot be read as a whole.
    pub fn servers(self, text: &str) -> Result<Vec<NamedServer>, SettingsError> {
        let written = read::servers(self, text)?;
        Ok(written.into_iter().map(|server| NamedServer { way: way(&server), name: server.name }).collect())
    }

    /// Returns the text with the servers behind the gateway whose program this is. One that is behind it already gets this program.
    pub fn behind(self, text: &str, program: &str) -> Result<String, SettingsError> {
        let edits =
            read::servers(self, text)?.iter().flat_map(|server| behind(server, text, program)).collect();
        self.checked(text, edits)
    }

    /// Returns the text with the servers as they were before.
    pub fn direct(self, text: &str) -> Result<String, SettingsError> {
        let edits = read::servers(self, text)?.iter().flat_map(|server| direct(server, text)).collect();
        self.checked(text, edits)
    }

    /// The text with these changes, when it still names the same servers.
    fn checked(self, text: &str, mut edits: Vec<Edit>) -> Result<String, SettingsError> {
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut changed = text.to_owned();
        for (range, new) in edits {
            changed.replace_range(range, &new);
        }
        let names = |text: &str| -> Result<Vec<String>, SettingsError> {
            Ok(read::servers(self, text)?.into_iter().map(|server| server.name).collect())
        };
        if changed != text && names(&changed)? != names(text)? {
            return Err(SettingsError::WrongType {
                key: "the servers".to_owned(),
                expected: "written in a known way",
            });
        }
        Ok(changed)
    }
}

fn way(server: &WrittenServer) -> ServerWay {
    match &server.command {
        WrittenCommand::Remote => ServerWay::Remote,
        WrittenCommand::Unclear(why) => ServerWay::Unclear(why),
        command if place(command).is_some() => ServerWay::Gateway,
        WrittenCommand::Program { .. } | WrittenCommand::Words(_) => ServerWay::Direct,
    }
}

/// Where the words of the server begin in the list of a server behind the gateway; `None` where it is not.
fn place(command: &WrittenCommand) -> Option<usize> {
    let (program, rest, skipped) = match command {
        WrittenCommand::Program { program, arguments: Some(arguments), .. } => {
            (program, &arguments.items[..], 0)
        }
        WrittenCommand::Words(words) => {
            let (program, rest) = words.items.split_first()?;
            (program, rest, 1)
        }
        WrittenCommand::Program { arguments: None, .. }
        | WrittenCommand::Remote
        | WrittenCommand::Unclear(_) => {
            return None;
        }
    };
    let is_ours = program.value.rsplit('/').next() == Some("checkrein")
        && rest.first().is_some_and(|word| word.value == GATEWAY);
    let end = rest.iter().position(|word| word.value == "--").filter(|_| is_ours)?;
    rest.get(end + 1).map(|_| end + 1 + skipped)
}

fn behind(server: &WrittenServer, text: &str, program: &str) -> Vec<Edit> {
    let raw = |written: &Written| text.get(written.range.clone()).unwrap_or_default().to_owned();
    let ours = quoted(program);
    if place(&server.command).is_some() {
        let own = match &server.command {
            WrittenCommand::Program { program, .. } => Some(program),
            WrittenCommand::Words(words) => words.items.first(),
            WrittenCommand::Remote | WrittenCommand::Unclear(_) => None,
        };
        let stale = own.filter(|own| own.value != program);
        return stale.map(|own| (own.range.clone(), ours)).into_iter().collect();
    }
    match &server.command {
        WrittenCommand::Program { program: own, arguments: Some(list), .. } => {
            let words = format!("\"mcp\", \"--name\", {}, \"--\", {}", quoted(&server.name), raw(own));
            vec![(own.range.clone(), ours), opened(list, words)]
        }
        WrittenCommand::Program { program: own, arguments: None, between } => {
            let name = quoted(&format!("--name={}", server.name));
            let list = format!("{ours}{between}[\"mcp\", {name}, \"--\", {}]", raw(own));
            vec![(own.range.clone(), list)]
        }
        WrittenCommand::Words(list) if !list.items.is_empty() => {
            vec![opened(list, format!("{ours}, \"mcp\", \"--name\", {}, \"--\"", quoted(&server.name)))]
        }
        WrittenCommand::Words(_) | WrittenCommand::Remote | WrittenCommand::Unclear(_) => Vec::new(),
    }
}

/// The change that puts words at the beginning of a list.
fn opened(list: &WrittenList, mut words: String) -> Edit {
    if !list.items.is_empty() {
        words.push_str(", ");
    }
    let start = list.range.start + 1;
    (start..start, words)
}

fn direct(server: &WrittenServer, text: &str) -> Vec<Edit> {
    let Some(at) = place(&server.command) else { return Vec::new() };
    let raw = |range: Range<usize>| text.get(range).unwrap_or_default();
    match &server.command {
        WrittenCommand::Program { program, arguments: Some(list), between } => {
            let Some(own) = list.items.get(at) else { return Vec::new() };
            let command = raw(own.range.clone()).to_owned();
            let is_made = list.items.get(1).is_some_and(|word| word.value.starts_with("--name="));
            if is_made && at + 1 == list.items.len() && raw(program.range.end..list.range.start) == *between {
                return vec![(program.range.start..list.range.end, command)];
            }
            let start = list.range.start + 1;
            vec![(program.range.clone(), command), (start..behind_comma(text, own.range.end), String::new())]
        }
        WrittenCommand::Words(list) => {
            let Some(dashes) = at.checked_sub(1).and_then(|place| list.items.get(place)) else {
                return Vec::new();
            };
            let start = list.range.start + 1;
            vec![(start..behind_comma(text, dashes.range.end), String::new())]
        }
        WrittenCommand::Program { arguments: None, .. }
        | WrittenCommand::Remote
        | WrittenCommand::Unclear(_) => Vec::new(),
    }
}

/// The place behind the comma that stands here, and behind one blank: where there is none, the place itself.
fn behind_comma(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    match rest.strip_prefix(',') {
        Some(rest) if rest.starts_with(' ') => at + 2,
        Some(_) => at + 1,
        None => at,
    }
}

/// A text as JSON and TOML both write it.
fn quoted(text: &str) -> String {
    let mut written = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                written.push('\\');
                written.push(letter);
            }
            letter if u32::from(letter) < 0x20 || letter == '\u{7f}' => {
                // A text takes every letter.
                let _ = write!(written, "\\u{:04x}", u32::from(letter));
            }
            letter => written.push(letter),
        }
    }
    written.push('"');
    written
}

#[cfg(test)]
mod tests;
