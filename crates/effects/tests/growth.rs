//! What a command makes grow is kept within bounds, whatever the loops around it; what is beyond them is not known, which is not nothing.

#![allow(clippy::unwrap_used)]

use checkrein_effects::{AnnouncedContent, Prediction, predict};
use checkrein_facts::{HostPaths, RecordedWorld};
use checkrein_protocol::{AbsolutePath, Action, EffectKind};

/// How many bytes of texts a command may be known to leave behind.
const MOST: usize = 4 * 1024 * 1024 + 64 * 1024;

fn prediction(command: &str) -> Prediction {
    let home = AbsolutePath::new("/home/dev").unwrap();
    let workspace = home.join("proj");
    let place = HostPaths {
        home,
        user: None,
        workspace: workspace.clone(),
        temporary: vec![],
        guarded: vec![],
        expected: vec![],
    };
    let world = RecordedWorld::complete(place).with_directory(&workspace);
    predict(&Action::command(command, workspace), &world)
}

/// How many bytes of texts are known that a command leaves behind.
fn announced(prediction: &Prediction) -> usize {
    let text = |content: &AnnouncedContent| match content {
        AnnouncedContent::Text(text) => text.len(),
        AnnouncedContent::Link(_) | AnnouncedContent::Commit { .. } | AnnouncedContent::Mode(_) => 0,
    };
    prediction.announced.iter().map(|(_, content)| text(content)).sum()
}

#[test]
fn texts_are_kept_as_long_as_there_is_room_and_one_beyond_is_not_known() {
    let text = "y".repeat(60_000);
    let writes = format!("for a in $(seq 1 200); do cat > f$a.sh <<E\n: {text}\nE\ndone");
    let written = prediction(&writes);
    assert!(announced(&written) <= MOST, "{}", announced(&written));
    let made = written.effects.iter().filter(|effect| effect.kind == EffectKind::FileCreate).count();
    assert!(made >= 200, "every file is known: {made}");
    // The first of them was read, and does nothing; the last one may hold anything.
    let runs = |name: &str| {
        let effects = prediction(&format!("{writes}\nsh {name}")).effects;
        effects.iter().any(|effect| effect.kind == EffectKind::Opaque)
    };
    assert!(!runs("f1.sh"));
    assert!(runs("f200.sh"));
}

#[test]
fn variables_that_grow_do_not_vanish_beyond_the_bound() {
    let text = "y".repeat(60_000);
    let grows = format!("t={text}; for a in $(seq 1 200); do eval \"v$a=\\$t\"; done; d=build");
    for variable in ["$d", "$v1", "$v200"] {
        let effects = prediction(&format!("{grows}; rm -rf \"{variable}\"")).effects;
        assert!(
            effects.iter().any(|effect| effect.kind == EffectKind::FileDelete),
            "{variable}: {effects:?}"
        );
    }
}

#[test]
fn what_stands_behind_loops_that_grow_is_not_passed_over() {
    let loops = |body: &str| {
        format!(
            "for a in $(seq 1 40); do for b in $(seq 1 40); do for c in $(seq 1 40); do {body}; done; done; done"
        )
    };
    for body in ["echo x > f$a$b$c", "l+=($a$b$c)", "eval \"v$a$b$c=x\"", "foo && echo x > f$a$b$c"] {
        // What stands behind is read, or the whole is too much to follow.
        let effects = prediction(&format!("{}; rm -rf ~/notes", loops(body))).effects;
        let is_told =
            effects.iter().any(|effect| matches!(effect.kind, EffectKind::FileDelete | EffectKind::Opaque));
        assert!(is_told, "{body}");
    }
}

#[test]
fn functions_that_may_be_there_are_not_called_without_end() {
    let loops = "for a in $(seq 1 40); do for b in $(seq 1 40); do eval \"f$a$b() { rm -rf ~/notes; }\"; f$a$b; done; done";
    for command in [loops.to_owned(), format!("{loops}; f$x"), format!("{loops}; f$(foo)9")] {
        let effects = prediction(&command).effects;
        assert!(effects.iter().any(|effect| effect.kind == EffectKind::FileDelete), "{command}");
    }
}
