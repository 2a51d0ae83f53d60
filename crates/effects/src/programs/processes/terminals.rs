//! `tmux`: its commands may be cut, hold commands of a shell and of its own, and carry out what stands in `#(...)`.
//!
//! Source: tmux(1) 3.5, "COMMANDS", "FORMATS", "PARSING SYNTAX", `tmux list-commands`.

use super::super::containers::skip_options;
use super::run_as_text_or_words;
use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::strings::quoted_words;
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};

/// The greatest depth of commands in commands (ours).
const DEPTH: usize = 8;

/// Names of commands with their short forms.
const COMMANDS: &[(&str, &str)] = &[
    ("attach-session", "attach"),
    ("bind-key", "bind"),
    ("break-pane", "breakp"),
    ("capture-pane", "capturep"),
    ("choose-buffer", ""),
    ("choose-client", ""),
    ("choose-tree", ""),
    ("clear-history", "clearhist"),
    ("clear-prompt-history", "clearphist"),
    ("clock-mode", ""),
    ("command-prompt", ""),
    ("confirm-before", "confirm"),
    ("copy-mode", ""),
    ("customize-mode", ""),
    ("delete-buffer", "deleteb"),
    ("detach-client", "detach"),
    ("display-menu", "menu"),
    ("display-message", "display"),
    ("display-popup", "popup"),
    ("display-panes", "displayp"),
    ("find-window", "findw"),
    ("has-session", "has"),
    ("if-shell", "if"),
    ("join-pane", "joinp"),
    ("kill-pane", "killp"),
    ("kill-server", ""),
    ("kill-session", ""),
    ("kill-window", "killw"),
    ("last-pane", "lastp"),
    ("last-window", "last"),
    ("link-window", "linkw"),
    ("list-buffers", "lsb"),
    ("list-clients", "lsc"),
    ("list-commands", "lscm"),
    ("list-keys", "lsk"),
    ("list-panes", "lsp"),
    ("list-sessions", "ls"),
    ("list-windows", "lsw"),
    ("load-buffer", "loadb"),
    ("lock-client", "lockc"),
    ("lock-server", "lock"),
    ("lock-session", "locks"),
    ("move-pane", "movep"),
    ("move-window", "movew"),
    ("new-session", "new"),
    ("new-window", "neww"),
    ("next-layout", "nextl"),
    ("next-window", "next"),
    ("paste-buffer", "pasteb"),
    ("pipe-pane", "pipep"),
    ("previous-layout", "prevl"),
    ("previous-window", "prev"),
    ("refresh-client", "refresh"),
    ("rename-session", "rename"),
    ("rename-window", "renamew"),
    ("resize-pane", "resizep"),
    ("resize-window", "resizew"),
    ("respawn-pane", "respawnp"),
    ("respawn-window", "respawnw"),
    ("rotate-window", "rotatew"),
    ("run-shell", "run"),
    ("save-buffer", "saveb"),
    ("select-layout", "selectl"),
    ("select-pane", "selectp"),
    ("select-window", "selectw"),
    ("send-keys", "send"),
    ("send-prefix", ""),
    ("server-access", ""),
    ("set-buffer", "setb"),
    ("set-environment", "setenv"),
    ("set-hook", ""),
    ("set-option", "set"),
    ("set-window-option", "setw"),
    ("show-buffer", "showb"),
    ("show-environment", "showenv"),
    ("show-hooks", ""),
    ("show-messages", "showmsgs"),
    ("show-options", "show"),
    ("show-prompt-history", "showphist"),
    ("show-window-options", "showw"),
    ("source-file", "source"),
    ("split-window", "splitw"),
    ("start-server", "start"),
    ("suspend-client", "suspendc"),
    ("swap-pane", "swapp"),
    ("swap-window", "swapw"),
    ("switch-client", "switchc"),
    ("unbind-key", "unbind"),
    ("unlink-window", "unlinkw"),
    ("wait-for", "wait"),
];

/// `tmux`: commands for new panes run, keys sent may run.
pub(crate) fn tmux(machine: &mut Machine<'_>, call: &Call) -> Exit {
    // A server with a socket of its own holds what was started there.
    let is_own = call.arguments.has(&["-L", "-S"]);
    if let Some(file) = call.arguments.value(&["-f"]).cloned() {
        carry_out_file(machine, &file, is_own, 0);
    }
    carry_out(machine, &call.arguments.operands, is_own, 0);
    Exit::unknown()
}

/// Carries out commands. A lone `;` stands between them, or one at the end of a word.
fn carry_out(machine: &mut Machine<'_>, operands: &[Value], is_own: bool, depth: usize) {
    if depth > DEPTH {
        machine.unread("commands of tmux hold more commands than are followed");
        return;
    }
    let mut commands: Vec<Vec<Value>> = vec![Vec::new()];
    for word in operands {
        let ended =
            word.as_exact().and_then(|text| text.strip_suffix(';')).filter(|text| !text.ends_with('\\'));
        let Some(last) = commands.last_mut() else { return };
        match ended {
            Some(text) => {
                if !text.is_empty() {
                    last.push(Value::exact(text));
                }
                commands.push(Vec::new());
            }
            None => last.push(word.clone()),
        }
    }
    let mut text = Value::exact("");
    for words in commands {
        let verb = words.first().and_then(Value::as_exact).map(full_name).unwrap_or_default();
        let spares_one = verb == "kill-session" && words.iter().any(|word| word.as_exact() == Some("-a"));
        if !is_own && (verb == "kill-server" || spares_one) {
            let target = Target::Process("tmux".to_owned());
            let all = Draft::new(EffectKind::ProcessKill, target).severity(Severity::High);
            machine.add(all.note("ends the terminals of everything else that runs in it"));
            continue;
        }
        text = text.followed_by(&command(machine, verb, &words, is_own, depth));
    }
    if text.as_exact() != Some("") {
        machine.possibly(|machine| machine.cut_loose(|machine| machine.run_text(&text, Input::Inherited)));
    }
}

/// The name of a command of which the short form or the beginning is given, where no other begins so.
fn full_name(word: &str) -> &str {
    if let Some((name, _)) = COMMANDS.iter().find(|(name, short)| *name == word || *short == word) {
        return name;
    }
    let mut beginning = COMMANDS.iter().filter(|(name, _)| name.starts_with(word));
    match (beginning.next(), beginning.next()) {
        (Some((name, _)), None) => name,
        _ => word,
    }
}

/// Whether a target of tmux is the terminal in which the command runs, or one by its number: what was made for a task has a name (tmux(1),
/// COMMANDS).
fn is_any_terminal(target: &str) -> bool {
    target == "tmux" || target.chars().all(|sign| sign.is_ascii_digit() || ":.%@$!+-=^~{}".contains(sign))
}

/// Options of a command that have a value.
fn values_of(verb: &str) -> &'static [&'static str] {
    match verb {
        "new-session" => &["-c", "-e", "-f", "-F", "-n", "-s", "-t", "-x", "-y"],
        "new-window" | "respawn-pane" | "respawn-window" => &["-c", "-e", "-F", "-n", "-t"],
        "split-window" => &["-c", "-e", "-l", "-t", "-F", "-p"],
        "display-popup" => &["-b", "-c", "-d", "-e", "-h", "-s", "-S", "-t", "-T", "-w", "-x", "-y"],
        "save-buffer" => &["-b"],
        "load-buffer" | "source-file" => &["-b", "-t"],
        "run-shell" => &["-c", "-d", "-t"],
        "send-keys" => &["-t", "-N", "-c"],
        "confirm-before" => &["-c", "-p", "-t"],
        "command-prompt" => &["-I", "-p", "-t", "-T"],
        "bind-key" => &["-N", "-T"],
        "display-menu" => &["-b", "-c", "-C", "-H", "-s", "-S", "-t", "-T", "-x", "-y"],
        "choose-tree" | "choose-client" | "choose-buffer" => &["-F", "-f", "-K", "-O", "-t"],
        _ => &["-t", "-F", "-c", "-d"],
    }
}

/// Carries out one command, of a server of its own or not; answers what it types into a terminal.
fn command(machine: &mut Machine<'_>, verb: &str, words: &[Value], is_own: bool, depth: usize) -> Value {
    let nothing = Value::exact("");
    let rest = words.get(1..).unwrap_or_default();
    let behind = skip_options(rest, values_of(verb));
    let options = rest.get(..rest.len() - behind.len()).unwrap_or_default();
    let has = |option: &str| options.iter().any(|word| word.as_exact() == Some(option));
    let value = |option: &str| {
        let at = rest.iter().position(|word| word.as_exact() == Some(option))?;
        rest.get(at + 1)?.as_exact()
    };
    if !matches!(verb, "send-keys" | "set-buffer") {
        rest.iter().for_each(|word| formats(machine, word));
    }
    match verb {
        "kill-server" | "kill-session" | "kill-window" | "kill-pane" => {
            let target = value("-t").unwrap_or("tmux");
            let draft = Draft::new(EffectKind::ProcessKill, Target::Process(target.to_owned()));
            machine.add(if !is_own && is_any_terminal(target) {
                draft.severity(Severity::High).note("may be the terminal in which the client runs")
            } else {
                draft
            });
        }
        "new-session" | "new-window" | "split-window" | "respawn-pane" | "respawn-window"
        | "display-popup" => {
            machine.cut_loose(|machine| run_as_text_or_words(machine, behind));
        }
        "save-buffer" => {
            if let Some(file) = behind.first() {
                machine.write(file);
            }
        }
        "load-buffer" => {
            if let Some(file) = behind.first() {
                machine.read(file);
            }
        }
        "source-file" => behind.iter().for_each(|file| carry_out_file(machine, file, is_own, depth)),
        "run-shell" if has("-C") => carry_out_texts(machine, behind, is_own, depth),
        "pipe-pane" => {
            // What a terminal shows goes to the command, but with `-I` alone (tmux(1), "pipe-pane").
            let input = if has("-I") { Input::Inherited } else { Input::Unknown };
            if let Some(text) = behind.first() {
                machine.run_text(text, input);
            }
        }
        "run-shell" => {
            if let Some(text) = behind.first() {
                machine.run_text(text, Input::Inherited);
            }
        }
        // The first word is a command of a shell, or a format; the others are commands of tmux.
        "if-shell" => {
            if let (Some(text), false) = (behind.first(), has("-F") || has("-bF")) {
                machine.run_text(text, Input::Inherited);
            }
            for text in behind.iter().skip(1) {
                machine
                    .possibly(|machine| carry_out_texts(machine, std::slice::from_ref(text), is_own, depth));
            }
        }
        "confirm-before" | "command-prompt" | "choose-tree" | "choose-client" | "choose-buffer" => {
            machine.possibly(|machine| carry_out_texts(machine, behind, is_own, depth));
        }
        // What a key or an event carries out stands behind its name; a menu has a name and a key before each.
        "bind-key" | "set-hook" => {
            let texts = behind.get(1..).unwrap_or_default();
            machine.possibly(|machine| match texts {
                [text] => carry_out_texts(machine, std::slice::from_ref(text), is_own, depth),
                words => carry_out(machine, words, is_own, depth + 1),
            });
        }
        "display-menu" => {
            for text in behind.iter().skip(2).step_by(3) {
                machine
                    .possibly(|machine| carry_out_texts(machine, std::slice::from_ref(text), is_own, depth));
            }
        }
        "set-option" | "set-window-option" => {
            if let [name, text] = behind
                && matches!(
                    name.as_exact(),
                    Some("default-command" | "lock-command" | "copy-command" | "editor")
                )
            {
                machine.possibly(|machine| machine.run_text(text, Input::Inherited));
            }
        }
        "set-environment" => {
            if let Some(name) = behind.first().and_then(Value::as_exact) {
                let value =
                    if has("-u") || has("-r") { None } else { behind.get(1).and_then(Value::as_exact) };
                crate::programs::lasting_variable(machine, name, value);
            }
        }
        "send-keys" => return typed(behind, has("-l")),
        // What is pasted from it later is typed, its ends of lines too.
        "set-buffer" => return typed(behind, true),
        _ => {}
    }
    nothing
}

/// Carries out words that are commands of tmux as a text.
fn carry_out_texts(machine: &mut Machine<'_>, texts: &[Value], is_own: bool, depth: usize) {
    for text in texts {
        let Some(text) = text.as_exact() else {
            machine.opaque("a command for tmux is not known");
            continue;
        };
        for line in text.lines() {
            let line = line.trim().trim_start_matches('{').trim_end_matches('}').trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let words: Vec<Value> = quoted_words(line).into_iter().map(Value::Exact).collect();
            carry_out(machine, &words, is_own, depth + 1);
        }
    }
}

fn carry_out_file(machine: &mut Machine<'_>, file: &Value, is_own: bool, depth: usize) {
    let text = machine.read(file).into_text();
    if text.as_exact().is_some() && depth < DEPTH {
        machine.possibly(|machine| carry_out_texts(machine, &[text], is_own, depth + 1));
    }
}

/// Runs what stands in `#(...)`, a command of a shell.
fn formats(machine: &mut Machine<'_>, word: &Value) {
    let text = word.known_start();
    for inside in text.split("#(").skip(1) {
        let mut open = 1_usize;
        let end = inside.find(|letter: char| {
            match letter {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            open == 0
        });
        let command = Value::exact(inside.get(..end.unwrap_or(inside.len())).unwrap_or_default());
        machine.run_text(&command, Input::Inherited);
    }
}

/// What keys make in the line of a terminal; those that leave the line end it (tmux(1), "send-keys").
fn typed(keys: &[Value], is_literal: bool) -> Value {
    keys.iter().fold(Value::exact(""), |line, key| {
        let meant = match key.as_exact() {
            Some(_) if is_literal => None,
            Some("Space") => Some(" "),
            Some("Tab" | "BTab" | "C-i") => Some(""),
            Some(
                "Enter" | "KPEnter" | "Escape" | "Up" | "Down" | "Left" | "Right" | "Home" | "End" | "PageUp"
                | "PageDown" | "BSpace" | "DC" | "IC",
            ) => Some("\n"),
            Some(text) if text.starts_with("C-") || text.starts_with("M-") || text.starts_with("S-") => {
                Some("\n")
            }
            Some(_) | None => None,
        };
        line.followed_by(&meant.map_or_else(|| key.clone(), Value::exact))
    })
}
