//! Commands that print a secret, of tools that otherwise do nothing with one: hosting, delivery, clouds, package managers, frameworks, stores.
//!
//! What lists names alone is not here. A token that a tool prints for another program is told only where it is seen.

mod table;

use crate::effect::{EffectKind, Target};
use crate::interpreter::secrets::is_secret_name;
use crate::interpreter::{Call, Draft, Exit, Machine, Output, Value};

use table::{Printed, TABLE};

/// Whether the table knows a program by this name.
pub(crate) fn is_told_by(program: &str) -> bool {
    TABLE.iter().any(|row| row.programs.contains(&program))
}

/// Adds that a call prints a secret, where it does and nothing else said so; returns what it leaves behind with what it prints.
pub(crate) fn printed_secrets(machine: &mut Machine<'_>, call: &Call, before: usize, exit: Exit) -> Exit {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    // A word that is not known may be the value that a setting is given.
    let is_known = words.len() == call.words.len();
    let is_help = words.iter().any(|word| matches!(*word, "--help" | "--dry-run"));
    let rows = TABLE.iter().filter(|row| {
        row.programs.contains(&call.program.as_str())
            && (is_known || !matches!(row.printed, Printed::NamedAlone))
    });
    let Some((verb, printed)) = rows
        .filter(|_| !is_help)
        .find_map(|row| verb(&words, row.words, &row.printed).map(|verb| (verb, &row.printed)))
    else {
        return exit;
    };
    if machine.effects_since(before).any(|effect| effect.kind == EffectKind::SecretRead) {
        return exit;
    }
    let name = format!("{} {verb}", call.program).trim_end().to_owned();
    let is_for_another = matches!(printed, Printed::ForAnother);
    if is_for_another && (!machine.is_shown() || machine.is_listened_to()) {
        return exit;
    }
    if !machine.hides_what_it_prints(call) {
        machine
            .add(Draft::new(EffectKind::SecretRead, Target::Service(name.clone())).note("prints a secret"));
    }
    if is_for_another { exit } else { Exit { output: Output::Secret(name), ..exit } }
}

/// The words of a call that a row of the table means; `None` when it means another one.
fn verb(words: &[&str], row: &[&str], printed: &Printed) -> Option<String> {
    /// The greatest number of words before the verb: options with values (ours).
    const BEFORE: usize = 3;
    let plain: Vec<&str> =
        words.iter().copied().filter(|word| !word.starts_with('-') || *word == "-").collect();
    let at = (0..=BEFORE.min(plain.len())).find(|at| {
        let given = plain.get(*at..*at + row.len());
        given.is_some_and(|given| {
            given.iter().zip(row).all(|(word, wanted)| word.eq_ignore_ascii_case(wanted))
        })
    })?;
    let rest = plain.get(at + row.len()..).unwrap_or_default();
    let has = |option: &str| has_option(words, option);
    let prints = match printed {
        Printed::Always | Printed::ForAnother => true,
        Printed::With(options) => options.iter().any(|option| has(option)),
        Printed::Unless(options) => !options.iter().any(|option| has(option)),
        Printed::Named => rest.last().is_some_and(|name| speaks_of_a_secret(name)),
        Printed::NamedAlone => matches!(rest, [name] if speaks_of_a_secret(name)),
        Printed::Of(names) => rest.iter().any(|word| names.contains(word)),
        Printed::ToOutput => {
            words.iter().any(|word| matches!(*word, "-" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"))
        }
        Printed::Saying(texts) => words.iter().any(|word| texts.iter().any(|text| word.contains(text))),
    };
    prints.then(|| row.join(" "))
}

/// Whether an option is given: alone, with a value attached, or with this value behind it (`--output json`).
fn has_option(words: &[&str], option: &str) -> bool {
    match option.split_once(' ') {
        Some((name, value)) => {
            words.windows(2).any(|pair| matches!(pair, [one, other] if one == &name && other == &value))
                || words.iter().any(|word| {
                    word.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) == Some(value)
                })
        }
        None => words.iter().any(|word| {
            *word == option
                || word
                    .strip_prefix(option)
                    .is_some_and(|rest| rest.strip_prefix('=').is_some_and(|on| on != "false"))
        }),
    }
}

/// Whether the name of a setting says that its value is a secret: `dbPassword`, `//registry/:_authToken`, `http-basic.example.com`.
fn speaks_of_a_secret(name: &str) -> bool {
    /// Settings of package managers that hold credentials (getcomposer.org, "Authentication for privately hosted packages").
    const CREDENTIALS: &[&str] = &[
        "http-basic.",
        "github-oauth.",
        "gitlab-oauth.",
        "gitlab-token.",
        "bearer.",
        "bitbucket-oauth.",
        "pypi-token.",
    ];
    const PARTS: &[&str] =
        &["password", "passwd", "secret", "token", "apikey", "privatekey", "credential", "sql_alchemy_conn"];
    let lower = name.to_ascii_lowercase();
    let mut upper = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_small {
            upper.push('_');
        }
        was_small = letter.is_ascii_lowercase();
        upper.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' });
    }
    CREDENTIALS.iter().any(|start| lower.starts_with(start))
        || PARTS.iter().any(|part| lower.contains(part))
        || is_secret_name(&upper)
}

#[cfg(test)]
mod tests {
    use super::{TABLE, speaks_of_a_secret, verb};

    fn prints(line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        let (program, words) = words.split_first().unwrap();
        TABLE
            .iter()
            .filter(|row| row.programs.contains(program))
            .any(|row| verb(words, row.words, &row.printed).is_some())
    }

    #[test]
    fn a_value_is_told_from_a_name() {
        for line in [
            "glab variable get DEPLOY_KEY",
            "glab variable list --output json",
            "airflow connections export -",
            "airflow config get-value database sql_alchemy_conn",
            "dotnet user-secrets list --project src/Api",
            "npm config get //registry.npmjs.org/:_authToken",
            "pulumi config get dbPassword",
            "redis-cli -h db config get requirepass",
            "az -o json webapp config appsettings list -n a",
        ] {
            assert!(prints(line), "{line}");
        }
        for line in [
            "glab variable list",
            "airflow variables list",
            "airflow connections export out.json",
            "dotnet user-secrets init",
            "npm config get registry",
            "pulumi config get region",
            "redis-cli config get maxmemory",
            "kubectl get secrets",
        ] {
            assert!(!prints(line), "{line}");
        }
    }

    #[test]
    fn names_speak_of_secrets() {
        for name in ["dbPassword", "DB_PASSWORD", "http-basic.repo.acme.io", "stripe_secret_key"] {
            assert!(speaks_of_a_secret(name), "{name}");
        }
        for name in ["region", "vpc_id", "registry", "timeout", "url"] {
            assert!(!speaks_of_a_secret(name), "{name}");
        }
    }
}
