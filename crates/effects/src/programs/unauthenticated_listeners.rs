//! Servers that let in whoever reaches their port, where a call has them listen to other machines.
//!
//! An entry of the catalogue says what a server does; that it listens to others and asks nobody who they are stands in its options. Both must be said:
//! a server for this machine alone, or with a login, is daily work.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Machine, Value};

/// A server that has no login, or whose login can be taken away, by its programs.
struct Listener {
    programs: &'static [&'static str],
    /// The word of the call that makes it a server; empty where every call does.
    call: &'static str,
    /// The options that say at which address it listens.
    addresses: &'static [&'static str],
    /// The options by which it listens everywhere.
    everywhere: &'static [&'static str],
    /// The words of which one takes its login away; none where it never has one.
    unlocked: &'static [&'static str],
    /// The options that bring a login back, or keep it to this machine.
    locked: &'static [&'static str],
    /// What comes in with whoever connects.
    gives: &'static str,
}

const fn listener(programs: &'static [&'static str], gives: &'static str) -> Listener {
    Listener { programs, call: "", addresses: &[], everywhere: &[], unlocked: &[], locked: &[], gives }
}

/// Sources: `kubectl proxy --help`; redis.io, "Protected mode"; mongod(1); Chromium, "Remote debugging"; `vault server --help`; x11vnc(1);
/// vncserver(1), `SecurityTypes`; docs.docker.com, "Protect the Docker daemon socket"; memcached(1); distccd(1); `adb help`, `-a`.
const LISTENERS: &[Listener] = &[
    Listener {
        call: "proxy",
        addresses: &["--address"],
        ..listener(&["kubectl", "oc", "k3s", "microk8s"], "the rights of this user in the cluster")
    },
    Listener {
        addresses: &["--bind"],
        unlocked: &["--protected-mode no", "--protected-mode=no"],
        locked: &["--requirepass"],
        ..listener(
            &["redis-server", "valkey-server", "keydb-server"],
            "the store, and by it files of this machine",
        )
    },
    Listener {
        addresses: &["--bind_ip"],
        everywhere: &["--bind_ip_all"],
        unlocked: &["--noauth"],
        ..listener(&["mongod", "mongos"], "the store")
    },
    Listener {
        addresses: &["--remote-debugging-address"],
        ..listener(
            &[
                "chrome",
                "google-chrome",
                "google-chrome-stable",
                "chromium",
                "chromium-browser",
                "msedge",
                "brave",
            ],
            "the browser with all its logins",
        )
    },
    Listener {
        call: "server",
        addresses: &["-dev-listen-address", "--dev-listen-address"],
        ..listener(&["vault", "bao"], "all secrets of the server")
    },
    Listener {
        everywhere: &["-nopw"],
        locked: &["-localhost", "-passwd", "-rfbauth", "-usepw"],
        ..listener(&["x11vnc"], "the screen and the keyboard")
    },
    Listener {
        everywhere: &[
            "-SecurityTypes None",
            "-SecurityTypes=None",
            "--SecurityTypes=None",
            "SecurityTypes=None",
        ],
        locked: &["-localhost", "-localhost=yes", "--localhost"],
        ..listener(
            &["vncserver", "Xvnc", "x0vncserver", "tigervncserver", "tightvncserver"],
            "the screen and the keyboard",
        )
    },
    Listener {
        addresses: &["-H", "--host"],
        locked: &["--tlsverify", "--tlsverify=true"],
        ..listener(&["dockerd"], "the whole machine as its administrator")
    },
    Listener {
        everywhere: &["-a"],
        call: "nodaemon",
        ..listener(&["adb"], "the devices that are connected")
    },
    Listener {
        addresses: &["-l", "--listen"],
        locked: &["-S", "--enable-sasl", "-Z", "--enable-ssl"],
        ..listener(&["memcached"], "the cache")
    },
    Listener {
        addresses: &["--allow", "-a"],
        ..listener(&["distccd"], "a compiler of this machine, and by it a shell")
    },
];

/// Adds that a call opens this machine, or what it may reach, to whoever connects.
pub(crate) fn unauthenticated_listeners(machine: &mut Machine<'_>, call: &Call) {
    let program = call.program.split(' ').next().unwrap_or_default();
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let text = format!(" {} ", words.join(" "));
    let says = |words: &&&str| text.contains(&format!(" {words} "));
    let opens = |listener: &&Listener| {
        let is_server = listener.call.is_empty()
            || call.program.split(' ').chain(words.iter().copied()).any(|word| word == listener.call);
        let listens =
            listens_to_others(&words, listener.addresses) || listener.everywhere.iter().any(|all| says(&all));
        let is_unlocked = listener.unlocked.is_empty() || listener.unlocked.iter().any(|word| says(&word));
        let is_locked = words.iter().any(|word| {
            listener.locked.contains(word)
                || listener.locked.contains(&word.split('=').next().unwrap_or(word))
        });
        is_server && listens && is_unlocked && !is_locked
    };
    let Some(listener) = LISTENERS.iter().filter(|listener| listener.programs.contains(&program)).find(opens)
    else {
        return;
    };
    let draft = Draft::new(EffectKind::DataUpload, Target::Host("tunnel".to_owned()))
        .reach(NetworkReach::External)
        .severity(Severity::High)
        .note(format!("whoever connects gets {}", listener.gives));
    machine.add(draft);
}

/// Whether one of these options names an address that others reach.
fn listens_to_others(words: &[&str], options: &[&str]) -> bool {
    let value = |(at, word): (usize, &&str)| -> Option<String> {
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        options.contains(&name).then(|| value.or_else(|| words.get(at + 1).copied()))?.map(str::to_owned)
    };
    words.iter().enumerate().filter_map(value).any(|address| is_for_others(&address))
}

fn is_for_others(address: &str) -> bool {
    let address = address.trim_matches('"');
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let host = match rest.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None if rest.matches(':').count() > 1 => rest,
        None => rest.split(':').next().unwrap_or_default(),
    };
    let is_local = matches!(host, "localhost" | "::1" | "lo") || host.starts_with("127.");
    !matches!(scheme, "unix" | "fd" | "npipe") && !is_local && !host.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::is_for_others;

    #[test]
    fn an_address_of_this_machine_is_told_from_others() {
        for address in
            ["0.0.0.0", "::", "*", "0.0.0.0:8200", "[::]:8200", "tcp://0.0.0.0:2375", "192.168.1.4", ":9222"]
        {
            assert!(is_for_others(address), "{address}");
        }
        for address in [
            "localhost",
            "127.0.0.1:6379",
            "::1",
            "[::1]:80",
            "unix:///run/x.sock",
            "fd://",
            "/run/x.sock",
            "tcp://127.0.0.1:2375",
        ] {
            assert!(!is_for_others(address), "{address}");
        }
    }
}
