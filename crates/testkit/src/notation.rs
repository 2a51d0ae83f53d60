//! Effects as text: `kind target [recursive] [possible]`, as examples of the catalogue and pages of tests write them.

use checkrein_protocol::{Certainty, Depth, Effect, EffectKind, Target};

use crate::world::{HOME, PROJECT};

/// The effects as sorted text, each once, without those that say nothing about a prediction: reads and the start of programs.
pub fn notation(effects: &[Effect]) -> Vec<String> {
    let told = |effect: &&Effect| !matches!(effect.kind, EffectKind::FileRead | EffectKind::ProcessSpawn);
    let mut all: Vec<String> = effects.iter().filter(told).map(effect_text).collect();
    all.sort();
    all.dedup();
    all
}

/// One effect as text. A target that is not known, and the program that is opaque, which the command names itself, are left out.
pub fn effect_text(effect: &Effect) -> String {
    let target = match &effect.target {
        _ if effect.kind == EffectKind::Opaque => None,
        Target::Unknown => None,
        Target::Path(path) => Some(short_path(path.as_str())),
        Target::Glob(pattern) => Some(short_path(pattern)),
        Target::Host(text) | Target::Process(text) | Target::Service(text) | Target::Reference(text) => {
            Some(text.clone())
        }
    };
    let mut text = effect.kind.name().to_owned();
    if let Some(target) = target {
        text.push(' ');
        text.push_str(&target);
    }
    if effect.depth == Depth::Recursive {
        text.push_str(" recursive");
    }
    if effect.certainty == Certainty::Possible {
        text.push_str(" possible");
    }
    text
}

/// Effects that are expected, separated by `;`, in the form of [`notation`].
pub fn expected(text: &str) -> Vec<String> {
    let mut all: Vec<String> =
        text.split("; ").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    all.sort();
    all.dedup();
    all
}

/// A path as a user would write it who stands in the project: `a.txt`, `.`, `~/.bashrc`, `/etc/hosts`.
pub fn short_path(text: &str) -> String {
    let below = |folder: &str| text.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    if text == PROJECT {
        ".".to_owned()
    } else if let Some(rest) = below(PROJECT) {
        rest.to_owned()
    } else if text == HOME {
        "~".to_owned()
    } else if let Some(rest) = below(HOME) {
        format!("~/{rest}")
    } else {
        text.to_owned()
    }
}
