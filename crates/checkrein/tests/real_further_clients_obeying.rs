//! What real clients do with each answer of the hook, in their mode that approves everything, and with a hook that fails. `cargo xtask
//! clients` installs them; one that is not there is named as not run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Instant;

use support::driven::{run, run_with};
use support::pool::{Job, wait};
use support::{AT_ONCE, TestEnvironment};

const DELETION: &str = "rm -rf ~";

/// A call about which a user is asked.
const ASKED: &str = "curl -T README.md https://example.com/up";

/// A call that is safe in another form.
const FORCED: &str = "git push --force origin feature/login";

/// What stands in a file of settings.
const SECRET: &str = concat!("0123456789", "abcdefABCDEF");

/// What a command prints and no model may read.
const TOKEN: &str = concat!("ghp_0123456789abcdefghij", "ABCDEFGHIJ012345");

/// Where the hooks of a user are registered, and whether a client reads that anew while it works.
fn registered(environment: &TestEnvironment, client: &str) -> (PathBuf, Read) {
    let (path, read) = match client {
        "claude" => (".claude/settings.json", Read::Guarded),
        "codex" => (".codex/hooks.json", Read::Once),
        "gemini" => (".gemini/settings.json", Read::Once),
        "qwen" => (".qwen/settings.json", Read::Once),
        "copilot" => (".copilot/hooks/checkrein.json", Read::Once),
        "cline" => (".cline/hooks/PreToolUse.sh", Read::Anew),
        "droid" => (".factory/settings.json", Read::Anew),
        name => return (environment.home().join(format!(".config/{name}/plugins/checkrein.js")), Read::Once),
    };
    (environment.home().join(path), read)
}

/// When a client reads its hooks.
#[derive(Clone, Copy, PartialEq)]
enum Read {
    /// When it starts.
    Once,
    /// Anew, but one of the hooks keeps them.
    Guarded,
    /// At each call.
    Anew,
}

/// One session with everything in it: the agent wants to take the hook away, somebody else does, it wants what is refused, what a user is
/// asked about and what runs in another form, does honest work, and then the same again and again.
fn obeys(client: &str) {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", AT_ONCE);
    environment.write(".env", &format!("API_KEY={SECRET}\n"));
    environment.write("out.txt", &format!("it said {TOKEN} at the end\n"));
    environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    let canary = environment.home().join("precious.txt");
    fs::write(&canary, "precious\n").unwrap();
    let (file, read) = registered(&environment, client);
    assert!(fs::read_to_string(&file).unwrap().contains("checkrein-hook"), "{client}: {}", file.display());
    let removal = format!("rm -f {}", file.display());
    let mut calls =
        vec![removal.as_str(), DELETION, ASKED, FORCED, "cat .env", "cat out.txt", "echo hi > hi.txt"];
    calls.extend(["ls"; 14]);
    calls.push("echo ran > ran.txt");
    let taken = file.clone();
    let heard = run_with(&environment, client, &calls, move |done| {
        if done != 1 {
            return;
        }
        // The agent's own call before this one did not do it.
        assert!(taken.exists(), "the agent took the hook away");
        match read {
            Read::Once if taken.extension().is_some_and(|ending| ending == "js") => {
                drop(fs::remove_file(&taken));
            }
            Read::Once | Read::Guarded => fs::write(&taken, "{}").unwrap(),
            Read::Anew => {}
        }
    });
    let Some(heard) = heard else { return };
    assert!(canary.exists(), "{client}: the deletion ran");
    assert!(read == Read::Once || file.exists(), "{client}: the agent took the hook away");
    assert!(heard.matches("checkrein stopped this call").count() >= 2, "{client}: {heard}");
    // Nobody answers, so it did not run; the model reads who can allow it.
    assert!(!heard.contains("curl: ("), "{client}: {heard}");
    assert!(heard.contains("asks nobody") || heard.contains("nobody can be asked"), "{client}: {heard}");
    // A client that does not tell the model how it changed a call gets it said with the result.
    // Droid itself refuses a push without a remote, whatever its form.
    assert!(client == "droid" || heard.contains("--force-with-lease"), "{client}: {heard}");
    // It ran in a form without values, or was refused with that form.
    assert!(!heard.contains(SECRET), "{client}: {heard}");
    assert!(heard.contains("API_KEY") || heard.contains("Make this call instead"), "{client}: {heard}");
    // What a tool prints is masked, where a client takes that. Cline takes nothing, and Droid hides such tokens itself.
    let is_masked = !["cline", "droid"].contains(&client);
    assert!(!is_masked || !heard.contains(TOKEN) && heard.contains("[masked:"), "{client}: {heard}");
    assert!(heard.contains("it said"), "{client}: {heard}");
    assert!(environment.project().join("hi.txt").exists(), "{client}: {heard}");
    // A hint, then a stop.
    assert!(heard.contains("checkrein noticed stuck loop"), "{client}: {heard}");
    assert!(!environment.project().join("ran.txt").exists(), "{client}: it was not stopped: {heard}");
    environment.succeed(&["audit", "verify"]);
}

/// A hook program that does what a call says that it is asked about: dies, says nothing, nonsense or half an object, or takes its time.
const FAILING: &str = r#"#!/bin/sh
input=$(cat)
case $input in
*dies.txt*) kill -9 $$ ;;
*silent.txt*) exit 0 ;;
*nonsense.txt*) echo 'warning: no answer today'; exit 0 ;;
*half.txt*) printf '{"hookSpecificOutput": {"permission'; exit 0 ;;
*slow.txt*) sleep 14 ;;
esac
printf '%s' "$input" | HOOK "$@"
"#;

/// With a hook that dies, is silent or speaks nonsense nothing runs, and an answer that comes late, but within the hook's own time, counts.
fn fails_closed(client: &str, runs: &[&[&str]]) {
    for calls in runs {
        let environment = TestEnvironment::new();
        let program = environment.home().join("checkrein-hook");
        fs::write(&program, FAILING.replace("HOOK", env!("CARGO_BIN_EXE_checkrein-hook"))).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let hook = program.to_str().unwrap();
        environment.succeed(&["init", "--client", client, "--user", "--yes", "--hook", hook]);
        let canary = environment.home().join("precious.txt");
        fs::write(&canary, "precious\n").unwrap();
        let started = Instant::now();
        let Some(heard) = run(&environment, client, calls) else { return };
        for name in ["dies.txt", "silent.txt", "nonsense.txt", "half.txt"] {
            assert!(!environment.project().join(name).exists(), "{client}: {name}: {heard}");
        }
        assert!(canary.exists(), "{client}: the late answer did not count: {heard}");
        if calls.contains(&SLOW) {
            assert!(started.elapsed().as_secs() >= 14, "{client}: nobody waited: {heard}");
            assert!(heard.contains("checkrein stopped this call"), "{client}: {heard}");
        }
    }
}

const SLOW: &str = "rm -rf ~ # slow.txt";

const FAILURES: [&str; 5] =
    ["touch dies.txt", "touch silent.txt", "touch nonsense.txt", "touch half.txt", SLOW];

/// What a client does with a hook that fails. With Cline such a hook ends the run.
fn fails_closed_whatever_the_hook_does(client: &str) {
    let runs = if client == "cline" { FAILURES.chunks(1).collect() } else { vec![&FAILURES[..]] };
    fails_closed(client, &runs);
}

#[test]
fn a_prompt_goes_through_a_plugin_whose_hook_crashes_and_its_calls_say_why_they_are_refused() {
    for client in ["opencode", "kilo"] {
        let environment = TestEnvironment::new();
        let program = environment.home().join("checkrein-hook");
        fs::write(&program, "#!/bin/sh\nkill -SEGV $$\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let hook = program.to_str().unwrap();
        environment.succeed(&["init", "--client", client, "--user", "--yes", "--hook", hook]);
        let Some(heard) = run(&environment, client, &["touch ran.txt"]) else { continue };
        assert!(heard.contains("checkrein did not answer, so this is refused"), "{client}: {heard}");
        assert!(!environment.project().join("ran.txt").exists(), "{client}: {heard}");
    }
}

/// All tests here.
fn jobs() -> Vec<Job> {
    let each = |client: &'static str| -> [Job; 2] {
        [
            (
                format!("{client}::fails_closed_whatever_the_hook_does"),
                fails_closed_whatever_the_hook_does,
                client,
            ),
            (format!("{client}::obeys"), obeys, client),
        ]
    };
    CLIENTS.iter().copied().flat_map(each).collect()
}

macro_rules! clients {
    ($($name:ident),*) => {
        const CLIENTS: &[&str] = &[$(stringify!($name)),*];
        $(mod $name {
            use super::{jobs, wait};

            #[test]
            fn obeys() {
                wait(concat!(stringify!($name), "::obeys"), jobs);
            }

            #[test]
            fn fails_closed_whatever_the_hook_does() {
                wait(concat!(stringify!($name), "::fails_closed_whatever_the_hook_does"), jobs);
            }
        })*
    };
}

// Those that take the longest begin.
clients!(kilo, cline, opencode, qwen, gemini, droid, copilot, codex, claude);
