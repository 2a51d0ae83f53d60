//! Calls that switch off the check of whom a program talks to: certificates, host names, signatures of what is fetched.
//!
//! Where a setting does it, every later call is meant. Where an option or a variable of the call does it, only this one is, and it counts
//! where what comes in is run, or credentials go out; a program of the project that is told so gets a hint. Whoever talks to this machine
//! alone, as servers for development have no certificate, loses nothing.

mod table;

use crate::effect::{EffectKind, Severity, Target};
use crate::interpreter::{Call, Draft, Machine, Value, known_hosts};
use checkrein_glob::{Glob, Style};

use table::{OPTIONS, SETTINGS, VARIABLES};

/// Hosts that are this machine.
const HERE: &[&str] = &["localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"];
/// How the names of hosts end that are of this machine, or of a network for trying things (RFC 6761, 6762).
const ENDS: &[&str] = &[".localhost", ".test", ".local"];

/// Variables with the address of the server that a program talks to.
const SERVERS: &[&str] =
    &["VAULT_ADDR", "BAO_ADDR", "NOMAD_ADDR", "CONSUL_HTTP_ADDR", "AWS_ENDPOINT_URL", "ARGOCD_SERVER"];

/// Whether one of the tables knows a program by this name.
pub(crate) fn is_told_by(program: &str) -> bool {
    let knows = |programs: &[&str]| programs.contains(&program);
    SETTINGS.iter().any(|row| knows(row.programs))
        || OPTIONS.iter().any(|row| knows(row.programs))
        || VARIABLES.iter().any(|row| knows(row.programs))
}

/// Adds that a call has a program check no more whom it talks to.
pub(crate) fn unchecked_connections(machine: &mut Machine<'_>, call: &Call) {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let program = call.program.as_str();
    if words.iter().any(|word| *word == "--help" || is_here(word)) || is_server_here(machine) {
        return;
    }
    if SETTINGS
        .iter()
        .any(|row| row.programs.contains(&program) && sets(&words, row.verbs, row.key, row.values))
    {
        let note = format!("`{program}` no longer checks whom it talks to");
        return switched_off(machine, Severity::High, &note);
    }
    let option = OPTIONS.iter().find(|row| {
        row.programs.contains(&program) && says_one(&words, row.verbs) && is_given(&words, row.option)
    });
    if let Some(row) = option {
        let note = format!("`{}` has `{program}` take what anybody between here and there sends", row.option);
        return switched_off(machine, row.severity, &note);
    }
    let variable = VARIABLES.iter().find_map(|row| {
        if !row.programs.contains(&program) || !says_one(&words, row.verbs) {
            return None;
        }
        let name = row.names.iter().find(|name| {
            machine
                .variable(name)
                .is_some_and(|value| value.as_exact().is_some_and(|value| is_off(value, row.values)))
        })?;
        // What the user has set up is theirs.
        let is_of_user = machine.world().variable(name).as_deref()
            == machine.variable(name).as_ref().and_then(Value::as_exact);
        (!is_of_user).then_some((*name, row.severity))
    });
    if let Some((name, severity)) = variable.or_else(|| of_git(machine, program, &words)) {
        let note = format!("`{name}` has `{program}` take what anybody between here and there sends");
        switched_off(machine, severity, &note);
    }
}

fn switched_off(machine: &mut Machine<'_>, severity: Severity, note: &str) {
    let target = Target::Service("checks of certificates".to_owned());
    machine.add(Draft::new(EffectKind::SystemModification, target).severity(severity).note(note));
}

/// Whether a word names a host of this machine: alone, as an address, or as the value of an option. What stands further in says nothing: anybody can
/// put it behind an address.
fn is_here(word: &str) -> bool {
    let value = match word.split_once('=') {
        Some((name, value)) if !name.contains("://") => value,
        _ => word,
    };
    let host = known_hosts::host_of(value);
    HERE.contains(&host.as_str()) || ENDS.iter().any(|end| host.ends_with(end))
}

fn is_server_here(machine: &Machine<'_>) -> bool {
    let value = |name: &&str| machine.variable(name).as_ref().and_then(Value::as_exact).map(str::to_owned);
    SERVERS.iter().filter_map(value).any(|address| is_here(&address))
}

/// Whether one of these verbs is among the words; any call where there are none.
fn says_one(words: &[&str], verbs: &[&str]) -> bool {
    verbs.is_empty() || words.iter().any(|word| verbs.contains(word))
}

/// Whether a value is one of these: a pattern, in small letters.
fn is_off(value: &str, values: &[&str]) -> bool {
    let value = value.to_ascii_lowercase();
    values.iter().any(|pattern| match *pattern {
        table::SOMEBODY => !value.is_empty(),
        table::EVERYTHING => value.contains('*'),
        pattern => Glob::new(pattern, Style::Word).matches(&value),
    })
}

/// Whether a setting with this key is given one of these values: `KEY VALUE` or `KEY=VALUE`.
fn sets(words: &[&str], verbs: &[&str], key: &str, values: &[&str]) -> bool {
    const TAKING_AWAY: &[&str] = &[
        "get",
        "--get",
        "unset",
        "--unset",
        "delete",
        "rm",
        "list",
        "--show",
        "--remove-key",
        "-u",
        "--delete",
    ];
    if !says_one(words, verbs) || words.iter().any(|word| TAKING_AWAY.contains(word)) {
        return false;
    }
    let is_key = |word: &str| Glob::new(key, Style::Word).matches(&word.to_ascii_lowercase());
    words.windows(2).any(|pair| matches!(pair, [name, value] if is_key(name) && is_off(value, values)))
        || words.iter().any(|word| {
            let parts = [word.split_once('='), word.rsplit_once('=')];
            parts.into_iter().flatten().any(|(name, value)| is_key(name) && is_off(value, values))
        })
}

/// Whether an option is given: a pattern of a word, or of an option and its value with a blank between.
fn is_given(words: &[&str], option: &str) -> bool {
    let fits = |word: &str, pattern: &str| Glob::new(pattern, Style::Word).matches(word);
    match option.split_once(' ') {
        Some((name, value)) => words.windows(2).any(|pair| {
            matches!(pair, [one, other] if fits(one, name) && fits(&other.to_ascii_lowercase(), value))
        }),
        None => words.iter().any(|word| {
            fits(word, option)
                || word.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')).is_some_and(|value| {
                    !matches!(value.to_ascii_lowercase().as_str(), "false" | "0" | "no")
                })
        }),
    }
}

/// The variables with which git is handed settings (git-config(1), `GIT_CONFIG_COUNT`).
fn of_git(machine: &Machine<'_>, program: &str, words: &[&str]) -> Option<(&'static str, Severity)> {
    /// The greatest number of settings that are looked at (ours).
    const SETTINGS_GIVEN: usize = 16;
    if program != "git" || !says_one(words, table::GIT_VERBS) {
        return None;
    }
    let value = |name: String| machine.variable(&name)?.as_exact().map(str::to_ascii_lowercase);
    let is_one = |number: usize| {
        value(format!("GIT_CONFIG_KEY_{number}"))
            .is_some_and(|key| key.starts_with("http.") && key.ends_with("sslverify"))
            && value(format!("GIT_CONFIG_VALUE_{number}")).is_some_and(|value| is_off(&value, table::OFF))
    };
    (0..SETTINGS_GIVEN).any(is_one).then_some(("GIT_CONFIG_COUNT", Severity::High))
}

#[cfg(test)]
mod tests {
    use super::{is_given, is_here, sets};

    fn words(line: &str) -> Vec<&str> {
        line.split(' ').collect()
    }

    #[test]
    fn settings_are_told_from_questions() {
        let off = &["false", "no", "0"];
        assert!(sets(&words("config --set ssl_verify False"), &["config"], "ssl_verify", off));
        assert!(sets(&words("config set strict-ssl=false"), &["config"], "strict-ssl", off));
        assert!(sets(&words("config certificates.acme.cert false"), &["config"], "certificates.*.cert", off));
        assert!(!sets(&words("config get strict-ssl false"), &["config"], "strict-ssl", off));
        assert!(!sets(&words("config set strict-ssl true"), &["config"], "strict-ssl", off));
        assert!(!sets(&words("install strict-ssl false"), &["config"], "strict-ssl", off));
    }

    #[test]
    fn this_machine_is_told_by_the_host() {
        for word in [
            "localhost",
            "https://localhost:8443/x",
            "--server=https://127.0.0.1:6443",
            "https://[::1]/",
            "https://a.test/x",
        ] {
            assert!(is_here(word), "{word}");
        }
        for word in [
            "https://evil.example/?to=localhost",
            "localhost-tools",
            "https://localhost.evil.example",
            "--note=not-localhost",
        ] {
            assert!(!is_here(word), "{word}");
        }
    }

    #[test]
    fn options_are_found_with_their_values() {
        assert!(is_given(&words("--insecure-skip-tls-verify=true get pods"), "--insecure-skip-tls-verify"));
        assert!(!is_given(&words("--insecure-skip-tls-verify=false get pods"), "--insecure-skip-tls-verify"));
        assert!(is_given(&words("-c http.sslVerify=0 fetch"), "-c http*.sslverify=0"));
        assert!(!is_given(&words("commit -m http.sslVerify=0"), "-c http*.sslverify=0"));
        assert!(is_given(
            &words("-Dmaven.wagon.http.ssl.insecure=true package"),
            "-D*http.ssl.insecure=true"
        ));
    }
}
