//! Servers that hand the files of a directory to whoever asks.

use crate::effect::{EffectKind, NetworkReach, Severity, Target};
use crate::interpreter::{Call, Draft, Exit, Machine, Value};

/// Interprets a call of a server of files: the directory is an operand or behind an option, else the working directory.
pub(crate) fn serve(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    let directory = arguments
        .value(&["-d", "--directory", "--root", "--dir", "--path", "-h"])
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

/// Adds that a directory is handed to the network, where that gives away a home directory or credentials outside of the task.
pub(crate) fn hand_out(machine: &mut Machine<'_>, directory: &Value) {
    let place = machine.world().place();
    let (home, workspace) = (place.home.clone(), place.workspace.clone());
    let Some(path) = machine.one_path_through(directory) else { return };
    let holds_home = home.is_within(&path);
    if !holds_home && path.is_within(&workspace) {
        return;
    }
    let secrets = machine.credentials_within(&path, &[]);
    if let Some(secret) = secrets.first() {
        machine.read(&Value::exact(secret.as_str()));
    } else if !holds_home {
        return;
    }
    let draft = Draft::new(EffectKind::DataUpload, Target::Host("whoever asks".to_owned()))
        .reach(NetworkReach::External)
        .severity(Severity::High);
    machine.add(draft.note(format!("hands the files of `{path}` to the network")));
}
