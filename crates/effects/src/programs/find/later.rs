//! What a search would do to what does not fit it now, but may by the time it runs.

use crate::effect::EffectKind;
use crate::interpreter::{Machine, Value};
use crate::nature::Nature;
use crate::path::AbsolutePath;
use crate::places::is_home_of_somebody;

use super::expression::{Action, Expression};
use super::{act_on_pattern, secret_among};

/// An action for which nothing fits now, but may by then. It was looked at, so nothing is at stake, unless it goes through a whole home by
/// something else than names (`find ~ -mtime +90 -delete`): what fits there changes by the hour.
pub(super) fn act_later(
    machine: &mut Machine<'_>,
    action: &Action,
    expression: &Expression,
    patterns: &[Value],
) {
    for pattern in patterns {
        let before = machine.effect_count();
        let nature = if reaches_a_home(machine, pattern) { Nature::NotThere } else { Nature::NothingFits };
        machine.possibly(|machine| act_on_pattern(machine, action, pattern, expression));
        machine.amend(before, |effect| {
            if effect.kind == EffectKind::FileDelete {
                effect.nature = nature;
                "nothing fits now".clone_into(&mut effect.note);
            }
        });
    }
}

/// Whether a pattern means all that lies in a home, of the user or of others, by whatever name.
pub(super) fn reaches_a_home(machine: &Machine<'_>, pattern: &Value) -> bool {
    let Value::Glob(pattern) = pattern else { return false };
    let Some(directory) = pattern.strip_suffix("/**") else { return false };
    let directory = if directory.is_empty() { "/" } else { directory };
    if directory.contains(['*', '?', '[']) {
        return false;
    }
    machine.one_path(&Value::exact(directory)).is_some_and(|directory: AbsolutePath| {
        machine.world().place().home.is_within(&directory) || is_home_of_somebody(&directory)
    })
}

/// Whether the program of these words takes away what it is given.
pub(super) fn takes_away(words: &[Value]) -> bool {
    let program = words.first().and_then(Value::as_exact).unwrap_or_default();
    REMOVERS.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// Whether the words are those of a program that runs another one, which takes away what it is given.
fn lets_take_away(words: &[Value]) -> bool {
    let program = words.first().and_then(Value::as_exact).unwrap_or_default();
    let texts = words.iter().skip(1).filter_map(Value::as_exact);
    let mut parts = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    CARRIERS.contains(&program.rsplit('/').next().unwrap_or(program))
        && parts.any(|part| REMOVERS.contains(&part))
}

/// Programs that run what stands in their words.
const CARRIERS: &[&str] = &[
    "ash", "bash", "busybox", "chronic", "dash", "doas", "env", "fish", "ionice", "ksh", "nice", "nohup",
    "sh", "stdbuf", "sudo", "time", "timeout", "toybox", "xargs", "zsh",
];

/// Programs that take away what they are given.
const REMOVERS: &[&str] = &["rm", "unlink", "shred", "srm", "rmdir", "mv", "truncate"];

/// Whether an action is worth a word even when nothing fits at the moment: it removes what is found, or what is found are
/// credentials.
pub(super) fn destroys_or_reads_secrets(machine: &Machine<'_>, action: &Action, patterns: &[Value]) -> bool {
    match action {
        Action::Print { .. } | Action::PrintOther | Action::Write(_) => false,
        Action::Delete => true,
        Action::Execute { words, .. } | Action::ExecuteAll { words, .. } => {
            takes_away(words)
                || lets_take_away(words) && patterns.iter().any(|pattern| reaches_a_home(machine, pattern))
                || secret_among(machine, patterns).is_some()
        }
    }
}
