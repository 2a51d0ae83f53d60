//! Reads what strace wrote: programs that were started, files that were read, connections.

use std::collections::{BTreeMap, BTreeSet};

/// What was traced of a use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The paths of the programs that were started, the shell of the use left out.
    pub started: BTreeSet<String>,
    /// The paths of the files that were opened to be read.
    pub read: BTreeSet<String>,
    /// The addresses outside of this machine that somebody tried to reach.
    pub reached: BTreeSet<String>,
}

impl Trace {
    /// Reads a trace of `strace -f -y`.
    pub fn parse(text: &str) -> Self {
        let mut trace = Self::default();
        let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let Some((process, call)) = line.split_once(' ') else { continue };
            let call = call.trim_start();
            // A call during which another process did something stands in two lines.
            if let Some(first) = call.strip_suffix("<unfinished ...>") {
                begun.insert(process, first);
            }
            let end = call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"));
            let whole = end.and_then(|(_, rest)| Some(format!("{}{rest}", begun.remove(process)?)));
            let call = whole.as_deref().unwrap_or(call);
            if let Some(rest) = call.strip_prefix("execve(") {
                // The first is the shell.
                if number > 0
                    && has_succeeded(call)
                    && let Some(path) = quoted(rest)
                {
                    trace.started.insert(path);
                }
            } else if call.starts_with("open") {
                if call.contains("O_RDONLY") | call.contains("O_RDWR")
                    && !call.contains("O_DIRECTORY")
                    && let Some(path) = opened(call)
                {
                    trace.read.insert(path);
                }
            } else if call.starts_with("connect(") {
                trace.reached.extend(address(call));
            }
        }
        trace
    }
}

/// Whether a call did what it was to do; one that was interrupted by another line is taken to have.
fn has_succeeded(call: &str) -> bool {
    call.rsplit_once(" = ").is_none_or(|(_, answer)| !answer.starts_with('-'))
}

/// The text of the first quotes.
fn quoted(text: &str) -> Option<String> {
    text.split('"').nth(1).map(str::to_owned)
}

/// The path behind the number of the file that was opened.
fn opened(call: &str) -> Option<String> {
    let (_, answer) = call.rsplit_once(" = ")?;
    let (number, rest) = answer.split_once('<')?;
    number.parse::<u32>().ok()?;
    Some(rest.trim_end().trim_end_matches('>').to_owned())
}

/// The address of a connection that is not to this machine.
fn address(call: &str) -> Option<String> {
    if !call.contains("AF_INET") {
        return None;
    }
    let at = call.find("inet_addr(").or_else(|| call.find("inet_pton("))?;
    let address = call.get(at..)?.split('"').nth(1)?;
    let is_here = address.starts_with("127.") || matches!(address, "::1" | "0.0.0.0" | "::");
    if call.contains("htons(53)") {
        // Which one it is depends on the machine, and who is asked for is not known here.
        return Some("a name server".to_owned());
    }
    (!is_here).then(|| address.to_owned())
}
