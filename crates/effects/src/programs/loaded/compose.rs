//! The services of a compose file: what their commands do to what they mount of this machine.

use serde_json::Value as Json;

use crate::interpreter::{Call, Input, Machine, Value};
use crate::path::AbsolutePath;
use crate::programs::compiled::may_be_of_session;
use crate::programs::packages::{keep_what_reaches_out, yaml_document};

/// The programs that read compose files.
const PROGRAMS: &[&str] =
    &["docker compose", "docker-compose", "podman compose", "podman-compose", "nerdctl compose"];
/// The files that they look for (Compose specification, "Compose file"; "Merge").
const FILES: &[&str] = &[
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
    "compose.override.yaml",
    "docker-compose.override.yml",
];
/// Verbs with which services run.
const RUNNING: &[&str] = &["up", "run", "create", "start", "restart", "watch"];
/// The greatest number of services that are followed (ours).
const SERVICES: usize = 32;

/// Follows the services that a call starts, as far as the session may have written their file.
pub(super) fn services(machine: &mut Machine<'_>, call: &Call) {
    if !PROGRAMS.contains(&call.program.as_str()) {
        return;
    }
    let words: Vec<&str> = call.words.iter().filter_map(Value::as_exact).collect();
    if !words.iter().any(|word| RUNNING.contains(word)) {
        return;
    }
    let behind = |names: &[&str]| {
        words.iter().enumerate().find_map(|(at, word)| {
            let attached =
                word.split_once('=').filter(|(name, _)| names.contains(name)).map(|(_, value)| value);
            attached.or_else(|| names.contains(word).then(|| words.get(at + 1).copied())?)
        })
    };
    let directory = behind(&["--project-directory"]).unwrap_or(".");
    let named: Vec<String> = match behind(&["-f", "--file"]) {
        Some(file) => vec![file.to_owned()],
        None => FILES.iter().map(|name| format!("{directory}/{name}")).collect(),
    };
    for file in named {
        let Some(path) = machine.one_path_through(&Value::Exact(file)) else { continue };
        let text = machine.text(&path);
        let Some(text) = text.as_exact().filter(|_| may_be_of_session(machine, &path)) else { continue };
        let Some(document) = yaml_document(text) else { continue };
        let Some(services) = document.get("services").and_then(Json::as_object) else { continue };
        let base = path.parent().unwrap_or_else(AbsolutePath::root);
        let home = machine.world().place().home.as_str().to_owned();
        for words in services.values().take(SERVICES).filter_map(|service| words_of(service, &home)) {
            let before = machine.effect_count();
            machine.possibly(|machine| {
                machine.inside(&Value::exact(base.as_str()), |machine| {
                    machine.run_words(&words, Input::Inherited)
                })
            });
            keep_what_reaches_out(machine, before);
        }
    }
}

/// A service as the words of `docker run`; `None` where it mounts nothing or runs what its image says.
fn words_of(service: &Json, home: &str) -> Option<Vec<Value>> {
    let mut words = vec!["docker".to_owned(), "run".to_owned()];
    // Compose specification, "Interpolation"; "volumes": a path may begin with the home directory.
    let place = |mount: String| match mount.strip_prefix("~/").or_else(|| mount.strip_prefix("${HOME}/")) {
        Some(rest) => format!("{home}/{rest}"),
        None if mount.starts_with("~:") => format!("{home}{}", mount.trim_start_matches('~')),
        None => {
            mount.replace("${HOME}", home).replace("$HOME", home).replace("${PWD}", ".").replace("$PWD", ".")
        }
    };
    for mount in service.get("volumes")?.as_array()? {
        let text = |name: &str| mount.get(name).and_then(Json::as_str);
        let mount = match mount {
            Json::String(text) => text.clone(),
            _ => format!("{}:{}", text("source")?, text("target")?),
        };
        words.extend(["-v".to_owned(), place(mount)]);
    }
    if let Some(place) = service.get("working_dir").and_then(Json::as_str) {
        words.extend(["-w".to_owned(), place.to_owned()]);
    }
    words.push(service.get("image").and_then(Json::as_str).unwrap_or("image").to_owned());
    let mut command = Vec::new();
    for part in [service.get("entrypoint"), service.get("command")].into_iter().flatten() {
        match part {
            Json::String(text) => command.extend(text.split_whitespace().map(str::to_owned)),
            Json::Array(items) => command.extend(items.iter().filter_map(Json::as_str).map(str::to_owned)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => {}
        }
    }
    if command.is_empty() {
        return None;
    }
    words.extend(command);
    Some(words.into_iter().map(Value::Exact).collect())
}
