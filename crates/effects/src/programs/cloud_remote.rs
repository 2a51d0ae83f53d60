//! Commands of clouds that run a command on a machine elsewhere: what runs there is read as where `ssh` runs it.
//!
//! Sources: `aws ssm send-command help`, `aws ecs execute-command help`, `gcloud compute ssh`, `az vm run-command invoke`, `az container exec`,
//! `az aks command invoke`, `heroku help run`, `fly ssh console`, `fly machine exec`, `doctl compute ssh`, `cf ssh`, `dokku help run`,
//! `kamal app exec`, `eb ssh`, `nomad alloc exec`, `railway ssh`.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};

use super::cloud::{Command, behind, value_of};
use super::kubernetes::prints_environment;
use super::{containers, sql};

/// Where in the words of a command the command for the other machine stands.
enum Place {
    /// The value of one of these options, as text.
    Option(&'static [&'static str]),
    /// Every value of one of these options up to the next option, each a line.
    Options(&'static [&'static str]),
    /// The words behind this word, without options and as many operands as are said.
    Behind(&'static str, usize),
    /// The words behind `--`.
    Dashes,
}

/// A command that runs another: the program, its leading words, and where the other stands.
type Runner = (&'static [&'static str], &'static [&'static str], Place);

const RUNNERS: &[Runner] = &[
    (&["aws", "awslocal"], &["ssm", "send-command"], Place::Option(&["--parameters"])),
    (&["aws", "awslocal"], &["ecs", "execute-command"], Place::Option(&["--command"])),
    (&["gcloud"], &["compute", "ssh"], Place::Option(&["--command"])),
    (&["gcloud"], &["compute", "ssh"], Place::Dashes),
    (&["gcloud"], &["app", "instances", "ssh"], Place::Dashes),
    (&["gcloud"], &["compute", "tpus", "tpu-vm", "ssh"], Place::Option(&["--command"])),
    (&["az"], &["vm", "run-command", "invoke"], Place::Options(&["--scripts"])),
    (&["az"], &["vm", "run-command", "create"], Place::Options(&["--script"])),
    (&["az"], &["vm", "run-command", "update"], Place::Options(&["--script"])),
    (&["az"], &["vmss", "run-command", "invoke"], Place::Options(&["--scripts"])),
    (&["az"], &["vmss", "run-command", "create"], Place::Options(&["--script"])),
    (&["az"], &["vmss", "run-command", "update"], Place::Options(&["--script"])),
    (&["az"], &["aks", "command", "invoke"], Place::Option(&["--command", "-c"])),
    (&["az"], &["container", "exec"], Place::Option(&["--exec-command"])),
    (&["az"], &["containerapp", "exec"], Place::Option(&["--command"])),
    (&["az"], &["ssh", "vm"], Place::Dashes),
    (&["heroku"], &["run"], Place::Behind("run", 0)),
    (&["heroku"], &["run:detached"], Place::Behind("run:detached", 0)),
    (&["heroku"], &["run:inside"], Place::Behind("run:inside", 1)),
    (&["heroku"], &["ps:exec"], Place::Dashes),
    (&["fly", "flyctl"], &["ssh", "console"], Place::Option(&["-C", "--command"])),
    (&["fly", "flyctl"], &["console"], Place::Option(&["-C", "--command"])),
    (&["fly", "flyctl"], &["machine", "exec"], Place::Behind("exec", 1)),
    (&["fly", "flyctl"], &["machines", "exec"], Place::Behind("exec", 1)),
    (&["doctl"], &["compute", "ssh"], Place::Option(&["--ssh-command"])),
    (&["hcloud"], &["server", "ssh"], Place::Behind("ssh", 1)),
    (&["cf", "cf7", "cf8"], &["ssh"], Place::Option(&["-c", "--command"])),
    (&["cf", "cf7", "cf8"], &["run-task"], Place::Option(&["-c", "--command"])),
    (&["dokku"], &["run"], Place::Behind("run", 1)),
    (&["dokku"], &["run:detached"], Place::Behind("run:detached", 1)),
    (&["dokku"], &["enter"], Place::Behind("enter", 2)),
    (&["kamal"], &["app", "exec"], Place::Behind("exec", 0)),
    (&["kamal"], &["server", "exec"], Place::Behind("exec", 0)),
    (&["railway"], &["ssh"], Place::Behind("ssh", 0)),
    (&["scalingo"], &["run"], Place::Behind("run", 0)),
    (&["nomad"], &["alloc", "exec"], Place::Behind("exec", 1)),
    (&["nomad"], &["exec"], Place::Behind("exec", 1)),
    (&["eb"], &["ssh"], Place::Option(&["-c", "--command"])),
    (&["juju"], &["run"], Place::Behind("run", 1)),
    (&["juju"], &["exec"], Place::Dashes),
    (&["juju"], &["ssh"], Place::Behind("ssh", 1)),
    (&["openstack"], &["server", "ssh"], Place::Dashes),
];

/// Options that take a value behind the word after which the other command stands.
const VALUES: &[&str] = &[
    "-a",
    "--app",
    "-s",
    "--size",
    "-e",
    "--env",
    "-r",
    "--remote",
    "--type",
    "--timeout",
    "--task",
    "--service",
    "--environment",
    "-p",
    "--project",
    "--roles",
    "--hosts",
    "--version",
];

/// Runs the other command, for a command that has one.
pub(super) fn run(machine: &mut Machine<'_>, call: &Call, command: &Command<'_>) -> Option<Exit> {
    if let Some(exit) = statements(machine, call, command) {
        return Some(exit);
    }
    let runners =
        RUNNERS.iter().filter(|(tools, path, _)| tools.contains(&command.tool) && command.starts(path));
    let mut is_runner = false;
    for (_, _, place) in runners {
        is_runner = true;
        let exit = match place {
            Place::Option(options) => options.iter().find_map(|option| value_of(call, option)).map(|text| {
                let text = if command.tool.starts_with("aws") && options.contains(&"--parameters") {
                    shell_lines(machine, &text)
                } else {
                    text
                };
                note_secrets(machine, command, std::slice::from_ref(&text));
                elsewhere(machine, command, |machine| machine.run_text(&text, call.input.clone()))
            }),
            Place::Options(options) => {
                options.iter().find_map(|option| lines_of(machine, call, option)).map(|text| {
                    elsewhere(machine, command, |machine| machine.run_text(&text, call.input.clone()))
                })
            }
            Place::Behind(word, operands) => {
                let words = behind(call, word);
                let mut words = containers::skip_options(&words, VALUES);
                for _ in 0..*operands {
                    words = containers::skip_options(words.get(1..).unwrap_or_default(), VALUES);
                }
                in_words(machine, call, command, words)
            }
            Place::Dashes => in_words(machine, call, command, &behind(call, "--")),
        };
        if exit.is_some() {
            return exit;
        }
    }
    // A shell of one's own there: what is typed into it is not known.
    if is_runner {
        let input = !matches!(call.input, Input::Inherited);
        if input {
            return Some(elsewhere(machine, command, |machine| {
                let words = [Value::exact("sh")];
                machine.run_words(&words, call.input.clone())
            }));
        }
        machine.add(
            Draft::new(EffectKind::NetworkRequest, Target::Host(command.tool.to_owned()))
                .reach(NetworkReach::External),
        );
        return Some(Exit::unknown());
    }
    None
}

/// Words that run there; one word with blanks is a text.
fn in_words(machine: &mut Machine<'_>, call: &Call, command: &Command<'_>, words: &[Value]) -> Option<Exit> {
    let (first, rest) = words.split_first()?;
    note_secrets(machine, command, words);
    let is_text = rest.is_empty() && first.as_exact().is_none_or(|text| text.contains(char::is_whitespace));
    Some(elsewhere(machine, command, |machine| {
        if is_text {
            machine.run_text(first, call.input.clone())
        } else {
            machine.run_words(words, call.input.clone())
        }
    }))
}

/// Adds that words print the environment of what runs there, where platforms keep its secrets.
fn note_secrets(machine: &mut Machine<'_>, command: &Command<'_>, words: &[Value]) {
    // `heroku run env -a APP`: what follows is for the platform.
    let own = words.iter().position(|word| word.known_start().starts_with('-')).unwrap_or(words.len());
    let is_printed = prints_environment(words) || prints_environment(words.get(..own).unwrap_or_default());
    if is_printed {
        let target = Target::Service(command.name());
        let note = "prints the environment of what runs there, secrets with it";
        machine.add(Draft::new(EffectKind::SecretRead, target).note(note));
    }
}

fn elsewhere(
    machine: &mut Machine<'_>,
    command: &Command<'_>,
    work: impl FnOnce(&mut Machine<'_>) -> Exit,
) -> Exit {
    let before = machine.effect_count();
    let exit = machine.elsewhere(command.tool, work);
    if machine.effect_count() == before {
        machine.add(
            Draft::new(EffectKind::InfrastructureChange, Target::Service(command.name()))
                .severity(Severity::Low)
                .note("runs a command there"),
        );
    }
    exit
}

/// The values behind an option, as the lines of a script; `@FILE` is a script that stands in a file (`az vm run-command invoke --help`).
fn lines_of(machine: &mut Machine<'_>, call: &Call, option: &str) -> Option<Value> {
    let first = value_of(call, option)?;
    let is_same = |word: &&Value| *word == &first;
    let behind = call.words.iter().skip_while(|word| !is_same(word)).skip(1);
    let more = behind.take_while(|word| !word.known_start().starts_with('-'));
    let mut text = in_file(machine, &first);
    for value in more {
        let line = in_file(machine, value);
        text = text.followed_by(&Value::exact("\n")).followed_by(&line);
    }
    Some(text)
}

/// The content of the file that `@FILE` names; any other value as it is.
fn in_file(machine: &mut Machine<'_>, value: &Value) -> Value {
    match value.as_exact().and_then(|text| text.strip_prefix('@')) {
        Some(file) => content_of(machine, file),
        None => value.clone(),
    }
}

fn content_of(machine: &mut Machine<'_>, file: &str) -> Value {
    machine.read(&Value::exact(file)).into_text()
}

/// The lines of `commands=["a","b"]` or `{"commands":["a","b"]}`, as a shell would run them.
fn shell_lines(machine: &mut Machine<'_>, parameters: &Value) -> Value {
    let in_file = parameters.as_exact().and_then(|text| text.strip_prefix("file://"));
    let parameters = in_file.map_or_else(|| parameters.clone(), |file| content_of(machine, file));
    let Some(text) = parameters.as_exact() else { return Value::Unknown };
    let given = text.split_once("commands=").map_or(text, |(_, rest)| rest);
    let lines = |json: &serde_json::Value| -> Option<String> {
        let list = json.get("commands").unwrap_or(json);
        match list {
            serde_json::Value::Array(items) => {
                Some(items.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join("\n"))
            }
            serde_json::Value::String(one) => Some(one.clone()),
            serde_json::Value::Null
            | serde_json::Value::Bool(_)
            | serde_json::Value::Number(_)
            | serde_json::Value::Object(_) => None,
        }
    };
    if let Some(text) = serde_json::from_str::<serde_json::Value>(given).ok().as_ref().and_then(lines) {
        return Value::Exact(text);
    }
    // The short form of the command line: `commands=[ls,df]` or `commands=ls`.
    let inner = given.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(given);
    Value::exact(inner.replace(',', "\n"))
}

/// Statements for a database that such a platform keeps: `heroku pg:psql -c`.
fn statements(machine: &mut Machine<'_>, call: &Call, command: &Command<'_>) -> Option<Exit> {
    let (options, language, place): (&[&str], sql::Language, &str) =
        match (command.tool, command.path.as_slice()) {
            ("heroku", ["pg:psql" | "psql", ..]) => {
                (&["-c", "--command"], sql::Language::Postgres, "heroku postgres")
            }
            ("fly" | "flyctl", ["postgres" | "pg" | "mpg", "connect", ..]) => {
                (&["-c", "--command"], sql::Language::Postgres, "fly postgres")
            }
            ("turso", ["db", "shell", ..]) => (&[], sql::Language::Sqlite, "turso"),
            ("pscale", ["shell", ..]) => (&["-e", "--execute"], sql::Language::Mysql, "planetscale"),
            ("snow", ["sql", ..]) => (&["-q", "--query"], sql::Language::Generic, "snowflake"),
            ("gcloud", ["spanner", "databases", "execute-sql" | "ddl", ..]) => {
                (&["--sql", "--ddl"], sql::Language::Generic, "spanner")
            }
            ("aws", ["rds-data" | "redshift-data", "execute-statement" | "batch-execute-statement", ..]) => {
                (&["--sql", "--sqls"], sql::Language::Generic, "database")
            }
            ("aws", ["athena", "start-query-execution", ..]) => {
                (&["--query-string"], sql::Language::Generic, "athena")
            }
            ("aws", ["dynamodb", "execute-statement", ..]) => {
                (&["--statement"], sql::Language::Generic, "dynamodb")
            }
            ("supabase", ["db", "query", ..]) => (&[], sql::Language::Postgres, "supabase"),
            _ => return None,
        };
    let given = options.iter().find_map(|option| value_of(call, option)).or_else(|| {
        let has_blanks =
            |word: &&Value| word.as_exact().is_some_and(|text| text.trim().contains(char::is_whitespace));
        options.is_empty().then(|| call.arguments.operands.iter().find(has_blanks).cloned()).flatten()
    });
    match given {
        Some(text) => sql::run_text(machine, &text, language, place),
        None => match value_of(call, "-f").or_else(|| value_of(call, "--file")) {
            Some(file) => sql::run_file(machine, &file, language, place),
            None => sql::run_input(machine, &call.input, language, place),
        },
    }
    Some(Exit::with(Output::Unknown))
}
