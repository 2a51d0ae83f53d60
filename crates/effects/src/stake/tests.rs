use super::*;
use crate::nature::Nature;
use crate::world::Entry;
use checkrein_facts::RecordedWorld;
use checkrein_testkit::world::{path, project};

/// The home of a developer with one repository in it.
fn world() -> RecordedWorld {
    let mut world = project().with_repository(&path("/home/dev/other"));
    for (file, version) in [
        ("/home/dev/proj/Cargo.toml", VersionState::TrackedClean),
        ("/home/dev/proj/src/clean.rs", VersionState::TrackedClean),
        ("/home/dev/proj/src2/clean.rs", VersionState::TrackedClean),
        ("/home/dev/proj/src2/changed.rs", VersionState::TrackedModified),
        ("/home/dev/proj/src2/notes.txt", VersionState::Untracked),
        ("/home/dev/proj/.env", VersionState::Ignored),
        ("/home/dev/proj/target/debug/app", VersionState::Ignored),
        ("/home/dev/proj/web/node_modules/x/index.js", VersionState::Ignored),
        ("/home/dev/proj/web/build/main.js", VersionState::Ignored),
        ("/home/dev/proj/web/tool.py", VersionState::TrackedClean),
        ("/home/dev/proj/web/__pycache__/tool.pyc", VersionState::Ignored),
        ("/home/dev/proj/build/kept.txt", VersionState::TrackedClean),
        ("/home/dev/proj/made.txt", VersionState::Untracked),
        ("/home/dev/thesis.txt", VersionState::NoRepository),
        ("/home/dev/.ssh/id_ed25519", VersionState::NoRepository),
        ("/home/dev/.bashrc", VersionState::NoRepository),
        ("/home/dev/.cache/x/y", VersionState::NoRepository),
        ("/tmp/scratch/x", VersionState::NoRepository),
        ("/etc/hosts", VersionState::NoRepository),
    ] {
        world = world.with_file(&path(file), "text", version);
    }
    world.history.created.push(path("/home/dev/proj/made.txt"));
    world
}

fn effect(kind: EffectKind, target: Target, depth: Depth) -> Effect {
    Effect { depth, cause: "test".to_owned(), ..Effect::new(kind, target) }
}

/// `/a/*` is a pattern, `/a/` a directory with all that is below it, `/a` one path.
fn aimed(kind: EffectKind, text: &str) -> Effect {
    let depth = if text.ends_with('/') { Depth::Recursive } else { Depth::Single };
    if text.contains('*') {
        let shown =
            if depth == Depth::Recursive && text.len() > 1 { text.trim_end_matches('/') } else { text };
        effect(kind, Target::Glob(shown.to_owned()), depth)
    } else {
        effect(kind, Target::Path(path(text)), depth)
    }
}

fn assessed(kind: EffectKind, text: &str) -> Vec<Effect> {
    let mut effects = vec![aimed(kind, text)];
    assess(&mut effects, &world());
    effects
}

fn stake_of(kind: EffectKind, text: &str) -> Stake {
    assessed(kind, text)[0].stake
}

#[test]
fn deleting_loses_what_is_nowhere_else() {
    for (target, stake) in [
        ("/home/dev/proj/no-such-file", Stake::Nothing),
        ("/home/dev/proj/src/clean.rs", Stake::Recoverable),
        ("/home/dev/proj/src/", Stake::Recoverable),
        ("/home/dev/proj/src2/clean.rs", Stake::Recoverable),
        ("/home/dev/proj/src2/changed.rs", Stake::Unsaved),
        ("/home/dev/proj/src2/", Stake::Unsaved),
        ("/home/dev/proj/src2/*.txt", Stake::Unsaved),
        ("/home/dev/proj/src2/c*n.rs", Stake::Recoverable),
        ("/home/dev/proj/src2/*.none", Stake::Nothing),
        ("/home/dev/proj/.env", Stake::Unsaved),
        ("/home/dev/proj/made.txt", Stake::Regenerable),
        ("/home/dev/thesis.txt", Stake::Unsaved),
        ("/var/log/auth.log", Stake::Unsaved),
        ("/var/lib/apt/lists/*", Stake::Nothing),
        ("/home/dev/.cache/", Stake::Regenerable),
        ("/tmp/scratch/", Stake::Regenerable),
        ("/tmp/scratch/*", Stake::Regenerable),
        ("/tmp/scr*/", Stake::Regenerable),
        ("/tmp/*", Stake::Critical),
        ("/tmp/", Stake::Critical),
    ] {
        assert_eq!(stake_of(EffectKind::FileDelete, target), stake, "delete {target}");
    }
}

#[test]
fn what_a_build_makes_again_is_cheap() {
    for (target, stake) in [
        ("/home/dev/proj/target/", Stake::Regenerable),
        ("/home/dev/proj/target/debug/app", Stake::Regenerable),
        ("/home/dev/proj/web/node_modules/", Stake::Regenerable),
        ("/home/dev/proj/web/build/", Stake::Regenerable),
        ("/home/dev/proj/**/*.pyc", Stake::Regenerable),
        ("/home/dev/proj/**/__pycache__/", Stake::Regenerable),
        // The tracked part of a directory weighs more than the generated part beside it.
        ("/home/dev/proj/web/", Stake::Recoverable),
        // A name that looks generated does not help what is tracked.
        ("/home/dev/proj/build/", Stake::Recoverable),
    ] {
        assert_eq!(stake_of(EffectKind::FileDelete, target), stake, "delete {target}");
    }
}

#[test]
fn disasters_are_critical_wherever_they_are_spelled() {
    for target in [
        "/",
        "/*/",
        "/home/",
        "/home/dev/",
        "/home/dev/*/",
        "/home/somebody/",
        "/home/dev/proj/",
        "/home/dev/proj/.*/",
        "/home/dev/proj/.git/",
        "/home/dev/other/",
        "/home/dev/.ssh/",
        "/home/dev/.ssh/id_ed25519",
        "/home/dev/.aws/credentials",
        "/home/dev/Documents/",
        "/etc/hosts",
        "/etc/*",
        "/usr/",
        "/usr/bin/*",
        "/boot/",
        "/var/",
        "/dev/sda",
    ] {
        let effects = assessed(EffectKind::FileDelete, target);
        assert_eq!(effects[0].stake, Stake::Critical, "delete {target}");
        assert_eq!(effects[0].severity, Severity::Critical, "delete {target}");
        assert!(!effects[0].reversible, "delete {target}");
    }
}

#[test]
fn everything_in_the_workspace_is_critical_unless_it_is_committed() {
    assert_eq!(stake_of(EffectKind::FileDelete, "/home/dev/proj/*/"), Stake::Critical);
    let place = world().place;
    let clean = RecordedWorld::complete(place).with_repository(&path("/home/dev/proj")).with_file(
        &path("/home/dev/proj/src/a.rs"),
        "text",
        VersionState::TrackedClean,
    );
    let mut effects = vec![aimed(EffectKind::FileDelete, "/home/dev/proj/*/")];
    assess(&mut effects, &clean);
    assert_eq!(effects[0].stake, Stake::Recoverable);
}

#[test]
fn a_star_that_the_shell_spelled_out_is_still_everything() {
    let world = world();
    let workspace = path("/home/dev/proj");
    let Listing::Names(names) = world.children(&workspace) else { panic!("no listing") };
    let deletions = |skipped: usize| -> Vec<Effect> {
        let shown = names.iter().filter(|name| !name.starts_with('.')).skip(skipped);
        let depth = |name: &str| if name.contains('.') { Depth::Single } else { Depth::Recursive };
        let mut effects: Vec<Effect> = shown
            .map(|name| effect(EffectKind::FileDelete, Target::Path(workspace.join(name)), depth(name)))
            .collect();
        assess(&mut effects, &world);
        effects
    };
    assert!(deletions(0).iter().any(|effect| effect.severity == Severity::Critical && !effect.reversible));
    assert!(deletions(2).iter().all(|effect| effect.severity < Severity::Critical), "not everything goes");
}

#[test]
fn pipelines_of_a_project_are_no_ordinary_files() {
    let effects = assessed(EffectKind::FileCreate, "/home/dev/proj/.github/workflows/release.yml");
    assert_eq!(effects[0].severity, Severity::Medium);
    assert_eq!(effects[0].note, "runs in the pipeline of the project");
    assert_eq!(
        assessed(EffectKind::FileCreate, "/home/dev/proj/docs/release.yml")[0].severity,
        Severity::Low
    );
}

#[test]
fn overwriting_loses_less_than_deleting() {
    for (target, stake, severity) in [
        ("/home/dev/proj/src/clean.rs", Stake::Recoverable, Severity::Low),
        ("/home/dev/proj/src2/changed.rs", Stake::Unsaved, Severity::Medium),
        ("/home/dev/proj/new.rs", Stake::Nothing, Severity::Low),
        ("/home/dev/.ssh/id_ed25519", Stake::Critical, Severity::Critical),
        ("/etc/hosts", Stake::Unsaved, Severity::High),
        ("/etc/passwd", Stake::Critical, Severity::Critical),
        ("/dev/sda", Stake::Critical, Severity::Critical),
    ] {
        let effects = assessed(EffectKind::FileModify, target);
        assert_eq!((effects[0].stake, effects[0].severity), (stake, severity), "modify {target}");
    }
}

#[test]
fn permissions_weigh_by_whose_they_are() {
    for (target, severity) in [
        ("/home/dev/proj/src/clean.rs", Severity::Low),
        ("/home/dev/.ssh/id_ed25519", Severity::Low),
        ("/home/dev/proj/", Severity::Medium),
        ("/", Severity::Critical),
        ("/etc/", Severity::Critical),
        ("/home/dev/", Severity::Critical),
        ("/usr/bin/sudo", Severity::High),
        ("/usr/bin/", Severity::Critical),
        ("/etc/shadow", Severity::Critical),
        ("/etc/hosts", Severity::High),
    ] {
        assert_eq!(assessed(EffectKind::PermissionChange, target)[0].severity, severity, "chmod {target}");
    }
}

#[test]
fn writing_where_something_runs_later_persists() {
    let kinds = |text: &str| -> Vec<EffectKind> {
        assessed(EffectKind::FileModify, text).iter().map(|effect| effect.kind).skip(1).collect()
    };
    assert_eq!(kinds("/home/dev/.bashrc"), [EffectKind::Persistence]);
    assert_eq!(kinds("/home/dev/proj/.git/hooks/pre-commit"), [EffectKind::Persistence]);
    assert_eq!(kinds("/etc/cron.d/job"), [EffectKind::Persistence, EffectKind::SystemModification]);
    assert_eq!(kinds("/proc/sys/kernel/randomize_va_space"), [EffectKind::SystemModification]);
    assert_eq!(kinds("/tmp/scratch/.bashrc"), []);
    assert_eq!(kinds("/home/dev/proj/src/clean.rs"), []);
}

#[test]
fn reading_credentials_is_reading_secrets() {
    let kind = |text: &str| assessed(EffectKind::FileRead, text)[0].kind;
    assert_eq!(kind("/home/dev/.ssh/id_ed25519"), EffectKind::SecretRead);
    assert_eq!(kind("/home/dev/.ssh/*"), EffectKind::SecretRead);
    assert_eq!(kind("/home/dev/.ssh/"), EffectKind::SecretRead);
    assert_eq!(kind("/home/dev/.ssh"), EffectKind::FileRead);
    assert_eq!(kind("/home/dev/proj/src/clean.rs"), EffectKind::FileRead);
    assert_eq!(
        kind("/home/dev/proj/*env"),
        EffectKind::FileRead,
        "a pattern names hidden files only by their dot"
    );
    assert_eq!(kind("/home/dev/proj/.en*"), EffectKind::SecretRead);
    assert_eq!(kind("/tmp/scratch/id_rsa"), EffectKind::FileRead);
}

#[test]
fn a_temporary_workspace_keeps_the_rules_of_a_workspace() {
    let mut world = world();
    world.place.workspace = path("/tmp/clone");
    let world = world.with_repository(&path("/tmp/clone")).with_file(
        &path("/tmp/clone/new.txt"),
        "text",
        VersionState::Untracked,
    );
    let mut effects = vec![
        aimed(EffectKind::FileDelete, "/tmp/clone/new.txt"),
        aimed(EffectKind::FileDelete, "/tmp/clone/"),
    ];
    assess(&mut effects, &world);
    assert_eq!(effects[0].stake, Stake::Unsaved);
    assert_eq!(effects[1].stake, Stake::Critical);
}

#[test]
fn what_only_moves_is_not_lost() {
    let moved = |from: &str| {
        let mut moved = aimed(EffectKind::FileDelete, from);
        moved.nature = Nature::Moved;
        let mut effects = vec![moved];
        assess(&mut effects, &world());
        effects[0].stake
    };
    assert_eq!(moved("/home/dev/proj/notes.md"), Stake::Nothing);
    assert_eq!(moved("/home/dev/thesis.txt"), Stake::Recoverable, "outside it is missed where it was");
}

#[test]
fn what_git_changes_by_its_own_rules_it_can_give_back() {
    for kind in [EffectKind::FileModify, EffectKind::FileDelete] {
        for nature in [
            Nature::KeptByVersionControl,
            Nature::WrittenByVersionControl,
            Nature::KeptWithoutItsName,
            Nature::KeptForAWhile,
        ] {
            let mut changed = effect(kind, Target::Path(path("/home/dev/proj/.git")), Depth::Single);
            changed.nature = nature;
            let mut effects = vec![changed];
            assess(&mut effects, &world());
            assert_eq!(
                (effects[0].stake, effects[0].reversible),
                (Stake::Recoverable, true),
                "{kind:?} {nature:?}"
            );
        }
    }
}

#[test]
fn a_chosen_severity_is_kept() {
    let mut kept = aimed(EffectKind::PackageInstall, "/home/dev/x");
    kept.severity = Severity::Critical;
    let mut raised = aimed(EffectKind::FileDelete, "/home/dev/thesis.txt");
    raised.severity = Severity::Medium;
    let mut effects = vec![kept, raised];
    assess(&mut effects, &world());
    assert_eq!(effects[0].severity, Severity::Critical);
    assert_eq!(effects[1].severity, Severity::High, "the stake of a file raises what a clause said");
}

#[test]
fn lost_work_weighs_by_what_is_lost() {
    let severity = |text: &str| assessed(EffectKind::VcsLocalLoss, text)[0].severity;
    assert_eq!(severity("/home/dev/proj/src"), Severity::Low);
    assert_eq!(severity("/home/dev/proj/src2"), Severity::High);
}

/// One more effect never makes an action look milder: over all pairs of kinds and some telling places.
#[test]
fn one_more_effect_never_lowers_the_greatest_severity() {
    let places = [
        "/home/dev/proj/src/clean.rs",
        "/home/dev/",
        "/tmp/scratch/",
        "/home/dev/proj/*/",
        "/home/dev/.bashrc",
        "/etc/hosts",
    ];
    let greatest = |effects: &[Effect]| effects.iter().map(|effect| effect.severity).max();
    let world = world();
    for kind in EffectKind::ALL {
        for place in places {
            let mut alone = vec![aimed(kind, place)];
            assess(&mut alone, &world);
            for other in EffectKind::ALL {
                for beside in places {
                    let mut both = vec![aimed(kind, place), aimed(other, beside)];
                    assess(&mut both, &world);
                    assert!(both.len() >= alone.len());
                    assert!(greatest(&both) >= greatest(&alone), "{kind:?} {place} with {other:?} {beside}");
                }
            }
        }
    }
}

#[test]
fn a_special_file_below_the_workspace_is_weighed_like_a_file() {
    let mut world = world();
    world.entries.insert(path("/home/dev/proj/socket"), Entry::Special);
    let mut effects = vec![aimed(EffectKind::FileDelete, "/home/dev/proj/socket")];
    assess(&mut effects, &world);
    assert_eq!(effects[0].stake, Stake::Unsaved);
}
