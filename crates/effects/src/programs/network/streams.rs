//! netcat and socat.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Upload, Value};

use super::{Sent, note_secret_sent, request};
use crate::interpreter::known_hosts;
use crate::programs::containers::ENGINE_SOCKETS;
use crate::programs::{store_place, stores};
use crate::tools::begins_with_program;
use checkrein_catalogue::DefaultStore;

/// Interprets a call of netcat.
pub(crate) fn netcat(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let listens = arguments.has(&["-l", "--listen"]);
    let host = arguments.operands.first().cloned();
    let given: Vec<Value> =
        arguments.values(&["-e", "--exec", "-c", "--sh-exec", "--lua-exec"]).cloned().collect();
    let other = if listens { Some(Value::exact("listener")) } else { host };
    let Some(other) = other else {
        return Exit::unknown();
    };
    if let Some(program) = given.first()
        && let Some(text) = program.as_exact().filter(|text| !is_shell(text))
    {
        // The other end talks to one program, not to a shell.
        let exit = machine.run_text(&Value::exact(text), Input::Network(other.known_start()));
        note_secret_sent(machine, &exit.output.into_input(), &other);
        machine.host(&other, Upload::Yes);
        return Exit::unknown();
    }
    if let Some(program) = given.first() {
        let target = other.as_exact().map_or(Target::Unknown, |text| Target::Host(text.to_owned()));
        let what = program.as_exact().unwrap_or("a program that is not known");
        machine.add(
            Draft::new(EffectKind::RemoteCodeExecution, target)
                .note(format!("gives `{what}` to the other end")),
        );
        return Exit::unknown();
    }
    let sends = is_connected(&call.input);
    if !listens && (arguments.has(&["-U", "--unixsock"]) || is_here(&other)) {
        hear(machine, &call.input);
    }
    if let Input::Text(text) = &call.input {
        let before = machine.effect_count();
        stores::orders_in_lines(machine, text);
        store_place::locate(machine, before, &call.program, &call.words, DefaultStore::Project);
    }
    if sends {
        note_secret_sent(machine, &call.input, &other);
        machine.host(&other, Upload::Yes);
    } else if !listens {
        request(machine, &other, Sent::Nothing);
    }
    if arguments.has(&["-z"]) || listens && sends {
        return Exit::unknown();
    }
    Exit::with(Output::Network(other.as_exact().unwrap_or_default().to_owned()))
}

/// One end of a call of socat.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// A host that is called.
    Host(String),
    /// A port or socket on which others call.
    Listener,
    /// A program.
    Program(String),
    /// A file.
    File(String),
    /// Standard input and output, local sockets.
    Here,
}

/// Interprets a call of socat.
pub(crate) fn socat(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let mut ends = Vec::new();
    let mut words = call.words.iter();
    while let Some(word) = words.next() {
        match word.as_exact() {
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                // These take the next word when their value is not attached.
                if matches!(text, "-b" | "-t" | "-T" | "-lf" | "-lp" | "-ls" | "-r" | "-R" | "-L" | "-W") {
                    words.next();
                }
            }
            Some(text) => {
                for address in text.split("!!") {
                    if let Some(path) = written(address) {
                        machine.write(&Value::exact(path));
                    }
                    ends.push(opened(machine, address));
                }
            }
            None => match end(&word.known_start()) {
                End::Here => {
                    machine.opaque("what socat joins is not known");
                    return Exit::unknown();
                }
                known => ends.push(known),
            },
        }
    }
    let other = ends.iter().find_map(|end| match end {
        End::Host(host) => Some(host.clone()),
        End::Listener => Some("listener".to_owned()),
        End::Program(_) | End::File(_) | End::Here => None,
    });
    let calls_here =
        ends.iter().any(|end| matches!(end, End::Host(host) if is_here(&Value::exact(host.as_str()))));
    let calls_socket = call.words.iter().any(|word| {
        word.known_start()
            .get(..5)
            .is_some_and(|start| start.eq_ignore_ascii_case("unix-") || start.eq_ignore_ascii_case("unix:"))
    });
    if ends.contains(&End::Here) && (calls_here || calls_socket) {
        hear(machine, &call.input);
    }
    let Some(other) = other else {
        let mut input = call.input.clone();
        for end in &ends {
            match end {
                End::File(path) => input = machine.read(&Value::exact(path.clone())).into_input(),
                End::Program(text) => {
                    machine.run_text(&Value::exact(text.clone()), input.clone());
                }
                End::Host(_) | End::Listener | End::Here => {}
            }
        }
        return Exit::unknown();
    };
    let host = ends.iter().find_map(|end| if let End::Host(host) = end { Some(host.clone()) } else { None });
    // Whoever connects signs in elsewhere with the keys of the user (ssh-agent(1), "ENVIRONMENT").
    let agent = machine.variable("SSH_AUTH_SOCK").and_then(|place| place.as_exact().map(str::to_owned));
    let names_agent = |word: &Value| {
        let text = word.known_end();
        text.contains("ssh-agent")
            || text.contains("/agent.")
            || agent.as_ref().is_some_and(|agent| text.ends_with(agent))
    };
    if call.words.iter().any(names_agent) {
        let draft =
            Draft::new(EffectKind::DataUpload, Target::Host(other.clone())).reach(NetworkReach::External);
        machine.add(draft.severity(Severity::High).note("lets whoever connects use the keys of the user"));
    }
    let names_engine = |word: &Value| ENGINE_SOCKETS.iter().any(|socket| word.known_end().contains(socket));
    if call.words.iter().any(names_engine) {
        machine.add(
            Draft::new(EffectKind::PrivilegeEscalation, Target::Host(other.clone()))
                .severity(Severity::High)
                .note("hands the engine that runs containers as root to the other end"),
        );
    }
    let mut sends = is_connected(&call.input);
    for end in &ends {
        match end {
            End::Program(text) => {
                if is_shell(text) {
                    let draft = Draft::new(EffectKind::RemoteCodeExecution, Target::Host(other.clone()));
                    machine.add(draft.note(format!("gives `{text}` to the other end")));
                    return Exit::unknown();
                }
                machine.run_text(&Value::exact(text.clone()), Input::Network(other.clone()));
                sends = true;
            }
            End::File(path) => {
                machine.read(&Value::exact(path.clone()));
                sends = true;
            }
            End::Host(_) | End::Listener | End::Here => {}
        }
    }
    match host {
        Some(host) if sends => machine.host(&Value::exact(host), Upload::Yes),
        Some(host) => request(machine, &Value::exact(host), Sent::Nothing),
        None if sends => machine.host(&Value::exact(other.clone()), Upload::Yes),
        None => {}
    }
    Exit::with(Output::Network(other))
}

/// `telnet`: what it is given on its input goes to the other end.
pub(crate) fn telnet(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let Some(other) = call.arguments.operands.first() else { return Exit::unknown() };
    if is_connected(&call.input) {
        if is_here(other) {
            hear(machine, &call.input);
        }
        note_secret_sent(machine, &call.input, other);
        machine.host(other, Upload::Yes);
    } else {
        request(machine, other, Sent::Nothing);
    }
    Exit::unknown()
}

fn is_here(host: &Value) -> bool {
    host.as_exact().is_some_and(|host| known_hosts::reach(host) == NetworkReach::Local)
}

/// What goes to a port or a socket of this machine may be read by a shell that listens there: a command in it counts as one that may run, as
/// if it were typed into a terminal.
fn hear(machine: &mut Machine<'_>, input: &Input) {
    let Input::Text(text) = input else { return };
    if text.as_exact().is_some_and(begins_with_program) {
        machine.possibly(|machine| machine.cut_loose(|machine| machine.run_text(text, Input::Inherited)));
    }
}

/// Whether something other than the terminal is connected.
fn is_connected(input: &Input) -> bool {
    match input {
        Input::Inherited => false,
        Input::Text(text) => text.as_exact() != Some(""),
        Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => true,
    }
}

/// What an address of socat stands for, through the descriptors that the shell has opened.
fn opened(machine: &Machine<'_>, address: &str) -> End {
    let number = address.strip_prefix("FD:").or_else(|| address.strip_prefix("fd:"));
    let host = number.and_then(|number| machine.connected_host(number.split(',').next()?.parse().ok()?));
    host.map_or_else(|| end(address), End::Host)
}

/// The file that an address makes or writes: `CREATE:out`, `OPEN:out,creat`.
fn written(address: &str) -> Option<&str> {
    let (kind, rest) = address.split_once(':')?;
    let mut parts = rest.split(',');
    let path = parts.next()?;
    let writes = |part: &str| {
        let name = part.split('=').next().unwrap_or(part);
        ["creat", "create", "trunc", "append", "wronly", "rdwr", "o-creat", "o-trunc"].contains(&name)
    };
    let kind = kind.to_ascii_uppercase();
    let opens = matches!(kind.as_str(), "OPEN" | "FILE" | "GOPEN");
    (matches!(kind.as_str(), "CREATE" | "CREAT") || opens && parts.any(writes)).then_some(path)
}

/// What an address of socat stands for.
fn end(address: &str) -> End {
    let (kind, rest) = address.split_once([':', ',']).unwrap_or((address, ""));
    let kind = kind.to_ascii_uppercase();
    let part = |index: usize| rest.split([':', ',']).nth(index).unwrap_or_default().to_owned();
    if kind.ends_with("LISTEN")
        || kind.ends_with("-L")
        || kind.ends_with("RECVFROM")
        || kind.ends_with("RECV")
    {
        return if kind.starts_with("UNIX") || kind.starts_with("ABSTRACT") {
            End::Here
        } else {
            End::Listener
        };
    }
    match kind.as_str() {
        "EXEC" | "SYSTEM" | "SHELL" => End::Program(
            rest.split(",pty")
                .next()
                .unwrap_or(rest)
                .split(",stderr")
                .next()
                .unwrap_or(rest)
                .replace('\\', "")
                .trim_matches(['"', '\''])
                .to_owned(),
        ),
        "OPEN" | "FILE" | "GOPEN" | "PIPE" | "FIFO" => {
            match (rest.split(',').next(), rest.split_once("chdir=")) {
                (Some(name), Some((_, directory))) => {
                    End::File(format!("{}/{name}", directory.split(',').next().unwrap_or_default()))
                }
                (Some(name), None) if !name.is_empty() => End::File(name.to_owned()),
                _ => End::Here,
            }
        }
        "SOCKS4" | "SOCKS4A" | "SOCKS5" | "PROXY" | "PROXY-CONNECT" | "SOCKS5-CONNECT" => End::Host(part(1)),
        _ if ["TCP", "UDP", "SSL", "OPENSSL", "SCTP", "DCCP", "IP"]
            .iter()
            .any(|start| kind.starts_with(start)) =>
        {
            End::Host(part(0))
        }
        _ => End::Here,
    }
}

/// Whether a program is a shell or an interpreter that does what it is told.
fn is_shell(text: &str) -> bool {
    let program = text.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let alone = !text.contains(" -c ");
    let shells = [
        "sh",
        "bash",
        "dash",
        "zsh",
        "ksh",
        "ash",
        "fish",
        "csh",
        "tcsh",
        "python",
        "python3",
        "perl",
        "ruby",
        "node",
        "powershell",
        "pwsh",
        "cmd.exe",
        "cmd",
        "login",
    ];
    shells.contains(&program) && alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        assert_eq!(end("TCP-LISTEN:4444,fork"), End::Listener);
        assert_eq!(end("tcp:evil.example:4444"), End::Host("evil.example".to_owned()));
        assert_eq!(end("PROXY:proxy:evil:4444"), End::Host("evil".to_owned()));
        assert_eq!(end("EXEC:/bin/sh,pty,stderr"), End::Program("/bin/sh".to_owned()));
        assert_eq!(end("OPEN:server.key,chdir=source"), End::File("source/server.key".to_owned()));
        assert_eq!(end("-"), End::Here);
        assert_eq!(end("UNIX-LISTEN:/tmp/s"), End::Here);
        assert!(is_shell("/bin/bash -i") && !is_shell("/bin/cat"));
    }
}
