//! Programs that take files away by patterns which they read themselves: `del 'dist/**'`, `rimraf -g 'dist/*'` (del-cli 6, rimraf 6), and that
//! give them other names by expressions (File::Rename, rename(1) and exch(1) of util-linux).

use crate::effect::{Depth, EffectKind};
use crate::interpreter::{Call, Draft, Exit, Input, Machine, Value};
use crate::nature::Nature;

/// Options of File::Rename whose value is the expression.
const EXPRESSION: [&str; 3] = ["-e", "--expr", "-E"];

/// `del`, `del-cli`, `premove`: every word is a pattern.
pub(crate) fn removed_patterns(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if !call.arguments.has(&["-d", "--dry-run"]) {
        remove(machine, &call.arguments.operands);
    }
    Exit::unknown()
}

/// `rimraf`: words are patterns where an option says so.
pub(crate) fn rimraf(machine: &mut Machine<'_>, call: &Call) -> Exit {
    if call.arguments.has(&["-g", "--glob"]) && !call.arguments.has(&["-G", "--no-glob"]) {
        remove(machine, &call.arguments.operands);
    } else {
        for word in &call.arguments.operands {
            machine.delete(word, Depth::Recursive);
        }
    }
    Exit::unknown()
}

/// `rename EXPRESSION FILES`, `rename -e EXPRESSION FILES`, and `rename.ul FROM TO FILES`. Where the name alone does not tell which of them it
/// is, what may be `TO` counts as a file, of which there is hardly ever one.
pub(crate) fn renamed(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let arguments = &call.arguments;
    run_expressions(machine, call);
    if arguments.has(&["-n", "--nono", "--dry-run", "--no-act"]) {
        return Exit::unknown();
    }
    let before_files = match call.program.as_str() {
        "rename.ul" => 2,
        _ if arguments.has(&EXPRESSION) => 0,
        _ => 1,
    };
    let files = arguments.operands.get(before_files..).unwrap_or_default();
    leave_names(machine, files, "renamed");
    for aim in machine.paths_through(&Value::exact(".")) {
        machine.add(Draft::at(EffectKind::FileCreate, aim).recursive().possible().note("new names"));
    }
    Exit::unknown()
}

/// An expression of `rename` is Perl code, which runs for each name, also where nothing is renamed.
fn run_expressions(machine: &mut Machine<'_>, call: &Call) {
    if call.program == "rename.ul" {
        return;
    }
    let arguments = &call.arguments;
    let mut expressions: Vec<Value> = arguments.values(&EXPRESSION).cloned().collect();
    if expressions.is_empty() {
        expressions.extend(arguments.operands.first().cloned());
    }
    for expression in expressions.into_iter().filter(|expression| expression.as_exact().is_some()) {
        let words = [Value::exact("perl"), Value::exact("-e"), expression];
        machine.possibly(|machine| machine.run_words(&words, Input::Inherited));
    }
}

/// `exch ONE OTHER`
pub(crate) fn exchanged(machine: &mut Machine<'_>, call: &Call) -> Exit {
    leave_names(machine, &call.arguments.operands, "exchanged");
    Exit::unknown()
}

/// Takes files and directories away from where they stand; they are there under other names.
fn leave_names(machine: &mut Machine<'_>, files: &[Value], note: &str) {
    let before = machine.effect_count();
    for file in files {
        let depth = if machine.is_directory(file) == Some(false) { Depth::Single } else { Depth::Recursive };
        machine.delete(file, depth);
    }
    machine.amend(before, |effect| {
        effect.reversible = true;
        effect.nature = Nature::Moved;
        note.clone_into(&mut effect.note);
    });
}

fn remove(machine: &mut Machine<'_>, words: &[Value]) {
    // What begins so is left out.
    for word in words.iter().filter(|word| !word.known_start().starts_with('!')) {
        match word.as_exact() {
            Some(text) if text.contains(['*', '?', '[']) => {
                machine.delete(&Value::Glob(text.to_owned()), Depth::Recursive);
            }
            Some(_) | None => machine.delete(word, Depth::Recursive),
        }
    }
}
