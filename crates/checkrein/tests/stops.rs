//! Every stop, whoever decides it, leaves the same behind: a record, a report with the whole state, and people who were told. And what is to
//! be stopped has to be there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    reason = "a test that cannot go on should panic"
)]

mod support;

use std::fs;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use support::{TestEnvironment, decision, reason, shell_call};

/// How long a notice may take.
const PATIENCE: Duration = Duration::from_secs(30);

const TOLD: &str = "interventions:
  emergency_stop:
    notification_channels: [command]
notifications:
  command: cat >> told.jsonl; echo >> told.jsonl
";

const OPUS: &str = "claude-opus-4-1-20250805";

struct Session {
    environment: TestEnvironment,
}

impl Session {
    fn new(settings: &str) -> Self {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", settings);
        Self { environment }
    }

    /// Payloads of a call and its outcome, with a transcript beside it.
    fn payloads(&self, session: &str, id: &str, command: &str) -> [Vec<u8>; 2] {
        let transcript = json!(self.environment.home().join(format!("{session}.jsonl")));
        let payload = |event: &str, more: Json| {
            let mut fields = shell_call(id, command, more);
            fields["transcript_path"] = transcript.clone();
            self.environment.payload(session, event, fields)
        };
        let outcome = json!({ "tool_response": { "stdout": id, "stderr": "" } });
        [payload("PreToolUse", json!({})), payload("PostToolUse", outcome)]
    }

    /// An answer of 30,000 tokens of a dear model, which costs 2.265 dollars, in the transcript of a session.
    fn answers(&self, session: &str) {
        let row = json!({ "type": "assistant", "sessionId": session, "message": {
            "id": "one", "role": "assistant", "model": OPUS, "content": [],
            "usage": { "input_tokens": 1000, "output_tokens": 30_000 },
        }});
        fs::write(self.environment.home().join(format!("{session}.jsonl")), format!("{row}\n")).unwrap();
    }

    /// The reports, oldest first.
    fn incidents(&self) -> Vec<Json> {
        let text = self.environment.succeed(&["incidents", "--json"]);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What people were told, once there are so many.
    fn told(&self, count: usize) -> Vec<Json> {
        let started = Instant::now();
        loop {
            // The command runs where the notice was sent from.
            let read =
                |place: std::path::PathBuf| fs::read_to_string(place.join("told.jsonl")).unwrap_or_default();
            let text = read(self.environment.home()) + &read(self.environment.project());
            let told = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
            // Warnings on the way to a limit are no stops.
            let told: Vec<Json> = told.filter(|notice| notice["event"] != "spending").collect();
            if told.len() >= count {
                return told;
            }
            assert!(started.elapsed() < PATIENCE, "{} of {count} notices: {told:?}", told.len());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn run(&self, options: &[&str], script: &str) -> Output {
        self.environment.write("agent.sh", script);
        let mut command = self.environment.command(env!("CARGO_BIN_EXE_checkrein"));
        command.args([&["run"], options, &["--", "bash", "agent.sh"]].concat());
        command.stdin(Stdio::null()).output().unwrap()
    }
}

// Source: seed 000-47, 000-54, 000-64, 000-112, 001-30, 003-13, 003-17
#[test]
fn every_stop_is_recorded_reported_and_told() {
    let tripwire = "governance:
  tripwires:
    - id: no_dates
      condition: 'action.command == \"date\"'
      on_fail: {decision: halt, reason: dates are out, flag: high}
";
    let session = Session::new(&format!("limits:\n  dollars: 3\n{tripwire}{TOLD}"));
    let environment = &session.environment;
    // A tripwire.
    assert_eq!(decision(&environment.bash("tripped", "date")), Some("deny"));
    assert_eq!(session.told(1).len(), 1);
    // A limit that is used up, reported once although every call is refused.
    session.answers("spent");
    for id in ["a", "b", "c"] {
        let [before, after] = session.payloads("spent", id, &format!("cat README.md # {id}"));
        let answer = environment.answer_to(&before);
        if id == "a" {
            environment.answer_to(&after);
        } else {
            assert!(reason(&answer).contains("limit of $3.00"), "{answer}");
        }
    }
    assert_eq!(session.told(2).len(), 2);
    // A user.
    environment.bash("asked", "ls");
    environment.succeed(&["halt", "asked", "--reason", "wrong branch"]);
    assert_eq!(session.told(3).len(), 3);
    // A switch of a run.
    let ended = session.run(
        &["--max-iterations", "2"],
        r#"echo '{"type":"system","subtype":"init","session_id":"running"}'
for n in 1 2 3 4 5 6 7 8; do
  echo '{"type":"assistant","message":{"id":"m'$n'","model":"claude-sonnet-4-5","usage":{"input_tokens":1,"output_tokens":1},"content":[{"type":"tool_use","id":"t'$n'","name":"Bash","input":{"command":"ls"}}]}}'
  sleep 0.2
done
sleep 30"#,
    );
    assert_eq!(ended.status.code(), Some(123), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("checkrein incident show"));

    let told = session.told(4);
    let incidents = session.incidents();
    let seen = |incident: &Json| (incident["session"].clone(), incident["by"].clone());
    let expected = [
        ("tripped", "tripwire no_dates"),
        ("spent", "budget"),
        ("asked", "person"),
        ("running", "run: iterations"),
    ];
    assert_eq!(incidents.len(), expected.len(), "{incidents:?}");
    for (name, by) in expected {
        let incident = incidents.iter().find(|one| seen(one) == (json!(name), json!(by)));
        let incident = incident.unwrap_or_else(|| panic!("no report of {by}: {incidents:?}"));
        assert!(incident["recovery_options"].as_array().is_some_and(|options| !options.is_empty()));
        let folder = environment.state().join("incidents").join(incident["id"].as_str().unwrap());
        let state: Json = serde_json::from_slice(&fs::read(folder.join("state.json")).unwrap()).unwrap();
        assert!(state.is_object() && folder.join("report.md").exists());
        assert!(told.iter().any(|notice| notice["session"] == name), "nobody was told of {by}: {told:?}");
        let is_stop = |body: &Json| body["type"] == "halted" || body["name"] == "checkrein.stopped";
        let stops = environment.records(name).iter().filter(|record| is_stop(&record["body"])).count();
        assert_eq!(stops, 1, "{name}");
    }
    let halted = |name: &str| environment.state().join("halts").join(name).exists();
    assert!(halted("tripped") && halted("asked") && !halted("running") && !halted("spent"));
}

/// A configuration in which one command halts the session.
fn halting_at_dates() -> String {
    format!(
        "governance:
  tripwires:
    - id: no_dates
      condition: 'action.command == \"date\"'
      on_fail: {{decision: halt, reason: dates are out, flag: high}}
{TOLD}"
    )
}

impl Session {
    /// Waits until no notice waits or is being sent.
    fn until_all_is_told(&self) {
        let started = Instant::now();
        let folder = self.environment.state().join("notices");
        let is_notice = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "json");
        // What a sender leaves that is ended with a run is removed by the next.
        while fs::read_dir(&folder).is_ok_and(|entries| entries.flatten().any(|entry| is_notice(&entry))) {
            assert!(started.elapsed() < PATIENCE, "a notice waits");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn hooks_that_stop_a_session_at_one_moment_make_one_report_and_one_notice() {
    let session = Session::new(&halting_at_dates());
    let environment = &session.environment;
    for round in 1..=10 {
        let name = format!("round-{round:03}");
        let children: Vec<_> = (0..4)
            .map(|number| {
                let [payload, _] = session.payloads(&name, &format!("call-{number}"), "date");
                let mut child = environment.hook().spawn().unwrap();
                std::io::Write::write_all(&mut child.stdin.take().unwrap(), &payload).unwrap();
                child
            })
            .collect();
        for child in children {
            let answer: Json = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
            assert!(decision(&answer) == Some("deny") || answer["continue"] == false, "{answer}");
        }
        session.told(round);
        session.until_all_is_told();
        let of_it = |one: &Json| one["session"] == name.as_str();
        let incidents = session.incidents().into_iter().filter(of_it).collect::<Vec<_>>();
        assert_eq!(incidents.len(), 1, "{incidents:?}");
        assert_eq!(session.told(round).iter().filter(|notice| of_it(notice)).count(), 1, "{name}");
        let halts = environment.records(&name);
        assert_eq!(halts.iter().filter(|record| record["body"]["type"] == "halted").count(), 1, "{name}");
    }
}

#[test]
fn a_run_and_its_hook_that_stop_a_session_at_one_moment_make_one_report_and_one_notice() {
    let session = Session::new(&halting_at_dates());
    let hook = env!("CARGO_BIN_EXE_checkrein-hook");
    for round in 1..=10 {
        let name = format!("round-{round:03}");
        let [payload, _] = session.payloads(&name, "call", "date");
        session.environment.write("payload", std::str::from_utf8(&payload).unwrap());
        // The hook begins a little earlier or later against the answer that is one too many.
        let wait = f64::from(u8::try_from(round).unwrap()) * 0.02;
        session.run(
            &["--max-iterations", "2", "--hold", "processes"],
            &format!(
                r#"answer() {{ echo '{{"type":"assistant","message":{{"id":"m'$1'","model":"claude-sonnet-4-5","usage":{{"input_tokens":1,"output_tokens":1}},"content":[{{"type":"tool_use","id":"t'$1'","name":"Bash","input":{{"command":"ls"}}}}]}}}}'; }}
echo '{{"type":"system","subtype":"init","session_id":"{name}"}}'
answer 1
(sleep 0.1; {hook} claude < payload > answered) &
sleep {wait}
answer 2; answer 3; answer 4
sleep 30"#
            ),
        );
        session.told(round);
        session.until_all_is_told();
        let of_it = |one: &Json| one["session"] == name.as_str();
        let incidents = session.incidents().into_iter().filter(of_it).collect::<Vec<_>>();
        assert_eq!(incidents.len(), 1, "{incidents:?}");
        assert_eq!(session.told(round).iter().filter(|notice| of_it(notice)).count(), 1, "{name}");
    }
}

#[test]
fn who_stops_what_is_stopped_adds_to_its_report_and_tells_what_the_first_did_not() {
    let session = Session::new(&halting_at_dates().replace("[command]", "[]"));
    let environment = &session.environment;
    assert_eq!(decision(&environment.bash("s", "date")), Some("deny"));
    // The first of the two comes to its report and not to its notice.
    environment.configure("config.yaml", &halting_at_dates());
    environment.succeed(&["halt", "s", "--reason", "wrong branch"]);
    assert_eq!(session.told(1)[0]["session"], "s");
    session.until_all_is_told();
    environment.succeed(&["halt", "s", "--reason", "once more"]);
    session.until_all_is_told();
    assert_eq!(session.told(1).len(), 1);
    let incidents = session.incidents();
    assert_eq!(incidents.len(), 1, "{incidents:?}");
    let further = incidents[0]["further_stops"].as_array().unwrap();
    assert_eq!(further.iter().map(|stop| &stop["reason"]).collect::<Vec<_>>(), ["wrong branch", "once more"]);
    // What goes on and is stopped anew is another stop.
    environment.succeed(&["resume", "s"]);
    environment.bash("s", "ls");
    environment.succeed(&["halt", "s", "--reason", "again"]);
    assert_eq!(session.told(2).len(), 2);
    assert_eq!(session.incidents().len(), 2);
}

// Source: seed 000-56
#[test]
fn a_report_names_what_changed_and_not_what_was_refused() {
    let session = Session::new("");
    let environment = &session.environment;
    let [before, _] = session.payloads("s", "refused", "rm -rf ~/project/.git");
    assert_eq!(decision(&environment.answer_to(&before)), Some("deny"));
    let [before, after] = session.payloads("s", "ran", "touch made.txt");
    environment.answer_to(&before);
    environment.write("made.txt", "");
    environment.write("surprise.txt", "made by the same call");
    environment.answer_to(&after);
    let [before, _] = session.payloads("s", "pending", "touch later.txt");
    environment.answer_to(&before);
    environment.succeed(&["halt", "s"]);
    let files = session.incidents()[0]["impact"]["files"].to_string();
    for (name, is_named) in
        [("made.txt", true), ("surprise.txt", true), ("later.txt", false), (".git\"", false)]
    {
        assert_eq!(files.contains(name), is_named, "{name}: {files}");
    }
}

// Source: seed 000-53
#[test]
fn a_report_counts_the_whole_session_and_lists_its_last_50_actions() {
    let session = Session::new("");
    let environment = &session.environment;
    let call = |id: &str, command: &str, then: &dyn Fn()| {
        let [before, after] = session.payloads("s", id, command);
        environment.answer_to(&before);
        then();
        environment.answer_to(&after);
    };
    call("first", "touch made.txt", &|| {
        environment.write("made.txt", "");
        environment.write("surprise.txt", "made by the same call");
    });
    environment.write("notes.txt", "only here");
    call("second", "rm notes.txt", &|| fs::remove_file(environment.project().join("notes.txt")).unwrap());
    (0..52).for_each(|round| call(&format!("look{round}"), &format!("cat src/{round}"), &|| {}));
    environment.succeed(&["halt", "s"]);
    let incident = session.incidents().remove(0);
    let (impact, sum) = (&incident["impact"], &incident["impact"]["sum"]);
    let files = impact["files"].to_string();
    for name in ["made.txt", "surprise.txt", "notes.txt"] {
        assert!(files.contains(name), "{name}: {files}");
    }
    assert_eq!((&sum["ran"], &sum["saved"], &sum["files"]), (&json!(54), &json!(2), &json!(3)), "{sum}");
    assert_eq!((&sum["surprises"], sum.get("gaps")), (&json!(1), None), "{sum}");
    assert!(sum["records"].as_u64() >= Some(2 * 54), "{sum}");
    let timeline = incident["timeline"].to_string();
    assert_eq!(timeline.matches("cat src/").count(), 50, "{timeline}");
    assert!(!timeline.contains("made.txt"), "{timeline}");

    // What cannot be read is said.
    let ledger = environment.state().join("sessions/s/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, text.replacen("{\"seq\":2,", "{\"seq\":two,", 1)).unwrap();
    environment.succeed(&["resume", "s"]);
    environment.succeed(&["halt", "s"]);
    let report = environment.succeed(&["incident", "show", session.incidents()[1]["id"].as_str().unwrap()]);
    assert!(report.contains("Not everything was counted"), "{report}");
    assert!(report.contains("line 2 of the ledger is not a record"), "{report}");
    // The rest counts all the same.
    assert!(report.contains("notes.txt"), "{report}");
}

#[test]
fn halting_and_resuming_what_nobody_has_is_an_error_and_makes_nothing() {
    let session = Session::new("");
    let environment = &session.environment;
    environment.bash("6315af00-aaaa", "ls");
    environment.bash("77777777-bbbb", "ls");
    let before = environment.succeed(&["sessions", "--json"]);
    for name in ["6315x", "6351af00", "nope", "", "6315af00-aaaa-cccc"] {
        for verb in ["halt", "resume"] {
            let output = environment.checkrein(&[verb, name]);
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{verb} {name}: {text}");
            assert_eq!(text.contains("6315af00-aaaa"), name.starts_with('6'), "{verb} {name}: {text}");
        }
    }
    let both = environment.checkrein(&["halt", "7", "--reason", "x"]);
    assert_eq!(both.status.code(), Some(0), "the beginning of one name is enough");
    environment.succeed(&["resume", "77"]);
    assert_eq!(fs::read_dir(environment.state().join("halts")).unwrap().count(), 0);
    let after = environment.succeed(&["sessions", "--json"]);
    assert_eq!(before.lines().count(), after.lines().count(), "{after}");
    assert_eq!(environment.checkrein(&["resume", "6315af00"]).status.code(), Some(1), "it is not halted");
}

// Source: seed 001-53
#[test]
fn the_limits_of_a_run_are_those_of_its_hooks() {
    let hook = env!("CARGO_BIN_EXE_checkrein-hook");
    // The third payload is judged after the outcome of the first was read with its transcript.
    let script = format!(
        "echo \"$CHECKREIN_RUN\" > variable\nfor n in 1 2 3; do {hook} claude < payload$n; echo; done\n"
    );
    let judged = |settings: &str, options: &[&str]| {
        let session = Session::new(settings);
        session.answers("inside");
        let [before, after] = session.payloads("inside", "a", "cat README.md");
        let [next, _] = session.payloads("inside", "b", "cat src/main.rs");
        for (number, payload) in [before, after, next].iter().enumerate() {
            session
                .environment
                .write(&format!("payload{}", number + 1), std::str::from_utf8(payload).unwrap());
        }
        let output = session.run(options, &script);
        let answer = String::from_utf8_lossy(&output.stdout)
            .lines()
            .rfind(|line| !line.is_empty())
            .unwrap()
            .to_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (session, output.status.code(), said, serde_json::from_str::<Json>(&answer).unwrap_or_default())
    };
    // What lets the third payload pass; what its hooks find used up ends the run, whether or not the third payload still comes.
    let passes = |settings: &str, options: &[&str]| {
        let (session, status, said, answer) = judged(settings, options);
        assert_eq!((status, decision(&answer)), (Some(0), None), "{said}{answer}");
        session
    };
    let ends = |options: &[&str], limit: &str| {
        let (_, status, said, _) = judged("", options);
        assert!(status == Some(122) && said.contains(limit), "{said}");
    };
    // The run is wider than the configuration, without a limit, and tighter than it.
    let session = passes("limits:\n  dollars: 1\n", &["--budget", "100"]);
    passes("limits:\n  dollars: 1\n", &["--budget", "0"]);
    passes("limits:\n  tokens: 9\n", &["--tokens", "0"]);
    ends(&["--budget", "3"], "limit of $3.00");
    ends(&["--tokens", "40000"], "limit of 40000");
    passes("", &["--budget", "3", "--price", "0.1,0.1"]);
    passes("profile: unattended\n", &["--limits", "seed", "--budget", "0", "--tokens", "0"]);
    // Nobody but a run that lives is believed.
    let variable = fs::read_to_string(session.environment.project().join("variable")).unwrap();
    assert!(variable.trim().len() > 40, "{variable}");
    for forged in [variable.trim(), "20260101-000000-0000.00", "x", ""] {
        let mut child = session.environment.hook().env("CHECKREIN_RUN", forged).spawn().unwrap();
        let [next, _] = session.payloads("inside", "c", "cat src/main.rs # again");
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), &next).unwrap();
        let output = child.wait_with_output().unwrap();
        let answer: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert!(reason(&answer).contains("limit of $1.00"), "{forged}: {answer}");
    }
}

// Source: seed 003-12
#[test]
fn a_halt_ends_the_process_of_an_agent_that_nobody_watches() {
    let tripwire = "governance:\n  tripwires:\n    - id: no_listing\n      condition: action.command == \"ls\"\n      on_fail: {decision: halt, reason: enough}\n";
    let ends = |profile: &str| {
        let environment = TestEnvironment::new();
        environment.configure("config.yaml", &format!("profile: {profile}\n{tripwire}"));
        let begins = environment.payload("s", "SessionStart", json!({ "source": "startup" }));
        let call = environment.payload("s", "PreToolUse", shell_call("c1", "ls", json!({})));
        environment.write("begins", &String::from_utf8(begins).unwrap());
        environment.write("call", &String::from_utf8(call).unwrap());
        let hook = env!("CARGO_BIN_EXE_checkrein-hook");
        // An agent that does not listen to what its hooks say.
        let script = format!(
            "#!/usr/bin/perl\nsystem('{hook} claude < begins > /dev/null'); system('{hook} claude < call > answer'); sleep 20;\n"
        );
        environment.write("bin/claude", &script);
        let program = environment.project().join("bin/claude");
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut child = environment.command(&program).stdin(Stdio::null()).spawn().unwrap();
        let answer = environment.project().join("answer");
        let began = std::time::Instant::now();
        let mut ended = None;
        while ended.is_none() && began.elapsed() < std::time::Duration::from_secs(6) {
            std::thread::sleep(std::time::Duration::from_millis(50));
            ended = child.try_wait().unwrap();
        }
        drop(child.kill());
        child.wait().unwrap();
        assert!(answer.exists(), "the hook was called");
        let is_halted = environment.records("s").iter().any(|record| record["body"]["type"] == "halted");
        assert!(is_halted, "the halt stands, whatever becomes of the process");
        ended.is_some()
    };
    assert!(ends("unattended"), "nobody is there to end it");
    assert!(!ends("interactive"), "a user is near, whose program it is");
}
