//! `apply_patch`, which Codex puts on the path of its shell, and whose text it also takes out of a command and applies itself. Hooks hear of a
//! shell call then.

use crate::effect::{Depth, EffectKind};
use crate::interpreter::{Call, Exit, Input, Machine, Value};
use crate::tools::{PatchStep, patch_steps};

use super::text::of_unseen_patch;

/// `apply_patch TEXT`, or with the text on its standard input.
pub(crate) fn apply(machine: &mut Machine<'_>, call: &Call) -> Exit {
    let given = call.arguments.operands.iter();
    let piped = match &call.input {
        Input::Text(value) => Some(value),
        Input::Inherited | Input::Network(_) | Input::Secret(_) | Input::Local(_) | Input::Unknown => None,
    };
    let texts: Vec<&Value> = given.chain(piped).collect();
    let is_seen = !texts.is_empty() && texts.iter().all(|text| text.as_exact().is_some());
    if !is_seen {
        of_unseen_patch(machine, &call.input);
    }
    for text in texts.into_iter().filter_map(Value::as_exact) {
        for step in patch_steps(text).unwrap_or_default() {
            take(machine, &step);
        }
    }
    Exit::unknown()
}

fn take(machine: &mut Machine<'_>, step: &PatchStep) {
    match step {
        PatchStep::Add(path) => machine.write(&Value::exact(path.as_str())),
        PatchStep::Update(path) => machine.effect(EffectKind::FileModify, &Value::exact(path.as_str())),
        PatchStep::Move(from, to) => {
            machine.write(&Value::exact(to.as_str()));
            machine.delete(&Value::exact(from.as_str()), Depth::Single);
        }
        PatchStep::Delete(path) => machine.delete(&Value::exact(path.as_str()), Depth::Single),
    }
}
