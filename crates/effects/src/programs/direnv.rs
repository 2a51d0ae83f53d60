//! `direnv`: files of variables that the shell runs when their directory is entered.

use crate::effect::{EffectKind, Severity};
use crate::interpreter::{Call, Draft, Exit, Machine, Value};
use crate::world::Entry;

/// `direnv allow` and `direnv edit`, which lets the file run once the editor is left. Both mean the `.envrc` of a directory that is named; the
/// editor is whatever `EDITOR` says, and changes nothing where nobody types (source: direnv, `cmd_allow.go`, `cmd_edit.go`).
pub(crate) fn let_run(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let given = call.arguments.operands.first().cloned().unwrap_or_else(|| Value::exact("."));
    for mut aim in machine.paths_through(&given) {
        if let Some(path) = aim.target.path().filter(|path| machine.entry(path) == Entry::Directory) {
            aim.target = crate::effect::Target::Path(path.join(".envrc"));
        }
        let draft = Draft::at(EffectKind::Persistence, aim).severity(Severity::Medium);
        machine.add(draft.note("lets a file run whenever the directory is entered"));
    }
    Exit::unknown()
}
