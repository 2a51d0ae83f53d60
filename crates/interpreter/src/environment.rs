//! Programs that print variables of the environment because of what they are told: `awk` programs with `ENVIRON`, `jq` filters with
//! `env`, templates for `envsubst`, and options that list all there are.

use crate::printed::ALL_VARIABLES;
use crate::secrets::is_secret_name;
use crate::{Call, Input, Output, Value};

/// Programs with the words that make them print all variables: one of the lists must be there whole.
const LISTS: &[(&str, &[&[&str]])] = &[
    ("cmake", &[&["-E", "environment"]]),
    ("php", &[&["-i"], &["--info"]]),
    ("make", &[&["-p"], &["--print-data-base"], &["-np"], &["-pn"], &["-qp"], &["-pq"]]),
    ("gmake", &[&["-p"], &["--print-data-base"], &["-np"], &["-pn"], &["-qp"], &["-pq"]]),
    ("busybox", &[&["env"], &["printenv"]]),
    ("toybox", &[&["env"], &["printenv"]]),
    ("systemctl", &[&["show-environment"]]),
];

/// What follows a mention of all variables and leaves their names, or how many they are.
const NAMES: &[&str] = &["keys", "length", "has(", "keys_unsorted", "to_entries[].key"];

/// The variables that a call prints, when one of them holds a secret by its name.
pub(crate) fn printed(call: &Call) -> Option<Output> {
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    let program = call.program.as_str();
    let lists = LISTS.iter().find(|(name, _)| *name == program).map(|(_, lists)| *lists).unwrap_or_default();
    if lists.iter().any(|list| list.iter().all(|word| words.contains(word))) {
        return Some(all());
    }
    match program {
        "awk" | "gawk" | "mawk" | "nawk" => words.iter().find_map(|text| in_awk(text)),
        "jq" | "gojq" | "jaq" => {
            words.iter().filter(|word| !word.starts_with('-')).find_map(|text| in_jq(text))
        }
        "perl" => words.iter().find_map(|text| in_perl(text)),
        "yq" => words.iter().find_map(|text| in_yq(text)),
        "envsubst" => in_template(&words, &call.input),
        _ => None,
    }
}

fn all() -> Output {
    Output::Secret(ALL_VARIABLES.to_owned())
}

fn one(name: &str) -> Option<Output> {
    is_secret_name(name).then(|| Output::Secret(format!("${name}")))
}

/// `ENVIRON["NAME"]`, and `ENVIRON[k]`, in a program that prints.
fn in_awk(text: &str) -> Option<Output> {
    if !text.contains("print") {
        return None;
    }
    text.match_indices("ENVIRON").find_map(|(at, found)| {
        let index = text.get(at + found.len()..)?.trim_start().strip_prefix('[')?.trim_start();
        match index.strip_prefix('"') {
            Some(name) => one(name.split('"').next().unwrap_or_default()),
            None => Some(all()),
        }
    })
}

/// `env`, `$ENV`, `env.NAME` and `$ENV["NAME"]` in a filter.
fn in_jq(text: &str) -> Option<Output> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mentions = text.match_indices("$ENV").chain(text.match_indices("env"));
    mentions.into_iter().find_map(|(at, found)| {
        let before = text.get(..at)?.chars().next_back();
        let rest = text.get(at + found.len()..)?;
        let is_field =
            found == "env" && before.is_some_and(|c| is_part(c) || matches!(c, '.' | '$' | '"' | '-' | '/'));
        if is_field || rest.starts_with(|c: char| is_part(c) || matches!(c, '"' | ':' | '-')) {
            return None;
        }
        let name = match rest.strip_prefix('.') {
            Some(field) => Some(field.trim_start_matches('"')),
            None => rest.strip_prefix("[\""),
        };
        if let Some(name) = name {
            return one(name.split(|c| !is_part(c)).next().unwrap_or_default());
        }
        let then = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '|');
        (!NAMES.iter().any(|word| then.starts_with(word))).then(all)
    })
}

/// `%ENV` as a whole, and its elements by names that are not written out, in code that prints.
fn in_perl(text: &str) -> Option<Output> {
    if !["print", "say", "Dumper", "warn", "die"].iter().any(|printer| text.contains(printer)) {
        return None;
    }
    let by_name = text.contains("$ENV{$") || text.contains("@ENV{");
    let whole = text.match_indices("%ENV").any(|(at, found)| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '(']);
        let after = text.get(at + found.len()..).unwrap_or_default().trim_start();
        let is_about = ["keys", "scalar", "exists", "delete", "local", "undef"];
        !is_about.iter().any(|word| before.ends_with(word))
            && (!after.starts_with('=') || after.starts_with("=="))
    });
    (by_name || whole).then(all)
}

/// `env(NAME)` and `strenv(NAME)` in an expression.
fn in_yq(text: &str) -> Option<Output> {
    text.match_indices("env(").find_map(|(at, found)| {
        let name = text.get(at + found.len()..)?.split(')').next()?;
        one(name.trim())
    })
}

/// The variables that a template names, as far as those are filled in which are given.
fn in_template(words: &[&str], input: &Input) -> Option<Output> {
    let format = words.iter().find(|word| !word.starts_with('-'));
    if words.iter().any(|word| matches!(*word, "-v" | "--variables")) {
        return None;
    }
    let Input::Text(template) = input else { return None };
    let text = template.as_exact()?;
    let is_given = |name: &str| format.is_none_or(|format| variables(format).any(|given| given == name));
    variables(text).filter(|name| is_given(name)).find_map(one)
}

/// The names behind the dollar signs of a text.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(output: Option<Output>) -> Option<String> {
        output?.into_secret()
    }

    #[test]
    fn programs_of_awk_and_filters_of_jq_name_variables() {
        assert_eq!(place(in_awk("BEGIN { print ENVIRON[\"API_KEY\"] }")).as_deref(), Some("$API_KEY"));
        assert_eq!(place(in_awk("BEGIN { for (k in ENVIRON) print k, ENVIRON[k] }")).as_deref(), Some("$*"));
        assert_eq!(in_awk("BEGIN { for (k in ENVIRON) print k }"), None);
        assert_eq!(in_awk("BEGIN { print ENVIRON[\"HOME\"] }"), None);
        assert_eq!(in_awk("BEGIN { x = ENVIRON[\"API_KEY\"] }"), None);
        assert_eq!(place(in_jq("env")).as_deref(), Some("$*"));
        assert_eq!(place(in_jq("$ENV")).as_deref(), Some("$*"));
        assert_eq!(place(in_jq("{token: env.API_KEY}")).as_deref(), Some("$API_KEY"));
        assert_eq!(place(in_jq("$ENV[\"API_KEY\"]")).as_deref(), Some("$API_KEY"));
        for quiet in [
            "env.HOME",
            "$ENV.PATH",
            "env | keys",
            "env|length",
            ".env",
            ".a.env.x",
            "\"env\"",
            "{env: .x}",
            ".environment",
        ] {
            assert_eq!(in_jq(quiet), None, "{quiet}");
        }
        assert_eq!(place(in_perl("print map { \"$_=$ENV{$_}\" } keys %ENV")).as_deref(), Some("$*"));
        assert_eq!(place(in_perl("print Dumper(\\%ENV)")).as_deref(), Some("$*"));
        for quiet in
            ["print join ' ', sort keys %ENV", "print $ENV{HOME}", "%ENV = (); print 1", "my %x = %ENV"]
        {
            assert_eq!(in_perl(quiet), None, "{quiet}");
        }
        assert_eq!(place(in_yq(".a = strenv(API_KEY)")).as_deref(), Some("$API_KEY"));
        let template = |text: &str| Input::Text(Value::exact(text));
        assert_eq!(place(in_template(&[], &template("key=${API_KEY}"))).as_deref(), Some("$API_KEY"));
        assert_eq!(in_template(&["$HOME"], &template("key=${API_KEY} $HOME")), None);
        assert_eq!(in_template(&[], &template("home=$HOME")), None);
    }
}
