//! Machines that the user gave a name in their own settings of `ssh`: what is copied there from the project goes to a place of the user's own.

use crate::effect::{EffectKind, Severity};
use crate::interpreter::{Call, Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places::{SystemPlace, persistence, system_place};

/// Options that may have a name mean another machine, or a program of one's own talk to it.
const REDIRECTING: &[&str] =
    &["-F", "-J", "-S", "-o", "-e", "--rsh", "--rsync-path", "-M", "--remote-option"];

/// Marks the uploads that were added since there were `before` effects as going to a place of the user's own, where the host is one that their
/// settings of `ssh` name, and nothing that the other machine runs lies at the path.
pub(super) fn mark_uploads(
    machine: &mut Machine<'_>,
    call: &Call,
    before: usize,
    host: &Value,
    path: &Value,
) {
    let (Some(host), Some(path)) = (host.as_exact(), path.as_exact()) else { return };
    if call.arguments.has(REDIRECTING) || !is_named(machine, host) || runs_there(machine, path) {
        return;
    }
    machine.amend(before, |effect| {
        let is_usual = effect.severity <= Severity::Medium && effect.nature == Nature::Ordinary;
        if effect.kind == EffectKind::DataUpload && is_usual {
            effect.nature = Nature::ToOwnPlace;
        }
    });
}

/// Whether the user's settings of `ssh` name a machine, by exactly this name. Settings that were written in this session name nothing.
fn is_named(machine: &Machine<'_>, host: &str) -> bool {
    let file = machine.world().place().home.join(".ssh/config");
    if machine.is_of_session(&file) || machine.came_in_session(&file) {
        return false;
    }
    let name = host.rsplit_once('@').map_or(host, |(_, name)| name);
    let text = machine.text(&file);
    let lines = text.as_exact().into_iter().flat_map(str::lines);
    lines
        .filter_map(|line| line.trim().split_once(|letter: char| letter.is_whitespace() || letter == '='))
        .any(|(key, names)| {
            key.eq_ignore_ascii_case("host")
                && names.split_whitespace().any(|named| named.trim_matches('"') == name)
        })
}

/// Whether a file at the path would be run by the other machine, or be part of its system; a relative path is one of the home directory there.
fn runs_there(machine: &Machine<'_>, path: &str) -> bool {
    let home = &machine.world().place().home;
    let path = path.strip_prefix("~/").unwrap_or(path);
    if path.starts_with('~') || path.contains("..") {
        return true;
    }
    let whole = if path.starts_with('/') { AbsolutePath::new(path) } else { Some(home.join(path)) };
    let Some(whole) = whole else { return true };
    let is_system = match system_place(&whole) {
        Some(SystemPlace::Local | SystemPlace::State) | None => false,
        Some(SystemPlace::Kernel | SystemPlace::Device | SystemPlace::Vital) => true,
    };
    is_system
        || whole.as_str().contains("/.ssh")
        || persistence(&whole, home).is_some()
        || whole.as_str().starts_with("/usr/local/bin")
        || whole.as_str().starts_with("/var/spool")
        || whole.as_str().starts_with("/root")
}
