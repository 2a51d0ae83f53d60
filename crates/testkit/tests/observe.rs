//! The parts that observe real programs: uses are the same each time, what differs is found, and the page keeps its shape.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fs;
use std::path::Path;

use checkrein_protocol::{AbsolutePath, Certainty, Depth, Effect, EffectKind, Target};
use checkrein_testkit::observe::compare::{UseObservation, UsePrediction, compared, leaves};
use checkrein_testkit::observe::trace::Trace;
use checkrein_testkit::observe::tree::{SeenChange, SeenTree};
use checkrein_testkit::observe::uses::uses;
use checkrein_testkit::observe::{
    CatalogueEntry, Disagreement, DisagreementKind, ProgramTally, UsePlace, entries, page,
};

fn catalogue() -> Vec<CatalogueEntry> {
    entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../effects/catalogue")).unwrap()
}

fn entry<'e>(all: &'e [CatalogueEntry], name: &str) -> &'e CatalogueEntry {
    all.iter().find(|entry| entry.names.iter().any(|known| known == name)).unwrap()
}

#[test]
fn uses_hold_examples_options_and_operands_and_are_bounded() {
    let all = catalogue();
    let made = uses(entry(&all, "cp"), "cp", 120);
    assert_eq!(made, uses(entry(&all, "cp"), "cp", 120));
    assert_eq!(made.len(), 120);
    for use_of in ["cp README.md copy.md", "cp a.txt b.txt", "cat a.txt | cp"] {
        assert!(made.iter().any(|text| text == use_of), "{use_of}");
    }
    assert!(made.iter().any(|text| text.starts_with("cp -")));
    let of_sub = uses(entry(&all, "git"), "git", 4000);
    assert!(of_sub.iter().any(|text| text.starts_with("git clean -")));
}

/// A place with a file, and what is seen of it before and after some work.
fn seen(work: impl FnOnce(&Path)) -> (tempfile::TempDir, UsePlace, UseObservation) {
    let folder = tempfile::tempdir().unwrap();
    let place = UsePlace::new(&folder.path().canonicalize().unwrap());
    fs::create_dir_all(place.project.as_str()).unwrap();
    fs::write(place.project.join("a.txt").as_str(), "one").unwrap();
    let before = SeenTree::look(&place.home);
    work(Path::new(place.project.as_str()));
    let after = SeenTree::look(&place.home);
    (folder, place.clone(), UseObservation { before, after, trace: Trace::default(), status: 0 })
}

fn effect(kind: EffectKind, path: AbsolutePath) -> Effect {
    Effect::new(kind, Target::Path(path))
}

fn kinds(found: &[Disagreement]) -> Vec<DisagreementKind> {
    found.iter().map(|one| one.kind).collect()
}

#[test]
fn what_was_not_predicted_is_found() {
    let (_folder, place, seen) = seen(|project| {
        fs::remove_file(project.join("a.txt")).unwrap();
        fs::write(project.join("b.txt"), "new").unwrap();
    });
    let (gone, new) = (place.project.join("a.txt"), place.project.join("b.txt"));
    assert_eq!(
        seen.before.changes(&seen.after),
        [(SeenChange::Deleted, gone.clone()), (SeenChange::Created, new.clone())]
    );
    let with = |effects: Vec<Effect>| {
        kinds(&compared(&UsePrediction { effects, programs: Vec::new() }, &seen, &place))
    };
    let (delete, create) = (effect(EffectKind::FileDelete, gone), effect(EffectKind::FileCreate, new));
    assert_eq!(with(vec![]), [DisagreementKind::Unsound, DisagreementKind::Made]);
    assert_eq!(with(vec![create.clone()]), [DisagreementKind::Unsound]);
    assert_eq!(with(vec![delete.clone()]), [DisagreementKind::Made]);
    assert_eq!(with(vec![delete.clone(), create.clone()]), []);
    let other = effect(EffectKind::FileModify, place.project.join("c.txt"));
    let perhaps = Effect { certainty: Certainty::Possible, ..other.clone() };
    assert_eq!(with(vec![delete.clone(), create.clone(), other]), [DisagreementKind::Untrue]);
    assert_eq!(with(vec![delete, create, perhaps]), []);
}

#[test]
fn a_prediction_that_is_much_wider_is_loose_and_one_beyond_the_folder_is_not_run() {
    let (_folder, place, seen) = seen(|project| fs::remove_file(project.join("a.txt")).unwrap());
    let delete = |path: AbsolutePath| UsePrediction {
        effects: vec![Effect { depth: Depth::Recursive, ..effect(EffectKind::FileDelete, path) }],
        programs: Vec::new(),
    };
    assert_eq!(
        kinds(&compared(&delete(place.home.clone()), &seen, &place)),
        [DisagreementKind::Untrue, DisagreementKind::Loose]
    );
    assert_eq!(leaves(&delete(place.home.clone()), &place), None);
    assert!(leaves(&delete(AbsolutePath::root().join("etc")), &place).is_some());
}

#[test]
fn traces_tell_of_reads_starts_and_connections() {
    let text = "1 execve(\"/usr/bin/bash\", [\"bash\"], 0x1) = 0\n\
        1 openat(AT_FDCWD</p>, \"a\", O_RDONLY) = 3</p/a>\n\
        1 openat(AT_FDCWD</p>, \"b\", O_RDONLY) = -1 ENOENT (No such file)\n\
        1 openat(AT_FDCWD</p>, \"c\", O_WRONLY|O_CREAT, 0666) = 4</p/c>\n\
        1 openat(AT_FDCWD</p>, \"d\", O_RDONLY <unfinished ...>\n\
        2 openat(AT_FDCWD</p>, \"e\", O_WRONLY <unfinished ...>\n\
        1 <... openat resumed>) = 3</p/d>\n\
        2 <... openat resumed>) = 3</p/e>\n\
        2 execve(\"/usr/bin/gzip\", [\"gzip\"], 0x1) = 0\n\
        2 execve(\"/bin/no\", [\"no\"], 0x1) = -1 ENOENT (No such file)\n\
        2 connect(5<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"192.0.2.1\")}, 16) = -1 ENETUNREACH (x)\n\
        2 connect(5<socket:[1]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0\n";
    let trace = Trace::parse(text);
    assert_eq!(trace.read.iter().collect::<Vec<_>>(), ["/p/a", "/p/d"]);
    assert_eq!(trace.started.iter().collect::<Vec<_>>(), ["/usr/bin/gzip"]);
    assert_eq!(trace.reached.iter().collect::<Vec<_>>(), ["192.0.2.1"]);
}

#[test]
fn the_page_keeps_its_shape() {
    let all = catalogue();
    let missed = Disagreement { kind: DisagreementKind::Unsound, what: "deleted a.txt".to_owned() };
    let tally = ProgramTally {
        name: "rm".to_owned(),
        version: "rm (GNU coreutils) 9".to_owned(),
        uses: 3,
        succeeded: 2,
        agreeing: 2,
        differing: vec![("rm a.txt".to_owned(), vec![missed])],
        ..ProgramTally::default()
    };
    let text = page::page(&[tally], &all, &|name| matches!(name, "rm" | "useradd"));
    assert!(text.contains("1 programs, 3 uses, 66.6 % agree."), "{text}");
    assert!(
        text.contains("| `rm` | rm (GNU coreutils) 9 | 3 | 2 | 0 | 0 | 66.6 % | 1 | | | | | | |"),
        "{text}"
    );
    assert!(text.contains("- unsound: `rm a.txt`: deleted a.txt"), "{text}");
    assert!(text.contains("Not run, acts on the machine, or is of a family that does: useradd."), "{text}");
    assert!(text.contains("Not installed ("), "{text}");
}
