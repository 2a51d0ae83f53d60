//! Names that are made up for a while.

use crate::effect::EffectKind;
use crate::{Done, Draft, Exit, Machine, Status, Value};

/// `mktemp`: makes a file or directory and prints its name. The part that is made up stays as it is written in the
/// template, so that later words that use the name are seen to mean the same path.
pub(crate) fn mktemp(machine: &mut Machine<'_>, words: &[Value]) -> Done {
    let mut directory = false;
    let mut dry = false;
    let mut in_temporary = false;
    let mut parent: Option<Value> = None;
    let mut suffix = String::new();
    let mut template: Option<Value> = None;
    let mut is_known = true;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_exact() {
            Some("--directory") => directory = true,
            Some("--dry-run") => dry = true,
            Some("--tmpdir") => in_temporary = true,
            Some(text) if text.starts_with("--tmpdir=") => parent = text.get(9..).map(Value::exact),
            Some(text) if text.starts_with("--suffix=") => {
                text.get(9..).unwrap_or_default().clone_into(&mut suffix);
            }
            Some("--suffix") => {
                let next = rest.next();
                is_known &= next.is_some();
                next.and_then(Value::as_exact).unwrap_or_default().clone_into(&mut suffix);
            }
            Some("--" | "--quiet") => {}
            Some(text) if text.starts_with("--") => is_known = false,
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                for (place, flag) in text.char_indices().skip(1) {
                    match flag {
                        'd' => directory = true,
                        'u' => dry = true,
                        't' => in_temporary = true,
                        'p' => {
                            let attached =
                                text.get(place + 1..).filter(|rest| !rest.is_empty()).map(Value::exact);
                            parent = attached.or_else(|| rest.next().cloned());
                            is_known &= parent.is_some();
                            break;
                        }
                        'q' => {}
                        _ => is_known = false,
                    }
                }
            }
            Some(_) | None => {
                is_known &= template.is_none();
                template = Some(word.clone());
            }
        }
    }
    let temporary = machine
        .variable("TMPDIR")
        .filter(|value| value.as_exact() != Some(""))
        .unwrap_or_else(|| Value::exact("/tmp"));
    let is_usual = parent.is_none() && (in_temporary || template.is_none());
    let in_temporary = in_temporary || template.is_none() || parent.is_some();
    let mut name = template.unwrap_or_else(|| Value::exact("tmp.XXXXXXXXXX"));
    if let Some(text) = name.as_exact()
        && in_temporary
        && !text.contains("XXX")
    {
        // Of macOS it is the beginning of a name, GNU refuses it.
        is_known = false;
        name = Value::Exact(format!("{text}.XXXXXXXX"));
    }
    name = name.followed_by(&Value::Exact(suffix));
    machine.names += 1;
    if machine.names > 1 {
        let number = machine.names.to_string();
        if let Some(text) = name.as_exact() {
            // Names that are made up differ from one another.
            let marks = "X".repeat(number.len());
            if let Some(place) = text.rfind(&marks) {
                let mut changed = text.to_owned();
                changed.replace_range(place..place + marks.len(), &number);
                name = Value::Exact(changed);
            }
        }
    }
    let path = if in_temporary && !name.known_start().starts_with('/') {
        parent.unwrap_or(temporary).followed_by(&Value::exact("/")).followed_by(&name)
    } else {
        name
    };
    // It makes no directories on the way, and wants three marks at the least.
    let is_sure = path.as_exact().is_some_and(|text| {
        let above =
            text.rsplit_once('/').map_or(".", |(above, _)| if above.is_empty() { "/" } else { above });
        text.contains("XXX")
            && machine.is_directory(&Value::exact(above)) == Some(true)
            && machine.can_make(&path, false)
    });
    if !dry {
        for aim in machine.paths(&path) {
            let target = aim.target.clone();
            machine.add(Draft::at(EffectKind::FileCreate, aim).note("a temporary name"));
            machine.remember_made(&target, directory);
            // Whatever else it is let to have, others get nothing of it.
            if let (Some(path), false) = (target.path(), directory) {
                machine.overlay().change_mode(path, "600");
            }
        }
    }
    let exit = Exit::printing(path.followed_by(&Value::exact("\n")));
    Done::next(if is_known && (is_sure || is_usual) {
        exit
    } else {
        Exit { status: Status::Unknown, ..exit }
    })
}
