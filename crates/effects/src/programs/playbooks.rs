//! Playbooks of Ansible: what their tasks run and take away on this machine. On others it is a change of infrastructure, which is told anyway;
//! the tasks of a play that the same command wrote are followed there too.
//!
//! Source: docs.ansible.com, ansible-core 2.18, "Playbook Keywords", "ansible.builtin".

use serde_json::Value as Json;

use super::packages::yaml_document;
use crate::effect::{Depth, EffectKind, Target};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Output, Value};

/// The greatest number of tasks that are followed (ours).
const TASKS: usize = 256;
/// Modules that run text of a shell, or words.
const RUNNING: &[&str] = &["shell", "command", "raw", "script"];
/// Modules that take a database away with `state: absent` (community.postgresql, community.mysql, community.mongodb, community.rabbitmq).
const STORES: &[&str] = &[
    "postgresql_db",
    "postgresql_schema",
    "postgresql_table",
    "postgresql_tablespace",
    "mysql_db",
    "mssql_db",
    "mongodb_user",
    "influxdb_database",
    "rabbitmq_vhost",
    "rabbitmq_queue",
    "s3_bucket",
    "rds_instance",
    "docker_volume",
];
/// Keys under which lists of tasks stand.
const LISTS: &[&str] = &["tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always"];

/// `ansible-playbook`
pub(crate) fn ansible_playbook(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    if arguments.has(&["--check", "--syntax-check", "--list-hosts", "--list-tasks", "--list-tags", "-C"]) {
        return Exit::unknown();
    }
    let all_here = arguments.values(&["-c", "--connection", "-i", "--inventory"]).any(is_here);
    for file in arguments.operands.clone() {
        machine.effect(EffectKind::InfrastructureChange, &file);
        if let Output::Network(address) = machine.peek(&file) {
            machine.runs_from_network(&address);
            continue;
        }
        let is_input = matches!(file.as_exact(), Some("/dev/stdin" | "/dev/fd/0" | "-"));
        let (text, is_of_command) = match &call.input {
            Input::Text(text) if is_input => (text.clone(), true),
            _ => {
                let Some(path) = machine.one_path_through(&file) else { continue };
                (machine.text(&path), machine.is_written_here(&path))
            }
        };
        let Some(Json::Array(plays)) = text.as_exact().and_then(yaml_document) else { continue };
        let mut left = TASKS;
        for play in &plays {
            let is_local = |key: &str| {
                play.get(key).and_then(Json::as_str).is_some_and(|text| {
                    text.split([',', ':'])
                        .any(|host| matches!(host.trim(), "localhost" | "127.0.0.1" | "local"))
                })
            };
            let here = all_here || is_local("hosts") || is_local("connection");
            let hosts = play.get("hosts").and_then(Json::as_str).unwrap_or("the hosts of the inventory");
            let place = match (here, is_of_command) {
                (true, _) => TaskPlace::Here,
                (false, true) => TaskPlace::On(hosts),
                (false, false) => TaskPlace::Unfollowed,
            };
            machine.possibly(|machine| follow(machine, play, place, &mut left));
        }
    }
    Exit::unknown()
}

/// Follows the one task that `ansible` is given on the command line, where it is for this machine.
pub(crate) fn ad_hoc(machine: &mut Machine<'_>, call: &Call) {
    let arguments = &call.arguments;
    if call.program != "ansible"
        || arguments.has(&["--check", "-C", "--list-hosts", "--syntax-check"])
        || !(arguments.values(&["-c", "--connection", "-i", "--inventory"]).any(is_here)
            || arguments.operands.first().is_some_and(is_here))
    {
        return;
    }
    let module = match arguments.value(&["-m", "--module-name"]) {
        Some(name) => name.as_exact(),
        None => Some("command"),
    };
    let given = arguments.value(&["-a", "--args"]).and_then(Value::as_exact).unwrap_or_default();
    match module {
        Some(module) => carry_out(machine, &serde_json::json!({ module: given })),
        None => machine.unread("the module that `ansible` runs is not known"),
    }
}

/// Whether a word says that tasks are for this machine.
fn is_here(value: &Value) -> bool {
    value
        .as_exact()
        .is_some_and(|text| matches!(text, "local" | "localhost" | "127.0.0.1" | "localhost," | "127.0.0.1,"))
}

/// What a module runs of a free text, in which some words are parameters (ansible.builtin.command, "Parameters").
fn without_parameters(text: &str) -> String {
    const PARAMETERS: [&str; 6] = ["creates=", "removes=", "executable=", "chdir=", "stdin=", "warn="];
    let is_parameter = |word: &&str| PARAMETERS.iter().any(|name| word.starts_with(name));
    if !text.split_whitespace().any(|word| is_parameter(&word)) {
        return text.to_owned();
    }
    let command: Vec<&str> = text.split_whitespace().filter(|word| !is_parameter(word)).collect();
    let place = text.split_whitespace().find_map(|word| word.strip_prefix("chdir="));
    let command = command.join(" ");
    place.map_or(command.clone(), |place| format!("cd {place} && {command}"))
}

/// Where the tasks of a play are carried out.
#[derive(Debug, Clone, Copy)]
enum TaskPlace<'a> {
    /// On this machine.
    Here,
    /// On these hosts, by a play that the command itself wrote: nobody has looked at it.
    On(&'a str),
    /// On others, by a play of the project: that it changes them is told.
    Unfollowed,
}

/// Follows the tasks in the lists of a play or block.
fn follow(machine: &mut Machine<'_>, holder: &Json, place: TaskPlace<'_>, left: &mut usize) {
    let tasks = LISTS.iter().filter_map(|list| holder.get(list)).filter_map(Json::as_array).flatten();
    for task in tasks {
        let Some(rest) = left.checked_sub(1) else {
            return machine.unread("the playbook holds more tasks than are followed");
        };
        *left = rest;
        let is_delegated = task.get("delegate_to").and_then(Json::as_str) == Some("localhost")
            || task.get("local_action").is_some();
        match place {
            TaskPlace::Here => carry_out(machine, task),
            TaskPlace::On(_) | TaskPlace::Unfollowed if is_delegated => carry_out(machine, task),
            TaskPlace::On(hosts) => machine.elsewhere(hosts, |machine| carry_out(machine, task)),
            TaskPlace::Unfollowed => {}
        }
        follow(machine, task, place, left);
    }
}

fn carry_out(machine: &mut Machine<'_>, task: &Json) {
    let Some(task) = task.as_object() else { return };
    for (name, given) in task {
        let module = name.rsplit('.').next().unwrap_or(name);
        let text = |key: &str| match given {
            Json::Object(map) => map.get(key).and_then(Json::as_str).map(str::to_owned),
            // `file: path=x state=absent`
            Json::String(text) => text
                .split_whitespace()
                .find_map(|word| Some(word.strip_prefix(key)?.strip_prefix('=')?.to_owned())),
            _ => None,
        };
        if module == "local_action" {
            let text = given.as_str().unwrap_or_default();
            let command = RUNNING.iter().find_map(|module| text.strip_prefix(module)).unwrap_or_default();
            machine.run_text(&Value::exact(command.trim()), Input::Inherited);
        } else if RUNNING.contains(&module) {
            let command = given.as_str().map(without_parameters).or_else(|| text("cmd"));
            let argv = given.get("argv").and_then(Json::as_array);
            match (command, argv) {
                (Some(command), _) => {
                    machine.run_text(&Value::exact(command), Input::Inherited);
                }
                (None, Some(words)) => {
                    let words: Vec<Value> = words.iter().filter_map(Json::as_str).map(Value::exact).collect();
                    machine.run_words(&words, Input::Inherited);
                }
                (None, None) => {}
            }
        } else if STORES.contains(&module) && text("state").as_deref() == Some("absent") {
            let name = text("name").or_else(|| text("db")).or_else(|| text("database"));
            let target = Target::Service(name.unwrap_or_else(|| module.to_owned()));
            machine.add(Draft::new(EffectKind::DatastoreDestroy, target).irreversible());
        } else if module == "file"
            && text("state").as_deref() == Some("absent")
            && let Some(path) = text("path").or_else(|| text("dest")).or_else(|| text("name"))
        {
            machine.delete(&in_words_of_shell(machine, &path), Depth::Recursive);
        }
    }
}

/// A path of a playbook, in which `~` is the home directory.
fn in_words_of_shell(machine: &Machine<'_>, path: &str) -> Value {
    match path.strip_prefix("~/").or_else(|| path.strip_prefix('~').filter(|rest| rest.is_empty())) {
        Some(rest) => Value::exact(machine.world().place().home.join(rest).as_str()),
        None => Value::exact(path),
    }
}
