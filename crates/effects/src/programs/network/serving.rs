//! Servers that hand the files of a directory to whoever asks.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Machine, Value};
use crate::path::AbsolutePath;
use crate::world::Entry;

/// Interprets a call of a server of files: the directory is an operand or behind an option, else the working directory.
pub(crate) fn serve(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let directory = arguments
        .value(&[
            "-d",
            "--directory",
            "--root",
            "--dir",
            "--path",
            "-h",
            "-s",
            "--server",
            "--serveStatic",
            "--ss",
        ])
        .or_else(|| arguments.operands.iter().find(|operand| machine.is_directory(operand) == Some(true)))
        .cloned();
    let process = call.program.clone();
    machine.add(Draft::new(EffectKind::ProcessSpawn, Target::Process(process)));
    if !is_local(&call.words) {
        hand_out(machine, &directory.unwrap_or_else(|| Value::exact(".")));
    }
    Exit::unknown()
}

/// Whether words bind a server to this machine alone.
pub(crate) fn is_local(words: &[Value]) -> bool {
    const HERE: &[&str] = &["127.0.0.1", "localhost", "::1"];
    words.iter().any(|word| {
        let (start, end) = (word.known_start(), word.known_end());
        HERE.iter().any(|here| start.contains(here) || end.contains(here))
    })
}

/// The greatest number of entries of a directory whose links are looked at (ours).
const LINKS: usize = 256;

/// Where the links of a directory lead that leave the workspace.
fn led_out(machine: &Machine<'_>, directory: &AbsolutePath, workspace: &AbsolutePath) -> Vec<AbsolutePath> {
    let entries = machine.paths_of(&format!("{directory}/*")).unwrap_or_default();
    let entries = entries.iter().take(LINKS).filter_map(|entry| AbsolutePath::new(entry));
    let links = entries.filter(|entry| matches!(machine.entry(entry), Entry::Symlink(_)));
    let led = links.filter_map(|link| machine.one_path_through(&Value::exact(link.as_str())));
    led.filter(|place| !place.is_within(workspace)).collect()
}

/// Adds that a directory is handed to the network, where that gives away a home directory or credentials outside of the task.
pub(crate) fn hand_out(machine: &mut Machine<'_>, directory: &Value) {
    let place = machine.world().place();
    let (home, workspace) = (place.home.clone(), place.workspace.clone());
    let Some(path) = machine.one_path_through(directory) else { return };
    let holds_home = home.is_within(&path);
    if !holds_home && path.is_within(&workspace) {
        // What a link in it leads to is handed out as if it lay there.
        for led in led_out(machine, &path, &workspace) {
            hand_out(machine, &Value::exact(led.as_str()));
        }
        if let Some(secret) = machine.secrets_put_within(&path).first().cloned() {
            read_and_hand_out(machine, &path, &secret);
        }
        return;
    }
    let mut secrets = machine.credentials_within(&path, &[]);
    if machine.names_secret(&Value::exact(path.as_str())) {
        secrets.push(path.clone());
    }
    match secrets.first() {
        Some(secret) => read_and_hand_out(machine, &path, secret),
        None if holds_home => note_handed_out(machine, &path),
        None => {}
    }
}

/// A credential that others get with a directory of the workspace: it was put there, or a link leads to it.
pub(crate) fn credential_within(machine: &mut Machine<'_>, directory: &AbsolutePath) -> Option<AbsolutePath> {
    let workspace = machine.world().place().workspace.clone();
    let put = machine.secrets_put_within(directory).into_iter().next();
    put.or_else(|| {
        led_out(machine, directory, &workspace).iter().find_map(|led| {
            let within = machine.credentials_within(led, &[]).into_iter().next();
            within.or_else(|| machine.names_secret(&Value::exact(led.as_str())).then(|| led.clone()))
        })
    })
}

/// Adds that a secret goes out with a directory. A copy is one by what it is a copy of, whatever its name.
fn read_and_hand_out(machine: &mut Machine<'_>, directory: &AbsolutePath, secret: &AbsolutePath) {
    machine.read(&Value::exact(secret.as_str()));
    let is_told = machine.effects_since(0).any(|effect| effect.kind == EffectKind::SecretRead);
    if !is_told {
        machine.effect(EffectKind::SecretRead, &Value::exact(secret.as_str()));
    }
    note_handed_out(machine, directory);
}

fn note_handed_out(machine: &mut Machine<'_>, path: &AbsolutePath) {
    let draft = Draft::new(EffectKind::DataUpload, Target::Host("whoever asks".to_owned()))
        .reach(NetworkReach::External)
        .severity(Severity::High);
    machine.add(draft.note(format!("hands the files of `{path}` to the network")));
}
