//! The words of `kill` and its kin.

use super::guarded::PARENT;
use super::value::Value;

/// Whether the words of `kill` end the shell that runs it: by its own number, or with its group.
pub(crate) fn may_end_shell(words: &[Value]) -> bool {
    signal(words, &[]).is_some_and(|signal| {
        !signal.harmless
            && !signal.reloads
            && signal
                .targets
                .iter()
                .any(|target| matches!(target.as_exact(), Some("$$" | "0" | "-$$" | "-1")))
    })
}

/// Signals that nothing happens at, or that only let a process go on (signal(7), "Ign" and "Cont").
const HARMLESS: &[&str] = &[
    "0", "WINCH", "SIGWINCH", "28", "CONT", "SIGCONT", "18", "CHLD", "SIGCHLD", "17", "URG", "SIGURG", "23",
];

/// Signals that many services take for an order, to read their settings again; what does not know of them ends (signal(7), "Term").
const RELOADING: &[&str] = &["HUP", "1", "SIGHUP", "USR1", "SIGUSR1", "10", "USR2", "SIGUSR2", "12"];

/// Signals that hold a process up until somebody lets it go on (signal(7), "Stop"): it neither ends nor answers.
const SUSPENDING: &[&str] = &["STOP", "19", "TSTP", "20", "TTIN", "21", "TTOU", "22"];

/// Whether a signal of this name or number holds a process up.
pub fn suspends(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SUSPENDING.contains(&name.strip_prefix("SIG").unwrap_or(&name))
}

/// What the words of `kill` and its kin mean.
pub struct Signal<'a> {
    /// Whether it ends nothing.
    pub harmless: bool,
    /// Whether it ends only what does not take it for an order.
    pub reloads: bool,
    /// Whether it holds up what it reaches, or may: which signal it is need not be known.
    pub suspends: bool,
    /// The processes that are named.
    pub targets: Vec<&'a Value>,
}

impl Signal<'_> {
    fn name(&mut self, name: &str) {
        self.harmless = HARMLESS.contains(&name);
        self.reloads = RELOADING.contains(&name);
        self.suspends = suspends(name);
    }
}

/// Reads `-9`, `-s KILL`, `-KILL`, `--signal=9`; the other words are the targets. `values` are other options with a value: `kill` has none,
/// and only there `-n` names a signal (it is the newest process for `pkill`, a space of names for `killall`).
pub fn signal<'a>(words: &'a [Value], values: &[&str]) -> Option<Signal<'a>> {
    let mut found = Signal { harmless: false, reloads: false, suspends: false, targets: Vec::new() };
    let mut index = 0;
    let mut signalled = false;
    let is_kill = values.is_empty();
    while let Some(word) = words.get(index) {
        index += 1;
        let Some(text) = word.as_exact() else {
            found.suspends |= !signalled && found.targets.is_empty() && word.known_start().starts_with('-');
            found.targets.push(word);
            continue;
        };
        match text {
            "-l" | "-L" | "--list" | "--table" | "--help" | "--version" | "-V" => return None,
            "--" => {
                found.targets.extend(words.get(index..).unwrap_or_default());
                break;
            }
            "-n" if !is_kill => index += usize::from(values.contains(&text)),
            "-s" | "--signal" | "-n" => {
                signalled = true;
                match words.get(index).map(Value::as_exact) {
                    Some(None) => found.suspends = true,
                    Some(Some(name)) => found.name(name),
                    None => found.name("TERM"),
                }
                index += 1;
            }
            _ if values.contains(&text) => index += 1,
            // Behind the first process `kill` of a shell takes a number with a sign for a group, `-1` for all.
            _ if is_kill && (!found.targets.is_empty() || text.starts_with("-$")) && is_group(text) => {
                found.targets.push(word);
            }
            _ if text.starts_with('-') && text.len() > 1 => {
                let name = text.trim_start_matches('-').trim_start_matches("signal=");
                let is_name = name.chars().all(|c| c.is_ascii_digit())
                    || name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
                    || name.len() > 1 && suspends(name);
                if is_name && !signalled {
                    signalled = true;
                    found.name(name);
                } else if is_name {
                    found.targets.push(word);
                }
            }
            _ => found.targets.push(word),
        }
    }
    Some(found)
}

fn is_group(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|number| {
        matches!(number, PARENT | "$$") || !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    })
}
