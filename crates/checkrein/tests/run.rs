//! `checkrein run`: an agent that runs away is ended by each switch, with everything that it started; and so it is when we are killed.
//!
//! The agent here is a script that does what a runaway does: it ignores every signal that can be ignored, starts processes that leave
//! its session, and talks in the form of Claude Code without end.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use checkrein_testkit::not_run;
use serde_json::Value as Json;
use support::TestEnvironment;
use support::terminal::{at_a_terminal, written};

/// Writes its process numbers to `pids` and an answer with a call every 50 ms.
const RUNAWAY: &str = r#"
trap '' INT TERM HUP QUIT
echo $$ >> pids
setsid bash -c 'trap "" TERM HUP INT; echo $$ >> pids; (setsid bash -c "trap \"\" TERM INT; echo \$\$ >> pids; while :; do sleep 1; done" &) ; while :; do sleep 1; done' &
echo '{"type":"system","subtype":"init","session_id":"runaway-1"}'
n=0
while :; do
  n=$((n+1))
  echo '{"type":"assistant","message":{"id":"m'$n'","model":"MODEL","usage":{"input_tokens":1000,"output_tokens":100},"content":[{"type":"text","text":"SAYS"},{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}'
  sleep 0.05
done
"#;

struct Run {
    environment: TestEnvironment,
}

impl Run {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let script = RUNAWAY.replace("MODEL", "claude-sonnet-4-5").replace("SAYS", "working");
        environment.write("agent.sh", &script);
        Self { environment }
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = self.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command
            .args([&["--json", "run"], options, &["--", "bash", "agent.sh"]].concat())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs to the end; what is reported.
    fn report(&self, options: &[&str]) -> Json {
        let output = self.command(options).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Json = serde_json::from_str(text.lines().last().unwrap_or_default())
            .unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(report["status"], output.status.code().unwrap(), "{report}");
        report
    }

    /// Runs until all three processes of the agent are there.
    fn begun(&self, options: &[&str]) -> Child {
        let mut child = self.command(options).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        std::thread::spawn(move || drop(output.read_to_end(&mut Vec::new())));
        wait_for("the agent", || self.pids().len() == 3);
        child
    }

    fn pids(&self) -> Vec<String> {
        let text = fs::read_to_string(self.environment.project().join("pids")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn alive(&self) -> Vec<String> {
        support::processes_in(&self.environment.project())
    }
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "{what} did not come");
        sleep(Duration::from_millis(5));
    }
}

fn children(pid: u32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn kill(pids: &[i32]) {
    let numbers = pids.iter().map(ToString::to_string);
    assert!(Command::new("kill").arg("-9").args(numbers).status().unwrap().success());
}

// Source: seed 001-66, 004-3, 004-8, 004-71, 004-84, 004-89
#[test]
fn each_switch_ends_a_runaway_and_everything_that_it_started() {
    let switches: [(&[&str], &str, u64); 6] = [
        (&["--budget", "0.02"], "circuit_breaker", 122),
        (&["--tokens", "9000"], "circuit_breaker", 122),
        (&["--tokens", "500"], "tokens", 121),
        (&["--max-iterations", "4"], "iterations", 123),
        (&["--time", "700ms"], "time", 124),
        (&["--memory", "1M"], "memory", 118),
    ];
    for (options, name, status) in switches {
        let run = Run::new();
        let report = run.report(options);
        assert_eq!(
            (report["stopped_by"].as_str(), report["status"].as_u64()),
            (Some(name), Some(status)),
            "{report}"
        );
        assert!(report["stopping_seconds"].is_number(), "{report}");
        assert_eq!(run.alive(), Vec::<String>::new(), "{options:?} left something");
    }
}

#[test]
fn a_model_that_is_not_listed_counts_as_the_dearest_like_it_and_is_told() {
    let run = Run::new();
    run.environment.write("agent.sh", &RUNAWAY.replace("MODEL", "mystery").replace("SAYS", "working"));
    let report = run.report(&["--budget", "1"]);
    assert_eq!(report["stopped_by"], "circuit_breaker", "{report}");
    assert_eq!(report["estimated"]["model"], "mystery", "{report}");
    let priced = run.report(&["--budget", "1", "--price", "1,1", "--max-iterations", "3"]);
    assert_eq!(
        (&priced["stopped_by"], &priced["estimated"]),
        (&"iterations".into(), &Json::Null),
        "{priced}"
    );
    let cost = priced["cost"].as_f64().unwrap();
    let tokens = &priced["tokens"];
    let all = tokens["input"].as_f64().unwrap() + tokens["output"].as_f64().unwrap();
    assert!((cost - all / 1e6).abs() < 1e-9, "{priced}");
    assert_eq!(run.alive(), Vec::<String>::new());
}

#[test]
fn new_work_that_nobody_asked_for_ends_a_run_that_nobody_watches() {
    let run = Run::new();
    let says = "The task is complete. Should I continue with the next issue? 1. Yes, proceed 2. No. While I'm at it, I could also refactor the rest.";
    run.environment.write(
        "agent.sh",
        &RUNAWAY.replace("MODEL", "claude-sonnet-4-5").replace("SAYS", &says.replace('\'', r"'\''")),
    );
    let report = run.report(&["--profile", "unattended", "--memory", "4G"]);
    assert_eq!(report["stopped_by"], "cascade", "{report}");
    assert_eq!(run.alive(), Vec::<String>::new());
}

// Source: seed 004-14
#[test]
fn new_work_ends_nothing_where_its_detector_is_switched_off() {
    let run = Run::new();
    run.environment.configure("config.yaml", "patterns: {enabled_patterns: [goal_drift]}\n");
    let says = "The task is complete. Should I continue with the next issue? 1. Yes, proceed 2. No. I could also refactor the rest.";
    run.environment.write("agent.sh", &RUNAWAY.replace("MODEL", "claude-sonnet-4-5").replace("SAYS", says));
    let report = run.report(&["--profile", "unattended", "--max-iterations", "4"]);
    assert_eq!(report["stopped_by"], "iterations", "{report}");
}

#[test]
fn what_cannot_be_counted_ends_a_run_with_a_limit_and_is_told_without_one() {
    let run = Run::new();
    let script = RUNAWAY.replace("MODEL", "claude-sonnet-4-5").replace("SAYS", "x");
    run.environment.write("agent.sh", &script.replace("\"input_tokens\":1000", "\"input_tokens\":\"1000\""));
    for options in [["--budget", "9"], ["--tokens", "90000"]] {
        let report = run.report(&options);
        assert_eq!(
            (&report["stopped_by"], &report["status"]),
            (&"uncounted".into(), &120.into()),
            "{report}"
        );
        assert!(report["reason"].as_str().unwrap().contains("`input_tokens` is not a number"), "{report}");
    }
    let report = run.report(&["--max-iterations", "3"]);
    assert_eq!(report["stopped_by"], "iterations", "{report}");
    assert!(report["uncounted"].as_str().unwrap().contains("`input_tokens`"), "{report}");
    run.environment
        .write("agent.sh", "echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}'\n");
    let report = run.report(&["--budget", "9"]);
    assert!(report["uncounted"].as_str().unwrap().contains("never of tokens"), "{report}");
}

#[test]
fn a_turn_of_codex_that_tells_no_tokens_is_limited_by_what_it_holds_and_uncounted_at_its_end() {
    let begin =
        "echo '{\"type\":\"thread.started\",\"thread_id\":\"c\"}'\necho '{\"type\":\"turn.started\"}'\n";
    let item = |kind: &str, more: &str| {
        format!(
            "echo '{{\"type\":\"item.completed\",\"item\":{{\"id\":\"i\",\"type\":\"{kind}\"{more}}}}}'\n"
        )
    };
    let thoughts = format!("for i in {{1..300}}; do\n{}done\n", item("reasoning", ""));
    let words = item("agent_message", &format!(",\"text\":\"{}\"", "w".repeat(400)));
    let speech = format!("while :; do\n{words}sleep 0.02\ndone\n");
    let step = item("command_execution", ",\"command\":\"ls\",\"exit_code\":0");
    std::thread::scope(|scope| {
        for (agent, option, stopped_by, status) in [
            (thoughts + "sleep 60", ["--max-iterations", "20"], "iterations", 123),
            (speech, ["--tokens", "2000"], "tokens", 121),
            (step.clone() + "exit 0", ["--budget", "1"], "uncounted", 120),
        ] {
            scope.spawn(move || {
                let run = Run::new();
                run.environment.write("agent.sh", &(begin.to_owned() + &agent));
                let report = run.report(&option);
                let found = (report["stopped_by"].as_str(), report["status"].as_u64());
                assert_eq!(found, (Some(stopped_by), Some(status)), "{report}");
            });
        }
    });
    let run = Run::new();
    run.environment.write("agent.sh", &(begin.to_owned() + &step + "exit 3"));
    let report = run.report(&["--budget", "1"]);
    assert_eq!(report["status"], 3, "what failed keeps its own status: {report}");
    assert!(report["uncounted"].as_str().unwrap().contains("never told its tokens"), "{report}");
}

#[test]
fn answers_that_come_another_way_than_by_rows_are_counted_or_the_run_does_not_pass() {
    let opened = "echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}'\n";
    let answer = r#"{"type":"assistant","message":{"id":"m1","model":"claude-sonnet-4-5","usage":{"input_tokens":2000000,"output_tokens":9},"content":[]}}"#;
    let nested = format!("echo '{{\"type\":\"stream_event\",\"event\":{answer}}}'\nsleep 60\n");
    let run = Run::new();
    run.environment.write("agent.sh", &(opened.to_owned() + &nested));
    let report = run.report(&["--budget", "1"]);
    assert_eq!((&report["stopped_by"], &report["status"]), (&"budget".into(), &120.into()), "{report}");
    run.environment.write("agent.sh", &format!("{opened}echo '{answer}' >&2\n"));
    let report = run.report(&["--budget", "1"]);
    assert_eq!((&report["stopped_by"], &report["status"]), (&"uncounted".into(), &120.into()), "{report}");
    let report = run.report(&["--max-iterations", "5"]);
    assert_eq!(report["status"], 0, "where nothing rests on it, it is told: {report}");
    assert!(report["uncounted"].as_str().unwrap().contains("never of tokens"), "{report}");
}

#[test]
fn answers_without_calls_count_as_answers() {
    let run = Run::new();
    let script = RUNAWAY.replace("MODEL", "claude-sonnet-4-5").replace("SAYS", "x");
    let (start, end) =
        (script.find(",{\"type\":\"tool_use\"").unwrap(), script.find("]}}'\n  sleep").unwrap());
    run.environment.write("agent.sh", &format!("{}{}", &script[..start], &script[end..]));
    assert_eq!(run.report(&["--max-iterations", "3"])["stopped_by"], "iterations");
}

// Source: seed 004-5
#[test]
fn zero_is_no_limit() {
    let run = Run::new();
    run.environment.write("agent.sh", "sleep 0.2\n");
    let limits = ["--budget", "--tokens", "--max-iterations"].into_iter().flat_map(|name| [name, "0"]);
    let limits = limits.chain(["--time", "0s", "--idle-time", "0s", "--memory", "0", "--processes", "0"]);
    let options: Vec<&str> = ["--profile", "unattended"].into_iter().chain(limits).collect();
    let report = run.report(&options);
    assert_eq!((&report["stopped_by"], &report["status"]), (&Json::Null, &0.into()), "{report}");
}

// Source: seed 003-12
#[test]
fn a_halt_ends_the_agent_and_so_does_a_plain_file() {
    let by_command = Run::new();
    let child = by_command.begun(&[]);
    let runs = || by_command.environment.succeed(&["runs", "--json"]);
    wait_for("the session", || runs().contains("runaway-1"));
    by_command.environment.succeed(&["halt", "runaway", "--reason", "wrong branch"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(94));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("wrong branch") && said.contains("The report: `checkrein incident show "),
        "{said}"
    );
    let incidents = by_command.environment.succeed(&["incidents"]);
    assert_eq!(incidents.matches("runaway-1").count(), 1, "one report, of who halted it: {incidents}");
    assert_eq!(by_command.alive(), Vec::<String>::new());

    let by_file = Run::new();
    let child = by_file.begun(&[]);
    let halts = by_file.environment.state().join("halts");
    fs::create_dir_all(&halts).unwrap();
    fs::write(halts.join("ALL"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(94));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("The report: `checkrein incident show "), "{said}");
    assert_eq!(by_file.alive(), Vec::<String>::new());
}

// Source: seed 003-32
#[test]
fn a_halt_is_lifted_by_a_person_and_not_by_an_agent() {
    let environment = TestEnvironment::new();
    // Nor does an agent stop what others work on.
    let by_agent = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["halt", "--all"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert_eq!(by_agent.status.code(), Some(1));
    assert!(!environment.state().join("halts/ALL").exists());
    environment.succeed(&["halt", "--all"]);
    let by_agent = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["halt", "--all", "--lift"])
        .env("CLAUDECODE", "1")
        .output()
        .unwrap();
    assert_eq!(by_agent.status.code(), Some(1));
    assert!(environment.state().join("halts/ALL").exists());
    environment.succeed(&["halt", "--all", "--lift"]);
    assert!(!environment.state().join("halts/ALL").exists());
}

#[test]
fn nothing_runs_on_when_either_process_of_ours_is_killed() {
    for inner in [false, true] {
        let run = Run::new();
        let mut child = run.begun(&[]);
        let outer = child.id();
        let below = children(outer);
        assert_eq!(below.len(), 1, "one process supervises");
        kill(&[if inner { below[0] } else { i32::try_from(outer).unwrap() }]);
        child.wait().unwrap();
        wait_for("the end of the agent", || run.alive().is_empty());
        wait_for("the end of what supervised it", || !Path::new(&format!("/proc/{}/exe", below[0])).exists());
    }
}

#[test]
fn nothing_runs_on_when_all_processes_of_ours_are_killed_at_once() {
    let run = Run::new();
    let offered = run.environment.checkrein(&["run", "--hold", "namespace", "--", "true"]);
    if offered.status.code() == Some(125) {
        let said = String::from_utf8_lossy(&offered.stderr).into_owned();
        assert!(said.contains("a namespace of processes could not be set up"), "{said}");
        return not_run("no namespace of processes");
    }
    let mut child = run.begun(&["--hold", "namespace"]);
    let outer = i32::try_from(child.id()).unwrap();
    let inner = children(child.id())[0];
    let first = children(u32::try_from(inner).unwrap());
    assert_eq!(first.len(), 1, "one process is the first of the namespace");
    assert!(!run.alive().is_empty());
    kill(&[outer, inner, first[0]]);
    child.wait().unwrap();
    wait_for("the end of the agent", || run.alive().is_empty());

    // The one that supervises is enough too, and so is the first process.
    for victim in [inner_of, first_of] {
        let run = Run::new();
        let mut child = run.begun(&["--hold", "namespace"]);
        kill(&[victim(child.id())]);
        child.wait().unwrap();
        wait_for("the end of the agent", || run.alive().is_empty());
    }
}

fn inner_of(outer: u32) -> i32 {
    children(outer)[0]
}

fn first_of(outer: u32) -> i32 {
    children(u32::try_from(inner_of(outer)).unwrap())[0]
}

#[test]
fn a_namespace_changes_nothing_of_status_ladder_and_remains() {
    let run = Run::new();
    let namespace = ["--hold", "namespace"];
    if run.environment.checkrein(&["run", "--hold", "namespace", "--", "true"]).status.code() == Some(125) {
        return not_run("no namespace of processes");
    }
    let report = run.report(&["--hold", "namespace", "--time", "700ms"]);
    assert_eq!(report["stopped_by"], "time", "{report}");
    assert!(report["ended"].as_u64().unwrap() >= 3, "{report}");
    assert_eq!(run.alive(), Vec::<String>::new());
    let ends = |script: &str| {
        let words = [&["run"], &namespace[..], &["--", "bash", "-c", script]].concat();
        run.environment.checkrein(&words).status.code()
    };
    assert_eq!(ends("exit 7"), Some(7));
    assert_eq!(ends("kill -TERM $$"), Some(143));
    assert_eq!(
        ends("ps -e -o pid= | grep -qw $$"),
        Some(0),
        "the list of processes is that of the namespace"
    );
    assert_eq!(ends("kill -KILL 1; exit 5"), Some(5), "the first process cannot be killed from inside");
    let absent = run.environment.checkrein(&["run", "--hold", "namespace", "--", "no-such-agent"]);
    assert_eq!(absent.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("`no-such-agent` is not there"));
}

#[test]
fn what_asks_us_to_end_ends_the_agent() {
    for (signal, status) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130), ("-QUIT", 131)] {
        let run = Run::new();
        let mut child = run.begun(&[]);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(status), "{signal}");
        assert_eq!(run.alive(), Vec::<String>::new(), "{signal}");
    }
}

#[test]
fn everything_is_passed_on_byte_for_byte_with_the_status() {
    let environment = TestEnvironment::new();
    let script = "head -c 3000000 /dev/zero | tr '\\0' '\\377'; printf 'no end of line'; exit 5";
    let run = environment.checkrein(&["run", "--budget", "1", "--time", "1m", "--", "bash", "-c", script]);
    let mut expected = vec![0xff; 3_000_000];
    expected.extend(b"no end of line");
    assert!(run.stdout == expected, "{} bytes came", run.stdout.len());
    assert_eq!(run.status.code(), Some(5));
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        said.contains("tokens, cost and answers were not limited"),
        "a limit that could not hold is said: {said}"
    );
}

#[test]
fn an_agent_has_a_control_group_where_one_may_be_made_and_leaves_none() {
    let environment = TestEnvironment::new();
    for hold in ["processes", "namespace"] {
        let script = "grep '^0::' /proc/self/cgroup; grep ' - cgroup2 ' /proc/self/mountinfo";
        let output = environment.checkrein(&["run", "--hold", hold, "--", "bash", "-c", script]);
        let told = String::from_utf8(output.stdout).unwrap();
        let mut lines = told.lines();
        let group = lines.next().and_then(|line| line.strip_prefix("0::")).unwrap_or_default();
        // Elsewhere it is held without one.
        let Some(mount) = lines.next().filter(|_| group.contains("checkrein-")) else { continue };
        let place = mount.split(' ').nth(4).unwrap();
        assert!(Path::new(place).is_dir());
        assert!(!Path::new(&format!("{place}{group}")).exists(), "{group} is left behind");
    }
}

#[test]
fn an_agent_that_is_not_there_is_said() {
    let environment = TestEnvironment::new();
    let run = environment.checkrein(&["run", "--", "no-such-agent"]);
    assert_eq!(run.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&run.stderr).contains("`no-such-agent` is not there"));
}

#[test]
fn telemetry_is_off_when_the_environment_says_so_and_secrets_stay_behind() {
    let environment = TestEnvironment::new();
    let run = |telemetry: &str, options: &[&str]| {
        let script = "echo \"$DO_NOT_TRACK/$SECRET_KEY/$NEEDED\"";
        let output = environment
            .command(env!("CARGO_BIN_EXE_checkrein"))
            .args([&["run"], options, &["--", "bash", "-c", script]].concat())
            .envs([("CHECKREIN_TELEMETRY", telemetry), ("SECRET_KEY", "s3cr3t"), ("NEEDED", "n")])
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run("1", &[]), "/s3cr3t/n\n");
    assert_eq!(run("0", &["--clean-environment", "NEEDED"]), "1//n\n");
}

// Source: seed 004-9, 004-75, 004-76
#[test]
fn tests_are_routed_by_how_they_end_and_two_equal_failures_are_enough() {
    let environment = TestEnvironment::new();
    let route = |options: &[&str], script: &str| {
        let command = ["--", "bash", "-c", script];
        let output =
            environment.checkrein(&[&["--json", "route", "--runner", "pytest"], options, &command].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        let report: Json = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let words = (report["route"]["failure"].clone(), report["route"]["next"].clone());
        (words.0.as_str().unwrap().to_owned(), words.1.as_str().unwrap().to_owned(), output.status.code())
    };
    let ends = |failure: &str, next: &str, status| (failure.to_owned(), next.to_owned(), Some(status));
    let failing = "echo '== 4 failed in 0.1s =='; exit 1";
    assert_eq!(route(&[], failing), ends("tests", "implement", 1));
    assert_eq!(route(&[], failing), ends("tests", "stop", 1));
    assert_eq!(route(&[], "exit 5"), ends("no_tests", "scaffold", 5));
    assert_eq!(route(&["--time", "200ms"], "sleep 60"), ends("time", "stop", 124));
}

#[test]
fn an_agent_at_a_terminal_has_one_of_the_same_size_and_ours_is_given_back() {
    let environment = TestEnvironment::new();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let agent = "stty size; read line; echo got:$line; exit 3";
    let session = format!(
        "stty rows 33 cols 77; {program} run -- bash -c '{agent}'; echo status:$?; stty -a | grep -o '.icanon'"
    );
    let (child, mut input) = at_a_terminal(&environment, &session);
    std::io::Write::write_all(&mut input, b"typed\n").unwrap();
    let text = written(child, input);
    for line in ["33 77", "got:typed", "status:3", " icanon"] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing in:\n{text}");
    }
}

/// Runs this at a terminal where the interrupt key is pressed again and again once it is ready; the status of `run`.
fn status_after_interrupts(agent: &str, presses: usize) -> String {
    let environment = TestEnvironment::new();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let ready = environment.project().join("ready");
    let session = format!("{program} run -- bash -c '{agent}'; echo status:$?");
    let (child, mut input) = at_a_terminal(&environment, &session);
    wait_for("the agent", || ready.exists());
    for _ in 0..presses {
        std::io::Write::write_all(&mut input, b"\x03").unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    let text = written(child, input);
    // The terminal shows the keys as `^C` in front of it.
    let status =
        text.lines().find_map(|line| line.split_once("status:").map(|(_, status)| status.to_owned()));
    status.unwrap_or(text)
}

#[test]
fn an_agent_at_a_terminal_that_ignores_the_keyboard_is_ended_by_the_second_interrupt() {
    let ignoring = r#"trap "" INT; touch ready; sleep 20; exit 7"#;
    assert_eq!(status_after_interrupts(ignoring, 2), "130");
    let brief = r#"trap "" INT; touch ready; sleep 2; exit 7"#;
    assert_eq!(status_after_interrupts(brief, 1), "7", "once is not twice");
    let raw = r#"trap "" INT; stty raw; touch ready; sleep 2; exit 7"#;
    assert_eq!(status_after_interrupts(raw, 3), "7", "a key that is read is no interrupt");
    let handling = r#"trap "true" INT; touch ready; for i in 1 2 3 4 5 6; do sleep 0.5; done; exit 7"#;
    assert_eq!(status_after_interrupts(handling, 3), "7", "who takes it decides what it means");
}

/// What is said while the agent has the terminal stands on a line of its own, and what the agent writes next at the beginning of one.
#[test]
fn what_a_run_says_beside_an_agent_leaves_both_at_the_beginning_of_a_line() {
    let environment = TestEnvironment::new();
    let program = env!("CARGO_BIN_EXE_checkrein");
    let ready = environment.project().join("ready");
    let agent = r#"trap "" INT; echo begun; touch ready; sleep 2; echo and on"#;
    let session = format!("stty rows 24 cols 100; {program} run -- bash -c '{agent}'");
    let (mut child, mut input) = at_a_terminal(&environment, &session);
    wait_for("the agent", || ready.exists());
    std::io::Write::write_all(&mut input, b"\x03").unwrap();
    let mut written = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut written).unwrap();
    child.wait().unwrap();
    let mut screen = vt100::Parser::new(24, 100, 0);
    screen.process(&written);
    let rows: Vec<String> = screen.screen().rows(0, 100).collect();
    for line in ["begun", "checkrein: the agent does not take Ctrl-C", "and on"] {
        assert!(rows.iter().any(|row| row.starts_with(line)), "`{line}` begins no line: {rows:#?}");
    }
}

#[test]
fn who_does_not_read_does_not_keep_an_agent_from_being_stopped() {
    let environment = TestEnvironment::new();
    let mut child = environment
        .command(env!("CARGO_BIN_EXE_checkrein"))
        .args(["run", "--time", "300ms", "--", "yes"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _unread = child.stdout.take();
    wait_for("the end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(124));
}

/// Prints how long each switch takes from the decision until nothing is left, beside busy loops on every processor:
/// `cargo test -p checkrein --test run -- --ignored --nocapture figures`.
#[test]
#[ignore = "figures for SPECIFICATION.md, not a promise"]
#[expect(clippy::print_stdout, reason = "figures are to be read")]
fn figures_of_each_switch_under_load() {
    let busy: Vec<Child> = (0..std::thread::available_parallelism().unwrap().get())
        .map(|_| Command::new("yes").stdout(Stdio::null()).spawn().unwrap())
        .collect();
    let switches: [(&str, &[&str]); 6] = [
        ("next call", &["--tokens", "9000"]),
        ("tokens", &["--tokens", "500"]),
        ("answers", &["--max-iterations", "4"]),
        ("time", &["--time", "700ms"]),
        ("silence", &["--idle-time", "2s"]),
        ("memory", &["--memory", "1M"]),
    ];
    for hold in ["processes", "namespace"] {
        for (name, options) in switches {
            let seconds = (0..5).map(|_| {
                let run = Run::new();
                if name == "silence" {
                    run.environment.write(
                        "agent.sh",
                        &RUNAWAY.replace("while :; do\n  n", "sleep 60\nwhile :; do\n  n"),
                    );
                }
                let report = run.report(&[&["--hold", hold][..], options].concat());
                assert_eq!(run.alive(), Vec::<String>::new());
                report["stopping_seconds"].as_f64().unwrap()
            });
            println!("{hold:<10} {name:<10} {}", middle_and_most(seconds.collect()));
        }
        let halts = (0..5).map(|_| {
            let run = Run::new();
            let mut child = run.begun(&["--hold", hold]);
            let halted = Instant::now();
            fs::create_dir_all(run.environment.state().join("halts")).unwrap();
            fs::write(run.environment.state().join("halts/ALL"), "").unwrap();
            child.wait().unwrap();
            assert_eq!(run.alive(), Vec::<String>::new());
            halted.elapsed().as_secs_f64()
        });
        println!("{hold:<10} {:<10} {} from the file on", "stop file", middle_and_most(halts.collect()));
    }
    for mut loops in busy {
        loops.kill().unwrap();
        loops.wait().unwrap();
    }
}

fn middle_and_most(mut seconds: Vec<f64>) -> String {
    seconds.sort_by(f64::total_cmp);
    format!("median {:.2} s, most {:.2} s", seconds[seconds.len() / 2], seconds[seconds.len() - 1])
}

#[test]
fn memory_of_system_v_counts_and_goes_with_the_agent() {
    let run = Run::new();
    let key = 0x0dde_0000 | std::process::id();
    let is_there = || {
        let list = fs::read_to_string("/proc/sysvipc/shm").unwrap();
        list.lines().any(|line| line.split_whitespace().next() == Some(key.to_string().as_str()))
    };
    run.environment.write(
        "agent.sh",
        &format!(
            r#"perl -e '$m = shmget({key}, 80 << 20, 01600) // die; $c = "x" x (1 << 20); shmwrite($m, $c, $_ << 20, 1 << 20) for 0..79; sleep shift' $SECONDS_LEFT
grep -q ' {key} ' /proc/sysvipc/shm && touch made"#
        )
        .replace("$SECONDS_LEFT", "20"),
    );
    let report = run.report(&["--memory", "50M"]);
    assert_eq!(report["stopped_by"], "memory", "{report}");
    assert!(!is_there());
    let text = fs::read_to_string(run.environment.project().join("agent.sh")).unwrap();
    run.environment.write("agent.sh", &text.replace(" 20\n", " 1\n"));
    let report = run.report(&["--memory", "0"]);
    assert_eq!(report["status"], 0, "{report}");
    assert!(run.environment.project().join("made").exists() && !is_there());
}
