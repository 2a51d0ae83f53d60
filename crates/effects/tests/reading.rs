//! What the real bash runs is seen, wherever the text of it stands: written by a redirection, behind an alias, in a subscript that is
//! evaluated, in what a built-in prints. Proved by bash 5.2; what bash does not run says nothing, so that other versions ask less.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[path = "reading/carriers.rs"]
mod carriers;
#[path = "reading/lines_before.rs"]
mod lines_before;
#[path = "reading/streams.rs"]
mod streams;
#[path = "reading/texts.rs"]
mod texts;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use checkrein_effects::predict;
use checkrein_facts::VersionState;
use checkrein_protocol::{EffectKind, Severity};
use checkrein_testkit::on_the_smallest_stack;
use checkrein_testkit::world::{bare, command, path};

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Which of the texts come to the mark in them, in bash; each runs in a directory of its own, which is its home.
fn reached(texts: &[&str]) -> BTreeSet<usize> {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir(place("bin")).unwrap();
    let marks = place("marks").display().to_string();
    std::fs::write(place("bin/mark"), format!("#!/bin/sh\necho \"$1\" >>'{marks}'\n")).unwrap();
    std::fs::set_permissions(place("bin/mark"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut script = String::from("ulimit -t 10\n");
    for (number, text) in texts.iter().enumerate() {
        let text = quoted(&text.replace("MARK", &format!("mark {number}")));
        writeln!(
            script,
            "( mkdir d{number}; cd d{number}; HOME=$PWD; echo x > README.md; eval {text} ) </dev/null >/dev/null 2>&1"
        )
        .unwrap();
    }
    std::fs::write(place("script"), script).unwrap();
    Command::new("bash")
        .args(["--norc", "--noprofile", "script"])
        .env_clear()
        .env("PATH", format!("{}:/usr/sbin:/usr/bin:/sbin:/bin", place("bin").display()))
        .env("HOME", folder.path())
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let marks = std::fs::read_to_string(marks).unwrap();
    marks.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Of the texts that bash runs, those of which neither the deletion is seen nor that nobody can have read them.
fn lost<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let ran = reached(texts);
    assert!(ran.len() > texts.len() / 2, "bash ran only {} of {}", ran.len(), texts.len());
    ran.into_iter().filter_map(|number| texts.get(number).copied()).filter(|text| !is_seen(text)).collect()
}

/// Whether a deletion in the place of the mark is seen, or that nobody can have read it.
fn is_seen(text: &str) -> bool {
    let world =
        bare().with_directory(&path("/etc")).with_file(&path("README.md"), "x\n", VersionState::TrackedClean);
    let text = text.replace("MARK", "rm -rf /usr/lib");
    let effects = on_the_smallest_stack(|| predict(&command(&text), &world).effects);
    effects.iter().any(|effect| match effect.kind {
        EffectKind::FileDelete => true,
        EffectKind::Opaque => effect.severity >= Severity::High,
        _ => false,
    })
}

fn all_are_seen(texts: &[&str]) {
    let lost = lost(texts);
    assert!(lost.is_empty(), "{} are lost:\n{}", lost.len(), lost.join("\n--\n"));
}

#[test]
fn what_a_redirection_wrote_is_read() {
    all_are_seen(streams::WRITERS);
}

#[test]
fn what_an_alias_changes_is_seen() {
    all_are_seen(texts::ALIASES);
}

#[test]
fn words_of_the_grammar_stand_as_patterns() {
    all_are_seen(texts::CASES);
}

#[test]
fn what_a_listing_became_is_seen() {
    all_are_seen(texts::LISTINGS);
}

#[test]
fn what_a_shell_is_started_with_is_seen() {
    all_are_seen(texts::STARTS);
}

#[test]
fn what_is_evaluated_again_runs() {
    all_are_seen(texts::EVALUATED);
}

#[test]
fn what_a_value_becomes_runs() {
    all_are_seen(texts::VALUES);
}

#[test]
fn what_goes_from_hand_to_hand_runs() {
    all_are_seen(texts::WAYS);
}

#[test]
fn what_goes_to_the_standard_error_is_read() {
    all_are_seen(streams::ERRORS);
}

#[test]
fn what_a_program_of_awk_puts_together_runs() {
    all_are_seen(texts::PROGRAMS_OF_AWK);
}

#[test]
fn more_commands_than_are_looked_at_are_unread() {
    for text in [
        format!("printf '{}!MARK\\n' | dc", "!true\\n".repeat(80)),
        format!("m4 <<'E'\n{}syscmd(MARK)\nE", "syscmd(true)\n".repeat(80)),
        format!("ruby -rerb -e 'ERB.new(\"{}<% system(%q(MARK)) %>\").result'", "<% 1 %>".repeat(80)),
    ] {
        assert!(is_seen(&text), "{text}");
    }
}

#[test]
fn what_is_open_around_a_command_is_read() {
    all_are_seen(streams::AROUND);
}

#[test]
fn what_a_first_line_starts_runs() {
    all_are_seen(carriers::FIRST_LINES);
}

#[test]
fn what_was_written_in_pieces_is_read() {
    all_are_seen(carriers::PIECES);
}

#[test]
fn what_a_script_writes_to_itself_runs() {
    all_are_seen(carriers::OWN_SCRIPTS);
}

#[test]
fn what_the_shell_holds_by_itself_runs() {
    all_are_seen(carriers::CARRIED);
}

#[test]
fn what_a_line_takes_from_lines_before_runs() {
    let texts = lines_before::histories();
    all_are_seen(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn what_a_trap_runs_is_seen() {
    all_are_seen(lines_before::TRAPS);
}

#[test]
fn what_is_chosen_from_the_parameters_runs() {
    all_are_seen(lines_before::SELECTIONS);
}

#[test]
fn what_a_scope_holds_runs() {
    all_are_seen(lines_before::SCOPES);
}
