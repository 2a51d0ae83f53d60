//! The command line as a whole: its help, its old forms, and that JSON is JSON everywhere.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

#[path = "command_line/schema.rs"]
mod schema;
mod support;

use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use serde_json::Value as Json;
use support::TestEnvironment;

#[test]
fn every_command_has_help_with_an_example() {
    let environment = TestEnvironment::new();
    let mut reference = help_of(&environment, &[]);
    for words in pages(&environment) {
        let help = help_of(&environment, &words);
        assert!(help.contains("Example"), "{words:?} has no example");
        writeln!(reference, "\n---- checkrein {} ----\n{}", words.join(" "), help.trim_end()).unwrap();
    }
    insta::assert_snapshot!("reference", reference);
}

#[test]
fn completions_are_made_for_the_usual_shells() {
    let environment = TestEnvironment::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(environment.succeed(&["completions", shell]).contains("checkrein"), "{shell}");
    }
}

/// The help of a command as a terminal of 80 columns shows it.
fn help_of(environment: &TestEnvironment, words: &[String]) -> String {
    let mut command = environment.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = command.args(words).arg("--help").env("COLUMNS", "80").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The titles below which a help names commands.
const TITLES: [&str; 4] = ["Commands:", "Daily work:", "Records and settings:", "Installation:"];

/// The names of the commands in a help.
fn subcommands(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_list = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            is_list = TITLES.contains(&line);
        } else if is_list && let Some(name) = line.strip_prefix("  ").and_then(|rest| rest.split(' ').next())
        {
            names.push(name.to_owned());
        }
    }
    names.retain(|name| !name.is_empty() && name != "help");
    names
}

/// Every command that has a help of its own, as words.
fn pages(environment: &TestEnvironment) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = vec![Vec::new()];
    let mut place = 0;
    while let Some(above) = found.get(place).cloned() {
        let below = subcommands(&help_of(environment, &above));
        found.extend(below.into_iter().map(|name| [above.as_slice(), &[name]].concat()));
        place += 1;
    }
    found.remove(0);
    found
}

/// Every command that does something, as words.
fn leaves(environment: &TestEnvironment) -> Vec<Vec<String>> {
    let mut all = pages(environment);
    let with_more = all.clone();
    // `run` and `trust` do something by themselves as well.
    all.retain(|words| {
        let is_above = with_more.iter().any(|other| other.len() > words.len() && other.starts_with(words));
        !is_above || matches!(words.join(" ").as_str(), "run" | "trust")
    });
    all
}

/// No line is wider than 80 columns, and what goes on in the next line would not have fitted into the one before: text that was broken by
/// hand and then again has short lines within a sentence.
#[test]
fn every_help_fits_80_columns_and_is_wrapped_once() {
    let environment = TestEnvironment::new();
    let mut all = pages(&environment);
    all.push(Vec::new());
    assert!(all.len() > 50, "{all:?}");
    for words in all {
        let help = help_of(&environment, &words);
        let margin = |line: &str| line.len() - line.trim_start().len();
        let mut before: Option<&str> = None;
        let mut is_list = false;
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{words:?}: too wide: {line}");
            if line.is_empty() || line.ends_with(':') && !line.starts_with(' ') {
                is_list = line.starts_with("Example") || TITLES.contains(&line) || is_list && line.is_empty();
                before = None;
                continue;
            }
            // An example, a command or an option begins a text of its own; what goes on stands as far in as the text, or without a margin.
            let begins = is_list
                || (1..=6).contains(&margin(line))
                || ["- ", "checkrein "].iter().any(|sign| line.trim_start().starts_with(sign));
            // Below an option that stands alone its text begins.
            let is_alone = |line: &str| (1..=6).contains(&margin(line)) && !line.trim_start().contains("  ");
            if let (Some(before), false) = (before.filter(|line| !is_alone(line)), begins) {
                let first = line.trim_start().split(' ').next().unwrap_or_default();
                assert!(
                    before.chars().count() + 1 + first.chars().count() > 80,
                    "{words:?}: `{before}` ends early before `{line}`"
                );
            }
            before = Some(line);
        }
    }
}

/// The forms of commands from before there were nouns, and what they are called now.
const OLD_FORMS: [(&str, &str); 22] = [
    ("sessions", "session list"),
    ("sessions --json", "--json session list"),
    ("snapshots", "snapshot list"),
    ("snapshots --json -n 2", "snapshot list -n 2 --json"),
    ("diff 17", "snapshot diff 17"),
    ("diff 17 21 --patch", "snapshot diff 17 21 --patch"),
    ("rollback 17", "snapshot restore 17"),
    ("rollback 17 src/main.rs docs", "snapshot restore 17 src/main.rs docs"),
    ("rollback 17 --remove-new --yes", "snapshot restore 17 --remove-new --yes"),
    ("rollback --session s --before 1 --dry-run", "session rollback s --before 1 --dry-run"),
    ("recover s --policy production", "session recover s --policy production"),
    ("runs", "run list"),
    ("runs --verify", "run verify"),
    ("surprises --session s --limit 100", "surprise list --session s --limit 100"),
    ("surprises --json", "surprise list --json"),
    ("reviews --open --json", "ticket list --open --json"),
    ("reviews close s:1 --note 'as intended'", "ticket close s:1 --note 'as intended'"),
    ("mark s:1 false-alarm --note x", "issue mark s:1 false-alarm --note x"),
    ("mark s missed --pattern stuck_loop", "issue mark s missed --pattern stuck_loop"),
    ("marks", "issue stats"),
    ("incidents", "incident list"),
    ("notify --test", "notice test"),
];

fn by_shell(environment: &TestEnvironment, words: &str) -> std::process::Output {
    let line = format!("exec {} {words}", env!("CARGO_BIN_EXE_checkrein"));
    environment.command("bash").args(["-c", &line]).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn the_old_form_of_a_command_does_what_the_new_one_does() {
    let environment = TestEnvironment::new();
    environment.bash("s", "ls");
    environment.bash("s", "cat notes.txt");
    for (old, new) in OLD_FORMS {
        let [old_end, new_end] = [old, new].map(|words| by_shell(&environment, words));
        assert_eq!(old_end, new_end, "`{old}` and `{new}`");
        let said = String::from_utf8_lossy(&old_end.stderr).into_owned();
        assert!(!said.contains("Usage:") && !said.contains("unexpected"), "{old}: {said}");
    }
}

/// What help and pages showed before there were nouns.
const ONCE_SHOWN: &str = include_str!("command_line/once_shown.txt");

#[test]
fn everything_that_help_and_pages_ever_showed_is_still_understood() {
    let mut count = 0;
    for line in ONCE_SHOWN.lines() {
        let environment = TestEnvironment::new();
        let said = by_shell(&environment, line);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!said.contains("Usage:") && !said.contains("For more information"), "{line}: {said}");
        count += 1;
    }
    assert!(count > 80, "{count}");
}

/// What a command needs to be called at all.
fn operands(command: &str) -> &'static [&'static str] {
    match command {
        "push-hook run" => &["--", "origin"],
        "config preset" => &["solo", "--dry-run"],
        "init" | "uninstall" => &["--dry-run"],
        "check" => &["ls"],
        "history" => &["openssl"],
        "gate" => &["completeness"],
        "acp" | "exec" | "run" => &["--", "true"],
        "route" => &["--runner", "any", "--", "true"],
        "watch" => &["--once"],
        // What it says when it serves is held to its form where it is tried; here it would go on.
        "serve" => &["--listen", "nowhere"],
        "credential set" | "credential get" | "credential delete" => &["name"],
        "show" | "wrong" | "missed" => &["s:1"],
        "issue mark" => &["s:1", "confirmed"],
        "session recover" | "session show" | "halt" | "resume" => &["s"],
        "ticket close" => &["s:1", "--note", "x"],
        "agent tier" => &["nosuch", "3"],
        "incident close" => &["nosuch", "--note", "x"],
        "task" => &["nosuch.md", "--dry-run"],
        "change open" => &["--issue", "1", "--rollback", "true", "--verify", "true", "--", "ls"],
        "change approve" | "mcp accept" | "mcp forget" | "plugin enable" => &["nosuch", "--yes"],
        "change rollback" | "change show" | "change verify" | "change close" | "approval show"
        | "approval allow" | "approval deny" | "incident show" | "run show" | "pipeline show"
        | "worktree diff" | "worktree merge" | "worktree discard" | "plugin test" | "plugin disable" => {
            &["nosuch"]
        }
        "plugin init" => &["begun"],
        "undo" | "trust" | "policy update" | "policy unpin" => &["--yes"],
        "allow" => &["s:1", "--yes"],
        "snapshot restore" => &["1", "--yes"],
        "session rollback" => &["s", "--before", "1", "--yes"],
        "snapshot diff" | "snapshot pin" => &["1"],
        "snapshot export" => &["1", "copy"],
        "replay" => &["nosuch.jsonl"],
        "manual" => &["--to", "pages"],
        "update" => &["--from", "nosuch", "--yes"],
        "policy try" | "pipeline run" | "pipeline check" | "pipeline graph" => &["nosuch.yaml"],
        "policy key" => &["--to", "secret.key"],
        "policy sign" => &["nosuch.yaml", "--key", "secret.key"],
        "policy pin" => &["nosuch.yaml", "--key", "ed25519:00", "--yes"],
        // They print what another program reads, in its own language.
        "completions" => &["bash"],
        "hook" => &["claude"],
        _ => &[],
    }
}

/// The objects on a stream; whatever else stands on standard error is words.
fn objects(text: &[u8]) -> Vec<Json> {
    let text = String::from_utf8_lossy(text);
    match serde_json::from_str::<Json>(&text) {
        Ok(one) => vec![one],
        Err(_) => {
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(Json::is_object).collect()
        }
    }
}

/// Checks what a command printed against its form; the names of the forms that were met.
fn forms_met(all: &Json, command: &str, fixed: &str, printed: &[Json]) -> Vec<String> {
    let mut met = Vec::new();
    for object in printed {
        let fixed = if object["error"].is_string() { "check-fault" } else { fixed };
        let name = object["schema"].as_str().unwrap_or(fixed);
        let form = &all["forms"][name];
        assert!(form.is_object(), "{command}: `{name}` is not a form: {object}");
        let faults = schema::faults(all, form, object);
        assert!(faults.is_empty(), "{command}: {faults:#?}");
        let commands = form["x-commands"].as_array().unwrap();
        let is_named = commands.iter().any(|one| one.as_str().is_some_and(|one| command.starts_with(one)));
        assert!(is_named || name == "checkrein/error/1", "{command} is not named for {name}");
        met.push(name.to_owned());
    }
    met
}

#[test]
fn every_answer_has_the_form_that_the_reference_names() {
    let all = checkrein_cli::api::schema();
    let environment = TestEnvironment::new();
    environment.write("notes.txt", "one\n");
    environment.write("batch.jsonl", "{\"command\":\"ls\"}\n{}\n");
    environment.write("functions.jsonl", "{\"language\":\"python\",\"code\":\"def f(): ...\"}\n");
    environment.write(
        "session.jsonl",
        "{\"id\":\"x\",\"steps\":[{\"tool\":\"Bash\",\"input\":{\"command\":\"ls\"}}]}\n",
    );
    environment.bash("s", "ls");
    environment.bash("s", "rm notes.txt");
    environment.bash("s", "checkrein trust --yes");
    fs::remove_file(environment.project().join("notes.txt")).unwrap();
    let mut met = Vec::new();
    for (command, fixed) in [
        ("init --yes", ""),
        ("doctor", ""),
        ("check 'rm -rf /'", ""),
        ("check --batch batch.jsonl", "check"),
        ("gate completeness", ""),
        ("gate completeness --batch functions.jsonl", "gate-batch"),
        ("log", "log"),
        ("replay session.jsonl", "replay"),
        ("show s:1", ""),
        ("show s:99", ""),
        ("watch --once", ""),
        ("session list", ""),
        ("session recover s", ""),
        ("session rollback s --before 1 --dry-run", ""),
        ("snapshot list", ""),
        ("snapshot create --reason x", ""),
        ("snapshot diff 1", ""),
        ("snapshot pin 1", ""),
        ("snapshot prune --dry-run", ""),
        ("snapshot verify", ""),
        ("snapshot export 1 copy", ""),
        ("undo --dry-run", ""),
        ("undo --yes", ""),
        ("snapshot restore 1 --yes", ""),
        ("snapshot restore 99 --yes", ""),
        ("run -- true", ""),
        ("run list", ""),
        ("run verify", ""),
        ("run show 20", ""),
        ("exec -- true", ""),
        ("exec -- ./nosuch", ""),
        ("route --runner any -- false", ""),
        ("worktree list", ""),
        ("worktree diff nosuch", ""),
        ("change list", ""),
        ("change show nosuch", ""),
        ("approval list", "approval-list"),
        ("approval show nosuch", ""),
        ("incident list", ""),
        ("issue list", ""),
        ("issue mark s missed --pattern stuck_loop", ""),
        ("issue stats", ""),
        ("ticket list", ""),
        ("agent list", ""),
        ("surprise list", ""),
        ("config show", ""),
        ("config preset solo --dry-run", ""),
        ("stats", ""),
        ("config check", ""),
        ("policy show", ""),
        ("policy check", ""),
        ("policy test", ""),
        ("audit verify", ""),
        ("credential list", ""),
        ("credential delete nosuch", ""),
        ("trust show", ""),
        ("trust", ""),
        ("notice test", ""),
        ("halt s", ""),
        ("incident list", ""),
        ("resume s", ""),
        ("nosuch", ""),
        ("snapshot list --nosuch", ""),
        ("manual --to pages", ""),
        ("update --from nosuch --yes", ""),
        ("uninstall --yes", ""),
        ("uninstall --purge --dry-run", ""),
    ] {
        let output = by_shell(&environment, &format!("--json {command}"));
        let stream = match command.split(' ').next() {
            Some("exec" | "route") => &output.stderr,
            Some("run") if command.contains("--") => &output.stderr,
            _ => &output.stdout,
        };
        let printed = objects(stream);
        met.extend(forms_met(&all, command, fixed, &printed));
        // Who fails says why in JSON as well; a status that tells something is not a failure.
        let told = printed.last().map_or(&Json::Null, |last| &last["error"]["exit_status"]);
        if told.is_u64() {
            assert_eq!(told.as_i64(), output.status.code().map(i64::from), "{command}");
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("error: "), "{command} fails in words only: {said}");
        }
    }
    met.sort();
    met.dedup();
    assert!(met.len() >= 30, "{met:?}");
    for form in ["checkrein/incident/1", "checkrein/ticket/1", "checkrein/action/1", "checkrein/run/1"] {
        assert!(met.iter().any(|name| name == form), "{form} was not met: {met:?}");
    }
}

/// What a reader of `jq` relies on: a list of nothing has no line, ends well, and says nothing beside it; whatever answers otherwise stands
/// on the page with what it prints.
#[test]
fn a_list_of_nothing_is_nothing_in_json() {
    let environment = TestEnvironment::new();
    let page = checkrein_cli::api::page();
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .filter_map(|(command, rest)| Some((command, rest.split_once(" | ")?.0)))
        .collect();
    // They change or try something, or answer for each line that they are given.
    let given = [
        "init",
        "uninstall",
        "notice test",
        "snapshot diff",
        "plugin test",
        "check --batch",
        "gate completeness --batch",
    ];
    let mut lists = 0;
    for (command, prints) in &rows {
        if *prints != "JSON Lines" || given.contains(command) || command.starts_with("replay") {
            continue;
        }
        let more = match *command {
            "watch" => " --once",
            "history" => " openssl",
            _ => "",
        };
        let output = by_shell(&environment, &format!("--json {command}{more}"));
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{command}: {said}");
        lists += 1;
    }
    assert!(lists >= 15, "{rows:?}");
    for (command, empty) in [("approval list", "[]"), ("credential list", "\"credentials\": []")] {
        let said = environment.succeed(&[&["--json"], &command.split(' ').collect::<Vec<_>>()[..]].concat());
        assert!(said.contains(empty), "{command}: {said}");
    }
    for words in leaves(&environment).iter().filter(|words| words.last().is_some_and(|word| word == "list")) {
        let command = words.join(" ");
        let prints: Vec<&str> =
            rows.iter().filter(|(name, _)| *name == command).map(|(_, prints)| *prints).collect();
        let is_one = ["approval list", "credential list", "audit key list"].contains(&command.as_str());
        assert_eq!(prints == ["JSON Lines"], !is_one, "{command} prints {prints:?}");
    }
}

#[test]
fn what_is_asked_for_as_json_is_json_in_every_command() {
    let all = leaves(&TestEnvironment::new());
    assert!(all.len() > 40 && all.contains(&vec!["policy".to_owned(), "test".to_owned()]), "{all:?}");
    let project =
        "limits:\n  file_operations: 500\nstep_reviewer:\n  rules:\n    disabled: [confirm_secret_read]\n";
    for (with_session, text) in [(false, ""), (true, project)] {
        for words in &all {
            let command = words.join(" ");
            if matches!(command.as_str(), "completions" | "hook") {
                continue;
            }
            let environment = TestEnvironment::new();
            if with_session {
                environment.write("checkrein.yaml", text);
                environment.bash("s", "ls");
            }
            let mut arguments = vec!["--json"];
            arguments.extend(words.iter().map(String::as_str));
            arguments.extend(operands(&command));
            let output = environment.checkrein(&arguments);
            let text = String::from_utf8(output.stdout).unwrap();
            let is_json = |text: &str| serde_json::from_str::<Json>(text).is_ok();
            assert!(is_json(&text) || text.lines().all(is_json), "{command}: {text}");
            let says_why = !output.stderr.is_empty();
            assert!(!text.is_empty() || output.status.success() || says_why, "{command} says nothing");
            let is_usage = String::from_utf8_lossy(&output.stderr).contains("Usage:");
            assert!(!is_usage, "{command} was called wrongly: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
