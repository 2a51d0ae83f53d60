//! How tox writes its environments: in `tox.ini`, `setup.cfg`, `tox.toml` and `pyproject.toml`.

use super::files::{LENGTH, REFERENCES, Tasks};
use super::{Asked, HOME, Step, Task};

/// A file of sections with keys, whose values go on in lines that are indented (Python, `configparser`).
fn sections(text: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut all: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for line in text.lines() {
        let plain = line.trim();
        if plain.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = all.last_mut().and_then(|(_, keys)| keys.last_mut()) {
                value.push('\n');
                value.push_str(plain);
            }
        } else if let Some(name) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            all.push((name.trim().to_owned(), Vec::new()));
        } else if let (Some((key, value)), Some((_, keys))) = (plain.split_once(['=', ':']), all.last_mut()) {
            keys.push((key.trim().to_lowercase(), value.trim().to_owned()));
        }
    }
    all
}

/// `tox.ini`, and what stands for it in `setup.cfg` and `pyproject.toml`.
pub(super) fn tox(text: &str, asked: &Asked) -> Tasks {
    if let Ok(file) = text.parse::<toml::Table>() {
        return tox_of_table(&file, asked);
    }
    let sections = sections(text);
    let value = |section: &str, key: &str| {
        let of_section = sections.iter().rev().find(|(name, _)| name == section);
        of_section
            .and_then(|(_, keys)| keys.iter().rev().find(|(name, _)| name == key))
            .map(|(_, value)| value.as_str())
    };
    if !sections.iter().any(|(name, _)| name.starts_with("testenv")) {
        return Some((Vec::new(), Vec::new()));
    }
    let mut chosen = environments_asked(asked);
    if chosen.is_empty() {
        let section =
            if value("tox", "envlist").or(value("tox", "env_list")).is_some() { "tox" } else { "tox:tox" };
        let listed = value(section, "envlist").or(value(section, "env_list")).unwrap_or("py");
        let listed = listed.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty());
        chosen.extend(listed.map(str::to_owned));
    }
    let mut tasks = Vec::new();
    for name in &chosen {
        let own = format!("testenv:{name}");
        let stands_for = |section: &&(String, Vec<(String, String)>)| {
            section.0 != "testenv" && alternatives(&section.0).contains(&own)
        };
        let said = |key: &str| {
            let own = sections.iter().rev().filter(stands_for);
            let own =
                own.flat_map(|(_, keys)| keys).find(|(name, _)| name == key).map(|(_, value)| value.as_str());
            let mut text = own.or_else(|| value("testenv", key)).unwrap_or_default().to_owned();
            // What another section says.
            for _ in 0..REFERENCES {
                let Some((before, rest)) = text.split_once("{[") else { break };
                let Some((inner, after)) = rest.split_once('}') else { break };
                let (section, key) = inner.split_once(']').unwrap_or((inner, ""));
                text = format!("{before}{}{after}", value(section, key).unwrap_or_default());
                if text.len() > LENGTH {
                    break;
                }
            }
            let lines = text.lines().filter_map(|line| for_environment(line, name));
            lines.collect::<Vec<_>>().join("\n")
        };
        let mut one = Task { name: name.clone(), ..Task::default() };
        for line in said("setenv").lines().chain(said("set_env").lines()) {
            if let Some((name, value)) = line.split_once('=') {
                one.variables.push((name.trim().to_owned(), of_tox(value.trim(), asked)));
            }
        }
        let changed = said("changedir") + &said("change_dir");
        one.directory = Some(of_tox(changed.trim(), asked)).filter(|directory| !directory.is_empty());
        for key in
            ["install_command", "list_dependencies_command", "commands_pre", "commands", "commands_post"]
        {
            let joined = said(key).replace("\\\n", " ");
            one.steps.extend(
                joined.lines().filter(|line| !line.trim().is_empty()).map(|line| command_of_tox(line, asked)),
            );
        }
        tasks.push(one);
    }
    Some((tasks, chosen))
}

/// `tox.toml`, or the part of `pyproject.toml` that stands for it.
fn tox_of_table(file: &toml::Table, asked: &Asked) -> Tasks {
    let of_project = file.get("tool").and_then(|tool| tool.get("tox")).and_then(toml::Value::as_table);
    if let Some(text) = of_project.and_then(|tox| tox.get("legacy_tox_ini")).and_then(toml::Value::as_str) {
        return tox(text, asked);
    }
    let table = of_project.unwrap_or(file);
    let environments = table.get("env").and_then(toml::Value::as_table);
    let base = table.get("env_run_base").and_then(toml::Value::as_table);
    if environments.is_none() && base.is_none() {
        return Some((Vec::new(), Vec::new()));
    }
    let mut chosen = environments_asked(asked);
    if chosen.is_empty() {
        let listed = table.get("env_list").and_then(toml::Value::as_array).into_iter().flatten();
        chosen.extend(listed.filter_map(toml::Value::as_str).map(str::to_owned));
    }
    if chosen.is_empty() {
        chosen.push("py".to_owned());
    }
    let one = |name: &String| {
        let own = environments.and_then(|all| all.get(name)).and_then(toml::Value::as_table);
        let said =
            |key: &str| own.and_then(|own| own.get(key)).or_else(|| base.and_then(|base| base.get(key)));
        // How packages are installed and listed is one command each.
        let around = ["install_command", "list_dependencies_command"].into_iter().filter_map(said).cloned();
        let commands = around.chain(
            ["commands_pre", "commands", "commands_post"]
                .into_iter()
                .flat_map(|key| said(key).and_then(toml::Value::as_array).cloned().unwrap_or_default()),
        );
        let step = |command: toml::Value| match command {
            toml::Value::Array(words) => {
                // A word that is a table stands for what the call hands on.
                let words = words.iter().map(|word| {
                    word.as_str().map_or_else(|| "{posargs}".to_owned(), checkrein_shell::quoted)
                });
                command_of_tox(&words.collect::<Vec<_>>().join(" "), asked)
            }
            other => command_of_tox(other.as_str().unwrap_or_default(), asked),
        };
        Task { name: name.clone(), steps: commands.map(step).collect(), ..Task::default() }
    };
    let tasks = chosen.iter().map(one).collect();
    Some((tasks, chosen))
}

/// The environments that the words name; none of them where tox runs those of its list.
fn environments_asked(asked: &Asked) -> Vec<String> {
    let is_verb = |name: &&String| matches!(name.as_str(), "run" | "r" | "p" | "run-parallel");
    asked.operands.iter().filter(|name| !is_verb(name)).cloned().collect()
}

/// The names that one with lists in braces stands for: `testenv:{a,b}`.
fn alternatives(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let Some((inner, after)) = rest.split_once('}') else { return vec![name.to_owned()] };
    let ends: Vec<String> = alternatives(after).into_iter().take(REFERENCES).collect();
    let starts = inner.split(',').take(REFERENCES);
    starts.flat_map(|part| ends.iter().map(move |end| format!("{before}{}{end}", part.trim()))).collect()
}

/// A line of a setting of tox without the parts of names for which it holds; `None` where it does not hold for an environment.
fn for_environment<'a>(line: &'a str, environment: &str) -> Option<&'a str> {
    let is_sign = |letter: char| letter.is_ascii_alphanumeric() || "_.,!{}-".contains(letter);
    let Some((parts, rest)) =
        line.split_once(": ").filter(|(parts, _)| !parts.is_empty() && parts.chars().all(is_sign))
    else {
        return Some(line);
    };
    let has = |part: &str| {
        part.split('-').all(|part| match part.strip_prefix('!') {
            Some(part) => environment.split('-').all(|own| own != part),
            None => environment.split('-').any(|own| own == part),
        })
    };
    let holds = parts.split([',', '{', '}']).filter(|part| !part.is_empty()).any(has);
    holds.then_some(rest.trim_start())
}

/// A command of tox, without the signs before it that say what becomes of its failure.
fn command_of_tox(line: &str, asked: &Asked) -> Step {
    Step::Words(of_tox(line.trim().trim_start_matches(['-', '!']).trim(), asked))
}

/// A text of tox with its places put in: `{posargs:default}`, `{toxinidir}`, `{env:NAME:default}`.
fn of_tox(text: &str, asked: &Asked) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let Some((inner, next)) = after.split_once('}') else {
            out.push('{');
            rest = after;
            continue;
        };
        let (name, default) = inner.split_once(':').unwrap_or((inner, ""));
        match name {
            "posargs" if asked.rest.is_empty() => out.push_str(default),
            "posargs" => out.push_str(
                &asked.rest.iter().map(|word| checkrein_shell::quoted(word)).collect::<Vec<_>>().join(" "),
            ),
            "toxinidir" | "tox_root" => out.push('.'),
            "toxworkdir" | "work_dir" | "envdir" | "env_dir" => out.push_str(".tox"),
            "envtmpdir" | "env_tmp_dir" | "envlogdir" | "env_log_dir" => out.push_str(".tox/tmp"),
            "envbindir" | "env_bin_dir" => out.push_str(".tox/bin"),
            "envpython" | "env_python" => out.push_str("python"),
            "/" => out.push('/'),
            "homedir" => out.push_str(HOME),
            "env" if default.split(':').next() == Some("HOME") => out.push_str(HOME),
            "env" => out.push_str(default.split_once(':').map_or("", |(_, default)| default)),
            _ => {}
        }
        rest = next;
    }
    out + rest
}
