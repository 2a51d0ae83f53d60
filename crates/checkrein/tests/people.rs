//! What people name and answer at the command line, and what they read about it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::Output;

use serde_json::{Value as Json, json};
use support::terminal::typed;
use support::{TestEnvironment, shell_call};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_empty_name_and_one_that_several_have_are_errors() {
    let environment = TestEnvironment::new();
    for session in ["one", "only"] {
        for number in 1..5 {
            let id = format!("toolu_{session}_{number}");
            let call = shell_call(&id, "ls", json!({}));
            environment.answer_to(&environment.payload(session, "PreToolUse", call));
        }
    }
    environment.succeed(&["run", "--", "true"]);
    environment.succeed(&["run", "--", "true"]);
    // A whole name, though another one begins with it.
    let call = shell_call("toolu_one", "ls", json!({}));
    environment.answer_to(&environment.payload("one", "PreToolUse", call));
    assert!(environment.succeed(&["show", "toolu_one"]).contains("toolu_one\n"));
    for arguments in [
        &["show"][..],
        &["run", "show"],
        &["incident", "show"],
        &["undo", "--yes"],
        &["log", "--session"],
        &["audit", "verify"],
        &["audit", "export"],
        &["surprise", "list", "--session"],
        &["session", "recover"],
        &["session", "rollback", "--before", "1", "--dry-run"],
    ] {
        let empty = environment.checkrein(&[arguments, &[""]].concat());
        assert_eq!(empty.status.code(), Some(1), "{arguments:?}: {}", said(&empty));
        let words = said(&empty);
        assert!(words.contains(" is empty\nhint: `checkrein "), "{arguments:?}: {words}");
        assert!(empty.stdout.is_empty(), "{arguments:?}");
    }
    for (arguments, words) in [
        (&["show", "toolu_on"][..], "9 actions begin with `toolu_on`: `toolu_on"),
        (&["show", "on:1"], "2 sessions begin with `on`: `on"),
        (&["session", "recover", "on"], "2 sessions begin with `on`: `on"),
        (&["halt", "on"], "; nothing was changed"),
        (&["run", "show", "20"], "2 runs begin with `20`: `20"),
        (
            &["session", "rollback", "one", "--before", "toolu_", "--dry-run"],
            "5 actions begin with `toolu_`: `toolu_one",
        ),
    ] {
        let ambiguous = environment.checkrein(arguments);
        assert_eq!(ambiguous.status.code(), Some(1), "{arguments:?}: {}", said(&ambiguous));
        assert!(said(&ambiguous).contains(words), "{arguments:?}: {}", said(&ambiguous));
        assert!(said(&ambiguous).contains("\nhint: give more of the name"), "{arguments:?}");
        assert!(ambiguous.stdout.is_empty(), "{arguments:?}");
    }
    assert!(said(&environment.checkrein(&["show", "toolu_on"])).contains(", and 4 more\n"));
}

#[test]
fn a_no_is_not_an_error() {
    let environment = TestEnvironment::new();
    environment.answer_to(&environment.payload("s", "SessionStart", json!({ "source": "startup" })));
    environment.write("notes.txt", "one\n");
    environment.bash("s", "rm notes.txt");
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    environment.succeed(&["run", "--worktree", "task", "--", "touch", "made"]);
    let program = env!("CARGO_BIN_EXE_checkrein");
    for command in [
        "undo",
        "snapshot restore 2",
        "session rollback s --before 1",
        "worktree merge task",
        "worktree discard task",
        "init",
    ] {
        let terminal = typed(&environment, &format!("{program} {command}"), "n\n");
        assert!(terminal.contains("[y/N]") && terminal.ends_with("status:1\n"), "{command}: {terminal}");
        assert!(!terminal.contains("error") && !terminal.contains("hint"), "{command}: {terminal}");
        let arguments: Vec<&str> = command.split(' ').collect();
        let unasked = environment.checkrein(&arguments);
        let words = said(&unasked);
        assert_eq!(unasked.status.code(), Some(1), "{command}: {words}");
        assert!(
            words.contains("there is no terminal to ask at") && words.contains("`--yes`"),
            "{command}: {words}"
        );
    }
    assert!(!environment.project().join("notes.txt").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let environment = TestEnvironment::new();
    for number in 0..40 {
        environment.bash("s", &format!("echo {number} {}", "x".repeat(4000)));
    }
    for command in ["audit export", "audit export --form csv", "log --number 500", "show s:1"] {
        let program = env!("CARGO_BIN_EXE_checkrein");
        let piped = format!("{program} {command} | head -c 10; exit ${{PIPESTATUS[0]}}");
        let output = environment.command("bash").args(["-c", &piped]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{command}: {}", said(&output));
    }
}

#[test]
fn a_program_that_is_not_there_is_said_alike() {
    let environment = TestEnvironment::new();
    environment.write("text", "no program\n");
    for (program, status, words) in [
        ("nosuch-program", 127, "`nosuch-program` is not there\nhint: check its name and `PATH`\n"),
        (
            "./text",
            126,
            "`./text` cannot be run: Permission denied (os error 13)\nhint: check that it is a program",
        ),
    ] {
        for command in
            [&["exec", "--"][..], &["acp", "--"], &["run", "--"], &["route", "--runner", "pytest", "--"]]
        {
            let output = environment.checkrein(&[command, &[program]].concat());
            assert!(said(&output).contains(words), "{command:?}: {}", said(&output));
            // A run says that nothing was run.
            let expected = if command[0] == "run" { 125 } else { status };
            assert_eq!(output.status.code(), Some(expected), "{command:?} {program}");
        }
    }
}

#[test]
fn a_run_for_a_pipeline_that_nobody_configured_begins_only_where_none_is() {
    let environment = TestEnvironment::new();
    let run = |pipeline: &str| environment.checkrein(&["run", "--pipeline", pipeline, "--", "true"]);
    let none = run("release");
    assert_eq!(none.status.code(), Some(0), "{}", said(&none));
    assert!(said(&none).contains("there is none"), "{}", said(&none));
    environment.configure("config.yaml", "safety:\n  pipelines:\n    release:\n      profile: strict\n");
    let mistyped = run("relaese");
    assert_eq!(mistyped.status.code(), Some(125), "{}", said(&mistyped));
    let words = "no pipeline `relaese` in `safety.pipelines`\nhint: there are `release`\n";
    assert!(said(&mistyped).contains(words), "{}", said(&mistyped));
}

#[test]
fn worktrees_of_a_directory_that_holds_their_folder_are_an_error_that_says_so() {
    let environment = TestEnvironment::new();
    let mut list = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = list.args(["worktree", "list"]).current_dir(environment.home()).output().unwrap();
    let words = said(&output).replace(&environment.home().display().to_string(), "~");
    assert_eq!(
        words,
        "error: `~` has no worktrees: the folder of all worktrees, `~/.local/share/checkrein/worktrees`, lies in it\nhint: go into a project, or choose another folder: `CHECKREIN_WORKTREES`\n"
    );
    assert_eq!(environment.succeed(&["worktree", "list"]), "no run has a worktree of this project\n");
}

#[test]
fn doctor_lists_what_no_machine_holds_only_when_asked() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    let plain = environment.succeed(&["doctor"]);
    assert!(
        plain.contains("(`checkrein doctor --all` lists them)") && !plain.contains("hard link"),
        "{plain}"
    );
    assert!(environment.succeed(&["doctor", "--all"]).contains("hard link"));
    // Projects of this machine without hooks: one that the client knows, and one of the records. What is gone is none.
    let places = ["known", "recorded", "gone"].map(|name| environment.home().join(name));
    for place in &places[..2] {
        fs::create_dir(place).unwrap();
    }
    let known = json!({ "projects": { places[0].to_str().unwrap(): {}, places[2].to_str().unwrap(): {} } });
    fs::write(environment.home().join(".claude.json"), known.to_string()).unwrap();
    let mut fields = shell_call("call", "ls", json!({}));
    fields["cwd"] = json!(places[1]);
    environment.answer_to(&environment.payload("elsewhere", "PreToolUse", fields));
    let all = environment.succeed(&["doctor", "--all"]);
    let lists = |name: &str| all.contains(&format!("{name}` are not reviewed"));
    assert!(lists("known") && lists("recorded") && !lists("gone") && !lists("project"), "{all}");
    assert!(!environment.succeed(&["doctor"]).contains("are not reviewed"));
    let told: serde_json::Value = serde_json::from_str(&environment.succeed(&["doctor", "--json"])).unwrap();
    assert!(told.to_string().contains("hard link"), "{told}");
    assert!(told["result"] == "protected" || told["result"] == "protected_with_remarks", "{told}");
}

#[test]
fn what_is_kept_of_a_repository_is_said_in_one_line() {
    let environment = TestEnvironment::new();
    let command = "rm README.md && git add -A && git commit -qm agent";
    environment.answer_to(&environment.payload("s", "PreToolUse", shell_call("call", command, json!({}))));
    fs::remove_file(environment.project().join("README.md")).unwrap();
    environment.git(&["add", "-A"]);
    environment.commit("agent");
    let done = shell_call("call", command, json!({ "tool_response": { "stdout": "" } }));
    environment.answer_to(&environment.payload("s", "PostToolUse", done));
    environment.write("own.txt", "mine\n");
    environment.git(&["add", "-A"]);
    environment.commit("own");
    let shown = String::from_utf8(environment.checkrein(&["undo", "--dry-run"]).stdout).unwrap();
    let kept: Vec<&str> = shown.lines().filter(|line| line.trim_start().starts_with("keep")).collect();
    assert_eq!(kept.len(), 1, "{shown}");
    assert!(kept[0].contains("of git: branch main, messages, reflogs, what is staged"), "{shown}");
    assert!(!shown.contains("/.git/"), "{shown}");
}

#[test]
fn a_warning_that_was_not_said_is_shown_with_its_words() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "step_reviewer: {risk: {high_threshold: 0.6}}\n");
    environment.bash("s", "python3 missing.py");
    let shown = environment.succeed(&["show", "call"]);
    let not_said: Vec<&str> = shown.lines().filter(|line| line.starts_with("not said")).collect();
    assert_eq!(
        not_said,
        [
            "not said    this is of high risk: python3: `missing.py` is not there to be read; a part of it cannot be read beforehand (the first time it is only recorded)"
        ],
        "{shown}"
    );
    assert!(!shown.contains("warning of the first time"), "{shown}");
}

#[test]
fn init_and_uninstall_say_in_a_few_lines_what_they_write() {
    let environment = TestEnvironment::new();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let before_question = |command: &str| {
        let question = if command.starts_with("init") { "Write this?" } else { "Remove this?" };
        let terminal = typed(&environment, &format!("{program} {command}"), "n\n");
        let (before, _) = terminal.split_once(question).expect("a question");
        before.to_owned()
    };
    for (command, adds) in [("init", "adds "), ("uninstall", "removes ")] {
        let said = before_question(command);
        // A path that is too long for its line stands on the next one.
        let entries = said.trim().lines().filter(|line| !line.starts_with(' '));
        assert!(entries.count() <= 7, "{command}: {said}");
        assert!(
            said.contains(adds) && said.contains("`--dry-run --verbose` shows them"),
            "{command}: {said}"
        );
        assert!(!said.contains("PreToolUse"), "{command}: {said}");
        assert!(before_question(&format!("{command} --verbose")).contains("PreToolUse"), "{command}");
        let shown = environment.succeed(&[command, "--dry-run"]);
        assert!(!shown.contains("PreToolUse") && shown.lines().count() <= 7, "{command}: {shown}");
        let shown = environment.succeed(&[command, "--dry-run", "--verbose"]);
        // The whole of it, so that nothing is written that was not shown.
        assert!(shown.contains("PreToolUse") && shown.lines().count() > 300, "{command}: {shown}");
        environment.succeed(&["init", "--yes"]);
    }
    let help = environment.succeed(&["uninstall", "--help"]);
    for of_init in ["--statusline", "--mcp", "--hook", "Write without asking"] {
        assert!(!help.contains(of_init), "{of_init}: {help}");
    }
}

#[test]
fn uninstall_asks_once_for_all_names_each_agent_and_says_what_was_removed() {
    let environment = TestEnvironment::new();
    for client in ["claude", "codex", "cursor"] {
        environment.succeed(&["init", "--client", client, "--user", "--yes"]);
    }
    let program = env!("CARGO_BIN_EXE_checkrein");
    let settings = environment.home().join(".codex/hooks.json");
    let said = typed(&environment, &format!("{program} uninstall --user"), "n\n");
    assert!(settings.exists() && said.matches("[y/N]").count() == 1, "{said}");
    let (shown, told) = said.split_once("Remove these?").expect(&said);
    for title in ["Claude Code", "Codex", "Cursor"] {
        assert!(shown.contains(&format!("client    {title}, for all your projects")), "{said}");
        assert!(told.contains(title), "{said}");
    }
    assert_eq!(told.matches("nothing was removed").count(), 3, "{said}");
    let unasked = environment.checkrein(&["uninstall", "--user"]);
    let said = String::from_utf8_lossy(&unasked.stderr).into_owned();
    assert!(settings.exists() && said.contains("`--yes` removes without asking"), "{said}");
    let said = typed(&environment, &format!("{program} uninstall --user"), "y\n");
    assert!(!settings.exists() && said.matches("removed the hooks: ").count() == 3, "{said}");
    let said = environment.succeed(&["uninstall", "--client", "codex", "--yes"]);
    assert!(said.contains("Codex  nothing registered: ") && !said.contains("removed"), "{said}");
}

#[test]
fn a_check_names_files_as_people_do_and_programs_get_whole_paths() {
    let environment = TestEnvironment::new();
    fs::write(environment.home().join("diary.md"), "dear diary\n").unwrap();
    environment.write("notes.txt", "one\n");
    let home = environment.home().display().to_string();
    let command = "rm notes.txt ../diary.md";
    let text = String::from_utf8(environment.checkrein(&["check", command]).stdout).unwrap();
    assert!(text.contains("deletes notes.txt (") && text.contains("deletes ~/diary.md"), "{text}");
    assert!(!text.contains(&home), "{text}");
    let json = String::from_utf8(environment.checkrein(&["check", "--json", command]).stdout).unwrap();
    assert!(json.contains(&format!("{home}/diary.md")), "{json}");
}

#[test]
fn what_is_said_at_a_terminal_fits_its_width() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--yes"]);
    fs::write(environment.home().join("diary.md"), "dear diary\n").unwrap();
    environment.bash("s", "rm ../diary.md");
    environment.write("notes.txt", "one\n");
    environment.bash("s", "rm notes.txt");
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let long = format!("echo {} && ls", "a-word ".repeat(30));
    environment.bash("s", &long);
    for command in [
        "doctor --all",
        "allow LAST --yes",
        "undo --dry-run",
        "check 'rm ../diary.md'",
        "show LAST --verbose",
        "log",
        "session list",
        "snapshot list",
        "undo nosuch --yes",
        "init",
        "gate completeness",
        "session recover s",
        "exec -- ./nosuch",
        "halt s --reason \"a reason of which there is much to say, so that no line of eighty columns holds all of it\"",
        "ticket list",
        "incident show nosuch",
        "config check",
        "watch --once",
        "stats",
        "missed LAST",
        "issue list",
        "surprise list",
        "incident list",
        "run list",
        "trust show",
    ] {
        for width in [80, 40] {
            let terminal = typed(&environment, &format!("stty cols {width}; {program} {command}"), "");
            for line in terminal.lines() {
                let shown = strip(line);
                // A word that is longer stays whole, and bars are drawn for the usual width.
                let is_one_word =
                    shown.trim().split(' ').any(|word| word.len() > width * 3 / 4 || word.contains('█'));
                let is_narrow = width < 80 && NOT_NARROW.iter().any(|name| command.starts_with(name));
                assert!(
                    shown.chars().count() <= width || is_one_word || is_narrow,
                    "{command} at {width}: {line}\n{terminal}"
                );
            }
        }
    }
}

/// What has columns or quoted code in it that a terminal of 40 columns does not hold.
const NOT_NARROW: [&str; 2] = ["stats", "missed"];

#[test]
fn a_narrow_watch_names_its_figures_and_a_summary_stays_whole() {
    let environment = TestEnvironment::new();
    environment.write("notes/draft.md", "the only copy\n");
    environment.bash("s", "ls");
    environment.bash("s", "rm -rf notes");
    environment.bash("s", "rm -rf ~");
    for width in ["80", "40"] {
        let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
        let output = command.args(["watch", "--once"]).env("COLUMNS", width).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("3 calls: 1 ok, 1 saved, 1 stopped"), "{width}: {text}");
        assert!(text.contains("last call stopped Bash rm -rf ~"), "{width}: {text}");
        assert!(text.contains("tokens unknown, cost unknown"), "{width}: {text}");
    }
    for (name, fields) in [("Stop", json!({})), ("SessionEnd", json!({ "reason": "exit" }))] {
        environment.answer_to(&environment.payload("s", name, fields));
    }
    let log = environment.succeed(&["log"]);
    assert!(log.contains("the session ended: 3 calls: 1 ok, 1 saved, 1 stopped"), "{log}");
}

#[test]
fn a_list_of_snapshots_says_when_how_much_and_what_for() {
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "one\n");
    environment.bash("s", "rm notes.txt");
    environment.write("notes.txt", "two\n");
    environment.succeed(&["snapshot", "create", "--reason", "before the move"]);
    let list = environment.succeed(&["snapshot", "list"]);
    for part in ["just now", "before `rm notes.txt`", "on request: before the move", "4 B"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let sums = String::from_utf8(environment.checkrein(&["snapshot", "list"]).stderr).unwrap();
    assert!(sums.contains("snapshots: ") && sums.contains("All snapshots of this project: "), "{sums}");
    assert!(sums.contains("~/.local/state/checkrein/snapshots/"), "{sums}");
    // The sums are those of what is listed.
    let rows: Vec<Json> = environment
        .succeed(&["snapshot", "list", "--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let saved: u64 = rows.iter().filter_map(|row| row["bytes"].as_u64()).sum();
    assert!(sums.starts_with(&format!("{} snapshots: {saved} B saved", rows.len())), "{sums}: {saved}");
}

/// A line without the escapes of its colours.
fn strip(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |line, part| line + part.split_once('m').map_or(part, |(_, rest)| rest))
}

#[test]
fn the_newest_call_is_shown_and_an_empty_log_says_why() {
    let environment = TestEnvironment::new();
    let empty = environment.succeed(&["log", "--here"]);
    assert!(empty.contains("nothing is recorded yet"), "{empty}");
    assert!(said(&environment.checkrein(&["show", "LAST"])).contains("no call of this project is recorded"));
    environment.bash("s", "ls src");
    environment.bash("s", "rm -rf ~");
    environment.bash("s", "git status");
    assert!(environment.succeed(&["show", "LAST"]).contains("git status"));
    let mut elsewhere = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let other = environment.home().join("other");
    fs::create_dir(&other).unwrap();
    let output = elsewhere.current_dir(&other).args(["log", "--here"]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("no session of this project is recorded yet"), "{shown}");
}

#[test]
fn who_would_lose_the_home_directory_reads_of_that_first() {
    let environment = TestEnvironment::new();
    environment.succeed(&["init", "--user", "--yes"]);
    let answer = environment.bash("s", "rm -rf ~").to_string();
    assert!(answer.contains("this deletes"), "{answer}");
    assert!(!answer.contains("leave the guard alone"), "{answer}");
}

#[test]
fn advice_about_the_guard_offers_no_way_to_touch_it() {
    let environment = TestEnvironment::new();
    let output = environment.checkrein(&["check", "sed -i s/a/b/ .claude/settings.json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let advice: Vec<&str> = text.lines().filter(|line| line.starts_with("instead")).collect();
    assert_eq!(advice.len(), 1, "{text}");
    assert!(advice[0].contains("leave the guard alone"), "{text}");
}
