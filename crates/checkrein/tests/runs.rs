//! What is kept of runs: their state survives whatever kills us, limits are not renewed by going on, one run works in a worktree, and
//! what is done stays as it is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::TestEnvironment;

/// Says that it is a session, answers `ANSWERS` times for 0.0045 dollars and 1100 tokens each, and writes its words to `words`.
const CLAUDE: &str = r#"#!/bin/bash
trap 'exit 130' INT
echo "$@" >> "$HOME/words"
echo '{"type":"system","subtype":"init","session_id":"session-7"}'
for n in $(seq "${ANSWERS:-100}"); do
  echo '{"type":"assistant","message":{"id":"m'$n'","model":"claude-sonnet-4-5","usage":{"input_tokens":1000,"output_tokens":100},"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}'
  sleep "${PAUSE:-0.02}"
done
"#;

struct Home {
    environment: TestEnvironment,
}

impl Home {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let claude = environment.home().join("claude");
        fs::write(&claude, CLAUDE).unwrap();
        fs::set_permissions(claude, Permissions::from_mode(0o755)).unwrap();
        Self { environment }
    }

    fn claude(&self) -> String {
        self.environment.home().join("claude").display().to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, options: &[&str]) -> Output {
        self.command(&[&["run"], options].concat()).output().unwrap()
    }

    fn runs(&self) -> Vec<Json> {
        let text = self.environment.succeed(&["--json", "runs"]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn only_run(&self) -> Json {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    fn folder(&self, run: &Json) -> PathBuf {
        let place = if run["archived"] == true { "done" } else { "active" };
        self.environment.state().join("runs").join(place).join(run["run"].as_str().unwrap())
    }

    fn words(&self) -> Vec<String> {
        let text = fs::read_to_string(self.environment.home().join("words")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "{what} did not come");
        sleep(Duration::from_millis(5));
    }
}

/// Does it again while a `git` that we started before we were killed still holds the lock.
fn once_free(mut work: impl FnMut() -> Output) -> Output {
    let started = Instant::now();
    loop {
        let output = work();
        if !said(&output).contains("is in use") || started.elapsed() > Duration::from_secs(10) {
            return output;
        }
        sleep(Duration::from_millis(50));
    }
}

/// Kills the process that waits and the one that supervises, before either can do anything about the other.
fn kill_both(outer: u32) {
    let below = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap_or_default();
    let pids = [outer.to_string()].into_iter().chain(below.split_whitespace().map(str::to_owned));
    // They may have ended by themselves.
    drop(Command::new("kill").arg("-9").args(pids).stderr(Stdio::null()).status());
}

// Source: seed 004-38
#[test]
fn what_ended_by_itself_is_done_and_stays_as_it_is() {
    let home = Home::new();
    assert_eq!(home.run(&["--", "bash", "-c", "exit 3"]).status.code(), Some(3));
    let run = home.only_run();
    assert_eq!((&run["state"], &run["archived"]), (&json!("ended with 3"), &json!(true)), "{run}");
    let state = home.folder(&run).join("state.json");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&state), mode(&home.folder(&run))), (0o400, 0o500));
    home.environment.succeed(&["runs", "--verify"]);
    let refused = home.run(&["--resume", run["run"].as_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(125));
    assert!(said(&refused).contains("what is done stays as it is"), "{}", said(&refused));

    fs::set_permissions(&state, Permissions::from_mode(0o600)).unwrap();
    let text = fs::read_to_string(&state).unwrap().replace("\"status\": 3", "\"status\": 0");
    fs::write(&state, text).unwrap();
    let found = home.environment.checkrein(&["runs", "--verify"]);
    assert_eq!(found.status.code(), Some(1));
    assert!(said(&found).contains("`state.json` is not what it was"), "{}", said(&found));
}

#[test]
fn going_on_keeps_the_session_and_does_not_renew_what_was_spent() {
    let home = Home::new();
    let claude = home.claude();
    let first = home.run(&["--tokens", "20000", "--max-iterations", "5", "--", &claude, "-p", "task"]);
    assert_eq!(first.status.code(), Some(123), "{}", said(&first));
    let run = home.only_run();
    assert_eq!(run["state"], "stopped: iterations");
    assert_eq!((&run["session"], &run["archived"]), (&json!("session-7"), &json!(false)));
    assert!(run["spent"]["tokens"].as_u64().unwrap() >= 5 * 1100);
    assert!(
        said(&first).contains(&format!("`checkrein run --resume {}` goes on", run["run"].as_str().unwrap()))
    );

    assert!(said(&first).contains("give it more: `--max-iterations`"), "{}", said(&first));

    let nothing = home.run(&["--resume"]);
    assert_eq!(nothing.status.code(), Some(125));
    assert!(!said(&nothing).contains("goes on"), "{}", said(&nothing));
    assert!(said(&nothing).contains("nothing is left of its 5 answers"), "{}", said(&nothing));

    // More answers are given, no more tokens: of 20000 what was used before is gone.
    let second = home.run(&["--resume", "--max-iterations", "1000"]);
    assert!(said(&second).contains("with session session-7"), "{}", said(&second));
    assert!([121, 122].contains(&second.status.code().unwrap()), "{}", said(&second));
    assert_eq!(home.words(), ["-p task", "--resume session-7 -p task"]);
    let run = home.only_run();
    let attempts = run["attempts"].as_array().unwrap();
    let tokens = |place: usize| attempts[place]["spent"]["tokens"].as_u64().unwrap();
    assert_eq!(attempts.len(), 2);
    assert!(tokens(0) + tokens(1) <= 20_000 + 2 * 1100, "{run}");
    assert_eq!(run["spent"]["tokens"].as_u64().unwrap(), tokens(0) + tokens(1));
}

// Source: seed 004-32
#[test]
fn one_run_is_shown_with_what_is_used_of_each_limit_and_the_whole_reason() {
    let home = Home::new();
    let claude = home.claude();
    let task = "a task that says in more words than fit into a column of a list what is to be done";
    let limits =
        ["--max-iterations", "5", "--budget", "9", "--time", "2h", "--idle-time", "10m", "--memory", "4G"];
    let stopped = home.run(&[&limits[..], &["--", &claude, "-p", task]].concat());
    assert_eq!(stopped.status.code(), Some(123), "{}", said(&stopped));
    let run = home.only_run()["run"].as_str().unwrap().to_owned();
    let shown = home.environment.succeed(&["run", "show", &run]);
    let is_time =
        |line: &&str| line.starts_with("began") || line.starts_with("time") || line.starts_with("run ");
    // How many answers come in before the stop reaches the agent is the machine's to say.
    let used = |line: &str| -> (String, Option<f64>) {
        let is_used = ["cost", "tokens", "answers"].iter().any(|name| line.starts_with(name));
        match line.split_whitespace().nth(1).filter(|_| is_used) {
            Some(amount) => (line.replacen(amount, "N", 1), amount.parse().ok()),
            None => (line.to_owned(), None),
        }
    };
    let lines: Vec<(String, Option<f64>)> = shown.lines().filter(|line| !is_time(line)).map(used).collect();
    let amounts: Vec<f64> = lines.iter().filter_map(|(_, amount)| *amount).collect();
    let [cost, tokens, answers] = amounts.as_slice() else { panic!("{shown}") };
    assert!(*cost > 0.0 && *answers >= 5.0 && (tokens - 1100.0 * answers).abs() < 1.0, "{shown}");
    let stable: Vec<String> = lines.into_iter().map(|(line, _)| line).collect();
    let stable = stable.join("\n").replace(&home.environment.home().display().to_string(), "~");
    insta::assert_snapshot!("run_shown", stable);
    let time = shown.lines().find(|line| line.starts_with("time")).unwrap();
    assert!(time.ends_with(" s of 2 h"), "{shown}");
    let began = shown.lines().find(|line| line.starts_with("began")).unwrap();
    assert!(began.contains(':'), "when it was started: {shown}");
}

#[test]
fn a_run_that_its_provider_refused_can_go_on() {
    let home = Home::new();
    let claude = home.claude();
    let refused = r#"#!/bin/bash
echo '{"type":"system","subtype":"init","session_id":"session-7"}'
echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"authentication_error: the key is not valid","session_id":"session-7"}'
exit 1
"#;
    fs::write(&claude, refused).unwrap();
    let first = home.run(&["--", &claude, "-p", "task"]);
    assert!(said(&first).contains("authentication"), "{}", said(&first));
    let run = home.only_run();
    assert_eq!(run["archived"], json!(false), "{run}");
    assert_eq!(run["state"], json!("its provider failed: authentication"), "{run}");
    assert_eq!(run["attempts"][0]["end"]["failure"]["class"], json!("permanent"), "{run}");
    fs::write(&claude, CLAUDE).unwrap();
    let second = home.command(&["run", "--resume"]).env("ANSWERS", "2").output().unwrap();
    assert_eq!(second.status.code(), Some(0), "{}", said(&second));
    assert_eq!(home.only_run()["archived"], json!(true));
}

#[test]
fn the_session_of_a_run_that_was_stopped_is_over() {
    let home = Home::new();
    let claude = home.claude();
    let stopped = home.run(&["--max-iterations", "5", "--", &claude, "-p", "task"]);
    assert_eq!(stopped.status.code(), Some(123), "{}", said(&stopped));
    let watched = home.environment.succeed(&["watch", "--once", "--all", "--json"]);
    let session = watched.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let conditions: Vec<Json> = session.map(|one| one["condition"].clone()).collect();
    assert_eq!(conditions, [json!("ended")], "{watched}");
    let before = home.environment.succeed(&["incidents", "--json"]).lines().count();
    home.environment.succeed(&["halt", "--all", "--reason", "lunch"]);
    assert_eq!(home.environment.succeed(&["incidents", "--json"]).lines().count(), before);
    // A halt of all makes nothing of what is over, and is said wherever somebody looks.
    let watched = home.environment.succeed(&["watch", "--once", "--all", "--json"]);
    assert_eq!(serde_json::from_str::<Json>(watched.trim()).unwrap()["condition"], "ended", "{watched}");
    let told = home.environment.checkrein(&["doctor"]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("all sessions are halted"), "{}", said(&told));
    let told = home.environment.checkrein(&["check", "ls"]);
    assert!(said(&told).contains("`checkrein resume --all`"), "{}", said(&told));
    home.environment.succeed(&["resume", "--all"]);
    let told = home.environment.checkrein(&["check", "ls"]);
    assert!(!said(&told).contains("halted"), "{}", said(&told));
}

#[test]
fn a_run_that_was_halted_names_what_lifts_the_halt_and_goes_on_after_that() {
    let home = Home::new();
    let claude = home.claude();
    let child = home.command(&["run", "--", &claude, "-p", "task"]).env("PAUSE", "0.2").spawn().unwrap();
    wait_for("the session", || home.environment.succeed(&["runs", "--json"]).contains("session-7"));
    home.environment.succeed(&["halt", "session-7", "--reason", "wrong branch"]);
    let halted = child.wait_with_output().unwrap();
    assert_eq!(halted.status.code(), Some(94), "{}", said(&halted));
    let id = home.only_run()["run"].as_str().unwrap().to_owned();
    let way =
        format!("`checkrein resume session-7` lifts the halt; then `checkrein run --resume {id}` goes on");
    assert!(said(&halted).contains(&way), "{}", said(&halted));
    let refused = home.run(&["--resume"]);
    assert_eq!(refused.status.code(), Some(125), "nothing is paid for: {}", said(&refused));
    assert!(said(&refused).contains("wrong branch") && said(&refused).contains(&way), "{}", said(&refused));
    home.environment.succeed(&["resume", "session-7"]);
    home.environment.succeed(&["halt", "--all"]);
    let refused = home.run(&["--resume"]);
    assert!(said(&refused).contains("`checkrein resume --all` lifts the halt"), "{}", said(&refused));
    home.environment.succeed(&["resume", "--all"]);
    let done = home.command(&["run", "--resume"]).env("ANSWERS", "2").output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", said(&done));
    assert_eq!(home.words().len(), 2);
}

#[test]
fn with_json_all_that_is_said_is_json() {
    let home = Home::new();
    let claude = home.claude();
    let each_is_json = |output: &Output| {
        let text = said(output);
        assert!(!text.is_empty());
        let rows: Vec<Json> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line} in {text}")))
            .collect();
        rows.last().unwrap().clone()
    };
    let run = |options: &[&str]| home.command(&[&["--json", "run"], options].concat()).output().unwrap();
    let stopped = run(&["--pipeline", "none", "--max-iterations", "3", "--", &claude, "-p", "task"]);
    assert!(said(&stopped).contains("checkrein/remark/1"), "{}", said(&stopped));
    assert_eq!(each_is_json(&stopped)["schema"], "checkrein/run-end/1");
    let missing = run(&["--", "no-such-agent"]);
    let error = each_is_json(&missing);
    assert_eq!(
        (&error["schema"], &error["error"]["exit_status"]),
        (&json!("checkrein/error/1"), &json!(125))
    );
    let exec = home.command(&["--json", "exec", "--", "no-such-program"]).output().unwrap();
    assert_eq!(each_is_json(&exec)["error"]["exit_status"], json!(127));
}

#[test]
fn a_run_that_was_cut_off_goes_on_with_what_was_written_down() {
    let home = Home::new();
    let claude = home.claude();
    let mut child = home.command(&["run", "--worktree", "task", "--", &claude, "-p", "x"]).spawn().unwrap();
    wait_for("the session", || home.runs().first().is_some_and(|run| run["session"] == "session-7"));
    assert_eq!(home.only_run()["state"], "runs");
    let busy = home.run(&["--worktree", "task", "--", "true"]);
    assert_eq!(busy.status.code(), Some(125));
    assert!(said(&busy).contains("the worktree `task` is in use by process"), "{}", said(&busy));
    kill_both(child.id());
    child.wait().unwrap();
    wait_for("the end", || home.only_run()["state"] == "cut off");

    let on = home.command(&["run", "--resume"]).env("ANSWERS", "2").output().unwrap();
    let text = said(&on);
    assert_eq!(on.status.code(), Some(0), "{text}");
    assert!(text.contains("which is gone; going on") && text.contains("with session session-7"), "{text}");
    assert_eq!(home.words()[1], "--resume session-7 -p x");
    let run = home.only_run();
    assert_eq!(
        (&run["state"], &run["archived"]),
        (&json!("ended with 0"), &json!(false)),
        "not before it is merged"
    );
    home.environment.succeed(&["worktree", "discard", "task", "--yes"]);
    let run = home.only_run();
    assert_eq!((&run["state"], &run["archived"]), (&json!("discarded"), &json!(true)));
    home.environment.succeed(&["runs", "--verify"]);
}

#[test]
fn killing_us_gives_back_one_answer_at_most() {
    let home = Home::new();
    let claude = home.claude();
    // A model takes longer for an answer than we take to write the last one down.
    let mut child = home.command(&["run", "--", &claude, "-p", "x"]).env("PAUSE", "0.4").spawn().unwrap();
    // What comes out at our end has been heard.
    let output = BufReader::new(child.stdout.take().unwrap());
    let answers = output.lines().map_while(Result::ok).filter(|line| line.contains("\"assistant\""));
    assert_eq!(answers.take(4).count(), 4);
    kill_both(child.id());
    child.wait().unwrap();
    wait_for("the end", || home.only_run()["state"] == "cut off");
    let run = home.only_run();
    assert!(run["spent"]["iterations"].as_u64().unwrap() >= 3, "{run}");
    assert!(run["spent"]["tokens"].as_u64().unwrap() >= 3 * 1100, "{run}");
}

#[test]
fn a_damaged_state_is_said_and_the_one_before_it_holds() {
    let home = Home::new();
    let claude = home.claude();
    home.run(&["--max-iterations", "3", "--", &claude, "-p", "x"]);
    let run = home.only_run();
    fs::write(home.folder(&run).join("state.json"), "{\"version\": 1, \"id\"").unwrap();
    let listed = home.environment.checkrein(&["runs"]);
    assert!(said(&listed).contains("this is the one before it"), "{}", said(&listed));
    let on = home.run(&["--resume", "--max-iterations", "2"]);
    assert!(said(&on).contains("is damaged") && said(&on).contains("session-7"), "{}", said(&on));
    fs::write(home.folder(&run).join("state.json"), "").unwrap();
    fs::write(home.folder(&run).join("state.json.bak"), "").unwrap();
    let lost = home.run(&["--resume", run["run"].as_str().unwrap()]);
    assert!(said(&lost).contains("there is no backup"), "{}", said(&lost));
}

// Source: seed 004-34, 004-36
#[test]
fn of_two_at_once_exactly_one_works_in_a_worktree() {
    let home = Home::new();
    for round in 0..20 {
        let start = || {
            // Until both have been started, whoever won holds it.
            let script =
                "while ! [ -e ../both ] && ! [ -e \"$HOME/both\" ]; do sleep 0.01; done; echo x >> won";
            home.command(&["run", "--worktree", "task", "--", "bash", "-c", script]).spawn().unwrap()
        };
        let mut both = [start(), start()];
        let ended = |child: &mut std::process::Child| child.try_wait().unwrap().is_some();
        wait_for("a loser", || both.iter_mut().any(ended));
        fs::write(home.environment.home().join("both"), "").unwrap();
        let outputs = both.map(|child| child.wait_with_output().unwrap());
        let mut codes: Vec<_> = outputs.iter().map(|output| output.status.code()).collect();
        codes.sort_unstable();
        assert_eq!(codes, [Some(0), Some(125)], "round {round}: {:?}", outputs.each_ref().map(said));
        assert!(outputs.iter().any(|output| said(output).contains("is in use by")));
        fs::remove_file(home.environment.home().join("both")).unwrap();
    }
}

#[test]
fn what_another_machine_holds_is_taken_over_only_by_a_person_who_knows() {
    let home = Home::new();
    home.run(&["--worktree", "task", "--", "true"]);
    let records = home.environment.state().join("worktrees");
    let record = fs::read_dir(records).unwrap().next().unwrap().unwrap().path().join("task");
    let holder = json!({ "pid": 7, "start": 7, "host": "another-machine", "boot": "b" });
    fs::write(record.join("lock"), holder.to_string()).unwrap();
    let refused = home.run(&["--worktree", "task", "--", "true"]);
    assert_eq!(refused.status.code(), Some(125));
    assert!(said(&refused).contains("process 7 on another-machine"), "{}", said(&refused));
    let taken = home.run(&["--worktree", "task", "--take-over", "--", "true"]);
    assert_eq!(taken.status.code(), Some(0), "{}", said(&taken));
}

#[test]
fn whoever_kills_us_while_a_worktree_is_made_leaves_nothing_in_the_way() {
    let home = Home::new();
    for number in 0..300 {
        home.environment.write(&format!("src/file-{number}"), "text\n");
    }
    home.environment.git(&["add", "-A"]);
    home.environment.commit("more");
    for round in 0..15_u64 {
        let name = format!("task-{}", round % 3);
        let mut child = home.command(&["run", "--worktree", &name, "--", "sleep", "60"]).spawn().unwrap();
        sleep(Duration::from_millis(round * 8));
        kill_both(child.id());
        child.wait().unwrap();
        let output = once_free(|| home.run(&["--worktree", &name, "--", "true"]));
        assert_eq!(output.status.code(), Some(0), "round {round}: {}", said(&output));
        home.environment.succeed(&["worktree", "discard", &name, "--yes"]);
    }
    let left = home.environment.command("git").args(["worktree", "list"]).output().unwrap();
    assert_eq!(String::from_utf8(left.stdout).unwrap().lines().count(), 1);
}

#[test]
fn what_git_had_half_written_when_it_was_killed_is_cleared() {
    let home = Home::new();
    let record = home.environment.state().join("worktrees");
    let mut child = home.command(&["run", "--worktree", "task", "--", "sleep", "60"]).spawn().unwrap();
    wait_for("the agent", || home.runs().iter().any(|run| run["stage"] == "started"));
    kill_both(child.id());
    child.wait().unwrap();
    // As it is between two writes of `git worktree add`: the intent stands, the proof does not, and git cannot read its own.
    let record = fs::read_dir(record).unwrap().next().unwrap().unwrap().path().join("task");
    let owner: Json = serde_json::from_slice(&fs::read(record.join("owner.json")).unwrap()).unwrap();
    let git = home.environment.project().join(".git/worktrees/task");
    fs::write(git.join("commondir"), "").unwrap();
    let intent = json!({ "place": owner["place"], "branch": ["checkrein/task", owner["commit"]] });
    fs::write(record.join("making.json"), serde_json::to_vec(&intent).unwrap()).unwrap();
    fs::remove_file(record.join("owner.json")).unwrap();
    let output = once_free(|| home.run(&["--worktree", "task", "--", "true"]));
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn whoever_kills_us_while_a_merge_is_done_leaves_something_that_can_be_finished() {
    for round in 0..12_u64 {
        let home = Home::new();
        home.run(&[
            "--worktree",
            "task",
            "--",
            "bash",
            "-c",
            "for n in $(seq 200); do echo $n > file-$n; done",
        ]);
        let mut child = home.command(&["worktree", "merge", "task", "--yes"]).spawn().unwrap();
        sleep(Duration::from_millis(round * 12));
        kill_both(child.id());
        child.wait().unwrap();
        sleep(Duration::from_millis(100));
        if home.environment.succeed(&["--json", "worktree", "list"]).is_empty() {
            assert_eq!(home.only_run()["state"], "merged");
        } else {
            let output = once_free(|| home.environment.checkrein(&["worktree", "merge", "task", "--yes"]));
            assert_eq!(output.status.code(), Some(0), "round {round}: {}", said(&output));
        }
        let there =
            (1..=200).all(|number| home.environment.project().join(format!("file-{number}")).exists());
        assert!(there, "round {round}");
        let data = home.environment.home().join(".local/share/checkrein/worktrees");
        let left: usize =
            fs::read_dir(data).unwrap().flatten().map(|one| fs::read_dir(one.path()).unwrap().count()).sum();
        assert_eq!(left, 0, "round {round}");
        home.environment.succeed(&["runs", "--verify"]);
    }
}

#[test]
fn agents_do_not_go_on_with_runs_and_secrets_are_not_written_down() {
    let home = Home::new();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let claude = home.claude();
    home.run(&["--max-iterations", "2", "--", &claude, "--token", &token]);
    let state = fs::read_to_string(home.folder(&home.only_run()).join("state.json")).unwrap();
    assert!(!state.contains(&token));
    let refused = home.run(&["--resume", "--max-iterations", "2"]);
    assert!(said(&refused).contains("held a secret"), "{}", said(&refused));
    let by_agent = home.command(&["run", "--resume"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(by_agent.status.code(), Some(125));
    assert!(said(&by_agent).contains("is for humans only"));
    let given = home.run(&["--resume", "--max-iterations", "2", "--", &claude, "again"]);
    assert_eq!(given.status.code(), Some(123), "{}", said(&given));
    assert_eq!(home.words().last().unwrap(), "--resume session-7 again");
}
