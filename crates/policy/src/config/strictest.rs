//! The stricter of two configurations.

use super::keys::{Direction, KEYS, Key, loosens};
use super::settings::Config;
use super::value::Value;

/// `config`, with every setting that is stricter in `other` as it is there. Settings of which neither way is stricter stay; rules and
/// tripwires of both apply; a rule is switched off only where both switch it off.
#[must_use]
pub fn strictest(config: &Config, other: &Config) -> Config {
    let mut joined = config.clone();
    for key in KEYS {
        let own = (key.effective)(config);
        let theirs = (key.effective)(other);
        if let Some(value) = stricter(key, own, theirs) {
            (key.write)(&mut joined, value);
        }
    }
    // What a blueprint asks for beyond settings.
    for floor in &other.governance.floors {
        if !joined.governance.floors.contains(floor) {
            joined.governance.floors.push(*floor);
        }
    }
    joined
}

/// What must stand in place of `own`; `None` where that is strict enough.
fn stricter(key: &Key, own: Value, theirs: Value) -> Option<Value> {
    if own == theirs {
        return None;
    }
    match (key.direction, own, theirs) {
        (Direction::Free, _, _) => None,
        (Direction::Gather, Value::Rules(own), Value::Rules(theirs)) => Some(Value::Rules(with(own, theirs))),
        (Direction::Gather, Value::Tripwires(own), Value::Tripwires(theirs)) => {
            Some(Value::Tripwires(with(own, theirs)))
        }
        (Direction::GatherLooser, Value::List(mut own), Value::List(theirs)) => {
            own.retain(|entry| theirs.contains(entry));
            Some(Value::List(own))
        }
        (Direction::Gather | Direction::Cover, Value::List(own), Value::List(theirs)) => {
            Some(Value::List(with(own, theirs)))
        }
        // Any other value is looser, so it stays what it was.
        (Direction::Locked, _, theirs) => Some(theirs),
        (_, own, theirs) => loosens(key, &theirs, &own).then_some(theirs),
    }
}

/// The entries of both, those of the first first.
fn with<T: PartialEq>(mut own: Vec<T>, theirs: Vec<T>) -> Vec<T> {
    for entry in theirs {
        if !own.contains(&entry) {
            own.push(entry);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigSource, Layer, LayerKind, load};

    fn config(text: &str) -> Config {
        let source = ConfigSource::File { name: "test".to_owned(), text: text.to_owned() };
        load(&[Layer { kind: LayerKind::User, source }], &[]).unwrap().config
    }

    #[test]
    fn the_stricter_value_of_each_setting_counts() {
        let loose = config(
            "mode: observe\nlimits:\n  file_operations: 900\nstep_reviewer:\n  rules:\n    disabled: [warn_external_network, confirm_publish]\n",
        );
        let strict = config(
            "profile: strict\nlimits:\n  file_operations: 20\nstep_reviewer:\n  rules:\n    disabled: [confirm_publish]\n    custom:\n      - name: no_x\n        kinds: [file_delete]\n        when: \"true\"\n        decision: block\n",
        );
        for (own, other) in [(&loose, &strict), (&strict, &loose)] {
            let joined = strictest(own, other);
            let shown = format!("{joined:?}");
            assert_eq!(joined.mode.word(), "enforce", "{shown}");
            assert_eq!(joined.profile.word(), "strict");
            assert_eq!(joined.step_reviewer.rules.disabled, ["confirm_publish"]);
            assert_eq!(joined.step_reviewer.rules.custom.len(), 1);
        }
    }

    #[test]
    fn joining_never_loosens_either_and_is_settled_at_once() {
        let samples = [
            "mode: observe\n",
            "profile: strict\n",
            "profile: unattended\nlimits:\n  dollars: 3\n",
            "step_reviewer:\n  risk:\n    high_threshold: 0.65\n  rules:\n    builtin: essential\n",
            "scope:\n  paths: [src/**]\npatterns:\n  enabled_patterns: [stuck_loop]\n",
            "snapshots:\n  enabled: false\n",
        ];
        for one in samples.map(config) {
            for other in samples.map(config) {
                let joined = strictest(&one, &other);
                for key in KEYS.iter().filter(|key| key.direction != Direction::Locked) {
                    let after = (key.effective)(&joined);
                    for before in [&one, &other] {
                        let before = (key.effective)(before);
                        assert!(!loosens(key, &before, &after), "{}: {before} became {after}", key.path);
                    }
                }
                assert_eq!(strictest(&joined, &other), joined);
            }
        }
        let one = config("profile: strict\n");
        assert_eq!(strictest(&one, &one), one);
    }
}
