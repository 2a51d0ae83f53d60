//! Sites that stand in files of programs: the selected stack of Pulumi, the project of `gcloud`, the machine behind a name of `ssh`.
//!
//! A file is read when a call that changes something asks for it. One that is there and cannot be read makes a name that is not known.

use super::values;
use crate::interpreter::{Machine, Value};
use crate::path::AbsolutePath;
use crate::world::{Entry, Listing};
use checkrein_glob::{Glob, Style};

/// The variables in which it is kept what a command chose for those behind it; no shell can have variables of such names.
pub(super) const CHOSEN_STACK: &str = "pulumi stack";
pub(super) const CHOSEN_PROJECT: &str = "gcloud project";
pub(super) const CHOSEN_CONFIGURATION: &str = "gcloud configuration";

/// Options and variables that name a project of `gcloud` ("gcloud topic configurations").
pub(super) const PROJECT: &[&str] = &["--project", "--project_id"];
pub(super) const PROJECT_VARIABLES: &[&str] = &["CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"];

/// How many directories are gone up to find the file of a project (ours).
const UP: usize = 32;

/// The text of a file; `None` where it is not there, and a value that is not known where it cannot be read.
fn text_of(machine: &Machine<'_>, path: &AbsolutePath) -> Option<Value> {
    let text = machine.text(path);
    match text.as_exact() {
        Some(_) => Some(text),
        None if machine.entry(path) == Entry::Missing => None,
        None => Some(Value::Unknown),
    }
}

/// A directory that a variable names, else one below the home; `None` where the variable is not known beforehand.
fn directory(machine: &Machine<'_>, variable: &str, usual: &str) -> Option<AbsolutePath> {
    let home = &machine.world().place().home;
    match machine.variable(variable) {
        Some(named) => machine
            .cwd()
            .map(|cwd| cwd.join(named.as_exact().unwrap_or_default()))
            .filter(|_| named.as_exact().is_some()),
        None => Some(home.join(usual)),
    }
}

/// The stack that is selected for the project of the directory (pulumi/pulumi, `sdk/go/common/workspace`: `workspaces/NAME-HASH-workspace.json`
/// below `~/.pulumi`, with a hash of the path of the project). Of several projects of one name each may be meant.
pub(super) fn pulumi_stacks(machine: &Machine<'_>, words: &[Value]) -> Vec<Value> {
    if let Some(chosen) = machine.variable(CHOSEN_STACK) {
        return vec![chosen];
    }
    if machine.is_away() {
        return vec![Value::Unknown];
    }
    let Some(mut start) = machine.cwd().cloned() else { return vec![Value::Unknown] };
    if let Some(changed) = values(words, &["-C", "--cwd"]).pop() {
        let Some(changed) = changed.as_exact() else { return vec![Value::Unknown] };
        start = start.join(changed);
    }
    let Some(name) = project_name(machine, start) else { return Vec::new() };
    let Some(name) = name.as_exact() else { return vec![Value::Unknown] };
    let Some(folder) = directory(machine, "PULUMI_HOME", ".pulumi") else { return vec![Value::Unknown] };
    let folder = folder.join("workspaces");
    let names = match machine.children(&folder) {
        Listing::Names(names) => names,
        Listing::Unknown if machine.entry(&folder) == Entry::Missing => return Vec::new(),
        Listing::Unknown => return vec![Value::Unknown],
    };
    let is_of_project = |file: &&String| {
        let rest = file.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
        rest.and_then(|rest| rest.strip_suffix("-workspace.json"))
            .is_some_and(|hash| !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let stack_of = |file: &String| {
        let text = text_of(machine, &folder.join(file))?;
        let Some(text) = text.as_exact() else { return Some(Value::Unknown) };
        let read: serde_json::Value = serde_json::from_str(text).ok()?;
        Some(Value::exact(read.get("stack")?.as_str().filter(|name| !name.is_empty())?))
    };
    names.iter().filter(is_of_project).filter_map(stack_of).collect()
}

/// The name of the project of Pulumi that a directory belongs to.
fn project_name(machine: &Machine<'_>, start: AbsolutePath) -> Option<Value> {
    let mut next = Some(start);
    for _ in 0..UP {
        let place = next?;
        for file in ["Pulumi.yaml", "Pulumi.yml"] {
            let Some(text) = text_of(machine, &place.join(file)) else { continue };
            let Some(text) = text.as_exact() else { return Some(text) };
            let name = text.lines().find_map(|line| line.strip_prefix("name:"));
            return name.map(|name| Value::exact(name.trim().trim_matches(['"', '\''])));
        }
        next = place.parent();
    }
    None
}

/// The project of the configuration of `gcloud` that is active ("gcloud topic configurations": `active_config`, `configurations/config_NAME`).
pub(super) fn gcloud_project(machine: &Machine<'_>, words: &[Value]) -> Option<Value> {
    if let Some(chosen) = machine.variable(CHOSEN_PROJECT) {
        return Some(chosen);
    }
    if machine.is_away() {
        return Some(Value::Unknown);
    }
    let Some(folder) = directory(machine, "CLOUDSDK_CONFIG", ".config/gcloud") else {
        return Some(Value::Unknown);
    };
    let named = values(words, &["--configuration"]).pop();
    let named = named.or_else(|| machine.variable("CLOUDSDK_ACTIVE_CONFIG_NAME"));
    let named = named.or_else(|| machine.variable(CHOSEN_CONFIGURATION));
    let named = named.or_else(|| text_of(machine, &folder.join("active_config")));
    let name = named.unwrap_or_else(|| Value::exact("default"));
    let Some(name) = name.as_exact() else { return Some(Value::Unknown) };
    let text = text_of(machine, &folder.join(&format!("configurations/config_{}", name.trim())))?;
    let Some(text) = text.as_exact() else { return Some(Value::Unknown) };
    let mut is_core = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line == "[core]";
        } else if is_core
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "project"
        {
            return Some(Value::exact(value.trim())).filter(|value| value.as_exact() != Some(""));
        }
    }
    None
}

/// The machine that a name means in the user's settings of `ssh`, where it is another one (ssh_config(5): the first value that fits counts).
/// What stands in files that they include, and behind `Match`, is not read.
pub(in crate::programs) fn ssh_host(machine: &Machine<'_>, host: &Value) -> Option<Value> {
    let name = host.as_exact()?;
    if machine.is_away() {
        return None;
    }
    let text = machine.text(&machine.world().place().home.join(".ssh/config"));
    let mut applies = true;
    for line in text.as_exact()?.lines().map(str::trim) {
        let Some((key, rest)) = line.split_once(|letter: char| letter.is_whitespace() || letter == '=')
        else {
            continue;
        };
        let rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '=').trim();
        if key.eq_ignore_ascii_case("host") {
            applies = is_meant(rest, name);
        } else if key.eq_ignore_ascii_case("match") {
            applies = false;
        } else if applies && key.eq_ignore_ascii_case("hostname") {
            let real = rest.trim_matches('"').replace("%h", name).replace("%%", "%");
            return Some(Value::exact(real.as_str())).filter(|_| real != name && !real.is_empty());
        }
    }
    None
}

/// Whether a list of patterns means a name: one fits, and none of those with `!` does.
fn is_meant(patterns: &str, name: &str) -> bool {
    let fits = |pattern: &str| Glob::new(pattern.trim_matches('"'), Style::Setting).matches(name);
    let (not, yes): (Vec<&str>, Vec<&str>) =
        patterns.split_whitespace().partition(|pattern| pattern.starts_with('!'));
    yes.into_iter().any(fits) && !not.into_iter().any(|pattern| fits(pattern.trim_start_matches('!')))
}
