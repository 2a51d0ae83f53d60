//! Tools that look for ways into machines or load them: aimed at this machine they are tests, aimed at others attacks.
//!
//! Sources: the manuals of the programs in Kali's `kali-tools-information-gathering`, `-vulnerability` and `-web`; nmap(1), "Target
//! specification", "Firewall/IDS evasion and spoofing" and the categories of its scripts.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};

use super::store_place::{host_of, is_loopback};

/// Words that ask about the tool itself, or keep it up to date.
const ABOUT_ITSELF: &[&str] = &[
    "--help",
    "-hh",
    "-help",
    "help",
    "--version",
    "-version",
    "-Version",
    "version",
    "--update",
    "-update",
    "-ut",
    "-update-templates",
    "-tl",
    "-list-plugins",
    "--list-plugins",
    "--list-modules",
    "--script-help",
    "--script-updatedb",
    "--iflist",
    "completion",
    "--dryrun",
    "--dry-run",
    "--show-all-modules",
];

/// Options with the names of files that a tool writes.
const REPORTS: &[&str] = &[
    "-oN",
    "-oX",
    "-oG",
    "-oS",
    "-oA",
    "-o",
    "--output",
    "-output",
    "--output-file",
    "--output-filename",
    "-of",
    "--log-json",
];

/// Options with a file that names machines or pages.
const LISTS: &[&str] = &[
    "-l",
    "-list",
    "--list",
    "-iL",
    "-i",
    "-M",
    "--host-file",
    "--hosts-file",
    "--targets",
    "--targets-list",
    "--url-list",
    "--urls-file",
    "--stdin",
    "-r",
    "--request",
    "-request",
    "file",
    "-f",
    "-dL",
    "-iR",
];

/// Endings of files, which a word with a dot may have as well as the name of a host.
const ENDINGS: &[&str] = &[
    "bin", "cap", "cfg", "conf", "csv", "db", "dic", "dict", "exe", "gnmap", "gz", "html", "ini", "jar",
    "json", "jsonl", "key", "lst", "log", "list", "md", "nmap", "nse", "out", "pcap", "pcapng", "pem", "php",
    "py", "rb", "rc", "sh", "sqlite", "toml", "txt", "xml", "yaml", "yml", "zip",
];

/// Parts of the names of scripts of `nmap` that do more than look.
const HARMFUL_SCRIPTS: &[&str] =
    &["vuln", "exploit", "brute", "dos", "intrusive", "fuzzer", "malware", "all", "*", "external"];

/// Options of `nmap` that hide who asks, or take the machines from a list or by chance.
const HIDING: &[&str] = &["-iL", "-iR", "-D", "-S", "-sI", "-b", "--spoof-mac", "--proxies"];

/// What a tool is aimed at.
enum Aim {
    /// This machine, and nothing else.
    Here(String),
    /// Another machine.
    Elsewhere(String),
    /// Nothing that could be read.
    Untold,
}

/// A tool that examines or loads what it is pointed at.
pub(crate) fn attack_tool(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if !is_about_itself(call) {
        match aim(&call.words) {
            Aim::Here(host) => test_here(machine, host),
            Aim::Elsewhere(host) => attack(machine, Some(host)),
            Aim::Untold if names_list(call) => attack(machine, None),
            // Nobody is named: it asks, opens a window, or tells how it is used.
            Aim::Untold => {}
        }
        write_reports(machine, call);
    }
    Exit::unknown()
}

/// `nmap`: looking at one machine is a question, looking at a whole network or with harmful scripts is an attack.
pub(crate) fn port_scanner(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if is_about_itself(call) {
        return Exit::unknown();
    }
    let texts: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let is_harmful = texts.iter().any(|word| HIDING.contains(word))
        || call.arguments.operands.iter().filter_map(Value::as_exact).any(is_network)
        || scripts(&texts)
            .any(|names| names.split([',', '-', ' ']).any(|part| HARMFUL_SCRIPTS.contains(&part)));
    match aim(&call.arguments.operands) {
        Aim::Here(host) => test_here(machine, host),
        Aim::Elsewhere(host) if is_harmful => attack(machine, Some(host)),
        Aim::Untold if is_harmful => attack(machine, None),
        Aim::Elsewhere(_) | Aim::Untold => {
            let before = machine.effect_count();
            for host in &call.arguments.operands {
                machine.effect(EffectKind::NetworkRequest, host);
            }
            machine.amend(before, |effect| effect.severity = Severity::Medium);
        }
    }
    write_reports(machine, call);
    Exit::unknown()
}

fn test_here(machine: &mut Machine<'_>, host: String) {
    machine.add(Draft::new(EffectKind::NetworkRequest, Target::Host(host)).reach(NetworkReach::Local));
}

fn attack(machine: &mut Machine<'_>, host: Option<String>) {
    if let Some(host) = host {
        machine.add(Draft::new(EffectKind::NetworkRequest, Target::Host(host)).reach(NetworkReach::External));
    }
    machine.add(
        Draft::new(EffectKind::Opaque, Target::Unknown)
            .severity(Severity::High)
            .note("a tool for attacks on machines, aimed at others"),
    );
}

fn write_reports(machine: &mut Machine<'_>, call: &Call) {
    let files: Vec<Value> = call.arguments.values(REPORTS).cloned().collect();
    for file in files {
        machine.write(&file);
    }
}

fn is_about_itself(call: &Call) -> bool {
    let is_one = |word: &Value| word.as_exact().is_some_and(|word| ABOUT_ITSELF.contains(&word));
    // `-V` is loud talk for some, and `-h` the host.
    let last = call.words.last().and_then(Value::as_exact);
    call.words.iter().any(is_one) || last == Some("-h") || call.words.len() == 1 && last == Some("-V")
}

/// Whether machines stand in a file, come from a pipe, or in words that are not known.
fn names_list(call: &Call) -> bool {
    !matches!(call.input, Input::Inherited)
        || call.words.iter().any(|word| {
            word.as_exact().is_none_or(|word| LISTS.contains(&word.split('=').next().unwrap_or(word)))
        })
}

fn aim(words: &[Value]) -> Aim {
    let mut here = None;
    let mut is_untold = false;
    for word in words {
        let text = word.known_start();
        let value =
            text.split_once('=').filter(|(name, _)| name.starts_with('-')).map_or(&*text, |(_, value)| value);
        match host_in(value) {
            Some(host) if is_loopback(&host) => here = here.or(Some(host)),
            Some(host) => return Aim::Elsewhere(host),
            None => is_untold |= word.as_exact().is_none(),
        }
    }
    match here {
        Some(host) if !is_untold => Aim::Here(host),
        Some(_) | None => Aim::Untold,
    }
}

/// The host that a word names: a URL, an address, `user@host`, a name with a domain.
fn host_in(word: &str) -> Option<String> {
    if word.starts_with(['-', '/', '.', '~']) || word.is_empty() {
        return None;
    }
    if word.contains("://") {
        return Some(host_of(word).to_owned());
    }
    if matches!(word, "::1" | "[::1]") {
        return Some("::1".to_owned());
    }
    let behind_user = word.rsplit_once('@').map_or(word, |(_, host)| host);
    let name = behind_user.split(['/', ':']).next().unwrap_or(behind_user);
    if name == "localhost" || name.ends_with(".localhost") {
        return Some(name.to_owned());
    }
    let is_of_host = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '*' | ',');
    let (_, last) = name.rsplit_once('.')?;
    let is_address = name.split('.').count() == 4
        && name.split('.').all(|part| {
            !part.is_empty()
                && part.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '-' | '*' | ','))
        });
    let is_domain = last.len() > 1
        && last.chars().all(|letter| letter.is_ascii_alphabetic())
        && !ENDINGS.contains(&last.to_ascii_lowercase().as_str());
    (name.chars().all(is_of_host) && (is_address || is_domain)).then(|| name.to_owned())
}

/// Whether an operand names many machines: `10.0.0.0/24`, `10.0.0.1-254`, `10.0.*.1`.
fn is_network(operand: &str) -> bool {
    let (name, length) =
        operand.split_once('/').map_or((operand, None), |(name, length)| (name, Some(length)));
    let is_many = length.is_some_and(|length| length.parse::<u8>().is_ok_and(|bits| bits < 31));
    let is_address = name.starts_with(|letter: char| letter.is_ascii_digit() || letter == '*')
        && name.split('.').count() == 4;
    is_many || is_address && name.contains(['-', '*', ','])
}

/// What follows `--script`.
fn scripts<'a>(texts: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    let behind = texts.iter().zip(texts.iter().skip(1));
    let apart = behind.filter(|(option, _)| **option == "--script").map(|(_, names)| *names);
    apart.chain(texts.iter().filter_map(|text| text.strip_prefix("--script=")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_files_and_options() {
        let cases = [
            ("https://acme.example/FUZZ", Some("acme.example")),
            ("http://localhost:8080/FUZZ", Some("localhost")),
            ("127.0.0.1:3000", Some("127.0.0.1")),
            ("corp/dev@10.0.0.5", Some("10.0.0.5")),
            ("10.0.0.0/24", Some("10.0.0.0")),
            ("acme.example", Some("acme.example")),
            ("words.txt", None),
            ("/usr/share/words.acme", None),
            ("-sV", None),
            ("80,443", None),
        ];
        for (word, host) in cases {
            assert_eq!(host_in(word).as_deref(), host, "{word}");
        }
    }

    #[test]
    fn networks_are_told_from_machines() {
        for network in ["10.0.0.0/24", "10.0.0.1-254", "192.168.*.1", "acme.example/24"] {
            assert!(is_network(network), "{network}");
        }
        for machine in ["10.0.0.5", "10.0.0.5/32", "acme-web.example", "localhost"] {
            assert!(!is_network(machine), "{machine}");
        }
    }
}
