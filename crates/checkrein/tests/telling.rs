//! What a user reads of sessions: ids that other commands take, answers to questions, what ran and what did not, and advice that works
//! when it is typed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value as Json, json};
use support::{TestEnvironment, shell_call};

/// A session in which questions were asked; what became of each is said by `follows`.
struct Asked(TestEnvironment);

const QUESTION: &str = "git push --force origin main";

impl Asked {
    fn new() -> Self {
        Self(TestEnvironment::new())
    }

    fn event(&self, event: &str, fields: Json) -> Json {
        self.0.answer_to(&self.0.payload("4f3c0000-asked", event, fields))
    }

    fn call(&self, id: &str, command: &str) -> Json {
        self.event("PreToolUse", shell_call(id, command, json!({})))
    }

    fn ran(&self, id: &str, command: &str) {
        let mut fields = shell_call(id, command, json!({}));
        fields["tool_response"] = json!({ "stdout": "", "stderr": "" });
        self.event("PostToolUse", fields);
    }

    fn show(&self, id: &str) -> String {
        self.0.succeed(&["show", id])
    }
}

#[test]
fn the_log_names_what_other_commands_take_and_says_what_became_of_questions() {
    let asked = Asked::new();
    asked.call("toolu_01yes0000000000", QUESTION);
    asked.event("PermissionRequest", shell_call("toolu_01yes0000000000", QUESTION, json!({})));
    asked.ran("toolu_01yes0000000000", QUESTION);
    asked.event("PostToolBatch", json!({}));
    asked.call("toolu_01nobody0000000", QUESTION);
    asked.event("PostToolBatch", json!({}));
    asked.call("toolu_01no00000000000", QUESTION);
    asked.event("PermissionRequest", shell_call("toolu_01no00000000000", QUESTION, json!({})));
    asked.event("PostToolBatch", json!({}));
    asked.event("UserPromptSubmit", json!({ "prompt": "no, leave it" }));
    asked.call("toolu_01bypass0000000", "git status");
    asked.event(
        "PreToolUse",
        shell_call("toolu_01refused000000", QUESTION, json!({ "permission_mode": "dontAsk" })),
    );
    asked.call("toolu_01open000000000", QUESTION);

    let log = asked.0.succeed(&["log"]);
    let row = |id: &str| log.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("{id}\n{log}"));
    for (id, answer) in [
        ("toolu_01yes000", "asked: yes"),
        ("toolu_01nobody", "asked: nobody answered"),
        ("toolu_01no0000", "asked: no"),
        ("toolu_01refuse", "stopped"),
        ("toolu_01open00", "asked: open"),
    ] {
        assert!(row(id).contains(&format!("{answer} ")), "{id}: {log}");
    }
    assert!(!log.contains("PostToolBatch") && !log.contains("Bash done"), "{log}");
    // A line of the story begins with the time and the id; what is further in says why.
    let ids = log.lines().filter(|line| line.starts_with("  ") && line.as_bytes()[2].is_ascii_digit());
    let ids: Vec<&str> = ids.map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert!(ids.len() >= 5, "{log}");
    for id in ids {
        asked.show(id);
    }

    for (id, ran, sentence) in [
        ("toolu_01yes", "ran instead", "yes: it ran"),
        ("toolu_01nobody", "safer form, not run", "nobody answered: it did not run"),
        ("toolu_01no0", "safer form, not run", "no: it did not run"),
        ("toolu_01open", "safer form", "not yet"),
        ("toolu_01refused", "safer form, not run", "refused: nobody can be asked"),
    ] {
        let shown = asked.show(id);
        assert!(shown.contains(sentence), "{id}: {shown}");
        if shown.contains("--force-with-lease") && shown.contains("safer form") {
            assert!(shown.contains(&format!("{ran}: ")), "{id}: {shown}");
        }
        assert_eq!(
            shown.contains("ran instead"),
            ran == "ran instead" && shown.contains("ran instead"),
            "{shown}"
        );
    }
    assert!(!asked.show("toolu_01no0").contains("ran instead"));
}

#[test]
fn the_log_is_a_story_by_session_that_can_be_narrowed() {
    let asked = Asked::new();
    let workspace = asked.0.project();
    asked.event("SessionStart", json!({ "source": "startup" }));
    asked.event("UserPromptSubmit", json!({ "prompt": "tidy up the cart" }));
    asked.call("toolu_01list", "ls");
    asked.ran("toolu_01list", "ls");
    asked.call("toolu_01home", "rm -rf ~");
    let told = |options: &[&str]| asked.0.succeed(&[&["log"], options].concat());

    let log = told(&[]);
    let mut lines = log.lines();
    let home = asked.0.home().display().to_string();
    let place = workspace.display().to_string().replace(&home, "~");
    assert!(lines.next().is_some_and(|line| line.contains(&place) && line.contains("began")), "{log}");
    assert!(lines.next().is_some_and(|line| line.contains("\"tidy up the cart\"")), "{log}");
    assert!(log.contains("toolu_01list"), "{log}");

    assert!(
        !log.contains("left out")
            && told(&["-n", "2"]).starts_with("earlier records are left out; `-n 100` shows them")
    );
    let risky = told(&["--risky"]);
    assert!(risky.contains("toolu_01home") && !risky.contains("toolu_01list"), "{risky}");
    assert_eq!(told(&["--here", "--today"]), log);
    let mut elsewhere = asked.0.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = elsewhere.current_dir(asked.0.home()).args(["log", "--here"]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("no session of this project is recorded"),
        "{output:?}"
    );
}

#[test]
fn a_session_that_was_under_way_when_the_hooks_came_belongs_to_the_project_it_worked_in() {
    let asked = Asked::new();
    asked.call("toolu_01list", "ls");
    let log = asked.0.succeed(&["log", "--here"]);
    assert!(log.contains("toolu_01list"), "{log}");
}

#[test]
fn the_log_says_what_ran_in_place_of_a_call_and_quotes_the_first_prompt_once() {
    let asked = Asked::new();
    asked.event("UserPromptSubmit", json!({ "prompt": "push it" }));
    asked.call("toolu_01force0000000", "git push --force origin feature");
    asked.event("UserPromptSubmit", json!({ "prompt": "and now?" }));
    let log = asked.0.succeed(&["log"]);
    assert!(log.contains("`git push --force-with-lease origin feature` instead"), "{log}");
    assert_eq!(log.matches("push it").count(), 1, "{log}");
    assert!(log.contains("prompt: and now?"), "{log}");
}

#[test]
fn a_long_id_is_cut_to_what_other_commands_take() {
    let asked = Asked::new();
    let long = |end: &str| format!("run_shell_command-{}-{end}", "1764528000000".repeat(4));
    asked.call(&long("21"), "ls");
    asked.call(&long("22"), QUESTION);
    let mut command = asked.0.command(env!("CARGO_BIN_EXE_checkrein"));
    let output = command.args(["log"]).env("COLUMNS", "80").output().unwrap();
    let story = String::from_utf8(output.stdout).unwrap();
    let id = |command: &str| {
        let line = story.lines().find(|line| line.contains(command)).expect(&story);
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    for (command, name) in [("Bash ls", long("21")), ("Bash git", long("22"))] {
        let shown = id(command);
        assert!(shown.chars().count() <= 24, "{story}");
        let one = asked.show(&shown);
        assert!(one.contains(&name), "{one}");
    }
    assert!(story.lines().all(|line| line.chars().count() <= 80), "{story}");
    // The other commands take it too.
    asked.0.succeed(&["allow", &id("Bash git"), "--once", "--yes"]);
    let undone = asked.0.checkrein(&["undo", &id("Bash ls"), "--dry-run"]);
    assert!(!String::from_utf8_lossy(&undone.stderr).contains("no action"), "{undone:?}");
}

#[test]
fn a_followed_log_shows_what_comes() {
    let asked = Asked::new();
    asked.call("toolu_01before", "ls");
    let mut command = asked.0.command(env!("CARGO_BIN_EXE_checkrein"));
    let mut log = command.args(["log", "-f"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(log.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("toolu_01before")));
    asked.call("toolu_01after", "ls -l");
    assert!(lines.any(|line| line.contains("toolu_01after")));
    log.kill().unwrap();
    log.wait().unwrap();
}

#[test]
fn a_rollback_takes_the_id_that_the_log_shows() {
    let asked = Asked::new();
    asked.call("toolu_01first", "ls");
    asked.call("toolu_01second", "ls -l");
    let rollback = |id: &str| {
        let output = asked.0.checkrein(&["rollback", "--session", "4f3c", "--before", id, "--dry-run"]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    assert_eq!(rollback("toolu_01second"), rollback("2"));
    assert!(
        rollback("toolu_01").contains("2 actions begin with `toolu_01`: `toolu_01first`, `toolu_01second`"),
        "{}",
        rollback("toolu_01")
    );
    assert!(rollback("nope").contains("no action begins with `nope`"));
}

#[test]
fn what_is_said_of_a_halt_works_when_it_is_typed() {
    let asked = Asked::new();
    asked.call("toolu_01first", "ls");
    let said = |arguments: &[&str]| {
        let output = asked.0.checkrein(arguments);
        (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    };
    let (_, halted) = said(&["halt", "4f3c"]);
    assert!(halted.contains("`checkrein resume 4f3c0000-asked`"), "{halted}");
    assert_eq!(said(&["resume"]).0, Some(0), "the only one that is halted is meant");
    let (status, none) = said(&["resume"]);
    assert!(status == Some(1) && none.contains("nothing is halted"), "{none}");
    said(&["halt", "--all"]);
    said(&["halt", "4f3c"]);
    let (status, both) = said(&["resume"]);
    assert!(
        status == Some(1) && both.contains("resume 4f3c0000-asked`") && both.contains("resume --all`"),
        "{both}"
    );
}

#[test]
fn a_halt_of_all_leaves_sessions_alone_that_are_over() {
    let asked = Asked::new();
    asked.call("toolu_01first", "ls");
    asked.event("SessionEnd", json!({ "reason": "exit" }));
    let live = asked.0.payload("77aa-live", "PreToolUse", shell_call("toolu_02", "ls", json!({})));
    asked.0.answer_to(&live);
    let records = |session: &str| asked.0.records(session).len();
    let before = records("4f3c0000-asked");
    asked.0.succeed(&["halt", "--all"]);
    let incidents = asked.0.succeed(&["incidents"]);
    assert!(incidents.contains("77aa-live") && !incidents.contains("4f3c"), "{incidents}");
    asked.0.succeed(&["resume", "--all"]);
    assert_eq!(records("4f3c0000-asked"), before, "what is over is left as it is");
    assert!(asked.0.succeed(&["log", "--session", "77aa"]).contains("resumed by you"));
}

#[test]
fn watch_shows_the_running_sessions_unless_all_are_asked_for() {
    let environment = TestEnvironment::new();
    let watch = |options: &[&str]| environment.succeed(&[&["watch", "--once"], options].concat());
    assert!(watch(&["--all"]).contains("no session is recorded yet"));
    environment.bash("over", "ls");
    environment.answer_to(&environment.payload("over", "SessionEnd", json!({})));
    assert!(watch(&[]).contains("no session is running; `--all`"), "{}", watch(&[]));
    assert!(watch(&["--all"]).contains("over"));
}

#[test]
fn a_line_of_a_batch_needs_no_id() {
    let environment = TestEnvironment::new();
    environment.write("batch.jsonl", "{\"command\":\"ls\"}\n{\"id\":\"x\",\"command\":\"ls\"}\n");
    let told = environment.succeed(&["check", "--batch", "batch.jsonl"]);
    let ids: Vec<Json> =
        told.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!("x")]);
    let help = environment.succeed(&["check", "--help"]);
    assert!(help.contains("\"command\"") && help.contains("\"tool\""), "{help}");
}

#[test]
fn route_tells_what_is_not_there_by_the_status_of_a_shell() {
    let environment = TestEnvironment::new();
    environment.write("not-executable", "x\n");
    for (program, status, words) in
        [("no-such-program", 127, "is not there"), ("./not-executable", 126, "cannot be run")]
    {
        let output = environment.checkrein(&["route", "--runner", "any", "--", program]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(words), "{said}");
    }
    fs::write(environment.project().join("t.sh"), "echo 'python3: No module named pytest' >&2; exit 1\n")
        .unwrap();
    let output = environment.checkrein(&["route", "--runner", "pytest", "--", "sh", "t.sh"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("install it"), "{said}");
}

#[test]
fn what_is_not_there_is_not_said_to_be_lost() {
    let environment = TestEnvironment::new();
    let told = |command: &str| String::from_utf8(environment.checkrein(&["check", command]).stdout).unwrap();
    let absent = told("rm -rf ~/.local/share/absent");
    assert!(absent.contains("nothing is there now") && !absent.contains("with everything in it"), "{absent}");
    fs::create_dir_all(environment.home().join(".local/share/there/x")).unwrap();
    fs::write(environment.home().join(".local/share/there/x/y"), "data").unwrap();
    assert!(told("rm -rf ~/.local/share/there").contains("with everything in it"));
}

#[test]
fn a_rule_of_ones_own_is_named_beside_a_built_in_one() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let example = readme.split("```").find(|block| block.contains("no_production")).unwrap();
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", example.trim_start_matches("yaml"));
    let told = |command: &str| {
        let output = environment.checkrein(&["check", command]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    for command in [
        "kubectl delete ns production",
        "kubectl -n production scale deploy/web --replicas=0",
        "kubectl --context production apply -f web.yaml",
        "terraform apply -target=module.production",
        "terraform destroy -target=module.production",
        "helm -n production upgrade web ./chart",
        "helm uninstall -n production web",
    ] {
        let told = told(command);
        let said = ["no_production", "production is changed by the pipeline only"];
        assert!(said.iter().all(|words| told.contains(words)), "{command}: {told}");
    }
    for command in [
        "kubectl -n staging scale deploy/web --replicas=0",
        "git commit -m 'notes on production'",
        "kubectl -n production get pods",
    ] {
        let told = told(command);
        assert!(!told.contains("no_production"), "{command}: {told}");
    }
}

#[test]
fn every_status_of_a_run_stands_in_its_help_and_in_the_table() {
    use checkrein_sandbox::Bytes;
    use checkrein_supervise::Stop;
    use checkrein_supervise::runs::{HookStop, HookSwitch};
    let (text, time) = (String::new, std::time::Duration::from_secs(1));
    let mut stops = vec![
        Stop::Budget(1.0, 1.0),
        Stop::Uncounted(text()),
        Stop::Tokens(1, 1),
        Stop::NextCall(1, 1),
        Stop::NextCost(checkrein_supervise::NextCost { next: 1.0, spent: 1.0, limit: 1.0, answers: 1 }),
        Stop::Iterations(1),
        Stop::Time(time),
        Stop::Idle(time),
        Stop::Memory(Bytes(1), Bytes(1)),
        Stop::Tasks(1, 1),
        Stop::Cascade(text()),
        Stop::Watched(text(), text()),
        Stop::Unguarded(text(), text()),
        Stop::Halted(text()),
        Stop::Abandoned,
    ];
    let switches = [
        HookSwitch::Watched,
        HookSwitch::Cascade,
        HookSwitch::Tripwire,
        HookSwitch::Budget,
        HookSwitch::Tokens,
        HookSwitch::NextCall,
        HookSwitch::Iterations,
    ];
    stops.extend(
        switches.map(|switch| Stop::Hooks(HookStop { switch, reason: text(), report: None, back: None })),
    );
    for stop in &stops {
        // Who adds one has it in the list above as well.
        match stop {
            Stop::Budget(..)
            | Stop::Uncounted(_)
            | Stop::Tokens(..)
            | Stop::NextCall(..)
            | Stop::NextCost(..)
            | Stop::Iterations(_)
            | Stop::Time(_)
            | Stop::Idle(_)
            | Stop::Memory(..)
            | Stop::Tasks(..)
            | Stop::Cascade(_)
            | Stop::Watched(..)
            | Stop::Unguarded(..)
            | Stop::Halted(_)
            | Stop::Hooks(_)
            | Stop::Signal(_)
            | Stop::Abandoned => {}
        }
    }
    let help = TestEnvironment::new().checkrein(&["run", "--help"]).stdout;
    let help = String::from_utf8(help).unwrap();
    let help = help.split("Exit status:").nth(1).unwrap().split("Examples:").next().unwrap();
    let page = include_str!("../../../docs/supervision.md");
    // Besides those of stops: the provider fails, and nothing was run.
    for status in stops.iter().map(Stop::status).chain([92, 125]) {
        let has =
            |text: &str| text.split(|c: char| !c.is_ascii_digit()).any(|word| word == status.to_string());
        assert!(has(help), "{status} is missing in the help: {help}");
        let mut rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.rsplit("| ").next());
        assert!(rows.any(has), "{status} is missing in the table");
    }
}

#[test]
fn a_run_says_what_it_carried_and_blames_no_provider_for_its_own_limit() {
    let environment = TestEnvironment::new();
    environment.write("new file.txt", "x\n");
    let said = |arguments: &[&str]| {
        let output = environment.checkrein(arguments);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let carried = said(&["run", "--worktree", "w", "--carry", "new file.txt", "--", "true"]);
    assert!(carried.contains("`new file.txt`"), "{carried}");
    let stopped = said(&["run", "--time", "300ms", "--", "sleep", "20"]);
    assert!(stopped.contains("its 0.3 s are over") && !stopped.contains("failed"), "{stopped}");
}

#[test]
fn a_limit_of_memory_is_named_by_its_option() {
    let environment = TestEnvironment::new();
    let hog = "x=bytearray(300<<20); x[::4096]=b'1'*len(x[::4096]); import time; time.sleep(20)";
    let output = environment.checkrein(&["exec", "--memory", "64M", "--", "python3", "-c", hog]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // Where the kernel bounds the memory it may end the program before it is looked at.
    assert!(output.status.code() != Some(124) || said.contains("`--memory`"), "{said}");
}

#[test]
fn the_advice_beside_a_key_fits_a_key_and_may_be_followed() {
    let environment = TestEnvironment::new();
    fs::create_dir_all(environment.home().join(".ssh")).unwrap();
    for name in ["id_rsa", "id_rsa.pub"] {
        fs::write(environment.home().join(".ssh").join(name), "x").unwrap();
    }
    environment.write(".env", "TOKEN=x\n");
    let told = |command: &str| String::from_utf8(environment.checkrein(&["check", command]).stdout).unwrap();
    let key = told("cat ~/.ssh/id_rsa");
    assert!(key.contains("`ssh-keygen -lf KEY.pub`") && !key.contains(".env.example"), "{key}");
    assert!(told("cat .env").contains(".env.example"));
    for advised in ["ls -l ~/.ssh/id_rsa", "ssh-keygen -lf ~/.ssh/id_rsa.pub", "wc -l .env"] {
        assert_eq!(environment.checkrein(&["check", advised]).status.code(), Some(0), "{advised}");
    }
}

#[test]
fn a_run_says_that_its_pipeline_is_not_known() {
    let environment = TestEnvironment::new();
    environment.configure("config.yaml", "safety:\n  pipelines:\n    release:\n      profile: strict\n");
    let said = |pipeline: &str| {
        let output =
            environment.checkrein(&["run", "--pipeline", pipeline, "--limits", "seed", "--", "true"]);
        String::from_utf8(output.stderr).unwrap()
    };
    let unknown = said("relaese");
    assert!(
        unknown.contains("no pipeline `relaese`") && unknown.contains("there are `release`"),
        "{unknown}"
    );
    assert!(!said("release").contains("no pipeline"));
}
