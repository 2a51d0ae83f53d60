//! Runs the literate cases: Markdown pages whose prose says why, whose `sh` blocks are actions, and whose `expect` blocks say what must
//! follow.
//!
//! A `world` block sets the scene for the rest of its page, one fact a line: `tracked PATH`, `modified PATH`, `untracked PATH`, `ignored PATH`,
//! `file PATH` (in no repository), `many PATH` (a directory with more files than are followed one by one), `unlisted PATH` (a directory of which the names cannot be listed), `unread PATH` (a file of which the text cannot be read), `guarded PATH`, `directory PATH`, `archive PATH :: NAMES`, `committed REVISION PATH :: OBJECT` (`index` for what is staged), `differs REVISION REVISION :: +MADE ~CHANGED -GONE` (where the two differ),
//! `second PATH PATH` (two names of one file), `link PATH :: TARGET` (a symbolic link), `pipe PATH` (one with a name), `made PATH` (by the session, in an earlier call), `prompt :: TEXT` (what the user asked for, oldest first), `hooks PROGRAM [DIRECTORY]` (an agent that asks the guard, everywhere or there), `variable NAME=VALUE`; paths are relative to the project, or begin with `~/` or `/`. Text in the file follows `::`.
//! An `expect` block begins with a verdict; further lines are effects that must be predicted (`kind target [recursive]`), `no KIND` for kinds that must not be,
//! `rule NAME`, and `runs COMMAND` for a rewrite. An action that begins with `{` is a tool call `{"tool": ..., "input": ...}`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

#[path = "support/literate.rs"]
mod literate;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use checkrein_facts::RecordedWorld;
use checkrein_policy::Policy;
use checkrein_protocol::{Depth, EffectKind, VerdictKind};
use checkrein_review::{Review, review};
use libtest_mimic::{Arguments, Failed, Trial};
use literate::{Case, build_world, pages, place, read_page};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> =
        pages(Path::new("tests/cases")).iter().flat_map(|page| trials_of(page)).collect();
    trials.push(Trial::test("docs/policy.md says what the cases of policy.md say", page_of_policy_is_true));
    libtest_mimic::run(&arguments, trials).exit();
}

fn trials_of(page: &Path) -> Vec<Trial> {
    let text = fs::read_to_string(page).unwrap();
    let name = page.strip_prefix("tests/cases").unwrap().display().to_string();
    let cases = read_page(&text);
    assert!(!cases.is_empty(), "{name} holds no case");
    cases
        .into_iter()
        .map(|case| {
            Trial::test(format!("{name}:{}: {}", case.line, first_line(&case.action)), move || run(&case))
        })
        .collect()
}

/// The page on which people read what is decided in doubt states the commands and verdicts of the cases, all of them and no others.
fn page_of_policy_is_true() -> Result<(), Failed> {
    let cases = read_page(&fs::read_to_string("tests/cases/policy.md")?);
    let decided: BTreeSet<(String, String)> = cases
        .iter()
        .map(|case| (case.action.trim().to_owned(), in_lists(first_line(&case.expected)).to_owned()))
        .collect();
    let page = fs::read_to_string("../../docs/policy.md")?;
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let stated: BTreeSet<(String, String)> = rows
        .map(|(command, rest)| {
            let verdict = rest.split(" |").next().unwrap_or_default();
            (command.replace("\\|", "|"), verdict.to_owned())
        })
        .collect();
    let only_stated: Vec<_> = stated.difference(&decided).collect();
    let only_decided: Vec<_> = decided.difference(&stated).collect();
    if only_stated.is_empty() && only_decided.is_empty() && !stated.is_empty() {
        return Ok(());
    }
    Err(format!("only on the page: {only_stated:#?}\nonly in the cases: {only_decided:#?}").into())
}

/// The word that people read for a verdict.
fn in_lists(verdict: &str) -> &str {
    let kind = VerdictKind::ALL.into_iter().find(|kind| kind.name() == verdict);
    kind.map_or(verdict, |kind| checkrein_cli::phrases::verdict_word(kind))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn run(case: &Case) -> Result<(), Failed> {
    let world = build_world(&case.world);
    let review = review(&case.action(&world), &world, &Policy::default());
    let mut lines = case.expected.lines();
    let verdict = lines.next().ok_or("an empty `expect` block")?;
    let mut misses = Vec::new();
    if review.verdict.kind.name() != verdict {
        misses.push(format!("the verdict is {}", review.verdict.kind.name()));
    }
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let met = match words.as_slice() {
            ["no", kind] if is_kind(kind) => {
                review.side_effects.effects.iter().all(|effect| effect.kind.name() != *kind)
            }
            ["rule", name] => review.rules.iter().any(|finding| finding.rule == *name),
            ["runs", ..] => review
                .rewrite
                .as_ref()
                .is_some_and(|rewrite| Some(rewrite.command.as_str()) == line.strip_prefix("runs ")),
            [kind, target] if is_kind(kind) => has_effect(&review, &world, kind, target, Depth::Single),
            [kind, target, "recursive"] if is_kind(kind) => {
                has_effect(&review, &world, kind, target, Depth::Recursive)
            }
            _ => return Err(format!("not a line of an `expect` block: {line}").into()),
        };
        if !met {
            misses.push(format!("not so: {line}"));
        }
    }
    if misses.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\n{}", misses.join("\n"), describe(&review)).into())
    }
}

fn is_kind(word: &str) -> bool {
    EffectKind::ALL.iter().any(|kind| kind.name() == word)
}

/// Whether an effect is predicted that reaches at least so deep.
fn has_effect(review: &Review, world: &RecordedWorld, kind: &str, target: &str, depth: Depth) -> bool {
    let wanted = if target.starts_with("./") || target.starts_with("~/") {
        place(world, target).to_string()
    } else {
        target.to_owned()
    };
    review.side_effects.effects.iter().any(|effect| {
        effect.kind.name() == kind
            && (target == "?" || effect.target.text() == Some(wanted.as_str()))
            && effect.depth >= depth
    })
}

fn describe(review: &Review) -> String {
    let effects: Vec<String> = review
        .side_effects
        .effects
        .iter()
        .map(|e| {
            format!(
                "  {} {} {:?} {:?} {:?} {}",
                e.kind.name(),
                e.target.text().unwrap_or("?"),
                e.certainty,
                e.stake,
                e.severity,
                e.note
            )
        })
        .collect();
    let rules: Vec<String> =
        review.rules.iter().map(|f| format!("  {} {}: {}", f.rule, f.decision.name(), f.reason)).collect();
    format!(
        "risk {} rationality {}\neffects\n{}\nrules\n{}",
        review.risk.score,
        review.rationality.score,
        effects.join("\n"),
        rules.join("\n")
    )
}
