//! Descriptions of services that a command brings itself: on the standard input, or in a file that the session wrote.
//!
//! The description of a project says how the project runs, and is its own. One that is made on the spot is a longer way to write `docker run`, so
//! each service counts as such a call. Source: docs.docker.com, "Compose file reference", services.

use serde_json::Value as Json;

use super::packages::yaml_document as document;
use crate::interpreter::{Call, Input, Machine, Value};

/// The names under which a description is looked for (docs.docker.com, "The Compose file").
const NAMES: &[&str] = &["compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"];
/// How many services of one description are followed (ours).
const SERVICES: usize = 16;
/// Keys whose values are words of `docker run`, and the options there.
const OPTIONS: &[(&str, &str)] = &[
    ("pid", "--pid"),
    ("userns_mode", "--userns"),
    ("ipc", "--ipc"),
    ("user", "--user"),
    ("network_mode", "--network"),
];
/// The same for lists.
const LISTS: &[(&str, &str)] = &[("volumes", "-v"), ("cap_add", "--cap-add"), ("devices", "--device")];

/// Starts the services of such a description as `docker run` does.
pub(super) fn start(machine: &mut Machine<'_>, call: &Call) {
    for text in brought(machine, call) {
        let Some(Json::Object(root)) = document(&text) else { continue };
        let services = root.get("services").and_then(Json::as_object);
        for (name, service) in services.into_iter().flatten().take(SERVICES) {
            let words = run_words(name, service);
            machine.possibly(|machine| machine.run_words(&words, Input::Unknown));
        }
    }
}

/// Whether a call brings all of its description, and nothing in it is filled in from elsewhere.
pub(super) fn is_complete(machine: &Machine<'_>, call: &Call) -> bool {
    let named = call.arguments.values(&["-f", "--file"]).count();
    let texts = brought(machine, call);
    !texts.is_empty()
        && texts.len() >= named
        && texts.iter().all(|text| !text.contains('$') && !text.contains("env_file"))
}

/// The descriptions that a call reads and the session made.
fn brought(machine: &Machine<'_>, call: &Call) -> Vec<String> {
    let mut files: Vec<Value> = call.arguments.values(&["-f", "--file"]).cloned().collect();
    if files.is_empty() {
        files.extend(NAMES.iter().map(|name| Value::exact(*name)));
    }
    files.iter().filter_map(|file| text_of(machine, call, file)).collect()
}

fn text_of(machine: &Machine<'_>, call: &Call, file: &Value) -> Option<String> {
    let text = if file.as_exact() == Some("-") {
        let Input::Text(text) = &call.input else { return None };
        text.clone()
    } else {
        let path = machine.one_path_through(file).filter(|path| machine.is_of_session(path))?;
        machine.announced_text(&path)
    };
    text.as_exact().map(str::to_owned)
}

/// The call of `docker run` that starts a service.
fn run_words(name: &str, service: &Json) -> Vec<Value> {
    let mut words = vec!["docker".to_owned(), "run".to_owned()];
    let text = |value: &Json| value.as_str().map(str::to_owned);
    if service.get("privileged").and_then(Json::as_str) == Some("true") {
        words.push("--privileged".to_owned());
    }
    for (key, option) in OPTIONS {
        if let Some(value) = service.get(*key).and_then(text) {
            words.extend([(*option).to_owned(), value]);
        }
    }
    for (key, option) in LISTS {
        for one in service.get(*key).and_then(Json::as_array).into_iter().flatten() {
            let value = match one {
                Json::Object(parts) => {
                    let part = |name: &str| parts.get(name).and_then(text);
                    part("source").zip(part("target")).map(|(from, to)| format!("{from}:{to}"))
                }
                one => text(one),
            };
            words.extend(value.map(|value| [(*option).to_owned(), value]).into_iter().flatten());
        }
    }
    if let Some(entry) = service.get("entrypoint").and_then(text) {
        words.extend(["--entrypoint".to_owned(), entry]);
    }
    words.push(service.get("image").and_then(text).unwrap_or_else(|| name.to_owned()));
    match service.get("command") {
        // One text is split into words as a shell splits it.
        Some(Json::String(command)) => words.extend(["sh".to_owned(), "-c".to_owned(), command.clone()]),
        Some(Json::Array(command)) => words.extend(command.iter().filter_map(text)),
        _ => {}
    }
    words.into_iter().map(Value::Exact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_a_call_of_docker_run() {
        let text = "image: alpine\nprivileged: true\nvolumes: ['/:/h', {type: bind, source: /etc, target: /e}]\ncommand: [ls, /h]\n";
        let words = run_words("x", &document(text).unwrap());
        let words: Vec<&str> = words.iter().filter_map(Value::as_exact).collect();
        assert_eq!(
            words,
            ["docker", "run", "--privileged", "-v", "/:/h", "-v", "/etc:/e", "alpine", "ls", "/h"]
        );
    }
}
