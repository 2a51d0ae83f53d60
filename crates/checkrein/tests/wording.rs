//! Nothing is decided by words that are for people: the literate cases, and the examples of the catalogue, are reviewed twice, the second time
//! with one and the same text for every note and every cause from the moment the command is interpreted. All but the wording is the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should panic"
)]

#[path = "support/literate.rs"]
mod literate;

use std::fs;
use std::path::{Path, PathBuf};

use checkrein_catalogue::{UserCatalogue, Wording};
use checkrein_facts::RecordedWorld;
use checkrein_patterns::{Activity, Clarity};
use checkrein_policy::Policy;
use checkrein_protocol::Action;
use checkrein_review::{
    Forecast, Review, Saved, can_be_taken_back, changed_work_trees, changes_unknown_files, depends_on_saving,
    is_contained, is_opaque, reference_change, runs_unread_code, to_save,
};
use literate::{build_world, pages, read_page};

/// The review without what is said about it in words; whether something is said stays.
fn without_words(mut review: Review) -> Review {
    let blank = |text: &mut String| {
        if !text.is_empty() {
            "words".clone_into(text);
        }
    };
    for effect in &mut review.side_effects.effects {
        effect.cause.clear();
        effect.note.clear();
    }
    review.risk.factors.iter_mut().for_each(|factor| factor.detail.clear());
    for finding in &mut review.rules {
        blank(&mut finding.reason);
    }
    blank(&mut review.reasoning.primary);
    review.reasoning.all.iter_mut().for_each(blank);
    review.reasoning.others.iter_mut().for_each(blank);
    review.recorded_warning.iter_mut().for_each(blank);
    if let Some(rewrite) = &mut review.rewrite {
        blank(&mut rewrite.note);
    }
    review
}

/// Everything that is decided about an action, before and after what it destroys is saved.
fn decided(action: &Action, world: &RecordedWorld, policy: &Policy) -> String {
    let forecast = Forecast::of(action, world, policy);
    let before = forecast.judge(&Saved::default());
    let places = to_save(&before);
    let (change, directories) = reference_change(&before);
    let mut saved = Saved::default();
    for place in &places {
        saved.add(place.path.clone(), place.reach);
    }
    for directory in &directories {
        saved.add_references(directory.clone());
    }
    let after = forecast.judge(&saved);
    let seen = |review: &Review| {
        let effects = &review.side_effects.effects;
        format!(
            "{:#?}\n{:?} {:?} {} {} {} {} {} {} {:?}",
            without_words(review.clone()),
            Activity::of(action.tool.as_str(), effects, &review.programs, action.shell_text()),
            Clarity::of(effects),
            changes_unknown_files(review),
            is_opaque(review),
            runs_unread_code(review),
            is_contained(review),
            depends_on_saving(review),
            can_be_taken_back(review, &world.place, policy.config()),
            changed_work_trees(review),
        )
    };
    format!("{places:#?}\n{change:?} {directories:?}\n{}\n{}", seen(&before), seen(&after))
}

/// The first line in which two texts differ.
fn difference(own: &str, blank: &str) -> Option<String> {
    let lines = own.lines().map(Some).chain(std::iter::repeat(None));
    let others = blank.lines().map(Some).chain(std::iter::repeat(None));
    lines
        .zip(others)
        .take_while(|pair| *pair != (None, None))
        .find(|(one, other)| one != other)
        .map(|(one, other)| format!("`{}` / `{}`", one.unwrap_or_default(), other.unwrap_or_default()))
}

/// Holds one action against itself without words.
fn check(place: &str, action: &Action, world: &RecordedWorld, misses: &mut Vec<String>) {
    let blank = Policy::default().with_catalogue(UserCatalogue::default().with_wording(Wording::Blank));
    let own = decided(action, world, &Policy::default());
    if let Some(line) = difference(&own, &decided(action, world, &blank)) {
        misses.push(format!("{place}: {line}"));
    }
}

fn conclude(count: usize, least: usize, misses: &[String]) {
    assert!(count >= least, "only {count} actions were looked at");
    assert!(misses.is_empty(), "{} of {count} hang on words:\n{}", misses.len(), misses.join("\n"));
}

#[test]
fn no_case_is_decided_by_words() {
    let pages = pages(Path::new("tests/cases"));
    // Two pages at a time: together they take more than a minute.
    let (count, misses) = std::thread::scope(|scope| {
        let [one, other] = [0, 1].map(|first| {
            let pages = &pages;
            scope.spawn(move || checked(pages.iter().skip(first).step_by(2)))
        });
        let ((one, mut misses), (other, more)) = (one.join().unwrap(), other.join().unwrap());
        misses.extend(more);
        (one + other, misses)
    });
    conclude(count, 400, &misses);
}

/// The number of cases on these pages, and those that hang on words.
fn checked<'page>(pages: impl Iterator<Item = &'page PathBuf>) -> (usize, Vec<String>) {
    let (mut count, mut misses) = (0, Vec::new());
    for page in pages {
        for case in read_page(&fs::read_to_string(page).unwrap()) {
            let world = build_world(&case.world);
            check(&format!("{}:{}", page.display(), case.line), &case.action(&world), &world, &mut misses);
            count += 1;
        }
    }
    (count, misses)
}

/// What the examples of the catalogue are about, with a guard, a repository and settings to be touched.
const SCENE: &str = "tracked README.md
untracked notes.txt
modified data.json
untracked archive.tar.gz
archive archive.zip :: a.txt .claude/settings.json
tracked script.sh :: rm notes.txt
tracked src/main.py
modified src/app.py
ignored build/out.o
guarded ~/.local/state/checkrein/key
file ~/.local/state/checkrein/key
guarded .claude/settings.json
tracked .claude/settings.json
file ~/.ssh/id_rsa
file ~/.bashrc
file ~/.npmrc
file ~/.gitconfig
file /etc/hosts
file /etc/passwd";

#[test]
fn no_example_of_the_catalogue_is_decided_by_words() {
    let world = build_world(SCENE);
    let (mut count, mut misses) = (0, Vec::new());
    for file in fs::read_dir("../effects/catalogue").unwrap().flatten() {
        let text = fs::read_to_string(file.path()).unwrap();
        for line in text.lines() {
            // `"command => effects",`, alone on its line or several in one list.
            for example in line.split('"').filter(|part| part.contains("=>")) {
                let command = example.rsplit_once("=>").map_or("", |(command, _)| command.trim());
                let action = Action::command(command, world.place.workspace.clone());
                check(&format!("{}: {command}", file.path().display()), &action, &world, &mut misses);
                count += 1;
            }
        }
    }
    conclude(count, 2000, &misses);
}
